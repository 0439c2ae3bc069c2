/* checker_exact.c - the same bytes. */
#include "judge/checker.h"

static int check(const void *cfg, const struct check_in *in, double *ret_score, struct err *e)
{
	(void)cfg;
	(void)e;
	*ret_score = str_eq(in->expected, in->got);
	return 0;
}

static const struct check_case cases[] = {
	{ { STR(""), STR("1 2\n"), STR("1 2\n") }, 1 },
	{ { STR(""), STR(""), STR("") }, 1 },
	{ { STR(""), STR("1 2\n"), STR("1 2") }, 0 },
	{ { STR(""), STR("1 2\n"), STR("1  2\n") }, 0 },
	{ { STR(""), STR("a\0b"), STR("a\0c") }, 0 },
	{ 0 },
};

const struct checker checker_exact = {
	.name = "exact",
	.doc = "the same bytes",
	.source = "our reading",
	.check = check,
	.cases = cases,
};
