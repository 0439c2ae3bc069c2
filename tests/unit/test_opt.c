/* Option values: defaults, numbers, and errors that say what is allowed. */
#include "base/opt.h"

#include <string.h>

#include "test.h"

struct config {
	bool yes;
	int64_t n;
	double x;
	const char *s;
	int c;
};

#define F(f) offsetof(struct config, f)
static const char *const colours[] = { "red", "green", NULL };
static const struct opt opts[] = {
	{ "yes", OPT_BOOL, F(yes), 0, 0, 0, "true", "", "x" },
	{ "n", OPT_INT, F(n), -5, 1e6, 0, "3", "MiB", "x" },
	{ "x", OPT_REAL, F(x), 0, 1, 0, "0.5", "", "x" },
	{ "s", OPT_STR, F(s), 0, 0, 0, "", "", "x" },
	{ "c", OPT_CHOICE, F(c), 0, 0, colours, "green", "", "x" },
	{ 0 },
};

static int fill(struct config *c, struct arena *a, const char *text, struct err *e)
{
	memset(c, 0xff, sizeof *c);
	return opt_fill(opts, c, text, a, e);
}

static void defaults_and_words(void **state)
{
	AUTO_ARENA a = { .limit = 4096 };
	struct config c;
	struct err e;

	(void)state;
	assert_int_equal(fill(&c, &a, NULL, &e), 0);
	assert_true(c.yes && c.n == 3 && c.x == 0.5 && *c.s == 0 && c.c == 1);
	assert_int_equal(fill(&c, &a, " yes=off  n=-5 x=1e-3 s=a=b c=red ", &e), 0);
	assert_true(!c.yes && c.n == -5 && c.x == 1e-3 && c.c == 0);
	assert_string_equal(c.s, "a=b");
	assert_int_equal(opt_fill(NULL, NULL, NULL, &a, &e), 0);
}

static void whole_numbers(void **state)
{
	AUTO_ARENA a = { .limit = 4096 };
	struct config c;
	struct err e;

	(void)state;
	assert_int_equal(fill(&c, &a, "n=1e3", &e), 0);
	assert_int_equal(c.n, 1000);
	assert_int_equal(fill(&c, &a, "n=1.5", &e), ERR_PARSE);
	assert_int_equal(fill(&c, &a, "n=99999999999999999999", &e), ERR_PARSE);
	assert_int_equal(fill(&c, &a, "n=0x10", &e), ERR_PARSE);
	assert_int_equal(fill(&c, &a, "n=", &e), ERR_PARSE);
}

static void errors_say_what_is_allowed(void **state)
{
	static const struct {
		const char *words, *message;
		int code;
	} bad[] = {
		{ "n=-6", "n: -6 is outside -5..1000000 MiB", ERR_RANGE },
		{ "x=nan", "x: 'nan' is not a number", ERR_PARSE },
		{ "x=1.01", "x: 1.01 is outside 0..1", ERR_RANGE },
		{ "yes=maybe", "yes: 'maybe' is not true or false", ERR_PARSE },
		{ "c=blue", "c: 'blue' is none of: red, green", ERR_RANGE },
		{ "z=1", "unknown option 'z'", ERR_NOENT },
		{ "n", "unknown option 'n'", ERR_NOENT },
	};
	AUTO_ARENA a = { .limit = 4096 };
	struct config c;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(fill(&c, &a, bad[i].words, &e), bad[i].code);
		assert_string_equal(e.msg, bad[i].message);
		assert_true(c.n == 3 && c.x == 0.5 && c.c == 1); /* untouched */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_and_words),
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(errors_say_what_is_allowed),
	};

	return RUN(tests);
}
