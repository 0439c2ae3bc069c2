/* judge_take, judge_call, judge_plan: what a box reported becomes verdicts. No box runs here: each
 * case is a task, a report and the verdicts that must follow.
 */
#include "judge/judge_int.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

#define HEAD  "{\"id\":\"t\",\"prompt\":\"\",\"language\":\"python\","
#define STDIN HEAD "\"kind\":\"stdin\",\"tests\":[{\"stdin\":\"1\",\"stdout\":\"2\\n\"}]}"
#define FUNCTION                                                                                   \
	HEAD "\"kind\":\"function\",\"entry_point\":\"f\",\"tests\":["                             \
	     "{\"args\":[1],\"expected\":2},{\"args\":[7],\"expected\":8}]}"
#define ASSERT                                                                                     \
	HEAD "\"kind\":\"assert\",\"tests\":[{\"assert\":\"assert f(1)\"},"                        \
	     "{\"assert\":\"assert f(2)\",\"weight\":3}]}"

/* A program of a task, as the judge would hold it. */
struct bench {
	struct arena a;
	struct task task;
	struct program *p;
};

static struct str view(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static const struct judge_config config = {
	.cpu_s = 1, .wall_s = 2, .mem_mib = 100, .output_mib = 1, .zygote = true
};

static void bench_with(struct bench *b, const char *record, const struct judge_config *cfg)
{
	const struct json *rec = NULL;
	struct err e = { 0 };

	*b = (struct bench){ .a = { .limit = 1 << 20 } };
	assert_int_equal(json_parse(view(record), &b->a, &rec, &e), 0);
	if (task_load(NULL, rec, &b->a, &b->task, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(judge_program_new(cfg, &b->task, STR("code"), &b->p, &e), 0);
}

static void bench_open(struct bench *b, const char *record, bool keep)
{
	struct judge_config cfg = config;

	cfg.keep_output = keep;
	bench_with(b, record, &cfg);
}

/* All tests of a function task in one process. */
static void bench_open_whole(struct bench *b)
{
	struct judge_config cfg = config;

	cfg.keep_output = true;
	cfg.per = JUDGE_PER_SAMPLE;
	bench_with(b, FUNCTION, &cfg);
}

static void bench_close(struct bench *b)
{
	judge_program_free(b->p);
	arena_done(&b->a);
}

static struct box_result report(enum box_end end, int status, const char *out, const char *err,
                                const char *channel)
{
	return (struct box_result){ .end = end,
		                    .status = status,
		                    .cpu_ns = 5000000,
		                    .wall_ns = 6000000,
		                    .mem_bytes = 1 << 20,
		                    .out = { view(out), view(err), view(channel) } };
}

static void stdin_tests(void **state)
{
	static const struct {
		enum box_end end;
		int status;
		const char *out, *err;
		enum verdict want;
	} row[] = {
		{ BOX_EXITED, 0, "2", "", VERDICT_ACCEPTED },
		{ BOX_EXITED, 0, "2\r\n", "noise\nSyntaxError: no\n", VERDICT_ACCEPTED },
		{ BOX_EXITED, 0, "3", "", VERDICT_WRONG_ANSWER },
		{ BOX_EXITED, 0, "", "", VERDICT_WRONG_ANSWER },
		/* crash beats match */
		{ BOX_EXITED, 1, "2", "", VERDICT_RUNTIME_ERROR },
		{ BOX_SIGNALED, SIGSEGV, "2", "", VERDICT_RUNTIME_ERROR },
		{ BOX_CPU_LIMIT, 0, "2", "", VERDICT_TIME_LIMIT },
		{ BOX_WALL_LIMIT, 0, "2", "", VERDICT_TIME_LIMIT },
		{ BOX_MEM_LIMIT, 0, "2", "", VERDICT_MEMORY_LIMIT },
		{ BOX_OUT_LIMIT, 0, "2", "", VERDICT_OUTPUT_LIMIT },
		{ BOX_DENIED, 0, "2", "", VERDICT_SECURITY_VIOLATION },
		{ BOX_EXITED, 1, "", "Traceback\nMemoryError\n", VERDICT_MEMORY_LIMIT },
		{ BOX_EXITED, 2, "", "MemoryError\n", VERDICT_RUNTIME_ERROR },
		/* our timers are not used here, so these are crashes */
		{ BOX_SIGNALED, SIGPROF, "2", "", VERDICT_RUNTIME_ERROR },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct bench b;
		struct box_result r = report(row[i].end, row[i].status, row[i].out, row[i].err, "");

		bench_open(&b, STDIN, true);
		assert_int_equal(judge_take(b.p, 0, &r), JUDGE_TAKEN);
		judge_conclude(b.p);
		if (b.p->result.verdict != row[i].want)
			fail_msg("row %zu: %s", i, verdict_text(b.p->result.verdict));
		assert_int_equal(b.p->result.n_passed, row[i].want == VERDICT_ACCEPTED);
		assert_true(b.p->result.score == (row[i].want == VERDICT_ACCEPTED));
		assert_true(str_is(b.p->test[0].out, row[i].out));
		assert_false(b.p->result.weak);
		bench_close(&b);
	}
}

static void a_failed_box_is_no_verdict(void **state)
{
	struct box_result r = report(BOX_FAILED, 0, "2", "", "");
	struct bench b;

	(void)state;
	bench_open(&b, STDIN, false);
	assert_int_equal(judge_take(b.p, 0, &r), JUDGE_AGAIN);
	judge_give_up(b.p, 0, "no mount");
	judge_conclude(b.p);
	assert_int_equal(b.p->result.verdict, VERDICT_JUDGE_ERROR);
	assert_true(str_is(b.p->test[0].note, "no mount"));
	bench_close(&b);
}

/* Only our own word, written before the program ran, makes a syntax error; stderr does not. */
static void syntax_errors(void **state)
{
	static const char *const channel[] = {
		"{\"compile\":5000000}\n", "{\"load\":\"syntax\",\"note\":\"SyntaxError: bad\"}\n"
	};
	struct bench b;

	(void)state;
	for (int broken = 0; broken < 2; broken++) {
		struct box_result r =
			report(BOX_EXITED, 1, "", "  x x\nSyntaxError: bad\n", channel[broken]);

		bench_open(&b, STDIN, false);
		assert_int_equal(judge_take(b.p, 0, &r), JUDGE_TAKEN);
		judge_conclude(b.p);
		assert_int_equal(b.p->result.verdict,
		                 broken ? VERDICT_COMPILE_ERROR : VERDICT_RUNTIME_ERROR);
		assert_int_equal(b.p->test[0].verdict,
		                 broken ? VERDICT_SKIPPED : VERDICT_RUNTIME_ERROR);
		assert_int_equal(b.p->result.compile_verdict,
		                 broken ? VERDICT_COMPILE_ERROR : VERDICT_ACCEPTED);
		assert_true(b.p->result.compile_ns == (broken ? 0 : 5000000));
		assert_true(b.p->result.run_ns == (broken ? 6000000 : 1000000));
		bench_close(&b);
	}
}

#define OK    "{\"compile\":1}\n"
#define V0(v) "{\"i\":0,\"cpu\":1,\"wall\":2,\"value\":" v "}\n"
#define V1(v) "{\"i\":1,\"cpu\":1,\"wall\":2,\"value\":" v "}\n"
#define END   "{\"end\":true}\n"

static const struct {
	const char *channel;
	enum box_end end;
	int status;
	enum verdict all, test[2];
} calls[] = {
#define RIGHT OK V0("2") V1("8") END
	{ RIGHT, BOX_EXITED, 0, VERDICT_ACCEPTED, { VERDICT_ACCEPTED, VERDICT_ACCEPTED } },
	{ OK V0("2") V1("9") END,
	  BOX_EXITED,
	  0,
	  VERDICT_WRONG_ANSWER,
	  { VERDICT_ACCEPTED, VERDICT_WRONG_ANSWER } },
	{ OK V0("true") V1("{\"u\":\"E\"}") END,
	  BOX_EXITED,
	  0,
	  VERDICT_WRONG_ANSWER,
	  { VERDICT_WRONG_ANSWER, VERDICT_WRONG_ANSWER } },
	/* an exception fails one test, the next go on */
	{ OK "{\"i\":0,\"raised\":\"E\"}\n" V1("8") END,
	  BOX_EXITED,
	  0,
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_RUNTIME_ERROR, VERDICT_ACCEPTED } },
	{ OK "{\"i\":0,\"memory\":\"E\"}\n" V1("8") END,
	  BOX_EXITED,
	  0,
	  VERDICT_MEMORY_LIMIT,
	  { VERDICT_MEMORY_LIMIT, VERDICT_ACCEPTED } },
	/* SystemExit ends the program */
	{ OK "{\"i\":0,\"raised\":\"SystemExit\",\"exit\":true}\n",
	  BOX_EXITED,
	  1,
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_RUNTIME_ERROR, VERDICT_SKIPPED } },
	/* so does os._exit(0), in a test, while loading, or after a forged end */
	{ OK, BOX_EXITED, 0, VERDICT_RUNTIME_ERROR, { VERDICT_RUNTIME_ERROR, VERDICT_SKIPPED } },
	{ OK V0("2"),
	  BOX_EXITED,
	  0,
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_ACCEPTED, VERDICT_RUNTIME_ERROR } },
	{ "", BOX_EXITED, 0, VERDICT_RUNTIME_ERROR, { VERDICT_RUNTIME_ERROR, VERDICT_SKIPPED } },
	{ OK END,
	  BOX_EXITED,
	  0,
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_RUNTIME_ERROR, VERDICT_SKIPPED } },
	{ OK END,
	  BOX_EXITED,
	  0,
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_RUNTIME_ERROR, VERDICT_SKIPPED } },
	/* a limit hits the test that ran */
	{ OK V0("2"),
	  BOX_CPU_LIMIT,
	  0,
	  VERDICT_TIME_LIMIT,
	  { VERDICT_ACCEPTED, VERDICT_TIME_LIMIT } },
	{ OK, BOX_MEM_LIMIT, 0, VERDICT_MEMORY_LIMIT, { VERDICT_MEMORY_LIMIT, VERDICT_SKIPPED } },
	{ "", BOX_OUT_LIMIT, 0, VERDICT_OUTPUT_LIMIT, { VERDICT_OUTPUT_LIMIT, VERDICT_SKIPPED } },
	/* crash beats match, also after the last test */
	{ RIGHT,
	  BOX_EXITED,
	  1,
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_ACCEPTED, VERDICT_RUNTIME_ERROR } },
	{ RIGHT,
	  BOX_OUT_LIMIT,
	  0,
	  VERDICT_OUTPUT_LIMIT,
	  { VERDICT_ACCEPTED, VERDICT_OUTPUT_LIMIT } },
	/* the pipe that the box closed is seen first */
	{ OK "{\"i\":0,\"raised\":\"BrokenPipeError: x\"}\n",
	  BOX_OUT_LIMIT,
	  0,
	  VERDICT_OUTPUT_LIMIT,
	  { VERDICT_OUTPUT_LIMIT, VERDICT_OUTPUT_LIMIT } },
	{ "{\"load\":\"raised\",\"note\":\"BrokenPipeError: x\"}\n",
	  BOX_OUT_LIMIT,
	  1,
	  VERDICT_OUTPUT_LIMIT,
	  { VERDICT_OUTPUT_LIMIT, VERDICT_SKIPPED } },
	/* a line that was cut by the death of the box says nothing */
	{ OK V0("2") "{\"i\":1,\"value\":8}",
	  BOX_SIGNALED,
	  SIGKILL,
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_ACCEPTED, VERDICT_RUNTIME_ERROR } },
	/* the channel is not trusted: order, numbers, repeats, other text */
	{ "junk\n" RIGHT,
	  BOX_EXITED,
	  0,
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_RUNTIME_ERROR, VERDICT_SKIPPED } },
	{ OK V0("3") V0("2") V1("8") END,
	  BOX_EXITED,
	  0,
	  VERDICT_WRONG_ANSWER,
	  { VERDICT_WRONG_ANSWER, VERDICT_RUNTIME_ERROR } },
	{ OK V1("8") END,
	  BOX_EXITED,
	  0,
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_RUNTIME_ERROR, VERDICT_SKIPPED } },
	{ OK "{\"i\":0,\"proof\":\"x\"}\n" V1("8") END,
	  BOX_EXITED,
	  0,
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_RUNTIME_ERROR, VERDICT_SKIPPED } },
	{ OK OK, BOX_EXITED, 0, VERDICT_RUNTIME_ERROR, { VERDICT_RUNTIME_ERROR, VERDICT_SKIPPED } },
	/* programs that do not load */
	{ "{\"load\":\"syntax\",\"note\":\"n\"}\n",
	  BOX_EXITED,
	  1,
	  VERDICT_COMPILE_ERROR,
	  { VERDICT_SKIPPED, VERDICT_SKIPPED } },
	{ "{\"load\":\"raised\",\"note\":\"n\"}\n",
	  BOX_EXITED,
	  1,
	  VERDICT_RUNTIME_ERROR,
	  { VERDICT_RUNTIME_ERROR, VERDICT_SKIPPED } },
	{ "{\"load\":\"memory\",\"note\":\"n\"}\n",
	  BOX_EXITED,
	  1,
	  VERDICT_MEMORY_LIMIT,
	  { VERDICT_MEMORY_LIMIT, VERDICT_SKIPPED } },
	/* a task whose test text does not compile punishes nobody */
	{ "{\"load\":\"task\",\"note\":\"n\"}\n",
	  BOX_EXITED,
	  1,
	  VERDICT_JUDGE_ERROR,
	  { VERDICT_JUDGE_ERROR, VERDICT_JUDGE_ERROR } },
};

