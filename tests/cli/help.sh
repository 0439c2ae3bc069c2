#!/bin/sh
# --help of every command, usage errors, and what is printed where.
n=0
ok() {
	n=$((n + 1))
	if eval "$2"; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}
err=$(mktemp)
ok "cupel --help lists commands on stdout" '"$CUPEL" --help 2>"$err" | grep -q "^  version " && [ ! -s "$err" ]'
ok "cupel -h is the same" '[ "$("$CUPEL" -h)" = "$("$CUPEL" --help)" ]'
ok "no command: the same text on stderr, status 2" \
	'"$CUPEL" >"$err" 2>/dev/null; [ $? = 2 ] && [ ! -s "$err" ]'
ok "unknown command is named, status 2" \
	'"$CUPEL" nothing 2>"$err"; [ $? = 2 ] && grep -q "no command .nothing." "$err"'
for c in $("$CUPEL" list commands | cut -d" " -f1); do
	ok "$c --help begins with its usage, on stdout, status 0" \
		'out=$("$CUPEL" $c --help 2>"$err"); [ $? = 0 ] && [ ! -s "$err" ] &&
		case $out in "cupel $c"*) true ;; *) false ;; esac'
	ok "$c -h is the same" '[ "$("$CUPEL" $c -h 2>&1)" = "$out" ]'
	ok "$c: unknown option is bad input, with the name of the command" \
		'"$CUPEL" $c --no.such.option=1 </dev/null >/dev/null 2>"$err"; [ $? = 2 ] && grep -q "^cupel $c" "$err"'
done
ok "help that nobody can read is not success" '"$CUPEL" list --help >/dev/full 2>/dev/null; [ $? = 3 ]'
ok "unknown option names the nearest" \
	'"$CUPEL" config show --judge.job=1 2>&1 | grep -q "did you mean .--judge.jobs.?"'
ok "control bytes of a message are escaped" \
	'"$CUPEL" list "$(printf "a\033[31m")" 2>&1 | grep -qF "a\\x1b[31m"'
rm -f "$err"
echo "1..$n"
