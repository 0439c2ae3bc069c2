/* hf.c - reads and writes config.json and generation_config.json. */
#include "policy/hf.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/json.h"
#include "base/jsonw.h"

enum { FILE_MAX = 1 << 20, TREE_MAX = 64 << 20, PATH_MAX_BYTES = 4096 };

#define PARAMS_MAX 0x1p40

struct arch {
	const char *model_type, *class_name;
	bool qkv_bias;
};

static const struct arch archs[] = {
	{ "llama", "LlamaForCausalLM", false },
	{ "qwen2", "Qwen2ForCausalLM", true },
};

enum { N_ARCHS = sizeof archs / sizeof *archs };

/* Keys that change the computation; only the value of a plain model is taken. */
enum plain { PLAIN_NULL, PLAIN_FALSE, PLAIN_ONE };

static const struct {
	const char *key;
	enum plain want;
} plain_keys[] = {
	{ "factor", PLAIN_ONE },
	{ "mlp_bias", PLAIN_FALSE },
	{ "use_sliding_window", PLAIN_FALSE },
	{ "partial_rotary_factor", PLAIN_ONE },
	{ "quantization_config", PLAIN_NULL },
	{ "no_rope_layers", PLAIN_NULL },
	{ "num_experts", PLAIN_NULL },
	{ "num_local_experts", PLAIN_NULL },
	{ "attn_logit_softcapping", PLAIN_NULL },
	{ "final_logit_softcapping", PLAIN_NULL },
};

static const struct arch *find_arch(struct str model_type)
{
	for (int i = 0; i < N_ARCHS; i++)
		if (str_is(model_type, archs[i].model_type))
			return &archs[i];
	return NULL;
}

static int short_len(struct str s)
{
	return (int)(s.n < 40 ? s.n : 40);
}

static int check_plain(const struct json *j, struct err *e)
{
	for (size_t i = 0; i < sizeof plain_keys / sizeof *plain_keys; i++) {
		const struct json *v = json_get(j, plain_keys[i].key);
		double x;

		if (!v || v->type == JSON_NULL)
			continue;
		if (plain_keys[i].want == PLAIN_FALSE && v->type == JSON_BOOL && !v->yes)
			continue;
		if (plain_keys[i].want == PLAIN_ONE && v->type == JSON_NUM &&
		    str_to_real(v->text, &x) && x == 1)
			continue;
		return FAIL(e, ERR_RANGE, "'%s' has a value that is not supported",
		            plain_keys[i].key);
	}
	return 0;
}

static int need_size(const struct json *j, const char *key, int64_t max, int64_t *ret,
                     struct err *e)
{
	const struct json *v = NULL;
	int r = json_need(j, key, JSON_NUM, &v, e);

	return r < 0 ? r : json_opt_int(j, key, 1, max, ret, e);
}

/* An absent text, or one of the list, which ends with NULL. */
static int one_of(const struct json *j, const char *key, const char *const *allowed,
                  struct str *ret, struct err *e)
{
	struct str s = { NULL, 0 };
	int r = json_opt_str(j, key, &s, e);

	if (r < 0 || !s.p)
		return r;
	for (; *allowed; allowed++)
		if (str_is(s, *allowed)) {
			*ret = s;
			return 0;
		}
	return FAIL(e, ERR_RANGE, "'%s' is '%.*s': not supported", key, short_len(s), s.p);
}

static int read_arch(const struct json *j, struct hf_config *c, struct err *e)
{
	const struct json *list = json_get(j, "architectures");
	const struct arch *a;
	struct str s;
	int r = json_need_str(j, "model_type", &s, e);

	if (r < 0)
		return r;
	a = find_arch(s);
	if (!a)
		return FAIL(e, ERR_RANGE, "'model_type' is '%.*s': supported are llama, qwen2",
		            short_len(s), s.p);
	(void)snprintf(c->model_type, sizeof c->model_type, "%s", a->model_type);
	c->qkv_bias = a->qkv_bias;
	if (list && list->type != JSON_NULL &&
	    (json_len(list) != 1 || !str_is(json_str(json_at(list, 0)), a->class_name)))
		return FAIL(e, ERR_RANGE, "'architectures' is not [\"%s\"], as 'model_type' wants",
		            a->class_name);
	return 0;
}

/* rope_theta stands at the top, or (transformers 5) in rope_parameters; only plain rotary
 * positions are computed.
 */
