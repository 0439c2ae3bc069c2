/* test_policy_grad.c - gradients of the transformer: central differences of every tensor, the same
 * bits for any number of threads and any vector width, AdamW, learning.
 */
#include "test.h"

#include "policy_fixture.h"

#include <malloc.h>

/* L = sum c logp + h H, from scores; in double, so that only the forward pass is fp32. */
static double loss(struct transformer *t, struct batch *b, double temperature)
{
	static float logp[BATCH_TOKENS], entropy[BATCH_TOKENS];
	double L = 0;

	OK(transformer_score(&t->p, &b->s, temperature, logp, entropy, &err));
	for (int i = 0; i < b->s.n; i++)
		for (int64_t j = b->first[i] + 1; j < b->first[i + 1]; j++)
			L += (double)b->c[j] * logp[j] + (double)b->h[j] * entropy[j];
	return L;
}

/* dL/dw by differences at +-d and +-2 d: the error is of fourth order. */
static double slope(struct transformer *t, struct batch *b, double temperature, int64_t at, float d)
{
	float w = t->weight.p[at];
	double y[4];

	for (int i = 0; i < 4; i++) {
		t->weight.p[at] = w + d * (float)(i < 2 ? i - 2 : i - 1);
		transformer_pack(t);
		y[i] = loss(t, b, temperature);
	}
	t->weight.p[at] = w;
	transformer_pack(t);
	return (8 * (y[2] - y[1]) - (y[3] - y[0])) / (12 * (double)d);
}

static void check_gradient(struct hf_config c, double temperature, int samples)
{
	struct transformer *t = model(c, 1, 1, 7);
	struct batch *b = batch(4, 21, t->vocab, 3);
	struct rng r;

	rng_init(&r, 5, RNG_DATA, 2, 0);
	OK(transformer_grad(&t->p, &b->s, temperature, coef_of_batch, b, &err));
	for (int i = 0; i < t->n_tensors; i++) {
		const struct tensor *x = &t->tensor[i];
		const float *g = t->grad + x->off;
		double top = 0;

		for (int64_t j = 0; j < x->n; j++)
			top = fmax(top, fabs((double)g[j]));
		assert_true(top > 0.01); /* the tensor takes part */
		for (int k = 0; k < samples; k++) {
			int64_t j = rng_below(&r, (uint32_t)x->n);
			double want = slope(t, b, temperature, x->off + j, 2e-3f);

			if (!(fabs(g[j] - want) < 2e-3 * top + 2e-2 * fabs(want)))
				fail_msg("%s[%lld]: %.6g, differences give %.6g (largest %.3g)",
				         x->name, (long long)j, (double)g[j], want, top);
		}
	}
	free(b);
	model_free(t);
}

static void test_differences(void **state)
{
	(void)state;
	check_gradient(big_shape(), 1, 4);
	check_gradient(tiny_shape(), 0.6, 4);
}

/* Large enough for several chunks. */
static float *gradient(int threads, const char *isa, struct hf_config c, struct batch *b,
                       int64_t *n)
{
	struct transformer *t;
	float *g;

	if (isa)
		(void)setenv("CUPEL_ISA", isa, 1);
	t = model(c, threads, 1, 7);
	(void)unsetenv("CUPEL_ISA");
	OK(transformer_grad(&t->p, &b->s, 0.8, coef_of_batch, b, &err));
	*n = t->n_floats;
	g = malloc((size_t)*n * sizeof *g);
	assert_non_null(g);
	memcpy(g, t->grad, (size_t)*n * sizeof *g);
	model_free(t);
	return g;
}

static void test_threads(void **state)
{
	struct batch *b = batch(40, 70, 37, 11);
	int64_t n;
	float *one = gradient(1, NULL, big_shape(), b, &n);

	(void)state;
	assert_true(b->n > 4 * 256);
	for (int threads = 2; threads <= 3; threads++) {
		float *g = gradient(threads, NULL, big_shape(), b, &n);

		assert_true(same_bits(g, one, n));
		free(g);
	}
	free(one);
	free(b);
}

static void test_widths(void **state)
{
	static const char *const isa[] = { "scalar", "avx2", "avx512" };
	const struct kern *const k[] = { &kern_scalar, &kern_avx2, &kern_avx512 };
	struct batch *b = batch(5, 40, 37, 12);
	struct batch *want = NULL;
	float *g0 = NULL;

	(void)state;
	for (int i = 0; i < 3; i++) {
		int64_t n;
		float *g;

		if (!kern_usable(k[i])) {
			print_message("# %s is not tested: this CPU does not have it\n", isa[i]);
			continue;
		}
		g = gradient(1, isa[i], big_shape(), b, &n);
		if (!g0) {
			g0 = g;
			want = malloc(sizeof *want);
			assert_non_null(want);
			*want = *b;
			continue;
		}
		assert_true(same_bits(g, g0, n));
		assert_true(same_bits(b->logp, want->logp, b->n));
		assert_true(same_bits(b->entropy, want->entropy, b->n));
		free(g);
	}
	free(g0);
	free(want);
	free(b);
}

