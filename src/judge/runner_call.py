# runner_call.py - calls the function of a program with the arguments of its tests and sends what it
# returns as data; or runs assertions in the program's own process (trust: weak).
#
# The job's input, descriptor 0, is read and replaced by an empty one before anything of the program
# runs. For functions it is a JSON list of tests, [typed,calls or null,arguments or null] (typed:
# with the marks of value.h; the value of calls is a list), or "M" and a marshalled list of
# (arguments, keywords, function); for assertions a secret, the length of the marshalled set-up
# (runner_trust.py) and this and the test's code.
# Events, one JSON object a line on descriptor 3:
#
#	{"load":"raised"|"memory","note":"..."}	the program did not load
#	{"i":i,"value":V}			V as in value.h
#	{"i":i,"proof":"secret"}		the assertion held
#	{"i":i,"failed":"..."}			AssertionError of an assertion
#	{"i":i,"raised"|"memory":"..."}		another exception, also behind "value"; "exit":true: the
#						program ends with it
#	{"end":true}
#
# Where several tests share the process an event also has "cpu" and "wall", in ns, and timers end
# a test that takes too long by their default action; a program that stops them runs into the limits
# of the box. Expected values are not here: the worst that a program can do is to hand in wrong
# answers.


PART = 1 << 20
LEAVES = ',"exit":true'


def take_input():
    data = read_all(0)
    empty, end = posix.pipe()
    posix.close(end)
    posix.dup2(empty, 0)
    posix.close(empty)
    return data


# The program as the module `main`, so that a main guard does not run. Our frames are no part of the
# depth that it may use.
def new_module(path, deeper):
    module = module_type("main")
    module.__file__ = path
    modules["main"] = modules["__main__"] = module
    sys.setrecursionlimit(sys.getrecursionlimit() + deeper)
    return module.__dict__


def failure(e):
    if issubclass(type(e), MemoryError):
        return '"memory":' + describe(e)
    leaves = issubclass(type(e), SystemExit)
    return '"raised":' + describe(e) + (LEAVES if leaves else "")


def run_program(code, space):
    try:
        exec(code, space)
    except BaseException as e:
        word = "memory" if issubclass(type(e), MemoryError) else "raised"
        stop('{"load":"%s","note":%s}\n' % (word, describe(e)), 1)


def find_function(space, entry):
    owner, dot, method = entry.partition("().")
    if owner not in space:
        raise NameError("name '%s' is not defined" % owner)
    return getattr(space[owner](), method) if dot else space[owner]


# The frame below the program: no constant in it could be taken for an answer.
def enter(f, args, named):
    return f(*args, **named)


def call(f, in_place, args, named):
    value = enter(f, args, named)
    return Writer().json(args[0] if in_place else value)


# Where there are many calls, what they returned is sent as it comes, up to the last part.
def call_all(space, head, function, in_place, calls, args, named):
    f = find_function(space, function)
    if calls is None:
        return head + '"value":' + call(f, in_place, args, named)
    parts, held, comma = [head, '"value":['], 0, ""
    try:
        for args in calls:
            parts += comma, call(f, in_place, args, {})
            comma, held = ",", held + len(parts[-1])
            if held > PART:
                send("".join(parts))
                parts, held = [], 0
    except BaseException as e:
        return "".join(parts) + "]," + failure(e)
    return "".join(parts) + "]"


def read_tests(data, entry):
    if data[:1] == b"M":
        return [(None, *test) for test in loads(memoryview(data)[1:])]
    tests, reader = scan_json(data.decode(), 0)[0], Reader()
    for test in tests:
        if test[0]:
            test[1:] = reader.walk(test[1:])
    return [(calls, args, {}, entry) for _, calls, args in tests]


# A little late: the kernel counts ticks, and nobody may lose to that.
def set_timers(cpu, wall):
    signal = modules["_signal"]
    signal.setitimer(signal.ITIMER_PROF, cpu * 1.125 + 0.05)
    signal.setitimer(signal.ITIMER_REAL, wall * 1.125 + 0.05)


def serve_function(path, entry, flags, cpu, wall, imports=""):
    tests = read_tests(take_input(), entry)
    code = load(path, refuse_program)
    space = new_module(path, 7)
    in_place, several = flags[:1] == "p", len(tests) > 1
    cpu, wall = float(cpu), float(wall)
    if several:
        set_timers(cpu, wall)
    run_program(code, space)
    if imports:
        run_program(compile(imports, "setup", "exec", dont_inherit=True), space)
    for i, (calls, args, named, function) in enumerate(tests):
        if several:
            set_timers(cpu, wall)
            since, cpu_since = clock(), time.process_time_ns()
        head = '{"i":%d,' % i
        try:
            result = call_all(space, head, function, in_place, calls, args, named)
        except BaseException as e:
            result = head + failure(e)
        leaves = result.endswith(LEAVES)
        if several:
            result += ',"cpu":%d,"wall":%d' % (time.process_time_ns() - cpu_since, clock() - since)
        result += "}\n"
        if leaves:
            stop(result, 1)
        if i < len(tests) - 1:
            send(result)
    stop(result + '{"end":true}\n')


def serve_weak(path, entry, flags, cpu, wall, imports=""):
    secret, n, data = take_input().split(b"\n", 2)
    (_, setup, _), test = loads(memoryview(data)[:int(n)]), loads(memoryview(data)[int(n):])
    data = None
    code = load(path, refuse_program)
    space = new_module(path, 6)
    run_program(code, space)
    if setup:
        run_program(setup, space)
    try:
        exec(test, space)
        result = '"proof":"%s"' % secret.decode()
    except AssertionError as e:
        result = '"failed":' + describe(e)
    except BaseException as e:
        result = failure(e)
    stop('{"i":0,%s}\n{"end":true}\n' % result)