static void function_tests(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		struct box_result r =
			report(calls[i].end, calls[i].status, "", "", calls[i].channel);
		struct bench b;

		bench_open_whole(&b);
		assert_int_equal(judge_take(b.p, 0, &r), JUDGE_TAKEN);
		judge_conclude(b.p);
		if (b.p->result.verdict != calls[i].all ||
		    b.p->test[0].verdict != calls[i].test[0] ||
		    b.p->test[1].verdict != calls[i].test[1])
			fail_msg("%s: %s (%s, %s)", calls[i].channel,
			         verdict_text(b.p->result.verdict),
			         verdict_text(b.p->test[0].verdict),
			         verdict_text(b.p->test[1].verdict));
		assert_false(b.p->result.weak);
		bench_close(&b);
	}
}

/* The runner's own timers end a test; the same signals before the limit are crashes. */
static void timers(void **state)
{
	static const struct {
		int sig;
		int64_t cpu_ns, wall_ns;
		enum verdict want;
	} row[] = {
		{ SIGPROF, 1000000000, 0, VERDICT_TIME_LIMIT },
		{ SIGPROF, 700000000, 0, VERDICT_RUNTIME_ERROR },
		{ SIGALRM, 0, 2000000000, VERDICT_TIME_LIMIT },
		{ SIGALRM, 0, 1400000000, VERDICT_RUNTIME_ERROR },
		{ SIGKILL, 1000000000, 2000000000, VERDICT_RUNTIME_ERROR },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct box_result r = report(BOX_SIGNALED, row[i].sig, "", "", OK);
		struct bench b;

		r.cpu_ns = row[i].cpu_ns;
		r.wall_ns = row[i].wall_ns;
		bench_open_whole(&b);
		assert_int_equal(judge_take(b.p, 0, &r), JUDGE_TAKEN);
		assert_int_equal(b.p->test[0].verdict, row[i].want);
		bench_close(&b);
	}
}

