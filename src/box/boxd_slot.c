/* boxd_slot.c - the life of a job in a slot: pipes, limits, the end, and what it was.
 *
 *	slot_start	limits into the cgroup, new pipes, message to the keeper
 *	KEEPER_BORN	the pidfd of init: from now on the box can be killed
 *	page.start_ns	the program runs (no message: we look when a limit may have been reached)
 *	KEEPER_GONE	every process of the box is dead, so the pipes hold all there is: no waiting
 *			for end of file
 *
 * Pipes are never used again: their mode, size and flags would carry from job to job.
 */
#include "box/boxd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"

#define CG_TICKS_NS (20 * NS_PER_MS)     /* how far the cgroup's CPU time may be off */
#define WARMING     ((int64_t)128 << 20) /* memory granted until it is known what a zygote needs */
#define STOP_NS     (NS_PER_S)           /* until a zygote that does not obey is killed */
#define TICK_NS     (10 * NS_PER_MS)     /* shortest time between two looks at the CPU time */

static int64_t min_ns(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void kill_box(const struct server *s, struct slot *sl, enum box_end why)
{
	if (sl->killed_for == BOX_EXITED)
		sl->killed_for = why;
	sl->kill = true;
	if (sl->job.zygote) {
		/* It ends the job; if it does not, the next look ends it. */
		(void)syscall(SYS_pidfd_send_signal, sl->zygote[sl->job.zygote - 1].fd, SIGUSR1,
		              NULL, 0);
		sl->next_ns = now_ns() + STOP_NS;
	} else if (sl->init_fd >= 0) {
		(void)syscall(SYS_pidfd_send_signal, sl->init_fd, no_spaces(s) ? SIGTERM : SIGKILL,
		              NULL, 0);
	}
}

static void close_channels(struct slot *sl)
{
	for (int i = 0; i < BOX_CHANNELS; i++) {
		auto_close(&sl->out[i].rd);
		auto_close(&sl->out[i].memfd);
		sl->out[i].rd = sl->out[i].memfd = -1;
		sl->out[i].n = 0;
	}
}

/* Reading ends into the slot, writing ends, which belong to the slot's user so that a program may
 * open /dev/stdout again, to w.
 */
static int make_pipes(const struct server *s, struct slot *sl, int w[BOX_CHANNELS], struct err *e)
{
	uid_t id = slot_id(s, sl);

	for (int i = 0; i < BOX_CHANNELS; i++) {
		int p[2];

		if (pipe2(p, O_CLOEXEC) < 0)
			return FAIL(e, ERR_SYS, "pipe: %s", strerror(errno));
		sl->out[i].rd = p[0];
		w[i] = p[1];
		if (fcntl(p[0], F_SETFL, O_NONBLOCK) < 0 ||
		    (s->slot_ids && fchown(p[1], id, id) < 0) ||
		    event_add(s, p[0], EV_OUT, sl->index, i) < 0)
			return FAIL(e, ERR_SYS, "prepare pipe: %s", strerror(errno));
	}
	return 0;
}

static void reset(struct slot *sl, const struct wire_job *job)
{
	close_channels(sl);
	sl->job = *job;
	sl->program = job->program;
	sl->killed_for = BOX_EXITED;
	sl->kill = sl->gone = false;
	sl->init_status = 0;
	sl->why[0] = 0;
	memset(sl->page, 0, sizeof *sl->page);
}

/* Keeper, zygotes, and init or the trusted process of a pair. */
static struct idle slot_idle(const struct slot *sl)
{
	struct idle i = { .procs = 1 + (!sl->job.zygote || sl->job.pair) };

	for (int k = 0; k < BOX_MAX_ZYGOTES; k++) {
		const struct zygote *zy = &sl->zygote[k];

		i.procs += zy->state != ZYGOTE_DEAD;
		i.bytes = zy->base_bytes > i.bytes ? zy->base_bytes : i.bytes;
		if (zy->state == ZYGOTE_STARTING)
			i.bytes = WARMING;
	}
	return i;
}

/* Zygotes that have died meanwhile or are warm now change what a job may use. */
int slot_limit(struct server *s, struct slot *sl, struct err *e)
{
	struct idle idle = slot_idle(sl);

	return s->cg.version ? cg_prepare(&s->cg.slot[sl->index], &sl->job.limits, &idle, e) : 0;
}

int slot_start(struct server *s, struct slot *sl, const struct wire_job *job, int plan, int in,
               struct err *e)
{
	const struct box_limits *l = &job->limits;
	struct keeper_job k = { .limits = *l };
	int w[BOX_CHANNELS] = { -1, -1, -1 }, r;

	reset(sl, job);
	sl->sent_ns = now_ns();
	sl->next_ns = sl->sent_ns + min_ns(l->wall_ns, l->cpu_ns / s->cpus) + TICK_NS;
	r = make_pipes(s, sl, w, e);
	const int fd[WIRE_MAX_FDS] = { plan, in, w[0], w[1], w[2] };
	if (r == 0 && job->zygote)
		r = zygote_start_job(s, sl, fd, e);
	else if (r == 0)
		r = slot_limit(s, sl, e);
	if (r == 0 && !job->zygote &&
	    box_wire_send(sl->sock, &k, sizeof k, fd, WIRE_MAX_FDS, 0) < 0)
		r = FAIL(e, ERR_SYS, "keeper: %s", strerror(errno));
	for (int i = 0; i < BOX_CHANNELS; i++)
		auto_close(&w[i]);
	if (r < 0)
		close_channels(sl);
	else
		sl->state = SLOT_RUNNING;
	return r;
}

/* Small outputs stay here, others go to a memfd: the server's memory stays flat. */
static bool keep(struct channel *c, const char *p, size_t n)
{
	if (c->memfd < 0 && c->n + n <= sizeof c->small) {
		memcpy(c->small + c->n, p, n);
		c->n += n;
		return true;
	}
	if (c->memfd < 0) {
		c->memfd = memfd_create("output", MFD_CLOEXEC);
		if (c->memfd < 0 || io_write(c->memfd, c->small, c->n, NULL) < 0)
			return false;
	}
	if (io_write(c->memfd, p, n, NULL) < 0)
		return false;
	c->n += n;
	return true;
}

void slot_read(struct server *s, struct slot *sl, int ch)
{
	static char text[1 << 16];
	struct channel *c = &sl->out[ch];
	size_t room = (size_t)sl->job.limits.out_bytes[ch] - c->n;
	ssize_t n;

	if (c->rd < 0)
		return;
	n = read(c->rd, text, sizeof text);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && !keep(c, text, (size_t)n < room ? (size_t)n : room)) {
		(void)snprintf(sl->why, sizeof sl->why, "keep output: %s", strerror(errno));
		kill_box(s, sl, BOX_FAILED);
	} else if (n > 0 && (size_t)n <= room) {
		return; /* a full channel is no fault yet, one byte more is */
	} else if (n > 0) {
		kill_box(s, sl, BOX_OUT_LIMIT);
	}
	(void)close(take_fd(&c->rd)); /* end of file, over the cap, or broken */
}

