#!/bin/sh
# Attacks on the processes that serve a slot, in tier user and as an ordinary user; many programs,
# and judges that are stopped and killed, ten times as many as in 'make check'.
n=0
ok() {
	n=$((n + 1))
	"$@" >"$out" 2>&1
	if [ $? = 0 ] && ! grep -q '^not ok' "$out" && grep -q '^1\.\.' "$out"; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		grep -A1 '^not ok' "$out" | sed 's/^/# /'
	fi
}
"$CUPEL" box -- /bin/true </dev/null 2>/dev/null
[ $? = 3 ] && { echo "1..0 # SKIP no isolation"; exit 0; }
out=$(mktemp)
trap 'rm -f "$out"' EXIT
py=/usr/bin/python3
name="zygotes, tier user" && ok $py tests/attack/zygote.py --isolation=user
name="many runs" && ok $py tests/faults/many.py 10
name="many runs, tier user" && ok $py tests/faults/many.py --isolation=user 10
if [ "$(id -u)" = 0 ] && [ "${B:-release}" = release ]; then
	name="zygotes, as an ordinary user" && ok scripts/as_user.sh env CUPEL=build/release/cupel $py tests/attack/zygote.py
	name="many runs, as an ordinary user" && ok scripts/as_user.sh env CUPEL=build/release/cupel $py tests/faults/many.py 2
fi
echo "1..$n"
