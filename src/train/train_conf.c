/* train_conf.c - the option tables of a run and their binding. */
#include "train/train_conf.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/jsonw.h"

#define F(field) offsetof(struct train_opts, field)

static const char *const schedules[] = { "constant", "linear", "cosine", NULL };

/* What train and sft share. */
static const struct opt common_opts[] = {
	{ "beta1", OPT_REAL, F(beta1), 0, 0.999999, 0, "0.9", "", "AdamW: first moment" },
	{ "beta2", OPT_REAL, F(beta2), 0, 0.999999, 0, "0.999", "", "AdamW: second moment" },
	{ "eps", OPT_REAL, F(eps), 1e-30, 1, 0, "1e-8", "", "AdamW: in the divisor" },
	{ "weight_decay", OPT_REAL, F(weight_decay), 0, 10, 0, "0", "", "AdamW: decoupled" },
	{ "clip", OPT_REAL, F(clip), 0, 1e9, 0, "1.0", "", "norm of the gradient; 0: no limit" },
	{ "seed", OPT_INT, F(seed), 0, 9007199254740992, 0, "1", "", "of all random numbers" },
	{ "threads", OPT_INT, F(threads), 0, 256, 0, "0", "", "0: one for each core" },
	{ "keep", OPT_INT, F(keep), 1, 1e6, 0, "2", "", "newest checkpoints that are kept" },
	{ "out", OPT_STR, F(out), 0, 0, 0, "", "", "run directory; empty: runs/NAME" },
	{ "resume", OPT_BOOL, F(resume), 0, 0, 0, "false", "", "go on from the newest checkpoint" },
	{ 0 },
};

static const struct opt train_opts[] = {
	{ "steps", OPT_INT, F(steps), 0, 1e9, 0, "100", "", "of the loop" },
	{ "epochs", OPT_INT, F(epochs), 1, 1000, 0, "1", "", "passes over the samples of a step" },
	{ "minibatches", OPT_INT, F(minibatches), 1, 4096, 0, "1", "", "updates in a pass" },
	{ "lr", OPT_REAL, F(lr), 0, 10, 0, "1e-4", "", "learning rate" },
	{ "schedule", OPT_CHOICE, F(schedule), 0, 0, schedules, "constant", "", "of lr" },
	{ "warmup", OPT_REAL, F(warmup), 0, 1e9, 0, "0", "steps", "below 1: a share of all" },
	{ "save_every", OPT_INT, F(save_every), 0, 1e9, 0, "20", "steps", "0: only at the end" },
	{ 0 },
};

static const struct opt sft_opts[] = {
	{ "lr", OPT_REAL, F(lr), 0, 10, 0, "2e-3", "", "learning rate" },
	{ "schedule", OPT_CHOICE, F(schedule), 0, 0, schedules, "cosine", "", "of lr" },
	{ "warmup", OPT_REAL, F(warmup), 0, 1e9, 0, "0.05", "steps", "below 1: a share of all" },
	{ "save_every", OPT_INT, F(save_every), 0, 1e9, 0, "0", "steps", "0: only at the end" },
	{ 0 },
};

static const struct opt tasks_opts[] = {
	{ "train", OPT_STR, offsetof(struct train_tasks, train), 0, 0, 0, "", "", "JSONL" },
	{ "eval", OPT_STR, offsetof(struct train_tasks, eval), 0, 0, 0, "", "",
	  "held-out tasks, JSONL" },
	{ "format", OPT_STR, offsetof(struct train_tasks, format), 0, 0, 0, "", "",
	  "of the records; empty: detected" },
	{ 0 },
};

static const struct opt select_opts[] = {
	{ "prompts", OPT_INT, offsetof(struct train_select, prompts), 1, 65536, 0, "16", "",
	  "tasks of a step" },
	{ "samples", OPT_INT, offsetof(struct train_select, samples), 1, 65536, 0, "8", "",
	  "answers for each task" },
	{ 0 },
};

static const struct opt policy_opts[] = {
	{ "load", OPT_STR, offsetof(struct train_policy, load), 0, 0, 0, "", "",
	  "checkpoint directory" },
	{ 0 },
};

static const struct opt every_opts[] = {
	{ "every", OPT_INT, offsetof(struct train_conf, eval_every), 0, 1e9, 0, "0", "steps",
	  "0: before and after only" },
	{ 0 },
};

