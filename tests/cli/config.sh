#!/bin/sh
# cupel config: effective values with their origin, from recipe, files, environment and flags.
n=0
ok() {
	n=$((n + 1))
	if eval "$2"; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}
# The first line of stderr and the status.
says() {
	want=$1 && shift
	"$CUPEL" "$@" >/dev/null 2>err
	[ $? = 2 ] && [ "$(head -1 err)" = "$want" ] || { echo "# $(cat err)"; false; }
}
dir=$(mktemp -d) && cd "$dir" || exit 1
cat >r.yaml <<E
# a recipe
tasks:  {train: t.jsonl, eval: e.jsonl}
policy: {load: p}
judge:
  jobs: 3
reward: [{kind: pass_all}, {kind: pass_rate, weight: 0.2}]
train:  {steps: 1e1, lr: 1e-3, seed: 7}
E
echo 'train: {lr: 2e-3, seed: 8}' >c.yaml
echo 'train: {seed: 9}' >d.yaml
show() { "$CUPEL" config show "$@"; }
ok "default" 'show | grep -q "^judge.jobs: .*# default$"'
ok "recipe, with its line" 'show r.yaml | grep -qx "judge.jobs: 3  # r.yaml:5"'
ok "whole numbers may be written 1e1" 'show r.yaml | grep -qx "train.steps: 1e1  # r.yaml:7"'
ok "a later --config wins over an earlier one and the recipe" \
	'show r.yaml --config c.yaml --config=d.yaml | grep -qx "train.seed: 9  # d.yaml:1"'
ok "what it does not name stays" 'show r.yaml --config c.yaml --config d.yaml | grep -qx "train.lr: 2e-3  # c.yaml:1"'
ok "environment wins over files" \
	'CUPEL_TRAIN_SEED=10 show r.yaml --config c.yaml | grep -qx "train.seed: 10  # CUPEL_TRAIN_SEED"'
ok "a flag wins over all" \
	'CUPEL_TRAIN_SEED=10 show r.yaml --seed 11 --config c.yaml | grep -qx "train.seed: 11  # --seed"'
ok "lists: an element is reached by its number" \
	'show r.yaml --reward.1.floor=0.5 | grep -qx "reward.1.floor: 0.5  # --reward.1.floor"'
ok "a bare name is a kind" 'show r.yaml --reward=pass_rate | grep -qx "reward.kind: pass_rate  # --reward"'
ok "and takes the place of the list" '! show r.yaml --reward=pass_rate | grep -q "^reward\.1"'
ok "a switch before the recipe" 'show --resume r.yaml | grep -qx "judge.jobs: 3  # r.yaml:5"'
show r.yaml >again.yaml
ok "what show prints is a config file with the same values" \
	'[ "$(show again.yaml | sed "s/  # .*//")" = "$(sed "s/  # .*//" again.yaml)" ]'
ok "JSON has types and origins" \
	'show r.yaml --json | grep -q "\"judge.jobs\":{\"value\":3,\"origin\":\"r.yaml:5\"}"'
ok "check takes a good recipe" '[ "$("$CUPEL" config check r.yaml)" = ok ]'
ok "explain: text, range, value, origin, variable" \
	'"$CUPEL" config explain judge.jobs r.yaml | tr "\n" " " |
	grep -q "range .*value  *3  *origin  *r.yaml:5 .*CUPEL_JUDGE_JOBS"'
ok "explain knows short forms and families" \
	'"$CUPEL" config explain seed | grep -qx train.seed && "$CUPEL" config explain adv | grep -q "one of .*grpo"'

printf 'judge:\n  job: 1\n' >bad.yaml
ok "unknown key: file, line and the nearest" \
	'says "cupel config: bad.yaml:2: unknown option '\''judge.job'\'' (did you mean '\''judge.jobs'\''?)" config check bad.yaml'
printf 'judge: {jobs: 1, jobs: 2}\n' >bad.yaml
ok "key given twice" 'says "cupel config: bad.yaml:1: '\''judge.jobs'\'' is given twice" config check bad.yaml'
printf 'judge: {jobs: -1}\n' >bad.yaml
ok "out of range" '"$CUPEL" config check bad.yaml 2>err; [ $? = 2 ] && grep -q "^cupel config: bad.yaml:1: judge.jobs: -1 is outside 0\.\." err'
printf 'reward: pass_most\n' >bad.yaml
ok "unknown kind names the known ones" \
	'"$CUPEL" config check bad.yaml 2>err; [ $? = 2 ] && grep -q "bad.yaml:1: reward.kind: .pass_most. is none of: .*pass_all" err'
printf 'judge: {jobs: 1\n' >bad.yaml
ok "no YAML" '"$CUPEL" config check bad.yaml 2>err; [ $? = 2 ] && grep -q "^cupel config: bad.yaml:" err'
ok "no such file is bad input" 'says "cupel config: no.yaml: No such file or directory" config show no.yaml'
ok "no such file behind --config" 'says "cupel config: no.yaml: No such file or directory" config show --config no.yaml'
ok "bad flag is named as it was written" 'says "cupel config: --seed: '\''x'\'' is not a whole number" config show --seed=x'
ok "bad variable is named" '(export CUPEL_JUDGE_JOBS=x; says "cupel config: CUPEL_JUDGE_JOBS: '\''x'\'' is not a whole number" config show)'
ok "explain of an unknown key" '"$CUPEL" config explain judge.job 2>err; [ $? = 2 ] && grep -q "did you mean .judge.jobs.?" err'
ok "no sub-command is a usage error" '"$CUPEL" config 2>/dev/null; [ $? = 2 ]'
ok "a full disk is not success" 'show >/dev/full 2>/dev/null; [ $? = 3 ]'
cd / && rm -r "$dir"
echo "1..$n"
