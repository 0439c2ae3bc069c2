/* agg_seq_mean.c - every sample weighs the same, and so does every token within it. */
#include "loss/agg_int.h"

/*	w_t = 1 / (S * n_i)	S samples with a trained token, n_i trained tokens of sample i */
static int weigh(const void *cfg, const struct batch *b, float *weight, struct err *e)
{
	(void)cfg;
	(void)e;
	agg_over_samples(b, true, 1, weight);
	return 0;
}

const struct agg agg_seq_mean = {
	.name = "seq_mean",
	.doc = "mean over samples of the mean over their trained tokens",
	.source = "GRPO, arXiv 2402.03300; verl seq-mean-token-mean",
	.weigh = weigh,
};
