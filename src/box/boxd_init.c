/* boxd_init.c - PID 1 of a box: sets it up, starts the payload, waits for it. When init ends, the
 * kernel kills whatever is left in its PID namespace.
 *
 * It is no target: signals from inside do not reach a PID 1 that does not handle them, it is not
 * dumpable (no ptrace, no /proc/1/fd), and where slots have user ids it has another one. It waits
 * for one process only, the payload; orphans are reaped on the way. It ends as soon as the payload
 * has ended, whatever daemons hold open, and when the server is gone.
 */
#include "box/boxd.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"

enum { TRIAL_BYTES = 1 << 20 };

static _Noreturn void die(const struct slot *sl, const char *what)
{
	page_fail(sl->page, "%s: %s", what, strerror(errno));
	_exit(1);
}

static bool write_proc(const char *path, const char *text)
{
	AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t n = strlen(text);

	return fd >= 0 && write(fd, text, n) == (ssize_t)n;
}

/* The user namespace of one box: our only id, seen as BOX_ID. /proc is still the host's. */
static void map_ids(const struct slot *sl)
{
	char text[32];

	(void)snprintf(text, sizeof text, "%d 0 1\n", BOX_ID);
	if (!write_proc("/proc/self/setgroups", "deny") ||
	    !write_proc("/proc/self/uid_map", text) || !write_proc("/proc/self/gid_map", text))
		die(sl, "map user id");
}

static void write_files(const struct server *s, const struct slot *sl, const struct box_plan *plan)
{
	uid_t id = slot_id(s, sl);

	for (int i = 0; i < plan->n_files; i++) {
		const struct box_file *f = &plan->file[i];
		struct err e = { 0 };
		AUTO_FD int fd =
			open(f->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

		if (fd < 0)
			die(sl, f->name);
		if (io_write(fd, f->text.p, f->text.n, &e) < 0) {
			page_fail(sl->page, "file %s: %.150s", f->name, e.msg);
			_exit(1);
		}
		if (fchmod(fd, (mode_t)f->mode) < 0 || (s->slot_ids && fchown(fd, id, id) < 0))
			die(sl, f->name);
	}
}

static void load_plan(const struct slot *sl, int fd, struct box_plan *ret)
{
	struct err e = { 0 };
	struct stat st;
	void *p;

	if (fstat(fd, &st) < 0 || st.st_size <= 0)
		die(sl, "plan");
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		die(sl, "map plan");
	if (box_wire_get_plan((struct str){ p, (size_t)st.st_size }, ret, &e) < 0) {
		page_fail(sl->page, "%s", e.msg);
		_exit(1);
	}
}

/* Reaps what has ended. True when the payload has. */
static bool reap(const struct server *s, const struct slot *sl, pid_t payload)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct rusage ru;

		if (pid != payload)
			continue;
		if (!s->polls) {
			sl->page->cpu_end_ns = cg_cpu_ns(KEEPER_CPU);
		} else {
			(void)(no_spaces(s) ? tree_kill(NULL, NULL) : reap_all());
			sl->page->cpu_end_ns = children_ns();
		}
		if (getrusage(RUSAGE_CHILDREN, &ru) == 0 &&
		    ru.ru_maxrss * INT64_C(1024) > sl->page->peak_bytes)
			sl->page->peak_bytes = ru.ru_maxrss * INT64_C(1024);
		sl->page->status = status;
		sl->page->end_ns = now_ns();
		return true;
	}
	return false;
}

static void wait_for(const struct server *s, const struct slot *sl, const struct box_limits *l,
                     pid_t payload, int sigfd)
{
	struct pollfd p[2] = { { sigfd, POLLIN, 0 }, { KEEPER_SOCK, 0, 0 } };
	bool looks = s->polls && !s->no_proc && s->tier != BOX_NONE;
	int folder = s->landlock ? open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	for (;;) {
		struct signalfd_siginfo si;

		if (poll(p, 2, looks ? POLL_MS : -1) < 0 && errno != EINTR)
			die(sl, "poll");
		if (p[1].revents) /* the server is gone */
			return;
		if (p[0].revents && read(sigfd, &si, sizeof si) > 0 && si.ssi_signo != SIGCHLD)
			return; /* without namespaces it is told to end */
		if (reap(s, sl, payload))
			return;
		if (looks && s->landlock)
			(void)tree_over(sl->page, l, children_ns(), folder, 0);
		else if (looks)
			(void)meter_over(sl->page, l, children_ns());
		if (sl->page->over)
			return;
	}
}

static void empty_folder(const struct slot *sl)
{
	AUTO_FD int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0 || !clean_dir(dir))
		die(sl, "empty the folder");
}

void box_set_up(const struct server *s, const struct slot *sl, int64_t disk_bytes, bool zygote)
{
	/* Who has descendants that do not die with it must live to kill them. */
	if (prctl(PR_SET_PDEATHSIG, no_spaces(s) && !zygote ? SIGTERM : SIGKILL, 0, 0, 0) < 0)
		die(sl, "prctl");
	if (s->landlock) {
		char path[SLOT_PATH];

		landlock_folder(s, sl, path);
		if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ||
		    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || chdir(path) < 0)
			die(sl, path);
		empty_folder(sl); /* whoever was here before may have been killed */
		return;
	}
	if (s->tier == BOX_NONE) {
		char path[sizeof s->tmp + 16];

		(void)snprintf(path, sizeof path, "%s/%d", s->tmp, sl->index);
		(void)io_remove_tree(path, NULL);
		if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || mkdir(path, 0700) < 0 ||
		    chdir(path) < 0)
			die(sl, path);
		return;
	}
	if (getpid() != 1) { /* whatever follows relies on the border of the PID namespace */
		page_fail(sl->page, "init is not PID 1");
		_exit(1);
	}
	if (s->nest)
		map_ids(sl);
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		die(sl, "prctl");
	if (!mount_box(s, sl, disk_bytes, zygote))
		_exit(1);
	if (chdir("/box") < 0)
		die(sl, "/box");
}

_Noreturn void init_main(const struct server *s, const struct slot *sl,
                         const struct keeper_job *job, const int fd[WIRE_MAX_FDS])
{
	struct box_plan plan;
	sigset_t set;
	pid_t pid;
	int sigfd;

	box_set_up(s, sl, job ? job->limits.disk_bytes : TRIAL_BYTES, false);
	if (!job)
		_exit(0);
	load_plan(sl, fd[0], &plan);
	write_files(s, sl, &plan);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (no_spaces(s))
		sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		die(sl, "sigprocmask");
	sigfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sigfd < 0)
		die(sl, "signalfd");
	/* vfork(): no copy of the address space. We sleep until its exec; it touches nothing of
	 * ours but the page, and never returns.
	 */
	pid = vfork();
	if (pid < 0)
		die(sl, "fork");
	if (pid == 0)
		payload_main(s, sl, &job->limits, &plan, fd);
	wait_for(s, sl, &job->limits, pid, sigfd);
	if (no_spaces(s))
		(void)tree_kill(NULL, NULL);
	if (s->landlock)
		empty_folder(sl);
	_exit(0);
}
