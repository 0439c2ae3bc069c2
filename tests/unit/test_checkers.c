/* Checkers: the cases of every member of the family, and the values that they compare. */
#include <string.h>

#include "base/buf.h"
#include "judge/checker.h"

#include "test.h"

#include "family.h"

static void members_are_described(void **state)
{
	(void)state;
	for (int i = 0; checker_table[i]; i++) {
		const struct checker *c = checker_table[i];

		assert_true(family_described(c->name, c->doc, c->source));
		assert_true(c->check || c->value);
		assert_true(!c->check == !c->cases && !c->value == !c->value_cases);
		assert_ptr_equal(checker_find((struct str){ c->name, strlen(c->name) }), c);
	}
	assert_null(checker_find(STR("nothing")));
}

static void text_cases(void **state)
{
	(void)state;
	for (int i = 0; checker_table[i]; i++) {
		const struct checker *c = checker_table[i];

		for (const struct check_case *k = c->cases; k && k->in.expected.p; k++) {
			AUTO_ARENA a = { .limit = 1 << 16 };
			void *cfg = family_config_with(c->opts, c->cfg_size, k->opts, &a);
			double score = -1;
			struct err e = { 0 };
			int r = c->check(cfg, &k->in, &score, &e);

			if (score != k->want || (r < 0) != (k->want < 0) ||
			    (r < 0) != (*e.msg != 0))
				fail_msg("%s %s: '%.*s' for '%.*s' scores %g (%s)", c->name,
				         k->opts ? k->opts : "", (int)k->in.got.n, k->in.got.p,
				         (int)k->in.expected.n, k->in.expected.p, score, e.msg);
		}
	}
}

static double score_values(const struct checker *c, const void *cfg, const char *want,
                           const char *got)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	const struct json *w = NULL, *g = NULL;
	struct value vw, vg;
	struct err e;

	assert_int_equal(json_parse((struct str){ want, strlen(want) }, &a, &w, &e), 0);
	assert_int_equal(json_parse((struct str){ got, strlen(got) }, &a, &g, &e), 0);
	assert_int_equal(value_expected(w, &a, &vw, &e), 0);
	assert_int_equal(value_received(g, &a, &vg, &e), 0);
	return c->value(cfg, &vw, &vg);
}

static void value_cases(void **state)
{
	(void)state;
	for (int i = 0; checker_table[i]; i++) {
		const struct checker *c = checker_table[i];
		AUTO_ARENA a = { .limit = 1 << 16 };
		void *cfg = family_config(c->opts, c->cfg_size, &a);

		for (const struct check_value_case *k = c->value_cases; k && k->want; k++)
			if (score_values(c, cfg, k->want, k->got) != k->score)
				fail_msg("%s: %s for %s does not score %g", c->name, k->got,
				         k->want, k->score);
	}
}

/* Every option of a checker of texts is used by one of its cases. */
static void options_are_shown(void **state)
{
	(void)state;
	for (int i = 0; checker_table[i]; i++) {
		const struct checker *c = checker_table[i];

		for (const struct opt *o = c->opts; o && o->key && c->cases; o++) {
			bool found = strcmp(o->key, "deep") == 0; /* for values: see below */

			for (const struct check_case *k = c->cases; k->in.expected.p; k++)
				found |= k->opts && strstr(k->opts, o->key);
			if (!found)
				fail_msg("%s: no case with option %s", c->name, o->key);
		}
	}
}

static void deep_order(void **state)
{
	const struct checker *c = checker_find(STR("unordered"));
	AUTO_ARENA a = { .limit = 1 << 16 };
	void *cfg = family_config_with(c->opts, c->cfg_size, "deep=true", &a);

	(void)state;
	assert_true(score_values(c, cfg, "[[1,2],[3]]", "[[3],[2,1]]") == 1);
	assert_true(score_values(c, cfg, "[[1,2],[3]]", "[[3],[2,2]]") == 0);
}

static double score_text(const char *checker, const char *opts, struct str want, struct str got)
{
	const struct checker *c = checker_find((struct str){ checker, strlen(checker) });
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct check_in in = { STR(""), want, got };
	double score = -1;
	struct err e;

	if (c->check(family_config_with(c->opts, c->cfg_size, opts, &a), &in, &score, &e) < 0)
		fail_msg("%s: %s", checker, e.msg);
	return score;
}

