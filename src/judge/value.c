/* value.c - values of functions as data. */
#include "judge/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct value *items_new(struct arena *a, int n, struct value *v, struct err *e)
{
	v->n = n;
	v->item = arena_new(a, struct value, n);
	if (!v->item)
		FAIL(e, ERR_LIMIT, "value needs more than %zu bytes", a->limit);
	return v->item;
}

/* Numbers are int where they are written so. */
static void set_number(struct value *v, struct str s)
{
	static const int big = 310; /* digits of the largest double, and one */

	v->text = s;
	if (str_is_int(s)) {
		v->type = VALUE_INT;
		if ((int)(s.n < 400 ? s.n : 400) > big || !str_to_real(s, &v->x))
			v->x = s.p[0] == '-' ? -HUGE_VAL : HUGE_VAL;
	} else {
		v->type = str_to_real(s, &v->x) ? VALUE_FLOAT : VALUE_OTHER;
	}
}

/* Everything that both sides write in the same way. */
static void set_scalar(struct value *v, const struct json *j)
{
	if (j->type == JSON_BOOL) {
		v->type = VALUE_BOOL;
		v->yes = j->yes;
	} else if (j->type == JSON_STR) {
		v->type = VALUE_STR;
		v->text = j->text;
	} else if (j->type == JSON_NUM) {
		set_number(v, j->text);
	}
}

static int compare_str(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;

	return c ? c : (a.n > b.n) - (a.n < b.n);
}

struct entry {
	struct str key;
	struct value given, v;
	int at; /* position before sorting: a sort that keeps the order of equal keys */
};

static int by_key(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	int c = compare_str(a->key, b->key);

	return c ? c : a->at - b->at;
}

/* Sorts n entries into v, unless their keys are odd. *ret_twice: a key is given twice; then the
 * last one counts. False: no memory.
 */
static bool set_dict(struct value *v, struct entry *list, int n, struct arena *a, bool *ret_twice)
{
	v->type = VALUE_DICT;
	v->n = 0;
	v->item = arena_new(a, struct value, n);
	v->key = arena_new(a, struct str, n);
	v->given = arena_new(a, struct value, n);
	if (!v->item || !v->key || !v->given)
		return false;
	if (!v->odd)
		qsort(list, (size_t)n, sizeof *list, by_key);
	for (int i = 0; i < n; i++) {
		if (!v->odd && i + 1 < n && str_eq(list[i].key, list[i + 1].key)) {
			*ret_twice = true;
			continue;
		}
		v->item[v->n] = list[i].v;
		v->given[v->n] = list[i].given;
		v->key[v->n++] = list[i].key;
	}
	return true;
}

static int no_room(const struct arena *a, struct err *e)
{
	return FAIL(e, ERR_LIMIT, "value needs more than %zu bytes", a->limit);
}

int value_expected(const struct json *j, struct arena *a, struct value *ret, struct err *e)
{
	struct value v = { 0 };
	bool twice;
	int r = 0;

	set_scalar(&v, j);
	if (j->type == JSON_ARR) {
		v.type = VALUE_LIST;
		if (!items_new(a, j->n, &v, e))
			return ERR_LIMIT;
		for (int i = 0; i < j->n && r == 0; i++)
			r = value_expected(&j->item[i], a, &v.item[i], e);
	} else if (j->type == JSON_OBJ) {
		struct entry *list = arena_new(a, struct entry, j->n);

		for (int i = 0; list && i < j->n && r == 0; i++) {
			list[i].key = j->key[i];
			list[i].given = (struct value){ .type = VALUE_STR, .text = j->key[i] };
			list[i].at = i;
			r = value_expected(&j->item[i], a, &list[i].v, e);
		}
		if (!list || (r == 0 && !set_dict(&v, list, j->n, a, &twice)))
			return no_room(a, e);
	}
	if (r == 0)
		*ret = v;
	return r;
}

/* The JSON text of a key, as json.dumps() writes it. */
static bool key_text(const struct json *j, struct str *ret)
{
	switch (j->type) {
	case JSON_NULL:
		*ret = STR("null");
		return true;
	case JSON_BOOL:
		*ret = j->yes ? STR("true") : STR("false");
		return true;
	case JSON_NUM:
	case JSON_STR:
		*ret = j->text;
		return true;
	default:
		return false;
	}
}

