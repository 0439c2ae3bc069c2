/* format_humanevalx.c - HumanEval-X and HumanEvalPack: HumanEval in several languages, of which
 * Python's can be judged. The second set adds a broken solution, which is what a model shall
 * repair.
 */
#include <string.h>

#include "base/buf.h"
#include "task/task.h"
#include "task/task_int.h"

static int detect(const struct json *rec)
{
	bool test = json_get(rec, "test"), head = json_get(rec, "declaration");
	bool id = json_get(rec, "task_id");

	return test && head && id ? 90 : test && head ? 10 : 0;
}

/* The function of the last line of test, which is check(NAME). */
static int find_entry(struct str test, struct str *ret, struct err *e)
{
	struct str s = str_trim_end(test);
	size_t at = s.n;

	while (at && s.p[at - 1] != '\n')
		at--;
	s = (struct str){ s.p + at, s.n - at };
	if (!str_starts(s, STR("check(")) || s.p[s.n - 1] != ')')
		return FAIL(e, ERR_PARSE, "field 'test' does not end in a call of check()");
	*ret = (struct str){ s.p + 6, s.n - 7 };
	return 0;
}

/* A repair task shows the broken function. */
static int make_repair(struct task *t, struct str head, struct str broken, struct arena *a,
                       struct err *e)
{
	AUTO_BUF b = { .max = a->limit };
	int r;

	buf_puts(&b, "Fix the bug in ");
	buf_putstr(&b, t->entry_point);
	buf_puts(&b, ".\n\n");
	buf_putstr(&b, head);
	buf_putstr(&b, broken);
	r = buf_check(&b, "prompt", e);
	if (r < 0)
		return r;
	t->prompt = arena_str(a, buf_str(&b));
	t->source = STR("HumanEvalPack");
	return t->prompt.p ? 0 : FAIL(e, ERR_LIMIT, "record is too long");
}

static int load(const struct json *rec, struct arena *a, struct task *ret, struct err *e)
{
	struct str test = STR(""), head = STR(""), broken = STR("");
	int r = json_need_str(rec, "task_id", &ret->id, e);

	if (r == 0 && !str_starts(ret->id, STR("Python/")))
		r = FAIL(e, ERR_PARSE,
		         "field 'task_id' is '%.*s': only tests in Python can be judged",
		         (int)(ret->id.n < 40 ? ret->id.n : 40), ret->id.p);
	if (r == 0)
		r = json_need_str(rec, "prompt", &ret->prompt, e);
	if (r == 0)
		r = json_need_str(rec, "declaration", &head, e);
	if (r == 0)
		r = json_need_str(rec, "test", &test, e);
	if (r == 0)
		r = json_opt_str(rec, "canonical_solution", &ret->reference, e);
	if (r == 0)
		r = json_opt_str(rec, "buggy_solution", &broken, e);
	if (r == 0)
		r = find_entry(test, &ret->entry_point, e);
	if (r < 0)
		return r;
	ret->preamble = ret->prompt;
	ret->source = STR("HumanEval-X");
	if (broken.n)
		r = make_repair(ret, head, broken, a, e);
	return r < 0 ? r : task_set_check(ret, test, a, e);
}

static const struct format_case cases[] = {
	{ "{\"task_id\":\"Python/900\",\"prompt\":\"def f(x):\\n    "
	  "\\\"\\\"\\\"Next.\\\"\\\"\\\"\\n\","
	  "\"declaration\":\"def f(x):\\n\",\"canonical_solution\":\"    return x + 1\\n\","
	  "\"test\":\"def check(f):\\n    assert f(1) == 2\\n\\ncheck(f)\\n\",\"text\":\"Next.\","
	  "\"example_test\":\"\"}",
	  "Python/900", 1 },
	{ "{\"task_id\":\"Python/901\",\"prompt\":\"def f(x):\\n\",\"declaration\":\"def "
	  "f(x):\\n\","
	  "\"canonical_solution\":\"    return x\\n\",\"buggy_solution\":\"    return -x\\n\","
	  "\"bug_type\":\"excess logic\",\"entry_point\":\"f\",\"test\":\"def check(f):\\n    "
	  "assert f(1) == 1\\n\\ncheck(f)\"}",
	  "Python/901", 1 },
	{ 0 },
};

const struct format format_humanevalx = {
	.name = "humanevalx",
	.doc = "HumanEval-X, HumanEvalPack: declaration, canonical_solution, buggy_solution, test",
	.source = "Zheng et al. 2023, arXiv 2303.17568; Muennighoff et al. 2023, arXiv 2308.07124",
	.detect = detect,
	.load = load,
	.cases = cases,
};
