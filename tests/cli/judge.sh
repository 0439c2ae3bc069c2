#!/bin/sh
# cupel judge: verdicts in the order of the input, exit status, bad input, resume, signals.
n=0
ok() {
	n=$((n + 1))
	if eval "$2"; then echo "ok $n - $1"; else echo "not ok $n - $1"; sed 's/^/# /' "$dir/err"; fi
}
dir=$(mktemp -d)
data=tests/data
judge() { "$CUPEL" judge "$@" >"$dir/out" 2>"$dir/err"; }
# judge ARG...; the exit status must be $1
exits() { want=$1; shift; judge "$@"; rc=$?; [ $rc = "$want" ] || { echo "# exit status $rc"; return 1; }; }
says() { grep -qF -- "$1" "$dir/err"; }
# task, candidate, verdict and verdicts of the tests of each result
brief() {
	sed 's/"\(cpu_ms\|wall_ms\|mem_kib\|queue\|compile\|run\|ms\)":[0-9.]*,\{0,1\}//g; s/"note":"[^"]*"//g' "$@"
}
verdicts() { sed 's/.*"candidate_id":\([^,]*\),"verdict":"\([a-z_]*\)".*/\1 \2/' "$@" | tr '\n' ' '; }

for f in humaneval mbpp native; do
	ok "references of the $f sample are accepted" \
		'exits 0 --tasks $data/judge_$f.jsonl --reference && ! grep -qv "\"verdict\":\"accepted\",\"passed\"" "$dir/out"'
done
gzip -c $data/judge_humaneval.jsonl >"$dir/he.gz"
ok "gzip is read, and --out is a file" \
	'exits 0 --tasks "$dir/he.gz" --reference --out "$dir/he.out" && [ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/he.out")" = 3 ]'
ok "the last line on stderr counts verdicts" \
	'tail -n 1 "$dir/err" | grep -Eq "^3 programs: 3 accepted; 3 tests, [0-9.]+ tests/s, [0-9.]+ s, isolation [a-z]+$"'
ok "--json makes it an object" \
	'exits 0 --tasks $data/judge_humaneval.jsonl --reference --json && tail -n 1 "$dir/err" | grep -q "^{\"programs\":3,.*\"verdicts\":{\"accepted\":3}"'
ok "a result has the fields of its contract" \
	'head -n 1 "$dir/out" | grep -Eq "^\{\"task_id\":\"Own/0\",\"candidate_id\":null,\"verdict\":\"accepted\",\"passed\":1,\"total\":1,\"score\":1,\"tests\":\[\{\"name\":\"1\",\"verdict\":\"accepted\",\"cpu_ms\":[0-9.]+,\"wall_ms\":[0-9.]+,\"mem_kib\":[0-9]+\}\],\"stage_ms\":\{\"queue\":[0-9.-]+,\"compile\":[0-9.]+,\"run\":[0-9.]+\},\"isolation\":\"(full|user|landlock|none)\",\"trust\":\"data\"\}$"'

cat >"$dir/c.jsonl" <<'E2'
{"task_id":"sum","candidate_id":"right","code":"print(sum(map(int, input().split())))"}
{"task_id":"sum","candidate_id":"wrong","code":"print(3)"}
{"task_id":"pairs","candidate_id":3,"code":"    return [[x, x ** 2] for x in xs]\n"}

{"task_id":"pairs","candidate_id":4,"code":"def pairs(xs):\n    return {}\n"}
{"task_id":"sum","candidate_id":"fence","completion":"<think>\n```python\n1/0\n```\n</think>It is:\n```python\nprint(sum(map(int, input().split())))\n```\n"}
{"task_id":"sum","candidate_id":"prose","completion":"<think>I cannot"}
{"task_id":"sum","candidate_id":"half","code":"print(sum(map("}
{"task_id":"sum","candidate_id":"lone","code":"s = '\ud800'\nprint(sum(map(int, input().split())))"}
{"task_id":"sum","candidate_id":"crash","code":"print(3); 1/0"}
{"task_id":"stack","candidate_id":"kept","code":"class Solution:\n  items = []\n  def push(self, x):\n    self.items.append(x)\n    return self.items\n"}
{"task_id":"stack","candidate_id":"one","code":"class Solution:\n  def push(self, x):\n    return [1]\n"}
{"task_id":"big","candidate_id":"double","code":"def f(x):\n  return int(x + 1.0)\n"}
{"task_id":"sum","code":"import os\nos.abort()"}
E2
ok "candidates are judged in their order, and not all are right" \
	'exits 1 --tasks $data/judge_native.jsonl --candidates "$dir/c.jsonl" --jobs 2 && [ "$(verdicts "$dir/out")" = "\"right\" accepted \"wrong\" wrong_answer 3 accepted 4 wrong_answer \"fence\" accepted \"prose\" compile_error \"half\" compile_error \"lone\" accepted \"crash\" runtime_error \"kept\" accepted \"one\" wrong_answer \"double\" wrong_answer null runtime_error " ]'
