/* train.c - the loop.
 *
 * Theory of operation
 *
 * A run is a directory (store.h) and a sequence of steps 1, 2, ..., N. Step s goes through the
 * boxes of the loop in train_step(): select picks tasks, rollout samples and judges answers with
 * the weights after step s - 1, rewards and advantages credit them, train_update() changes the
 * weights. Then the step is complete: it is written to the store in one transaction, and the
 * selector's state and the number of the next sample are noted. Evaluations stand between steps;
 * the one after step s is a second line of step s in the metrics (step 0: before training).
 *
 * Everything random is a function of (seed, step, task, rollout, position), everything else of the
 * weights and of the selector's state. So weights, optimizer, selector and sample number after a
 * complete step are all that a resumed run needs to be the same as an undisturbed one, and these
 * are what a checkpoint holds (train_checkpoint.h). Whatever the store has of later steps is
 * forgotten on resume and made again.
 *
 * A signal ends the rollout or the evaluation that is going on; the update itself is never broken
 * off, so that the weights are always those of a complete step. A checkpoint of it is written; if
 * its evaluation is still due, the checkpoint says so and the resumed run begins with it.
 *
 * What ends a run: a broken machine (the judge, the disk), bad input, and a log-prob that is not
 * the one of the rollout. What does not: programs that could not be judged. They are in no mean
 * and no loss, and are counted.
 */
#include "train/train.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "train/train_run.h"
#include "train/train_step.h"

enum { MAX_LINE = 64 << 20, RUN_ARENA = 64 << 20, MAX_STATE = 64 << 20 };

/* One owner: train_run(). */
struct run {
	const struct train_setup *in;
	const struct train_conf *conf;
	struct arena a; /* run */
	struct arena step_mem;
	struct tasks train, eval;
	struct pool *pool;
	struct train_env env;
	struct train_state at;  /* after the last complete step */
	struct buf selector;    /* its state then */
	bool saved, stale;      /* there is a checkpoint of it; it says that an evaluation is due */
	int64_t mark_ns;        /* when the last step ended */
	int64_t eval_mark_ns;   /* when the last progress line was printed */
	int k[EVAL_MAX_K], n_k; /* of the evaluations; 0: none */
};

static bool stopped(const struct run *r)
{
	return r->in->stop && *r->in->stop;
}

static int note_selector(struct run *r, struct err *e)
{
	struct jsonw w = { &r->selector, false };

	buf_reset(&r->selector);
	if (r->env.sel && r->conf->select->save)
		r->conf->select->save(r->env.sel, &w);
	else
		jsonw_null(&w);
	r->at.selector = buf_str(&r->selector);
	return buf_check(&r->selector, "state of the selector", e);
}

static int open_tasks(struct run *r, struct err *e)
{
	const struct train_tasks *t = &r->conf->tasks;
	const char *format = *t->format ? t->format : NULL;

	if (tasks_open(t->train, format, MAX_LINE, &r->train, e) < 0)
		return e->code;
	if (r->train.n == 0)
		return FAIL(e, ERR_PARSE, "%s holds no tasks", t->train);
	if (!*t->eval)
		return 0;
	if (tasks_open(t->eval, format, MAX_LINE, &r->eval, e) < 0)
		return e->code;
	if (r->eval.n == 0)
		return FAIL(e, ERR_PARSE, "%s holds no tasks", t->eval);
	return eval_parse_k(&r->conf->eval, r->k, &r->n_k, e);
}

/* Weights: those of the checkpoint, or of the recipe. */
static int open_policy(struct run *r, int64_t step, struct err *e)
{
	const struct train_conf *t = r->conf;
	const char *dir =
		step >= 0 ? train_checkpoint_path(r->in->dir, step, &r->a) : t->policy.load;
	struct policy *p;

	if (!dir)
		return FAIL(e, ERR_LIMIT, "run arena");
	if (policy_load(dir, r->pool, (int)t->rollout.batch + 1, &p, e) < 0)
		return e->code;
	r->env.policy = p;
	if (step < 0)
		p->fn->restart(p);
	p->version = r->at.version;
	if (!t->loss.kl || t->loss.kl_coef == 0)
		return 0;
	return policy_load(t->policy.load, r->pool, 1, &r->env.ref, e);
}

