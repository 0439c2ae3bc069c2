/* arena.c - bump allocator. */
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
enum { REDZONE = 16 };
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
enum { REDZONE = 0 };
#endif

enum { BLOCK_MIN = 4096 };

struct arena_block {
	struct arena_block *next;
	size_t cap, off;
	unsigned char data[];
};

/* Offset of the next address in b that is a multiple of align. */
static size_t aligned(const struct arena_block *b, size_t align)
{
	uintptr_t base = (uintptr_t)b->data, mask = (uintptr_t)align - 1;

	return (size_t)(((base + b->off + mask) & ~mask) - base);
}

static struct arena_block *grow(struct arena *a, size_t size, size_t align)
{
	size_t need = size + align + REDZONE, cap = a->head ? a->head->cap * 2 : BLOCK_MIN;
	struct arena_block *b;

	if (cap < need)
		cap = need;
	b = malloc(sizeof *b + cap);
	if (!b)
		return NULL;
	b->next = a->head;
	b->cap = cap;
	b->off = 0;
	POISON(b->data, cap);
	return a->head = b;
}

void *arena_alloc(struct arena *a, size_t n, size_t size, size_t align)
{
	struct arena_block *b = a->head;
	size_t bytes;

	assert(align && (align & (align - 1)) == 0);
	assert(a->limit && a->limit <= PTRDIFF_MAX / 4);
	if (__builtin_mul_overflow(n, size, &bytes) || bytes > a->limit - a->used)
		return NULL;
	if (!b || aligned(b, align) > b->cap || bytes > b->cap - aligned(b, align))
		b = grow(a, bytes, align);
	if (!b)
		return NULL;
	unsigned char *p = b->data + aligned(b, align);
	UNPOISON(p, bytes);
	b->off = (size_t)(p - b->data) + bytes + REDZONE;
	a->used += bytes;
	return memset(p, 0, bytes);
}

char *arena_strdup(struct arena *a, const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = arena_new(a, char, n);

	return p ? memcpy(p, s, n) : NULL;
}

struct str arena_str(struct arena *a, struct str s)
{
	char *p = arena_new(a, char, s.n + 1);

	if (p && s.n)
		memcpy(p, s.p, s.n);
	return (struct str){ p, p ? s.n : 0 };
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	p = n < 0 ? NULL : arena_new(a, char, n + 1);
	if (!p)
		return NULL;
	va_start(ap, fmt);
	(void)vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}

void arena_reset(struct arena *a)
{
	while (a->head && a->head->next) {
		struct arena_block *old = a->head->next;

		a->head->next = old->next;
		free(old);
	}
	if (a->head) {
		a->head->off = 0;
		POISON(a->head->data, a->head->cap);
	}
	a->used = 0;
}

void arena_done(struct arena *a)
{
	arena_reset(a);
	free(a->head);
	a->head = NULL;
}
