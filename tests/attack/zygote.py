# zygote.py - attacks on the processes that serve a slot: the zygote (PID 1 of the program's
# namespaces), the trusted process of a pair, and what they leave for the next program.
#
#	zygote.py [--isolation=T]	TAP on stdout; $CUPEL is the program
#
# One slot: each attack is followed by an honest program in the same slot. An attack may end in any
# verdict but accepted (unless it answers rightly) and judge_error: no program may make its own
# failure look like ours. The honest program must be accepted. At the end nothing may be left.

import json
import os
import sys
import tempfile
from importlib.machinery import SourceFileLoader

sys.dont_write_bytecode = True
faults = SourceFileLoader("faults_run", os.path.join("tests", "faults", "run")).load_module()

# Short names for the attacks.
HEAD = """
import ctypes, fcntl, mmap, os, resource, signal, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
sc = libc.syscall
def quiet(f, *a):
    try:
        return f(*a)
    except (OSError, ValueError, OverflowError, AttributeError):
        return None
def others():
    try:
        return [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]
    except PermissionError:  # tier landlock: nobody is seen, but numbers can be guessed
        return [os.getppid() + i for i in range(9) if os.getppid() + i != os.getpid()]
def info(sig, code, pid):
    b = bytearray(128)
    struct.pack_into("iiiii", b, 0, sig, 0, code, 0, pid)
    return (ctypes.c_char * 128).from_buffer(b)
"""