/* A batch without a token to predict has gradient zero; grad() does not add to the last one. */
static void test_empty(void **state)
{
	struct transformer *t = model(tiny_shape(), 1, 1, 7);
	struct batch *b = batch(3, 30, 40, 1);
	int64_t first[] = { 0, 1, 1, 2 };
	struct seqs s = { 3, b->tok, first }, none = { 0 };
	double sum = 0;

	(void)state;
	OK(transformer_grad(&t->p, &b->s, 1, coef_of_batch, b, &err));
	OK(transformer_grad(&t->p, &s, 1, coef_of_batch, b, &err));
	for (int64_t i = 0; i < t->n_floats; i++)
		sum += fabsf(t->grad[i]);
	assert_true(sum == 0);
	OK(transformer_grad(&t->p, &none, 1, coef_of_batch, b, &err));
	free(b);
	model_free(t);
}

static int refuse(void *arg, int i0, int i1, const float *logp, const float *entropy, float *c,
                  float *h, struct err *e)
{
	(void)arg, (void)i1, (void)logp, (void)entropy, (void)c, (void)h;
	return FAIL(e, ERR_STOP, "refused at %d", i0);
}

static void test_errors(void **state)
{
	struct transformer *t = model(tiny_shape(), 2, 1, 7);
	struct batch *b = batch(20, 60, 40, 1);
	struct optim o = { .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8 };
	struct step_stats st = { 1, true };

	(void)state;
	assert_int_equal(transformer_step(&t->p, &o, &st, &err), ERR_RANGE);
	assert_int_equal(transformer_grad(&t->p, &b->s, 1, refuse, b, &err), ERR_STOP);
	assert_non_null(strstr(err.msg, "refused"));
	assert_int_equal(transformer_step(&t->p, &o, &st, &err), ERR_RANGE);
	b->tok[7] = 40;
	assert_int_equal(transformer_grad(&t->p, &b->s, 1, coef_of_batch, b, &err), ERR_RANGE);
	b->tok[7] = -1;
	assert_int_equal(transformer_score(&t->p, &b->s, 1, b->logp, b->entropy, &err), ERR_RANGE);
	b->tok[7] = 0;
	b->s = (struct seqs){ 1, b->tok, (int64_t[]){ 0, 97 } };
	assert_int_equal(transformer_score(&t->p, &b->s, 1, b->logp, b->entropy, &err), ERR_RANGE);
	free(b);
	model_free(t);
}

static void test_step(void **state)
{
	struct transformer *t = model(big_shape(), 2, 1, 7);
	struct batch *b = batch(6, 30, 37, 2);
	struct optim o = { .lr = 1e-2,
		           .beta1 = 0.9,
		           .beta2 = 0.95,
		           .eps = 1e-8,
		           .weight_decay = 0.1,
		           .clip = 0.5 };
	int64_t n = t->n_floats;
	double *w = calloc((size_t)(3 * n), sizeof *w), *m = w + n, *v = w + 2 * n;

	(void)state;
	for (int64_t i = 0; i < n; i++)
		w[i] = t->weight.p[i];
	for (int step = 1; step <= 3; step++) {
		struct step_stats st;
		double norm = 0, scale;

		OK(transformer_grad(&t->p, &b->s, 1, coef_of_batch, b, &err));
		for (int64_t i = 0; i < n; i++)
			norm += (double)t->grad[i] * t->grad[i];
		norm = sqrt(norm);
		scale = fmin(1, 0.5 / (norm + 1e-6));
		for (int k = 0; k < t->n_tensors; k++) {
			const struct tensor *x = &t->tensor[k];

			for (int64_t i = x->off; i < x->off + x->n; i++) {
				double g = t->grad[i] * scale, wd = x->rank == 1 ? 0 : 0.1;

				m[i] = 0.9 * m[i] + 0.1 * g;
				v[i] = 0.95 * v[i] + 0.05 * g * g;
				w[i] -= 1e-2 *
				        (m[i] / (1 - pow(0.9, step)) /
				                 (sqrt(v[i] / (1 - pow(0.95, step))) + 1e-8) +
				         wd * w[i]);
			}
		}
		OK(transformer_step(&t->p, &o, &st, &err));
		assert_false(st.skipped);
		assert_true(fabs(st.grad_norm / norm - 1) < 1e-9);
		assert_int_equal(t->p.version, step);
		for (int64_t i = 0; i < n; i++)
			if (!(fabs(t->weight.p[i] - w[i]) < 2e-5))
				fail_msg("step %d, weight %lld: %.8g, want %.8g", step,
				         (long long)i, (double)t->weight.p[i], w[i]);
	}
	free(w);
	free(b);
	model_free(t);
}

