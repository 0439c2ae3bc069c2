/* train_run.h - the run directory of train and sft: opened, described, taken up again. All
 * functions need an e.
 */
#ifndef TRAIN_TRAIN_RUN_H
#define TRAIN_TRAIN_RUN_H

#include "base/pool.h"
#include "store/store.h"
#include "train/train_checkpoint.h"

int train_pool(int64_t threads, struct pool **ret, struct err *e); /* 0: one for each core */

/* Open the store of a run in dir: a new one, or with resume the one that is there, if any. */
int train_store_open(const char *dir, bool resume, struct store **ret, struct err *e);

/* config.json of a new run: configuration (JSON), seed, version and machine. */
int train_store_config(struct store *s, struct str config, int64_t seed, const char *policy,
                       struct err *e);

/* The state to go on from; what the store has of later steps is forgotten. *ret_step is -1 if
 * there is no checkpoint: the run begins again. identity: as train_state has it.
 */
int train_resume(const char *dir, struct store *s, const char *identity, struct arena *a,
                 struct train_state *ret, int64_t *ret_step, struct err *e);

/* SHA-256 in hexadecimal of the text of train_conf_identity(). */
void train_identity_hash(struct str identity, char ret[65]);

#endif
