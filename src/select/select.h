/* select.h - which prompts a step works on. One file for each: src/select/select_<name>.c.
 *
 * State lives in the struct that new() makes; save/load make a resumed run the same as an
 * undisturbed one.
 */
#ifndef SELECT_SELECT_H
#define SELECT_SELECT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/opt.h"
#include "base/part.h"
#include "task/task.h"
#include "traj/traj.h"

struct selector; /* the part's own state */

struct select_ask {
	int64_t step;
	uint64_t seed;
	int prompts, samples; /* tasks wanted, rollouts for each */
};

struct picked {
	int task;    /* index into the task set */
	int samples; /* rollouts for it */
};

/* Immutable. */
struct select_fn {
	PART_HEAD;
	int (*start)(const void *cfg, const struct tasks *t, struct selector **ret, struct err *e);
	/* ret (prompts,): *ret_n <= prompts picks */
	int (*pick)(struct selector *s, const struct select_ask *ask, struct picked *ret,
	            int *ret_n, struct err *e);
	int (*observe)(struct selector *s, const struct batch *b, struct err *e); /* may be NULL */
	void (*save)(const struct selector *s, struct jsonw *w); /* one JSON value */
	int (*load)(struct selector *s, const struct json *j, struct err *e);
	void (*free)(struct selector *s);
};

extern const struct select_fn *const select_table[]; /* generated, ends with NULL */

#endif
