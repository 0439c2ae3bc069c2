/* boxd.c - cupel-boxd, the server that runs untrusted programs. Started by box_open(), never by
 * people: cupel-boxd TIER SLOTS, with a socket at descriptor 3.
 *
 * THEORY OF OPERATION
 *
 *	caller ==socket== boxd ==socket== keeper ---- init ---- payload ---- its children
 *	                    |    (one for each slot)   (one of each for every job)
 *	                    |==socket== zygote ---- process of a job ---- its children
 *	                    |    (one of each kind for each slot: zygote.c)
 *	                    '---- pipes for descriptors 1, 2, 3 of the payload; pidfd of init
 *
 * process  lives     namespaces                          rights
 * boxd     session   own user (*), mount, net, uts, ipc  all in its user namespace, none outside
 * keeper   session   + net, cgroup; in the slot's cgroup the same
 * init     a job     + pid, mount, ipc; user (**)        the same; not dumpable, PID 1
 * zygote   many jobs own pid, mount, ipc, net; user (**) a few, to give them up and to clean up
 * payload  a job     those of init or zygote             none: id of the slot, no capabilities,
 *                                                        no_new_privs, system-call filter, limits
 *
 * (*) Root without user namespaces does without: then boxd, keeper and init are real root.
 * (**) Where there is only one id (started by an ordinary user), so that RLIMIT_NPROC counts the
 * processes of one box only, and where the program then is id 1000 of its own namespace.
 *
 * What is dear is made once: cgroups, network namespaces, the read-only root (boxd_ns.c), the
 * filter (boxd_filter.c). A job costs one clone with three namespaces, one tmpfs, one /proc, one
 * fork and the exec. Cgroup files and the host's /proc/self are opened before the host's file
 * system goes out of sight by pivot_root; nothing is looked up by name on the host after that.
 *
 * Who ends what. The end of the payload ends init, and the end of init, as PID 1, kills all that is
 * left in the box: daemons, stopped processes, whoever ignores signals. boxd ends a box by SIGKILL
 * to init through its pidfd, never by number. boxd ends when the caller's socket closes or the
 * caller's process has ended (its forked children may hold the socket): it kills keepers and inits,
 * reaps until it has no child left (it is a subreaper), and removes the cgroups. If boxd itself is
 * killed, keepers and inits die by PDEATHSIG, and inits also by the end of their socket; only
 * empty cgroup folders stay, which the next server removes.
 *
 * Time. The payload stamps start and CPU base just before its exec, init stamps the end, both into
 * memory shared with boxd; a job causes two messages (pidfd, gone) and no other wake-ups. A limit
 * is looked at when it can have been reached at the earliest, not at a fixed rate. CPU time counts
 * all processes of the slot's cgroup from the base on.
 *
 * Without cgroups (tier user) init looks at its processes every POLL_MS (boxd_meter.c). Without
 * namespaces (tier landlock, none) init and zygote are no PID 1: boxd_landlock.c and boxd_tree.c
 *tell what holds instead.
 *
 * boxd trusts its caller, and nothing that comes from a box: pipes are read into capped buffers,
 * and no other channel leads out of a payload.
 */
#include "box/boxd.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"

enum { EVENTS = 64 };

static bool stop;

int event_add(const struct server *s, int fd, enum event ev, int slot, int ch)
{
	struct epoll_event e = { .events = EPOLLIN };

	if (ev == EV_OOM && s->cg.version == 2)
		e.events = EPOLLPRI;
	e.data.u64 = (uint64_t)ev | (uint64_t)slot << 8 | (uint64_t)ch << 24;
	return epoll_ctl(s->epfd, EPOLL_CTL_ADD, fd, &e);
}

static void send_failed(const struct server *s, const struct wire_job *job, const char *why)
{
	struct wire_result w = { .type = WIRE_RESULT, .end = BOX_FAILED, .job = job->job };

	(void)snprintf(w.why, sizeof w.why, "%s", why);
	stop = stop || !result_send(s, &w, sizeof w, NULL, 0);
}

static void finish(struct server *s, struct slot *sl)
{
	static struct {
		struct wire_result w;
		char small[WIRE_INLINE];
	} msg;
	int fd[BOX_CHANNELS];
	size_t n;

	slot_result(s, sl, &msg.w, msg.small, &n, fd);
	/* Without memory for it the caller starts another server, which runs the job again. */
	stop = stop || !result_send(s, &msg, offsetof(typeof(msg), small) + n, fd,
	                            __builtin_popcount(msg.w.fd_mask));
}