/* A test that took too long although its timers were stopped. */
static void disarmed_timers(void **state)
{
	struct box_result r =
		report(BOX_EXITED, 0, "", "",
	               OK "{\"i\":0,\"cpu\":1,\"wall\":2400000000,\"value\":2}\n"
	                  "{\"i\":1,\"cpu\":1200000000,\"wall\":1,\"value\":8}\n" END);
	struct bench b;

	(void)state;
	bench_open_whole(&b);
	assert_int_equal(judge_take(b.p, 0, &r), JUDGE_TAKEN);
	judge_conclude(b.p);
	assert_int_equal(b.p->test[0].verdict, VERDICT_TIME_LIMIT);
	assert_int_equal(b.p->test[1].verdict, VERDICT_TIME_LIMIT);
	assert_true(b.p->result.score == 0);
	bench_close(&b);
}

/* An assertion in the program's own process counts only with the secret. */
static void proofs(void **state)
{
	struct box_result failed =
		report(BOX_EXITED, 0, "", "", "{\"i\":0,\"failed\":\"AssertionError\"}\n" END);
	struct bench b;
	char channel[512];
	struct box_result r;

	(void)state;
	for (int forged = 0; forged < 2; forged++) {
		bench_open(&b, ASSERT, false);
		assert_int_equal(strlen(b.p->token), JUDGE_TOKEN);
		b.p->way[0] = b.p->way[1] = WAY_WEAK;
		(void)snprintf(channel, sizeof channel, "{\"i\":0,\"proof\":\"%s\"}\n" END,
		               forged ? "0123456789abcdef0123456789abcdef" : b.p->token);
		r = report(BOX_EXITED, 0, "", "", channel);
		assert_int_equal(judge_take(b.p, 0, &failed), JUDGE_TAKEN);
		assert_int_equal(judge_take(b.p, 1, &r), JUDGE_TAKEN);
		judge_conclude(b.p);
		assert_int_equal(b.p->test[0].verdict, VERDICT_WRONG_ANSWER);
		assert_int_equal(b.p->test[1].verdict,
		                 forged ? VERDICT_RUNTIME_ERROR : VERDICT_ACCEPTED);
		assert_true(b.p->result.score == (forged ? 0 : 0.75)); /* weights 1 and 3 */
		assert_true(b.p->result.weak);
		bench_close(&b);
	}
}

