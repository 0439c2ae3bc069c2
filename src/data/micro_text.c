/* micro_text.c - prints a composition as English and as Python, values as JSON. */
#include "data/micro.h"

#include "base/jsonw.h"

#include <assert.h>
#include <string.h>

static const char *variable(const struct micro_comp *c)
{
	return c->family == MICRO_TEXT ? "c" : c->family == MICRO_WORDS ? "w" : "x";
}

/* ---- Python ---- */

/* The code of a part with its element's variable for X. */
static void put_part(const struct micro_comp *c, enum micro_slot slot, struct buf *b)
{
	for (const char *p = micro_part_of(c, slot)->code; *p; p++)
		if (*p == 'X')
			buf_puts(b, variable(c));
		else
			buf_putc(b, *p);
}

static bool quantified(const struct micro_comp *c)
{
	enum micro_fold f = micro_part_of(c, MICRO_FOLD)->fold;

	return f == MICRO_EVERY || f == MICRO_SOME;
}

/* What an element becomes: "x * x", or "x * x if x > 0 else -x". */
static void put_mapped(const struct micro_comp *c, struct buf *b)
{
	if (quantified(c)) {
		put_part(c, MICRO_COND, b);
		return;
	}
	put_part(c, MICRO_MAP, b);
	if (!c->part[MICRO_COND])
		return;
	buf_puts(b, " if ");
	put_part(c, MICRO_COND, b);
	buf_puts(b, " else ");
	put_part(c, MICRO_OTHER, b);
}

static bool is_plain(const struct micro_comp *c)
{
	return !c->part[MICRO_FILTER] && !c->part[MICRO_MAP] && !c->part[MICRO_COND];
}

/* The iterable: the source itself, or a generator over it. */
static void put_iterable(const struct micro_comp *c, struct buf *b)
{
	const char *source = micro_part_of(c, MICRO_SOURCE)->code;
	bool list = micro_part_of(c, MICRO_FOLD)->fold == MICRO_COLLECT;

	if (is_plain(c)) {
		buf_putf(b, c->family == MICRO_RANGE && list ? "list(%s)" : "%s", source);
		return;
	}
	put_mapped(c, b);
	buf_putf(b, " for %s in %s", variable(c), source);
	if (c->part[MICRO_FILTER]) {
		buf_puts(b, " if ");
		put_part(c, MICRO_FILTER, b);
	}
}

static void put_expression(const struct micro_comp *c, struct buf *b)
{
	const struct micro_part *fold = micro_part_of(c, MICRO_FOLD);

	buf_puts(b, "    return ");
	for (const char *p = is_plain(c) ? fold->plain : fold->code; *p; p++)
		if (*p == '@')
			put_iterable(c, b);
		else
			buf_putc(b, *p);
}

static void put_loop(const struct micro_comp *c, struct buf *b)
{
	const struct micro_part *fold = micro_part_of(c, MICRO_FOLD);

	if (fold->init)
		buf_putf(b, "    r = %s\n", fold->init);
	buf_putf(b, "    for %s in %s:\n", variable(c), micro_part_of(c, MICRO_SOURCE)->code);
	if (c->part[MICRO_FILTER]) {
		buf_puts(b, "        if ");
		put_part(c, MICRO_FILTER, b);
		buf_puts(b, ":\n    ");
	}
	buf_puts(b, "        ");
	for (const char *p = fold->step; *p; p++)
		if (*p == '%')
			put_mapped(c, b);
		else
			buf_putc(b, *p);
	buf_putf(b, "\n    return %s", fold->result);
}

void micro_put_code(const struct micro_comp *c, struct buf *b)
{
	const struct micro_part *fold = micro_part_of(c, MICRO_FOLD);

	assert(micro_typed(c));
	if (c->part[MICRO_GUARD])
		buf_putf(b, "    if %s:\n        return -1\n", micro_part_of(c, MICRO_GUARD)->code);
	if (fold->loop || (c->family == MICRO_RANGE && fold->step))
		put_loop(c, b);
	else
		put_expression(c, b);
	if (c->part[MICRO_TEST])
		buf_puts(b, micro_part_of(c, MICRO_TEST)->code);
}

/* ---- English ---- */

static const char *noun(const struct micro_comp *c, bool vary)
{
	static const char *const plain[] = { "numbers", "numbers", "characters", "words" };
	const struct micro_part *f = micro_part_of(c, MICRO_FILTER);

	if (!c->part[MICRO_FILTER])
		return plain[c->family];
	return vary && f->say2 ? f->say2 : f->say;
}