static int read_rope(const struct json *j, struct hf_config *c, struct err *e)
{
	static const char *const plain[] = { "default", NULL };
	static const char *const where[] = { "rope_scaling", "rope_parameters" };
	struct str kind;
	int r;

	c->rope_theta = 10000;
	r = json_opt_real(j, "rope_theta", 1, 1e12, &c->rope_theta, e);
	for (int i = 0; i < 2 && r == 0; i++) {
		const struct json *o = json_get(j, where[i]);

		if (!o || o->type == JSON_NULL)
			continue;
		if (o->type != JSON_OBJ)
			return FAIL(e, ERR_PARSE, "'%s' is not an object", where[i]);
		r = one_of(o, "rope_type", plain, &kind, e);
		if (r == 0)
			r = one_of(o, "type", plain, &kind, e);
		if (r == 0)
			r = json_opt_real(o, "rope_theta", 1, 1e12, &c->rope_theta, e);
		if (r == 0)
			r = check_plain(o, e);
		if (r < 0)
			return err_wrap(e, "%s", where[i]);
	}
	return r;
}

static int read_attention(const struct json *j, struct hf_config *c, struct err *e)
{
	const struct json *types = json_get(j, "layer_types"), *window;
	bool bias = c->qkv_bias, use = true;
	int r = json_opt_bool(j, "attention_bias", &bias, e);

	if (r < 0)
		return r;
	if (bias != c->qkv_bias)
		return FAIL(e, ERR_RANGE, "'attention_bias' is %s: not supported for %s",
		            bias ? "true" : "false", c->model_type);
	r = json_opt_bool(j, "use_sliding_window", &use, e);
	if (r < 0)
		return r;
	window = json_get(j, "sliding_window");
	if (window && window->type != JSON_NULL && use)
		return FAIL(e, ERR_RANGE, "'sliding_window' is in use: not supported");
	if (types && types->type != JSON_NULL && types->type != JSON_ARR)
		return FAIL(e, ERR_PARSE, "'layer_types' is not a list");
	for (int i = 0; i < json_len(types); i++)
		if (!str_is(json_str(json_at(types, i)), "full_attention"))
			return FAIL(e, ERR_RANGE,
			            "'layer_types' has something other than "
			            "full_attention: not supported");
	return 0;
}

static int read_sizes(const struct json *j, struct hf_config *c, struct err *e)
{
	struct {
		const char *key;
		int64_t max, *to;
	} sizes[] = {
		{ "hidden_size", 1 << 16, &c->d },
		{ "num_hidden_layers", 1 << 10, &c->layers },
		{ "num_attention_heads", 1 << 10, &c->heads },
		{ "intermediate_size", 1 << 20, &c->ffn },
		{ "vocab_size", 1 << 20, &c->vocab },
		{ "max_position_embeddings", 1 << 24, &c->max_seq },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes && r == 0; i++)
		r = need_size(j, sizes[i].key, sizes[i].max, sizes[i].to, e);
	if (r < 0)
		return r;
	c->kv_heads = c->heads;
	r = json_opt_int(j, "num_key_value_heads", 1, c->heads, &c->kv_heads, e);
	if (r < 0)
		return r;
	c->head_dim = c->d / c->heads;
	r = json_opt_int(j, "head_dim", 1, 1 << 10, &c->head_dim, e);
	if (r == 0 && !json_is(json_get(j, "head_dim"), JSON_NUM) && c->d % c->heads)
		r = FAIL(e, ERR_RANGE,
		         "'hidden_size' %lld is no multiple of "
		         "'num_attention_heads' %lld, and there is no 'head_dim'",
		         (long long)c->d, (long long)c->heads);
	return r;
}

/* An id, a list of ids or nothing: added to the ids of *c unless they are there. */
static int read_eos(const struct json *j, struct hf_config *c, struct err *e)
{
	const struct json *v = json_get(j, "eos_token_id");
	int n = json_is(v, JSON_ARR) ? json_len(v) : 1;

	if (!v || v->type == JSON_NULL)
		return 0;
	for (int i = 0; i < n; i++) {
		const struct json *id = json_is(v, JSON_ARR) ? json_at(v, i) : v;
		struct json one = { .type = JSON_OBJ,
			            .n = 1,
			            .item = id,
			            .key = (struct str[]){ STR("eos_token_id") } };
		int64_t x = -1;
		bool there = false;
		int r = json_opt_int(&one, "eos_token_id", 0, c->vocab - 1, &x, e);

		if (r < 0)
			return r;
		for (int k = 0; k < c->n_eos_more; k++)
			there = there || c->eos_more[k] == x;
		if (x < 0 || x == c->eos || there)
			continue;
		if (c->eos < 0)
			c->eos = (int32_t)x;
		else if (c->n_eos_more < HF_EOS_MORE)
			c->eos_more[c->n_eos_more++] = (int32_t)x;
		else
			return FAIL(e, ERR_LIMIT, "'eos_token_id' has more than %d ids",
			            HF_EOS_MORE + 1);
	}
	return 0;
}

