/* value_python.c - equality of values as Python's == has it among builtin types.
 *
 * Numbers of all types are equal if they are the same number; True is 1. A list is no tuple, bytes
 * are no text; a bytearray equals bytes, a frozenset a set. NaN equals nothing, not even itself.
 * Sets and dictionaries are compared by sorting: by an order of ours in which equal things, and
 * only those, stand at the same place.
 */
#include "judge/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number of whatever type as an integer, a float, or a ratio that is neither. */
enum number_kind { NUMBER_NONE, NUMBER_INT, NUMBER_FLOAT, NUMBER_RATIO };

struct number {
	enum number_kind kind;
	struct value v;         /* NUMBER_INT, NUMBER_FLOAT */
	struct str top, bottom; /* NUMBER_RATIO: in lowest terms */
	double x;               /* about */
};

static struct number whole(struct str digits, double x)
{
	return (struct number){
		NUMBER_INT, { .type = VALUE_INT, .text = digits, .x = x }, STR(""), STR(""), x
	};
}

static struct number real(double x)
{
	return (struct number){
		NUMBER_FLOAT, { .type = VALUE_FLOAT, .x = x }, STR(""), STR(""), x
	};
}

/* From the texts top and bottom, and the float that equals the ratio, if there is one. */
static struct number ratio(const struct value *part)
{
	struct str top = part[0].text, bottom = part[1].text;
	double a = 0, b = 1;

	if (part[2].type == VALUE_FLOAT)
		return real(part[2].x);
	if (!str_to_real(top, &a))
		a = top.n && top.p[0] == '-' ? -HUGE_VAL : HUGE_VAL;
	if (!str_to_real(bottom, &b))
		b = HUGE_VAL;
	if (str_is(bottom, "1"))
		return whole(top, a);
	return (struct number){ NUMBER_RATIO, { 0 }, top, bottom, isinf(a) ? a : a / b };
}

static struct number special(struct str s)
{
	bool minus = s.n && s.p[0] == '-';

	if (str_is(s, "inf") || str_is(s, "Infinity") || str_is(s, "-inf") ||
	    str_is(s, "-Infinity"))
		return real(minus ? -HUGE_VAL : HUGE_VAL);
	if (str_has(s, STR("nan")) || str_has(s, STR("NaN")))
		return real(NAN);
	return (struct number){ NUMBER_RATIO, { 0 }, s, STR(""), minus ? -HUGE_VAL : HUGE_VAL };
}

static struct number number_of(const struct value *v)
{
	static const struct number none = { 0 };

	if (v->type == VALUE_BOOL)
		return whole(v->yes ? STR("1") : STR("0"), v->yes);
	if (v->type == VALUE_INT)
		return (struct number){ NUMBER_INT, *v, STR(""), STR(""), v->x };
	if (v->type == VALUE_FLOAT)
		return real(v->x);
	if (v->mark == 'f')
		return special(v->text);
	if (v->mark == 'q' && v->n == 3)
		return ratio(v->item);
	if (v->mark == 'D' && v->n)
		return v->n == 4 ? ratio(v->item + 1) : special(v->item[0].text);
	if (v->mark == 'c' && v->n == 2 && v->item[1].type == VALUE_FLOAT && v->item[1].x == 0)
		return number_of(&v->item[0]);
	return none;
}

static int compare_text(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;

	return c ? c : (a.n > b.n) - (a.n < b.n);
}

/* Of two equal doubles one may stand for an integer or a ratio that is only near. */
static int order_numbers(const struct number *a, const struct number *b)
{
	int c;

	if (a->kind != NUMBER_RATIO && b->kind != NUMBER_RATIO)
		return value_compare_numbers(&a->v, &b->v);
	if (a->x != b->x)
		return a->x > b->x ? 1 : -1;
	if (a->kind != b->kind)
		return (int)a->kind - (int)b->kind;
	c = compare_text(a->top, b->top);
	return c ? c : compare_text(a->bottom, b->bottom);
}

/* Types that can be equal have the same rank. */
static int rank(const struct value *v, const struct number *n)
{
	if (n->kind)
		return 1;
	switch (v->type) {
	case VALUE_NULL:
		return 0;
	case VALUE_STR:
		return 2;
	case VALUE_LIST:
		return v->mark ? 4 : 3;
	case VALUE_SET:
		return 5;
	case VALUE_DICT:
		return 6;
	default:
		return v->mark == 'y' ? 'b' : 64 + v->mark % 64;
	}
}

/* start, step and length; what does not matter is 0. False: too far to count. */
static bool range_of(const struct value *v, int64_t ret[3])
{
	int64_t at[3], n;

	for (int i = 0; i < 3; i++) {
		if (v->n != 3 || v->item[i].type != VALUE_INT || !(fabs(v->item[i].x) < 0x1p53))
			return false;
		at[i] = (int64_t)v->item[i].x;
	}
	if (at[2] == 0)
		return false;
	n = (at[1] - at[0] + at[2] - (at[2] > 0 ? 1 : -1)) / at[2];
	ret[2] = n > 0 ? n : 0;
	ret[0] = n > 0 ? at[0] : 0;
	ret[1] = n > 1 ? at[2] : 0;
	return true;
}

static int order(struct value *a, struct value *b);

static int order_items(struct value *a, struct value *b, int from)
{
	int c;

	for (int i = from; i < a->n && i < b->n; i++) {
		c = order(&a->item[i], &b->item[i]);
		if (c)
			return c;
	}
	return (a->n > b->n) - (a->n < b->n);
}

static int by_order(const void *x, const void *y)
{
	return order((struct value *)x, (struct value *)y);
}