static bool chance(struct rng *r, double p)
{
	return rng_unit(r) < p;
}

/* "squares of the even numbers in xs"; true if words stand behind the source. */
static bool put_noun(const struct micro_comp *c, struct rng *r, double vary, struct buf *b)
{
	const struct micro_part *map = micro_part_of(c, MICRO_MAP);
	bool other_noun = chance(r, vary), behind = chance(r, vary);

	if (c->part[MICRO_COND] && !quantified(c)) {
		buf_putf(b, "%s %s, with %s %s and others %s", noun(c, false),
		         micro_part_of(c, MICRO_SOURCE)->say, micro_part_of(c, MICRO_COND)->say,
		         map->say2, micro_part_of(c, MICRO_OTHER)->say2);
		return true;
	}
	behind = c->part[MICRO_MAP] && map->say2 && (behind || !map->say);
	if (c->part[MICRO_MAP] && !behind)
		buf_puts(b, map->say);
	buf_putf(b, "%s %s", noun(c, other_noun), micro_part_of(c, MICRO_SOURCE)->say);
	if (behind)
		buf_putf(b, ", each %s", map->say2);
	return behind;
}

static void put_sentence(const struct micro_comp *c, struct rng *r, double vary, struct buf *b)
{
	const struct micro_part *fold = micro_part_of(c, MICRO_FOLD),
				*test = micro_part_of(c, MICRO_TEST),
				*guard = micro_part_of(c, MICRO_GUARD);
	bool other = chance(r, vary), behind;

	if (quantified(c)) {
		buf_putf(b, "%s whether %s ", other ? "Check" : "Return", fold->say);
		(void)put_noun(c, r, vary, b);
		buf_putf(b, " are %s", micro_part_of(c, MICRO_COND)->adj);
		return;
	}
	if (c->part[MICRO_TEST])
		buf_putf(b, "%s whether the %s", other ? "Check" : "Return", fold->say);
	else if (other && fold->say2 && !c->part[MICRO_GUARD])
		buf_puts(b, fold->say2);
	else
		buf_putf(b, "%s the %s", other ? "Find" : "Return", fold->say);
	behind = put_noun(c, r, vary, b);
	if (c->part[MICRO_TEST])
		buf_putf(b, "%s %s", behind ? "," : "", test->say);
	if (fold->tail)
		buf_puts(b, fold->tail);
	if (c->part[MICRO_GUARD])
		buf_putf(b, ", or -1 if %s", guard->say);
}

void micro_put_prompt(const struct micro_comp *c, struct rng *r, double vary, struct buf *b)
{
	static const char *const args[] = { "xs", "n", "s", "s" };

	buf_puts(b, "# ");
	put_sentence(c, r, vary, b);
	buf_putf(b, ".\ndef f(%s%s):\n", args[c->family], micro_bound(c) ? ", n" : "");
}

/* ---- JSON ---- */

void micro_put_args(const struct micro_comp *c, const struct micro_input *in, struct buf *b)
{
	struct jsonw w = { b };

	jsonw_open(&w, '[');
	if (c->family == MICRO_LIST) {
		jsonw_open(&w, '[');
		for (int i = 0; i < in->n_xs; i++)
			jsonw_int(&w, in->xs[i]);
		jsonw_close(&w, ']');
	}
	if (c->family >= MICRO_TEXT)
		jsonw_cstr(&w, in->s);
	if (c->family == MICRO_RANGE || micro_bound(c))
		jsonw_int(&w, in->n);
	jsonw_close(&w, ']');
}

void micro_put_val(const struct micro_val *v, struct buf *b)
{
	struct jsonw w = { b };

	if (v->type == MICRO_INT) {
		jsonw_int(&w, v->i);
	} else if (v->type == MICRO_BOOL) {
		jsonw_bool(&w, v->i);
	} else if (v->type == MICRO_STR) {
		jsonw_str(&w, (struct str){ v->s, (size_t)v->n });
	} else {
		jsonw_open(&w, '[');
		for (int i = 0; i < v->list.n; i++) {
			const struct micro_elem *e = &v->list.e[i];

			if (e->text)
				jsonw_str(&w, (struct str){ e->s, (size_t)e->n });
			else
				jsonw_int(&w, e->i);
		}
		jsonw_close(&w, ']');
	}
}
