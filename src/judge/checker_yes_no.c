/* checker_yes_no.c - words yes and no in any case; every other word as it is written. */
#include "judge/checker.h"

struct cfg {
	int layout;
};

static const struct opt opts[] = {
	CHECKER_OPT_LAYOUT(layout, "tokens: how the words are spread over lines does not matter"),
	{ 0 },
};

/* Only what the reference writes as yes or no is free: y, true and 1 are other words. */
static bool same(const void *cfg, struct str want, struct str got)
{
	(void)cfg;
	if (str_eq_fold(want, STR("yes")) || str_eq_fold(want, STR("no")))
		return str_eq_fold(want, got);
	return str_eq(want, got);
}

static int check(const void *cfg, const struct check_in *in, double *ret_score, struct err *e)
{
	const struct cfg *c = cfg;

	(void)e;
	*ret_score = checker_same((enum checker_layout)c->layout, in->expected, in->got, same, cfg);
	return 0;
}

static const struct check_case cases[] = {
	{ { STR(""), STR("YES\n"), STR("yes") }, 1 },
	{ { STR(""), STR("YES\n"), STR("Yes\n") }, 1 },
	{ { STR(""), STR("no\n"), STR("NO\r\n") }, 1 },
	{ { STR(""), STR("YES\nNO\nYES\n"), STR("Yes\nNo\nYes\n") }, 1 },
	{ { STR(""), STR("YES\nab 1\n"), STR("yes\nab 1\n") }, 1 },
	{ { STR(""), STR("YES\nab 1\n"), STR("yes\nAB 1\n") }, 0 },
	{ { STR(""), STR("YES"), STR("NO") }, 0 },
	{ { STR(""), STR("YES"), STR("Y") }, 0 },
	{ { STR(""), STR("YES"), STR("true") }, 0 },
	{ { STR(""), STR("YES"), STR("1") }, 0 },
	{ { STR(""), STR("YES"), STR("YES.") }, 0 },
	{ { STR(""), STR("YES"), STR("'YES'") }, 0 },
	{ { STR(""), STR("YES"), STR("") }, 0 },
	{ { STR(""), STR("YES"), STR("YES\nNO") }, 0 },
	{ { STR(""), STR("YES\nNO"), STR("YES") }, 0 },
	{ { STR(""), STR("YES"), STR("YES\0") }, 0 },
	{ { STR(""), STR("YES"), STR("Y\xc4\x93S") }, 0 },
	{ { STR(""), STR("YES\nNO"), STR("yes no") }, 0 },
	{ { STR(""), STR("YES\nNO"), STR("yes no") }, 1, "layout=tokens" },
	{ 0 },
};

const struct checker checker_yes_no = {
	.name = "yes_no",
	.doc = "lines, with yes and no in any case",
	.source = "our reading of 'print YES or NO in any case'",
	.opts = opts,
	.cfg_size = sizeof(struct cfg),
	.check = check,
	.cases = cases,
};