struct pair {
	struct value key, item;
};

static int by_given(const void *x, const void *y)
{
	return order((struct value *)&((const struct pair *)x)->key,
	             (struct value *)&((const struct pair *)y)->key);
}

/* In place, key and item together: a list of pairs is built where there is memory for it. */
static bool sort_dict(struct value *v)
{
	struct pair *list = malloc((size_t)(v->n ? v->n : 1) * sizeof *list);

	if (!list)
		return false;
	for (int i = 0; i < v->n; i++)
		list[i] = (struct pair){ v->given[i], v->item[i] };
	qsort(list, (size_t)v->n, sizeof *list, by_given);
	for (int i = 0; i < v->n; i++) {
		v->given[i] = list[i].key;
		v->item[i] = list[i].item;
	}
	free(list);
	return true;
}

static int order_dicts(struct value *a, struct value *b)
{
	int c;

	if (a->n != b->n)
		return a->n - b->n;
	if (!sort_dict(a) || !sort_dict(b))
		return -1;
	for (int i = 0; i < a->n; i++) {
		c = order(&a->given[i], &b->given[i]);
		if (c == 0)
			c = order(&a->item[i], &b->item[i]);
		if (c)
			return c;
	}
	return 0;
}

static int order_others(struct value *a, struct value *b)
{
	int64_t x[3], y[3];
	bool instants = a->n == 3 && b->n == 3 && a->item[2].type == VALUE_STR &&
	                b->item[2].type == VALUE_STR;

	if (a->mark == 'r' && range_of(a, x) && range_of(b, y))
		return memcmp(x, y, sizeof x);
	if (a->mark == 'T' && a->n && b->n) {
		int c = order(&a->item[0], &b->item[0]);

		return c ? c : order_items(a, b, instants ? 2 : 1);
	}
	return a->n || b->n ? order_items(a, b, 0) : compare_text(a->text, b->text);
}

static int order(struct value *a, struct value *b)
{
	struct number x = number_of(a), y = number_of(b);
	int c = rank(a, &x) - rank(b, &y);

	if (c)
		return c;
	if (x.kind)
		return order_numbers(&x, &y);
	switch (a->type) {
	case VALUE_NULL:
		return 0;
	case VALUE_STR:
		return compare_text(a->text, b->text);
	case VALUE_LIST:
		return order_items(a, b, 0);
	case VALUE_SET:
		qsort(a->item, (size_t)a->n, sizeof *a->item, by_order);
		qsort(b->item, (size_t)b->n, sizeof *b->item, by_order);
		return order_items(a, b, 0);
	case VALUE_DICT:
		return order_dicts(a, b);
	default:
		return order_others(a, b);
	}
}

/* NaN or a value of an unknown type is in it: equal to nothing. */
static bool is_unequal(const struct value *v)
{
	struct number n = number_of(v);

	if (n.kind)
		return isnan(n.x);
	if (v->type == VALUE_OTHER)
		return v->mark == 'u' || v->mark == 0 || v->mark == 'f' || v->mark == 'L';
	for (int i = 0; i < v->n; i++)
		if (is_unequal(&v->item[i]) || (v->given && is_unequal(&v->given[i])))
			return true;
	return false;
}

/*	|g - w| <= max(abs, rel * |w|)		w a finite float of the reference, g any number
 *
 * Where a set holds floats they are compared in their order.
 */
static bool near(struct value *want, struct value *got, double abs, double rel)
{
	struct number w = number_of(want), g = number_of(got);

	if (w.kind || g.kind) {
		if (w.kind && g.kind && order_numbers(&w, &g) == 0)
			return true;
		return want->type == VALUE_FLOAT && g.kind && isfinite(g.x) &&
		       fabs(g.x - w.x) <= fmax(abs, rel * fabs(w.x));
	}
	if (rank(want, &w) != rank(got, &g) || want->n != got->n)
		return false;
	if (want->type == VALUE_SET) {
		qsort(want->item, (size_t)want->n, sizeof *want->item, by_order);
		qsort(got->item, (size_t)got->n, sizeof *got->item, by_order);
	} else if (want->type == VALUE_DICT && (!sort_dict(want) || !sort_dict(got))) {
		return false;
	} else if (want->type != VALUE_LIST && want->type != VALUE_DICT) {
		return order(want, got) == 0;
	}
	for (int i = 0; i < want->n; i++)
		if (!near(&want->item[i], &got->item[i], abs, rel) ||
		    (want->given && order(&want->given[i], &got->given[i]) != 0))
			return false;
	return true;
}

bool value_same_python(struct value *want, struct value *got, double abs, double rel)
{
	if (is_unequal(want) || is_unequal(got))
		return false;
	return abs > 0 || rel > 0 ? near(want, got, abs, rel) : order(want, got) == 0;
}

/* Sorted, without equal ones. */
static void make_set(struct value *v)
{
	int n = 0;

	qsort(v->item, (size_t)v->n, sizeof *v->item, by_order);
	for (int i = 0; i < v->n; i++)
		if (n == 0 || order(&v->item[n - 1], &v->item[i]) != 0)
			v->item[n++] = v->item[i];
	v->n = n;
}

bool value_same_as_sets(struct value *want, struct value *got)
{
	bool lists = (want->type == VALUE_LIST || want->type == VALUE_SET) &&
	             (got->type == VALUE_LIST || got->type == VALUE_SET);

	if (!lists || is_unequal(want) || is_unequal(got))
		return lists ? false : value_same_python(want, got, 0, 0);
	make_set(want);
	make_set(got);
	return order_items(want, got, 0) == 0;
}
