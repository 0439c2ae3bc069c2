#!/bin/sh
# At least 2,000 mutants of references of public sets: none is accepted whose output differs on any
# test, but where the task allows it; survivors are listed.
data=${DATA:-../shared/data}
if ! [ -d "$data" ]; then
	echo "1..0 # SKIP no folder $data with the public sets"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
# PYTHON: another interpreter for the judge.
python=${PYTHON:+--judge.python=$PYTHON}
# mutants TASKS COUNT ARG...
mutants() {
	tasks=$1 count=$2
	shift 2
	n=$((n + 1))
	"$CUPEL" data show --json "$tasks" >"$dir/tasks" &&
		python3 tests/long/mutants.py make "$dir/tasks" "$count" "${SEED:-1}" >"$dir/mutants" || return
	"$CUPEL" judge --tasks "$tasks" --candidates "$dir/mutants" --out "$dir/results" $python "$@" 2>"$dir/err"
	tail -n 1 "$dir/err" | sed "s/^/# /"
	echo "# $tasks"
	TAP_NUMBER=$n ORACLE_CPU=${ORACLE_CPU:-4} python3 tests/long/mutants.py check "$dir/tasks" "$dir/mutants" "$dir/results"
	rm -f "$dir/results"
}
mutants $data/humaneval/HumanEval.jsonl.gz "${COUNT:-800}" --judge.cpu 2
mutants $data/mbpp/mbpp.jsonl "${COUNT:-800}" --judge.cpu 2
mutants $data/humanevalplus/HumanEvalPlus-NoExtreme.jsonl.gz "${COUNT:-800}" --judge.cpu 4
echo "1..$n"
