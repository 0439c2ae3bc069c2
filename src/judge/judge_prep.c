/* judge_prep.c - what must be known of a task before its programs can be judged: how each assertion
 * can run (the analysis, a job without any candidate's code), and what the reference returns where
 * a test does not say what is expected.
 *
 * It is made once for each content of a task, whichever programs ask for it at the same time, and
 * kept for later ones. Where our machinery failed, the next program that asks begins anew.
 */
#include <stdlib.h>
#include <string.h>

#include "judge/judge_int.h"

enum { MAX_KEPT = 1024 };

#define PREP_BYTES ((size_t)1 << 30)
#define KEPT_BYTES ((size_t)256 << 20)

static bool wants_prep(const struct task *t)
{
	if (t->kind == TASK_ASSERT)
		return true;
	for (int i = 0; t->kind == TASK_FUNCTION && i < t->n_tests; i++)
		if (!t->test[i].expected)
			return true;
	return false;
}

static void free_prep(struct prep *prep)
{
	arena_done(&prep->a);
	free(prep);
}

void judge_prep_free_all(struct judge *j)
{
	while (j->preps) {
		struct prep *next = j->preps->next;

		free_prep(j->preps);
		j->preps = next;
	}
}

/* New ones stand first, so the last that nobody uses are the oldest. */
static void evict(struct judge *j)
{
	size_t bytes = 0;
	int n = 0;

	for (struct prep **at = &j->preps; *at;) {
		struct prep *prep = *at;

		bytes += prep->a.used;
		n++;
		if (prep->refs == 0 &&
		    (n > MAX_KEPT || bytes > KEPT_BYTES || prep->state == PREP_BROKEN)) {
			*at = prep->next;
			bytes -= prep->a.used;
			n--;
			free_prep(prep);
		} else {
			at = &prep->next;
		}
	}
}

static struct prep *find(struct judge *j, const struct hash *key)
{
	for (struct prep **at = &j->preps; *at; at = &(*at)->next) {
		struct prep *prep = *at;

		if (prep->state == PREP_BROKEN || memcmp(&prep->key, key, sizeof *key) != 0)
			continue;
		*at = prep->next;
		prep->next = j->preps;
		j->preps = prep;
		return prep;
	}
	return NULL;
}

static struct prep *new_prep(struct judge *j, const struct hash *key, int n_tests)
{
	struct prep *prep = calloc(1, sizeof *prep);

	if (!prep)
		return NULL;
	*prep = (struct prep){
		.key = *key, .n_tests = n_tests, .imports = STR(""), .classes = STR("")
	};
	prep->a.limit = PREP_BYTES;
	prep->test = arena_new(&prep->a, struct prep_test, n_tests);
	if (!prep->test) {
		free_prep(prep);
		return NULL;
	}
	for (int i = 0; i < n_tests; i++)
		prep->test[i].way = WAY_CALL;
	prep->next = j->preps;
	j->preps = prep;
	evict(j);
	return prep;
}

int judge_prep_get(struct judge *j, struct program *p, const struct hash *task, struct err *e)
{
	struct prep *prep;

	if (!wants_prep(p->task))
		return 0;
	prep = find(j, task);
	if (!prep)
		prep = new_prep(j, task, p->task->n_tests);
	if (!prep)
		return FAIL(e, ERR_NOMEM, "task");
	prep->refs++;
	p->prep = prep;
	if (prep->state == PREP_READY)
		judge_prep_ways(p);
	return 0;
}

void judge_prep_drop(struct judge *j, struct prep *prep)
{
	if (!prep)
		return;
	prep->refs--;
	evict(j);
}

void judge_prep_ways(struct program *p)
{
	for (int i = 0; i < p->prep->n_tests; i++)
		p->way[i] = (uint8_t)p->prep->test[i].way;
}

/* Programs that wait can run, or never will. */
static void release(struct judge *j, struct prep *prep)
{
	struct program *next;

	for (struct program *p = j->first; p; p = next) {
		next = p->next;
		if (p->prep != prep || p->done || p->leader)
			continue;
		if (prep->state == PREP_READY) {
			judge_prep_ways(p);
			continue;
		}
		p->next_unit = p->n_units;
		for (int i = 0; i < p->task->n_tests; i++) {
			p->test[i].verdict = VERDICT_JUDGE_ERROR;
			judge_note(p, &p->test[i], "%.*s", (int)prep->why.n, prep->why.p);
		}
		judge_finish(j, p);
	}
	pthread_cond_broadcast(&j->changed);
}

static void give_up(struct judge *j, struct prep *prep, struct str why)
{
	prep->why = arena_str(&prep->a, why);
	if (!prep->why.p)
		prep->why = STR("no memory");
	prep->state = PREP_BROKEN;
	release(j, prep);
}

/* The task's own solution as a program of its own. */
static int oracle_new(struct judge *j, const struct program *p, struct program **ret, struct err *e)
{
	const struct task *t = p->task;
	AUTO_ARENA a = { .limit = (size_t)64 << 20 };
	struct str code;
	int r;

	if (!t->reference.p)
		return FAIL(e, ERR_NOENT,
		            "a test has no expected value, and the task no reference");
	code = task_program(t, t->reference, &a);
	if (!code.p)
		return FAIL(e, ERR_LIMIT, "reference is too long");
	r = judge_program_new(&j->cfg, t, code, ret, e);
	if (r < 0)
		return r;
	(*ret)->role = ROLE_ORACLE;
	(*ret)->whole = false;
	(*ret)->n_units = (*ret)->next_unit = (*ret)->stop_at = t->n_tests;
	for (int i = t->n_tests - 1; i >= 0; i--)
		if (!t->test[i].expected)
			(*ret)->redo[(*ret)->n_redo++] = i;
	return 0;
}

