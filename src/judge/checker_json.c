/* checker_json.c - equal JSON: the order of keys, blanks, and the notation of numbers and texts do
 * not matter.
 *
 * Both texts are read in place and reduced to a hash with a key that lives for one comparison:
 *
 *	h(list) = hash of the items' hashes		h(object) = hash of sum_k hash(key_k,
 *h(value_k))
 *
 * so that memory does not grow with the program's output, and other values have equal hashes with
 * a chance below 2^-100, at which nobody can aim. Only the reference's keys are kept, to find one
 * given twice: an answer that gives a key twice has another sum.
 */
#include "judge/checker.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/dec.h"
#include "base/sip.h"

enum {
	MAX_DEPTH = 512,
	MAX_KEYS_BYTES = 1 << 28, /* 16 for each key of open objects */
};

struct reader {
	const char *p, *end;
	const struct sip_key *key;
	struct buf *keys; /* hashes of the keys of open objects; NULL: they are not checked */
	const char *why;  /* what is wrong, else NULL */
	int depth;
};

static bool fail(struct reader *r, const char *why)
{
	r->why = why;
	return false;
}

static char peek(const struct reader *r)
{
	return r->p < r->end ? *r->p : 0;
}

static void skip_blank(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\r' || *r->p == '\t'))
		r->p++;
}

static bool take(struct reader *r, char c)
{
	bool is = r->p < r->end && *r->p == c;

	r->p += is;
	return is;
}

static void add_hash(struct sip *s, sip_t h)
{
	sip_add(s, &h, sizeof h);
}

static bool read_hex4(struct reader *r, unsigned *ret)
{
	unsigned v = 0;

	if (r->end - r->p < 4)
		return fail(r, "a broken escape");
	for (int i = 0; i < 4; i++) {
		char c = *r->p++, low = (char)(c | 32);

		if (c >= '0' && c <= '9')
			v = v * 16 + (unsigned)(c - '0');
		else if (low >= 'a' && low <= 'f')
			v = v * 16 + 10 + (unsigned)(low - 'a');
		else
			return fail(r, "a broken escape");
	}
	*ret = v;
	return true;
}

/* As UTF-8; a surrogate without its half too, so that it equals itself. */
static void add_code_point(struct sip *s, unsigned c)
{
	unsigned char b[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; c >>= 6)
		b[i] = (unsigned char)(0x80 | (c & 0x3f));
	b[0] = (unsigned char)(n == 1 ? c : (0xf00 >> n & 0xff) | c);
	sip_add(s, b, n);
}

static bool read_unicode(struct reader *r, struct sip *s)
{
	unsigned c, low;

	if (!read_hex4(r, &c))
		return false;
	if (c >= 0xd800 && c < 0xdc00 && r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u') {
		const char *at = r->p;

		r->p += 2;
		if (!read_hex4(r, &low))
			return false;
		if (low >= 0xdc00 && low < 0xe000)
			c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
		else
			r->p = at;
	}
	add_code_point(s, c);
	return true;
}

static bool read_escape(struct reader *r, struct sip *s)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *c = r->p < r->end ? memchr(from, *r->p, sizeof from - 1) : NULL;

	if (c) {
		sip_add(s, to + (c - from), 1);
		r->p++;
		return true;
	}
	return take(r, 'u') ? read_unicode(r, s) : fail(r, "a broken escape");
}

static bool read_text(struct reader *r, sip_t *ret)
{
	struct sip s = sip_start(r->key);

	sip_add(&s, "\"", 1);
	r->p++;
	while (!take(r, '"')) {
		const char *from = r->p;
		size_t n = 0;

		while (r->p < r->end && *r->p != '"' && *r->p != '\\') {
			n = str_utf8_len((struct str){ r->p, (size_t)(r->end - r->p) });
			if (n == 0 || (unsigned char)*r->p < 0x20)
				return fail(r, "a text with control characters or broken UTF-8");
			r->p += n;
		}
		sip_add(&s, from, (size_t)(r->p - from));
		if (r->p == r->end)
			return fail(r, "a text without an end");
		if (take(r, '\\') && !read_escape(r, &s))
			return false;
	}
	*ret = sip_end(&s);
	return true;
}

