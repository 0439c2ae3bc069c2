/* traj.c - reading a batch. */
#include "traj/traj.h"

#include <assert.h>

const char *finish_text(enum finish f)
{
	return f == FINISH_STOP ? "stop" : f == FINISH_LENGTH ? "length" : "abort";
}

struct sample *batch_sample(const struct batch *b, int i)
{
	int g = 0;

	assert(i >= 0 && i < b->n_samples);
	while (i >= b->group[g].n)
		i -= b->group[g++].n;
	return &b->group[g].sample[i];
}
