/* conf.c - the configuration of a command: life, files, and binding of option tables. */
#include "base/conf.h"

#include "base/conf_int.h"
#include "base/io.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TREE_BYTES = 8 << 20, FILE_BYTES = 1 << 20 };

int conf_init(struct conf *c, const char *command, const char *usage)
{
	*c = (struct conf){ .command = command, .usage = usage };
	c->a.limit = TREE_BYTES;
	c->root = arena_new(&c->a, struct conf_node, 1);
	c->arg = arena_new(&c->a, char *, 1);
	if (!c->root || !c->arg)
		return ERR_NOMEM;
	c->root->name = "";
	return 0;
}

void conf_done(struct conf *c)
{
	arena_done(&c->a);
	c->root = NULL;
}

void conf_short(struct conf *c, const char *flag, const char *key)
{
	assert(c->n_shorts < CONF_SHORTS);
	c->shorts[c->n_shorts][0] = flag;
	c->shorts[c->n_shorts++][1] = key;
}

void conf_switch(struct conf *c, const char *flag)
{
	assert(c->n_switches < CONF_SHORTS);
	c->switches[c->n_switches++] = flag;
}

static int fill_row(struct conf *c, struct conf_row *row, struct err *e);

int conf_file_ranked(struct conf *c, const char *path, int rank, struct err *e)
{
	AUTO_BUF text = { .max = FILE_BYTES };
	bool is_stdin = strcmp(path, "-") == 0;
	struct err why = { 0 };
	int r = io_load(is_stdin ? "/dev/stdin" : path, &text, &why);

	if (r < 0 && (why.sys == ENOENT || why.sys == EISDIR || why.sys == ENOTDIR))
		return FAIL(e, ERR_NOENT, "%s: %s", path, strerror(why.sys));
	if (r < 0)
		return FAIL(e, r, "%s", why.msg);
	return conf_yaml_load(c, buf_str(&text), is_stdin ? "stdin" : path, rank, e);
}

int conf_file(struct conf *c, const char *path, struct err *e)
{
	int rank = CONF_RANK_RECIPE + c->n_recipes++, r;

	if (rank >= CONF_RANK_CONFIG)
		return FAIL(e, ERR_LIMIT, "more than %d files", CONF_RANK_CONFIG);
	r = conf_file_ranked(c, path, rank, e);
	for (struct conf_row *row = c->row; r == 0 && row; row = row->next)
		if (row->opt)
			r = fill_row(c, row, e);
	return r;
}

int conf_set(struct conf *c, const char *key, const char *value, const char *origin, struct err *e)
{
	struct conf_node *n;
	const char *own = arena_strdup(&c->a, origin);
	int r = own ? conf_node_make(c, c->root, key, &n, e) : FAIL(e, ERR_NOMEM, "configuration");

	return r < 0 ? r : conf_node_put(c, n, value, own, CONF_RANK_FLAG, e);
}

bool conf_given(const struct conf *c, const char *key)
{
	const struct conf_node *n = conf_node_find(c, key);
	char name[CONF_KEY + 8];

	if (getenv(conf_env_name(key, name, sizeof name)))
		return true;
	return n && conf_node_top(n) > 0;
}

struct conf_row *conf_row_find(const struct conf *c, const char *key)
{
	struct conf_row *row = c->row;

	while (row && strcmp(row->key, key))
		row = row->next;
	return row;
}

int conf_row_add(struct conf *c, const struct conf_row *row, struct conf_row **ret, struct err *e)
{
	struct conf_row *x = arena_new(&c->a, struct conf_row, 1);

	if (!x)
		return FAIL(e, ERR_NOMEM, "configuration");
	*x = *row;
	x->next = NULL;
	*(c->row_end ? &c->row_end->next : &c->row) = x;
	c->row_end = x;
	*ret = x;
	return 0;
}

/* [1, 8] in a file is the text "1,8" where a row wants text. */
static int join_list(struct conf *c, struct conf_node *n, struct err *e)
{
	AUTO_BUF b = { .max = 4096 };
	struct conf_node *x;
	char number[16];
	int i = 0;

	for (; (void)snprintf(number, sizeof number, "%d", i), (x = conf_node_child(n, number));
	     i++) {
		if (!x->value || x->child)
			return FAIL(e, ERR_PARSE, "a list of texts is wanted");
		buf_puts(&b, i ? "," : "");
		buf_puts(&b, x->value);
		x->used = true;
	}
	if (buf_check(&b, "list", e) < 0)
		return b.failed;
	n->used = true;
	n->is_list = false;
	return conf_node_put(c, n, buf_cstr(&b), n->list_origin, n->list_rank, e);
}

