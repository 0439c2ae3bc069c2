/* conf.h - the configuration of one command: a tree of keys filled from files, environment and
 * flags, then bound to config structs by option tables.
 *
 *	struct conf c;
 *	conf_init(&c, "train", "cupel train RECIPE [--key=value ...]");
 *	conf_short(&c, "jobs", "judge.jobs");		--jobs is --judge.jobs
 *	conf_read(&c, argc, argv, e);			flags, --config files, CUPEL_... variables
 *	conf_file(&c, "recipe.yaml", e);		the recipe itself
 *	conf_bind(&c, "judge", judge_opts, &judge_cfg, e);
 *	conf_parts(&c, "reward", PART_TABLE(reward_table), "pass_all", use, MAX, &n, e);
 *	conf_end(&c, e);				unknown keys are errors
 *
 * Order: default < file(s) < environment < flag. Each value keeps its origin ("recipe.yaml:3",
 * "CUPEL_JUDGE_JOBS", "--judge.jobs", "default"). Types come from the option tables, not from the
 * guesses of YAML. `reward: pass_rate` and `--reward=pass_rate` mean `reward.kind`; lists are
 * `reward: [{kind: ...}, ...]` or --reward.0.kind=..., --reward.1.weight=....
 *
 * Unknown key, value out of range, key given twice in one file: an error with file, line and the
 * nearest known key. After --help the binding calls go on as usual, conf_end() prints the help
 * text from what was bound, and conf_help_wanted() is true. One owner.
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

struct conf {
	struct arena a;
	const char *command, *usage; /* usage: examples first, for --help */
	struct conf_node *root;
	struct conf_row *row, *row_end; /* every bound row with its effective value and origin */
	const char *shorts[16][2];
	int n_shorts;
	char **arg; /* what is no option, in order */
	int n_args;
	bool help, json, verbose;
	bool deferred; /* errors of unknown keys wait for conf_end() */
};

int conf_init(struct conf *c, const char *command, const char *usage);
void conf_done(struct conf *c);
#define AUTO_CONF __attribute__((cleanup(conf_done))) struct conf

void conf_short(struct conf *c, const char *flag, const char *key);

/* argv[0] is the command. --key=value, --key value, --key (true for a switch), -j -o -v -h, "--"
 * ends options. --config FILE may be given several times.
 */
int conf_read(struct conf *c, int argc, char **argv, struct err *e);
int conf_file(struct conf *c, const char *path, struct err *e); /* a recipe: below --config files */
int conf_set(struct conf *c, const char *key, const char *value, const char *origin,
             struct err *e); /* as a flag would */

/* Fill *cfg: defaults first, then what the tree says below prefix ("" is the root). */
int conf_bind(struct conf *c, const char *prefix, const struct opt *opts, void *cfg, struct err *e);

/* One chosen part of a family and its own options. */
struct conf_part {
	const struct part *part; /* cast to the struct of the family */
	void *cfg;               /* lives in the conf's arena; NULL if the part has no options */
	double weight;           /* key `weight`, 1 by default: for lists of rewards */
	char key[64];            /* "reward.1": bind further tables of the box under it */
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

/* Effective values: text with origins, or {"key": {"value": ..., "origin": ...}, ...}. */
void conf_show(const struct conf *c, FILE *f);
void conf_json(const struct conf *c, struct jsonw *w);
int conf_explain(const struct conf *c, const char *key, FILE *f, struct err *e);

#endif
