/* test_train_update.c - what reaches the policy: coefficients, silent groups, minibatches, and the
 * promise that log-probs of training are those of the rollout. The policy is a fake that keeps what
 * it is given; the numbers it should be given are worked out by hand.
 */
#include "test.h"

#include <math.h>
#include <string.h>

#include "batches.h"
#include "train/train_step.h"

enum { MAX_SEEN = 64, MAX_CALLS = 16 };

static struct {
	int n_grad, n_step, n_seqs[MAX_CALLS];
	int32_t first_tok[MAX_CALLS][MAX_SEEN]; /* of each sequence: names the sample */
	float c[MAX_CALLS][MAX_SEEN], h[MAX_CALLS][MAX_SEEN];
	float shift;  /* added to the log-prob of one token: a broken policy */
	bool reverse; /* coef is asked for one sequence at a time, backwards */
} seen;

static float logp_of(const struct seqs *s, int64_t t)
{
	return -0.25f * (float)(s->tok[t] % 10);
}

static int fake_grad(struct policy *p, const struct seqs *s, double temperature, coef_fn *coef,
                     void *arg, struct err *e)
{
	int64_t n = s->first[s->n];
	float logp[MAX_SEEN], entropy[MAX_SEEN];
	int k = seen.n_grad++, r = 0;

	(void)p;
	assert_true(temperature == 1.0 && n <= MAX_SEEN && k < MAX_CALLS);
	for (int64_t t = 0; t < n; t++) {
		logp[t] = logp_of(s, t);
		entropy[t] = 0.5f;
	}
	logp[n - 1] += seen.shift;
	memset(seen.c[k], 0xff, sizeof seen.c[k]);
	if (!seen.reverse)
		r = coef(arg, 0, s->n, logp, entropy, seen.c[k], seen.h[k], e);
	for (int i = s->n - 1; seen.reverse && i >= 0 && r == 0; i--)
		r = coef(arg, i, i + 1, logp, entropy, seen.c[k], seen.h[k], e);
	seen.n_seqs[k] = s->n;
	for (int i = 0; i < s->n; i++)
		seen.first_tok[k][i] = s->tok[s->first[i]];
	return r;
}

static int fake_step(struct policy *p, const struct optim *o, struct step_stats *ret, struct err *e)
{
	(void)e;
	assert_true(o->lr > 0);
	seen.n_step++;
	p->version++;
	*ret = (struct step_stats){ .grad_norm = 2 };
	return 0;
}

static const struct policy_fn fake_fn = { .name = "fake", .grad = fake_grad, .step = fake_step };

/* Two groups of two samples, each one prompt token and two sampled ones; rewards 1 0 and 1 1, so
 * the second group is silent. Token ids: 10 * sample, then digits that say the log-prob.
 */
static struct batch two_groups(struct arena *a)
{
	static const int len[] = { 3, 3 };
	struct group *g = arena_new(a, struct group, 2);
	static const double r[2][2] = { { 1, 0 }, { 1, 1 } };
	struct batch b;

	g[0] = make_group(a, "a", 2, len);
	g[1] = make_group(a, "b", 2, len);
	b = make_batch(a, 2, g);
	b.n_rewards = 1;
	for (int i = 0; i < 4; i++) {
		struct sample *s = batch_sample(&b, i);
		int32_t *tok = arena_new(a, int32_t, 3);
		uint8_t *mask = arena_new(a, uint8_t, 3);
		float *logp = arena_new(a, float, 3);

		for (int t = 0; t < 3; t++) {
			tok[t] = 100 * i + 10 + t;
			mask[t] = t > 0;
			logp[t] = t ? -0.25f * (float)t : 0;
		}
		s->tok = tok, s->mask = mask, s->logp = logp;
		s->n_prompt = 1;
		s->finish = FINISH_STOP;
		s->reward = (struct score){ r[i / 2][i % 2], true };
	}
	g[1].silent = true;
	return b;
}

extern const struct surrogate surrogate_ppo_clip;
extern const struct agg agg_token_mean;

/* One owner: the test. */
struct bench {
	struct arena a;
	struct train_conf conf;
	struct policy policy;
	struct train_env env;
	struct batch b;
	float A[12], weight[12];
	struct metrics m;
	uint8_t trained[12];
	int64_t masked;
};

static void bench_init(struct bench *x)
{
	const struct surrogate *s = &surrogate_ppo_clip;

	memset(&seen, 0, sizeof seen);
	*x = (struct bench){ .a = { .limit = 1 << 20 } };
	x->conf = (struct train_conf){
		.rollout = { .temperature = 1 },
		.train = { .steps = 10, .lr = 1e-3, .epochs = 1, .minibatches = 1 },
		.loss = { .surrogate = s, .agg = &agg_token_mean },
	};
	x->conf.loss.surrogate_cfg = family_config(s->opts, s->cfg_size, &x->a);
	x->conf.loss.agg_cfg = family_config(agg_token_mean.opts, agg_token_mean.cfg_size, &x->a);
	x->policy = (struct policy){ .fn = &fake_fn };
	x->env = (struct train_env){ .conf = &x->conf, .policy = &x->policy };
	x->b = two_groups(&x->a);
	for (int i = 0; i < 4; i++)
		for (int t = 1; t < 3; t++) {
			x->A[3 * i + t] = i == 0 ? 1 : i == 1 ? -1 : 0;
			x->weight[3 * i + t] = 1;
		}
}

static int update(struct bench *x, struct err *e)
{
	return train_update(&x->env, 1, &x->b, x->A, x->weight, &x->a, &x->m, x->trained,
	                    &x->masked, e);
}

