/* boxd_reap.c - kills and reaps what is left of a job in a PID namespace, for its init: that of a
 * box, or a zygote. boxd_tree.c does the same without one.
 */
#include "box/boxd.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

int64_t rusage_ns(const struct rusage *ru)
{
	return (ru->ru_utime.tv_sec + ru->ru_stime.tv_sec) * NS_PER_S +
	       (ru->ru_utime.tv_usec + ru->ru_stime.tv_usec) * 1000;
}

int64_t children_ns(void)
{
	struct rusage ru;

	return getrusage(RUSAGE_CHILDREN, &ru) == 0 ? rusage_ns(&ru) : 0;
}

/* As PID 1, "all" ends at the border of the namespace; anywhere else it would be every process of
 * the machine.
 */
int64_t reap_all(void)
{
	struct rusage ru;
	int64_t ns = 0;

	if (getpid() != 1)
		return 0;
	do
		(void)kill(-1, SIGKILL);
	while (wait4(-1, NULL, __WALL, &ru) > 0 && (ns += rusage_ns(&ru), true));
	return ns;
}