static size_t skip_digits(struct reader *r)
{
	const char *from = r->p;

	while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
		r->p++;
	return (size_t)(r->p - from);
}

/* The grammar is stricter than that of decimals: no +, no 01, no 1. */
static bool skip_number(struct reader *r)
{
	bool zero;

	(void)take(r, '-');
	zero = take(r, '0');
	if (zero ? skip_digits(r) != 0 : skip_digits(r) == 0)
		return false;
	if (take(r, '.') && skip_digits(r) == 0)
		return false;
	if (!take(r, 'e') && !take(r, 'E'))
		return true;
	if (!take(r, '-'))
		(void)take(r, '+');
	return skip_digits(r) != 0;
}

/* 20, 20.0 and 2e1 are one number. */
static bool read_number(struct reader *r, sip_t *ret)
{
	struct sip s = sip_start(r->key);
	const char *from = r->p, *point;
	struct dec d;

	if (!skip_number(r) || !dec_parse((struct str){ from, (size_t)(r->p - from) }, &d))
		return fail(r, "something that is no JSON value, or a number out of all bounds");
	sip_add(&s, d.neg ? "-" : "+", 1);
	sip_add(&s, &d.exp, sizeof d.exp);
	point = d.digits.n ? memchr(d.digits.p, '.', d.digits.n) : NULL;
	if (point) {
		size_t n = (size_t)(point - d.digits.p);

		sip_add(&s, d.digits.p, n);
		sip_add(&s, point + 1, d.digits.n - n - 1);
	} else if (d.digits.n) {
		sip_add(&s, d.digits.p, d.digits.n);
	}
	*ret = sip_end(&s);
	return true;
}

static bool read_word(struct reader *r, sip_t *ret)
{
	static const struct str word[] = { STR("null"), STR("true"), STR("false") };
	struct str rest = { r->p, (size_t)(r->end - r->p) };

	for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
		if (str_starts(rest, word[i])) {
			struct sip s = sip_start(r->key);

			sip_add(&s, word[i].p, word[i].n);
			*ret = sip_end(&s);
			r->p += word[i].n;
			return true;
		}
	}
	return false;
}

static bool read_value(struct reader *r, sip_t *ret);

static bool read_list(struct reader *r, sip_t *ret)
{
	struct sip s = sip_start(r->key);
	sip_t item;

	sip_add(&s, "[", 1);
	skip_blank(r);
	if (!take(r, ']')) {
		do {
			if (!read_value(r, &item))
				return false;
			add_hash(&s, item);
			skip_blank(r);
		} while (take(r, ','));
		if (!take(r, ']'))
			return fail(r, "a list without an end");
	}
	*ret = sip_end(&s);
	return true;
}

static int by_hash(const void *x, const void *y)
{
	sip_t a, b;

	memcpy(&a, x, sizeof a);
	memcpy(&b, y, sizeof b);
	return (a > b) - (a < b);
}

/* The keys from the byte at on belong to the object that ends. */
static bool are_unique(struct reader *r, size_t at)
{
	char *key = r->keys->p ? r->keys->p + at : NULL;
	size_t n = (r->keys->n - at) / sizeof(sip_t);

	if (r->keys->failed)
		return fail(r, "more keys than there is memory for");
	if (n)
		qsort(key, n, sizeof(sip_t), by_hash);
	for (size_t i = 1; i < n; i++)
		if (by_hash(key + (i - 1) * sizeof(sip_t), key + i * sizeof(sip_t)) == 0)
			return fail(r, "a key that is given twice");
	r->keys->n = at;
	return true;
}

static bool read_member(struct reader *r, sip_t *ret)
{
	struct sip s = sip_start(r->key);
	sip_t key, value;

	skip_blank(r);
	if (peek(r) != '"')
		return fail(r, "a key that is no text");
	if (!read_text(r, &key))
		return false;
	if (r->keys)
		buf_put(r->keys, &key, sizeof key);
	skip_blank(r);
	if (!take(r, ':'))
		return fail(r, "a key without a value");
	if (!read_value(r, &value))
		return false;
	add_hash(&s, key);
	add_hash(&s, value);
	*ret = sip_end(&s);
	return true;
}

