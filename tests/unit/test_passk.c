/* test_passk.c - pass@k: the stored numbers, the edges, the mean over tasks. */
#include "test.h"

#include <math.h>

#include "eval/eval.h"

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-12))
		fail_msg("%.17g, wanted %.17g", got, want);
}

static void formula(void **state)
{
	static const struct {
		int k;
		double want;
	} x[] = { { 1, .1875 }, { 2, .35 }, { 4, 17 / 28. }, { 8, .9 }, { 16, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof x / sizeof *x; i++)
		near(passk(16, 3, x[i].k), x[i].want);
}

/* n - c < k: every choice of k holds a right one; n < k: not to be had. */
static void edges(void **state)
{
	(void)state;
	near(passk(8, 0, 8), 0);
	near(passk(8, 1, 8), 1);
	near(passk(8, 8, 1), 1);
	near(passk(8, 5, 4), 1);
	near(passk(1, 1, 1), 1);
	near(passk(1, 0, 1), 0);
	assert_true(isnan(passk(7, 7, 8)));
	assert_true(isnan(passk(0, 0, 1)));
}

/* Right answers of 100 for each HumanEval task: the CodeGen-16B samples published with
 * microsoft/CodeT, arXiv 2207.10397.
 */
static const int codet[] = {
	65, 2,  3,  0,  3,  3,  1,  5,  5,  2,  11, 0,  0,  66, 0,  0,  22, 0,  7,  0,  42,
	2,  0,  0,  65, 1,  19, 7,  2,  17, 0,  0,  0,  0,  0,  79, 0,  0,  0,  0,  0,  3,
	19, 0,  1,  0,  38, 0,  0,  9,  0,  6,  0,  12, 5,  0,  7,  44, 2,  25, 46, 5,  9,
	0,  9,  44, 9,  18, 62, 0,  0,  0,  0,  1,  56, 0,  60, 0,  35, 89, 96, 23, 48, 6,
	65, 90, 94, 23, 73, 36, 0,  0,  83, 94, 0,  2,  2,  0,  45, 40, 1,  91, 51, 50, 95,
	11, 66, 83, 71, 9,  72, 42, 69, 95, 14, 53, 57, 38, 82, 10, 1,  90, 59, 33, 27, 1,
	5,  69, 0,  9,  11, 97, 1,  10, 11, 3,  3,  0,  7,  0,  2,  43, 56, 3,  1,  6,  4,
	2,  7,  11, 8,  0,  5,  44, 3,  0,  23, 0,  5,  8,  7,  2,  23, 4,
};

enum { TASKS = sizeof codet / sizeof *codet };

static void stored_numbers(void **state)
{
	static const struct {
		int k;
		double want;
	} x[] = {
		{ 1, 0.22115853658536583 }, { 2, 0.307930524759793 },   { 4, 0.3935258580996576 },
		{ 8, 0.4766236781080737 },  { 10, 0.5037941435181967 }, { 16, 0.5618224195813157 },
		{ 32, 0.6429329457912095 }, { 64, 0.7076843010244236 }, { 100, 0.7378048780487805 },
	};
	int n[TASKS];

	(void)state;
	assert_int_equal(TASKS, 164);
	for (int i = 0; i < TASKS; i++)
		n[i] = 100;
	for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
		struct passk_mean m = passk_over(n, codet, TASKS, x[i].k);

		near(m.mean, x[i].want);
		assert_int_equal(m.n_tasks, TASKS);
		assert_true(m.low < m.mean && m.mean < m.high);
	}
}

/* Tasks that lost answers to the judge leave the means that they have too few for. */
static void lost_answers(void **state)
{
	static const int n[] = { 8, 4, 0 }, c[] = { 0, 4, 0 };
	struct passk_mean one = passk_over(n, c, 3, 1), eight = passk_over(n, c, 3, 8);

	(void)state;
	assert_int_equal(one.n_tasks, 2);
	near(one.mean, .5);
	assert_int_equal(eight.n_tasks, 1);
	near(eight.mean, 0);
	assert_true(isnan(eight.low) && isnan(eight.high));
	assert_true(isnan(passk_over(n + 2, c + 2, 1, 1).mean));
}

/* x = 0, 1, 1, 1: m = .75, s = .5, half = 1.959964 * .5 / 2; the upper end is cut to 1. */
static void interval(void **state)
{
	static const int n[] = { 1, 1, 1, 1 }, c[] = { 0, 1, 1, 1 };
	struct passk_mean m = passk_over(n, c, 4, 1);

	(void)state;
	near(m.mean, .75);
	near(m.low, .75 - 1.959964 * .25);
	near(m.high, 1);
}

static void list_of_k(void **state)
{
	struct eval_opts o = { .n = 16, .k = "1,8,16" };
	int k[EVAL_MAX_K] = { 0 }, n = 0;
	struct err e;
	static const char *const bad[] = { "", "x", "1,", "1,,2", "0", "17", "8,1", "1 8", "1,1" };

	(void)state;
	assert_int_equal(eval_parse_k(&o, k, &n, &e), 0);
	assert_int_equal(n, 3);
	assert_int_equal(k[0], 1);
	assert_int_equal(k[2], 16);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		o.k = bad[i];
		n = -1;
		if (eval_parse_k(&o, k, &n, &e) >= 0)
			fail_msg("'%s' is taken for a list", bad[i]);
		assert_int_equal(n, -1);
	}
	o.greedy = true;
	assert_int_equal(eval_parse_k(&o, k, &n, &e), 0);
	assert_true(n == 1 && k[0] == 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(formula),        cmocka_unit_test(edges),
		cmocka_unit_test(stored_numbers), cmocka_unit_test(lost_answers),
		cmocka_unit_test(interval),       cmocka_unit_test(list_of_k),
	};

	return RUN(tests);
}
