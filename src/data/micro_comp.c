/* micro_comp.c - which compositions make sense, and how they are mistaken. */
#include "data/micro.h"

#include <assert.h>
#include <string.h>

const char *micro_family_text(enum micro_family f)
{
	static const char *const text[] = { "list", "range", "text", "words" };

	assert(f < MICRO_FAMILIES);
	return text[f];
}

const char *micro_shape_text(enum micro_shape s)
{
	static const char *const text[] = { "pipe", "branch", "all", "tested", "guarded" };

	assert(s < MICRO_SHAPES);
	return text[s];
}

const struct micro_part *micro_part_of(const struct micro_comp *c, enum micro_slot slot)
{
	return micro_part(slot, c->part[slot]);
}

static bool quantified(const struct micro_comp *c)
{
	enum micro_fold f = micro_part_of(c, MICRO_FOLD)->fold;

	return f == MICRO_EVERY || f == MICRO_SOME;
}

enum micro_shape micro_shape(const struct micro_comp *c)
{
	if (c->part[MICRO_GUARD])
		return MICRO_GUARDED;
	if (c->part[MICRO_TEST])
		return MICRO_TESTED;
	if (quantified(c))
		return MICRO_ALL;
	return c->part[MICRO_COND] ? MICRO_BRANCH : MICRO_PIPE;
}

int micro_level(const struct micro_comp *c)
{
	int n = 1 + (c->part[MICRO_SOURCE] >= MICRO_FAMILIES); /* the fold counts */

	for (int s = 0; s < MICRO_SLOTS; s++)
		n += s != MICRO_SOURCE && s != MICRO_FOLD && c->part[s];
	return n;
}

static bool reads_n(const struct micro_part *p)
{
	size_t n = p->code ? strlen(p->code) : 0;

	return n > 2 && !strcmp(p->code + n - 2, " n");
}

bool micro_bound(const struct micro_comp *c)
{
	if (c->family != MICRO_LIST)
		return false;
	for (int s = MICRO_FILTER; s <= MICRO_OTHER; s++)
		if (reads_n(micro_part_of(c, s)))
			return true;
	return false;
}

static bool gives_text(const struct micro_comp *c, enum micro_slot slot)
{
	return c->family >= MICRO_TEXT && strcmp(micro_part_of(c, slot)->name, "length") != 0;
}

bool micro_typed(const struct micro_comp *c)
{
	const struct micro_part *fold = micro_part_of(c, MICRO_FOLD);
	bool branch = c->part[MICRO_COND] && !quantified(c), text = gives_text(c, MICRO_MAP);

	for (int s = 0; s < MICRO_SLOTS; s++)
		if (!(micro_part_of(c, s)->in & 1u << c->family))
			return false;
	if (c->part[MICRO_TEST] && !fold->scalar)
		return false;
	if (quantified(c))
		return c->part[MICRO_COND] && !c->part[MICRO_MAP] && !c->part[MICRO_OTHER];
	if (branch ? gives_text(c, MICRO_OTHER) != text : c->part[MICRO_OTHER])
		return false;
	return text ? fold->texts : fold->ints;
}

/* A branch: "..., with even numbers squared and others kept". */
static bool branch_asked(const struct micro_comp *c)
{
	enum micro_fold f = micro_part_of(c, MICRO_FOLD)->fold;

	return !c->part[MICRO_FILTER] && c->part[MICRO_MAP] != c->part[MICRO_OTHER] &&
	       micro_part_of(c, MICRO_MAP)->say2 && micro_part_of(c, MICRO_OTHER)->say2 &&
	       (f == MICRO_SUM || f == MICRO_PRODUCT || f == MICRO_COLLECT || f == MICRO_JOIN ||
	        f == MICRO_JOIN_SPACED);
}

bool micro_asked(const struct micro_comp *c)
{
	const struct micro_part *fold = micro_part_of(c, MICRO_FOLD);
	bool plain = !c->part[MICRO_FILTER] && !c->part[MICRO_MAP] && !c->part[MICRO_COND];

	if (!micro_typed(c))
		return false;
	for (int s = 0; s < MICRO_SLOTS; s++)
		if (micro_part_of(c, s)->never)
			return false;
	if (!!c->part[MICRO_GUARD] + !!c->part[MICRO_TEST] + !!c->part[MICRO_COND] > 1)
		return false;
	if (c->part[MICRO_GUARD] && !fold->scalar)
		return false;
	if (fold->fold == MICRO_COUNT &&
	    (c->part[MICRO_MAP] || (plain && c->family == MICRO_RANGE)))
		return false;
	if (fold->fold == MICRO_FIRST && !c->part[MICRO_FILTER])
		return false;
	if (plain && c->part[MICRO_SOURCE] < MICRO_FAMILIES && c->family != MICRO_WORDS &&
	    (fold->fold == MICRO_COLLECT || fold->fold == MICRO_JOIN))
		return false; /* "return xs" */
	if (quantified(c))
		return micro_part_of(c, MICRO_COND)->adj &&
		       c->part[MICRO_COND] != c->part[MICRO_FILTER];
	return !c->part[MICRO_COND] || branch_asked(c);
}

static int part_find(enum micro_slot slot, enum micro_family f, const char *name, size_t n)
{
	const struct micro_part *p;

	for (int i = 0; (p = micro_part(slot, i)); i++)
		if (strlen(p->name) == n && !memcmp(p->name, name, n) && p->in & 1u << f)
			return i;
	return -1; /* not in this family */
}

int micro_near(const struct micro_comp *c, enum micro_slot slot, struct micro_comp *ret)
{
	const char *p = micro_part_of(c, slot)->near;
	int n = 0;

	for (size_t len; p && *p; p += len + (p[len] == ' ')) {
		struct micro_comp d = *c;
		int i;

		len = strcspn(p, " ");
		i = part_find(slot, c->family, p, len);
		d.part[slot] = (uint8_t)i;
		if (i >= 0 && n < MICRO_NEAR && micro_typed(&d))
			ret[n++] = d;
	}
	if (slot == MICRO_OTHER && c->part[MICRO_COND] && !quantified(c) && n < MICRO_NEAR) {
		ret[n] = *c; /* the condition is negated */
		ret[n].part[MICRO_MAP] = c->part[MICRO_OTHER];
		ret[n++].part[MICRO_OTHER] = c->part[MICRO_MAP];
	}
	return n;
}
