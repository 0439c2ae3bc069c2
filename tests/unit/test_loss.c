/* Losses: the cases of every surrogate, derivatives against differences, agreement with verl. */
#include "loss/loss.h"

#include <math.h>

#include "base/rng.h"

#include "test.h"

#include "batches.h"
#include "oracle.h"

#define FIND(family, name) ((const struct family *)part_find(PART_TABLE(family##_table), name))

static float *floats(struct arena *a, int64_t n, double v)
{
	float *x = arena_new(a, float, n);

	for (int64_t t = 0; t < n; t++)
		x[t] = (float)v;
	return x;
}

/* One loss with defaults; opts belong to the surrogate. */
static struct loss make_loss(struct arena *a, const struct surrogate *s, const char *opts)
{
	return (struct loss){ .surrogate = s,
		              .surrogate_cfg = family_config_with(s->opts, s->cfg_size, opts, a),
		              .agg = FIND(agg, "token_mean") };
}

static void every_surrogate_runs_its_cases(void **state)
{
	(void)state;
	for (int i = 0; surrogate_table[i]; i++) {
		const struct surrogate *f = surrogate_table[i];

		assert_true(family_described(f->name, f->doc, f->source));
		assert_true(f->cases && f->cases->n);
		for (const struct loss_case *k = f->cases; k->n; k++) {
			AUTO_ARENA a = { .limit = 1 << 16 };
			struct loss l = make_loss(&a, f, k->opts);
			struct group g = make_group(&a, "t", 1, &k->n);
			struct batch b = make_batch(&a, 1, &g);
			float old[4], logp[4], c[4], h[4];
			struct loss_in in = { &b, floats(&a, 4, k->A), floats(&a, 4, 1), old,
				              logp };
			struct loss_stats st = { 0 };
			struct err e;

			for (int t = 0; t < k->n; t++) {
				old[t] = (float)k->old[t];
				logp[t] = (float)k->logp[t];
			}
			assert_int_equal(loss_eval(&l, &in, 0, 1, c, h, &st, &e), 0);
			assert_true(fabs(st.loss - k->want_loss) < 1e-5);
			for (int t = 0; t < k->n; t++) {
				assert_true(fabs((double)c[t] - k->want_c[t]) < 1e-5);
				assert_true(h[t] == 0);
			}
		}
	}
}

/* L of the whole loss at the log-probs in->logp. */
static double value(const struct loss *l, const struct loss_in *in, float *c, float *h)
{
	struct loss_stats st = { 0 };
	struct err e;

	if (loss_eval(l, in, 0, in->b->n_samples, c, h, &st, &e) < 0)
		fail_msg("%s", e.msg);
	return st.loss + l->kl_coef * st.kl - l->entropy_coef * st.entropy;
}

/*	c_t = dL/dlogp_t and h_t = dL/dH_t against (L(x + s) - L(x - s)) / 2s
 *
 * at random points; where the two sides have different slopes (a clip border between them) the
 * analytic one must be one of the two.
 */
static void check_derivatives(struct loss *l, struct arena *a, uint32_t stream)
{
	static const int len[3] = { 5, 1, 4 };
	struct group g = make_group(a, "t", 3, len);
	struct batch b = make_batch(a, 1, &g);
	float *x[5], *c = floats(a, 10, 0), *h = floats(a, 10, 0), *c2 = floats(a, 10, 0);
	float *h2 = floats(a, 10, 0), *weight = floats(a, 10, 1);
	struct loss_in in = { &b };
	struct rng r;
	double L0;

	rng_init(&r, 1, RNG_DATA, stream, 0);
	weight[3] = 0;
	assert_int_equal(loss_plan(l, &b, weight, NULL), 0);
	for (int k = 0; k < 5; k++) {
		x[k] = floats(a, 10, 0);
		for (int t = 0; t < 10; t++)
			x[k][t] = (float)(k == 0 ? rng_normal(&r) : k == 3 ? 2 * rng_unit(&r) : 0);
	}
	for (int t = 0; t < 10; t++) {
		x[1][t] = (float)(-2 + 0.3 * rng_normal(&r));
		x[2][t] = (float)(x[1][t] + 0.3 * rng_normal(&r));
		x[4][t] = (float)(x[1][t] + 0.3 * rng_normal(&r));
	}
	in = (struct loss_in){ &b, x[0], weight, x[1], x[2], x[3], x[4] };
	L0 = value(l, &in, c, h);
	for (int k = 2; k <= 3; k++)
		for (int t = 0; t < 10; t++) {
			float keep = x[k][t], up = keep + 0x1p-10f, down = keep - 0x1p-10f;
			double Lu, Ld, got = k == 2 ? c[t] : h[t], right, left, mid;

			x[k][t] = up;
			Lu = value(l, &in, c2, h2);
			x[k][t] = down;
			Ld = value(l, &in, c2, h2);
			x[k][t] = keep;
			right = (Lu - L0) / ((double)up - keep);
			left = (L0 - Ld) / ((double)keep - down);
			mid = (Lu - Ld) / ((double)up - down);
			if (fabs(right - left) > 1e-2)
				assert_true(fabs(got - left) < 2e-2 || fabs(got - right) < 2e-2);
			else
				assert_true(fabs(got - mid) < 2e-5);
		}
	assert_true(c[3] == 0 && h[3] == 0);
}

