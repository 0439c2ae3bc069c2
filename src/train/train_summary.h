/* train_summary.h - what a run came to, read from its metrics.jsonl: so it is the same for a run
 * that was interrupted.
 */
#ifndef TRAIN_TRAIN_SUMMARY_H
#define TRAIN_TRAIN_SUMMARY_H

#include "base/buf.h"
#include "base/err.h"
#include "eval/eval.h"

enum { SUMMARY_ENDS = 5 }; /* steps at either end over which reward and entropy are averaged */

struct train_summary {
	int64_t seed, steps;
	int n_k, k[EVAL_MAX_K];
	double before[EVAL_MAX_K], after[EVAL_MAX_K]; /* pass@k; NaN: not evaluated */
	double reward_first, reward_last, entropy_first, entropy_last; /* means of SUMMARY_ENDS */
	int64_t groups, silent, programs, tests, tokens, judge_error;  /* evaluations included */
	double tests_per_s, tokens_per_s, wall_s;
};

/* dir: the run directory. k: the list of the run's evaluations, or n_k 0. */
int train_summary_read(const char *dir, int64_t seed, const int *k, int n_k,
                       struct train_summary *ret, struct err *e);

/* Do the metrics hold an evaluation of this step? */
int train_summary_evaluated(const char *dir, int64_t step, bool *ret, struct err *e);

/* {"seed","before":{"pass@1",...},"after":{...},"silent","programs","tests_per_s",...} and LF */
int train_summary_json(const struct train_summary *s, struct buf *b, struct err *e);
int train_summary_save(const struct train_summary *s, const char *dir, struct err *e);

/* A short table for people. */
void train_summary_text(const struct train_summary *s, const char *dir, struct buf *b);

#endif
