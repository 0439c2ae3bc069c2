/* tok_file.c - the files of a tokenizer: tokenizer.json and, beside it, tokenizer_config.json and
 * special_tokens_map.json.
 *
 * A loaded tokenizer keeps the bytes of its files and writes them back: nothing that we do not use
 * (templates, post-processors) is lost. A trained one is written in the layout that the tokenizers
 * library and transformers open.
 */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "tok/tok_impl.h"

enum { PATH_MAX_BYTES = 4096, SIDE_FILE_MAX = 4 << 20, TREE_MAX = 256 << 20 };

/* ---- writing ---- */

static struct str cstr(const char *s)
{
	return (struct str){ s, strlen(s) };
}

/* Bytes in the alphabet, as UTF-8: every code point of it lies below U+0800. */
static void put_alphabet(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		int c = tok_alphabet((unsigned char)s.p[i]);

		if (c < 0x80) {
			buf_putc(b, (char)c);
		} else {
			buf_putc(b, (char)(0xc0 | c >> 6));
			buf_putc(b, (char)(0x80 | (c & 0x3f)));
		}
	}
}

static void put_byte_level(struct jsonw *w)
{
	jsonw_open(w, '{');
	jsonw_key(w, "type"), jsonw_cstr(w, "ByteLevel");
	jsonw_key(w, "add_prefix_space"), jsonw_bool(w, false);
	jsonw_key(w, "trim_offsets"), jsonw_bool(w, false);
	jsonw_key(w, "use_regex"), jsonw_bool(w, false);
	jsonw_close(w, '}');
}

static void put_pre_tokenizer(struct jsonw *w, const struct tok *t)
{
	jsonw_open(w, '{');
	jsonw_key(w, "type"), jsonw_cstr(w, "Sequence");
	jsonw_key(w, "pretokenizers"), jsonw_open(w, '[');
	for (int i = 0; i < t->n_steps; i++) {
		jsonw_open(w, '{');
		jsonw_key(w, "type"), jsonw_cstr(w, "Split");
		jsonw_key(w, "pattern"), jsonw_open(w, '{');
		jsonw_key(w, "Regex"), jsonw_str(w, t->step[i].pattern);
		jsonw_close(w, '}');
		jsonw_key(w, "behavior"), jsonw_cstr(w, "Isolated");
		jsonw_key(w, "invert"), jsonw_bool(w, false);
		jsonw_close(w, '}');
	}
	put_byte_level(w);
	jsonw_close(w, ']');
	jsonw_close(w, '}');
}

static void put_added(struct jsonw *w, const struct tok *t, int32_t id, bool with_id)
{
	static const char *const off[] = { "lstrip", "normalized", "rstrip", "single_word" };

	jsonw_open(w, '{');
	if (with_id)
		jsonw_key(w, "id"), jsonw_int(w, id);
	jsonw_key(w, "content"), jsonw_str(w, t->piece[id]);
	for (size_t i = 0; i < sizeof off / sizeof *off; i++)
		jsonw_key(w, off[i]), jsonw_bool(w, false);
	jsonw_key(w, "special"), jsonw_bool(w, t->kind[id] == TOK_SPECIAL);
	jsonw_close(w, '}');
}

/* Special tokens stand in the vocabulary too: they hold ids in the middle of it. */
static void put_model(struct jsonw *w, const struct tok *t)
{
	AUTO_BUF key = { .max = TOK_FILE_MAX };

	jsonw_open(w, '{');
	jsonw_key(w, "type"), jsonw_cstr(w, "BPE");
	jsonw_key(w, "dropout"), jsonw_null(w);
	jsonw_key(w, "unk_token"), jsonw_null(w);
	jsonw_key(w, "continuing_subword_prefix"), jsonw_null(w);
	jsonw_key(w, "end_of_word_suffix"), jsonw_null(w);
	jsonw_key(w, "fuse_unk"), jsonw_bool(w, false);
	jsonw_key(w, "byte_fallback"), jsonw_bool(w, false);
	jsonw_key(w, "ignore_merges"), jsonw_bool(w, t->ignore_merges);
	jsonw_key(w, "vocab"), jsonw_open(w, '{');
	for (int32_t i = 0; i < t->n; i++) {
		buf_reset(&key);
		put_alphabet(&key, t->piece[i]);
		jsonw_key(w, buf_cstr(&key)), jsonw_int(w, i);
	}
	jsonw_close(w, '}');
	jsonw_key(w, "merges"), jsonw_open(w, '[');
	for (int i = 0; i < t->n_merges; i++) {
		buf_reset(&key);
		put_alphabet(&key, t->piece[t->merge[i].a]);
		buf_putc(&key, ' ');
		put_alphabet(&key, t->piece[t->merge[i].b]);
		jsonw_str(w, buf_str(&key));
	}
	jsonw_close(w, ']');
	jsonw_close(w, '}');
	if (key.failed)
		w->b->failed = key.failed;
}

