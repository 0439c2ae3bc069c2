/* cmd_train.c - cupel train RECIPE: the RL loop. */
#include <string.h>

#include "base/log.h"
#include "cli/cli.h"
#include "train/train.h"

static const char usage[] =
	"cupel train RECIPE [--key=value ...]\n"
	"\n"
	"  cupel train recipes/demo.yaml                       into runs/demo\n"
	"  cupel train recipes/demo.yaml --seed=2 --out=runs/two --train.lr=3e-4\n"
	"  cupel train recipes/demo.yaml --resume              go on where it was stopped\n"
	"\n"
	"Samples answers, runs them in boxes, and trains the policy on what they earned.\n"
	"The last lines on stdout are a table; RUN/summary.json holds the same figures.";

/* runs/NAME of recipes/NAME.yaml */
static const char *default_dir(struct conf *c)
{
	const char *recipe = c->n_args ? c->arg[0] : "train", *slash = strrchr(recipe, '/');
	const char *name = slash ? slash + 1 : recipe;
	size_t n = strcspn(name, ".");

	return arena_printf(&c->a, "runs/%.*s", n ? (int)n : 5, n ? name : "train");
}

static int put(const struct conf *c, const struct train_summary *s, const char *dir)
{
	AUTO_BUF b = { .max = 1 << 16 };
	struct err e;

	if (!c->json)
		train_summary_text(s, dir, &b);
	else if (train_summary_json(s, &b, &e) < 0)
		return cli_fail(c->command, &e);
	return cli_put(&b);
}

static int train(struct conf *c, const struct train_conf *t)
{
	AUTO_BUF config = { .max = 1 << 22 };
	struct jsonw w = { &config, false };
	struct train_setup in = { .conf = t, .stop = &cli_stop };
	struct train_summary s;
	struct err e;

	in.dir = *t->train.out ? t->train.out : default_dir(c);
	conf_json(c, &w);
	in.config = buf_str(&config);
	if (!in.dir)
		return cli_usage(c->command, "too many options");
	if (buf_check(&config, "configuration", &e) < 0 ||
	    train_conf_identity(c, &c->a, &in.identity, &e) < 0)
		return cli_fail(c->command, &e);
	cli_signals();
	if (train_run(&in, &s, &e) < 0)
		return cli_fail(c->command, &e);
	return put(c, &s, in.dir);
}

static int run(int argc, char **argv)
{
	struct train_conf t;
	AUTO_CONF c;
	struct err e;

	if (conf_init(&c, argv[0], usage) < 0)
		return CMD_BROKEN;
	conf_short(&c, "policy", "policy.load");
	conf_short(&c, "tasks", "tasks.train");
	conf_short(&c, "out", "train.out");
	conf_short(&c, "jobs", "judge.jobs");
	conf_short(&c, "isolation", "box.isolation");
	conf_short(&c, "seed", "train.seed");
	conf_short(&c, "steps", "train.steps");
	conf_short(&c, "resume", "train.resume");
	conf_switch(&c, "resume");
	if (conf_read(&c, argc, argv, &e) < 0)
		return cli_fail(argv[0], &e);
	for (int i = 0; i < c.n_args && !c.help; i++)
		if (conf_file(&c, c.arg[i], &e) < 0)
			return cli_fail(argv[0], &e);
	if (train_conf_bind(&c, &t, &e) < 0 || conf_end(&c, &e) < 0)
		return cli_fail(argv[0], &e);
	if (conf_help_wanted(&c))
		return CMD_YES;
	log_setup(c.verbose ? LOG_DEBUG : LOG_INFO, false);
	return train(&c, &t);
}

const struct cmd cmd_train = {
	.name = "train",
	.doc = "the RL loop: sample, judge, reward, update",
	.source = "docs/recipes.md",
	.usage = usage,
	.run = run,
};
