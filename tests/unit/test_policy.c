/* test_policy.c - sampling and checkpoints of the transformer: the log-prob at sampling is that of
 * prefill, score and grad bit for bit; forks; checkpoints that resume bit for bit.
 */
#include "test.h"

#include "base/io.h"
#include "policy_fixture.h"

#include <unistd.h>

/* Samples grown from prompts, as a batch with the log-probs of sampling. */
struct grown {
	struct batch *b;
	float logp[BATCH_TOKENS], entropy[BATCH_TOKENS];
	int len[BATCH_SEQS], prompt[BATCH_SEQS], seq[BATCH_SEQS];
	int32_t tok[BATCH_SEQS][96];
	float lp[BATCH_SEQS][96], en[BATCH_SEQS][96];
};

/* n_prompts prompts of random length, forks of each, steps tokens; some stop early. */
static void grow(struct transformer *t, struct grown *g, int n_prompts, int forks, int steps,
                 double temperature, uint32_t seed)
{
	struct sampling s = { temperature, seed };
	struct draw d[BATCH_SEQS];
	struct drawn r[BATCH_SEQS];
	struct rng rng;
	int n = 0;

	rng_init(&rng, seed, RNG_DATA, 9, 0);
	for (int i = 0; i < n_prompts; i++) {
		int base, len = 1 + (int)rng_below(&rng, 40);

		for (int j = 0; j < len; j++)
			g->tok[n][j] = (int32_t)rng_below(&rng, (uint32_t)t->vocab);
		OK(transformer_prefill(&t->p, g->tok[n], len, &base, &err));
		for (int k = 0; k < forks; k++, n++) {
			memcpy(g->tok[n], g->tok[n - k], sizeof g->tok[n]);
			g->len[n] = g->prompt[n] = len;
			OK(kv_fork(&t->kv, base, &g->seq[n], &err));
		}
		kv_release(&t->kv, base);
	}
	for (int k = 0; k < steps; k++) {
		int m = 0, who[BATCH_SEQS];

		for (int i = 0; i < n; i++)
			if (k < steps - i % 5) {
				who[m] = i;
				d[m++] =
					(struct draw){ g->seq[i],
					               { (uint32_t)g->len[i], (uint32_t)i, 7, 0 } };
			}
		OK(transformer_sample(&t->p, &s, d, m, r, &err));
		for (int j = 0; j < m; j++) {
			int i = who[j], at = g->len[i]++;

			g->tok[i][at] = r[j].tok;
			g->lp[i][at] = r[j].logp;
			g->en[i][at] = r[j].entropy;
		}
	}
	for (int i = 0; i < n; i++)
		kv_release(&t->kv, g->seq[i]);
	g->b = calloc(1, sizeof *g->b);
	assert_non_null(g->b);
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < g->len[i]; j++, g->b->n++) {
			g->b->tok[g->b->n] = g->tok[i][j];
			g->b->c[g->b->n] = 1;
			g->logp[g->b->n] = g->lp[i][j];
			g->entropy[g->b->n] = g->en[i][j];
		}
		g->b->first[i + 1] = g->b->n;
	}
	g->b->s = (struct seqs){ n, g->b->tok, g->b->first };
}

static int kv_in_use(const struct transformer *t)
{
	return t->kv.n_entries - t->kv.n_free;
}

/* Sampling == score == grad, for any threads, widths, temperature and company. */
static void check_exact(struct hf_config c, int threads, double temperature, uint32_t seed)
{
	struct transformer *t = model(c, threads, 65, 7);
	struct grown *g = calloc(1, sizeof *g);
	float *lp = calloc(BATCH_TOKENS, sizeof *lp), *en = calloc(BATCH_TOKENS, sizeof *en);
	int trained = 0;

	assert_true(g && lp && en);
	grow(t, g, 6, 4, 37, temperature, seed);
	assert_int_equal(kv_in_use(t), 0);
	OK(transformer_score(&t->p, &g->b->s, temperature, lp, en, &err));
	OK(transformer_grad(&t->p, &g->b->s, temperature, coef_of_batch, g->b, &err));
	assert_true(same_bits(lp, g->b->logp, g->b->n));
	assert_true(same_bits(en, g->b->entropy, g->b->n));
	for (int i = 0; i < g->b->s.n; i++) {
		assert_true(lp[g->b->first[i]] == 0);
		for (int64_t j = g->b->first[i] + g->prompt[i]; j < g->b->first[i + 1]; j++) {
			trained++;
			if (!same_bits(&lp[j], &g->logp[j], 1) ||
			    !same_bits(&en[j], &g->entropy[j], 1))
				fail_msg("sequence %d, token %lld: sampled %.9g, scored %.9g", i,
				         (long long)(j - g->b->first[i]), (double)g->logp[j],
				         (double)lp[j]);
		}
	}
	assert_true(trained > 800);
	free(g->b), free(g), free(lp), free(en);
	model_free(t);
}

