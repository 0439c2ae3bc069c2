/* io.c - reading and writing files. */
#include "base/io.h"

#include "base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int io_write(int fd, const void *p, size_t n, struct err *e)
{
	const char *at = p;

	while (n) {
		ssize_t k = write(fd, at, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return FAIL(e, ERR_SYS, "write: %s", strerror(errno));
		at += k;
		n -= (size_t)k;
	}
	return 0;
}

int io_read(int fd, void *p, size_t n, size_t *ret_n, struct err *e)
{
	size_t got = 0;

	while (got < n) {
		ssize_t k = read(fd, (char *)p + got, n - got);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return FAIL(e, ERR_SYS, "read: %s", strerror(errno));
		if (k == 0)
			break;
		got += (size_t)k;
	}
	*ret_n = got;
	return 0;
}

int io_load(const char *path, struct buf *b, struct err *e)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum { STEP = 1 << 16 };

	if (fd < 0)
		return FAIL(e, ERR_SYS, "%s: %s", path, strerror(errno));
	for (;;) {
		size_t left = b->max - b->n, want = left < STEP ? left : STEP, got;
		char last, *at = want ? buf_room(b, want) : &last;
		int r;

		if (!at)
			return buf_check(b, path, e);
		r = io_read(fd, at, want ? want : 1, &got, e);
		if (r < 0)
			return err_wrap(e, "%s", path);
		if (!want) /* full: fine if that was all */
			return got ? FAIL(e, ERR_LIMIT, "%s is longer than %zu bytes", path, b->max)
			           : 0;
		b->n += got;
		if (got < want)
			return 0;
	}
}

static int sync_folder_of(const char *path)
{
	char dir[4096];
	const char *slash = strrchr(path, '/');
	int n = slash ? (int)(slash - path) : 0;
	AUTO_FD int fd = -1;

	(void)snprintf(dir, sizeof dir, "%.*s", n ? n : 1, n ? path : slash ? "/" : ".");
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -1 : fsync(fd);
}

int io_save(const char *path, struct str text, struct err *e)
{
	char tmp[4096];
	AUTO_FD int fd = -1;
	int r;

	if ((size_t)snprintf(tmp, sizeof tmp, "%s.tmp", path) >= sizeof tmp)
		return FAIL(e, ERR_LIMIT, "%s: path is too long", path);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return FAIL(e, ERR_SYS, "%s: %s", tmp, strerror(errno));
	r = io_write(fd, text.p, text.n, e);
	if (r == 0 && (fsync(fd) < 0 || close(take_fd(&fd)) < 0))
		r = FAIL(e, ERR_SYS, "%s", strerror(errno));
	if (r == 0 && rename(tmp, path) < 0)
		r = FAIL(e, ERR_SYS, "rename: %s", strerror(errno));
	if (r < 0) {
		(void)unlink(tmp);
		return err_wrap(e, "%s", path);
	}
	(void)sync_folder_of(path);
	return 0;
}

int io_mkdirs(const char *path, struct err *e)
{
	char dir[4096];
	size_t n = strlen(path);
	struct stat st;

	if (n >= sizeof dir)
		return FAIL(e, ERR_LIMIT, "%s: path is too long", path);
	memcpy(dir, path, n + 1);
	for (size_t i = 1; i <= n; i++) {
		if (dir[i] != '/' && dir[i])
			continue;
		char c = dir[i];

		dir[i] = 0;
		if (mkdir(dir, 0777) < 0 && errno != EEXIST)
			return FAIL(e, ERR_SYS, "%s: %s", dir, strerror(errno));
		dir[i] = c;
	}
	if (stat(path, &st) < 0)
		return FAIL(e, ERR_SYS, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return FAIL(e, ERR_SYS, "%s: %s", path, strerror(errno));
	}
	return 0;
}

bool io_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int io_remove_tree(const char *path, struct err *e)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) < 0 && errno != ENOENT)
		return FAIL(e, ERR_SYS, "remove %s: %s", path, strerror(errno));
	return 0;
}
