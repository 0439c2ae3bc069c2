/* box.c - the library's side of the boxes: sends plans to cupel-boxd, collects results, and starts
 * the server again when it dies.
 *
 * No thread of its own. Whoever has to wait (box_wait(), or box_submit() when the queue is full)
 * becomes the reader: it polls the socket without the lock and files what has come under it; all
 * others sleep on the condition meanwhile. Everything else happens under the lock.
 *
 * A job keeps its plan and a copy of its stdin until its result is there; jobs of one program
 * share a plan, which also stays for a while in case that more of them come. If the server dies,
 * those jobs are sent again, at most DELIVERIES times in all; then they end as BOX_FAILED, which
 * is a fault of ours and never one of the program.
 */
#include "box/box.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "box/box_client.h"
#include "box/box_wire.h"

enum { DELIVERIES = 3, QUEUE = 5 /* times slots: waiting and running */ };

#define IN_MAX     (INT64_C(1) << 30)
#define KEEP_BYTES ((size_t)1 << 20) /* larger buffers are not kept for the next job */

struct plan {
	uint64_t program; /* 0: of one job only */
	struct buf text;
	int fd, refs;  /* fd -1: place is free */
	uint64_t used; /* when, in jobs */
};

struct job {
	uint64_t id; /* 0: free */
	struct plan *plan;
	struct buf in;
	struct box_limits limits;
	uint8_t zygote, cold, pair;
	int64_t submitted_ns;
	int deliveries;
};

struct done {
	struct box_result r;
	struct done *next;
};

struct box {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct box_config cfg;
	char *path;
	struct buf zygotes; /* as the server wants them */
	struct box_server server;
	pid_t owner;
	bool reading, broken;
	uint64_t next_id;
	struct job *job; /* QUEUE * slots places */
	int n_jobs, n_places;
	struct plan *plan; /* 2 * n_places */
	struct done *first, **last;
	char *msg; /* room for one message, used under the lock */
};

enum { MSG_ROOM = sizeof(struct wire_result) + WIRE_INLINE };

static void plan_done(struct plan *p)
{
	auto_close(&p->fd);
	p->fd = -1;
	p->program = 0;
	if (p->text.cap > KEEP_BYTES)
		buf_done(&p->text);
}

/* The buffers stay for the next job in this place. */
static void job_done(struct box *b, struct job *j)
{
	if (j->plan && --j->plan->refs == 0 && !j->plan->program)
		plan_done(j->plan);
	j->plan = NULL;
	j->id = 0;
	if (j->in.cap > KEEP_BYTES)
		buf_done(&j->in);
	b->n_jobs--;
}

/* The plan of the same program, or a free place for one: there are two for each job. */
static struct plan *find_plan(struct box *b, uint64_t program)
{
	struct plan *best = NULL;

	for (int i = 0; i < 2 * b->n_places; i++) {
		struct plan *p = &b->plan[i];

		if (program && p->program == program)
			return p;
		if (p->refs == 0 && (!best || p->fd < 0 || (best->fd >= 0 && p->used < best->used)))
			best = p;
	}
	if (best->fd >= 0)
		plan_done(best);
	return best;
}

static int set_plan(struct box *b, struct job *j, const struct box_plan *plan, struct err *e)
{
	struct plan *p = find_plan(b, plan->program);
	int r = 0;

	if (p->fd < 0) {
		buf_reset(&p->text);
		p->text.max = WIRE_PLAN_MAX;
		box_wire_put_plan(&p->text, plan);
		r = buf_check(&p->text, "plan", e);
		r = r < 0 ? r : box_wire_memfd("plan", buf_str(&p->text), &p->fd, e);
		if (r < 0) {
			buf_done(&p->text);
			return r;
		}
		p->program = plan->program;
	}
	p->used = b->next_id;
	p->refs++;
	j->plan = p;
	return 0;
}