/* A norm that is not finite changes nothing. */
static void test_skip(void **state)
{
	struct transformer *t = model(tiny_shape(), 1, 1, 7);
	struct batch *b = batch(2, 20, 40, 2);
	struct optim o = { .lr = 1, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .clip = 1 };
	struct step_stats st;
	float *w = malloc((size_t)t->n_floats * sizeof *w);

	(void)state;
	assert_non_null(w);
	memcpy(w, t->weight.p, (size_t)t->n_floats * sizeof *w);
	b->c[1] = INFINITY;
	OK(transformer_grad(&t->p, &b->s, 1, coef_of_batch, b, &err));
	OK(transformer_step(&t->p, &o, &st, &err));
	assert_true(st.skipped);
	assert_int_equal(t->p.version, 0);
	assert_true(same_bits(w, t->weight.p, t->n_floats));
	free(w);
	free(b);
	model_free(t);
}

static int coef_likelihood(void *arg, int i0, int i1, const float *logp, const float *entropy,
                           float *c, float *h, struct err *e)
{
	struct batch *b = arg;

	(void)entropy, (void)h, (void)e;
	for (int64_t j = b->first[i0]; j < b->first[i1]; j++) {
		b->logp[j] = logp[j];
		c[j] = -1.0f / (float)b->n;
	}
	return 0;
}

/* The second half of each sequence repeats the first. */
static void test_learning(void **state)
{
	struct transformer *t = model(tiny_shape(), 2, 1, 7);
	struct batch *b = calloc(1, sizeof *b);
	struct optim o = { .lr = 1e-2, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .clip = 1 };
	struct step_stats st;
	struct rng r;
	double L[11];

	(void)state;
	assert_non_null(b);
	rng_init(&r, 1, RNG_DATA, 0, 0);
	transformer_init_weights(t, 1);
	transformer_pack(t);
	b->s = (struct seqs){ 32, b->tok, b->first };
	for (int i = 0; i < 32; i++) {
		for (int j = 0; j < 16; j++, b->n++)
			b->tok[b->n] = j < 8 ? (int32_t)rng_below(&r, 8) : b->tok[b->n - 8];
		b->first[i + 1] = b->n;
	}
	for (int k = 0; k <= 10; k++) {
		OK(transformer_grad(&t->p, &b->s, 1, coef_likelihood, b, &err));
		L[k] = 0;
		for (int64_t j = 0; j < b->n; j++)
			L[k] -= b->logp[j] / (double)b->n;
		OK(transformer_step(&t->p, &o, &st, &err));
		assert_true(k == 0 || L[k] < L[k - 1]);
	}
	assert_true(fabs(L[0] - log(40) * 15 / 16) < 0.05); /* flat at first */
	assert_true(L[10] < log(9) * 15 / 16);              /* at least: only 8 tokens occur */
	free(b);
	model_free(t);
}

/* After the first step the same batch needs no further memory. */
static void test_steady(void **state)
{
	struct transformer *t = model(tiny_shape(), 2, 1, 7);
	struct batch *b = batch(30, 60, 40, 2);
	struct optim o = { .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .clip = 1 };
	struct step_stats st;
	const float *grads = NULL, *acts = NULL;
	size_t used = 0;

	(void)state;
	for (int i = 0; i < 4; i++) {
		OK(transformer_grad(&t->p, &b->s, 1, coef_of_batch, b, &err));
		OK(transformer_step(&t->p, &o, &st, &err));
		if (i == 0) {
			grads = t->tree.slab.p;
			acts = t->work[1].slab.p;
			used = mallinfo2().uordblks;
		}
		assert_ptr_equal(t->tree.slab.p, grads);
		assert_ptr_equal(t->work[1].slab.p, acts);
		assert_true(mallinfo2().uordblks == used);
	}
	free(b);
	model_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_widths),      cmocka_unit_test(test_empty),
		cmocka_unit_test(test_errors),      cmocka_unit_test(test_step),
		cmocka_unit_test(test_skip),        cmocka_unit_test(test_learning),
		cmocka_unit_test(test_steady),
	};

	return RUN(tests);
}