/* In a pair the channel belongs to the trusted process: its death is ours, but not that of the
 * program.
 */
static void pairs(void **state)
{
#define PROOF "{\"i\":0,\"proof\":true}\n" END
	static const struct {
		const char *channel;
		enum box_end end;
		int status;
		bool early;
		enum judge_taken taken;
		enum verdict want;
	} row[] = {
		{ PROOF, BOX_EXITED, 0, false, JUDGE_TAKEN, VERDICT_ACCEPTED },
		{ OK PROOF, BOX_EXITED, 0, false, JUDGE_TAKEN, VERDICT_ACCEPTED },
		{ "{\"i\":0,\"failed\":\"n\"}\n" END, BOX_EXITED, 0, false, JUDGE_TAKEN,
		  VERDICT_WRONG_ANSWER },
		{ "{\"i\":0,\"raised\":\"n\"}\n" END, BOX_EXITED, 0, false, JUDGE_TAKEN,
		  VERDICT_RUNTIME_ERROR },
		{ "{\"load\":\"raised\",\"note\":\"n\"}\n", BOX_EXITED, 1, false, JUDGE_TAKEN,
		  VERDICT_RUNTIME_ERROR },
		/* the program's process ended before the trusted one */
		{ PROOF, BOX_EXITED, 0, true, JUDGE_TAKEN, VERDICT_RUNTIME_ERROR },
		{ PROOF, BOX_SIGNALED, SIGSEGV, true, JUDGE_TAKEN, VERDICT_RUNTIME_ERROR },
		{ "", BOX_CPU_LIMIT, 0, false, JUDGE_TAKEN, VERDICT_TIME_LIMIT },
		{ PROOF, BOX_MEM_LIMIT, 0, false, JUDGE_TAKEN, VERDICT_MEMORY_LIMIT },
		/* the trusted process said nothing, or no proof of its own */
		{ "", BOX_EXITED, 0, false, JUDGE_AGAIN, VERDICT_SKIPPED },
		{ "", BOX_SIGNALED, SIGSEGV, false, JUDGE_AGAIN, VERDICT_SKIPPED },
		{ "{\"i\":0,\"proof\":\"x\"}\n" END, BOX_EXITED, 0, false, JUDGE_AGAIN,
		  VERDICT_RUNTIME_ERROR },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct box_result r = report(row[i].end, row[i].status, "", "", row[i].channel);
		struct bench b;

		r.early = row[i].early;
		bench_open(&b, ASSERT, false);
		b.p->way[0] = WAY_PAIR;
		assert_int_equal(judge_take(b.p, 0, &r), row[i].taken);
		if (b.p->test[0].verdict != row[i].want)
			fail_msg("row %zu: %s", i, verdict_text(b.p->test[0].verdict));
		judge_conclude(b.p);
		assert_false(b.p->result.weak);
		bench_close(&b);
	}
}

