/* boxd_clean.c - empties the folders of a zygote or a slot between two jobs.
 *
 * Whatever a program left there: folders nested deeper than paths are long, names of any bytes,
 * modes that forbid everything. A folder is emptied in place; folders in it are first moved up to
 * the top, so that nothing is ever more than two levels deep. Only names relative to open
 * folders are used, and no link is followed.
 */
#include "box/boxd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 100000 };

static bool no_moves; /* under Landlock before version 2 */

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static DIR *open_dir(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		(void)close(fd);
	return d;
}

/* Under a name that is free at the top. */
static bool move_up(int from, const char *name, int top)
{
	static unsigned count;

	if (fchmodat(from, name, 0700, 0) <
	    0) /* to move a folder one must be able to write in it */
		return false;
	for (int i = 0; i < ROUNDS; i++) {
		char to[32];

		(void)snprintf(to, sizeof to, ".moved-%u", count++);
		if (renameat2(from, name, top, to, RENAME_NOREPLACE) == 0)
			return true;
		no_moves = errno == EXDEV;
		if (errno != EEXIST)
			return false;
	}
	return false;
}

/* The folder 'name' of top, and what is in it. Its folders end up in top. */
static bool remove_dir(int top, const char *name)
{
	bool ok = true;
	DIR *d;

	if (fchmodat(top, name, 0700, 0) < 0)
		return false;
	d = open_dir(top, name);
	if (!d)
		return false;
	for (struct dirent *f; ok && (f = readdir(d));)
		if (!is_dots(f->d_name) && unlinkat(dirfd(d), f->d_name, 0) < 0)
			ok = (errno == EISDIR || errno == EPERM) &&
			     move_up(dirfd(d), f->d_name, top);
	(void)closedir(d);
	return ok && unlinkat(top, name, AT_REMOVEDIR) == 0;
}

/* One pass; *ret_left: there may be more. */
static bool empty_once(int dir, bool *ret_left)
{
	DIR *d = open_dir(dir, ".");
	bool ok = d;

	*ret_left = false;
	for (struct dirent *f; ok && (f = readdir(d));) {
		if (is_dots(f->d_name))
			continue;
		*ret_left = true;
		if (unlinkat(dir, f->d_name, 0) < 0)
			ok = (errno == EISDIR || errno == EPERM) && remove_dir(dir, f->d_name);
	}
	if (d)
		(void)closedir(d);
	return ok;
}

/* Removes all of a folder but the first folder that is not empty: its descriptor; -1: none. */
static int next_dir(int at, bool *ok)
{
	DIR *d = open_dir(at, ".");
	int ret = -1;

	*ok = d;
	for (struct dirent *f; *ok && ret < 0 && (f = readdir(d));) {
		if (is_dots(f->d_name) || unlinkat(at, f->d_name, 0) == 0)
			continue;
		if (unlinkat(at, f->d_name, AT_REMOVEDIR) == 0)
			continue;
		*ok = fchmodat(at, f->d_name, 0700, 0) == 0;
		ret = openat(at, f->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		*ok = *ok && ret >= 0;
	}
	if (d)
		(void)closedir(d);
	return ret;
}

/* Without moving: down to what can be removed, and up again. Nobody is left who could move a folder
 * meanwhile.
 */
static bool empty_down(int dir)
{
	int at = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat top, st;
	bool ok = at >= 0 && fstat(at, &top) == 0;

	while (ok) {
		int to = next_dir(at, &ok);

		if (ok && to < 0) {
			ok = fstat(at, &st) == 0;
			if (ok && st.st_ino == top.st_ino && st.st_dev == top.st_dev)
				break;
			to = openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		}
		ok = ok && to >= 0;
		(void)close(at);
		at = to;
	}
	if (at >= 0)
		(void)close(at);
	return ok;
}

bool clean_dir(int dir)
{
	bool left = true;

	for (int i = 0; left; i++) {
		if (i == ROUNDS)
			return false;
		if (!empty_once(dir, &left))
			return no_moves && empty_down(dir);
	}
	return true;
}
