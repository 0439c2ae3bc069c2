/* transformer_model.c - the parameters: where each tensor lies, first weights, packing. */
#include "policy/transformer_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/rng.h"

enum { SLAB_PAD = 16 }; /* floats between two arrays of a slab: vectors may not share a line */

int slab_new(struct slab *s, int64_t n, const char *what, struct err *e)
{
	void *p;

	if (n < 0 || n > INT64_MAX / 8)
		return FAIL(e, ERR_RANGE, "%s: too large", what);
	p = mmap(NULL, (size_t)(n + SLAB_PAD) * sizeof(float), PROT_READ | PROT_WRITE,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return FAIL(e, ERR_NOMEM, "%s: %lld MiB", what, (long long)(n >> 18));
	*s = (struct slab){ p, n };
	return 0;
}

void slab_free(struct slab *s)
{
	if (s->p)
		(void)munmap(s->p, (size_t)(s->n + SLAB_PAD) * sizeof(float));
	*s = (struct slab){ 0 };
}

int slab_need(struct slab *s, int64_t n, const char *what, struct err *e)
{
	if (s->p && s->n >= n)
		return 0;
	slab_free(s);
	return slab_new(s, n, what, e);
}

/* Hands out places and names, in the order of the mapping. */
struct layout {
	struct transformer *t;
	int64_t at;
};

/* cols 0: one-dimensional. */
static int64_t put(struct layout *l, int64_t rows, int64_t cols, const char *name, int layer)
{
	struct tensor *x = &l->t->tensor[l->t->n_tensors++];
	int64_t off = l->at;
	int n = 0;

	if (layer >= 0)
		n = snprintf(x->name, sizeof x->name, "model.layers.%d.", layer);
	(void)snprintf(x->name + n, sizeof x->name - (size_t)n, "%s", name);
	x->off = off;
	x->rank = cols ? 2 : 1;
	x->dim[0] = rows;
	x->dim[1] = cols ? cols : 1;
	x->n = rows * x->dim[1];
	l->at += x->n;
	return off;
}

static struct linear linear(int64_t w, int64_t bias, int out, int in)
{
	return (struct linear){ .w = w, .bias = bias, .out = out, .in = in };
}

static void put_layer(struct layout *l, int i)
{
	struct transformer *t = l->t;
	struct layer *y = &t->layer[i];
	int64_t q = (int64_t)t->heads * t->hd, kv = (int64_t)t->kv_heads * t->hd, w, b = -1;

	y->norm1 = put(l, t->d, 0, "input_layernorm.weight", i);
	w = put(l, q, t->d, "self_attn.q_proj.weight", i);
	put(l, kv, t->d, "self_attn.k_proj.weight", i);
	put(l, kv, t->d, "self_attn.v_proj.weight", i);
	if (t->cfg.qkv_bias) {
		b = put(l, q, 0, "self_attn.q_proj.bias", i);
		put(l, kv, 0, "self_attn.k_proj.bias", i);
		put(l, kv, 0, "self_attn.v_proj.bias", i);
	}
	y->qkv = linear(w, b, t->nqkv, t->d);
	w = put(l, t->d, q, "self_attn.o_proj.weight", i);
	y->o = linear(w, -1, t->d, (int)q);
	y->norm2 = put(l, t->d, 0, "post_attention_layernorm.weight", i);
	w = put(l, t->ffn, t->d, "mlp.gate_proj.weight", i);
	put(l, t->ffn, t->d, "mlp.up_proj.weight", i);
	y->gate_up = linear(w, -1, 2 * t->ffn, t->d);
	w = put(l, t->d, t->ffn, "mlp.down_proj.weight", i);
	y->down = linear(w, -1, t->d, t->ffn);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct tensor *)a)->name, ((const struct tensor *)b)->name);
}

