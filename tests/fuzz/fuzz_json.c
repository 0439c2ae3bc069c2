/* fuzz_json.c - any bytes as JSON: what is taken is written, read again, and must be the same. */
#include "base/json.h"
#include "base/jsonw.h"

#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	AUTO_ARENA a = { .limit = 1 << 24 };
	AUTO_BUF once = { .max = 1 << 24 }, twice = { .max = 1 << 24 };
	struct jsonw w1 = { &once }, w2 = { &twice };
	const struct json *j = NULL;
	struct err e;

	if (json_parse((struct str){ (const char *)data, n }, &a, &j, &e) < 0)
		return 0;
	jsonw_json(&w1, j);
	if (once.failed || json_parse(buf_str(&once), &a, &j, &e) == ERR_LIMIT)
		return 0;
	assert(json_parse(buf_str(&once), &a, &j, &e) == 0);
	jsonw_json(&w2, j);
	assert(str_eq(buf_str(&once), buf_str(&twice)));
	return 0;
}
