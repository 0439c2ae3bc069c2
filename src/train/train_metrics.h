/* train_metrics.h - the metrics of a step, by name, in the order in which they were added. */
#ifndef TRAIN_TRAIN_METRICS_H
#define TRAIN_TRAIN_METRICS_H

#include "eval/eval.h"
#include "rollout/rollout.h"
#include "store/store.h"
#include "traj/traj.h"

enum { METRICS_MAX = 128, METRICS_NAME = 64 };

/* One owner. Names are copied. */
struct metrics {
	int n;
	struct metric m[METRICS_MAX];
	char name[METRICS_MAX][METRICS_NAME];
};

void metrics_add(struct metrics *m, double value, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
double metrics_get(const struct metrics *m, const char *name); /* NaN: not there */

/* reward, reward_std, frac_reward_zero_std, entropy, completions/..., judge/..., select/... of a
 * judged and scored batch; part_name (b->n_rewards,) names the rewards of the recipe.
 */
void metrics_batch(struct metrics *m, const struct batch *b, const struct rollout_stats *st,
                   const char *const *part_name);

/* Where each sampled token went; trained (n_tok,) 1 where the loss had a weight, `masked` of them
 * were then taken out by masks. `extra`: the loss has terms beyond the advantage, so that silent
 * groups are trained too.
 *
 * Every token is counted once: the categories add up to ledger/sampled.
 */
void metrics_ledger(struct metrics *m, const struct batch *b, const uint8_t *trained,
                    int64_t masked, bool extra);

/* eval/... and its times. */
void metrics_eval(struct metrics *m, const struct eval_result *r);

#endif
