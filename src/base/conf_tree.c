/* conf_tree.c - the tree of keys: what files, environment and flags say, joined by rank. */
#include "base/conf_int.h"

#include <stdlib.h>
#include <string.h>

struct conf_node *conf_node_child(const struct conf_node *n, const char *name)
{
	struct conf_node *x = n->child;

	while (x && strcmp(x->name, name))
		x = x->next;
	return x;
}

static int add_child(struct conf *c, struct conf_node *n, const char *name, struct conf_node **ret,
                     struct err *e)
{
	struct conf_node *x, **at = &n->child;

	if (c->n_nodes == CONF_NODES)
		return FAIL(e, ERR_LIMIT, "more than %d keys", CONF_NODES);
	x = arena_new(&c->a, struct conf_node, 1);
	if (!x || !(x->name = arena_strdup(&c->a, name)))
		return FAIL(e, ERR_NOMEM, "configuration");
	c->n_nodes++;
	x->parent = n;
	while (*at)
		at = &(*at)->next;
	*at = x;
	*ret = x;
	return 0;
}

/* Take "judge" from "judge.jobs"; false at the end or where a word is empty or too long. */
static bool next_word(const char **rest, char *buf, size_t size)
{
	size_t n = strcspn(*rest, ".");

	if (n == 0 || n >= size)
		return false;
	memcpy(buf, *rest, n);
	buf[n] = 0;
	*rest += n;
	if (**rest == '.' && (*rest)[1])
		++*rest;
	return true;
}

static bool well_formed(const char *key)
{
	size_t n = strlen(key);

	return n && n < CONF_KEY && key[0] != '.' && key[n - 1] != '.' && !strstr(key, "..");
}

int conf_node_make(struct conf *c, struct conf_node *from, const char *key, struct conf_node **ret,
                   struct err *e)
{
	const char *rest = key;
	char word[CONF_KEY];
	int levels = 0;

	if (!well_formed(key))
		return FAIL(e, ERR_PARSE, "'%.60s' is no key", key);
	for (struct conf_node *p = from; p; p = p->parent)
		levels++;
	while (*rest && next_word(&rest, word, sizeof word)) {
		struct conf_node *x = conf_node_child(from, word);
		int r = 0;

		if (++levels > CONF_LEVELS)
			return FAIL(e, ERR_LIMIT, "more than %d levels", CONF_LEVELS);
		if (!x)
			r = add_child(c, from, word, &x, e);
		if (r < 0)
			return r;
		from = x;
	}
	*ret = from;
	return 0;
}

struct conf_node *conf_node_find(const struct conf *c, const char *key)
{
	struct conf_node *n = c->root;
	char word[CONF_KEY];

	while (n && *key && next_word(&key, word, sizeof word))
		n = conf_node_child(n, word);
	return *key ? NULL : n;
}

void conf_node_key(const struct conf_node *n, char *buf, size_t size)
{
	const struct conf_node *path[CONF_LEVELS + 1];
	int depth = 0;
	size_t at = 0;

	for (; n->parent && depth < CONF_LEVELS; n = n->parent)
		path[depth++] = n;
	*buf = 0;
	while (depth-- && at < size) {
		int k = snprintf(buf + at, size - at, "%s%s", at ? "." : "", path[depth]->name);

		at += k > 0 ? (size_t)k : 0;
	}
}

int conf_node_put(struct conf *c, struct conf_node *n, const char *value, const char *origin,
                  int rank, struct err *e)
{
	const char *own;

	if (n->value && n->rank > rank) {
		if (strcmp(n->value, value) && n->parent)
			n->stale_below = n->rank;
		return 0;
	}
	own = arena_strdup(&c->a, value);
	if (!own)
		return FAIL(e, ERR_NOMEM, "configuration");
	if (n->value && strcmp(n->value, value))
		n->stale_below = rank;
	n->value = own;
	n->origin = origin;
	n->rank = rank;
	return 0;
}

void conf_node_drop(struct conf_node *n, int rank)
{
	for (struct conf_node *x = n->child; x; x = x->next) {
		if (x->rank < rank)
			x->value = NULL;
		if (x->list_rank < rank)
			x->is_list = false;
		conf_node_drop(x, rank);
	}
}

int conf_node_top(const struct conf_node *n)
{
	int top = n->value ? n->rank : 0;

	if (n->is_list && n->list_rank > top)
		top = n->list_rank;
	for (const struct conf_node *x = n->child; x; x = x->next) {
		int below = conf_node_top(x);

		top = below > top ? below : top;
	}
	return top;
}

const char *conf_env_name(const char *key, char *buf, size_t size)
{
	int n = snprintf(buf, size, "CUPEL_%s", key);

	for (char *p = buf + 6; n >= 6 && *p; p++)
		if (*p == '.' || *p == '-')
			*p = '_';
		else if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	return buf;
}

int conf_env_put(struct conf *c, const char *key, struct err *e)
{
	char name[CONF_KEY + 8];
	const char *value = getenv(conf_env_name(key, name, sizeof name)), *origin;
	struct conf_node *n;
	int r;

	if (!value)
		return 0;
	origin = arena_strdup(&c->a, name);
	if (!origin)
		return FAIL(e, ERR_NOMEM, "configuration");
	r = conf_node_make(c, c->root, key, &n, e);
	return r < 0 ? r : conf_node_put(c, n, value, origin, CONF_RANK_ENV, e);
}