static bool read_object(struct reader *r, sip_t *ret)
{
	size_t at = r->keys ? r->keys->n : 0;
	struct sip s = sip_start(r->key);
	sip_t sum = 0, member;
	uint64_t n = 0;

	skip_blank(r);
	if (!take(r, '}')) {
		do {
			if (!read_member(r, &member))
				return false;
			sum += member;
			n++;
			skip_blank(r);
		} while (take(r, ','));
		if (!take(r, '}'))
			return fail(r, "an object without an end");
	}
	if (r->keys && !are_unique(r, at))
		return false;
	sip_add(&s, "{", 1);
	add_hash(&s, sum);
	sip_add(&s, &n, sizeof n);
	*ret = sip_end(&s);
	return true;
}

static bool read_value(struct reader *r, sip_t *ret)
{
	bool ok;

	skip_blank(r);
	if (peek(r) == '"')
		return read_text(r, ret);
	if (peek(r) != '[' && peek(r) != '{')
		return read_word(r, ret) || read_number(r, ret);
	if (++r->depth > MAX_DEPTH)
		return fail(r, "lists or objects too deep in each other");
	ok = *r->p++ == '[' ? read_list(r, ret) : read_object(r, ret);
	r->depth--;
	return ok;
}

/* All documents of text, parted by blanks: at least one. */
static bool read_all(struct reader *r, sip_t *ret)
{
	struct sip s = sip_start(r->key);
	sip_t h;

	do {
		if (!read_value(r, &h))
			return false;
		add_hash(&s, h);
		if (r->p < r->end && !memchr(" \n\r\t", *r->p, 4))
			return fail(r, "something behind the value");
		skip_blank(r);
	} while (r->p < r->end);
	*ret = sip_end(&s);
	return true;
}

static int check(const void *cfg, const struct check_in *in, double *ret_score, struct err *e)
{
	AUTO_BUF keys = { .max = MAX_KEYS_BYTES };
	struct sip_key key;
	struct reader w = { .p = in->expected.p, .end = in->expected.p + in->expected.n };
	struct reader g = { .p = in->got.p, .end = in->got.p + in->got.n };
	sip_t want, got;
	int r = sip_key_random(&key, e);

	(void)cfg;
	if (r < 0)
		return r;
	w.key = g.key = &key;
	w.keys = &keys;
	if (!read_all(&w, &want))
		return FAIL(e, ERR_PARSE, "the expected text is no JSON: %s at byte %zu", w.why,
		            (size_t)(w.p - in->expected.p));
	*ret_score = read_all(&g, &got) && want == got;
	return 0;
}

