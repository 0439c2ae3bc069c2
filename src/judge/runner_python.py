# runner_python.py - calls the function of one program, runs assertions on it, or only compiles it,
# inside the box.
#
# The job is one JSON object on descriptor 0, which is read and closed before anything of the
# program runs. Events go to descriptor 3, one JSON object a line:
#
#	{"load":"ok"} | {"load":"syntax"|"raised"|"memory"|"task","note":"..."}
#	{"start":i}
#	{"i":i,"cpu":ns,"wall":ns,"value":V}		function: V as in value.h
#	{"i":i,"cpu":ns,"wall":ns,"proof":"secret"}	assertion held
#	{"i":i,"cpu":ns,"wall":ns,"failed":"..."}	AssertionError
#	{"i":i,"cpu":ns,"wall":ns,"raised"|"memory":"..."}	another exception; "exit":true: the last
#	{"end":true}
#
# Nothing that could be stolen is here for functions: expected values stay outside, so the worst a
# program can do is to hand in wrong answers. What the program may have replaced in shared modules
# was taken before it ran. Timers end a test that runs too long by their default action; a program
# that stops them runs into the limits of the box.


def main():
    import posix
    import sys
    import time
    from _json import encode_basestring_ascii as quote, make_scanner
    from _signal import ITIMER_PROF, ITIMER_REAL, setitimer

    # Names of builtins, in case the program changes the module builtins.
    base, exc = BaseException, Exception
    false, true, none = False, True, None
    kind, sub, size, text, whole, real, array, pair = (
        type, issubclass, len, str, int, float, list, tuple)
    table, bag, frozen = dict, set, frozenset
    memory, assertion, leave, encoding = MemoryError, AssertionError, SystemExit, UnicodeError
    run, make, each, attribute = exec, compile, enumerate, getattr
    write, cpu_now, wall_now = posix.write, time.process_time_ns, time.perf_counter_ns
    type_name = type.__dict__["__name__"].__get__

    class Too(exc):  # deep or large
        pass

    class Format:  # what the C scanner of the json module asks for
        strict, object_hook, object_pairs_hook, parse_constant = false, none, none, none
        parse_int, parse_float, memo = int, float, {}

    def send(line):
        data = line.encode("ascii")
        while data:
            data = data[write(3, data):]

    def name_of(x):
        try:
            return text.__str__(type_name(kind(x)))
        except exc:
            return "object"

    def describe(e):
        try:
            why = text(e)[:200]
            why.encode()
        except base:
            why = ""
        return quote(name_of(e) + (": " + why if why else ""))

    # A value as strict JSON, read through the methods of the builtin types only. Too nested or too
    # large values count as unknown types: they equal nothing.
    def encode(value):
        out, left = [], [4000000]
        put = out.append

        def items(it, depth):
            first = true
            for x in it:
                if not first:
                    put(",")
                first = false
                walk(x, depth + 1)

        def walk(x, depth):
            left[0] -= 1
            if depth > 56 or left[0] < 0:
                raise Too
            t = kind(x)
            if t is whole:
                put(whole.__repr__(x))
            elif x is none:
                put("null")
            elif x is true or x is false:
                put("true" if x is true else "false")
            elif sub(t, whole):
                put(whole.__repr__(x))
            elif sub(t, text):
                s = text.__str__(x)
                try:
                    if not s.isascii():
                        s.encode()
                    put(quote(s))
                except encoding:
                    put('{"u":"str with a lone surrogate"}')
            elif sub(t, real):
                s = real.__repr__(x)
                put('{"f":"%s"}' % s if s[-1] in "fn" else s)
            elif sub(t, array):
                put("[")
                items(array.__iter__(x), depth)
                put("]")
            elif sub(t, pair):
                put("[")
                items(pair.__iter__(x), depth)
                put("]")
            elif sub(t, table):
                put('{"d":[')
                first = true
                for key, item in table.items(x):
                    put("" if first else ",")
                    first = false
                    walk(key, depth + 2)
                    put(",")
                    walk(item, depth + 2)
                put("]}")
            elif sub(t, bag) or sub(t, frozen):
                put('{"s":[')
                items((bag if sub(t, bag) else frozen).__iter__(x), depth + 1)
                put("]}")
            else:
                put('{"u":%s}' % quote(name_of(x)))

        try:
            walk(value, 0)
            return "".join(out)
        except Too:
            return '{"u":"value that is nested too deeply or too large"}'

    def failure(e):
        t = kind(e)
        if sub(t, assertion) and job["kind"] == "assert":
            return '"failed":' + describe(e)
        if sub(t, memory):
            return '"memory":' + describe(e)
        return '"raised":' + describe(e) + (',"exit":true' if sub(t, leave) else "")

    # A little late: the kernel counts ticks, and nobody may lose to that.
    def timers(cpu, wall):
        setitimer(ITIMER_PROF, cpu * 1.125 + 0.05)
        setitimer(ITIMER_REAL, wall * 1.125 + 0.05)

    def call(args):
        owner, dot, method = job["entry"].partition("().")
        if owner not in space:
            raise NameError("name '%s' is not defined" % owner)
        f = attribute(space[owner](), method) if dot else space[owner]
        value = f(*args)
        return '"value":' + encode(args[0] if job["in_place"] else value)

    def holds(code):
        run(code, space)
        return '"proof":' + quote(job["token"])

    def stop(line, status):
        send(line + "\n")
        posix._exit(status)

    chunks = []
    while chunk := posix.read(0, 1 << 20):
        chunks.append(chunk)
    job = make_scanner(Format)(b"".join(chunks).decode(), 0)[0]
    chunks = chunk = none
    empty, end = posix.pipe()
    posix.close(end)
    posix.dup2(empty, 0)
    posix.close(empty)

    tests, setup, step = job["tests"], none, call
    if job["kind"] == "assert":
        step = holds
        try:
            setup = make(job["setup"], "setup", "exec", dont_inherit=true)
            tests = [make(t, "test %d" % (i + 1), "exec", dont_inherit=true)
                     for i, t in each(tests)]
        except exc as e:
            stop('{"load":"task","note":%s}' % describe(e), 1)
    with open(job["file"], "rb") as f:
        source = f.read()
    try:
        code = make(source, job["file"], "exec", dont_inherit=true)
    except exc as e:
        stop('{"load":"syntax","note":%s}' % describe(e), 1)
    if job["kind"] == "compile":
        stop('{"load":"ok"}', 0)
    # The program is a module, not __main__: a main guard in it does not run.
    module = kind(sys)("main")
    module.__file__ = job["file"]
    sys.modules["main"] = module
    sys.argv[:] = [job["file"]]
    space = module.__dict__
    cpu_limit, wall_limit = job["cpu_s"], job["wall_s"]
    timers(cpu_limit, wall_limit)
    try:
        run(code, space)
        if setup:
            run(setup, space)
    except base as e:
        word = "memory" if sub(kind(e), memory) else "raised"
        stop('{"load":"%s","note":%s}' % (word, describe(e)), 1)
    news = '{"load":"ok"}\n'
    for i, test in each(tests):
        timers(cpu_limit, wall_limit)
        send(news + '{"start":%d}\n' % i)
        cpu, wall = cpu_now(), wall_now()
        try:
            result = step(test)
        except base as e:
            result = failure(e)
        cpu, wall = cpu_now() - cpu, wall_now() - wall
        news = '{"i":%d,"cpu":%d,"wall":%d,%s}\n' % (i, cpu, wall, result)
        if result.endswith(',"exit":true'):
            stop(news[:-1], 1)
    stop(news + '{"end":true}', 0)


main()
