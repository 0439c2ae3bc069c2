/* inject.c - preloaded into cupel or cupel-boxd: the N-th call of one function fails, once, in the
 * first process in which it comes. INJECT=NAME:N, NAME one of the functions below. It leaves the
 * file INJECT_LOG, which also tells the processes that follow.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int calls;
static int nth;
static char wanted[32];

__attribute__((constructor)) static void start(void)
{
	const char *s = getenv("INJECT"), *colon = s ? strchr(s, ':') : NULL;

	if (!colon || (size_t)(colon - s) >= sizeof wanted)
		return;
	if (getenv("INJECT_LOG") && access(getenv("INJECT_LOG"), F_OK) == 0)
		return;
	memcpy(wanted, s, (size_t)(colon - s));
	nth = (int)strtol(colon + 1, NULL, 10);
}

static int fails(const char *name)
{
	const char *log;
	int fd;

	if (!nth || strcmp(name, wanted) != 0 || atomic_fetch_add(&calls, 1) + 1 != nth)
		return 0;
	log = getenv("INJECT_LOG");
	fd = log ? (int)syscall(SYS_open, log, O_WRONLY | O_APPEND | O_CREAT, 0666) : -1;
	if (fd >= 0) {
		(void)!syscall(SYS_write, fd, "failed\n", 7);
		(void)syscall(SYS_close, fd);
	}
	return 1;
}

#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))
#define WRAP(ret, name, params, args, bad, sys)                                                    \
	ret name params                                                                            \
	{                                                                                          \
		static typeof(&name) real;                                                         \
                                                                                                   \
		if (fails(#name)) {                                                                \
			errno = sys;                                                               \
			return bad;                                                                \
		}                                                                                  \
		real = real ? real : REAL(name);                                                   \
		return real args;                                                                  \
	}

WRAP(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n), -1, ENOSPC)
WRAP(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at), -1, EIO)
WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags), -1, ENOBUFS)
WRAP(int, pipe2, (int p[2], int flags), (p, flags), -1, EMFILE)
WRAP(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1, EMFILE)
WRAP(int, socketpair, (int a, int b, int c, int p[2]), (a, b, c, p), -1, EMFILE)
WRAP(int, epoll_ctl, (int a, int b, int c, struct epoll_event *e), (a, b, c, e), -1, ENOMEM)
WRAP(int, mount, (const char *a, const char *b, const char *c, unsigned long f, const void *d),
     (a, b, c, f, d), -1, ENOMEM)
WRAP(void *, mmap, (void *a, size_t n, int p, int f, int fd, off_t at), (a, n, p, f, fd, at),
     MAP_FAILED, ENOMEM)
WRAP(pid_t, fork, (void), (), -1, EAGAIN)

/* clone, seccomp, close_range and the like go this way. */
long syscall(long nr, ...)
{
	static typeof(&syscall) real;
	long a[6];
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	real = real ? real : REAL(syscall);
	if ((nr == SYS_clone && fails("clone")) || (nr == SYS_seccomp && fails("seccomp"))) {
		errno = EAGAIN;
		return -1;
	}
	return real(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

void *malloc(size_t n)
{
	extern void *__libc_malloc(size_t);

	if (fails("malloc")) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	extern void *__libc_calloc(size_t, size_t);

	if (fails("malloc")) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	extern void *__libc_realloc(void *, size_t);

	if (fails("malloc")) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(p, n);
}