/* Every checker reads to the end of a long text, and no further: one byte at the end decides. */
static void long_texts(void **state)
{
	static const struct {
		const char *checker, *opts, *line, *last, *other;
	} row[] = {
		{ "exact", NULL, "12 ab\n", "1", "2" },
		{ "lines", NULL, "12 ab\n", "1", "2" },
		{ "lines", "case=fold", "12 ab\n", "a", "b" },
		{ "tokens", NULL, "12 ab\n", "1", "2" },
		{ "float", NULL, "1.5 ab\n", "1", "2" },
		{ "unordered", NULL, "12 ab\n", "1", "2" },
		{ "unordered", "layout=tokens case=fold", "12 ab\n", "1", "2" },
		{ "yes_no", NULL, "YES 12\n", "no", "on" },
		{ "json", NULL, "[1,{\"a\":2}]\n", "1", "2" },
	};
	enum { N = 1 << 16 };

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		AUTO_BUF want = { .max = 1 << 22 }, got = { .max = 1 << 22 };
		size_t at;

		for (int k = 0; k < N / 8; k++)
			buf_puts(&want, row[i].line);
		at = want.n;
		buf_puts(&want, row[i].last);
		buf_puts(&got, " ");
		buf_putstr(&got, buf_str(&want));
		if (strcmp(row[i].checker, "exact") != 0)
			assert_true(score_text(row[i].checker, row[i].opts, buf_str(&want),
			                       buf_str(&got)) == 1);
		memcpy(got.p + 1 + at, row[i].other, strlen(row[i].other));
		assert_true(score_text(row[i].checker, row[i].opts, buf_str(&want),
		                       buf_str(&got)) == 0);
	}
}

/* What takes more memory or steps than the first algorithm may have is still decided. */
static void long_matches(void **state)
{
	enum { N = 1 << 20 };
	AUTO_BUF b = { .max = 2 * N };

	(void)state;
	for (int i = 0; i < N / 4; i++)
		buf_puts(&b, "12 \n");
	assert_true(score_text("regex", NULL, STR("(?:\\d+ ?\n)*"), buf_str(&b)) == 1);
	assert_true(score_text("regex", NULL, STR("[\\d\\s]+"), buf_str(&b)) == 1);
	b.p[N / 2] = 'x';
	assert_true(score_text("regex", NULL, STR("(?:\\d+ ?\n)*"), buf_str(&b)) == 0);
}

/* A program gains nothing by depth, and the reference must keep to it. */
static void deep_json(void **state)
{
	enum { N = 100000 };
	const struct checker *c = checker_find(STR("json"));
	AUTO_BUF b = { .max = 2 * N };
	struct check_in in = { STR(""), STR("[]"), STR("") };
	double score = -1;
	struct err e;

	(void)state;
	for (int i = 0; i < N; i++)
		buf_putc(&b, '[');
	in.got = buf_str(&b);
	assert_int_equal(c->check(NULL, &in, &score, &e), 0);
	assert_true(score == 0);
	in.expected = in.got;
	assert_int_equal(c->check(NULL, &in, &score, &e), ERR_PARSE);
}

/* Ten thousand digits stay exact. */
static void large_values(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 22 };
	char *big = arena_new(&a, char, 10002), *other;

	(void)state;
	memset(big, '7', 10000);
	other = arena_strdup(&a, big);
	assert_non_null(other);
	assert_true(score_values(checker_find(STR("value")), NULL, big, other) == 1);
	other[9999] = '8';
	assert_true(score_values(checker_find(STR("value")), NULL, big, other) == 0);
	assert_true(score_values(checker_find(STR("value")), NULL, big, "1e300") == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_described),
		cmocka_unit_test(text_cases),
		cmocka_unit_test(value_cases),
		cmocka_unit_test(options_are_shown),
		cmocka_unit_test(deep_order),
		cmocka_unit_test(long_texts),
		cmocka_unit_test(long_matches),
		cmocka_unit_test(deep_json),
		cmocka_unit_test(large_values),
	};

	return RUN(tests);
}
