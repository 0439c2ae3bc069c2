/* buf.h - a growable buffer of bytes with a maximum.
 *
 *	AUTO_BUF b = { .max = 1 << 20 };
 *	buf_putf(&b, "%d lines\n", n);
 *	if (buf_check(&b, "report", e) < 0)
 *		return ERR_LIMIT;
 *
 * Writing never fails at the call: the first failure (maximum reached, no memory) is remembered,
 * later writes do nothing, and the caller asks once at the end. One owner.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/err.h"
#include "base/str.h"

struct buf {
	char *p;
	size_t n, cap, max; /* bytes; max must be set */
	int failed;         /* 0, ERR_LIMIT or ERR_NOMEM */
};

#define AUTO_BUF __attribute__((cleanup(buf_done))) struct buf

void buf_put(struct buf *b, const void *p, size_t n);
void buf_putc(struct buf *b, char c);
void buf_puts(struct buf *b, const char *s);
void buf_putstr(struct buf *b, struct str s);
void buf_putf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Room for n more bytes at the end, or NULL; the caller raises b->n by what it wrote. */
char *buf_room(struct buf *b, size_t n);

int buf_check(const struct buf *b, const char *what, struct err *e); /* 0 or the first failure */
struct str buf_str(const struct buf *b);                             /* borrowed */
const char *buf_cstr(struct buf *b); /* with a final NUL, borrowed */
void buf_reset(struct buf *b);       /* keeps the memory */
void buf_done(struct buf *b);

#endif