static int check_shape(const struct hf_config *c, struct err *e)
{
	double params = (double)c->vocab * (double)c->d * (c->tie ? 1 : 2) +
	                (double)c->layers * (double)c->d *
	                        (2.0 * (double)c->head_dim * (double)(c->heads + c->kv_heads) +
	                         3.0 * (double)c->ffn);

	if (c->heads % c->kv_heads)
		return FAIL(e, ERR_RANGE,
		            "'num_attention_heads' %lld is no multiple of "
		            "'num_key_value_heads' %lld",
		            (long long)c->heads, (long long)c->kv_heads);
	if (c->head_dim % 2)
		return FAIL(e, ERR_RANGE, "'head_dim' %lld is odd", (long long)c->head_dim);
	if (params > PARAMS_MAX)
		return FAIL(e, ERR_LIMIT,
		            "'hidden_size', 'num_hidden_layers', "
		            "'intermediate_size': %.3g parameters",
		            params);
	return 0;
}

static int read_config(const struct json *j, struct hf_config *ret, struct err *e)
{
	static const char *const acts[] = { "silu", NULL };
	static const char *const dtypes[] = { "float32", "bfloat16", "float16", NULL };
	struct hf_config c = { .norm_eps = 1e-6, .bos = -1, .eos = -1 };
	struct str act, dtype = STR("float32");
	int64_t bos = -1;
	int r;

	if (!json_is(j, JSON_OBJ))
		return FAIL(e, ERR_PARSE, "not an object");
	if ((r = read_arch(j, &c, e)) < 0 || (r = read_sizes(j, &c, e)) < 0 ||
	    (r = check_plain(j, e)) < 0 || (r = read_rope(j, &c, e)) < 0 ||
	    (r = read_attention(j, &c, e)) < 0)
		return r;
	if ((r = json_opt_real(j, "rms_norm_eps", 1e-12, 1e-1, &c.norm_eps, e)) < 0 ||
	    (r = json_opt_bool(j, "tie_word_embeddings", &c.tie, e)) < 0 ||
	    (r = one_of(j, "hidden_act", acts, &act, e)) < 0 ||
	    (r = one_of(j, "torch_dtype", dtypes, &dtype, e)) < 0 ||
	    (r = one_of(j, "dtype", dtypes, &dtype, e)) < 0 ||
	    (r = json_opt_int(j, "bos_token_id", 0, c.vocab - 1, &bos, e)) < 0 ||
	    (r = read_eos(j, &c, e)) < 0 || (r = check_shape(&c, e)) < 0)
		return r;
	c.bos = (int32_t)bos;
	(void)snprintf(c.dtype, sizeof c.dtype, "%.*s", (int)dtype.n, dtype.p);
	*ret = c;
	return 0;
}

int hf_config_parse(struct str text, struct hf_config *ret, struct err *e)
{
	AUTO_ARENA a = { .limit = TREE_MAX };
	const struct json *j = NULL;
	int r = json_parse(text, &a, &j, e);

	return r < 0 ? r : read_config(j, ret, e);
}

/* generation_config.json only adds ids that end a text: its sampling settings are suggestions. */
static int read_generation(const char *path, struct hf_config *c, struct err *e)
{
	AUTO_ARENA a = { .limit = TREE_MAX };
	AUTO_BUF b = { .max = FILE_MAX };
	const struct json *j = NULL;
	int r;

	if (!io_exists(path))
		return 0;
	if ((r = io_load(path, &b, e)) < 0)
		return r;
	if ((r = json_parse(buf_str(&b), &a, &j, e)) == 0)
		r = read_eos(j, c, e);
	return r < 0 ? err_wrap(e, "%s", path) : 0;
}

int hf_config_load(const char *dir, struct hf_config *ret, struct err *e)
{
	char path[PATH_MAX_BYTES];
	AUTO_BUF b = { .max = FILE_MAX };
	struct hf_config c;
	int r;

	if ((size_t)snprintf(path, sizeof path, "%s/generation_config.json", dir) >= sizeof path)
		return FAIL(e, ERR_LIMIT, "%.100s...: path is too long", dir);
	(void)snprintf(path, sizeof path, "%s/config.json", dir);
	if ((r = io_load(path, &b, e)) < 0)
		return r;
	if ((r = hf_config_parse(buf_str(&b), &c, e)) < 0)
		return err_wrap(e, "%s", path);
	(void)snprintf(path, sizeof path, "%s/generation_config.json", dir);
	if ((r = read_generation(path, &c, e)) < 0)
		return r;
	*ret = c;
	return 0;
}

/* ---- writing ---- */

/* A float keeps a point or an exponent: readers of transformers check types. */
static void put_real(struct jsonw *w, double v)
{
	AUTO_BUF b = { .max = 64 };
	struct jsonw one = { &b };

	jsonw_real(&one, v);
	if (!memchr(b.p, '.', b.n) && !memchr(b.p, 'e', b.n) && isfinite(v))
		buf_puts(&b, ".0");
	jsonw_raw(w, buf_str(&b));
}

