/* boxd_ns.c - the namespaces of the server and the root that its boxes share.
 *
 * The root is a small read-only tmpfs with the system's programs and libraries bound into it
 * (read-only, no set-user-id, no devices), a few files of /etc, and five devices. Every box sees
 * it, and its own /box, /tmp, /dev/shm and /proc on top of it (boxd_mount.c). Nothing else of the
 * host has a name any more, for the server neither: what it still needs it has opened before.
 */
#include "box/boxd.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"

#define ROOT "/tmp" /* where the new root is built; what is below it stays invisible */

enum { ETC_MAX = 4 << 20 };

static int write_file(const char *path, const char *text)
{
	AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t n = strlen(text);

	return fd >= 0 && write(fd, text, n) == (ssize_t)n ? 0 : -1;
}

bool ids_are_mapped(unsigned first, unsigned n)
{
	AUTO_FILE FILE *f = fopen("/proc/self/uid_map", "re");
	unsigned long inside, outside, count;

	while (f && fscanf(f, "%lu %lu %lu", &inside, &outside, &count) == 3)
		if (first >= inside && first + n <= inside + count)
			return true;
	return false;
}

/* Runs as a child in the old namespace, whose rights a map of several ids needs. */
static _Noreturn void write_maps(pid_t pid, int go, unsigned host, int slots)
{
	static const char *const kind[] = { "uid", "gid" };
	char path[64], text[128], c;

	if (read(go, &c, 1) != 1)
		_exit(1);
	(void)snprintf(text, sizeof text, "0 0 1\n%d %u %d\n", BOX_ID, host, 2 * slots);
	for (int i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof path, "/proc/%d/%s_map", pid, kind[i]);
		if (write_file(path, text) < 0)
			_exit(2);
	}
	_exit(0);
}

/* A user namespace in which each slot has an id of its own. */
static bool enter_with_slot_ids(unsigned host, int slots)
{
	int go[2], status = -1;
	bool ok;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		(void)close(go[1]);
		write_maps(getppid(), go[0], host, slots);
	}
	ok = pid > 0 && unshare(CLONE_NEWUSER) == 0 && write(go[1], "g", 1) == 1;
	(void)close(go[0]);
	(void)close(go[1]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return ok && status == 0;
}

/* One id only: ours, seen as 0. Supplementary groups cannot be dropped then. */
static bool map_one_id(uid_t uid, gid_t gid)
{
	char text[64];

	(void)write_file("/proc/self/setgroups", "deny");
	(void)snprintf(text, sizeof text, "0 %u 1\n", uid);
	if (write_file("/proc/self/uid_map", text) < 0)
		return false;
	(void)snprintf(text, sizeof text, "0 %u 1\n", gid);
	return write_file("/proc/self/gid_map", text) == 0;
}

static int enter_user(struct server *s, struct err *e)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	unsigned n = 2 * (unsigned)s->n_slots; /* programs and trusted processes */
	unsigned host = ids_are_mapped(HOST_ID, n) ? HOST_ID : HOST_ID_LOW;

	if (s->root && ids_are_mapped(host, n)) {
		if (enter_with_slot_ids(host, s->n_slots)) {
			s->userns = s->slot_ids = true;
			return 0;
		}
		if (geteuid() == 0) { /* no user namespaces: real ids then */
			s->slot_ids = true;
			return 0;
		}
	} else if (unshare(CLONE_NEWUSER) < 0) {
		return s->root ? 0
		               : FAIL(e, ERR_DENIED,
		                      "user namespaces are not available (%s); see sysctl "
		                      "user.max_user_namespaces, "
		                      "kernel.apparmor_restrict_unprivileged_userns, "
		                      "kernel.unprivileged_userns_clone",
		                      strerror(errno));
	}
	if (!map_one_id(uid, gid))
		return FAIL(e, ERR_DENIED, "map user id: %s", strerror(errno));
	s->userns = s->nest = true;
	return 0;
}

int ns_enter(struct server *s, struct err *e)
{
	int r = enter_user(s, e);

	if (r < 0)
		return r;
	if (!s->userns && !s->slot_ids)
		return FAIL(e, ERR_DENIED, "neither user namespaces nor ids for slots");
	if (unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET) < 0)
		return FAIL(e, ERR_DENIED, "namespaces: %s", strerror(errno));
	return sethostname("box", 3) == 0 ? 0
	                                  : FAIL(e, ERR_DENIED, "host name: %s", strerror(errno));
}

static int set_mount(const char *path, bool recursive, uint64_t attr)
{
	struct mount_attr a = { .attr_set = attr };

	return (int)syscall(SYS_mount_setattr, AT_FDCWD, path, recursive ? AT_RECURSIVE : 0, &a,
	                    sizeof a);
}

