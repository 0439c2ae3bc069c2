# runner_wire.py - what the two processes of a pair say to each other: frames of a length (4 bytes)
# and strict JSON. Both sides may ask: while one waits for an answer it serves the other.
#
#	["g",name]			what a global name of the program is
#	["c",root,attr,args,named]	call; root is a global name or the number of an object
#	["a",root,attr] ["s",root,attr,value]	attributes
#	["x",op,root,args]		len(), str() and such: OPS
#	["i",number,n]			up to n items of an iterator
#	["r",value,states,changed]	the answer; changed: arguments that were changed in place
#	["e",module,name,bases,args,text,states]	an exception
#
# Values are those of runner_value.py and these:
#
#	{"h":[number,truth,type,kind]}	an object of the sender that stays there
#	{"o":number}		an object of the receiver
#	{"n":number}		an instance of a class that both know (the task's preamble); its attributes
#				are in `states`, so that lists of any length and cycles cross
#	{"a":i}			argument i of the call that is answered
#	{"g":number}		an iterator of the sender
#	{"k":..} {"v":..} {"w":..} {"e":..} {"B":[module,name]}	views of a dict, deque, builtin
#
# Nothing else can be said, so nothing of the other side is ever run here. What does not fit is an
# object that stays where it is: the other side may ask of it what OPS has, and it equals nothing.

MAX_FRAME, MAX_OBJECTS = 1 << 28, 1 << 20
BATCH = 1000  # items of an iterator in one answer

PLAIN_TYPES = (int, float, str, bool, list, tuple, set, frozenset, dict, complex, bytes, bytearray,
               range, object)
ITERATORS = ("builtins", "itertools")


class Garbage(Exception):  # nothing that we say
    pass


def is_iterator(x):
    t = type(x)
    return t.__module__ in ITERATORS and "__next__" in dir(t)


def builtin_name(x):
    try:
        name, module = x.__name__, x.__module__
    except Exception:
        return None
    if type(name) is str and module == "builtins" and getattr(builtins_module, name, None) is x:
        return ["builtins", name]
    if module in ("math", "operator", "_operator") and callable(x):
        module = module.strip("_")
        if module in modules and getattr(modules[module], name, None) is x:
            return [module, name]
    return None


builtins_module = modules["builtins"]


class WireWriter(Writer):
    def __init__(self, side):
        self.left, self.side, self.seen, self.states = ITEMS, side, set(), []

    def foreign(self, x):
        side, t = self.side, type(x)
        if t is Remote:
            number = object.__getattribute__(x, "_root")
            if type(number) is int and object.__getattribute__(x, "_attr") is None:
                return '{"o":%d}' % number
        if t in VIEWS:
            return '{"%s":%s}' % (VIEWS[t], self.walk([*x], DEPTH - 1))
        if t.__module__ == "collections" and t is getattr(modules.get("collections"), "deque", 0):
            return '{"e":%s}' % self.walk([*x], DEPTH - 1)
        name = side.shared_name(t)
        if name is not None:
            return self.instance(x, name)
        if t in (type, type(len)) and (found := builtin_name(x)):
            return '{"B":["%s","%s"]}' % tuple(found)
        number = side.number(x)
        if is_iterator(x):
            return '{"g":%d}' % number
        try:
            truth = bool(x)
        except Exception:
            truth = True
        kind = "callable" if callable(x) else ""
        return '{"h":[%d,%s,%s,"%s"]}' % (number, "true" if truth else "false",
                                          quote_text(name_of(x)), kind)

    def instance(self, x, name):
        number = self.side.number(x)
        if number not in self.seen:
            self.seen.add(number)
            self.states.append((number, name, x))
        return '{"n":%d}' % number

    # The attributes of the instances that were met, and of those that these lead to.
    def all_states(self):
        out = []
        for number, name, x in self.states:  # it grows
            pairs = self.pairs(object.__getattribute__(x, "__dict__"), 1)
            out.append('[%d,%s,[%s]]' % (number, quote_text(name), pairs))
        return "[%s]" % ",".join(out)


