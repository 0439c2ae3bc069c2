/* agg_seq_sum.c - every token weighs the same whatever the lengths of this batch. */
#include "loss/agg_int.h"

struct cfg {
	double length;
};

static const struct opt opts[] = {
	{ "length", OPT_REAL, offsetof(struct cfg, length), 1, 1e9, 0, "1", "tokens",
	  "constant divisor; Dr.GRPO takes the longest answer allowed" },
	{ 0 },
};

/*	w_t = 1 / (S * length)		S samples with a trained token */
static int weigh(const void *cfg, const struct batch *b, float *weight, struct err *e)
{
	const struct cfg *c = cfg;

	(void)e;
	agg_over_samples(b, false, c->length, weight);
	return 0;
}

const struct agg agg_seq_sum = {
	.name = "seq_sum",
	.doc = "mean over samples of the sum over their trained tokens",
	.source = "Dr.GRPO, arXiv 2503.20783; verl seq-mean-token-sum(-norm)",
	.opts = opts,
	.cfg_size = sizeof(struct cfg),
	.weigh = weigh,
};
