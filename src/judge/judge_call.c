/* judge_call.c - reads what the runner in the box reported about the tests of a unit.
 *
 * In all ways but that of a pair the program may have written into the same channel. So the order
 * of events is checked, a value counts only if it equals what is expected, and an assertion only
 * with the secret of this program. In a pair the channel is the trusted process's alone.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "judge/judge_int.h"

#define VALUE_BYTES ((size_t)1 << 30) /* of one value as a tree */
#define LATE_NS     INT64_C(50000000) /* and an eighth: as late as the runner's timers */

enum load { LOAD_NONE, LOAD_RAISED, LOAD_MEMORY, LOAD_TASK };

struct reader {
	struct program *p;
	const struct box_result *r;
	enum judge_way way;
	int first, n;   /* tests of the unit */
	struct arena a; /* of one event */
	enum load load; /* how the program failed to load */
	int next;       /* test that ends next, from first */
	int lines;      /* events so far */
	bool left;      /* by SystemExit */
	bool ended;
	bool alien; /* something that the runner does not write */
	int64_t cpu_ns;
};

static struct judged_test *test_of(const struct reader *x, int i)
{
	return &x->p->test[x->first + i];
}

static void take_load(struct reader *x, const struct json *j)
{
	static const char *const word[] = { "", "raised", "memory", "task" };
	struct str load = json_str(json_get(j, "load")), note = json_str(json_get(j, "note"));
	struct program *p = x->p;

	if (x->load != LOAD_NONE || x->next > 0 || p->broken) {
		x->alien = true;
		return;
	}
	if (judge_take_load(p, j))
		return;
	for (int k = LOAD_RAISED; k <= LOAD_TASK; k++)
		if (str_is(load, word[k]))
			x->load = (enum load)k;
	judge_note(p, test_of(x, 0), "%.*s", (int)(note.n < 400 ? note.n : 400),
	           note.n ? note.p : "");
	x->alien = x->load == LOAD_NONE;
}

/* A name and number of digits that the runner could have written. */
static int64_t time_of(const struct json *j, const char *key)
{
	int64_t ns = 0;

	(void)json_opt_int(j, key, 0, INT64_MAX / 2, &ns, NULL);
	return ns;
}

static bool is_opaque(const struct value *v)
{
	if (v->type == VALUE_OTHER && v->mark == 'u')
		return true;
	for (int i = 0; i < v->n; i++)
		if (is_opaque(&v->item[i]) || (v->given && is_opaque(&v->given[i])))
			return true;
	return false;
}

static bool says(struct str line, const char *mark)
{
	return memmem(line.p, line.n, mark, strlen(mark)) != NULL;
}

/* What the test's oracle returned, for all programs. In texts quotes are escaped, so that none can
 * look like a mark.
 */
static void keep_want(struct reader *x, struct str line, struct judged_test *t)
{
	struct prep *prep = x->p->prep;
	struct prep_test *pt = &prep->test[x->first + x->next];

	if (says(line, "{\"L\":")) {
		t->verdict = VERDICT_OUTPUT_LIMIT;
		judge_note(x->p, t, "a value too large to be sent");
		return;
	}
	line = arena_str(&prep->a, line);
	if (!line.p) {
		t->verdict = VERDICT_OUTPUT_LIMIT;
		return;
	}
	pt->exact = !says(line, "{\"u\":") && !says(line, "\"nan\"") && !says(line, "NaN");
	pt->line = line;
	t->verdict = VERDICT_ACCEPTED;
}

static double score(const struct reader *x, struct value *want, struct value *got)
{
	const struct prep *prep = x->p->prep;

	if (prep && prep->test[x->first + x->next].is)
		return want->type == got->type && got->mark == 0 &&
		       (want->type == VALUE_NULL ||
		        (want->type == VALUE_BOOL && want->yes == got->yes));
	if (!x->p->task->test[x->first + x->next].many)
		return x->p->checker->value(x->p->check_cfg, want, got);
	if (want->n != got->n)
		return 0;
	for (int i = 0; i < want->n; i++)
		if (x->p->checker->value(x->p->check_cfg, &want->item[i], &got->item[i]) < 1)
			return 0;
	return 1;
}

/* Where there is none the task is broken: see prep_test.why. */
static bool find_want(struct reader *x, struct value *own, struct value **ret, struct err *e)
{
	const struct test *test = &x->p->task->test[x->first + x->next];
	const struct prep_test *pt = x->p->prep ? &x->p->prep->test[x->first + x->next] : NULL;
	const struct json *j = NULL;

	*ret = pt && pt->want ? pt->want : own;
	if (pt && pt->want)
		return true;
	if (pt && pt->line.n)
		return json_parse(pt->line, &x->a, &j, e) == 0 &&
		       value_received(json_get(j, "value"), &x->a, own, e) == 0;
	return test->expected &&
	       (test->typed ? value_received : value_expected)(test->expected, &x->a, own, e) == 0;
}