/* Tests behind the first failure are skipped, even if they ran. */
static void failing_fast(void **state)
{
	struct judge_config cfg = config;
	struct box_result wrong = report(BOX_EXITED, 0, "", "", "{\"i\":0,\"value\":0}\n" END);
	struct box_result right = report(BOX_EXITED, 0, "", "", "{\"i\":0,\"value\":8}\n" END);
	struct bench b;

	(void)state;
	cfg.fail_fast = true;
	bench_with(&b, FUNCTION, &cfg);
	assert_int_equal(b.p->n_units, 2);
	assert_int_equal(judge_take(b.p, 1, &right), JUDGE_TAKEN);
	assert_int_equal(b.p->test[1].verdict, VERDICT_ACCEPTED);
	assert_int_equal(judge_take(b.p, 0, &wrong), JUDGE_TAKEN);
	judge_conclude(b.p);
	assert_int_equal(b.p->result.verdict, VERDICT_WRONG_ANSWER);
	assert_int_equal(b.p->test[1].verdict, VERDICT_SKIPPED);
	assert_true(b.p->result.score == 0 && b.p->result.n_passed == 0);
	bench_close(&b);
}

/* Rule R1: nothing that is expected goes into the box. */
static void plans(void **state)
{
	AUTO_BUF spec = { .max = 1 << 20 };
	AUTO_BUF in = { .max = 1 << 20 };
	struct box_plan plan;
	struct bench b;
	struct err e;

	(void)state;
	bench_open(&b,
	           HEAD "\"kind\":\"function\",\"entry_point\":\"f\",\"tests\":["
	                "{\"args\":[123],\"expected\":\"secret\"}]}",
	           false);
	assert_int_equal(judge_plan(&config, b.p, 0, &spec, &in, &plan, &e), 0);
	assert_true(str_has(plan.in, STR("[123]")) && !str_has(plan.in, STR("secret")));
	assert_true(str_starts(plan.spec, STR("function\nmain.py\nf\n")));
	assert_true(!str_has(plan.spec, STR("secret")) && plan.n_files == 1);
	assert_true(str_eq(plan.file[0].text, STR("code")));
	assert_string_equal(plan.file[0].name, "main.py");
	assert_true(plan.zygote == 1 && !plan.cold && !plan.pair);
	assert_true(plan.limits.cpu_ns == 1000000000 && plan.limits.wall_ns == 2000000000);
	bench_close(&b);

	bench_open_whole(&b);
	assert_int_equal(b.p->n_units, 1);
	assert_int_equal(judge_plan(&config, b.p, 0, &spec, &in, &plan, &e), 0);
	assert_true(plan.limits.cpu_ns == 2500000000); /* of both tests, and a start */
	bench_close(&b);

	bench_open(&b, STDIN, false);
	assert_int_equal(judge_plan(&config, b.p, 0, &spec, &in, &plan, &e), 0);
	assert_true(str_is(plan.in, "1\n") && plan.n_files == 1);
	assert_true(str_starts(plan.spec, STR("stdin\nmain.py\n")));
	assert_true(plan.limits.cpu_ns == 1000000000);
	bench_close(&b);
}

