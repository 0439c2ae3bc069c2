#!/bin/sh
# Task formats: samples of every set load as they should, their references are accepted, and what
# the records call wrong is not.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
data=tests/data
n=0
ok() {
	n=$((n + 1))
	if eval "$2"; then echo "ok $n - $1"; else echo "not ok $n - $1"; sed 's/^/# /' "$dir/err"; fi
}
show() { "$CUPEL" data show "$@" >"$dir/out" 2>"$dir/err"; }

for f in humaneval mbpp native ultradata evalplus leetcode humanevalx quixbugs; do
	ok "$f: detected, and read the same when written as native records" \
		'show --json $data/judge_$f.jsonl && cp "$dir/out" "$dir/native" && show --json "$dir/native" --format native && cmp -s "$dir/out" "$dir/native"'
	ok "$f: the same with the format named" \
		'show --json --format $f $data/judge_$f.jsonl && cmp -s "$dir/out" "$dir/native"'
done
ok "calls without results are shown as such" \
	'show $data/judge_evalplus.jsonl HumanEval/900 && grep -qx "  \"base\": 2 calls" "$dir/out" && grep -qx "    \[\[\]\] -> what the reference returns" "$dir/out"'
echo "1..$n"
