/* tok_save.c - writes tokenizer.json, tokenizer_config.json and special_tokens_map.json.
 *
 * A loaded tokenizer keeps the bytes of its files and writes them back: nothing that we do not use
 * (templates, post-processors) is lost. A trained one is written in the layout that the tokenizers
 * library and transformers open.
 */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/jsonw.h"
#include "tok/tok_impl.h"

enum { PATH_MAX_BYTES = 4096 };

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
