/* json.c - builds a tree in an arena from the shim's walk.
 *
 * While a container is open its members hang in a list, newest first; when it closes their number
 * is known and they become arrays.
 */
#include "base/json.h"

#include "base/json_shim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct node {
	struct json v;
	struct str key;
	struct node *prev;
};

struct open_value {
	struct node *last;
	struct str key; /* of this container in its parent */
	int n;
	bool is_obj;
};

struct build {
	struct arena *a;
	struct json root;
	struct str key; /* of the value that comes next */
	struct open_value level[JSON_DEPTH];
	int depth;
	bool no_memory;
};

static bool copy(struct build *b, const char *p, size_t n, struct str *ret)
{
	char *own = arena_new(b->a, char, n ? n : 1);

	if (!own) {
		b->no_memory = true;
		return false;
	}
	*ret = (struct str){ n ? memcpy(own, p, n) : own, n };
	return true;
}

static bool add(struct build *b, struct json v, struct str key)
{
	struct open_value *o;
	struct node *x;

	if (b->depth == 0) {
		b->root = v;
		return true;
	}
	o = &b->level[b->depth - 1];
	x = arena_new(b->a, struct node, 1);
	if (!x || o->n == INT32_MAX) {
		b->no_memory = true;
		return false;
	}
	*x = (struct node){ v, key, o->last };
	o->last = x;
	o->n++;
	return true;
}

static bool on_open(void *arg, char c)
{
	struct build *b = arg;

	b->level[b->depth++] = (struct open_value){ .key = b->key, .is_obj = c == '{' };
	return true;
}

static bool on_close(void *arg, char c)
{
	struct build *b = arg;
	struct open_value *o = &b->level[--b->depth];
	struct json *item = arena_new(b->a, struct json, o->n);
	struct str *key = o->is_obj ? arena_new(b->a, struct str, o->n) : NULL;
	struct node *x = o->last;

	(void)c;
	if (!item || (o->is_obj && !key)) {
		b->no_memory = true;
		return false;
	}
	for (int i = o->n - 1; i >= 0; i--, x = x->prev) {
		item[i] = x->v;
		if (key)
			key[i] = x->key;
	}
	return add(b,
	           (struct json){ .type = o->is_obj ? JSON_OBJ : JSON_ARR,
	                          .n = o->n,
	                          .item = item,
	                          .key = key },
	           o->key);
}

static bool on_key(void *arg, const char *p, size_t n)
{
	struct build *b = arg;

	return copy(b, p, n, &b->key);
}

static bool on_scalar(void *arg, char type, const char *p, size_t n)
{
	struct build *b = arg;
	struct json v = { .type = JSON_NULL };

	if (type == 's' || type == '#') {
		v.type = type == 's' ? JSON_STR : JSON_NUM;
		if (!copy(b, p, n, &v.text))
			return false;
	} else if (type != 'n') {
		v.type = JSON_BOOL;
		v.yes = type == 't';
	}
	return add(b, v, b->key);
}

int json_parse(struct str text, struct arena *a, const struct json **ret, struct err *e)
{
	struct build b = { .a = a };
	struct json_shim_events ev = { &b, on_open, on_close, on_key, on_scalar };
	const char *why = json_shim_walk(text.p ? text.p : "", text.n, JSON_DEPTH, &ev);
	struct json *root;

	if (b.no_memory)
		return FAIL(e, ERR_LIMIT, "JSON value needs more than %zu bytes", a->limit);
	if (why)
		return FAIL(e, ERR_PARSE, "not JSON: %s", why);
	root = arena_new(a, struct json, 1);
	if (!root)
		return FAIL(e, ERR_LIMIT, "JSON value needs more than %zu bytes", a->limit);
	*root = b.root;
	*ret = root;
	return 0;
}

bool json_is(const struct json *j, enum json_type type)
{
	return j && j->type == type;
}

const struct json *json_get(const struct json *obj, const char *key)
{
	size_t n = strlen(key);

	if (!json_is(obj, JSON_OBJ))
		return NULL;
	for (int i = obj->n - 1; i >= 0; i--)
		if (str_eq(obj->key[i], (struct str){ key, n }))
			return &obj->item[i];
	return NULL;
}

