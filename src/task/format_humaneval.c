/* format_humaneval.c - HumanEval: a prompt to complete and a check(candidate) function. */
#include "task/task.h"
#include "task/task_int.h"

static int detect(const struct json *rec)
{
	bool check = json_get(rec, "test"), entry = json_get(rec, "entry_point");
	bool id = json_get(rec, "task_id");

	return check && entry && id ? 80 : (check || entry) && id ? 10 : 0;
}

static int load(const struct json *rec, struct arena *a, struct task *ret, struct err *e)
{
	struct str test = STR("");
	int r = json_need_str(rec, "task_id", &ret->id, e);

	if (r == 0)
		r = json_need_str(rec, "prompt", &ret->prompt, e);
	if (r == 0)
		r = json_need_str(rec, "entry_point", &ret->entry_point, e);
	if (r == 0)
		r = json_need_str(rec, "test", &test, e);
	if (r == 0)
		r = json_opt_str(rec, "canonical_solution", &ret->reference, e);
	if (r < 0)
		return r;
	ret->preamble = ret->prompt;
	ret->source = STR("HumanEval");
	return task_set_check(ret, test, a, e);
}

static const struct format_case cases[] = {
	{ "{\"task_id\":\"HumanEval/0\",\"prompt\":\"def f(x):\\n    "
	  "\\\"\\\"\\\"Next.\\\"\\\"\\\"\\n\","
	  "\"entry_point\":\"f\",\"canonical_solution\":\"    return x + 1\\n\","
	  "\"test\":\"def check(candidate):\\n    assert candidate(1) == 2\\n\"}",
	  "HumanEval/0", 1 },
	{ 0 },
};

const struct format format_humaneval = {
	.name = "humaneval",
	.doc = "HumanEval: prompt, entry_point, canonical_solution, test",
	.source = "Chen et al. 2021, arXiv 2107.03374",
	.detect = detect,
	.load = load,
	.cases = cases,
};
