/* rng.c - Philox4x32-10 and a stream over it. */
#include "base/rng.h"

#include <math.h>

void rng_philox(uint64_t seed, const uint32_t ctr[4], uint32_t ret[4])
{
	uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
	uint32_t x0 = ctr[0], x1 = ctr[1], x2 = ctr[2], x3 = ctr[3];

	for (int round = 0; round < 10; round++) {
		uint64_t p0 = (uint64_t)0xD2511F53u * x0, p1 = (uint64_t)0xCD9E8D57u * x2;

		x0 = (uint32_t)(p1 >> 32) ^ x1 ^ k0;
		x1 = (uint32_t)p1;
		x2 = (uint32_t)(p0 >> 32) ^ x3 ^ k1;
		x3 = (uint32_t)p0;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	ret[0] = x0;
	ret[1] = x1;
	ret[2] = x2;
	ret[3] = x3;
}

void rng_init(struct rng *r, uint64_t seed, enum rng_purpose purpose, uint32_t a, uint32_t b)
{
	*r = (struct rng){ .seed = seed, .ctr = { 0, (uint32_t)purpose << 24, a, b } };
}

uint32_t rng_u32(struct rng *r)
{
	if (r->left == 0) {
		rng_philox(r->seed, r->ctr, r->word);
		r->ctr[0]++;
		r->left = 4;
	}
	return r->word[4 - r->left--];
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
	uint32_t reject = -n % n, x; /* 2^32 mod n */

	do
		x = rng_u32(r);
	while (x < reject);
	return x % n;
}

double rng_unit(struct rng *r)
{
	uint64_t hi = rng_u32(r), lo = rng_u32(r);

	return ((double)((hi << 32 | lo) >> 12) + 0.5) * 0x1p-52;
}

double rng_normal(struct rng *r)
{
	double u = rng_unit(r), v = rng_unit(r);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

void rng_shuffle(struct rng *r, int *x, int n)
{
	for (int i = n - 1; i > 0; i--) {
		int j = (int)rng_below(r, (uint32_t)i + 1), t = x[i];

		x[i] = x[j];
		x[j] = t;
	}
}