static const struct opt kl_opts[] = {
	{ "coef", OPT_REAL, offsetof(struct loss, kl_coef), 0, 1e6, 0, "0.001", "",
	  "of the KL term" },
	{ 0 },
};

static const struct opt loss_opts[] = {
	{ "count_masked", OPT_BOOL, offsetof(struct loss, count_masked), 0, 0, 0, "false", "",
	  "aggregate also counts the tokens that masks drop" },
	{ 0 },
};

static const struct opt entropy_opts[] = {
	{ "coef", OPT_REAL, offsetof(struct loss, entropy_coef), -1e6, 1e6, 0, "0", "",
	  "of the entropy bonus" },
	{ 0 },
};

static int bind_loss(struct conf *c, struct loss *l, struct err *e)
{
	struct conf_part p, mask[LOSS_MAX_MASKS];

	if (conf_part(c, "loss", PART_TABLE(surrogate_table), "ppo_clip", &p, e) < 0)
		return e->code;
	l->surrogate = (const struct surrogate *)(const void *)p.part;
	l->surrogate_cfg = p.cfg;
	if (conf_bind(c, "loss", loss_opts, l, e) < 0 ||
	    conf_part(c, "loss.aggregate", PART_TABLE(agg_table), "token_mean", &p, e) < 0)
		return e->code;
	l->agg = (const struct agg *)(const void *)p.part;
	l->agg_cfg = p.cfg;
	if (conf_parts(c, "loss.masks", PART_TABLE(mask_table), NULL, mask, LOSS_MAX_MASKS,
	               &l->n_masks, e) < 0)
		return e->code;
	for (int i = 0; i < l->n_masks; i++) {
		l->mask[i] = (const struct mask *)(const void *)mask[i].part;
		l->mask_cfg[i] = mask[i].cfg;
	}
	if (conf_part(c, "loss.kl", PART_TABLE(kl_table), NULL, &p, e) < 0)
		return e->code;
	l->kl = (const struct kl *)(const void *)p.part;
	l->kl_cfg = p.cfg;
	if (l->kl && conf_bind(c, "loss.kl", kl_opts, l, e) < 0)
		return e->code;
	return conf_bind(c, "loss.entropy", entropy_opts, l, e);
}

static int bind_rewards(struct conf *c, struct train_conf *t, struct err *e)
{
	struct conf_part p[TRAIN_MAX_REWARDS];

	if (conf_parts(c, "reward", PART_TABLE(reward_table), "pass_all", p, TRAIN_MAX_REWARDS,
	               &t->n_rewards, e) < 0)
		return e->code;
	for (int i = 0; i < t->n_rewards; i++)
		t->reward[i] =
			(struct reward_use){ (const struct reward_fn *)(const void *)p[i].part,
			                     p[i].cfg, p[i].weight };
	return 0;
}

/* What sampling and judging need. */
static int bind_sampling(struct conf *c, struct train_conf *t, struct err *e)
{
	struct conf_part p;

	if (conf_part(c, "policy", PART_TABLE(policy_table), "transformer", &p, e) < 0 ||
	    conf_bind(c, "policy", policy_opts, &t->policy, e) < 0 ||
	    conf_bind(c, "tasks", tasks_opts, &t->tasks, e) < 0 ||
	    conf_part(c, "rollout", PART_TABLE(rollout_table), "single", &p, e) < 0 ||
	    conf_bind(c, "rollout", rollout_opts, &t->rollout, e) < 0 ||
	    conf_bind(c, "judge", judge_opts, &t->judge, e) < 0 ||
	    conf_bind(c, "box", judge_box_opts, &t->judge, e) < 0 ||
	    conf_bind(c, "eval", eval_opts_table, &t->eval, e) < 0)
		return e->code;
	t->rollout_fn = (const struct rollout_fn *)(const void *)p.part;
	t->rollout_cfg = p.cfg;
	return 0;
}

int train_conf_bind_eval(struct conf *c, struct train_conf *t, struct err *e)
{
	static const struct opt few[] = {
		{ "seed", OPT_INT, F(seed), 0, 9007199254740992, 0, "1", "", "of the samples" },
		{ "threads", OPT_INT, F(threads), 0, 256, 0, "0", "", "0: one for each core" },
		{ 0 },
	};
	int r;

	memset(t, 0, sizeof *t);
	r = bind_sampling(c, t, e);
	return r < 0 ? r : conf_bind(c, "train", few, &t->train, e);
}

