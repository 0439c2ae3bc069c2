/* store.h - the run store: a directory with config.json, run.sqlite (WAL), metrics.jsonl,
 * checkpoint/ and summary.json (docs/formats.md). Every sample, verdict, reward and metric of a
 * run goes here.
 *
 * A store has one owner. A step is written in one transaction: a crash leaves whole steps.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/err.h"
#include "base/str.h"
#include "traj/traj.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

/* Create dir if it is not there; resume: keep what is in it, else an existing run is an error. */
int store_open(const char *dir, bool resume, struct store **ret, struct err *e);
void store_close(struct store *s);
const char *store_dir(const struct store *s);

int store_config(struct store *s, struct str json, struct err *e); /* config.json and the table */

struct metric {
	const char *name;
	double value;
};

/* All of a step at once: its groups (NULL: none), advantages (mean of each sample, (n_samples,) or
 * NULL) and metrics, in SQLite and as a line of metrics.jsonl {"step", ...}. Metrics whose names
 * begin with "time/" are the only ones that differ between equal runs.
 */
int store_step(struct store *s, int64_t step, const struct batch *b, const double *adv,
               const struct metric *m, int n_metrics, struct err *e);

/* Forget everything of steps >= step: a resumed run writes them again. */
int store_truncate(struct store *s, int64_t step, struct err *e);

/* Outcomes of a task before `step`: samples with a reward and their mean. */
int store_task_seen(struct store *s, struct str task_id, int64_t *ret_n, double *ret_mean,
                    struct err *e);

#endif
