/* tok_words.c - what training counts: the different words of the texts, and growing arrays. */
#include "tok/tok_words.h"

#include <stdlib.h>
#include <string.h>

enum {
	WORD_MAX = 1024,     /* bytes; longer pieces are counted in parts */
	ITEMS_MAX = 1 << 28, /* of each growing array */
};

void *vec_more(struct vec *v, size_t size, struct err *e)
{
	if (v->n == v->cap) {
		size_t cap = v->cap ? v->cap * 2 : 1024;
		void *p = cap > ITEMS_MAX ? NULL : realloc(v->p, cap * size);

		if (!p) {
			(void)FAIL(e, ERR_LIMIT, "training text is too large");
			return NULL;
		}
		v->p = p;
		v->cap = cap;
	}
	return (char *)v->p + v->n++ * size;
}

bool slots_full(const struct slots *s, size_t n)
{
	return n * 2 >= (s->p ? (size_t)s->mask + 1 : 0);
}

int slots_grow(struct slots *s, struct err *e)
{
	size_t size = s->p ? ((size_t)s->mask + 1) * 2 : 1 << 12;
	uint32_t *p = malloc(size * sizeof *p);

	if (!p)
		return FAIL(e, ERR_NOMEM, "training text is too large");
	memset(p, 0xff, size * sizeof *p);
	free(s->p);
	s->p = p;
	s->mask = (uint32_t)(size - 1);
	return 0;
}

static uint32_t *slot_of(struct words *x, struct str s)
{
	uint32_t i = (uint32_t)tok_hash(s) & x->slots.mask;

	while (x->slots.p[i] != SLOT_NONE && !str_eq(words_at(x, x->slots.p[i])->text, s))
		i = (i + 1) & x->slots.mask;
	return &x->slots.p[i];
}

static int count_word(struct words *x, struct str s, struct err *e)
{
	uint32_t *slot;
	struct word *w;

	if (slots_full(&x->slots, x->word.n)) {
		int r = slots_grow(&x->slots, e);

		if (r < 0)
			return r;
		for (uint32_t i = 0; i < x->word.n; i++)
			*slot_of(x, words_at(x, i)->text) = i;
	}
	slot = slot_of(x, s);
	if (*slot != SLOT_NONE) {
		words_at(x, *slot)->count++;
		return 0;
	}
	w = vec_more(&x->word, sizeof *w, e);
	if (!w)
		return ERR_LIMIT;
	*w = (struct word){ s, 1, (uint32_t)x->sym.n, (int)s.n };
	*slot = (uint32_t)(x->word.n - 1);
	for (size_t i = 0; i < s.n; i++) {
		int32_t *sym = vec_more(&x->sym, sizeof *sym, e);

		if (!sym)
			return ERR_LIMIT;
		*sym = (unsigned char)s.p[i];
	}
	return 0;
}

int words_count(void *arg, struct str s, struct err *e)
{
	struct words *x = arg;

	while (s.n > 1) { /* a single byte has no pairs */
		size_t n = s.n < WORD_MAX ? s.n : WORD_MAX;
		int r = count_word(x, (struct str){ s.p, n }, e);

		if (r < 0)
			return r;
		s = (struct str){ s.p + n, s.n - n };
	}
	return 0;
}

struct word *words_at(const struct words *x, uint32_t i)
{
	return (struct word *)x->word.p + i;
}

int32_t *words_syms(const struct words *x, uint32_t i)
{
	return (int32_t *)x->sym.p + words_at(x, i)->sym;
}

void words_done(struct words *x)
{
	free(x->word.p);
	free(x->sym.p);
	free(x->slots.p);
}