int train_opts_bind(struct conf *c, bool sft, struct train_opts *o, struct err *e)
{
	int r = conf_bind(c, "train", sft ? sft_opts : train_opts, o, e);

	return r < 0 ? r : conf_bind(c, "train", common_opts, o, e);
}

static int bind_select_and_adv(struct conf *c, struct train_conf *t, struct err *e)
{
	struct conf_part select, adv;

	if (conf_part(c, "select", PART_TABLE(select_table), "uniform", &select, e) < 0 ||
	    conf_bind(c, "select", select_opts, &t->ask, e) < 0 ||
	    conf_part(c, "adv", PART_TABLE(adv_table), "grpo", &adv, e) < 0)
		return e->code;
	t->select = (const struct select_fn *)(const void *)select.part;
	t->select_cfg = select.cfg;
	t->adv = (const struct adv_fn *)(const void *)adv.part;
	t->adv_cfg = adv.cfg;
	return 0;
}

int train_conf_bind(struct conf *c, struct train_conf *t, struct err *e)
{
	struct err own;

	e = e ? e : &own;
	memset(t, 0, sizeof *t);
	if (bind_sampling(c, t, e) < 0 || bind_select_and_adv(c, t, e) < 0 ||
	    bind_rewards(c, t, e) < 0 || bind_loss(c, &t->loss, e) < 0 ||
	    train_opts_bind(c, false, &t->train, e) < 0)
		return e->code;
	return conf_bind(c, "eval", every_opts, t, e);
}

int train_conf_check(const struct train_conf *t, struct err *e)
{
	int k[EVAL_MAX_K], n;

	if (!*t->policy.load)
		return FAIL(e, ERR_RANGE,
		            "policy.load is not set: name a checkpoint directory (cupel sft makes "
		            "one)");
	if (!*t->tasks.train)
		return FAIL(e, ERR_RANGE, "tasks.train is not set: name a JSONL file of tasks");
	if (!(t->rollout.temperature > 0))
		return FAIL(e, ERR_RANGE,
		            "rollout.temperature is 0: greedy answers cannot be trained on");
	return *t->tasks.eval ? eval_parse_k(&t->eval, k, &n, e) : 0;
}

double train_lr(const struct train_opts *o, int64_t step, int64_t steps)
{
	double w = o->warmup < 1 ? floor(o->warmup * (double)steps) : floor(o->warmup), p;

	if ((double)step <= w)
		return o->lr * (double)step / w;
	p = ((double)step - 1 - w) / fmax(1, (double)steps - w);
	switch (o->schedule) {
	case SCHEDULE_LINEAR:
		return o->lr * (1 - p);
	case SCHEDULE_COSINE:
		return o->lr * 0.5 * (1 + cos(3.14159265358979323846 * p));
	}
	return o->lr;
}

struct optim train_optim(const struct train_opts *o, double lr)
{
	return (struct optim){ .lr = lr,
		               .beta1 = o->beta1,
		               .beta2 = o->beta2,
		               .eps = o->eps,
		               .weight_decay = o->weight_decay,
		               .clip = o->clip };
}

static bool may_change(struct str key)
{
	static const char *const free_keys[] = {
		"train.threads", "train.save_every", "train.keep", "train.out",
		"train.resume",  "judge.jobs",       NULL
	};

	for (int i = 0; free_keys[i]; i++)
		if (str_is(key, free_keys[i]))
			return true;
	return false;
}

int train_conf_identity(const struct conf *c, struct arena *a, struct str *ret, struct err *e)
{
	AUTO_BUF all = { .max = 1 << 20 }, out = { .max = 1 << 20 };
	struct jsonw w = { &all, false }, v = { &out, false };
	const struct json *j;
	struct str s;

	conf_json(c, &w);
	if (buf_check(&all, "configuration", e) < 0 || json_parse(buf_str(&all), a, &j, e) < 0)
		return ERR_LIMIT;
	for (int i = 0; i < (json_is(j, JSON_OBJ) ? j->n : 0); i++) {
		if (may_change(j->key[i]))
			continue;
		buf_putstr(&out, j->key[i]);
		buf_putc(&out, '=');
		v.comma = false;
		jsonw_json(&v, json_get(&j->item[i], "value"));
		buf_putc(&out, '\n');
	}
	if (buf_check(&out, "configuration", e) < 0)
		return ERR_LIMIT;
	s = arena_str(a, buf_str(&out));
	if (!s.p)
		return FAIL(e, ERR_LIMIT, "configuration of %zu bytes", out.n);
	*ret = s;
	return 0;
}
