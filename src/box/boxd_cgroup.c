/* boxd_cgroup.c - cgroups of the slots: memory, number of processes, CPU time. Version 1 (each
 * controller may be its own mount) and version 2. All is made once: a job costs two or three short
 * writes. Where the folders stand, and who removes them: boxd_cgroup_tree.c.
 */
#include "box/boxd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"

static bool put(int fd, int64_t val)
{
	char text[32];
	int n = snprintf(text, sizeof text, "%lld", (long long)val);

	return pwrite(fd, text, (size_t)n, 0) == n;
}

/* Version 1 tells an eventfd when a group is out of memory. */
static int listen_v1(const struct cg_slot *c, int mem)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	char text[32];

	(void)snprintf(text, sizeof text, "%d %d", fd, c->mem_events);
	if (fd >= 0 && cg_write(mem, "cgroup.event_control", text) < 0)
		(void)close(take_fd(&fd));
	return fd;
}

static int open_slot(struct cgroups *cg, int i, const int at[CG_MAX], struct err *e)
{
	struct cg_slot *c = &cg->slot[i];
	int dir[CG_MAX], v = cg->version;
	char name[32];

	(void)snprintf(name, sizeof name, "slot%d", i);
	for (int k = 0; k < cg->n_dirs; k++) {
		if (mkdirat(cg->dir[k].dir, name, 0755) < 0 && errno != EEXIST)
			return FAIL(e, ERR_DENIED, "cgroup %s: %s", name, strerror(errno));
		dir[k] = openat(cg->dir[k].dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		c->procs[k] = openat(dir[k], "cgroup.procs", O_WRONLY | O_CLOEXEC);
	}
	int mem = dir[at[0]], pids = dir[at[1]], cpu = dir[at[2]];

	c->mem_limit =
		openat(mem, v == 1 ? "memory.limit_in_bytes" : "memory.max", O_RDWR | O_CLOEXEC);
	c->mem_swap = openat(mem, v == 1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max",
	                     O_RDWR | O_CLOEXEC);
	c->mem_peak = openat(mem, v == 1 ? "memory.max_usage_in_bytes" : "memory.peak",
	                     O_RDWR | O_CLOEXEC);
	c->mem_now = openat(mem, v == 1 ? "memory.usage_in_bytes" : "memory.current",
	                    O_RDONLY | O_CLOEXEC);
	if (v == 2 && c->mem_peak < 0)
		c->mem_peak = openat(mem, "memory.peak", O_RDONLY | O_CLOEXEC);
	c->mem_events =
		openat(mem, v == 1 ? "memory.oom_control" : "memory.events", O_RDONLY | O_CLOEXEC);
	c->pids_max = openat(pids, "pids.max", O_RDWR | O_CLOEXEC);
	c->cpu = openat(cpu, v == 1 ? "cpuacct.usage" : "cpu.stat", O_RDONLY | O_CLOEXEC);
	c->mem_set = c->pids_set = -1;
	c->oom_event = v == 1 ? listen_v1(c, mem) : c->mem_events;
	for (int k = 0; k < cg->n_dirs; k++)
		(void)close(dir[k]);
	if (v == 2 && c->mem_swap >= 0)
		(void)put(c->mem_swap, 0);
	c->peak_resets = c->mem_peak >= 0 && put(c->mem_peak, 0);
	if (c->mem_limit < 0 || c->mem_events < 0 || c->pids_max < 0 || c->cpu < 0)
		return FAIL(e, ERR_DENIED, "cgroup %s lacks a control file", name);
	(void)cg_oom(c);
	return 0;
}

int cg_open(struct cgroups *cg, int slots, struct err *e)
{
	int at[CG_MAX] = { 0 }, r;

	*cg = (struct cgroups){ .n_slots = slots };
	cg->slot = calloc((size_t)slots, sizeof *cg->slot);
	if (!cg->slot)
		return FAIL(e, ERR_NOMEM, "%d slots", slots);
	r = cg_make(cg, at, e);
	for (int i = 0; r == 0 && i < slots; i++)
		r = open_slot(cg, i, at, e);
	if (r < 0) {
		cg_close(cg);
		cg->version = 0;
	}
	return r;
}

int cg_join(const struct cg_slot *c)
{
	for (int k = 0; k < CG_MAX && c->procs[k] > 0; k++)
		if (write(c->procs[k], "0", 1) != 1)
			return -1;
	return 0;
}

/* The first number that follows 'key' (NULL: the first at all); 0 if there is none. */
static int64_t get(int fd, const char *key)
{
	char text[4096], *p = text;
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = 0;
	while (key && (p = strstr(p, key))) {
		size_t k = strlen(key);

		if ((p == text || p[-1] == '\n') && p[k] == ' ') {
			p += k;
			break;
		}
		p += k;
	}
	return p ? strtoll(p, NULL, 10) : 0;
}

/* Memory and swap together may not exceed the limit: swap first when it grows, last when it
 * shrinks.
 */
static bool set_memory(struct cg_slot *c, int64_t bytes, bool v1_swap)
{
	bool ok;

	if (c->mem_set == bytes)
		return true;
	ok = put(c->mem_limit, bytes);
	if (v1_swap)
		(void)put(c->mem_swap, bytes);
	if (!ok)
		ok = put(c->mem_limit, bytes);
	c->mem_set = ok ? bytes : -1;
	return ok;
}

int cg_prepare(struct cg_slot *c, const struct box_limits *l, const struct idle *idle,
               struct err *e)
{
	int procs = l->procs + idle->procs;
	int64_t mem = l->mem_bytes + idle->bytes;
	bool v1_swap = c->mem_swap >= 0 && get(c->mem_swap, NULL) > 0;

	if (!set_memory(c, mem, v1_swap))
		return FAIL(e, ERR_SYS, "cgroup memory limit %lld: %s", (long long)mem,
		            strerror(errno));
	if (c->pids_set != procs && !put(c->pids_max, procs))
		return FAIL(e, ERR_SYS, "cgroup pids limit: %s", strerror(errno));
	c->pids_set = procs;
	if (c->peak_resets)
		(void)put(c->mem_peak, 0);
	else
		c->peak_before = get(c->mem_peak, NULL);
	if (c->oom_event >= 0)
		(void)cg_oom_event(c); /* of the job before */
	return 0;
}

int64_t cg_now(const struct cg_slot *c)
{
	return get(c->mem_now, NULL);
}

int64_t cg_peak(const struct cg_slot *c)
{
	int64_t peak = get(c->mem_peak, NULL);

	return c->peak_resets || peak > c->peak_before ? peak : 0;
}

bool cg_oom(struct cg_slot *c)
{
	int64_t n = get(c->mem_events, "oom_kill");
	bool more = n > c->oom_kills;

	c->oom_kills = n;
	return more;
}

bool cg_oom_event(struct cg_slot *c)
{
	uint64_t n;

	if (c->oom_event == c->mem_events)
		return cg_oom(c);
	return read(c->oom_event, &n, sizeof n) == sizeof n; /* before the count goes up */
}
