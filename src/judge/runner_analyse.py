# runner_analyse.py - how the assertions of a task can run. Nothing of a program is here.
#
# Input, descriptor 0: {"preamble","setup","entry","tests":[source..]}. One line on descriptor 3:
#
#	{"imports":source,"classes":"A,B","before":hex,"tests":[{"way",...}..]}
#	{"load":"task","note":"..."}		a test is no Python
#
#	way data	{"args":hex,"want":value,"is":bool,"code":hex}	f(literals) == literal
#	way pair	{"code":hex}	in a trusted process
#	way weak	{"code":hex}	in the program's process: it looks into the program
#
# Hexadecimal texts are marshalled: `before` and `code` as runner_trust.py reads them, `args` as
# runner_call.py does.

import ast

# Functions whose value is known, given literals.
PURE = {"set", "frozenset", "list", "tuple", "dict", "range", "float", "int", "str", "bytes",
        "bytearray", "complex", "bool", "len", "sum", "min", "max", "sorted", "abs", "round", "zip",
        "enumerate", "chr", "ord", "pow"}
VALUE_NODES = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp,
               ast.Call, ast.Name, ast.Load, ast.Store, ast.unaryop, ast.operator, ast.keyword, ast.ListComp,
               ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension)
# What cannot be asked of a program over there.
LOOKS_INTO = {"inspect", "globals", "dis", "__file__", "__globals__", "__code__", "__closure__",
              "__defaults__", "__dict__", "f_back", "_getframe", "patch"}


class Unknown(Exception):  # not a value that is known here
    pass


def names_bound(tree):
    bound = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            bound.add(node.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name.partition(".")[0])
    return bound


# Whether it does nothing but define.
def only_defines(tree):
    return all(
        isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)) or
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) or
        isinstance(node, ast.Assign) and is_value(node.value, set())
        for node in tree.body)


def is_value(node, shadowed):
    local = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and
             isinstance(n.ctx, ast.Store)}
    for n in ast.walk(node):
        if not isinstance(n, VALUE_NODES):
            return False
        if isinstance(n, ast.Name) and n.id not in local and (
                n.id not in PURE or n.id in shadowed):
            return False
        if isinstance(n, ast.Call) and not isinstance(n.func, ast.Name):
            return False
    return True


def value_of(node, shadowed):
    if not is_value(node, shadowed):
        raise Unknown
    try:
        code = compile(ast.Expression(node), "value", "eval", dont_inherit=True)
        return eval(code, {"__builtins__": {name: __builtins__[name] for name in PURE}})
    except Exception:
        raise Unknown from None


# NAME(...) or CLASS().NAME(...), of the program.
def callee_of(node, bound):
    f, name = node.func, ""
    if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Call) and not (
            f.value.args or f.value.keywords):
        f, name = f.value.func, "()." + f.attr
    if not isinstance(f, ast.Name) or f.id in bound:
        raise Unknown
    return f.id + name


def is_call(node, bound, entry):
    try:
        name = callee_of(node, bound) if isinstance(node, ast.Call) else ""
    except Unknown:
        return False
    return bool(name) and (name == entry or name not in __builtins__)


def as_data(tree, bound, entry):
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Assert):
        raise Unknown
    test = tree.body[0].test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        raise Unknown
    call, want, op = test.left, test.comparators[0], test.ops[0]
    if not is_call(call, bound, entry):
        call, want = want, call
    if not is_call(call, bound, entry):
        raise Unknown
    same = isinstance(op, ast.Is)
    if not (isinstance(op, ast.Eq) or same and isinstance(want, ast.Constant) and
            want.value in (None, True, False) and type(want.value) is not int):
        raise Unknown
    if any(isinstance(a, ast.Starred) for a in call.args) or any(
            k.arg is None for k in call.keywords):
        raise Unknown
    args = tuple(value_of(a, bound) for a in call.args)
    named = {k.arg: value_of(k.value, bound) for k in call.keywords}
    text = Writer().json(value_of(want, bound))
    if '"u":' in text:
        raise Unknown
    try:
        data = dumps([(args, named, callee_of(call, bound))])
    except ValueError:
        raise Unknown from None
    return (b"M" + data).hex(), text, same


def looks_into(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in LOOKS_INTO or \
                isinstance(node, ast.Attribute) and node.attr in LOOKS_INTO:
            return True
    return False


def test_json(source, name, bound, entry, may_be_data, weak):
    tree = ast.parse(source, name)
    code = dumps(compile(tree, name, "exec", dont_inherit=True)).hex()
    if weak or looks_into(tree):
        return '{"way":"weak","code":"%s"}' % code
    try:
        if not may_be_data:
            raise Unknown
        args, want, same = as_data(tree, bound, entry)
    except (Unknown, RecursionError):
        return '{"way":"pair","code":"%s"}' % code
    return '{"way":"data","args":"%s","want":%s,"is":%s,"code":"%s"}' % (
        args, quote_text(want), "true" if same else "false", code)


# A class that holds data and nothing of what is expected: it may be known to the program.
def is_plain_class(node):
    def is_plain(n):
        if isinstance(n, ast.Constant):
            return n.value in (None, True, False, 0, 1, "") or n in docs
        return not isinstance(n, (ast.Assert, ast.Lambda, ast.Import, ast.ImportFrom))

    docs = {n.value for n in ast.walk(node) if isinstance(n, ast.Expr)}
    return isinstance(node, ast.ClassDef) and not node.decorator_list and not node.keywords and all(
        isinstance(b, ast.Name) and b.id == "object" for b in node.bases) and all(
        is_plain(n) for n in ast.walk(node))


class NoDocs(ast.NodeTransformer):
    def visit_Expr(self, node):
        return ast.Pass() if isinstance(node.value, ast.Constant) else node


# What of the set-up is there for the program too, as if it stood behind it: imports and classes.
def shown_of(tree):
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)) and
               getattr(node, "module", "") != "__future__"]
    classes = [node for node in tree.body if is_plain_class(node)]
    text = "\n".join(ast.unparse(NoDocs().visit(node)) for node in imports + classes)
    return text, [node.name for node in classes]


def preamble_of(source):
    try:
        tree = ast.parse(source, "preamble")
        code = compile(tree, "preamble", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None, []
    return code, [node.name for node in tree.body if isinstance(node, ast.ClassDef)]


def analyse(task):
    preamble, classes = preamble_of(task["preamble"])
    setup = ast.parse(task["setup"], "setup")
    shown, more = shown_of(ast.parse(task["setup"], "setup"))
    classes += more
    before = (preamble, compile(setup, "setup", "exec", dont_inherit=True), tuple(classes))
    bound, weak = names_bound(setup), looks_into(setup)
    may_be_data = only_defines(setup)
    tests = [test_json(source, "test %d" % (i + 1), bound, task["entry"], may_be_data, weak)
             for i, source in enumerate(task["tests"])]
    return '{"imports":%s,"classes":%s,"before":"%s","tests":[%s]}\n' % (
        quote_text(shown), quote_text(",".join(classes)), dumps(before).hex(),
        ",".join(tests))


def serve_analyse(path, entry, flags, cpu, wall, imports=""):
    task = scan_json(read_all(0).decode(), 0)[0]
    try:
        line = analyse(task)
    except (SyntaxError, ValueError, RecursionError) as e:
        line = '{"load":"task","note":%s}\n' % describe(e)
    stop(line)