static int open_selector(struct run *r, struct err *e)
{
	const struct select_fn *f = r->conf->select;

	if (f->start(r->conf->select_cfg, &r->train, &r->env.sel, e) < 0)
		return err_wrap(e, "select %s", f->name);
	if (r->at.selector_json && f->load && f->load(r->env.sel, r->at.selector_json, e) < 0)
		return err_wrap(e, "select %s: state of the checkpoint", f->name);
	return note_selector(r, e);
}

/* The evaluation that the checkpoint waits for may have been written just before a crash. */
static int drop_done_eval(struct run *r, struct err *e)
{
	bool done = false;

	if (train_summary_evaluated(r->in->dir, r->at.step, &done, e) < 0)
		return e->code;
	r->at.eval_due = !done;
	r->stale = done;
	return 0;
}

static int run_open(struct run *r, struct err *e)
{
	const struct train_conf *t = r->conf;
	char identity[sizeof r->at.identity];
	int64_t step = -1;

	train_identity_hash(r->in->identity, identity);
	if (train_conf_check(t, e) < 0 || open_tasks(r, e) < 0 ||
	    train_pool(t->train.threads, &r->pool, e) < 0)
		return e->code;
	/* Before there is a run directory: what is missing here leaves none behind. */
	if ((!t->train.resume && open_policy(r, step, e) < 0) ||
	    judge_open(&t->judge, &r->env.judge, e) < 0 ||
	    train_store_open(r->in->dir, t->train.resume, &r->env.store, e) < 0)
		return e->code;
	if (t->train.resume &&
	    train_resume(r->in->dir, r->env.store, identity, &r->a, &r->at, &step, e) < 0)
		return e->code;
	r->saved = step >= 0;
	if (r->at.eval_due && drop_done_eval(r, e) < 0)
		return e->code;
	if (step < 0)
		r->at = (struct train_state){ .eval_due = r->n_k > 0 };
	r->at.seed = (uint64_t)t->train.seed;
	memcpy(r->at.identity, identity, sizeof identity);
	if ((t->train.resume && open_policy(r, step, e) < 0) || open_selector(r, e) < 0)
		return e->code;
	if (step < 0 && train_store_config(r->env.store, r->in->config, t->train.seed,
	                                   r->env.policy->describe, e) < 0)
		return e->code;
	r->step_mem.limit = train_step_limit(&r->env);
	log_info("train", "run=%s policy=\"%s\" tasks=%d eval_tasks=%d isolation=%s step=%" PRId64,
	         r->in->dir, r->env.policy->describe, r->train.n, r->eval.n,
	         box_tier_text(judge_tier(r->env.judge)), r->at.step);
	return 0;
}

/* The judge first: what it still runs uses the tasks. */
static void run_close(struct run *r)
{
	if (r->env.judge)
		judge_close(r->env.judge);
	if (r->env.sel)
		r->conf->select->free(r->env.sel);
	policy_free(r->env.policy);
	policy_free(r->env.ref);
	if (r->env.store)
		store_close(r->env.store);
	pool_free(r->pool);
	tasks_done(&r->train);
	tasks_done(&r->eval);
	buf_done(&r->selector);
	arena_done(&r->step_mem);
	arena_done(&r->a);
}

static void eval_progress(void *arg, int done, int total)
{
	struct run *r = arg;
	int64_t now = now_ns();

	if (now - r->eval_mark_ns < 10 * NS_PER_S)
		return;
	r->eval_mark_ns = now;
	log_info("train", "step=%" PRId64 " evaluated=%d/%d", r->at.step, done, total);
}

static int evaluate(struct run *r, struct err *e)
{
	const struct train_conf *t = r->conf;
	struct eval_env env = { .policy = r->env.policy,
		                .judge = r->env.judge,
		                .rollout = t->rollout_fn,
		                .rollout_cfg = t->rollout_cfg,
		                .cfg = &t->rollout,
		                .seed = r->at.seed,
		                .stop = r->in->stop,
		                .progress = eval_progress,
		                .arg = r };
	struct metrics m = { 0 };
	struct eval_result x;

	r->eval_mark_ns = now_ns();
	if (eval_run(&env, &t->eval, &r->eval, &x, e) < 0)
		return e->code;
	metrics_eval(&m, &x);
	if (store_step(r->env.store, r->at.step, NULL, NULL, m.m, m.n, e) < 0)
		return e->code;
	for (int i = 0; i < x.n_k; i++)
		log_info("train", "step=%" PRId64 " eval/pass@%d=%.4f [%.4f, %.4f] tasks=%d",
		         r->at.step, x.k[i], x.pass[i].mean, x.pass[i].low, x.pass[i].high,
		         x.n_tasks);
	r->at.eval_due = false;
	r->mark_ns = now_ns();
	return 0;
}