static void test_exact(void **state)
{
	(void)state;
	check_exact(big_shape(), 1, 1, 1);
	check_exact(big_shape(), 3, 0.7, 2);
	check_exact(tiny_shape(), 2, 1.3, 3);
	check_exact(tiny_shape(), 1, 0, 4); /* greedy: log-probs of temperature 1 */
}

/* The same samples alone as in company, with one thread as with three, in every vector width. */
static void test_same_samples(void **state)
{
	static const char *const isa[] = { "scalar", "avx2", "avx512" };
	const struct kern *const k[] = { &kern_scalar, &kern_avx2, &kern_avx512 };
	struct grown *want = calloc(1, sizeof *want);
	struct transformer *t = model(tiny_shape(), 1, 65, 7);

	(void)state;
	assert_non_null(want);
	grow(t, want, 3, 5, 20, 1, 5);
	model_free(t);
	for (int i = 0; i < 4; i++) {
		struct grown *g = calloc(1, sizeof *g);

		assert_non_null(g);
		if (i < 3 && !kern_usable(k[i])) {
			print_message("# %s is not tested: this CPU does not have it\n", isa[i]);
			free(g);
			continue;
		}
		if (i < 3)
			(void)setenv("CUPEL_ISA", isa[i], 1);
		t = model(tiny_shape(), i == 3 ? 3 : 1, 65, 7);
		(void)unsetenv("CUPEL_ISA");
		grow(t, g, 3, 5, 20, 1, 5);
		assert_memory_equal(g->tok, want->tok, sizeof g->tok);
		assert_memory_equal(g->lp, want->lp, sizeof g->lp);
		assert_memory_equal(g->en, want->en, sizeof g->en);
		model_free(t);
		free(g->b);
		free(g);
	}
	free(want->b);
	free(want);
}

/* A fork goes on like a fresh prefill of the same tokens; the parent is not disturbed. */
static void test_fork(void **state)
{
	struct transformer *t = model(big_shape(), 2, 8, 7);
	struct sampling s = { 1, 3 };
	int32_t tok[96] = { 3, 1, 4, 1, 5 };
	int base, n = 5, seq[3];

	(void)state;
	OK(transformer_prefill(&t->p, tok, n, &base, &err));
	for (; n < 60; n++) {
		struct draw d[3];
		struct drawn r[3], p;

		OK(kv_fork(&t->kv, base, &seq[0], &err));
		OK(kv_fork(&t->kv, seq[0], &seq[1], &err));
		OK(transformer_prefill(&t->p, tok, n, &seq[2], &err));
		for (int i = 0; i < 3; i++)
			d[i] = (struct draw){ seq[i], { (uint32_t)n, 0, 0, 0 } };
		OK(transformer_sample(&t->p, &s, d, 3, r, &err));
		kv_release(&t->kv, seq[1]);
		d[0] = (struct draw){ base, { (uint32_t)n, 0, 0, 0 } };
		OK(transformer_sample(&t->p, &s, d, 1, &p, &err));
		for (int i = 0; i < 3; i++)
			assert_memory_equal(&r[i], &p, sizeof p);
		kv_release(&t->kv, seq[0]);
		kv_release(&t->kv, seq[2]);
		tok[n] = p.tok;
	}
	assert_int_equal(kv_in_use(t), (60 - 1 + 15) / 16);
	kv_release(&t->kv, base);
	assert_int_equal(kv_in_use(t), 0);
	model_free(t);
}

