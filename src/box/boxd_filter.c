/* boxd_filter.c - which system calls a program may make.
 *
 * Every call that libseccomp knows and that was looked at for this list (up to REVIEWED) is
 * allowed unless it stands below; newer ones do not exist (ENOSYS), nor do those of a foreign
 * architecture or of x32, which kill. Killed is what no honest program does: the result then says
 * so (BOX_DENIED). What honest programs probe, and handle when it is refused, gets an error number.
 * The terminal ioctls (TIOCSTI) need no rule: there is no terminal in a box.
 *
 * libseccomp gives the numbers; the program is made here, as a binary tree over runs of numbers
 * with the same answer: the kernel translates it anew for each box, and the 526 instructions that
 * libseccomp makes for the same list cost 0.25 ms each time, these about a quarter of that.
 */
#include "box/boxd.h"

#include <assert.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
	REVIEWED = 450,    /* set_mempolicy_home_node */
	NUMBERS = 512,     /* what lies above does not exist */
	FILTER_MAX = 4096, /* instructions */
	X32 = 0x40000000,
};

/* Answers: the first are one instruction, the others look at an argument. */
enum answer {
	ALLOW,
	KILL,
	NO,
	NONE,
	NO_FAMILY,
	BY_CLONE,
	BY_UNSHARE,
	BY_SOCKET,
	BY_PERSONA,
	BY_SELF,
	BY_PRIORITY,
	BY_IOCTL,
	N_ANSWERS
};

static const struct {
	const char *name;
	enum answer answer;
} denied[] = {
	/* other processes */
	{ "ptrace", KILL },
	{ "process_vm_readv", KILL },
	{ "process_vm_writev", KILL },
	{ "kcmp", NO },
	{ "pidfd_getfd", NO },
	{ "process_madvise", NO },
	{ "process_mrelease", NO },
	{ "migrate_pages", NO },
	{ "move_pages", NO },
	/* ours may have the same user id; the number of another process is refused */
	{ "prlimit64", BY_SELF },
	{ "sched_setaffinity", BY_SELF },
	{ "sched_setattr", BY_SELF },
	{ "sched_setparam", BY_SELF },
	{ "sched_setscheduler", BY_SELF },
	{ "setpriority", BY_PRIORITY },
	{ "ioprio_set", NO },
	/* marks on folders that outlive a job of a zygote */
	{ "setxattr", NO },
	{ "lsetxattr", NO },
	{ "fsetxattr", NO },
	{ "ioctl", BY_IOCTL },
	/* namespaces and mounts; clone3 hides its flags from a filter */
	{ "setns", KILL },
	{ "unshare", BY_UNSHARE },
	{ "clone", BY_CLONE },
	{ "clone3", NONE },
	{ "mount", KILL },
	{ "umount", KILL },
	{ "umount2", KILL },
	{ "pivot_root", KILL },
	{ "fsopen", KILL },
	{ "fsconfig", KILL },
	{ "fsmount", KILL },
	{ "fspick", KILL },
	{ "move_mount", KILL },
	{ "open_tree", KILL },
	{ "mount_setattr", KILL },
	{ "chroot", NO },
	{ "open_by_handle_at", KILL },
	{ "name_to_handle_at", NO },
	/* kernel and machine */
	{ "bpf", KILL },
	{ "kexec_load", KILL },
	{ "kexec_file_load", KILL },
	{ "init_module", KILL },
	{ "finit_module", KILL },
	{ "delete_module", KILL },
	{ "create_module", NONE },
	{ "get_kernel_syms", NONE },
	{ "query_module", NONE },
	{ "reboot", KILL },
	{ "swapon", KILL },
	{ "swapoff", KILL },
	{ "iopl", KILL },
	{ "ioperm", KILL },
	{ "modify_ldt", NO },
	{ "vm86", NONE },
	{ "vm86old", NONE },
	{ "personality", BY_PERSONA },
	{ "acct", NO },
	{ "vhangup", NO },
	{ "quotactl", NO },
	{ "quotactl_fd", NO },
	{ "syslog", NO },
	{ "sethostname", NO },
	{ "setdomainname", NO },
	{ "settimeofday", NO },
	{ "stime", NO },
	{ "clock_settime", NO },
	{ "clock_settime64", NO },
	{ "adjtimex", NO },
	{ "clock_adjtime", NO },
	{ "clock_adjtime64", NO },
	{ "lookup_dcookie", NO },
	{ "nfsservctl", NONE },
	{ "uselib", NONE },
	{ "_sysctl", NONE },
	{ "sysfs", NONE },
	{ "ustat", NONE },
	{ "afs_syscall", NONE },
	{ "fanotify_init", NO },
	/* large surfaces; the key rings of a user outlive a box */
	{ "io_uring_setup", NONE },
	{ "io_uring_enter", NONE },
	{ "io_uring_register", NONE },
	{ "userfaultfd", NO },
	{ "perf_event_open", NO },
	{ "add_key", NO },
	{ "request_key", NO },
	{ "keyctl", NO },
	{ "memfd_secret", NONE },
	/* the network: only sockets inside the box */
	{ "socket", BY_SOCKET },
};

