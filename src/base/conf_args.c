/* conf_args.c - the command line: flags become nodes, the other words stay in arg. */
#include "base/conf_int.h"

#include <string.h>

/* --jobs -> judge.jobs */
static const char *long_form(const struct conf *c, const char *flag)
{
	for (int i = 0; i < c->n_shorts; i++)
		if (strcmp(c->shorts[i][0], flag) == 0)
			return c->shorts[i][1];
	return flag;
}

/* arg stays in the order of the command line. */
static void add_arg(struct conf *c, char *text, int at)
{
	int i = c->n_args++;

	for (; i > 0 && c->arg_at[i - 1] > at; i--) {
		c->arg[i] = c->arg[i - 1];
		c->arg_at[i] = c->arg_at[i - 1];
	}
	c->arg[i] = text;
	c->arg_at[i] = at;
	c->arg[c->n_args] = NULL;
}

void conf_word_return(struct conf *c, struct conf_word *w)
{
	w->is_arg = true;
	add_arg(c, w->text, w->at);
}

static int set_flag(struct conf *c, const char *flag, const char *value, const char *origin,
                    struct conf_node **ret, struct err *e)
{
	const char *own = arena_strdup(&c->a, origin);
	int r = own ? conf_node_make(c, c->root, long_form(c, flag), ret, e)
	            : FAIL(e, ERR_NOMEM, "configuration");

	return r < 0 ? r : conf_node_put(c, *ret, value, own, CONF_RANK_FLAG, e);
}

static bool is_switch(const struct conf *c, const char *flag)
{
	for (int i = 0; i < c->n_switches; i++)
		if (strcmp(long_form(c, c->switches[i]), long_form(c, flag)) == 0)
			return true;
	return false;
}

/* Can word i be the value of the flag before it? */
static bool is_word(int argc, char **argv, int i)
{
	const char *w = i < argc ? argv[i] : "--";

	if (w[0] != '-' || w[1] == 0)
		return true;
	return w[1] != '-' && !strchr("hvjo", w[1]); /* -1 is a number */
}

static int config_file(struct conf *c, const char *path, struct err *e)
{
	if (c->n_configs == 100)
		return FAIL(e, ERR_LIMIT, "more than 100 --config files");
	return conf_file_ranked(c, path, CONF_RANK_CONFIG + c->n_configs++, e);
}

/* --help, --json, --verbose; false: not one of them. */
static bool own_switch(struct conf *c, const char *name, const char *value)
{
	bool *at = strcmp(name, "help") == 0      ? &c->help
	           : strcmp(name, "json") == 0    ? &c->json
	           : strcmp(name, "verbose") == 0 ? &c->verbose
	                                          : NULL;
	if (!at)
		return false;
	*at = true;
	return !value || opt_to_bool(value, at);
}

/* --name=value or --name [word]; *i moves over the word. */
static int long_flag(struct conf *c, int argc, char **argv, int *i, struct err *e)
{
	const char *arg = argv[*i], *eq = strchr(arg, '='), *value = eq ? eq + 1 : NULL;
	size_t n = eq ? (size_t)(eq - arg) : strlen(arg);
	struct conf_word *w = NULL;
	struct conf_node *node;
	char flag[CONF_KEY];
	bool yes;
	int r;

	if (n >= sizeof flag)
		return FAIL(e, ERR_PARSE, "option name is too long: %.40s...", arg);
	memcpy(flag, arg, n);
	flag[n] = 0;
	if (own_switch(c, flag + 2, value))
		return 0;
	if (!value && is_word(argc, argv, *i + 1) &&
	    (!is_switch(c, flag + 2) || opt_to_bool(argv[*i + 1], &yes))) {
		w = arena_new(&c->a, struct conf_word, 1);
		if (!w)
			return FAIL(e, ERR_NOMEM, "configuration");
		value = argv[++*i];
		*w = (struct conf_word){ .next = c->words, .text = argv[*i], .at = *i };
	}
	if (strcmp(flag, "--config") == 0)
		return value ? config_file(c, value, e)
		             : FAIL(e, ERR_PARSE, "--config needs a file");
	r = set_flag(c, flag + 2, value ? value : "true", flag, &node, e);
	if (r == 0 && w) {
		w->node = node;
		c->words = w;
	}
	return r;
}

/* -h -v -jN -j N -oFILE -o FILE */
static int short_flag(struct conf *c, int argc, char **argv, int *i, struct err *e)
{
	const char *arg = argv[*i], *name = arg[1] == 'j' ? "jobs" : arg[1] == 'o' ? "out" : NULL;
	char origin[3] = { '-', arg[1], 0 };
	struct conf_node *node;

	if (strcmp(arg, "-h") == 0 || strcmp(arg, "-v") == 0) {
		*(arg[1] == 'h' ? &c->help : &c->verbose) = true;
		return 0;
	}
	if (!name)
		return FAIL(e, ERR_PARSE, "unknown option '%s'", arg);
	if (!arg[2] && !is_word(argc, argv, *i + 1))
		return FAIL(e, ERR_PARSE, "%s needs a value", arg);
	return set_flag(c, name, arg[2] ? arg + 2 : argv[++*i], origin, &node, e);
}

int conf_read(struct conf *c, int argc, char **argv, struct err *e)
{
	bool words_only = false;
	int r = 0;

	c->arg = arena_new(&c->a, char *, argc + 1);
	c->arg_at = arena_new(&c->a, int, argc + 1);
	if (!c->arg || !c->arg_at)
		return FAIL(e, ERR_NOMEM, "configuration");
	for (int i = 1; i < argc && r == 0; i++) {
		if (words_only || argv[i][0] != '-' || !argv[i][1])
			add_arg(c, argv[i], i);
		else if (strcmp(argv[i], "--") == 0)
			words_only = true;
		else if (argv[i][1] == '-')
			r = long_flag(c, argc, argv, &i, e);
		else
			r = short_flag(c, argc, argv, &i, e);
	}
	return r;
}
