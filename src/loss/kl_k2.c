/* kl_k2.c - half the squared difference of log-probs. */
#include "loss/loss.h"

/*	kl = (logp - ref)^2 / 2		dkl/dlogp = logp - ref */
static void eval(const void *cfg, double logp, double ref, double *ret_kl, double *ret_d)
{
	(void)cfg;
	*ret_kl = (logp - ref) * (logp - ref) / 2;
	*ret_d = logp - ref;
}

const struct kl kl_k2 = {
	.name = "k2",
	.doc = "half the squared difference of log-probs",
	.source = "Schulman, Approximating KL divergence; verl mse",
	.eval = eval,
};
