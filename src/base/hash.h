/* hash.h - SHA-256 (libcrypto): cache keys, checkpoint digests, task ids as numbers. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/str.h"

#include <stdint.h>

enum { HASH_BYTES = 32 };

struct hash {
	uint8_t b[HASH_BYTES];
};

/* Of the concatenation of n views, each preceded by its length (8 bytes, little-endian), so that
 * no two lists of views give the same input.
 */
struct hash hash_of(const struct str *part, int n);
void hash_hex(const struct hash *h, char ret[2 * HASH_BYTES + 1]);
uint64_t hash_u64(struct str s); /* the first 8 bytes of the SHA-256 of s, little-endian */

/* Incremental, for files. */
struct hash_ctx;
struct hash_ctx *hash_new(void); /* NULL: no memory */
void hash_add(struct hash_ctx *c, const void *p, size_t n);
struct hash hash_end(struct hash_ctx *c); /* frees c */

#endif
