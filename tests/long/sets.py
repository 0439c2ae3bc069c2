# sets.py - reads the public sets for refs.sh.
#
#	sets.py lines FILE >TASKS			a JSON list as JSONL
#	sets.py quixbugs RECORDS FOLDER CANDIDATES >TASKS	QuixBugs with its JSON test cases, as function tasks
#	sets.py broken RECORDS FIELD [FROM=TO] >CANDIDATES	what a record calls wrong; FROM=TO renames ids
#	sets.py report TITLE accepted|never RESULTS [ID=WHY...]	one TAP line, and one for each exception;
#							ID may be "module NAME": all that lack it
import collections
import gzip
import json
import os
import re
import sys


def read(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.strip()]


def put(record):
    print(json.dumps(record))


def lines(path):
    with open(path, encoding="utf-8") as f:
        for record in json.load(f):
            put(record)


# Two cases are exponential in the reference itself.
def endless(name, args):
    return (name == "knapsack" and args[0] > 10 ** 6) or (
        name == "levenshtein" and sum(map(len, args)) > 60)


# Generators are listed; a root is right within what the test asks of it.
def quixbugs(records, folder, candidates):
    with open(candidates, "w", encoding="utf-8") as out:
        for r in read(records):
            path = os.path.join(folder, r["name"] + ".json")
            if not os.path.exists(path):
                continue
            entry, tail, tests = r["name"], "\n", []
            if "yield" in r["solution"]:
                entry = "listed"
                tail = "\n\n\ndef listed(*args):\n    return list(%s(*args))\n" % r["name"]
            for args, expected in read(path):
                args = args if isinstance(args, list) else [args]
                if not endless(r["name"], args):
                    tests.append({"args": args, "expected": expected})
            task = {"id": "QuixBugs/" + r["name"], "prompt": r["docstring"], "language": "python",
                    "kind": "function", "entry_point": entry, "tests": tests,
                    "reference": r["solution"] + tail}
            if r["name"] == "sqrt":
                task["checker"] = {"kind": "float", "abs": max(t["args"][1] for t in tests)}
            put(task)
            json.dump({"task_id": task["id"], "code": r["buggy_program"] + tail}, out)
            out.write("\n")


def broken(path, field, rename="="):
    old, new = rename.split("=")
    for i, r in enumerate(read(path)):
        task = r.get("task_id", "QuixBugs/" + r.get("name", ""))
        if old and task.startswith(old):
            task = new + task[len(old):]
        put({"task_id": task, "candidate_id": i, "code": r[field]})


# accepted: every result is, but for the exceptions; never: none is. Our own failures are neither.
def report(title, want, path, *exceptions):
    why = dict(e.split("=", 1) for e in exceptions)
    results = read(path)
    verdicts = collections.Counter(r["verdict"] for r in results)
    weak = sum(r["trust"] == "weak" for r in results)
    bad = []
    for r in results:
        accepted = r["verdict"] == "accepted"
        if accepted == (want == "accepted") and r["verdict"] != "judge_error":
            continue
        notes = [t.get("note", "") for t in r["tests"] if t["verdict"] == r["verdict"]]
        known = why.get(r["task_id"])
        lacks = re.search("No module named '(.*)'", (notes + [""])[0])
        if lacks:
            known = why.get("module " + lacks.group(1))
        print("# %s %s: %s %s" % (r["task_id"], r["verdict"], (notes + [""])[0][:120],
                                  "(exception: %s)" % known if known else ""))
        if not known or r["verdict"] == "judge_error":
            bad.append(r["task_id"])
    print("%sok %s - %s: %d of %d accepted, %s be (%s; trust weak: %d)" % (
        "not " if bad or not results else "", os.environ.get("TAP_NUMBER", "1"), title,
        verdicts["accepted"], len(results),
        "all must" if want == "accepted" else "none may",
        ", ".join("%d %s" % (n, v) for v, n in verdicts.most_common()), weak))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
