/* test_json.c - the reader: numbers keep their text, nothing but JSON passes, limits hold. */
#include "base/json.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

static int parse(const char *text, size_t n, struct arena *a, const struct json **ret,
                 struct err *e)
{
	*ret = NULL;
	return json_parse((struct str){ text, n }, a, ret, e);
}

#define PARSE(text) parse(text, strlen(text), &a, &j, &e)

static void values(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 16 };
	const struct json *j, *o;
	struct err e;

	(void)state;
	assert_int_equal(PARSE(" {\"a\": [1, \"x\\u0000y\", true, null, {}], \"b\": -1.50e+3} \n"),
	                 0);
	assert_true(json_is(j, JSON_OBJ) && j->n == 2);
	o = json_get(j, "a");
	assert_int_equal(json_len(o), 5);
	assert_true(str_eq(json_str(json_at(o, 1)), STR("x\0y")));
	assert_true(json_is(json_at(o, 2), JSON_BOOL) && json_at(o, 2)->yes);
	assert_true(json_is(json_at(o, 3), JSON_NULL) && json_is(json_at(o, 4), JSON_OBJ));
	assert_true(str_is(json_get(j, "b")->text, "-1.50e+3"));
	assert_null(json_at(o, 5));
	assert_null(json_at(o, -1));
	assert_null(json_get(json_get(json_get(j, "no"), "no"), "no"));
	assert_int_equal(json_len(json_get(j, "b")), 0);
}

static void numbers_keep_their_text(void **state)
{
	static const char *const number[] = { "0",
		                              "-0",
		                              "9007199254740993",
		                              "1e400",
		                              "-1.0E-2",
		                              "123456789012345678901234567890",
		                              "0.10000000000000000000000000000000000001" };

	(void)state;
	for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
		AUTO_ARENA a = { .limit = 1 << 16 };
		char list[100], object[100];
		const struct json *j;
		struct err e;

		(void)snprintf(list, sizeof list, "[%s , %s]", number[i], number[i]);
		(void)snprintf(object, sizeof object, "{\"k\":%s }", number[i]);
		assert_int_equal(PARSE(number[i]), 0);
		assert_true(str_is(j->text, number[i]));
		assert_int_equal(PARSE(list), 0);
		assert_true(str_is(json_at(j, 0)->text, number[i]));
		assert_true(str_is(json_at(j, 1)->text, number[i]));
		assert_int_equal(PARSE(object), 0);
		assert_true(str_is(json_get(j, "k")->text, number[i]));
	}
}

static void last_of_two_keys_counts(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 16 };
	const struct json *j;
	struct err e;

	(void)state;
	assert_int_equal(PARSE("{\"a\": 1, \"b\": 2, \"a\": 3, \"\": 4}"), 0);
	assert_true(str_is(json_get(j, "a")->text, "3"));
	assert_true(str_is(json_get(j, "")->text, "4"));
}

static void only_json_passes(void **state)
{
	static const char *const bad[] = {
		"",
		" ",
		"[",
		"]",
		"{",
		"}",
		"[1",
		"[1,",
		"[1,]",
		"[,1]",
		"[1 2]",
		"[1,,2]",
		"[1]]",
		"{\"a\"}",
		"{\"a\":}",
		"{\"a\":1,}",
		"{\"a\":1 \"b\":2}",
		"{\"a\" 1}",
		"{a:1}",
		"{'a':1}",
		"{1:2}",
		"{,}",
		"{\"a\":1}}",
		"{\"a\":1",
		"[\"a\"",
		"[1}",
		"{\"a\":1]",
		"1 2",
		"1,",
		"\"a\" \"b\"",
		"\"a\"x",
		"\"a",
		"'a'",
		"true false",
		"truex",
		"tru",
		"nul",
		"nulll",
		"[nulll]",
		"[truee]",
		"[tru]",
		"[falsey]",
		"True",
		"NaN",
		"[NaN]",
		"Infinity",
		"[-Infinity]",
		"01",
		"[01]",
		"[-01]",
		"1.",
		"[1.]",
		".5",
		"[.5]",
		"1e",
		"[1e]",
		"[1e+]",
		"+1",
		"[+1]",
		"-",
		"[-]",
		"0x10",
		"[0x10]",
		"1_0",
		"[1_0]",
		"[1a]",
		"[--1]",
		"[1.2.3]",
		"[\"\\x41\"]",
		"[\"\\u12\"]",
		"[\"\\ud800\"]",
		"[\"\\udc00x\"]",
		"[\"\n\"]",
		"[\"\t\"]",
		"[\"\x01\"]",
		"[\"\xff\"]",
		"[\"\xc0\x80\"]",
		"[\"\xed\xa0\x80\"]",
		"// x\n1",
		"[1] // x",
		"/* x */ 1",
		"[1]\n[2]",
		"\xef\xbb\xbf",
		"{\"a\":1,\"b\"}",
		"{\"\\u12\":1}",
		"[{]}",
		"[\"a\":1]",
		"nan",
		"undefined",
		"[1]x",
		"{}x",
		"{} {}",
		"[][]",
		"[1]\v",
		"\v1",
		"[1\f]",
		"[\"a\"\"b\"]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		AUTO_ARENA a = { .limit = 1 << 16 };
		const struct json *j;
		struct err e = { 0 };
		int r = PARSE(bad[i]);

		if (r != ERR_PARSE)
			print_error("taken as JSON: %s\n", bad[i]);
		assert_int_equal(r, ERR_PARSE);
		assert_int_equal(strncmp(e.msg, "not JSON: ", 10), 0);
		assert_null(j);
	}
}

