/* store.c - writes a run directory.
 *
 * Theory of operation. run.sqlite holds everything; WAL lets readers look on (`cupel runs`) while
 * a run writes. A step is one transaction with synchronous=FULL: when store_step() has returned,
 * the step survives a power cut, so a checkpoint that is written after it never knows more steps
 * than the store. metrics.jsonl is a copy for people (store_lines.c), made whole again at the next
 * open; its descriptor carries the lock that keeps a second writer out. Nothing but the last step
 * can be lost, and a run that resumes at step N first cuts everything from N on, so that it leaves
 * the same rows and lines as a run that never stopped.
 */
#include "store/store_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

static const char *const queries[N_QUERIES] = {
	[Q_BEGIN] = "BEGIN IMMEDIATE",
	[Q_COMMIT] = "COMMIT",
	[Q_ROLLBACK] = "ROLLBACK",
	[Q_CONFIG] = "UPDATE run SET config = ?",
	[Q_STEP] = "INSERT INTO steps VALUES (?, ?, ?, ?) ON CONFLICT (step) DO UPDATE SET"
		   " n_groups = n_groups + excluded.n_groups,"
		   " n_samples = n_samples + excluded.n_samples, n_tok = n_tok + excluded.n_tok",
	[Q_GROUP] = "INSERT INTO groups VALUES (?, ?, ?, ?, ?, ?, ?)",
	[Q_SAMPLE] = "INSERT INTO samples VALUES"
		     " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[Q_REWARD] = "INSERT INTO rewards VALUES (?, ?, ?)",
	[Q_TEST] = "INSERT INTO tests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[Q_METRIC] = "INSERT INTO metrics VALUES (?, ?, ?, ?, ?)",
	[Q_LAST_LINE] = "SELECT coalesce(max(line), 0) FROM metrics",
	[Q_SEEN] = "SELECT count(*), avg(reward) FROM samples INDEXED BY samples_task"
		   " WHERE task_id = ? AND reward IS NOT NULL",
};

int store_sql_fail(sqlite3 *db, const char *dir, struct err *e)
{
	int rc = sqlite3_errcode(db) & 0xff;

	if (rc == SQLITE_NOTADB || rc == SQLITE_CORRUPT)
		return FAIL(e, ERR_PARSE, "%s/run.sqlite: %s", dir, sqlite3_errmsg(db));
	errno = sqlite3_system_errno(db); /* not that of some other call */
	return FAIL(e, rc == SQLITE_NOMEM ? ERR_NOMEM : ERR_SYS, "%s/run.sqlite: %s", dir,
	            sqlite3_errmsg(db));
}

void store_put_text(struct bind *b, struct str s)
{
	if (s.p)
		(void)sqlite3_bind_text64(b->q, ++b->i, s.p, s.n, SQLITE_STATIC, SQLITE_UTF8);
	else
		(void)sqlite3_bind_null(b->q, ++b->i);
}

struct bind store_ready(struct store *s, enum query k)
{
	return (struct bind){ s->q[k], 0 };
}

int store_run(struct store *s, enum query k, struct err *e)
{
	int rc = sqlite3_step(s->q[k]), r = 0;

	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		r = store_sql_fail(s->db, s->dir, e);
	(void)sqlite3_reset(s->q[k]);
	(void)sqlite3_clear_bindings(s->q[k]);
	return r;
}

static int exec(struct store *s, const char *sql, struct err *e)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK
	               ? 0
	               : store_sql_fail(s->db, s->dir, e);
}

static int user_version(struct store *s, int *ret, struct err *e)
{
	sqlite3_stmt *q = NULL;
	int r = 0;

	if (sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &q, NULL) != SQLITE_OK ||
	    sqlite3_step(q) != SQLITE_ROW)
		r = store_sql_fail(s->db, s->dir, e);
	else
		*ret = sqlite3_column_int(q, 0);
	sqlite3_finalize(q);
	return r;
}

