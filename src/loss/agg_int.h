/* agg_int.h - what the aggregations over sequences share. */
#ifndef LOSS_AGG_INT_H
#define LOSS_AGG_INT_H

#include "loss/loss.h"

/*	w_t = 1 / (S * d_i)	S samples with a trained token; d_i = their n_i of sample i, or d */
void agg_over_samples(const struct batch *b, bool per_length, double d, float *weight);

#endif