static void tasks_that_cannot_be_judged(void **state)
{
	static const struct {
		const char *record, *why;
	} row[] = {
		{ HEAD "\"kind\":\"stdin\",\"checker\":{\"kind\":\"program\"},\"tests\":["
		       "{\"stdout\":\"\"}]}",
		  "unknown checker 'program'" },
		{ HEAD "\"kind\":\"stdin\",\"checker\":{\"kind\":\"value\"},\"tests\":["
		       "{\"stdout\":\"\"}]}",
		  "not for stdin tasks" },
		{ HEAD "\"kind\":\"assert\",\"checker\":{\"kind\":\"lines\"},\"tests\":["
		       "{\"assert\":\"\"}]}",
		  "not for assert tasks" },
		{ HEAD "\"kind\":\"stdin\",\"checker\":{\"kind\":\"float\",\"tolerance\":1},"
		       "\"tests\":[{\"stdout\":\"\"}]}",
		  "unknown option 'tolerance'" },
		{ HEAD "\"kind\":\"stdin\",\"checker\":{\"kind\":\"float\",\"abs\":2},"
		       "\"tests\":[{\"stdout\":\"\"}]}",
		  "abs" },
		{ "{\"id\":\"t\",\"prompt\":\"\",\"language\":\"cobol\",\"kind\":\"stdin\","
		  "\"tests\":[{\"stdout\":\"\"}]}",
		  "language 'cobol'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		AUTO_ARENA a = { .limit = 1 << 20 };
		const struct json *rec = NULL;
		struct task t;
		struct err e = { 0 };

		assert_int_equal(json_parse(view(row[i].record), &a, &rec, &e), 0);
		assert_int_equal(task_load(NULL, rec, &a, &t, &e), 0);
		assert_true(judge_task_ok(&t, &e) < 0);
		if (!strstr(e.msg, row[i].why) || !strstr(e.msg, "task t: "))
			fail_msg("'%s' does not say: %s", e.msg, row[i].why);
	}
}

static void chosen_faults(void **state)
{
	int n[3] = { 0 };
	static const double rate[3] = { 0, 0.5, 1 };

	(void)state;
	for (int i = 0; i < 60; i++)
		for (int k = 0; k < 3; k++) {
			struct bench b;
			struct str own;

			bench_open(&b, STDIN, false);
			own = (struct str){ arena_printf(&b.a, "%d", i), i < 10 ? 1 : 2 };
			b.p->code = own;
			n[k] += judge_is_decided(b.p, rate[k]);
			bench_close(&b);
		}
	assert_true(n[0] == 0 && n[1] > 10 && n[1] < 50 && n[2] == 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stdin_tests),
		cmocka_unit_test(a_failed_box_is_no_verdict),
		cmocka_unit_test(syntax_errors),
		cmocka_unit_test(function_tests),
		cmocka_unit_test(timers),
		cmocka_unit_test(disarmed_timers),
		cmocka_unit_test(proofs),
		cmocka_unit_test(pairs),
		cmocka_unit_test(failing_fast),
		cmocka_unit_test(plans),
		cmocka_unit_test(tasks_that_cannot_be_judged),
		cmocka_unit_test(chosen_faults),
	};

	return RUN(tests);
}
