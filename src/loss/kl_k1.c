/* kl_k1.c - the difference of log-probs. */
#include "loss/loss.h"

/*	kl = logp - ref		dkl/dlogp = 1		unbiased value, high variance */
static void eval(const void *cfg, double logp, double ref, double *ret_kl, double *ret_d)
{
	(void)cfg;
	*ret_kl = logp - ref;
	*ret_d = 1;
}

const struct kl kl_k1 = {
	.name = "k1",
	.doc = "difference of log-probs",
	.source = "Schulman, Approximating KL divergence; verl kl",
	.eval = eval,
};
