/* io_lines.c - lines of a plain or gzip file. zlib reads both; a gzip file that ends early is an
 * error, never a shorter file.
 */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { CHUNK = 1 << 16 };

struct io_lines {
	gzFile gz;
	struct buf line;
	char *name;
	char chunk[CHUNK];
	size_t at, n; /* unread bytes of chunk */
	size_t max_line;
	int number;
	bool end;
};

int io_lines_open(const char *path, size_t max_line, struct io_lines **ret, struct err *e)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	struct io_lines *l;

	if (fd < 0)
		return FAIL(e, ERR_SYS, "%s: %s", path, strerror(errno));
	l = calloc(1, sizeof *l);
	if (l) {
		l->gz = gzdopen(fd, "rb");
		l->name = strdup(is_stdin ? "stdin" : path);
		l->max_line = max_line;
		l->line.max = max_line + CHUNK;
	}
	if (!l || !l->gz || !l->name) {
		if (!l || !l->gz)
			(void)close(fd);
		io_lines_close(l);
		return FAIL(e, ERR_NOMEM, "%s", path);
	}
	*ret = l;
	return 0;
}

void io_lines_close(struct io_lines *l)
{
	if (!l)
		return;
	if (l->gz)
		(void)gzclose(l->gz);
	buf_done(&l->line);
	free(l->name);
	free(l);
}

static int refill(struct io_lines *l, struct err *e)
{
	int n = gzread(l->gz, l->chunk, CHUNK), code = Z_OK;
	const char *why;

	l->at = 0;
	l->n = n > 0 ? (size_t)n : 0;
	if (n > 0)
		return 0;
	l->end = true;
	why = gzerror(l->gz, &code);
	if (n == 0 && (code == Z_OK || code == Z_STREAM_END))
		return 0;
	if (code == Z_ERRNO && errno == EINTR) /* a handler without SA_RESTART: asked to stop */
		return FAIL(e, ERR_STOP, "%s:%d: interrupted", l->name, l->number + 1);
	if (code == Z_ERRNO)
		return FAIL(e, ERR_SYS, "%s:%d: %s", l->name, l->number + 1, strerror(errno));
	if (code == Z_BUF_ERROR)
		why = "compressed file is truncated";
	return FAIL(e, ERR_PARSE, "%s:%d: %s", l->name, l->number + 1, why);
}

static int too_long(const struct io_lines *l, struct err *e)
{
	bool mib = l->max_line >= 1 << 20;

	return FAIL(e, ERR_LIMIT, "%s:%d: line is longer than %zu %s", l->name, l->number + 1,
	            mib ? l->max_line >> 20 : l->max_line, mib ? "MiB" : "bytes");
}

int io_lines_next(struct io_lines *l, struct str *ret, struct err *e)
{
	buf_reset(&l->line);
	for (;;) {
		char *lf = memchr(l->chunk + l->at, '\n', l->n - l->at);
		size_t k = lf ? (size_t)(lf - (l->chunk + l->at)) : l->n - l->at;

		buf_put(&l->line, l->chunk + l->at, k);
		l->at += k + (lf ? 1 : 0);
		if (l->line.failed == ERR_NOMEM)
			return FAIL(e, ERR_NOMEM, "%s:%d", l->name, l->number + 1);
		if (l->line.failed || l->line.n > l->max_line)
			return too_long(l, e);
		if (lf || (l->end && l->line.n))
			break;
		if (l->end)
			return 0;
		int r = refill(l, e);
		if (r < 0)
			return r;
	}
	l->number++;
	*ret = buf_str(&l->line);
	return 1;
}

int io_lines_number(const struct io_lines *l)
{
	return l->number;
}

const char *io_lines_name(const struct io_lines *l)
{
	return l->name;
}