static const struct check_case cases[] = {
	{ { STR(""), STR("{\"a\": [1, 2], \"b\": null}"), STR("{\"b\":null,\"a\":[1,2]}\n") }, 1 },
	{ { STR(""), STR("[]"), STR(" [ ]\r\n") }, 1 },
	{ { STR(""), STR("{}"), STR("{ }") }, 1 },
	{ { STR(""), STR("true"), STR("true") }, 1 },
	{ { STR(""), STR("\"\\u00e4\\ud83d\\ude00/\""), STR("\"\xc3\xa4\xf0\x9f\x98\x80\\/\"") },
	  1 },
	{ { STR(""), STR("\"\\ud800\""), STR("\"\\uD800\"") }, 1 },
	{ { STR(""), STR("\"\\u0000\""), STR("\"\\u0000\"") }, 1 },
	{ { STR(""), STR("[{\"a\":{\"c\":1,\"d\":2}}]"), STR("[{\"a\":{\"d\":2,\"c\":1}}]") }, 1 },
	{ { STR(""), STR("{\"a\":1}\n{\"a\":2}\n"), STR("{\"a\":1}\n{\"a\":2}") }, 1 },
	/* numbers are decimals */
	{ { STR(""), STR("[20, 0, 1e400]"), STR("[2.0e1, -0.0, 10E+399]") }, 1 },
	{ { STR(""), STR("9007199254740993"), STR("9007199254740992") }, 0 },
	{ { STR(""), STR("9007199254740993"), STR("9007199254740993.0") }, 1 },
	{ { STR(""), STR("0.3"), STR("0.30000000000000004") }, 0 },
	{ { STR(""), STR("1"), STR("-1") }, 0 },
	{ { STR(""), STR("12"), STR("1.2") }, 0 },
	{ { STR(""), STR("1"), STR("true") }, 0 },
	{ { STR(""), STR("1"), STR("\"1\"") }, 0 },
	/* order of items, number of items, values of keys */
	{ { STR(""), STR("[1,2]"), STR("[2,1]") }, 0 },
	{ { STR(""), STR("[1,[2]]"), STR("[[1],2]") }, 0 },
	{ { STR(""), STR("[[],[1]]"), STR("[[[]],1]") }, 0 },
	{ { STR(""), STR("{\"a\":1}"), STR("{\"a\":1,\"b\":2}") }, 0 },
	{ { STR(""), STR("{\"a\":1,\"b\":2}"), STR("{\"a\":2,\"b\":1}") }, 0 },
	{ { STR(""), STR("{\"a\":null}"), STR("{}") }, 0 },
	{ { STR(""), STR("[]"), STR("{}") }, 0 },
	{ { STR(""), STR("{\"a\":1}"), STR("{\"A\":1}") }, 0 },
	{ { STR(""), STR("1"), STR("1\n1") }, 0 },
	/* a key given twice, on both sides */
	{ { STR(""), STR("{\"a\":1}"), STR("{\"a\":2,\"a\":1}") }, 0 },
	{ { STR(""), STR("{\"a\":1}"), STR("{\"a\":1,\"a\":1}") }, 0 },
	{ { STR(""), STR("{\"a\":1,\"\\u0061\":1}"), STR("{\"a\":1}") }, -1 },
	{ { STR(""), STR("{\"a\":{\"a\":1},\"b\":{\"a\":1}}"), STR("0") }, 0 },
	/* no JSON */
	{ { STR(""), STR("1"), STR("") }, 0 },
	{ { STR(""), STR("1"), STR("1 x") }, 0 },
	{ { STR(""), STR("1"), STR("1,") }, 0 },
	{ { STR(""), STR("1"), STR("01") }, 0 },
	{ { STR(""), STR("1"), STR("+1") }, 0 },
	{ { STR(""), STR("1"), STR("1.") }, 0 },
	{ { STR(""), STR("1"), STR("1\0") }, 0 },
	{ { STR(""), STR("1"), STR("1e99999999999999999999") }, 0 },
	{ { STR(""), STR("[1]"), STR("[1,]") }, 0 },
	{ { STR(""), STR("[1]"), STR("[1") }, 0 },
	{ { STR(""), STR("[1]"), STR("[1][1]") }, 0 },
	{ { STR(""), STR("\"a\""), STR("'a'") }, 0 },
	{ { STR(""), STR("\"a\""), STR("\"a") }, 0 },
	{ { STR(""), STR("\"a\""), STR("\"\\x61\"") }, 0 },
	{ { STR(""), STR("\"\\n\""), STR("\"\n\"") }, 0 },
	{ { STR(""), STR("true"), STR("truex") }, 0 },
	{ { STR(""), STR("true"), STR("True") }, 0 },
	{ { STR(""), STR("null"), STR("NaN") }, 0 },
	{ { STR(""), STR("NaN"), STR("NaN") }, -1 },
	{ { STR(""), STR(""), STR("") }, -1 },
	{ { STR(""), STR("[1"), STR("[1") }, -1 },
	{ 0 },
};

const struct checker checker_json = {
	.name = "json",
	.doc = "equal JSON values, numbers as decimals",
	.source = "RFC 8259",
	.check = check,
	.cases = cases,
};
