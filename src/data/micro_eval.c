/* micro_eval.c - runs a composition on an input, as its Python text would. */
#include "data/micro.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MAX_NUMBER = 1000000000000000; /* 10^15: exact in a double, too */

static bool in_range(int64_t v)
{
	return v >= -MAX_NUMBER && v <= MAX_NUMBER;
}

static int elem_cmp(const void *a, const void *b)
{
	const struct micro_elem *x = a, *y = b;
	int n = x->n < y->n ? x->n : y->n, d;

	if (!x->text)
		return (x->i > y->i) - (x->i < y->i);
	d = memcmp(x->s, y->s, (size_t)n);
	return d ? d : x->n - y->n;
}

static bool map_elem(const struct micro_comp *c, struct micro_elem *e, int64_t n)
{
	const struct micro_part *m = micro_part_of(c, MICRO_MAP);

	if (c->part[MICRO_COND] && !micro_part_of(c, MICRO_COND)->is(e, n))
		m = micro_part_of(c, MICRO_OTHER);
	if (m->map)
		m->map(e, n);
	return e->text || in_range(e->i);
}

static int64_t best(const struct micro_list *l, int sign)
{
	int64_t v = l->n ? l->e[0].i : 0;

	for (int i = 1; i < l->n; i++)
		if (sign * l->e[i].i > sign * v)
			v = l->e[i].i;
	return v;
}

static bool product(const struct micro_list *l, int64_t *ret)
{
	int64_t v = 1;

	for (int i = 0; i < l->n; i++)
		if (__builtin_mul_overflow(v, l->e[i].i, &v) || !in_range(v))
			return false;
	*ret = v;
	return true;
}

static bool join(const struct micro_list *l, bool spaced, struct micro_val *ret)
{
	ret->type = MICRO_STR;
	ret->n = 0;
	for (int i = 0; i < l->n; i++) {
		if (ret->n + l->e[i].n + 1 > MICRO_LINE)
			return false;
		if (i && spaced)
			ret->s[ret->n++] = ' ';
		memcpy(ret->s + ret->n, l->e[i].s, (size_t)l->e[i].n);
		ret->n += l->e[i].n;
	}
	return true;
}

static int64_t distinct(struct micro_list *l)
{
	int64_t n = l->n > 0;

	qsort(l->e, (size_t)l->n, sizeof *l->e, elem_cmp);
	for (int i = 1; i < l->n; i++)
		n += elem_cmp(&l->e[i - 1], &l->e[i]) != 0;
	return n;
}

static bool fold(enum micro_fold f, struct micro_val *ret)
{
	struct micro_list *l = &ret->list;

	ret->type = MICRO_INT;
	switch (f) {
	case MICRO_SUM:
		ret->i = 0;
		for (int i = 0; i < l->n; i++)
			ret->i += l->e[i].i;
		return in_range(ret->i);
	case MICRO_PRODUCT:
		return product(l, &ret->i);
	case MICRO_MAX:
	case MICRO_MIN:
		ret->i = best(l, f == MICRO_MAX ? 1 : -1);
		return true;
	case MICRO_COUNT:
		ret->i = l->n;
		return true;
	case MICRO_DISTINCT:
		ret->i = distinct(l);
		return true;
	case MICRO_FIRST:
	case MICRO_LAST:
		ret->i = l->n ? l->e[f == MICRO_LAST ? l->n - 1 : 0].i : 0;
		return true;
	case MICRO_SORT:
	case MICRO_JOIN_SORTED:
		qsort(l->e, (size_t)l->n, sizeof *l->e, elem_cmp);
		ret->type = MICRO_LISTED;
		return f == MICRO_SORT || join(l, false, ret);
	case MICRO_COLLECT:
		ret->type = MICRO_LISTED;
		return true;
	case MICRO_JOIN:
	case MICRO_JOIN_SPACED:
		return join(l, f == MICRO_JOIN_SPACED, ret);
	case MICRO_EVERY:
	case MICRO_SOME:
		break;
	}
	assert(!"all() and any() have their own function");
	return false;
}

static void quantify(const struct micro_comp *c, int64_t n, struct micro_val *ret)
{
	const struct micro_part *cond = micro_part_of(c, MICRO_COND);
	int n_true = 0;

	for (int i = 0; i < ret->list.n; i++)
		n_true += cond->is(&ret->list.e[i], n);
	ret->type = MICRO_BOOL;
	ret->i = micro_part_of(c, MICRO_FOLD)->fold == MICRO_EVERY ? n_true == ret->list.n
	                                                           : n_true > 0;
}

