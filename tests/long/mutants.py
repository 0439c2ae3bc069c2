# mutants.py - breaks reference solutions in small ways, and says from outside of the judge which of
# the broken ones are right.
#
#	mutants.py make TASKS COUNT SEED >CANDIDATES		TASKS: native records ('cupel data show --json')
#	mutants.py check TASKS CANDIDATES RESULTS		RESULTS: of 'cupel judge', in the same order
#
# The oracle runs each mutant in a forked process of a plain interpreter, without the judge: on all
# inputs of all tests, where its outputs are compared with those of the reference by Python's ==, and
# through the task's own assertions. A mutant whose output differs may be accepted only where the
# task allows other outputs (its assertions hold, or its checker's tolerance). A mutant that the
# oracle finds right may not be called wrong.
import ast
import collections
import concurrent.futures
import copy
import json
import os
import random
import resource
import select
import signal
import sys
import time

CPU_S = int(os.environ.get("ORACLE_CPU", "4"))  # for all tests of a mutant
SLOW_S = 0.5  # references that need more are left out
WALL_S = 20


def read(path):
    with open(path) as f:
        return [json.loads(line) for line in f if line.strip()]


# ---- making mutants

SWAPS = {
    ast.Lt: [ast.LtE, ast.Gt], ast.LtE: [ast.Lt], ast.Gt: [ast.GtE, ast.Lt], ast.GtE: [ast.Gt],
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.In: [ast.NotIn], ast.NotIn: [ast.In],
    ast.Is: [ast.IsNot], ast.IsNot: [ast.Is], ast.And: [ast.Or], ast.Or: [ast.And],
    ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Add], ast.Div: [ast.FloorDiv],
    ast.FloorDiv: [ast.Div], ast.Mod: [ast.FloorDiv], ast.Pow: [ast.Mult],
    ast.BitAnd: [ast.BitOr], ast.BitOr: [ast.BitAnd], ast.BitXor: [ast.BitOr],
    ast.LShift: [ast.RShift], ast.RShift: [ast.LShift],
}


def moved(node, by):
    return ast.BinOp(node, ast.Add() if by > 0 else ast.Sub(), ast.Constant(abs(by)))


def other_constants(v):
    if isinstance(v, bool):
        return [not v]
    if isinstance(v, int):
        return [v + 1, v - 1]
    if isinstance(v, float):
        return [v + 1.0, -v]
    if isinstance(v, str):
        return ["" if v else "x", v + "x"]
    return []


# (kind, owner, attribute or list, key, new value) of each small change of one node
def changes(node):
    if isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)):
        for op in SWAPS.get(type(node.op), []):
            yield "operator", node, "op", op()
    elif isinstance(node, ast.Compare):
        for i, old in enumerate(node.ops):
            for op in SWAPS.get(type(old), []):
                yield "comparison", node, "ops", node.ops[:i] + [op()] + node.ops[i + 1:]
    elif isinstance(node, ast.Constant):
        for v in other_constants(node.value):
            yield "constant", node, "value", v
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "operator", node, "op", ast.UAdd()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "operator", node, "operand", ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.Slice):
        for key in ("lower", "upper"):
            if getattr(node, key):
                yield "off by one", node, key, moved(getattr(node, key), 1)
    elif isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Slice, ast.Tuple)):
        yield "off by one", node, "slice", moved(node.slice, -1)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        for i, x in enumerate(node.args[:2]):
            for by in (1, -1):
                yield "off by one", node, "args", node.args[:i] + [moved(x, by)] + node.args[i + 1:]
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield "condition", node, "test", ast.UnaryOp(ast.Not(), node.test)
    if isinstance(node, ast.comprehension):
        for i, x in enumerate(node.ifs):
            yield "condition", node, "ifs", (
                node.ifs[:i] + [ast.UnaryOp(ast.Not(), x)] + node.ifs[i + 1:])
    if isinstance(node, ast.Return) and node.value is not None:
        yield "early return", node, "value", ast.Constant(None)
    for key in ("body", "orelse"):
        block = getattr(node, key, None)
        if not isinstance(block, list) or isinstance(node, ast.Module):
            continue
        for i, stmt in enumerate(block):
            if is_text(stmt) or isinstance(stmt, (ast.FunctionDef, ast.ClassDef, ast.Import)):
                continue
            rest = block[i + 1:]
            if not isinstance(stmt, ast.Pass):
                yield "deleted statement", node, key, block[:i] + [ast.Pass()] + rest
            if not isinstance(stmt, ast.Return) and not isinstance(node, ast.ClassDef):
                yield "early return", node, key, block[:i] + [ast.Return(ast.Constant(None)), stmt] + rest
            if isinstance(stmt, (ast.Break, ast.Continue)):
                new = ast.Continue() if isinstance(stmt, ast.Break) else ast.Break()
                yield "operator", node, key, block[:i] + [new] + rest


