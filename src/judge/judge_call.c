/* judge_call.c - reads what the runner in the box reported about the tests of one program.
 *
 * The program may have written into the same channel. So the order of events is checked, a value
 * counts only if it equals what is expected, and an assertion only with the secret of this job.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "judge/judge_int.h"

#define VALUE_BYTES ((size_t)512 << 20) /* of one value as a tree */
#define LATE_NS     INT64_C(50000000)   /* and an eighth: as late as the runner's timers */

enum load { LOAD_NONE, LOAD_OK, LOAD_SYNTAX, LOAD_RAISED, LOAD_MEMORY, LOAD_TASK };

struct reader {
	struct program *p;
	const struct box_result *r;
	struct arena a; /* of one event */
	enum load load;
	int next;           /* test that starts or ends next */
	bool running, left; /* left: by SystemExit */
	bool ended;
	bool alien; /* something that the runner does not write */
	int64_t cpu_ns;
};

static bool take_load(struct reader *x, const struct json *j)
{
	static const char *const word[] = { "", "ok", "syntax", "raised", "memory", "task" };
	struct program *p = x->p;
	struct str load = json_str(json_get(j, "load")), note = json_str(json_get(j, "note"));

	if (x->load != LOAD_NONE)
		return false;
	for (int k = LOAD_OK; k <= LOAD_TASK; k++)
		if (str_is(load, word[k]))
			x->load = (enum load)k;
	if (x->load == LOAD_SYNTAX) {
		p->broken = true;
		p->broken_note = arena_str(&p->a, note);
	} else if (x->load != LOAD_OK) {
		judge_note(p, &p->test[0], "%.*s", (int)note.n, note.n ? note.p : "");
	}
	return x->load != LOAD_NONE;
}

/* A name and number of digits that the runner could have written. */
static int64_t time_of(const struct json *j, const char *key)
{
	int64_t ns = 0;

	(void)json_opt_int(j, key, 0, INT64_MAX / 2, &ns, NULL);
	return ns;
}

static void compare(struct reader *x, const struct json *j, struct str line, struct judged_test *t)
{
	const struct test *test = &x->p->task->test[x->next];
	struct value want, got;
	struct err e = { 0 };
	const char *text = memmem(line.p, line.n, "\"value\":", 8);
	int n = text ? (int)(line.p + line.n - text) - 9 : 0;

	if (value_expected(test->expected, &x->a, &want, &e) < 0 ||
	    value_received(json_get(j, "value"), &x->a, &got, &e) < 0) {
		t->verdict = VERDICT_OUTPUT_LIMIT;
		judge_note(x->p, t, "%s", e.msg);
		return;
	}
	t->score = x->p->checker->value(x->p->check_cfg, &want, &got);
	t->verdict = t->score >= 1 ? VERDICT_ACCEPTED : VERDICT_WRONG_ANSWER;
	if (t->verdict != VERDICT_ACCEPTED)
		judge_note(x->p, t, "returned %.*s", n < 100 ? n : 100, n > 0 ? text + 8 : "");
	if (x->p->keep_output && n > 0) {
		t->out = arena_str(&x->p->a, (struct str){ text + 8, (size_t)n });
		if (!t->out.p)
			t->out = STR("");
	}
}

static void take_failure(struct reader *x, const struct json *j, struct judged_test *t)
{
	static const struct {
		const char *key;
		enum verdict verdict;
	} way[] = {
		{ "failed", VERDICT_WRONG_ANSWER },
		{ "raised", VERDICT_RUNTIME_ERROR },
		{ "memory", VERDICT_MEMORY_LIMIT },
	};

	for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
		struct str note = json_str(json_get(j, way[k].key));

		if (!json_get(j, way[k].key))
			continue;
		t->verdict = way[k].verdict;
		judge_note(x->p, t, "%.*s", (int)(note.n < 400 ? note.n : 400),
		           note.n ? note.p : "");
		x->left = json_get(j, "exit");
		return;
	}
	x->alien = true;
}

/* The timers were disarmed; whoever forges these times too runs into the limits of the box. */
static void check_times(const struct reader *x, struct judged_test *t)
{
	const struct judge_limits *l = &x->p->limits;
	int64_t cpu = l->cpu_ns + l->cpu_ns / 8 + LATE_NS;
	int64_t wall = l->wall_ns + l->wall_ns / 8 + LATE_NS;

	if (t->cpu_ns <= cpu && t->wall_ns <= wall)
		return;
	t->verdict = VERDICT_TIME_LIMIT;
	t->score = 0;
	judge_note(x->p, t, "%s time limit", t->cpu_ns > cpu ? "CPU" : "wall");
}

