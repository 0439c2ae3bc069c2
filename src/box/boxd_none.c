/* boxd_none.c - the folder of tiers without namespaces, in which boxes have their files. The one of
 * a server that was killed is removed by the next: its process is gone, and nobody holds the lock.
 */
#include "box/boxd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"

#define FOLDER "/tmp"
#define NAME   "cupel-boxes-"

static int open_locked(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
		(void)close(take_fd(&fd));
	return fd;
}

/* What programs have made may be too deep for names, and forbidden to us. */
static void remove_folder(const char *path)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		(void)clean_dir(fd);
	(void)io_remove_tree(path, NULL);
}

static void remove_stale(void)
{
	DIR *d = opendir(FOLDER);

	for (struct dirent *f; d && (f = readdir(d));) {
		AUTO_FD int lock = -1;
		char path[300];
		struct stat st;
		int pid;

		(void)snprintf(path, sizeof path, FOLDER "/%s", f->d_name);
		if (sscanf(f->d_name, NAME "%d.", &pid) == 1 && pid > 1 && kill(pid, 0) < 0 &&
		    errno == ESRCH && lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
		    st.st_uid == geteuid() && (lock = open_locked(path)) >= 0)
			remove_folder(path);
	}
	if (d)
		(void)closedir(d);
}

int none_open(struct server *s, struct err *e)
{
	remove_stale();
	(void)snprintf(s->tmp, sizeof s->tmp, FOLDER "/" NAME "%d.XXXXXX", getpid());
	if (mkdtemp(s->tmp)) {
		s->tmp_fd = open_locked(s->tmp);
		return 0;
	}
	s->tmp[0] = 0;
	return FAIL(e, ERR_DENIED, "folder in " FOLDER ": %s", strerror(errno));
}

void none_close(struct server *s)
{
	if (s->tmp[0])
		remove_folder(s->tmp);
}