static void derivatives_are_central_differences(void **state)
{
	static const char *const ppo[] = { NULL, "high=0.28", "dual=1.5" };

	(void)state;
	for (uint32_t n = 0; n < 20; n++) {
		AUTO_ARENA a = { .limit = 1 << 20 };

		for (int i = 0; surrogate_table[i]; i++)
			for (int k = 0; kl_table[k]; k++)
				for (int w = 0; agg_table[w]; w++) {
					const struct kl *kl = kl_table[k];
					const struct agg *agg = agg_table[w];
					struct loss l = make_loss(&a, surrogate_table[i], NULL);

					if (i == 0)
						l = make_loss(&a, FIND(surrogate, "ppo_clip"),
						              ppo[n % 3]);
					l.agg = agg;
					l.agg_cfg = family_config_with(agg->opts, agg->cfg_size,
					                               NULL, &a);
					l.kl = kl;
					l.kl_cfg = family_config_with(kl->opts, kl->cfg_size, NULL,
					                              &a);
					l.kl_coef = 0.7;
					l.entropy_coef = 0.3;
					check_derivatives(&l, &a, n);
				}
	}
}

static void parts_are_described(void **state)
{
	(void)state;
	for (int i = 0; agg_table[i]; i++)
		assert_true(family_described(agg_table[i]->name, agg_table[i]->doc,
		                             agg_table[i]->source));
	for (int i = 0; mask_table[i]; i++)
		assert_true(family_described(mask_table[i]->name, mask_table[i]->doc,
		                             mask_table[i]->source));
	for (int i = 0; kl_table[i]; i++)
		assert_true(
			family_described(kl_table[i]->name, kl_table[i]->doc, kl_table[i]->source));
}

/* Weights of samples with 2, 3 and 4 tokens; token 1 is not trained, sample 2 was cut off. */
static void weights_sum_to_one(void **state)
{
	static const struct {
		const char *agg, *opts;
		double want[3]; /* a token of each sample, if all count */
		double masked[2];
	} rows[] = {
		{ "token_mean", NULL, { 1 / 8., 1 / 8., 1 / 8. }, { 1 / 4., 1 / 4. } },
		{ "seq_mean", NULL, { 1 / 3., 1 / 9., 1 / 12. }, { 1 / 2., 1 / 6. } },
		{ "seq_sum", "length=10", { 1 / 30., 1 / 30., 1 / 30. }, { 1 / 20., 1 / 20. } },
	};
	static const int len[3] = { 2, 3, 4 };
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct group g = make_group(&a, "t", 3, len);
	struct batch b = make_batch(&a, 1, &g);

	(void)state;
	g.sample[2].finish = FINISH_LENGTH;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		struct loss l = { .agg = FIND(agg, rows[k].agg) };

		l.agg_cfg = family_config_with(l.agg->opts, l.agg->cfg_size, rows[k].opts, &a);
		for (int masked = 0; masked < 3; masked++) {
			float *w = floats(&a, 9, 1);
			const double *want = masked == 1 ? rows[k].masked : rows[k].want;

			w[1] = 0;
			l.n_masks = masked > 0;
			l.mask[0] = FIND(mask, "truncated");
			l.count_masked = masked == 2;
			assert_int_equal(loss_plan(&l, &b, w, NULL), 0);
			assert_true(fabs(w[0] - want[0]) < 1e-7 && w[1] == 0);
			assert_true(w[2] == w[4] && fabs(w[2] - want[1]) < 1e-7);
			assert_true(masked ? w[5] == 0 && w[8] == 0
			                   : fabs(w[5] - want[2]) < 1e-7 && w[5] == w[8]);
		}
	}
}

