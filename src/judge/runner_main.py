# runner_main.py - jobs of a warm interpreter: what it loads, how a job finds its mode, and the mode
# `stdin`, which runs a program as `python3 main.py` would.
#
# The spec of a job, descriptor 4, is lines; the last, Python text, may be several:
#
#	mode file entry flags cpu_s wall_s imports
#
# A program of mode `stdin` has one frame of ours below it, and that holds nothing. The other modes
# are in runner_call.py, runner_pair.py, runner_trust.py and runner_analyse.py.
#
# The compiled program is kept in descriptor 7 for the next job. It is written, and descriptors 3
# to 7 are closed, before anything of the program runs: so a compile error that is reported on
# descriptor 3 is one:
#
#	{"compile":ns}			it was compiled now
#	{"load":"syntax","note":"..."}	it cannot be compiled

import atexit
import gc
import posix
import sys
import time
from _frozen_importlib_external import SourceFileLoader
from _io import TextIOWrapper, open as open_file
from marshal import dumps, loads

modules = sys.modules
module_type = type(sys)
show, run_exits, collect = sys.__excepthook__, atexit._run_exitfuncs, gc.collect
pread, pwrite, read, write, lseek = posix.pread, posix.pwrite, posix.read, posix.write, posix.lseek
closerange, exit_now, clock = posix.closerange, posix._exit, time.perf_counter_ns
type_name = type.__dict__["__name__"].__get__
RANDOM, NUMPY = 1, 2  # generators that need a new seed
ALONE, TRUSTED, PROGRAM = range(3)  # what getppid() returns


def name_of(x):
    try:
        return str.__str__(type_name(type(x)))
    except Exception:
        return "object"


# A note for people, as JSON.
def describe(e):
    try:
        why = str(e)[:200]
        why.encode()
    except BaseException:
        why = ""
    return quote(name_of(e) + (": " + why if why else ""))


def quote(text):
    return '"%s"' % "".join(
        c if " " <= c <= "~" and c not in '"\\' else "".join(
            "\\u%04x" % int.from_bytes(unit, "big")
            for unit in map(bytes, zip(*[iter(c.encode("utf-16-be"))] * 2)))
        for c in text)


def write_all(fd, data):
    n = write(fd, data)
    if n < len(data):
        data = memoryview(data)
        while n < len(data):
            n += write(fd, data[n:])


def send(line):
    write_all(3, line.encode("ascii"))


def stop(line, status=0):
    send(line)
    exit_now(status)


