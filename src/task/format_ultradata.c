/* format_ultradata.c - UltraData-RL code records: paired arrays of inputs and outputs. */
#include "task/task.h"
#include "task/task_int.h"

static int detect(const struct json *rec)
{
	bool truth = json_get(rec, "ground_truth"), query = json_get(rec, "query");

	return truth && query && json_get(rec, "uuid") ? 80 : truth || query ? 10 : 0;
}

/* An object, or an object as text. */
static int load_truth(const struct json *rec, struct arena *a, const struct json **ret,
                      struct err *e)
{
	const struct json *j = json_get(rec, "ground_truth");
	int r = 0;

	if (!j)
		return FAIL(e, ERR_PARSE, "field 'ground_truth' is missing");
	if (j->type == JSON_STR)
		r = json_parse(j->text, a, &j, e);
	if (r < 0)
		return err_wrap(e, "field 'ground_truth'");
	if (j->type != JSON_OBJ)
		return FAIL(e, ERR_PARSE, "field 'ground_truth' is %s, not an object",
		            json_type_text(j->type));
	*ret = j;
	return 0;
}

static int load_tests(const struct json *truth, struct arena *a, struct task *ret, struct err *e)
{
	const struct json *in = NULL, *out = NULL;
	struct str call = STR("std");
	struct test *t;
	int r = json_opt_str(truth, "call_type", &call, e);

	if (r == 0)
		r = task_need_texts(truth, "inputs", &in, e);
	if (r == 0)
		r = task_need_texts(truth, "outputs", &out, e);
	if (r < 0)
		return r;
	if (!str_is(call, "std"))
		return FAIL(e, ERR_PARSE, "field 'call_type' is '%.*s': only 'std' can be judged",
		            (int)(call.n < 40 ? call.n : 40), call.p);
	if (in->n != out->n)
		return FAIL(e, ERR_PARSE, "field 'inputs' has %d entries, field 'outputs' %d",
		            in->n, out->n);
	t = task_tests_new(a, in->n, e);
	if (!t)
		return ERR_LIMIT;
	for (int i = 0; i < in->n; i++) {
		t[i].in = in->item[i].text;
		t[i].out = out->item[i].text;
	}
	ret->test = t;
	ret->n_tests = in->n;
	return 0;
}

static int load(const struct json *rec, struct arena *a, struct task *ret, struct err *e)
{
	struct str domain = STR("Code");
	const struct json *truth = NULL;
	int r = json_need_str(rec, "uuid", &ret->id, e);

	if (r == 0)
		r = json_opt_str(rec, "domain", &domain, e);
	if (r == 0 && !str_is(domain, "Code"))
		r = FAIL(e, ERR_PARSE, "field 'domain' is '%.*s': only 'Code' has tests to run",
		         (int)(domain.n < 40 ? domain.n : 40), domain.p);
	if (r == 0)
		r = json_need_str(rec, "query", &ret->prompt, e);
	if (r == 0)
		r = json_opt_str(rec, "source", &ret->source, e);
	if (r == 0)
		r = load_truth(rec, a, &truth, e);
	if (r < 0)
		return r;
	ret->kind = TASK_STDIN;
	r = load_tests(truth, a, ret, e);
	return r < 0 ? err_wrap(e, "field 'ground_truth'") : 0;
}

static const struct format_case cases[] = {
	{ "{\"uuid\":\"u1\",\"domain\":\"Code\",\"source\":\"s\",\"query\":\"Add.\","
	  "\"ground_truth\":{\"inputs\":[\"1 2\",\"3 4\"],\"outputs\":[\"3\",\"7\"],"
	  "\"call_type\":\"std\"}}",
	  "u1", 2 },
	{ "{\"uuid\":\"u2\",\"query\":\"\",\"ground_truth\":"
	  "\"{\\\"inputs\\\":[\\\"\\\"],\\\"outputs\\\":[\\\"1\\\"]}\"}",
	  "u2", 1 },
	{ 0 },
};

const struct format format_ultradata = {
	.name = "ultradata",
	.doc = "UltraData-RL code: uuid, query, ground_truth {inputs, outputs, call_type}",
	.source = "openbmb/UltraData-RL-2609 (data card)",
	.detect = detect,
	.load = load,
	.cases = cases,
};
