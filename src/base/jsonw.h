/* jsonw.h - writes strict JSON into a buffer; commas come by themselves.
 *
 *	struct jsonw w = { &buf };
 *	jsonw_open(&w, '{');
 *	jsonw_key(&w, "n"), jsonw_int(&w, 3);
 *	jsonw_close(&w, '}');
 *
 * Text may be arbitrary bytes: control bytes are escaped, each byte that is not part of valid
 * UTF-8 becomes U+FFFD. Numbers are the shortest text that reads back equal; NaN and infinities
 * become null. One owner.
 */
#ifndef BASE_JSONW_H
#define BASE_JSONW_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct jsonw {
	struct buf *b;
	bool comma; /* the next value or key needs one before it */
};

void jsonw_open(struct jsonw *w, char c);  /* '{' or '[' */
void jsonw_close(struct jsonw *w, char c); /* '}' or ']' */
void jsonw_key(struct jsonw *w, const char *key);
void jsonw_str(struct jsonw *w, struct str s);
void jsonw_cstr(struct jsonw *w, const char *s); /* NULL becomes null */
void jsonw_int(struct jsonw *w, int64_t v);
void jsonw_real(struct jsonw *w, double v);
void jsonw_fixed(struct jsonw *w, double v, int digits); /* digits behind the point */
void jsonw_bool(struct jsonw *w, bool v);
void jsonw_null(struct jsonw *w);
void jsonw_raw(struct jsonw *w, struct str s); /* s is JSON already */

struct json;
void jsonw_json(struct jsonw *w,
                const struct json *j); /* a parsed value; numbers keep their text */

#endif
