/* train_step.h - one step of the loop: pick, sample and judge, score, observe, credit, update. */
#ifndef TRAIN_TRAIN_STEP_H
#define TRAIN_TRAIN_STEP_H

#include "base/arena.h"
#include "select/select.h"
#include "store/store.h"
#include "task/task.h"
#include "train/train_conf.h"
#include "train/train_metrics.h"

/* What a step works with, all borrowed. One owner. */
struct train_env {
	const struct train_conf *conf;
	const struct tasks *tasks;
	struct policy *policy;
	struct policy *ref; /* reference of the KL term, or NULL */
	struct judge *judge;
	struct selector *sel;
	struct store *store;
	const volatile int *stop;
};

/* One step: everything from a, a metric for everything that happened. ERR_STOP only before the
 * weights change; a log-prob that is not the one of the rollout is ERR_RANGE (a bug of the policy).
 * ret_adv (n_samples,): mean advantage of each sample's trained tokens. Like all functions of this
 * header it needs an e.
 */
int train_step(const struct train_env *env, int64_t step, int64_t first_id, struct arena *a,
               struct metrics *m, struct batch *ret_batch, double **ret_adv, struct err *e);

/* Bytes that a step takes at most. */
size_t train_step_limit(const struct train_env *env);

/* train_update.c: the updates of a step from a scored batch; adds the metrics of the actor.
 * A, weight: of adv_batch(). ret_trained (n_tok,): set to 1 where the loss had a weight;
 * *ret_masked of these tokens were then taken out by masks that look at log-probs.
 */
int train_update(const struct train_env *env, int64_t step, const struct batch *b, const float *A,
                 const float *weight, struct arena *a, struct metrics *m, uint8_t *ret_trained,
                 int64_t *ret_masked, struct err *e);

/* The loss has terms that do not vanish with the advantage. */
bool train_loss_extra(const struct loss *l);

#endif
