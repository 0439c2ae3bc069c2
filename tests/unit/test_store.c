/* The run store: steps are whole, cut off and made whole again, one writer, full disks. */
#include "store/store.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "store/store_query.h"

#include "test.h"

#include "batches.h"

static char root[] = "/tmp/cupel-store-XXXXXX";
static char path[256];

static const char *at(const char *name)
{
	(void)snprintf(path, sizeof path, "%s/%s", root, name);
	return path;
}

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	(void)state;
	return io_remove_tree(root, NULL);
}

static char *slurp(struct arena *a, const char *name)
{
	AUTO_BUF b = { .max = 1 << 20 };
	struct err e;

	if (io_load(at(name), &b, &e) < 0)
		fail_msg("%s", e.msg);
	return arena_strdup(a, buf_cstr(&b));
}

/* The only number that a query gives, in the database of run name. */
static int64_t ask(const char *name, const char *sql)
{
	char file[300];
	sqlite3 *db;
	sqlite3_stmt *q;
	int64_t v;

	(void)snprintf(file, sizeof file, "%s/run.sqlite", at(name));
	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	v = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	sqlite3_close(db);
	return v;
}

/* Two groups of two samples; text with a NUL and no UTF-8; ids 4 * step + 0..3. */
static struct batch make_step(struct arena *a, int64_t step)
{
	static const int len[2] = { 2, 3 };
	struct group *g = arena_new(a, struct group, 2);
	struct tested *t = arena_new(a, struct tested, 2);
	struct batch b;

	g[0] = make_group(a, "one", 2, len);
	g[1] = make_group(a, "two", 2, len);
	set_rewards(&g[0], (double[]){ 1, .25 });
	set_rewards(&g[1], (double[]){ NAN, 0 });
	g[1].silent = true;
	g[1].sample[0].verdict = VERDICT_JUDGE_ERROR;
	g[0].sample[0].verdict = VERDICT_ACCEPTED;
	g[0].sample[1].parent = 0;
	t[0] = (struct tested){ .name = STR("a"), .verdict = VERDICT_ACCEPTED, .weight = 1 };
	t[1] = (struct tested){ .name = STR("b"), .verdict = VERDICT_SKIPPED, .weight = 1 };
	b = make_batch(a, 2, g);
	b.n_rewards = 1;
	for (int i = 0; i < 4; i++) {
		struct sample *s = batch_sample(&b, i);

		s->id = 4 * step + i;
		s->text = STR("x\0y\xff");
		s->n_tests = 2;
		s->test = t;
		s->part = arena_new(a, struct score, 1);
		s->part[0] = s->reward;
	}
	return b;
}

static struct store *must_open(const char *name, bool resume)
{
	struct store *s = NULL;
	struct err e;

	if (store_open(at(name), resume, &s, &e) < 0)
		fail_msg("%s", e.msg);
	return s;
}

static void put_step(struct store *s, int64_t step)
{
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct batch b = make_step(&a, step);
	const double adv[4] = { 1, -1, NAN, 0 };
	const struct metric m[] = { { "reward", .1 * (double)step },
		                    { "kl", -0.0 },
		                    { "entropy", step == 1 ? NAN : 1.5 } };
	struct err e;

	if (store_step(s, step, &b, adv, m, 3, &e) < 0)
		fail_msg("%s", e.msg);
}

