/* store_query.h - looks at a run directory without writing to it, also while the run goes on.
 * Results live in the caller's arena. Thread-safe: each call opens the database for itself.
 */
#ifndef STORE_STORE_QUERY_H
#define STORE_STORE_QUERY_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/verdict.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct store_summary {
	int64_t created_s;          /* seconds since 1970 */
	int64_t n_steps, last_step; /* last_step -1: none */
	int64_t n_groups, n_silent, n_samples, n_sampled_tok;
	int64_t n_rewarded; /* samples with a reward */
	double mean_reward; /* theirs; 0 where there are none */
	int64_t by_verdict[VERDICT_JUDGE_ERROR + 1];
	bool checkpoint; /* checkpoint/COMPLETE is there */
	int n_metrics;
	const struct metric
		*metric;   /* (n_metrics,) last value of each, NAN: not a number; by name */
	struct str config; /* JSON; p == NULL: not written yet */
};

/* ERR_NOENT if there is no run in dir, ERR_RANGE for a schema this program does not know. */
int store_summarize(const char *dir, struct arena *a, struct store_summary *ret, struct err *e);

struct store_point {
	int64_t step;
	double value; /* NAN: not a number */
};

/* Values of one metric in the order they were written; *ret_n may be 0. */
int store_series(const char *dir, const char *metric, struct arena *a, struct store_point **ret,
                 int *ret_n, struct err *e);

bool store_is_run(const char *dir);

#endif