static int put_tensors(struct transformer *t, struct err *e)
{
	struct layout l = { t, 0 };
	int64_t head;

	t->layer = calloc((size_t)t->layers, sizeof *t->layer);
	t->tensor = calloc((size_t)t->layers * 12 + 3, sizeof *t->tensor);
	if (!t->layer || !t->tensor)
		return FAIL(e, ERR_NOMEM, "tables of %d layers", t->layers);
	head = t->embed = put(&l, t->vocab, t->d, "model.embed_tokens.weight", -1);
	for (int i = 0; i < t->layers; i++)
		put_layer(&l, i);
	t->norm_end = put(&l, t->d, 0, "model.norm.weight", -1);
	if (!t->cfg.tie)
		head = put(&l, t->vocab, t->d, "lm_head.weight", -1);
	t->head = linear(head, -1, t->vocab, t->d);
	t->n_floats = t->p.n_params = l.at;
	qsort(t->tensor, (size_t)t->n_tensors, sizeof *t->tensor, by_name);
	return 0;
}

/* Panels of both kinds for a matrix; the number of floats taken. */
static int64_t place(struct linear *x, float *at)
{
	int64_t n = kern_round16(x->out) * x->in;

	x->p = at;
	x->pt = at + n;
	return n + (int64_t)x->out * x->in;
}

static int place_all(struct transformer *t, struct err *e)
{
	int64_t n = 2 * t->n_floats + 16 * (int64_t)t->d * 2 + (int64_t)t->vocab * t->d * 2;
	float *at;

	if (slab_new(&t->packed, n, "packed weights", e) < 0)
		return e ? e->code : ERR_NOMEM;
	at = t->packed.p;
	for (int i = 0; i < t->layers; i++) {
		at += place(&t->layer[i].qkv, at);
		at += place(&t->layer[i].o, at);
		at += place(&t->layer[i].gate_up, at);
		at += place(&t->layer[i].down, at);
	}
	place(&t->head, at);
	return 0;
}

static void pack_one(void *arg, int i)
{
	const struct transformer *t = arg;
	const struct layer *y = &t->layer[i / 4];
	const struct linear *all[] = { &y->qkv, &y->o, &y->gate_up, &y->down };
	const struct linear *x = i == 4 * t->layers ? &t->head : all[i % 4];
	const float *w = t->weight.p + x->w;

	t->k->pack((float *)x->p, w, x->in, x->out, x->in);
	t->k->pack_t((float *)x->pt, w, x->in, x->in, x->out);
}

void transformer_pack(struct transformer *t)
{
	pool_run(t->p.pool, 4 * t->layers + 1, pack_one, t);
}

struct init_arg {
	struct transformer *t;
	uint64_t seed;
};

/*	w = std * sqrt(-2 log u) cos(2 pi v), by our own elementary functions */
static void init_one(void *arg, int i)
{
	const struct init_arg *a = arg;
	const struct tensor *x = &a->t->tensor[i];
	float *w = a->t->weight.p + x->off;
	bool residual = strstr(x->name, ".o_proj.") || strstr(x->name, ".down_proj.");
	double std = residual ? 0.02 / sqrt(2.0 * a->t->layers) : 0.02;
	struct rng r;

	rng_init(&r, a->seed, RNG_WEIGHTS, (uint32_t)i, 0);
	for (int64_t j = 0; j < x->n; j++) {
		double u = rng_unit(&r), v = rng_unit(&r), s, c;

		kern_sincos(6.283185307179586 * v, &s, &c);
		w[j] = (float)(std * sqrt(-2 * kern_log(u)) * c);
	}
	if (x->rank == 1)
		for (int64_t j = 0; j < x->n; j++)
			w[j] = strstr(x->name, ".bias") ? 0.0f : 1.0f;
}

void transformer_init_weights(struct transformer *t, uint64_t seed)
{
	struct init_arg a = { t, seed };

	pool_run(t->p.pool, t->n_tensors, init_one, &a);
}

