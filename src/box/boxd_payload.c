/* boxd_payload.c - the last steps of a process before it becomes the program: from here on every
 * right is given up, in an order that needs the rights still left.
 */
#include "box/boxd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"

static _Noreturn void die(const struct slot *sl, const char *what)
{
	page_fail(sl->page, "%s: %s", what, strerror(errno));
	_exit(127);
}

/* First among equals when memory runs out, before keeper and init. Raising it is always allowed. */
static void prefer_as_victim(void)
{
	AUTO_FD int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, "1000", 4);
}

static void set_streams(const struct slot *sl, const int fd[WIRE_MAX_FDS])
{
	for (int i = 0; i <= BOX_CHANNELS; i++)
		if (dup2(fd[i + 1], i) < 0)
			die(sl, "dup2");
	if (syscall(SYS_close_range, BOX_CHANNELS + 1, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		die(sl, "close_range (needs Linux 5.11)");
}

struct rights server_rights(const struct server *s, const struct slot *sl)
{
	return (struct rights){ .id = slot_id(s, sl),
		                .slot_ids = s->slot_ids,
		                .polls = s->polls,
		                .no_proc = s->no_proc,
		                .none = s->tier == BOX_NONE,
		                .ours = s->nest,
		                .landlock = (uint8_t)s->landlock };
}

/* Fixed variables, and own ones, which may replace them. */
void make_env(const struct server *s, const char *const *own, char **env, char *home, size_t room)
{
	static const char *const fixed[] = { "PATH=/usr/local/bin:/usr/bin:/bin",
		                             "LANG=C.UTF-8",
		                             "LC_ALL=C.UTF-8",
		                             "TZ=UTC",
		                             "OPENBLAS_NUM_THREADS=1",
		                             "OMP_NUM_THREADS=1",
		                             "PYTHONHASHSEED=0" };
	char dir[SLOT_PATH];
	int n = 0, n_plan = 0;

	for (; own[n_plan]; n_plan++)
		env[n++] = (char *)(uintptr_t)own[n_plan];
	if (s->landlock && getcwd(dir, sizeof dir)) {
		int len = snprintf(home, room, "HOME=%s", dir) + 1;

		env[n++] = home + len;
		(void)snprintf(home + len, room - (size_t)len, "TMPDIR=%s", dir);
	} else {
		(void)snprintf(home, room, "HOME=%s", s->tier == BOX_NONE ? "." : "/box");
	}
	env[n++] = home;
	for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
		size_t len = (size_t)(strchr(fixed[i], '=') - fixed[i]) + 1;
		bool replaced = false;

		for (int k = 0; k < n_plan; k++)
			replaced = replaced || !strncmp(fixed[i], own[k], len);
		if (!replaced)
			env[n++] = (char *)(uintptr_t)fixed[i];
	}
	env[n] = NULL;
}

/* The filter of this tier forbids nothing that its own installation needs. */
static void enter_landlock(const struct server *s, const struct slot *sl, const struct rights *r,
                           int rules)
{
	/* Cleared by the change of user; a program that is left alone is killed by its limits. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &s->more_filter) < 0 ||
	    !enclose(r, rules))
		die(sl, "Landlock");
}

_Noreturn void payload_main(const struct server *s, const struct slot *sl,
                            const struct box_limits *l, const struct box_plan *plan,
                            const int fd[WIRE_MAX_FDS])
{
	char home[2 * SLOT_PATH + 16], *env[BOX_MAX_ARGS + 16], *argv[BOX_MAX_ARGS];
	struct rights r = server_rights(s, sl);
	struct err e = { 0 };
	int rules = -1;
	sigset_t none;

	(void)setsid();
	(void)umask(022);
	if (s->tier != BOX_NONE)
		prefer_as_victim();
	set_streams(sl, fd);
	make_env(s, plan->env, env, home, sizeof home);
	memcpy(argv, plan->argv, sizeof argv);
	if (s->landlock && (rules = landlock_rules(s, sl, false, &e)) < 0) {
		page_fail(sl->page, "%s", e.msg);
		_exit(127);
	}
	if (s->landlock && !s->slot_ids)
		r.max_tasks = landlock_tasks(s, l->procs);
	if (!rights_limit(&r, l))
		die(sl, "limits");
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (!rights_drop(&r))
		die(sl, "drop rights");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die(sl, "no_new_privs");
	if (s->filter.len && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &s->filter) < 0)
		die(sl, "system-call filter");
	if (s->landlock)
		enter_landlock(s, sl, &r, rules);
	sl->page->cpu_base_ns =
		s->polls ? clock_ns(CLOCK_PROCESS_CPUTIME_ID) : cg_cpu_ns(KEEPER_CPU);
	sl->page->start_ns = now_ns();
	(void)execve(argv[0], argv, env);
	die(sl, argv[0]);
}