# What the other side wrote. Any exception means that it is no value of ours.
class WireReader(Reader):
    def __init__(self, side, arguments=()):
        self.side, self.arguments, self.plain = side, arguments, side.plain

    def walk(self, j):
        return j if self.plain else Reader.walk(self, j)

    # Instances of classes that both know, and their attributes.
    def states(self, list_of):
        found = [(self.side.instance(number, name), pairs) for number, name, pairs in list_of]
        for x, pairs in found:
            state = object.__getattribute__(x, "__dict__")
            new = self.table(pairs)
            state.clear()
            state.update(new)


def read_builtin(reader, x):
    module, name = x
    return reader.side.builtin(module, name)


WireReader.marks = {
    **Reader.marks,
    "k": lambda r, x: dict.fromkeys(r.items(x)).keys(),
    "v": lambda r, x: dict(enumerate(r.items(x))).values(),
    "w": lambda r, x: dict(r.items(x)).items(),
    "e": lambda r, x: __import__("collections").deque(r.items(x)),
    "h": lambda r, x: r.side.remote(*x),
    "o": lambda r, x: r.side.object(x),
    "n": lambda r, x: r.side.instance(x, None),
    "a": lambda r, x: r.arguments[x],
    "g": lambda r, x: r.side.pull(x),
    "B": read_builtin,
    "u": lambda r, x: r.side.remote(0, True, str(x), ""),
}

OPS = {
    "len": len, "str": str, "repr": repr, "iter": iter, "next": next, "dir": dir,
    "getitem": lambda x, k: x[k],
    "setitem": lambda x, k, v: x.__setitem__(k, v),
    "delitem": lambda x, k: x.__delitem__(k),
    "isinstance": isinstance,
    "enter": lambda x: type(x).__enter__(x),
    "exit": lambda x, *a: type(x).__exit__(x, None, None, None),
}


