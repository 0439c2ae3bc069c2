/* Groups as JSON: what is written is read back, and what is wrong is named. */
#include "traj/traj_io.h"

#include <math.h>
#include <string.h>

#include "test.h"

#include "batches.h"

static struct group full_group(struct arena *a)
{
	static const int len[3] = { 3, 4, 2 };
	static const int32_t tok[4] = { 7, 0, 2147483647, 9 };
	static const uint8_t mask[4] = { 0, 1, 0, 1 };
	static const float logp[4] = { 0, -.1f, -1e-30f, -3.4028235e38f };
	static const float value[5] = { .1f, .2f, .3f, .4f, .5f };
	static const uint32_t byte_of[5] = { 0, 0, 1, 3, 4 };
	static const struct tested test[2] = {
		{ .name = STR("1"),
		  .verdict = VERDICT_ACCEPTED,
		  .score = 1,
		  .weight = 2.5,
		  .visible = true,
		  .cpu_ns = 5 },
		{ .name = STR("p"),
		  .verdict = VERDICT_TIME_LIMIT,
		  .weight = 1,
		  .probe = true,
		  .ignored_input = true,
		  .mem_bytes = 1 << 20,
		  .out = STR("a\0b\n") },
	};
	static const struct turn turn[1] = { { 1, 3, 0, 2, STR("f"), VERDICT_WRONG_ANSWER, 4, 3,
		                               FINISH_LENGTH } };
	static const struct span span[1] = { { -3, 0, 1, 4, 2, 4, 0xfedcba9876543210u } };
	static const struct score unit[4] = {
		{ .5, true }, { 0, false }, { -1, true }, { 0, true }
	};
	struct group g = make_group(a, "task \"1\"", 3, len);
	struct sample *s = &g.sample[1];

	g.seen = 12;
	g.mean_before = .375;
	s->id = 1ll << 40;
	s->task_id = STR("other");
	s->parent = 0;
	s->fork_tok = 3;
	s->chain = 0;
	s->anchor = STR("turn 2");
	s->version = 17;
	s->finish = FINISH_LENGTH;
	s->n_prompt = 1;
	s->tok = tok, s->mask = mask, s->logp = logp, s->entropy = value, s->value = value;
	s->ref_logp = logp, s->byte_of = byte_of;
	s->text = STR("\xc3\xa4"
	              "bc"); /* 4 bytes */
	s->code = STR("f");
	s->turn = turn, s->n_turns = 1;
	s->span = span, s->n_spans = 1;
	s->test = test, s->n_tests = 2, s->n_passed = 1;
	s->reward = (struct score){ 1 / 3., true };
	s->token_reward = unit, s->turn_reward = unit, s->span_reward = unit, s->test_reward = unit;
	for (int i = 0; i < 3; i++) {
		g.sample[i].part = arena_new(a, struct score, 2);
		g.sample[i].part[1] = (struct score){ i, true };
	}
	g.sample[0].text = STR("no");
	g.sample[2].verdict = VERDICT_JUDGE_ERROR;
	g.sample[2].foreign = true;
	return g;
}

static const char *write_text(struct arena *a, const struct group *g, int n, bool tokens)
{
	AUTO_BUF b = { .max = 1 << 16 };
	struct jsonw w = { &b };

	traj_group_write(g, n, tokens, &w);
	assert_int_equal(buf_check(&b, "group", NULL), 0);
	return arena_strdup(a, buf_cstr(&b));
}

static int read_text(struct arena *a, const char *text, struct group *g, int *ret_n, struct err *e)
{
	const struct json *j;

	assert_int_equal(json_parse((struct str){ text, strlen(text) }, a, &j, e), 0);
	return traj_group_read(j, a, g, ret_n, e);
}