/* Newer than REVIEWED and harmless: cachestat, fchmodat2, map_shadow_stack, futex_wake,
 * futex_wait, futex_requeue, mseal. These numbers are the same on every architecture.
 */
static const int newer[] = { 451, 452, 453, 454, 455, 456, 462 };

/* What would outlive a program: memory that no process holds (SHM), and all of it (IPC) where the
 * namespace is shared by the jobs of a zygote.
 */
static bool is_ipc(const char *name, enum filter_ipc ipc)
{
	static const char *const call[] = { "shmget", "semget", "msgget", "mq_open" };
	size_t n = ipc == FILTER_ALL_IPC ? 0 : ipc == FILTER_NO_SHM ? 1 : 4;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, call[i]))
			return true;
	return false;
}

static enum answer answer_of(int nr, enum filter_ipc ipc)
{
	enum answer a = NONE;
	char *name;

	for (size_t i = 0; i < sizeof newer / sizeof newer[0]; i++)
		if (nr == newer[i])
			return ALLOW;
	name = nr <= REVIEWED ? seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr) : NULL;
	if (name)
		a = is_ipc(name, ipc) ? NONE : ALLOW;
	for (size_t i = 0; name && i < sizeof denied / sizeof denied[0]; i++)
		if (!strcmp(name, denied[i].name))
			a = denied[i].answer;
	free(name);
	return a;
}

/* Numbers first..(first of the next run - 1) have the same answer. */
struct run {
	uint32_t first;
	enum answer answer;
};

struct prog {
	struct sock_filter f[FILTER_MAX];
	unsigned n;
	/* jumps to an answer, whose place is not known yet: answer + 1, or 0 */
	uint8_t jt_to[FILTER_MAX], jf_to[FILTER_MAX];
};

static unsigned put(struct prog *p, struct sock_filter f)
{
	assert(p->n < FILTER_MAX);
	p->f[p->n] = f;
	return p->n++;
}

static uint8_t distance(unsigned from, unsigned to)
{
	assert(to > from && to - from - 1 <= UINT8_MAX);
	return (uint8_t)(to - from - 1);
}

/* The accumulator holds the number, which lies in one of runs lo..hi - 1 (two at least). */
static void put_tree(struct prog *p, const struct run *r, int lo, int hi)
{
	int mid = (lo + hi) / 2;
	unsigned at =
		put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, r[mid].first, 0, 0));

	if (mid - lo == 1)
		p->jf_to[at] = (uint8_t)(r[lo].answer + 1);
	else
		put_tree(p, r, lo, mid);
	if (hi - mid == 1) {
		p->jt_to[at] = (uint8_t)(r[mid].answer + 1);
		return;
	}
	p->f[at].jt = distance(at, p->n);
	put_tree(p, r, mid, hi);
}

