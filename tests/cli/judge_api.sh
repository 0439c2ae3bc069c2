#!/bin/sh
# examples/judge.c: a C program (and a C++ compiler) uses the judge through the public library.
[ "$B" = release ] || { echo "1..0 # SKIP the libraries that users get are the release build"; exit 0; }
n=0
ok() {
	n=$((n + 1))
	if eval "$2"; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}
dir=$(mktemp -d)
so=$(echo "$BUILD"/libcupel.so.*.*.*)
ln -s "$(realpath "$so")" "$dir/libcupel.so"
ln -s "$(realpath "$so")" "$dir/$(objdump -p "$so" | sed -n 's/ *SONAME *//p')"
export LD_LIBRARY_PATH="$dir" CUPEL_BOXD="$(realpath "$BUILD/cupel-boxd")"
ok "the example builds as C99" \
	'${CC:-cc} -std=c99 -pedantic -Wall -Werror -Iinclude examples/judge.c -L"$dir" -lcupel -o "$dir/judge"'
ok "and runs" '"$dir/judge" >"$dir/out" 2>"$dir/err"'
ok "the right program is accepted" 'sed -n 1p "$dir/out" | grep -q "\"verdict\":\"accepted\",\"passed\":2"'
ok "the wrong one is not" 'sed -n 2p "$dir/out" | grep -q "\"verdict\":\"wrong_answer\",\"passed\":1"'
cat >"$dir/bad.cc" <<'E2'
#include <cupel/judge.h>
#include <cstdio>
#include <cstring>
int main()
{
	char why[256] = "";
	if (cupel_judge_open("moon", nullptr, why, sizeof why) || !strstr(why, "moon"))
		return 1;
	if (cupel_judge_open("auto", "jbs=1", why, sizeof why) || !strstr(why, "jbs"))
		return 2;
	cupel_judge *j = cupel_judge_open("auto", nullptr, why, sizeof why);
	if (!j)
		return 3;
	if (cupel_judge_run(j, "{\"id\":1", "", why, sizeof why) || !strstr(why, "not JSON"))
		return 4;
	if (cupel_judge_run(j, "{\"id\":\"a\",\"kind\":\"stdin\",\"tests\":[]}", "", nullptr, 0))
		return 5;
	cupel_judge_close(j);
	cupel_judge_close(nullptr);
	return 0;
}
E2
ok "a C++ program is told what is wrong" \
	'${CXX:-c++} -std=c++11 -pedantic -Wall -Werror -Iinclude "$dir/bad.cc" -L"$dir" -lcupel -o "$dir/bad" && "$dir/bad"'
rm -r "$dir"
echo "1..$n"
