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

#endif