# name: what a program does while it runs; in a pair, while it is loaded and in each call.
ATTACKS = {
    "signals to process 1, to the parent and to all others": """
for p in [1, os.getppid()] + others():
    for s in range(1, 65):
        if s not in (9, 19): quiet(os.kill, p, s)
""",
    "SIGKILL and SIGSTOP to process 1": """
for s in 9, 19, 9: quiet(os.kill, 1, s)
for s in 9, 19: sc(234, 1, 1, s)
""",
    "signals that claim to come from outside": """
for p in [1] + others():
    for s in 10, 12, 17, 2, 15, 34:
        for code in -1, -2, -3, -60:
            for pid in 0, 1, 2:
                sc(129, p, s, info(s, code, pid))
                sc(297, p, p, s, info(s, code, pid))
                fd = sc(434, p, 0)
                if fd >= 0:
                    sc(424, fd, s, info(s, code, pid), 0)
                    os.close(fd)
""",
    "signals by the end of a timer, of a child and by readiness of a file": """
r, w = os.pipe()
for fd in 0, 1, 2, 3, 6, r, w:
    quiet(fcntl.fcntl, fd, 8, 1)          # F_SETOWN
    quiet(fcntl.fcntl, fd, 10, 10)        # F_SETSIG
    quiet(fcntl.fcntl, fd, 4, 0o20000 | (fcntl.fcntl(fd, 3) if fd in (r, w) else 1))
os.write(w, b"x"); os.read(r, 1)
for flags in 0x8000 | 17, 0x8000 | 10, 10, 0:  # CLONE_PARENT, other signals at the end
    if sc(56, flags, 0, 0, 0, 0) == 0: os._exit(0)
time.sleep(0.05)
""",
    "a thousand signals in the queue of process 1": """
for i in range(1000):
    sc(129, 1, 34 + i % 30, info(34 + i % 30, -1, 0))
    quiet(os.kill, 1, 17)
""",
    "kill of all that can be seen": """
if os.fork() == 0:
    time.sleep(60)
quiet(os.kill, -1, 18)
os.kill(-1, 9)
""",
    "kill of everybody but itself": """
for p in others(): quiet(os.kill, p, 9)
time.sleep(0.1)
""",
    "everybody else is stopped": """
for p in others(): quiet(os.kill, p, 19)
""",
    "SIGINT and SIGTERM to everybody else, again and again": """
for i in range(20):
    for p in others():
        for s in 2, 15, 1, 3, 14, 26, 27: quiet(os.kill, p, s)
    time.sleep(0.002)
""",
    "limits, priority, affinity and scheduler of the others": """
me = os.getpid()
for p in [1, os.getppid()] + others():
    for k in range(16):
        sc(302, p, k, (ctypes.c_char * 16)(), None)
    libc.setpriority(0, p, 19); libc.setpriority(1, p, 19)
    sc(203, p, 8, ctypes.create_string_buffer(b"\\1" + bytes(7)))
    for policy in 3, 5, 1: sc(144, p, policy, (ctypes.c_char * 4)())
    sc(314, p, ctypes.create_string_buffer(struct.pack("IIQiIQQQ", 48, 5, 0, 0, 0, 0, 0, 0)), 0)
    sc(251, 1, p, 3 << 13)
    libc.setpgid(p, me)
    sc(436, 0, 0, 0) if False else None
libc.setpriority(2, os.getuid(), 19)
sc(251, 3, os.getuid(), 3 << 13)
""",
    "ptrace, foreign memory and robust lists, each in a child": """
for call in (lambda p: sc(101, 16, p, 0, 0), lambda p: sc(101, 0x4206, p, 0, 0),
             lambda p: sc(310, p, 0, 0, 0, 0, 0), lambda p: sc(311, p, 0, 0, 0, 0, 0)):
    for p in [1] + others():
        if os.fork() == 0:
            call(p); os._exit(0)
        os.wait()
for p in [1] + others():
    sc(274, p, ctypes.create_string_buffer(8), ctypes.create_string_buffer(8))
    sc(312, p, os.getpid(), 0, 1, 1)
    fd = sc(434, p, 0)
    if fd >= 0:
        for n in range(8): sc(438, fd, n, 0)
        sc(440, fd, 0, 0, 21, 0); sc(448, fd, 0)
""",
    "files of other processes in /proc, for reading and writing": """
for p in [1] + others():
    for n in ("mem", "environ", "maps", "auxv", "stack", "syscall", "pagemap", "map_files", "fd",
              "cwd/x", "root/box/main.py", "exe", "timers", "oom_score_adj", "comm", "clear_refs",
              "coredump_filter", "autogroup", "timerslack_ns", "sched", "setgroups", "uid_map",
              "attr/current", "loginuid", "make-it-fail", "fd/3", "fd/7", "fd/240", "ns/user"):
        f = "/proc/%d/%s" % (p, n)
        quiet(os.listdir, f)
        for mode in os.O_RDONLY, os.O_WRONLY, os.O_RDWR:
            fd = quiet(os.open, f, mode | os.O_NONBLOCK)
            if fd is not None and fd >= 0:
                quiet(os.pread, fd, 100, 0); quiet(os.pwrite, fd, b"1", 0)
                os.close(fd)
for n in "ns_last_pid", "pid_max", "core_pattern", "hostname", "randomize_va_space":
    fd = quiet(os.open, "/proc/sys/kernel/" + n, os.O_WRONLY)
    if fd is not None: quiet(os.write, fd, b"1")
""",
    "garbage to every descriptor": """
for n in range(3, 260):
    quiet(os.set_blocking, n, False)
    for b in (b"\\xff" * 4096, b"\\0" * 64, struct.pack("<Q", 1 << 63), b'{"end":true}\\n', b"\\n" * 99):
        quiet(os.write, n, b); quiet(os.pwrite, n, b, 0)
""",
    "descriptors are sealed, locked, truncated, mapped, sought and closed": """
for n in list(range(0, 20)) + [240, 241, 242, 243]:
    quiet(fcntl.fcntl, n, 1033, 31)       # F_ADD_SEALS
    quiet(fcntl.flock, n, fcntl.LOCK_EX | fcntl.LOCK_NB)
    quiet(fcntl.lockf, n, fcntl.LOCK_EX | fcntl.LOCK_NB)
    quiet(fcntl.fcntl, n, 1024, 1)        # F_SETLEASE
    quiet(os.ftruncate, n, 0); quiet(os.lseek, n, 1 << 40, 0)
    quiet(mmap.mmap, n, 4096); quiet(os.fchmod, n, 0); quiet(os.fchown, n, 0, 0)
    quiet(fcntl.fcntl, n, 1031, 4096)     # F_SETPIPE_SZ
    if n > 2:
        fd = quiet(os.open, "/proc/self/fd/%d" % n, os.O_RDWR)
        if fd is not None:
            quiet(os.ftruncate, fd, 0); quiet(os.pwrite, fd, b"x" * 100, 0)
os.closerange(3, 300)
""",
    "shared open files: not blocking, at another place": """
for n in 0, 1, 2, 3, 4, 6:
    quiet(os.set_blocking, n, False); quiet(os.lseek, n, 0, 2)
""",
    "descriptors and garbage through every socket": """
for n in range(3, 20):
    s = quiet(lambda: socket.socket(fileno=os.dup(n)))
    if not s: continue
    s.setblocking(False)
    for i in range(20):
        quiet(socket.send_fds, s, [b"x" * 100], [0, 1, 2] * 80)
        quiet(s.send, os.urandom(60000))
    quiet(s.setsockopt, 1, 16, 1); quiet(s.setsockopt, 1, 8, 1); quiet(s.shutdown, 2)
""",
    "one end of the pair is closed": """
for n in 5, 6: quiet(os.close, n)
""",
    "files, links and folders of every kind in all private folders": """
for d in "/box", "/tmp", "/dev/shm", "/var/tmp", ".":
    for i in range(50): quiet(lambda: open("%s/zy-%d" % (d, i), "w").write("x"))
    quiet(os.mkdir, d + "/zy-d"); quiet(os.mkfifo, d + "/zy-f"); quiet(os.symlink, "/", d + "/zy-l")
    quiet(os.link, d + "/zy-0", d + "/zy-h"); quiet(os.chmod, d + "/zy-d", 0)
    quiet(os.chmod, d, 0); quiet(os.utime, d, (7, 7)); quiet(os.setxattr, d, "user.zy", b"1")
    quiet(os.rename, d, d + "-old")
""",
    "the program's file is changed, moved, linked, replaced by a folder": """
for n in "/box/main.py", "main.py":
    quiet(os.chmod, n, 0o777); quiet(lambda: open(n, "a").write("x"))
    quiet(os.utime, n, (7, 7)); quiet(os.setxattr, n, "user.zy", b"1")
    quiet(os.link, n, "/tmp/zy-main"); quiet(os.rename, n, "/box/zy-old"); quiet(os.unlink, n)
    quiet(os.mkdir, n); quiet(os.mkfifo, n); quiet(os.symlink, "/dev/zero", n)
""",
    "a thousand folders in each other, without rights": """
try:
    for i in range(1000):
        os.mkdir("d"); os.chdir("d")
finally:
    os.chmod(".", 0)
""",
    "names that are hard to remove": """
for n in "a" * 255, "\\n", " ", "-rf", "*", "\\udcff\\udcfe", ".moved-0", ".moved-1", "..."+"x":
    quiet(os.makedirs, "/tmp/" + n + "/" + n); quiet(os.chmod, "/tmp/" + n, 0)
    quiet(lambda: open("/box/" + n, "w"))
""",
    "the private disk is full, of bytes and of files": """
quiet(lambda: [open("/tmp/zy%d" % i, "w").close() for i in range(20000)])
f = quiet(open, "/dev/shm/zy", "wb", 0)
while f and quiet(f.write, bytes(1 << 20)): pass
""",
    "open files that are in flight through sockets nobody holds": """
for k in range(6):
    a, b = socket.socketpair()
    fds = []
    for i in range(20):
        n = "/tmp/zy%d.%d" % (k, i)
        fds.append(os.open(n, os.O_CREAT | os.O_RDWR)); os.unlink(n)
    quiet(socket.send_fds, a, [b"x"], [a.fileno(), b.fileno()] + fds)
    for fd in fds: os.close(fd)
    a.detach(); b.detach()
""",
    "shared memory, semaphores and queues": """
for k in range(0x7150, 0x7158):
    libc.shmget(k, 4096, 0o1666); libc.semget(k, 9, 0o1666); libc.msgget(k, 0o1666)
    sc(240, b"zy%d" % k, 0o102, 0o666, 0)
    quiet(lambda: open("/dev/shm/sem.zy%d" % k, "w"))
""",
    "abstract sockets and daemons that hold them": """
s = socket.socket(socket.AF_UNIX); quiet(s.bind, "\\0zygote"); s.listen()
for i in range(5):
    if os.fork() == 0:
        os.setsid()
        for g in range(1, 65): quiet(signal.signal, g, signal.SIG_IGN)
        time.sleep(600); os._exit(0)
""",
    "children that fork faster than they are killed": """
for i in range(4):
    if os.fork() == 0:
        while True:
            if quiet(os.fork): os._exit(0)
""",
    "stopped children, zombies, orphans, a tree of processes": """
for i in range(6):
    p = os.fork()
    if p == 0:
        quiet(os.fork); quiet(os.fork); time.sleep(600); os._exit(0)
    os.kill(p, 19)
for i in range(10):
    if os.fork() == 0: os._exit(0)
""",
    "siblings: children of the zygote by CLONE_PARENT": """
for i in range(10):
    if sc(56, 0x8000 | 17, 0, 0, 0, 0) == 0:
        time.sleep(600 if i % 2 else 0); os._exit(i)
libc.prctl(36, 1, 0, 0, 0); libc.prctl(1, 9, 0, 0, 0); libc.prctl(4, 0, 0, 0, 0)
""",
    "a filter, a landlock and a personality of its own": """
libc.prctl(38, 1, 0, 0, 0)
code = struct.pack("HBBI", 6, 0, 0, 0x7fff0000)
buf = ctypes.create_string_buffer(code)
prog = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(buf)))
libc.prctl(22, 2, prog, 0, 0)
sc(317, 1, 8, prog)
sc(135, 0x40000)
""",
    "its own limits, umask, priority and folder": """
os.umask(0o777); quiet(os.nice, 19); quiet(os.chdir, "/proc")
for k in range(16):
    if k not in (0, 9): quiet(resource.setrlimit, k, (0, 0))
""",
    "memory and its end: 100 MB in each of two children": """
for i in range(2):
    if os.fork() == 0:
        b = bytearray(b"x") * (100 << 20)
        time.sleep(600)
time.sleep(0.1)
""",
    "locks, watches and leases on files of the system": """
d = libc.inotify_init()
for n in "/usr/bin/python3", "/bin/sh", "/usr/lib", "/cupel", "/cupel/zygote.so", "/cupel/boot-1":
    libc.inotify_add_watch(d, n.encode(), 0xfff)
    f = quiet(os.open, n, os.O_RDONLY)
    if f is not None:
        quiet(fcntl.flock, f, fcntl.LOCK_EX | fcntl.LOCK_NB); quiet(fcntl.fcntl, f, 1024, 1)
    f = quiet(os.open, n, os.O_RDWR)
    if f is not None: quiet(os.write, f, b"")
""",
    "getppid again and again, also in children and threads": """
import threading
for i in range(100): os.getppid()
t = threading.Thread(target=os.getppid); t.start(); t.join()
if os.fork() == 0:
    os.getppid(); os._exit(0)
os.wait()
ctypes.CDLL(None).getppid(); sc(110)
""",
    "the preloaded library, called and preloaded again": """
os.environ["LD_PRELOAD"] = "/cupel/zygote.so"; os.environ["CUPEL_ZYGOTE"] = "3"
for env in ({"LD_PRELOAD": "/cupel/zygote.so", "CUPEL_ZYGOTE": "3"}, {"CUPEL_COLD": "1", "LD_PRELOAD": "/cupel/zygote.so"}):
    if os.fork() == 0:
        quiet(os.execve, sys.executable, ["python3", "-c", "import os; os.getppid()"], env); os._exit(0)
    os.wait()
if os.fork() == 0:
    for n in "clean_dir", "child_become": quiet(lambda: getattr(ctypes.CDLL("/cupel/zygote.so"), n)(0))
    os._exit(0)
os.wait()
""",
    "the memory that it shares with the zygote, if any": """
for l in open("/proc/self/maps"):
    p = l.split()
    if p[1][3] == "s" and p[1][1] == "w" and len(p) > 5:
        a, b = (int(v, 16) for v in p[0].split("-"))
        ctypes.memset(a, 0xff, b - a)
""",
    "the end by every signal that kills": """
for s in range(1, 32):
    if s in (9, 17, 18, 19, 20, 21, 22, 23, 28): continue
    if os.fork() == 0:
        quiet(signal.signal, s, signal.SIG_DFL); os.kill(os.getpid(), s); os._exit(0)
    os.wait()
os.kill(os.getpid(), 31)
""",
    "sleep beyond the wall limit with everything blocked": """
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
time.sleep(600)
""",
    "a loop beyond the CPU limit in a sibling and in a thread": """
import threading
if sc(56, 0x8000 | 17, 0, 0, 0, 0) == 0:
    while True: pass
threading.Thread(target=lambda: [None for i in iter(int, 1)], daemon=True).start()
while True: pass
""",
}

