/* surrogate_reinforce.c - the plain policy gradient. */
#include "loss/loss.h"

/*	l = -A * logp		dl/dlogp = -A */
static int eval(const void *cfg, const struct loss_in *in, int i0, int i1, float *c,
                struct loss_stats *st, struct err *e)
{
	(void)cfg;
	(void)e;
	for (int64_t t = in->b->first[i0]; t < in->b->first[i1]; t++) {
		double w = in->weight[t], A = in->A[t];

		if (w == 0)
			continue;
		st->loss -= w * A * in->logp[t];
		c[t] -= (float)(w * A);
	}
	return 0;
}

static const struct loss_case cases[] = {
	{ 2, { -1, -1 }, { -1.5, -.5 }, 4, { -2, -2 }, 2 },
	{ -1, { -1 }, { -3 }, -3, { 1 }, 1 },
	{ 0 },
};

const struct surrogate surrogate_reinforce = {
	.name = "reinforce",
	.doc = "advantage times log-prob, no ratio and no clip",
	.source = "Williams 1992; verl gpg",
	.eval = eval,
	.cases = cases,
};