static int make_tables(struct store *s, struct err *e)
{
	char sql[160];
	int version = 0, r = user_version(s, &version, e);

	if (r < 0)
		return r;
	if (version == STORE_SCHEMA)
		return 0;
	if (version != 0)
		return FAIL(e, ERR_RANGE, "%s/run.sqlite has schema %d, this program knows %d",
		            s->dir, version, STORE_SCHEMA);
	(void)snprintf(sql, sizeof sql,
	               "INSERT INTO run VALUES (1, %lld, NULL);"
	               "PRAGMA user_version = %d; COMMIT",
	               (long long)time(NULL), STORE_SCHEMA);
	r = exec(s, "BEGIN IMMEDIATE", e);
	if (r == 0)
		r = exec(s, store_schema, e);
	if (r == 0)
		r = exec(s, sql, e);
	if (r < 0)
		(void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

static int open_database(struct store *s, struct err *e)
{
	char path[4096];

	if ((size_t)snprintf(path, sizeof path, "%s/run.sqlite", s->dir) >= sizeof path)
		return FAIL(e, ERR_LIMIT, "%s: path is too long", s->dir);
	if (sqlite3_open_v2(path, &s->db,
	                    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
	                    NULL) != SQLITE_OK)
		return s->db ? store_sql_fail(s->db, s->dir, e) : FAIL(e, ERR_NOMEM, "%s", path);
	(void)sqlite3_busy_timeout(s->db, 10000);
	if (exec(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", e) < 0 ||
	    make_tables(s, e) < 0)
		return e ? e->code : ERR_SYS;
	for (int k = 0; k < N_QUERIES; k++)
		if (sqlite3_prepare_v3(s->db, queries[k], -1, SQLITE_PREPARE_PERSISTENT, &s->q[k],
		                       NULL) != SQLITE_OK)
			return store_sql_fail(s->db, s->dir, e);
	return 0;
}

static int open_metrics(struct store *s, struct err *e)
{
	char path[4096];

	if ((size_t)snprintf(path, sizeof path, "%s/metrics.jsonl", s->dir) >= sizeof path)
		return FAIL(e, ERR_LIMIT, "%s: path is too long", s->dir);
	s->metrics_fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (s->metrics_fd < 0)
		return FAIL(e, ERR_SYS, "%s: %s", path, strerror(errno));
	if (flock(s->metrics_fd, LOCK_EX | LOCK_NB) < 0)
		return FAIL(e, ERR_SYS, "%s: %s", s->dir,
		            errno == EWOULDBLOCK ? "another process writes to this run"
		                                 : strerror(errno));
	return 0;
}

static bool has_run(const char *dir)
{
	char path[4096];

	(void)snprintf(path, sizeof path, "%s/run.sqlite", dir);
	return io_exists(path);
}

/* A database that could not be made whole must not look like a run the next time. */
static void remove_database(const struct store *s)
{
	static const char *const name[] = { "run.sqlite", "run.sqlite-wal", "run.sqlite-shm" };
	char path[4096];

	for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
		(void)snprintf(path, sizeof path, "%s/%s", s->dir, name[i]);
		(void)unlink(path);
	}
}

int store_open(const char *dir, bool resume, struct store **ret, struct err *e)
{
	struct store *s = calloc(1, sizeof *s);
	struct err own;
	bool fresh;
	int r;

	e = e ? e : &own;
	if (!s || !(s->dir = strdup(dir))) {
		free(s);
		return FAIL(e, ERR_NOMEM, "store %s", dir);
	}
	s->metrics_fd = -1;
	s->line.max = 1 << 20;
	r = io_mkdirs(dir, e);
	if (r == 0)
		r = open_metrics(s, e);
	if (r == 0 && !resume && has_run(dir))
		r = FAIL(e, ERR_RANGE, "%s already holds a run: resume it or name another folder",
		         dir);
	fresh = r == 0 && !has_run(dir);
	if (r == 0)
		r = open_database(s, e);
	if (r == 0)
		r = store_lines_sync(s->db, s->dir, s->metrics_fd, e);
	if (r < 0) {
		if (fresh)
			remove_database(s);
		store_close(s);
		return err_wrap(e, "run store");
	}
	*ret = s;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	for (int k = 0; k < N_QUERIES; k++)
		sqlite3_finalize(s->q[k]);
	(void)sqlite3_close(s->db);
	if (s->metrics_fd >= 0)
		(void)close(s->metrics_fd);
	buf_done(&s->line);
	free(s->dir);
	free(s);
}

const char *store_dir(const struct store *s)
{
	return s->dir;
}

int store_config(struct store *s, struct str json, struct err *e)
{
	struct bind b = store_ready(s, Q_CONFIG);
	char path[4096];

	if ((size_t)snprintf(path, sizeof path, "%s/config.json", s->dir) >= sizeof path)
		return FAIL(e, ERR_LIMIT, "%s: path is too long", s->dir);
	if (io_save(path, json, e) < 0)
		return err_wrap(e, "run store");
	store_put_text(&b, json);
	return store_run(s, Q_CONFIG, e) < 0 ? err_wrap(e, "run store") : 0;
}

int store_truncate(struct store *s, int64_t step, struct err *e)
{
	char sql[640];
	int r;

	(void)snprintf(
		sql, sizeof sql,
		"BEGIN IMMEDIATE;"
		"DELETE FROM tests WHERE sample IN (SELECT id FROM samples WHERE step >= %lld);"
		"DELETE FROM rewards WHERE sample IN (SELECT id FROM samples WHERE step >= %lld);"
		"DELETE FROM samples WHERE step >= %lld;"
		"DELETE FROM groups WHERE step >= %lld;"
		"DELETE FROM metrics WHERE step >= %lld;"
		"DELETE FROM steps WHERE step >= %lld;"
		"COMMIT",
		(long long)step, (long long)step, (long long)step, (long long)step, (long long)step,
		(long long)step);
	r = exec(s, sql, e);
	if (r < 0 && !sqlite3_get_autocommit(s->db))
		(void)store_run(s, Q_ROLLBACK, NULL);
	if (r == 0)
		r = store_lines_sync(s->db, s->dir, s->metrics_fd, e);
	return r < 0 ? err_wrap(e, "run store") : 0;
}

int store_task_seen(struct store *s, struct str task_id, int64_t *ret_n, double *ret_mean,
                    struct err *e)
{
	struct bind b = store_ready(s, Q_SEEN);
	int64_t n = 0;
	double mean = 0;
	int r = 0;

	store_put_text(&b, task_id.p ? task_id : STR(""));
	if (sqlite3_step(s->q[Q_SEEN]) == SQLITE_ROW) {
		n = sqlite3_column_int64(s->q[Q_SEEN], 0);
		mean = sqlite3_column_double(s->q[Q_SEEN], 1); /* NULL reads as 0 */
	} else {
		r = store_sql_fail(s->db, s->dir, e);
	}
	(void)sqlite3_reset(s->q[Q_SEEN]);
	(void)sqlite3_clear_bindings(s->q[Q_SEEN]);
	if (r < 0)
		return err_wrap(e, "run store");
	*ret_n = n;
	*ret_mean = mean;
	return 0;
}
