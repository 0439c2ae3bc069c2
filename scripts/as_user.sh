#!/bin/sh
# as_user.sh COMMAND... - run a command as an ordinary user in a private copy of the tree with the
# same build (root only; as an ordinary user already it just runs it).
[ "$(id -u)" = 0 ] || exec "$@"
top=$(cd "$(dirname "$0")/.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT INT TERM
chmod 755 "$copy"
mkdir "$copy/cupel"
# Tracked and new files, and the build so that nothing is compiled twice.
(cd "$top" && git ls-files -z --cached --others --exclude-standard | tar -c --null -T - -f -) | tar -x -C "$copy/cupel" -f -
mkdir -p "$copy/cupel/build"
[ -d "$top/build/release" ] && cp -a "$top/build/release" "$copy/cupel/build/release"
[ -d "$top/../shared" ] && ln -s "$(cd "$top/../shared" && pwd)" "$copy/shared"
chown -R 65534:65534 "$copy"
cd "$copy/cupel" || exit 1
setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$copy" USER=nobody "$@"
