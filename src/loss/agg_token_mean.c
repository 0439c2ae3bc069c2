/* agg_token_mean.c - every trained token of the batch weighs the same. */
#include "loss/loss.h"

/*	w_t = 1 / N		N = trained tokens of the batch */
static int weigh(const void *cfg, const struct batch *b, float *weight, struct err *e)
{
	int64_t N = 0;

	(void)cfg;
	(void)e;
	for (int64_t t = 0; t < b->n_tok; t++)
		N += weight[t] > 0;
	for (int64_t t = 0; t < b->n_tok; t++)
		if (weight[t] > 0)
			weight[t] = (float)(1.0 / (double)N);
	return 0;
}

const struct agg agg_token_mean = {
	.name = "token_mean",
	.doc = "mean over all trained tokens of the batch",
	.source = "DAPO, arXiv 2503.14476; verl token-mean",
	.weigh = weigh,
};
