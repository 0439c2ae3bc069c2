/* cmd_data.c - cupel data SUB: task sets. */
#include "cli/cli.h"
#include "cli/data_cmds.h"

#include <string.h>

static const char usage[] =
	"cupel data synth|show|validate ...\n"
	"  cupel data synth --family micro --out data/micro      make task sets\n"
	"  cupel data show data/micro/test.jsonl                 print tasks for people\n"
	"  cupel data validate data/micro/test.jsonl             judge the reference solutions\n\n"
	"cupel data SUB --help says more.";

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} subs[] = { { "synth", data_synth }, { "show", data_show }, { "validate", data_validate } };

static int help(int argc, char **argv)
{
	AUTO_CONF c;
	struct err e;

	if (conf_init(&c, argv[0], usage) < 0)
		return CMD_BROKEN;
	if (conf_read(&c, argc, argv, &e) < 0 || conf_end(&c, &e) < 0)
		return cli_fail(argv[0], &e);
	if (conf_help_wanted(&c))
		return CMD_YES;
	if (c.n_args)
		return cli_usage(argv[0], "no sub-command '%s'", c.arg[0]);
	return cli_usage(argv[0], "say synth, show or validate");
}

static int run(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof subs / sizeof *subs; i++)
		if (strcmp(argv[1], subs[i].name) == 0)
			return subs[i].run(argc - 1, argv + 1);
	return help(argc, argv);
}

const struct cmd cmd_data = {
	.name = "data",
	.doc = "make, print and validate task sets",
	.source = "docs/data.md",
	.usage = usage,
	.run = run,
};
