/* boxd_cgroup.c - cgroups of the slots: memory, number of processes, CPU time. Version 1 (each
 * controller may be its own mount) and version 2 (a subtree that we may write to).
 *
 * Under the cgroup of the caller stands one folder for each server, cupel-PID.START, with a folder
 * for each slot. All is made once: a job costs two or three short writes. A server that was killed
 * leaves its folders, empty; the next one removes them (PID and START, the start time of the
 * process, no longer name a living process).
 */
#include "box/boxd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"

enum { TEXT_MAX = 1 << 20, RMDIR_TRIES = 500, STALE_TRIES = 20, PATHS = 2 * PATH_MAX + 8 };

static int write_at(int dir, const char *name, const char *text)
{
	AUTO_FD int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
	size_t n = strlen(text);

	return fd >= 0 && write(fd, text, n) == (ssize_t)n ? 0 : -1;
}

static bool put(int fd, int64_t val)
{
	char text[32];
	int n = snprintf(text, sizeof text, "%lld", (long long)val);

	return pwrite(fd, text, (size_t)n, 0) == n;
}

/* 'word' stands in a list separated by blanks, commas or line ends */
static bool has_word(struct str list, const char *word)
{
	size_t n = strlen(word), at = 0;

	while (at < list.n) {
		size_t end = at;

		while (end < list.n && !strchr(" ,\n", list.p[end]))
			end++;
		if (end - at == n && !memcmp(list.p + at, word, n))
			return true;
		at = end + 1;
	}
	return false;
}

static bool file_has_word(int dir, const char *name, const char *word)
{
	AUTO_FD int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	char text[1024];
	size_t n;

	return fd >= 0 && io_read(fd, text, sizeof text, &n, NULL) == 0 &&
	       has_word((struct str){ text, n }, word);
}

/* Where a controller is mounted ("" = version 2), and the path of the caller in that hierarchy. */
static bool find_mount(struct str info, const char *controller, char root[PATH_MAX],
                       char point[PATH_MAX])
{
	struct str line;

	while (str_next_line(&info, &line)) {
		struct str w[4], rest = line, word, type = { 0 }, opts = { 0 };
		int n = 0;

		while (n < 4 && str_next_token(&rest, &word))
			w[n++] = word;
		if (n == 4 && str_next_token(&rest, &word))
			w[0] = w[3], w[1] = word; /* root, mount point */
		while (str_next_token(&rest, &word) && !str_is(word, "-"))
			continue;
		if (str_next_token(&rest, &type) && str_next_token(&rest, &word))
			(void)str_next_token(&rest, &opts);
		if (!(*controller ? str_is(type, "cgroup") && has_word(opts, controller)
		                  : str_is(type, "cgroup2")))
			continue;
		(void)snprintf(root, PATH_MAX, "%.*s", (int)w[0].n, w[0].p);
		(void)snprintf(point, PATH_MAX, "%.*s", (int)w[1].n, w[1].p);
		return true;
	}
	return false;
}

static bool find_own(struct str cgroup, const char *controller, char path[PATH_MAX])
{
	struct str line;

	while (str_next_line(&cgroup, &line)) {
		const char *a = memchr(line.p, ':', line.n), *b;
		struct str list;

		if (!a)
			continue;
		a++;
		b = memchr(a, ':', line.n - (size_t)(a - line.p));
		if (!b)
			continue;
		list = (struct str){ a, (size_t)(b - a) };
		if (*controller ? !has_word(list, controller) : list.n > 0)
			continue;
		b++;
		(void)snprintf(path, PATH_MAX, "%.*s", (int)(line.n - (size_t)(b - line.p)), b);
		return true;
	}
	return false;
}

