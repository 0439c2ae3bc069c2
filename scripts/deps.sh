#!/bin/sh
# deps.sh [--check] - which libraries and tools are missing; install them as root or through a
# sudo that asks nothing, else print the one line to run. --check: only say whether all are there.
libs='yaml-0.1:libyaml-dev simdjson:libsimdjson-dev libseccomp:libseccomp-dev sqlite3:libsqlite3-dev
zlib:zlib1g-dev libcrypto:libssl-dev libpcre2-8:libpcre2-dev cmocka:libcmocka-dev'
tools='pkg-config:pkg-config g++:g++ prove:perl ld:binutils'
miss=
for t in $tools; do
	command -v "${t%%:*}" >/dev/null || miss="$miss ${t#*:}"
done
# The interpreter of candidates is the system's own, not one from the user's PATH.
[ -x /usr/bin/python3 ] || miss="$miss python3"
for w in $libs; do
	pkg-config --exists "${w%%:*}" 2>/dev/null || miss="$miss ${w#*:}"
done
if [ "$1" = --check ]; then
	[ -z "$miss" ]
	exit
fi
[ -n "$miss" ] || { echo "all libraries found"; exit 0; }
cmd="apt-get install -y --no-install-recommends$miss"
if [ "$(id -u)" = 0 ]; then sudo=; else sudo='sudo -n'; fi
if [ -z "$sudo" ] || sudo -n true 2>/dev/null; then
	$sudo apt-get -q update && exec $sudo env DEBIAN_FRONTEND=noninteractive $cmd
fi
echo "missing:$miss"
echo "run:  sudo $cmd"
exit 1
