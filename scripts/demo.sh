#!/bin/sh
# demo.sh - what `make demo` does: makes Python tasks, warm-starts a small transformer on a noisy
# corpus, and trains it with rewards from programs that are really run. The environment names the
# program (CUPEL) and the seed (SEED); everything is in runs/demo-SEED/, which is made anew each time.
cd "$(dirname "$0")/.." || exit 3
: "${CUPEL:=build/release/cupel}" "${SEED:=1}"
case $SEED in *[!0-9]* | "") echo "demo: SEED must be a number: '$SEED'" >&2; exit 2 ;; esac
run=runs/demo-$SEED
start=$(date +%s)
say() { echo "demo: $(($(date +%s) - start)) s: $*" >&2; }

rm -rf "$run" || exit 3
say "making tasks; every reference solution is run"
"$CUPEL" data synth --family=micro --seed="$SEED" --out="$run/data" || exit
say "warm start on found code, part of it wrong"
"$CUPEL" sft recipes/sft.yaml --seed="$SEED" --data="$run/data/sft.jsonl" --out="$run/sft" || exit
say "reinforcement learning on the train split"
"$CUPEL" train recipes/demo.yaml --seed="$SEED" --policy="$run/sft/checkpoint" \
	--tasks.train="$run/data/train.jsonl" --tasks.eval="$run/data/test.jsonl" --out="$run" || exit

# The time of the whole demo, not only of its last part.
wall=$(($(date +%s) - start))
sed "s/\"wall_s\":[0-9.]*/\"wall_s\":$wall/" "$run/summary.json" >"$run/summary.tmp" &&
	mv "$run/summary.tmp" "$run/summary.json" || exit 3
say "done: $run/summary.json"
