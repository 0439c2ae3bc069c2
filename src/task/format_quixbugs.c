/* format_quixbugs.c - QuixBugs: one broken line to repair; tests are Python text. */
#include <string.h>

#include "base/buf.h"
#include "task/task.h"
#include "task/task_int.h"

static int detect(const struct json *rec)
{
	bool broken = json_get(rec, "buggy_program"), tests = json_get(rec, "tests");
	bool name = json_get(rec, "name");

	return broken && tests && name ? 90 : broken ? 10 : 0;
}

/* A line of its own: an assertion, or the call of a test function. */
static bool is_step(struct str line)
{
	return str_starts(line, STR("assert ")) ||
	       (str_starts(line, STR("test")) && line.p[line.n - 1] == ')');
}

/* The lines at the end that stand alone are the tests, the text before them is their set-up. */
static int load_tests(struct str text, struct arena *a, struct task *t, struct err *e)
{
	struct str rest = text, line;
	const char *first = NULL;
	struct test *test;
	int n = 0, i = 0;

	while (str_next_line(&rest, &line)) {
		line = str_trim_end(line);
		if (line.n && !is_step(line)) {
			first = NULL;
			n = 0;
		} else if (line.n) {
			first = first ? first : line.p;
			n++;
		}
	}
	if (n == 0)
		return FAIL(e, ERR_PARSE, "field 'tests' does not end in assertions or calls");
	test = task_tests_new(a, n, e);
	if (!test)
		return ERR_LIMIT;
	t->setup = (struct str){ text.p, (size_t)(first - text.p) };
	rest = (struct str){ first, text.n - t->setup.n };
	while (str_next_line(&rest, &line)) {
		line = str_trim_end(line);
		if (line.n)
			test[i++].code = line;
	}
	t->test = test;
	t->n_tests = n;
	t->kind = TASK_ASSERT;
	return 0;
}

static int make_prompt(struct task *t, struct str about, struct str broken, struct arena *a,
                       struct err *e)
{
	AUTO_BUF b = { .max = a->limit };
	int r;

	buf_puts(&b, "Fix the bug in ");
	buf_putstr(&b, t->entry_point);
	buf_puts(&b, ".\n\n");
	buf_putstr(&b, about);
	buf_puts(&b, "\n");
	buf_putstr(&b, broken);
	buf_puts(&b, "\n");
	r = buf_check(&b, "prompt", e);
	if (r < 0)
		return r;
	t->prompt = arena_str(a, buf_str(&b));
	return t->prompt.p ? 0 : FAIL(e, ERR_LIMIT, "record is too long");
}

static int load(const struct json *rec, struct arena *a, struct task *ret, struct err *e)
{
	struct str about = STR(""), broken = STR(""), tests = STR("");
	const char *id;
	int r = json_need_str(rec, "name", &ret->entry_point, e);

	if (r == 0)
		r = json_need_str(rec, "buggy_program", &broken, e);
	if (r == 0)
		r = json_opt_str(rec, "docstring", &about, e);
	if (r == 0)
		r = json_opt_str(rec, "solution", &ret->reference, e);
	if (r == 0)
		r = json_need_str(rec, "tests", &tests, e);
	if (r == 0)
		r = load_tests(tests, a, ret, e);
	if (r == 0)
		r = make_prompt(ret, about, broken, a, e);
	if (r < 0)
		return r;
	id = arena_printf(a, "QuixBugs/%.*s", (int)ret->entry_point.n, ret->entry_point.p);
	if (!id)
		return FAIL(e, ERR_LIMIT, "record is too long");
	ret->id = (struct str){ id, strlen(id) };
	ret->source = STR("QuixBugs");
	return 0;
}

static const struct format_case cases[] = {
	{ "{\"name\":\"inc\",\"buggy_program\":\"def inc(x):\\n    return x - 1\",\"docstring\":"
	  "\"\\\"\\\"\\\"\\nNext.\\n\\\"\\\"\\\"\",\"solution\":\"def inc(x):\\n    return x + 1\","
	  "\"tests\":\"assert inc(*[1]) == 2\\nassert inc(*[2]) == 3\"}",
	  "QuixBugs/inc", 2 },
	{ "{\"name\":\"walk\",\"buggy_program\":\"def walk(n):\\n    return n\",\"solution\":"
	  "\"def walk(n):\\n    return n.next\",\"docstring\":\"\",\"tests\":\"class Node:\\n    "
	  "next = 1\\n\\ndef test1():\\n    assert walk(Node()) == 1\\n\\ntest1()\\n\\n\"}",
	  "QuixBugs/walk", 1 },
	{ 0 },
};

const struct format format_quixbugs = {
	.name = "quixbugs",
	.doc = "QuixBugs: name, buggy_program, docstring, solution, tests",
	.source = "Lin et al. 2017; records of arXiv 2308.07124",
	.detect = detect,
	.load = load,
	.cases = cases,
};