static void what_is_written_is_read_back(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct group g = full_group(&a), back;
	const struct sample *s = &g.sample[1], *t;
	const char *text = write_text(&a, &g, 2, true);
	struct err e;
	int n = 0;

	(void)state;
	if (read_text(&a, text, &back, &n, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(n, 2);
	assert_string_equal(write_text(&a, &back, 2, true), text);
	t = &back.sample[1];
	assert_true(str_eq(back.key, g.key) && back.seen == 12 && back.mean_before == .375);
	assert_true(t->id == s->id && str_eq(t->task_id, s->task_id) && t->parent == 0);
	assert_true(t->fork_tok == 3 && t->chain == 0 && str_eq(t->anchor, s->anchor));
	assert_true(t->version == 17 && !t->foreign && t->finish == FINISH_LENGTH);
	assert_memory_equal(t->tok, s->tok, 4 * sizeof *t->tok);
	assert_memory_equal(t->mask, s->mask, 4);
	assert_memory_equal(t->logp, s->logp, 4 * sizeof *t->logp);
	assert_memory_equal(t->value, s->value, 5 * sizeof *t->value);
	assert_memory_equal(t->byte_of, s->byte_of, 5 * sizeof *t->byte_of);
	assert_true(str_eq(t->text, s->text) && str_eq(t->code, s->code) && t->n_passed == 1);
	assert_true(str_eq(t->test[1].out, s->test[1].out) && t->test[1].probe);
	assert_true(t->test[1].ignored_input && t->test[0].weight == 2.5 && t->test[0].visible);
	assert_true(t->span[0].content == s->span[0].content && t->span[0].kind == -3);
	assert_true(t->turn[0].tok1 == 3 && t->turn[0].verdict == VERDICT_WRONG_ANSWER);
	assert_true(t->reward.known && t->reward.r == 1 / 3. && !t->token_reward[1].known);
	assert_true(t->token_reward[3].known && !t->part[0].known && t->part[1].r == 1);
	assert_true(!back.sample[0].reward.known && !back.sample[0].tok && !back.sample[0].value);
	assert_true(back.sample[2].verdict == VERDICT_JUDGE_ERROR && back.sample[2].foreign);
	assert_null(strstr(write_text(&a, &g, 2, false), "logp"));
}

static void little_is_enough(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct group g;
	struct batch b;
	struct err e;
	int n = -1;

	(void)state;
	if (read_text(&a,
	              "{\"key\":\"t\",\"samples\":[{\"reward\":1},{\"text\":\"x\"},"
	              "{\"n_prompt\":2,\"tokens\":[5,6,7]},{\"reward\":null,\"n_tok\":4,"
	              "\"verdict\":\"accepted\"}]}",
	              &g, &n, &e) < 0)
		fail_msg("%s", e.msg);
	assert_true(n == 0 && g.n == 4 && g.sample[0].n_tok == 1 && g.sample[0].mask[0] == 1);
	assert_true(g.sample[0].reward.known && !g.sample[1].reward.known);
	assert_true(g.sample[0].parent == -1 && g.sample[0].chain == -1 && g.sample[0].foreign);
	assert_true(g.sample[1].verdict == VERDICT_SKIPPED && g.sample[3].n_tok == 4);
	assert_memory_equal(g.sample[2].mask, ((uint8_t[]){ 0, 0, 1 }), 3);
	assert_int_equal(traj_batch(&g, 1, n, &a, &b, &e), 0);
	assert_true(b.n_tok == 9 && b.first[2] == 2 && b.first[4] == 9);
}

static void what_is_wrong_is_named(void **state)
{
	static const char *const bad[][2] = {
		{ "{}", "key" },
		{ "{\"key\":\"t\"}", "samples" },
		{ "{\"key\":\"t\",\"samples\":[1]}", "samples[0]: an object" },
		{ "{\"key\":\"t\",\"samples\":[{\"verdict\":\"fine\"}]}", "verdict: 'fine'" },
		{ "{\"key\":\"t\",\"samples\":[{\"finish\":\"\"}]}", "finish" },
		{ "{\"key\":\"t\",\"samples\":[{},{\"parent\":1}]}", "samples[1]: field 'parent'" },
		{ "{\"key\":\"t\",\"samples\":[{\"tokens\":[1,2],\"logp\":[0]}]}",
		  "samples[0]: logp: 1 entries where 2" },
		{ "{\"key\":\"t\",\"samples\":[{\"tokens\":[1.5]}]}", "tokens: entry 0" },
		{ "{\"key\":\"t\",\"samples\":[{\"tokens\":[-1]}]}", "tokens: entry 0" },
		{ "{\"key\":\"t\",\"samples\":[{\"tokens\":\"x\"}]}", "tokens: a list" },
		{ "{\"key\":\"t\",\"samples\":[{\"tokens\":[1],\"mask\":[2]}]}", "mask: entry 0" },
		{ "{\"key\":\"t\",\"samples\":[{\"n_tok\":1e9}]}", "field 'n_tok'" },
		{ "{\"key\":\"t\",\"samples\":[{\"n_tok\":2,\"n_prompt\":3}]}",
		  "field 'n_prompt'" },
		{ "{\"key\":\"t\",\"samples\":[{\"n_tests\":2,\"n_passed\":3}]}",
		  "field 'n_passed'" },
		{ "{\"key\":\"t\",\"samples\":[{\"turns\":[{\"tok\":[0,2],\"byte\":[0,0]}]}]}",
		  "samples[0]: turns[0]: tok" },
		{ "{\"key\":\"t\",\"samples\":[{\"spans\":[{\"tok\":[0,1],\"byte\":[0,1]}]}]}",
		  "samples[0]: spans[0]: byte" },
		{ "{\"key\":\"t\",\"samples\":[{\"spans\":[{\"tok\":[0,1],\"byte\":[0,0],"
		  "\"content\":\"000000000000000g\"}]}]}",
		  "content" },
		{ "{\"key\":\"t\",\"samples\":[{\"tests\":[{\"verdict\":3}]}]}", "tests[0]" },
		{ "{\"key\":\"t\",\"samples\":[{\"reward\":\"1\"}]}", "reward: a number" },
		{ "{\"key\":\"t\",\"samples\":[{\"parts\":[1]},{}]}", "samples[1]: parts" },
	};
	struct group g = { .n = 77 };
	int n = 77;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		AUTO_ARENA a = { .limit = 1 << 20 };
		struct err e = { 0 };

		assert_true(read_text(&a, bad[i][0], &g, &n, &e) < 0);
		if (!strstr(e.msg, bad[i][1]))
			fail_msg("%s: %s", bad[i][0], e.msg);
		assert_true(g.n == 77 && n == 77);
	}
}

static void memory_has_a_limit(void **state)
{
	AUTO_ARENA all = { .limit = 1 << 20 };
	struct group g = full_group(&all), back;
	const char *text = write_text(&all, &g, 2, true);
	size_t limit = 64;
	int n, r = ERR_LIMIT;

	(void)state;
	for (; r < 0; limit += 64) {
		AUTO_ARENA a = { .limit = limit };
		struct str s = { text, strlen(text) };
		const struct json *j;
		struct err e;

		r = json_parse(s, &all, &j, &e);
		assert_int_equal(r, 0);
		r = traj_group_read(j, &a, &back, &n, &e);
		assert_true(r == 0 || r == ERR_LIMIT);
		assert_true(limit < 1 << 16);
		if (limit % 1024 == 0) {
			arena_reset(&all);
			g = full_group(&all);
			text = write_text(&all, &g, 2, true);
		}
	}
	assert_true(limit > 256);
}

static void texts_of_enums(void **state)
{
	(void)state;
	assert_string_equal(finish_text(FINISH_STOP), "stop");
	assert_string_equal(finish_text(FINISH_LENGTH), "length");
	assert_string_equal(finish_text(FINISH_ABORT), "abort");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(little_is_enough),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(memory_has_a_limit),
		cmocka_unit_test(texts_of_enums),
	};

	return RUN(tests);
}
