/* eval.h - pass@k of a policy on a task set: sample, judge, count.
 *
 * Random numbers are those of step EVAL_STEP, so that evaluations with the same seed differ by the
 * weights alone and never share numbers with a training step. Answers whose verdict is judge_error
 * are left out of n and c and counted. One owner.
 */
#ifndef EVAL_EVAL_H
#define EVAL_EVAL_H

#include "base/err.h"
#include "base/opt.h"
#include "base/verdict.h"
#include "eval/passk.h"
#include "judge/judge.h"
#include "policy/policy.h"
#include "rollout/rollout.h"
#include "task/task.h"

enum { EVAL_MAX_K = 8, EVAL_STEP = 0x7fffffff };

struct eval_opts {     /* option table: eval_opts_table */
	int64_t n;     /* answers for each task; 1 if greedy */
	int64_t tasks; /* the first so many of the set; 0: all */
	const char *k; /* "1,8" */
	bool greedy;
};

extern const struct opt eval_opts_table[];

/* The list of `k`: ascending, each 1..n. ret (EVAL_MAX_K,). Entries above n are an error. */
int eval_parse_k(const struct eval_opts *o, int *ret, int *ret_n, struct err *e);

struct eval_env {
	struct policy *policy;
	struct judge *judge;
	const struct rollout_fn *rollout;
	const void *rollout_cfg; /* of the part */
	const struct rollout_config *cfg;
	uint64_t seed;
	const volatile int *stop;
	void (*progress)(void *arg, int done, int total); /* tasks; may be NULL */
	void *arg;
};

struct eval_result {
	int n_tasks, n_k, k[EVAL_MAX_K];
	struct passk_mean pass[EVAL_MAX_K];
	int64_t n_samples, by_verdict[VERDICT_JUDGE_ERROR + 1];
	int64_t n_left_out; /* answers with judge_error */
	int64_t n_truncated;
	double mean_length, entropy; /* tokens of an answer; of each sampled token */
	struct rollout_stats st;
	int64_t wall_ns;
};

int eval_run(const struct eval_env *env, const struct eval_opts *o, const struct tasks *t,
             struct eval_result *ret, struct err *e);

/* pass@k of the result, NaN if k was not asked for. */
double eval_pass(const struct eval_result *r, int k);

/* {"tasks","n","pass@1":{"mean","low","high","tasks"},...,"verdicts":{...},...} */
void eval_json(const struct eval_result *r, const struct eval_opts *o, struct jsonw *w);

#endif
