/* boxd_mount.c - the private file systems of one box, made by its init.
 *
 * One tmpfs with limits of size and inodes holds /box, /tmp and /dev/shm: what a program writes
 * there is memory, is charged to its cgroup, and is gone with the mount namespace. Its own /proc
 * hides the one of the host that lies below; where the kernel refuses a fresh one, an empty folder
 * does.
 */
#include "box/boxd.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INODES = 16384 };

static bool failed(const struct slot *sl, const char *what)
{
	page_fail(sl->page, "%s: %s", what, strerror(errno));
	return false;
}

static bool mount_proc(const struct server *s, const struct slot *sl)
{
	if (!s->no_proc &&
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0)
		return true;
	sl->page->no_proc = 1;
	if (mount("none", "/proc", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY,
	          "size=4k,mode=0555") == 0)
		return true;
	return failed(sl, "hide /proc");
}

/* The folders of a zygote outlive a job: there they are not the program's own where that can be, so
 * that it can leave no mark on them.
 */
bool mount_box(const struct server *s, const struct slot *sl, int64_t disk_bytes, bool zygote)
{
	static const struct {
		const char *dir, *at;
		mode_t mode;
	} part[] = {
		{ "/w/box", "/box", 0755 },
		{ "/w/tmp", "/tmp", 01777 },
		{ "/w/shm", "/dev/shm", 01777 },
	};
	struct rights r = server_rights(s, sl);
	uid_t id = s->slot_ids && !zygote ? r.id : geteuid();
	char opts[96];

	(void)snprintf(opts, sizeof opts, "size=%lld,nr_inodes=%d,mode=0755", (long long)disk_bytes,
	               INODES);
	if (mount("box", "/w", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOATIME, opts) < 0)
		return failed(sl, "mount tmpfs");
	for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
		if (mkdir(part[i].dir, 0755) < 0 || chown(part[i].dir, id, id) < 0 ||
		    chmod(part[i].dir, zygote ? 01777 : part[i].mode) < 0)
			return failed(sl, part[i].dir);
		if (mount(part[i].dir, part[i].at, NULL, MS_BIND, NULL) < 0)
			return failed(sl, part[i].at);
	}
	if (umount2("/w", MNT_DETACH) < 0)
		return failed(sl, "umount /w");
	return mount_proc(s, sl);
}
