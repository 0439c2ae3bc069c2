/* judge_take.c - what the end of a box job says about the tests of a program. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "judge/judge_int.h"

enum { NOTE = 200 };

void judge_note(struct program *p, struct judged_test *t, const char *fmt, ...)
{
	char text[NOTE + 1];
	va_list ap;
	struct str own;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	own = arena_str(&p->a, (struct str){ text, strlen(text) });
	t->note = own.p ? own : STR("");
}

/* The last line that is not blank. */
static struct str last_line(struct str s)
{
	const char *lf;

	s = str_trim_end(s);
	lf = s.n ? memrchr(s.p, '\n', s.n) : NULL;
	return lf ? (struct str){ lf + 1, s.n - (size_t)(lf + 1 - s.p) } : s;
}

static enum verdict signal_verdict(const struct program *p, const struct box_result *r, char *note,
                                   size_t size)
{
	const char *name = sigabbrev_np(r->status);

	/* The timers of a runner that has all tests of a program: the kernel counts ticks for them,
	 * so a quarter is allowed for. A program that sends itself these signals earlier crashed.
	 */
	if (p->whole && ((r->status == SIGPROF && r->cpu_ns >= p->limits.cpu_ns / 4 * 3) ||
	                 (r->status == SIGALRM && r->wall_ns >= p->limits.wall_ns / 4 * 3))) {
		(void)snprintf(note, size, "%s time limit", r->status == SIGPROF ? "CPU" : "wall");
		return VERDICT_TIME_LIMIT;
	}
	(void)snprintf(note, size, "killed by signal %d (SIG%s)", r->status, name ? name : "?");
	return VERDICT_RUNTIME_ERROR;
}

/* A program that died of an exception says so on stderr: between the kinds of failure this may
 * tell which, but never whether it failed.
 */
static enum verdict exit_verdict(const struct box_result *r, char *note, size_t size)
{
	struct str line = last_line(r->out[1]);

	(void)snprintf(note, size, "exit status %d%s%.*s", r->status, line.n ? ": " : "",
	               (int)(line.n < NOTE ? line.n : NOTE), line.n ? line.p : "");
	return r->status == 1 && str_starts(line, STR("MemoryError")) ? VERDICT_MEMORY_LIMIT
	                                                              : VERDICT_RUNTIME_ERROR;
}

enum verdict judge_end_verdict(const struct program *p, const struct box_result *r, char *ret_note,
                               size_t size)
{
	switch (r->end) {
	case BOX_EXITED:
		return exit_verdict(r, ret_note, size);
	case BOX_SIGNALED:
		return signal_verdict(p, r, ret_note, size);
	case BOX_CPU_LIMIT:
		(void)snprintf(ret_note, size, "CPU time limit");
		return VERDICT_TIME_LIMIT;
	case BOX_WALL_LIMIT:
		(void)snprintf(ret_note, size, "wall time limit");
		return VERDICT_TIME_LIMIT;
	case BOX_MEM_LIMIT:
		(void)snprintf(ret_note, size, "more than %lld MiB",
		               (long long)(p->limits.mem_bytes >> 20));
		return VERDICT_MEMORY_LIMIT;
	case BOX_OUT_LIMIT:
		(void)snprintf(ret_note, size, "more than %lld KiB of output",
		               (long long)(p->limits.out_bytes >> 10));
		return VERDICT_OUTPUT_LIMIT;
	case BOX_DENIED:
		(void)snprintf(ret_note, size, "a system call that is not allowed");
		return VERDICT_SECURITY_VIOLATION;
	case BOX_FAILED:
		break;
	}
	(void)snprintf(ret_note, size, "%s", r->why);
	return VERDICT_JUDGE_ERROR;
}

static void check_output(struct program *p, int i, const struct box_result *r)
{
	struct judged_test *t = &p->test[i];
	const struct test *test = &p->task->test[i];
	struct check_in in = { test->in, test->out, r->out[0] };
	struct err e = { 0 };

	if (p->checker->check(p->check_cfg, &in, &t->score, &e) < 0) {
		t->score = 0;
		t->verdict = VERDICT_JUDGE_ERROR;
		judge_note(p, t, "checker %s: %s", p->checker->name, e.msg);
		return;
	}
	t->verdict = t->score >= 1 ? VERDICT_ACCEPTED : VERDICT_WRONG_ANSWER;
}

