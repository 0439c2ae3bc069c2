/* batches.h - small batches for the tests of reward, adv, loss, store and traj. */
#ifndef BATCHES_H
#define BATCHES_H

#include "base/arena.h"
#include "base/opt.h"
#include "traj/traj.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "family.h"

static inline const uint8_t *ones(struct arena *a, int n)
{
	uint8_t *m = arena_new(a, uint8_t, n);

	memset(m, 1, (size_t)n);
	return m;
}

/* n samples of len[i] tokens, all trained, no parents, rewards unknown. */
static inline struct group make_group(struct arena *a, const char *key, int n, const int *len)
{
	struct group g = { { key, strlen(key) }, n, arena_new(a, struct sample, n) };

	for (int i = 0; i < n; i++)
		g.sample[i] = (struct sample){
			.task_id = g.key,
			.rollout = i,
			.parent = -1,
			.chain = -1,
			.n_tok = len[i],
			.mask = ones(a, len[i]),
			.logp = arena_new(a, float, len[i]),
			.verdict = VERDICT_WRONG_ANSWER,
		};
	return g;
}

static inline struct batch make_batch(struct arena *a, int n_groups, struct group *g)
{
	struct batch b = { .n_groups = n_groups, .group = g };
	int64_t *first;
	int k = 0;

	for (int i = 0; i < n_groups; i++)
		b.n_samples += g[i].n;
	first = arena_new(a, int64_t, b.n_samples + 1);
	for (int i = 0; i < n_groups; i++)
		for (int j = 0; j < g[i].n; j++, k++)
			first[k + 1] = first[k] + g[i].sample[j].n_tok;
	b.n_tok = first[k];
	b.first = first;
	return b;
}

/* Rewards; NAN is "no reward". */
static inline void set_rewards(struct group *g, const double *r)
{
	for (int i = 0; i < g->n; i++)
		g->sample[i].reward =
			isnan(r[i]) ? (struct score){ 0 } : (struct score){ r[i], true };
}

#endif
