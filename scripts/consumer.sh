#!/bin/sh
# consumer.sh - install into a scratch folder, then build and run programs in C and C++ against the
# installed library, static and shared, through its pkg-config file.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make --no-print-directory install DESTDIR="$dir" PREFIX=/opt/cupel >/dev/null
cat >"$dir/use.c" <<'C'
#include <cupel/cupel.h>
#include <stdio.h>
int main(void)
{
	printf("%s %s\n", cupel_version(), cupel_reward_name(0));
	return cupel_reward_name(0) == 0;
}
C
cp "$dir/use.c" "$dir/use.cc"
export PKG_CONFIG_PATH="$dir/opt/cupel/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR=
flags="-I$dir/opt/cupel/include"
gcc -Wall -Werror $flags "$dir/use.c" -o "$dir/shared_c" -L"$dir/opt/cupel/lib" -lcupel
g++ -Wall -Werror $flags "$dir/use.cc" -o "$dir/shared_cc" -L"$dir/opt/cupel/lib" -lcupel
gcc -Wall -Werror $flags "$dir/use.c" -o "$dir/static_c" "$dir/opt/cupel/lib/libcupel.a" \
	$(pkg-config --libs yaml-0.1 simdjson libseccomp sqlite3 zlib libcrypto libpcre2-8) -lstdc++ -lm -pthread
for p in shared_c shared_cc static_c; do
	LD_LIBRARY_PATH="$dir/opt/cupel/lib" "$dir/$p"
done
pkg-config --exists --print-errors cupel
"$dir/opt/cupel/bin/cupel" version >/dev/null