static int save(struct run *r, struct err *e)
{
	if (train_checkpoint_save(r->in->dir, &r->at, r->env.policy, (int)r->conf->train.keep, e) <
	    0)
		return e->code;
	r->saved = true;
	r->stale = false;
	return 0;
}

static void report(const struct run *r, const struct metrics *m)
{
	log_info("train",
	         "step=%" PRId64 "/%" PRId64
	         " reward=%.3f silent=%.2f entropy=%.3f length=%.1f grad_norm=%.3f "
	         "lr=%.2g judge_error=%.0f s=%.2f",
	         r->at.step, r->conf->train.steps, metrics_get(m, "reward"),
	         metrics_get(m, "frac_reward_zero_std"), metrics_get(m, "entropy"),
	         metrics_get(m, "completions/mean_length"), metrics_get(m, "actor/grad_norm"),
	         metrics_get(m, "actor/lr"), metrics_get(m, "judge/judge_error"),
	         metrics_get(m, "time/step_s"));
}

static int one_step(struct run *r, struct err *e)
{
	int64_t step = r->at.step + 1, every = r->conf->eval_every, now;
	struct metrics m = { 0 };
	struct batch b = { 0 };
	double *adv = NULL;

	arena_reset(&r->step_mem);
	if (train_step(&r->env, step, r->at.next_sample, &r->step_mem, &m, &b, &adv, e) < 0)
		return e->code;
	now = now_ns();
	metrics_add(&m, (double)(now - r->mark_ns) / NS_PER_S, "time/step_s");
	r->mark_ns = now;
	if (store_step(r->env.store, step, &b, adv, m.m, m.n, e) < 0)
		return e->code;
	r->saved = false;
	r->at.step = step;
	r->at.version = r->env.policy->version;
	r->at.next_sample += b.n_samples;
	r->at.eval_due =
		r->n_k > 0 && (step == r->conf->train.steps || (every && step % every == 0));
	report(r, &m);
	return note_selector(r, e);
}

static bool save_now(const struct run *r)
{
	const struct train_opts *o = &r->conf->train;

	return r->at.step >= o->steps ||
	       (o->save_every && r->at.step && r->at.step % o->save_every == 0);
}

static int loop(struct run *r, struct err *e)
{
	r->mark_ns = now_ns();
	for (;;) {
		if (r->at.eval_due) {
			bool saved = r->saved;

			if (evaluate(r, e) < 0)
				return e->code;
			r->stale = saved;
		}
		if ((r->stale || (!r->saved && save_now(r))) && save(r, e) < 0)
			return e->code;
		if (r->at.step >= r->conf->train.steps)
			return 0;
		if (stopped(r))
			return FAIL(e, ERR_STOP, "stopped");
		if (one_step(r, e) < 0)
			return e->code;
	}
}

int train_run(const struct train_setup *in, struct train_summary *ret, struct err *e)
{
	struct run r = { .in = in, .conf = in->conf };
	struct train_summary s;
	struct err own, later;
	int ok;

	e = e ? e : &own;
	r.a.limit = RUN_ARENA;
	r.step_mem.limit = RUN_ARENA;
	r.selector.max = MAX_STATE;
	r.env = (struct train_env){ .conf = in->conf, .tasks = &r.train, .stop = in->stop };
	ok = run_open(&r, e);
	if (ok == 0)
		ok = loop(&r, e);
	if (ok == ERR_STOP && r.env.sel) {
		if (save(&r, &later) < 0) {
			*e = later;
			ok = e->code;
		} else { /* by a signal, or because the judge broke down */
			ok = FAIL(e, ERR_STOP,
			          "%s after step %" PRId64
			          ", which is saved in %s: go on with --resume",
			          stopped(&r) ? "stopped" : e->msg, r.at.step, in->dir);
		}
	}
	run_close(&r);
	if (ok == 0)
		ok = train_summary_read(in->dir, in->conf->train.seed, r.k, r.n_k, &s, e);
	if (ok == 0)
		ok = train_summary_save(&s, in->dir, e);
	if (ok < 0)
		return ok;
	*ret = s;
	return 0;
}
