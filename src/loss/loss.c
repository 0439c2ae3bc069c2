/* loss.c - puts a loss together from aggregation, masks, surrogate, KL and entropy. */
#include "loss/loss.h"

#include <math.h>
#include <string.h>

static int64_t trained(const float *w, int64_t n)
{
	int64_t k = 0;

	for (int64_t t = 0; t < n; t++)
		k += w[t] > 0;
	return k;
}

static int run_masks(const struct loss *l, bool needs_logp, const struct loss_in *in, int i0,
                     int i1, float *weight, struct err *e)
{
	for (int k = 0; k < l->n_masks; k++) {
		if (l->mask[k]->needs_logp != needs_logp)
			continue;
		int r = l->mask[k]->apply(l->mask_cfg[k], in, i0, i1, weight, e);

		if (r < 0)
			return err_wrap(e, "mask %s", l->mask[k]->name);
	}
	return 0;
}

int loss_plan(const struct loss *l, const struct batch *b, float *weight, struct err *e)
{
	struct loss_in in = { .b = b, .weight = weight };
	int r = 0;

	if (!l->count_masked)
		r = run_masks(l, false, &in, 0, b->n_samples, weight, e);
	if (r == 0 && trained(weight, b->n_tok) > 0 && l->agg->weigh(l->agg_cfg, b, weight, e) < 0)
		r = err_wrap(e, "aggregation %s", l->agg->name);
	if (r == 0 && l->count_masked)
		r = run_masks(l, false, &in, 0, b->n_samples, weight, e);
	return r;
}

/*	ratio_t = exp(logp_t - old_t)
 *	k1_t = old_t - logp_t		k3_t = ratio_t - 1 - (logp_t - old_t)
 *
 * over trained tokens: both estimate KL(old || current), Schulman, "Approximating KL divergence".
 */
static int look(const struct loss_in *in, int i, int64_t t0, int64_t t1, struct loss_stats *st,
                struct err *e)
{
	for (int64_t t = t0; t < t1; t++) {
		double d = (double)in->logp[t] - in->old[t], ratio = exp(d);

		if (in->weight[t] == 0)
			continue;
		if (!isfinite(d))
			return FAIL(e, ERR_RANGE,
			            "token %lld of sample %d: log-prob %g now, %g when sampled",
			            (long long)(t - in->b->first[i]), i, (double)in->logp[t],
			            (double)in->old[t]);
		st->n_tok += 1;
		st->ratio_sum += ratio;
		st->ratio_max = fmax(st->ratio_max, ratio);
		st->delta_max = fmax(st->delta_max, fabs(d));
		st->k1_sum -= d;
		st->k3_sum += ratio - 1 - d;
	}
	return 0;
}

/*	L += sum_t w_t * kl_coef * kl_t		c_t += w_t * kl_coef * dkl_t/dlogp_t */
static int add_kl(const struct loss *l, const struct loss_in *in, int64_t t0, int64_t t1, float *c,
                  struct loss_stats *st, struct err *e)
{
	if (!in->ref)
		return FAIL(e, ERR_RANGE, "kl %s needs the log-probs of a reference policy",
		            l->kl->name);
	for (int64_t t = t0; t < t1; t++) {
		double kl, d, w = in->weight[t];

		if (w == 0)
			continue;
		l->kl->eval(l->kl_cfg, in->logp[t], in->ref[t], &kl, &d);
		st->kl += w * kl;
		c[t] += (float)(w * l->kl_coef * d);
	}
	return 0;
}

/* h first serves as the weights after the masks of this call, then becomes -entropy_coef * w_t. */
int loss_eval(const struct loss *l, const struct loss_in *in, int i0, int i1, float *c, float *h,
              struct loss_stats *st, struct err *e)
{
	int64_t t0 = in->b->first[i0], t1 = in->b->first[i1];
	struct loss_in own = *in;
	int r = 0;

	memcpy(h + t0, in->weight + t0, (size_t)(t1 - t0) * sizeof *h);
	memset(c + t0, 0, (size_t)(t1 - t0) * sizeof *c);
	own.weight = h;
	r = run_masks(l, true, &own, i0, i1, h, e);
	if (r < 0)
		return r;
	st->n_masked += (double)(trained(in->weight + t0, t1 - t0) - trained(h + t0, t1 - t0));
	for (int i = i0; i < i1 && r == 0; i++)
		r = look(&own, i, in->b->first[i], in->b->first[i + 1], st, e);
	if (r == 0 && l->surrogate->eval(l->surrogate_cfg, &own, i0, i1, c, st, e) < 0)
		r = err_wrap(e, "loss %s", l->surrogate->name);
	if (r == 0 && l->kl && l->kl_coef != 0)
		r = add_kl(l, &own, t0, t1, c, st, e);
	for (int64_t t = t0; t < t1 && r == 0; t++) {
		if (in->entropy && h[t] != 0)
			st->entropy += (double)h[t] * in->entropy[t];
		h[t] = h[t] == 0 ? 0 : (float)(-l->entropy_coef * h[t]);
	}
	return r;
}

void loss_stats_add(struct loss_stats *sum, const struct loss_stats *st)
{
	sum->loss += st->loss;
	sum->kl += st->kl;
	sum->entropy += st->entropy;
	sum->n_tok += st->n_tok;
	sum->n_clipped += st->n_clipped;
	sum->n_masked += st->n_masked;
	sum->ratio_sum += st->ratio_sum;
	sum->ratio_max = fmax(sum->ratio_max, st->ratio_max);
	sum->delta_max = fmax(sum->delta_max, st->delta_max);
	sum->k1_sum += st->k1_sum;
	sum->k3_sum += st->k3_sum;
}