bool judge_take_load(struct program *p, const struct json *event)
{
	int64_t ns = 0;

	if (json_get(event, "compile")) {
		(void)json_opt_int(event, "compile", 0, INT64_MAX / 2, &ns, NULL);
		p->compile_ns += ns;
		return true;
	}
	if (!str_is(json_str(json_get(event, "load")), "syntax"))
		return false;
	p->broken = true;
	p->broken_note = arena_str(&p->a, json_str(json_get(event, "note")));
	return true;
}

/* Descriptor 3 is closed before anything of a stdin program runs: all in it is ours. */
static void read_load(struct program *p, struct str rest)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	const struct json *j = NULL;
	struct str line;

	while (str_next_line(&rest, &line))
		if (json_parse(line, &a, &j, NULL) == 0)
			(void)judge_take_load(p, j);
}

static enum judge_taken take_run(struct program *p, int i, const struct box_result *r)
{
	struct judged_test *t = &p->test[i];
	char note[NOTE + 64];

	read_load(p, r->out[2]);
	t->cpu_ns = r->cpu_ns;
	t->wall_ns = r->wall_ns;
	t->mem_bytes = r->mem_bytes;
	if (p->keep_output) {
		t->out = arena_str(&p->a, r->out[0]);
		if (!t->out.p)
			return JUDGE_AGAIN;
	}
	if (r->end == BOX_EXITED && r->status == 0) {
		check_output(p, i, r);
		return JUDGE_TAKEN;
	}
	t->verdict = judge_end_verdict(p, r, note, sizeof note);
	judge_note(p, t, "%s", note);
	return JUDGE_TAKEN;
}

enum judge_taken judge_take(struct program *p, int unit, const struct box_result *r)
{
	int64_t compile_ns = p->compile_ns;
	enum judge_taken taken;
	int n, first = judge_unit_tests(p, unit, &n);

	if (r->end == BOX_FAILED)
		return JUDGE_AGAIN;
	if (p->role == ROLE_ANALYSIS)
		return judge_analysis_take(p, r);
	taken = p->way[first] == WAY_RUN ? take_run(p, first, r) : judge_call_take(p, first, n, r);
	p->run_ns += r->wall_ns - (p->compile_ns - compile_ns);
	return taken;
}

void judge_give_up(struct program *p, int unit, const char *why)
{
	int n, first = judge_unit_tests(p, unit, &n);

	for (int i = first; i < first + n; i++) {
		p->test[i].verdict = VERDICT_JUDGE_ERROR;
		p->test[i].score = 0;
		judge_note(p, &p->test[i], "%s", why);
	}
}

/*	score = sum_i w_i s_i / sum_i w_i		s_i in [0, 1] the score of test i, w_i its
 * weight
 *
 * Tests that were not reached stay in the sum. sum w > 0: task_load() checked it.
 */
/* With fail_fast what ran behind the first failure does not count: how far the boxes were ahead is
 * chance.
 */
static void skip_rest(struct program *p)
{
	bool failed = false;

	for (int i = 0; i < p->task->n_tests; i++) {
		struct judged_test *t = &p->test[i];

		if (failed || p->broken)
			*t = (struct judged_test){ .name = t->name, .verdict = VERDICT_SKIPPED };
		failed |= p->fail_fast && t->verdict != VERDICT_ACCEPTED;
	}
}

void judge_conclude(struct program *p)
{
	struct judged *v = &p->result;
	double sum = 0, weight = 0;

	*v = (struct judged){
		.tag = p->tag,
		.n_tests = p->task->n_tests,
		.test = p->test,
		.queue_ns = p->queue_ns > 0 ? p->queue_ns : 0,
		.compile_ns = p->compile_ns,
		.run_ns = p->run_ns,
		.compile_note = p->broken_note,
		.own = p,
	};
	if (p->broken)
		v->compile_verdict = VERDICT_COMPILE_ERROR;
	skip_rest(p);
	for (int i = 0; i < v->n_tests; i++) {
		struct judged_test *t = &p->test[i];

		v->n_passed += t->verdict == VERDICT_ACCEPTED;
		v->weak |= p->way[i] == WAY_WEAK && t->verdict != VERDICT_SKIPPED;
		sum += p->task->test[i].weight * t->score;
		weight += p->task->test[i].weight;
		if (t->verdict == VERDICT_JUDGE_ERROR ||
		    (v->verdict == VERDICT_ACCEPTED && t->verdict != VERDICT_ACCEPTED))
			v->verdict = t->verdict;
	}
	v->score = sum / weight;
	if (p->broken)
		v->verdict = VERDICT_COMPILE_ERROR;
}