cp "$dir/out" "$dir/all"
ok "one job gives the same results" \
	'judge --tasks $data/judge_native.jsonl --candidates "$dir/c.jsonl" --jobs 1; brief "$dir/out" >"$dir/one"; brief "$dir/all" | cmp -s - "$dir/one"'
ok "a completion without code says why" 'sed -n 6p "$dir/all" | grep -q "\"note\":\"think_only\""'
ok "the score is weighted by the tests" 'sed -n 11p "$dir/all" | grep -q "\"passed\":1,\"total\":2,\"score\":0.25,"'
cat >"$dir/ud.jsonl" <<'E2'
{"task_id":"own-u1","code":"n = int(input())\nprint(sum(map(int, input().split())))"}
{"task_id":"own-u2","code":"import sys\nfor l in sys.stdin: print(max(l.split(), key=len))"}
E2
ok "paired arrays of inputs and outputs are judged" \
	'exits 0 --tasks $data/judge_ultradata.jsonl --candidates "$dir/ud.jsonl"'
cat >"$dir/whole.jsonl" <<'E2'
{"task_id":"Own/0","code":"def halve_evens(xs):\n    return [x // 2 if x % 2 == 0 else x for x in xs]\n"}
{"task_id":"Own/1","code":"def largest(rs: List[float]) -> float:\n    return max([0, *map(area, rs)])\n"}
{"task_id":"Own/2","code":"from __future__ import annotations\nshout = lambda text: text.upper() + '!'\n"}
E2
ok "whole functions keep imports and second functions of the prompt" \
	'exits 0 --tasks $data/judge_humaneval.jsonl --candidates "$dir/whole.jsonl"'

# Bad input: file, line and field are named; results before it are kept.
bad() {
	{ head -n 2 "$dir/c.jsonl"; printf '%s\n' "$2"; head -n 1 "$dir/c.jsonl"; } >"$dir/bad.jsonl"
	why=$3
	ok "$1" 'exits 2 --tasks $data/judge_native.jsonl --candidates "$dir/bad.jsonl" && says "bad.jsonl:3: $why" && [ "$(verdicts "$dir/out")" = "\"right\" accepted \"wrong\" wrong_answer " ]'
}
bad "a malformed candidate" '{"task_id":"sum","code"' "not JSON"
bad "a candidate without code" '{"task_id":"sum"}' "field 'code' is missing"
bad "code of the wrong type" '{"task_id":"sum","code":3}' "field 'code' is a number, not a text"
bad "code and completion" '{"task_id":"sum","code":"","completion":""}' "fields 'code' and"
bad "an unknown task" '{"task_id":"sun","code":""}' "field 'task_id': no task is called 'sun'"
bad "another language" '{"task_id":"sum","code":"","language":"c"}' "field 'language' is 'c'"
awk 'BEGIN { printf "{\"task_id\":\"sum\",\"code\":\""; for (i = 0; i < 140000; i++) printf "12345678"; print "\"}" }' >"$dir/long"
{ head -n 1 "$dir/c.jsonl"; cat "$dir/long"; } >"$dir/long.jsonl"
ok "a line that is too long" \
	'exits 2 --tasks $data/judge_native.jsonl --candidates "$dir/long.jsonl" --input.line_mib 1 && says "long.jsonl:2: line is longer than 1 MiB" && [ "$(verdicts "$dir/out")" = "\"right\" accepted " ]'
{ head -n 1 $data/judge_native.jsonl; echo '{"id":"x","prompt":"","language":"python","kind":"interactive","tests":[{}]}'; } >"$dir/t.jsonl"
ok "a kind of task that is not known yet" 'exits 2 --tasks "$dir/t.jsonl" --reference && says "t.jsonl:2: " && says "cannot judge '\''interactive'\'' tasks"'
head -c 200 "$dir/he.gz" >"$dir/cut.gz"
ok "a truncated gzip file" 'exits 2 --tasks "$dir/cut.gz" --reference && says "truncated"'
ok "no such file" 'exits 2 --tasks "$dir/none" --reference && says "No such file"'
ok "a task without a reference" 'exits 2 --tasks $data/judge_ultradata.jsonl --reference && says "own-u1 has no reference"'
: >"$dir/empty"
ok "a file without candidates proves nothing" 'exits 2 --tasks $data/judge_native.jsonl --candidates "$dir/empty" && says "no candidate"'
ok "neither candidates nor references" 'exits 2 --tasks $data/judge_native.jsonl'
ok "an unknown option" 'exits 2 --tasks $data/judge_native.jsonl --reference --job 2 && says "--job"'
ok "a checker option that does not exist" \
	'sed "s/\"abs\"/\"abc\"/" $data/judge_native.jsonl >"$dir/t.jsonl"; exits 2 --tasks "$dir/t.jsonl" --reference && says "task root: checker '\''float'\'': unknown option '\''abc'\''"'