/* The folder of the caller's cgroup; the mount point where the path is not visible. */
static int open_own(struct str info, struct str cgroup, const char *controller, bool parent,
                    char path[PATHS])
{
	char root[PATH_MAX], point[PATH_MAX], own[PATH_MAX];
	const char *rest = own;
	size_t n;
	int fd;

	if (!find_mount(info, controller, root, point) || !find_own(cgroup, controller, own))
		return -1;
	n = strcmp(root, "/") ? strlen(root) : 0;
	if (n && !strncmp(own, root, n))
		rest = own + n;
	(void)snprintf(path, PATHS, "%s%s%s", point, rest, parent ? "/.." : "");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && !parent) {
		(void)snprintf(path, PATHS, "%s", point);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	return fd;
}

/* Start time of a process in ticks, from /proc/PID/stat; 0: no such process. */
static unsigned long long start_of(pid_t pid)
{
	char path[64], text[1024], *p;
	unsigned long long start = 0;
	size_t n;

	(void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read(fd, text, sizeof text - 1, &n, NULL) < 0)
		return 0;
	text[n] = 0;
	p = strrchr(text, ')'); /* field 2; START is field 22 */
	for (int i = 2; p && i < 22; i++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) : start;
}

/* rmdir says EBUSY until the last process is quite gone; *tries bounds the waiting. */
static void remove_dir(int parent, const char *name, int *tries)
{
	while (unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno == EBUSY && *tries > 0) {
		(*tries)--;
		(void)nanosleep(&(struct timespec){ 0, NS_PER_MS }, NULL);
	}
}

static void remove_server(int parent, const char *name, int *tries)
{
	AUTO_FD int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = dir < 0 ? NULL : fdopendir(dup(dir));

	for (struct dirent *f; d && (f = readdir(d));)
		if (!strncmp(f->d_name, "slot", 4))
			remove_dir(dir, f->d_name, tries);
	if (d)
		(void)closedir(d);
	remove_dir(parent, name, tries);
}

/* What looks stale may be a living server of another PID namespace: then it holds processes, and
 * all removing fails.
 */
static void remove_stale(int parent)
{
	int copy = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	int tries = STALE_TRIES;

	for (struct dirent *f; d && (f = readdir(d));) {
		unsigned long long start;
		int pid;

		if (sscanf(f->d_name, "cupel-%d.%llu", &pid, &start) == 2 && start_of(pid) != start)
			remove_server(parent, f->d_name, &tries);
	}
	if (d)
		(void)closedir(d);
}

