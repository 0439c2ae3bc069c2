/* tok_parse.c - reads tokenizer.json in the layout of the tokenizers library.
 *
 * Only what changes ids or text is read, and all of it: a normalizer, a pre-tokenizer of another
 * kind, drop-out, prefixes and the like are errors, never passed over.
 */
#include <string.h>

#include "base/json.h"
#include "tok/tok_impl.h"

enum { TREE_MAX = 1 << 30 };

struct load {
	struct tok *t;
	struct arena tree; /* the file as JSON */
	const struct json *vocab, *merges, *added;
	struct err *e;
};

static int len40(struct str s)
{
	return (int)(s.n < 40 ? s.n : 40);
}

static bool is_null(const struct json *j)
{
	return !j || j->type == JSON_NULL;
}

/* Every key of the object is one of the list, which ends with NULL. */
static int only_keys(const struct json *j, const char *const *allowed, const char *where,
                     struct err *e)
{
	for (int i = 0; i < j->n; i++) {
		int k = 0;

		while (allowed[k] && !str_is(j->key[i], allowed[k]))
			k++;
		if (!allowed[k])
			return FAIL(e, ERR_RANGE, "%s has the key '%.*s': not supported", where,
			            len40(j->key[i]), j->key[i].p);
	}
	return 0;
}

/* A key whose value, if there, must be null, false or empty. */
static int must_be_off(const struct json *j, const char *key, const char *where, struct err *e)
{
	const struct json *v = json_get(j, key);

	if (is_null(v) || (v->type == JSON_BOOL && !v->yes) || (v->type == JSON_STR && !v->text.n))
		return 0;
	return FAIL(e, ERR_RANGE, "%s.%s is set: not supported", where, key);
}

static int all_off(const struct json *j, const char *const *key, const char *where, struct err *e)
{
	for (; *key; key++) {
		int r = must_be_off(j, *key, where, e);

		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- pre_tokenizer ---- */

static int add_step(struct tok *t, const char *pattern, struct err *e)
{
	return tok_step_add(t, (struct str){ pattern, strlen(pattern) }, e);
}

/* Of a Split: a regular expression, or a text in which every special character is escaped. */
static int read_pattern(struct tok *t, const struct json *j, struct err *e)
{
	AUTO_BUF b = { .max = TOK_PATTERN_MAX * 2 };
	const struct json *p = json_get(j, "pattern"), *regex = json_get(p, "Regex");
	struct str s = json_str(json_get(p, "String"));

	if (json_is(regex, JSON_STR))
		return tok_step_add(t, regex->text, e);
	if (!s.n)
		return FAIL(e, ERR_PARSE, "Split without pattern.Regex or pattern.String");
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] && strchr("\\^$.[|()?*+{", s.p[i]))
			buf_putc(&b, '\\');
		buf_putc(&b, s.p[i]);
	}
	return b.failed ? buf_check(&b, "pattern", e) : tok_step_add(t, buf_str(&b), e);
}

static int read_split(struct tok *t, const struct json *j, struct err *e)
{
	static const char *const keys[] = { "type", "pattern", "behavior", "invert", NULL };
	struct str behavior = json_str(json_get(j, "behavior"));
	int r = only_keys(j, keys, "Split", e);

	if (r == 0)
		r = must_be_off(j, "invert", "Split", e);
	if (r < 0)
		return r;
	if (!str_is(behavior, "Isolated"))
		return FAIL(e, ERR_RANGE, "Split.behavior '%.*s' is not supported (Isolated)",
		            len40(behavior), behavior.p);
	return read_pattern(t, j, e);
}

static int read_byte_level(struct tok *t, const struct json *j, struct err *e)
{
	static const char *const keys[] = { "type", "add_prefix_space", "trim_offsets", "use_regex",
		                            NULL };
	bool use_regex = true, prefix = true; /* the defaults of the library */
	int r = only_keys(j, keys, "ByteLevel", e);

	if (r == 0)
		r = json_opt_bool(j, "add_prefix_space", &prefix, e);
	if (r == 0)
		r = json_opt_bool(j, "use_regex", &use_regex, e);
	if (r < 0)
		return r;
	if (prefix)
		return FAIL(e, ERR_RANGE, "ByteLevel.add_prefix_space is set: not supported");
	return use_regex ? add_step(t, tok_pattern_gpt2, e) : 0;
}

static int read_digits(struct tok *t, const struct json *j, struct err *e)
{
	static const char *const keys[] = { "type", "individual_digits", NULL };
	bool one = false;
	int r = only_keys(j, keys, "Digits", e);

	if (r == 0)
		r = json_opt_bool(j, "individual_digits", &one, e);
	return r < 0 ? r : add_step(t, one ? "\\p{N}" : "\\p{N}+", e);
}

