/* box_spawn.c - finds, starts and ends cupel-boxd. posix_spawn() and not fork(): the caller may
 * have many threads and gigabytes of memory.
 */
#include "box/box_client.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"

enum { START_MS = 60000, STOP_MS = 10000, ENV_MAX = 8 };

static bool is_program(const char *path)
{
	return access(path, X_OK) == 0;
}

/* The configured path, $CUPEL_BOXD, beside the program, one folder up (tests), installed. */
static int find_program(const struct box_config *cfg, char path[PATH_MAX], struct err *e)
{
	static const char *const where[] = { "cupel-boxd", "../cupel-boxd" };
	const char *given = cfg->boxd ? cfg->boxd : getenv("CUPEL_BOXD");
	char self[PATH_MAX], *slash;
	ssize_t n;

	if (given) {
		(void)snprintf(path, PATH_MAX, "%s", given);
		return is_program(path) ? 0 : FAIL(e, ERR_DENIED, "%s: %s", path, strerror(errno));
	}
	n = readlink("/proc/self/exe", self, sizeof self - 1);
	self[n < 0 ? 0 : n] = 0;
	slash = strrchr(self, '/');
	for (size_t i = 0; slash && i < sizeof where / sizeof where[0]; i++) {
		int len = snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - self), self, where[i]);

		if (len < PATH_MAX && is_program(path))
			return 0;
	}
	(void)snprintf(path, PATH_MAX, "%s/cupel-boxd", CUPEL_LIBEXEC);
	return is_program(path)
	               ? 0
	               : FAIL(e, ERR_DENIED, "cupel-boxd is neither beside the program nor in %s",
	                      CUPEL_LIBEXEC);
}

/* Of the caller's environment the server gets only what concerns itself. */
static void server_env(char *envp[ENV_MAX + 1])
{
	static const char *const pass[] = {
		"LD_LIBRARY_PATH=", "ASAN_OPTIONS=", "UBSAN_OPTIONS=",
		"TSAN_OPTIONS=",    "CUPEL_CGROUP=", "CUPEL_LANDLOCK="
	};
	int n = 0;

	for (char **v = environ; *v; v++)
		for (size_t i = 0; i < sizeof pass / sizeof pass[0]; i++)
			if (n < ENV_MAX && !strncmp(*v, pass[i], strlen(pass[i])))
				envp[n++] = *v;
	envp[n] = NULL;
}

static int spawn(const char *path, const struct box_config *cfg, int sock, pid_t *ret_pid,
                 struct err *e)
{
	char name[] = "cupel-boxd", tier[16], slots[16], *envp[ENV_MAX + 1];
	char *argv[] = { name, tier, slots, NULL };
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t none, all;
	int r;

	(void)snprintf(tier, sizeof tier, "%s", box_tier_text(cfg->tier));
	(void)snprintf(slots, sizeof slots, "%d", cfg->slots);
	server_env(envp);
	sigemptyset(&none);
	sigfillset(&all);
	r = posix_spawn_file_actions_init(&fa);
	if (r)
		return FAIL(e, ERR_NOMEM, "%s: %s", path, strerror(r));
	r = posix_spawnattr_init(&at);
	if (r) {
		(void)posix_spawn_file_actions_destroy(&fa);
		return FAIL(e, ERR_NOMEM, "%s: %s", path, strerror(r));
	}
	r = posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	r = r ? r : posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	r = r ? r : posix_spawn_file_actions_adddup2(&fa, sock, WIRE_SOCK);
	r = r ? r : posix_spawnattr_setsigmask(&at, &none);
	r = r ? r : posix_spawnattr_setsigdefault(&at, &all);
	r = r ? r
	      : posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
	                                              POSIX_SPAWN_SETSID);
	r = r ? r : posix_spawn(ret_pid, path, &fa, &at, argv, envp);
	(void)posix_spawnattr_destroy(&at);
	(void)posix_spawn_file_actions_destroy(&fa);
	return r ? FAIL(e, ERR_DENIED, "start %s: %s", path, strerror(r)) : 0;
}

static int send_setup(int sock, struct str zygotes, int n, struct err *e)
{
	struct wire_setup w = { .type = WIRE_SETUP, .n_zygotes = (uint32_t)n };
	AUTO_FD int fd = -1;
	int r = n ? box_wire_memfd("zygotes", zygotes, &fd, e) : 0;

	if (r < 0)
		return r;
	/* A server that has gone shows when its hello is read. */
	(void)box_wire_send(sock, &w, sizeof w, &fd, fd >= 0, 0);
	return 0;
}