static void nothing_to_train_on_is_no_error(void **state)
{
	static const int len[1] = { 2 };
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct group g = make_group(&a, "t", 1, len);
	struct batch b = make_batch(&a, 1, &g);
	float w[2] = { 0 }, c[2] = { 7, 7 }, h[2] = { 7, 7 }, nan[2] = { NAN, NAN };

	(void)state;
	for (int i = 0; agg_table[i]; i++) {
		struct loss l = make_loss(&a, FIND(surrogate, "ppo_clip"), NULL);
		struct loss_in in = { &b, w, w, nan, nan, nan };
		struct loss_stats st = { 0 };

		l.agg = agg_table[i];
		l.agg_cfg = family_config_with(l.agg->opts, l.agg->cfg_size, NULL, &a);
		assert_int_equal(loss_plan(&l, &b, w, NULL), 0);
		assert_int_equal(loss_eval(&l, &in, 0, 1, c, h, &st, NULL), 0);
		assert_true(c[0] == 0 && c[1] == 0 && h[0] == 0 && st.loss == 0 && st.n_tok == 0);
	}
}

static void runs_of_samples_add_up(void **state)
{
	static const int len[3] = { 2, 3, 4 };
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct group g = make_group(&a, "t", 3, len);
	struct batch b = make_batch(&a, 1, &g);
	struct loss l = make_loss(&a, FIND(surrogate, "ppo_clip"), NULL);
	float *A = floats(&a, 9, 1), *w = floats(&a, 9, 1), *old = floats(&a, 9, -1);
	float *logp = floats(&a, 9, -1), c[2][9], h[2][9];
	struct loss_in in = { &b, A, w, old, logp, floats(&a, 9, .5) };
	struct loss_stats whole = { 0 }, sum = { 0 }, one = { 0 };
	struct err e;

	(void)state;
	l.entropy_coef = .01;
	logp[4] = 0; /* clipped */
	assert_int_equal(loss_plan(&l, &b, w, NULL), 0);
	assert_int_equal(loss_eval(&l, &in, 0, 3, c[0], h[0], &whole, &e), 0);
	for (int i = 0; i < 3; i++, one = (struct loss_stats){ 0 }) {
		assert_int_equal(loss_eval(&l, &in, i, i + 1, c[1], h[1], &one, &e), 0);
		loss_stats_add(&sum, &one);
	}
	assert_memory_equal(c[0], c[1], sizeof c[0]);
	assert_memory_equal(h[0], h[1], sizeof h[0]);
	assert_true(c[0][0] == -w[0] && c[0][4] == 0); /* ratio exactly 1 where nothing moved */
	assert_true(sum.n_tok == 9 && sum.n_clipped == 1 && whole.n_clipped == 1);
	assert_true(fabs(whole.loss - (-8 - 1.2) / 9) < 1e-6 &&
	            fabs(sum.loss - whole.loss) < 1e-12);
	assert_true(whole.delta_max == 1 && fabs(whole.ratio_max - M_E) < 1e-12);
	assert_true(whole.k1_sum == -1 && fabs(whole.k3_sum - (M_E - 2)) < 1e-12);
	assert_true(fabs(whole.entropy - .5) < 1e-6);
	logp[7] = NAN;
	assert_int_equal(loss_eval(&l, &in, 0, 3, c[0], h[0], &whole, &e), ERR_RANGE);
	assert_non_null(strstr(e.msg, "token 2 of sample 2"));
}

/* verl's vectors: rows are samples, all T columns are tokens. */
struct verl {
	const struct json *top, *in;
	int B, T;
	struct batch b;
	float *A, *mask, *old, *logp, *ref;
};

static float *matrix(struct arena *a, const struct json *m, int B, int T)
{
	float *x = arena_new(a, float, (size_t)B *(size_t)T);

	for (int i = 0; i < B; i++)
		for (int t = 0; t < T; t++)
			x[i * T + t] = (float)oracle_at(m, i, t);
	return x;
}

static bool verl_open(struct verl *v, struct arena *a)
{
	struct group *g = arena_new(a, struct group, 1);
	int len[32];

	v->top = oracle_open(a, ORACLE_PATH);
	v->in = json_get(v->top, "in");
	v->B = json_len(json_get(v->in, "mask"));
	v->T = json_len(json_at(json_get(v->in, "mask"), 0));
	if (!v->top)
		return false;
	for (int i = 0; i < v->B; i++)
		len[i] = v->T;
	*g = make_group(a, "", v->B, len);
	v->b = make_batch(a, 1, g);
	v->A = matrix(a, json_get(v->in, "loss_advantages"), v->B, v->T);
	v->mask = matrix(a, json_get(v->in, "mask"), v->B, v->T);
	v->old = matrix(a, json_get(v->in, "old_log_prob"), v->B, v->T);
	v->logp = matrix(a, json_get(v->in, "log_prob"), v->B, v->T);
	v->ref = matrix(a, json_get(v->in, "ref_log_prob"), v->B, v->T);
	return true;
}

