/* Selectors: epochs, order by seed, saved states. */
#include "select/select.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

#include "family.h"

enum { N = 10 };

static struct tasks make_tasks(struct arena *a, int n)
{
	struct tasks t = { .n = n, .task = arena_new(a, struct task, n) };

	for (int i = 0; i < n; i++) {
		char *id = arena_printf(a, "task-%d", i);

		t.task[i].id = (struct str){ id, strlen(id) };
	}
	return t;
}

static const struct select_fn *find(const char *name)
{
	return (const struct select_fn *)part_find(PART_TABLE(select_table), name);
}

static struct selector *begin(const struct select_fn *f, const struct tasks *t)
{
	struct selector *s = NULL;

	assert_int_equal(f->start(NULL, t, &s, NULL), 0);
	return s;
}

/* Tasks of one pick, none twice. */
static int take(const struct select_fn *f, struct selector *s, uint64_t seed, int want, int *ret)
{
	struct select_ask ask = { 0, seed, want, 8 };
	struct picked p[32];
	int n;

	assert_int_equal(f->pick(s, &ask, p, &n, NULL), 0);
	for (int i = 0; i < n; i++) {
		ret[i] = p[i].task;
		assert_int_equal(p[i].samples, 8);
		assert_in_range(p[i].task, 0, N - 1);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(p[k].task, p[i].task);
	}
	return n;
}

static void an_epoch_has_every_task_once(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct tasks t = make_tasks(&a, N);
	const struct select_fn *f = find("uniform");

	(void)state;
	for (int want = 1; want <= 12; want++) {
		struct selector *s = begin(f, &t);
		int seen[N] = { 0 }, got[32], total = 0;

		for (int step = 0; step < 40; step++) {
			int n = take(f, s, 5, want, got), min = 1 << 20, max = 0;

			assert_int_equal(n, want < N ? want : N);
			total += n;
			for (int i = 0; i < n; i++)
				seen[got[i]]++;
			for (int i = 0; i < N; i++) {
				min = seen[i] < min ? seen[i] : min;
				max = seen[i] > max ? seen[i] : max;
			}
			assert_true(max - min <= 2 && total / N >= min);
			if (total % N == 0)
				assert_int_equal(min, max);
		}
		f->free(s);
	}
}

static void order_depends_on_seed_and_epoch(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct tasks t = make_tasks(&a, N);
	const struct select_fn *f = find("uniform");
	struct selector *s1 = begin(f, &t), *s2 = begin(f, &t), *s3 = begin(f, &t);
	int x1[N], x2[N], x3[N], y1[N];

	(void)state;
	(void)take(f, s1, 5, N, x1);
	(void)take(f, s2, 5, N, x2);
	(void)take(f, s3, 6, N, x3);
	(void)take(f, s1, 5, N, y1);
	assert_memory_equal(x1, x2, sizeof x1);
	assert_memory_not_equal(x1, x3, sizeof x1);
	assert_memory_not_equal(x1, y1, sizeof x1);
	f->free(s1), f->free(s2), f->free(s3);
}

static void a_saved_state_goes_on(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct tasks t = make_tasks(&a, N);
	const struct select_fn *f = find("uniform");
	struct selector *s = begin(f, &t);
	int x[32], y[32];

	(void)state;
	for (int step = 0; step < 30; step++) {
		struct selector *again = begin(f, &t);
		AUTO_BUF text = { .max = 1 << 12 };
		struct jsonw w = { &text };
		const struct json *j;
		struct err e;

		f->save(s, &w);
		assert_int_equal(json_parse(buf_str(&text), &a, &j, &e), 0);
		if (f->load(again, j, &e) < 0)
			fail_msg("%s", e.msg);
		assert_int_equal(take(f, s, 5, 7, x), take(f, again, 5, 7, y));
		assert_memory_equal(x, y, 7 * sizeof *x);
		f->free(again);
	}
	f->free(s);
}

static void a_state_of_other_tasks_is_refused(void **state)
{
	static const char *const bad[] = {
		"null",
		"{}",
		"{\"epoch\":0,\"position\":0,\"held\":[],\"tasks\":\"0000000000000000\"}",
		"{\"epoch\":0,\"position\":11,\"held\":[],\"tasks\":\"%s\"}",
		"{\"epoch\":0,\"position\":0,\"held\":[10],\"tasks\":\"%s\"}",
		"{\"epoch\":0,\"position\":0,\"held\":[1,1],\"tasks\":\"%s\"}",
		"{\"epoch\":0,\"position\":0,\"held\":[\"x\"],\"tasks\":\"%s\"}",
		"{\"epoch\":0,\"position\":0,\"tasks\":\"%s\"}",
	};
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct tasks t = make_tasks(&a, N);
	const struct select_fn *f = find("uniform");
	struct selector *s = begin(f, &t);
	AUTO_BUF text = { .max = 1 << 12 };
	struct jsonw w = { &text };
	const struct json *j;
	struct err e;
	char set[17] = { 0 };

	(void)state;
	f->save(s, &w);
	memcpy(set, strstr(buf_cstr(&text), "tasks") + 8, 16);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		const char *at = strstr(bad[i], "%s");
		char *full =
			at ? arena_printf(&a, "%.*s%s%s", (int)(at - bad[i]), bad[i], set, at + 2)
			   : arena_strdup(&a, bad[i]);

		assert_int_equal(json_parse((struct str){ full, strlen(full) }, &a, &j, &e), 0);
		assert_true(f->load(s, j, &e) < 0);
		assert_non_null(strstr(e.msg, "state of selector uniform"));
	}
	f->free(s);
}

static void selectors_are_described(void **state)
{
	(void)state;
	for (int i = 0; select_table[i]; i++)
		assert_true(family_described(select_table[i]->name, select_table[i]->doc,
		                             select_table[i]->source));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_epoch_has_every_task_once),
		cmocka_unit_test(order_depends_on_seed_and_epoch),
		cmocka_unit_test(a_saved_state_goes_on),
		cmocka_unit_test(a_state_of_other_tasks_is_refused),
		cmocka_unit_test(selectors_are_described),
	};

	return RUN(tests);
}
