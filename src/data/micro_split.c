/* micro_split.c - draws the compositions of a set by shares of family, shape and level. */
#include "data/micro.h"

#include <string.h>

enum { BUCKETS = MICRO_FAMILIES * MICRO_SHAPES * MICRO_LEVELS };

/* Compositions of one family, shape and level, in random order. */
struct bucket {
	int next, to; /* in order[] */
};

struct split {
	const struct micro_pool *pool;
	const struct micro_shares *share;
	struct bucket bucket[MICRO_FAMILIES][MICRO_SHAPES][MICRO_LEVELS];
	int *order;                                     /* (pool->n,) sorted by bucket */
	uint64_t known[MICRO_FAMILIES][MICRO_SLOTS][2]; /* bit for each part */
	struct rng r;
};

static int bucket_of(const struct micro_comp *c)
{
	return (c->family * MICRO_SHAPES + (int)micro_shape(c)) * MICRO_LEVELS + micro_level(c) - 1;
}

static void fill(struct split *s)
{
	struct bucket *b = &s->bucket[0][0][0];
	int n = 0;

	for (int i = 0; i < s->pool->n; i++)
		b[bucket_of(&s->pool->comp[i])].to++;
	for (int k = 0; k < BUCKETS; k++) {
		b[k].next = n;
		n += b[k].to;
		b[k].to = b[k].next;
	}
	for (int i = 0; i < s->pool->n; i++)
		s->order[b[bucket_of(&s->pool->comp[i])].to++] = i;
	for (int k = 0; k < BUCKETS; k++)
		rng_shuffle(&s->r, s->order + b[k].next, b[k].to - b[k].next);
}

static bool is_left(const struct split *s, int f, int shape, int level)
{
	const struct bucket *b = &s->bucket[f][shape][level];

	return b->next < b->to && s->share->family[f] > 0 && s->share->shape[shape] > 0 &&
	       s->share->level[level] > 0;
}

/* -1 where all weights are 0. */
static int draw(struct rng *r, const double *weight, int n)
{
	double sum = 0, u;
	int last = -1;

	for (int i = 0; i < n; i++)
		sum += weight[i];
	u = rng_unit(r) * sum;
	for (int i = 0; i < n; i++) {
		if (weight[i] <= 0)
			continue;
		last = i;
		u -= weight[i];
		if (u < 0)
			break;
	}
	return last;
}

/* The next composition: family first, then a shape and a level that are left in it; -1: none. */
static int next(struct split *s)
{
	double family[MICRO_FAMILIES] = { 0 }, shape[MICRO_SHAPES] = { 0 },
	       level[MICRO_LEVELS] = { 0 };
	int f, sh, l;

	for (f = 0; f < MICRO_FAMILIES; f++)
		for (sh = 0; sh < MICRO_SHAPES; sh++)
			for (l = 0; l < MICRO_LEVELS; l++)
				if (is_left(s, f, sh, l))
					family[f] = s->share->family[f];
	f = draw(&s->r, family, MICRO_FAMILIES);
	if (f < 0)
		return -1;
	for (sh = 0; sh < MICRO_SHAPES; sh++)
		for (l = 0; l < MICRO_LEVELS; l++)
			if (is_left(s, f, sh, l))
				shape[sh] = s->share->shape[sh];
	sh = draw(&s->r, shape, MICRO_SHAPES);
	for (l = 0; l < MICRO_LEVELS; l++)
		if (is_left(s, f, sh, l))
			level[l] = s->share->level[l];
	l = draw(&s->r, level, MICRO_LEVELS);
	return s->order[s->bucket[f][sh][l].next++];
}

static void learn(struct split *s, const struct micro_comp *c)
{
	for (int k = 0; k < MICRO_SLOTS; k++)
		s->known[c->family][k][c->part[k] / 64] |= (uint64_t)1 << c->part[k] % 64;
}

static bool all_known(const struct split *s, const struct micro_comp *c)
{
	for (int k = 0; k < MICRO_SLOTS; k++)
		if (!(s->known[c->family][k][c->part[k] / 64] >> c->part[k] % 64 & 1))
			return false;
	return true;
}

int micro_split(const struct micro_pool *pool, const struct micro_shares *share, uint64_t seed,
                int n_train, int n_known, int n_test, int *ret, struct err *e)
{
	AUTO_ARENA scratch = { .limit = (size_t)pool->n * sizeof(int) + sizeof(struct split) + 64 };
	struct split *s = arena_new(&scratch, struct split, 1);
	int i, n = 0;

	if (!s || !(s->order = arena_new(&scratch, int, pool->n)))
		return FAIL(e, ERR_NOMEM, "split");
	s->pool = pool;
	s->share = share;
	rng_init(&s->r, seed, RNG_DATA, 0, 0);
	fill(s);
	while (n < n_train && (i = next(s)) >= 0) {
		if (n < n_known)
			learn(s, &pool->comp[i]);
		ret[n++] = i;
	}
	if (n < n_train)
		return FAIL(e, ERR_RANGE, "train: only %d compositions with these shares", n);
	while (n < n_train + n_test && (i = next(s)) >= 0)
		if (all_known(s, &pool->comp[i]))
			ret[n++] = i;
	if (n < n_train + n_test)
		return FAIL(e, ERR_RANGE,
		            "test: only %d unseen compositions whose parts are all in train",
		            n - n_train);
	return 0;
}
