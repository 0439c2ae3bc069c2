/* adv.c - what every advantage estimator is promised and held to. */
#include "adv/adv.h"

#include <assert.h>
#include <math.h>
#include <string.h>

bool adv_uses(const struct sample *s)
{
	return s->reward.known && s->finish != FINISH_ABORT;
}

void adv_spread(const struct batch *b, int i, const struct sample *s, double A, float *ret)
{
	for (int t = 0; t < s->n_tok; t++)
		if (s->mask[t])
			ret[b->first[i] + t] = (float)A;
}

static void start(const struct batch *b, struct adv_out *o)
{
	int i = 0;

	memset(o->A, 0, (size_t)b->n_tok * sizeof *o->A);
	memset(o->weight, 0, (size_t)b->n_tok * sizeof *o->weight);
	if (o->target)
		memset(o->target, 0, (size_t)b->n_tok * sizeof *o->target);
	for (int g = 0; g < b->n_groups; g++)
		for (int k = 0; k < b->group[g].n; k++, i++) {
			const struct sample *s = &b->group[g].sample[k];

			for (int t = 0; adv_uses(s) && t < s->n_tok; t++)
				o->weight[b->first[i] + t] = s->mask[t] != 0;
		}
}

/* What the estimator left for sample i: nothing where nothing may be trained, and only numbers. */
static int hold(const struct batch *b, int i, const struct sample *s, struct adv_out *o,
                bool *ret_silent, struct err *e)
{
	for (int t = 0; t < s->n_tok; t++) {
		float *A = &o->A[b->first[i] + t], w = o->weight[b->first[i] + t];

		assert(w >= 0 && w <= (adv_uses(s) && s->mask[t]));
		if (w == 0)
			*A = 0;
		if (!isfinite(*A))
			return FAIL(e, ERR_RANGE, "advantage of token %d of sample %d is %g", t, i,
			            (double)*A);
		if (*A != 0)
			*ret_silent = false;
	}
	return 0;
}

int adv_batch(const struct adv_fn *fn, const void *cfg, struct batch *b, struct adv_out *ret,
              struct err *e)
{
	int i = 0, r;

	start(b, ret);
	r = fn->compute(cfg, b, ret, e);
	for (int g = 0; g < b->n_groups && r == 0; g++) {
		bool silent = true;

		for (int k = 0; k < b->group[g].n && r == 0; k++, i++)
			r = hold(b, i, &b->group[g].sample[k], ret, &silent, e);
		b->group[g].silent = silent;
	}
	return r < 0 ? err_wrap(e, "adv %s", fn->name) : 0;
}