static int read_pre_tokenizer(struct tok *t, const struct json *j, struct err *e)
{
	const struct json *list = json_get(j, "pretokenizers");
	struct str type = json_str(json_get(j, "type"));
	bool seq = str_is(type, "Sequence");
	int n = seq ? json_len(list) : 1;
	bool byte_level = false;

	for (int i = 0; i < n; i++) {
		const struct json *s = seq ? json_at(list, i) : j;
		int r;

		if (byte_level)
			return FAIL(e, ERR_RANGE,
			            "pre_tokenizer: a step behind ByteLevel is not "
			            "supported");
		type = json_str(json_get(s, "type"));
		if (str_is(type, "Split"))
			r = read_split(t, s, e);
		else if (str_is(type, "Digits"))
			r = read_digits(t, s, e);
		else if ((byte_level = str_is(type, "ByteLevel")))
			r = read_byte_level(t, s, e);
		else
			r = FAIL(e, ERR_RANGE,
			         "type '%.*s' is not supported (Split, Digits, "
			         "ByteLevel)",
			         len40(type), type.p);
		if (r < 0)
			return err_wrap(e, "pre_tokenizer");
	}
	if (!byte_level)
		return FAIL(e, ERR_RANGE, "pre_tokenizer does not end with ByteLevel");
	return 0;
}

/* ---- model ---- */

/* One more id: number and text are checked, *ret_id is free or already this token. */
static int read_id(const struct json *v, const char *what, int32_t *ret_id, struct err *e)
{
	struct json one = {
		.type = JSON_OBJ, .n = 1, .item = v, .key = (struct str[]){ STR("id") }
	};
	int64_t id = -1;
	int r = json_opt_int(&one, "id", 0, TOK_IDS_MAX - 1, &id, e);

	if (r == 0 && id < 0)
		r = FAIL(e, ERR_PARSE, "a token has no id");
	if (r < 0)
		return err_wrap(e, "%s", what);
	*ret_id = (int32_t)id;
	return 0;
}

/* How many ids there are: one more than the highest. */
static int count_ids(struct load *l)
{
	struct tok *t = l->t;

	for (int i = 0; i < l->vocab->n + json_len(l->added); i++) {
		bool in_vocab = i < l->vocab->n;
		const struct json *v = in_vocab
		                               ? &l->vocab->item[i]
		                               : json_get(json_at(l->added, i - l->vocab->n), "id");
		int32_t id = -1;
		int r = v ? read_id(v, in_vocab ? "model.vocab" : "added_tokens", &id, l->e)
		          : FAIL(l->e, ERR_PARSE, "added_tokens: a token has no id");

		if (r < 0)
			return r;
		if (id >= t->n)
			t->n = id + 1;
	}
	t->piece = arena_new(&t->a, struct str, t->n);
	t->kind = arena_new(&t->a, uint8_t, t->n);
	if (!t->piece || !t->kind)
		return FAIL(l->e, ERR_LIMIT, "%d tokens need too much memory", t->n);
	return 0;
}

static int read_vocab(struct load *l)
{
	struct tok *t = l->t;

	for (int i = 0; i < l->vocab->n; i++) {
		struct str text = l->vocab->key[i];
		int32_t id = -1;
		int r = read_id(&l->vocab->item[i], "model.vocab", &id, l->e);

		if (r < 0)
			return r;
		if (!text.n)
			return FAIL(l->e, ERR_PARSE, "model.vocab: id %d is an empty token", id);
		if (t->kind[id] != TOK_HOLE)
			return FAIL(l->e, ERR_PARSE, "model.vocab: id %d is given twice", id);
		t->kind[id] = TOK_BYTES;
		if (!tok_from_alphabet(text, &t->a, &t->piece[id])) {
			t->kind[id] = TOK_RAW;
			t->piece[id] = arena_str(&t->a, text);
		}
		if (!t->piece[id].p)
			return FAIL(l->e, ERR_LIMIT, "%d tokens need too much memory", t->n);
	}
	return 0;
}

/* "a b" or ["a", "b"]. */
static bool halves(const struct json *j, struct str *ret_a, struct str *ret_b)
{
	const char *blank;

	if (json_len(j) == 2) {
		*ret_a = json_str(json_at(j, 0));
		*ret_b = json_str(json_at(j, 1));
	} else if (json_is(j, JSON_STR) && (blank = memchr(j->text.p, ' ', j->text.n))) {
		size_t n = (size_t)(blank - j->text.p);

		*ret_a = (struct str){ j->text.p, n };
		*ret_b = (struct str){ blank + 1, j->text.n - n - 1 };
	} else {
		return false;
	}
	return ret_a->n && ret_b->n;
}

