#!/bin/sh
# 10,000 tests that need 80 % of their CPU limit, 16 at a time on the cores of this machine: no
# time_limit. N=tests.
cupel=${CUPEL:-build/release/cupel} n=${N:-10000}
[ "${B:-release}" = release ] || { echo "1..0 # SKIP only for the release build"; exit 0; }
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
# 100 ms of CPU time; 80 of them are used, whatever the machine is doing meanwhile.
/usr/bin/python3 - "$n" "$dir" <<'EOF'
import json, sys
n, d = int(sys.argv[1]), sys.argv[2]
code = "import time\nprint(input()[::-1])\nwhile time.process_time() < 0.08: pass\n"
with open(d + "/tasks.jsonl", "w") as f:
    f.write(json.dumps({"id": "t", "prompt": "", "language": "python", "kind": "stdin",
        "limits": {"cpu_ms": 100}, "tests": [{"stdin": "%d\n" % i, "stdout": "%s\n" % str(i)[::-1]}
                                           for i in range(10)]}) + "\n")
with open(d + "/candidates.jsonl", "w") as f:
    for i in range(n // 10):
        f.write(json.dumps({"task_id": "t", "code": "# %d\n%s" % (i, code)}) + "\n")
EOF
"$cupel" judge --tasks "$dir/tasks.jsonl" --candidates "$dir/candidates.jsonl" --jobs 16 \
	--out "$dir/out.jsonl" 2>"$dir/err"
tail -n 1 "$dir/err" | sed 's/^/# /'
late=$(grep -o '"verdict":"time_limit"' "$dir/out.jsonl" | wc -l)
right=$(grep -c '"total":10,"score":1[,.]' "$dir/out.jsonl")
[ "$late" = 0 ] && echo "ok 1 - no time_limit" || echo "not ok 1 - $late time_limit"
[ "$right" = $((n / 10)) ] && echo "ok 2 - all accepted" || echo "not ok 2 - $right of $((n / 10)) programs"
echo "1..2"
