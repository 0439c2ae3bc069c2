# runner_pair.py - the program's process of a pair: loads the program as the module `main` and
# answers what the trusted process asks (runner_wire.py). First it says whether there is a program, before
# anything of it runs:
#
#	["ok",compile_ns]  ["syntax",note]	it can be compiled, or not
#	["r",...]  ["e",...]			it has run to its end, or raised
#
# Standard input is empty; descriptor 3 is not the channel of results. What a program does to this
# process can only change its answers. When the socket closes the job is over, and the end comes
# from outside.


class ProgramSide(Side):
    def __init__(self, fd):
        super().__init__(fd, 1)
        self.space, self.functions = {}, our_functions()

    def lost(self, why):
        while True:
            modules["_signal"].pause()

    def builtin(self, module, name):
        if module not in ("builtins", "math", "operator"):
            raise TypeError
        return getattr(__import__(module), name)

    def exception(self, module, name, bases, args, text):
        kinds = [getattr(builtins_module, b, None) for b in bases]
        kinds = [k for k in kinds if isinstance(k, type) and issubclass(k, BaseException)]
        if module != "builtins" or not kinds:
            return RuntimeError("%s: %s" % (name, text))
        return kinds[0](*args)

    def target(self, root):
        if type(root) is str:
            if root not in self.space:
                raise NameError("name '%s' is not defined" % root)
            return self.space[root]
        return self.object(root)

    # Value, arguments, and what these were before.
    def answer(self, j):
        op, rest = j[0], j[1:]
        reader = WireReader(self)
        if op == "c":
            root, attr, args, names, states = rest
            reader.states(states)
            args = [reader.walk(x) for x in args]
            writer = WireWriter(self)
            texts = [writer.json(x) if changeable(x) else None for x in args]
            f = self.target(root)
            if attr is not None:
                f = getattr(f, attr)
            n = len(args) - len(names)
            x = enter(f, args[:n], dict(zip(names, args[n:])))
            for ours, code in self.functions:
                if ours.__code__ is not code:
                    ours.__code__ = code
            return x, args, texts
        if op == "g":
            return (self.describe(rest[0]),)
        if op == "a":
            x = getattr(self.target(rest[0]), rest[1])
            if callable(x) and not isinstance(x, type) and self.shared_name(type(x)) is None:
                return (["method"],)
            return ((x,),)
        if op == "s":
            reader.states(rest[3])
            setattr(self.target(rest[0]), rest[1], reader.walk(rest[2]))
            return (None,)
        if op == "x":
            reader.states(rest[3])
            return (OPS[rest[0]](self.target(rest[1]), *reader.walk(rest[2])),)
        if op == "i":
            return (take_items(self.object(rest[0]), rest[1]),)
        raise TypeError("no such question")

    # What kind of thing a global name of the program is.
    def describe(self, name):
        if name not in self.space:
            return ["none"]
        x = self.space[name]
        if isinstance(x, type) and issubclass(x, BaseException):
            return ["exception", [name_of_type(b) for b in type.mro(x)
                                  if b.__module__ == "builtins"]]
        if isinstance(x, type):
            return ["class"]
        if callable(x):
            return ["function"]
        return ["data", x]


# With their code: a program finds the functions of its callers, and may exchange that. Who comes
# back from the program, in a frame that was there before, puts it in its place.
def our_functions():
    found = []
    for x in [*globals().values()]:
        if type(x) is type and "__init__" in vars(x):
            found += [f for f in vars(x).values() if type(f) is type(our_functions)]
        elif type(x) is type(our_functions):
            found.append(x)
    return tuple((f, f.__code__) for f in found)


# Up to n items, and whether there may be more.
def take_items(it, n):
    out = []
    for _ in range(min(n, BATCH)):
        try:
            out.append(next(it))
        except StopIteration:
            return [out, False]
        except BaseException:
            if not out:
                raise
            return [out, True]
    return [out, True]


def serve_pair(path, entry, flags, cpu, wall, imports=""):
    if role == TRUSTED:
        return serve_trust(entry)
    side, compiled = ProgramSide(6), []

    def refuse(e):
        side.send_frame('["syntax",%s]' % describe(e))
        side.lost(None)

    code = load(path, refuse, compiled.append)
    side.send_frame('["ok",%s]' % (compiled[0][11:-2] if compiled else "0"))
    side.space = new_module(path, 12)
    try:
        exec(code, side.space)
        if imports:
            exec(compile(imports, "setup", "exec", dont_inherit=True), side.space)
    except BaseException as e:
        side.send_exception(e)
        side.lost(None)
    classes = flags.partition(":")[2].split(",")
    side.classes = {name: side.space[name] for name in classes
                    if isinstance(side.space.get(name), type)}
    side.send_value(None)
    while True:
        side.serve(side.frame())
