/* judge.c - the front of the judge: programs in, boxes busy, results out in order.
 *
 * Theory of operation. Submitted programs hang in one list, oldest first; judge_next() takes them
 * from its head. Two threads work on it:
 *
 *	feeder		takes the next unit (judge_int.h) of the oldest program that has one, and
 *			hands it to the box, as long as fewer than two units for each slot are out:
 *			a slot that becomes free finds work, and box_submit() never blocks
 *	collector	waits for finished jobs, lets the checkers compare, fills in verdicts
 *
 * Everything about a program that both threads use is guarded by the lock; whoever writes into its
 * tests holds `work`, so that comparing long outputs keeps nobody from submitting. A unit that
 *failed by our own fault is run again, three times in all, before its tests become judge_error.
 *
 * Memory: at most MAX_WAITING programs for each slot (and MAX_BYTES of program text) are not
 * finished; judge_submit() blocks above that. Finished ones are small unless output is kept.
 */
#include "judge/judge.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "judge/judge_int.h"

enum { WINDOW = 2, MAX_WAITING = 32 };

#define MAX_BYTES  ((size_t)256 << 20)
#define SPEC_BYTES ((size_t)1 << 30)
#define COLLECT_NS (200 * NS_PER_MS) /* how long a stop may go unnoticed */

struct flight {
	uint64_t job;
	struct program *p; /* NULL: free place */
	int unit;
	bool sent; /* job is valid */
};

/* Internally locked. */
struct judge {
	struct judge_config cfg;
	struct arena a; /* strings of cfg */
	struct box *box;
	enum box_tier tier;
	pthread_mutex_t lock;
	pthread_mutex_t work; /* taken before lock: who writes into the tests of a program */
	pthread_cond_t changed;
	pthread_t feeder, collector;
	bool stop, broken;
	struct err why; /* broken */
	struct program *first, **last;
	int pending, unfinished;
	size_t bytes; /* of unfinished programs */
	struct flight *flight;
	int n_places, n_flying;
	struct judge_stats stats;
	struct buf spec; /* of the feeder */
};

void judged_done(struct judged *v)
{
	if (!v)
		return;
	judge_program_free(v->own);
	*v = (struct judged){ 0 };
}

/* Called under the lock: nothing of p is out or to be run any more. */
static void finish(struct judge *j, struct program *p)
{
	judge_conclude(p);
	p->done = true;
	j->unfinished--;
	j->bytes -= p->code.n;
	j->stats.programs++;
	j->stats.tests += p->result.n_tests;
	j->stats.by_verdict[p->result.verdict]++;
	pthread_cond_broadcast(&j->changed);
}

static bool is_finished(const struct program *p)
{
	return !p->done && p->flying == 0 && p->n_redo == 0 && !p->want_probe &&
	       p->next_unit == p->n_units;
}

static bool is_full(const struct judge *j, size_t n)
{
	return j->unfinished >= MAX_WAITING * (int)j->cfg.jobs ||
	       (j->unfinished && j->bytes + n > MAX_BYTES);
}

static void append(struct judge *j, struct program *p)
{
	*j->last = p;
	j->last = &p->next;
	j->pending++;
	j->unfinished++;
	j->bytes += p->code.n;
	if (judge_is_decided(p, j->cfg.fault_rate))
		finish(j, p);
	pthread_cond_broadcast(&j->changed);
}

int judge_submit(struct judge *j, const struct task *t, struct str code, uint64_t tag,
                 struct err *e)
{
	struct program *p = NULL;
	int r = judge_program_new(&j->cfg, t, code, &p, e);

	if (r < 0)
		return r;
	p->tag = tag;
	pthread_mutex_lock(&j->lock);
	while (!j->broken && is_full(j, code.n))
		pthread_cond_wait(&j->changed, &j->lock);
	if (j->broken) {
		r = j->why.code;
		if (e)
			*e = j->why;
		judge_program_free(p);
	} else {
		append(j, p);
	}
	pthread_mutex_unlock(&j->lock);
	return r;
}

/* Called under the lock: until the oldest program is done. */
static void wait_first(struct judge *j, int64_t timeout_ns)
{
	int64_t until = now_ns() + timeout_ns;
	struct timespec t = { until / NS_PER_S, until % NS_PER_S };

	while (j->first && !j->first->done && !j->broken)
		if (timeout_ns < 0)
			pthread_cond_wait(&j->changed, &j->lock);
		else if (pthread_cond_timedwait(&j->changed, &j->lock, &t) == ETIMEDOUT)
			return;
}

int judge_next(struct judge *j, int64_t timeout_ns, struct judged *ret, struct err *e)
{
	struct program *p;
	int r = 0;

	pthread_mutex_lock(&j->lock);
	wait_first(j, timeout_ns);
	p = j->first;
	if (p && p->done) {
		j->first = p->next;
		if (!j->first)
			j->last = &j->first;
		j->pending--;
		*ret = p->result;
		r = 1;
	} else if (p && j->broken) {
		r = j->why.code;
		if (e)
			*e = j->why;
	}
	pthread_mutex_unlock(&j->lock);
	return r;
}

int judge_pending(const struct judge *j)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&j->lock;
	int n;

	pthread_mutex_lock(lock);
	n = j->pending;
	pthread_mutex_unlock(lock);
	return n;
}

