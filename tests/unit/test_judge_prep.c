/* judge: what a task needs before its programs run, and programs that need not run: oracles, the
 * analysis of assertions, trials of a reference, equal programs, fail_fast. In real boxes.
 */
#include "judge/judge.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

#define HEAD "{\"id\":\"t\",\"prompt\":\"\",\"language\":\"python\","
#define CALL HEAD "\"kind\":\"function\",\"entry_point\":\"f\","
#define ASSERT(test)                                                                               \
	HEAD "\"kind\":\"assert\",\"entry_point\":\"f\",\"tests\":[{\"assert\":\"" test "\"}]"

static struct str view(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static const struct judge_config config = {
	.jobs = 2, .cpu_s = 30, .wall_s = 100, .mem_mib = 1024, .output_mib = 1, .zygote = true
};

static struct judge *open_judge(const struct judge_config *cfg)
{
	struct judge *j = NULL;
	struct err e = { 0 };

	if (judge_open(cfg, &j, &e) < 0)
		fail_msg("%s", e.msg);
	return j;
}

static struct task load(const char *record, struct arena *a)
{
	const struct json *rec = NULL;
	struct task t;
	struct err e = { 0 };

	assert_int_equal(json_parse(view(record), a, &rec, &e), 0);
	if (task_load(NULL, rec, a, &t, &e) < 0)
		fail_msg("%s", e.msg);
	return t;
}

static struct judged judge_one(struct judge *j, const struct task *t, const char *code)
{
	struct judged v;
	struct err e = { 0 };

	if (judge_submit(j, t, view(code), 0, &e) < 0 || judge_next(j, -1, &v, &e) != 1)
		fail_msg("%s", e.msg);
	return v;
}

static void expect(struct judge *j, const struct task *t, const char *code, enum verdict want,
                   bool weak, const char *note)
{
	struct judged v = judge_one(j, t, code);

	if (v.verdict != want || v.weak != weak ||
	    (note && !str_has(v.test[v.n_tests - 1].note, view(note))))
		fail_msg("'%s': %s, %s, %.*s", code, verdict_text(v.verdict),
		         v.weak ? "weak" : "data", (int)v.test[v.n_tests - 1].note.n,
		         v.test[v.n_tests - 1].note.p);
	judged_done(&v);
}

/* What is right is what the reference returns; nan equals nothing, not even the reference's. */
static void oracles(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct judge *j = open_judge(&config);
	struct task t = load(CALL "\"reference\":\"def f(x):\\n  return (x, {x}) if x else 1/x\","
	                          "\"tests\":[{\"args\":[3]}]}",
	                     &a);
	struct task python = load(CALL "\"reference\":\"def f(x): return (x, {2: 1.5})\","
	                               "\"checker\":{\"kind\":\"python\"},"
	                               "\"tests\":[{\"calls\":[[3],[{\"t\":[1]}]],"
	                               "\"typed\":true}]}",
	                          &a);
	struct task broken = load(CALL "\"reference\":\"def f(x): return 1/x\","
	                               "\"tests\":[{\"args\":[1]},{\"args\":[0]}]}",
	                          &a);

	(void)state;
	expect(j, &t, "def f(x): return [x, {3}]", VERDICT_ACCEPTED, false, NULL);
	expect(j, &t, "def f(x): return (x, {4})", VERDICT_WRONG_ANSWER, false, "returned");
	expect(j, &t, "def f(x): return (x, frozenset([3]))", VERDICT_ACCEPTED, false, NULL);
	expect(j, &python, "def f(x): return (x, {2: 1.5})", VERDICT_ACCEPTED, false, NULL);
	expect(j, &python, "def f(x): return (x, {2.0: 1.5})", VERDICT_ACCEPTED, false, NULL);
	expect(j, &python, "def f(x): return [x, {2: 1.5}]", VERDICT_WRONG_ANSWER, false, NULL);
	expect(j, &python, "def f(x): return (3, {2: 1.5})", VERDICT_WRONG_ANSWER, false, NULL);
	expect(j, &broken, "def f(x): return 1.0", VERDICT_JUDGE_ERROR, false, "ZeroDivisionError");
	judge_close(j);
}

/* A test text that is no Python punishes nobody. */
static void broken_tests(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct judge *j = open_judge(&config);
	struct task t = load(ASSERT("assert f(1") "}", &a);

	(void)state;
	expect(j, &t, "def f(x): return 1", VERDICT_JUDGE_ERROR, false, "SyntaxError");
	expect(j, &t, "def f(x): return 1", VERDICT_JUDGE_ERROR, false, "SyntaxError");
	judge_close(j);
}

#define POINT "class P:\\n  def __init__(s, x): s.x = x\\n  def __eq__(s, o): return s.x == o.x\\n"
#define LIAR  "class P:\n  x = 0\n  def __eq__(s, o): return True\n"

/* Objects that stay in the program equal nothing, unless the task's own reference is no better. */
static void trials(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct judge *j = open_judge(&config);
	struct task needs = load(ASSERT("assert f(1) == P(1)") ",\"reference\":\"" POINT
	                                                       "def f(x): return P(x)\"}",
	                         &a);
	struct task data =
		load(ASSERT("assert f(1) == 5") ",\"reference\":\"def f(x): return 5\"}", &a);
	struct task none = load(ASSERT("x = f(1)\\nassert x == 5") "}", &a);

	(void)state;
	expect(j, &data, LIAR "def f(x): return P()", VERDICT_WRONG_ANSWER, false, NULL);
	expect(j, &none, LIAR "def f(x): return P()", VERDICT_WRONG_ANSWER, false, NULL);
	expect(j, &needs,
	       "class P:\n  def __init__(s, x): s.x = x\n  def __eq__(s, o): return s.x == o.x\n"
	       "def f(x): return P(x)",
	       VERDICT_ACCEPTED, true, NULL);
	expect(j, &needs,
	       "class P:\n  def __init__(s, x): s.x = x\n  def __eq__(s, o): return s.x == o.x\n"
	       "def f(x): return P(2)",
	       VERDICT_WRONG_ANSWER, true, NULL);
	judge_close(j);
}

/* One run for equal programs, at the same time and later; other text or another task is not equal.
 */
static void equal_programs(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct judge *j = open_judge(&config);
	struct task t[2] = {
		load(CALL "\"tests\":[{\"args\":[1],\"expected\":2},{\"args\":[2],"
		          "\"expected\":0}]}",
		     &a),
		load(CALL "\"tests\":[{\"args\":[1],\"expected\":3},{\"args\":[2],"
		          "\"expected\":0}]}",
		     &a),
	};
	static const char *const code[2] = { "def f(x): return 2", "def f(x): return 3" };
	struct judge_stats st;
	struct judged v;
	struct err e = { 0 };

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 12; i++)
			assert_int_equal(
				judge_submit(j, &t[i / 2 % 2], view(code[i % 2]), (uint64_t)i, &e),
				0);
		for (int i = 0; i < 12; i++) {
			bool right = i % 2 == i / 2 % 2;

			assert_int_equal(judge_next(j, -1, &v, &e), 1);
			assert_int_equal(v.tag, i);
			assert_int_equal(v.test[0].verdict,
			                 right ? VERDICT_ACCEPTED : VERDICT_WRONG_ANSWER);
			assert_int_equal(v.test[1].verdict, VERDICT_WRONG_ANSWER);
			assert_true(str_is(v.test[1].name, "2"));
			assert_true(str_starts(v.test[1].note, STR("returned ")));
			assert_true(v.score == (right ? 0.5 : 0));
			judged_done(&v);
		}
	}
	judge_stats(j, &st);
	assert_int_equal(st.programs, 24);
	assert_int_equal(st.copied, 20);
	judge_close(j);
}

