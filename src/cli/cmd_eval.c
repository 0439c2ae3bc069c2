/* cmd_eval.c - cupel eval: pass@k of a policy on a task set. */
#include <math.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "train/train_conf.h"
#include "train/train_run.h"

static const char usage[] =
	"cupel eval --policy DIR --tasks FILE [--n=16] [--k=1,8] [--greedy] [--json]\n"
	"\n"
	"  cupel eval --policy runs/sft/checkpoint --tasks data/micro/test.jsonl --n 16 --k 1,8\n"
	"  cupel eval --policy runs/demo/checkpoint --tasks test.jsonl --greedy --json\n"
	"\n"
	"pass@k is the unbiased estimate from n answers for each task, averaged over tasks; the\n"
	"interval is 95 %, by the normal approximation over tasks. Answers that could not be "
	"judged\n"
	"are left out and counted.";

enum { MAX_LINE = 64 << 20 };

/* One owner: eval(). */
struct job {
	const struct train_conf *conf;
	struct tasks tasks;
	struct pool *pool;
	struct policy *policy;
	struct judge *judge;
	struct cli_progress bar;
};

static int job_open(struct job *j, struct err *e)
{
	const struct train_conf *t = j->conf;
	const char *format = *t->tasks.format ? t->tasks.format : NULL;
	int k[EVAL_MAX_K], n_k;

	if (!*t->policy.load)
		return FAIL(e, ERR_RANGE, "--policy is not set: name a checkpoint directory");
	if (!*t->tasks.eval)
		return FAIL(e, ERR_RANGE, "--tasks is not set: name a JSONL file of tasks");
	if (eval_parse_k(&t->eval, k, &n_k, e) < 0 ||
	    tasks_open(t->tasks.eval, format, MAX_LINE, &j->tasks, e) < 0 ||
	    train_pool(t->train.threads, &j->pool, e) < 0 ||
	    policy_load(t->policy.load, j->pool, (int)t->rollout.batch + 1, &j->policy, e) < 0)
		return e->code;
	if (j->tasks.n == 0)
		return FAIL(e, ERR_PARSE, "%s holds no tasks", t->tasks.eval);
	return judge_open(&t->judge, &j->judge, e);
}

static void job_close(struct job *j)
{
	if (j->judge)
		judge_close(j->judge);
	policy_free(j->policy);
	pool_free(j->pool);
	tasks_done(&j->tasks);
}

static void progress(void *arg, int done, int total)
{
	struct job *j = arg;

	j->bar.total = total;
	cli_progress(&j->bar, done, NULL);
}

static void text(const struct eval_result *r, struct buf *b)
{
	double gen_s = (double)r->st.generate_ns / NS_PER_S;

	for (int i = 0; i < r->n_k; i++) {
		buf_putf(b, "pass@%-3d %6.2f %%", r->k[i], 100 * r->pass[i].mean);
		if (!isnan(r->pass[i].low))
			buf_putf(b, "  [%.2f, %.2f]", 100 * r->pass[i].low, 100 * r->pass[i].high);
		buf_putf(b, "  %d tasks\n", r->pass[i].n_tasks);
	}
	buf_putf(b, "answers  %lld of %d tasks, %.1f tokens each, entropy %.3f\n",
	         (long long)r->n_samples, r->n_tasks, r->mean_length, r->entropy);
	for (int v = 0; v <= VERDICT_JUDGE_ERROR; v++)
		if (r->by_verdict[v])
			buf_putf(b, "  %-18s %lld%s\n", verdict_text(v),
			         (long long)r->by_verdict[v],
			         v == VERDICT_JUDGE_ERROR ? " (left out)" : "");
	if (r->n_truncated)
		buf_putf(b, "  %-18s %lld (cut off at rollout.max_tokens)\n", "truncated",
		         (long long)r->n_truncated);
	buf_putf(b, "time     %.1f s, %.0f tokens/s\n", (double)r->wall_ns / NS_PER_S,
	         gen_s > 0 ? (double)r->st.sampled_tokens / gen_s : 0);
}

static int eval(const struct conf *c, const struct train_conf *t)
{
	struct job j = { .conf = t };
	struct eval_env env = { .rollout = t->rollout_fn,
		                .rollout_cfg = t->rollout_cfg,
		                .cfg = &t->rollout,
		                .seed = (uint64_t)t->train.seed,
		                .stop = &cli_stop,
		                .progress = progress,
		                .arg = &j };
	AUTO_BUF b = { .max = 1 << 20 };
	struct jsonw w = { &b, false };
	struct eval_result r;
	struct err e;
	int ok;

	cli_signals();
	cli_progress_init(&j.bar, "eval", "tasks", 0);
	ok = job_open(&j, &e);
	env.policy = j.policy;
	env.judge = j.judge;
	if (ok == 0)
		ok = eval_run(&env, &t->eval, &j.tasks, &r, &e);
	cli_progress_end(&j.bar);
	job_close(&j);
	if (ok < 0)
		return cli_fail(c->command, &e);
	if (c->json) {
		eval_json(&r, &t->eval, &w);
		buf_putc(&b, '\n');
	} else {
		text(&r, &b);
	}
	return cli_put(&b);
}

static int run(int argc, char **argv)
{
	struct train_conf t;
	AUTO_CONF c;
	struct err e;

	if (conf_init(&c, argv[0], usage) < 0)
		return CMD_BROKEN;
	conf_short(&c, "policy", "policy.load");
	conf_short(&c, "tasks", "tasks.eval");
	conf_short(&c, "n", "eval.n");
	conf_short(&c, "k", "eval.k");
	conf_short(&c, "greedy", "eval.greedy");
	conf_short(&c, "jobs", "judge.jobs");
	conf_short(&c, "isolation", "box.isolation");
	conf_short(&c, "seed", "train.seed");
	if (conf_read(&c, argc, argv, &e) < 0 || train_conf_bind_eval(&c, &t, &e) < 0 ||
	    conf_end(&c, &e) < 0)
		return cli_fail(argv[0], &e);
	if (conf_help_wanted(&c))
		return CMD_YES;
	if (c.n_args)
		return cli_usage(argv[0], "takes no argument: %s", c.arg[0]);
	return eval(&c, &t);
}

const struct cmd cmd_eval = {
	.name = "eval",
	.doc = "pass@k of a policy on a task set",
	.source = "docs/recipes.md",
	.usage = usage,
	.run = run,
};
