/* policy.c - the front of the policy module: load a checkpoint, or begin with random weights. */
#include "policy/policy.h"

#include <stdio.h>

#include "base/io.h"
#include "policy/transformer_int.h"

extern const struct policy_fn policy_transformer;

enum { PATH_BYTES = 4096 };

#define F(field) offsetof(struct policy_shape, field)

const struct opt policy_shape_opts[] = {
	{ "d", OPT_INT, F(d), 16, 65536, 0, "128", "", "width of the model, a multiple of 16" },
	{ "layers", OPT_INT, F(layers), 1, 1024, 0, "4", "", "number of layers" },
	{ "heads", OPT_INT, F(heads), 1, 1024, 0, "4", "",
	  "query heads; d / heads is a multiple of 16" },
	{ "kv_heads", OPT_INT, F(kv_heads), 1, 1024, 0, "4", "", "key and value heads" },
	{ "ffn", OPT_INT, F(ffn), 16, 262144, 0, "384", "",
	  "width of the feed-forward part, a multiple of 16" },
	{ "max_seq", OPT_INT, F(max_seq), 2, 1048576, 0, "512", "tokens", "longest sequence" },
	{ "rope_theta", OPT_REAL, F(rope_theta), 1, 1e12, 0, "10000", "",
	  "base of the rotary positions" },
	{ "norm_eps", OPT_REAL, F(norm_eps), 1e-12, 1, 0, "1e-5", "", "eps of the norms" },
	{ 0 },
};

static struct policy *finish(struct transformer *t, struct tok *tok)
{
	t->p.fn = &policy_transformer;
	t->p.tok = t->tok = tok;
	return &t->p;
}

int policy_load(const char *dir, struct pool *pool, int max_live, struct policy **ret,
                struct err *e)
{
	struct transformer *t;
	struct tok *tok;
	char path[PATH_BYTES];
	int rc;

	if (snprintf(path, sizeof path, "%s/tokenizer.json", dir) >= (int)sizeof path)
		return FAIL(e, ERR_LIMIT, "path is too long: %.60s...", dir);
	rc = tok_load(path, &tok, e);
	if (rc < 0)
		return rc;
	rc = transformer_load(dir, pool, max_live, &t, e);
	if (rc == 0 && tok_vocab(tok) > t->vocab) {
		rc = FAIL(e, ERR_RANGE, "%s: %d ids, but vocab_size is %d", path, tok_vocab(tok),
		          t->vocab);
		transformer_free(t);
	}
	if (rc < 0) {
		tok_free(tok);
		return rc;
	}
	*ret = finish(t, tok);
	return 0;
}

int policy_new(const struct policy_shape *shape, struct tok *tok, uint64_t seed, struct pool *pool,
               int max_live, struct policy **ret, struct err *e)
{
	struct hf_config c = { .d = shape->d,
		               .layers = shape->layers,
		               .heads = shape->heads,
		               .kv_heads = shape->kv_heads,
		               .ffn = shape->ffn,
		               .vocab = tok_vocab(tok),
		               .max_seq = shape->max_seq,
		               .rope_theta = shape->rope_theta,
		               .norm_eps = shape->norm_eps,
		               .tie = true,
		               .bos = -1,
		               .eos = tok_eos(tok),
		               .model_type = "llama",
		               .dtype = "float32" };
	struct transformer *t;
	int rc;

	if (c.heads < 1 || c.d % c.heads)
		return FAIL(e, ERR_RANGE, "d %lld: not a multiple of heads %lld", (long long)c.d,
		            (long long)c.heads);
	c.head_dim = c.d / c.heads;
	rc = transformer_new(&c, pool, max_live, &t, e);
	if (rc < 0)
		return rc;
	transformer_init_weights(t, seed);
	transformer_pack(t);
	*ret = finish(t, tok);
	return 0;
}

void policy_free(struct policy *p)
{
	if (p)
		p->fn->free(p);
}
