/* boxd_landlock.c - tier landlock: boxes for places that have no namespaces.
 *
 * THEORY
 *
 * Nothing is hidden here, it is refused. Two layers of Landlock, which nest, say which files may
 * be opened, by folders and files that are opened here once:
 *
 *	zygote        programs and libraries of the system, its folder, /proc (read): it looks after
 *	              its descendants there
 *	  process     the same without /proc: each process of a job is in a domain of its own below
 *	  of a job    that of the zygote, and no process may trace, and from version 6 on signal,
 *one outside its own domain: zygote, trusted process of a pair, all others
 *
 * A program that is executed has no zygote above it and only the second layer; keeper and init are
 * ours and have none. What Landlock does not know of is up to two system-call filters
 * (boxd_landlock_filter.c, boxd_enclose.c). Each slot has one folder for its whole life, since
 * a rule holds for a folder and not for a name; it is emptied between jobs.
 *
 * No PID namespace ends with its init: init and zygote are child subreapers and kill what is left
 * (boxd_tree.c); when they are killed themselves, the server is the next subreaper and does it.
 *
 * Constants and structures are ours: the headers of distributions are older than kernels. What
 * the kernel offers is asked at the start; $CUPEL_LANDLOCK (a version) makes it less, for tests.
 */
#include "box/boxd.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"

enum {
	NR_CREATE_RULESET = 444, /* the same on every architecture */
	NR_ADD_RULE = 445,
	ASK_VERSION = 1,
	RULE_PATH = 1,
	NEWEST = 7,        /* version that was looked at for this file */
	TASKS_SPARE = 256, /* other processes of the user that may start meanwhile */
};

/* Access to files; the version from which on it can be refused. */
enum {
	FS_EXECUTE = 1 << 0,
	FS_WRITE = 1 << 1,
	FS_READ = 1 << 2,
	FS_READ_DIR = 1 << 3,
	FS_MAKE_CHAR = 1 << 6,
	FS_MAKE_SOCK = 1 << 9,
	FS_MAKE_BLOCK = 1 << 11,
	FS_FIRST = (1 << 13) - 1,
	FS_REFER = 1 << 13,     /* 2 */
	FS_TRUNCATE = 1 << 14,  /* 3 */
	FS_IOCTL_DEV = 1 << 15, /* 5 */
	OF_FILES = FS_EXECUTE | FS_WRITE | FS_READ | FS_TRUNCATE | FS_IOCTL_DEV,
	NET_TCP = 3, /* 4: bind and connect */
	SCOPES = 3,  /* 6: abstract UNIX sockets and signals */
	SEE = FS_EXECUTE | FS_READ | FS_READ_DIR,
	LOOK = FS_READ | FS_READ_DIR,
	OWN = (FS_FIRST & ~(FS_MAKE_CHAR | FS_MAKE_SOCK | FS_MAKE_BLOCK)) | FS_REFER | FS_TRUNCATE,
};

struct ruleset_attr {
	uint64_t fs, net, scoped;
};

struct path_attr {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

static uint64_t handled(int abi)
{
	return FS_FIRST | (abi >= 2 ? FS_REFER : 0) | (abi >= 3 ? FS_TRUNCATE : 0) |
	       (abi >= 5 ? FS_IOCTL_DEV : 0);
}

int landlock_version(void)
{
	const char *most = getenv("CUPEL_LANDLOCK");
	long abi = syscall(NR_CREATE_RULESET, NULL, 0, ASK_VERSION);
	long max = most ? strtol(most, NULL, 10) : NEWEST;

	max = max < 0 ? 0 : max < NEWEST ? max : NEWEST;
	return (int)(abi < 0 ? 0 : abi < max ? abi : max);
}

/* What is not there needs no rule. */
static int allow(const struct server *s, int rules, const char *path, uint64_t access,
                 struct err *e)
{
	AUTO_FD int fd = open(path, O_PATH | O_CLOEXEC);
	struct path_attr a = { access & handled(s->landlock), fd };
	struct stat st;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode))
		a.allowed &= OF_FILES;
	return syscall(NR_ADD_RULE, rules, RULE_PATH, &a, 0) == 0
	               ? 0
	               : FAIL(e, ERR_DENIED, "Landlock rule for %s: %s", path, strerror(errno));
}