def read_all(fd):
    chunks = []
    while chunk := read(fd, 1 << 20):
        chunks.append(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def read_file(path):
    fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    text = read_all(fd)
    posix.close(fd)
    return text


def keep(data):
    try:
        if pwrite(7, data, 0) != len(data):
            posix.ftruncate(7, 0)
    except OSError:  # sealed: the job before this one was killed while it wrote
        pass


# The program's code. Where it has none refuse(e) ends the job.
def load(path, refuse, compiled=send):
    n = lseek(7, 0, 2)
    if n:
        try:
            code, needs = loads(pread(7, n, 0))
        except Exception:  # the job before this one was killed while it wrote
            n = 0
    if not n:
        since = clock()
        source = read_file(path)
        try:
            code = compile(source, path, "exec", dont_inherit=True)
        except Exception as e:
            refuse(e.with_traceback(None))
        needs = (b"random" in source and RANDOM) | (b"numpy" in source and NUMPY)
        keep(dumps((code, needs)))
        compiled('{"compile":%d}\n' % (clock() - since))
    if needs & RANDOM and "random" in modules:
        modules["random"].seed()
    if needs & NUMPY and "numpy.random" in modules:
        modules["numpy.random"].seed()
    return code


# What the interpreter makes of a descriptor at its start.
def open_std(fd, mode, name, errors, by_line):
    buffer = open_file(fd, mode + "b", -1, None, None, None, False)
    buffer.raw.name = name
    f = TextIOWrapper(buffer, "utf-8", errors, "\n", by_line)
    f.mode = mode
    return f


# They look at their descriptors only now: so these are, for a moment, such as a job has. To make
# them costs a fork as much as all else together.
def open_stds():
    saved = [posix.dup(fd) for fd in range(3)]
    file, (end, pipe) = posix.memfd_create("stdin", posix.MFD_CLOEXEC), posix.pipe()
    for fd, like in enumerate((file, pipe, pipe)):
        posix.dup2(like, fd)
    sys.stdin = sys.__stdin__ = open_std(0, "r", "<stdin>", "surrogateescape", False)
    sys.stdout = sys.__stdout__ = open_std(1, "w", "<stdout>", "surrogateescape", False)
    sys.stderr = sys.__stderr__ = open_std(2, "w", "<stderr>", "backslashreplace", True)
    for fd, old in enumerate(saved):
        posix.dup2(old, fd)
    for fd in (file, pipe, end, *saved):
        posix.close(fd)


def new_main(path):
    module = module_type("__main__")
    space = module.__dict__
    space["__loader__"] = SourceFileLoader("__main__", path)
    space["__annotations__"] = {}
    space["__builtins__"] = modules["builtins"]
    space["__file__"] = path
    space["__cached__"] = None
    modules["__main__"] = module
    name = path.rpartition("/")[2]
    sys.orig_argv[len(sys.orig_argv) - len(sys.argv):] = [name]
    sys.argv[:] = [name]
    return space


def refuse_program(e):
    send('{"load":"syntax","note":%s}\n' % describe(e))
    show(type(e), e, None)
    exit_now(1)


def as_main(path):
    code = load(path, refuse_program)
    closerange(3, 8)
    if path != main_space["__file__"]:
        return code, new_main(path)
    return code, main_space


# The status of a SystemExit, as the interpreter reads it.
def status_of(e):
    code = getattr(e, "code", e)
    if code is None:
        return 0
    if issubclass(type(code), int):
        n = int.__index__(code)
        return n & 0xff if -(1 << 63) <= n < 1 << 63 else 0xff
    try:
        sys.stderr.write(str(code) + "\n")
    except Exception:
        pass
    return 1


# A status, if it was turned into an exit.
def print_uncaught(e):
    sys.last_type, sys.last_value, sys.last_traceback = type(e), e, e.__traceback__
    hook = getattr(sys, "excepthook", None)
    if hook is None:
        sys.stderr.write("sys.excepthook is missing\n")
        show(type(e), e, e.__traceback__)
        return None
    try:
        hook(type(e), e, e.__traceback__)
    except SystemExit as other:
        return status_of(other)
    except BaseException as other:
        sys.stderr.write("Error in sys.excepthook:\n")
        traceback = other.__traceback__.tb_next
        show(type(other), other.with_traceback(traceback), traceback)
        sys.stderr.write("\nOriginal exception was:\n")
        show(type(e), e, e.__traceback__)
    return None


INTERRUPTED = -2


def uncaught(e):
    if issubclass(type(e), SystemExit):
        return status_of(e)
    try:
        status = print_uncaught(e)
    except Exception:  # stderr is gone
        status = None
    if status is None:
        status = INTERRUPTED if issubclass(type(e), KeyboardInterrupt) else 1
    return status


def ignored(what, e, traceback=None):
    try:
        sys.stderr.write("Exception ignored in: %r\n" % (what,))
        show(type(e), e.with_traceback(traceback), traceback)
    except Exception:
        pass


# Whether nothing was lost.
def flush(name, tell):
    f = getattr(sys, name, None)
    try:
        if f is None or f.closed:
            return True
    except Exception:
        pass
    try:
        f.flush()
    except Exception as e:
        if tell:
            ignored(f, e)
        return False
    return True


# What the program left in its module goes as the interpreter lets it go: private names first.
def tear_down():
    global main_space
    main_space = None
    collect()
    space = getattr(modules.pop("__main__", None), "__dict__", {})
    names = [name for name in space if type(name) is str and name not in kept_names]
    for name in names:
        if name[0:1] == "_" != name[1:2]:
            space[name] = None
    for name in names:
        space[name] = None
    if names:
        space = None
        collect()


kept_names = {"__name__", "__doc__", "__package__", "__loader__", "__spec__", "__annotations__",
              "__builtins__", "__file__", "__cached__"}


def die_of_interrupt():
    signal = modules["_signal"]
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    posix.kill(posix.getpid(), signal.SIGINT)
    exit_now(130)


# What the interpreter does at its end: threads, exit hooks, files, and what the program left.
# What other modules hold is not torn down: the process ends here.
def end(e):
    own["fate"] = None
    status = 0
    if e is not None:
        status = uncaught(e)
        e.__traceback__ = e.__context__ = e.__cause__ = e = None
    threading = modules.get("threading")
    if threading is not None:
        try:
            threading._shutdown()
        except BaseException as other:
            ignored(threading, other, other.__traceback__.tb_next)
    try:
        run_exits()
    except BaseException:  # of interpreters before 3.10
        pass
    kept = flush("stdout", True)
    kept = flush("stderr", False) and kept
    if "last_value" in sys.__dict__:
        sys.last_type = sys.last_value = sys.last_traceback = None
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
    tear_down()
    flush("stdout", False)
    flush("stderr", False)
    if not kept:
        status = 120
    elif status == INTERRUPTED:
        die_of_interrupt()
    exit_now(status & 0xff)


# One job. Only mode stdin returns.
def start(what):
    global role
    role = what
    spec = pread(4, 4096, 0)
    while len(spec) % 4096 == 0 and (more := pread(4, 1 << 20, len(spec))):
        spec += more
    mode, name, *rest = spec.decode().split("\n", 6)
    path = here + name
    if mode == "stdin":
        return as_main(path)
    return serve(mode)(path, *rest)


# The function of a mode. Its part, and those on which that builds, are loaded once.
NEEDS = {"function": ("value", "call"), "weak": ("value", "call"),
         "pair": ("value", "call", "wire", "pair", "trust"), "analyse": ("value", "analyse")}


def serve(mode):
    for name in NEEDS[mode]:
        text = PARTS.pop(name, None)
        if text:
            exec(compile(text, "runner_%s.py" % name, "exec"), globals())
    return globals()["serve_" + mode]


def boot(boot_space):
    global own, main_space, here
    own = boot_space
    here = posix.getcwd() + "/"
    names = sys.argv[1:]
    main_space = new_main(here + "main.py")
    open_stds()
    if posix.environ.get(b"CUPEL_COLD") == b"1":
        modules["os"].environ.pop("CUPEL_COLD", None)
        return start, end, BaseException, posix.getppid
    for name in names:
        try:
            __import__(name)
        except ImportError:
            pass
    for mode in NEEDS:
        serve(mode)
    PARTS.clear()
    collect()
    gc.freeze()
    return start, end, BaseException, posix.getppid