static void test_limits(void **state)
{
	struct transformer *t = model(tiny_shape(), 1, 2, 7);
	struct sampling s = { 1, 3 };
	int32_t tok[97] = { 0 };
	struct draw d[2] = { { 0 } };
	struct drawn r[2];
	int a = -1, b = -1, c = -1;

	(void)state;
	assert_int_equal(transformer_prefill(&t->p, tok, 0, &a, &err), ERR_RANGE);
	assert_int_equal(transformer_prefill(&t->p, tok, 97, &a, &err), ERR_RANGE);
	tok[2] = 40;
	assert_int_equal(transformer_prefill(&t->p, tok, 3, &a, &err), ERR_RANGE);
	tok[2] = 0;
	OK(transformer_prefill(&t->p, tok, 95, &a, &err));
	OK(transformer_prefill(&t->p, tok, 96, &b, &err));
	assert_int_equal(transformer_prefill(&t->p, tok, 3, &c, &err), ERR_LIMIT);
	assert_int_equal(kv_fork(&t->kv, a, &c, &err), ERR_LIMIT);
	assert_int_equal(c, -1);
	d[0].seq = d[1].seq = a;
	assert_int_equal(transformer_sample(&t->p, &s, d, 2, r, &err), ERR_RANGE);
	OK(transformer_sample(&t->p, &s, d, 1, r, &err)); /* the 96th token */
	assert_int_equal(transformer_sample(&t->p, &s, d, 1, r, &err), ERR_LIMIT);
	d[0].seq = 7;
	assert_int_equal(transformer_sample(&t->p, &s, d, 1, r, &err), ERR_RANGE);
	kv_release(&t->kv, b);
	d[0].seq = b;
	assert_int_equal(transformer_sample(&t->p, &s, d, 1, r, &err), ERR_RANGE);
	OK(kv_fork(&t->kv, a, &c, &err));
	model_free(t);
}

/* Frequencies of the first token against its probabilities. */
static void test_frequencies(void **state)
{
	enum { ROUNDS = 100, FORKS = 50, V = 40 };
	struct transformer *t = model(tiny_shape(), 1, FORKS + 1, 7);
	struct sampling s = { 1.5, 11 };
	int32_t tok[] = { 5, 6, 7 };
	struct draw d[FORKS];
	struct drawn r[FORKS];
	double p[V] = { 0 }, chi = 0;
	int base, count[V] = { 0 }, free_counts = -1;

	(void)state;
	OK(transformer_prefill(&t->p, tok, 3, &base, &err));
	for (int i = 0; i < ROUNDS; i++) {
		for (int j = 0; j < FORKS; j++) {
			OK(kv_fork(&t->kv, base, &d[j].seq, &err));
			memcpy(d[j].ctr, (uint32_t[]){ 3, (uint32_t)j, 1, (uint32_t)i },
			       sizeof d[j].ctr);
		}
		OK(transformer_sample(&t->p, &s, d, FORKS, r, &err));
		for (int j = 0; j < FORKS; j++) {
			count[r[j].tok]++;
			p[r[j].tok] = exp((double)r[j].logp);
			kv_release(&t->kv, d[j].seq);
		}
	}
	for (int v = 0; v < V; v++) {
		double want = p[v] * ROUNDS * FORKS;

		if (want < 5)
			continue;
		chi += (count[v] - want) * (count[v] - want) / want;
		free_counts++;
	}
	assert_true(free_counts >= 5);
	assert_true(chi < free_counts + 5 * sqrt(2.0 * free_counts));
	model_free(t);
}

static struct tok *some_tok(void)
{
	static const char *const special[] = { "<|end|>", NULL };
	struct str text[] = { STR("for x in xs: total += x"), STR("return [x for x in xs]"),
		              STR("for y in ys: if y > x: return y") };
	struct tok *t;

	OK(tok_train(text, 3, 280, special, &t, &err));
	return t;
}

static void step(struct policy *p, struct batch *b, int n)
{
	struct optim o = { .lr = 1e-2, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .clip = 1 };
	struct step_stats st;

	for (int i = 0; i < n; i++) {
		OK(p->fn->grad(p, &b->s, 1, coef_of_batch, b, &err));
		OK(p->fn->step(p, &o, &st, &err));
		assert_false(st.skipped);
	}
}

