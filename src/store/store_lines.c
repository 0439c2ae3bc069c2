/* store_lines.c - metrics.jsonl, a copy of the table metrics that people and tools can follow.
 *
 * The database is the truth. A line is written after its transaction; whoever dies in between
 * leaves a file that lacks a line or has half of one. The next store_open() makes it whole.
 */
#include "store/store_int.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/jsonw.h"

enum { LINE_MAX_BYTES = 4 << 20 };

void store_line_begin(struct jsonw *w, int64_t step)
{
	w->comma = false;
	jsonw_open(w, '{');
	jsonw_key(w, "step"), jsonw_int(w, step);
}

void store_line_add(struct jsonw *w, const char *name, double value)
{
	jsonw_key(w, name), jsonw_real(w, value);
}

void store_line_end(struct jsonw *w)
{
	jsonw_close(w, '}');
	buf_putc(w->b, '\n');
}

/* The file so far and the line that ought to come next. */
struct sync {
	int fd;
	off_t at;
	bool same; /* what is before `at` was in the file already, and nothing was cut off */
	struct buf line, have;
};

static int put_line(struct sync *s, struct err *e)
{
	size_t n = 0;

	if (buf_check(&s->line, "line", e) < 0)
		return e ? e->code : ERR_LIMIT;
	if (s->same) {
		char *p;

		buf_reset(&s->have);
		p = buf_room(&s->have, s->line.n);
		if (!p)
			return buf_check(&s->have, "line", e);
		if (lseek(s->fd, s->at, SEEK_SET) < 0)
			return FAIL(e, ERR_SYS, "seek: %s", strerror(errno));
		if (io_read(s->fd, p, s->line.n, &n, e) < 0)
			return e ? e->code : ERR_SYS;
		s->same = n == s->line.n && memcmp(p, s->line.p, n) == 0;
		if (!s->same && ftruncate(s->fd, s->at) < 0)
			return FAIL(e, ERR_SYS, "truncate: %s", strerror(errno));
	}
	if (!s->same && io_write(s->fd, s->line.p, s->line.n, e) < 0)
		return e ? e->code : ERR_SYS;
	s->at += (off_t)s->line.n;
	buf_reset(&s->line);
	return 0;
}

static int sync_rows(sqlite3 *db, const char *dir, sqlite3_stmt *q, struct sync *s, struct err *e)
{
	struct jsonw w = { &s->line };
	int64_t line = 0; /* numbers of lines begin with 1 */
	int rc, r = 0;

	while (r == 0 && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(q, 2);
		bool none = sqlite3_column_type(q, 3) == SQLITE_NULL;

		if (line && line != sqlite3_column_int64(q, 0)) {
			store_line_end(&w);
			r = put_line(s, e);
		}
		if (line != sqlite3_column_int64(q, 0))
			store_line_begin(&w, sqlite3_column_int64(q, 1));
		line = sqlite3_column_int64(q, 0);
		store_line_add(&w, name ? name : "",
		               none ? __builtin_nan("") : sqlite3_column_double(q, 3));
	}
	if (r < 0)
		return r;
	if (rc != SQLITE_DONE)
		return store_sql_fail(db, dir, e);
	if (line) {
		store_line_end(&w);
		r = put_line(s, e);
	}
	if (r == 0 && ftruncate(s->fd, s->at) < 0)
		r = FAIL(e, ERR_SYS, "truncate: %s", strerror(errno));
	return r;
}

int store_lines_sync(sqlite3 *db, const char *dir, int fd, struct err *e)
{
	struct sync s = { .fd = fd,
		          .same = true,
		          .line = { .max = LINE_MAX_BYTES },
		          .have = { .max = LINE_MAX_BYTES } };
	sqlite3_stmt *q = NULL;
	int r;

	if (sqlite3_prepare_v2(db, "SELECT line, step, name, value FROM metrics ORDER BY line, ord",
	                       -1, &q, NULL) != SQLITE_OK)
		return store_sql_fail(db, dir, e);
	r = sync_rows(db, dir, q, &s, e);
	if (r < 0)
		err_wrap(e, "%s/metrics.jsonl", dir);
	sqlite3_finalize(q);
	buf_done(&s.line);
	buf_done(&s.have);
	return r;
}
