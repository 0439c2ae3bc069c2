/* test_train_checkpoint.c - written whole or not at all; the newest ones are kept. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "train/train_checkpoint.h"

static const char *weights = "first";

/* A policy whose weights are one text. */
static int save_text(struct policy *p, const char *dir, bool with_optimizer, struct err *e)
{
	char path[4096];

	(void)p;
	assert_true(with_optimizer);
	(void)snprintf(path, sizeof path, "%s/model.safetensors", dir);
	return io_save(path, (struct str){ weights, strlen(weights) }, e);
}

static int save_fails(struct policy *p, const char *dir, bool with_optimizer, struct err *e)
{
	(void)save_text(p, dir, with_optimizer, e);
	return FAIL(e, ERR_SYS, "disk full");
}

static const struct policy_fn text_fn = { .name = "text", .save = save_text };
static const struct policy_fn full_fn = { .name = "full", .save = save_fails };
static struct policy text = { .fn = &text_fn }, full = { .fn = &full_fn };
static char run[64];

static int make_run(void **state)
{
	(void)state;
	(void)snprintf(run, sizeof run, "/tmp/cupel-test-XXXXXX");
	return mkdtemp(run) ? 0 : -1;
}

static int remove_run(void **state)
{
	(void)state;
	return io_remove_tree(run, NULL);
}

static void save(int64_t step, int keep)
{
	struct train_state s = { .step = step,
		                 .version = 2 * step,
		                 .next_sample = 100 * step,
		                 .seed = 7,
		                 .selector = STR("{\"epoch\":3}"),
		                 .identity = "abc" };
	struct err e = { 0 };

	if (train_checkpoint_save(run, &s, &text, keep, &e) < 0)
		fail_msg("%s", e.msg);
}

static int64_t newest(void)
{
	int64_t step = -2;
	struct err e;

	assert_int_equal(train_checkpoint_find(run, &step, &e), 0);
	return step;
}

static bool there(const char *file)
{
	char path[4096];

	(void)snprintf(path, sizeof path, "%s/%s", run, file);
	return io_exists(path);
}

static void round_trip(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct train_state s = { 0 };
	struct str epoch;
	char to[64] = "", link[128];
	struct err e;

	(void)state;
	assert_int_equal(newest(), -1);
	save(3, 2);
	assert_int_equal(newest(), 3);
	assert_int_equal(train_checkpoint_read(run, 3, &a, &s, &e), 0);
	assert_true(s.step == 3 && s.version == 6 && s.next_sample == 300 && s.seed == 7);
	assert_false(s.eval_due);
	assert_string_equal(s.identity, "abc");
	epoch = json_get(s.selector_json, "epoch")->text;
	assert_true(str_is(epoch, "3"));
	(void)snprintf(link, sizeof link, "%s/checkpoint", run);
	assert_true(readlink(link, to, sizeof to - 1) > 0);
	assert_string_equal(to, "checkpoints/step_3");
	assert_true(there("checkpoint/COMPLETE"));
}

static void only_the_newest_stay(void **state)
{
	(void)state;
	save(8, 2);
	save(9, 2);
	save(10, 2); /* ten is more than nine, whatever the names say */
	assert_true(there("checkpoints/step_10") && there("checkpoints/step_9"));
	assert_false(there("checkpoints/step_8"));
	assert_int_equal(newest(), 10);
}

/* What has no mark was not finished: it is no checkpoint, and it goes. */
static void half_written(void **state)
{
	char path[128];

	(void)state;
	save(1, 2);
	(void)snprintf(path, sizeof path, "%s/checkpoints/step_2", run);
	assert_int_equal(mkdir(path, 0777), 0);
	(void)snprintf(path, sizeof path, "%s/checkpoints/step_3.tmp", run);
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(newest(), 1);
	assert_false(there("checkpoints/step_2") || there("checkpoints/step_3.tmp"));
}

static void a_failed_save_changes_nothing(void **state)
{
	struct train_state s = { .step = 2, .identity = "abc" };
	struct err e = { 0 };

	(void)state;
	save(1, 2);
	assert_int_equal(train_checkpoint_save(run, &s, &full, 2, &e), ERR_SYS);
	assert_non_null(strstr(e.msg, "disk full"));
	assert_non_null(strstr(e.msg, "step 2"));
	assert_int_equal(newest(), 1);
	assert_true(there("checkpoint/COMPLETE"));
}

/* Saved again after its evaluation: only the state is written. */
static void second_save_of_a_step(void **state)
{
	struct train_state s = { .step = 4, .identity = "abc", .eval_due = true };
	AUTO_ARENA a = { .limit = 1 << 20 };
	AUTO_BUF b = { .max = 100 };
	char path[128];
	struct err e;

	(void)state;
	assert_int_equal(train_checkpoint_save(run, &s, &text, 2, &e), 0);
	weights = "second";
	s.eval_due = false;
	assert_int_equal(train_checkpoint_save(run, &s, &text, 2, &e), 0);
	weights = "first";
	assert_int_equal(train_checkpoint_read(run, 4, &a, &s, &e), 0);
	assert_false(s.eval_due);
	assert_null(s.selector_json);
	(void)snprintf(path, sizeof path, "%s/checkpoint/model.safetensors", run);
	assert_int_equal(io_load(path, &b, &e), 0);
	assert_true(str_is(buf_str(&b), "first"));
}

static void broken_state(void **state)
{
	static const char *const bad[] = { "", "[]", "{\"step\":5}",
		                           "{\"step\":6,\"config_sha256\":\"abc\"}" };
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct train_state s = { .step = -7 };
	char path[128];
	struct err e;

	(void)state;
	save(5, 2);
	(void)snprintf(path, sizeof path, "%s/checkpoints/step_5/trainer.json", run);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(io_save(path, (struct str){ bad[i], strlen(bad[i]) }, &e), 0);
		assert_int_equal(train_checkpoint_read(run, 5, &a, &s, &e), ERR_PARSE);
		assert_non_null(strstr(e.msg, "trainer.json"));
		assert_int_equal(s.step, -7);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_run, remove_run)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(round_trip),
		TEST(only_the_newest_stay),
		TEST(half_written),
		TEST(a_failed_save_changes_nothing),
		TEST(second_save_of_a_step),
		TEST(broken_state),
	};

	return RUN(tests);
}
