/* agg.c - what the aggregations over sequences share. */
#include "loss/agg_int.h"

static int64_t count(const struct batch *b, int i, const float *weight)
{
	int64_t n = 0;

	for (int64_t t = b->first[i]; t < b->first[i + 1]; t++)
		n += weight[t] > 0;
	return n;
}

void agg_over_samples(const struct batch *b, bool per_length, double d, float *weight)
{
	int S = 0;

	for (int i = 0; i < b->n_samples; i++)
		S += count(b, i, weight) > 0;
	for (int i = 0; i < b->n_samples; i++) {
		int64_t n = count(b, i, weight);
		double w = n ? 1 / (S * (per_length ? (double)n : d)) : 0;

		for (int64_t t = b->first[i]; t < b->first[i + 1]; t++)
			if (weight[t] > 0)
				weight[t] = (float)w;
	}
}
