/* oracle.h - numbers of other implementations from ../shared/data/oracle, where that is there. */
#ifndef ORACLE_H
#define ORACLE_H

#include "base/io.h"
#include "base/json.h"

#include <stdlib.h>

static inline const struct json *oracle_open(struct arena *a, const char *path)
{
	AUTO_BUF b = { .max = 4 << 20 };
	const struct json *j;
	struct err e;

	if (!io_exists(path))
		return NULL;
	assert_int_equal(io_load(path, &b, &e), 0);
	assert_int_equal(json_parse(buf_str(&b), a, &j, &e), 0);
	return j;
}

/* Numbers are followed by , or ] in the text of the file's tree; their views end with NUL here. */
static inline double oracle_num(const struct json *j)
{
	char text[64];

	assert_true(j && (j->type == JSON_NUM || j->type == JSON_STR) && j->text.n < sizeof text);
	memcpy(text, j->text.p, j->text.n);
	text[j->text.n] = 0;
	return strtod(text, NULL);
}

static inline double oracle_at(const struct json *m, int row, int col)
{
	return oracle_num(json_at(json_at(m, row), col));
}

#define ORACLE_PATH "../shared/data/oracle/verl.json"

#endif