/* Make the folders above ROOT/path. */
static void make_parents(const char *path)
{
	char dir[256];

	for (const char *p = path + 1; (p = strchr(p, '/')); p++) {
		(void)snprintf(dir, sizeof dir, ROOT "%.*s", (int)(p - path), path);
		(void)mkdir(dir, 0755);
	}
}

/* Shows a file or folder of the host, if there is one, under the same name; a link stays a link. */
static int show(const char *path, bool device, struct err *e)
{
	char to[256], link[256];
	struct stat st;
	ssize_t n;

	if (lstat(path, &st) < 0)
		return 0;
	(void)snprintf(to, sizeof to, ROOT "%s", path);
	make_parents(path);
	if (S_ISLNK(st.st_mode)) {
		n = readlink(path, link, sizeof link - 1);
		link[n < 0 ? 0 : n] = 0;
		return symlink(link, to) == 0 || errno == EEXIST
		               ? 0
		               : FAIL(e, ERR_DENIED, "link %s: %s", path, strerror(errno));
	}
	if (S_ISDIR(st.st_mode)) {
		(void)mkdir(to, 0755);
	} else {
		int fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

		auto_close(&fd);
	}
	if (mount(path, to, NULL, MS_BIND | MS_REC, NULL) < 0)
		return FAIL(e, ERR_DENIED, "bind %s: %s", path, strerror(errno));
	if (set_mount(to, true,
	              MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
	                      (device ? MOUNT_ATTR_NOEXEC : MOUNT_ATTR_NODEV)) < 0)
		return FAIL(e, ERR_DENIED, "read-only %s (needs Linux 5.12): %s", path,
		            strerror(errno));
	return 0;
}

static int put_file(const char *path, struct str text, struct err *e)
{
	char to[256];
	AUTO_FD int fd = -1;

	(void)snprintf(to, sizeof to, ROOT "%s", path);
	make_parents(path);
	fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return FAIL(e, ERR_DENIED, "%s: %s", path, strerror(errno));
	return io_write(fd, text.p, text.n, e);
}

/* Copies of system files that say nothing of the host's users or network. */
static int make_etc(const struct server *s, struct err *e)
{
	static const char *const copy[] = { "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/localtime",
		                            "/etc/mime.types", "/etc/inputrc" };
	AUTO_BUF b = { .max = ETC_MAX };
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof copy / sizeof copy[0]; i++) {
		buf_reset(&b);
		if (io_load(copy[i], &b, NULL) == 0)
			r = put_file(copy[i], buf_str(&b), e);
	}
	buf_reset(&b);
	buf_puts(&b, "root:x:0:0:root:/:/usr/sbin/nologin\n");
	for (int i = 0; i < s->n_slots; i++)
		buf_putf(&b, "box%d:x:%d:%d::/box:/bin/sh\n", i, BOX_ID + i, BOX_ID + i);
	r = r < 0 ? r : put_file("/etc/passwd", buf_str(&b), e);
	buf_reset(&b);
	buf_puts(&b, "root:x:0:\n");
	for (int i = 0; i < s->n_slots; i++)
		buf_putf(&b, "box%d:x:%d:\n", i, BOX_ID + i);
	r = r < 0 ? r : put_file("/etc/group", buf_str(&b), e);
	r = r < 0 ? r
	          : put_file("/etc/nsswitch.conf",
	                     STR("passwd: files\ngroup: files\nhosts: files\n"), e);
	return r < 0 ? r : put_file("/etc/hosts", STR("127.0.0.1 localhost box\n"), e);
}

/* /etc folders that run times need: alternatives of Debian, configuration of Java. */
static int show_etc(struct err *e)
{
	static const char *const pattern[] = { "/etc/alternatives", "/etc/ld.so.conf.d",
		                               "/etc/java-*" };
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof pattern / sizeof pattern[0]; i++) {
		glob_t g = { 0 };

		if (glob(pattern[i], 0, NULL, &g) == 0)
			for (size_t k = 0; r == 0 && k < g.gl_pathc; k++)
				r = show(g.gl_pathv[k], false, e);
		globfree(&g);
	}
	return r;
}

/* The folder above the one of a program (/opt/x of /opt/x/bin/python3), where it is no system
 * folder. A folder that holds more than an interpreter is refused: programs could read it all.
 */
