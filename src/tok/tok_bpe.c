/* tok_bpe.c - encoding: merges inside each piece.
 *
 * The symbols of a piece are a doubly linked list; a heap holds the pairs that have a rank, keyed
 * by (rank, position), so that the lowest rank comes first and, of equal ones, the leftmost. A pair
 * whose neighbour has been merged away stays in the heap and is recognised when it comes out: its
 * rank is no longer the one of its position. n log n for a piece of n bytes, whatever its content.
 */
#include <stdlib.h>
#include <string.h>

#include "tok/tok_impl.h"

enum { PIECE_MAX = 1 << 28 };

struct work {
	int cap; /* bytes of a piece that fit */
	int32_t *id, *prev, *next, *rank;
	uint64_t *heap; /* (3 * cap,) rank << 32 | position */
	int n_heap;
};

struct enc {
	const struct tok *t;
	int32_t *ret;
	int max, n;
	struct work w;
};

static int reserve(struct work *w, size_t n, struct err *e)
{
	size_t cap = 256;
	char *p;

	if (n > PIECE_MAX)
		return FAIL(e, ERR_LIMIT, "a piece of %zu bytes", n);
	if (n <= (size_t)w->cap)
		return 0;
	while (cap < n)
		cap *= 2;
	p = malloc(cap * (3 * sizeof(uint64_t) + 4 * sizeof(int32_t)));
	if (!p)
		return FAIL(e, ERR_NOMEM, "a piece of %zu bytes", n);
	free(w->heap);
	w->heap = (uint64_t *)p;
	w->id = (int32_t *)(w->heap + 3 * cap);
	w->prev = w->id + cap;
	w->next = w->prev + cap;
	w->rank = w->next + cap;
	w->cap = (int)cap;
	return 0;
}

static void push(struct work *w, uint64_t key)
{
	int i = w->n_heap++;

	while (i > 0 && w->heap[(i - 1) / 2] > key) {
		w->heap[i] = w->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	w->heap[i] = key;
}

static uint64_t pop(struct work *w)
{
	uint64_t top = w->heap[0], last = w->heap[--w->n_heap];
	int i = 0, k;

	while ((k = 2 * i + 1) < w->n_heap) {
		if (k + 1 < w->n_heap && w->heap[k + 1] < w->heap[k])
			k++;
		if (w->heap[k] >= last)
			break;
		w->heap[i] = w->heap[k];
		i = k;
	}
	w->heap[i] = last;
	return top;
}

/* Look up the pair that begins at position i, if there is one. */
static void rank_at(const struct tok *t, struct work *w, int32_t i)
{
	w->rank[i] = w->next[i] < 0 ? -1 : tok_rank(t, w->id[i], w->id[w->next[i]]);
	if (w->rank[i] >= 0)
		push(w, (uint64_t)w->rank[i] << 32 | (uint32_t)i);
}

static void merge_all(const struct tok *t, struct work *w, const unsigned char *p, int n)
{
	w->n_heap = 0;
	for (int i = 0; i < n; i++) {
		w->id[i] = t->byte_id[p[i]];
		w->prev[i] = i - 1;
		w->next[i] = i + 1 < n ? i + 1 : -1;
	}
	for (int i = 0; i < n; i++)
		rank_at(t, w, i);
	while (w->n_heap) {
		uint64_t key = pop(w);
		int32_t rank = (int32_t)(key >> 32), i = (int32_t)(uint32_t)key, gone;

		if (w->rank[i] != rank)
			continue;
		gone = w->next[i];
		w->id[i] = t->merge[rank].to;
		w->rank[gone] = -1;
		w->next[i] = w->next[gone];
		if (w->next[i] >= 0)
			w->prev[w->next[i]] = i;
		rank_at(t, w, i);
		if (w->prev[i] >= 0)
			rank_at(t, w, w->prev[i]);
	}
}

static int put(struct enc *c, int32_t id, struct err *e)
{
	if (c->n == c->max)
		return FAIL(e, ERR_LIMIT, "text has more than %d tokens", c->max);
	c->ret[c->n++] = id;
	return 0;
}

static int encode_piece(void *arg, struct str s, struct err *e)
{
	struct enc *c = arg;
	const struct tok *t = c->t;
	int32_t whole = t->ignore_merges && s.n > 1 ? tok_find(t, s) : -1;
	int r;

	if (whole >= 0 && t->kind[whole] == TOK_SPECIAL)
		whole = -1;
	if (s.n == 1)
		whole = t->byte_id[(unsigned char)s.p[0]];
	if (whole >= 0)
		return put(c, whole, e);
	r = reserve(&c->w, s.n, e);
	if (r < 0)
		return r;
	merge_all(t, &c->w, (const unsigned char *)s.p, (int)s.n);
	for (int32_t i = 0; i >= 0 && r == 0; i = c->w.next[i])
		r = put(c, c->w.id[i], e);
	return r;
}

/* The longest added token that stands at the beginning of s, or -1. */
static int32_t added_at(const struct tok *t, struct str s)
{
	unsigned char first = (unsigned char)s.p[0];

	for (int i = t->added_first[first]; i < t->added_first[first + 1]; i++)
		if (str_starts(s, t->piece[t->added[i]]))
			return t->added[i];
	return -1;
}

int tok_encode(const struct tok *t, struct str text, bool special, int32_t *ret, int max,
               int *ret_n, struct err *e)
{
	struct enc c = { .t = t, .ret = ret, .max = max };
	size_t done = 0, i = 0;
	int r = 0;

	while (special && i < text.n && r == 0) {
		int32_t id = added_at(t, (struct str){ text.p + i, text.n - i });

		if (id < 0) {
			i++;
			continue;
		}
		r = tok_pieces(t, (struct str){ text.p + done, i - done }, encode_piece, &c, e);
		if (r == 0)
			r = put(&c, id, e);
		done = i += t->piece[id].n;
	}
	if (r == 0)
		r = tok_pieces(t, (struct str){ text.p + done, text.n - done }, encode_piece, &c,
		               e);
	free(c.w.heap);
	if (r == 0)
		*ret_n = c.n;
	return r;
}
