/* fuzz_task.c - any bytes as a record of any format: what loads is written as a native record,
 * loads again, and is written the same.
 */
#include "base/jsonw.h"
#include "task/task.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* Marks are deeper than what they stand for. */
static bool is_too_deep(const struct err *e)
{
	return strstr(e->msg, "nested too deeply");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	AUTO_ARENA a = { .limit = 1 << 26 };
	AUTO_BUF once = { .max = 1 << 24 }, twice = { .max = 1 << 24 };
	struct jsonw w1 = { &once }, w2 = { &twice };
	const struct json *j = NULL;
	struct task t;
	struct err e;
	int r;

	if (json_parse((struct str){ (const char *)data, n }, &a, &j, &e) < 0 ||
	    task_load(NULL, j, &a, &t, &e) < 0)
		return 0;
	(void)task_program(&t, t.reference, &a);
	task_write(&t, &w1);
	r = once.failed ? ERR_LIMIT : json_parse(buf_str(&once), &a, &j, &e);
	if (r == ERR_LIMIT || (r < 0 && is_too_deep(&e)))
		return 0;
	assert(r == 0);
	r = task_load(NULL, j, &a, &t, &e);
	assert(r == 0 || r == ERR_LIMIT);
	if (r < 0)
		return 0;
	task_write(&t, &w2);
	assert(str_eq(buf_str(&once), buf_str(&twice)));
	return 0;
}
