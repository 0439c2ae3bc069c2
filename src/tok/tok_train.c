/* tok_train.c - byte-pair merges learnt from texts.
 *
 * Texts are cut into pieces; equal pieces become one word with a count, so the work depends on the
 * number of different words. A table holds for each adjacent pair its count and the words in which
 * it was seen; a heap gives the pair with the highest count, ties to the smaller ids. A merge
 * rewrites only the words of its pair: their pairs are taken out of the table, the word is merged,
 * its pairs are put back. Counts of pairs without the new token can only fall, so a heap entry
 * that is too high is corrected when it comes out, and only pairs with the new token are pushed.
 *
 * The result depends on counts alone: not on the order of texts, nor on hashing.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tok/tok_words.h"

enum { TEXT_MAX = 1 << 30 }; /* bytes of all texts */

struct pair {
	uint64_t key; /* a << 32 | b */
	int64_t count;
	uint32_t seen; /* first node in trainer.seen, SLOT_NONE: none */
	int stamp;     /* the merge in which it was pushed last */
};

struct seen {
	uint32_t word, next;
};

struct cand {
	int64_t count;
	uint64_t key;
};

struct trainer {
	struct tok *t;
	int cap; /* room in t->piece */
	struct words words;
	struct vec pair, seen, cand, touched, merge;
	struct slots pair_slots, text_slots; /* text: ids by their bytes, special ones too */
	struct err *e;
};

static struct pair *pair_at(struct trainer *x, uint32_t i)
{
	return (struct pair *)x->pair.p + i;
}

static uint64_t key_of(int32_t a, int32_t b)
{
	return (uint64_t)(uint32_t)a << 32 | (uint32_t)b;
}

static uint64_t key_hash(uint64_t key)
{
	return tok_hash((struct str){ (const char *)&key, sizeof key });
}

/* ---- pairs ---- */

static uint32_t *pair_slot(struct trainer *x, uint64_t key)
{
	uint32_t i = (uint32_t)key_hash(key) & x->pair_slots.mask;

	while (x->pair_slots.p[i] != SLOT_NONE && pair_at(x, x->pair_slots.p[i])->key != key)
		i = (i + 1) & x->pair_slots.mask;
	return &x->pair_slots.p[i];
}

/* The number of the pair, made if it is new; SLOT_NONE: no memory. */
static uint32_t pair_of(struct trainer *x, uint64_t key)
{
	uint32_t *slot;
	struct pair *p;

	if (slots_full(&x->pair_slots, x->pair.n)) {
		if (slots_grow(&x->pair_slots, x->e) < 0)
			return SLOT_NONE;
		for (uint32_t i = 0; i < x->pair.n; i++)
			*pair_slot(x, pair_at(x, i)->key) = i;
	}
	slot = pair_slot(x, key);
	if (*slot != SLOT_NONE)
		return *slot;
	p = vec_more(&x->pair, sizeof *p, x->e);
	if (!p)
		return SLOT_NONE;
	*p = (struct pair){ .key = key, .seen = SLOT_NONE, .stamp = -1 };
	return *slot = (uint32_t)(x->pair.n - 1);
}

static bool before(const struct cand *a, const struct cand *b)
{
	return a->count != b->count ? a->count > b->count : a->key < b->key;
}

