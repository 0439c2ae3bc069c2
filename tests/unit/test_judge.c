/* judge: programs in real boxes, from several threads, in the order of submission. */
#include "judge/judge.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

#define HEAD "{\"id\":\"t\",\"prompt\":\"\",\"language\":\"python\","
#define ECHO                                                                                       \
	HEAD "\"kind\":\"stdin\",\"tests\":[{\"stdin\":\"1\",\"stdout\":\"2\"},"                   \
	     "{\"stdin\":\"5\",\"stdout\":\"6\"}]}"
#define CALL                                                                                       \
	HEAD "\"kind\":\"function\",\"entry_point\":\"f\",\"tests\":["                             \
	     "{\"args\":[1],\"expected\":2},{\"args\":[[5]],\"expected\":[5,\"\\u00e4\"]}]}"
#define PROVE                                                                                      \
	HEAD "\"kind\":\"assert\",\"setup\":\"y = f(1)\",\"tests\":["                              \
	     "{\"assert\":\"assert y == 2\"},{\"assert\":\"assert f(5) == 6\"}]}"

static struct str view(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static struct judge *open_judge(int jobs, double fault_rate)
{
	const struct judge_config cfg = { .jobs = jobs,
		                          .cpu_s = 30,
		                          .wall_s = 100,
		                          .mem_mib = 1024,
		                          .output_mib = 1,
		                          .keep_output = true,
		                          .fault_rate = fault_rate };
	struct judge *j = NULL;
	struct err e = { 0 };

	if (judge_open(&cfg, &j, &e) < 0)
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

static void submit(struct judge *j, const struct task *t, const char *code, uint64_t tag)
{
	struct err e = { 0 };

	if (judge_submit(j, t, view(code), tag, &e) < 0)
		fail_msg("%s", e.msg);
}

static const struct {
	const char *task, *code;
	enum verdict all, test[2];
	const char *note; /* of the first test that is not accepted */
} programs[] = {
	{ ECHO, "print(int(input()) + 1)", VERDICT_ACCEPTED, { 0 }, NULL },
	{ ECHO,
	  "print(2)",
	  VERDICT_WRONG_ANSWER,
	  { VERDICT_ACCEPTED, VERDICT_WRONG_ANSWER },
	  NULL },
	{ ECHO,
	  "print(int(input()) + 1)\nraise SystemExit(3)",
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_RUNTIME_ERROR, VERDICT_RUNTIME_ERROR },
	  "exit status 3" },
	{ ECHO, "print(1 +)", VERDICT_COMPILE_ERROR, { VERDICT_SKIPPED, VERDICT_SKIPPED }, NULL },
	{ ECHO,
	  "eval('1 +')",
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_RUNTIME_ERROR, VERDICT_RUNTIME_ERROR },
	  "SyntaxError" },
	{ CALL,
	  "def f(x):\n  return x + 1 if x == 1 else (5, '\\u00e4')",
	  VERDICT_ACCEPTED,
	  { 0 },
	  NULL },
	{ CALL,
	  "def f(x):\n  return x[0]",
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_RUNTIME_ERROR, VERDICT_WRONG_ANSWER },
	  "TypeError: 'int' object is not subscriptable" },
	{ CALL,
	  "import os\ndef f(x):\n  os._exit(0)",
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_RUNTIME_ERROR, VERDICT_RUNTIME_ERROR },
	  "ended before" },
	{ CALL,
	  "def g(x): pass",
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_RUNTIME_ERROR, VERDICT_RUNTIME_ERROR },
	  "NameError: name 'f' is not defined" },
	{ CALL,
	  "def f(x) return x",
	  VERDICT_COMPILE_ERROR,
	  { VERDICT_SKIPPED, VERDICT_SKIPPED },
	  NULL },
	{ PROVE, "def f(x):\n  return x + 1", VERDICT_ACCEPTED, { 0 }, NULL },
	{ PROVE,
	  "def f(x):\n  return 2",
	  VERDICT_WRONG_ANSWER,
	  { VERDICT_ACCEPTED, VERDICT_WRONG_ANSWER },
	  "AssertionError" },
	{ PROVE,
	  "pass",
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_RUNTIME_ERROR, VERDICT_RUNTIME_ERROR },
	  "NameError" },
};

enum { N = sizeof programs / sizeof *programs };

