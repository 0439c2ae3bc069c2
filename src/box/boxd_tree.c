/* boxd_tree.c - the descendants of a process, where no PID namespace holds them together: found
 * through /proc/PID/task/TID/children, measured, and killed. For the init of a box, a zygote, or
 * the server, all of which are child subreapers: who loses its parent becomes a child of theirs.
 *
 * Whoever forks faster than it is killed would go on for ever, since each death makes room for a
 * birth. So all are stopped first, again and again until a pass finds nobody awake: the stopped
 * keep their places, and RLIMIT_NPROC bounds those. Then all are killed. A child of ours that was
 * not waited for keeps its number; any other process may have ended, and its number be another's,
 * so that it is signalled through a pidfd, after a look at who its parent is.
 */
#include "box/boxd.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"

enum {
	TREE_MAX = 1 << 14, /* processes that are looked at in one pass */
	PASSES = 200,
	ROUNDS = 1000,
	DEPTH = 100,     /* of folders */
	INODES = 16384,  /* as many as a tmpfs of other tiers has */
	LOOK_SHARE = 10, /* of the time that looking at the folder may take, one in so many */
};

struct node {
	pid_t pid, parent;
};

static struct {
	struct node at[TREE_MAX];
	int n, n_direct;
} tree;

struct stat_line {
	char state;
	pid_t parent;
	int64_t cpu_ns, rss_bytes;
	int tasks;
};

static ssize_t slurp(pid_t pid, const char *name, char *text, size_t room)
{
	char path[64];
	AUTO_FD int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, room - 1);
	text[n < 0 ? 0 : n] = 0;
	return n;
}

/* Fields 3 state, 4 parent, 14..17 ticks, 20 threads, 24 pages. */
static bool read_stat(pid_t pid, struct stat_line *ret)
{
	static int64_t tick_ns, page;
	char text[1024], *p;
	int64_t val[25] = { 0 };

	if (!tick_ns) {
		tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
		page = sysconf(_SC_PAGESIZE);
	}
	p = slurp(pid, "stat", text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
	if (!p || strlen(p) < 4)
		return false;
	ret->state = p[2];
	p += 3;
	for (int i = 4; i <= 24; i++)
		val[i] = strtoll(p, &p, 10);
	ret->parent = (pid_t)val[4];
	ret->cpu_ns = (val[14] + val[15] + val[16] + val[17]) * tick_ns;
	ret->tasks = (int)val[20];
	ret->rss_bytes = val[24] * page;
	return true;
}

static void add_children(pid_t parent, int task_dir, const char *tid)
{
	char path[64], text[4096];
	AUTO_FD int fd = -1;
	long pid = 0;
	ssize_t n;

	(void)snprintf(path, sizeof path, "%.20s/children", tid);
	fd = openat(task_dir, path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (n = read(fd, text, sizeof text)) > 0)
		for (ssize_t i = 0; i < n; i++)
			if (isdigit((unsigned char)text[i])) {
				pid = 10 * pid + text[i] - '0';
			} else {
				if (pid > 1 && tree.n < TREE_MAX)
					tree.at[tree.n++] = (struct node){ (pid_t)pid, parent };
				pid = 0;
			}
}

/* Children of all threads of a process. */
static void add_process(pid_t pid)
{
	char path[32];
	DIR *d;

	(void)snprintf(path, sizeof path, "/proc/%d/task", pid);
	d = opendir(path);
	for (struct dirent *f; d && (f = readdir(d));)
		if (isdigit((unsigned char)f->d_name[0]))
			add_children(pid, dirfd(d), f->d_name);
	if (d)
		(void)closedir(d);
}

/* Children first; those that are known are left out, with all below them. */
static void look(bool (*known)(pid_t pid, const void *arg), const void *arg)
{
	int n = 0;

	tree.n = 0;
	add_process(getpid());
	for (int i = 0; i < tree.n; i++)
		if (!known || !known(tree.at[i].pid, arg))
			tree.at[n++] = tree.at[i];
	tree.n = tree.n_direct = n;
	for (int i = 0; i < tree.n; i++)
		add_process(tree.at[i].pid);
}

static void send_signal(int i, int sig)
{
	const struct node *t = &tree.at[i];
	struct stat_line s;

	if (i < tree.n_direct) {
		(void)kill(t->pid, sig);
		return;
	}
	AUTO_FD int fd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	if (fd >= 0 && read_stat(t->pid, &s) && s.parent == t->parent)
		(void)syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
}

/* True if somebody was awake. One that sleeps where no signal wakes it (D) cannot fork either. */
static bool stop_all(void)
{
	bool awake = false;

	for (int i = 0; i < tree.n; i++) {
		struct stat_line s;

		if (!read_stat(tree.at[i].pid, &s) || strchr("TtZXD", s.state))
			continue;
		send_signal(i, SIGSTOP);
		awake = true;
	}
	return awake || tree.n == TREE_MAX;
}

int64_t tree_kill(bool (*known)(pid_t pid, const void *arg), const void *arg)
{
	int64_t ns = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct rusage ru;
		siginfo_t si;

		if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 &&
		    errno == ECHILD)
			break;
		look(known, arg);
		if (tree.n == 0)
			break;
		for (int i = 0; i < PASSES && stop_all(); i++)
			look(known, arg);
		for (int i = 0; i < tree.n; i++)
			send_signal(i, SIGKILL);
		for (int i = 0; i < tree.n_direct; i++)
			if (wait4(tree.at[i].pid, NULL, __WALL, &ru) == tree.at[i].pid)
				ns += rusage_ns(&ru);
	}
	return ns;
}