void judge_prep_start(struct judge *j, struct program *p)
{
	struct prep *prep = p->prep;
	struct program *own = NULL;
	struct err e = { 0 };
	int r;

	if (p->task->kind == TASK_FUNCTION) {
		r = oracle_new(j, p, &own, &e);
	} else {
		r = judge_program_new(&j->cfg, p->task, STR(""), &own, &e);
		if (r == 0) {
			own->role = ROLE_ANALYSIS;
			own->n_units = own->stop_at = 1;
		}
	}
	if (r < 0) {
		give_up(j, prep, (struct str){ e.msg, strlen(e.msg) });
		return;
	}
	own->fail_fast = own->keep_output = false;
	own->prep = prep;
	prep->state = PREP_RUNS;
	judge_add_inner(j, own);
}

static void oracle_done(struct judge *j, struct program *own)
{
	struct prep *prep = own->prep;

	for (int i = 0; i < prep->n_tests; i++) {
		const struct judged_test *t = &own->test[i];

		if (prep->test[i].line.n || own->task->test[i].expected)
			continue;
		if (t->verdict == VERDICT_JUDGE_ERROR) {
			give_up(j, prep, t->note);
			return;
		}
		prep->test[i].why = own->broken ? own->broken_note : t->note;
		prep->test[i].why = arena_str(&prep->a, prep->test[i].why);
		if (!prep->test[i].why.p)
			prep->test[i].why = STR("");
	}
	prep->state = PREP_READY;
	release(j, prep);
}

void judge_prep_done(struct judge *j, struct program *own)
{
	const struct judged_test *t = &own->test[0];

	if (own->role == ROLE_ORACLE) {
		oracle_done(j, own);
	} else if (own->role == ROLE_TRIAL) {
		judge_trial_done(j, own);
	} else if (t->verdict == VERDICT_ACCEPTED) {
		own->prep->state = PREP_READY;
		release(j, own->prep);
	} else {
		give_up(j, own->prep, t->note.n ? t->note : STR("the tests cannot be read"));
	}
}

/* --- the analysis: see runner_analyse.py */

static int hex_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool from_hex(struct str hex, struct arena *a, struct str *ret)
{
	char *p = arena_new(a, char, hex.n / 2 + 1);

	if (!p || hex.n % 2)
		return false;
	for (size_t i = 0; i < hex.n / 2; i++) {
		int hi = hex_of(hex.p[2 * i]), lo = hex_of(hex.p[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return false;
		p[i] = (char)(hi * 16 + lo);
	}
	*ret = (struct str){ p, hex.n / 2 };
	return true;
}

/* The value is parsed again, in memory that stays. */
static bool take_want(const struct json *j, struct arena *a, struct prep_test *t)
{
	struct str text = arena_str(a, json_str(json_get(j, "want")));
	const struct json *want = NULL;

	t->want = arena_new(a, struct value, 1);
	t->is = json_get(j, "is") && json_get(j, "is")->yes;
	return text.p && t->want && json_parse(text, a, &want, NULL) == 0 &&
	       value_received(want, a, t->want, NULL) == 0;
}

static bool take_way(const struct json *j, struct arena *a, struct prep_test *t)
{
	struct str way = json_str(json_get(j, "way"));

	t->way = str_is(way, "data") ? WAY_CALL : str_is(way, "pair") ? WAY_PAIR : WAY_WEAK;
	if (t->way == WAY_CALL &&
	    (!from_hex(json_str(json_get(j, "args")), a, &t->args) || !take_want(j, a, t)))
		return false;
	return from_hex(json_str(json_get(j, "code")), a, &t->code);
}

static bool take_ways(struct prep *prep, const struct json *j)
{
	const struct json *list = json_get(j, "tests");

	prep->imports = arena_str(&prep->a, json_str(json_get(j, "imports")));
	prep->classes = arena_str(&prep->a, json_str(json_get(j, "classes")));
	if (json_len(list) != prep->n_tests || !prep->imports.p || !prep->classes.p ||
	    !from_hex(json_str(json_get(j, "before")), &prep->a, &prep->before))
		return false;
	for (int i = 0; i < prep->n_tests; i++)
		if (!take_way(json_at(list, i), &prep->a, &prep->test[i]))
			return false;
	return true;
}

enum judge_taken judge_analysis_take(struct program *p, const struct box_result *r)
{
	AUTO_ARENA a = { .limit = PREP_BYTES };
	struct judged_test *t = &p->test[0];
	const struct json *j = NULL;
	struct str note;
	char why[300];

	if (r->end != BOX_EXITED || r->status != 0) {
		(void)judge_end_verdict(p, r, why, sizeof why);
		judge_note(p, t, "analysis of the tests: %s", why);
	} else if (json_parse(str_trim_end(r->out[2]), &a, &j, NULL) < 0) {
		return JUDGE_AGAIN;
	} else if (json_get(j, "load")) {
		note = json_str(json_get(j, "note"));
		judge_note(p, t, "task: %.*s", (int)note.n, note.n ? note.p : "");
	} else if (!take_ways(p->prep, j)) {
		return JUDGE_AGAIN;
	} else {
		t->verdict = VERDICT_ACCEPTED;
		return JUDGE_TAKEN;
	}
	t->verdict = VERDICT_RUNTIME_ERROR;
	return JUDGE_TAKEN;
}