static void check(const struct judged *v, int i)
{
	const struct str *note = NULL;

	for (int k = 0; k < 2 && !note; k++)
		if (v->test[k].verdict != VERDICT_ACCEPTED)
			note = &v->test[k].note;
	if (v->verdict != programs[i].all || v->test[0].verdict != programs[i].test[0] ||
	    v->test[1].verdict != programs[i].test[1])
		fail_msg("'%s': %s (%s, %s) %.*s", programs[i].code, verdict_text(v->verdict),
		         verdict_text(v->test[0].verdict), verdict_text(v->test[1].verdict),
		         note ? (int)note->n : 0, note ? note->p : "");
	if (programs[i].note && !str_has(*note, view(programs[i].note)))
		fail_msg("'%s': note '%.*s'", programs[i].code, (int)note->n, note->p);
	assert_int_equal(v->n_tests, 2);
	assert_false(v->weak);
}

static void verdicts_in_order(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 22 };
	struct judge *j = open_judge(2, 0);
	struct task task[N];
	struct judge_stats st;
	struct judged v;
	struct err e;

	(void)state;
	assert_int_equal(judge_next(j, -1, &v, &e), 0); /* nothing is out */
	for (int i = 0; i < N; i++) {
		task[i] = load(programs[i].task, &a);
		submit(j, &task[i], programs[i].code, (uint64_t)i);
	}
	assert_int_equal(judge_pending(j), N);
	for (int i = 0; i < N; i++) {
		assert_int_equal(judge_next(j, -1, &v, &e), 1);
		assert_int_equal(v.tag, i);
		check(&v, i);
		if (i == 0)
			assert_true(str_is(v.test[1].out, "6\n"));
		if (i == 5)
			assert_true(str_is(v.test[1].out, "{\"t\":[5,\"\\u00e4\"]}"));
		judged_done(&v);
	}
	assert_int_equal(judge_pending(j), 0);
	judge_stats(j, &st);
	assert_true(st.programs == N && st.tests == 2 * N && st.retried == 0);
	assert_true(st.by_verdict[VERDICT_ACCEPTED] == 3);
	judge_close(j);
}

struct client {
	struct judge *j;
	const struct task *t;
	int from;
};

static void *submit_many(void *arg)
{
	struct client *c = arg;

	for (int i = 0; i < 8; i++)
		submit(c->j, c->t, i % 2 ? "print(2)" : "print(int(input()) + 1)",
		       (uint64_t)(c->from + i));
	return NULL;
}

/* Each submission has one result, whoever submitted it. */
static void several_threads(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct judge *j = open_judge(2, 0);
	struct task t = load(ECHO, &a);
	struct client c[3] = { { j, &t, 0 }, { j, &t, 8 }, { j, &t, 16 } };
	pthread_t thread[3];
	int seen[24] = { 0 };
	struct judged v;
	struct err e;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, submit_many, &c[i]), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	for (int i = 0; i < 24; i++) {
		assert_int_equal(judge_next(j, -1, &v, &e), 1);
		seen[v.tag]++;
		assert_int_equal(v.verdict, v.tag % 2 ? VERDICT_WRONG_ANSWER : VERDICT_ACCEPTED);
		judged_done(&v);
	}
	for (int i = 0; i < 24; i++)
		assert_int_equal(seen[i], 1);
	judge_close(j);
}

static void faults_are_no_verdicts(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct judge *j = open_judge(1, 1);
	struct task t = load(ECHO, &a);
	struct judged v;
	struct err e;

	(void)state;
	submit(j, &t, "print(2)", 7);
	assert_int_equal(judge_next(j, -1, &v, &e), 1);
	assert_true(v.verdict == VERDICT_JUDGE_ERROR && v.tag == 7);
	judged_done(&v);
	judge_close(j);
}

/* A judge that is closed with work in flight drops it, and soon. */
static void closing_early(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct judge *j = open_judge(1, 0);
	struct task t = load(ECHO, &a);
	struct judged v;
	struct err e;

	(void)state;
	for (int i = 0; i < 4; i++)
		submit(j, &t, "while True: pass", 0);
	assert_int_equal(judge_next(j, 1000000, &v, &e), 0);
	assert_int_equal(judge_pending(j), 4);
	judge_close(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_in_order),
		cmocka_unit_test(several_threads),
		cmocka_unit_test(faults_are_no_verdicts),
		cmocka_unit_test(closing_early),
	};

	return RUN(tests);
}