static void take_result(struct reader *x, const struct json *j, struct str line)
{
	struct program *p = x->p;
	struct judged_test *t = &p->test[x->next];
	const struct json *proof = json_get(j, "proof");

	t->cpu_ns = time_of(j, "cpu");
	t->wall_ns = time_of(j, "wall");
	t->mem_bytes = x->r->mem_bytes;
	x->cpu_ns += t->cpu_ns;
	if (p->task->kind == TASK_FUNCTION && json_get(j, "value")) {
		compare(x, j, line, t);
	} else if (p->task->kind == TASK_ASSERT && proof) {
		x->alien = !str_is(json_str(proof), p->token);
		t->verdict = x->alien ? VERDICT_RUNTIME_ERROR : VERDICT_ACCEPTED;
		t->score = x->alien ? 0 : 1;
	} else {
		take_failure(x, j, t);
	}
	if (!x->alien) {
		check_times(x, t);
		x->running = false;
		x->next++;
	}
}

static bool is_index(const struct json *j, const char *key, int i)
{
	int64_t n = -1;

	return json_get(j, key) && json_opt_int(j, key, 0, INT32_MAX, &n, NULL) == 0 && n == i;
}

static void take_event(struct reader *x, struct str line)
{
	const struct json *j = NULL;
	int n = x->p->task->n_tests, r = json_parse(line, &x->a, &j, NULL);

	if (r == ERR_LIMIT && x->running) {
		x->p->test[x->next].verdict = VERDICT_OUTPUT_LIMIT;
		judge_note(x->p, &x->p->test[x->next], "a value too large to compare");
		x->running = false;
		x->next++;
	} else if (r < 0) {
		x->alien = true;
	} else if (json_get(j, "load")) {
		x->alien = !take_load(x, j);
	} else if (x->load != LOAD_OK || x->left || x->ended) {
		x->alien = true;
	} else if (!x->running && x->next < n && is_index(j, "start", x->next)) {
		x->running = true;
	} else if (x->running && is_index(j, "i", x->next)) {
		take_result(x, j, line);
	} else {
		x->ended = !x->running && x->next == n && json_get(j, "end");
		x->alien = !x->ended;
	}
}

/* The box closes the pipe at the cap, and the program may see that before it dies: a test that
 * failed by it is the one that hit the limit.
 */
static void flooded(struct reader *x, int n)
{
	struct program *p = x->p;
	char note[300];

	for (int i = 0; x->r->end == BOX_OUT_LIMIT && i < n; i++) {
		struct judged_test *t = &p->test[i];

		if (t->verdict != VERDICT_RUNTIME_ERROR ||
		    !str_starts(t->note, STR("BrokenPipeError")))
			continue;
		t->verdict = judge_end_verdict(p, x->r, note, sizeof note);
		judge_note(p, t, "%s", note);
		return;
	}
}

/* The program did not load: the first test says why, the others were not reached. */
static void not_loaded(struct reader *x)
{
	struct program *p = x->p;

	if (x->load == LOAD_RAISED || x->load == LOAD_MEMORY)
		p->test[0].verdict =
			x->load == LOAD_MEMORY ? VERDICT_MEMORY_LIMIT : VERDICT_RUNTIME_ERROR;
	for (int i = 0; x->load == LOAD_TASK && i < p->task->n_tests; i++) {
		p->test[i].verdict = VERDICT_JUDGE_ERROR; /* the task is broken */
		p->test[i].note = p->test[0].note;
	}
}

/* The job ended before the runner was done, or badly after that: whichever test was under way has
 * the verdict of the job, and crash beats match.
 */
static void cut_short(struct reader *x)
{
	struct program *p = x->p;
	int n = p->task->n_tests, i = x->next < n ? x->next : n - 1;
	struct judged_test *t = &p->test[i];
	char note[300];

	t->score = 0;
	t->verdict = judge_end_verdict(p, x->r, note, sizeof note);
	if (x->alien && x->r->end == BOX_EXITED)
		(void)snprintf(note, sizeof note,
		               "something else wrote into the channel of results");
	else if (x->r->end == BOX_EXITED && x->r->status == 0)
		(void)snprintf(note, sizeof note, "ended before its tests were done");
	judge_note(p, t, "%s", note);
	if (x->running || x->load == LOAD_NONE) {
		t->cpu_ns = x->r->cpu_ns > x->cpu_ns ? x->r->cpu_ns - x->cpu_ns : 0;
		t->wall_ns = x->r->wall_ns;
		t->mem_bytes = x->r->mem_bytes;
	}
}

void judge_call_take(struct program *p, const struct box_result *r)
{
	struct reader x = { .p = p, .r = r };
	struct str rest = r->out[2], line;

	x.a.limit = VALUE_BYTES;
	for (int i = 0; i < p->task->n_tests; i++) /* an earlier attempt may have left something */
		p->test[i] = (struct judged_test){ .name = p->task->test[i].name,
			                           .verdict = VERDICT_SKIPPED };
	/* A last line without its end was cut by the death of the box: it says nothing. */
	while (!x.alien && rest.n && memchr(rest.p, '\n', rest.n) && str_next_line(&rest, &line)) {
		take_event(&x, line);
		arena_reset(&x.a);
	}
	arena_done(&x.a);
	if (p->broken)
		return;
	if (x.load > LOAD_OK && !x.alien)
		not_loaded(&x);
	else if (!x.left && (!x.ended || x.alien || r->end != BOX_EXITED || r->status != 0))
		cut_short(&x);
	flooded(&x, p->task->n_tests);
}
