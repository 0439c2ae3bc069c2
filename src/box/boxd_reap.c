/* boxd_reap.c - kills and reaps what is left of a job, for whoever is the parent of its processes:
 * the init of a box, or a zygote.
 */
#include "box/boxd.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"

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

int64_t reap_children(void)
{
	struct rusage ru;
	char text[4096], *p;
	int64_t ns = 0;

	for (int i = 0; i < 1000; i++) {
		AUTO_FD int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
		size_t n = 0;

		if (fd < 0 || io_read(fd, text, sizeof text - 1, &n, NULL) < 0 || n == 0)
			break;
		text[n] = 0;
		for (p = text; *p;) {
			long pid = strtol(p, &p, 10);

			if (pid <= 1)
				return ns;
			(void)kill((pid_t)pid, SIGKILL);
			p += strspn(p, " ");
		}
		if (wait4(-1, NULL, __WALL, &ru) > 0)
			ns += rusage_ns(&ru);
	}
	return ns;
}