static void put_return(struct prog *p, uint32_t action)
{
	(void)put(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* Arguments that these calls take have 32 bits; the kernel ignores or refuses the upper half. */
static void put_load_arg(struct prog *p, int i)
{
	uint32_t off = offsetof(struct seccomp_data, args) + 8 * (uint32_t)i;

	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		off += 4;
	(void)put(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, off));
}

static void put_answer(struct prog *p, enum answer a)
{
	static const uint32_t persona[] = { 0, 0x40000 /* ADDR_NO_RANDOMIZE */, 0xffffffff };
	/* FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR */
	static const uint32_t set_flags[] = { 0x40086602, 0x401c5820 };
	const uint32_t spaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
	                        CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
	const uint32_t new_time = 0x80; /* CLONE_NEWTIME; for clone() a part of the signal */
	uint32_t mask = a == BY_UNSHARE ? spaces | new_time : spaces;

	switch (a) {
	case ALLOW:
		put_return(p, SECCOMP_RET_ALLOW);
		return;
	case KILL:
		put_return(p, SECCOMP_RET_KILL_PROCESS);
		return;
	case NO:
		put_return(p, SECCOMP_RET_ERRNO | EPERM);
		return;
	case NONE:
		put_return(p, SECCOMP_RET_ERRNO | ENOSYS);
		return;
	case NO_FAMILY:
		put_return(p, SECCOMP_RET_ERRNO | EAFNOSUPPORT);
		return;
	case BY_CLONE:
	case BY_UNSHARE:
		put_load_arg(p, 0);
		(void)put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 0, 1));
		put_return(p, SECCOMP_RET_KILL_PROCESS);
		put_return(p, SECCOMP_RET_ALLOW);
		return;
	case BY_SOCKET:
		put_load_arg(p, 0);
		(void)put(p,
		          (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 1));
		put_return(p, SECCOMP_RET_ALLOW);
		put_return(p, SECCOMP_RET_ERRNO | EAFNOSUPPORT);
		return;
	case BY_PERSONA:
		put_load_arg(p, 0);
		for (uint8_t i = 0; i < 3; i++)
			(void)put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			                                          persona[i], 3 - i, 0));
		put_return(p, SECCOMP_RET_ERRNO | EPERM);
		put_return(p, SECCOMP_RET_ALLOW);
		return;
	case BY_PRIORITY:
		put_load_arg(p, 1);
		(void)put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
		put_return(p, SECCOMP_RET_ERRNO | EPERM);
		__attribute__((fallthrough)); /* and the first is PRIO_PROCESS, 0 as well */
	case BY_SELF:
		put_load_arg(p, 0);
		(void)put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1));
		put_return(p, SECCOMP_RET_ALLOW);
		put_return(p, SECCOMP_RET_ERRNO | EPERM);
		return;
	case BY_IOCTL:
		put_load_arg(p, 1);
		for (uint8_t i = 0; i < 2; i++)
			(void)put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			                                          set_flags[i], 2 - i, 0));
		put_return(p, SECCOMP_RET_ALLOW);
		put_return(p, SECCOMP_RET_ERRNO | EPERM);
		return;
	case N_ANSWERS:
		break;
	}
	assert(!"an answer");
}

static void resolve(struct prog *p, unsigned n_tree, const unsigned at[N_ANSWERS])
{
	for (unsigned i = 0; i < n_tree; i++) {
		if (p->jt_to[i])
			p->f[i].jt = distance(i, at[p->jt_to[i] - 1]);
		if (p->jf_to[i])
			p->f[i].jf = distance(i, at[p->jf_to[i] - 1]);
	}
}

static void make(struct prog *p, enum filter_ipc ipc)
{
	struct run run[NUMBERS + 3];
	unsigned at[N_ANSWERS], n_tree, i;
	int n = 0;

	for (int nr = 0; nr < NUMBERS; nr++) {
		enum answer a = answer_of(nr, ipc);

		if (n == 0 || run[n - 1].answer != a)
			run[n++] = (struct run){ (uint32_t)nr, a };
	}
	if (run[n - 1].answer != NONE)
		run[n++] = (struct run){ NUMBERS, NONE };
	run[n++] = (struct run){ X32, KILL };
	(void)put(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                          offsetof(struct seccomp_data, arch)));
	i = put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, seccomp_arch_native(), 0,
	                                        0));
	p->jf_to[i] = KILL + 1;
	(void)put(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                          offsetof(struct seccomp_data, nr)));
	put_tree(p, run, 0, n);
	n_tree = p->n;
	for (int a = 0; a < N_ANSWERS; a++) {
		at[a] = p->n;
		put_answer(p, (enum answer)a);
	}
	resolve(p, n_tree, at);
}

int filter_make(enum filter_ipc ipc, struct sock_fprog *ret, struct err *e)
{
	struct prog *p = calloc(1, sizeof *p);
	struct sock_filter *f;

	if (!p)
		return FAIL(e, ERR_NOMEM, "system-call filter");
	make(p, ipc);
	f = malloc(p->n * sizeof *f);
	if (f)
		memcpy(f, p->f, p->n * sizeof *f);
	*ret = (struct sock_fprog){ (unsigned short)p->n, f };
	free(p);
	return f ? 0 : FAIL(e, ERR_NOMEM, "system-call filter");
}