static int push(struct trainer *x, struct cand c)
{
	struct cand *h = vec_more(&x->cand, sizeof c, x->e);
	size_t i = x->cand.n - 1;

	if (!h)
		return ERR_LIMIT;
	h = x->cand.p;
	while (i > 0 && before(&c, &h[(i - 1) / 2])) {
		h[i] = h[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h[i] = c;
	return 0;
}

static struct cand pop(struct trainer *x)
{
	struct cand *h = x->cand.p, top = h[0], last = h[--x->cand.n];
	size_t i = 0, k;

	while ((k = 2 * i + 1) < x->cand.n) {
		if (k + 1 < x->cand.n && before(&h[k + 1], &h[k]))
			k++;
		if (!before(&h[k], &last))
			break;
		h[i] = h[k];
		i = k;
	}
	h[i] = last;
	return top;
}

/* Add sign * count to each pair of the word. The word is noted with pairs that hold `to` (-1: with
 * all), and these are touched: their counts may have risen.
 */
static int count_pairs(struct trainer *x, uint32_t word, int sign, int32_t to, int stamp)
{
	const struct word *w = words_at(&x->words, word);
	const int32_t *s = words_syms(&x->words, word);

	for (int i = 0; i + 1 < w->len; i++) {
		uint32_t at = pair_of(x, key_of(s[i], s[i + 1]));
		struct pair *p;
		struct seen *node;

		if (at == SLOT_NONE)
			return ERR_LIMIT;
		p = pair_at(x, at);
		p->count += sign * w->count;
		if (sign < 0 || (to >= 0 && s[i] != to && s[i + 1] != to))
			continue;
		if (p->seen == SLOT_NONE || ((struct seen *)x->seen.p)[p->seen].word != word) {
			node = vec_more(&x->seen, sizeof *node, x->e);
			if (!node)
				return ERR_LIMIT;
			*node = (struct seen){ word, p->seen };
			p->seen = (uint32_t)(x->seen.n - 1);
		}
		if (p->stamp != stamp) {
			uint32_t *t = vec_more(&x->touched, sizeof *t, x->e);

			if (!t)
				return ERR_LIMIT;
			*t = at;
			p->stamp = stamp;
		}
	}
	return 0;
}

static int push_touched(struct trainer *x)
{
	const uint32_t *at = x->touched.p;

	for (size_t i = 0; i < x->touched.n; i++) {
		const struct pair *p = pair_at(x, at[i]);
		int r = p->count > 0 ? push(x, (struct cand){ p->count, p->key }) : 0;

		if (r < 0)
			return r;
	}
	x->touched.n = 0;
	return 0;
}

/* ---- merges ---- */

static void merge_word(struct trainer *x, uint32_t word, struct tok_merge m)
{
	struct word *w = words_at(&x->words, word);
	int32_t *s = words_syms(&x->words, word);
	int n = 0;

	for (int i = 0; i < w->len; i++) {
		bool hit = i + 1 < w->len && s[i] == m.a && s[i + 1] == m.b;

		s[n++] = hit ? m.to : s[i];
		i += hit;
	}
	w->len = n;
}

static bool has_pair(struct trainer *x, uint32_t word, struct tok_merge m)
{
	const struct word *w = words_at(&x->words, word);
	const int32_t *s = words_syms(&x->words, word);

	for (int i = 0; i + 1 < w->len; i++)
		if (s[i] == m.a && s[i + 1] == m.b)
			return true;
	return false;
}

static int apply(struct trainer *x, uint32_t pair, struct tok_merge m, int stamp)
{
	uint32_t node = pair_at(x, pair)->seen;

	pair_at(x, pair)->seen = SLOT_NONE;
	while (node != SLOT_NONE) {
		struct seen s = ((struct seen *)x->seen.p)[node];
		int r;

		node = s.next;
		if (!has_pair(x, s.word, m))
			continue;
		if ((r = count_pairs(x, s.word, -1, -1, stamp)) < 0)
			return r;
		merge_word(x, s.word, m);
		if ((r = count_pairs(x, s.word, 1, m.to, stamp)) < 0)
			return r;
	}
	return push_touched(x);
}

static uint32_t *text_slot(struct trainer *x, struct str s)
{
	uint32_t i = (uint32_t)tok_hash(s) & x->text_slots.mask;

	while (x->text_slots.p[i] != SLOT_NONE && !str_eq(x->t->piece[x->text_slots.p[i]], s))
		i = (i + 1) & x->text_slots.mask;
	return &x->text_slots.p[i];
}

/* Make the token that a and b give together; *ret -1: it would spell a special token.
 *
 * No other pair spells it already. A token's occurrences were never crossed by a merge, or the
 * token would not stand there; so the same merges happened inside all of them, in the same order,
 * and the last of these is one pair. For the same reason no pair comes back once it is merged.
 */
static int token_of(struct trainer *x, int32_t a, int32_t b, int32_t *ret)
{
	struct tok *t = x->t;
	struct str p = t->piece[a], q = t->piece[b];
	char *bytes = arena_new(&t->a, char, p.n + q.n);
	struct str s = { bytes, p.n + q.n };
	uint32_t *slot;

	if (!bytes)
		return FAIL(x->e, ERR_LIMIT, "%d tokens need too much memory", t->n);
	memcpy(bytes, p.p, p.n);
	memcpy(bytes + p.n, q.p, q.n);
	slot = text_slot(x, s);
	if (*slot != SLOT_NONE) {
		assert(t->kind[*slot] == TOK_SPECIAL);
		*ret = -1;
		return 0;
	}
	assert(t->n < x->cap);
	t->piece[t->n] = s;
	t->kind[t->n] = TOK_BYTES;
	*slot = (uint32_t)t->n;
	*ret = t->n++;
	return 0;
}

static int add_merge(struct trainer *x, struct tok_merge m)
{
	struct tok_merge *at = vec_more(&x->merge, sizeof *at, x->e);

	if (!at)
		return ERR_LIMIT;
	*at = m;
	return 0;
}

static int merge_best(struct trainer *x, int stamp, bool *ret_done)
{
	struct cand c = pop(x); /* the only entry of its pair */
	uint32_t at = pair_of(x, c.key);
	struct tok_merge m = { (int32_t)(c.key >> 32), (int32_t)(uint32_t)c.key, -1 };
	int64_t count;
	int r;

	if (at == SLOT_NONE)
		return ERR_LIMIT;
	count = pair_at(x, at)->count;
	assert(count >= 0 && count <= c.count);
	if (count < c.count)
		return count > 0 ? push(x, (struct cand){ count, c.key }) : 0;
	if (count < 2) {
		*ret_done = true;
		return 0;
	}
	if ((r = token_of(x, m.a, m.b, &m.to)) < 0 || m.to < 0)
		return r;
	r = add_merge(x, m);
	return r < 0 ? r : apply(x, at, m, stamp);
}

static int train(struct trainer *x, const struct str *text, int n, int vocab)
{
	size_t bytes = 0;
	bool done = false;
	int r = 0;

	for (int i = 0; i < n && r == 0; i++) {
		bytes += text[i].n;
		if (text[i].n > TEXT_MAX || bytes > TEXT_MAX)
			return FAIL(x->e, ERR_LIMIT, "more than %d bytes of text", TEXT_MAX);
		r = tok_pieces(x->t, text[i], words_count, &x->words, x->e);
	}
	for (uint32_t i = 0; i < x->words.word.n && r == 0; i++)
		r = count_pairs(x, i, 1, -1, 0);
	if (r == 0)
		r = push_touched(x);
	for (int i = 1; r == 0 && !done && x->t->n < vocab && x->cand.n; i++)
		r = merge_best(x, i, &done);
	return r;
}

/* ---- the tokenizer ---- */

static int add_base(struct trainer *x, struct str s, enum tok_kind kind)
{
	struct tok *t = x->t;
	uint32_t *slot = text_slot(x, s);

	if (*slot != SLOT_NONE)
		return FAIL(x->e, ERR_RANGE, "special token '%.80s' is given twice", s.p);
	t->piece[t->n] = arena_str(&t->a, s);
	t->kind[t->n] = (uint8_t)kind;
	if (!t->piece[t->n].p)
		return FAIL(x->e, ERR_LIMIT, "%d tokens need too much memory", t->n);
	*slot = (uint32_t)t->n++;
	return 0;
}

static int add_special(struct trainer *x, const char *text)
{
	struct str s = { text, strlen(text) };

	if (s.n < 2)
		return FAIL(x->e, ERR_RANGE, "special token '%s' is too short", text);
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '!' || s.p[i] > '~')
			return FAIL(x->e, ERR_RANGE,
			            "special token '%.80s' is not printable ASCII "
			            "without blanks",
			            text);
	return add_base(x, s, TOK_SPECIAL);
}

static int setup(struct trainer *x, int vocab, const char *const *special)
{
	struct tok *t = x->t;
	int n_special = 0, r = 0;

	while (special[n_special])
		n_special++;
	if (vocab < 256 + n_special || vocab > TOK_IDS_MAX)
		return FAIL(x->e, ERR_RANGE, "vocabulary of %d: must be in %d..%d", vocab,
		            256 + n_special, TOK_IDS_MAX);
	while (slots_full(&x->text_slots, (size_t)vocab))
		if ((r = slots_grow(&x->text_slots, x->e)) < 0)
			return r;
	x->cap = vocab;
	t->piece = arena_new(&t->a, struct str, vocab);
	t->kind = arena_new(&t->a, uint8_t, vocab);
	if (!t->piece || !t->kind)
		return FAIL(x->e, ERR_NOMEM, "vocabulary of %d", vocab);
	for (int c = 0; c < 256 && r == 0; c++) {
		char byte = (char)c;

		r = add_base(x, (struct str){ &byte, 1 }, TOK_BYTES);
	}
	for (int i = 0; i < n_special && r == 0; i++)
		r = add_special(x, special[i]);
	if (r == 0)
		r = tok_step_add(t, (struct str){ tok_pattern_qwen2, strlen(tok_pattern_qwen2) },
		                 x->e);
	t->eos = n_special ? 256 : -1;
	return r;
}

static int finish(struct trainer *x)
{
	struct tok *t = x->t;
	int r;

	t->n_merges = (int)x->merge.n;
	t->merge = arena_new(&t->a, struct tok_merge, x->merge.n + 1);
	if (!t->merge)
		return FAIL(x->e, ERR_LIMIT, "%zu merges need too much memory", x->merge.n);
	if (x->merge.n)
		memcpy(t->merge, x->merge.p, x->merge.n * sizeof *t->merge);
	r = tok_index_text(t, x->e);
	return r < 0 ? r : tok_index(t, x->e);
}

int tok_train(const struct str *text, int n, int vocab, const char *const *special,
              struct tok **ret, struct err *e)
{
	struct trainer x = { .t = tok_new(TOK_MEM_MAX), .e = e };
	struct vec *v[] = { &x.pair, &x.seen, &x.cand, &x.touched, &x.merge };
	int r = x.t ? setup(&x, vocab, special) : FAIL(e, ERR_NOMEM, "tokenizer");

	if (r == 0)
		r = train(&x, text, n, vocab);
	if (r == 0)
		r = finish(&x);
	for (size_t i = 0; i < sizeof v / sizeof *v; i++)
		free(v[i]->p);
	words_done(&x.words);
	free(x.pair_slots.p);
	free(x.text_slots.p);
	if (r < 0) {
		tok_free(x.t);
		return err_wrap(e, "tokenizer");
	}
	*ret = x.t;
	return 0;
}