/* A failure ends the program; what was not judged has no part in the score. */
static void failing_fast(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct judge_config cfg = config;
	struct judge *j;
	struct task t = load(CALL "\"tests\":[{\"args\":[0],\"expected\":0},"
	                          "{\"args\":[1],\"expected\":0},{\"args\":[2],\"expected\":2},"
	                          "{\"args\":[3],\"expected\":3}]}",
	                     &a);
	struct judged v;

	(void)state;
	cfg.fail_fast = true;
	j = open_judge(&cfg);
	v = judge_one(j, &t, "def f(x): return x");
	assert_int_equal(v.verdict, VERDICT_WRONG_ANSWER);
	assert_int_equal(v.test[0].verdict, VERDICT_ACCEPTED);
	assert_int_equal(v.test[1].verdict, VERDICT_WRONG_ANSWER);
	assert_int_equal(v.test[2].verdict, VERDICT_SKIPPED);
	assert_int_equal(v.test[3].verdict, VERDICT_SKIPPED);
	assert_true(v.score == 0.25);
	judged_done(&v);
	judge_close(j);
}

/* Whether one test can see what the one before it left is what box.per says. */
static void processes(void **state)
{
	static const char code[] = "n = 0\ndef f():\n  global n\n  n += 1\n  return n";
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct judge_config cfg = config;
	struct task t = load(CALL "\"tests\":[{\"args\":[],\"expected\":1},"
	                          "{\"args\":[],\"expected\":1}]}",
	                     &a);

	(void)state;
	for (int cold = 0; cold < 2; cold++) {
		cfg.zygote = !cold;
		for (int per = JUDGE_PER_TEST; per <= JUDGE_PER_SAMPLE; per++) {
			struct judge *j;

			cfg.per = per;
			j = open_judge(&cfg);
			expect(j, &t, code,
			       per == JUDGE_PER_TEST ? VERDICT_ACCEPTED : VERDICT_WRONG_ANSWER,
			       false, NULL);
			judge_close(j);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oracles),      cmocka_unit_test(broken_tests),
		cmocka_unit_test(trials),       cmocka_unit_test(equal_programs),
		cmocka_unit_test(failing_fast), cmocka_unit_test(processes),
	};

	return RUN(tests);
}