static int find_prefix(const char *path, char ret[PATH_MAX], struct err *e)
{
	static const char *const mark[] = { "pyvenv.cfg", "lib", "lib64", "libexec" };
	char dir[PATH_MAX], file[PATH_MAX + 16];
	char *slash;
	bool found = false;

	ret[0] = 0;
	(void)snprintf(dir, sizeof dir, "%s", path);
	for (int i = 0; i < 2; i++) {
		slash = strrchr(dir, '/');
		if (!slash || slash == dir)
			return 0; /* /bin/x */
		*slash = 0;
	}
	if (!strcmp(dir, "/usr") || !strncmp(dir, "/usr/", 5))
		return 0;
	for (size_t i = 0; i < sizeof mark / sizeof mark[0]; i++) {
		(void)snprintf(file, sizeof file, "%s/%s", dir, mark[i]);
		found = found || access(file, F_OK) == 0;
	}
	if (!found)
		return FAIL(e, ERR_DENIED,
		            "%s lies in no installation of its own, so boxes cannot show it", path);
	memcpy(ret, dir, sizeof dir);
	return 0;
}

int ns_prefixes(const char *path, char ret[2][PATH_MAX], struct err *e)
{
	char real[PATH_MAX];
	int r;

	if (path[0] != '/')
		return FAIL(e, ERR_DENIED, "interpreter '%s' is no absolute path", path);
	if (access(path, X_OK) < 0 || !realpath(path, real))
		return FAIL(e, ERR_DENIED, "interpreter %s: %s", path, strerror(errno));
	r = find_prefix(path, ret[0], e);
	return r < 0 ? r : find_prefix(real, ret[1], e);
}

static int show_interpreter(const char *path, struct err *e)
{
	char prefix[2][PATH_MAX];
	int r = ns_prefixes(path, prefix, e);

	for (int i = 0; r == 0 && i < 2; i++)
		if (*prefix[i])
			r = show(prefix[i], false, e);
	return r;
}

static int make_tree(const struct server *s, struct err *e)
{
	static const char *const dirs[] = { "/box",     "/tmp", "/w",   "/proc", "/dev",
		                            "/dev/shm", "/etc", "/run", "/var" };
	static const char *const system[] = { "/usr",   "/bin",   "/sbin",  "/lib",
		                              "/lib32", "/lib64", "/libx32" };
	static const char *const device[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random",
		                              "/dev/urandom" };
	static const char *const links[][2] = { { "/proc/self/fd", ROOT "/dev/fd" },
		                                { "/proc/self/fd/0", ROOT "/dev/stdin" },
		                                { "/proc/self/fd/1", ROOT "/dev/stdout" },
		                                { "/proc/self/fd/2", ROOT "/dev/stderr" },
		                                { "/tmp", ROOT "/var/tmp" } };
	int r = 0;

	for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
		char path[64];

		(void)snprintf(path, sizeof path, ROOT "%s", dirs[i]);
		if (mkdir(path, 0755) < 0)
			return FAIL(e, ERR_DENIED, "mkdir %s: %s", path, strerror(errno));
	}
	for (size_t i = 0; r == 0 && i < sizeof system / sizeof system[0]; i++)
		r = show(system[i], false, e);
	for (size_t i = 0; r == 0 && i < sizeof device / sizeof device[0]; i++)
		r = show(device[i], true, e);
	for (size_t i = 0; r == 0 && i < sizeof links / sizeof links[0]; i++)
		if (symlink(links[i][0], links[i][1]) < 0)
			r = FAIL(e, ERR_DENIED, "link %s: %s", links[i][1], strerror(errno));
	r = r < 0 ? r : make_etc(s, e);
	r = r < 0 ? r : show_etc(e);
	for (int k = 0; r == 0 && k < s->n_zygotes; k++)
		r = show_interpreter(s->zygote[k].argv[0], e);
	return r < 0 ? r : zygote_files(s, ROOT, e);
}

int ns_make_root(const struct server *s, struct err *e)
{
	int r;

	umask(022);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return FAIL(e, ERR_DENIED, "private mounts: %s", strerror(errno));
	if (mount("root", ROOT, "tmpfs", MS_NOSUID | MS_NODEV, "size=8m,nr_inodes=4096,mode=0755") <
	    0)
		return FAIL(e, ERR_DENIED, "tmpfs: %s", strerror(errno));
	r = make_tree(s, e);
	if (r < 0)
		return r;
	/* The host's /proc stays below each box's own: the kernel gives a fresh one only to a
	 * namespace that sees a whole one already.
	 */
	if (mount("/proc", ROOT "/proc", NULL, MS_BIND | MS_REC, NULL) < 0)
		return FAIL(e, ERR_DENIED, "bind /proc: %s", strerror(errno));
	if (set_mount(ROOT, false, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV) < 0)
		return FAIL(e, ERR_DENIED, "read-only root: %s", strerror(errno));
	if (chdir(ROOT) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return FAIL(e, ERR_DENIED, "pivot_root: %s", strerror(errno));
	return 0;
}
