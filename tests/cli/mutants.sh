#!/bin/sh
# Mutants of our own samples: no wrong one is accepted, no right one is refused. tests/long/mutants.sh
# does it with thousands.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
for f in humaneval mbpp; do
	n=$((n + 1))
	tasks=tests/data/judge_$f.jsonl
	"$CUPEL" data show --json $tasks >"$dir/tasks"
	python3 tests/long/mutants.py make "$dir/tasks" 25 1 >"$dir/mutants"
	"$CUPEL" judge --tasks $tasks --candidates "$dir/mutants" --judge.cpu 1 >"$dir/results" 2>"$dir/err"
	rc=$?
	if [ $rc = 3 ] && grep -q isolation "$dir/err"; then
		echo "ok $n # SKIP no isolation on this machine"
		continue
	fi
	sed 's/^/# /' "$dir/err"
	TAP_NUMBER=$n ORACLE_CPU=1 python3 tests/long/mutants.py check "$dir/tasks" "$dir/mutants" "$dir/results"
done
echo "1..$n"
