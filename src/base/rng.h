/* rng.h - counter-based random numbers: Philox4x32-10.
 *
 * A number is a pure function of (seed, counter): it does not depend on what else was drawn, on
 * threads or on the order of work. Source: Salmon et al., "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

enum rng_purpose { /* bits 24..31 of counter word 1 */
	           RNG_SAMPLE = 0,
	           RNG_WEIGHTS = 1,
	           RNG_ORDER = 2,
	           RNG_SELECT = 3,
	           RNG_DATA = 4,
};

/* Ten rounds on counter ctr with key seed; ret: four independent words. */
void rng_philox(uint64_t seed, const uint32_t ctr[4], uint32_t ret[4]);

/* Inside (0, 1): ((word >> 8) + 0.5) * 2^-24, exact. In a float the largest would round to 1. */
static inline double rng_to_unit(uint32_t word)
{
	return ((double)(word >> 8) + 0.5) * 0x1p-24;
}

/* A sequential stream over counters (0.., purpose, a, b) for code that needs many numbers.
 * One owner.
 */
struct rng {
	uint64_t seed;
	uint32_t ctr[4], word[4];
	int left;
};

void rng_init(struct rng *r, uint64_t seed, enum rng_purpose purpose, uint32_t a, uint32_t b);
uint32_t rng_u32(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t n); /* 0..n-1, without bias; n >= 1 */
double rng_unit(struct rng *r);                /* inside (0, 1), 53 bits */
double rng_normal(struct rng *r);              /* mean 0, variance 1 (Box-Muller, cosine half) */
void rng_shuffle(struct rng *r, int *x, int n);

#endif
