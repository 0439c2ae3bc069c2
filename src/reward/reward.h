/* reward.h - a reward turns judged samples into numbers. One file for each:
 * src/reward/reward_<name>.c.
 *
 * It sees a whole group at once, so that consensus and rank rewards are ordinary rewards, and may
 * answer for samples, and besides for turns, tests, spans or tokens. A score may be unavailable;
 * it is never a zero in disguise: reward_group() makes every sample that was not judged
 * (judge_error, or skipped as a whole) unavailable, whatever the function says.
 */
#ifndef REWARD_REWARD_H
#define REWARD_REWARD_H

#include "base/arena.h"
#include "base/err.h"
#include "base/opt.h"
#include "base/part.h"
#include "task/task.h"
#include "traj/traj.h"

/* What a reward answers. The arrays of units are NULL unless the reward allocates them (from the
 * arena it is given): unit u of sample i stands at off(i) + u, where off(i) is the sum of the
 * counts of the samples before i in the group.
 */
struct reward_out {
	struct score *sample; /* (n,) unavailable before the call */
	struct score *turn;   /* (sum n_turns,) or NULL */
	struct score *test;   /* (sum n_tests,) or NULL */
	struct score *span;   /* (sum n_spans,) or NULL */
	struct score *token;  /* (sum n_tok,) or NULL */
};

struct reward_in {
	const struct group *group;
	const struct task *task; /* NULL where only recorded groups are at hand */
	struct arena *a;         /* for the arrays of reward_out; lives as long as the batch */
};

struct reward_case {
	int n;
	struct {
		enum verdict verdict;
		int n_tests, n_passed;
	} sample[4]; /* n_passed accepted tests, then one with the verdict, the rest skipped */
	struct score want[4];
	const char *opts; /* "key=value ..." on top of the defaults, or NULL */
};

/* Immutable. */
struct reward_fn {
	PART_HEAD;
	int (*score)(const void *cfg, const struct reward_in *in, struct reward_out *ret,
	             struct err *e);
	const struct reward_case *cases; /* ends with n == 0 */
};

extern const struct reward_fn *const reward_table[]; /* generated, ends with NULL */

/* One element of the recipe's list `reward: [{kind: ..., weight: ...}]`. */
struct reward_use {
	const struct reward_fn *fn;
	const void *cfg;
	double weight;
};

/*	r_i = sum_k weight_k * r_ik, unavailable if any r_ik is		i = 1..n
 *
 * Fills sample[i].reward and .part (n_use,) of the group. Units (turns, tests, spans, tokens) are
 * summed in the same way, each over the rewards that answer for it, into .turn_reward and so on.
 * n_use >= 1. A reward that is not a finite number is an error that names reward and sample.
 */
int reward_group(const struct reward_use *use, int n_use, const struct task *task, struct group *g,
                 struct arena *a, struct err *e);

#endif