static void drain(struct server *s, struct slot *sl)
{
	for (int i = 0; i < BOX_CHANNELS; i++)
		for (int rd = sl->out[i].rd; rd >= 0; rd = sl->out[i].rd) {
			size_t had = sl->out[i].n;

			slot_read(s, sl, i);
			if (sl->out[i].rd == rd && sl->out[i].n == had)
				break;
		}
}

void box_gone(struct server *s, struct slot *sl, int status)
{
	sl->init_status = status;
	drain(s, sl);
	auto_close(&sl->init_fd);
	sl->init_fd = -1;
	sl->gone = true;
}

void slot_hear(struct server *s, struct slot *sl, bool wait)
{
	struct keeper_msg m = { 0 };
	int fd[WIRE_MAX_FDS];
	ssize_t n = box_wire_recv(sl->sock, &m, sizeof m, fd, wait ? 0 : MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n != sizeof m) {
		slot_keeper_died(s, sl);
		return;
	}
	if (m.say == KEEPER_BORN) {
		sl->init_fd = fd[0];
		if (sl->kill)
			kill_box(s, sl, sl->killed_for);
	} else if (m.say == KEEPER_GONE) {
		if (m.status)
			landlock_strays(s);
		box_gone(s, sl, m.status);
	} else if (m.status == 0 && !sl->page->failed) {
		sl->state = SLOT_IDLE;
		sl->failures = 0;
	} else {
		slot_keeper_died(s, sl);
	}
}

/* The wall limit is there for those who sleep. With more slots than cores a program waits for its
 * turn while it computes:
 *
 *	fair = wall - cpu * max(0, slots / cores - 1)
 */
