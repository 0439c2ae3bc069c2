/* boxd_filter.c - which system calls a program may make.
 *
 * Every call that libseccomp knows and that was looked at for this list (up to REVIEWED) is
 * allowed unless it stands below; newer ones do not exist (ENOSYS), nor do those of a foreign
 * architecture or of x32, which kill. Killed is what no honest program does: the result then says
 * so (BOX_DENIED). What honest programs probe, and handle when it is refused, gets an error number.
 * The terminal ioctls (TIOCSTI) need no rule: there is no terminal in a box.
 */
#include "box/boxd.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"

enum { REVIEWED = 450 /* set_mempolicy_home_node */, FILTER_MAX = 4096 };

#define KILL SCMP_ACT_KILL_PROCESS
#define NO   SCMP_ACT_ERRNO(EPERM)
#define NONE SCMP_ACT_ERRNO(ENOSYS) /* also the default */
#define ARGS 0                      /* by its arguments, below */

static const struct {
	const char *name;
	uint32_t action;
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
	/* namespaces and mounts; clone3 hides its flags from a filter */
	{ "setns", KILL },
	{ "unshare", ARGS },
	{ "clone", ARGS },
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
	{ "personality", ARGS },
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
	{ "socket", ARGS },
};

/* Newer than REVIEWED and harmless: cachestat, fchmodat2, map_shadow_stack, futex_wake,
 * futex_wait, futex_requeue, mseal. These numbers are the same on every architecture.
 */
static const int newer[] = { 451, 452, 453, 454, 455, 456, 462 };

static int action_of(int nr, bool no_sysv_shm, uint32_t *ret)
{
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);
	int found = name != NULL;

	*ret = SCMP_ACT_ALLOW;
	for (size_t i = 0; name && i < sizeof denied / sizeof denied[0]; i++)
		if (!strcmp(name, denied[i].name))
			*ret = denied[i].action;
	if (name && no_sysv_shm && !strcmp(name, "shmget"))
		*ret = NONE;
	free(name);
	return found;
}

/* clone() and unshare() as far as they make no namespace */
static int add_clone(scmp_filter_ctx c, int nr, bool is_clone)
{
	static const unsigned long flags[] = { CLONE_NEWNS,   CLONE_NEWCGROUP,
		                               CLONE_NEWUTS,  CLONE_NEWIPC,
		                               CLONE_NEWUSER, CLONE_NEWPID,
		                               CLONE_NEWNET,  0x80 /* CLONE_NEWTIME */ };
	int n = (int)(sizeof flags / sizeof flags[0]) - is_clone, r; /* 0x80 is a signal in clone */
	unsigned long all = 0;

	for (int i = 0; i < n; i++) {
		all |= flags[i];
		r = seccomp_rule_add(c, KILL, nr, 1,
		                     SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
		if (r < 0)
			return r;
	}
	return seccomp_rule_add(c, SCMP_ACT_ALLOW, nr, 1, SCMP_A0(SCMP_CMP_MASKED_EQ, all, 0));
}

static int add_by_args(scmp_filter_ctx c, int nr)
{
	static const unsigned long persona[] = { 0, 0x40000 /* ADDR_NO_RANDOMIZE */, 0xffffffff };
	int r = 0;

	if (nr == SCMP_SYS(clone) || nr == SCMP_SYS(unshare))
		return add_clone(c, nr, nr == SCMP_SYS(clone));
	if (nr == SCMP_SYS(socket)) {
		r = seccomp_rule_add(c, SCMP_ACT_ALLOW, nr, 1, SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
		return r < 0 ? r
		             : seccomp_rule_add(c, SCMP_ACT_ERRNO(EAFNOSUPPORT), nr, 1,
		                                SCMP_A0(SCMP_CMP_NE, AF_UNIX));
	}
	for (size_t i = 0; r == 0 && i < sizeof persona / sizeof persona[0]; i++)
		r = seccomp_rule_add(c, SCMP_ACT_ALLOW, nr, 1, SCMP_A0(SCMP_CMP_EQ, persona[i]));
	return r;
}

static int add_rules(scmp_filter_ctx c, bool no_sysv_shm)
{
	int r = seccomp_attr_set(c, SCMP_FLTATR_ACT_BADARCH, KILL);

	if (r == 0)
		(void)seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* binary tree */
	for (int nr = 0; r == 0 && nr <= REVIEWED; nr++) {
		uint32_t action;

		if (!action_of(nr, no_sysv_shm, &action) || action == NONE)
			continue;
		r = action == ARGS ? add_by_args(c, nr) : seccomp_rule_add(c, action, nr, 0);
	}
	for (size_t i = 0; r == 0 && i < sizeof newer / sizeof newer[0]; i++)
		r = seccomp_rule_add(c, SCMP_ACT_ALLOW, newer[i], 0);
	return r;
}

int filter_make(bool no_sysv_shm, struct sock_fprog *ret, struct err *e)
{
	AUTO_FD int fd = memfd_create("filter", MFD_CLOEXEC);
	scmp_filter_ctx c = seccomp_init(NONE);
	struct sock_filter *f = malloc(FILTER_MAX * sizeof *f);
	size_t n = 0;
	int r = -ENOMEM;

	if (c && f && fd >= 0)
		r = add_rules(c, no_sysv_shm);
	if (r == 0)
		r = seccomp_export_bpf(c, fd);
	seccomp_release(c);
	if (r == 0 &&
	    (lseek(fd, 0, SEEK_SET) < 0 || io_read(fd, f, FILTER_MAX * sizeof *f, &n, e) < 0))
		r = -errno;
	if (r < 0 || n == 0 || n == FILTER_MAX * sizeof *f) {
		free(f);
		return FAIL(e, ERR_DENIED, "system-call filter: %s", strerror(-r));
	}
	*ret = (struct sock_fprog){ (unsigned short)(n / sizeof *f), f };
	return 0;
}
