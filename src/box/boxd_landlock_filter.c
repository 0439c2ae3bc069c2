/* boxd_landlock_filter.c - the system calls that tier landlock refuses beside those of
 * boxd_filter.c. In other tiers namespaces and read-only mounts make them harmless.
 *
 * Both filters hold: what either refuses is refused, and the other one stops foreign architectures
 * and numbers that nobody looked at. Here every call that is not listed is allowed.
 */
#include "box/boxd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>

enum { FILTER_MAX = 512, NO_MODE = 3 /* neither reading nor writing, but ioctl() */ };

enum rule {
	REFUSE,  /* EPERM */
	MISSING, /* ENOSYS */
	FOREIGN, /* ENOTSUP */
	NO_FAMILY,
	BY_PAIR,
	BY_ADDRESS,
	BY_FCNTL,
	BY_OPEN,   /* flags are the second argument */
	BY_OPENAT, /* the third */
	BY_IOCTL,
	BEFORE_3, /* of Landlock: refused there */
};

static const struct {
	const char *name;
	enum rule rule;
} list[] = {
	/* Sockets with names: those of the host's services are files, which Landlock does not keep
	 * anybody from. A pair is connected already; one of datagrams could send elsewhere.
	 */
	{ "socket", NO_FAMILY },
	{ "socketpair", BY_PAIR },
	{ "connect", REFUSE },
	{ "bind", REFUSE },
	{ "listen", REFUSE },
	{ "accept", REFUSE },
	{ "accept4", REFUSE },
	{ "sendto", BY_ADDRESS },
	/* The host's IPC namespace: new things (boxd_filter.c) and those that are there. */
	{ "shmat", MISSING },
	{ "shmctl", MISSING },
	{ "semctl", MISSING },
	{ "semop", MISSING },
	{ "semtimedop", MISSING },
	{ "msgctl", MISSING },
	{ "msgsnd", MISSING },
	{ "msgrcv", MISSING },
	{ "mq_unlink", MISSING },
	/* Files that a program may not open, or only read. */
	{ "open", BY_OPEN },
	{ "openat", BY_OPENAT },
	{ "openat2", MISSING }, /* hides its flags */
	{ "truncate", BEFORE_3 },
	{ "fcntl", BY_FCNTL },
	{ "ioctl", BY_IOCTL },
	{ "inotify_add_watch", REFUSE },
	{ "getxattr", FOREIGN },
	{ "lgetxattr", FOREIGN },
	{ "fgetxattr", FOREIGN },
	{ "listxattr", FOREIGN },
	{ "llistxattr", FOREIGN },
	{ "flistxattr", FOREIGN },
};

struct prog {
	struct sock_filter f[FILTER_MAX];
	unsigned short n;
};

static void put(struct prog *p, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	p->f[p->n++] = (struct sock_filter){ code, jt, jf, k };
}

static void put_return(struct prog *p, uint32_t action)
{
	put(p, BPF_RET | BPF_K, action, 0, 0);
}

static void put_load(struct prog *p, int arg, bool high)
{
	bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	put(p, BPF_LD | BPF_W | BPF_ABS,
	    (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)arg +
	               (high != big ? 4 : 0)),
	    0, 0);
}

/* Allowed if the accumulator is one of n values; if not, 'action'. */
static void put_one_of(struct prog *p, const uint32_t *val, int n, uint32_t action)
{
	for (int i = 0; i < n; i++)
		put(p, BPF_JMP | BPF_JEQ | BPF_K, val[i], (uint8_t)(n - i), 0);
	put_return(p, action);
	put_return(p, SECCOMP_RET_ALLOW);
}

/* The other way round. */
static void put_none_of(struct prog *p, const uint32_t *val, int n, uint32_t action)
{
	for (int i = 0; i < n; i++)
		put(p, BPF_JMP | BPF_JEQ | BPF_K, val[i], (uint8_t)(n - i), 0);
	put_return(p, SECCOMP_RET_ALLOW);
	put_return(p, action);
}

