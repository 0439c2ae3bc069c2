/* group_stats.c - statistics of the rewards of a group. */
#include "adv/group_stats.h"

#include "adv/adv.h"

#include <math.h>

/*	mean = 1/n * sum_i r_i		ss = sum_i (r_i - mean)^2	over samples that count */
struct group_stats group_stats(const struct group *g)
{
	struct group_stats st = { 0 };
	double sum = 0;

	for (int i = 0; i < g->n; i++) {
		double r = g->sample[i].reward.r;

		if (!adv_uses(&g->sample[i]))
			continue;
		st.min = st.n == 0 || r < st.min ? r : st.min;
		st.max = st.n == 0 || r > st.max ? r : st.max;
		sum += r;
		st.n++;
	}
	st.mean = st.n ? sum / st.n : 0;
	for (int i = 0; i < g->n; i++) {
		double d = g->sample[i].reward.r - st.mean;

		if (adv_uses(&g->sample[i]))
			st.ss += d * d;
	}
	return st;
}

double group_stats_std(const struct group_stats *st, int ddof)
{
	return st->n > ddof ? sqrt(st->ss / (st->n - ddof)) : 0;
}

bool group_stats_flat(const struct group_stats *st, double tol)
{
	return st->max - st->min <= tol;
}
