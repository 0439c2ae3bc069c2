/* hash.c - SHA-256 by libcrypto. */
#include "base/hash.h"

#include <assert.h>
#include <openssl/evp.h>
#include <string.h>

struct hash_ctx *hash_new(void)
{
	EVP_MD_CTX *m = EVP_MD_CTX_new();

	if (m && EVP_DigestInit_ex(m, EVP_sha256(), NULL) != 1) {
		EVP_MD_CTX_free(m);
		return NULL;
	}
	return (struct hash_ctx *)m;
}

void hash_add(struct hash_ctx *c, const void *p, size_t n)
{
	int ok = EVP_DigestUpdate((EVP_MD_CTX *)c, p, n);

	assert(ok == 1);
}

struct hash hash_end(struct hash_ctx *c)
{
	struct hash h;
	unsigned n = 0;
	int ok = EVP_DigestFinal_ex((EVP_MD_CTX *)c, h.b, &n);

	assert(ok == 1 && n == HASH_BYTES);
	EVP_MD_CTX_free((EVP_MD_CTX *)c);
	return h;
}

struct hash hash_of(const struct str *part, int n)
{
	struct hash_ctx *c = hash_new();

	assert(c); /* a few hundred bytes: treated like the stack */
	for (int i = 0; i < n; i++) {
		uint64_t len = part[i].n;
		uint8_t le[8];

		for (int k = 0; k < 8; k++)
			le[k] = (uint8_t)(len >> (8 * k));
		hash_add(c, le, sizeof le);
		hash_add(c, part[i].p, part[i].n);
	}
	return hash_end(c);
}

void hash_hex(const struct hash *h, char ret[2 * HASH_BYTES + 1])
{
	static const char digit[] = "0123456789abcdef";

	for (int i = 0; i < HASH_BYTES; i++) {
		ret[2 * i] = digit[h->b[i] >> 4];
		ret[2 * i + 1] = digit[h->b[i] & 15];
	}
	ret[2 * HASH_BYTES] = 0;
}

uint64_t hash_u64(struct str s)
{
	struct hash_ctx *c = hash_new();
	struct hash h;
	uint64_t x = 0;

	assert(c);
	hash_add(c, s.p, s.n);
	h = hash_end(c);
	for (int i = 7; i >= 0; i--)
		x = x << 8 | h.b[i];
	return x;
}