# The machine fails: 3.
ok "an output that cannot be written" 'exits 3 --tasks $data/judge_mbpp.jsonl --reference --out "$dir/no/x" && says "$dir/no/x"'
ok "a full disk" 'exits 3 --tasks $data/judge_mbpp.jsonl --reference --out /dev/full'
ok "a full disk behind stdout" '"$CUPEL" judge --tasks $data/judge_mbpp.jsonl --reference >/dev/full 2>"$dir/err"; [ $? = 3 ]'
ok "a fault of ours is judge_error and status 3" \
	'exits 3 --tasks $data/judge_mbpp.jsonl --reference --judge.fault_rate 1 && [ "$(verdicts "$dir/out")" = "null judge_error null judge_error null judge_error " ]'

# Resume: what is there stays as it is, a torn line goes, the rest is judged.
head -n 4 "$dir/all" >"$dir/r"
printf '{"task_id":"sum","candidate_id":"fen' >>"$dir/r"
ok "resume judges what is missing" \
	'exits 1 --tasks $data/judge_native.jsonl --candidates "$dir/c.jsonl" --out "$dir/r" --resume && says "(4 from before)" && [ "$(verdicts "$dir/r")" = "$(verdicts "$dir/all")" ] && head -n 4 "$dir/r" >"$dir/h" && head -n 4 "$dir/all" | cmp -s - "$dir/h"'
cp "$dir/r" "$dir/r2"
ok "resume of a finished run changes nothing" \
	'exits 1 --tasks $data/judge_native.jsonl --candidates "$dir/c.jsonl" --out "$dir/r" --resume && cmp -s "$dir/r" "$dir/r2"'
ok "resume with other candidates is refused" \
	'sed "s/\"wrong\"/\"other\"/" "$dir/c.jsonl" >"$dir/c2.jsonl"; exits 2 --tasks $data/judge_native.jsonl --candidates "$dir/c2.jsonl" --out "$dir/r" --resume && says "$dir/r:2: " && cmp -s "$dir/r" "$dir/r2"'

ok "resume with fewer candidates is refused" \
	'head -n 3 "$dir/c.jsonl" >"$dir/c2.jsonl"; exits 2 --tasks $data/judge_native.jsonl --candidates "$dir/c2.jsonl" --out "$dir/r" --resume && says "$dir/r:4: more results" && cmp -s "$dir/r" "$dir/r2"'

# The helper dies: its jobs are run again, and no program pays for it.
for i in 1 2 3 4 5 6; do
	echo '{"task_id":"sum","code":"import time; time.sleep(0.3); print(sum(map(int, input().split())))"}'
done >"$dir/k.jsonl"
"$CUPEL" judge --tasks $data/judge_native.jsonl --candidates "$dir/k.jsonl" --jobs 1 >"$dir/out" 2>"$dir/err" &
pid=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	[ -s "$dir/out" ] && break
	sleep 0.3
done
kill -9 $(cat /proc/$pid/task/*/children)
wait $pid
rc=$?
ok "a killed helper costs no verdict" '[ $rc = 0 ] && [ "$(grep -c "\"verdict\":\"accepted\",\"passed\":2" "$dir/out")" = 6 ]'
mkdir "$dir/bin" && cp "$CUPEL" "$dir/bin" && echo kept >"$dir/old"
"$dir/bin/cupel" judge --tasks $data/judge_mbpp.jsonl --reference --out "$dir/old" 2>"$dir/err"
rc=$?
if [ $rc = 0 ]; then
	n=$((n + 1)) && echo "ok $n # SKIP a cupel-boxd is installed"
else
	ok "without a helper: status 3, and the results of before are there" \
		'[ $rc = 3 ] && says "cupel-boxd" && [ "$(cat "$dir/old")" = kept ]'
fi
ok "an isolation that does not exist" 'exits 2 --tasks $data/judge_mbpp.jsonl --reference --isolation moon && says "moon"'

# Signals: the results so far are kept, and nothing is left.
{ head -n 1 "$dir/c.jsonl"; echo '{"task_id":"sum","code":"while True: pass"}'; } >"$dir/slow.jsonl"
for s in INT:130 TERM:143; do
	rm -f "$dir/s"
	"$CUPEL" judge --tasks $data/judge_native.jsonl --candidates "$dir/slow.jsonl" --out "$dir/s" --judge.cpu 300 --judge.wall 600 2>"$dir/err" &
	pid=$!
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
		[ -s "$dir/s" ] && break
		sleep 0.5
	done
	kids=$(cat /proc/$pid/task/*/children 2>/dev/null)
	kill -${s%:*} $pid
	wait $pid
	rc=$?
	ok "SIG${s%:*} ends with status ${s#*:}, results kept, helper gone" \
		'[ $rc = ${s#*:} ] && [ "$(verdicts "$dir/s")" = "\"right\" accepted " ] && says "1 results are kept" && [ -n "$kids" ] && ! kill -0 $kids 2>"$dir/null"'
done
rm -r "$dir"
echo "1..$n"