static int read_merge(struct load *l, int i, struct arena *scratch)
{
	struct tok *t = l->t;
	struct tok_merge *m = &t->merge[i];
	struct str a, b, both, x[2];
	char *p;

	if (!halves(json_at(l->merges, i), &a, &b))
		return FAIL(l->e, ERR_PARSE, "model.merges[%d] is not \"a b\" or [\"a\", \"b\"]",
		            i);
	arena_reset(scratch);
	if (!tok_from_alphabet(a, scratch, &x[0]) || !tok_from_alphabet(b, scratch, &x[1]))
		return FAIL(l->e, ERR_PARSE, "model.merges[%d] is not in the byte alphabet", i);
	p = arena_new(scratch, char, x[0].n + x[1].n);
	if (!p)
		return FAIL(l->e, ERR_LIMIT, "model.merges[%d] is too long", i);
	memcpy(p, x[0].p, x[0].n);
	memcpy(p + x[0].n, x[1].p, x[1].n);
	both = (struct str){ p, x[0].n + x[1].n };
	*m = (struct tok_merge){ tok_find(t, x[0]), tok_find(t, x[1]), tok_find(t, both) };
	if (m->a < 0 || m->b < 0 || m->to < 0)
		return FAIL(l->e, ERR_PARSE,
		            "model.merges[%d]: '%.*s' + '%.*s' or the sum is not in the vocabulary",
		            i, len40(a), a.p, len40(b), b.p);
	return 0;
}

static int read_merges(struct load *l)
{
	AUTO_ARENA scratch = { .limit = TOK_FILE_MAX };
	struct tok *t = l->t;
	int n = json_len(l->merges), r = 0;

	if (n > TOK_MERGES_MAX)
		return FAIL(l->e, ERR_LIMIT, "model.merges has %d entries, at most %d are read", n,
		            TOK_MERGES_MAX);
	t->merge = arena_new(&t->a, struct tok_merge, n + 1);
	if (!t->merge)
		return FAIL(l->e, ERR_LIMIT, "%d merges need too much memory", n);
	for (int i = 0; i < n && r == 0; i++)
		r = read_merge(l, i, &scratch);
	t->n_merges = n;
	return r;
}

static int read_model(struct load *l, const struct json *j)
{
	static const char *const keys[] = { "type",
		                            "dropout",
		                            "unk_token",
		                            "continuing_subword_prefix",
		                            "end_of_word_suffix",
		                            "fuse_unk",
		                            "byte_fallback",
		                            "ignore_merges",
		                            "vocab",
		                            "merges",
		                            NULL };
	static const char *const off[] = { "dropout", "continuing_subword_prefix",
		                           "end_of_word_suffix", "byte_fallback", NULL };
	struct str type = STR("BPE"); /* older files do not say it */
	int r = json_opt_str(j, "type", &type, l->e);

	if (r == 0 && !str_is(type, "BPE"))
		r = FAIL(l->e, ERR_RANGE, "type '%.*s' is not supported (BPE)", len40(type),
		         type.p);
	if (r == 0)
		r = only_keys(j, keys, "it", l->e);
	if (r == 0)
		r = all_off(j, off, "it", l->e);
	if (r == 0)
		r = json_opt_bool(j, "ignore_merges", &l->t->ignore_merges, l->e);
	if (r == 0)
		r = json_need(j, "vocab", JSON_OBJ, &l->vocab, l->e);
	if (r == 0)
		r = json_need(j, "merges", JSON_ARR, &l->merges, l->e);
	return r < 0 ? err_wrap(l->e, "model") : 0;
}

/* ---- added_tokens ---- */

static int read_added(struct load *l, const struct json *j)
{
	static const char *const keys[] = { "id",     "content",    "single_word", "lstrip",
		                            "rstrip", "normalized", "special",     NULL };
	static const char *const off[] = { "single_word", "lstrip", "rstrip", NULL };
	struct tok *t = l->t;
	struct str text;
	bool special = false;
	int32_t id = -1;
	int r = json_need_str(j, "content", &text, l->e);

	if (r == 0)
		r = only_keys(j, keys, "a token", l->e);
	if (r == 0)
		r = all_off(j, off, "a token", l->e);
	if (r == 0)
		r = json_opt_bool(j, "special", &special, l->e);
	if (r == 0)
		r = read_id(json_get(j, "id"), "a token", &id, l->e);
	if (r < 0)
		return r;
	if (!text.n)
		return FAIL(l->e, ERR_PARSE, "id %d is empty", id);
	if (t->kind[id] == TOK_ADDED || t->kind[id] == TOK_SPECIAL)
		return FAIL(l->e, ERR_PARSE, "id %d is given twice", id);
	if (t->kind[id] != TOK_HOLE && !str_eq(t->piece[id], text))
		return FAIL(l->e, ERR_PARSE, "id %d is another token in the vocabulary", id);
	t->kind[id] = special ? TOK_SPECIAL : TOK_ADDED;
	t->piece[id] = arena_str(&t->a, text);
	if (!t->piece[id].p)
		return FAIL(l->e, ERR_LIMIT, "%d tokens need too much memory", t->n);
	if (special && t->eos < 0)
		t->eos = id;
	return 0;
}

