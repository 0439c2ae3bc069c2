#!/bin/sh
# cupel sft: a warm start learns, is the same each time, resumes, and says what is wrong with its input.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tiny.inc"
tiny_files
ok "trains a tokenizer and a policy" 'status 0 "$CUPEL" sft sft.yaml --out=a && grep -q "checkpoint: a/checkpoint" out'
ok "the checkpoint is marked complete and has a tokenizer and weights" \
	'[ -f a/checkpoint/COMPLETE ] && [ -s a/checkpoint/tokenizer.json ] && [ -s a/checkpoint/model.safetensors ]'
ok "the loss falls by half" 'awk -F"\"loss\":" "{ split(\$2, v, \",\"); if (NR == 1) first = v[1]; last = v[1] }
	END { exit !(NR == 60 && last < first / 2) }" a/metrics.jsonl'
ok "fewer lines do not change it" 'status 0 "$CUPEL" sft sft.yaml --out=l --sft.log_every=25 &&
	[ "$(wc -l <l/metrics.jsonl)" = 3 ] && cmp a/checkpoint/model.safetensors l/checkpoint/model.safetensors'
ok "a second run is the same" 'status 0 "$CUPEL" sft sft.yaml --out=b && same_run a b'
ok "and with two threads" 'status 0 "$CUPEL" sft sft.yaml --out=c --train.threads=2 && same_run a c'
ok "another seed is not" 'status 0 "$CUPEL" sft sft.yaml --out=d --seed=2 && ! cmp -s a/metrics.jsonl d/metrics.jsonl'
ok "a run that is there is not overwritten" \
	'status 2 "$CUPEL" sft sft.yaml --out=a && grep -q -- "--resume" err && same_run a b'
ok "resuming a finished run changes nothing" \
	'status 0 "$CUPEL" sft sft.yaml --out=b --resume && same_run a b && ! grep -q nan out'

# Killed in the middle, twice, then resumed: as if nothing had happened.
kill_when() { # FILE LINES SIGNAL COMMAND...: the signal once FILE has that many lines; *rc
	file=$1 lines=$2 sig=$3 && shift 3
	"$@" >out 2>err &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		if [ -f "$file" ] && [ "$(wc -l <"$file")" -ge "$lines" ]; then
			kill -"$sig" $pid 2>/dev/null
			break
		fi
		sleep 0.01
	done
	wait $pid
	rc=$?
}
long() { "$CUPEL" sft sft.yaml --sft.epochs=30 --train.save_every=20 "$@"; }
exec_long() { exec "$CUPEL" sft sft.yaml --sft.epochs=30 --train.save_every=20 "$@"; }
ok "(a longer run)" 'status 0 long --out=e'
kill_when f/metrics.jsonl 30 KILL exec_long --out=f
ok "killed: it resumes" '[ $rc = 137 ] && status 0 long --out=f --resume && same_run e f'
kill_when g/metrics.jsonl 30 INT exec_long --out=g
ok "SIGINT: exit 130 and a checkpoint" '[ $rc = 130 ] && [ -f g/checkpoint/COMPLETE ] && grep -q resume err'
ok "it resumes" 'status 0 long --out=g --resume && same_run e g'
ok "resume with another configuration is refused" \
	'status 2 long --out=g --resume --train.lr=0.02 && grep -q "configuration is not the one" err'

ok "no data is a usage error" 'status 2 "$CUPEL" sft --out=x && grep -q "sft.data" err'
ok "a file that is not there is bad input" 'status 2 "$CUPEL" sft sft.yaml --data=none.jsonl --out=x && grep -q none.jsonl err'
echo '{"prompt":"a"}' >bad.jsonl
ok "a missing field is named with file and line" \
	'status 2 "$CUPEL" sft sft.yaml --data=bad.jsonl --out=x && grep -q "bad.jsonl:1:.*completion" err'
ok "and leaves no run behind" '[ ! -e x ]'
ok "nor does a policy that is not there" 'status 2 "$CUPEL" sft sft.yaml --policy=none --out=x && [ ! -e x ]'
ok "a run directory that cannot be made is a fault of the machine" \
	'status 3 "$CUPEL" sft sft.yaml --out=sft.jsonl/x && grep -q "run directory" err'
ok "an unknown key is named" 'status 2 "$CUPEL" sft sft.yaml --sft.epoch=1 && grep -q "sft.epochs" err'
ok "continues from a checkpoint with its tokenizer" \
	'status 0 "$CUPEL" sft --data=sft.jsonl --policy=a/checkpoint --sft.epochs=1 --out=h &&
	cmp a/checkpoint/tokenizer.json h/checkpoint/tokenizer.json'
echo "1..$n"
