/* train_conf.h - the recipe of a run: every box of the loop with its part and its options.
 *
 *	policy:   {kind: transformer, load: runs/sft/checkpoint}
 *	tasks:    {train: train.jsonl, eval: test.jsonl}
 *	select:   {kind: uniform, prompts: 16, samples: 8}
 *	rollout:  {kind: single, temperature: 1.0, max_tokens: 96}
 *	judge:    {jobs: 2}
 *	reward:   [{kind: pass_all}]
 *	adv:      {kind: grpo}
 *	loss:     {kind: ppo_clip, aggregate: token_mean, masks: [...], kl: {kind: k3, coef: 0.01},
 *	           entropy: {coef: 0.001}}
 *	train:    {steps: 100, lr: 1e-4, seed: 1}
 *	eval:     {n: 16, k: "1,8", every: 0}
 *
 * Texts and part configs live in the arena of the struct conf. Immutable after binding.
 */
#ifndef TRAIN_TRAIN_CONF_H
#define TRAIN_TRAIN_CONF_H

#include "adv/adv.h"
#include "base/conf.h"
#include "eval/eval.h"
#include "judge/judge.h"
#include "loss/loss.h"
#include "policy/policy.h"
#include "reward/reward.h"
#include "rollout/rollout.h"
#include "select/select.h"

enum { TRAIN_MAX_REWARDS = 8 };

enum train_schedule { SCHEDULE_CONSTANT, SCHEDULE_LINEAR, SCHEDULE_COSINE };

/* Section `train`, shared by train and sft (which has other defaults and no loop). */
struct train_opts {
	int64_t steps, epochs, minibatches; /* train only */
	double lr, warmup, beta1, beta2, eps, weight_decay, clip;
	int schedule; /* enum train_schedule */
	int64_t seed, threads, save_every, keep;
	const char *out;
	bool resume;
};

int train_opts_bind(struct conf *c, bool sft, struct train_opts *o, struct err *e);

struct train_tasks {
	const char *train, *eval, *format;
};

struct train_select {
	int64_t prompts, samples;
};

struct train_policy {
	const char *load;
};

struct train_conf {
	struct train_policy policy;
	struct train_tasks tasks;
	struct train_select ask;
	struct rollout_config rollout;
	struct judge_config judge;
	struct eval_opts eval;
	int64_t eval_every; /* key eval.every */
	struct train_opts train;

	const struct select_fn *select;
	const struct rollout_fn *rollout_fn;
	const struct adv_fn *adv;
	const void *select_cfg, *rollout_cfg, *adv_cfg;
	struct reward_use reward[TRAIN_MAX_REWARDS];
	int n_rewards;
	struct loss loss;
};

/* Bind every section; unknown keys are left to conf_end(). *t must stay where it is while c lives:
 * later files and flags are filled into it.
 */
int train_conf_bind(struct conf *c, struct train_conf *t, struct err *e);

/* What no single option can say: files that must be named, values that do not fit together. */
int train_conf_check(const struct train_conf *t, struct err *e);

/* The part of the sections that sampling and judging need, for eval: policy, tasks, rollout,
 * judge, eval and of train only seed and threads.
 */
int train_conf_bind_eval(struct conf *c, struct train_conf *t, struct err *e);

/* lr of step 1..steps:
 *	warm-up: lr * step / W for step <= W, W = warmup (steps, or a share of all if below 1)
 *	then, with p = (step - 1 - W) / (steps - W) in [0, 1):
 *	constant lr, linear lr (1 - p), cosine lr (1 + cos(pi p)) / 2
 */
double train_lr(const struct train_opts *o, int64_t step, int64_t steps);

struct optim train_optim(const struct train_opts *o, double lr);

/* The configuration without what a resumed run may change (where it lies, how many threads and
 * jobs, how often it saves): two runs with equal text go through the same steps.
 */
int train_conf_identity(const struct conf *c, struct arena *a, struct str *ret, struct err *e);

#endif
