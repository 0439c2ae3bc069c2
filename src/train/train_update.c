/* train_update.c - from advantages to new weights.
 *
 * The samples of a step are cut into `minibatches` runs of the batch order; each gets its weights
 * from loss_plan() over what belongs to it, one gradient and one step of the optimizer; this is
 * repeated `epochs` times. A sample whose coefficients are all zero (no weight, or no advantage and
 * no further term in the loss) is left out of the gradient, which saves time and changes no weight:
 * the weights are planned before. Where nothing is left, no step is made.
 *
 * In the first pass over the first minibatch the weights are those that sampled, so each log-prob
 * must be the one of the rollout bit for bit. Anything else is a bug of the policy and ends the
 * run.
 */
#include "train/train_step.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

/* One owner; coef() writes only what belongs to its samples. */
struct update {
	const struct train_env *env;
	const struct batch *b;
	const float *A;
	float *weight, *old, *ref, *logp, *entropy, *c, *h; /* (n_tok,) as batch.first says */
	struct loss_stats *st;                              /* (n_samples,) of one pass */
	double *delta; /* (n_samples,) max |logp - old| over sampled tokens */
	struct seqs s; /* the samples that are differentiated, packed */
	int *map;      /* (s.n,) sample of each sequence */
	int32_t *tok;
	int64_t *first;
};

/* One owner: train_update(). */
struct totals {
	struct loss_stats st;
	double grad_norm, delta_max;
	int n_updates, n_skipped;
	double first_masked; /* tokens that masks took out in the first pass */
};

bool train_loss_extra(const struct loss *l)
{
	return (l->kl && l->kl_coef != 0) || l->entropy_coef != 0;
}

static int update_init(struct update *u, struct arena *a, struct err *e)
{
	int64_t n = u->b->n_tok;
	int k = u->b->n_samples;

	u->weight = arena_new(a, float, n);
	u->old = arena_new(a, float, n);
	u->logp = arena_new(a, float, n);
	u->entropy = arena_new(a, float, n);
	u->c = arena_new(a, float, n);
	u->h = arena_new(a, float, n);
	u->tok = arena_new(a, int32_t, n);
	u->st = arena_new(a, struct loss_stats, k);
	u->delta = arena_new(a, double, k);
	u->map = arena_new(a, int, k);
	u->first = arena_new(a, int64_t, k + 1);
	if (!u->weight || !u->old || !u->logp || !u->entropy || !u->c || !u->h || !u->tok ||
	    !u->st || !u->delta || !u->map || !u->first)
		return FAIL(e, ERR_LIMIT, "step arena: %lld tokens", (long long)n);
	for (int i = 0; i < k; i++)
		memcpy(u->old + u->b->first[i], batch_sample(u->b, i)->logp,
		       (size_t)batch_sample(u->b, i)->n_tok * sizeof *u->old);
	return 0;
}

static void pack(struct update *u, int i)
{
	const struct sample *x = batch_sample(u->b, i);

	u->map[u->s.n] = i;
	memcpy(u->tok + u->first[u->s.n], x->tok, (size_t)x->n_tok * sizeof *x->tok);
	u->first[u->s.n + 1] = u->first[u->s.n] + x->n_tok;
	u->s.n++;
}

static void pack_start(struct update *u)
{
	u->first[0] = 0;
	u->s = (struct seqs){ 0, u->tok, u->first };
}

/* Log-probs of the reference policy for every sample. */
static int score_ref(struct update *u, struct arena *a, struct err *e)
{
	struct policy *p = u->env->ref;
	float *ref = arena_new(a, float, u->b->n_tok), *entropy = u->entropy;

	if (!ref)
		return FAIL(e, ERR_LIMIT, "step arena: %lld tokens", (long long)u->b->n_tok);
	pack_start(u);
	for (int i = 0; i < u->b->n_samples; i++)
		pack(u, i);
	if (p->fn->score(p, &u->s, u->env->conf->rollout.temperature, ref, entropy, e) < 0)
		return err_wrap(e, "reference policy");
	u->ref = ref;
	return 0;
}

static bool matters(const struct update *u, int i, bool extra)
{
	for (int64_t t = u->b->first[i]; t < u->b->first[i + 1]; t++)
		if (u->weight[t] != 0 && (extra || u->A[t] != 0))
			return true;
	return false;
}

/* Weights of the samples lo..hi-1 alone, and those of them that have a gradient. */
static int plan(struct update *u, const float *mask, int lo, int hi, struct err *e)
{
	const struct loss *l = &u->env->conf->loss;
	int64_t t0 = u->b->first[lo], t1 = u->b->first[hi];

	memset(u->weight, 0, (size_t)u->b->n_tok * sizeof *u->weight);
	memcpy(u->weight + t0, mask + t0, (size_t)(t1 - t0) * sizeof *mask);
	if (loss_plan(l, u->b, u->weight, e) < 0)
		return ERR_RANGE;
	pack_start(u);
	for (int i = lo; i < hi; i++)
		if (matters(u, i, train_loss_extra(l)))
			pack(u, i);
	return 0;
}

/*	delta = max_t |logp_t - old_t| over sampled tokens; NaN counts as infinite */
static double delta_of(const struct update *u, int i)
{
	const struct sample *x = batch_sample(u->b, i);
	double max = 0;

	for (int t = 0; t < x->n_tok; t++) {
		int64_t at = u->b->first[i] + t;
		double d = fabs((double)u->logp[at] - u->old[at]);

		if (x->mask[t])
			max = isnan(d) ? INFINITY : fmax(max, d);
	}
	return max;
}

