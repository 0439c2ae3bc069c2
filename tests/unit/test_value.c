/* value: equality of Python's types, of both sides as a box sends them. */
#include "judge/value.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

static struct value *parse(const char *text, struct arena *a)
{
	struct value *v = arena_new(a, struct value, 1);
	const struct json *j = NULL;
	struct err e = { 0 };

	if (json_parse((struct str){ text, strlen(text) }, a, &j, &e) < 0 ||
	    value_received(j, a, v, &e) < 0)
		fail_msg("%s: %s", text, e.msg);
	return v;
}

static bool same(const char *want, const char *got, double tolerance)
{
	AUTO_ARENA a = { .limit = 1 << 24 };

	return value_same_python(parse(want, &a), parse(got, &a), tolerance, tolerance);
}

static void equal_as_python_says(void **state)
{
	static const struct {
		const char *want, *got;
		bool same;
	} row[] = {
		{ "{\"t\":[1,{\"t\":[]}]}", "{\"t\":[1,{\"t\":[]}]}", true },
		{ "{\"t\":[1]}", "[1]", false },
		{ "{\"t\":[]}", "{\"s\":[]}", false },
		{ "{\"s\":[1,\"a\",{\"t\":[2]}]}", "{\"s\":[{\"t\":[2]},1,\"a\"]}", true },
		{ "{\"s\":[1,2]}", "{\"z\":[2,1.0]}", true },
		{ "{\"s\":[true]}", "{\"s\":[1]}", true },
		{ "{\"s\":[1]}", "{\"s\":[1,2]}", false },
		{ "{\"s\":[{\"z\":[1,2]}]}", "{\"s\":[{\"z\":[2,1]}]}", true },
		{ "{\"d\":[{\"t\":[1,2]},3,\"k\",4]}", "{\"d\":[\"k\",4,{\"t\":[1,2]},3]}", true },
		{ "{\"d\":[1,2]}", "{\"d\":[\"1\",2]}", false },
		{ "{\"d\":[1,2]}", "{\"d\":[true,2]}", true },
		{ "{\"d\":[1,2]}", "{\"d\":[1,2,1,2]}", false },
		{ "{\"b\":\"00ff\"}", "{\"y\":\"00ff\"}", true },
		{ "{\"b\":\"00\"}", "{\"b\":\"01\"}", false },
		{ "{\"b\":\"\"}", "\"\"", false },
		{ "{\"S\":\"eda080\"}", "{\"S\":\"eda080\"}", true },
		{ "{\"f\":\"inf\"}", "{\"f\":\"inf\"}", true },
		{ "{\"f\":\"inf\"}", "{\"f\":\"-inf\"}", false },
		{ "{\"f\":\"inf\"}", "{\"D\":[\"Infinity\"]}", true },
		{ "{\"f\":\"nan\"}", "{\"f\":\"nan\"}", false },
		{ "[{\"f\":\"nan\"}]", "[{\"f\":\"nan\"}]", false },
		{ "{\"c\":[1.0,2.0]}", "{\"c\":[1.0,2.0]}", true },
		{ "{\"c\":[1.0,2.0]}", "{\"c\":[1.0,3.0]}", false },
		{ "{\"c\":[1.0,0.0]}", "{\"q\":[\"1\",\"1\",1.0]}", true },
		{ "{\"q\":[\"1\",\"3\",null]}", "{\"q\":[\"1\",\"3\",null]}", true },
		{ "{\"q\":[\"1\",\"3\",null]}", "0.3333333333333333", false },
		{ "{\"q\":[\"1\",\"3\",null]}", "{\"D\":[\"0.3\",\"3\",\"10\",null]}", false },
		{ "{\"D\":[\"1.0\",\"1\",\"1\",1.0]}", "{\"D\":[\"1.00\",\"1\",\"1\",1.0]}", true },
		{ "{\"D\":[\"1E+99999\"]}", "{\"D\":[\"1E+99999\"]}", true },
		{ "{\"D\":[\"NaN\"]}", "{\"D\":[\"NaN\"]}", false },
		{ "{\"T\":[\"date\",\"2020-01-02\",null]}",
		  "{\"T\":[\"date\",\"2020-01-02\",null]}", true },
		{ "{\"T\":[\"date\",\"2020-01-02\",null]}",
		  "{\"T\":[\"datetime\",\"2020-01-02\",null]}", false },
		{ "{\"T\":[\"datetime\",\"2020-01-02T03:00:00+01:00\",\"2020-01-02T02:00:00\"]}",
		  "{\"T\":[\"datetime\",\"2020-01-02T02:00:00+00:00\",\"2020-01-02T02:00:00\"]}",
		  true },
		{ "{\"T\":[\"timedelta\",1,0,0]}", "{\"T\":[\"timedelta\",1,0,0]}", true },
		{ "{\"T\":[\"timedelta\",1,0,0]}", "{\"T\":[\"timedelta\",1,0,1]}", false },
		{ "{\"r\":[0,3,2]}", "{\"r\":[0,4,2]}", true },
		{ "{\"r\":[0,0,1]}", "{\"r\":[5,5,3]}", true },
		{ "{\"r\":[0,3,1]}", "{\"r\":[0,4,1]}", false },
		{ "{\"r\":[0,2,1]}", "[0,1]", false },
		{ "{\"I\":\"-ff\"}", "{\"I\":\"-ff\"}", true },
		{ "{\"I\":\"ff\"}", "{\"I\":\"fe\"}", false },
		{ "{\"I\":\"ff\"}", "{\"I\":\"-ff\"}", false },
		{ "{\"u\":\"E\"}", "{\"u\":\"E\"}", false },
		{ "[{\"L\":0}]", "[{\"L\":0}]", false },
		{ "{\"x\":1,\"y\":2}", "{\"x\":1,\"y\":2}", false },
		{ "null", "{\"t\":[]}", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		if (same(row[i].want, row[i].got, 0) != row[i].same ||
		    same(row[i].got, row[i].want, 0) != row[i].same)
			fail_msg("%s and %s", row[i].want, row[i].got);
		if (row[i].same && !same(row[i].want, row[i].got, 1e-9))
			fail_msg("%s and %s, with a tolerance", row[i].want, row[i].got);
	}
}

static void tolerance(void **state)
{
	(void)state;
	assert_true(same("[{\"t\":[0.3]}]", "[{\"t\":[0.30000000001]}]", 1e-9));
	assert_false(same("[{\"t\":[0.3]}]", "[{\"t\":[0.3001]}]", 1e-9));
	assert_false(same("[0.3]", "[{\"t\":[0.3]}]", 1e-9));
	assert_true(same("{\"d\":[\"a\",1.0]}", "{\"d\":[\"a\",1]}", 1e-9));
	assert_true(same("{\"s\":[1.0,2.0]}", "{\"s\":[2.0000000001,1.0]}", 1e-9));
	assert_false(same("3", "3.0000000001", 1e-9)); /* the reference is no float */
	assert_true(same("2.0", "true", 1));           /* True is the number 1 */
	assert_false(same("1.0", "{\"f\":\"inf\"}", 1));
}

/* 7^20000 has 16902 digits: hexadecimal from the box, decimal from a task. */
static void long_integers(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 24 };
	enum { DIGITS = 16902, HEX = 14038 };
	static uint8_t d[DIGITS + 1], h[HEX + 1];
	static char decimal[DIGITS + 1], hex[HEX + 16];
	struct value x, y = { .type = VALUE_INT };
	struct str text;
	int n = 1, m = 1;

	(void)state;
	d[0] = h[0] = 1;
	for (int k = 0; k < 20000; k++) {
		int carry = 0;

		for (int i = 0; i < n || carry; i++) {
			carry += d[i] * 7;
			d[i] = (uint8_t)(carry % 10);
			carry /= 10;
			n = i >= n ? i + 1 : n;
		}
		for (int i = 0; i < m || carry; i++) {
			carry += h[i] * 7;
			h[i] = (uint8_t)(carry % 16);
			carry /= 16;
			m = i >= m ? i + 1 : m;
		}
	}
	assert_true(n == DIGITS && m <= HEX);
	for (int i = 0; i < n; i++)
		decimal[i] = (char)('0' + d[n - 1 - i]);
	memcpy(hex, "{\"I\":\"", 6);
	for (int i = 0; i < m; i++)
		hex[6 + i] = "0123456789abcdef"[h[m - 1 - i]];
	memcpy(hex + 6 + m, "\"}", 3);
	x = *parse(hex, &a);
	text = (struct str){ decimal, (size_t)n };
	y.text = text;
	y.x = x.x;
	assert_int_equal(value_compare_numbers(&x, &y), 0);
	decimal[n - 1] = (char)(decimal[n - 1] == '9' ? '8' : decimal[n - 1] + 1);
	assert_int_not_equal(value_compare_numbers(&x, &y), 0);
	y.text.n--;
	assert_true(value_compare_numbers(&x, &y) > 0);
	assert_true(value_compare_numbers(&y, &x) < 0);
}

static void sets(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };

	(void)state;
	assert_true(value_same_as_sets(parse("[1,2,2,3]", &a), parse("{\"t\":[3,2,1,1]}", &a)));
	assert_false(value_same_as_sets(parse("[1,2]", &a), parse("[1,2,3]", &a)));
	assert_false(value_same_as_sets(parse("[1]", &a), parse("1", &a)));
	assert_true(value_same_as_sets(parse("1", &a), parse("1.0", &a)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_as_python_says),
		cmocka_unit_test(tolerance),
		cmocka_unit_test(long_integers),
		cmocka_unit_test(sets),
	};

	return RUN(tests);
}
