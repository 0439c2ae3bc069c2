/* checker_unordered.c - the same elements in any order: lines of text, or items of a list. */
#include "judge/checker.h"

#include <stdlib.h>
#include <string.h>

struct cfg {
	bool deep;
};

static const struct opt opts[] = {
	{ "deep", OPT_BOOL, offsetof(struct cfg, deep), 0, 0, 0, "false", "",
	  "in lists within lists too" },
	{ 0 },
};

/* Word by word, so that the amount of blank between words does not matter. */
static int by_words(const void *x, const void *y)
{
	struct str a = *(const struct str *)x, b = *(const struct str *)y, v, w;

	for (;;) {
		bool more = str_next_token(&a, &v), gave = str_next_token(&b, &w);
		size_t n;
		int c;

		if (!more || !gave)
			return (int)more - (int)gave;
		n = v.n < w.n ? v.n : w.n;
		c = memcmp(v.p, w.p, n);
		if (c || v.n != w.n)
			return c ? c : v.n < w.n ? -1 : 1;
	}
}

static int count_lines(struct str s)
{
	struct str line;
	int n = 0;

	while (str_next_line(&s, &line))
		n++;
	return n;
}

static struct str *sorted_lines(struct str s, int n, struct arena *a)
{
	struct str *line = arena_new(a, struct str, n);

	for (int i = 0; line && i < n; i++)
		(void)str_next_line(&s, &line[i]);
	if (line && n)
		qsort(line, (size_t)n, sizeof *line, by_words);
	return line;
}

static int check(const void *cfg, const struct check_in *in, double *ret_score, struct err *e)
{
	struct str want = str_trim_end(in->expected), got = str_trim_end(in->got);
	int n = count_lines(want);
	AUTO_ARENA a = { .limit = 4 * sizeof(struct str) * ((size_t)n + 64) };
	struct str *w, *g;

	(void)cfg;
	*ret_score = 0;
	if (count_lines(got) != n)
		return 0;
	w = sorted_lines(want, n, &a);
	g = sorted_lines(got, n, &a);
	if (!w || !g)
		return FAIL(e, ERR_NOMEM, "%d lines", n);
	for (int i = 0; i < n; i++)
		if (by_words(&w[i], &g[i]) != 0)
			return 0;
	*ret_score = 1;
	return 0;
}

static double value(const void *cfg, struct value *want, struct value *got)
{
	const struct cfg *c = cfg;

	value_sort(want, c->deep);
	value_sort(got, c->deep);
	return value_same(want, got, 0, 0);
}

static const struct check_case cases[] = {
	{ { STR(""), STR("1 2\n3\n"), STR("3\n1  2") }, 1 },
	{ { STR(""), STR(""), STR("\n") }, 1 },
	{ { STR(""), STR("1\n1\n2"), STR("1\n2\n2") }, 0 },
	{ { STR(""), STR("1\n2"), STR("1\n2\n1") }, 0 },
	{ { STR(""), STR("1 2"), STR("2 1") }, 0 },
	{ 0 },
};

static const struct check_value_case value_cases[] = {
	{ "[0,1,2]", "[2,1,0]", 1 },
	{ "[1,2]", "{\"s\":[2,1]}", 1 },
	{ "[[1],[2,3]]", "[[2,3],[1]]", 1 },
	{ "[1,1,2]", "[1,2,2]", 0 },
	{ "[1,1,2]", "[1,2]", 0 },
	{ "[[1,2]]", "[[2,1]]", 0 },
	{ "[\"a\",1,null,2.5]", "[2.5,null,\"a\",1.0]", 1 },
	{ 0 },
};

const struct checker checker_unordered = {
	.name = "unordered",
	.doc = "the same lines or list items in any order",
	.source = "spec/FAULTS.md, R12",
	.opts = opts,
	.cfg_size = sizeof(struct cfg),
	.check = check,
	.value = value,
	.cases = cases,
	.value_cases = value_cases,
};
