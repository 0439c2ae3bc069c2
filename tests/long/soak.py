"""soak.py CUPEL N - feeds N programs to one `cupel judge` and looks at its processes meanwhile."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time

cupel, n = sys.argv[1], int(sys.argv[2])
RIGHT = "print(input()[::-1])\n"
# What a program does, its verdict, and how often: one in so many.
KINDS = [
    ("print(input())\n", "wrong_answer", 10),
    ("raise ValueError(1)\n", "runtime_error", 20),
    ("import os\nos.kill(os.getpid(), 9)\n", "runtime_error", 50),
    ("open('/tmp/x', 'w').write('x' * 1000)\nopen('y', 'w').write('y')\n" + RIGHT, "accepted", 20),
    ("import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(99)\n" + RIGHT, "accepted", 50),
    ("x = bytearray(1 << 30)\n" + RIGHT, "memory_limit", 500),
    ("while True:\n    pass\n", "time_limit", 1000),
    ("while True:\n    print('x' * 10000)\n", "output_limit", 1000),
    ("x = (\n", "compile_error", 50),
]


def program(i):
    for code, verdict, every in KINDS:
        if i % every == every - 1:
            return "# %d\n%s" % (i, code), verdict
    return "# %d\n%s" % (i, RIGHT), "accepted"


def family(root):
    """Process ids below root."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name) as f:
                    parents[int(name)] = int(f.read().rpartition(")")[2].split()[1])
            except OSError:
                pass
    found = {root}
    while more := {p for p, up in parents.items() if up in found} - found:
        found |= more
    return found


def look(root):
    """Memory in KiB and descriptors of cupel and boxd, processes, cgroups."""
    kib = fds = 0
    pids = family(root)
    for pid in pids:
        try:
            with open("/proc/%d/comm" % pid) as f:
                if not f.read().startswith("cupel"):
                    continue
            with open("/proc/%d/statm" % pid) as f:
                kib += int(f.read().split()[1]) * 4
            fds += len(os.listdir("/proc/%d/fd" % pid))
        except OSError:
            pass
    groups = sum(d.startswith("cupel-") for _, dirs, _ in os.walk("/sys/fs/cgroup") for d in dirs)
    return kib, fds, len(pids), groups


def main():
    with tempfile.TemporaryDirectory() as d:
        tasks = os.path.join(d, "tasks.jsonl")
        with open(tasks, "w") as f:
            f.write(json.dumps({
                "id": "t", "prompt": "", "language": "python", "kind": "stdin",
                "tests": [{"stdin": "abc\n", "stdout": "cba\n"}],
                "limits": {"cpu_ms": 500, "wall_ms": 20000, "mem_mib": 256, "output_kib": 1024}}) + "\n")
        p = subprocess.Popen([cupel, "judge", "--tasks", tasks, "--candidates", "-", "--jobs", "2"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def feed():
            for i in range(n):
                p.stdin.write(json.dumps({"task_id": "t", "candidate_id": i,
                                          "code": program(i)[0]}).encode() + b"\n")
            p.stdin.close()

        threading.Thread(target=feed, daemon=True).start()
        start, wrong, seen, looks = time.time(), [], 0, []
        for line in p.stdout:
            r = json.loads(line)
            if r["candidate_id"] != seen or r["verdict"] != program(seen)[1]:
                wrong.append((seen, program(seen)[1], r["candidate_id"], r["verdict"],
                              r["tests"][0].get("note")))
            seen += 1
            if seen % max(n // 20, 1) == 0:
                looks.append(look(p.pid))
                print("# %d programs, %.0f a second: %d KiB, %d descriptors, %d processes, %d cgroups"
                      % (seen, seen / (time.time() - start), *looks[-1]), flush=True)
        p.wait()
        results = [
            ("every program has its verdict", seen == n and not wrong, wrong[:5]),
            ("memory is flat", looks[-2][0] <= looks[4][0] * 1.1 + 2048, looks),
            ("descriptors are flat", max(x[1] for x in looks[4:-1]) <= looks[4][1] + 40, looks),
            ("processes are flat", max(x[2] for x in looks[4:-1]) <= looks[4][2] + 10, looks),
            ("cgroups are flat", max(x[3] for x in looks[4:-1]) <= looks[4][3], looks),
        ]
        for i, (name, ok, why) in enumerate(results):
            print("%sok %d - %s%s" % ("" if ok else "not ", i + 1, name, "" if ok else " # %s" % (why,)))
        print("1..%d" % len(results))


main()
