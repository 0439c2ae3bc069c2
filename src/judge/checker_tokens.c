/* checker_tokens.c - the same words, whatever the lines. */
#include "judge/checker.h"

enum { CASE_EXACT, CASE_FOLD };

struct cfg {
	int letters;
};

static const char *const choices[] = { "exact", "fold", NULL };

static const struct opt opts[] = {
	{ "case", OPT_CHOICE, offsetof(struct cfg, letters), 0, 0, choices, "exact", "",
	  "fold: large and small ASCII letters are equal" },
	{ 0 },
};

static bool same(const void *cfg, struct str want, struct str got)
{
	const struct cfg *c = cfg;

	if (c->letters == CASE_EXACT)
		return str_eq(want, got);
	if (want.n != got.n)
		return false;
	for (size_t i = 0; i < want.n; i++) {
		char w = want.p[i], g = got.p[i];

		w = (char)(w >= 'A' && w <= 'Z' ? w | 32 : w);
		g = (char)(g >= 'A' && g <= 'Z' ? g | 32 : g);
		if (w != g)
			return false;
	}
	return true;
}

static int check(const void *cfg, const struct check_in *in, double *ret_score, struct err *e)
{
	(void)e;
	*ret_score = checker_same_words(in->expected, in->got, same, cfg);
	return 0;
}

static const struct check_case cases[] = {
	{ { STR(""), STR("1 2\n3"), STR("1\n2 3\n\n") }, 1 },
	{ { STR(""), STR(""), STR(" \n") }, 1 },
	{ { STR(""), STR("Yes"), STR("YES") }, 0 },
	{ { STR(""), STR("1 2"), STR("1 2 3") }, 0 },
	{ { STR(""), STR("1 2 3"), STR("1 2") }, 0 },
	{ { STR(""), STR("1 2"), STR("2 1") }, 0 },
	{ 0 },
};

const struct checker checker_tokens = {
	.name = "tokens",
	.doc = "the same words, whatever the lines",
	.source = "CodeContests, spec/DATASETS.md 5",
	.opts = opts,
	.cfg_size = sizeof(struct cfg),
	.check = check,
	.cases = cases,
};
