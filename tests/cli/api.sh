#!/bin/sh
# The public surface: only cupel_ symbols leave the libraries, the header is plain C that a C++
# compiler takes, and a program that uses it runs.
[ "$B" = release ] || { echo "1..0 # SKIP the libraries that users get are the release build"; exit 0; }
n=0
ok() {
	n=$((n + 1))
	if eval "$2"; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}
dir=$(mktemp -d)
so=$(echo "$BUILD"/libcupel.so.*.*.*)
cat >"$dir/use.c" <<'E'
#include <cupel/cupel.h>
#include <stdio.h>
int main(void) { return printf("%s %s\n", cupel_version(), cupel_reward_name(0)) < 0; }
E
cp "$dir/use.c" "$dir/use.cc"
ln -s "$(realpath "$so")" "$dir/libcupel.so"
ln -s "$(realpath "$so")" "$dir/$(objdump -p "$so" | sed -n 's/ *SONAME *//p')"
ok "shared library exports cupel_ only" '[ -z "$(nm -D --defined-only "$so" | grep -v " cupel_")" ]'
ok "static library exports cupel_ only" \
	'[ -z "$(nm -g --defined-only "$BUILD/libcupel.a" | grep " [TDBR] " | grep -v " cupel_")" ]'
ok "a C program builds against it and runs" \
	'${CC:-cc} -std=c99 -pedantic -Wall -Werror -Iinclude "$dir/use.c" -L"$dir" -lcupel -o "$dir/use" &&
	LD_LIBRARY_PATH=$dir "$dir/use" | grep -q "^[0-9.]* [a-z_]*$"'
ok "a C++ program too" \
	'${CXX:-c++} -std=c++11 -pedantic -Wall -Werror -Iinclude "$dir/use.cc" -L"$dir" -lcupel -o "$dir/usepp" &&
	LD_LIBRARY_PATH=$dir "$dir/usepp" | grep -q "^[0-9.]* [a-z_]*$"'
rm -r "$dir"
echo "1..$n"