static void put_tokenizer(struct buf *b, const struct tok *t)
{
	struct jsonw w = { b };

	jsonw_open(&w, '{');
	jsonw_key(&w, "version"), jsonw_cstr(&w, "1.0");
	jsonw_key(&w, "truncation"), jsonw_null(&w);
	jsonw_key(&w, "padding"), jsonw_null(&w);
	jsonw_key(&w, "added_tokens"), jsonw_open(&w, '[');
	for (int32_t i = 0; i < t->n; i++)
		if (t->kind[i] == TOK_SPECIAL || t->kind[i] == TOK_ADDED)
			put_added(&w, t, i, true);
	jsonw_close(&w, ']');
	jsonw_key(&w, "normalizer"), jsonw_null(&w);
	jsonw_key(&w, "pre_tokenizer"), put_pre_tokenizer(&w, t);
	jsonw_key(&w, "post_processor"), jsonw_null(&w);
	jsonw_key(&w, "decoder"), put_byte_level(&w);
	jsonw_key(&w, "model"), put_model(&w, t);
	jsonw_close(&w, '}');
	buf_putc(b, '\n');
}

static void put_config(struct buf *b, const struct tok *t)
{
	struct jsonw w = { b };

	jsonw_open(&w, '{');
	jsonw_key(&w, "tokenizer_class"), jsonw_cstr(&w, "PreTrainedTokenizerFast");
	jsonw_key(&w, "added_tokens_decoder"), jsonw_open(&w, '{');
	for (int32_t i = 0; i < t->n; i++) {
		char key[16];

		if (t->kind[i] != TOK_SPECIAL && t->kind[i] != TOK_ADDED)
			continue;
		(void)snprintf(key, sizeof key, "%d", i);
		jsonw_key(&w, key), put_added(&w, t, i, false);
	}
	jsonw_close(&w, '}');
	if (t->eos >= 0)
		jsonw_key(&w, "eos_token"), jsonw_str(&w, t->piece[t->eos]);
	jsonw_key(&w, "add_prefix_space"), jsonw_bool(&w, false);
	jsonw_key(&w, "clean_up_tokenization_spaces"), jsonw_bool(&w, false);
	jsonw_close(&w, '}');
	buf_putc(b, '\n');
}

static void put_special_map(struct buf *b, const struct tok *t)
{
	struct jsonw w = { b };

	jsonw_open(&w, '{');
	if (t->eos >= 0)
		jsonw_key(&w, "eos_token"), jsonw_str(&w, t->piece[t->eos]);
	jsonw_key(&w, "additional_special_tokens"), jsonw_open(&w, '[');
	for (int32_t i = 0; i < t->n; i++)
		if (t->kind[i] == TOK_SPECIAL && i != t->eos)
			jsonw_str(&w, t->piece[i]);
	jsonw_close(&w, ']');
	jsonw_close(&w, '}');
	buf_putc(b, '\n');
}

/* The file as it was read, or made. */
static int save_one(const struct tok *t, const char *path, struct str source,
                    void (*put)(struct buf *, const struct tok *), struct err *e)
{
	AUTO_BUF b = { .max = TOK_FILE_MAX };
	int r;

	if (source.p)
		return io_save(path, source, e);
	put(&b, t);
	r = buf_check(&b, path, e);
	return r < 0 ? r : io_save(path, buf_str(&b), e);
}

