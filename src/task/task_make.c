/* task_make.c - what several task formats build in the same way. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "task/task_int.h"

/* test without a last line that is check(NAME). */
static struct str without_call(struct str test, struct str name)
{
	struct str s = str_trim_end(test);
	size_t n = name.n + 7;

	if (s.n <= n || s.p[s.n - 1] != ')' || s.p[s.n - n - 1] != '\n' ||
	    memcmp(s.p + s.n - n, "check(", 6) || memcmp(s.p + s.n - n + 6, name.p, name.n))
		return test;
	return (struct str){ s.p, s.n - n };
}

int task_set_check(struct task *t, struct str test, struct arena *a, struct err *e)
{
	struct test *one;
	const char *call;

	if (!task_defines(test, STR("check"), NULL))
		return FAIL(e, ERR_PARSE, "field 'test' does not define check()");
	one = task_tests_new(a, 1, e);
	call = one ? arena_printf(a, "check(%.*s)\n", (int)t->entry_point.n, t->entry_point.p)
	           : NULL;
	if (!call)
		return FAIL(e, ERR_LIMIT, "record is too long");
	one->code = (struct str){ call, strlen(call) };
	t->setup = without_call(test, t->entry_point);
	t->kind = TASK_ASSERT;
	t->test = one;
	t->n_tests = 1;
	return 0;
}

const struct json *task_json(struct arena *a, struct err *e, const char *fmt, ...)
{
	const struct json *j = NULL;
	char text[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof text) {
		FAIL(e, ERR_LIMIT, "record is too long");
		return NULL;
	}
	return json_parse((struct str){ text, (size_t)n }, a, &j, e) < 0 ? NULL : j;
}

static int no_room(struct err *e)
{
	return FAIL(e, ERR_LIMIT, "record is too long");
}

/* {key: [items]} */
static int mark(const char *key, struct json list, struct arena *a, struct json *ret, struct err *e)
{
	struct json *item = arena_new(a, struct json, 1);
	struct str *name = arena_new(a, struct str, 1);

	if (!item || !name)
		return no_room(e);
	*item = list;
	*name = (struct str){ key, strlen(key) };
	*ret = (struct json){ .type = JSON_OBJ, .n = 1, .item = item, .key = name };
	return 0;
}

/* The text of a finite number as that of a float in JSON: 3 -> 3.0, .5 -> 0.5. */
static int float_text(struct str s, struct arena *a, struct str *ret, struct err *e)
{
	const struct json *j;
	const char *p;
	double x = 0;

	if (json_parse(s, a, &j, NULL) < 0 && str_to_real(s, &x)) {
		p = arena_printf(a, "%.17g", x);
		s = (struct str){ p, p ? strlen(p) : 0 };
	}
	p = str_is_int(s) ? arena_printf(a, "%.*s.0", (int)s.n, s.p) : s.p;
	if (!p)
		return no_room(e);
	*ret = (struct str){ p, p == s.p ? s.n : s.n + 2 };
	return 0;
}

/* A number that no double holds is an infinity, as Python's float() has it. */
static int typed_number(struct str s, struct arena *a, struct json *ret, struct err *e)
{
	struct json name = { .type = JSON_STR, .text = STR("inf") };
	double x;

	*ret = (struct json){ .type = JSON_NUM, .text = s };
	if (str_is_int(s) || str_to_real(s, &x))
		return 0;
	if (s.p[0] == '-')
		name.text = STR("-inf");
	return mark("f", name, a, ret, e);
}

/* Where the imaginary part of 1-2e-3j begins: at its sign, which is none of an exponent. */
static size_t imaginary_at(struct str s)
{
	for (size_t i = s.n; i-- > 1;)
		if ((s.p[i] == '+' || s.p[i] == '-') && s.p[i - 1] != 'e' && s.p[i - 1] != 'E')
			return i;
	return 0;
}

/* (1-2e-3j), 4j, 5 */
static int typed_complex(struct str s, struct arena *a, struct json *ret, struct err *e)
{
	struct str part[2] = { STR("0"), STR("0") };
	struct json *item = arena_new(a, struct json, 2);
	bool ok = true;
	double x;
	int r = 0;

	if (s.n > 2 && s.p[0] == '(' && s.p[s.n - 1] == ')')
		s = (struct str){ s.p + 1, s.n - 2 };
	if (s.n && s.p[s.n - 1] == 'j') {
		size_t at = imaginary_at(s);

		if (at)
			part[0] = (struct str){ s.p, at };
		part[1] = (struct str){ s.p + at, s.n - 1 - at };
	} else {
		part[0] = s;
	}
	for (int i = 0; i < 2 && r == 0 && item; i++) {
		ok = ok && str_to_real(part[i], &x);
		item[i].type = JSON_NUM;
		r = float_text(part[i], a, &item[i].text, e);
	}
	if (!ok)
		return FAIL(e, ERR_PARSE, "'%.*s' is no complex number", (int)(s.n < 40 ? s.n : 40),
		            s.p);
	if (!item || r < 0)
		return no_room(e);
	return mark("c", (struct json){ .type = JSON_ARR, .n = 2, .item = item }, a, ret, e);
}

static int typed_text(const struct json *j, char shape, struct arena *a, struct json *ret,
                      struct err *e)
{
	double x;

	if (shape == 'c')
		return typed_complex(j->text, a, ret, e);
	if (shape != 'f') {
		if (j->type == JSON_NUM)
			return typed_number(j->text, a, ret, e);
		*ret = *j;
		return 0;
	}
	if (!str_to_real(j->text, &x))
		return FAIL(e, ERR_PARSE, "'%.*s' is no number",
		            (int)(j->text.n < 40 ? j->text.n : 40), j->text.p);
	*ret = (struct json){ .type = JSON_NUM };
	return float_text(j->text, a, &ret->text, e);
}

/* Its items, or its keys and values in turn. */
static int typed_items(const struct json *j, const char *shape, struct arena *a, struct json *ret,
                       struct err *e)
{
	int step = j->type == JSON_OBJ ? 2 : 1, r = 0;
	struct json *item = arena_new(a, struct json, (size_t)j->n * (size_t)step);

	if (!item)
		return no_room(e);
	for (int i = 0; i < j->n && r == 0; i++) {
		if (step == 2)
			item[2 * i] = (struct json){ .type = JSON_STR, .text = j->key[i] };
		r = task_typed(&j->item[i], shape, a, &item[step * i + step - 1], e);
	}
	*ret = (struct json){ .type = JSON_ARR, .n = j->n * step, .item = item };
	return r;
}

int task_typed(const struct json *j, const char *shape, struct arena *a, struct json *ret,
               struct err *e)
{
	char c = *shape;
	struct json list;
	int r;

	if (j->type == JSON_NUM || j->type == JSON_STR)
		return typed_text(j, c, a, ret, e);
	*ret = *j;
	if (j->type != JSON_ARR && j->type != JSON_OBJ)
		return 0;
	r = typed_items(j, c && c != 'T' ? shape + 1 : shape, a, &list, e);
	if (r < 0)
		return r;
	if (j->type == JSON_OBJ || (c == 's' && j->n == 0))
		return mark("d", list, a, ret, e);
	if (c == 't' || c == 'T' || c == 's')
		return mark(c == 's' ? "s" : "t", list, a, ret, e);
	*ret = list;
	return 0;
}
