# many.py - faults that one run of one program cannot show: many runs, many at a time, and a judge
# that is stopped or killed. TAP on stdout; $CUPEL is the program.
#
#	many.py [--isolation=T] [SCALE]		SCALE: how many times more than in 'make check'

import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from importlib.machinery import SourceFileLoader

sys.dont_write_bytecode = True
faults = SourceFileLoader("faults_run", os.path.join("tests", "faults", "run")).load_module()
options = [a for a in sys.argv[1:] if a.startswith("--")]
scale = int(([a for a in sys.argv[1:] if not a.startswith("--")] + ["1"])[0])
n_checks = 0


def ok(name, right, why=""):
    global n_checks
    n_checks += 1
    print("%sok %d - %s" % ("" if right else "not ", n_checks, name))
    if not right and why:
        print("# " + str(why)[:600])


def case(i, code, tests, **limits):
    return {"id": "m%d" % i, "class": "many", "title": "", "language": "python", "expect": "text",
            "task": {"type": "stdin", "limits": limits,
                     "tests": [{"stdin": a, "stdout": b} for a, b in tests]}, "candidate": code}


def same(n, code, stdin="", stdout="3\n", **limits):
    return [case(i, code, [(stdin, stdout)], **limits) for i in range(n)]


def judge(name, cases, verdict, jobs=2):
    with tempfile.TemporaryDirectory() as folder:
        run = faults.Run(folder, options + ["--jobs=%d" % jobs])
        run.judge(cases)
    got = {}
    for c in cases:
        result = run.results.get(c["id"])
        v = result["verdict"] if result else "no result"
        got[v] = got.get(v, 0) + 1
    ok(name, got == {verdict: len(cases)} and not run.left, "%s left %s" % (got, run.left))
    return run


def start(folder, cases, jobs):
    """A judge that works in the background; its output goes to a file."""
    tasks, programs = os.path.join(folder, "tasks.jsonl"), os.path.join(folder, "programs.jsonl")
    faults.write_lines(tasks, map(faults.native_task, cases))
    faults.write_lines(programs, map(faults.candidate_of, cases))
    watch = faults.Watch(cases)
    judge_ = subprocess.Popen(
        [faults.CUPEL, "judge", "--tasks", tasks, "--candidates", programs, "--out",
         os.path.join(folder, "out.jsonl"), "--jobs=%d" % jobs, *options],
        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    watch.follow(judge_.pid)
    return judge_, watch


def below(pid):
    """Processes below pid: the server and all that it runs."""
    found, todo = [], [str(pid)]
    while todo:
        for path in glob.glob("/proc/%s/task/*/children" % todo.pop()):
            try:
                with open(path) as f:
                    children = f.read().split()
            except OSError:
                continue
            found += children
            todo += children
    return found


def stopped(name, sig, want):
    """With programs in flight the judge is told to end: at once, and with nothing left."""
    with tempfile.TemporaryDirectory() as folder:
        judge_, watch = start(folder, same(100, "import time\ntime.sleep(600)\n", time_s=60, wall_s=700), 8)
        for _ in range(400):
            if len(below(judge_.pid)) >= 9:
                break
            time.sleep(0.05)
        running, began = len(below(judge_.pid)), time.monotonic()
        judge_.send_signal(sig)
        status = judge_.wait()
        took = time.monotonic() - began
        left = watch.left()
    ok(name, status in want and took < 20 and running >= 9 and not left,
       "status %d after %.1f s, %d processes, left %s" % (status, took, running, left))


def server_killed():
    """The server dies under the judge, twice: every program has its verdict once."""
    cases = [case(i, "import time\ntime.sleep(0.02)\nprint(input())\n", [("%d\n" % i, "%d\n" % i)])
             for i in range(60 * scale)]
    with tempfile.TemporaryDirectory() as folder:
        judge_, watch = start(folder, cases, 2)
        killed = 0
        for _ in range(2):
            time.sleep(0.4)
            for pid in [p for p in watch.servers if os.path.exists("/proc/%s/exe" % p)][-1:]:
                try:
                    if judge_.poll() is None:
                        os.kill(int(pid), signal.SIGKILL)
                        killed += 1
                except OSError:
                    pass
        status = judge_.wait()
        # A killed server leaves empty cgroups to the next one.
        left = [x for x in watch.left() if not x.startswith("cgroup")]
        with open(os.path.join(folder, "out.jsonl")) as f:
            results = [json.loads(line) for line in f]
    ids = [r["task_id"] for r in results]
    right = all(r["verdict"] == "accepted" for r in results)
    ok("a killed server: each program has one verdict, in order", status == 0 and killed and right and
       ids == [c["id"] for c in cases] and not left, "%d killed, status %d, %d results, %s" % (
           killed, status, len(ids), left))


def main():
    judge("16 at a time on few cores: their CPU time decides, not the clock",
          same(16, "t=0\nfor i in range(2000000): t+=i\nprint(3)\n", time_s=1.0, wall_s=60), "accepted", 16)
    judge("many boxes with threads at a time", same(24 * scale,
          "import threading\nr=[]\nts=[threading.Thread(target=r.append,args=(1,)) for i in range(3)]\n"
          "[t.start() for t in ts]; [t.join() for t in ts]\nprint(len(r))\n"), "accepted", min(200, 24 * scale))
    judge("sleepers that hit the wall limit leave no zombie", same(20 * scale,
          "import time\ntime.sleep(60)\n", time_s=1, wall_s=0.1), "time_limit", 4)
    judge("different inputs at a time do not mix", [
        case(i, "import os\nopen('own','w').write(input())\nprint(open('own').read())\n",
             [("%d\n" % (i * 7919 % 10007), "%d\n" % (i * 7919 % 10007))]) for i in range(50 * scale)],
        "accepted", 8)
    judge("more programs than places: waiting is no time of theirs", same(
        40 * scale, "import time\ntime.sleep(0.1)\nprint(3)\n", time_s=0.5, wall_s=3), "accepted", 2)
    judge("failures give back what was lent", same(60 * scale, "raise SystemExit(1)\n"), "runtime_error", 2)
    judge("what was killed by a signal too", same(
        30 * scale, "import os\nif os.fork()==0:\n    import time; time.sleep(600)\nos.kill(os.getpid(),9)\n"),
        "runtime_error", 2)
    run = judge("the time of a program is taken outside, whatever it does to its clocks", [dict(
        case(0, "import time\nr=time.process_time\nfor n in ('time','perf_counter','process_time',"
             "'monotonic','perf_counter_ns','process_time_ns'): setattr(time,n,lambda:0)\ndef f(x):\n"
             "    t=r()\n    while r()-t<0.3: pass\n    return x\n", []), task={
                 "type": "function", "fn": "f", "tests": [{"args": [1], "expected": 1}]})], "accepted")
    cpu = run.results["m0"]["tests"][0]["cpu_ms"]
    ok("and is all there", cpu >= 270, "%s ms" % cpu)
    stopped("stopped by SIGTERM with a hundred programs", signal.SIGTERM, (143, -15))
    stopped("stopped by SIGINT", signal.SIGINT, (130, -2))
    stopped("killed: all that it had started ends", signal.SIGKILL, (-9,))
    server_killed()
    judge("the next judge works, and is clean", same(4, "print(3)\n"), "accepted")
    print("1..%d" % n_checks)


main()
