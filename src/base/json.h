/* json.h - reads JSON (simdjson behind a shim). Numbers keep their text: test values hold integers
 * beyond 2^53 and must never pass through a double.
 *
 * A value is a tree in an arena; texts are unescaped views into the arena and may hold NUL bytes.
 * Depth is limited to JSON_DEPTH, and the arena's limit bounds the size. All getters accept NULL
 * and values of another type, and then say "not there", so that chains need no checks. Where a
 * key is given twice the last one counts, as in Python. Immutable after json_parse().
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { JSON_DEPTH = 64 };

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUM, JSON_STR, JSON_ARR, JSON_OBJ };

struct json {
	enum json_type type;
	bool yes;                /* JSON_BOOL */
	struct str text;         /* JSON_STR: unescaped; JSON_NUM: as written */
	int n;                   /* JSON_ARR, JSON_OBJ */
	const struct json *item; /* (n,) */
	const struct str *key;   /* (n,) JSON_OBJ */
};

int json_parse(struct str text, struct arena *a, const struct json **ret, struct err *e);

const struct json *json_get(const struct json *obj, const char *key); /* NULL: none */
const struct json *json_at(const struct json *arr, int i);            /* NULL: none */
int json_len(const struct json *j);                                   /* 0 unless a list */
struct str json_str(const struct json *j);                            /* empty unless text */
bool json_is(const struct json *j, enum json_type type);              /* false for NULL */
const char *json_type_text(enum json_type type);                      /* "text", "a list", ... */

/* A required field of an object, with an error that names it. */
int json_need_str(const struct json *obj, const char *key, struct str *ret, struct err *e);
int json_need(const struct json *obj, const char *key, enum json_type type, const struct json **ret,
              struct err *e);

/* An optional field: 0 and *ret untouched if it is absent or null, ERR_PARSE for another type,
 * ERR_RANGE outside min..max.
 */
int json_opt_str(const struct json *obj, const char *key, struct str *ret, struct err *e);
int json_opt_int(const struct json *obj, const char *key, int64_t min, int64_t max, int64_t *ret,
                 struct err *e);
int json_opt_real(const struct json *obj, const char *key, double min, double max, double *ret,
                  struct err *e);
int json_opt_bool(const struct json *obj, const char *key, bool *ret, struct err *e);

#endif
