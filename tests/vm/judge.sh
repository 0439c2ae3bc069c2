#!/bin/sh
# The judge in short, for machines that are emulated: references are right, and each kind of limit
# ends what exceeds it.
n=0
ok() {
	n=$((n + 1))
	if eval "$2"; then echo "ok $n - $1"; else echo "not ok $n - $1"; sed 's/^/# /' "$dir/err" "$dir/out"; fi
}
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT
judge() { "$CUPEL" judge --judge.cpu 20 --judge.wall 200 "$@" >"$dir/out" 2>"$dir/err"; }
for f in humaneval native; do
	ok "references of the $f sample are accepted" \
		'judge --tasks tests/data/judge_$f.jsonl --reference && ! grep -qv "\"verdict\":\"accepted\",\"passed\"" "$dir/out"'
done
cat >"$dir/c.jsonl" <<'E2'
{"task_id":"sum","code":"print(sum(map(int, input().split())))"}
{"task_id":"sum","code":"print(3)"}
{"task_id":"sum","code":"a = bytearray(b'x') * (1 << 30); print(3)"}
{"task_id":"sum","code":"while True: print('3' * 100000)"}
{"task_id":"sum","code":"import os, time\nfor i in range(8):\n    if os.fork() == 0:\n        a = bytearray(b'x') * (10 << 20); time.sleep(100)\ntime.sleep(100)"}
E2
ok "limits end what exceeds them" \
	'judge --tasks tests/data/judge_native.jsonl --candidates "$dir/c.jsonl" --judge.memory 40 --judge.cpu 60 --judge.output 1; [ "$(sed "s/.*\"verdict\":\"\([a-z_]*\)\",\"passed.*/\1/" "$dir/out" | tr "\n" " ")" = "accepted wrong_answer memory_limit output_limit memory_limit " ]'
echo '{"task_id":"sum","code":"while True: pass"}' >"$dir/d.jsonl"
ok "so does the limit of CPU time" 'judge --tasks tests/data/judge_native.jsonl --candidates "$dir/d.jsonl" --judge.cpu 3; grep -q "\"verdict\":\"time_limit\",\"passed\"" "$dir/out"'
echo "1..$n"
