/* store_query.c - reads a run directory. */
#include "store/store_query.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "store/store_int.h"

struct reader {
	const char *dir;
	sqlite3 *db;
	struct arena *a;
};

bool store_is_run(const char *dir)
{
	char path[PATH_MAX];

	return (size_t)snprintf(path, sizeof path, "%s/run.sqlite", dir) < sizeof path &&
	       io_exists(path);
}

static bool has_checkpoint(const char *dir)
{
	char path[PATH_MAX];

	return (size_t)snprintf(path, sizeof path, "%s/checkpoint/COMPLETE", dir) < sizeof path &&
	       io_exists(path);
}

/* A URI, in which ? # and % mean something. */
static int open_one(struct reader *r, const char *tail)
{
	AUTO_BUF uri = { .max = 3 * PATH_MAX };

	buf_puts(&uri, "file:");
	for (const char *p = r->dir; *p; p++)
		if (*p == '?' || *p == '#' || *p == '%')
			buf_putf(&uri, "%%%02x", (unsigned char)*p);
		else
			buf_putc(&uri, *p);
	buf_puts(&uri, tail);
	if (uri.failed)
		return SQLITE_NOMEM;
	return sqlite3_open_v2(buf_cstr(&uri), &r->db,
	                       SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
}

static int version(struct reader *r, int *ret)
{
	sqlite3_stmt *q = NULL;
	int rc = sqlite3_prepare_v2(r->db, "PRAGMA user_version", -1, &q, NULL);

	if (rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW)
		*ret = sqlite3_column_int(q, 0);
	sqlite3_finalize(q);
	return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* WAL wants a file beside the database. Where this user may not make one, and nobody writes to the
 * run, the database can be read as it is.
 */
static int reader_open(struct reader *r, struct err *e)
{
	int v = 0, rc;

	if (!store_is_run(r->dir))
		return FAIL(e, ERR_NOENT, "%s: no run here (no run.sqlite)", r->dir);
	rc = open_one(r, "/run.sqlite");
	if (rc == SQLITE_OK) {
		(void)sqlite3_busy_timeout(r->db, 10000);
		rc = version(r, &v);
	}
	if (rc == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY) {
		(void)sqlite3_close(r->db);
		r->db = NULL;
		rc = open_one(r, "/run.sqlite?immutable=1");
		if (rc == SQLITE_OK)
			rc = version(r, &v);
	}
	if (rc != SQLITE_OK)
		return r->db ? store_sql_fail(r->db, r->dir, e) : FAIL(e, ERR_NOMEM, "%s", r->dir);
	if (v != STORE_SCHEMA)
		return FAIL(e, ERR_RANGE, "%s/run.sqlite has schema %d, this program knows %d",
		            r->dir, v, STORE_SCHEMA);
	return 0;
}

typedef int row_fn(void *arg, struct reader *r, sqlite3_stmt *q, struct err *e);

static int each_row(struct reader *r, const char *sql, const char *text, row_fn *row, void *arg,
                    struct err *e)
{
	sqlite3_stmt *q = NULL;
	int rc = sqlite3_prepare_v2(r->db, sql, -1, &q, NULL), n = 0;

	if (rc == SQLITE_OK && text)
		rc = sqlite3_bind_text(q, 1, text, -1, SQLITE_STATIC);
	while (n == 0 && rc == SQLITE_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
		n = row(arg, r, q, e);
		rc = SQLITE_OK;
	}
	if (n == 0 && rc != SQLITE_DONE)
		n = store_sql_fail(r->db, r->dir, e);
	sqlite3_finalize(q);
	return n;
}

static int text_of(struct reader *r, sqlite3_stmt *q, int col, struct str *ret, struct err *e)
{
	const char *p = (const char *)sqlite3_column_text(q, col);
	struct str s = { p, (size_t)sqlite3_column_bytes(q, col) };

	if (!p) {
		*ret = (struct str){ 0 };
		return 0;
	}
	*ret = arena_str(r->a, s);
	return ret->p ? 0 : FAIL(e, ERR_LIMIT, "%s: text of %zu bytes", r->dir, s.n);
}

static int row_run(void *arg, struct reader *r, sqlite3_stmt *q, struct err *e)
{
	struct store_summary *s = arg;

	s->created_s = sqlite3_column_int64(q, 0);
	return text_of(r, q, 1, &s->config, e);
}

static int row_steps(void *arg, struct reader *r, sqlite3_stmt *q, struct err *e)
{
	struct store_summary *s = arg;

	(void)r, (void)e;
	s->n_steps = sqlite3_column_int64(q, 0);
	s->last_step = sqlite3_column_int64(q, 1);
	s->n_groups = sqlite3_column_int64(q, 2);
	s->n_silent = sqlite3_column_int64(q, 3);
	return 0;
}

static int row_samples(void *arg, struct reader *r, sqlite3_stmt *q, struct err *e)
{
	struct store_summary *s = arg;

	(void)r, (void)e;
	s->n_samples = sqlite3_column_int64(q, 0);
	s->n_sampled_tok = sqlite3_column_int64(q, 1);
	s->n_rewarded = sqlite3_column_int64(q, 2);
	s->mean_reward = sqlite3_column_double(q, 3);
	return 0;
}

static int row_verdict(void *arg, struct reader *r, sqlite3_stmt *q, struct err *e)
{
	struct store_summary *s = arg;
	const char *name = (const char *)sqlite3_column_text(q, 0);

	for (int v = 0; v <= VERDICT_JUDGE_ERROR; v++)
		if (name && strcmp(name, verdict_text((enum verdict)v)) == 0) {
			s->by_verdict[v] = sqlite3_column_int64(q, 1);
			return 0;
		}
	return FAIL(e, ERR_PARSE, "%s/run.sqlite: unknown verdict '%s'", r->dir, name ? name : "");
}

static double value_of(sqlite3_stmt *q, int col)
{
	return sqlite3_column_type(q, col) == SQLITE_NULL ? NAN : sqlite3_column_double(q, col);
}

/* A list that was counted before it is read. */
struct list {
	int n, max;
	struct metric *metric;
	struct store_point *point;
};

static int row_count(void *arg, struct reader *r, sqlite3_stmt *q, struct err *e)
{
	struct list *l = arg;

	l->max = sqlite3_column_int(q, 0);
	l->metric = arena_new(r->a, struct metric, l->max + 1);
	l->point = arena_new(r->a, struct store_point, l->max + 1);
	if (!l->metric || !l->point)
		return FAIL(e, ERR_LIMIT, "%s: %d values", r->dir, l->max);
	return 0;
}

static int row_metric(void *arg, struct reader *r, sqlite3_stmt *q, struct err *e)
{
	struct list *l = arg;
	struct str name;

	if (l->n == l->max)
		return 0; /* written since they were counted */
	if (text_of(r, q, 0, &name, e) < 0)
		return e ? e->code : ERR_LIMIT;
	l->metric[l->n++] = (struct metric){ name.p, value_of(q, 1) };
	return 0;
}

static int row_point(void *arg, struct reader *r, sqlite3_stmt *q, struct err *e)
{
	struct list *l = arg;

	(void)r, (void)e;
	if (l->n < l->max)
		l->point[l->n++] =
			(struct store_point){ sqlite3_column_int64(q, 0), value_of(q, 1) };
	return 0;
}

static int summarize(struct reader *r, struct store_summary *s, struct err *e)
{
	struct list l = { 0 };
	int n = each_row(r, "SELECT created_s, config FROM run", NULL, row_run, s, e);

	if (n == 0)
		n = each_row(r,
		             "SELECT (SELECT count(*) FROM steps),"
		             " (SELECT coalesce(max(step), -1) FROM steps),"
		             " (SELECT count(*) FROM groups),"
		             " (SELECT coalesce(sum(silent), 0) FROM groups)",
		             NULL, row_steps, s, e);
	if (n == 0)
		n = each_row(r,
		             "SELECT count(*), coalesce(sum(n_sampled), 0), count(reward),"
		             " coalesce(avg(reward), 0) FROM samples",
		             NULL, row_samples, s, e);
	if (n == 0)
		n = each_row(r, "SELECT verdict, count(*) FROM samples GROUP BY verdict", NULL,
		             row_verdict, s, e);
	if (n == 0)
		n = each_row(r, "SELECT count(DISTINCT name) FROM metrics", NULL, row_count, &l, e);
	if (n == 0) /* with max(), SQLite takes the other columns from the row of the maximum */
		n = each_row(r,
		             "SELECT name, value, max(line * 65536 + ord) FROM metrics"
		             " GROUP BY name ORDER BY name",
		             NULL, row_metric, &l, e);
	s->metric = l.metric;
	s->n_metrics = l.n;
	return n;
}

int store_summarize(const char *dir, struct arena *a, struct store_summary *ret, struct err *e)
{
	struct store_summary s = { .checkpoint = has_checkpoint(dir) };
	struct reader r = { dir, NULL, a };
	int n = reader_open(&r, e);

	if (n == 0)
		n = summarize(&r, &s, e);
	(void)sqlite3_close(r.db);
	if (n == 0)
		*ret = s;
	return n;
}

int store_series(const char *dir, const char *metric, struct arena *a, struct store_point **ret,
                 int *ret_n, struct err *e)
{
	struct reader r = { dir, NULL, a };
	struct list l = { 0 };
	int n = reader_open(&r, e);

	if (n == 0)
		n = each_row(&r, "SELECT count(*) FROM metrics WHERE name = ?", metric, row_count,
		             &l, e);
	if (n == 0)
		n = each_row(&r,
		             "SELECT step, value FROM metrics WHERE name = ? ORDER BY line, ord",
		             metric, row_point, &l, e);
	(void)sqlite3_close(r.db);
	if (n < 0)
		return n;
	*ret = l.point;
	*ret_n = l.n;
	return 0;
}
