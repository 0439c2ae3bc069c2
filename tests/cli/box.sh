#!/bin/sh
# cupel box and doctor: outputs, exit status, JSON, and the tier that they report.
n=0
ok() {
	n=$((n + 1))
	if eval "$2"; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}
"$CUPEL" box -- /bin/true </dev/null 2>/dev/null
[ $? = 3 ] && { echo "1..0 # SKIP no isolation"; exit 0; }
tmp=$(mktemp -d) || exit 3
trap 'rm -rf "$tmp"' EXIT
echo 'print(input()[::-1])' >"$tmp/rev.py"
ok "stdin goes in, stdout comes out" '[ "$(echo abc | "$CUPEL" box --files="$tmp/rev.py" -- /usr/bin/python3 rev.py 2>/dev/null)" = cba ]'
ok "the end is said on stderr" '"$CUPEL" box -- /bin/true </dev/null 2>&1 | grep -q "^exited status=0 "'
ok "a failed program is status 1" '"$CUPEL" box -- /bin/false </dev/null 2>/dev/null; [ $? = 1 ]'
ok "a limit is status 1" '"$CUPEL" box --wall=0.2 -- /bin/sleep 100 </dev/null 2>"$tmp/err"; [ $? = 1 ] && grep -q "^wall limit " "$tmp/err"'
ok "a missing program is status 3" '"$CUPEL" box -- /bin/nonesuch </dev/null 2>"$tmp/err"; [ $? = 3 ] && grep -q "/bin/nonesuch" "$tmp/err"'
ok "no program is a usage error" '"$CUPEL" box </dev/null 2>/dev/null; [ $? = 2 ]'
ok "json" '"$CUPEL" box --json -- /bin/echo hi </dev/null | grep -q "\"end\":\"exited\".*\"stdout\":\"hi.n\""'
ok "doctor finds a tier" '"$CUPEL" doctor | grep -Eq "^isolation +(full|user|landlock) "'
ok "and says what is missing where it is not full" '"$CUPEL" doctor --json | grep -Eq "\"isolation\":\"full\"|\"missing\":\"[^\"]*(cgroup|namespaces)"'
ok "tier landlock, asked for by name" '"$CUPEL" box --isolation=landlock -- /bin/sh -c "cat /etc/passwd || echo no" </dev/null >"$tmp/out" 2>"$tmp/err" && [ "$(cat "$tmp/out")" = no ] || grep -q "Landlock is not available" "$tmp/err"'
ok "and refused where there is no Landlock" 'CUPEL_LANDLOCK=0 "$CUPEL" box --isolation=landlock -- /bin/true </dev/null 2>"$tmp/err"; [ $? = 3 ] && grep -q "Landlock is not available: it needs Linux" "$tmp/err"'
ok "a server that is not there is refused" 'CUPEL_BOXD=/nonesuch "$CUPEL" box -- /bin/true </dev/null 2>/dev/null; [ $? = 3 ]'
ok "doctor says so with status 1" 'CUPEL_BOXD=/nonesuch "$CUPEL" doctor >"$tmp/out"; [ $? = 1 ] && grep -q "refused" "$tmp/out"'
echo "1..$n"