static void a_step_is_all_there(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct store *s = must_open("all/of/it", false);
	struct store_summary sum;
	struct store_point *p;
	int64_t n = -1;
	double mean = -1;
	int n_points;
	struct err e;

	(void)state;
	assert_string_equal(store_dir(s), at("all/of/it"));
	assert_int_equal(store_config(s, STR("{\"seed\":1}"), &e), 0);
	put_step(s, 0);
	put_step(s, 1);
	assert_int_equal(
		store_step(s, 1, NULL, NULL, (struct metric[]){ { "eval/pass@1", .5 } }, 1, &e), 0);
	assert_int_equal(store_task_seen(s, STR("one"), &n, &mean, &e), 0);
	assert_true(n == 4 && mean == .625);
	assert_int_equal(store_task_seen(s, STR("none"), &n, &mean, &e), 0);
	assert_true(n == 0 && mean == 0);
	/* readers look on while the run is open */
	assert_int_equal(store_summarize(at("all/of/it"), &a, &sum, &e), 0);
	assert_true(sum.n_steps == 2 && sum.last_step == 1 && sum.n_groups == 4);
	assert_true(sum.n_silent == 2 && sum.n_samples == 8 && sum.n_rewarded == 6);
	assert_true(sum.n_sampled_tok == 20 && fabs(sum.mean_reward - 2.5 / 6) < 1e-12);
	assert_true(sum.by_verdict[VERDICT_ACCEPTED] == 2);
	assert_true(sum.by_verdict[VERDICT_JUDGE_ERROR] == 2 && !sum.checkpoint);
	assert_true(str_is(sum.config, "{\"seed\":1}") && sum.created_s > 0);
	assert_int_equal(sum.n_metrics, 4);
	assert_string_equal(sum.metric[3].name, "reward");
	assert_true(sum.metric[3].value == .1 && isnan(sum.metric[0].value));
	store_close(s);
	assert_int_equal(store_series(at("all/of/it"), "reward", &a, &p, &n_points, &e), 0);
	assert_true(n_points == 2 && p[1].step == 1 && p[1].value == .1 && p[0].value == 0);
	assert_string_equal(slurp(&a, "all/of/it/metrics.jsonl"),
	                    "{\"step\":0,\"reward\":0,\"kl\":0,\"entropy\":1.5}\n"
	                    "{\"step\":1,\"reward\":0.1,\"kl\":0,\"entropy\":null}\n"
	                    "{\"step\":1,\"eval/pass@1\":0.5}\n");
	assert_string_equal(slurp(&a, "all/of/it/config.json"), "{\"seed\":1}");
	assert_int_equal(ask("all/of/it", "SELECT count(*) FROM tests WHERE verdict = 'skipped'"),
	                 8);
	assert_int_equal(ask("all/of/it", "SELECT length(CAST(text AS BLOB)) FROM samples"), 4);
	assert_int_equal(ask("all/of/it", "SELECT count(*) FROM samples WHERE parent = 0"), 2);
	assert_int_equal(ask("all/of/it", "SELECT count(*) FROM samples WHERE reward IS NULL"
	                                  " AND advantage IS NULL AND verdict = 'judge_error'"),
	                 2);
	assert_int_equal(ask("all/of/it", "SELECT judge_errors FROM task_outcomes"
	                                  " WHERE task_id = 'two'"),
	                 2);
	assert_int_equal(ask("all/of/it", "SELECT count(*) FROM rewards WHERE reward IS NULL"), 2);
}

static void what_is_cut_off_can_be_written_again(void **state)
{
	static const char *const tables[] = { "steps",   "groups", "samples",
		                              "rewards", "tests",  "metrics" };
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct store *s = must_open("whole", false);

	(void)state;
	for (int64_t step = 0; step < 4; step++)
		put_step(s, step);
	store_close(s);
	s = must_open("cut", false);
	for (int64_t step = 0; step < 3; step++)
		put_step(s, step);
	store_close(s);
	s = must_open("cut", true);
	assert_int_equal(store_truncate(s, 1, NULL), 0);
	assert_int_equal(ask("cut", "SELECT count(*) FROM tests"), 8);
	for (int64_t step = 1; step < 4; step++)
		put_step(s, step);
	store_close(s);
	assert_string_equal(slurp(&a, "whole/metrics.jsonl"), slurp(&a, "cut/metrics.jsonl"));
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		char *sql = arena_printf(&a, "ATTACH '%s/run.sqlite' AS o", at("whole"));
		char file[300];
		sqlite3 *db;
		sqlite3_stmt *q;

		(void)snprintf(file, sizeof file, "%s/run.sqlite", at("cut"));
		assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
		sql = arena_printf(
			&a,
			"SELECT (SELECT count(*) FROM (SELECT * FROM o.%s EXCEPT SELECT *"
			" FROM main.%s)) + abs((SELECT count(*) FROM o.%s) -"
			" (SELECT count(*) FROM main.%s))",
			tables[i], tables[i], tables[i], tables[i]);
		assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
		assert_int_equal(sqlite3_step(q), SQLITE_ROW);
		assert_int_equal(sqlite3_column_int64(q, 0), 0);
		sqlite3_finalize(q);
		sqlite3_close(db);
	}
}

static void a_broken_copy_is_made_whole(void **state)
{
	static const char *const damage[] = {
		"", "{\"step\":0,\"rew", "nonsense\n",
		"{\"step\":0,\"reward\":0,\"kl\":0,\"entropy\":1.5}\n{"
	};
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct store *s = must_open("copy", false);
	const char *want;

	(void)state;
	put_step(s, 0);
	put_step(s, 1);
	store_close(s);
	want = slurp(&a, "copy/metrics.jsonl");
	for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
		FILE *f = fopen(at("copy/metrics.jsonl"), "w");

		assert_non_null(f);
		assert_true(fputs(damage[i], f) >= 0 && fclose(f) == 0);
		store_close(must_open("copy", true));
		assert_string_equal(slurp(&a, "copy/metrics.jsonl"), want);
	}
	{
		FILE *f = fopen(at("copy/metrics.jsonl"), "a"); /* more than there ought to be */

		assert_non_null(f);
		assert_true(fputs("{\"step\":2}\n", f) >= 0 && fclose(f) == 0);
		store_close(must_open("copy", true));
		assert_string_equal(slurp(&a, "copy/metrics.jsonl"), want);
	}
}