const struct json *json_at(const struct json *arr, int i)
{
	return json_is(arr, JSON_ARR) && i >= 0 && i < arr->n ? &arr->item[i] : NULL;
}

int json_len(const struct json *j)
{
	return json_is(j, JSON_ARR) ? j->n : 0;
}

struct str json_str(const struct json *j)
{
	return json_is(j, JSON_STR) ? j->text : STR("");
}

const char *json_type_text(enum json_type type)
{
	static const char *const text[] = { "null",   "true or false", "a number",
		                            "a text", "a list",        "an object" };

	return text[type];
}

static int wrong_type(const char *key, const struct json *j, enum json_type want, struct err *e)
{
	return FAIL(e, ERR_PARSE, "field '%s' is %s, not %s", key, json_type_text(j->type),
	            json_type_text(want));
}

int json_need(const struct json *obj, const char *key, enum json_type type, const struct json **ret,
              struct err *e)
{
	const struct json *j = json_get(obj, key);

	if (!j)
		return FAIL(e, ERR_PARSE, "field '%s' is missing", key);
	if (j->type != type)
		return wrong_type(key, j, type, e);
	*ret = j;
	return 0;
}

int json_need_str(const struct json *obj, const char *key, struct str *ret, struct err *e)
{
	const struct json *j = NULL;
	int r = json_need(obj, key, JSON_STR, &j, e);

	if (r == 0)
		*ret = j->text;
	return r;
}

/* The optional field, NULL if absent or null; *ret_bad if it has another type. */
static const struct json *optional(const struct json *obj, const char *key, enum json_type type,
                                   int *ret_bad, struct err *e)
{
	const struct json *j = json_get(obj, key);

	*ret_bad = 0;
	if (!j || j->type == JSON_NULL)
		return NULL;
	if (j->type != type) {
		*ret_bad = wrong_type(key, j, type, e);
		return NULL;
	}
	return j;
}

int json_opt_str(const struct json *obj, const char *key, struct str *ret, struct err *e)
{
	int bad;
	const struct json *j = optional(obj, key, JSON_STR, &bad, e);

	if (j)
		*ret = j->text;
	return bad;
}

int json_opt_bool(const struct json *obj, const char *key, bool *ret, struct err *e)
{
	int bad;
	const struct json *j = optional(obj, key, JSON_BOOL, &bad, e);

	if (j)
		*ret = j->yes;
	return bad;
}

int json_opt_real(const struct json *obj, const char *key, double min, double max, double *ret,
                  struct err *e)
{
	int bad;
	const struct json *j = optional(obj, key, JSON_NUM, &bad, e);
	double v;

	if (!j)
		return bad;
	if (!str_to_real(j->text, &v) || v < min || v > max)
		return FAIL(e, ERR_RANGE, "field '%s' is %.*s: outside %g..%g", key,
		            (int)(j->text.n < 40 ? j->text.n : 40), j->text.p, min, max);
	*ret = v;
	return 0;
}

int json_opt_int(const struct json *obj, const char *key, int64_t min, int64_t max, int64_t *ret,
                 struct err *e)
{
	int bad;
	const struct json *j = optional(obj, key, JSON_NUM, &bad, e);
	char text[24];
	long long v = 0;
	bool ok;

	if (!j)
		return bad;
	ok = str_is_int(j->text) && j->text.n < sizeof text;
	if (ok) {
		memcpy(text, j->text.p, j->text.n);
		text[j->text.n] = 0;
		errno = 0;
		v = strtoll(text, NULL, 10);
		ok = errno == 0 && v >= min && v <= max;
	}
	if (!ok)
		return FAIL(e, ERR_RANGE, "field '%s' is %.*s: not a whole number in %lld..%lld",
		            key, (int)(j->text.n < 40 ? j->text.n : 40), j->text.p, (long long)min,
		            (long long)max);
	*ret = v;
	return 0;
}
