/* tok_pre.c - the pre-tokenizer: cuts text into pieces with PCRE2.
 *
 * The patterns are written for the regular expressions of the tokenizers library (Oniguruma). What
 * both read differently is rewritten or refused before it is compiled: \s there is the Unicode
 * property White_Space, while PCRE2 with UCP adds U+180E; a '[' or '&&' inside a class there is set
 * algebra, here plain characters.
 *
 * PCRE2 sees valid UTF-8 only. A byte that is not part of it is a piece of its own and ends the
 * text before it, for look-ahead too: no id ever depends on how a library repairs bytes.
 */
#include "tok/tok_impl.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
	MATCH_LIMIT = 10000000, /* steps of one match */
	HEAP_LIMIT_KIB = 1 << 16,
};

const char tok_pattern_qwen2[] = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
				 "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

const char tok_pattern_gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+"
				"| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/* White_Space = U+0009..U+000D, U+0020, U+0085 and the other separators, category Z. */
#define SPACE "\\t-\\r\\x{85}\\p{Z}"

static int rewrite(struct str p, struct buf *b, struct err *e)
{
	bool in_class = false;
	size_t class_at = 0; /* where the first member of the class stands */

	for (size_t i = 0; i < p.n; i++) {
		char c = p.p[i], next = i + 1 < p.n ? p.p[i + 1] : 0;

		if (c == '\\') {
			if (next == 'Q' || next == 'C' || (next == 'S' && in_class))
				return FAIL(e, ERR_RANGE, "pattern: '\\%c'%s is not supported",
				            next, in_class ? " in a class" : "");
			if (next == 's')
				buf_puts(b, in_class ? SPACE : "[" SPACE "]");
			else if (next == 'S')
				buf_puts(b, "[^" SPACE "]");
			else
				buf_put(b, p.p + i, i + 1 < p.n ? 2 : 1);
			i++;
			continue;
		}
		if (in_class && ((c == '[' && next != ':') || (c == '&' && next == '&')))
			return FAIL(e, ERR_RANGE, "pattern: '%c' in a class is not supported", c);
		buf_putc(b, c);
		if (in_class && c == '[') { /* [:name:] */
			while (i + 1 < p.n && p.p[i + 1] != ']')
				buf_putc(b, p.p[++i]);
			if (i + 1 < p.n)
				buf_putc(b, p.p[++i]);
		} else if (in_class) {
			in_class = c != ']' || i == class_at;
		} else if (c == '[') {
			in_class = true;
			class_at = i + 1;
			if (next == '^') {
				buf_putc(b, '^');
				class_at++, i++;
			}
		}
	}
	return buf_check(b, "pattern", e);
}

int tok_step_add(struct tok *t, struct str pattern, struct err *e)
{
	AUTO_BUF b = { .max = TOK_PATTERN_MAX * 12 };
	struct tok_step *s = &t->step[t->n_steps];
	unsigned char why[120] = "";
	PCRE2_SIZE at;
	int code, r;

	if (t->n_steps == TOK_STEPS_MAX)
		return FAIL(e, ERR_LIMIT, "pre_tokenizer has more than %d steps", TOK_STEPS_MAX);
	if (pattern.n > TOK_PATTERN_MAX)
		return FAIL(e, ERR_LIMIT, "pattern of %zu bytes", pattern.n);
	r = rewrite(pattern, &b, e);
	if (r < 0)
		return r;
	s->pattern = arena_str(&t->a, pattern);
	if (!s->pattern.p)
		return FAIL(e, ERR_LIMIT, "pattern needs too much memory");
	s->code = pcre2_compile((PCRE2_SPTR)(b.n ? b.p : ""), b.n,
	                        PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &code, &at, NULL);
	if (!s->code) {
		(void)pcre2_get_error_message(code, why, sizeof why);
		return FAIL(e, ERR_PARSE, "pattern: %s", (char *)why);
	}
	(void)pcre2_jit_compile(s->code, PCRE2_JIT_COMPLETE); /* without it: slower, the same */
	t->n_steps++;
	return 0;
}

void tok_step_done(struct tok_step *s)
{
	pcre2_code_free(s->code);
}

