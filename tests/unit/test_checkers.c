/* Checkers: the cases of every member of the family, and the values that they compare. */
#include <string.h>

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
		AUTO_ARENA a = { .limit = 1 << 16 };
		void *cfg = family_config(c->opts, c->cfg_size, &a);

		for (const struct check_case *k = c->cases; k && k->in.expected.p; k++) {
			double score = -1;
			struct err e;

			assert_int_equal(c->check(cfg, &k->in, &score, &e), 0);
			if (score != k->want)
				fail_msg("%s: '%.*s' for '%.*s' scores %g", c->name,
				         (int)k->in.got.n, k->in.got.p, (int)k->in.expected.n,
				         k->in.expected.p, score);
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

/* Every option at another value than its default does something. */
static void options(void **state)
{
	static const struct {
		const char *checker, *key, *val;
		struct check_in in;
	} row[] = {
		{ "tokens", "case", "fold", { STR(""), STR("Yes"), STR("YES") } },
		{ "float", "abs", "0.5", { STR(""), STR("0.5"), STR("0.75") } },
		{ "float", "rel", "0.5", { STR(""), STR("100.0"), STR("120") } },
		{ "float", "layout", "tokens", { STR(""), STR("1 2.0"), STR("1\n2") } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		const struct checker *c =
			checker_find((struct str){ row[i].checker, strlen(row[i].checker) });
		AUTO_ARENA a = { .limit = 1 << 16 };
		void *cfg = family_config(c->opts, c->cfg_size, &a);
		double before = -1, after = -1;
		struct err e;

		assert_int_equal(c->check(cfg, &row[i].in, &before, &e), 0);
		assert_int_equal(
			opt_set(opt_find(c->opts, row[i].key), cfg, row[i].key, row[i].val, &a, &e),
			0);
		assert_int_equal(c->check(cfg, &row[i].in, &after, &e), 0);
		assert_true(before == 0 && after == 1);
	}
}

static void deep_order(void **state)
{
	const struct checker *c = checker_find(STR("unordered"));
	bool deep = true;

	(void)state;
	assert_true(c->cfg_size == sizeof deep);
	assert_true(score_values(c, &deep, "[[1,2],[3]]", "[[3],[2,1]]") == 1);
	assert_true(score_values(c, &deep, "[[1,2],[3]]", "[[3],[2,2]]") == 0);
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
		cmocka_unit_test(options),
		cmocka_unit_test(deep_order),
		cmocka_unit_test(large_values),
	};

	return RUN(tests);
}
