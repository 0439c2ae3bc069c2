/* boxd_enclose.c - the last steps of tier landlock for a process that is about to belong to a
 * program: a layer of Landlock of its own, and a filter for what differs from process to process
 * or what a zygote still needs itself.
 *
 *	modes, times, marks of files   Landlock does not refuse them. Where programs have the user
 *id of whoever runs cupel, its own files could be changed: so chmod() and utime() succeed without
 *effect (programs that copy files call them and would fail otherwise), chown() fails signals before
 *version 6 of Landlock only to the program's first process, by its number
 */
#include "box/boxd.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	NR_RESTRICT_SELF = 446,
	NR_FCHMODAT2 = 452,
	RULES_MAX = 128,
	QUIET = 1,       /* no report of refusals to the kernel's log; version 7 */
	QUIET_BELOW = 4, /* nor by domains below this one */
};

static const int change[] = {
#ifdef SYS_chmod
	SYS_chmod,
#endif
#ifdef SYS_utime
	SYS_utime,
#endif
#ifdef SYS_utimes
	SYS_utimes,
#endif
#ifdef SYS_futimesat
	SYS_futimesat,
#endif
	SYS_fchmod,    SYS_fchmodat, NR_FCHMODAT2, SYS_utimensat,
};

static const int give[] = {
#ifdef SYS_chown
	SYS_chown,
#endif
#ifdef SYS_lchown
	SYS_lchown,
#endif
	SYS_fchown, SYS_fchownat, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
};

/* The first argument is a process, or group, or for the last but one a thread. */
static const int signal_to[] = { SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
	                         SYS_tkill };

struct prog {
	struct sock_filter f[RULES_MAX];
	unsigned short n;
};

static void put(struct prog *p, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	p->f[p->n++] = (struct sock_filter){ code, jt, jf, k };
}

static void put_errno(struct prog *p, int nr, int err)
{
	put(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1);
	put(p, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)err, 0, 0);
}

static void put_signal(struct prog *p, int nr, uint32_t self)
{
	uint32_t arg = offsetof(struct seccomp_data, args) +
	               (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0);

	put(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 6);
	put(p, BPF_LD | BPF_W | BPF_ABS, arg, 0, 0);
	put(p, BPF_JMP | BPF_JEQ | BPF_K, self, 3, 0);
	put(p, BPF_JMP | BPF_JEQ | BPF_K, -self, nr == SYS_kill ? 2 : 0, 0);
	put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, nr == SYS_kill, 0);
	put(p, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
	put(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/* The zygote's filter says the architecture. */
static bool set_filter(const struct rights *r)
{
	struct prog p = { .n = 0 };
	struct sock_fprog prog = { 0, p.f };
	uint32_t self = (uint32_t)syscall(SYS_getpid);

	put(&p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	for (size_t i = 0; !r->slot_ids && i < sizeof change / sizeof change[0]; i++)
		put_errno(&p, change[i], 0);
	for (size_t i = 0; !r->slot_ids && i < sizeof give / sizeof give[0]; i++)
		put_errno(&p, give[i], EPERM);
	for (size_t i = 0; r->landlock < 6 && i < sizeof signal_to / sizeof signal_to[0]; i++)
		put_signal(&p, signal_to[i], self);
	if (r->landlock < 6)
		put_errno(&p, SYS_pidfd_send_signal, EPERM);
	put(&p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	prog.len = p.n;
	return p.n == 2 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == 0;
}

static bool add_layer(const struct rights *r, int rules, unsigned flags)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(NR_RESTRICT_SELF, rules, r->landlock >= 7 ? flags : 0) == 0;
}

bool enclose_zygote(const struct rights *r, int rules)
{
	return add_layer(r, rules, QUIET | QUIET_BELOW);
}

bool enclose(const struct rights *r, int rules)
{
	return add_layer(r, rules, QUIET) && set_filter(r);
}
