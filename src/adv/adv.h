/* adv.h - an advantage estimator turns rewards into credit for each token. One file for each:
 * src/adv/adv_<name>.c. Pure mathematics: no tensors, no policy, no judge.
 *
 * It sees the whole batch: group statistics need a group, whitening needs the batch, trees and
 * chains need the parents. A sample without a reward is in no mean, no deviation and no loss; its
 * advantages are 0 and its weight is 0.
 */
#ifndef ADV_ADV_H
#define ADV_ADV_H

#include "base/arena.h"
#include "base/err.h"
#include "base/opt.h"
#include "base/part.h"
#include "traj/traj.h"

#include <stdbool.h>

struct adv_out {
	float *A;        /* (batch.n_tok,) advantage of each token; zero before the call */
	float *weight;   /* (batch.n_tok,) the mask of each sample, 0 for samples without a reward;
	                    an estimator may lower it (masks), never raise it */
	float *target;   /* (batch.n_tok,) value targets for a critic, or NULL: not asked for */
	struct arena *a; /* scratch */
};

/* One token for each sample. */
struct adv_case {
	int G;
	double r[8], want[8]; /* r NAN: no reward */
	const char *opts;     /* "key=value ..." on top of the defaults, or NULL */
};

/* Immutable. */
struct adv_fn {
	PART_HEAD;
	int (*compute)(const void *cfg, const struct batch *b, struct adv_out *ret, struct err *e);
	const struct adv_case *cases; /* ends with G == 0 */
};

extern const struct adv_fn *const adv_table[]; /* generated, ends with NULL */

/* Has a reward and was not broken off: counts in statistics and is trained on. */
bool adv_uses(const struct sample *s);

/* Fill A and weight of ret (the caller's arrays; what is in them does not matter), call the
 * estimator, and mark the silent groups of the batch: no token of weight > 0 has an advantage other
 * than 0. A is 0 where weight is 0. An advantage that is not a finite number is an error.
 */
int adv_batch(const struct adv_fn *fn, const void *cfg, struct batch *b, struct adv_out *ret,
              struct err *e);

/* The same A for every trained token of sample i (counted over the batch), which is s. */
void adv_spread(const struct batch *b, int i, const struct sample *s, double A, float *ret);

#endif