static int allow_all(const struct server *s, int rules, const char *pattern, uint64_t access,
                     struct err *e)
{
	glob_t g = { 0 };
	int r = 0;

	if (glob(pattern, 0, NULL, &g) == 0)
		for (size_t i = 0; r == 0 && i < g.gl_pathc; i++)
			r = allow(s, rules, g.gl_pathv[i], access, e);
	globfree(&g);
	return r;
}

/* As boxd_ns.c shows them. Files that are linked to from /usr have a name here whatever we do, so
 * that refusing them would be an error where there is nothing in other tiers.
 */
static int allow_system(const struct server *s, int rules, struct err *e)
{
	static const struct {
		const char *pattern;
		uint64_t access;
	} part[] = {
		{ "/usr", SEE },
		{ "/bin", SEE },
		{ "/sbin", SEE },
		{ "/lib", SEE },
		{ "/lib32", SEE },
		{ "/lib64", SEE },
		{ "/libx32", SEE },
		{ "/etc/ld.so.c*", LOOK }, /* cache, conf, conf.d */
		{ "/etc/localtime", LOOK },
		{ "/etc/mime.types", LOOK },
		{ "/etc/inputrc", LOOK },
		{ "/etc/alternatives", LOOK },
		{ "/etc/java-*", LOOK },
		{ "/etc/python3*", LOOK },
		{ "/etc/ssl/openssl.cnf", LOOK },
		{ "/dev/null", FS_READ | FS_WRITE },
		{ "/dev/zero", FS_READ | FS_WRITE },
		{ "/dev/full", FS_READ | FS_WRITE },
		{ "/dev/random", FS_READ | FS_WRITE },
		{ "/dev/urandom", FS_READ | FS_WRITE },
	};
	char prefix[2][PATH_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof part / sizeof part[0]; i++)
		r = allow_all(s, rules, part[i].pattern, part[i].access, e);
	for (int k = 0; r == 0 && k < s->n_zygotes; k++) {
		r = ns_prefixes(s->zygote[k].argv[0], prefix, e);
		for (int i = 0; r == 0 && i < 2; i++)
			if (*prefix[i])
				r = allow(s, rules, prefix[i], SEE, e);
	}
	return r;
}

int landlock_rules(const struct server *s, const struct slot *sl, bool zygote, struct err *e)
{
	struct ruleset_attr a = { handled(s->landlock), NET_TCP, SCOPES };
	size_t n = s->landlock >= 6 ? 24 : s->landlock >= 4 ? 16 : 8;
	char path[SLOT_PATH];
	int rules = (int)syscall(NR_CREATE_RULESET, &a, n, 0), r;

	if (rules < 0)
		return FAIL(e, ERR_DENIED, "Landlock rules: %s", strerror(errno));
	r = allow_system(s, rules, e);
	(void)snprintf(path, sizeof path, "%s/lib", s->tmp);
	r = r < 0 ? r : allow(s, rules, path, LOOK, e);
	landlock_folder(s, sl, path);
	r = r < 0 ? r : allow(s, rules, path, OWN, e);
	if (r == 0 && zygote)
		r = allow(s, rules, "/proc", LOOK, e);
	if (r == 0)
		return rules;
	(void)close(rules);
	return r;
}

void landlock_folder(const struct server *s, const struct slot *sl, char path[SLOT_PATH])
{
	(void)snprintf(path, SLOT_PATH, "%s/%d", s->tmp, sl->index);
}