/* L = 1/8 sum over all 8 sampled tokens, the silent ones included; ratio 1, so c = -A / 8. */
static void silent_groups_are_left_out(void **state)
{
	struct bench x;
	struct err e = { 0 };

	(void)state;
	for (int reverse = 0; reverse < 2; reverse++) {
		bench_init(&x);
		seen.reverse = reverse;
		if (update(&x, &e) < 0)
			fail_msg("%s", e.msg);
		assert_int_equal(seen.n_grad, 1);
		assert_int_equal(seen.n_step, 1);
		assert_int_equal(seen.n_seqs[0], 2);
		assert_true(seen.first_tok[0][0] == 10 && seen.first_tok[0][1] == 110);
		for (int i = 0; i < 2; i++)
			for (int t = 0; t < 3; t++)
				assert_true(seen.c[0][3 * i + t] == (t == 0   ? 0
				                                     : i == 0 ? -0.125f
				                                              : 0.125f));
		assert_true(metrics_get(&x.m, "policy/logp_delta_max") == 0);
		assert_true(metrics_get(&x.m, "actor/grad_norm") == 2);
		assert_true(metrics_get(&x.m, "policy/version") == 1);
		arena_done(&x.a);
	}
}

/* With an entropy bonus silent samples have a gradient too: h = -coef / 8. */
static void entropy_reaches_silent_groups(void **state)
{
	struct bench x;
	struct err e;

	(void)state;
	bench_init(&x);
	x.conf.loss.entropy_coef = 0.5;
	assert_int_equal(update(&x, &e), 0);
	assert_int_equal(seen.n_seqs[0], 4);
	assert_true(seen.h[0][0] == 0 && seen.h[0][1] == -0.0625f && seen.h[0][11] == -0.0625f);
	assert_true(seen.c[0][11] == 0);
	arena_done(&x.a);
}

/* A sample that could not be judged has weight 0: the others' weights are 1/6, and its tokens are
 * in the ledger as such.
 */
static void unjudged_samples_have_no_weight(void **state)
{
	struct bench x;
	struct err e;

	(void)state;
	bench_init(&x);
	x.b.group[1].sample[0].verdict = VERDICT_JUDGE_ERROR;
	x.b.group[1].sample[0].reward = (struct score){ 0 };
	x.weight[7] = x.weight[8] = 0;
	assert_int_equal(update(&x, &e), 0);
	assert_int_equal(seen.n_seqs[0], 2);
	assert_true(fabsf(seen.c[0][1] + 1 / 6.f) < 1e-7f);
	metrics_ledger(&x.m, &x.b, x.trained, x.masked, false);
	assert_true(metrics_get(&x.m, "ledger/sampled") == 8);
	assert_true(metrics_get(&x.m, "ledger/trained") == 4);
	assert_true(metrics_get(&x.m, "ledger/silent") == 2);
	assert_true(metrics_get(&x.m, "ledger/judge_error") == 2);
	arena_done(&x.a);
}

static void all_silent_makes_no_step(void **state)
{
	struct bench x;
	struct err e;

	(void)state;
	bench_init(&x);
	memset(x.A, 0, sizeof x.A);
	assert_int_equal(update(&x, &e), 0);
	assert_true(seen.n_grad == 0 && seen.n_step == 0 && x.policy.version == 0);
	assert_true(metrics_get(&x.m, "actor/updates") == 0);
	arena_done(&x.a);
}

/* One bit of difference ends the run before the weights change, and says whose fault it is. */
static void inexact_logp_is_a_bug(void **state)
{
	struct bench x;
	struct err e;
	static const float shift[] = { 6e-8f, -1, NAN };

	(void)state;
	for (size_t i = 0; i < sizeof shift / sizeof *shift; i++) {
		bench_init(&x);
		seen.shift = shift[i];
		assert_int_equal(update(&x, &e), ERR_RANGE);
		if (!isnan(shift[i]))
			assert_non_null(strstr(e.msg, "bug in policy fake"));
		assert_int_equal(seen.n_step, 0);
		arena_done(&x.a);
	}
}

/* Each minibatch is weighed by itself (4 tokens: 1/4), and only the first one of the first pass is
 * held to the log-probs of the rollout.
 */
static void minibatches_and_epochs(void **state)
{
	struct bench x;
	struct err e;

	(void)state;
	bench_init(&x);
	x.A[7] = x.A[8] = 1;
	x.conf.train.minibatches = 2;
	x.conf.train.epochs = 2;
	if (update(&x, &e) < 0)
		fail_msg("%s", e.msg);
	assert_true(seen.n_grad == 4 && seen.n_step == 4);
	assert_true(seen.n_seqs[0] == 2 && seen.n_seqs[1] == 1 && seen.n_seqs[3] == 1);
	assert_true(seen.c[0][1] == -0.25f && seen.c[0][4] == 0.25f && seen.c[1][1] == -0.25f);
	assert_true(metrics_get(&x.m, "actor/updates") == 4);
	assert_true(x.policy.version == 4);
	arena_done(&x.a);
}

/* More minibatches than samples: as many as there are samples, the silent ones without a step. */
static void more_minibatches_than_samples(void **state)
{
	struct bench x;
	struct err e;

	(void)state;
	bench_init(&x);
	x.conf.train.minibatches = 100;
	assert_int_equal(update(&x, &e), 0);
	assert_true(seen.n_grad == 2 && seen.n_step == 2);
	arena_done(&x.a);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(silent_groups_are_left_out),
		cmocka_unit_test(entropy_reaches_silent_groups),
		cmocka_unit_test(unjudged_samples_have_no_weight),
		cmocka_unit_test(all_silent_makes_no_step),
		cmocka_unit_test(inexact_logp_is_a_bug),
		cmocka_unit_test(minibatches_and_epochs),
		cmocka_unit_test(more_minibatches_than_samples),
	};

	return RUN(tests);
}