static void nul_bytes_are_no_blanks(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 16 };
	const struct json *j;
	struct err e;

	(void)state;
	assert_int_equal(parse("1\0", 2, &a, &j, &e), ERR_PARSE);
	assert_int_equal(parse("[1]\0", 4, &a, &j, &e), ERR_PARSE);
	assert_int_equal(parse("\"a\0b\"", 5, &a, &j, &e), ERR_PARSE);
	assert_int_equal(parse("[1]x", 3, &a, &j, &e), 0); /* what is behind n is not read */
}

static void nested(int depth, int want)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	char text[4 * JSON_DEPTH + 1];
	const struct json *j;
	struct err e;

	memset(text, '[', (size_t)depth);
	memset(text + depth, ']', (size_t)depth);
	text[2 * depth] = 0;
	assert_int_equal(PARSE(text), want);
}

static void depth_is_limited(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 24 };
	static char deep[1 << 20];
	const struct json *j;
	struct err e;

	(void)state;
	nested(JSON_DEPTH, 0);
	nested(JSON_DEPTH + 1, ERR_PARSE);
	memset(deep, '[', sizeof deep - 1);
	assert_int_equal(PARSE(deep), ERR_PARSE);
}

static void size_is_limited_by_the_arena(void **state)
{
	AUTO_ARENA a = { .limit = 2000 };
	const struct json *j;
	struct err e;
	char text[1001];

	(void)state;
	assert_int_equal(PARSE("[1,2,3,4]"), 0);
	memset(text, '[', sizeof text);
	for (int i = 1; i < 1000; i++)
		text[i] = i % 2 ? '1' : ',';
	text[1000] = 0;
	text[999] = ']';
	assert_int_equal(PARSE(text), ERR_LIMIT);
}

static void required_fields(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 16 };
	const struct json *j, *x = NULL;
	struct str s = STR("old");
	struct err e;

	(void)state;
	assert_int_equal(PARSE("{\"id\": \"t\", \"n\": 3}"), 0);
	assert_int_equal(json_need_str(j, "n", &s, &e), ERR_PARSE);
	assert_string_equal(e.msg, "field 'n' is a number, not a text");
	assert_true(str_is(s, "old"));
	assert_int_equal(json_need_str(j, "x", &s, &e), ERR_PARSE);
	assert_string_equal(e.msg, "field 'x' is missing");
	assert_int_equal(json_need_str(j, "id", &s, &e), 0);
	assert_true(str_is(s, "t"));
	assert_int_equal(json_need(j, "id", JSON_ARR, &x, &e), ERR_PARSE);
	assert_int_equal(json_need(j, "n", JSON_NUM, &x, &e), 0);
	assert_int_equal(json_need_str(NULL, "id", &s, &e), ERR_PARSE);
}

static void optional_fields(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 16 };
	const struct json *j;
	int64_t n = 7;
	double x = 7;
	bool yes = false;
	struct str s = STR("old");
	struct err e;

	(void)state;
	assert_int_equal(PARSE("{\"i\": 12, \"r\": 1.5, \"b\": true, \"s\": \"t\", \"null\": null,"
	                       "\"big\": 99999999999999999999, \"huge\": 1e999}"),
	                 0);
	assert_int_equal(json_opt_int(j, "no", 0, 100, &n, &e), 0);
	assert_int_equal(json_opt_int(j, "null", 0, 100, &n, &e), 0);
	assert_int_equal(n, 7);
	assert_int_equal(json_opt_int(j, "i", 0, 100, &n, &e), 0);
	assert_int_equal(n, 12);
	assert_int_equal(json_opt_int(j, "i", 0, 11, &n, &e), ERR_RANGE);
	assert_int_equal(json_opt_int(j, "r", 0, 100, &n, &e), ERR_RANGE);
	assert_int_equal(json_opt_int(j, "big", 0, INT64_MAX, &n, &e), ERR_RANGE);
	assert_int_equal(json_opt_int(j, "s", 0, 100, &n, &e), ERR_PARSE);
	assert_int_equal(n, 12);
	assert_int_equal(json_opt_real(j, "r", 0, 2, &x, &e), 0);
	assert_int_equal(json_opt_real(j, "huge", 0, 1e308, &x, &e), ERR_RANGE);
	assert_true(x == 1.5);
	assert_int_equal(json_opt_bool(j, "b", &yes, &e), 0);
	assert_int_equal(json_opt_bool(j, "i", &yes, &e), ERR_PARSE);
	assert_true(yes);
	assert_int_equal(json_opt_str(j, "s", &s, &e), 0);
	assert_int_equal(json_opt_str(j, "i", &s, &e), ERR_PARSE);
	assert_true(str_is(s, "t"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(numbers_keep_their_text),
		cmocka_unit_test(last_of_two_keys_counts),
		cmocka_unit_test(only_json_passes),
		cmocka_unit_test(nul_bytes_are_no_blanks),
		cmocka_unit_test(depth_is_limited),
		cmocka_unit_test(size_is_limited_by_the_arena),
		cmocka_unit_test(required_fields),
		cmocka_unit_test(optional_fields),
	};

	return RUN(tests);
}