struct cut {
	const struct tok *t;
	tok_piece_fn *fn;
	void *arg;
	pcre2_match_data *m;
	pcre2_match_context *ctx;
	struct err *e;
};

/* The next match of step k at or behind `from`: 1 found, 0 none. */
static int match(const struct cut *c, int k, struct str s, size_t from, size_t *ret_begin,
                 size_t *ret_end)
{
	const pcre2_code *code = c->t->step[k].code;
	const PCRE2_SIZE *at;
	int r = pcre2_match(code, (PCRE2_SPTR)s.p, s.n, from, PCRE2_NO_UTF_CHECK, c->m, c->ctx);

	if (r == PCRE2_ERROR_JIT_STACKLIMIT)
		r = pcre2_match(code, (PCRE2_SPTR)s.p, s.n, from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
		                c->m, c->ctx);
	if (r == PCRE2_ERROR_NOMATCH)
		return 0;
	if (r < 0)
		return FAIL(c->e, ERR_LIMIT,
		            "pattern %d of the pre_tokenizer is too costly on this text (PCRE2 %d)",
		            k + 1, r);
	at = pcre2_get_ovector_pointer(c->m);
	if (at[0] > at[1] || at[0] < from) /* \K can say so */
		return FAIL(c->e, ERR_RANGE, "pattern %d of the pre_tokenizer matches backwards",
		            k + 1);
	*ret_begin = at[0];
	*ret_end = at[1];
	return 1;
}

static size_t next_char(struct str s, size_t i)
{
	do
		i++;
	while (i < s.n && ((unsigned char)s.p[i] & 0xc0) == 0x80);
	return i;
}

/* Pieces of s (valid UTF-8) by the steps k and later. At most TOK_STEPS_MAX calls deep. */
static int cut(const struct cut *c, int k, struct str s)
{
	size_t done = 0, from = 0;

	if (s.n == 0)
		return 0;
	if (k == c->t->n_steps)
		return c->fn(c->arg, s, c->e);
	while (from < s.n) {
		size_t begin = 0, end = 0;
		int r = match(c, k, s, from, &begin, &end);

		if (r < 0)
			return r;
		if (r == 0)
			break;
		if (begin == end && begin == done && done > 0) { /* empty, behind a match */
			from = next_char(s, from);
			continue;
		}
		r = cut(c, k + 1, (struct str){ s.p + done, begin - done });
		if (r == 0)
			r = cut(c, k + 1, (struct str){ s.p + begin, end - begin });
		if (r < 0)
			return r;
		done = end;
		from = begin == end ? next_char(s, end) : end;
	}
	return cut(c, k + 1, (struct str){ s.p + done, s.n - done });
}

/* Length of the valid UTF-8 sequence at p, or 0 (RFC 3629: no overlong forms, no surrogates). */
static size_t utf8_len(const unsigned char *p, size_t n)
{
	size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (p[0] > 0xf4 || len == 0 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

static int cut_valid(const struct cut *c, struct str text)
{
	const unsigned char *p = (const unsigned char *)text.p;
	size_t i = 0;

	while (i < text.n) {
		size_t from = i, len;
		int r;

		while (i < text.n && (len = utf8_len(p + i, text.n - i)) > 0)
			i += len;
		r = cut(c, 0, (struct str){ text.p + from, i - from });
		if (r == 0 && i < text.n)
			r = c->fn(c->arg, (struct str){ text.p + i++, 1 }, c->e);
		if (r < 0)
			return r;
	}
	return 0;
}

int tok_pieces(const struct tok *t, struct str text, tok_piece_fn *fn, void *arg, struct err *e)
{
	struct cut c = { .t = t, .fn = fn, .arg = arg, .e = e };
	int r;

	c.m = pcre2_match_data_create(1, NULL);
	c.ctx = pcre2_match_context_create(NULL);
	if (c.m && c.ctx) {
		(void)pcre2_set_match_limit(c.ctx, MATCH_LIMIT);
		(void)pcre2_set_heap_limit(c.ctx, HEAP_LIMIT_KIB);
		r = cut_valid(&c, text);
	} else {
		r = FAIL(e, ERR_NOMEM, "pre_tokenizer");
	}
	pcre2_match_context_free(c.ctx);
	pcre2_match_data_free(c.m);
	return r;
}
