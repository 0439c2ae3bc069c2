/* transformer_save.c - checkpoints in Hugging Face layout, and back.
 *
 * DIR/config.json, generation_config.json, model.safetensors (fp32), tokenizer.json; with the
 * optimizer also trainer.safetensors: m.NAME and v.NAME for each tensor, metadata optimizer_step
 * and version.
 */
#include "policy/transformer_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/io.h"
#include "policy/safetensors.h"

enum { PATH_BYTES = 4096 };

static int path_in(const char *dir, const char *file, char *ret, struct err *e)
{
	if (snprintf(ret, PATH_BYTES, "%s/%s", dir, file) >= PATH_BYTES)
		return FAIL(e, ERR_LIMIT, "path is too long: %.60s...", dir);
	return 0;
}

static struct st_tensor view(const struct tensor *x, const char *name, const float *base)
{
	return (struct st_tensor){ .name = name,
		                   .dtype = ST_F32,
		                   .rank = x->rank,
		                   .dim = { x->dim[0], x->dim[1], 1, 1 },
		                   .data = base + x->off,
		                   .bytes = x->n * (int64_t)sizeof(float) };
}

static int save_weights(const struct transformer *t, const char *dir, struct err *e)
{
	static const char *const meta[][2] = { { "format", "pt" }, { NULL, NULL } };
	AUTO_ARENA a = { .limit = 64 << 20 };
	struct st_tensor *x = arena_new(&a, struct st_tensor, t->n_tensors);
	char path[PATH_BYTES];
	int rc = path_in(dir, "model.safetensors", path, e);

	if (rc < 0)
		return rc;
	if (!x)
		return FAIL(e, ERR_NOMEM, "table of tensors");
	for (int i = 0; i < t->n_tensors; i++)
		x[i] = view(&t->tensor[i], t->tensor[i].name, t->weight.p);
	return st_save(path, x, t->n_tensors, meta, e);
}

static int save_optimizer(const struct transformer *t, const char *dir, struct err *e)
{
	AUTO_ARENA a = { .limit = 64 << 20 };
	struct st_tensor *x = arena_new(&a, struct st_tensor, 2 * t->n_tensors);
	const char *step = arena_printf(&a, "%lld", (long long)t->opt_step);
	const char *version = arena_printf(&a, "%lld", (long long)t->p.version);
	const char *const meta[][2] = { { "optimizer_step", step },
		                        { "version", version },
		                        { NULL, NULL } };
	char path[PATH_BYTES];
	int n = 0, rc = path_in(dir, "trainer.safetensors", path, e);

	if (rc < 0)
		return rc;
	if (!x || !step || !version)
		return FAIL(e, ERR_NOMEM, "table of tensors");
	for (int i = 0; i < t->n_tensors; i++) {
		for (int v = 0; v < 2; v++) {
			const char *name = arena_printf(&a, "%c.%s", "mv"[v], t -> tensor[i].name);

			if (!name)
				return FAIL(e, ERR_NOMEM, "table of tensors");
			x[n++] = view(&t->tensor[i], name, t->moment.p + v * t->n_floats);
		}
	}
	return st_save(path, x, n, meta, e);
}

int transformer_save(struct policy *p, const char *dir, bool with_optimizer, struct err *e)
{
	const struct transformer *t = transformer_of(p);
	char path[PATH_BYTES];
	int rc = path_in(dir, "tokenizer.json", path, e);

	if (rc == 0)
		rc = io_mkdirs(dir, e);
	if (rc == 0)
		rc = hf_config_save(dir, &t->cfg, e);
	if (rc == 0)
		rc = tok_save(p->tok, path, e);
	if (rc == 0)
		rc = save_weights(t, dir, e);
	if (rc == 0 && with_optimizer)
		rc = save_optimizer(t, dir, e);
	return rc < 0 ? err_wrap(e, "save policy in %s", dir) : 0;
}

static int load_one(const struct st_file *f, const struct tensor *x, const char *name, float *base,
                    struct err *e)
{
	const struct st_tensor *s = st_find(f, name);

	if (!s)
		return FAIL(e, ERR_NOENT, "no tensor %s", name);
	if (s->rank != x->rank || s->dim[0] != x->dim[0] || (x->rank > 1 && s->dim[1] != x->dim[1]))
		return FAIL(e, ERR_RANGE,
		            "tensor %s is (%lld, %lld), config.json says (%lld, %lld)", name,
		            (long long)s->dim[0], (long long)s->dim[1], (long long)x->dim[0],
		            (long long)x->dim[1]);
	return st_to_f32(s, base + x->off, e);
}

static int load_weights(struct transformer *t, const char *dir, struct err *e)
{
	struct st_file *f;
	char path[PATH_BYTES];
	int rc = path_in(dir, "model.safetensors", path, e);

	if (rc < 0)
		return rc;
	rc = st_open(path, &f, e);
	if (rc < 0)
		return rc;
	for (int i = 0; rc == 0 && i < t->n_tensors; i++)
		rc = load_one(f, &t->tensor[i], t->tensor[i].name, t->weight.p, e);
	st_close(f);
	return rc < 0 ? err_wrap(e, "%s", path) : 0;
}

static int meta_int(const struct st_file *f, const char *key, int64_t *ret, struct err *e)
{
	const char *text = st_meta(f, key);
	char *end = NULL;
	long long v = text ? strtoll(text, &end, 10) : -1;

	if (!text || end == text || *end || v < 0)
		return FAIL(e, ERR_PARSE, "metadata '%s': no count", key);
	*ret = v;
	return 0;
}

static int load_optimizer(struct transformer *t, const char *dir, struct err *e)
{
	struct st_file *f;
	char path[PATH_BYTES], name[TENSOR_NAME + 2];
	int rc = path_in(dir, "trainer.safetensors", path, e);

	if (rc < 0)
		return rc;
	if (!io_exists(path))
		return 0;
	rc = st_open(path, &f, e);
	if (rc < 0)
		return rc;
	rc = meta_int(f, "optimizer_step", &t->opt_step, e);
	if (rc == 0)
		rc = meta_int(f, "version", &t->p.version, e);
	for (int i = 0; rc == 0 && i < 2 * t->n_tensors; i++) {
		const struct tensor *x = &t->tensor[i / 2];

		(void)snprintf(name, sizeof name, "%c.%s", "mv"[i % 2], x -> name);
		rc = load_one(f, x, name, t->moment.p + i % 2 * t->n_floats, e);
	}
	st_close(f);
	return rc < 0 ? err_wrap(e, "%s", path) : 0;
}

int transformer_load(const char *dir, struct pool *pool, int max_live, struct transformer **ret,
                     struct err *e)
{
	struct transformer *t;
	struct hf_config c;
	int rc = hf_config_load(dir, &c, e);

	if (rc == 0)
		rc = transformer_new(&c, pool, max_live, &t, e);
	if (rc < 0)
		return rc;
	rc = load_weights(t, dir, e);
	if (rc == 0)
		rc = load_optimizer(t, dir, e);
	if (rc < 0) {
		transformer_free(t);
		return rc;
	}
	/* Weights are kept, and written, as fp32 whatever the file held. */
	(void)snprintf(t->cfg.dtype, sizeof t->cfg.dtype, "float32");
	transformer_pack(t);
	*ret = t;
	return 0;
}