/* coef_fn: the sequences are packed, the loss works on the batch. */
static int coef(void *arg, int i0, int i1, const float *logp, const float *entropy, float *c,
                float *h, struct err *e)
{
	struct update *u = arg;

	for (int k = i0; k < i1; k++) {
		int i = u->map[k];
		int64_t from = u->first[k], to = u->b->first[i];
		size_t n = (size_t)(u->first[k + 1] - from) * sizeof(float);
		struct loss_in in = { u->b, u->A, u->weight, u->old, u->logp, u->entropy, u->ref };
		int r;

		memcpy(u->logp + to, logp + from, n);
		memcpy(u->entropy + to, entropy + from, n);
		u->delta[i] = delta_of(u, i);
		r = loss_eval(&u->env->conf->loss, &in, i, i + 1, u->c, u->h, &u->st[i], e);
		if (r < 0)
			return r;
		memcpy(c + from, u->c + to, n);
		memcpy(h + from, u->h + to, n);
	}
	return 0;
}

static int not_exact(const struct update *u, double delta, struct err *e)
{
	for (int k = 0; k < u->s.n; k++) {
		const struct sample *x = batch_sample(u->b, u->map[k]);

		if (u->delta[u->map[k]] > 0)
			return FAIL(e, ERR_RANGE,
			            "bug in policy %s: its log-probs in training differ by %g from "
			            "those of the rollout (task %.*s, rollout %d)",
			            u->env->policy->fn->name, delta, (int)x->task_id.n,
			            x->task_id.p, x->rollout);
	}
	return 0;
}

/* One gradient and one step for what is packed. sampled: these weights drew the samples. */
static int update_once(struct update *u, double lr, bool sampled, struct totals *sum, struct err *e)
{
	const struct train_conf *t = u->env->conf;
	struct policy *p = u->env->policy;
	struct optim o = train_optim(&t->train, lr);
	struct step_stats stats = { 0 };
	double delta = 0;

	if (u->s.n == 0)
		return 0;
	memset(u->st, 0, (size_t)u->b->n_samples * sizeof *u->st);
	if (p->fn->grad(p, &u->s, t->rollout.temperature, coef, u, e) < 0)
		return err_wrap(e, "gradient");
	for (int k = 0; k < u->s.n; k++) {
		loss_stats_add(&sum->st, &u->st[u->map[k]]);
		delta = fmax(delta, u->delta[u->map[k]]);
	}
	if (sampled && delta > 0)
		return not_exact(u, delta, e);
	if (sampled)
		sum->delta_max = delta;
	if (p->fn->step(p, &o, &stats, e) < 0)
		return err_wrap(e, "optimizer");
	sum->grad_norm += stats.grad_norm;
	sum->n_updates++;
	sum->n_skipped += stats.skipped;
	return 0;
}

/* The loss had a weight for these tokens. */
static void note_trained(const struct update *u, uint8_t *trained)
{
	for (int64_t t = 0; t < u->b->n_tok; t++)
		trained[t] |= u->weight[t] != 0;
}

static void add_metrics(struct metrics *m, const struct update *u, const struct totals *x,
                        double lr, int64_t t0)
{
	const struct loss *l = &u->env->conf->loss;
	double n = x->st.n_tok, k = x->n_updates ? x->n_updates : 1;

	metrics_add(m, x->grad_norm / k, "actor/grad_norm");
	metrics_add(m, lr, "actor/lr");
	metrics_add(m, x->st.loss / k, "actor/pg_loss");
	metrics_add(m, n > 0 ? x->st.n_clipped / n : 0, "actor/pg_clipfrac");
	metrics_add(m, n > 0 ? x->st.k1_sum / n : 0, "actor/ppo_kl");
	metrics_add(m, x->st.ratio_max, "actor/ratio_max");
	metrics_add(m, x->n_updates, "actor/updates");
	metrics_add(m, x->n_skipped, "actor/skipped");
	metrics_add(m, x->st.n_masked, "actor/masked_tokens");
	if (l->kl)
		metrics_add(m, x->st.kl / k, "kl");
	metrics_add(m, x->delta_max, "policy/logp_delta_max");
	metrics_add(m, (double)u->env->policy->version, "policy/version");
	metrics_add(m, (double)(now_ns() - t0) / NS_PER_S, "time/update_s");
}

int train_update(const struct train_env *env, int64_t step, const struct batch *b, const float *A,
                 const float *weight, struct arena *a, struct metrics *m, uint8_t *ret_trained,
                 int64_t *ret_masked, struct err *e)
{
	const struct train_opts *o = &env->conf->train;
	int cuts = (int)(o->minibatches < b->n_samples ? o->minibatches : b->n_samples);
	struct update u = { .env = env, .b = b, .A = A };
	double lr = train_lr(o, step, o->steps);
	struct totals sum = { 0 };
	int64_t t0 = now_ns();

	if (update_init(&u, a, e) < 0 || (env->ref && score_ref(&u, a, e) < 0))
		return e->code;
	for (int64_t epoch = 0; epoch < o->epochs; epoch++)
		for (int i = 0; i < cuts; i++) {
			int lo = (int)((int64_t)b->n_samples * i / cuts);
			int hi = (int)((int64_t)b->n_samples * (i + 1) / cuts);

			if (plan(&u, weight, lo, hi, e) < 0 ||
			    update_once(&u, lr, epoch == 0 && sum.n_updates == 0, &sum, e) < 0)
				return e->code;
			if (epoch == 0) {
				note_trained(&u, ret_trained);
				sum.first_masked = sum.st.n_masked;
			}
		}
	*ret_masked = (int64_t)sum.first_masked;
	add_metrics(m, &u, &sum, lr, t0);
	return 0;
}