/* May we become another user, and give files away? */
static bool ids_work(uint32_t id, const char *folder)
{
	int status = -1;
	pid_t pid;

	if (chown(folder, id, id) < 0 || chown(folder, geteuid(), getegid()) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		struct rights r = { .id = id, .slot_ids = 1, .landlock = 1 };

		_exit(!rights_drop(&r));
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status == 0;
}

/* Where slots have ids, the folder is not the program's own: it may write in it, but leave no mark
 * on it.
 */
static int make_folders(const struct server *s, struct err *e)
{
	char path[SLOT_PATH];

	(void)snprintf(path, sizeof path, "%s/lib", s->tmp);
	if (chmod(s->tmp, 0711) < 0 || mkdir(path, 0755) < 0)
		return FAIL(e, ERR_DENIED, "%s: %s", path, strerror(errno));
	for (int i = 0; i < s->n_slots; i++) {
		landlock_folder(s, &s->slot[i], path);
		if (mkdir(path, 0700) < 0 ||
		    (s->slot_ids && (chown(path, geteuid(), slot_id(s, &s->slot[i])) < 0 ||
		                     chmod(path, 01775) < 0)))
			return FAIL(e, ERR_DENIED, "%s: %s", path, strerror(errno));
	}
	return 0;
}

int landlock_open(struct server *s, struct err *e)
{
	unsigned n = 2 * (unsigned)s->n_slots;
	int r;

	s->landlock = landlock_version();
	s->polls = true;
	if (s->landlock == 0)
		return FAIL(e, ERR_DENIED,
		            "Landlock is not available: it needs Linux 5.13, 'landlock' among the "
		            "security modules (boot parameter lsm=), and a container that lets it "
		            "through");
	if (access("/proc/thread-self/children", R_OK) < 0)
		return FAIL(e, ERR_DENIED,
		            "/proc/thread-self/children: %s: without it processes that a program "
		            "leaves behind are not found",
		            strerror(errno));
	r = none_open(s, e);
	if (r < 0)
		return r;
	s->first_id = ids_are_mapped(HOST_ID, n) ? HOST_ID : HOST_ID_LOW;
	s->slot_ids = s->root && ids_are_mapped(s->first_id, n) && ids_work(s->first_id, s->tmp);
	r = make_folders(s, e);
	r = r < 0 ? r : filter_make(FILTER_NO_IPC, &s->filter, e);
	r = r < 0 ? r : landlock_filter_make(s->landlock, &s->more_filter, e);
	s->zygote_filter = s->filter;
	return r < 0 ? r : zygote_files(s, "", e);
}

/* Tasks of our user as far as they can be seen: the owner of /proc/PID/task, and its links. */
static uint32_t count_tasks(void)
{
	DIR *d = opendir("/proc");
	uint32_t n = 0;

	for (struct dirent *f; d && (f = readdir(d));) {
		char name[32];
		struct stat st;

		if (!isdigit((unsigned char)f->d_name[0]))
			continue;
		(void)snprintf(name, sizeof name, "%.20s/task", f->d_name);
		if (fstatat(dirfd(d), name, &st, 0) == 0 && st.st_uid == geteuid())
			n += (uint32_t)st.st_nlink - 2;
	}
	if (d)
		(void)closedir(d);
	return n;
}

/* A backstop for what starts more processes between two looks than it may have: RLIMIT_NPROC counts
 * all of a user, so that it has to leave room for other slots and whatever else the user starts.
 */
uint32_t landlock_tasks(const struct server *s, int procs)
{
	static int64_t last_ns;
	static uint32_t count;

	if (last_ns == 0 || now_ns() - last_ns > NS_PER_S) {
		last_ns = now_ns();
		count = count_tasks();
	}
	return count + (uint32_t)(s->n_slots * procs) + TASKS_SPARE;
}

/* Keepers and zygotes; all other children of the server were left behind. */
static bool is_ours(pid_t pid, const void *server)
{
	const struct server *s = server;

	for (int i = 0; i < s->n_slots; i++) {
		const struct slot *sl = &s->slot[i];

		if (pid == sl->keeper && sl->keeper_fd >= 0)
			return true;
		for (int k = 0; k < BOX_MAX_ZYGOTES; k++)
			if (pid == sl->zygote[k].pid && sl->zygote[k].fd >= 0)
				return true;
	}
	return false;
}

void landlock_strays(const struct server *s)
{
	if (s->landlock)
		(void)tree_kill(is_ours, s);
}
