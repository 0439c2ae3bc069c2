/* policy_fixture.h - small transformers and random batches for the tests of the policy. */
#ifndef POLICY_FIXTURE_H
#define POLICY_FIXTURE_H

#include "base/rng.h"
#include "policy/transformer_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call)                                                                                   \
	do {                                                                                       \
		if ((call) < 0)                                                                    \
			fail_msg("%s: %s", #call, err.msg);                                        \
	} while (0)

static struct err err;

/* Grouped heads, biases and an own head: all that a layer can have. */
static struct hf_config big_shape(void)
{
	return (struct hf_config){ .d = 48,
		                   .layers = 2,
		                   .heads = 4,
		                   .kv_heads = 2,
		                   .head_dim = 16,
		                   .ffn = 64,
		                   .vocab = 37,
		                   .max_seq = 96,
		                   .rope_theta = 1e4,
		                   .norm_eps = 1e-5,
		                   .qkv_bias = true,
		                   .bos = -1,
		                   .eos = 0,
		                   .model_type = "qwen2",
		                   .dtype = "float32" };
}

static struct hf_config tiny_shape(void)
{
	return (struct hf_config){ .d = 32,
		                   .layers = 2,
		                   .heads = 2,
		                   .kv_heads = 2,
		                   .head_dim = 16,
		                   .ffn = 48,
		                   .vocab = 40,
		                   .max_seq = 96,
		                   .rope_theta = 1e4,
		                   .norm_eps = 1e-5,
		                   .tie = true,
		                   .bos = -1,
		                   .eos = 0,
		                   .model_type = "llama",
		                   .dtype = "float32" };
}

/* Weights large enough for distributions that are far from flat. */
static struct transformer *model(struct hf_config c, int threads, int max_live, uint64_t seed)
{
	struct pool *pool;
	struct transformer *t;
	struct rng r;

	OK(pool_new(threads, &pool, &err));
	OK(transformer_new(&c, pool, max_live, &t, &err));
	rng_init(&r, seed, RNG_DATA, 0, 0);
	for (int i = 0; i < t->n_tensors; i++) {
		struct tensor *x = &t->tensor[i];
		bool norm = strstr(x->name, "norm") != NULL;

		for (int64_t j = 0; j < x->n; j++)
			t->weight.p[x->off + j] = (float)(rng_normal(&r) * 0.25 + norm);
	}
	transformer_pack(t);
	return t;
}

static void model_free(struct transformer *t)
{
	struct pool *pool = t->p.pool;

	transformer_free(t);
	pool_free(pool);
}

enum { BATCH_TOKENS = 4096, BATCH_SEQS = 64 };

struct batch {
	struct seqs s;
	int64_t n; /* tokens */
	int32_t tok[BATCH_TOKENS];
	int64_t first[BATCH_SEQS + 1];
	float c[BATCH_TOKENS], h[BATCH_TOKENS]; /* dL/dlogp, dL/dentropy */
	float logp[BATCH_TOKENS], entropy[BATCH_TOKENS];
};

/* n sequences of 0..longest tokens; a third of the coefficients is zero. */
static struct batch *batch(int n, int longest, int vocab, uint32_t seed)
{
	struct batch *b = calloc(1, sizeof *b);
	struct rng r;

	assert_non_null(b);
	rng_init(&r, seed, RNG_DATA, 1, 0);
	for (int i = 0; i < n; i++) {
		int len = i == 0 ? longest : (int)rng_below(&r, (uint32_t)longest + 1);

		for (int j = 0; j < len; j++, b->n++) {
			b->tok[b->n] = (int32_t)rng_below(&r, (uint32_t)vocab);
			if (rng_below(&r, 3)) {
				b->c[b->n] = (float)rng_normal(&r);
				b->h[b->n] = (float)rng_normal(&r);
			}
		}
		b->first[i + 1] = b->n;
	}
	b->s = (struct seqs){ n, b->tok, b->first };
	return b;
}

/* A coef_fn that hands out the batch's coefficients and keeps what it is shown. */
static int coef_of_batch(void *arg, int i0, int i1, const float *logp, const float *entropy,
                         float *c, float *h, struct err *e)
{
	struct batch *b = arg;

	(void)e;
	for (int64_t j = b->first[i0]; j < b->first[i1]; j++) {
		c[j] = b->c[j];
		h[j] = b->h[j];
		b->logp[j] = logp[j];
		b->entropy[j] = entropy[j];
	}
	return 0;
}

static inline bool same_bits(const void *a, const void *b, int64_t n)
{
	return memcmp(a, b, (size_t)n * sizeof(float)) == 0;
}

#endif
