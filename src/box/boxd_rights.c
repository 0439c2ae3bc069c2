/* boxd_rights.c - limits and the loss of all rights, for processes that are about to belong to a
 * program: the payload of a box (boxd_payload.c) and the forks of a zygote (zygote_child.c).
 */
#include "box/boxd.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

enum { FILES_OPEN = 256, CAPS = 64 };

/* Both limits, but never above the hard limit that we were started with. */
static bool limit(int what, int64_t val)
{
	struct rlimit old, r;

	if (getrlimit((__rlimit_resource_t)what, &old) < 0)
		return false;
	r.rlim_cur = r.rlim_max = (rlim_t)val < old.rlim_max ? (rlim_t)val : old.rlim_max;
	return setrlimit((__rlimit_resource_t)what, &r) == 0;
}

/* Address space is not limited: run times reserve much more than they use. The kernel counts ticks
 * for RLIMIT_CPU and on a busy machine it may be a third ahead of the CPU time: where that is
 * measured the limit only stands behind it.
 */
bool rights_limit(const struct rights *r, const struct box_limits *l)
{
	int64_t data = l->mem_bytes, cpu_s = l->cpu_ns / NS_PER_S;

	if (r->polls && !r->no_proc) /* memory grows between two looks */
		data = 4 * l->mem_bytes + (INT64_C(2) << 30);
	return limit(RLIMIT_CPU, r->none ? cpu_s + 2 : 2 * cpu_s + 5) &&
	       limit(RLIMIT_FSIZE, l->disk_bytes) && limit(RLIMIT_CORE, 0) &&
	       limit(RLIMIT_NOFILE, FILES_OPEN) && limit(RLIMIT_STACK, l->stack_bytes) &&
	       (!r->polls || limit(RLIMIT_DATA, data)) &&
	       (!r->polls || r->none ||
	        limit(RLIMIT_NPROC, r->max_tasks ? (int64_t)r->max_tasks : l->procs + r->ours));
}

void drop_bounding_set(uint64_t keep)
{
	for (int i = 0; i < CAPS; i++)
		if (!(keep >> i & 1) && prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0)
			return;
}

bool rights_drop(const struct rights *r)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { { 0 } };
	unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
	                     SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
	                     SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	if (r->none)
		return true;
	drop_bounding_set(0);
	/* Without namespaces we may have had no rights from the start. */
	return (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) == 0 || r->landlock) &&
	       (!r->slot_ids || (setgroups(0, NULL) == 0 && setresgid(r->id, r->id, r->id) == 0 &&
	                         setresuid(r->id, r->id, r->id) == 0)) &&
	       syscall(SYS_capset, &head, none) == 0;
}