static bool near(double got, double want, double tol)
{
	return fabs(got - want) <= tol * fmax(1, fabs(want));
}

static void agrees_with_verl(void **state)
{
	static const struct {
		const char *name, *surrogate, *opts, *agg, *agg_opts;
	} rows[] = {
		{ "vanilla/token-mean", "ppo_clip", "dual=3", "token_mean", NULL },
		{ "vanilla/seq-mean-token-sum", "ppo_clip", "dual=3", "seq_sum", NULL },
		{ "vanilla/seq-mean-token-sum-norm", "ppo_clip", "dual=3", "seq_sum", "length=12" },
		{ "vanilla/seq-mean-token-mean", "ppo_clip", "dual=3", "seq_mean", NULL },
		{ "vanilla(clip-higher .2/.28,c=10)/token-mean", "ppo_clip", "high=0.28 dual=10",
		  "token_mean", NULL },
		{ "gpg/token-mean", "reinforce", NULL, "token_mean", NULL },
		{ "gpg/seq-mean-token-mean", "reinforce", NULL, "seq_mean", NULL },
	};
	AUTO_ARENA a = { .limit = 64 << 20 };
	struct verl v;

	(void)state;
	if (!verl_open(&v, &a))
		skip();
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		const struct json *want = json_get(json_get(v.top, "loss"), rows[k].name);
		struct loss l = make_loss(&a, FIND(surrogate, rows[k].surrogate), rows[k].opts);
		float *w = floats(&a, v.b.n_tok, 0), *c = floats(&a, v.b.n_tok, 0);
		float *h = floats(&a, v.b.n_tok, 0);
		struct loss_in in = { &v.b, v.A, w, v.old, v.logp };
		struct loss_stats st = { 0 };
		struct err e;

		assert_non_null(want);
		memcpy(w, v.mask, (size_t)v.b.n_tok * sizeof *w);
		l.agg = FIND(agg, rows[k].agg);
		l.agg_cfg = family_config_with(l.agg->opts, l.agg->cfg_size, rows[k].agg_opts, &a);
		assert_int_equal(loss_plan(&l, &v.b, w, &e), 0);
		assert_int_equal(loss_eval(&l, &in, 0, v.B, c, h, &st, &e), 0);
		assert_true(near(st.loss, oracle_num(json_get(want, "loss")), 5e-5));
		for (int i = 0; i < v.B; i++)
			for (int t = 0; t < v.T; t++)
				assert_true(near(c[i * v.T + t],
				                 oracle_at(json_get(want, "grad"), i, t), 5e-5));
	}
}

static void kl_agrees_with_verl(void **state)
{
	static const char *const names[] = { "k1", "k2", "k3" };
	AUTO_ARENA a = { .limit = 64 << 20 };
	struct verl v;

	(void)state;
	if (!verl_open(&v, &a))
		skip();
	for (int k = 0; k < 3; k++) {
		const struct kl *kl = FIND(kl, names[k]);
		const void *cfg = family_config_with(kl->opts, kl->cfg_size, NULL, &a);
		const struct json *want = json_get(json_get(v.top, "kl"), names[k]);

		for (int i = 0; i < v.B; i++)
			for (int t = 0; t < v.T; t++) {
				int at = i * v.T + t;
				double x, d;

				kl->eval(cfg, v.logp[at], v.ref[at], &x, &d);
				d *= v.mask[at];
				assert_true(near(x, oracle_at(json_get(want, "kl"), i, t), 5e-5));
				assert_true(near(
					d, oracle_at(json_get(want, "grad_of_masked_sum"), i, t),
					5e-5));
			}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_surrogate_runs_its_cases),
		cmocka_unit_test(derivatives_are_central_differences),
		cmocka_unit_test(parts_are_described),
		cmocka_unit_test(weights_sum_to_one),
		cmocka_unit_test(nothing_to_train_on_is_no_error),
		cmocka_unit_test(runs_of_samples_add_up),
		cmocka_unit_test(agrees_with_verl),
		cmocka_unit_test(kl_agrees_with_verl),
	};

	return RUN(tests);
}
