# judge_assert.py FILE - judges the cases of FILE, TAP on stdout; $CUPEL is the program. A case:
#
#	===== VERDICT FLAG...
#	test, -- and the next test
#	-----
#	program
#	-----
#	reference, if there is one
#
# VERDICT other: any but accepted and judge_error. Flags: weak, what `trust` must be; entry=NAME;
# setup=TEXT (_ is a blank); list, the preamble LIST; liar, the program begins with LIAR; short, a
# short time limit.

import json
import os
import subprocess
import sys
import tempfile

LIST = """class ListNode:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next


def mk(values):
    head = None
    for x in reversed(values):
        head = ListNode(x, head)
    return head


def same(a, b):
    while a and b:
        if a.val != b.val:
            return False
        a, b = a.next, b.next
    return a is None and b is None


"""

LIAR = """class E:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __gt__ = __le__ = __ge__ = __contains__ = __lt__
    def __hash__(self): return 0
    def __sub__(self, other): return 0
    __rsub__ = __abs__ = __float__ = __sub__
    def __bool__(self): return True
    def __len__(self): return 2
    def __getitem__(self, i): return self


"""


class Case:
    def __init__(self, number, text):
        head, _, body = text.partition("\n")
        parts = body.split("\n-----\n")
        self.want, *flags = head.split()
        self.flags = set(flags)
        self.options = dict(f.split("=", 1) for f in flags if "=" in f)
        self.id, self.tests, self.program = str(number), parts[0].split("\n--\n"), parts[1]
        self.reference = parts[2] if len(parts) > 2 else None
        if "liar" in self.flags:
            self.program = LIAR + self.program

    def task(self):
        record = {"id": self.id, "prompt": "", "language": "python", "kind": "assert",
                  "entry_point": self.options.get("entry", "f"),
                  "tests": [{"assert": t} for t in self.tests]}
        if "list" in self.flags:
            record["preamble"] = LIST
        if "setup" in self.options:
            record["setup"] = self.options["setup"].replace("_", " ")
        if self.reference:
            record["reference"] = self.reference
        if "short" in self.flags:
            record["limits"] = {"cpu_ms": 300, "wall_ms": 1000}
        elif self.want != "accepted":
            record["limits"] = {"cpu_ms": 2000, "wall_ms": 20000}
        return record

    def is_right(self, result):
        verdict = result["verdict"]
        if self.want == "other":
            return verdict not in ("accepted", "judge_error")
        return verdict == self.want and result["trust"] == (
            "weak" if "weak" in self.flags else "data")


def judge(folder, cases):
    tasks, programs = os.path.join(folder, "tasks.jsonl"), os.path.join(folder, "programs.jsonl")
    with open(tasks, "w") as f:
        f.writelines(json.dumps(c.task()) + "\n" for c in cases)
    with open(programs, "w") as f:
        f.writelines(json.dumps({"task_id": c.id, "code": c.program}) + "\n" for c in cases)
    done = subprocess.run([os.environ["CUPEL"], "judge", "--tasks", tasks, "--candidates", programs,
                           "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    print("# %s" % done.stderr.decode(errors="replace").splitlines()[-1])
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def main():
    with open(sys.argv[1]) as f:
        texts = f.read().rstrip("\n").split("===== ")[1:]
    cases = [Case(i + 1, text.rstrip("\n")) for i, text in enumerate(texts)]
    print("1..%d" % len(cases))
    with tempfile.TemporaryDirectory() as folder:
        results = judge(folder, cases)
    for case, result in zip(cases, results):
        right = case.is_right(result)
        print("%sok %s - %s: %s" % ("" if right else "not ", case.id, case.want,
                                    ascii(case.tests[0])[:60]))
        if not right:
            print("# %s" % json.dumps(result))
    sys.exit(len(results) != len(cases))


main()