static int start_keeper(struct server *s, struct slot *sl, struct err *e)
{
	int r = keeper_start(s, sl, e);

	if (r < 0)
		return r;
	if (event_add(s, sl->sock, EV_SLOT, sl->index, 0) < 0 ||
	    event_add(s, sl->keeper_fd, EV_KEEPER, sl->index, 0) < 0)
		return FAIL(e, ERR_SYS, "epoll: %s", strerror(errno));
	return 0;
}

/* Jobs to idle slots. A slot whose keeper died gets a new one; with none left we give up. */
static void dispatch(struct server *s)
{
	int alive = 0;

	for (int i = 0; i < s->n_slots; i++) {
		struct slot *sl = &s->slot[i];
		struct err e = { 0 };

		if (sl->state == SLOT_DEAD && sl->failures < KEEPER_TRIES &&
		    start_keeper(s, sl, &e) < 0)
			sl->failures++;
		while (sl->state == SLOT_IDLE && !queue_is_empty()) {
			struct waiting w = queue_take(sl->program);

			if (slot_start(s, sl, &w.job, w.plan, w.in, &e) < 0)
				send_failed(s, &w.job, e.msg);
			(void)close(w.plan);
			(void)close(w.in);
		}
		alive += sl->state != SLOT_DEAD;
	}
	stop = stop || !alive;
}

static void hear_caller(struct server *s)
{
	for (;;) {
		struct wire_job job;
		int fd[WIRE_MAX_FDS];
		ssize_t n = box_wire_recv(s->sock, &job, sizeof job, fd, MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n != sizeof job || job.type != WIRE_JOB || fd[1] < 0 ||
		    job.zygote > s->n_zygotes) {
			stop = true;
			return;
		}
		if (!queue_put(&(struct waiting){ job, fd[0], fd[1] })) {
			send_failed(s, &job, "more jobs than the server has room for");
			(void)close(fd[0]);
			(void)close(fd[1]);
		}
	}
}

