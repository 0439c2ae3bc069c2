/* judge_trial.c - whether a test can be run at all in a way that keeps it from the program.
 *
 * A value that cannot cross equals nothing. That is right where the program is to blame, and wrong
 * where the task asks for such values. The task's own reference tells: if it fails in the same way
 * for the same cause, and passes in a weaker way, then the test runs in that way, for all programs.
 * What the program in question did has no part in it.
 */
#include "judge/judge_int.h"

static bool start(struct judge *j, struct program *p, int i)
{
	AUTO_ARENA a = { .limit = (size_t)64 << 20 };
	struct str code = task_program(p->task, p->task->reference, &a);
	struct program *own = NULL;

	if (!code.p || judge_program_new(&j->cfg, p->task, code, &own, NULL) < 0)
		return false;
	own->role = ROLE_TRIAL;
	own->keep_output = own->fail_fast = own->whole = false;
	own->prep = p->prep;
	own->only = i;
	own->n_units = own->stop_at = 1;
	own->way[i] = (uint8_t)p->prep->test[i].tried;
	judge_add_inner(j, own);
	return true;
}

static bool failed_to_cross(const struct program *p, int i)
{
	enum verdict v = p->test[i].verdict;

	return p->opaque[i] && (v == VERDICT_WRONG_ANSWER || v == VERDICT_RUNTIME_ERROR);
}

bool judge_trial_wanted(struct judge *j, struct program *p, int unit)
{
	struct prep_test *t;
	int n, i = judge_unit_tests(p, unit, &n);

	if (p->role != ROLE_CANDIDATE || p->task->kind != TASK_ASSERT || p->broken ||
	    !p->task->reference.p || !failed_to_cross(p, i))
		return false;
	t = &p->prep->test[i];
	if (t->trial == TRIAL_DONE) {
		if (t->way == p->way[i])
			return false;
		p->way[i] = (uint8_t)t->way; /* found while this one ran */
		p->redo[p->n_redo++] = unit;
		return true;
	}
	if (t->trial == TRIAL_NONE) {
		t->tried = t->way;
		if (!start(j, p, i))
			return false;
		t->trial = TRIAL_RUNS;
	}
	p->held[i] = 1;
	p->n_held++;
	return true;
}

static void let_go(struct judge *j, const struct prep *prep, int i, bool failed)
{
	struct program *next;

	for (struct program *p = j->first; p; p = next) {
		next = p->next;
		if (p->prep != prep || !p->held[i])
			continue;
		p->held[i] = 0;
		p->n_held--;
		if (failed) {
			p->test[i].verdict = VERDICT_JUDGE_ERROR;
			judge_note(p, &p->test[i], "the reference could not be run");
		} else if (p->way[i] != prep->test[i].way) {
			p->way[i] = (uint8_t)prep->test[i].way;
			p->redo[p->n_redo++] = i;
		}
		if (judge_is_finished(p))
			judge_finish(j, p);
	}
	pthread_cond_broadcast(&j->changed);
}

void judge_trial_done(struct judge *j, struct program *trial)
{
	int i = trial->only;
	struct prep_test *t = &trial->prep->test[i];
	enum verdict v = trial->test[i].verdict;
	bool failed = v == VERDICT_JUDGE_ERROR;

	if (v == VERDICT_ACCEPTED) {
		t->way = t->tried;
	} else if (!failed && t->tried < WAY_WEAK && failed_to_cross(trial, i)) {
		t->tried++;
		failed = !start(j, trial, i);
		if (!failed)
			return;
	}
	t->trial = failed ? TRIAL_NONE : TRIAL_DONE;
	let_go(j, trial->prep, i, failed);
}
