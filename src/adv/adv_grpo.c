/* adv_grpo.c - group-relative advantages. */
#include "adv/adv.h"

#include <math.h>

#include "adv/group_stats.h"

enum { STD_SAMPLE, STD_POPULATION, STD_NONE };
enum { SINGLE_ZERO, SINGLE_RAW, SINGLE_ERROR };

struct cfg {
	int std, singleton;
	double eps, tol;
};

static const char *const stds[] = { "sample", "population", "none", 0 };
static const char *const singles[] = { "zero", "raw", "error", 0 };
#define F(field) offsetof(struct cfg, field)
static const struct opt opts[] = {
	{ "std", OPT_CHOICE, F(std), 0, 0, stds, "sample", "",
	  "divisor n-1 (verl, TRL), n (open-instruct), or no division (Dr.GRPO)" },
	{ "eps", OPT_REAL, F(eps), 0, 1, 0, "1e-6", "",
	  "added to the deviation (verl 1e-6, TRL 1e-4)" },
	{ "tol", OPT_REAL, F(tol), 0, 1, 0, GROUP_STATS_TOL, "", "rewards this close are equal" },
	{ "singleton", OPT_CHOICE, F(singleton), 0, 0, singles, "zero", "",
	  "group with one reward: nothing to learn, the reward itself (verl), or an error" },
	{ 0 },
};

/*	A_i = (r_i - mean) / (std + eps)			i in the group
 *
 * mean, std over the samples of the group that have a reward; std with divisor n-1 or n, or
 * A_i = r_i - mean without division. Equal rewards (max - min <= tol): A = 0 exactly. One reward
 * alone has no mean to compare with: A = 0, or with singleton=raw mean 0 and std 1, as in verl.
 */
static int one_group(const struct cfg *c, const struct batch *b, int i0, const struct group *g,
                     struct adv_out *ret, struct err *e)
{
	struct group_stats st = group_stats(g);
	double mean = st.mean, div = 1;

	if (st.n == 1 && c->singleton == SINGLE_ERROR)
		return FAIL(e, ERR_RANGE, "group %.*s has one reward only", (int)g->key.n,
		            g->key.p);
	if (st.n == 1 && c->singleton == SINGLE_RAW) {
		mean = 0;
		div = c->std == STD_NONE ? 1 : 1 + c->eps;
	} else if (group_stats_flat(&st, c->tol)) {
		return 0;
	} else if (c->std != STD_NONE) {
		div = group_stats_std(&st, c->std == STD_SAMPLE) + c->eps;
	}
	for (int k = 0; k < g->n; k++)
		if (adv_uses(&g->sample[k]))
			adv_spread(b, i0 + k, &g->sample[k], (g->sample[k].reward.r - mean) / div,
			           ret->A);
	return 0;
}

static int compute(const void *cfg, const struct batch *b, struct adv_out *ret, struct err *e)
{
	int i = 0, r = 0;

	for (int g = 0; g < b->n_groups && r == 0; i += b->group[g++].n)
		r = one_group(cfg, b, i, &b->group[g], ret, e);
	return r;
}

#define R8                                                                                         \
	{                                                                                          \
		1, 1, 0, 0, 0, 0, 0, 0                                                             \
	}
static const struct adv_case cases[] = {
	{ 8,
	  R8,
	  { 1.620182, 1.620182, -.540061, -.540061, -.540061, -.540061, -.540061, -.540061 } },
	{ 8,
	  R8,
	  { 1.732047, 1.732047, -.577349, -.577349, -.577349, -.577349, -.577349, -.577349 },
	  "std=population" },
	{ 8, R8, { .75, .75, -.25, -.25, -.25, -.25, -.25, -.25 }, "std=none" },
	{ 3, { 0.1, 0.1, 0.1 }, { 0, 0, 0 } }, /* silent, whatever the rounding */
	{ 2, { 0.1 + 0.2, 0.3 }, { 0, 0 } },
	{ 1, { 0.7 }, { 0 } },
	{ 1, { 0.7 }, { 0.6999993 }, "singleton=raw" }, /* verl: s / (1 + eps) */
	{ 1, { 0.7 }, { 0.7 }, "singleton=raw std=none" },
	{ 3, { 1, NAN, 0 }, { .7071058, 0, -.7071058 } }, /* no reward: in no mean, no deviation */
	{ 2, { 1, NAN }, { 0, 0 } },
	{ 0 },
};

const struct adv_fn adv_grpo = {
	.name = "grpo",
	.doc = "reward minus group mean, over the group's standard deviation",
	.source = "arXiv 2402.03300; std=none: Dr.GRPO, arXiv 2503.20783",
	.opts = opts,
	.cfg_size = sizeof(struct cfg),
	.compute = compute,
	.cases = cases,
};
