#!/bin/sh
# cupel runs: lists and shows run directories, text and JSON; broken ones and usage errors. The run
# is made by cupel sft on a few lines.
n=0
ok() {
	n=$((n + 1))
	if eval "$2"; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}
dir=$(mktemp -d)
err=$dir/err
for i in 1 2 3 4; do
	printf '{"prompt":"# n%d\\ndef f(x):\\n","completion":"    return x + %d\\n"}\n' $i $i
done >"$dir/sft.jsonl"
if ! "$CUPEL" sft --data="$dir/sft.jsonl" --out="$dir/runs/one" --policy.d=32 --policy.layers=1 \
	--policy.heads=2 --policy.kv_heads=2 --policy.ffn=16 >"$dir/log" 2>&1; then
	cat "$dir/log" >&2
fi
one() { "$CUPEL" runs show "$dir/runs/one" "$@"; }
py() {
	code=$1
	shift
	/usr/bin/python3 -c "import json,sys; $code" "$@"
}
ok "a run is listed" '"$CUPEL" runs list "$dir/runs" | grep -q "^one  .*Z "'
ok "one line of JSON for each run" \
	'"$CUPEL" runs list "$dir/runs" --json | py "
l=[json.loads(x) for x in sys.stdin]
assert len(l)==1 and l[0][\"run\"].endswith(\"/runs/one\") and l[0][\"steps\"]>=1 and \"config\" not in l[0]"'
ok "show: text" 'one | grep -q "^steps  *[1-9]" && one | grep -q "^  loss "'
ok "show: JSON has metrics and configuration" \
	'one --json | py "
j=json.loads(sys.stdin.read())
assert j[\"metrics\"][\"loss\"]>0 and j[\"config\"][\"seed\"]>=0 and j[\"last_step\"]>=0 and j[\"mean_reward\"] is None"'
ok "show: by name from the folder above" '(cd "$dir" && "$CUPEL" runs show one | grep -q "^run  *runs/one$")'
ok "one metric, a value for each step" \
	'[ "$(one --metric=loss | wc -l)" = "$(grep -c "\"loss\"" "$dir/runs/one/metrics.jsonl")" ]'
ok "one metric as JSON: the values of metrics.jsonl" \
	'one --metric=loss --json | py "
a=[json.loads(x) for x in sys.stdin]
b=[json.loads(x) for x in open(sys.argv[1])]
assert a==[{\"step\":x[\"step\"],\"loss\":x[\"loss\"]} for x in b if \"loss\" in x]" "$dir/runs/one/metrics.jsonl"'
ok "unknown metric is bad input" 'one --metric=nothing 2>"$err"; [ $? = 2 ] && grep -q nothing "$err"'
ok "no run: bad input that names it" \
	'"$CUPEL" runs show "$dir/none" 2>"$err"; [ $? = 2 ] && grep -q "$dir/none: no run here" "$err"'
ok "no folder of runs is an empty list" 'out=$(cd "$dir/runs/one" && "$CUPEL" runs list) && [ -z "$out" ]'
ok "a folder that was named must be there" '"$CUPEL" runs list "$dir/none" 2>/dev/null; [ $? = 2 ]'
mkdir "$dir/runs/bad" && echo nonsense nonsense nonsense >"$dir/runs/bad/run.sqlite"
ok "a broken run does not hide the others" \
	'"$CUPEL" runs list "$dir/runs" >"$dir/out" 2>"$err"; [ $? = 2 ] && grep -q "^one " "$dir/out" && grep -q bad/run.sqlite "$err"'
ok "usage" '"$CUPEL" runs 2>/dev/null; [ $? = 2 ] && { "$CUPEL" runs show 2>/dev/null; [ $? = 2 ]; }'
ok "a full disk is not success" 'one >/dev/full 2>/dev/null; [ $? = 3 ]'
rm -r "$dir"
echo "1..$n"
