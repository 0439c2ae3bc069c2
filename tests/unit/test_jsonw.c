/* test_jsonw.c - what is written is strict JSON, whatever the bytes and numbers. */
#include "base/jsonw.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

#include "test.h"

static void commas_come_by_themselves(void **state)
{
	AUTO_BUF b = { .max = 1 << 16 };
	struct jsonw w = { &b };

	(void)state;
	jsonw_open(&w, '{');
	jsonw_key(&w, "a"), jsonw_int(&w, INT64_MIN);
	jsonw_key(&w, "b"), jsonw_open(&w, '[');
	jsonw_close(&w, ']');
	jsonw_key(&w, "c"), jsonw_open(&w, '[');
	jsonw_bool(&w, true), jsonw_null(&w), jsonw_cstr(&w, NULL), jsonw_fixed(&w, 1.005, 1);
	jsonw_open(&w, '{'), jsonw_close(&w, '}');
	jsonw_raw(&w, STR("1e400"));
	jsonw_close(&w, ']');
	jsonw_close(&w, '}');
	assert_string_equal(buf_cstr(&b), "{\"a\":-9223372036854775808,\"b\":[],"
	                                  "\"c\":[true,null,null,1.0,{},1e400]}");
}

static void text(struct str in, const char *want)
{
	AUTO_BUF b = { .max = 1 << 16 };
	struct jsonw w = { &b };

	jsonw_str(&w, in);
	assert_string_equal(buf_cstr(&b), want);
}

static void any_bytes_become_valid_text(void **state)
{
	(void)state;
	text(STR("a\"\\/\n\r\t\b\f"), "\"a\\\"\\\\/\\n\\r\\t\\b\\f\"");
	text(STR("\0\x1f\x7f"), "\"\\u0000\\u001f\\u007f\"");
	text(STR("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
	     "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
	text(STR("\xff"), "\"\xef\xbf\xbd\"");
	text(STR("\xc0\xaf"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");                 /* overlong */
	text(STR("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* surrogate */
	text(STR("\xf4\x90\x80\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	text(STR("\xe2\x82"), "\"\xef\xbf\xbd\xef\xbf\xbd\""); /* cut off */
	text((struct str){ NULL, 0 }, "\"\"");
}

/* Every text, valid or not, comes back from the reader. */
static void reader_takes_every_pair_of_bytes(void **state)
{
	(void)state;
	for (int i = 0; i < 1 << 16; i++) {
		AUTO_ARENA a = { .limit = 1 << 16 };
		AUTO_BUF b = { .max = 1 << 10 };
		struct jsonw w = { &b };
		char in[2] = { (char)(i >> 8), (char)i };
		const struct json *j = NULL;
		struct err e;

		jsonw_str(&w, (struct str){ in, 2 });
		assert_int_equal(json_parse(buf_str(&b), &a, &j, &e), 0);
		if (!(in[0] & 0x80) && !(in[1] & 0x80))
			assert_true(str_eq(json_str(j), (struct str){ in, 2 }));
	}
}

static void real(double v, const char *want)
{
	AUTO_BUF b = { .max = 1 << 10 };
	struct jsonw w = { &b };

	jsonw_real(&w, v);
	assert_string_equal(buf_cstr(&b), want);
}

static void reals_read_back_equal(void **state)
{
	(void)state;
	real(0.1, "0.1");
	real(1.0 / 3, "0.3333333333333333");
	real(-0.0, "-0");
	real(100, "100");
	real(1e300, "1e+300");
	real(5e-324, "4.94066e-324");
	real(0x1p53, "9007199254740992");
	real(NAN, "null");
	real(-INFINITY, "null");
}

static void parsed_values_are_written_as_they_were(void **state)
{
	static const char in[] = "{\"a\":[1.50,-0,9007199254740993,1E+2,\"\\u00e4\\n\"],\"b\":{},"
				 "\"\":null,\"c\":[true,false]}";
	static const char want[] = "{\"a\":[1.50,-0,9007199254740993,1E+2,\"\xc3\xa4\\n\"],"
				   "\"b\":{},\"\":null,\"c\":[true,false]}";
	AUTO_ARENA a = { .limit = 1 << 16 };
	AUTO_BUF b = { .max = 1 << 16 };
	struct jsonw w = { &b };
	const struct json *j = NULL;
	struct err e;

	(void)state;
	assert_int_equal(json_parse((struct str){ in, sizeof in - 1 }, &a, &j, &e), 0);
	jsonw_json(&w, j);
	assert_string_equal(buf_cstr(&b), want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_come_by_themselves),
		cmocka_unit_test(any_bytes_become_valid_text),
		cmocka_unit_test(reader_takes_every_pair_of_bytes),
		cmocka_unit_test(reals_read_back_equal),
		cmocka_unit_test(parsed_values_are_written_as_they_were),
	};

	return RUN(tests);
}