static int64_t fair_wall(const struct server *s, int64_t wall_ns, int64_t cpu_ns)
{
	int64_t waited =
		s->n_slots > s->cpus && cpu_ns > 0 ? cpu_ns * (s->n_slots - s->cpus) / s->cpus : 0;

	return wall_ns - waited;
}

void slot_watch(struct server *s, struct slot *sl, int64_t now)
{
	const struct box_limits *l = &sl->job.limits;
	int64_t start = sl->page->start_ns, used, wall;

	if (sl->kill && sl->job.zygote) {
		(void)syscall(SYS_pidfd_send_signal, sl->zygote[sl->job.zygote - 1].fd, SIGKILL,
		              NULL, 0);
		sl->next_ns = now + STOP_NS;
		return;
	}
	if (start == 0) {
		sl->next_ns = now + TICK_NS;
		if (now - sl->sent_ns > START_S * NS_PER_S && !sl->kill) {
			(void)snprintf(sl->why, sizeof sl->why,
			               "the program did not start within %d s", START_S);
			kill_box(s, sl, BOX_FAILED);
		}
		return;
	}
	if (s->cg.version)
		used = cg_cpu_ns(s->cg.slot[sl->index].cpu) -
		       (sl->job.zygote ? sl->page->cg_base_ns : sl->page->cpu_base_ns);
	else
		used = sl->page->cpu_end_ns - sl->page->cpu_base_ns;
	wall = fair_wall(s, now - start, used);
	sl->next_ns = now + TICK_NS + min_ns(l->wall_ns - wall, (l->cpu_ns - used) / s->cpus);
	if (used >= l->cpu_ns)
		kill_box(s, sl, BOX_CPU_LIMIT);
	else if (wall >= l->wall_ns)
		kill_box(s, sl, BOX_WALL_LIMIT);
}

/* A killed child would not end the program; going on without it makes no sense. */
void slot_oom(struct server *s, struct slot *sl)
{
	if (cg_oom_event(&s->cg.slot[sl->index]) && sl->state == SLOT_RUNNING && !sl->gone)
		kill_box(s, sl, BOX_MEM_LIMIT);
}

void slot_keeper_died(struct server *s, struct slot *sl)
{
	siginfo_t si;

	if (sl->keeper_fd < 0)
		return; /* heard of already */
	/* Init dies with it; it is our child now, for we are a subreaper. */
	if (sl->init_fd >= 0)
		(void)syscall(SYS_pidfd_send_signal, sl->init_fd, SIGKILL, NULL, 0);
	(void)syscall(SYS_pidfd_send_signal, sl->keeper_fd, SIGKILL, NULL, 0);
	while (waitid((idtype_t)P_PIDFD, (id_t)sl->keeper_fd, &si, WEXITED) < 0 && errno == EINTR)
		continue;
	if (sl->init_fd >= 0)
		while (waitid((idtype_t)P_PIDFD, (id_t)sl->init_fd, &si, WEXITED) < 0 &&
		       errno == EINTR)
			continue;
	auto_close(&sl->keeper_fd);
	auto_close(&sl->sock);
	sl->keeper_fd = sl->sock = -1;
	landlock_strays(s);
	if (sl->state == SLOT_RUNNING && !sl->gone && !sl->job.zygote) {
		(void)snprintf(sl->why, sizeof sl->why, "the keeper of slot %d died", sl->index);
		box_gone(s, sl, 0);
	} else if (sl->state != SLOT_RUNNING) {
		sl->state = SLOT_DEAD;
		sl->failures++;
	}
}

void slot_end(struct slot *sl)
{
	if (sl->init_fd >= 0)
		(void)syscall(SYS_pidfd_send_signal, sl->init_fd, SIGKILL, NULL, 0);
	if (sl->keeper_fd >= 0)
		(void)syscall(SYS_pidfd_send_signal, sl->keeper_fd, SIGKILL, NULL, 0);
	for (int k = 0; k < BOX_MAX_ZYGOTES; k++)
		if (sl->zygote[k].fd >= 0)
			(void)syscall(SYS_pidfd_send_signal, sl->zygote[k].fd, SIGKILL, NULL, 0);
}