static void put_ids(struct jsonw *w, const struct hf_config *c)
{
	jsonw_key(w, "bos_token_id");
	if (c->bos >= 0)
		jsonw_int(w, c->bos);
	else
		jsonw_null(w);
	jsonw_key(w, "eos_token_id");
	if (c->eos < 0) {
		jsonw_null(w);
	} else if (c->n_eos_more == 0) {
		jsonw_int(w, c->eos);
	} else {
		jsonw_open(w, '['), jsonw_int(w, c->eos);
		for (int i = 0; i < c->n_eos_more; i++)
			jsonw_int(w, c->eos_more[i]);
		jsonw_close(w, ']');
	}
}

static void put_config(struct jsonw *w, const struct hf_config *c, const struct arch *a)
{
	jsonw_open(w, '{');
	jsonw_key(w, "architectures"), jsonw_open(w, '[');
	jsonw_cstr(w, a->class_name), jsonw_close(w, ']');
	jsonw_key(w, "model_type"), jsonw_cstr(w, a->model_type);
	jsonw_key(w, "hidden_size"), jsonw_int(w, c->d);
	jsonw_key(w, "num_hidden_layers"), jsonw_int(w, c->layers);
	jsonw_key(w, "num_attention_heads"), jsonw_int(w, c->heads);
	jsonw_key(w, "num_key_value_heads"), jsonw_int(w, c->kv_heads);
	jsonw_key(w, "head_dim"), jsonw_int(w, c->head_dim);
	jsonw_key(w, "intermediate_size"), jsonw_int(w, c->ffn);
	jsonw_key(w, "vocab_size"), jsonw_int(w, c->vocab);
	jsonw_key(w, "max_position_embeddings"), jsonw_int(w, c->max_seq);
	jsonw_key(w, "hidden_act"), jsonw_cstr(w, "silu");
	jsonw_key(w, "rms_norm_eps"), put_real(w, c->norm_eps);
	jsonw_key(w, "rope_theta"), put_real(w, c->rope_theta);
	jsonw_key(w, "rope_scaling"), jsonw_null(w);
	if (!a->qkv_bias) {
		jsonw_key(w, "attention_bias"), jsonw_bool(w, false);
		jsonw_key(w, "mlp_bias"), jsonw_bool(w, false);
	} else {
		jsonw_key(w, "use_sliding_window"), jsonw_bool(w, false);
	}
	jsonw_key(w, "attention_dropout"), put_real(w, 0);
	jsonw_key(w, "tie_word_embeddings"), jsonw_bool(w, c->tie);
	put_ids(w, c);
	jsonw_key(w, "torch_dtype"), jsonw_cstr(w, c->dtype[0] ? c->dtype : "float32");
	jsonw_key(w, "use_cache"), jsonw_bool(w, true);
	jsonw_close(w, '}');
}

static int save_one(const char *dir, const char *name, struct buf *b, struct err *e)
{
	char path[PATH_MAX_BYTES];
	int r;

	if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >= sizeof path)
		return FAIL(e, ERR_LIMIT, "%.100s...: path is too long", dir);
	buf_putc(b, '\n');
	r = buf_check(b, name, e);
	return r < 0 ? r : io_save(path, buf_str(b), e);
}

int hf_config_save(const char *dir, const struct hf_config *c, struct err *e)
{
	const struct arch *a = find_arch((struct str){ c->model_type, strlen(c->model_type) });
	AUTO_BUF config = { .max = FILE_MAX };
	AUTO_BUF generation = { .max = FILE_MAX };
	struct jsonw w = { &config }, g = { &generation };
	struct hf_config back;
	int r;

	if (!a || a->qkv_bias != c->qkv_bias)
		return FAIL(e, ERR_RANGE, "%s: model_type '%.15s' %s a bias is not supported", dir,
		            c->model_type, c->qkv_bias ? "with" : "without");
	assert(c->n_eos_more >= 0 && c->n_eos_more <= HF_EOS_MORE);
	put_config(&w, c, a);
	r = buf_check(&config, "config.json", e);
	if (r == 0)
		r = hf_config_parse(buf_str(&config), &back, e);
	if (r < 0)
		return err_wrap(e, "%s/config.json", dir);
	jsonw_open(&g, '{');
	jsonw_key(&g, "_from_model_config"), jsonw_bool(&g, true);
	put_ids(&g, c);
	jsonw_close(&g, '}');
	r = save_one(dir, "config.json", &config, e);
	return r < 0 ? r : save_one(dir, "generation_config.json", &generation, e);
}