/* Three steps are one step, a checkpoint and two steps; without the optimizer they are not. */
static void test_resume(void **state)
{
	struct policy_shape shape = { 32, 2, 2, 1, 48, 64, 1e4, 1e-5 };
	char dir[] = "/tmp/cupel-test-XXXXXX", path[64];
	struct policy *p, *q;
	struct batch *b = batch(8, 40, 200, 1);
	float *lp = calloc(3 * BATCH_TOKENS, sizeof *lp), *lq = lp + BATCH_TOKENS;
	float *en = lq + BATCH_TOKENS;
	struct pool *pool;

	(void)state;
	assert_true(lp && mkdtemp(dir));
	OK(pool_new(2, &pool, &err));
	OK(policy_new(&shape, some_tok(), 5, pool, 4, &p, &err));
	assert_int_equal(p->max_seq, 64);
	step(p, b, 1);
	(void)snprintf(path, sizeof path, "%s/with", dir);
	OK(p->fn->save(p, path, true, &err));
	OK(policy_load(path, pool, 4, &q, &err));
	assert_int_equal(q->version, 1);
	assert_int_equal(q->n_params, p->n_params);
	assert_int_equal(tok_eos(q->tok), tok_eos(p->tok));
	OK(p->fn->score(p, &b->s, 1, lp, en, &err));
	OK(q->fn->score(q, &b->s, 1, lq, en, &err));
	assert_true(same_bits(lp, lq, b->n));
	step(p, b, 2);
	step(q, b, 2);
	assert_int_equal(q->version, p->version);
	assert_true(
		same_bits(transformer_of(p)->weight.p, transformer_of(q)->weight.p, p->n_params));
	assert_true(same_bits(transformer_of(p)->moment.p, transformer_of(q)->moment.p,
	                      2 * p->n_params));
	policy_free(q);
	(void)snprintf(path, sizeof path, "%s/without", dir);
	OK(p->fn->save(p, path, false, &err));
	OK(policy_load(path, pool, 4, &q, &err));
	assert_int_equal(q->version, 0);
	step(p, b, 1);
	step(q, b, 1);
	assert_false(
		same_bits(transformer_of(p)->weight.p, transformer_of(q)->weight.p, p->n_params));
	policy_free(p);
	policy_free(q);
	pool_free(pool);
	OK(io_remove_tree(dir, &err));
	free(b);
	free(lp);
}

/* The same seed gives the same weights, another one others. */
static void test_seed(void **state)
{
	struct policy_shape shape = { 32, 1, 2, 1, 48, 64, 1e4, 1e-5 };
	struct policy *p[3];
	struct pool *pool[2];
	double sum = 0;

	(void)state;
	for (int i = 0; i < 2; i++)
		OK(pool_new(1 + i, &pool[i], &err));
	for (int i = 0; i < 3; i++)
		OK(policy_new(&shape, some_tok(), i == 2 ? 6 : 5, pool[i % 2], 4, &p[i], &err));
	assert_true(same_bits(transformer_of(p[0])->weight.p, transformer_of(p[1])->weight.p,
	                      p[0]->n_params));
	assert_false(same_bits(transformer_of(p[0])->weight.p, transformer_of(p[2])->weight.p,
	                       p[0]->n_params));
	for (int i = 0; i < 256 * 32; i++) {
		double w = transformer_of(p[0])->weight.p[transformer_of(p[0])->embed + i];

		sum += w * w;
	}
	assert_true(fabs(sqrt(sum / (256 * 32)) - 0.02) < 0.001);
	for (int i = 0; i < 3; i++)
		policy_free(p[i]);
	for (int i = 0; i < 2; i++)
		pool_free(pool[i]);
}

static void test_bad_shapes(void **state)
{
	struct policy_shape shape = { 40, 1, 2, 1, 48, 64, 1e4, 1e-5 };
	struct policy *p = NULL;
	struct pool *pool;
	struct tok *tok = some_tok();

	(void)state;
	OK(pool_new(1, &pool, &err));
	assert_int_equal(policy_new(&shape, tok, 1, pool, 4, &p, &err), ERR_RANGE);
	assert_non_null(strstr(err.msg, "hidden_size 40"));
	shape.d = 48, shape.heads = 5;
	assert_int_equal(policy_new(&shape, tok, 1, pool, 4, &p, &err), ERR_RANGE);
	shape.heads = 3, shape.kv_heads = 2;
	assert_int_equal(policy_new(&shape, tok, 1, pool, 4, &p, &err), ERR_RANGE);
	assert_true(policy_load("/nowhere", pool, 4, &p, &err) < 0);
	assert_null(p);
	tok_free(tok);
	pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),       cmocka_unit_test(test_same_samples),
		cmocka_unit_test(test_fork),        cmocka_unit_test(test_limits),
		cmocka_unit_test(test_frequencies), cmocka_unit_test(test_resume),
		cmocka_unit_test(test_seed),        cmocka_unit_test(test_bad_shapes),
	};

	return RUN(tests);
}
