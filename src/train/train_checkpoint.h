/* train_checkpoint.h - checkpoints of a run: RUN/checkpoints/step_N and the link RUN/checkpoint.
 *
 * A checkpoint is written as step_N.tmp, brought to disk, renamed, and only then marked by the
 * file COMPLETE; what has no mark is no checkpoint. It holds the policy in Hugging Face layout, its
 * optimizer state, and trainer.json. Nothing in it tells the time, so equal runs have equal bytes.
 */
#ifndef TRAIN_TRAIN_CHECKPOINT_H
#define TRAIN_TRAIN_CHECKPOINT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "policy/policy.h"

/* trainer.json */
struct train_state {
	int64_t step;        /* complete steps */
	int64_t version;     /* of the weights */
	int64_t next_sample; /* id of the next sample */
	uint64_t seed;
	bool eval_due;                    /* stopped before the evaluation that follows this step */
	struct str selector;              /* JSON of the selector's state; p == NULL: none */
	char identity[65];                /* SHA-256 of train_conf_identity() */
	const struct json *selector_json; /* read: the same, parsed; NULL if there is none */
};

/* Save the policy with the state; a checkpoint of that step that is there already only gets the
 * new state. Then remove all but the newest `keep`.
 */
int train_checkpoint_save(const char *run, const struct train_state *s, struct policy *p, int keep,
                          struct err *e);

/* The newest complete one, *ret_step -1 if there is none. Removes what was left half written. */
int train_checkpoint_find(const char *run, int64_t *ret_step, struct err *e);

/* RUN/checkpoints/step_N, from a; NULL: the arena's limit is reached. */
const char *train_checkpoint_path(const char *run, int64_t step, struct arena *a);

int train_checkpoint_read(const char *run, int64_t step, struct arena *a, struct train_state *ret,
                          struct err *e);

#endif
