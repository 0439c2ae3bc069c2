# runner_value.py - values of a program as strict JSON and back (value.h tells the marks).
#
# Values are read through the methods of the builtin types only, never through those of a subclass.
# What is too deep or too large, or cannot be data, is an object of an unknown type, {"u":...}, or
# whatever a Writer says of it.

from _json import encode_basestring_ascii as quote_text, make_scanner

DEPTH, ITEMS = 56, 1 << 25
LONG = 1 << 30000  # an integer from here on is hexadecimal: decimal digits take quadratic time
DRAWN = 100000  # values taken from an iterator
RATIO_DIGITS = 5000  # of a Decimal that is compared as a number


class Unfit(Exception):  # deep, or no data
    pass


class TooLarge(Exception):
    pass


class Format:  # what the C scanner of the json module asks for
    strict, object_hook, object_pairs_hook, parse_constant = True, None, None, None
    parse_int, parse_float, memo = int, float, {}


scan_json = make_scanner(Format)


def text_json(s):
    if not str.isascii(s):
        try:
            str.encode(s)
        except UnicodeError:
            return '{"S":"%s"}' % str.encode(s, "utf-8", "surrogatepass").hex()
    return quote_text(s)


def whole_json(x):
    if -LONG < x < LONG:
        return int.__repr__(x)
    return '{"I":"%s"}' % int.__format__(x, "x")


def real_json(x):
    s = float.__repr__(x)
    return '{"f":"%s"}' % s if s[-1] in "fn" else s


def ratio_json(top, bottom):
    try:
        near = top / bottom
        whole, part = near.as_integer_ratio()
        near = real_json(near) if whole * bottom == top * part else "null"
    except (OverflowError, ValueError):
        near = "null"
    return '"%d","%d",%s' % (top, bottom, near)


def decimal_json(cls, x):
    s = cls.__str__(x)
    if not cls.is_finite(x) or abs(cls.adjusted(x)) > RATIO_DIGITS:
        return '{"D":[%s]}' % quote_text(s)
    return '{"D":[%s,%s]}' % (quote_text(s), ratio_json(*cls.as_integer_ratio(x)))


def fraction_json(cls, x):
    top = object.__getattribute__(x, "_numerator")
    bottom = object.__getattribute__(x, "_denominator")
    if type(top) is not int or type(bottom) is not int or bottom < 1:
        raise Unfit
    return '{"q":[%s]}' % ratio_json(top, bottom)


# Aware times are equal where their instants are: the last field.
def time_json(module, x):
    date, time, delta = module.date, module.time, module.timedelta
    cls = type(x)
    if issubclass(cls, delta):
        days, seconds, micros = (delta.days.__get__(x), delta.seconds.__get__(x),
                                 delta.microseconds.__get__(x))
        return '{"T":["timedelta",%d,%d,%d]}' % (days, seconds, micros)
    if issubclass(cls, module.datetime):
        zone = module.datetime.utcoffset(x)
        text, name = module.datetime.isoformat(x), "datetime"
        at = '"%s"' % module.datetime.isoformat(
            module.datetime.replace(x, tzinfo=None) - zone) if zone is not None else "null"
    elif issubclass(cls, date):
        text, name, at = date.isoformat(x), "date", "null"
    else:
        text, name, at = time.isoformat(x), "time", "null"
    return '{"T":["%s",%s,%s]}' % (name, quote_text(text), at)


# Types of the standard library that cross as data: (module, class, writer).
def library_json(x):
    cls = type(x)
    for module, name, write_it in (("decimal", "Decimal", decimal_json),
                                   ("fractions", "Fraction", fraction_json)):
        base = getattr(modules.get(module), name, None)
        if isinstance(base, type) and issubclass(cls, base):
            return write_it(base, x)
    module = modules.get("datetime")
    if module and issubclass(cls, (module.date, module.time, module.timedelta)):
        return time_json(module, x)
    return None


SCALARS = {int: whole_json, float: real_json, str: text_json,
           bool: {True: "true", False: "false"}.get, type(None): {None: "null"}.get}
VIEWS = {type({}.keys()): "k", type({}.values()): "v", type({}.items()): "w"}


