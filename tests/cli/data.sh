#!/bin/sh
# cupel data: sets are made, verified by the judge, printed and validated; bad input is named.
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'cd / && rm -rf "$dir"' EXIT
small="--train 10 --test 4 --corpus 6 --programs 3"
"$CUPEL" data synth --out a $small >out 2>err
rc=$?
if [ $rc = 3 ] && grep -q isolation err; then
	echo "1..0 # SKIP no isolation on this machine: $(cat err)"
	exit 0
fi
n=0
ok() {
	n=$((n + 1))
	if eval "$2"; then echo "ok $n - $1"; else echo "not ok $n - $1"; sed 's/^/# /' err; fi
}
# Exit status 2 or another, and a text on stderr.
says() {
	want=$1 text=$2 && shift 2
	"$CUPEL" data "$@" >out 2>err
	[ $? = "$want" ] && grep -q -- "$text" err
}
ok "makes a set" '[ $rc = 0 ] && grep -q "10 train and 4 test tasks" out'
ok "four files, no others" '[ "$(ls a | tr "\n" " ")" = "manifest.json sft.jsonl test.jsonl train.jsonl " ]'
ok "as many lines as asked for" '[ "$(cat a/train.jsonl | wc -l)" = 10 ] && [ "$(cat a/test.jsonl | wc -l)" = 4 ] &&
	[ "$(cat a/sft.jsonl | wc -l)" = 18 ]'
ok "warm-start records" '[ "$(grep -c "^{\"task_id\":\"micro-1-train-000.\",\"prompt\":\"# .*def f(.*\",\"completion\":\"    .*\"}$" a/sft.jsonl)" = 18 ]'
ok "the same seed gives the same bytes with any number of jobs" \
	'"$CUPEL" data synth --out b $small -j 1 >out 2>err && diff -r a b >err'
ok "another seed gives other tasks" \
	'"$CUPEL" data synth --out c $small --seed 2 >out 2>err && ! cmp -s a/train.jsonl c/train.jsonl'
ok "--json counts" '"$CUPEL" data synth --out c $small --noise 1 --json 2>err >out && grep -q "\"programs\":18,\"wrong\":18}" out'
ok "show prints a task" '"$CUPEL" data show a/test.jsonl >out 2>err && [ "$(grep -c "^task " out)" = 4 ] && grep -q "^  def f(" out'
ok "show finds one by id" '"$CUPEL" data show a/test.jsonl micro-1-test-0002 >out 2>err && [ "$(grep -c "^task " out)" = 1 ]'
ok "show --json is the record" '"$CUPEL" data show a/test.jsonl --json 2>err | cmp -s - a/test.jsonl'
ok "show: unknown id" 'says 2 "no task .nothing." show a/test.jsonl nothing'
ok "show escapes control bytes" 'printf "{\"id\":\"x\",\"prompt\":\"\\\\u001b[31m\",\"language\":\"python\",\"kind\":\"stdin\",\"tests\":[{\"stdin\":\"\",\"stdout\":\"\"}]}\n" >esc.jsonl &&
	"$CUPEL" data show esc.jsonl >out 2>err && grep -qF "  \\x1b[31m" out'
ok "validate accepts every reference" '"$CUPEL" data validate a/test.jsonl >out 2>err && grep -q "4 accepted, 0 broken" out'
sed "2s/\"reference\":\"[^\"]*\"/\"reference\":\"    return {}\"/;2s/\"reference\":\".*\",\"difficulty\"/\"reference\":\"    return {}\",\"difficulty\"/" a/test.jsonl >broken.jsonl
ok "validate names the broken one, status 1" \
	'"$CUPEL" data validate broken.jsonl >out 2>err; [ $? = 1 ] && grep -q "^\"micro-1-test-0002\" wrong_answer 0/8" out && grep -q "3 accepted, 1 broken" out'
ok "validate --json, one object for each broken one" \
	'"$CUPEL" data validate broken.jsonl --json >out 2>err; [ $? = 1 ] && [ "$(cat out | wc -l)" = 1 ] && grep -q "{\"task_id\":\"micro-1-test-0002\",\"verdict\":\"wrong_answer\"" out'
ok "a task without reference is counted" '"$CUPEL" data validate esc.jsonl >out 2>err && grep -q "1 have no reference" out'
ok "a machine that cannot judge is status 3" '"$CUPEL" data validate a/test.jsonl --judge.fault_rate=1 >out 2>err; [ $? = 3 ] && grep -q "0 broken, 4 could not" out'
head -c 300 a/test.jsonl >cut.jsonl
ok "malformed record: file and line" 'says 2 "cut.jsonl:1" validate cut.jsonl'
ok "no file" 'says 2 "none.jsonl" show none.jsonl'
ok "no output folder" 'says 2 "--out" synth'
ok "a folder that cannot be made is a fault of the machine" 'says 3 /dev/null/x synth --out /dev/null/x $small'
ok "value out of range" 'says 2 "noise" synth --out d --noise 2 && [ ! -e d ]'
ok "more tasks than there are" 'says 2 "only" synth --out d --train 500 --family.level2=0 --family.level3=0 --family.level4=0'
ok "unknown family" 'says 2 "macro" synth --out d --family macro'
ok "unknown sub-command" 'says 2 "mutate" mutate'
ok "every sub-command has help" 'for s in synth show validate; do "$CUPEL" data $s --help 2>err | grep -q "^cupel data $s" || exit 1; done'
ok "a full disk is not success" '"$CUPEL" data show a/test.jsonl >/dev/full 2>err; [ $? = 3 ]'
echo "1..$n"