/* Before version 3 of Landlock, O_TRUNC with O_RDONLY empties what may only be read. */
static void put_open(struct prog *p, int arg, int version)
{
	static const uint32_t bad[] = { NO_MODE, NO_MODE | O_TRUNC, O_TRUNC };

	put_load(p, arg, false);
	put(p, BPF_ALU | BPF_AND | BPF_K, O_ACCMODE | O_TRUNC, 0, 0);
	put_none_of(p, bad, version < 3 ? 3 : 2, SECCOMP_RET_ERRNO | EACCES);
}

static void put_rule(struct prog *p, enum rule rule, int version)
{
	/* of a process or group that gets signals: any; leases stop whoever opens a file */
	static const uint32_t control[] = { F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY };
	static const uint32_t io[] = { TCGETS,  TIOCGWINSZ, TIOCGPGRP, FIONREAD,
		                       FIONBIO, FIOCLEX,    FIONCLEX,  FIOASYNC };
	static const uint32_t stream[] = { SOCK_STREAM, SOCK_SEQPACKET };

	switch (rule) {
	case REFUSE:
	case BEFORE_3:
		put_return(p, SECCOMP_RET_ERRNO | EPERM);
		break;
	case MISSING:
		put_return(p, SECCOMP_RET_ERRNO | ENOSYS);
		break;
	case FOREIGN:
		put_return(p, SECCOMP_RET_ERRNO | ENOTSUP);
		break;
	case NO_FAMILY:
		put_return(p, SECCOMP_RET_ERRNO | EAFNOSUPPORT);
		break;
	case BY_PAIR:
		put_load(p, 0, false);
		put(p, BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0);
		put_return(p, SECCOMP_RET_ERRNO | EAFNOSUPPORT);
		put_load(p, 1, false);
		put(p, BPF_ALU | BPF_AND | BPF_K, 0xf, 0, 0);
		put_one_of(p, stream, 2, SECCOMP_RET_ERRNO | EAFNOSUPPORT);
		break;
	case BY_ADDRESS:
		put_load(p, 4, false);
		put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
		put_load(p, 4, true);
		put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
		put_return(p, SECCOMP_RET_ALLOW);
		put_return(p, SECCOMP_RET_ERRNO | EPERM);
		break;
	case BY_FCNTL:
		put_load(p, 1, false);
		put_none_of(p, control, 5, SECCOMP_RET_ERRNO | EPERM);
		break;
	case BY_OPEN:
	case BY_OPENAT:
		put_open(p, rule == BY_OPEN ? 1 : 2, version);
		break;
	case BY_IOCTL:
		put_load(p, 1, false);
		put_one_of(p, io, 8, SECCOMP_RET_ERRNO | ENOTTY);
		break;
	}
}

int landlock_filter_make(int version, struct sock_fprog *ret, struct err *e)
{
	struct prog *p = calloc(1, sizeof *p);
	struct sock_filter *f;

	if (!p)
		return FAIL(e, ERR_NOMEM, "system-call filter");
	put(p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
		int nr = strcmp(list[i].name, "openat2")
		                 ? seccomp_syscall_resolve_name(list[i].name)
		                 : 437;
		unsigned at = p->n;

		if (nr < 0 || (list[i].rule == BEFORE_3 && version >= 3))
			continue; /* not on this architecture */
		put(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 0);
		put_rule(p, list[i].rule, version);
		p->f[at].jf = (uint8_t)(p->n - at - 1);
	}
	put_return(p, SECCOMP_RET_ALLOW);
	f = malloc(p->n * sizeof *f);
	if (f)
		memcpy(f, p->f, p->n * sizeof *f);
	*ret = (struct sock_fprog){ p->n, f };
	free(p);
	return f ? 0 : FAIL(e, ERR_NOMEM, "system-call filter");
}
