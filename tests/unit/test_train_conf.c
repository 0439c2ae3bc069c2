/* test_train_conf.c - learning rates; what identifies a run; records of a warm start. */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "train/sft.h"
#include "train/train_run.h"

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-12))
		fail_msg("%.17g, wanted %.17g", got, want);
}

static void learning_rate(void **state)
{
	struct train_opts o = { .lr = 8 };

	(void)state;
	near(train_lr(&o, 1, 10), 8);
	near(train_lr(&o, 10, 10), 8);
	o.warmup = 4;
	near(train_lr(&o, 1, 10), 2);
	near(train_lr(&o, 4, 10), 8);
	near(train_lr(&o, 5, 10), 8);
	o.schedule = SCHEDULE_LINEAR; /* p = (step - 5) / 6 */
	near(train_lr(&o, 5, 10), 8);
	near(train_lr(&o, 8, 10), 4);
	near(train_lr(&o, 10, 10), 8 / 6.);
	o.schedule = SCHEDULE_COSINE;
	near(train_lr(&o, 5, 10), 8);
	near(train_lr(&o, 8, 10), 4);
	near(train_lr(&o, 7, 10), 6);
	o.warmup = 0.2; /* of 10: two steps */
	near(train_lr(&o, 1, 10), 4);
	near(train_lr(&o, 2, 10), 8);
	near(train_lr(&o, 3, 10), 8);
	o.warmup = 0.01; /* less than a step: none */
	near(train_lr(&o, 1, 10), 8);
	o.warmup = 100; /* longer than the run */
	near(train_lr(&o, 10, 10), 0.8);
}

/* A resumed run may change where it saves and how many threads it has, nothing else. */
static void identity(void **state)
{
	static const char *const argv[][4] = {
		{ "train", "--seed=1", NULL },
		{ "train", "--train.threads=7", "--train.out=x", NULL },
		{ "train", "--train.lr=1e-4", NULL }, /* the default, said aloud */
		{ "train", "--train.lr=2e-4", NULL },
		{ "train", "--adv=rloo", NULL },
	};
	static const bool same[] = { true, true, true, false, false };
	char hash[5][65];

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct train_opts o;
		struct conf_part adv;
		struct str text;
		struct err e;
		AUTO_CONF c;
		int n = 0;

		while (argv[i][n])
			n++;
		assert_int_equal(conf_init(&c, "train", ""), 0);
		conf_short(&c, "seed", "train.seed");
		if (conf_read(&c, n, (char **)(uintptr_t)argv[i], &e) < 0 ||
		    conf_part(&c, "adv", PART_TABLE(adv_table), "grpo", &adv, &e) < 0 ||
		    train_opts_bind(&c, false, &o, &e) < 0 || conf_end(&c, &e) < 0 ||
		    train_conf_identity(&c, &c.a, &text, &e) < 0)
			fail_msg("%s", e.msg);
		train_identity_hash(text, hash[i]);
		assert_int_equal(strcmp(hash[i], hash[0]) == 0, same[i]);
	}
}

static void write_text(char *path, const char *text)
{
	int fd;

	memcpy(path, "/tmp/cupel-test-XXXXXX", 23);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(io_write(fd, text, strlen(text), NULL), 0);
	(void)close(fd);
}

static void records(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct sft_texts t = { 0 };
	struct sft_set s = { 0 };
	struct tok *tok;
	char path[64];
	struct err e;
	static const char *const special[] = { "<end>", NULL };
	struct str text = STR("zz");

	(void)state;
	write_text(path, "{\"prompt\":\"ab\",\"completion\":\"cde\"}\n\n"
	                 "{\"task_id\":\"t\",\"completion\":\"\",\"prompt\":\"0123456789\"}\n"
	                 "{\"prompt\":\"p\",\"completion\":\"\"}\n");
	assert_int_equal(sft_read(path, &a, &t, &e), 0);
	(void)unlink(path);
	assert_int_equal(t.n, 3);
	assert_int_equal(tok_train(&text, 1, 257, special, &tok, &e), 0);
	assert_int_equal(sft_encode(&t, tok, 6, &a, &s, &e), 0);
	assert_true(s.n == 2 && s.too_long == 1 && s.trained == 5);
	assert_true(s.seq[0].n == 6 && s.seq[0].n_prompt == 2);
	assert_true(s.seq[0].tok[0] == 'a' && s.seq[0].tok[4] == 'e');
	assert_int_equal(s.seq[0].tok[5], tok_eos(tok));
	assert_true(s.seq[1].n == 2 && s.seq[1].n_prompt == 1);
	assert_int_equal(sft_encode(&t, tok, 1, &a, &s, &e), ERR_RANGE);
	tok_free(tok);
}

static void bad_records(void **state)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
		{ "", "holds no records" },
		{ "\n \n", "holds no records" },
		{ "{\"prompt\":\"a\",\"completion\":\"b\"}\n{\"prompt\":\"a\"}\n", ":2: " },
		{ "{\"completion\":\"a\"}\n", "prompt" },
		{ "{\"prompt\":\"\",\"completion\":\"b\"}\n", "empty" },
		{ "{\"prompt\":1,\"completion\":\"b\"}\n", "prompt" },
		{ "[1]\n", ":1: " },
		{ "{\"prompt\":\"a\"", ":1: " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		AUTO_ARENA a = { .limit = 1 << 20 };
		struct sft_texts t = { .n = -1 };
		char path[64];
		struct err e = { 0 };

		write_text(path, bad[i].text);
		assert_int_equal(sft_read(path, &a, &t, &e), ERR_PARSE);
		(void)unlink(path);
		if (!strstr(e.msg, bad[i].want))
			fail_msg("'%s' does not say '%s'", e.msg, bad[i].want);
		assert_int_equal(t.n, -1);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(learning_rate),
		cmocka_unit_test(identity),
		cmocka_unit_test(records),
		cmocka_unit_test(bad_records),
	};

	return RUN(tests);
}