static void a_run_has_one_writer(void **state)
{
	struct store *s = must_open("one", false), *other;
	struct err e;

	(void)state;
	assert_int_equal(store_open(at("one"), true, &other, &e), ERR_SYS);
	assert_non_null(strstr(e.msg, "another process writes to this run"));
	store_close(s);
	assert_int_equal(store_open(at("one"), false, &other, &e), ERR_RANGE);
	assert_non_null(strstr(e.msg, "already holds a run"));
	store_close(must_open("one", true));
	store_close(must_open("new", true)); /* nothing there yet: begins */
}

static void where_nothing_can_be_written_it_says_so(void **state)
{
	struct store *s;
	struct err e;
	FILE *f = fopen(at("file"), "w");

	(void)state;
	assert_true(f && fclose(f) == 0);
	assert_int_equal(store_open(at("file/run"), false, &s, &e), ERR_SYS);
	assert_non_null(strstr(e.msg, at("file")));
	assert_int_equal(store_open("/proc/self/run", false, &s, &e), ERR_SYS);
	assert_non_null(strstr(e.msg, "/proc/self/run"));
	if (geteuid() == 0)
		return; /* root may write everywhere */
	assert_int_equal(mkdir(at("closed"), 0555), 0);
	assert_int_equal(store_open(at("closed/run"), false, &s, &e), ERR_SYS);
	assert_non_null(strstr(e.msg, "Permission denied"));
}

static void a_run_without_write_permission_can_be_read(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct store *s = must_open("a?b#c%d", false);
	struct store_summary sum;
	struct err e;

	(void)state;
	put_step(s, 0);
	store_close(s);
	assert_int_equal(chmod(at("a?b#c%d"), 0555), 0);
	if (store_summarize(at("a?b#c%d"), &a, &sum, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(sum.n_samples, 4);
	assert_int_equal(chmod(at("a?b#c%d"), 0755), 0);
}

static void a_full_disk_loses_one_step_only(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct store *s = must_open("full", false);
	struct rlimit old, tight;
	struct batch b = make_step(&a, 1);
	struct str big = { arena_new(&a, char, 300000), 300000 };
	struct err e = { 0 };

	(void)state;
	put_step(s, 0);
	memset((char *)(uintptr_t)big.p, 'x', big.n);
	batch_sample(&b, 0)->text = big;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	tight = (struct rlimit){ 200000, old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	assert_true(store_step(s, 1, &b, NULL, (struct metric[]){ { "reward", 1 } }, 1, &e) < 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_non_null(strstr(e.msg, "run store, step 1: "));
	assert_non_null(strstr(e.msg, "full/run.sqlite"));
	store_close(s);
	assert_int_equal(ask("full", "SELECT count(*) FROM samples"), 4);
	s = must_open("full", true);
	assert_int_equal(store_truncate(s, 1, &e), 0);
	put_step(s, 1);
	store_close(s);
	assert_int_equal(ask("full", "SELECT count(*) FROM samples"), 8);
}

static void other_files_are_refused(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct store_summary sum;
	struct store *s;
	struct err e;
	FILE *f;

	(void)state;
	assert_int_equal(store_summarize(at("nowhere"), &a, &sum, &e), ERR_NOENT);
	assert_int_equal(mkdir(at("junk"), 0777), 0);
	f = fopen(at("junk/run.sqlite"), "w");
	assert_true(f && fprintf(f, "%1000d", 1) == 1000 && fclose(f) == 0);
	assert_int_equal(store_open(at("junk"), true, &s, &e), ERR_PARSE);
	assert_int_equal(store_summarize(at("junk"), &a, &sum, &e), ERR_PARSE);
	store_close(must_open("later", false));
	{
		char file[300];
		sqlite3 *db;

		(void)snprintf(file, sizeof file, "%s/run.sqlite", at("later"));
		assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 99", 0, 0, 0), SQLITE_OK);
		sqlite3_close(db);
	}
	assert_int_equal(store_open(at("later"), true, &s, &e), ERR_RANGE);
	assert_non_null(strstr(e.msg, "has schema 99"));
	assert_int_equal(store_summarize(at("later"), &a, &sum, &e), ERR_RANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_all_there),
		cmocka_unit_test(what_is_cut_off_can_be_written_again),
		cmocka_unit_test(a_broken_copy_is_made_whole),
		cmocka_unit_test(a_run_has_one_writer),
		cmocka_unit_test(where_nothing_can_be_written_it_says_so),
		cmocka_unit_test(a_run_without_write_permission_can_be_read),
		cmocka_unit_test(a_full_disk_loses_one_step_only),
		cmocka_unit_test(other_files_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_root, remove_root);
}
