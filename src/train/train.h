/* train.h - the loop (theory of operation in train.c). */
#ifndef TRAIN_TRAIN_H
#define TRAIN_TRAIN_H

#include "base/str.h"
#include "train/train_conf.h"
#include "train/train_summary.h"

/* Borrowed while train_run() runs. */
struct train_setup {
	const struct train_conf *conf;
	const char *dir;          /* run directory */
	struct str config;        /* JSON of the effective configuration (conf_json) */
	struct str identity;      /* of train_conf_identity() */
	const volatile int *stop; /* not 0: stop soon; may be NULL */
};

/* Train, or go on with conf.train.resume. ERR_STOP: stopped, and a checkpoint of the last complete
 * step is written. A run that is there already is ERR_RANGE without resume.
 */
int train_run(const struct train_setup *in, struct train_summary *ret, struct err *e);

/* train_run.c: what train and sft share. */

struct pool;

int train_pool(int64_t threads, struct pool **ret, struct err *e); /* 0: one for each core */

/* Open the store of a run in dir: a new one, or with resume the one that is there. */
int train_store_open(const char *dir, bool resume, struct store **ret, struct err *e);

/* config.json of a new run: configuration, seed, version and machine. */
int train_store_config(struct store *s, struct str config, int64_t seed, const char *policy,
                       struct err *e);

/* The state to go on from, or *ret_step -1 and everything after `step 0` forgotten. */
struct train_state;
int train_resume(const char *dir, struct store *s, const char *identity, struct arena *a,
                 struct train_state *ret, int64_t *ret_step, struct err *e);

#endif
