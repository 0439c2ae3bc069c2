/* store_int.h - what the files of the store share. */
#ifndef STORE_STORE_INT_H
#define STORE_STORE_INT_H

#include "base/buf.h"
#include "base/err.h"
#include "store/store.h"

#include <sqlite3.h>
#include <stdint.h>

enum { STORE_SCHEMA = 1 }; /* user_version of the database */

extern const char store_schema[];

enum query {
	Q_BEGIN,
	Q_COMMIT,
	Q_ROLLBACK,
	Q_CONFIG,
	Q_STEP,
	Q_GROUP,
	Q_SAMPLE,
	Q_REWARD,
	Q_TEST,
	Q_METRIC,
	Q_LAST_LINE,
	Q_SEEN,
	N_QUERIES
};

struct store {
	char *dir;
	sqlite3 *db;
	int metrics_fd;
	sqlite3_stmt *q[N_QUERIES];
	struct buf line; /* of metrics.jsonl, the next one */
};

/* Values of the next execution of a statement, in order. Errors of binding show when it runs. */
struct bind {
	sqlite3_stmt *q;
	int i;
};

struct bind store_ready(struct store *s, enum query k);
void store_put_text(struct bind *b, struct str s); /* p == NULL: NULL; s must live until it ran */
int store_run(struct store *s, enum query k, struct err *e); /* to its end, and forget the values */

/* The last error of db, after the name of the run directory. */
int store_sql_fail(sqlite3 *db, const char *dir, struct err *e);

/* Copy the lines of metrics.jsonl that are in the database into the file: what is already there is
 * kept, the rest is cut off and written.
 */
int store_lines_sync(sqlite3 *db, const char *dir, int fd, struct err *e);

/* One line, LF included: {"step":1,"reward":0.5}. */
struct jsonw;
void store_line_begin(struct jsonw *w, int64_t step);
void store_line_add(struct jsonw *w, const char *name, double value);
void store_line_end(struct jsonw *w);

#endif
