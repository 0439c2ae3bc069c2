# runner_trust.py - the trusted process of a pair: runs set-up and assertion of a test beside the
# program, of which it knows only what runner_wire.py can say. Names that the test does not define
# are looked up in the program when they are needed; what it returns is rebuilt from builtin types.
#
# Input, descriptor 0: a line without meaning here, the length of what goes before the test, this
# (marshalled: code of the preamble or None, code of the set-up, names of classes) and the
# test's code. One event on descriptor 3, then {"end":true}:
#
#	{"load":"syntax"|"raised"|"memory","note":"..."}	the program did not load
#	{"i":0,"proof":true}
#	{"i":0,"failed":"..."}		the test raised AssertionError
#	{"i":0,"raised"|"memory":"..."}	another exception, or one of the program's; or it has ended
#
# "opaque":true stands beside a failure if something could not cross that the test might need.


class TrustedSide(Side):
    def __init__(self, fd, entry):
        super().__init__(fd, 2)
        self.ready, self.raised, self.kinds, self.names = False, [], {}, {}

    def lost(self, why):
        self.finish('"raised":%s' % quote_text(
            "what the program sent is no answer (%s)" % why if why else "the program ended"))

    def finish(self, result):
        opaque = ',"opaque":true' if self.opaque and '"proof"' not in result else ""
        stop('{"i":0,%s%s}\n{"end":true}\n' % (result, opaque))

    # The program is there, or the job ends.
    def wait_loaded(self):
        if self.ready:
            return
        self.ready = True
        j = self.frame()
        if j[0] == "syntax" and len(j) == 2 and type(j[1]) is str:
            stop('{"load":"syntax","note":%s}\n' % quote_text(j[1]), 1)
        if j[0] != "ok" or len(j) != 2 or type(j[1]) is not int:
            self.lost("first frame")
        if j[1]:
            send('{"compile":%d}\n' % j[1])
        j = self.frame()
        if j[0] == "r":
            return
        try:
            e = self.take_exception(j)
        except Exception as e:
            self.lost(name_of(e))
        word = "memory" if isinstance(e, MemoryError) else "raised"
        stop('{"load":"%s","note":%s}\n' % (word, describe(e)), 1)

    def ask(self, text, arguments=()):
        self.wait_loaded()
        return super().ask(text, arguments)

    # A name of the program; KeyError if it has none.
    def lookup(self, name):
        if name in self.names:
            return self.names[name]
        kind, *rest = self.ask('["g",%s]' % quote_text(name))
        if kind == "none":
            raise KeyError(name)
        if kind == "data":
            return rest[0]
        if kind == "exception":
            x = self.exception_class("main", name, rest[0])
        else:
            self.opaque |= kind == "class"
            x = Remote(self, name)
        self.names[name] = x
        return x

    def builtin(self, module, name):
        x = getattr(builtins_module, name)
        if module != "builtins" or not isinstance(x, type) or not (
                x in PLAIN_TYPES or issubclass(x, BaseException)):
            raise TypeError
        return x

    def exception_class(self, module, name, bases):
        home = modules.get(module) if module != "main" else None
        x = home.__dict__.get(name) if home else None
        if isinstance(x, type) and issubclass(x, BaseException):
            return x
        if name not in self.kinds:
            base = next(x for b in bases if isinstance(
                x := getattr(builtins_module, b, None), type) and issubclass(x, BaseException))
            self.kinds[name] = type(name, (base,), {"__module__": "main"})
        return self.kinds[name]

    def exception(self, module, name, bases, args, text):
        cls = self.exception_class(module, name, bases)
        try:
            e = cls(*args) if cls.__module__ == "builtins" else cls.__new__(cls, *args)
        except Exception:
            e = cls.__new__(cls)
            args = [text]
        e.args = tuple(args)
        self.raised.append(e)
        return e

    # What the program may ask: to call a function that it was given, and for what an object that it
    # was given shows.
    def answer(self, j):
        op, root = j[0], j[2] if j[0] == "x" else j[1]
        x = self.object(root) if type(root) is int else None
        reader = WireReader(self)
        if op == "c" and j[2] is None or op == "c" and j[2][:1] != "_":
            reader.states(j[5])
            args = [reader.walk(y) for y in j[3]]
            n = len(args) - len(j[4])
            f = x if j[2] is None else getattr(x, j[2])
            return (f(*args[:n], **dict(zip(j[4], args[n:]))),)
        self.opaque = True
        if op == "i":
            return (take_items(x, j[2]),)
        if op == "a" and j[2][:1] != "_":
            y = getattr(x, j[2])
            return (["method"] if callable(y) else (y,),)
        if op == "x" and j[1] in ("len", "str", "repr", "iter", "getitem"):
            return (OPS[j[1]](x, *reader.walk(j[3])),)
        raise TypeError("this cannot be asked of an object of a test")


# Builtins of the test's namespace: what is found nowhere else is a name of the program.
class TestBuiltins(dict):
    side = None

    def __missing__(self, name):
        return self.side.lookup(name)


class ProgramModule(module_type):
    def __getattr__(self, name):
        try:
            return test_builtins.side.lookup(name)
        except KeyError:
            raise AttributeError(name) from None


test_builtins = TestBuiltins()


def run_before(before, space, side):
    preamble, setup, classes = before
    if preamble:
        try:
            exec(preamble, space)
        except Exception:
            pass
    if setup:
        exec(setup, space)
    for name in classes:
        if isinstance(space.get(name), type):
            side.classes[name] = space[name]


def failure_of(e, side):
    ours = not any(e is x for x in side.raised)
    if isinstance(e, MemoryError):
        return '"memory":' + describe(e)
    if isinstance(e, AssertionError) and ours:
        return '"failed":' + describe(e)
    return '"raised":' + describe(e)


def serve_trust(entry):
    data = read_all(0)
    _, n, data = data.split(b"\n", 2)
    before, test = loads(memoryview(data)[:int(n)]), loads(memoryview(data)[int(n):])
    side = TrustedSide(5, entry)
    test_builtins.update(builtins_module.__dict__)
    test_builtins.side = side
    space = {"__name__": "test", "__builtins__": test_builtins}
    owner = entry.partition("().")[0]
    if owner in test_builtins:
        space[owner] = Remote(side, owner)
    modules["main"] = ProgramModule("main")
    try:
        run_before(before, space, side)
        exec(test, space)
        side.wait_loaded()
        result = '"proof":true'
    except BaseException as e:
        result = failure_of(e, side)
    side.wait_loaded()
    side.finish(result)
