/* test_train_summary.c - metrics of a batch and of a ledger; what a run came to, read from its
 * metrics.
 */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "batches.h"
#include "train/train_metrics.h"
#include "train/train_summary.h"

static void near(const struct metrics *m, const char *name, double want)
{
	double got = metrics_get(m, name);

	if (!(fabs(got - want) <= 1e-9))
		fail_msg("%s is %.12g, wanted %.12g", name, got, want);
}

/* Group a: rewards 1, 0 and one that could not be judged; group b: 1, 1, silent. */
static struct batch judged_batch(struct arena *a)
{
	static const int len[] = { 3, 4, 5 };
	struct group *g = arena_new(a, struct group, 2);
	struct batch b;

	g[0] = make_group(a, "a", 3, len);
	g[1] = make_group(a, "b", 2, len);
	b = make_batch(a, 2, g);
	b.n_rewards = 1;
	for (int i = 0; i < b.n_samples; i++) {
		struct sample *s = batch_sample(&b, i);
		uint8_t *mask = arena_new(a, uint8_t, s->n_tok);
		float *entropy = arena_new(a, float, s->n_tok);

		s->n_prompt = 1;
		for (int t = 1; t < s->n_tok; t++)
			mask[t] = 1, entropy[t] = i == 1 ? 1 : 0;
		s->mask = mask, s->entropy = entropy;
		s->verdict = i == 1 ? VERDICT_WRONG_ANSWER : VERDICT_ACCEPTED;
		s->reward = (struct score){ i != 1, true };
	}
	g[0].sample[2].verdict = VERDICT_JUDGE_ERROR;
	g[0].sample[2].reward = (struct score){ 0 };
	g[1].silent = true;
	g[1].sample[0].finish = FINISH_LENGTH;
	return b;
}

/* Sampled tokens: 2 3 4 | 2 3. */
static void of_a_batch(void **state)
{
	static const char *const part[] = { "pass_all" };
	struct rollout_stats st = { .programs = 5, .tests = 10 };
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct batch b = judged_batch(&a);
	struct metrics m = { 0 };

	(void)state;
	metrics_batch(&m, &b, &st, part);
	near(&m, "reward", 3 / 4.);
	near(&m, "reward_std", (sqrt(.5) + 0) / 2);
	near(&m, "frac_reward_zero_std", .5);
	near(&m, "entropy", 3 / 14.);
	near(&m, "completions/mean_length", 14 / 5.);
	near(&m, "completions/max_length", 4);
	near(&m, "completions/clipped_ratio", 1 / 5.);
	near(&m, "select/without_reward", 1);
	near(&m, "judge/accepted", 3);
	near(&m, "judge/judge_error", 1);
	near(&m, "judge/programs", 5);
}

static void of_the_ledger(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct batch b = judged_batch(&a);
	struct metrics m = { 0 };
	uint8_t trained[19];

	(void)state;
	memset(trained, 1, sizeof trained);
	trained[1] = 0; /* a token of the first sample had no weight */
	metrics_ledger(&m, &b, trained, 1, false);
	near(&m, "ledger/sampled", 14);
	near(&m, "ledger/trained", 3);
	near(&m, "ledger/filtered", 2);
	near(&m, "ledger/silent", 5);
	near(&m, "ledger/judge_error", 4);
	m.n = 0;
	trained[13] = trained[14] = 0; /* the sample that was cut off, b has 12 before it */
	metrics_ledger(&m, &b, trained, 0, true);
	near(&m, "ledger/truncated", 2);
	near(&m, "ledger/trained", 4 + 3);
	near(&m, "ledger/silent", 0);
}

static void of_a_run(void **state)
{
	static const char lines[] =
		"{\"step\":0,\"eval/pass@1\":0.25,\"eval/pass@8\":0.5,\"eval/programs\":10,"
		"\"eval/tests\":20,\"eval/tokens\":100,\"eval/judge_error\":1,\"time/eval_s\":2,"
		"\"time/eval_generate_s\":1,\"time/eval_judge_wait_s\":1}\n"
		"{\"step\":1,\"reward\":0.1,\"entropy\":0.5,\"select/groups\":4,\"select/"
		"silent\":1,"
		"\"judge/programs\":32,\"judge/tests\":64,\"judge/judge_error\":2,"
		"\"ledger/sampled\":300,\"time/generate_s\":3,\"time/judge_wait_s\":0.5,"
		"\"time/step_s\":4}\n"
		"{\"step\":2,\"reward\":null,\"entropy\":0.3,\"select/groups\":4,"
		"\"select/silent\":4,\"time/step_s\":4}\n"
		"{\"step\":2,\"eval/pass@1\":0.75,\"eval/pass@8\":0.875}\n";
	static const int k[] = { 1, 8 };
	char dir[] = "/tmp/cupel-test-XXXXXX", path[64];
	struct train_summary s = { 0 };
	AUTO_BUF b = { .max = 1 << 16 };
	struct err e = { 0 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof path, "%s/metrics.jsonl", dir);
	assert_int_equal(io_save(path, STR(lines), &e), 0);
	if (train_summary_read(dir, 7, k, 2, &s, &e) < 0)
		fail_msg("%s", e.msg);
	assert_true(s.steps == 2 && s.before[0] == .25 && s.after[1] == .875);
	assert_true(s.reward_first == .1 && s.reward_last == .1 && s.entropy_last == .4);
	assert_true(s.groups == 8 && s.silent == 5 && s.programs == 42 && s.tests == 84);
	assert_true(s.tokens == 400 && s.judge_error == 3 && s.wall_s == 10);
	assert_true(s.tokens_per_s == 100 && fabs(s.tests_per_s - 84 / 5.5) < 1e-12);
	assert_int_equal(train_summary_save(&s, dir, &e), 0);
	(void)snprintf(path, sizeof path, "%s/summary.json", dir);
	assert_int_equal(io_load(path, &b, &e), 0);
	assert_true(
		str_starts(buf_str(&b), STR("{\"seed\":7,\"steps\":2,\"before\":{\"pass@1\":0.25,"
	                                    "\"pass@8\":0.5},\"after\":{\"pass@1\":0.75,"
	                                    "\"pass@8\":0.875},")));
	assert_true(str_has(buf_str(&b), STR("\"silent\":5,\"programs\":42,")));
	(void)io_remove_tree(dir, NULL);
}

static void a_broken_line_is_named(void **state)
{
	char dir[] = "/tmp/cupel-test-XXXXXX", path[64];
	struct train_summary s = { .steps = -1 };
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_true(train_summary_read(dir, 7, NULL, 0, &s, &e) < 0);
	(void)snprintf(path, sizeof path, "%s/metrics.jsonl", dir);
	assert_int_equal(io_save(path, STR("{\"step\":1}\n{\"step\n"), &e), 0);
	assert_int_equal(train_summary_read(dir, 7, NULL, 0, &s, &e), ERR_PARSE);
	assert_non_null(strstr(e.msg, "metrics.jsonl:2"));
	assert_int_equal(s.steps, -1);
	(void)io_remove_tree(dir, NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_batch),
		cmocka_unit_test(of_the_ledger),
		cmocka_unit_test(of_a_run),
		cmocka_unit_test(a_broken_line_is_named),
	};

	return RUN(tests);
}
