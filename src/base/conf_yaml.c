/* conf_yaml.c - recipes and config files: YAML mappings, lists and scalars become nodes.
 *
 * libyaml reports events; a stack holds the open mappings and lists. Only what a recipe needs is
 * read: no aliases, anchors or tags, one document, CONF_LEVELS levels. A key may be dotted.
 */
#include "base/conf_int.h"

#include <string.h>
#include <yaml.h>

struct level {
	struct conf_node *node;
	bool is_list;
	int n; /* elements so far */
};

struct load {
	struct conf *c;
	const char *name;
	int rank;
	struct level level[CONF_LEVELS];
	int depth, n_documents;
	struct conf_node *key; /* the value that comes next belongs to it; NULL: a key comes next */
	struct conf_node *aside; /* a list that a higher source replaces is read into it */
	size_t line;
};

static const char *origin(struct load *l)
{
	return arena_printf(&l->c->a, "%s:%zu", l->name, l->line);
}

static struct level *top(struct load *l)
{
	return &l->level[l->depth - 1];
}

static int take_key(struct load *l, const char *text, struct err *e)
{
	struct conf_node *n;
	char full[CONF_KEY];
	int r = conf_node_make(l->c, top(l)->node, text, &n, e);

	if (r < 0)
		return r;
	if (n->file_rank == l->rank) {
		conf_node_key(n, full, sizeof full);
		return FAIL(e, ERR_PARSE, "'%s' is given twice", full);
	}
	n->file_rank = l->rank;
	l->key = n;
	return 0;
}

/* In a list the next value belongs to the next number. */
static int next_element(struct load *l, struct err *e)
{
	char number[16];

	if (!l->depth || !top(l)->is_list)
		return 0;
	(void)snprintf(number, sizeof number, "%d", top(l)->n++);
	return take_key(l, number, e);
}

static int on_scalar(struct load *l, const yaml_event_t *ev, struct err *e)
{
	const char *s = (const char *)ev->data.scalar.value, *from;
	struct conf_node *n;
	int r;

	if (strlen(s) != ev->data.scalar.length)
		return FAIL(e, ERR_PARSE, "NUL byte in a value");
	if (l->depth == 0)
		return *s ? FAIL(e, ERR_PARSE, "expected 'key: value'") : 0;
	r = next_element(l, e);
	if (r < 0)
		return r;
	if (!l->key)
		return take_key(l, s, e);
	n = l->key;
	l->key = NULL;
	from = origin(l);
	return from ? conf_node_put(l->c, n, s, from, l->rank, e)
	            : FAIL(e, ERR_NOMEM, "configuration");
}

/* A list replaces a list of a lower source, and a mapping replaces it too. */
static int replace(struct load *l, struct conf_node **n, bool is_list, struct err *e)
{
	struct conf_node *x = *n;

	if (x->is_list && x->list_rank > l->rank) {
		*n = l->aside = arena_new(&l->c->a, struct conf_node, 1);
		if (!l->aside)
			return FAIL(e, ERR_NOMEM, "configuration");
		l->aside->name = "";
		l->aside->parent = x;
		return 0;
	}
	if (x->is_list || is_list) {
		conf_node_drop(x, l->rank);
		if (x->rank < l->rank)
			x->value = NULL;
	}
	x->is_list = is_list;
	x->list_rank = is_list ? l->rank : 0;
	x->list_origin = origin(l);
	return x->list_origin ? 0 : FAIL(e, ERR_NOMEM, "configuration");
}

static int on_open(struct load *l, bool is_list, struct err *e)
{
	struct conf_node *n = l->c->root;
	int r = next_element(l, e);

	if (r < 0)
		return r;
	if (l->depth == CONF_LEVELS)
		return FAIL(e, ERR_LIMIT, "more than %d levels", CONF_LEVELS);
	if (l->depth == 0 && is_list)
		return FAIL(e, ERR_PARSE, "expected 'key: value'");
	if (l->depth && !l->key)
		return FAIL(e, ERR_PARSE, "a key must be text");
	if (l->depth) {
		n = l->key;
		r = replace(l, &n, is_list, e);
	}
	l->level[l->depth++] = (struct level){ n, is_list, 0 };
	l->key = NULL;
	return r;
}

static bool is_plain(const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		return !ev->data.scalar.anchor && !ev->data.scalar.tag;
	case YAML_MAPPING_START_EVENT:
		return !ev->data.mapping_start.anchor && !ev->data.mapping_start.tag;
	case YAML_SEQUENCE_START_EVENT:
		return !ev->data.sequence_start.anchor && !ev->data.sequence_start.tag;
	default:
		return ev->type != YAML_ALIAS_EVENT;
	}
}

static int on_event(struct load *l, const yaml_event_t *ev, struct err *e)
{
	if (!is_plain(ev))
		return FAIL(e, ERR_PARSE, "aliases, anchors and tags are not read");
	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		return on_scalar(l, ev, e);
	case YAML_MAPPING_START_EVENT:
		return on_open(l, false, e);
	case YAML_SEQUENCE_START_EVENT:
		return on_open(l, true, e);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		l->depth--;
		return 0;
	case YAML_DOCUMENT_START_EVENT:
		return l->n_documents++ ? FAIL(e, ERR_PARSE, "a second document") : 0;
	default:
		return 0;
	}
}

static int next(struct load *l, yaml_parser_t *p, bool *ret_end, struct err *e)
{
	yaml_event_t ev;
	int r;

	if (!yaml_parser_parse(p, &ev)) {
		(void)FAIL(e, ERR_PARSE, "%s", p->problem ? p->problem : "not YAML");
		(void)err_wrap(e, "%s:%zu", l->name, p->problem_mark.line + 1);
		return ERR_PARSE;
	}
	*ret_end = ev.type == YAML_STREAM_END_EVENT;
	l->line = ev.start_mark.line + 1;
	r = on_event(l, &ev, e);
	if (r < 0)
		(void)err_wrap(e, "%s:%zu", l->name, l->line);
	yaml_event_delete(&ev);
	return r;
}

int conf_yaml_load(struct conf *c, struct str text, const char *name, int rank, struct err *e)
{
	struct load l = { .c = c, .name = name, .rank = rank };
	yaml_parser_t p;
	bool end = false;
	int r = 0;

	if (!yaml_parser_initialize(&p))
		return FAIL(e, ERR_NOMEM, "%s", name);
	yaml_parser_set_input_string(&p, (const unsigned char *)text.p, text.n);
	while (r == 0 && !end)
		r = next(&l, &p, &end, e);
	yaml_parser_delete(&p);
	return r;
}