def is_text(stmt):
    return (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)
            and isinstance(stmt.value.value, str))


# Nodes of functions and classes, without docstrings.
def nodes(tree):
    queue = [s for s in tree.body if isinstance(s, (ast.FunctionDef, ast.ClassDef))]
    while queue:
        node = queue.pop(0)
        yield node
        for key, child in ast.iter_fields(node):
            if key in ("annotation", "returns", "decorator_list", "ctx"):
                continue
            for x in child if isinstance(child, list) else [child]:
                if isinstance(x, ast.AST) and not is_text(x):
                    queue.append(x)


def program(task):
    return task.get("preamble", "") + task["reference"]


# (kind, line, source) of every mutant of a program, each source once
def mutants(source):
    tree = ast.parse(source)
    seen = {ast.unparse(tree)}
    for node in list(nodes(tree)):
        for kind, owner, key, new in list(changes(node)):
            old = getattr(owner, key)
            setattr(owner, key, new)
            try:
                text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
                compile(text, "mutant", "exec")
            except (SyntaxError, ValueError, RecursionError):
                text = None
            setattr(owner, key, old)
            if text and text not in seen:
                seen.add(text)
                yield kind, getattr(node, "lineno", 0), text


def is_mutable(task):
    tests = task.get("setup", "") + "".join(t.get("assert", "") for t in task["tests"])
    if "random" in tests and "Random(" not in tests:
        return False  # other inputs in every run
    return bool(task.get("reference") and task.get("entry_point"))


def make(tasks, count, seed):
    every = []
    for task in tasks:
        if is_mutable(task) and Oracle(task).usable():
            every += [(task["id"], *m) for m in mutants(program(task))]
    random.Random(seed).shuffle(every)
    for i, (task, kind, line, text) in enumerate(every[:count]):
        json.dump({"task_id": task, "candidate_id": i, "code": text, "kind": kind, "line": line},
                  sys.stdout)
        print()


# ---- the oracle


def decoded(v):
    if isinstance(v, list):
        return [decoded(x) for x in v]
    if not isinstance(v, dict):
        return v
    (mark, x), = v.items()
    if mark == "t":
        return tuple(map(decoded, x))
    if mark == "s":
        return set(map(decoded, x))
    if mark == "d":
        return {decoded(k): decoded(y) for k, y in zip(x[::2], x[1::2])}
    return complex(*x) if mark == "c" else float(x)


def same(want, got):
    return bool(want == got)


# What the options of the checker 'python' allow beyond that.
def allowed(want, got, opt):
    if opt["as"] == "set":
        return set(want) == set(got)
    if opt["as"] == "found":
        return got == (want is not None) if isinstance(got, bool) else (want is None) == (got is None)

    def close(w, g):
        if isinstance(w, float) and isinstance(g, (int, float)):
            return w == g or abs(w - g) <= max(opt["abs"], opt["rel"] * abs(w)) < float("inf")
        if isinstance(w, (list, tuple)) and type(w) is type(g):
            return len(w) == len(g) and all(map(close, w, g))
        if isinstance(w, dict) and isinstance(g, dict):
            return w.keys() == g.keys() and all(close(w[k], g[k]) for k in w)
        return same(w, g)

    return close(want, got)