CHECK = "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(5) == 6\ncheck(f)"
LANDLOCK = "--isolation=landlock" in sys.argv  # one folder, no /proc
LIMITS = {"time_s": 1, "wall_s": 2, "memory_mb": 160, "output_mb": 1}
HONEST = {
    "stdin": ({"type": "stdin", "tests": [{"stdin": "1 2\n", "stdout": "3\n"}]},
              "import os\nassert sorted(os.listdir('.')) == ['main.py'] and not os.listdir('/tmp') and "
              "not os.listdir('/dev/shm')\n"
              "assert os.getpid() < 6 and len([p for p in os.listdir('/proc') if p.isdigit()]) < 4\n"
              "if os.fork() == 0: os._exit(0)\nos.wait()\n"
              "open('x', 'w').write('x'); open('/tmp/x', 'w'); open('/dev/shm/x', 'w')\n"
              "print(sum(map(int, input().split())))\n"),
    "assert": ({"type": "assert", "tests": [CHECK, "assert f(2) == 3"]},
               "import os\nassert not os.listdir('/tmp')\ndef f(x):\n    return x + 1\n"),
}
if LANDLOCK:
    HONEST = {
        "stdin": (HONEST["stdin"][0],
                  "import os\nassert os.listdir('.') == ['main.py']\n"
                  "if os.fork() == 0: os._exit(0)\nos.wait()\nopen('x', 'w').write('x')\n"
                  "print(sum(map(int, input().split())))\n"),
        "assert": (HONEST["assert"][0], "def f(x):\n    return x + 1\n"),
    }


