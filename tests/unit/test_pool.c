/* The thread pool: every item once, really in parallel, asleep between batches. */
#include "base/pool.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "test.h"

enum { N = 200 };

struct job {
	atomic_int count[N];
	atomic_int now, most;
	int sleepy;
};

static void work(void *arg, int i)
{
	struct job *j = arg;
	int now = atomic_fetch_add(&j->now, 1) + 1, most = atomic_load(&j->most);

	while (now > most && !atomic_compare_exchange_weak(&j->most, &most, now))
		;
	if (j->sleepy && i % 7 == 0)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	atomic_fetch_add(&j->count[i], 1);
	atomic_fetch_sub(&j->now, 1);
}

static void every_item_once(void **state)
{
	(void)state;
	for (int threads = 1; threads <= 4; threads++) {
		struct pool *p = NULL;
		struct err e;

		assert_int_equal(pool_new(threads, &p, &e), 0);
		assert_int_equal(pool_threads(p), threads);
		for (int round = 0; round < 20; round++) {
			struct job j = { .sleepy = round % 5 == 0 };
			int n = round == 1 ? 0 : round == 2 ? 1 : N;

			pool_run(p, n, work, &j);
			for (int i = 0; i < N; i++)
				assert_int_equal(j.count[i], i < n);
			assert_true(j.now == 0 && j.most <= threads);
		}
		pool_free(p);
	}
}

/* Two items that wait for each other: both threads really run. */
static void meet(void *arg, int i)
{
	atomic_int *there = arg;

	(void)i;
	atomic_fetch_add(there, 1);
	for (int k = 0; k < 20000 && atomic_load(there) < 2; k++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void threads_run_at_the_same_time(void **state)
{
	atomic_int there = 0;
	struct pool *p = NULL;

	(void)state;
	assert_int_equal(pool_new(2, &p, NULL), 0);
	pool_run(p, 2, meet, &there);
	assert_int_equal(there, 2);
	pool_free(p);
}

/* A waiting pool uses no CPU time. */
static void sleeps_between_batches(void **state)
{
	struct pool *p = NULL;
	clock_t before;

	(void)state;
	assert_int_equal(pool_new(4, &p, NULL), 0);
	before = clock();
	nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
	assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 0.1);
	pool_free(p);
}

static void bad_sizes(void **state)
{
	struct pool *p = NULL;
	struct err e;

	(void)state;
	assert_int_equal(pool_new(0, &p, &e), ERR_RANGE);
	assert_int_equal(pool_new(1 << 20, &p, &e), ERR_RANGE);
	assert_null(p);
	pool_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_item_once),
		cmocka_unit_test(threads_run_at_the_same_time),
		cmocka_unit_test(sleeps_between_batches),
		cmocka_unit_test(bad_sizes),
	};

	return RUN(tests);
}
