/* dec: decimals as they are written, compared exactly and as doubles. */
#include "base/dec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static struct dec parse(const char *s)
{
	struct dec d;

	if (!dec_parse((struct str){ s, strlen(s) }, &d))
		fail_msg("'%s' is a decimal", s);
	return d;
}

static void what_is_a_decimal(void **state)
{
	static const struct str good[] = { STR("0"),    STR("-0"),
		                           STR("+1"),   STR(".5"),
		                           STR("5."),   STR("1e5"),
		                           STR("1E+5"), STR("1.5e-007"),
		                           STR("0001"), STR("1e000000000000000000000001") };
	static const struct str bad[] = { STR(""),
		                          STR("+"),
		                          STR("."),
		                          STR("e5"),
		                          STR(".e5"),
		                          STR("1e"),
		                          STR("1e+"),
		                          STR("1e1.5"),
		                          STR("1.2.3"),
		                          STR("1_0"),
		                          STR("0x10"),
		                          STR("nan"),
		                          STR("inf"),
		                          STR("1 "),
		                          STR(" 1"),
		                          STR("--1"),
		                          STR("1\0"),
		                          STR("1e5x"),
		                          STR("1-1"),
		                          STR("1,5"),
		                          STR("1e1e1"),
		                          STR("1d5"),
		                          STR("1f"),
		                          STR("\xef\xbc\x91"),
		                          STR("1e1234567890123456789") };
	struct dec d;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (!dec_parse(good[i], &d))
			fail_msg("'%s'", good[i].p);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (dec_parse(bad[i], &d))
			fail_msg("'%s'", bad[i].p);
}

static void equal_values(void **state)
{
	static const char *const same[][2] = {
		{ "0", "-0.000e17" },
		{ "20", "2e1" },
		{ "20", "20.000" },
		{ "0.001", "1e-3" },
		{ "0.001", "000.1e-2" },
		{ "-5.50", "-55e-1" },
		{ "1e999999999999999999", "10e999999999999999998" },
		{ "100.100", "1.001e2" },
		{ "123456789012345678901234567890", "1.2345678901234567890123456789e29" },
	};
	static const char *const other[][2] = {
		{ "0", "1e-300" },
		{ "1", "-1" },
		{ "1", "10" },
		{ "12", "1.2" },
		{ "1.01", "1.001" },
		{ "9007199254740993", "9007199254740992" },
		{ "1", "1.0000000000000000000000000000001" },
		{ "1e400", "1e401" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		struct dec a = parse(same[i][0]), b = parse(same[i][1]);

		if (!dec_same(&a, &b) || !dec_same(&b, &a))
			fail_msg("%s is %s", same[i][0], same[i][1]);
	}
	for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
		struct dec a = parse(other[i][0]), b = parse(other[i][1]);

		if (dec_same(&a, &b) || dec_same(&b, &a))
			fail_msg("%s is not %s", other[i][0], other[i][1]);
	}
}

/* The C library reads the same doubles, where it is asked for nothing unusual. */
static void as_doubles(void **state)
{
	static const char *const text[] = {
		"0",     "0.1",   "-1.5",   "1e22",   "123456.789e-3",       "5e-324", "2.5e-324",
		"1e308", "1e309", "-1e309", "1e-400", "0.30000000000000004", ".5",     "17."
	};

	(void)state;
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		struct dec d = parse(text[i]);

		if (dec_to_real(&d) != strtod(text[i], NULL))
			fail_msg("%s is not %g", text[i], dec_to_real(&d));
	}
}

/* Half way between two doubles: the last of 100,000 digits decides. */
static void long_numbers(void **state)
{
	enum { N = 100000 };
	char *s = malloc(N + 8);
	struct dec d;

	(void)state;
	assert_non_null(s);
	memset(s, '0', N);
	memcpy(s, "9007199254740993.", 17);
	assert_true(dec_parse((struct str){ s, N }, &d));
	assert_true(dec_to_real(&d) == 9007199254740992.0);
	s[N - 1] = '1';
	assert_true(dec_parse((struct str){ s, N }, &d));
	assert_true(dec_to_real(&d) == 9007199254740994.0);
	memset(s, '7', N);
	assert_true(dec_parse((struct str){ s, N }, &d));
	assert_true(isinf(dec_to_real(&d)));
	memcpy(s + N, "e-99999", 8);
	assert_true(dec_parse((struct str){ s, N + 7 }, &d));
	assert_true(dec_to_real(&d) == 7.7777777777777777777777);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_a_decimal),
		cmocka_unit_test(equal_values),
		cmocka_unit_test(as_doubles),
		cmocka_unit_test(long_numbers),
	};

	return RUN(tests);
}
