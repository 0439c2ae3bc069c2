/* boxd_cgroup_tree.c - where the cgroups of a server stand: found, made and removed.
 *
 * Under a cgroup that we may write to stands one folder for each server, cupel-PID.START, with a
 * folder for each slot. A server that was killed leaves its folders, empty; the next one removes
 * them (PID and START, the start time of the process, no longer name a living process).
 *
 * In version 2 the processes that were started with us may have to move, out of a cgroup whose
 * folders shall have controllers into its folder LEAF, and back at the end. If a killed server
 * leaves them there, the next one finds itself in LEAF and uses the parent, as it would in a scope
 * of systemd.
 */
#include "box/boxd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"

#define LEAF "cupel-processes"

enum {
	TEXT_MAX = 1 << 20,
	RMDIR_TRIES = 500,
	STALE_TRIES = 20,
	MOVES = 10, /* rounds, as long as new processes appear */
	ANCESTORS = 1000,
	PATHS = 2 * PATH_MAX + 8
};

int cg_write(int dir, const char *name, const char *text)
{
	AUTO_FD int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
	size_t n = strlen(text);

	return fd >= 0 && write(fd, text, n) == (ssize_t)n ? 0 : -1;
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

/* A number of /proc/PID/stat, counted from 1, behind the name; 0: no such process. */
static unsigned long long stat_field(pid_t pid, int field)
{
	char path[64], text[1024], *p;
	size_t n;

	(void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read(fd, text, sizeof text - 1, &n, NULL) < 0)
		return 0;
	text[n] = 0;
	p = strrchr(text, ')'); /* ends field 2 */
	for (int i = 2; p && i < field; i++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p, NULL, 10) : 0;
}

/* in ticks */
static unsigned long long start_of(pid_t pid)
{
	return stat_field(pid, 22);
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
	(void)unlinkat(parent, LEAF, AT_REMOVEDIR); /* fails while it has processes */
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
	(void)cg_write(cg->dir[at[0]].dir, "memory.use_hierarchy", "1");
	(void)snprintf(shares, sizeof shares, "%d", 1024 * cg->n_slots);
	if (at[3] >= 0)
		(void)cg_write(cg->dir[at[3]].dir, "cpu.shares", shares);
	cg->version = 1;
	return 0;
}

/* Started with us: of the caller's session, or an ancestor. */
static bool is_ours(pid_t pid)
{
	pid_t p = getpid();

	for (int i = 0; i < ANCESTORS && p > 0 && p != pid; i++)
		p = (pid_t)stat_field(p, 4);
	return pid > 0 && (p == pid || getsid(pid) == getsid(getppid()));
}

/* Moves the processes of one cgroup; how many it held, or -1. 'check': only if all are ours. */
static int move_all(int from, int to, bool check, struct err *e)
{
	AUTO_FD int fd = openat(from, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	char text[8192], *end;
	size_t n;
	int count = 0;

	if (fd < 0 || io_read(fd, text, sizeof text - 1, &n, NULL) < 0 || n == sizeof text - 1)
		return FAIL(e, ERR_DENIED, "it holds processes that cannot be read");
	text[n] = 0;
	for (char *p = text; check && *p; p = end + 1) {
		pid_t pid = (pid_t)strtol(p, &end, 10);

		if (!is_ours(pid))
			return FAIL(e, ERR_DENIED, "it holds a process that is not ours, %d", pid);
	}
	for (char *p = text; *p; p = end + 1, count++) {
		end = strchr(p, '\n');
		*end = 0;
		if (cg_write(to, "cgroup.procs", p) < 0 && errno != ESRCH)
			return FAIL(e, ERR_DENIED, "move process %s: %s", p, strerror(errno));
	}
	return count;
}

/* Version 2 gives no controllers to folders below one that holds processes itself. Where all of
 * these are ours (a container, a service of its own), they move into a folder of it.
 */
static int move_down(struct cgroups *cg, int own, struct err *e)
{
	int n = 1;

	if (mkdirat(own, LEAF, 0755) < 0 && errno != EEXIST)
		return FAIL(e, ERR_DENIED, "make a folder: %s", strerror(errno));
	AUTO_FD int leaf = openat(own, LEAF, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cg->home = fcntl(own, F_DUPFD_CLOEXEC, 3);
	for (int i = 0; leaf >= 0 && i < MOVES && n > 0; i++)
		n = move_all(own, leaf, true, e);
	if (n > 0 || cg->home < 0)
		return FAIL(e, ERR_DENIED, "it always holds a new process");
	return n;
}

/* Back where they were, if no other server needs them out of the way. */
static void move_up(struct cgroups *cg)
{
	if (cg->home <= 0)
		return;
	AUTO_FD int leaf = openat(cg->home, LEAF, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)cg_write(cg->home, "cgroup.subtree_control", "-cpu");
	if (leaf >= 0 && cg_write(cg->home, "cgroup.subtree_control", "-memory -pids") == 0)
		for (int i = 0; i < MOVES && move_all(leaf, cg->home, false, NULL) > 0; i++)
			continue;
	(void)unlinkat(cg->home, LEAF, AT_REMOVEDIR);
	(void)close(cg->home);
	cg->home = 0;
}

/* A process of ours may be moved there: that also takes the right to write where both paths meet,
 * which the owner of a delegated folder lacks while he is outside of it.
 */
static bool may_join(int dir)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(cg_write(dir, "cgroup.procs", "0") < 0);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return pid > 0 && status == 0;
}

/* Takes 'parent'. Not every tree gives 'cpu' to users, and it only shares the machine out fairly:
 * its weight is that of as many groups as there are slots.
 */
static int try_v2(struct cgroups *cg, int parent, struct err *e)
{
	char weight[32];
	int k, dir;

	/* 'cpu' alone would make a group that holds processes the root of a threaded tree */
	if (cg_write(parent, "cgroup.subtree_control", "+memory +pids") == 0)
		(void)cg_write(parent, "cgroup.subtree_control", "+cpu");
	k = add_dir(cg, parent);
	if (k < 0)
		return FAIL(e, ERR_DENIED, "make a folder: %s", strerror(errno));
	dir = cg->dir[k].dir;
	if (!may_join(dir))
		return FAIL(e, ERR_DENIED, "we are outside and may not enter");
	if (cg_write(dir, "cgroup.subtree_control", "+memory +pids") < 0)
		return FAIL(e, ERR_DENIED, "it gives no controllers: %s", strerror(errno));
	(void)cg_write(dir, "cgroup.subtree_control", "+cpu");
	(void)snprintf(weight, sizeof weight, "%d", cg->n_slots < 100 ? 100 * cg->n_slots : 10000);
	(void)cg_write(dir, "cpu.weight", weight);
	return 0;
}

/* Version 2: a folder whose children get memory and pids. The one that the user names; our own; its
 * parent, since ours may hold processes (a scope in a slice of systemd); our own without them.
 * 1 if there is one, 0 if memory is not a matter of version 2 here, or an error.
 */
static int open_v2(struct cgroups *cg, struct str info, struct str cgroup, struct err *e)
{
	enum { GIVEN, OWN, PARENT, EMPTIED, TRIES };
	const char *given = getenv("CUPEL_CGROUP");
	struct err why = { 0 };

	for (int i = given ? GIVEN : OWN; i < TRIES; i++) {
		char path[PATHS];
		int fd = i == GIVEN ? open(given, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
		                    : open_own(info, cgroup, "", i == PARENT, path);

		if (fd >= 0 && file_has_word(fd, "cgroup.controllers", "memory")) {
			if (i == EMPTIED && move_down(cg, fd, &why) < 0)
				auto_close(&fd);
			else if (try_v2(cg, fd, &why) == 0)
				cg->version = 2;
			if (cg->version)
				return 1;
			cg_close(cg);
		} else {
			auto_close(&fd);
		}
	}
	return why.code ? FAIL(e, ERR_DENIED, "cgroup 2: %s", why.msg) : 0;
}

int cg_make(struct cgroups *cg, int at[CG_MAX], struct err *e)
{
	AUTO_BUF info = { .max = TEXT_MAX };
	AUTO_BUF own = { .max = TEXT_MAX };
	int r = io_load("/proc/self/mountinfo", &info, e);

	r = r < 0 ? r : io_load("/proc/self/cgroup", &own, e);
	if (r < 0)
		return err_wrap(e, "cgroups");
	r = open_v2(cg, buf_str(&info), buf_str(&own), e);
	if (r < 0) /* a tree of version 2 rules memory */
		return r;
	return r > 0 ? 0 : open_v1(cg, buf_str(&info), buf_str(&own), at, e);
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
	move_up(cg);
}
