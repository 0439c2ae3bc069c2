/* synth.h - generators of task sets. One file for each family: src/data/synth_<name>.c. */
#ifndef DATA_SYNTH_H
#define DATA_SYNTH_H

#include "base/arena.h"
#include "base/err.h"
#include "base/opt.h"
#include "base/part.h"
#include "judge/judge.h"
#include "task/task.h"

/* A task and answers to it as found code would be: some right, some plausibly wrong. */
struct synth_task {
	struct task task; /* with reference, difficulty and meta */
	bool held_out;    /* belongs to the test split: its composition is in no train task */
	int n_noisy;
	const struct str *noisy; /* (n_noisy,) */
	const bool *wrong;       /* (n_noisy,) fails a test of the task */
};

struct synth_set {
	int n;
	struct synth_task *task; /* (n,) train first, then test */
	int n_distinct;          /* behaviours that the family can ask for with these options */
};

/* Immutable. */
struct synth {
	PART_HEAD;
	/* Deterministic by (cfg, seed); everything from a. */
	int (*make)(const void *cfg, uint64_t seed, struct arena *a, struct synth_set *ret,
	            struct err *e);
};

extern const struct synth *const synth_table[]; /* generated, ends with NULL */

/* A made set with what it was made from. */
struct synth_made {
	const struct synth *family;
	const void *cfg;
	uint64_t seed;
	struct synth_set set;
};

/* The judge runs the reference of every task; ERR_PARSE names the first task (in file order)
 * whose reference is not accepted, with its verdict. Whoever watches is told how many are done
 * (may be NULL).
 */
int synth_verify(const struct synth_set *set, struct judge *j,
                 int (*watch)(void *arg, int done, int total), void *arg, struct err *e);

/* DIR/train.jsonl, test.jsonl, sft.jsonl and, last, manifest.json. Each is there whole or not. */
int synth_write(const struct synth_made *made, const char *dir, struct err *e);

#endif