def case(name, task, code):
    return {"id": name, "class": "attack", "title": name, "language": "python", "task": task,
            "candidate": code, "expect": "text"}


def make():
    """Attacks and honest programs, in the order in which one slot runs them."""
    cases = []
    for i, (name, body) in enumerate(ATTACKS.items()):
        stdin = {"type": "stdin", "tests": [{"stdin": "1 2\n", "stdout": "4\n"}] * 2, "limits": LIMITS}
        pair = {"type": "assert", "tests": [CHECK, CHECK], "limits": LIMITS}
        inner = "".join("    " + line + "\n" for line in body.strip().split("\n"))
        if LANDLOCK:
            inner = inner.replace("/box", ".").replace("/tmp", ".")
        def_ = "def attack():\n" + inner
        cases.append(case("%d stdin: %s" % (i, name), stdin, HEAD + def_ + "attack()\nprint(3)\n"))
        cases.append(case("%d after it" % i, *HONEST["stdin"]))
        cases.append(case("%d pair: %s" % (i, name), pair,
                          HEAD + def_ + "def f(x):\n    attack()\n    return 0\n"))
        cases.append(case("%d after the pair" % i, *HONEST["assert"]))
    return cases


def main():
    options = [a for a in sys.argv[1:] if a.startswith("--")]
    cases, n = make(), 0
    with tempfile.TemporaryDirectory() as folder:
        run = faults.Run(folder, ["--jobs=1"] + options)
        run.judge(cases)
    for c in cases:
        result, n = run.results.get(c["id"]), n + 1
        verdict = result["verdict"] if result else "no result"
        bad = ("no result", "judge_error", "accepted")
        right = verdict not in bad if ":" in c["id"] else verdict == "accepted"
        print("%sok %d - %s: %s" % ("" if right else "not ", n, c["id"], verdict))
        if not right and result:
            print("# " + json.dumps([t for t in result["tests"] if t["verdict"] != "accepted"])[:600])
    print("%sok %d - nothing is left" % ("not " if run.left else "", n + 1))
    for what in run.left:
        print("# left: " + what)
    print("1..%d" % (n + 1))


main()
