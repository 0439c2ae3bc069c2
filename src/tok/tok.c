/* tok.c - the tokenizer's tables and decoding. */
#include "tok/tok.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tok/tok_impl.h"

struct tok *tok_new(size_t limit)
{
	struct tok *t = calloc(1, sizeof *t);

	if (t) {
		t->a.limit = limit;
		t->eos = -1;
	}
	return t;
}

void tok_free(struct tok *t)
{
	if (!t)
		return;
	for (int i = 0; i < t->n_steps; i++)
		tok_step_done(&t->step[i]);
	arena_done(&t->a);
	free(t);
}

/* ---- the byte alphabet ---- */

/* Bytes that print stand for themselves; the others, in order, for U+0100 and up. */
static bool stands_for_itself(int c)
{
	return (c >= '!' && c <= '~') || (c >= 0xa1 && c <= 0xac) || c >= 0xae;
}

int tok_alphabet(int byte)
{
	int next = 256;

	assert(byte >= 0 && byte < 256);
	if (stands_for_itself(byte))
		return byte;
	for (int c = 0; c < byte; c++)
		next += !stands_for_itself(c);
	return next;
}

/* The byte that a code point stands for, or -1. All lie below U+0800: two bytes of UTF-8. */
static int byte_of_code_point(int c)
{
	static const int last = 256 + 33 + 34 + 1; /* 0..32, 127..160, 173 */

	if (c < 256)
		return stands_for_itself(c) ? c : -1;
	if (c >= last)
		return -1;
	c -= 256;
	return c <= 32 ? c : c <= 32 + 34 ? 127 + c - 33 : 173;
}

bool tok_from_alphabet(struct str text, struct arena *a, struct str *ret)
{
	char *p = arena_new(a, char, text.n + 1);
	size_t n = 0;

	if (!p)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		int code = c, byte;

		if (c >= 0x80) {
			if (c < 0xc2 || c > 0xdf || i + 1 >= text.n)
				return false;
			code = (c & 0x1f) << 6 | (text.p[++i] & 0x3f);
		}
		byte = byte_of_code_point(code);
		if (byte < 0)
			return false;
		p[n++] = (char)byte;
	}
	*ret = (struct str){ p, n };
	return true;
}

/* ---- hash tables ---- */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93U;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93U;
	return x ^ x >> 32;
}

uint64_t tok_hash(struct str s)
{
	uint64_t h = s.n;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3U;
	return mix(h);
}

static uint64_t pair_hash(int32_t a, int32_t b)
{
	return mix((uint64_t)(uint32_t)a << 32 | (uint32_t)b);
}

static int32_t *new_slots(struct arena *a, int n, uint32_t *ret_mask)
{
	uint32_t size = 16;
	int32_t *slot;

	while (size < (uint32_t)n * 2)
		size *= 2;
	slot = arena_new(a, int32_t, size);
	if (slot)
		memset(slot, 0xff, size * sizeof *slot);
	*ret_mask = size - 1;
	return slot;
}

/* The slot of (a, b), or the empty one where it would go. */
static uint32_t pair_at(const struct tok *t, int32_t a, int32_t b)
{
	uint32_t i = (uint32_t)pair_hash(a, b) & t->pair_mask;

	while (t->pair_slot[i] >= 0) {
		const struct tok_merge *m = &t->merge[t->pair_slot[i]];

		if (m->a == a && m->b == b)
			break;
		i = (i + 1) & t->pair_mask;
	}
	return i;
}

static uint32_t text_at(const struct tok *t, struct str s)
{
	uint32_t i = (uint32_t)tok_hash(s) & t->text_mask;

	while (t->text_slot[i] >= 0 && !str_eq(t->piece[t->text_slot[i]], s))
		i = (i + 1) & t->text_mask;
	return i;
}

int32_t tok_rank(const struct tok *t, int32_t a, int32_t b)
{
	return t->pair_slot[pair_at(t, a, b)];
}

