#!/bin/bash
# Calls of the system fail inside cupel-boxd and cupel: a job may end as judge_error or be run again,
# a run may be refused, but no verdict is ever wrong, no other job is touched, nothing is left.
# LONG=1: every call, not a sample of them.
set -u
case ${B:-release} in asan | tsan) echo "1..0 # SKIP a sanitizer has its own allocator"; exit 0 ;; esac
build=$(realpath "${BUILD:-build/release}")
cupel=${CUPEL:-$build/cupel}
"$cupel" doctor >/dev/null 2>&1 || { echo "1..0 # SKIP no isolation here"; exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
cc -shared -fPIC -O1 -D_GNU_SOURCE -o "$dir/inject.so" tests/inject/inject.c || exit 1

cat >"$dir/tasks.jsonl" <<'EOF'
{"id":"rev","prompt":"","language":"python","kind":"stdin","tests":[{"stdin":"ab\n","stdout":"ba\n"},{"stdin":"xyz\n","stdout":"zyx\n"}]}
{"id":"add","prompt":"","language":"python","kind":"function","entry_point":"f","tests":[{"args":[1,2],"expected":3},{"args":[5,5],"expected":10}]}
{"id":"mul","prompt":"","language":"python","kind":"assert","setup":"","tests":[{"assert":"assert g(3) == 9"},{"assert":"assert all(g(i) == i * i for i in range(4))"}]}
EOF
right='print(input()[::-1])' wrong='print(input())'
i=0
for code in "$right" "$wrong"; do
	echo "{\"task_id\":\"rev\",\"code\":\"$code\"}"
done >"$dir/cand.jsonl"
cat >>"$dir/cand.jsonl" <<'EOF'
{"task_id":"add","code":"def f(a, b): return a + b"}
{"task_id":"add","code":"def f(a, b): return a - b"}
{"task_id":"mul","code":"def g(x): return x * x"}
{"task_id":"mul","code":"def g(x): return x + x"}
EOF
want='accepted wrong_answer accepted wrong_answer accepted wrong_answer'

cat >"$dir/boxd" <<EOF
#!/bin/sh
LD_PRELOAD=$dir/inject.so INJECT=\$(cat $dir/what) INJECT_LOG=$dir/log exec $build/cupel-boxd "\$@"
EOF
chmod 755 "$dir/boxd"

n=0
check() { # name rc
	got=$(grep -o '"candidate_id":null,"verdict":"[a-z_]*"' "$dir/out.jsonl" 2>/dev/null | sed 's/.*:"//; s/"//' | tr '\n' ' ')
	local ok=1 k=1 v w
	for v in $got; do
		w=$(echo "$want" | cut -d' ' -f$k)
		[ "$v" = "$w" ] || [ "$v" = judge_error ] || ok=0
		k=$((k + 1))
	done
	# all six verdicts, or a refusal with status 2 (a limit of ours) or 3
	if [ $k -eq 7 ]; then
		[ "$2" = 1 ] || { [ "$2" = 3 ] && [[ $got == *judge_error* ]]; } || ok=0
	else
		[ "$2" = 3 ] || [ "$2" = 2 ] || ok=0
	fi
	n=$((n + 1))
	if [ $ok = 1 ]; then
		echo "ok $n - $1: rc $2 $got"
	else
		echo "not ok $n - $1: rc $2, got: $got"
		tail -3 "$dir/err" | sed 's/^/# /'
	fi
}

run() { # where name call
	rm -f "$dir/log" "$dir/out.jsonl"
	if [ "$1" = boxd ]; then
		echo "$2:$3" >"$dir/what"
		CUPEL_BOXD=$dir/boxd timeout 120 "$cupel" judge --jobs 2 --tasks "$dir/tasks.jsonl" \
			--candidates "$dir/cand.jsonl" --out "$dir/out.jsonl" 2>"$dir/err"
	else
		LD_PRELOAD=$dir/inject.so INJECT=$2:$3 INJECT_LOG=$dir/log timeout 120 "$cupel" judge --jobs 2 \
			--tasks "$dir/tasks.jsonl" --candidates "$dir/cand.jsonl" --out "$dir/out.jsonl" 2>"$dir/err"
	fi
	rc=$?
	[ -e "$dir/log" ] || return 1 # so many calls there are not
	check "$1 $2 $3" $rc
}

sweep() { # where name: first 1..8 one by one, then in growing steps, or all with LONG
	local k=1
	while [ $k -lt 3000 ]; do
		run "$1" "$2" $k || break
		if [ -n "${LONG:-}" ] || [ $k -lt ${FIRST:-2} ]; then k=$((k + 1)); else k=$((k * 3)); fi
	done
}

for f in malloc write pwrite sendmsg pipe2 memfd_create socketpair epoll_ctl mount mmap fork clone seccomp; do
	sweep boxd $f
done
for f in malloc memfd_create sendmsg mmap socketpair; do
	sweep cupel $f
done
# A server that could not even enter its namespace leaves empty folders, which the next one removes.
"$cupel" doctor >/dev/null 2>&1
left=$(find /sys/fs/cgroup -maxdepth 3 -name 'cupel-[0-9]*' 2>/dev/null | while read -r d; do
	p=${d##*/cupel-}
	[ -d "/proc/${p%%.*}" ] || echo "$d"
done)
n=$((n + 1))
if [ -z "$left" ]; then echo "ok $n - no cgroup is left"; else echo "not ok $n - left: $left"; fi
echo "1..$n"