/* The value in an event. */
static struct str value_text(struct str line)
{
	const char *p = memmem(line.p, line.n, "\"value\":", 8);

	return p ? (struct str){ p + 8, (size_t)(line.p + line.n - p) - 9 } : STR("");
}

static void keep_output(struct reader *x, struct str line, struct judged_test *t)
{
	t->out = arena_str(&x->p->a, value_text(line));
	if (!t->out.p)
		t->out = STR("");
}

static void compare(struct reader *x, const struct json *j, struct str line, struct judged_test *t)
{
	struct str text = value_text(line);
	struct value own, got, *want;
	struct err e = { 0 };

	if (!find_want(x, &own, &want, &e)) {
		const struct prep *prep = x->p->prep;
		struct str why = prep ? prep->test[x->first + x->next].why : STR("");

		t->verdict = VERDICT_JUDGE_ERROR;
		judge_note(x->p, t, "no expected value: %.*s", (int)why.n, why.n ? why.p : "");
		return;
	}
	if (value_received(json_get(j, "value"), &x->a, &got, &e) < 0) {
		t->verdict = VERDICT_OUTPUT_LIMIT;
		judge_note(x->p, t, "%s", e.msg);
		return;
	}
	if (value_is_cut(&got)) {
		t->verdict = VERDICT_OUTPUT_LIMIT;
		judge_note(x->p, t, "a value too large to be sent");
		return;
	}
	x->p->opaque[x->first + x->next] = is_opaque(&got);
	t->score = score(x, want, &got);
	t->verdict = t->score >= 1 ? VERDICT_ACCEPTED : VERDICT_WRONG_ANSWER;
	if (t->verdict != VERDICT_ACCEPTED)
		judge_note(x->p, t, "returned %.*s", (int)(text.n < 100 ? text.n : 100),
		           text.n ? text.p : "");
	if (x->p->keep_output)
		keep_output(x, line, t);
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
		x->p->opaque[x->first + x->next] = json_get(j, "opaque");
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

/* An assertion held: in a pair nobody else could say so. */
static bool is_proof(const struct reader *x, const struct json *j)
{
	return x->way == WAY_PAIR ? json_is(j, JSON_BOOL) && j->yes
	                          : str_is(json_str(j), x->p->token);
}

static void take_result(struct reader *x, const struct json *j, struct str line)
{
	struct judged_test *t = test_of(x, x->next);
	const struct json *proof = json_get(j, "proof");

	t->cpu_ns = x->n > 1 ? time_of(j, "cpu") : x->r->cpu_ns;
	t->wall_ns = x->n > 1 ? time_of(j, "wall") : x->r->wall_ns;
	t->mem_bytes = x->r->mem_bytes;
	x->cpu_ns += t->cpu_ns;
	if (x->way == WAY_CALL && json_get(j, "value") && !json_get(j, "raised") &&
	    !json_get(j, "memory")) {
		compare(x, j, line, t);
	} else if (x->way != WAY_CALL && proof) {
		x->alien = !is_proof(x, proof);
		t->verdict = x->alien ? VERDICT_RUNTIME_ERROR : VERDICT_ACCEPTED;
		t->score = x->alien ? 0 : 1;
	} else {
		take_failure(x, j, t);
	}
	if (x->alien)
		return;
	if (x->n > 1)
		check_times(x, t);
	x->next++;
}

static bool is_index(const struct json *j, const char *key, int i)
{
	int64_t n = -1;

	return json_get(j, key) && json_opt_int(j, key, 0, INT32_MAX, &n, NULL) == 0 && n == i;
}

/* Word for word what the reference's runner said: large values need no tree then. And what that
 * says is kept as it is. False: it has to be read.
 */
static bool take_whole(struct reader *x, struct str line)
{
	const struct prep *prep = x->p->prep;
	struct judged_test *t = test_of(x, 0);
	bool oracle = x->p->role == ROLE_ORACLE;

	if (!prep || x->n != 1 || x->next || x->load != LOAD_NONE || x->way != WAY_CALL)
		return false;
	if (oracle ? !str_starts(line, STR("{\"i\":0,\"value\":")) || says(line, ",\"raised\":") ||
	                     says(line, ",\"memory\":")
	           : !prep->test[x->first].exact || !str_eq(line, prep->test[x->first].line))
		return false;
	t->cpu_ns = x->r->cpu_ns;
	t->wall_ns = x->r->wall_ns;
	t->mem_bytes = x->r->mem_bytes;
	t->verdict = VERDICT_ACCEPTED;
	t->score = 1;
	if (oracle)
		keep_want(x, line, t);
	else if (x->p->keep_output)
		keep_output(x, line, t);
	x->next++;
	return true;
}

static void take_event(struct reader *x, struct str line)
{
	const struct json *j = NULL;
	int r;

	if (take_whole(x, line))
		return;
	r = json_parse(line, &x->a, &j, NULL);
	if (r == ERR_LIMIT && x->next < x->n) {
		test_of(x, x->next)->verdict = VERDICT_OUTPUT_LIMIT;
		judge_note(x->p, test_of(x, x->next), "a value too large to compare");
		x->next++;
	} else if (r < 0) {
		x->alien = true;
	} else if (json_get(j, "load")) {
		take_load(x, j);
	} else if (x->lines == 0 && json_get(j, "compile")) {
		(void)judge_take_load(x->p, j);
	} else if (x->load != LOAD_NONE || x->left || x->ended) {
		x->alien = true;
	} else if (x->next < x->n && is_index(j, "i", x->next)) {
		take_result(x, j, line);
	} else {
		x->ended = x->next == x->n && json_get(j, "end");
		x->alien = !x->ended;
	}
}

/* The box closes the pipe at the cap, and the program may see that before it dies: a test that
 * failed by it is the one that hit the limit.
 */
static void flooded(struct reader *x)
{
	struct program *p = x->p;
	char note[300];

	for (int i = 0; x->r->end == BOX_OUT_LIMIT && i < x->n; i++) {
		struct judged_test *t = test_of(x, i);

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
	struct judged_test *t = test_of(x, 0);

	t->cpu_ns = x->r->cpu_ns;
	t->wall_ns = x->r->wall_ns;
	t->mem_bytes = x->r->mem_bytes;
	t->verdict = x->load == LOAD_MEMORY ? VERDICT_MEMORY_LIMIT : VERDICT_RUNTIME_ERROR;
	for (int i = 0; x->load == LOAD_TASK && i < x->n; i++) {
		test_of(x, i)->verdict = VERDICT_JUDGE_ERROR; /* the task is broken */
		test_of(x, i)->note = t->note;
	}
}

/* The job ended before the runner was done, or badly after that: whichever test was under way has
 * the verdict of the job, and crash beats match.
 */
static void cut_short(struct reader *x)
{
	struct program *p = x->p;
	bool running = x->next < x->n;
	struct judged_test *t = test_of(x, running ? x->next : x->n - 1);
	char note[300];

	t->score = 0;
	t->verdict = judge_end_verdict(p, x->r, note, sizeof note);
	if (x->alien && x->r->end == BOX_EXITED)
		(void)snprintf(note, sizeof note,
		               "something else wrote into the channel of results");
	else if (x->r->end == BOX_EXITED && x->r->status == 0)
		(void)snprintf(note, sizeof note, "ended before its tests were done");
	judge_note(p, t, "%s", note);
	if (running) {
		t->cpu_ns = x->r->cpu_ns > x->cpu_ns ? x->r->cpu_ns - x->cpu_ns : 0;
		t->wall_ns = x->r->wall_ns;
		t->mem_bytes = x->r->mem_bytes;
	}
}

/* The trusted process of a pair is our machinery: it says how the test ended, unless the program or
 * a limit ended the job. Killed time after time it was killed by the program, which has the same
 * user id where there is only one.
 */
static bool is_our_failure(const struct reader *x)
{
	enum box_end end = x->r->end;

	return x->way == WAY_PAIR && !x->r->early &&
	       (end == BOX_EXITED ||
	        (end == BOX_SIGNALED && x->p->attempts[x->first] < JUDGE_ATTEMPTS));
}

enum judge_taken judge_call_take(struct program *p, int first, int n, const struct box_result *r)
{
	struct reader x = {
		.p = p, .r = r, .way = (enum judge_way)p->way[first], .first = first, .n = n
	};
	struct str rest = r->out[2], line;

	x.a.limit = VALUE_BYTES;
	for (int i = 0; i < n; i++) { /* an earlier attempt may have left something */
		*test_of(&x, i) = (struct judged_test){ .name = p->task->test[first + i].name,
			                                .verdict = VERDICT_SKIPPED };
		p->opaque[first + i] = false;
	}
	/* A last line without its end was cut by the death of the box: it says nothing. */
	while (!x.alien && rest.n && memchr(rest.p, '\n', rest.n) && str_next_line(&rest, &line)) {
		take_event(&x, line);
		x.lines++;
		arena_reset(&x.a);
	}
	arena_done(&x.a);
	if (p->broken)
		return JUDGE_TAKEN;
	if (x.load != LOAD_NONE && !x.alien) {
		not_loaded(&x);
	} else if (!x.left &&
	           (!x.ended || x.alien || r->early || r->end != BOX_EXITED || r->status != 0)) {
		if (is_our_failure(&x))
			return JUDGE_AGAIN;
		cut_short(&x);
	}
	flooded(&x);
	return JUDGE_TAKEN;
}
