/* train_step.c - pick, sample and judge, score, observe, credit; train_update.c changes weights. */
#include "train/train_step.h"

#include <math.h>

#include "base/clock.h"

static int pick(const struct train_env *env, int64_t step, struct arena *a,
                struct rollout_ask **ret, struct picked **ret_picked, int *ret_n, struct err *e)
{
	const struct train_conf *t = env->conf;
	struct select_ask want = { .step = step,
		                   .seed = (uint64_t)t->train.seed,
		                   .prompts = (int)t->ask.prompts,
		                   .samples = (int)t->ask.samples };
	struct picked *p = arena_new(a, struct picked, want.prompts);
	struct rollout_ask *ask = arena_new(a, struct rollout_ask, want.prompts);
	int n = 0;

	if (!p || !ask)
		return FAIL(e, ERR_LIMIT, "step arena: %d prompts", want.prompts);
	if (t->select->pick(env->sel, &want, p, &n, e) < 0)
		return err_wrap(e, "select %s", t->select->name);
	if (n < 1)
		return FAIL(e, ERR_RANGE, "select %s found no task", t->select->name);
	for (int i = 0; i < n; i++)
		ask[i] = (struct rollout_ask){ &env->tasks->task[p[i].task], p[i].samples };
	*ret = ask;
	*ret_picked = p;
	*ret_n = n;
	return 0;
}

/* What was known of each task before, and the rewards of its samples. */
static int score(const struct train_env *env, const struct rollout_ask *ask, struct batch *b,
                 struct arena *a, struct err *e)
{
	const struct train_conf *t = env->conf;

	b->n_rewards = t->n_rewards;
	for (int i = 0; i < b->n_groups; i++) {
		struct group *g = &b->group[i];

		if (store_task_seen(env->store, g->key, &g->seen, &g->mean_before, e) < 0 ||
		    reward_group(t->reward, t->n_rewards, ask[i].task, g, a, e) < 0)
			return err_wrap(e, "task %.*s", (int)g->key.n, g->key.p);
	}
	return 0;
}

/* Mean advantage of each sample over the tokens that may be trained; NaN: none. */
static double *mean_adv(const struct batch *b, const struct adv_out *o, struct arena *a)
{
	double *ret = arena_new(a, double, b->n_samples);

	for (int i = 0; ret && i < b->n_samples; i++) {
		double sum = 0;
		int n = 0;

		for (int64_t t = b->first[i]; t < b->first[i + 1]; t++)
			if (o->weight[t] > 0) {
				sum += o->A[t];
				n++;
			}
		ret[i] = n ? sum / n : NAN;
	}
	return ret;
}

static int credit(const struct train_env *env, struct batch *b, struct arena *a,
                  struct adv_out *ret, struct err *e)
{
	struct adv_out o = { .A = arena_new(a, float, b->n_tok),
		             .weight = arena_new(a, float, b->n_tok),
		             .a = a };

	if (!o.A || !o.weight)
		return FAIL(e, ERR_LIMIT, "step arena: %lld tokens", (long long)b->n_tok);
	if (adv_batch(env->conf->adv, env->conf->adv_cfg, b, &o, e) < 0)
		return ERR_RANGE;
	*ret = o;
	return 0;
}

int train_step(const struct train_env *env, int64_t step, int64_t first_id, struct arena *a,
               struct metrics *m, struct batch *ret_batch, double **ret_adv, struct err *e)
{
	const struct train_conf *t = env->conf;
	struct rollout_env re = { .policy = env->policy,
		                  .judge = env->judge,
		                  .cfg = &t->rollout,
		                  .seed = (uint64_t)t->train.seed,
		                  .step = step,
		                  .first_id = first_id,
		                  .stop = env->stop };
	const char *name[TRAIN_MAX_REWARDS];
	struct picked *picked = NULL;
	struct rollout_stats st = { 0 };
	struct rollout_ask *ask = NULL;
	struct batch b = { 0 };
	struct adv_out o = { 0 };
	int64_t masked = 0;
	uint8_t *trained;
	double *adv;
	int n = 0;

	if (pick(env, step, a, &ask, &picked, &n, e) < 0 ||
	    t->rollout_fn->run(t->rollout_cfg, &re, ask, n, a, &b, &st, e) < 0 ||
	    score(env, ask, &b, a, e) < 0)
		return e->code;
	if (t->select->observe && t->select->observe(env->sel, &b, e) < 0)
		return err_wrap(e, "select %s", t->select->name);
	if (credit(env, &b, a, &o, e) < 0)
		return e->code;
	for (int k = 0; k < t->n_rewards; k++)
		name[k] = t->reward[k].fn->name;
	metrics_batch(m, &b, &st, name);
	trained = arena_new(a, uint8_t, b.n_tok);
	adv = mean_adv(&b, &o, a);
	if (!trained || !adv)
		return FAIL(e, ERR_LIMIT, "step arena: %lld tokens", (long long)b.n_tok);
	if (train_update(env, step, &b, o.A, o.weight, a, m, trained, &masked, e) < 0)
		return e->code;
	metrics_ledger(m, &b, trained, masked, train_loss_extra(&t->loss));
	*ret_batch = b;
	*ret_adv = adv;
	return 0;
}

/* Rollout, and beside it the arrays of train_update(): up to 16 floats for each token. */
size_t train_step_limit(const struct train_env *env)
{
	const struct train_conf *t = env->conf;
	size_t n = (size_t)t->ask.prompts, each = (size_t)t->ask.samples;
	size_t most = 0, len = (size_t)env->policy->max_seq;

	for (int i = 0; i < env->tasks->n; i++) {
		struct rollout_ask one = { &env->tasks->task[i], (int)each };
		size_t need = rollout_arena_limit(env->policy, &t->rollout, &one, 1);

		most = need > most ? need : most;
	}
	return n * most + n * each * (len * 64 + 4096) + ((size_t)64 << 20);
}
