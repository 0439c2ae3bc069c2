#!/bin/sh
# cupel eval: pass@k with an interval, greedy and sampled, the same each time; judge errors left out.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tiny.inc"
tiny_files
"$CUPEL" sft sft.yaml --out=sft 2>err >out || { sed 's/^/# /' err; echo "Bail out! no warm start"; exit 1; }
ev() { "$CUPEL" eval --policy=sft/checkpoint --tasks=train.jsonl --rollout.max_tokens=16 "$@"; }
# Without what takes time.
plain() { sed 's/"wall_s".*//' out; }

ok "text" 'status 0 ev --n=8 --k=1,8 && grep -q "^pass@1 .*%.*\[.*\]  4 tasks$" out && grep -q "^pass@8 " out'
ok "json" 'status 0 ev --n=8 --k=1,8 --json && grep -q "^{\"tasks\":4,\"n\":8,.*\"pass@1\":{\"mean\":[0-9.]*,\"low\":[0-9.]*,\"high\":[0-9.]*,\"tasks\":4}" out'
ok "32 answers with one verdict each" 'grep -q "\"samples\":32,\"left_out\":0" out'
plain >first
ok "the same again, with other jobs, threads and batch" \
	'status 0 ev --n=8 --k=1,8 --json --jobs=1 --train.threads=2 --rollout.batch=3 && plain | cmp - first'
ok "not with another seed" 'status 0 ev --n=8 --k=1,8 --json --seed=2 && ! plain | cmp -s - first'
ok "greedy: one answer, whatever the seed" 'status 0 ev --greedy --json && plain >g1 &&
	grep -q "\"samples\":4," g1 && status 0 ev --greedy --json --seed=9 && plain | cmp - g1'
ok "a few tasks only" 'status 0 ev --n=2 --k=1 --eval.tasks=3 --json && grep -q "^{\"tasks\":3," out'
ok "answers that could not be judged are left out and counted" \
	'status 0 ev --n=8 --k=1 --judge.fault_rate=0.4 --json && ! grep -q "\"left_out\":0," out && grep -q "judge_error" out'
ok "none could be judged: no figure" 'status 0 ev --n=2 --k=1 --judge.fault_rate=1 --json && grep -q "\"pass@1\":{\"mean\":null" out'
ok "k above n is a usage error" 'status 2 ev --n=4 --k=8 && grep -q "eval.k" err'
ok "no tasks is a usage error" 'status 2 "$CUPEL" eval --policy=sft/checkpoint'
ok "a policy that is not there is bad input" 'status 2 "$CUPEL" eval --policy=none --tasks=train.jsonl'
echo "1..$n"
