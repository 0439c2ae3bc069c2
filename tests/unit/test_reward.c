/* Rewards: the cases of every member, sums of several, samples that were not judged. */
#include "reward/reward.h"

#include "test.h"

#include "batches.h"

static void set_tests(struct sample *s, struct arena *a, enum verdict v, int n, int n_passed)
{
	struct tested *t = n ? arena_new(a, struct tested, n) : NULL;

	for (int k = 0; k < n; k++)
		t[k] = (struct tested){ .weight = 1,
			                .verdict = k < n_passed    ? VERDICT_ACCEPTED
			                           : k == n_passed ? v
			                                           : VERDICT_SKIPPED };
	s->verdict = v;
	s->n_tests = n;
	s->n_passed = n_passed;
	s->test = t;
}

static void every_reward_runs_its_cases(void **state)
{
	static const int len[4] = { 1, 1, 1, 1 };

	(void)state;
	for (int i = 0; reward_table[i]; i++) {
		const struct reward_fn *f = reward_table[i];

		assert_true(family_described(f->name, f->doc, f->source));
		assert_true(f->cases && f->cases->n);
		for (const struct reward_case *c = f->cases; c->n; c++) {
			AUTO_ARENA a = { .limit = 1 << 16 };
			void *cfg = family_config_with(f->opts, f->cfg_size, c->opts, &a);
			struct reward_use use = { f, cfg, 1 };
			struct group g = make_group(&a, "t", c->n, len);
			struct err e;

			for (int k = 0; k < c->n; k++)
				set_tests(&g.sample[k], &a, c->sample[k].verdict,
				          c->sample[k].n_tests, c->sample[k].n_passed);
			assert_int_equal(reward_group(&use, 1, NULL, &g, &a, &e), 0);
			for (int k = 0; k < c->n; k++) {
				assert_int_equal(g.sample[k].reward.known, c->want[k].known);
				assert_true(g.sample[k].reward.r == c->want[k].r);
			}
		}
	}
}

static const struct reward_fn *find(const char *name)
{
	return (const struct reward_fn *)part_find(PART_TABLE(reward_table), name);
}

static void rewards_are_summed_and_an_unjudged_sample_gets_none(void **state)
{
	static const int len[3] = { 1, 1, 1 };
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct reward_use use[2] = { { find("pass_all"), NULL, 1 },
		                     { find("pass_rate"), NULL, 0.5 } };
	struct group g = make_group(&a, "t", 3, len);
	struct err e;

	(void)state;
	use[1].cfg = family_config_with(use[1].fn->opts, use[1].fn->cfg_size, NULL, &a);
	set_tests(&g.sample[0], &a, VERDICT_ACCEPTED, 4, 4);
	set_tests(&g.sample[1], &a, VERDICT_WRONG_ANSWER, 4, 1);
	set_tests(&g.sample[2], &a, VERDICT_JUDGE_ERROR, 4, 3);
	assert_int_equal(reward_group(use, 2, NULL, &g, &a, &e), 0);
	assert_true(g.sample[0].reward.known && g.sample[0].reward.r == 1.5);
	assert_true(g.sample[1].reward.known && g.sample[1].reward.r == 0.125);
	assert_true(g.sample[1].part[0].known && g.sample[1].part[0].r == 0);
	assert_true(g.sample[1].part[1].known && g.sample[1].part[1].r == 0.25);
	assert_true(!g.sample[2].reward.known && g.sample[2].reward.r == 0);
	assert_true(!g.sample[2].part[0].known && !g.sample[2].part[1].known);
	assert_null(g.sample[0].turn_reward);
}

static void weights_count_and_probes_do_not(void **state)
{
	static const int len[1] = { 1 };
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct reward_use use = { find("pass_rate"), NULL, 1 };
	struct group g = make_group(&a, "t", 1, len);
	struct tested t[4] = {
		{ .verdict = VERDICT_ACCEPTED, .weight = 3 },
		{ .verdict = VERDICT_WRONG_ANSWER, .weight = 1 },
		{ .verdict = VERDICT_SKIPPED, .weight = 2 },
		{ .verdict = VERDICT_ACCEPTED, .weight = 5, .probe = true },
	};

	(void)state;
	use.cfg = family_config_with(use.fn->opts, use.fn->cfg_size, NULL, &a);
	g.sample[0].n_tests = 4;
	g.sample[0].test = t;
	assert_int_equal(reward_group(&use, 1, NULL, &g, &a, NULL), 0);
	assert_true(g.sample[0].reward.r == 0.5);
	g.sample[0].test = NULL; /* recorded elsewhere: counts only */
	g.sample[0].n_passed = 1;
	assert_int_equal(reward_group(&use, 1, NULL, &g, &a, NULL), 0);
	assert_true(g.sample[0].reward.r == 0.25);
}

/* Answers per token and per turn; one sample's answer is no number if asked so. */
static int dense(const void *cfg, const struct reward_in *in, struct reward_out *ret, struct err *e)
{
	const double *x = cfg;
	int u = 0;

	(void)e;
	ret->token = arena_new(in->a, struct score, 5);
	for (int i = 0; i < in->group->n; i++) {
		ret->sample[i] = (struct score){ *x, true };
		for (int t = 0; t < in->group->sample[i].n_tok; t++, u++)
			ret->token[u] = (struct score){ u, u != 1 };
	}
	return 0;
}

static void units_are_summed_beside_the_reward(void **state)
{
	static const struct reward_fn fn = { .name = "dense", .score = dense };
	static const int len[2] = { 2, 3 };
	static const double one = 1, bad = NAN;
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct reward_use use[3] = { { &fn, &one, 1 },
		                     { &fn, &one, 2 },
		                     { find("pass_all"), NULL, 1 } };
	struct group g = make_group(&a, "t", 2, len);
	struct err e;

	(void)state;
	assert_int_equal(reward_group(use, 3, NULL, &g, &a, &e), 0);
	assert_true(g.sample[0].reward.r == 3 && g.sample[1].reward.r == 3);
	assert_null(g.sample[0].span_reward);
	assert_true(g.sample[0].token_reward[0].known && g.sample[0].token_reward[0].r == 0);
	assert_false(g.sample[0].token_reward[1].known);
	assert_true(g.sample[1].token_reward[2].known && g.sample[1].token_reward[2].r == 12);
	g.sample[1].verdict = VERDICT_JUDGE_ERROR;
	assert_int_equal(reward_group(use, 3, NULL, &g, &a, &e), 0);
	assert_false(g.sample[1].token_reward[2].known);
	use[0].cfg = &bad;
	assert_int_equal(reward_group(use, 3, NULL, &g, &a, &e), ERR_RANGE);
	assert_non_null(strstr(e.msg, "reward dense: sample 0 of group t"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reward_runs_its_cases),
		cmocka_unit_test(rewards_are_summed_and_an_unjudged_sample_gets_none),
		cmocka_unit_test(weights_count_and_probes_do_not),
		cmocka_unit_test(units_are_summed_beside_the_reward),
	};

	return RUN(tests);
}