static int received_dict(const struct json *pairs, struct arena *a, struct value *v, struct err *e)
{
	int n = json_len(pairs) / 2, r = 0;
	struct entry *list = arena_new(a, struct entry, n);
	bool twice = false;

	for (int i = 0; list && i < n && r == 0; i++) {
		if (!key_text(&pairs->item[2 * i], &list[i].key)) {
			list[i].key = STR("");
			v->odd = true;
		}
		list[i].at = i;
		r = value_received(&pairs->item[2 * i], a, &list[i].given, e);
		if (r == 0)
			r = value_received(&pairs->item[2 * i + 1], a, &list[i].v, e);
	}
	if (r < 0)
		return r;
	if (!list || !set_dict(v, list, n, a, &twice))
		return no_room(a, e);
	if (twice) { /* 1 and "1", as no JSON could have it: once more, as they came */
		v->odd = true;
		if (!set_dict(v, list, n, a, &twice))
			return no_room(a, e);
	}
	return 0;
}

static int received_items(const struct json *list, enum value_type type, struct arena *a,
                          struct value *v, struct err *e)
{
	int r = 0;

	v->type = type;
	if (!items_new(a, list->n, v, e))
		return ERR_LIMIT;
	for (int i = 0; i < list->n && r == 0; i++)
		r = value_received(&list->item[i], a, &v->item[i], e);
	return r;
}

/* The one member of a mark. */
static int received_mark(char mark, const struct json *j, struct arena *a, struct value *v,
                         struct err *e)
{
	bool list = j->type == JSON_ARR;

	v->mark = mark;
	v->type = VALUE_OTHER;
	if (mark == 'I' && j->type == JSON_STR && j->text.n > 1) {
		v->type = VALUE_INT;
		v->text = j->text;
		v->x = j->text.p[0] == '-' ? -HUGE_VAL : HUGE_VAL;
		return 0;
	}
	if (list && mark == 'd')
		return received_dict(j, a, v, e);
	if (list && (mark == 's' || mark == 'z'))
		return received_items(j, VALUE_SET, a, v, e);
	if (list && mark == 't')
		return received_items(j, VALUE_LIST, a, v, e);
	v->text = json_str(j);
	return list ? received_items(j, VALUE_OTHER, a, v, e) : 0;
}

int value_received(const struct json *j, struct arena *a, struct value *ret, struct err *e)
{
	struct value v = { 0 };
	int r = 0;

	set_scalar(&v, j);
	if (j->type == JSON_ARR)
		r = received_items(j, VALUE_LIST, a, &v, e);
	else if (j->type == JSON_OBJ && j->n == 1 && j->key[0].n == 1)
		r = received_mark(j->key[0].p[0], &j->item[0], a, &v, e);
	else if (j->type == JSON_OBJ)
		v.type = VALUE_OTHER;
	if (r == 0)
		*ret = v;
	return r;
}

/* sign * digits of a whole number, without leading zeros; zero has no sign. */
static struct str digits_of(struct str s, int *ret_sign)
{
	*ret_sign = 1;
	if (s.n && (s.p[0] == '-' || s.p[0] == '+')) {
		*ret_sign = s.p[0] == '-' ? -1 : 1;
		s = (struct str){ s.p + 1, s.n - 1 };
	}
	while (s.n && s.p[0] == '0')
		s = (struct str){ s.p + 1, s.n - 1 };
	if (s.n == 0)
		*ret_sign = 0;
	return s;
}

static int compare_ints(struct str x, struct str y)
{
	int sx, sy;
	struct str a = digits_of(x, &sx), b = digits_of(y, &sy);

	if (sx != sy)
		return sx - sy;
	if (a.n != b.n)
		return (a.n > b.n ? 1 : -1) * sx;
	return compare_str(a, b) * sx;
}

/* Decimal digits of a hexadecimal number: 18 at a time. NULL: no memory. */
static char *decimal_of(struct str hex)
{
	static const uint64_t base = UINT64_C(1000000000000000000);
	size_t cap = hex.n / 14 + 2, n = 0, at = 0;
	uint64_t *limb = malloc(cap * sizeof *limb);
	char *text = malloc(cap * 18 + 2);

	for (size_t i = 0; limb && text && i < hex.n; i++) {
		char c = (char)(hex.p[i] | 32);
		uint64_t carry = (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10) & 15;

		if (hex.p[i] == '-') {
			text[at++] = '-';
			continue;
		}
		for (size_t k = 0; k < n; k++) {
			unsigned __int128 sum = (unsigned __int128)limb[k] * 16 + carry;

			limb[k] = (uint64_t)(sum % base);
			carry = (uint64_t)(sum / base);
		}
		if (carry)
			limb[n++] = carry;
	}
	if (limb && text) {
		(void)snprintf(text + at, 20, "%llu", (unsigned long long)(n ? limb[n - 1] : 0));
		for (size_t k = n; k-- > 1;)
			(void)snprintf(text + strlen(text), 20, "%018llu",
			               (unsigned long long)limb[k - 1]);
	}
	free(limb);
	if (!limb) {
		free(text);
		return NULL;
	}
	return text;
}

