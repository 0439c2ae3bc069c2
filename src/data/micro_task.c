/* micro_task.c - tests that show mistakes, and mistakes that tests show. */
#include "data/micro.h"

#include <assert.h>

uint64_t micro_differ(const struct micro_comp *c, const struct micro_comp *d,
                      const struct micro_probes *p)
{
	const struct micro_input *in = p->in[c->family];
	struct micro_val x = { 0 }, y = { 0 };
	uint64_t mask = 0;

	assert(c->family == d->family);
	for (int i = 0; i < p->n[c->family]; i++) {
		bool has = micro_eval(c, &in[i], &x);

		if (!micro_eval(d, &in[i], &y) || !has || !micro_val_eq(&x, &y))
			mask |= (uint64_t)1 << i;
	}
	return mask;
}

/* Every composition that is one plausible mistake away from c; ret (MICRO_SLOTS * MICRO_NEAR,). */
static int mistakes(const struct micro_comp *c, struct micro_comp *ret)
{
	int n = 0;

	for (int s = 0; s < MICRO_SLOTS; s++)
		n += micro_near(c, s, ret + n);
	return n;
}

/* Bit i: the value on probe i is not that on probe k. */
static uint64_t not_constant(const struct micro_comp *c, int k, const struct micro_probes *p)
{
	struct micro_val x = { 0 }, y = { 0 };
	uint64_t mask = 0;

	(void)micro_eval(c, &p->in[c->family][k], &x);
	for (int i = 0; i < p->n[c->family]; i++)
		if (micro_eval(c, &p->in[c->family][i], &y) && !micro_val_eq(&x, &y))
			mask |= (uint64_t)1 << i;
	return mask;
}

/* The number of m in shows (n,) that have `bit` and nothing in common with `taken`. */
static int count_new(const uint64_t *shows, int n, uint64_t taken, uint64_t bit)
{
	int n_new = 0;

	for (int m = 0; m < n; m++)
		n_new += !(shows[m] & taken) && shows[m] & bit;
	return n_new;
}

/*	Greedy set cover: of the probes not yet taken, the one that shows most of the mistakes not
 *	yet shown; among equals, the first in a random order. What no probe shows is no mistake.
 */
uint64_t micro_pick_tests(const struct micro_comp *c, const struct micro_probes *p, int n,
                          struct rng *r)
{
	struct micro_comp near[MICRO_SLOTS * MICRO_NEAR];
	uint64_t shows[MICRO_SLOTS * MICRO_NEAR + MICRO_PROBES];
	uint64_t taken = 1; /* probe 0 is the empty argument */
	int order[MICRO_PROBES], n_probes = p->n[c->family], n_shows = mistakes(c, near);

	for (int m = 0; m < n_shows; m++)
		shows[m] = micro_differ(c, &near[m], p);
	for (int i = 0; i < n_probes; i++) {
		order[i] = i;
		shows[n_shows++] = not_constant(c, i, p);
	}
	rng_shuffle(r, order, n_probes);
	for (int n_taken = 1; n_taken < n && n_taken < n_probes; n_taken++) {
		uint64_t best = 0;
		int best_new = -1;

		for (int k = 0; k < n_probes; k++) {
			uint64_t bit = (uint64_t)1 << order[k];
			int n_new = taken & bit ? -1 : count_new(shows, n_shows, taken, bit);

			if (n_new > best_new) {
				best_new = n_new;
				best = bit;
			}
		}
		taken |= best;
	}
	return taken;
}

bool micro_mistake(const struct micro_comp *c, int n, uint64_t tests, const struct micro_probes *p,
                   struct rng *r, struct micro_comp *ret)
{
	enum { TRIES = 40 };

	for (int t = 0; t < TRIES; t++) {
		struct micro_comp d = *c, near[MICRO_NEAR];
		int slot[MICRO_SLOTS], left = t < TRIES / 2 ? n : 1;

		for (int s = 0; s < MICRO_SLOTS; s++)
			slot[s] = s;
		rng_shuffle(r, slot, MICRO_SLOTS);
		for (int s = 0; s < MICRO_SLOTS && left > 0; s++) {
			int k = micro_near(&d, slot[s], near);

			if (k == 0)
				continue;
			d = near[rng_below(r, (uint32_t)k)];
			left--;
		}
		if (micro_differ(c, &d, p) & tests) {
			*ret = d;
			return true;
		}
	}
	return false;
}
