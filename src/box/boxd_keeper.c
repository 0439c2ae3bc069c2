/* boxd_keeper.c - the long-lived process of a slot. It lives in the slot's cgroup and network
 * namespace, so that a box is born into them, and starts one box after the other. Zygotes do not
 * need it: they are children of the server (boxd_zygote.c).
 */
#include "box/boxd.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"

/* Only socket and CPU clock stay open: above all not the caller's socket, whose closing tells the
 * caller that the server is gone.
 */
static bool keep_fds(int sock, int cpu)
{
	int hi_sock = fcntl(sock, F_DUPFD_CLOEXEC, 64);
	int hi_cpu = cpu < 0 ? -1 : fcntl(cpu, F_DUPFD_CLOEXEC, 64);

	(void)dup3(0, WIRE_SOCK, O_CLOEXEC);
	(void)close(KEEPER_CPU);
	if (hi_sock < 0 || dup3(hi_sock, KEEPER_SOCK, O_CLOEXEC) < 0)
		return false;
	if (hi_cpu >= 0 && dup3(hi_cpu, KEEPER_CPU, O_CLOEXEC) < 0)
		return false;
	if (hi_cpu < 0 && dup3(0, KEEPER_CPU, O_CLOEXEC) < 0)
		return false;
	return syscall(SYS_close_range, KEEPER_FREE, ~0U, 0) == 0;
}

static void say(enum keeper_say what, int status, int fd)
{
	struct keeper_msg m = { .say = (int32_t)what, .status = status };

	if (box_wire_send(KEEPER_SOCK, &m, sizeof m, &fd, fd >= 0, 0) < 0)
		_exit(1);
}

/* Starts init in its namespaces, like fork() with flags; its pidfd goes to *ret_fd. */
static pid_t clone_init(const struct server *s, int *ret_fd)
{
	unsigned long flags = CLONE_PIDFD | SIGCHLD;

	if (!no_spaces(s))
		flags |= CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | (s->nest ? CLONE_NEWUSER : 0);
	return (pid_t)syscall(SYS_clone, flags, NULL, ret_fd, NULL, 0);
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static void run_box(const struct server *s, const struct slot *sl, const struct keeper_job *job,
                    const int fd[WIRE_MAX_FDS])
{
	int pidfd = -1;
	pid_t pid = clone_init(s, &pidfd);

	if (pid == 0)
		init_main(s, sl, job, fd);
	for (int i = 0; job && i < WIRE_MAX_FDS; i++)
		auto_close(&fd[i]);
	if (pid < 0) {
		page_fail(sl->page, "clone: %s", strerror(errno));
		say(job ? KEEPER_GONE : KEEPER_READY, -1, -1);
		return;
	}
	if (job)
		say(KEEPER_BORN, 0, pidfd);
	(void)close(pidfd);
	say(job ? KEEPER_GONE : KEEPER_READY, wait_for(pid), -1);
}

static _Noreturn void keeper_main(const struct server *s, const struct slot *sl, int sock,
                                  pid_t server)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != server)
		_exit(1);
	if (s->cg.version && cg_join(&s->cg.slot[sl->index]) < 0) {
		page_fail(sl->page, "join cgroup: %s", strerror(errno));
		_exit(1);
	}
	if (!keep_fds(sock, s->cg.version ? s->cg.slot[sl->index].cpu : -1))
		_exit(1);
	if (!no_spaces(s)) {
		if (unshare(CLONE_NEWNET) < 0) {
			page_fail(sl->page, "network namespace: %s", strerror(errno));
			_exit(1);
		}
		(void)unshare(CLONE_NEWCGROUP); /* only hides a path */
		drop_bounding_set(0);
	}
	run_box(s, sl, NULL, NULL);
	for (;;) {
		struct keeper_job job;
		int fd[WIRE_MAX_FDS];

		if (box_wire_recv(KEEPER_SOCK, &job, sizeof job, fd, 0) != sizeof job)
			_exit(0);
		run_box(s, sl, &job, fd);
	}
}

int keeper_start(const struct server *s, struct slot *sl, struct err *e)
{
	pid_t self = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return FAIL(e, ERR_SYS, "socketpair: %s", strerror(errno));
	memset(sl->page, 0, sizeof *sl->page);
	sl->keeper = fork();
	if (sl->keeper == 0)
		keeper_main(s, sl, pair[1], self);
	(void)close(pair[1]);
	sl->keeper_fd = sl->keeper < 0 ? -1 : (int)syscall(SYS_pidfd_open, sl->keeper, 0);
	if (sl->keeper_fd < 0) {
		(void)close(pair[0]); /* a keeper ends on that */
		return FAIL(e, ERR_SYS, "start keeper: %s", strerror(errno));
	}
	sl->sock = pair[0];
	sl->state = SLOT_STARTING;
	return 0;
}