int32_t tok_find(const struct tok *t, struct str bytes)
{
	return t->text_slot[text_at(t, bytes)];
}

/* ---- index ---- */

int tok_index_text(struct tok *t, struct err *e)
{
	t->text_slot = new_slots(&t->a, t->n, &t->text_mask);
	if (!t->text_slot)
		return FAIL(e, ERR_LIMIT, "%d tokens need too much memory", t->n);
	for (int i = 0; i < t->n; i++) {
		uint32_t at;

		if (t->kind[i] != TOK_BYTES)
			continue;
		at = text_at(t, t->piece[i]);
		if (t->text_slot[at] >= 0)
			return FAIL(e, ERR_PARSE, "ids %d and %d are the same token",
			            t->text_slot[at], i);
		t->text_slot[at] = i;
	}
	for (int c = 0; c < 256; c++) {
		char byte = (char)c;

		t->byte_id[c] = tok_find(t, (struct str){ &byte, 1 });
		if (t->byte_id[c] < 0)
			return FAIL(e, ERR_PARSE, "vocabulary has no token for the byte 0x%02x", c);
	}
	return 0;
}

static int by_first_byte(const void *a, const void *b, void *arg)
{
	const struct tok *t = arg;
	int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
	struct str x = t->piece[i], y = t->piece[j];
	unsigned char cx = (unsigned char)x.p[0], cy = (unsigned char)y.p[0];

	if (cx != cy)
		return cx < cy ? -1 : 1;
	if (x.n != y.n)
		return x.n > y.n ? -1 : 1;
	return (i > j) - (i < j);
}

static int index_added(struct tok *t, struct err *e)
{
	int n = 0, at = 0;

	for (int i = 0; i < t->n; i++)
		n += t->kind[i] == TOK_ADDED || t->kind[i] == TOK_SPECIAL;
	t->added = arena_new(&t->a, int32_t, n + 1);
	if (!t->added)
		return FAIL(e, ERR_LIMIT, "%d added tokens need too much memory", n);
	for (int i = 0; i < t->n; i++)
		if (t->kind[i] == TOK_ADDED || t->kind[i] == TOK_SPECIAL)
			t->added[t->n_added++] = i;
	qsort_r(t->added, (size_t)t->n_added, sizeof *t->added, by_first_byte, t);
	for (int c = 0; c < 256; c++) {
		t->added_first[c] = at;
		while (at < n && (unsigned char)t->piece[t->added[at]].p[0] == c)
			at++;
	}
	t->added_first[256] = at;
	return 0;
}

int tok_index(struct tok *t, struct err *e)
{
	int r = index_added(t, e);

	if (r < 0)
		return r;
	t->pair_slot = new_slots(&t->a, t->n_merges, &t->pair_mask);
	if (!t->pair_slot)
		return FAIL(e, ERR_LIMIT, "%d merges need too much memory", t->n_merges);
	for (int i = 0; i < t->n_merges; i++) /* of a pair given twice the last rank counts */
		t->pair_slot[pair_at(t, t->merge[i].a, t->merge[i].b)] = i;
	return 0;
}

/* ---- use ---- */

int tok_vocab(const struct tok *t)
{
	return t->n;
}

int32_t tok_eos(const struct tok *t)
{
	return t->eos;
}

int32_t tok_special(const struct tok *t, const char *text)
{
	for (int i = 0; i < t->n_added; i++)
		if (str_is(t->piece[t->added[i]], text))
			return t->added[i];
	return -1;
}

void tok_decode(const struct tok *t, const int32_t *id, int n, struct buf *ret, uint32_t *byte_of)
{
	uint32_t at = 0;

	for (int i = 0; i < n; i++) {
		if (byte_of)
			byte_of[i] = at;
		if (id[i] < 0 || id[i] >= t->n || t->kind[id[i]] == TOK_SPECIAL)
			continue;
		buf_putstr(ret, t->piece[id[i]]);
		at += (uint32_t)t->piece[id[i]].n;
	}
	if (byte_of)
		byte_of[n] = at;
}
