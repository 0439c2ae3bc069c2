#!/bin/sh
# Programs that do nothing, loop, leave, fork, allocate, flood or write files, in place of every
# solution of the samples: none is accepted, each has its verdict, and no process, file or cgroup
# is left.
iso=--isolation=${ISOLATION:-auto} # the tier to attack
n=0
ok() {
	n=$((n + 1))
	if eval "$2"; then echo "ok $n - $1"; else echo "not ok $n - $1"; [ -z "$wrong" ] || echo "$wrong"; fi
}
dir=$(mktemp -d)
mark=cupelmark$$
# Runs a command as a reaper of all its descendants; prints those that are left, and kills them.
cat >"$dir/reap.py" <<'E2'
import ctypes, os, signal, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
rc = subprocess.call(sys.argv[1:])
left = open("/proc/self/task/%d/children" % os.getpid()).read().split()
for i in range(50):  # a zombie is ours to bury, not left behind
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        break
    time.sleep(0.1)
left = [p for p in left if os.path.exists("/proc/" + p)]
for p in left:
    print("left:", p, open("/proc/%s/cmdline" % p).read().replace("\0", " "), file=sys.stderr)
    os.kill(int(p), signal.SIGKILL)
sys.exit(rc if not left else 100)
E2
cat >"$dir/make.py" <<'E2'
import json, sys
bad = {
    "pass": "pass",
    "loop": "while True: pass",
    "exit": "import os; os._exit(0)",
    "fork": "import os\nwhile True: os.fork()",
    "alloc": "x = bytearray(10 << 30)",
    "print": "while True: print('x' * 1000)",
    "daemon": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    while True: time.sleep(1)\nos._exit(0)",
    "file": "for d in ('/tmp', '/var/tmp', '/dev/shm', '.'):\n    try: open(d + '/" + sys.argv[2] + "', 'w').write('x')\n    except OSError: pass",
}
for line in open(sys.argv[1]):
    task = json.loads(line)
    body = task.get("canonical_solution") or task.get("preamble")
    for name, code in bad.items():
        code = "".join(("    " if body else "") + l + "\n" for l in code.split("\n"))
        key = task.get("id") or task["task_id"]
        key = "MBPP/%d" % key if isinstance(key, int) else key
        print(json.dumps({"task_id": key, "candidate_id": name, "code": code}))
E2
cat >"$dir/check.py" <<'E2'
import json, sys
allowed = {
    "pass": "wrong_answer runtime_error",
    "loop": "time_limit",
    "exit": "runtime_error wrong_answer",
    "fork": "runtime_error time_limit memory_limit",
    "alloc": "memory_limit",
    "print": "output_limit",
    "daemon": "runtime_error wrong_answer",
    "file": "runtime_error wrong_answer",
}
n = 0
for line in open(sys.argv[1]):
    r = json.loads(line)
    n += 1
    if r["verdict"] not in allowed[r["candidate_id"]].split():
        print("#", r["task_id"], r["candidate_id"], r["verdict"], r["tests"][0])
print("#", n, "programs") if n != int(sys.argv[2]) else None
E2
dead_groups() {
	for d in $(find /sys/fs/cgroup -type d -name 'cupel-*.*' 2>/dev/null); do
		p=${d##*/cupel-}
		[ -d "/proc/${p%%.*}" ] || echo "$d"
	done
}
for f in humaneval mbpp native; do
	tasks="$dir/tasks.jsonl"
	grep -E '"(task_id|id)": ("Own|1,|2,|"(sum|pairs|stack|assert)")' tests/data/judge_$f.jsonl >"$tasks"
	/usr/bin/python3 "$dir/make.py" "$tasks" "$mark" >"$dir/bad.jsonl"
	total=$(wc -l <"$dir/bad.jsonl")
	/usr/bin/python3 "$dir/reap.py" "$CUPEL" judge $iso --tasks "$tasks" --candidates "$dir/bad.jsonl" --jobs 2 \
		--judge.cpu 0.5 --judge.memory 128 --judge.output 1 >"$dir/out" 2>"$dir/err"
	rc=$?
	wrong=$(sed 's/^/# /' "$dir/err")
	ok "$f: some are not accepted, no fault of ours, no process left" '[ $rc = 1 ]'
	wrong=$(/usr/bin/python3 "$dir/check.py" "$dir/out" "$total")
	ok "$f: each has its verdict" '[ -z "$wrong" ]'
	wrong=
done
wrong=$(find /tmp /var/tmp /dev/shm . -maxdepth 1 -name "$mark" 2>/dev/null)
ok "no file is left" '[ -z "$wrong" ]'
wrong=$(i=0; while [ -n "$(dead_groups)" ] && [ "$i" -lt 50 ]; do i=$((i + 1)); sleep 0.1; done; dead_groups)
ok "no cgroup of a dead server is left" '[ -z "$wrong" ]'
rm -r "$dir"
echo "1..$n"
