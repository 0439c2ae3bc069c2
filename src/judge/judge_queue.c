/* judge_queue.c - two threads that keep the boxes busy.
 *
 *	feeder		takes the next unit (judge_int.h) of the oldest program that has one, and
 *			hands it to the box, as long as fewer than two units for each slot are out:
 *			a slot that becomes free finds work, and box_submit() never blocks. The
 *			judge's own programs go first: others wait for them
 *	collector	waits for finished jobs, lets the checkers compare, fills in verdicts
 *
 * Everything about a program that both threads use is guarded by the lock; whoever writes into its
 * tests holds `work`, so that comparing long outputs keeps nobody from submitting. A unit that
 * failed by our own fault is run again, three times in all, before its tests become judge_error.
 */
#include "base/clock.h"
#include "judge/judge_int.h"

#define COLLECT_NS (200 * NS_PER_MS) /* how long a stop may go unnoticed */

void judge_add_inner(struct judge *j, struct program *p)
{
	p->number = ++j->n_programs;
	p->next = j->inner;
	j->inner = p;
	pthread_cond_broadcast(&j->changed);
}

static void finish_inner(struct judge *j, struct program *p)
{
	struct program **at = &j->inner;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	p->done = true;
	judge_prep_done(j, p);
	judge_program_free(p);
}

void judge_finish(struct judge *j, struct program *p)
{
	if (p->role != ROLE_CANDIDATE) {
		finish_inner(j, p);
		return;
	}
	judge_conclude(p);
	p->done = true;
	j->unfinished--;
	j->bytes -= p->code.n;
	j->stats.programs++;
	j->stats.tests += p->result.n_tests;
	j->stats.by_verdict[p->result.verdict]++;
	judge_same_tell(j, p);
	pthread_cond_broadcast(&j->changed);
}

bool judge_is_finished(const struct program *p)
{
	return !p->done && p->flying == 0 && p->n_redo == 0 && p->n_held == 0 &&
	       (p->next_unit >= p->n_units || p->next_unit > p->stop_at);
}

static bool take_unit(struct program *p, int *ret_unit)
{
	while (p->n_redo) {
		*ret_unit = p->redo[--p->n_redo];
		if (*ret_unit <= p->stop_at)
			return true;
	}
	if (p->next_unit >= p->n_units || p->next_unit > p->stop_at)
		return false;
	*ret_unit = p->next_unit++;
	return true;
}

/* Called under the lock. The next unit, oldest program first. False: nothing to do. */
static bool next_unit(struct judge *j, struct program **ret, int *ret_unit)
{
	for (struct program *p = j->inner; p; p = p->next)
		if (take_unit(p, ret_unit)) {
			*ret = p;
			return true;
		}
	for (struct program *p = j->first; p; p = p->next) {
		if (p->done || p->leader)
			continue;
		if (p->prep && p->prep->state == PREP_NEW) {
			judge_prep_start(j, p);
			return next_unit(j, ret, ret_unit);
		}
		if (p->prep && p->prep->state != PREP_READY)
			continue;
		if (take_unit(p, ret_unit)) {
			*ret = p;
			return true;
		}
	}
	return false;
}

/* Its first failure ends a program that is to fail fast. */
static void look_for_failure(struct program *p, int unit)
{
	int n, first = judge_unit_tests(p, unit, &n);

	for (int i = first; p->fail_fast && i < first + n; i++)
		if (p->test[i].verdict != VERDICT_ACCEPTED && unit < p->stop_at)
			p->stop_at = unit;
}

/* Called under the lock, after judge_take(). */
static void settle(struct judge *j, struct program *p, int unit, enum judge_taken taken,
                   const char *why)
{
	p->flying--;
	if (taken == JUDGE_AGAIN && p->attempts[unit] < JUDGE_ATTEMPTS) {
		j->stats.retried++;
		p->redo[p->n_redo++] = unit;
	} else if (taken == JUDGE_AGAIN) {
		judge_give_up(p, unit, why);
		look_for_failure(p, unit);
	} else if (judge_trial_wanted(j, p, unit)) {
		p->attempts[unit] = 0;
	} else {
		look_for_failure(p, unit);
	}
	if (p->broken) { /* what is still to be run would say the same */
		p->n_redo = 0;
		p->next_unit = p->n_units;
	}
	if (judge_is_finished(p))
		judge_finish(j, p);
	pthread_cond_broadcast(&j->changed);
}