# One end of the socket. Objects of both ends have numbers: those that this end gave are `mine`
# modulo 2. lost(why) is called where the other end is gone or says what is nothing, and does not
# return: no `except` of a test or a program may catch that.
class Side:
    def __init__(self, fd, mine):
        self.fd, self.next, self.plain, self.opaque = fd, mine, False, False
        self.by_number, self.numbers = {}, {}
        self.remotes = {}  # number -> Remote: one for each object over there
        self.classes = {}  # name -> class that both know

    # --- frames

    def send_frame(self, text):
        data = text.encode("ascii")
        data = len(data).to_bytes(4, "little") + data
        try:
            write_all(self.fd, data)
        except OSError:
            self.lost(None)

    def read_exactly(self, n):
        chunks = []
        while n:
            try:
                chunk = read(self.fd, min(n, 1 << 20))
            except OSError:
                chunk = b""
            if not chunk:
                self.lost(None)
            chunks.append(chunk)
            n -= len(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def frame(self):
        n = int.from_bytes(self.read_exactly(4), "little")
        if not 2 <= n <= MAX_FRAME:
            self.lost("length of a frame")
        try:
            text = self.read_exactly(n).decode("ascii")
            self.plain = "{" not in text
            j, end = scan_json(text, 0)
            if end != n or type(j) is not list or type(j[0]) is not str:
                raise Garbage
        except (Exception, StopIteration) as e:
            self.lost(name_of(e))
        return j

    # --- objects

    def number(self, x):
        n = self.numbers.get(id(x))
        if n is None:
            n, self.next = self.next, self.next + 2
            self.remember(n, x)
        return n

    def remember(self, n, x):
        if len(self.by_number) > MAX_OBJECTS:
            raise MemoryError("too many objects")
        self.by_number[n] = x
        self.numbers[id(x)] = n

    def object(self, n):
        return self.by_number[n]

    def shared_name(self, t):
        name = t.__name__
        return name if self.classes.get(name) is t and "__dict__" in dir(t) else None

    def instance(self, n, name):
        x = self.by_number.get(n)
        if x is None:
            cls = self.classes[name]
            x = object.__new__(cls)
            self.remember(n, x)
        elif type(x) not in self.classes.values():
            raise TypeError
        return x

    # An object of the other side.
    def remote(self, number, truth, name, kind):
        if type(number) is not int or type(truth) is not bool:
            raise TypeError
        self.opaque = True
        x = self.remotes.get(number)
        if x is None:
            if len(self.remotes) > MAX_OBJECTS:
                raise MemoryError("too many objects")
            x = Remote(self, number, None, truth, kind)
            if number:
                self.remotes[number] = x
        object.__setattr__(x, "_truth", truth)
        return x

    # Items are fetched as they are asked for, a few more each time.
    def pull(self, number):
        def items():
            n, more = 1, True
            while more:
                batch, more = self.ask('["i",%d,%d]' % (number, n))
                n = min(2 * n, BATCH)
                yield from batch
        if type(number) is not int:
            raise TypeError
        return items()

    # --- questions and answers

    def ask(self, text, arguments=()):
        self.send_frame(text)
        while True:
            j = self.frame()
            try:
                if j[0] == "r":
                    return self.take_answer(j, arguments)
                if j[0] == "e":
                    raised = self.take_exception(j)
            except Exception as e:
                self.lost(name_of(e))
            if j[0] == "e":
                raise raised
            self.serve(j)

    def take_answer(self, j, arguments):
        _, value, states, changed = j
        reader = WireReader(self, arguments)
        reader.states(states)
        for at, new in changed:
            renew(arguments[at], reader.walk(new))
        return reader.walk(value)

    def take_exception(self, j):
        _, module, name, bases, args, text, states = j
        reader = WireReader(self)
        reader.states(states)
        return self.exception(module, name, bases, reader.walk(args), text)

    # Where the other end asks something else than it may, the answer is an exception.
    def serve(self, j):
        try:
            answer = self.answer(j)
        except BaseException as e:
            self.send_exception(e)
            return
        self.send_value(*answer)

    def send_exception(self, e):
        writer = WireWriter(self)
        t = type(e)
        bases = [name_of_type(b) for b in type.mro(t) if b.__module__ == "builtins"]
        try:
            args = writer.json([*BaseException.args.__get__(e)])
            states = writer.all_states()
        except Exception:
            args, states = "[]", "[]"
        try:
            text = str(e)[:10000]
        except BaseException:
            text = ""
        self.send_frame('["e",%s,%s,[%s],%s,%s,%s]' % (
            quote_text(str(t.__module__)), quote_text(name_of(e)),
            ",".join(map(quote_text, bases)), args, quote_text(text), states))

    def send_value(self, x, arguments=(), texts=()):
        writer = WireWriter(self)
        value = None
        for i, y in enumerate(arguments):
            if x is y and type(x) in (list, dict, set, bytearray):
                value = '{"a":%d}' % i
        changed = []
        for i, (y, before) in enumerate(zip(arguments, texts)):
            if before is None:
                if self.shared_name(type(y)) is not None:
                    writer.json(y)  # its attributes go back too
            elif (now := writer.json(y)) != before:
                changed.append("[%d,%s]" % (i, now))
        value = value or writer.json(x)
        self.send_frame('["r",%s,%s,[%s]]' % (value, writer.all_states(), ",".join(changed)))


def name_of_type(t):
    return str.__str__(type_name(t))


# The text of a value that could be changed in place.
def changeable(x):
    return type(x) in (list, dict, set, bytearray, tuple) or type(x).__name__ == "deque"


# What the program made of an argument becomes the argument, as far inside as possible.
def renew(old, new):
    if old is new or type(old) is not type(new):
        return old if old is new else new
    if type(old) is list:
        for i, y in enumerate(new):
            if i < len(old):
                new[i] = renew(old[i], y)
        old[:] = new
    elif type(old) is dict:
        new = {k: renew(old[k], v) if k in old else v for k, v in new.items()}
        old.clear()
        old.update(new)
    elif type(old) in (set, bytearray) or type(old).__name__ == "deque":
        old.clear()
        old.update(new) if type(old) is set else old.extend(new)
    elif type(old) is tuple and len(old) == len(new):
        renewed = tuple(map(renew, old, new))
        return old if all(a is b for a, b in zip(old, renewed)) else renewed
    else:
        return new
    return old


# An object of the other side. What it holds stays out of the way of the names that are asked for.
class Remote:
    __slots__ = ("_side", "_root", "_attr", "_truth", "_kind")

    def __init__(self, side, root, attr=None, truth=True, kind=""):
        for name, x in (("_side", side), ("_root", root), ("_attr", attr), ("_truth", truth),
                        ("_kind", kind)):
            object.__setattr__(self, name, x)

    def __call__(self, *args, **named):
        return remote_call(self, args, named)

    def __getattr__(self, name):
        return remote_attribute(self, name)

    def __setattr__(self, name, x):
        remote_set(self, name, x)

    def __bool__(self):
        return object.__getattribute__(self, "_truth")

    def __hash__(self):
        return id(self)

    # It stays where it is, so nothing is known of it: only itself is equal.
    def __eq__(self, other):
        if self is not other:
            object.__getattribute__(self, "_side").opaque = True
        return self is other

    def __ne__(self, other):
        return not self == other

    def __instancecheck__(self, x):
        return type(x) is Remote and remote_op(x, "isinstance", self)

    def __str__(self):
        return remote_op(self, "str")

    def __repr__(self):
        return remote_op(self, "repr")

    def __len__(self):
        return remote_op(self, "len")

    def __getitem__(self, key):
        return remote_op(self, "getitem", key)

    def __setitem__(self, key, x):
        remote_op(self, "setitem", key, x)

    def __delitem__(self, key):
        remote_op(self, "delitem", key)

    def __iter__(self):
        return remote_op(self, "iter")

    def __next__(self):
        return remote_op(self, "next")

    def __enter__(self):
        return remote_op(self, "enter")

    def __exit__(self, *why):
        return remote_op(self, "exit")


def root_text(remote):
    root = object.__getattribute__(remote, "_root")
    return quote_text(root) if type(root) is str else str(root)


def remote_call(remote, args, named):
    side = object.__getattribute__(remote, "_side")
    attr = object.__getattribute__(remote, "_attr")
    writer = WireWriter(side)
    arguments = [*args, *named.values()]
    parts = [writer.json(x) for x in arguments]
    names = ",".join(map(quote_text, named))
    text = '["c",%s,%s,[%s],[%s],%s]' % (
        root_text(remote), "null" if attr is None else quote_text(attr), ",".join(parts), names,
        writer.all_states())
    return side.ask(text, arguments)


def remote_attribute(remote, name):
    side = object.__getattribute__(remote, "_side")
    if object.__getattribute__(remote, "_attr") is not None:
        raise AttributeError(name)
    found = side.ask('["a",%s,%s]' % (root_text(remote), quote_text(name)))
    if found == ["method"]:
        return Remote(side, object.__getattribute__(remote, "_root"), name)
    return found[0]


def remote_set(remote, name, x):
    side = object.__getattribute__(remote, "_side")
    writer = WireWriter(side)
    value = writer.json(x)
    side.ask('["s",%s,%s,%s,%s]' % (root_text(remote), quote_text(name), value,
                                    writer.all_states()))


def remote_op(remote, op, *args):
    side = object.__getattribute__(remote, "_side")
    attr = object.__getattribute__(remote, "_attr")
    if attr is not None:
        side.opaque = True
        raise TypeError("'%s' cannot be asked of a method of the program" % op)
    writer = WireWriter(side)
    values = writer.json([*args])
    return side.ask('["x","%s",%s,%s,%s]' % (op, root_text(remote), values, writer.all_states()))