static int read_all_added(struct load *l)
{
	int n = json_len(l->added);

	if (n > TOK_ADDED_MAX)
		return FAIL(l->e, ERR_LIMIT, "added_tokens has %d entries, at most %d are read", n,
		            TOK_ADDED_MAX);
	for (int i = 0; i < n; i++)
		if (read_added(l, json_at(l->added, i)) < 0)
			return err_wrap(l->e, "added_tokens[%d]", i);
	return 0;
}

/* Ordinary text never gives a special token, whatever the file says. */
static int check_special(const struct load *l)
{
	const struct tok *t = l->t;

	for (int c = 0; c < 256; c++)
		if (t->kind[t->byte_id[c]] == TOK_SPECIAL)
			return FAIL(l->e, ERR_RANGE, "the byte 0x%02x is a special token", c);
	for (int i = 0; i < t->n_merges; i++)
		if (t->kind[t->merge[i].to] == TOK_SPECIAL)
			return FAIL(l->e, ERR_RANGE, "model.merges[%d] gives a special token", i);
	return 0;
}

/* ---- the file ---- */

static int check_top(const struct json *j, struct err *e)
{
	static const char *const keys[] = {
		"version",       "truncation",     "padding", "added_tokens", "normalizer",
		"pre_tokenizer", "post_processor", "decoder", "model",        NULL
	};
	const struct json *norm = json_get(j, "normalizer");
	struct str norm_type = json_str(json_get(norm, "type"));
	struct str decoder = json_str(json_get(json_get(j, "decoder"), "type"));
	int r;

	if (!json_is(j, JSON_OBJ))
		return FAIL(e, ERR_PARSE, "not an object");
	r = only_keys(j, keys, "file", e);
	if (r < 0)
		return r;
	if (!is_null(norm))
		return FAIL(e, ERR_RANGE, "normalizer '%.*s' is not supported", len40(norm_type),
		            norm_type.p);
	if (!is_null(json_get(j, "truncation")) || !is_null(json_get(j, "padding")))
		return FAIL(e, ERR_RANGE, "truncation or padding is set: not supported");
	if (!str_is(decoder, "ByteLevel"))
		return FAIL(e, ERR_RANGE, "decoder '%.*s' is not supported (ByteLevel)",
		            len40(decoder), decoder.p);
	return 0;
}

static int read_all(struct load *l, const struct json *j)
{
	const struct json *model = NULL;
	int r = check_top(j, l->e);

	if (r == 0)
		r = json_need(j, "model", JSON_OBJ, &model, l->e);
	if (r < 0 || (r = read_model(l, model)) < 0)
		return r;
	l->added = json_get(j, "added_tokens");
	if ((r = read_pre_tokenizer(l->t, json_get(j, "pre_tokenizer"), l->e)) < 0 ||
	    (r = count_ids(l)) < 0 || (r = read_vocab(l)) < 0 ||
	    (r = tok_index_text(l->t, l->e)) < 0 || (r = read_merges(l)) < 0 ||
	    (r = read_all_added(l)) < 0 || (r = check_special(l)) < 0)
		return r;
	return tok_index(l->t, l->e);
}

int tok_parse(struct str text, struct tok **ret, struct err *e)
{
	struct load l = { .t = tok_new(TOK_MEM_MAX), .tree = { .limit = TREE_MAX }, .e = e };
	const struct json *j = NULL;
	int r = l.t ? 0 : FAIL(e, ERR_NOMEM, "tokenizer");

	if (r == 0 && text.n > TOK_FILE_MAX)
		r = FAIL(e, ERR_LIMIT, "%zu bytes, at most %d are read", text.n, TOK_FILE_MAX);
	if (r == 0)
		r = json_parse(text, &l.tree, &j, e);
	if (r == 0)
		r = read_all(&l, j);
	if (r == 0) {
		l.t->source = arena_str(&l.t->a, text);
		if (!l.t->source.p)
			r = FAIL(e, ERR_LIMIT, "tokenizer needs too much memory");
	}
	arena_done(&l.tree);
	if (r < 0) {
		tok_free(l.t);
		return r;
	}
	*ret = l.t;
	return 0;
}
