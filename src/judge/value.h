/* value.h - what a function returned, and what it should have: compared as data, outside the box.
 *
 * Expected values are plain JSON. A box sends JSON too, where an object with one key is a mark, so
 * that no text of a program can be taken for one:
 *
 *	{"d":[key,value,..]} {"s":[..]} {"z":[..]} {"t":[..]}	dict, set, frozenset, tuple
 *	{"b":hex} {"y":hex} {"S":hex}	bytes, bytearray, str with lone surrogates
 *	{"f":"inf"} {"c":[re,im]}	infinity or NaN, complex
 *	{"q":[top,bottom,near]}		Fraction; near: the float that equals it exactly, or null
 *	{"D":[text,top,bottom,near]}	Decimal; only text where it is no number of usual size
 *	{"T":[type,text,instant]}	date, time, datetime, timedelta; {"r":[start,stop,step]}
 *range
 *	{"I":hex}			an integer of very many digits
 *	{"u":type} {"L":0}		anything else; what is too large to be sent
 *
 * There are two equalities. By value (value_same): lists and tuples are equal; dictionary keys and
 * their JSON text; 2.0 and 2 (exactly, also beyond 2^53); not true and 1. NaN, infinities and other
 * types equal nothing that plain JSON can say. By Python (value_same_python): as == has it among
 * these types; {"u"} equals nothing.
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
	char mark; /* as sent by a box; 0: none */
	bool yes;
	bool odd;            /* VALUE_DICT: its keys are no JSON texts, or two are the same */
	double x;            /* VALUE_INT (nearest), VALUE_FLOAT */
	struct str text;     /* VALUE_INT: the digits; VALUE_STR; VALUE_OTHER: what it says */
	int n;               /* VALUE_LIST, VALUE_SET, VALUE_DICT; parts of VALUE_OTHER */
	struct value *item;  /* (n,) */
	struct str *key;     /* (n,) VALUE_DICT: sorted, unless odd */
	struct value *given; /* (n,) VALUE_DICT: the keys themselves */
};

/* Texts are views into j. */
int value_expected(const struct json *j, struct arena *a, struct value *ret, struct err *e);
int value_received(const struct json *j, struct arena *a, struct value *ret, struct err *e);

/*	|g - w| <= max(abs, rel * |w|)		where want is a float; everything else exactly
 *
 * abs = rel = 0 for exact equality.
 */
bool value_same(struct value *want, struct value *got, double abs, double rel);

/* May sort sets and dictionaries. Tolerance as above. */
bool value_same_python(struct value *want, struct value *got, double abs, double rel);

/* The same elements as far as == tells them apart, however often and in whatever order. */
bool value_same_as_sets(struct value *want, struct value *got);

/*	a - b		of VALUE_INT and VALUE_FLOAT, exactly; its sign */
int value_compare_numbers(const struct value *a, const struct value *b);

/* Part of it was too large to be sent. */
bool value_is_cut(const struct value *v);

/* Forget the order of a list and make a list of a set; deep: at every level. */
void value_sort(struct value *v, bool deep);

#endif
