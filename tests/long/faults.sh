#!/bin/sh
# Every fault case in every tier that this machine has: as the user that runs this, in tier user,
# and as an ordinary user. One line a run, and the cases that are not as expected.
n=0
ok() {
	n=$((n + 1))
	if "$@" >"$out" 2>&1; then echo "ok $n - $name: $(tail -1 "$out")"; else echo "not ok $n - $name: $(tail -1 "$out")"; grep '[#:]' "$out" | grep -v ' skip # \| text \| left: $' | sed 's/^/# /' | head -50; fi
}
out=$(mktemp)
trap 'rm -f "$out"' EXIT
run="/usr/bin/python3 tests/faults/run --jobs=4"
for file in ../shared/data/faults/cases.jsonl tests/faults/cases.jsonl; do
	[ -r "$file" ] || { n=$((n + 1)); echo "ok $n # SKIP $file is not here"; continue; }
	name="$file, best tier" && ok $run "$file"
	name="$file, tier user" && ok $run --isolation=user "$file"
	name="$file, one slot" && ok $run --jobs=1 "$file"
	name="$file, all tests in one process" && ok $run --box.per=sample --only='^A' "$file"
	[ "$(id -u)" = 0 ] && [ "${B:-release}" = release ] || continue
	name="$file, as an ordinary user" && ok scripts/as_user.sh env CUPEL=build/release/cupel $run "$file"
done
echo "1..$n"