static void add_done(struct box *b, struct done *d)
{
	d->next = NULL;
	*b->last = d;
	b->last = &d->next;
}

static void fail_job(struct box *b, struct job *j, struct done *d, const char *why)
{
	*d = (struct done){ .r = { .job = j->id, .end = BOX_FAILED } };
	(void)snprintf(d->r.why, sizeof d->r.why, "%s", why);
	for (int i = 0; i < BOX_CHANNELS; i++)
		d->r.out[i].p = "";
	add_done(b, d);
	job_done(b, j);
}

/* Sends a job; the descriptors live only as long as the call. */
static int deliver(struct box *b, struct job *j, struct err *e)
{
	AUTO_FD int in = -1;
	struct wire_job w = { .type = WIRE_JOB,
		              .zygote = j->zygote,
		              .cold = j->cold,
		              .pair = j->pair,
		              .job = j->id,
		              .program = j->plan->program,
		              .submitted_ns = j->submitted_ns,
		              .limits = j->limits };
	int r = box_wire_memfd("stdin", buf_str(&j->in), &in, e);

	if (r < 0)
		return r;
	j->deliveries++;
	/* A dead server shows when its results are read; the job is sent again then. */
	if (box_wire_send(b->server.sock, &w, sizeof w, (int[]){ j->plan->fd, in }, 2, 0) < 0 &&
	    errno != EPIPE && errno != ECONNRESET)
		return FAIL(e, ERR_SYS, "send job: %s", strerror(errno));
	return 0;
}

/* Out of memory here is the end of the process's usefulness; malloc of a few bytes: wait. */
static struct done *new_done(void)
{
	struct done *d = malloc(sizeof *d);

	while (!d) {
		(void)poll(NULL, 0, 100);
		d = malloc(sizeof *d);
	}
	return d;
}

static void fail_all(struct box *b, const char *why)
{
	for (int i = 0; i < b->n_places; i++)
		if (b->job[i].id)
			fail_job(b, &b->job[i], new_done(), why);
}

/* The server is gone: start another and send again what was out. */
static void restart(struct box *b)
{
	struct box_config cfg = b->cfg;
	struct err e = { 0 };
	char why[sizeof e.msg + 64];

	cfg.boxd = b->path;
	box_server_stop(&b->server);
	if (box_server_start(&cfg, buf_str(&b->zygotes), &b->server, &e) < 0) {
		b->broken = true;
		(void)snprintf(why, sizeof why, "cupel-boxd died and does not start again: %s",
		               e.msg);
		fail_all(b, why);
		return;
	}
	for (int i = 0; i < b->n_places; i++) {
		struct job *j = &b->job[i];

		if (!j->id)
			continue;
		if (j->deliveries >= DELIVERIES)
			fail_job(b, j, new_done(),
			         "cupel-boxd died each time that it had this job");
		else if (deliver(b, j, &e) < 0)
			fail_job(b, j, new_done(), e.msg);
	}
}

static void file_result(struct box *b, const struct wire_result *w, struct str small, int *fd)
{
	struct job *j = NULL;
	struct done *d;

	for (int i = 0; i < b->n_places && !j; i++)
		if (b->job[i].id && b->job[i].id == w->job)
			j = &b->job[i];
	if (!j)
		return;
	d = new_done();
	*d = (struct done){ .r = { .job = w->job,
		                   .end = (enum box_end)w->end,
		                   .status = w->status,
		                   .early = w->early,
		                   .cpu_ns = w->cpu_ns,
		                   .wall_ns = w->wall_ns,
		                   .queue_ns = w->queue_ns,
		                   .mem_bytes = w->mem_bytes } };
	memcpy(d->r.why, w->why, sizeof d->r.why);
	if (!box_result_take(w, small, fd, &d->r)) {
		fail_job(b, j, d, "no memory for the outputs");
		return;
	}
	add_done(b, d);
	job_done(b, j);
}