/* Makes the server's folder under an open one; takes 'parent'. Index, or -1 and errno. */
static int add_dir(struct cgroups *cg, int parent)
{
	int i = cg->n_dirs;

	remove_stale(parent);
	(void)snprintf(cg->dir[i].name, sizeof cg->dir[i].name, "cupel-%d.%llu", getpid(),
	               start_of(getpid()));
	if (mkdirat(parent, cg->dir[i].name, 0755) < 0 && errno != EEXIST) {
		int sys = errno;

		(void)close(parent);
		errno = sys;
		return -1;
	}
	cg->dir[i].parent = parent;
	cg->dir[i].dir = openat(parent, cg->dir[i].name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cg->n_dirs++;
	return i;
}

/* Version 1: one folder for each distinct hierarchy. 'cpu' only shares the machine out fairly. */
static int open_v1(struct cgroups *cg, struct str info, struct str cgroup, int at[CG_MAX],
                   struct err *e)
{
	static const char *const want[CG_MAX] = { "memory", "pids", "cpuacct", "cpu" };
	char path[CG_MAX][PATHS];
	char shares[32];

	for (int i = 0; i < CG_MAX; i++) {
		int fd = open_own(info, cgroup, want[i], false, path[i]);

		at[i] = -1;
		for (int k = 0; fd >= 0 && k < i; k++)
			if (at[k] >= 0 && !strcmp(path[k], path[i]))
				at[i] = at[k];
		if (at[i] >= 0) {
			(void)close(fd);
			continue;
		}
		at[i] = fd < 0 ? -1 : add_dir(cg, fd);
		if (at[i] < 0 && i < 3)
			return FAIL(e, ERR_DENIED, "cgroup controller %s: %s", want[i],
			            fd < 0 ? "not mounted" : strerror(errno));
	}
	(void)write_at(cg->dir[at[0]].dir, "memory.use_hierarchy", "1");
	(void)snprintf(shares, sizeof shares, "%d", 1024 * cg->n_slots);
	if (at[3] >= 0)
		(void)write_at(cg->dir[at[3]].dir, "cpu.shares", shares);
	cg->version = 1;
	return 0;
}

/* Version 2: a folder whose children get memory and pids. Ours may hold processes of the caller,
 * and then gives no controllers to children: its parent is tried, too (a user's systemd slice).
 */
static int open_v2(struct cgroups *cg, struct str info, struct str cgroup, struct err *e)
{
	const char *given = getenv("CUPEL_CGROUP");

	for (int i = given ? 0 : 1; i < 3; i++) {
		char path[PATHS];
		int fd = i == 0 ? open(given, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
		                : open_own(info, cgroup, "", i == 2, path);
		int k;

		if (fd < 0 || !file_has_word(fd, "cgroup.controllers", "memory")) {
			auto_close(&fd);
			continue;
		}
		if (!file_has_word(fd, "cgroup.subtree_control", "memory"))
			(void)write_at(fd, "cgroup.subtree_control", "+memory +pids +cpu");
		k = add_dir(cg, fd);
		if (k >= 0 &&
		    write_at(cg->dir[k].dir, "cgroup.subtree_control", "+memory +pids") == 0) {
			(void)write_at(cg->dir[k].dir, "cgroup.subtree_control", "+cpu");
			cg->version = 2;
			return 0;
		}
		cg_close(cg);
	}
	return FAIL(e, ERR_DENIED, "no cgroup that may be written to");
}

/* Version 1 tells an eventfd when a group is out of memory. */
static int listen_v1(const struct cg_slot *c, int mem)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	char text[32];

	(void)snprintf(text, sizeof text, "%d %d", fd, c->mem_events);
	if (fd >= 0 && write_at(mem, "cgroup.event_control", text) < 0)
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
	AUTO_BUF info = { .max = TEXT_MAX };
	AUTO_BUF own = { .max = TEXT_MAX };
	int at[CG_MAX] = { 0 }, r;

	*cg = (struct cgroups){ .n_slots = slots };
	cg->slot = calloc((size_t)slots, sizeof *cg->slot);
	if (!cg->slot)
		return FAIL(e, ERR_NOMEM, "%d slots", slots);
	r = io_load("/proc/self/mountinfo", &info, e);
	r = r < 0 ? r : io_load("/proc/self/cgroup", &own, e);
	if (r < 0)
		return err_wrap(e, "cgroups");
	r = open_v2(cg, buf_str(&info), buf_str(&own), e);
	if (r < 0)
		r = open_v1(cg, buf_str(&info), buf_str(&own), at, e);
	for (int i = 0; r == 0 && i < slots; i++)
		r = open_slot(cg, i, at, e);
	if (r < 0) {
		cg_close(cg);
		cg->version = 0;
	}
	return r;
}

void cg_close(struct cgroups *cg)
{
	int tries = RMDIR_TRIES;

	for (int k = 0; k < cg->n_dirs; k++) {
		for (int i = 0; i < cg->n_slots; i++) {
			char name[32];

			(void)snprintf(name, sizeof name, "slot%d", i);
			remove_dir(cg->dir[k].dir, name, &tries);
		}
		remove_dir(cg->dir[k].parent, cg->dir[k].name, &tries);
		(void)close(cg->dir[k].dir);
		(void)close(cg->dir[k].parent);
	}
	cg->n_dirs = 0;
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
	return c->peak_resets ? get(c->mem_peak, NULL) : 0;
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
