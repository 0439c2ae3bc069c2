/* conf.h - the configuration of one command: a tree of keys filled from files, environment and
 * flags, then bound to config structs by option tables.
 *
 *	AUTO_CONF c;
 *	conf_init(&c, "train", "cupel train RECIPE [--key=value ...]");
 *	conf_short(&c, "jobs", "judge.jobs");		--jobs is --judge.jobs
 *	conf_switch(&c, "resume");			--resume takes no word behind it
 *	conf_read(&c, argc, argv, e);			flags and --config files
 *	conf_file(&c, c.arg[0], e);			the recipe itself
 *	conf_bind(&c, "judge", judge_opts, &judge, e);	looks at CUPEL_... variables too
 *	conf_parts(&c, "reward", PART_TABLE(reward_table), "pass_all", use, MAX, &n, e);
 *	conf_end(&c, e);				unknown keys are errors
 *	if (conf_help_wanted(&c))
 *		return 0;
 *
 * Order: default < recipe < --config file(s) < environment < flag. Each value keeps its origin
 * ("recipe.yaml:3", "CUPEL_JUDGE_JOBS", "--judge.jobs", "default"). Types come from the option
 * tables, not from the guesses of YAML. `reward: pass_rate` and `--reward=pass_rate` mean
 * `reward.kind`; lists are `reward: [{kind: ...}, ...]` or --reward.0.kind=... and so on. A list
 * replaces a list of a lower source; a mapping is joined with it key by key. Where a higher source
 * names another kind, the options of the old kind are dropped. `none` is the name of no part at
 * all, where a part is optional.
 *
 * `--key word` gives word to key, unless the key turns out to be a switch (OPT_BOOL) and word is
 * not true or false: then binding the table puts word back into arg, in its place on the command
 * line. So arg is final for a command once the tables of its switches are bound, or at once if it
 * names them with conf_switch(). After conf_file() no word comes back: that is an error. A file
 * that is read after a table was bound fills its struct again.
 *
 * Unknown key, value out of range, key given twice in one file: an error with file, line and the
 * nearest known key. With --help the binding calls go on as usual (do not insist on arguments
 * before conf_end()), conf_end() prints the help text from what was bound to stdout, and
 * conf_help_wanted() is true. One owner.
 */
#ifndef BASE_CONF_H
#define BASE_CONF_H

#include "base/arena.h"
#include "base/err.h"
#include "base/jsonw.h"
#include "base/opt.h"
#include "base/part.h"

#include <stdbool.h>
#include <stdio.h>

struct conf_node;
struct conf_row;
struct conf_word;

enum { CONF_SHORTS = 16 };

struct conf {
	struct arena a;
	const char *command, *usage; /* usage: examples first, for --help */
	struct conf_node *root;
	int n_nodes, n_recipes, n_configs;
	struct conf_row *row, *row_end; /* every bound row with its effective value and origin */
	struct conf_word *words;        /* words behind flags: values, or arguments after all */
	const char *shorts[CONF_SHORTS][2];
	const char *switches[CONF_SHORTS];
	int n_shorts, n_switches;
	char **arg; /* what is no option, in order; ends with NULL */
	int *arg_at, n_args;
	bool help, json, verbose;
};

int conf_init(struct conf *c, const char *command, const char *usage);
void conf_done(struct conf *c);
#define AUTO_CONF __attribute__((cleanup(conf_done))) struct conf

/* Before conf_read(). -j and -o are --jobs and --out, and follow their short forms. */
void conf_short(struct conf *c, const char *flag, const char *key);

/* Before conf_read(): --flag is a switch and takes no word behind it. For commands whose arguments
 * are files to read before tables are bound.
 */
void conf_switch(struct conf *c, const char *flag);

/* argv[0] is the command. --key=value, --key value, --key (true for a switch), -j -o -v -h, "--"
 * ends options. --config FILE may be given several times.
 */
int conf_read(struct conf *c, int argc, char **argv, struct err *e);
int conf_file(struct conf *c, const char *path, struct err *e); /* a recipe: below --config files */
int conf_set(struct conf *c, const char *key, const char *value, const char *origin,
             struct err *e); /* as a flag would */

/* Fill *cfg: defaults first, then what the tree says below prefix ("" is the root). opts may be
 * NULL.
 */
int conf_bind(struct conf *c, const char *prefix, const struct opt *opts, void *cfg, struct err *e);

/* One chosen part of a family and its own options. */
struct conf_part {
	const struct part *part; /* cast to the struct of the family */
	void *cfg;               /* lives in the conf's arena; NULL if the part has no options */
	double weight; /* conf_parts(): key `weight`, 1 by default: for lists of rewards */
	char key[64];  /* "reward.1": bind further tables of the box under it */
};

/* The parts under key: a mapping with `kind`, a bare name, or a list of these. dflt NULL: none if
 * the key is absent. ret (max,).
 */
int conf_parts(struct conf *c, const char *key, const struct part *const *table, const char *dflt,
               struct conf_part *ret, int max, int *ret_n, struct err *e);
/* Exactly one. *ret_part->part NULL if absent and dflt is NULL. */
int conf_part(struct conf *c, const char *key, const struct part *const *table, const char *dflt,
              struct conf_part *ret_part, struct err *e);

bool conf_given(const struct conf *c, const char *key); /* by a file, the environment or a flag */

/* After all binding: help if asked for, else every key that nothing has read is an error. */
int conf_end(struct conf *c, struct err *e);
bool conf_help_wanted(const struct conf *c);

/* Effective values: text with origins (a valid config file), or {"key": {"value": ..., "origin":
 * ...}, ...}.
 */
void conf_show(const struct conf *c, FILE *f);
void conf_json(const struct conf *c, struct jsonw *w);
int conf_explain(const struct conf *c, const char *key, FILE *f, struct err *e);

#endif