/* Files every message that has come. */
static void take_messages(struct box *b)
{
	while (!b->broken) {
		int fd[WIRE_MAX_FDS];
		ssize_t n = box_wire_recv(b->server.sock, b->msg, MSG_ROOM, fd, MSG_DONTWAIT);
		struct wire_result w;

		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n < (ssize_t)sizeof w) {
			restart(b);
			continue;
		}
		memcpy(&w, b->msg, sizeof w);
		if (w.type == WIRE_RESULT)
			file_result(b, &w, (struct str){ b->msg + sizeof w, (size_t)n - sizeof w },
			            fd);
		for (int i = 0; i < WIRE_MAX_FDS; i++)
			auto_close(&fd[i]);
	}
}

/* Sleep until something has changed or the time has come (until < 0: none). Called and returns
 * with the lock.
 */
static void sleep_for_change(struct box *b, int64_t until)
{
	int64_t left = until < 0 ? -1 : until - now_ns();
	struct timespec abs = { until / NS_PER_S, until % NS_PER_S };
	struct timespec rel = { left / NS_PER_S, left % NS_PER_S };
	struct pollfd p = { b->server.sock, POLLIN, 0 };

	if (until >= 0 && left <= 0)
		return;
	if (b->reading) {
		if (until < 0)
			pthread_cond_wait(&b->changed, &b->lock);
		else
			pthread_cond_timedwait(&b->changed, &b->lock, &abs);
		return;
	}
	b->reading = true;
	pthread_mutex_unlock(&b->lock);
	(void)ppoll(&p, 1, until < 0 ? NULL : &rel, NULL);
	pthread_mutex_lock(&b->lock);
	b->reading = false;
	take_messages(b);
	pthread_cond_broadcast(&b->changed);
}

/* Called under the lock. The place is taken afterwards, also on failure. */
static int fill_job(struct box *b, struct job *j, const struct box_plan *plan, int64_t now,
                    struct err *e)
{
	j->id = b->next_id++;
	b->n_jobs++;
	j->limits = plan->limits;
	j->zygote = (uint8_t)plan->zygote;
	j->cold = plan->cold;
	j->pair = plan->pair;
	j->submitted_ns = now;
	j->deliveries = 0;
	buf_reset(&j->in);
	j->in.max = (size_t)IN_MAX;
	buf_putstr(&j->in, plan->in);
	return buf_check(&j->in, "stdin", e) < 0 ? ERR_LIMIT : set_plan(b, j, plan, e);
}

int box_submit(struct box *b, const struct box_plan *plan, uint64_t *ret_job, struct err *e)
{
	int64_t now = now_ns();
	int r = box_wire_check(plan, e);
	struct job *j = NULL;

	assert(b->owner == getpid()); /* not inherited by a fork */
	if (r < 0)
		return r;
	if ((int64_t)plan->in.n > IN_MAX)
		return FAIL(e, ERR_RANGE, "stdin of %zu bytes", plan->in.n);
	if (plan->zygote < 0 || plan->zygote > b->cfg.n_zygotes)
		return FAIL(e, ERR_RANGE, "there is no zygote %d", plan->zygote);
	pthread_mutex_lock(&b->lock);
	while (b->n_jobs == b->n_places && !b->broken)
		sleep_for_change(b, -1);
	if (b->broken) {
		r = FAIL(e, ERR_STOP, "cupel-boxd is gone");
	} else {
		for (j = b->job; j->id; j++)
			continue;
		r = fill_job(b, j, plan, now, e);
		if (r == 0)
			r = deliver(b, j, e);
		if (r == 0)
			*ret_job = j->id;
		else
			job_done(b, j);
	}
	pthread_mutex_unlock(&b->lock);
	return r;
}