static void break_judge(struct judge *j, const struct err *e)
{
	j->broken = true;
	j->why = *e;
	pthread_cond_broadcast(&j->changed);
}

static struct flight *take_place(struct judge *j, struct program *p, int unit)
{
	struct flight *f = j->flight;

	while (f->p)
		f++;
	*f = (struct flight){ .p = p, .unit = unit };
	j->n_flying++;
	p->flying++;
	p->attempts[unit]++;
	return f;
}

/* Called under the lock, which is released meanwhile. */
static void send_unit(struct judge *j, struct flight *f)
{
	struct program *p = f->p;
	struct box_plan plan;
	struct err e = { 0 };
	uint64_t job = 0;
	int r, unit = f->unit;

	pthread_mutex_unlock(&j->lock);
	r = judge_plan(&j->cfg, p, unit, &j->spec, &j->in, &plan, &e);
	if (r == 0)
		r = box_submit(j->box, &plan, &job, &e);
	if (r < 0)
		pthread_mutex_lock(&j->work);
	pthread_mutex_lock(&j->lock);
	if (r == 0) {
		f->job = job;
		f->sent = true;
		pthread_cond_broadcast(&j->changed);
		return;
	}
	f->p = NULL;
	j->n_flying--;
	if (r == ERR_STOP)
		break_judge(j, &e);
	settle(j, p, unit, JUDGE_AGAIN, e.msg);
	pthread_mutex_unlock(&j->work);
}

void *judge_feeder(void *arg)
{
	struct judge *j = arg;
	struct program *p;
	int unit;

	pthread_mutex_lock(&j->lock);
	while (!j->stop && !j->broken) {
		if (j->n_flying < j->n_places && next_unit(j, &p, &unit))
			send_unit(j, take_place(j, p, unit));
		else
			pthread_cond_wait(&j->changed, &j->lock);
	}
	pthread_mutex_unlock(&j->lock);
	return NULL;
}

/* Called under the lock. The result may be here before the feeder has noted the job's number. */
static struct flight *find_flight(struct judge *j, uint64_t job)
{
	for (;;) {
		for (int i = 0; i < j->n_places; i++)
			if (j->flight[i].p && j->flight[i].sent && j->flight[i].job == job)
				return &j->flight[i];
		if (j->stop)
			return NULL;
		pthread_cond_wait(&j->changed, &j->lock);
	}
}

/* Called under the lock, which is released while a checker compares. */
static void collect(struct judge *j, const struct box_result *r)
{
	struct flight *f = find_flight(j, r->job);
	enum judge_taken taken;
	struct program *p;
	int unit;

	if (!f)
		return;
	p = f->p;
	unit = f->unit;
	f->p = NULL;
	j->n_flying--;
	if (p->run_ns == 0 && p->compile_ns == 0)
		p->queue_ns = now_ns() - p->submit_ns - r->wall_ns;
	pthread_cond_broadcast(&j->changed); /* a place is free */
	pthread_mutex_unlock(&j->lock);
	pthread_mutex_lock(&j->work);
	taken = judge_take(p, unit, r);
	pthread_mutex_lock(&j->lock);
	settle(j, p, unit, taken, r->why);
	pthread_mutex_unlock(&j->work);
}

void *judge_collector(void *arg)
{
	struct judge *j = arg;
	struct box_result r;
	struct err e = { 0 };
	int got;

	pthread_mutex_lock(&j->lock);
	while (!j->stop && !j->broken) {
		if (j->n_flying == 0) {
			pthread_cond_wait(&j->changed, &j->lock);
			continue;
		}
		pthread_mutex_unlock(&j->lock);
		got = box_wait(j->box, COLLECT_NS, &r, &e);
		pthread_mutex_lock(&j->lock);
		if (got > 0) {
			collect(j, &r);
			box_result_done(&r);
		} else if (got < 0) {
			break_judge(j, &e);
		}
	}
	pthread_mutex_unlock(&j->lock);
	return NULL;
}
