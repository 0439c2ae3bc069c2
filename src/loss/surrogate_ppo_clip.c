/* surrogate_ppo_clip.c - the clipped surrogate of PPO, with clip-higher and dual clip. */
#include "loss/loss.h"

#include <math.h>

struct cfg {
	double low, high, dual;
};

#define F(field) offsetof(struct cfg, field)
static const struct opt opts[] = {
	{ "low", OPT_REAL, F(low), 0, 1, 0, "0.2", "", "clip ratios below 1 - low" },
	{ "high", OPT_REAL, F(high), 0, 1e6, 0, "0.2", "",
	  "clip ratios above 1 + high (DAPO 0.28)" },
	{ "dual", OPT_REAL, F(dual), 0, 1e6, 0, "0", "",
	  "for A < 0 the loss is at most -A * dual (verl 3); 0: no dual clip" },
	{ 0 },
};

enum { LOG_RATIO_MAX = 20 }; /* as verl, TRL's peers: exp() stays finite */

/*	x = clip(logp - old, -20, 20)		ratio = exp(x)
 *	l = max(-A * ratio, -A * clip(ratio, 1 - low, 1 + high))
 *	l = min(l, -A * dual)			if A < 0 and dual > 0
 *	dl/dlogp = -A * ratio, 0 where the clipped side was taken
 *
 * ratio is exactly 1 where logp == old. On the border itself the gradient is that of the inside.
 * verl counts a token as clipped in the same cases (pg_clipfrac + pg_clipfrac_lower).
 */
static double one(const struct cfg *c, double A, double x, double *ret_d, bool *ret_clipped)
{
	double ratio = exp(fmin(fmax(x, -LOG_RATIO_MAX), LOG_RATIO_MAX));
	double bound = A > 0 ? 1 + c->high : 1 - c->low;
	bool clipped = A > 0 ? ratio > bound : A < 0 && ratio < bound;

	if (!clipped && A < 0 && c->dual > 0 && ratio > c->dual) {
		clipped = true;
		bound = c->dual;
	}
	*ret_clipped = clipped;
	*ret_d = clipped || fabs(x) > LOG_RATIO_MAX ? 0 : -A * ratio;
	return -A * (clipped ? bound : ratio);
}

static int eval(const void *cfg, const struct loss_in *in, int i0, int i1, float *c,
                struct loss_stats *st, struct err *e)
{
	(void)e;
	for (int64_t t = in->b->first[i0]; t < in->b->first[i1]; t++) {
		double w = in->weight[t], d;
		bool clipped;

		if (w == 0)
			continue;
		st->loss += w * one(cfg, in->A[t], (double)in->logp[t] - in->old[t], &d, &clipped);
		st->n_clipped += clipped;
		c[t] += (float)(w * d);
	}
	return 0;
}

/* ratios e^.1 = 1.105171, e^.3 = 1.349859, e^-.3 = .740818, e^1.5 = 4.481689 */
static const struct loss_case cases[] = {
	{ 2, { -1, -2, -3, -4 }, { -1, -2, -3, -4 }, -8, { -2, -2, -2, -2 }, 4 },
	{ 1, { 0, 0, 0, 0 }, { .1, .3, -.3, 0 }, -4.045989, { -1.105171, 0, -.740818, -1 }, 4 },
	{ -1,
	  { 0, 0, 0, 0 },
	  { .1, .3, -.3, 1.5 },
	  7.736719,
	  { 1.105171, 1.349859, 0, 4.481689 },
	  4 },
	{ -1, { 0, 0 }, { -.3, 1.5 }, 3.8, { 0, 0 }, 2, "dual=3" },
	{ 1, { 0, 0 }, { .24, .3 }, -2.551249, { -1.271249, 0 }, 2, "high=0.28" },
	{ 0, { -1 }, { -2 }, 0, { 0 }, 1 },
	{ 1, { -30 }, { -1 }, -1.2, { 0 }, 1 }, /* beyond the clamp */
	{ 0 },
};

const struct surrogate surrogate_ppo_clip = {
	.name = "ppo_clip",
	.doc = "clipped importance ratio times advantage",
	.source = "arXiv 1707.06347; high: arXiv 2503.14476; dual: arXiv 1912.09729",
	.opts = opts,
	.cfg_size = sizeof(struct cfg),
	.eval = eval,
	.cases = cases,
};