int box_wait(struct box *b, int64_t timeout_ns, struct box_result *ret, struct err *e)
{
	int64_t until = timeout_ns < 0 ? -1 : now_ns() + timeout_ns;
	struct done *d;
	int r = 0;

	(void)e;
	assert(b->owner == getpid());
	pthread_mutex_lock(&b->lock);
	if (!b->first && b->n_jobs && !b->reading)
		take_messages(b);
	while (!b->first && b->n_jobs && (until < 0 || now_ns() < until))
		sleep_for_change(b, until);
	d = b->first;
	if (d) {
		b->first = d->next;
		if (!b->first)
			b->last = &b->first;
		*ret = d->r;
		free(d);
		r = 1;
	}
	pthread_mutex_unlock(&b->lock);
	return r;
}

static void free_box(struct box *b)
{
	for (int i = 0; b->job && i < b->n_places; i++)
		if (b->job[i].id)
			job_done(b, &b->job[i]);
	while (b->first) {
		struct done *d = b->first;

		b->first = d->next;
		box_result_done(&d->r);
		free(d);
	}
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	for (int i = 0; b->plan && i < 2 * b->n_places; i++) {
		plan_done(&b->plan[i]);
		buf_done(&b->plan[i].text);
	}
	for (int i = 0; b->job && i < b->n_places; i++)
		buf_done(&b->job[i].in);
	free(b->job);
	free(b->plan);
	buf_done(&b->zygotes);
	free(b->msg);
	free(b->path);
	free(b);
}

static struct box *new_box(const struct box_config *cfg)
{
	struct box *b = calloc(1, sizeof *b);
	pthread_condattr_t ca;

	if (!b)
		return NULL;
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&ca);
	pthread_condattr_setclock(&ca, CLOCK_MONOTONIC);
	pthread_cond_init(&b->changed, &ca);
	pthread_condattr_destroy(&ca);
	b->cfg = *cfg;
	b->owner = getpid();
	b->next_id = 1;
	b->last = &b->first;
	b->n_places = QUEUE * cfg->slots;
	b->job = calloc((size_t)b->n_places, sizeof *b->job);
	b->plan = calloc(2 * (size_t)b->n_places, sizeof *b->plan);
	for (int i = 0; b->plan && i < 2 * b->n_places; i++)
		b->plan[i].fd = -1;
	b->zygotes.max = WIRE_PLAN_MAX;
	box_wire_put_zygotes(&b->zygotes, cfg->zygote, cfg->n_zygotes);
	b->msg = malloc(MSG_ROOM);
	b->path = cfg->boxd ? strdup(cfg->boxd) : NULL;
	if (!b->job || !b->plan || !b->msg || b->zygotes.failed || (cfg->boxd && !b->path)) {
		free_box(b);
		return NULL;
	}
	return b;
}

int box_open(const struct box_config *cfg, struct box **ret, struct err *e)
{
	struct box *b;
	int r;

	if (cfg->n_zygotes < 0 || cfg->n_zygotes > BOX_MAX_ZYGOTES)
		return FAIL(e, ERR_RANGE, "%d zygotes", cfg->n_zygotes);
	if (cfg->slots < 1 || cfg->slots > WIRE_MAX_SLOTS)
		return FAIL(e, ERR_RANGE, "%d slots, 1..%d", cfg->slots, WIRE_MAX_SLOTS);
	b = new_box(cfg);
	if (!b)
		return FAIL(e, ERR_NOMEM, "box with %d slots", cfg->slots);
	r = box_server_start(cfg, buf_str(&b->zygotes), &b->server, e);
	if (r < 0) {
		free_box(b);
		return r;
	}
	*ret = b;
	return 0;
}

void box_close(struct box *b)
{
	if (!b)
		return;
	assert(b->owner == getpid());
	box_server_stop(&b->server);
	free_box(b);
}

enum box_tier box_tier(const struct box *b)
{
	return (enum box_tier)b->server.hello.tier;
}

const char *box_missing(const struct box *b)
{
	return b->server.hello.missing;
}

const char *box_about(const struct box *b)
{
	return b->server.hello.about;
}