class Oracle:
    def __init__(self, task):
        self.task = task
        self.calls = []  # (args, keywords, what the reference returns)
        self.entry = task["entry_point"]

    def space(self, source):
        space = {"__name__": "main"}
        exec(compile(source, "program", "exec"), space)
        return space

    def asserts(self, space):
        exec(compile(self.task.get("setup", ""), "setup", "exec"), space)
        for t in self.task["tests"]:
            exec(compile(t["assert"], "test", "exec"), space)

    # Call the reference on all inputs.
    def record(self):
        space = self.space(program(self.task))
        f = space[self.entry]
        if self.task["kind"] == "function":
            for t in self.task["tests"]:
                for args in t["calls"] if "calls" in t else [t["args"]]:
                    args = decoded(args) if t.get("typed") else args
                    self.calls.append((args, {}, f(*copy.deepcopy(args))))
            return

        def recorder(*args, **keywords):
            kept = copy.deepcopy((args, keywords))
            out = f(*args, **keywords)
            if self.recording:
                self.recording = False
                self.calls.append((*kept, copy.deepcopy(out)))
                self.recording = True
            return out

        self.recording = True
        space[self.entry] = recorder
        self.asserts(space)

    # Can the reference be recorded, and fast? In a process of its own.
    def usable(self):
        def run():
            start = time.process_time()
            self.record()
            return b"y" if self.calls and time.process_time() - start < SLOW_S else b"n"

        return in_child(run) == b"y"

    # b"s": the same outputs; b"a": others, but the task allows them; b"d": differs
    def judge(self, source):
        space = self.space(source)
        f = space.get(self.entry)
        word = b"s"
        for args, keywords, want in self.calls:
            got = f(*copy.deepcopy(args), **copy.deepcopy(keywords))
            if not same(want, got):
                if self.task["kind"] == "function" and not self.allows(want, got):
                    return b"d"
                word = b"a"
        if self.task["kind"] == "assert":
            self.asserts(self.space(source))  # in an unused one
        return word

    def allows(self, want, got):
        return allowed(want, got, self.task["checker"]) if "checker" in self.task else False


# What f returns, or b"e", b"x" (raised, died or took too long), in a forked process.
def in_child(f):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        word = b"e"
        try:
            os.close(r)
            null = os.open(os.devnull, os.O_RDWR)
            for fd in range(3):
                os.dup2(null, fd)
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
            resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            word = f()
        except BaseException:
            pass
        finally:
            os.write(w, word)
            os._exit(0)
    os.close(w)
    ready = select.select([r], [], [], WALL_S)[0]
    word = os.read(r, 1) if ready else b""
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(r)
    return word or b"x"


def judge_all(job):
    task, sources = job
    oracle = Oracle(task)
    oracle.record()
    return [in_child(lambda s=s: oracle.judge(s)) for s in sources]


def check(tasks, candidates, results):
    task_of = {t["id"]: t for t in tasks}
    by_task = collections.defaultdict(list)
    assert len(candidates) == len(results), "%d mutants, %d results" % (len(candidates), len(results))
    for c, r in zip(candidates, results):
        assert c["task_id"] == r["task_id"] and c["candidate_id"] == r["candidate_id"]
        by_task[c["task_id"]].append((c, r))
    jobs = [(task_of[t], [c["code"] for c, _ in pairs]) for t, pairs in by_task.items()]
    count = collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        for pairs, words in zip(by_task.values(), pool.map(judge_all, jobs, chunksize=1)):
            for (c, r), word in zip(pairs, words):
                what = told(r["verdict"], word)
                count[what] += 1
                if what != "rejected":
                    print("# %s: %s line %d (%s), verdict %s, oracle %s" % (
                        what, c["task_id"], c["line"], c["kind"], r["verdict"], word.decode()))
    kinds = collections.Counter(c["kind"] for c in candidates)
    print("# " + ", ".join("%d %s" % (n, k) for k, n in kinds.most_common()))
    wrong = count["WRONGLY ACCEPTED"] + count["WRONGLY REJECTED"]
    print("%sok %s - %d mutants of %d tasks: %s" % (
        "not " if wrong or not candidates else "", os.environ.get("TAP_NUMBER", "1"),
        len(candidates), len(by_task), ", ".join("%d %s" % (count[k], k) for k in sorted(count))))
    return 0


def told(verdict, word):
    if verdict == "accepted":
        return {b"s": "survivor", b"a": "survivor by other outputs"}.get(word, "WRONGLY ACCEPTED")
    if word not in (b"s", b"a"):
        return "rejected"
    # The limits of the judge and of the oracle are not the same.
    return "limit" if verdict in ("time_limit", "memory_limit") else "WRONGLY REJECTED"


def main():
    sys.set_int_max_str_digits(0)
    sys.setrecursionlimit(3000)
    if sys.argv[1] == "make":
        make(read(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        check(*map(read, sys.argv[2:5]))


if __name__ == "__main__":
    main()