/* A value from a file is blamed as "r.yaml:2: judge.jobs", any other by what the user wrote. */
static int put(struct conf *c, struct conf_row *row, const struct conf_node *n, struct err *e)
{
	bool is_file = n->rank < CONF_RANK_ENV;
	int r = opt_set(row->opt, row->cfg, is_file ? row->key : n->origin, n->value, &c->a, e);

	if (r < 0)
		return is_file ? err_wrap(e, "%s", n->origin) : r;
	row->value = n->value;
	row->origin = n->origin;
	return 0;
}

/* `--key word` of a switch: word was an argument, and the switch is true. */
static int settle_words(struct conf *c, struct conf_node *n, struct err *e)
{
	bool yes;
	int r = 0;

	for (struct conf_word *w = c->words; w && r == 0; w = w->next) {
		if (w->node != n || w->is_arg || opt_to_bool(w->text, &yes))
			continue;
		if (c->n_recipes)
			return FAIL(e, ERR_PARSE, "%s is a switch: '%s' behind it needs %s=true",
			            n->origin, w->text, n->origin);
		conf_word_return(c, w);
		if (n->rank == CONF_RANK_FLAG && strcmp(n->value, w->text) == 0)
			r = conf_node_put(c, n, "true", n->origin, CONF_RANK_FLAG, e);
	}
	return r;
}

static int fill_row(struct conf *c, struct conf_row *row, struct err *e)
{
	struct conf_node *n;
	int r = conf_env_put(c, row->key, e);

	n = conf_node_find(c, row->key);
	if (r == 0 && n && n->is_list && (!n->value || n->list_rank > n->rank)) {
		r = row->opt->type == OPT_STR ? join_list(c, n, e)
		                              : FAIL(e, ERR_PARSE, "%s is not a list", row->key);
		if (r < 0)
			return err_wrap(e, "%s", n->list_origin);
	}
	if (r == 0 && n && n->value && row->opt->type == OPT_BOOL)
		r = settle_words(c, n, e);
	if (r < 0 || !n || !n->value)
		return r;
	n->used = true;
	return put(c, row, n, e);
}

static int bind_row(struct conf *c, const char *prefix, const struct opt *o, void *cfg,
                    struct err *e)
{
	struct conf_row row = { .value = o->dflt, .origin = "default", .opt = o, .cfg = cfg };
	struct conf_row *own;
	int r;

	row.key = arena_printf(&c->a, "%s%s%s", prefix, *prefix ? "." : "", o->key);
	if (!row.key || strlen(row.key) >= CONF_KEY)
		return FAIL(e, ERR_NOMEM, "configuration");
	r = opt_set(o, cfg, row.key, o->dflt, &c->a, e);
	if (r == 0)
		r = conf_row_add(c, &row, &own, e);
	return r < 0 ? r : fill_row(c, own, e);
}

int conf_bind(struct conf *c, const char *prefix, const struct opt *opts, void *cfg, struct err *e)
{
	int r = 0;

	for (const struct opt *o = opts; r == 0 && o && o->key; o++)
		r = bind_row(c, prefix, o, cfg, e);
	return r;
}

bool conf_help_wanted(const struct conf *c)
{
	return c->help;
}

/* The first key below n that nothing has read, unless it belongs to a kind that was replaced. */
static const struct conf_node *unread(const struct conf_node *n, int stale)
{
	stale = n->stale_below > stale ? n->stale_below : stale;
	if (n->value && !n->used && n->rank >= stale)
		return n;
	if (n->is_list && !n->used && n->list_rank >= stale && !n->child)
		return n;
	for (const struct conf_node *x = n->child; x; x = x->next) {
		const struct conf_node *bad = unread(x, stale);

		if (bad)
			return bad;
	}
	return NULL;
}

int conf_end(struct conf *c, struct err *e)
{
	const struct conf_node *bad;
	char key[CONF_KEY];

	if (c->help) {
		conf_help(c, stdout);
		return 0;
	}
	bad = unread(c->root, 0);
	if (!bad)
		return 0;
	conf_node_key(bad, key, sizeof key);
	return conf_unknown(c, key, bad->value ? bad->origin : bad->list_origin, e);
}
