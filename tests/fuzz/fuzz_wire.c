/* fuzz_wire.c - any bytes as what box.c sends to cupel-boxd: 'p' and a plan, or a digit and so many
 * zygotes. What is accepted points into the bytes, can be walked, and is the same when written
 * anew.
 */
#include "box/box_wire.h"

#include <stdlib.h>
#include <string.h>

static size_t walk(const char *const *text)
{
	size_t n = 0;
	int i = 0;

	for (; text[i]; i++)
		n += strlen(text[i]);
	if (i >= BOX_MAX_ARGS)
		abort();
	return n;
}

static void check_plan(struct str s)
{
	struct buf b = { .max = WIRE_PLAN_MAX };
	struct box_plan p, q;
	struct err e;

	if (box_wire_get_plan(s, &p, &e) < 0)
		return;
	if (walk(p.argv) + walk(p.env) + p.spec.n > s.n)
		abort();
	for (int i = 0; i < p.n_files; i++)
		if (strchr(p.file[i].name, '/') || p.file[i].text.n > s.n)
			abort();
	box_wire_put_plan(&b, &p);
	if (buf_check(&b, "plan", &e) < 0 || box_wire_get_plan(buf_str(&b), &q, &e) < 0 ||
	    q.n_files != p.n_files)
		abort();
	buf_done(&b);
}

static void check_zygotes(struct str s, int n)
{
	struct box_zygote z[BOX_MAX_ZYGOTES];
	struct err e;

	if (box_wire_get_zygotes(s, z, n, &e) < 0)
		return;
	for (int i = 0; i < n; i++)
		if (walk(z[i].argv) + walk(z[i].args) + walk(z[i].env) + z[i].boot.n > s.n ||
		    z[i].disk_bytes <= 0)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str s = { (const char *)data + 1, n - 1 };

	if (n && data[0] == 'p')
		check_plan(s);
	else if (n && data[0] >= '1' && data[0] <= '4')
		check_zygotes(s, data[0] - '0');
	return 0;
}
