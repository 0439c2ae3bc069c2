/* str.h - views of bytes: never own, never assume a final NUL, may hold NUL bytes. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>

struct str {
	const char *p;
	size_t n;
};

#define STR(lit) ((struct str){ (lit), sizeof(lit) - 1 })

bool str_eq(struct str a, struct str b);
bool str_is(struct str a, const char *text); /* equal to a C string */
bool str_starts(struct str a, struct str prefix);
bool str_has(struct str a, struct str part);  /* part stands somewhere in a */
bool str_eq_fold(struct str a, struct str b); /* equal but for the case of ASCII letters */
struct str str_trim(struct str s);            /* without blanks and line ends at both ends */
struct str str_trim_end(struct str s);        /* at the end */
char str_fold(char c);                        /* A..Z small, all else as it is */

/* Length of the UTF-8 sequence that begins s, or 0 (RFC 3629: no overlong forms, no surrogates). */
size_t str_utf8_len(struct str s);

/* Take the next line or word from *rest; false at the end. A line ends with LF or CR LF. */
bool str_next_line(struct str *rest, struct str *ret_line);
bool str_next_token(struct str *rest, struct str *ret_token);

bool str_is_int(struct str s);               /* [+-] digits, ASCII only */
bool str_to_real(struct str s, double *ret); /* decimal notation of a finite number */

#endif