/* The program had ended by itself, within its time, just when we looked at the clock. */
static bool ended_in_time(const struct server *s, const struct slot *sl,
                          const struct wire_result *w)
{
	const struct box_limits *l = &sl->job.limits;

	return (sl->killed_for == BOX_WALL_LIMIT || sl->killed_for == BOX_CPU_LIMIT) &&
	       sl->page->end_ns && fair_wall(s, w->wall_ns, w->cpu_ns) <= l->wall_ns &&
	       w->cpu_ns <= l->cpu_ns;
}

/* What a job was, when several things are true: memory (its lack kills or slows down whatever else
 * happens), then what we killed it for, then faults of ours, then time, then what the program
 * itself did.
 */
static enum box_end decide(struct server *s, struct slot *sl, const struct wire_result *w)
{
	const struct slot_page *p = sl->page;
	const struct box_limits *l = &sl->job.limits;
	bool oom = s->cg.version && cg_oom(&s->cg.slot[sl->index]);

	if (oom && sl->killed_for != BOX_FAILED && sl->killed_for != BOX_OUT_LIMIT)
		return BOX_MEM_LIMIT;
	if (sl->killed_for != BOX_EXITED && !ended_in_time(s, sl, w))
		return sl->killed_for;
	if (p->over)
		return (enum box_end)p->over;
	if (p->failed || sl->why[0] || !p->end_ns) {
		if (p->failed)
			memcpy(sl->why, p->why, sizeof sl->why);
		else if (!sl->why[0])
			(void)snprintf(sl->why, sizeof sl->why, "init ended with status %#x",
			               (unsigned)sl->init_status);
		return BOX_FAILED;
	}
	if (w->cpu_ns > l->cpu_ns)
		return BOX_CPU_LIMIT;
	if (fair_wall(s, w->wall_ns, w->cpu_ns) > l->wall_ns)
		return BOX_WALL_LIMIT;
	if (!WIFSIGNALED(p->status))
		return BOX_EXITED;
	return WTERMSIG(p->status) == SIGSYS ? BOX_DENIED : BOX_SIGNALED;
}

static void measure(struct server *s, struct slot *sl, struct wire_result *w)
{
	const struct slot_page *p = sl->page;
	int64_t cpu = p->cpu_end_ns, peak = p->peak_bytes;

	if (s->cg.version) {
		int64_t cg = cg_peak(&s->cg.slot[sl->index]) - slot_idle(sl).bytes;

		peak = cg > 0 ? cg : peak;
		cpu = p->end_ns || sl->job.zygote ? cpu : cg_cpu_ns(s->cg.slot[sl->index].cpu);
	}
	w->queue_ns = sl->sent_ns - sl->job.submitted_ns;
	w->mem_bytes = peak;
	if (!p->start_ns)
		return;
	w->cpu_ns = cpu > p->cpu_base_ns ? cpu - p->cpu_base_ns : 0;
	if (sl->job.zygote && s->cg.version) {
		int64_t cg = (p->cg_end_ns ? p->cg_end_ns : cg_cpu_ns(s->cg.slot[sl->index].cpu)) -
		             p->cg_base_ns;

		/* Processes that nobody waited for count there only. */
		w->cpu_ns = cg > w->cpu_ns + CG_TICKS_NS ? cg : w->cpu_ns;
	}
	w->wall_ns = (p->end_ns ? p->end_ns : now_ns()) - p->start_ns;
}

void slot_result(struct server *s, struct slot *sl, struct wire_result *ret,
                 char small[WIRE_INLINE], size_t *ret_small, int fd[BOX_CHANNELS])
{
	struct wire_result w = { .type = WIRE_RESULT, .job = sl->job.job };
	size_t at = 0;
	int k = 0, status = sl->page->status;

	measure(s, sl, &w);
	w.early = (uint16_t)sl->page->early;
	w.end = decide(s, sl, &w);
	w.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	if (w.end == BOX_FAILED)
		memcpy(w.why, sl->why, sizeof w.why);
	for (int i = 0; i < BOX_CHANNELS; i++) {
		struct channel *c = &sl->out[i];

		w.n_out[i] = c->n;
		if (c->memfd >= 0) {
			w.fd_mask |= 1u << i;
			fd[k++] = take_fd(&c->memfd);
		} else {
			memcpy(small + at, c->small, c->n);
			at += c->n;
		}
	}
	close_channels(sl);
	sl->state = sl->keeper_fd >= 0 ? SLOT_IDLE : SLOT_DEAD;
	sl->gone = false;
	*ret = w;
	*ret_small = at;
}
