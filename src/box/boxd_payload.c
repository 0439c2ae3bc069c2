/* boxd_payload.c - the last steps of a process before it becomes the program: from here on every
 * right is given up, in an order that needs the rights still left.
 */
#include "box/boxd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"

enum { FILES_OPEN = 256, CAPS = 64 };

static _Noreturn void die(const struct slot *sl, const char *what)
{
	page_fail(sl->page, "%s: %s", what, strerror(errno));
	_exit(127);
}

/* Both limits, but never above the hard limit that we were started with. */
static void limit(const struct slot *sl, int what, int64_t val)
{
	struct rlimit old, r;

	if (getrlimit((__rlimit_resource_t)what, &old) < 0)
		die(sl, "getrlimit");
	r.rlim_cur = r.rlim_max = (rlim_t)val < old.rlim_max ? (rlim_t)val : old.rlim_max;
	if (setrlimit((__rlimit_resource_t)what, &r) < 0)
		die(sl, "setrlimit");
}

/* Address space is not limited: run times reserve much more than they use. */
static void limit_all(const struct server *s, const struct slot *sl, const struct box_limits *l)
{
	int64_t data = l->mem_bytes;

	limit(sl, RLIMIT_CPU, l->cpu_ns / NS_PER_S + 2);
	limit(sl, RLIMIT_FSIZE, l->disk_bytes);
	limit(sl, RLIMIT_CORE, 0);
	limit(sl, RLIMIT_NOFILE, FILES_OPEN);
	limit(sl, RLIMIT_STACK, l->stack_bytes);
	if (s->polls && !s->no_proc)
		data = 4 * l->mem_bytes + (INT64_C(2) << 30); /* memory grows between two looks */
	if (s->polls)
		limit(sl, RLIMIT_DATA, data);
	if (s->polls && s->tier != BOX_NONE)
		limit(sl, RLIMIT_NPROC, l->procs + s->nest); /* init counts where it has our uid */
}

/* First among equals when memory runs out, before keeper and init. Raising it is always allowed. */
static void prefer_as_victim(void)
{
	AUTO_FD int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, "1000", 4);
}

void drop_bounding_set(void)
{
	for (int i = 0; i < CAPS; i++)
		if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0)
			return;
}

static void drop_rights(const struct server *s, const struct slot *sl)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { { 0 } };
	uid_t id = (uid_t)(s->userns ? BOX_ID : HOST_ID) + (uid_t)sl->index;
	unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
	                     SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
	                     SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	if (s->nest) /* a new user namespace begins with all of them */
		drop_bounding_set();
	if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0)
		die(sl, "securebits");
	if (s->slot_ids &&
	    (setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0))
		die(sl, "set user id");
	if (syscall(SYS_capset, &head, none) < 0)
		die(sl, "drop capabilities");
}

static void set_streams(const struct slot *sl, const int fd[WIRE_MAX_FDS])
{
	for (int i = 0; i <= BOX_CHANNELS; i++)
		if (dup2(fd[i + 1], i) < 0)
			die(sl, "dup2");
	if (syscall(SYS_close_range, BOX_CHANNELS + 1, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		die(sl, "close_range (needs Linux 5.11)");
}

/* Fixed variables, and those of the plan, which may replace them. */
static void make_env(const struct server *s, const struct box_plan *plan, char **env, char *home,
                     size_t room)
{
	static const char *const fixed[] = { "PATH=/usr/local/bin:/usr/bin:/bin",
		                             "LANG=C.UTF-8",
		                             "LC_ALL=C.UTF-8",
		                             "TZ=UTC",
		                             "OPENBLAS_NUM_THREADS=1",
		                             "OMP_NUM_THREADS=1",
		                             "PYTHONHASHSEED=0" };
	int n = 0, n_plan = 0;

	for (; plan->env[n_plan]; n_plan++)
		env[n++] = (char *)(uintptr_t)plan->env[n_plan];
	(void)snprintf(home, room, "HOME=%s", s->tier == BOX_NONE ? "." : "/box");
	env[n++] = home;
	for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
		size_t len = (size_t)(strchr(fixed[i], '=') - fixed[i]) + 1;
		bool replaced = false;

		for (int k = 0; k < n_plan; k++)
			replaced = replaced || !strncmp(fixed[i], plan->env[k], len);
		if (!replaced)
			env[n++] = (char *)(uintptr_t)fixed[i];
	}
	env[n] = NULL;
}

_Noreturn void payload_main(const struct server *s, const struct slot *sl,
                            const struct box_limits *l, const struct box_plan *plan,
                            const int fd[WIRE_MAX_FDS])
{
	char home[32], *env[BOX_MAX_ARGS + 16], *argv[BOX_MAX_ARGS];
	sigset_t none;

	(void)setsid();
	(void)umask(022);
	if (s->tier != BOX_NONE)
		prefer_as_victim();
	set_streams(sl, fd);
	make_env(s, plan, env, home, sizeof home);
	memcpy(argv, plan->argv, sizeof argv);
	limit_all(s, sl, l);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (s->tier != BOX_NONE)
		drop_rights(s, sl);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die(sl, "no_new_privs");
	if (s->filter.len && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &s->filter) < 0)
		die(sl, "system-call filter");
	sl->page->cpu_base_ns =
		s->polls ? clock_ns(CLOCK_PROCESS_CPUTIME_ID) : cg_cpu_ns(KEEPER_CPU);
	sl->page->start_ns = now_ns();
	(void)execve(argv[0], argv, env);
	die(sl, argv[0]);
}