static int check_shape(const struct hf_config *c, struct err *e)
{
	const struct {
		const char *key;
		int64_t n, max, unit;
	} want[] = {
		{ "hidden_size", c->d, 1 << 16, 16 },
		{ "num_hidden_layers", c->layers, 1024, 1 },
		{ "num_attention_heads", c->heads, 1024, 1 },
		{ "num_key_value_heads", c->kv_heads, 1024, 1 },
		{ "head_dim", c->head_dim, 1024, 16 },
		{ "intermediate_size", c->ffn, 1 << 18, 16 },
		{ "vocab_size", c->vocab, 1 << 20, 1 },
		{ "max_position_embeddings", c->max_seq, 1 << 20, 1 },
	};

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		if (want[i].n < 1 || want[i].n > want[i].max)
			return FAIL(e, ERR_RANGE, "%s %lld: outside 1..%lld", want[i].key,
			            (long long)want[i].n, (long long)want[i].max);
		if (want[i].n % want[i].unit)
			return FAIL(e, ERR_RANGE, "%s %lld: not a multiple of %lld", want[i].key,
			            (long long)want[i].n, (long long)want[i].unit);
	}
	if (c->heads % c->kv_heads)
		return FAIL(e, ERR_RANGE, "num_attention_heads %lld: not a multiple of %lld",
		            (long long)c->heads, (long long)c->kv_heads);
	return 0;
}

/* What transformer_new() does once the struct exists; what it made is freed by the caller. */
static int build(struct transformer *t, int max_live, struct err *e)
{
	int threads = pool_threads(t->p.pool);

	if (kern_pick(NULL, &t->k, e) < 0 || put_tensors(t, e) < 0)
		return -1;
	if (slab_new(&t->weight, t->n_floats, "weights", e) < 0 ||
	    slab_new(&t->moment, 2 * t->n_floats, "optimizer", e) < 0 ||
	    slab_new(&t->rope, (int64_t)t->p.max_seq * t->hd, "positions", e) < 0)
		return -1;
	if (place_all(t, e) < 0 || kv_new(t, max_live, e) < 0)
		return -1;
	kern_rope_table(t->rope.p, t->p.max_seq, t->hd, t->cfg.rope_theta);
	t->work = calloc((size_t)threads, sizeof *t->work);
	t->work_free = calloc((size_t)threads, sizeof(*t->work_free));
	if (!t->work || !t->work_free)
		return FAIL(e, ERR_NOMEM, "workspaces");
	(void)snprintf(t->p.describe, sizeof t->p.describe, "%s %.2f M parameters, %s",
	               t->cfg.model_type, (double)t->n_floats * 1e-6, t->k->name);
	return 0;
}

int transformer_new(const struct hf_config *c, struct pool *pool, int max_live,
                    struct transformer **ret, struct err *e)
{
	struct transformer *t;
	int rc = check_shape(c, e);

	if (rc < 0)
		return rc;
	t = calloc(1, sizeof *t);
	if (!t)
		return FAIL(e, ERR_NOMEM, "transformer");
	pthread_mutex_init(&t->lock, NULL);
	t->cfg = *c;
	t->d = (int)c->d;
	t->layers = (int)c->layers;
	t->heads = (int)c->heads;
	t->kv_heads = (int)c->kv_heads;
	t->hd = (int)c->head_dim;
	t->ffn = (int)c->ffn;
	t->vocab = (int)c->vocab;
	t->nqkv = (t->heads + 2 * t->kv_heads) * t->hd;
	t->p.pool = pool;
	t->p.max_seq = (int)c->max_seq;
	if (build(t, max_live, e) < 0) {
		transformer_free(t);
		return e ? e->code : ERR_NOMEM;
	}
	*ret = t;
	return 0;
}

void transformer_free(struct transformer *t)
{
	if (!t)
		return;
	for (int i = 0; t->work && i < pool_threads(t->p.pool); i++)
		slab_free(&t->work[i].slab);
	tok_free(t->tok);
	kv_free(&t->kv);
	slab_free(&t->weight);
	slab_free(&t->packed);
	slab_free(&t->moment);
	slab_free(&t->rope);
	slab_free(&t->coef);
	slab_free(&t->tree.slab);
	free(t->tree.free);
	free(t->tree.waiting);
	free(t->work);
	free(t->work_free);
	free(t->chunk);
	free(t->layer);
	free(t->tensor);
	pthread_mutex_destroy(&t->lock);
	free(t);
}
