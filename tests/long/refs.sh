#!/bin/sh
# The references of the public sets are accepted, but for named exceptions, and what the sets call
# broken never is. One line a set.
data=${DATA:-../shared/data}
if ! [ -d "$data" ]; then
	echo "1..0 # SKIP no folder $data with the public sets"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# PYTHON: another interpreter, as one with the package sortedcontainers.
python=${PYTHON:+--judge.python=$PYTHON}
n=0
sets() { python3 tests/long/sets.py "$@"; }

# run TITLE TASKS accepted|never ARG... -- ID=WHY...
run() {
	title=$1 tasks=$2 want=$3
	shift 3
	n=$((n + 1))
	[ -e "$tasks" ] || { echo "ok $n # SKIP no $tasks"; return; }
	set -f
	args='' ; while [ $# -gt 0 ] && [ "$1" != -- ]; do args="$args $1"; shift; done
	[ $# -gt 0 ] && shift
	start=$(date +%s)
	"$CUPEL" judge --tasks "$tasks" --out "$dir/out" $python $args 2>"$dir/err" >&2
	rc=$?
	set +f
	tail -n 1 "$dir/err" | sed "s/^/# $title: /"
	if [ $rc -gt 1 ]; then
		echo "not ok $n - $title: status $rc"
	else
		TAP_NUMBER=$n sets report "$title" $want "$dir/out" "$@"
	fi
	rm -f "$dir/out"
}

run HumanEval $data/humaneval/HumanEval.jsonl.gz accepted --reference
run MBPP $data/mbpp/mbpp.jsonl accepted --reference
sets lines $data/mbpp/sanitized-mbpp.json >"$dir/sanitized.jsonl"
run 'MBPP sanitized' "$dir/sanitized.jsonl" accepted --reference
# All calls of a test share its limits: 124,074 calls in 327 tests.
plus="--judge.cpu 120 --judge.wall 300 --judge.memory 4096 --judge.output 1024"
run 'HumanEval+ NoExtreme' $data/humanevalplus/HumanEvalPlus-NoExtreme.jsonl.gz accepted --reference $plus
run 'MBPP+ NoExtreme' $data/mbppplus/MbppPlus-NoExtreme.jsonl.gz accepted --reference $plus
run LeetCodeDataset $data/leetcodedataset/LeetCodeDataset-v0.3.1-test.jsonl.gz accepted --reference --judge.cpu 20 -- \
	'maximum-number-of-moves-to-kill-all-pawns=slow' \
	'find-the-number-of-subsequences-with-equal-gcd=slow' \
	'module sortedcontainers=not installed here'
run 'HumanEval-X' $data/humaneval-x/humaneval_python.jsonl.gz accepted --reference

pack=$data/humanevalpack/humanevalpack_python.jsonl.gz
run HumanEvalPack $pack accepted --reference
sets broken $pack buggy_solution >"$dir/pack.jsonl"
run 'HumanEvalPack, broken' $pack never --judge.cpu 4 --candidates "$dir/pack.jsonl"
sets broken $pack buggy_solution Python/=HumanEval/ >"$dir/plus.jsonl"
run 'HumanEvalPack, broken, tests of HumanEval+' $data/humanevalplus/HumanEvalPlus-NoExtreme.jsonl.gz never \
	$plus --judge.cpu 20 --candidates "$dir/plus.jsonl"

bugs=$data/quixbugs/quixbugs_python.jsonl
run QuixBugs $bugs accepted --reference
sets broken $bugs buggy_program >"$dir/bugs.jsonl"
run 'QuixBugs, broken' $bugs never --judge.cpu 4 --candidates "$dir/bugs.jsonl"
sets quixbugs $bugs $data/quixbugs/json_testcases "$dir/bugs.jsonl" >"$dir/cases.jsonl"
run 'QuixBugs, JSON cases' "$dir/cases.jsonl" accepted --reference
run 'QuixBugs, JSON cases, broken' "$dir/cases.jsonl" never --judge.cpu 4 --candidates "$dir/bugs.jsonl"
echo "1..$n"
