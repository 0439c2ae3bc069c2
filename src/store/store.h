/* store.h - the run store: a directory with config.json, run.sqlite (WAL), metrics.jsonl,
 * checkpoint/ and summary.json (docs/run-directory.md). Every sample, verdict, reward and metric of
 * a run goes here.
 *
 * A store has one owner; a lock keeps other processes from writing to the same run (readers:
 * store_query.h). A step is written in one transaction: a crash leaves whole steps, and a step that
 * was written survives a power cut.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/err.h"
#include "base/str.h"
#include "traj/traj.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

/* Create dir if it is not there; resume: keep what is in it, else an existing run is ERR_RANGE. A
 * metrics.jsonl that a crash left behind the database is made whole.
 */
int store_open(const char *dir, bool resume, struct store **ret, struct err *e);
void store_close(struct store *s);
const char *store_dir(const struct store *s);

int store_config(struct store *s, struct str json, struct err *e); /* config.json and the table */

struct metric {
	const char *name;
	double value;
};

/* All of a step at once: its groups (NULL: none), advantages (mean of each sample, (n_samples,) or
 * NULL, NAN: none) and metrics, in SQLite and as a line of metrics.jsonl {"step", ...}. A step may
 * be written again with further metrics, which become a line of their own, but has one batch.
 * Metrics whose names begin with "time/" are the only ones that differ between equal runs. A metric
 * that is not a finite number is null.
 */
int store_step(struct store *s, int64_t step, const struct batch *b, const double *adv,
               const struct metric *m, int n_metrics, struct err *e);

/* Forget everything of steps >= step: a resumed run writes them again. */
int store_truncate(struct store *s, int64_t step, struct err *e);

/* Outcomes of a task so far: samples with a reward and their mean (0 where there are none). */
int store_task_seen(struct store *s, struct str task_id, int64_t *ret_n, double *ret_mean,
                    struct err *e);

#endif