void judge_stats(const struct judge *j, struct judge_stats *ret)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&j->lock;

	pthread_mutex_lock(lock);
	*ret = j->stats;
	pthread_mutex_unlock(lock);
}

int judge_jobs(const struct judge *j)
{
	return (int)j->cfg.jobs;
}

enum box_tier judge_tier(const struct judge *j)
{
	return j->tier;
}

/* Called under the lock. The next unit, oldest program first; a wanted probe goes before all other
 * units of its program. False: nothing to do.
 */
static bool next_unit(const struct judge *j, struct program **ret, int *ret_unit)
{
	for (struct program *p = j->first; p; p = p->next) {
		if (p->want_probe) {
			p->want_probe = false;
			*ret_unit = JUDGE_PROBE;
		} else if (p->n_redo) {
			*ret_unit = p->redo[--p->n_redo];
		} else if (p->next_unit < p->n_units) {
			*ret_unit = p->next_unit++;
		} else {
			continue;
		}
		*ret = p;
		return true;
	}
	return false;
}

static uint8_t *attempts_of(const struct program *p, int unit)
{
	return &p->attempts[unit == JUDGE_PROBE ? p->n_units : unit];
}

/* Called under the lock, after judge_take(). */
static void settle(struct judge *j, struct program *p, int unit, enum judge_taken taken,
                   const char *why)
{
	p->flying--;
	if (taken == JUDGE_AGAIN && *attempts_of(p, unit) < JUDGE_ATTEMPTS) {
		j->stats.retried++;
		if (unit == JUDGE_PROBE)
			p->want_probe = true;
		else
			p->redo[p->n_redo++] = unit;
	} else if (taken == JUDGE_AGAIN) {
		judge_give_up(p, unit, why);
	} else if (taken == JUDGE_ASK) {
		p->want_probe = *attempts_of(p, JUDGE_PROBE) == 0;
	}
	if (p->broken) { /* what is still to be run would say the same */
		p->n_redo = 0;
		p->next_unit = p->n_units;
	}
	if (is_finished(p))
		finish(j, p);
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
	++*attempts_of(p, unit);
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
	r = judge_plan(p, unit, j->cfg.python, &j->spec, &plan, &e);
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

static void *feeder(void *arg)
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

static void *collector(void *arg)
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

static int count_cores(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

	return n < 1 ? 1 : n > JUDGE_MAX_JOBS ? JUDGE_MAX_JOBS : n;
}

static void stop_thread(struct judge *j, pthread_t thread)
{
	pthread_mutex_lock(&j->lock);
	j->stop = true;
	pthread_cond_broadcast(&j->changed);
	pthread_mutex_unlock(&j->lock);
	pthread_join(thread, NULL);
}

static int start_threads(struct judge *j, struct err *e)
{
	errno = pthread_create(&j->feeder, NULL, feeder, j);
	if (errno)
		return FAIL(e, ERR_SYS, "cannot start a thread");
	errno = pthread_create(&j->collector, NULL, collector, j);
	if (!errno)
		return 0;
	FAIL(e, ERR_SYS, "cannot start a thread");
	stop_thread(j, j->feeder);
	return ERR_SYS;
}

static void free_judge(struct judge *j)
{
	if (j->box)
		box_close(j->box);
	while (j->first) {
		struct program *p = j->first;

		j->first = p->next;
		judge_program_free(p);
	}
	buf_done(&j->spec);
	arena_done(&j->a);
	free(j->flight);
	pthread_cond_destroy(&j->changed);
	pthread_mutex_destroy(&j->lock);
	pthread_mutex_destroy(&j->work);
	free(j);
}

static struct judge *new_judge(const struct judge_config *cfg)
{
	struct judge *j = calloc(1, sizeof *j);
	pthread_condattr_t attr;

	if (!j)
		return NULL;
	j->cfg = *cfg;
	j->a.limit = 1 << 16;
	j->spec.max = SPEC_BYTES;
	j->last = &j->first;
	if (j->cfg.jobs <= 0)
		j->cfg.jobs = count_cores();
	j->n_places = WINDOW * (int)j->cfg.jobs;
	j->flight = calloc((size_t)j->n_places, sizeof *j->flight);
	j->cfg.python = arena_strdup(&j->a, cfg->python ? cfg->python : "");
	pthread_mutex_init(&j->lock, NULL);
	pthread_mutex_init(&j->work, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&j->changed, &attr);
	pthread_condattr_destroy(&attr);
	return j;
}

int judge_open(const struct judge_config *cfg, struct judge **ret, struct err *e)
{
	struct judge *j = new_judge(cfg);
	struct box_config box = { .tier = (enum box_tier)cfg->isolation };
	int r;

	assert(cfg->cpu_s > 0 && cfg->wall_s > 0 && cfg->mem_mib > 0 && cfg->output_mib > 0);
	if (!j || !j->flight || !j->cfg.python) {
		if (j)
			free_judge(j);
		return FAIL(e, ERR_NOMEM, "judge");
	}
	box.slots = (int)j->cfg.jobs;
	r = box_open(&box, &j->box, e);
	if (r == 0) {
		j->tier = box_tier(j->box);
		r = start_threads(j, e);
	}
	if (r < 0) {
		free_judge(j);
		return r;
	}
	*ret = j;
	return 0;
}

void judge_close(struct judge *j)
{
	if (!j)
		return;
	stop_thread(j, j->feeder);
	stop_thread(j, j->collector);
	free_judge(j);
}
