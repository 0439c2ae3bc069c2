/* rollout.h - from picked prompts to judged samples. One file for each:
 * src/rollout/rollout_<name>.c.
 *
 * Finished samples go to the judge while others still generate: judging hides behind sampling.
 * The result is the same whatever the timing.
 */
#ifndef ROLLOUT_ROLLOUT_H
#define ROLLOUT_ROLLOUT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/opt.h"
#include "base/part.h"
#include "judge/judge.h"
#include "policy/policy.h"
#include "task/task.h"
#include "traj/traj.h"

struct rollout_config { /* option table: rollout_opts, shared by all kinds */
	double temperature;
	int64_t max_tokens; /* sampled tokens of an answer */
	int64_t batch;      /* sequences generated at the same time */
};

extern const struct opt rollout_opts[];

struct rollout_ask {
	const struct task *task;
	int samples;
};

struct rollout_env {
	struct policy *policy;
	struct judge *judge;
	const struct rollout_config *cfg;
	uint64_t seed;
	int64_t step;
	int64_t first_id;         /* id of the first sample */
	const volatile int *stop; /* not 0: stop soon with ERR_STOP; may be NULL */
};

struct rollout_stats {
	int64_t sampled_tokens, programs, tests;
	int64_t generate_ns, judge_wait_ns; /* wall; judge_wait: after the last token */
};

/* Immutable. */
struct rollout_fn {
	PART_HEAD;
	/* Groups in the order of ask, all memory from a. */
	int (*run)(const void *cfg, const struct rollout_env *env, const struct rollout_ask *ask,
	           int n, struct arena *a, struct batch *ret, struct rollout_stats *st,
	           struct err *e);
};

extern const struct rollout_fn *const rollout_table[]; /* generated, ends with NULL */

/* Bytes that an arena for the samples of ask needs at most, for its limit. */
size_t rollout_arena_limit(const struct policy *p, const struct rollout_config *cfg,
                           const struct rollout_ask *ask, int n);

/* The text a policy sees for a task, and its end: everything that tells sampling, SFT and eval how
 * an answer looks is here.
 *
 *	<prompt of the task> <answer> <end of text>
 */
int rollout_prompt(const struct policy *p, const struct task *t, int32_t *ret, int max, int *ret_n,
                   struct err *e);

#endif