bool micro_eval(const struct micro_comp *c, const struct micro_input *in, struct micro_val *ret)
{
	const struct micro_part *guard = micro_part_of(c, MICRO_GUARD),
				*filter = micro_part_of(c, MICRO_FILTER),
				*test = micro_part_of(c, MICRO_TEST);
	enum micro_fold f = micro_part_of(c, MICRO_FOLD)->fold;
	struct micro_list *l = &ret->list;
	int n = 0;

	if (guard->pre && guard->pre(in)) {
		ret->type = MICRO_INT;
		ret->i = -1;
		return true;
	}
	micro_part_of(c, MICRO_SOURCE)->take(in, l);
	for (int i = 0; filter->is && i < l->n; i++)
		if (filter->is(&l->e[i], in->n))
			l->e[n++] = l->e[i];
	l->n = filter->is ? n : l->n;
	if (f == MICRO_EVERY || f == MICRO_SOME) {
		quantify(c, in->n, ret);
		return true;
	}
	for (int i = 0; i < l->n; i++)
		if (!map_elem(c, &l->e[i], in->n))
			return false;
	if (!fold(f, ret))
		return false;
	if (test->cmp) {
		ret->type = MICRO_BOOL;
		ret->i = test->cmp(ret->i);
	}
	return true;
}

bool micro_val_eq(const struct micro_val *a, const struct micro_val *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == MICRO_STR)
		return a->n == b->n && !memcmp(a->s, b->s, (size_t)a->n);
	if (a->type != MICRO_LISTED)
		return a->i == b->i;
	if (a->list.n != b->list.n)
		return false;
	for (int i = 0; i < a->list.n; i++) {
		const struct micro_elem *x = &a->list.e[i], *y = &b->list.e[i];

		if (x->text != y->text || elem_cmp(x, y))
			return false;
	}
	return true;
}

/* ---- the inputs on which behaviours are compared ---- */

enum { PROBE_SEED = 2718281 };

static int list_probes(struct micro_input *ret)
{
	static const int64_t edge[][4] = { { 0 }, { 1, 0 }, { 1, 3 }, { 1, 5 }, { 2, 6, 6 } };
	static const int edges = sizeof edge / sizeof *edge;
	struct rng r;

	rng_init(&r, PROBE_SEED, RNG_DATA, MICRO_LIST, 0);
	for (int p = 0; p < MICRO_PROBES; p++) {
		int n = p < edges ? (int)edge[p][0] : 3 + p % 5;

		ret[p] = (struct micro_input){ .n_xs = n, .n = (int)rng_below(&r, 6) - 1 };
		for (int i = 0; i < n; i++) /* every third element is near the bounds of filters */
			ret[p].xs[i] =
				p < edges ? edge[p][1 + i]
					  : (int)rng_below(&r, i % 3 ? 16 : 8) - (i % 3 ? 7 : 1);
	}
	return MICRO_PROBES;
}

static int range_probes(struct micro_input *ret)
{
	enum { N = 11 };

	for (int p = 0; p < N; p++)
		ret[p] = (struct micro_input){ .n = p };
	return N;
}

static int text_probes(struct micro_input *ret)
{
	static const char *const edge[] = { "", "e", "42", "Io", "ABC", "aeon", "7 up", "tie 9" };
	static const char *const word[] = { "apple", "Tree", "on",   "a",   "sky",   "42",
		                            "one",   "Ada",  "eat",  "x7",  "house", "Ivy",
		                            "be",    "7",    "lake", "OK",  "under", "moon",
		                            "Ace",   "c3",   "live", "Nice" };
	enum { EDGES = sizeof edge / sizeof *edge, WORDS = sizeof word / sizeof *word };
	struct rng r;

	rng_init(&r, PROBE_SEED, RNG_DATA, MICRO_TEXT, 0);
	for (int p = 0; p < MICRO_PROBES; p++) {
		size_t n = 0;

		ret[p] = (struct micro_input){ .n = 0 };
		for (int i = 0; p >= EDGES && i < 1 + p % 6; i++) {
			const char *w = word[rng_below(&r, WORDS)];

			if (n + 1 + strlen(w) >= MICRO_ITEMS)
				break;
			if (i)
				ret[p].s[n++] = ' ';
			memcpy(ret[p].s + n, w, strlen(w));
			n += strlen(w);
		}
		if (p < EDGES)
			memcpy(ret[p].s, edge[p], strlen(edge[p]));
	}
	return MICRO_PROBES;
}

void micro_probes(struct micro_probes *ret)
{
	ret->n[MICRO_LIST] = list_probes(ret->in[MICRO_LIST]);
	ret->n[MICRO_RANGE] = range_probes(ret->in[MICRO_RANGE]);
	ret->n[MICRO_TEXT] = text_probes(ret->in[MICRO_TEXT]);
	ret->n[MICRO_WORDS] = text_probes(ret->in[MICRO_WORDS]);
}
