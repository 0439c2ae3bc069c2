/* format_leetcode.c - LeetCodeDataset: a class with a method, and check(candidate). */
#include "base/buf.h"
#include "task/task.h"
#include "task/task_int.h"

static int detect(const struct json *rec)
{
	bool check = json_get(rec, "test") && json_get(rec, "entry_point");
	bool answer = json_get(rec, "completion");
	bool told = json_get(rec, "starter_code") || json_get(rec, "meta");

	return check && answer && told ? 90 : answer && told ? 10 : 0;
}

/* Older files hold what describes the task in `meta`. */
static const struct json *told(const struct json *rec, const char *key)
{
	const struct json *j = json_get(rec, key);

	return j ? j : json_get(json_get(rec, "meta"), key);
}

/* What the set asks a model: `query`, or else the problem and the code to start from. */
static int load_prompt(const struct json *rec, struct arena *a, struct str *ret, struct err *e)
{
	AUTO_BUF b = { .max = a->limit };
	struct str code = json_str(told(rec, "starter_code"));
	int r = json_opt_str(rec, "query", ret, e);

	if (r < 0 || ret->n)
		return r;
	buf_putstr(&b, json_str(told(rec, "problem_description")));
	buf_puts(&b, "\n\n");
	buf_putstr(&b, code);
	r = buf_check(&b, "prompt", e);
	if (r < 0)
		return r;
	*ret = arena_str(a, buf_str(&b));
	return ret->p ? 0 : FAIL(e, ERR_LIMIT, "record is too long");
}

/* `prompt` is no prompt but a prelude: imports, and the classes of lists and trees. */
static int load(const struct json *rec, struct arena *a, struct task *ret, struct err *e)
{
	struct str test = STR("");
	int r = json_need_str(rec, "task_id", &ret->id, e);

	if (r == 0)
		r = json_need_str(rec, "prompt", &ret->preamble, e);
	if (r == 0)
		r = json_need_str(rec, "entry_point", &ret->entry_point, e);
	if (r == 0)
		r = json_need_str(rec, "test", &test, e);
	if (r == 0)
		r = json_opt_str(rec, "completion", &ret->reference, e);
	if (r == 0)
		r = load_prompt(rec, a, &ret->prompt, e);
	if (r < 0)
		return r;
	ret->difficulty = told(rec, "difficulty");
	ret->source = STR("LeetCodeDataset");
	return task_set_check(ret, test, a, e);
}

static const struct format_case cases[] = {
	{ "{\"task_id\":\"add-one\",\"question_id\":1,\"difficulty\":\"Easy\",\"tags\":[],"
	  "\"problem_description\":\"Add.\",\"starter_code\":\"class Solution:\\n\",\"prompt\":"
	  "\"import math\\n\",\"completion\":\"class Solution:\\n    def add(self, n):\\n        "
	  "return n + 1\\n\",\"entry_point\":\"Solution().add\",\"test\":\"def "
	  "check(candidate):\\n "
	  "   assert candidate(n = 1) == 2\\n\",\"input_output\":[],\"query\":\"Add one.\","
	  "\"response\":\"\"}",
	  "add-one", 1 },
	{ "{\"task_id\":\"old\",\"prompt\":\"\",\"completion\":\"\",\"entry_point\":\"Solution()."
	  "f\","
	  "\"test\":\"def check(candidate):\\n    pass\\n\",\"meta\":{\"difficulty\":\"Hard\","
	  "\"starter_code\":\"class Solution:\\n\",\"problem_description\":\"Old.\"}}",
	  "old", 1 },
	{ 0 },
};

const struct format format_leetcode = {
	.name = "leetcode",
	.doc = "LeetCodeDataset: prompt, completion, entry_point, test, starter_code",
	.source = "Xia et al. 2025, arXiv 2504.14655",
	.detect = detect,
	.load = load,
	.cases = cases,
};