int tok_save(const struct tok *t, const char *path, struct err *e)
{
	static const char name[] = "tokenizer.json";
	struct str p = cstr(path);
	size_t dir = p.n >= sizeof name - 1 ? p.n - (sizeof name - 1) : 0;
	char side[PATH_MAX_BYTES];
	int r = save_one(t, path, t->source, put_tokenizer, e);

	if (r < 0 || !str_is((struct str){ p.p + dir, p.n - dir }, name) ||
	    (dir && p.p[dir - 1] != '/'))
		return r;
	if ((size_t)snprintf(side, sizeof side, "%.*stokenizer_config.json", (int)dir, path) >=
	    sizeof side - 8)
		return FAIL(e, ERR_LIMIT, "%.100s...: path is too long", path);
	r = save_one(t, side, t->config, put_config, e);
	(void)snprintf(side, sizeof side, "%.*sspecial_tokens_map.json", (int)dir, path);
	return r < 0 ? r : save_one(t, side, t->special_map, put_special_map, e);
}

/* ---- reading ---- */

static bool keep(struct tok *t, struct str text, struct str *ret)
{
	*ret = arena_str(&t->a, text);
	return ret->p != NULL;
}

/* The file `name` in the folder of path: 1 read into b, 0 not there. */
static int load_beside(const char *path, const char *name, struct buf *b, struct err *e)
{
	char side[PATH_MAX_BYTES];
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash - path) + 1 : 0, r;

	if ((size_t)snprintf(side, sizeof side, "%.*s%s", dir, path, name) >= sizeof side)
		return FAIL(e, ERR_LIMIT, "%.100s...: path is too long", path);
	if (!io_exists(side))
		return 0;
	r = io_load(side, b, e);
	return r < 0 ? r : 1;
}

/* eos_token is a text or an added token with its content. */
static int read_side_config(struct tok *t, struct str text, struct err *e)
{
	AUTO_ARENA tree = { .limit = TREE_MAX };
	const struct json *j = NULL, *eos;
	int r = json_parse(text, &tree, &j, e);
	struct str s;

	if (r < 0)
		return r;
	eos = json_get(j, "eos_token");
	if (!eos || eos->type == JSON_NULL)
		return 0;
	s = json_is(eos, JSON_OBJ) ? json_str(json_get(eos, "content")) : json_str(eos);
	for (int i = 0; i < t->n_added; i++)
		if (str_eq(t->piece[t->added[i]], s)) {
			t->eos = t->added[i];
			return 0;
		}
	return FAIL(e, ERR_PARSE, "eos_token '%.*s' is no added token", (int)(s.n < 40 ? s.n : 40),
	            s.p);
}

static int load_side_files(struct tok *t, const char *path, struct err *e)
{
	AUTO_BUF config = { .max = SIDE_FILE_MAX };
	AUTO_BUF map = { .max = SIDE_FILE_MAX };
	int r = load_beside(path, "tokenizer_config.json", &config, e);

	if (r > 0) {
		if ((r = read_side_config(t, buf_str(&config), e)) < 0)
			return err_wrap(e, "tokenizer_config.json beside it");
		if (!keep(t, buf_str(&config), &t->config))
			return FAIL(e, ERR_LIMIT, "tokenizer needs too much memory");
	}
	if (r == 0)
		r = load_beside(path, "special_tokens_map.json", &map, e);
	if (r > 0 && !keep(t, buf_str(&map), &t->special_map))
		return FAIL(e, ERR_LIMIT, "tokenizer needs too much memory");
	return r < 0 ? r : 0;
}

int tok_load(const char *path, struct tok **ret, struct err *e)
{
	AUTO_BUF b = { .max = TOK_FILE_MAX };
	struct tok *t = NULL;
	int r = io_load(path, &b, e);

	if (r < 0)
		return r;
	r = tok_parse(buf_str(&b), &t, e);
	if (r == 0)
		r = load_side_files(t, path, e);
	if (r < 0) {
		tok_free(t);
		return err_wrap(e, "%s", path);
	}
	*ret = t;
	return 0;
}
