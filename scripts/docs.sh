#!/bin/sh
# docs.sh [FILE...] - run the examples of README and docs. The blocks of a file fenced as `sh` run
# one after the other in one shell, in the repository's folder, with the built programs on PATH;
# each block must end with status 0. Blocks with another tag (json, yaml, c, console, text) show
# something and are not run.
cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] || set -- README.md docs/*.md
PATH=$PWD/build/release:$PATH
export PATH
n=0 bad=0
log=build/docs.log
mkdir -p build
for file; do
	blocks=$(grep -c '^```sh$' "$file")
	[ "$blocks" -gt 0 ] || continue
	script=$(mktemp)
	awk -v file="$file" '
		/^```sh$/ { in_block = 1; k++; printf "echo \"-- %s block %d (line %d)\"\n", file, k, NR; next }
		/^```$/ && in_block { in_block = 0; print "echo \"ok block\""; next }
		in_block' "$file" >"$script"
	if sh -eu "$script" >"$log" 2>&1 </dev/null; then rc=0; else rc=1; fi
	rm -f "$script"
	good=$(grep -c '^ok block$' "$log")
	n=$((n + good))
	if [ $rc -ne 0 ]; then
		bad=$((bad + 1))
		echo "FAILED: $file"
		tail -n 40 "$log"
	fi
done
echo "$n passed, $bad failed, 0 skipped"
[ "$bad" = 0 ] && [ "$n" -gt 0 ]