# One value, or several that share a limit.
class Writer:
    def __init__(self):
        self.left = ITEMS

    # How a value that is no data is written; raise Unfit to give up the whole value.
    def foreign(self, x):
        return '{"u":%s}' % quote_text(name_of(x))

    def json(self, x):
        try:
            return self.walk(x, 0)
        except TooLarge:
            return '{"L":0}'
        except (Unfit, RecursionError):
            return '{"u":"value that is nested too deeply"}'

    # Most lists hold few types, and no others inside.
    def array(self, it, depth):
        self.left -= len(it)
        if self.left < 0:
            raise TooLarge
        kinds = set(map(type, it))
        if kinds <= SCALARS.keys():
            if kinds == {int} and -LONG < min(it) and max(it) < LONG:
                return ",".join(map(int.__repr__, it))
            if len(kinds) == 1:
                return ",".join(map(SCALARS[kinds.pop()], it))
            return ",".join([SCALARS[type(x)](x) for x in it])
        walk = self.walk
        return ",".join([walk(x, depth) for x in it])

    def pairs(self, x, depth):
        self.left -= 2 * dict.__len__(x)
        if self.left < 0:
            raise TooLarge
        walk = self.walk
        return ",".join(["%s,%s" % (walk(k, depth), walk(v, depth))
                         for k, v in [*dict.items(x)]])

    def walk(self, x, depth):
        t = type(x)
        if t is int:
            return whole_json(x)
        if t is str:
            return text_json(x)
        if x is None:
            return "null"
        if t is bool:
            return "true" if x else "false"
        if t is float:
            return real_json(x)
        if depth > DEPTH:
            raise Unfit
        if t is list:
            return "[" + self.array([*x], depth + 1) + "]"
        return self.rare(x, t, depth)

    def rare(self, x, t, depth):
        if issubclass(t, tuple):
            return '{"t":[' + self.array([*tuple.__iter__(x)], depth + 2) + "]}"
        if issubclass(t, dict):
            return '{"d":[' + self.pairs(x, depth + 2) + "]}"
        if issubclass(t, list):
            return "[" + self.array([*list.__iter__(x)], depth + 1) + "]"
        if issubclass(t, set):
            return '{"s":[' + self.array([*set.__iter__(x)], depth + 2) + "]}"
        if issubclass(t, frozenset):
            return '{"z":[' + self.array([*frozenset.__iter__(x)], depth + 2) + "]}"
        if issubclass(t, int):
            return whole_json(int.__index__(x))
        if issubclass(t, str):
            return text_json(str.__str__(x))
        if issubclass(t, float):
            return real_json(x)
        if issubclass(t, complex):
            return '{"c":[%s,%s]}' % (real_json(complex.real.__get__(x)),
                                      real_json(complex.imag.__get__(x)))
        if issubclass(t, bytes):
            return '{"b":"%s"}' % bytes.hex(x)
        if issubclass(t, bytearray):
            return '{"y":"%s"}' % bytearray.hex(x)
        if t is range:
            return '{"r":[%d,%d,%d]}' % (x.start, x.stop, x.step)
        if t.__module__ == "numpy":
            return self.from_numpy(x, depth)
        try:
            return library_json(x) or self.foreign(x)
        except (AttributeError, TypeError, ValueError, OverflowError):
            return self.foreign(x)

    # A number of numpy is the number that it holds.
    def from_numpy(self, x, depth):
        module = modules.get("numpy")
        if module and isinstance(x, module.generic):
            y = module.generic.item(x)
            if type(y) in (int, float, bool, complex, str, bytes):
                return self.walk(y, depth)
        return self.foreign(x)


# From parsed JSON, as a Writer wrote it.
class Reader:
    def walk(self, j):
        if type(j) is list:
            return [self.walk(x) for x in j]
        if type(j) is not dict:
            return j
        (mark, x), = j.items()
        return self.marks[mark](self, x)

    def items(self, x):
        if type(x) is not list:
            raise TypeError
        return [self.walk(y) for y in x]

    def table(self, x):
        flat = self.items(x)
        if len(flat) % 2:
            raise ValueError
        return dict(zip(flat[::2], flat[1::2]))


def read_time(reader, x):
    module, (name, *rest) = __import__("datetime"), x
    if name == "timedelta":
        return module.timedelta(*rest)
    if name not in ("date", "time", "datetime"):
        raise ValueError
    return getattr(module, name).fromisoformat(rest[0])


Reader.marks = {
    "I": lambda r, x: int(x, 16),
    "t": lambda r, x: tuple(r.items(x)),
    "s": lambda r, x: set(r.items(x)),
    "z": lambda r, x: frozenset(r.items(x)),
    "d": Reader.table,
    "b": lambda r, x: bytes.fromhex(x),
    "y": lambda r, x: bytearray.fromhex(x),
    "S": lambda r, x: bytes.fromhex(x).decode("utf-8", "surrogatepass"),
    "f": lambda r, x: {"inf": float("inf"), "-inf": -float("inf"), "nan": float("nan")}[x],
    "c": lambda r, x: complex(*r.items(x)),
    "q": lambda r, x: __import__("fractions").Fraction(int(x[0]), int(x[1])),
    "D": lambda r, x: __import__("decimal").Decimal(x[0]),
    "T": read_time,
    "r": lambda r, x: range(*x),
}
