/* boxd_meter.c - memory and CPU time of a box without a cgroup, read by its init from the box's
 * own /proc, which shows its processes only.
 *
 *	cpu = sum over living processes of (own + reaped children) + what init has reaped
 *
 * Holes, which SECURITY.md names: children whose parent ignores SIGCHLD take their CPU time with
 * them; memory that no process has mapped (memfd, System V) is not seen.
 */
#include "box/boxd.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"

int64_t cg_cpu_ns(int fd)
{
	char text[256];
	ssize_t n = pread(fd, text, sizeof text - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = 0;
	if (!strncmp(text, "usage_usec ", 11)) /* version 2 */
		return strtoll(text + 11, NULL, 10) * 1000;
	return strtoll(text, NULL, 10);
}

struct meter {
	int64_t rss_bytes, cpu_ns;
	int n;
};

static bool slurp(const char *pid, const char *name, char *text, size_t room)
{
	char path[64];
	AUTO_FD int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof path, "/proc/%.20s/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, room - 1);
	text[n < 0 ? 0 : n] = 0;
	return n > 0;
}

/* Fields 14..17 (ticks of user, system, children's user, children's system) and 24 (pages). */
static void add_process(const char *pid, struct meter *m)
{
	static int64_t tick_ns, page;
	char text[1024], *p;

	if (!tick_ns) {
		tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
		page = sysconf(_SC_PAGESIZE);
	}
	if (!slurp(pid, "stat", text, sizeof text))
		return;
	p = strrchr(text, ')');
	for (int i = 3; p && i <= 24; i++) {
		p = strchr(p + 1, ' ');
		if (p && i >= 14 && i <= 17)
			m->cpu_ns += strtoll(p, NULL, 10) * tick_ns;
		if (p && i == 24)
			m->rss_bytes += strtoll(p, NULL, 10) * page;
	}
	m->n++;
}

static int64_t files_bytes(void)
{
	struct statvfs v; /* the tmpfs of /box, which holds /tmp and /dev/shm as well */

	if (statvfs("/box", &v) < 0)
		return 0;
	return (int64_t)(v.f_blocks - v.f_bfree) * (int64_t)v.f_frsize;
}

static void meter_look(struct meter *ret)
{
	struct meter m = { .rss_bytes = files_bytes() };
	DIR *d = opendir("/proc");

	for (struct dirent *f; d && (f = readdir(d));)
		if (isdigit((unsigned char)f->d_name[0]) && strcmp(f->d_name, "1"))
			add_process(f->d_name, &m);
	if (d)
		(void)closedir(d);
	*ret = m;
}

static int64_t meter_pss(void)
{
	int64_t sum = files_bytes();
	DIR *d = opendir("/proc");

	for (struct dirent *f; d && (f = readdir(d));) {
		char text[4096], *p;

		if (!isdigit((unsigned char)f->d_name[0]) || !strcmp(f->d_name, "1"))
			continue;
		if (slurp(f->d_name, "smaps_rollup", text, sizeof text) &&
		    (p = strstr(text, "\nPss:")))
			sum += strtoll(p + 5, NULL, 10) * 1024;
		else if (slurp(f->d_name, "statm", text, sizeof text) && (p = strchr(text, ' ')))
			sum += strtoll(p, NULL, 10) * sysconf(_SC_PAGESIZE);
	}
	if (d)
		(void)closedir(d);
	return sum;
}

bool meter_over(struct slot_page *p, const struct box_limits *l, int64_t reaped_ns)
{
	struct meter m;

	meter_look(&m);
	m.cpu_ns += reaped_ns;
	if (m.rss_bytes > l->mem_bytes)
		m.rss_bytes = meter_pss();
	if (m.rss_bytes > p->peak_bytes)
		p->peak_bytes = m.rss_bytes;
	p->cpu_end_ns = m.cpu_ns;
	if (m.rss_bytes > l->mem_bytes)
		p->over = BOX_MEM_LIMIT;
	else if (p->start_ns && m.cpu_ns - p->cpu_base_ns > l->cpu_ns)
		p->over = BOX_CPU_LIMIT;
	return p->over;
}
