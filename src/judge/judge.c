/* judge.c - the front of the judge: programs in, results out in their order.
 *
 * Submitted programs hang in one list, oldest first; judge_next() takes them from its head. Two
 * threads work on it (judge_queue.c).
 *
 * Memory: at most MAX_WAITING programs for each slot (and MAX_BYTES of program text) are not
 * finished; judge_submit() blocks above that. Finished ones are small unless output is kept.
 */
#include "judge/judge.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "judge/judge_int.h"

enum { WINDOW = 2, MAX_WAITING = 32 };

#define MAX_BYTES  ((size_t)256 << 20)
#define SPEC_BYTES ((size_t)1 << 30)

void judged_done(struct judged *v)
{
	if (!v)
		return;
	judge_program_free(v->own);
	*v = (struct judged){ 0 };
}

static bool is_full(const struct judge *j, size_t n)
{
	return j->unfinished >= MAX_WAITING * (int)j->cfg.jobs ||
	       (j->unfinished && j->bytes + n > MAX_BYTES);
}

/* Called under the lock. */
static int append(struct judge *j, struct program *p, struct err *e)
{
	struct hash task;
	int r = judge_task_key(j, p->task, &task, e);

	if (r < 0)
		return r;
	r = judge_prep_get(j, p, &task, e);
	if (r < 0) {
		judge_task_drop(j, p->task);
		return r;
	}
	p->key = hash_of((struct str[]){ { (const char *)task.b, sizeof task.b }, p->code }, 2);
	p->number = ++j->n_programs;
	*j->last = p;
	j->last = &p->next;
	j->pending++;
	j->unfinished++;
	j->bytes += p->code.n;
	if (judge_is_decided(p, j->cfg.fault_rate))
		judge_finish(j, p);
	else
		judge_same_look(j, p);
	pthread_cond_broadcast(&j->changed);
	return 0;
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
	} else {
		r = append(j, p, e);
	}
	pthread_mutex_unlock(&j->lock);
	if (r < 0)
		judge_program_free(p);
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
		judge_task_drop(j, p->task);
		judge_prep_drop(j, p->prep);
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
	errno = pthread_create(&j->feeder, NULL, judge_feeder, j);
	if (errno)
		return FAIL(e, ERR_SYS, "cannot start a thread");
	errno = pthread_create(&j->collector, NULL, judge_collector, j);
	if (!errno)
		return 0;
	FAIL(e, ERR_SYS, "cannot start a thread");
	stop_thread(j, j->feeder);
	return ERR_SYS;
}

static void free_list(struct program *p)
{
	while (p) {
		struct program *next = p->next;

		judge_program_free(p);
		p = next;
	}
}

static void free_judge(struct judge *j)
{
	if (j->box)
		box_close(j->box);
	free_list(j->first);
	free_list(j->inner);
	judge_prep_free_all(j);
	judge_same_free(j);
	buf_done(&j->spec);
	buf_done(&j->in);
	buf_done(&j->boot);
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
	j->spec.max = j->in.max = SPEC_BYTES;
	j->last = &j->first;
	if (j->cfg.jobs <= 0)
		j->cfg.jobs = count_cores();
	j->n_places = WINDOW * (int)j->cfg.jobs;
	j->flight = calloc((size_t)j->n_places, sizeof *j->flight);
	j->cfg.python = arena_strdup(&j->a, cfg->python ? cfg->python : "");
	j->cfg.preload = arena_strdup(&j->a, cfg->preload ? cfg->preload : "");
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
	if (!j || !j->flight || !j->cfg.python || !j->cfg.preload) {
		if (j)
			free_judge(j);
		return FAIL(e, ERR_NOMEM, "judge");
	}
	box.slots = (int)j->cfg.jobs;
	box.n_zygotes = 1;
	r = judge_boot(j, &box.zygote[0], e);
	if (r == 0)
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