/*	digits ~ 1.2041 * hexadecimal digits		where they differ by more, no digit decides
 *
 * Only expected values have as many decimal digits as that.
 */
static int compare_long(struct str hex, struct str decimal)
{
	bool minus = hex.p[0] == '-', other = decimal.n && decimal.p[0] == '-';
	double want = 1.20411998 * (double)(hex.n - minus);
	char *text;
	int c;

	if (minus != other)
		return minus ? -1 : 1;
	if (fabs(want - (double)(decimal.n - other)) > 3)
		return (want > (double)decimal.n) == minus ? -1 : 1;
	text = decimal_of(hex);
	c = text ? compare_ints((struct str){ text, strlen(text) }, decimal) : 1;
	free(text);
	return c;
}

static int compare_whole(const struct value *a, const struct value *b)
{
	if ((a->mark == 'I') == (b->mark == 'I'))
		return compare_ints(a->text, b->text);
	return a->mark == 'I' ? compare_long(a->text, b->text) : -compare_long(b->text, a->text);
}

/* Exactly, not through a double: a whole double has a decimal text of its own. */
int value_compare_numbers(const struct value *a, const struct value *b)
{
	char text[400];

	if (a->type == VALUE_INT && b->type == VALUE_INT)
		return compare_whole(a, b);
	if (a->x != b->x || (a->type == VALUE_FLOAT && b->type == VALUE_FLOAT))
		return (a->x > b->x) - (a->x < b->x);
	if (a->type == VALUE_FLOAT)
		return -value_compare_numbers(b, a);
	if (b->x != floor(b->x))
		return -1; /* cannot be: the doubles are equal and one is whole */
	(void)snprintf(text, sizeof text, "%.0f", b->x);
	return compare_ints(a->text, (struct str){ text, strlen(text) });
}

static bool is_number(const struct value *v)
{
	return v->type == VALUE_INT || v->type == VALUE_FLOAT;
}

/* A total order, so that lists can be sorted. */
static int compare(const struct value *a, const struct value *b)
{
	int c;

	if (is_number(a) && is_number(b))
		return value_compare_numbers(a, b);
	if (a->type != b->type)
		return (int)a->type - (int)b->type;
	switch (a->type) {
	case VALUE_BOOL:
		return a->yes - b->yes;
	case VALUE_STR:
	case VALUE_OTHER:
		return compare_str(a->text, b->text);
	case VALUE_LIST:
	case VALUE_SET:
	case VALUE_DICT:
		for (int i = 0; i < a->n && i < b->n; i++) {
			c = a->key ? compare_str(a->key[i], b->key[i]) : 0;
			if (c == 0)
				c = compare(&a->item[i], &b->item[i]);
			if (c)
				return c;
		}
		return (a->n > b->n) - (a->n < b->n);
	default:
		return 0;
	}
}

bool value_is_cut(const struct value *v)
{
	if (v->type == VALUE_OTHER && v->mark == 'L')
		return true;
	for (int i = 0; i < v->n; i++)
		if (value_is_cut(&v->item[i]) || (v->given && value_is_cut(&v->given[i])))
			return true;
	return false;
}

static int by_value(const void *x, const void *y)
{
	return compare(x, y);
}

void value_sort(struct value *v, bool deep)
{
	if (v->type == VALUE_SET)
		v->type = VALUE_LIST;
	if (deep)
		for (int i = 0; i < v->n; i++)
			value_sort(&v->item[i], true);
	if (v->type == VALUE_LIST && v->n)
		qsort(v->item, (size_t)v->n, sizeof *v->item, by_value);
}

static bool same_items(struct value *want, struct value *got, double abs, double rel)
{
	if (want->n != got->n)
		return false;
	for (int i = 0; i < want->n; i++) {
		if (want->key && !str_eq(want->key[i], got->key[i]))
			return false;
		if (!value_same(&want->item[i], &got->item[i], abs, rel))
			return false;
	}
	return true;
}

/* What plain JSON cannot say is expected only where a reference returned it. */
bool value_same(struct value *want, struct value *got, double abs, double rel)
{
	if (want->type == VALUE_OTHER || want->type == VALUE_SET || want->odd || got->odd)
		return want->type == got->type && value_same_python(want, got, abs, rel);
	if (is_number(want) && is_number(got)) {
		if (value_compare_numbers(want, got) == 0)
			return true;
		return want->type == VALUE_FLOAT && isfinite(got->x) &&
		       fabs(got->x - want->x) <= fmax(abs, rel * fabs(want->x)) && abs + rel > 0;
	}
	if (want->type != got->type)
		return false;
	if (want->type == VALUE_LIST || want->type == VALUE_DICT)
		return same_items(want, got, abs, rel);
	return compare(want, got) == 0;
}
