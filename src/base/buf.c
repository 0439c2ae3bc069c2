/* buf.c - growable buffers. */
#include "base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 256 };

/* A NUL at the end does not count: it may stand behind max. */
static char *grow(struct buf *b, size_t n, size_t max)
{
	size_t cap = b->cap ? b->cap : FIRST;
	char *p;

	assert(b->max && b->max < SIZE_MAX / 4);
	if (b->failed)
		return NULL;
	if (n > max - b->n) {
		b->failed = ERR_LIMIT;
		return NULL;
	}
	if (n <= b->cap - b->n && b->p)
		return b->p + b->n;
	while (cap < b->n + n)
		cap *= 2;
	if (cap > max)
		cap = max;
	p = realloc(b->p, cap);
	if (!p) {
		b->failed = ERR_NOMEM;
		return NULL;
	}
	b->p = p;
	b->cap = cap;
	return b->p + b->n;
}

char *buf_room(struct buf *b, size_t n)
{
	return grow(b, n, b->max);
}

void buf_put(struct buf *b, const void *p, size_t n)
{
	char *at = n ? buf_room(b, n) : NULL;

	if (!at)
		return;
	memcpy(at, p, n);
	b->n += n;
}

void buf_putc(struct buf *b, char c)
{
	buf_put(b, &c, 1);
}

void buf_puts(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

void buf_putstr(struct buf *b, struct str s)
{
	buf_put(b, s.p, s.n);
}

void buf_putf(struct buf *b, const char *fmt, ...)
{
	char text[1024], *at;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	assert(n >= 0);
	if ((size_t)n < sizeof text) {
		buf_put(b, text, (size_t)n);
		return;
	}
	at = buf_room(b, (size_t)n) ? grow(b, (size_t)n + 1, b->max + 1) : NULL;
	if (!at)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(at, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->n += (size_t)n;
}

int buf_check(const struct buf *b, const char *what, struct err *e)
{
	if (b->failed == ERR_LIMIT)
		return FAIL(e, ERR_LIMIT, "%s is longer than %zu bytes", what, b->max);
	if (b->failed)
		return FAIL(e, ERR_NOMEM, "%s", what);
	return 0;
}

struct str buf_str(const struct buf *b)
{
	return (struct str){ b->p ? b->p : "", b->n };
}

const char *buf_cstr(struct buf *b)
{
	char *at = grow(b, 1, b->max + 1);

	if (!at)
		return "";
	*at = 0;
	return b->p;
}

void buf_reset(struct buf *b)
{
	b->n = 0;
	b->failed = 0;
}

void buf_done(struct buf *b)
{
	free(b->p);
	*b = (struct buf){ .max = b->max };
}
