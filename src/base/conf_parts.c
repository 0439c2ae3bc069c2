/* conf_parts.c - the parts of a recipe: `reward: pass_rate`, `reward: {kind: pass_rate, ...}` or a
 * list of these.
 */
#include "base/conf_int.h"

#include <stdalign.h>
#include <string.h>

struct choice {
	const char *name, *origin; /* name NULL: the default */
	int rank;
	struct conf_node *node; /* the one that says so */
};

/* What the mapping or the bare name at n says about the kind. */
static struct choice kind_of(struct conf_node *n)
{
	struct conf_node *k = n ? conf_node_child(n, "kind") : NULL;
	struct choice ret = { 0 };

	if (n && n->value)
		ret = (struct choice){ n->value, n->origin, n->rank, n };
	if (k && k->value && k->rank >= ret.rank)
		ret = (struct choice){ k->value, k->origin, k->rank, k };
	if (!ret.name)
		return ret;
	/* Another kind of a lower source was replaced, and its options with it. */
	if (k && k->value && n->value && strcmp(k->value, n->value))
		n->stale_below = ret.rank;
	if (k && k->stale_below > n->stale_below)
		n->stale_below = k->stale_below;
	n->used = true;
	if (k)
		k->used = true;
	return ret;
}

static int unknown_kind(const struct conf_row *row, const struct choice *ch, struct err *e)
{
	char all[160] = "";
	int r;

	for (int i = 0; row->table[i]; i++) {
		size_t n = strlen(all);

		(void)snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", row->table[i]->name);
	}
	r = FAIL(e, ERR_RANGE, "%s: '%s' is none of: %s", row->key, row->value, all);
	return ch->name ? err_wrap(e, "%s", ch->origin) : r;
}

/* The options of the part at p->key. */
static int bind_options(struct conf *c, struct conf_part *p, struct err *e)
{
	const struct part *part = p->part;

	if (!part->opts)
		return 0;
	p->cfg = arena_alloc(&c->a, 1, part->cfg_size, alignof(max_align_t));
	if (!p->cfg)
		return FAIL(e, ERR_NOMEM, "configuration");
	return conf_bind(c, p->key, part->opts, p->cfg, e);
}

static int bind_weight(struct conf *c, struct conf_part *p, struct err *e)
{
	static const struct opt weight[] = {
		{ "weight", OPT_REAL, 0, -1e6, 1e6, 0, "1", "", "factor of this part in the sum" },
		{ 0 },
	};
	double *at = arena_new(&c->a, double, 1);
	int r = at ? conf_bind(c, p->key, weight, at, e) : FAIL(e, ERR_NOMEM, "configuration");

	if (r == 0)
		p->weight = *at;
	return r;
}

static int one(struct conf *c, const char *key, const struct part *const *table, const char *dflt,
               struct conf_part *ret, struct err *e)
{
	struct conf_node *n;
	struct conf_row row = { .table = table, .optional = !dflt }, *own;
	struct conf_part p = { .weight = 1 };
	struct choice ch;
	int r;

	if ((size_t)snprintf(p.key, sizeof p.key, "%s", key) >= sizeof p.key)
		return FAIL(e, ERR_LIMIT, "key is too long");
	row.key = arena_printf(&c->a, "%s.kind", key);
	if (!row.key)
		return FAIL(e, ERR_NOMEM, "configuration");
	r = conf_env_put(c, key, e);
	if (r == 0)
		r = conf_env_put(c, row.key, e);
	if (r < 0)
		return r;
	n = conf_node_find(c, key);
	ch = kind_of(n);
	row.value = ch.name ? ch.name : dflt ? dflt : "none";
	row.origin = ch.name ? ch.origin : "default";
	r = conf_row_add(c, &row, &own, e);
	if (r < 0)
		return r;
	p.part = part_find(table, row.value);
	if (!p.part && (!row.optional || strcmp(row.value, "none")))
		return unknown_kind(own, &ch, e);
	if (!p.part && ch.name && n)
		n->stale_below = ch.rank; /* switched off */
	r = p.part ? bind_options(c, &p, e) : 0;
	if (r == 0)
		*ret = p;
	return r;
}

/* Rank of the list at n, 0: no list. --reward.0.kind=... makes one too. */
static int list_rank(const struct conf_node *n)
{
	const struct conf_node *first = n ? conf_node_child(n, "0") : NULL;
	int rank = n && n->is_list ? n->list_rank : 0;

	return rank ? rank : first ? conf_node_top(first) : 0;
}

static int list(struct conf *c, const char *key, struct conf_node *n,
                const struct part *const *table, struct conf_part *ret, int max, int *ret_n,
                struct err *e)
{
	int i = 0, r = 0;

	n->used = true;
	for (;; i++) {
		struct conf_node *x;
		char number[16], full[CONF_KEY];

		(void)snprintf(number, sizeof number, "%d", i);
		x = conf_node_child(n, number);
		if (!x || !conf_node_top(x))
			break;
		if (i == max)
			return FAIL(e, ERR_LIMIT, "%s: more than %d parts", key, max);
		(void)snprintf(full, sizeof full, "%.120s.%d", key, i);
		r = one(c, full, table, "", &ret[i], e); /* "": it must say its kind */
		if (r == 0)
			r = bind_weight(c, &ret[i], e);
		if (r < 0)
			return r;
	}
	*ret_n = i;
	return 0;
}

/* Is the list at n what counts, or a kind given by a higher source? */
static bool is_list(struct conf *c, const char *key, struct err *e)
{
	struct conf_node *n = conf_node_find(c, key);
	int rank = list_rank(n);
	struct choice ch;
	char kind[CONF_KEY];

	if (!rank)
		return false;
	(void)snprintf(kind, sizeof kind, "%.150s.kind", key);
	(void)conf_env_put(c, key, e);
	(void)conf_env_put(c, kind, e);
	ch = kind_of(n);
	if (ch.rank > rank) {
		n->stale_below = ch.rank;
		n->used = true;
		return false;
	}
	return true;
}

int conf_parts(struct conf *c, const char *key, const struct part *const *table, const char *dflt,
               struct conf_part *ret, int max, int *ret_n, struct err *e)
{
	struct conf_node *n;
	int r;

	if (is_list(c, key, e)) {
		int got = 0;

		n = conf_node_find(c, key);
		r = list(c, key, n, table, ret, max, &got, e);
		if (r == 0 && got == 0 && dflt)
			r = FAIL(e, ERR_PARSE, "%s: '%s' is an empty list", n->list_origin, key);
		if (r == 0)
			*ret_n = got;
		return r;
	}
	if (max < 1)
		return FAIL(e, ERR_LIMIT, "%s: more than %d parts", key, max);
	r = one(c, key, table, dflt, &ret[0], e);
	if (r == 0 && ret[0].part)
		r = bind_weight(c, &ret[0], e);
	if (r == 0)
		*ret_n = ret[0].part ? 1 : 0;
	return r;
}

int conf_part(struct conf *c, const char *key, const struct part *const *table, const char *dflt,
              struct conf_part *ret_part, struct err *e)
{
	struct conf_node *n = conf_node_find(c, key);

	if (is_list(c, key, e))
		return FAIL(e, ERR_PARSE, "%s%s'%s' takes one part, not a list",
		            n->list_origin ? n->list_origin : "", n->list_origin ? ": " : "", key);
	return one(c, key, table, dflt, ret_part, e);
}
