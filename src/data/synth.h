/* synth.h - generators of task sets. One file for each family: src/data/synth_<name>.c. */
#ifndef DATA_SYNTH_H
#define DATA_SYNTH_H

#include "base/arena.h"
#include "base/err.h"
#include "base/opt.h"
#include "base/part.h"
#include "task/task.h"

/* A task and answers to it as found code would be: some right, some plausibly wrong. */
struct synth_task {
	struct task task; /* with reference, difficulty and meta */
	bool held_out;    /* belongs to the test split: its composition is in no train task */
	int n_noisy;
	const struct str *noisy; /* (n_noisy,) */
};

struct synth_set {
	int n;
	struct synth_task *task; /* (n,) train first, then test */
};

/* Immutable. */
struct synth {
	PART_HEAD;
	/* Deterministic by (cfg, seed); everything from a. */
	int (*make)(const void *cfg, uint64_t seed, struct arena *a, struct synth_set *ret,
	            struct err *e);
};

extern const struct synth *const synth_table[]; /* generated, ends with NULL */

#endif
