/* conf_int.h - what the files of conf share: the tree of keys and the rows bound to it. */
#ifndef BASE_CONF_INT_H
#define BASE_CONF_INT_H

#include "base/conf.h"

/* Where a value comes from; the higher one counts. Each file has its own rank. */
enum {
	CONF_RANK_RECIPE = 1,
	CONF_RANK_CONFIG = 1000,
	CONF_RANK_ENV = 1000000,
	CONF_RANK_FLAG,
};

enum { CONF_NODES = 4096, CONF_LEVELS = 12, CONF_KEY = 160 };

/* One key. A node may have a value and children at the same time: `reward: pass_rate` in a recipe
 * and --reward.floor=0.4. Elements of a list are children called 0, 1, ....
 */
struct conf_node {
	const char *name; /* within its parent */
	struct conf_node *parent, *child, *next;
	const char *value, *origin; /* value NULL: none */
	int rank;                   /* of the value */
	bool is_list;
	const char *list_origin;
	int list_rank;
	int file_rank;   /* the file that wrote this key last: twice is an error */
	bool used;       /* something has read the value or the list */
	int stale_below; /* what is below with a lower rank belonged to another kind: dropped */
};

/* A bound row: of a table (opt), or the kind of a part (table). */
struct conf_row {
	struct conf_row *next;
	const char *key, *value, *origin;
	const struct opt *opt;
	void *cfg;
	const struct part *const *table;
	bool optional; /* a part that may be `none` */
};

/* `--key word`: see conf.h. */
struct conf_word {
	struct conf_word *next;
	struct conf_node *node;
	char *text;
	int at; /* index in argv */
	bool is_arg;
};

/* conf_tree.c */
int conf_node_make(struct conf *c, struct conf_node *from, const char *key, struct conf_node **ret,
                   struct err *e);
struct conf_node *conf_node_find(const struct conf *c, const char *key); /* NULL: none */
struct conf_node *conf_node_child(const struct conf_node *n, const char *name);
void conf_node_key(const struct conf_node *n, char *buf, size_t size);
int conf_node_put(struct conf *c, struct conf_node *n, const char *value, const char *origin,
                  int rank, struct err *e);
void conf_node_drop(struct conf_node *n, int rank); /* values below n of a rank lower than this */
int conf_node_top(const struct conf_node *n);       /* highest rank of n and all below, 0: none */
const char *conf_env_name(const char *key, char *buf, size_t size);
int conf_env_put(struct conf *c, const char *key, struct err *e); /* the variable of key, if set */

/* conf_yaml.c */
int conf_yaml_load(struct conf *c, struct str text, const char *name, int rank, struct err *e);

/* conf.c */
int conf_file_ranked(struct conf *c, const char *path, int rank, struct err *e);
int conf_row_add(struct conf *c, const struct conf_row *row, struct conf_row **ret, struct err *e);
struct conf_row *conf_row_find(const struct conf *c, const char *key);

/* conf_args.c */
void conf_word_return(struct conf *c, struct conf_word *w); /* an argument after all */

/* conf_near.c */
int conf_unknown(const struct conf *c, const char *key, const char *origin, struct err *e);

/* conf_show.c */
void conf_help(const struct conf *c, FILE *f);

#endif
