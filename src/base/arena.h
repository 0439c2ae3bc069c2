/* arena.h - bump allocator: everything in it lives until arena_reset() or arena_done().
 *
 *	AUTO_ARENA a = { .limit = 1 << 20 };
 *	double *x = arena_new(&a, double, n);
 *
 * Memory is zeroed. The limit counts bytes handed out and must be set: what grows has a
 * maximum. NULL means that the limit or the system's memory is reached. Under ASan, freed
 * and not yet handed-out bytes are poisoned and blocks stand apart, so that a use after
 * reset and an overrun are reported. One owner.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/str.h"

#include <stdalign.h>
#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *head;
	size_t used, limit; /* bytes */
};

void *arena_alloc(struct arena *a, size_t n, size_t size, size_t align);
char *arena_strdup(struct arena *a, const char *s);
/* A copy of s with a NUL behind it that does not count; .p is NULL when the limit is reached. */
struct str arena_str(struct arena *a, struct str s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_reset(struct arena *a); /* keeps one block for the next round */
void arena_done(struct arena *a);

#define arena_new(a, T, n) ((T *)arena_alloc((a), (size_t)(n), sizeof(T), alignof(T)))
#define AUTO_ARENA         __attribute__((cleanup(arena_done))) struct arena

#endif
