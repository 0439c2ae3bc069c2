/* boxd_none.c - the folder of tier none, in which boxes without any isolation have their files. The
 * one of a server that was killed is removed by the next.
 */
#include "box/boxd.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

#define FOLDER "/tmp"
#define NAME   "cupel-none-"

static void remove_stale(void)
{
	DIR *d = opendir(FOLDER);

	for (struct dirent *f; d && (f = readdir(d));) {
		char path[300];
		struct stat st;
		int pid;

		(void)snprintf(path, sizeof path, FOLDER "/%s", f->d_name);
		if (sscanf(f->d_name, NAME "%d.", &pid) == 1 && pid > 1 && kill(pid, 0) < 0 &&
		    errno == ESRCH && lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
		    st.st_uid == geteuid())
			(void)io_remove_tree(path, NULL);
	}
	if (d)
		(void)closedir(d);
}

int none_open(struct server *s, struct err *e)
{
	remove_stale();
	(void)snprintf(s->tmp, sizeof s->tmp, FOLDER "/" NAME "%d.XXXXXX", getpid());
	if (mkdtemp(s->tmp))
		return 0;
	s->tmp[0] = 0;
	return FAIL(e, ERR_SYS, "folder in " FOLDER ": %s", strerror(errno));
}
