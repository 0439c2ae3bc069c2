/* value.h - what a function returned, and what it should have: compared as data, outside the box.
 *
 * Expected values are plain JSON. A box sends JSON too, where a dictionary is {"d":[key,value,..]},
 * a set {"s":[...]}, an infinity or NaN {"f":"inf"} and anything else {"u":"type"}, so that no
 * text of a program can be taken for a mark. A tuple comes as a list.
 *
 * Equal are: lists and tuples; dictionary keys and their JSON text; 2.0 and 2 (exactly, also
 * beyond 2^53). Not equal are: true and 1; NaN, infinities and unknown types with anything.
 * One owner.
 */
#ifndef JUDGE_VALUE_H
#define JUDGE_VALUE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

enum value_type {
	VALUE_NULL,
	VALUE_BOOL,
	VALUE_INT,
	VALUE_FLOAT,
	VALUE_STR,
	VALUE_LIST,
	VALUE_SET,
	VALUE_DICT,
	VALUE_OTHER,
};

struct value {
	enum value_type type;
	bool yes;
	double x;           /* VALUE_INT (nearest), VALUE_FLOAT */
	struct str text;    /* VALUE_INT: the digits; VALUE_STR; VALUE_OTHER: name of the type */
	int n;              /* VALUE_LIST, VALUE_SET, VALUE_DICT */
	struct value *item; /* (n,) */
	struct str *key;    /* (n,) VALUE_DICT: sorted */
};

/* Texts are views into j. */
int value_expected(const struct json *j, struct arena *a, struct value *ret, struct err *e);
int value_received(const struct json *j, struct arena *a, struct value *ret, struct err *e);

/*	|g - w| <= max(abs, rel * |w|)		where want is a float; everything else exactly
 *
 * abs = rel = 0 for exact equality.
 */
bool value_same(const struct value *want, const struct value *got, double abs, double rel);

/* Forget the order of a list and make a list of a set; deep: at every level. */
void value_sort(struct value *v, bool deep);

#endif
