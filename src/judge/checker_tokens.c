/* checker_tokens.c - the same words, whatever the lines. */
#include "judge/checker.h"

struct cfg {
	int letters;
};

static const struct opt opts[] = {
	CHECKER_OPT_CASE(letters),
	{ 0 },
};

static int check(const void *cfg, const struct check_in *in, double *ret_score, struct err *e)
{
	const struct cfg *c = cfg;

	(void)e;
	*ret_score = checker_same_words(
		in->expected, in->got,
		c->letters == CHECKER_FOLD ? checker_same_fold : checker_same_exact, c);
	return 0;
}

static const struct check_case cases[] = {
	{ { STR(""), STR("1 2\n3"), STR("1\n2 3\n\n") }, 1 },
	{ { STR(""), STR("1 2\r\n"), STR("\n\v1\f2") }, 1 },
	{ { STR(""), STR(""), STR(" \n") }, 1 },
	{ { STR(""), STR("Yes"), STR("YES") }, 0 },
	{ { STR(""), STR("1 2"), STR("1 2 3") }, 0 },
	{ { STR(""), STR("1 2 3"), STR("1 2") }, 0 },
	{ { STR(""), STR("1 2"), STR("2 1") }, 0 },
	{ { STR(""), STR("12"), STR("1 2") }, 0 },
	{ { STR(""), STR("1"), STR("1\0") }, 0 },
	{ { STR(""), STR("Yes No"), STR("YES\nno") }, 1, "case=fold" },
	{ { STR(""), STR("Yes"), STR("Yess") }, 0, "case=fold" },
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
