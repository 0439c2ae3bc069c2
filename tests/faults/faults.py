# faults.py - turns fault cases into native tasks and candidates, judges them, compares verdicts.
#
#	faults.py CASES.jsonl		TAP on stdout; $CUPEL is the program
#
# A case passes if its verdict is the expected one or one of also_ok. The table of exceptions is
# checked both ways: a case in it that passes is a failure, so that it cannot grow old.

import json
import os
import subprocess
import sys
import tempfile

# What this version is known to get wrong. Assertions run inside the candidate's process until they
# become calls from a second one; the result says "trust": "weak". Tests of a function share one
# process until each gets its own.
IN_PROCESS = "assertions run in the candidate's process (trust: weak)"
ONE_PROCESS = "all tests of a function run in one process"
EXCEPTIONS = {
    "B004": IN_PROCESS,
    "B006": IN_PROCESS,
    "B007": IN_PROCESS,
    "B011": IN_PROCESS,
    "B015": IN_PROCESS,
    "B016": IN_PROCESS,
    "B046": ONE_PROCESS,
}

LEETCODE = "from typing import *\nfrom collections import *\nimport math\n"


def text_of(case, key):
    if case.get(key + "_gen"):
        return "".join(part * times for part, times in case[key + "_gen"])
    return case.get(key)


# Why this version cannot run the case, or None.
def not_for_us(case):
    task = case["task"]
    kind = (task.get("checker") or {}).get("kind", "")
    if case["language"] != "python":
        return "language " + case["language"]
    if task.get("files"):
        return "several files"
    if task.get("output_file"):
        return "output in a file"
    if kind == "program":
        return "checker programs"
    if not task["tests"]:
        return "no tests: refused at load, see the last line"
    candidate = text_of(case, "candidate")
    if "numpy" in candidate and subprocess.call(
            ["/usr/bin/python3", "-c", "import numpy"], stderr=subprocess.DEVNULL):
        return "numpy is not installed"
    return None


def native_test(kind, test):
    if kind == "stdin":
        return {"stdin": text_of(test, "stdin") or "", "stdout": text_of(test, "stdout")}
    if kind == "function":
        return {"args": test["args"], "expected": test["expected"]}
    return {"assert": test}


def native_task(case):
    task, limits = case["task"], {}
    given = task.get("limits") or {}
    for ours, theirs, factor in (("cpu_ms", "time_s", 1000), ("wall_ms", "wall_s", 1000),
                                 ("mem_mib", "memory_mb", 1), ("output_kib", "output_mb", 1024)):
        if theirs in given:
            limits[ours] = int(given[theirs] * factor)
    record = {"id": case["id"], "prompt": "", "language": "python", "kind": task["type"],
              "tests": [native_test(task["type"], t) for t in task["tests"]]}
    if task.get("fn"):
        record["entry_point"] = (task["cls"] + "()." if task.get("cls") else "") + task["fn"]
    if task.get("compare") == "arg0":
        record["in_place"] = True
    if task.get("prelude") == "leetcode":
        record["preamble"] = LEETCODE
    if task.get("checker"):
        record["checker"] = task["checker"]
    if task.get("visible"):
        record["visible"] = task["visible"]
    if limits:
        record["limits"] = limits
    return record


def judge(folder, cases):
    tasks, programs = os.path.join(folder, "tasks.jsonl"), os.path.join(folder, "programs.jsonl")
    with open(tasks, "w") as f:
        f.writelines(json.dumps(native_task(c)) + "\n" for c in cases)
    with open(programs, "w") as f:
        for c in cases:
            key = "completion" if c.get("candidate_is") == "completion" else "code"
            f.write(json.dumps({"task_id": c["id"], key: text_of(c, "candidate")}) + "\n")
    done = subprocess.run([os.environ["CUPEL"], "judge", "--tasks", tasks, "--candidates", programs,
                           "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in (0, 1):
        print("# cupel judge: exit status %d: %s" % (done.returncode,
                                                     done.stderr.decode(errors="replace")))
    results = [json.loads(line) for line in done.stdout.decode().splitlines()]
    return {r["task_id"]: r for r in results}


def report(n, case, result):
    verdict = result["verdict"] if result else "no result"
    expect = case["expect"]
    if expect.startswith("text:"):
        right = bool(result) and verdict != "judge_error"
    else:
        right = verdict in [expect, *(case.get("also_ok") or [])]
    name = "%s %s: %s" % (case["id"], case["class"], verdict)
    if case["id"] in EXCEPTIONS:
        if right:
            print("not ok %d - %s: passes now, take it out of the exceptions" % (n, name))
        else:
            print("ok %d - %s # known: %s" % (n, name, EXCEPTIONS[case["id"]]))
        return
    print("%sok %d - %s" % ("" if right else "not ", n, name))
    if not right:
        print("# expected %s; %s" % (expect, case["title"].encode("ascii", "replace").decode()))
        print("# %s" % json.dumps(result))


def refuses_no_tests(folder):
    path = os.path.join(folder, "none.jsonl")
    with open(path, "w") as f:
        f.write(json.dumps({"id": "none", "prompt": "", "language": "python", "kind": "stdin",
                            "tests": [], "reference": ""}) + "\n")
    done = subprocess.run([os.environ["CUPEL"], "judge", "--tasks", path, "--reference"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return done.returncode == 2 and b"without tests" in done.stderr


def main():
    with open(sys.argv[1]) as f:
        cases = [json.loads(line) for line in f]
    print("1..%d" % (len(cases) + 1))
    with tempfile.TemporaryDirectory() as folder:
        results = judge(folder, [c for c in cases if not not_for_us(c)])
        for n, case in enumerate(cases, 1):
            why = not_for_us(case)
            if why:
                print("ok %d # SKIP %s %s: %s" % (n, case["id"], case["class"], why))
            else:
                report(n, case, results.get(case["id"]))
        print("%sok %d - a task without tests is refused" % (
            "" if refuses_no_tests(folder) else "not ", len(cases) + 1))


main()
