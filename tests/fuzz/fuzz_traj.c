/* fuzz_traj.c - any bytes as a group: what is taken is written, read again, and must be the same.
 */
#include "base/json.h"
#include "traj/traj_io.h"

#include <assert.h>
#include <stdint.h>

static int read_group(struct str text, struct arena *a, struct group *ret, int *ret_n)
{
	const struct json *j = NULL;
	struct err e;
	int r = json_parse(text, a, &j, &e);

	return r < 0 ? r : traj_group_read(j, a, ret, ret_n, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	AUTO_ARENA a = { .limit = 1 << 24 };
	AUTO_BUF once = { .max = 1 << 24 }, twice = { .max = 1 << 24 };
	struct jsonw w1 = { &once }, w2 = { &twice };
	struct group g;
	struct batch b;
	int parts, r;

	if (read_group((struct str){ (const char *)data, n }, &a, &g, &parts) < 0)
		return 0;
	if (traj_batch(&g, 1, parts, &a, &b, NULL) == 0 && b.n_samples)
		assert(b.n_tok >= 0 && b.first[b.n_samples] == b.n_tok);
	traj_group_write(&g, parts, true, &w1);
	if (once.failed || (r = read_group(buf_str(&once), &a, &g, &parts)) == ERR_LIMIT)
		return 0;
	assert(r == 0);
	traj_group_write(&g, parts, true, &w2);
	assert(str_eq(buf_str(&once), buf_str(&twice)));
	return 0;
}
