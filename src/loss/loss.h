/* loss.h - turns advantages into dL/dlogp and dL/dH for each token; policy applies the chain rule.
 * Pure mathematics on traj.
 *
 *	L = sum_t w_t * l_t + sum_t w_t * kl_coef * kl_t - entropy_coef * sum_t w_t * H_t
 *
 * A loss is put together from four families, one file for each part:
 *
 *	agg_<name>.c		the weights w_t, from the mask and the lengths alone
 *	mask_<name>.c		lowers weights: what must not be trained on
 *	surrogate_<name>.c	l_t and its derivative
 *	kl_<name>.c		kl_t and its derivative
 *
 * loss_plan() computes the weights of the whole batch once; loss_eval() then works on any run of
 * whole samples, so that the policy can ask for a few sequences at a time, right after their
 * forward pass.
 */
#ifndef LOSS_LOSS_H
#define LOSS_LOSS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/opt.h"
#include "base/part.h"
#include "traj/traj.h"

#include <stdbool.h>

/* What the parts see. Token arrays are indexed as batch.first says; logp, entropy and ref are only
 * filled for the samples asked about.
 */
struct loss_in {
	const struct batch *b;
	const float *A;       /* (n_tok,) */
	const float *weight;  /* (n_tok,) w_t: 0 where nothing is trained */
	const float *old;     /* (n_tok,) log-prob under the policy that sampled */
	const float *logp;    /* (n_tok,) log-prob under the current policy */
	const float *entropy; /* (n_tok,) of the current policy */
	const float *ref;     /* (n_tok,) of the reference policy, or NULL */
};

/* L = loss + kl_coef * kl - entropy_coef * entropy. One owner: calls of loss_eval() at the same
 * time each take their own, and loss_stats_add() joins them in the order of the samples.
 */
struct loss_stats {
	double loss, kl, entropy;    /* sums of w_t times the value */
	double n_tok, n_clipped;     /* trained tokens; those whose ratio was clipped */
	double n_masked;             /* tokens taken out by masks that look at logp */
	double ratio_sum, ratio_max; /* of trained tokens */
	double delta_max;            /* max |logp - old| */
	double k1_sum, k3_sum;       /* estimators of KL(old || current) over trained tokens */
};

/* Immutable. */
struct agg {
	PART_HEAD;
	/* weight (n_tok,): in 1 or 0, out w_t; sums over the whole batch */
	int (*weigh)(const void *cfg, const struct batch *b, float *weight, struct err *e);
};

/* Immutable. */
struct mask {
	PART_HEAD;
	/* lowers in->weight (which is ret_weight) for samples i0..i1-1; weight is 1 or 0 if the
	 * mask does not need logp, else w_t; in->logp is NULL if it does not */
	int (*apply)(const void *cfg, const struct loss_in *in, int i0, int i1, float *ret_weight,
	             struct err *e);
	bool needs_logp; /* false: can be applied before any forward pass */
};

struct loss_case {
	double A, old[4], logp[4], want_loss, want_c[4]; /* want_loss: sum over the tokens */
	int n;                                           /* tokens of one sample, weight 1 each */
	const char *opts; /* "key=value ..." on top of the defaults, or NULL */
};

/* Immutable. */
struct surrogate {
	PART_HEAD;
	/* Adds w_t * l_t to st->loss and w_t * dl/dlogp_t to c, for samples i0..i1-1. */
	int (*eval)(const void *cfg, const struct loss_in *in, int i0, int i1, float *c,
	            struct loss_stats *st, struct err *e);
	const struct loss_case *cases; /* ends with n == 0 */
};

/* Immutable. */
struct kl {
	PART_HEAD;
	/* kl_t and dkl/dlogp_t of one token */
	void (*eval)(const void *cfg, double logp, double ref, double *ret_kl, double *ret_d);
};

extern const struct agg *const agg_table[]; /* generated, end with NULL */
extern const struct mask *const mask_table[];
extern const struct surrogate *const surrogate_table[];
extern const struct kl *const kl_table[];

enum { LOSS_MAX_MASKS = 8 };

struct loss {
	const struct surrogate *surrogate;
	const void *surrogate_cfg;
	const struct agg *agg;
	const void *agg_cfg;
	int n_masks;
	const struct mask *mask[LOSS_MAX_MASKS];
	const void *mask_cfg[LOSS_MAX_MASKS];
	const struct kl *kl; /* NULL: none */
	const void *kl_cfg;
	double kl_coef, entropy_coef;
	bool count_masked; /* denominators of agg also count what the masks of loss_plan() drop */
};

/* weight (n_tok,): in the mask that adv left, out w_t of the whole batch. Masks that need no
 * log-probs come first, so that agg only counts what is left (see count_masked); the others lower
 * w_t in loss_eval(). A batch with nothing to train on has all w_t = 0, which is no error.
 */
int loss_plan(const struct loss *l, const struct batch *b, float *weight, struct err *e);

/* c = dL/dlogp and h = dL/dH (both (n_tok,), overwritten) of samples i0..i1-1; st is added to.
 * in->weight is that of loss_plan(). A log-prob that is not a finite number, where something is
 * trained, is an error that names token and sample.
 */
int loss_eval(const struct loss *l, const struct loss_in *in, int i0, int i1, float *c, float *h,
              struct loss_stats *st, struct err *e);

void loss_stats_add(struct loss_stats *sum, const struct loss_stats *st);

#endif
