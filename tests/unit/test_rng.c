/* test_rng.c - known answers of Philox4x32-10 (Salmon et al., SC 2011) and the stream over it. */
#include "base/rng.h"

#include <math.h>

#include "test.h"

static void known_answers(void **state)
{
	static const struct {
		uint64_t key;
		uint32_t ctr[4], want[4];
	} kat[] = {
		{ 0, { 0, 0, 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
		{ UINT64_MAX,
		  { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX },
		  { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
		{ 0x299f31d0a4093822,
		  { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
		  { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof kat / sizeof *kat; i++) {
		uint32_t got[4];

		rng_philox(kat[i].key, kat[i].ctr, got);
		assert_memory_equal(got, kat[i].want, sizeof got);
	}
}

/* The stream is the blocks (0, 1, ...; purpose, a, b) one word after the other. */
static void stream_is_the_counter(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 7, RNG_DATA, 5, 6);
	for (uint32_t block = 0; block < 3; block++) {
		uint32_t ctr[4] = { block, (uint32_t)RNG_DATA << 24, 5, 6 }, want[4];

		rng_philox(7, ctr, want);
		for (int i = 0; i < 4; i++)
			assert_int_equal(rng_u32(&r), want[i]);
	}
}

static void below_is_even(void **state)
{
	struct rng r;
	int count[6] = { 0 }, n = 60000;
	double chi2 = 0;

	(void)state;
	rng_init(&r, 1, RNG_ORDER, 0, 0);
	for (int i = 0; i < n; i++) {
		uint32_t x = rng_below(&r, 6);

		assert_true(x < 6);
		count[x]++;
	}
	for (int i = 0; i < 6; i++)
		chi2 += (count[i] - n / 6.0) * (count[i] - n / 6.0) / (n / 6.0);
	assert_true(chi2 < 20.5); /* 0.1 % of right generators exceed it; the seed is fixed */
	assert_int_equal(rng_below(&r, 1), 0);
}

static void units_and_normals(void **state)
{
	struct rng r;
	double sum = 0, sum2 = 0, low = 1, high = 0;
	int n = 50000;

	(void)state;
	rng_init(&r, 2, RNG_WEIGHTS, 0, 0);
	for (int i = 0; i < n; i++) {
		double u = rng_unit(&r), x = rng_normal(&r);

		low = u < low ? u : low;
		high = u > high ? u : high;
		sum += x;
		sum2 += x * x;
	}
	assert_true(low > 0 && low < 1e-3 && high < 1 && high > 1 - 1e-3);
	assert_true(fabs(sum / n) < 0.02 && fabs(sum2 / n - 1) < 0.03);
	assert_true(rng_to_unit(0) > 0 && rng_to_unit(UINT32_MAX) < 1);
}

static void shuffle_keeps_the_elements(void **state)
{
	struct rng r;
	int x[50], seen[50] = { 0 }, moved = 0;

	(void)state;
	for (int i = 0; i < 50; i++)
		x[i] = i;
	rng_init(&r, 3, RNG_ORDER, 0, 0);
	rng_shuffle(&r, x, 50);
	for (int i = 0; i < 50; i++) {
		assert_true(x[i] >= 0 && x[i] < 50 && !seen[x[i]]);
		seen[x[i]] = 1;
		moved += x[i] != i;
	}
	assert_true(moved > 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(stream_is_the_counter),
		cmocka_unit_test(below_is_even),
		cmocka_unit_test(units_and_normals),
		cmocka_unit_test(shuffle_keeps_the_elements),
	};

	return RUN(tests);
}
