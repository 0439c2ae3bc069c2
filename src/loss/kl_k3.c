/* kl_k3.c - the low-variance estimator. */
#include "loss/loss.h"

#include <math.h>

struct cfg {
	double max;
};

static const struct opt opts[] = {
	{ "max", OPT_REAL, offsetof(struct cfg, max), 0, 1e300, 0, "10", "nats",
	  "larger values are cut off, without gradient (verl 10; TRL does not)" },
	{ 0 },
};

/*	x = ref - logp		kl = min(e^x - x - 1, max)	>= 0, unbiased
 *	dkl/dlogp = 1 - e^x, 0 where cut off
 *
 * verl also clips x to +-20; with max = 10 that only matters where x < -20, whose kl is > max.
 */
static void eval(const void *cfg, double logp, double ref, double *ret_kl, double *ret_d)
{
	const struct cfg *c = cfg;
	double x = fmin(ref - logp, 700), kl = expm1(x) - x;

	*ret_kl = fmin(kl, c->max);
	*ret_d = kl > c->max ? 0 : -expm1(x);
}

const struct kl kl_k3 = {
	.name = "k3",
	.doc = "exp(x) - x - 1 for x = ref - logp",
	.source = "Schulman, Approximating KL divergence; verl low_var_kl",
	.opts = opts,
	.cfg_size = sizeof(struct cfg),
	.eval = eval,
};