bool has_ended(int pidfd)
{
	siginfo_t si = { .si_pid = 0 };

	return waitid((idtype_t)P_PIDFD, (id_t)pidfd, &si, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       si.si_pid != 0;
}

static void handle(struct server *s, const struct epoll_event *ev)
{
	struct slot *sl = &s->slot[ev->data.u64 >> 8 & 0xffff];

	switch ((enum event)(ev->data.u64 & 0xff)) {
	case EV_CALLER:
		if (ev->events & EPOLLOUT)
			result_send_held(s);
		if (ev->events & ~(uint32_t)EPOLLOUT)
			hear_caller(s);
		break;
	case EV_PARENT:
		stop = true;
		break;
	case EV_SLOT:
		if (sl->sock >= 0)
			slot_hear(s, sl, false);
		break;
	case EV_KEEPER:
		if (sl->keeper_fd >= 0 && has_ended(sl->keeper_fd))
			slot_keeper_died(s, sl);
		break;
	case EV_OOM:
		slot_oom(s, sl);
		break;
	case EV_ZYGOTE:
		zygote_hear(s, sl, (int)(ev->data.u64 >> 24));
		break;
	case EV_ZYGOTE_END:
		zygote_died(s, sl, (int)(ev->data.u64 >> 24));
		break;
	case EV_OUT:
		slot_read(s, sl, (int)(ev->data.u64 >> 24));
		break;
	}
}

/* Milliseconds until a limit of some running box may be reached; -1: none runs. */
static int next_ms(const struct server *s)
{
	int64_t next = INT64_MAX, now = now_ns();

	for (int i = 0; i < s->n_slots; i++)
		if (s->slot[i].state == SLOT_RUNNING && s->slot[i].next_ns < next)
			next = s->slot[i].next_ns;
	if (next == INT64_MAX)
		return -1;
	next = next > now ? (next - now) / NS_PER_MS + 1 : 0;
	return next < 60000 ? (int)next : 60000;
}

static void turn(struct server *s)
{
	struct epoll_event ev[EVENTS];
	int n = epoll_wait(s->epfd, ev, EVENTS, next_ms(s));
	int64_t now = now_ns();

	for (int i = 0; i < n; i++)
		handle(s, &ev[i]);
	for (int i = 0; i < s->n_slots; i++) {
		struct slot *sl = &s->slot[i];

		if (sl->state == SLOT_RUNNING && !sl->gone && sl->next_ns <= now)
			slot_watch(s, sl, now);
		if (sl->state == SLOT_RUNNING && sl->gone)
			finish(s, sl);
	}
	dispatch(s);
}

/* posix_spawn() of glibc leaves its two internal signals ignored, and signal() refuses them. */
static void reset_signals(void)
{
	enum { SIGNALS = 64, SET_BYTES = 8 };
	const unsigned long dfl[8] = { 0 }; /* the kernel's struct sigaction: all default */

	for (int i = 1; i <= SIGNALS; i++)
		(void)syscall(SYS_rt_sigaction, i, dfl, NULL, SET_BYTES);
}

static int prepare(struct server *s, struct err *e)
{
	struct rlimit files;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	s->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	s->root = geteuid() == 0;
	s->epfd = epoll_create1(EPOLL_CLOEXEC);
	s->parent_fd = (int)syscall(SYS_pidfd_open, getppid(), 0);
	s->slot = calloc((size_t)s->n_slots, sizeof *s->slot);
	if (!s->slot)
		return FAIL(e, ERR_NOMEM, "%d slots", s->n_slots);
	if (s->epfd < 0 || s->parent_fd < 0 || event_add(s, s->parent_fd, EV_PARENT, 0, 0) < 0 ||
	    event_add(s, s->sock, EV_CALLER, 0, 0) < 0)
		return FAIL(e, ERR_DENIED, "watch the caller: %s", strerror(errno));
	for (int i = 0; i < s->n_slots; i++) {
		struct slot *sl = &s->slot[i];

		sl->index = i;
		sl->keeper_fd = sl->sock = sl->init_fd = -1;
		for (int k = 0; k < BOX_CHANNELS; k++)
			sl->out[k].rd = sl->out[k].memfd = -1;
		for (int k = 0; k < BOX_MAX_ZYGOTES; k++)
			sl->zygote[k].fd = sl->zygote[k].sock = sl->zygote[k].log = -1;
		sl->page_fd = memfd_create("slot", MFD_CLOEXEC);
		if (sl->page_fd < 0 || ftruncate(sl->page_fd, sizeof *sl->page) < 0)
			return FAIL(e, ERR_SYS, "memory of a slot: %s", strerror(errno));
		sl->page = mmap(NULL, sizeof *sl->page, PROT_READ | PROT_WRITE, MAP_SHARED,
		                sl->page_fd, 0);
		if (sl->page == MAP_FAILED)
			return FAIL(e, ERR_NOMEM, "%d slots", s->n_slots);
	}
	return 0;
}

static int isolate(struct server *s, enum box_tier want, struct err *e)
{
	struct err why = { 0 };
	int r;

	if (want == BOX_LANDLOCK) {
		s->tier = BOX_LANDLOCK;
		return landlock_open(s, e);
	}
	if (want == BOX_NONE) {
		s->tier = BOX_NONE;
		s->polls = true;
		r = none_open(s, e);
		return r < 0 ? r : zygote_files(s, "", e);
	}
	r = want == BOX_USER ? FAIL(&why, ERR_DENIED, "tier user was asked for")
	                     : cg_open(&s->cg, s->n_slots, &why);
	if (r < 0 && want == BOX_FULL)
		return FAIL(e, ERR_DENIED, "tier full needs cgroups: %.180s", why.msg);
	if (r < 0)
		(void)snprintf(s->missing, sizeof s->missing,
		               "tier full needs writable cgroups (%s): run as root, or under "
		               "'systemd-run --user --scope -p Delegate=yes', or name a delegated "
		               "folder of cgroup 2 in CUPEL_CGROUP",
		               why.msg);
	s->tier = r < 0 ? BOX_USER : BOX_FULL;
	s->polls = r < 0;
	r = filter_make(s->polls ? FILTER_NO_SHM : FILTER_ALL_IPC, &s->filter, e);
	r = r < 0 ? r : filter_make(FILTER_NO_IPC, &s->zygote_filter, e);
	r = r < 0 ? r : ns_enter(s, e);
	return r < 0 ? r : ns_make_root(s, e);
}

/* All keepers have tried to set up a box. */
static int start_slots(struct server *s, struct err *e)
{
	bool no_proc = false;

	for (int i = 0; i < s->n_slots; i++) {
		struct slot *sl = &s->slot[i];
		int r = start_keeper(s, sl, e);

		if (r == 0 && s->cg.version && s->cg.slot[i].oom_event >= 0 &&
		    event_add(s, s->cg.slot[i].oom_event, EV_OOM, i, 0) < 0)
			r = FAIL(e, ERR_SYS, "epoll: %s", strerror(errno));
		if (r < 0)
			return r;
		while (sl->state == SLOT_STARTING)
			slot_hear(s, sl, true);
		if (sl->state != SLOT_IDLE)
			return FAIL(e, ERR_DENIED, "%s",
			            sl->page->failed ? sl->page->why : "the first box failed");
		no_proc = no_proc || sl->page->no_proc;
		s->no_proc = no_proc;
	}
	return 0;
}

static int try_zygotes(struct server *s, struct err *e)
{
	int r = 0;

	for (int k = 0; r == 0 && k < s->n_zygotes; k++)
		r = zygote_try(s, k, e);
	return r;
}

static void describe(struct server *s)
{
	size_t n = strlen(s->missing);

	if (s->no_proc)
		(void)snprintf(s->missing + n, sizeof s->missing - n,
		               "%sthe kernel refuses a fresh /proc (parts of the container's are "
		               "hidden): boxes have none%s",
		               n ? "; " : "",
		               s->polls ? ", and memory is limited per process" : "");
	(void)snprintf(s->about, sizeof s->about,
	               "cgroup %s, user namespace %s, ids of slots %s, filter of %d instructions, "
	               "Landlock %d",
	               s->cg.version == 1   ? "1"
	               : s->cg.version == 2 ? "2"
	                                    : "none",
	               s->userns ? (s->nest ? "for each box" : "yes") : "no",
	               s->slot_ids ? "yes" : "no", s->filter.len, landlock_version());
}

static void clean_up(struct server *s)
{
	for (int i = 0; s->slot && i < s->n_slots; i++)
		slot_end(&s->slot[i]);
	if (no_spaces(s))
		(void)tree_kill(NULL, NULL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		continue;
	cg_close(&s->cg);
	none_close(s);
}

/* The caller's first message. Its texts stay mapped. */
static int get_setup(struct server *s, struct err *e)
{
	struct wire_setup w;
	struct stat st;
	int fd[WIRE_MAX_FDS];
	void *p;

	if (box_wire_recv(s->sock, &w, sizeof w, fd, 0) != sizeof w || w.type != WIRE_SETUP ||
	    w.n_zygotes > BOX_MAX_ZYGOTES)
		return FAIL(e, ERR_DENIED, "the caller is of another version");
	if (w.n_zygotes == 0)
		return 0;
	p = fd[0] < 0 || fstat(fd[0], &st) < 0 || st.st_size == 0
	            ? MAP_FAILED
	            : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd[0], 0);
	if (p == MAP_FAILED)
		return FAIL(e, ERR_DENIED, "read zygotes: %s", strerror(errno));
	(void)close(fd[0]);
	s->n_zygotes = (int)w.n_zygotes;
	return box_wire_get_zygotes((struct str){ p, (size_t)st.st_size }, s->zygote, s->n_zygotes,
	                            e);
}

static enum box_tier tier_of(const char *text)
{
	enum box_tier t = BOX_AUTO;

	while (t < BOX_NONE && strcmp(box_tier_text(t), text))
		t++;
	return t;
}

int main(int argc, char **argv)
{
	static struct server s = { .sock = WIRE_SOCK, .first_id = HOST_ID, .tmp_fd = -1 };
	struct wire_hello hello = { .type = WIRE_HELLO, .version = WIRE_VERSION };
	struct err e = { 0 };
	int r;

	s.n_slots = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0;
	if (s.n_slots < 1 || s.n_slots > WIRE_MAX_SLOTS || fcntl(WIRE_SOCK, F_GETFD) < 0)
		return 2; /* not started by box_open() */
	(void)fcntl(WIRE_SOCK, F_SETFD, FD_CLOEXEC);
	(void)syscall(SYS_close_range, WIRE_SOCK + 1, ~0U, 0);
	reset_signals();
	r = get_setup(&s, &e);
	r = r < 0 ? r : queue_open(s.n_slots, &e);
	r = r < 0 ? r : prepare(&s, &e);
	r = r < 0 ? r : isolate(&s, tier_of(argv[1]), &e);
	r = r < 0 ? r : start_slots(&s, &e);
	hello.tier = r < 0 ? BOX_AUTO : s.tier;
	r = r < 0 ? r : try_zygotes(&s, &e);
	describe(&s);
	hello.code = r;
	hello.slots = s.n_slots;
	memcpy(hello.why, e.msg, sizeof hello.why);
	memcpy(hello.missing, s.missing, sizeof hello.missing);
	memcpy(hello.about, s.about, sizeof hello.about);
	if (box_wire_send(s.sock, &hello, sizeof hello, NULL, 0, 0) < 0)
		r = ERR_SYS;
	while (r == 0 && !stop)
		turn(&s);
	clean_up(&s);
	return r < 0;
}
