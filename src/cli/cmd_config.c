/* cmd_config.c - cupel config: what `cupel train` would run with, and where each value comes from.
 */
#include "cli/cli.h"
#include "train/train_conf.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
	"cupel config show|check [RECIPE ...] [--key=value ...]\n"
	"cupel config explain KEY [RECIPE ...] [--key=value ...]\n"
	"  cupel config show recipes/grpo.yaml --train.lr=1e-4\n"
	"  cupel config check recipes/grpo.yaml\n"
	"  cupel config explain judge.jobs\n\n"
	"show prints every value of the loop with its origin; the text is a config file itself.\n"
	"check says whether a recipe is one that cupel train would take.";

static int show(const struct conf *c)
{
	AUTO_BUF b = { .max = 1 << 20 };
	struct jsonw w = { &b };

	if (!c->json) {
		conf_show(c, stdout);
		return CMD_YES;
	}
	conf_json(c, &w);
	buf_putc(&b, '\n');
	return cli_put(&b);
}

static int check(const struct conf *c, const struct train_conf *t)
{
	struct err e;

	if (train_conf_check(t, &e) < 0)
		return cli_fail(c->command, &e);
	puts(c->json ? "{\"ok\":true}" : "ok");
	return CMD_YES;
}

static int explain(const struct conf *c, const char *key)
{
	struct err e;

	return conf_explain(c, key, stdout, &e) < 0 ? cli_fail(c->command, &e) : CMD_YES;
}

/* The words before the recipes: the sub-command, and the key of explain; 0: not understood. */
static int lead(const struct conf *c)
{
	const char *sub = c->n_args ? c->arg[0] : "";

	if (strcmp(sub, "show") == 0 || strcmp(sub, "check") == 0)
		return 1;
	return strcmp(sub, "explain") == 0 && c->n_args > 1 ? 2 : 0;
}

static int run(int argc, char **argv)
{
	struct train_conf t = { 0 };
	AUTO_CONF c;
	struct err e;
	int n;

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
	n = lead(&c);
	if (!n && !c.help)
		return cli_usage(argv[0], "say show, check or explain KEY");
	for (int i = n; i < c.n_args && !c.help; i++)
		if (conf_file(&c, c.arg[i], &e) < 0)
			return cli_fail(argv[0], &e);
	if (train_conf_bind(&c, &t, &e) < 0 || conf_end(&c, &e) < 0)
		return cli_fail(argv[0], &e);
	if (conf_help_wanted(&c))
		return CMD_YES;
	if (n == 2)
		return explain(&c, c.arg[1]);
	return strcmp(c.arg[0], "show") == 0 ? show(&c) : check(&c, &t);
}

const struct cmd cmd_config = {
	.name = "config",
	.doc = "the effective configuration, with the origin of each value",
	.source = "docs/recipes.md",
	.usage = usage,
	.run = run,
};