/* Bytes of the private pages of a process and its share of the others. */
static int64_t share_bytes(pid_t pid, int64_t rss)
{
	char text[4096], *p;

	if (slurp(pid, "smaps_rollup", text, sizeof text) > 0 && (p = strstr(text, "\nPss:")))
		return strtoll(p + 5, NULL, 10) * 1024;
	return rss;
}

struct folder {
	int64_t bytes;
	int inodes;
	bool deep;
};

/* What a program may not hide from us it cannot read itself. */
static DIR *open_folder(int at, const char *name)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(at, name, flags);
	DIR *d;

	if (fd < 0 && errno == EACCES && fchmodat(at, name, 0700, 0) == 0)
		fd = openat(at, name, flags);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d && fd >= 0)
		(void)close(fd);
	return d;
}

static void add_folder(int at, const char *name, int depth, struct folder *f)
{
	DIR *d = open_folder(at, name);

	f->deep = f->deep || depth == DEPTH;
	for (struct dirent *e; d && !f->deep && f->inodes <= INODES && (e = readdir(d));) {
		struct stat st;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		f->bytes += (int64_t)st.st_blocks * 512;
		f->inodes++;
		if (S_ISDIR(st.st_mode))
			add_folder(dirfd(d), e->d_name, depth + 1, f);
	}
	if (d)
		(void)closedir(d);
}

/* Looking takes the longer the more there is, so it is done the less often. */
static bool folder_over(const struct box_limits *l, int folder)
{
	static int64_t next_ns;
	int64_t start = now_ns();
	struct folder f = { 0 };

	if (start < next_ns)
		return false;
	add_folder(folder, ".", 0, &f);
	next_ns = now_ns() + LOOK_SHARE * (now_ns() - start);
	return f.bytes > l->disk_bytes || f.inodes > INODES || f.deep;
}

bool tree_over(struct slot_page *p, const struct box_limits *l, int64_t reaped_ns, int folder,
               pid_t skip)
{
	int64_t cpu = reaped_ns, rss = 0, pss = 0;
	int tasks = 0;

	look(NULL, NULL);
	for (int i = 0; i < tree.n; i++) {
		struct stat_line s;

		if (tree.at[i].pid == skip || !read_stat(tree.at[i].pid, &s))
			continue;
		cpu += s.cpu_ns;
		rss += s.rss_bytes;
		tasks += s.tasks;
	}
	for (int i = 0; rss > l->mem_bytes && i < tree.n; i++) {
		struct stat_line s;

		if (tree.at[i].pid != skip && read_stat(tree.at[i].pid, &s))
			pss += share_bytes(tree.at[i].pid, s.rss_bytes);
	}
	rss = rss > l->mem_bytes ? pss : rss;
	if (rss > p->peak_bytes)
		p->peak_bytes = rss;
	p->cpu_end_ns = cpu;
	if (rss > l->mem_bytes) {
		p->over = BOX_MEM_LIMIT;
	} else if (p->start_ns && cpu - p->cpu_base_ns > l->cpu_ns) {
		p->over = BOX_CPU_LIMIT;
	} else if (folder_over(l, folder)) {
		p->over = BOX_OUT_LIMIT;
	} else if (tasks > l->procs) { /* elsewhere fork() fails; here it is too late for that */
		p->over = BOX_SIGNALED;
		p->status = SIGKILL;
	}
	return p->over;
}