static int greet(struct box_server *s, struct err *e)
{
	struct pollfd p = { s->sock, POLLIN, 0 };
	int64_t until = now_ns() + START_MS * NS_PER_MS;
	int fd[WIRE_MAX_FDS], r;
	ssize_t n;

	do {
		int64_t left = (until - now_ns()) / NS_PER_MS;

		r = poll(&p, 1, left > 0 ? (int)left : 0);
	} while (r < 0 && errno == EINTR);
	if (r <= 0)
		return FAIL(e, ERR_DENIED, "cupel-boxd does not answer");
	n = box_wire_recv(s->sock, &s->hello, sizeof s->hello, fd, 0);
	if (n != sizeof s->hello || s->hello.type != WIRE_HELLO)
		return FAIL(e, ERR_DENIED, "cupel-boxd ended before it was ready");
	if (s->hello.version != WIRE_VERSION)
		return FAIL(e, ERR_DENIED, "cupel-boxd is of another version");
	if (s->hello.code)
		return FAIL(e, s->hello.code, "%s", s->hello.why);
	return 0;
}

static int start(const struct box_config *cfg, struct str zygotes, struct box_server *s,
                 struct err *e)
{
	char path[PATH_MAX];
	AUTO_FD int theirs = -1;
	int pair[2];
	pid_t pid;
	int r = find_program(cfg, path, e);

	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return FAIL(e, ERR_SYS, "socketpair: %s", strerror(errno));
	/* Out of the way of 0..3, which the server gets anew: the caller may have them closed. */
	s->sock = pair[0];
	theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, WIRE_SOCK + 1);
	(void)close(pair[1]);
	r = theirs < 0 ? FAIL(e, ERR_SYS, "socket: %s", strerror(errno))
	               : spawn(path, cfg, theirs, &pid, e);
	if (r == 0) {
		s->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
		if (s->pidfd < 0) {
			r = FAIL(e, ERR_DENIED, "pidfd_open: %s", strerror(errno));
			(void)kill(pid, SIGKILL);
			(void)waitpid(pid, NULL, 0);
		}
	}
	auto_close(&theirs); /* so that the end of the server is the end of the socket */
	theirs = -1;
	r = r < 0 ? r : send_setup(s->sock, zygotes, cfg->n_zygotes, e);
	r = r < 0 ? r : greet(s, e);
	if (r < 0)
		box_server_stop(s);
	return r;
}

/* A server that has tried namespaces in vain is in no state to try something else. */
int box_server_start(const struct box_config *cfg, struct str zygotes, struct box_server *ret,
                     struct err *e)
{
	struct box_server s = { -1, -1, { 0 } }, next = { -1, -1, { 0 } };
	struct box_config last = *cfg;
	struct err why = { 0 };
	int r = start(cfg, zygotes, &s, &why);

	if (r == ERR_DENIED && cfg->tier == BOX_AUTO && s.hello.code == r &&
	    s.hello.tier == BOX_AUTO) {
		last.tier = BOX_LANDLOCK;
		r = start(&last, zygotes, &next, e);
		if (r < 0)
			return next.hello.tier != BOX_AUTO
			               ? r
			               : FAIL(e, r, "%.100s; tier landlock: %.100s", why.msg,
			                      next.hello.why);
		(void)snprintf(
			next.hello.missing, sizeof next.hello.missing,
			"tier user needs namespaces (%.232s); what tier landlock lacks is in "
			"SECURITY.md",
			why.msg);
		s = next;
	} else if (r < 0) {
		if (e)
			*e = why;
		return r;
	}
	*ret = s;
	return 0;
}

void box_server_stop(struct box_server *s)
{
	struct pollfd p = { s->pidfd, POLLIN, 0 };
	siginfo_t si;

	if (s->sock >= 0)
		(void)close(take_fd(&s->sock));
	if (s->pidfd < 0)
		return;
	while (poll(&p, 1, STOP_MS) < 0 && errno == EINTR)
		continue;
	if (!(p.revents & POLLIN))
		(void)syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
	while (waitid((idtype_t)P_PIDFD, (id_t)s->pidfd, &si, WEXITED) < 0 && errno == EINTR)
		continue;
	(void)close(take_fd(&s->pidfd));
}
