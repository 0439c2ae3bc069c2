/* format_native.c - our own task record, and its writer. */
#include <stdio.h>
#include <string.h>

#include "task/task.h"
#include "task/task_int.h"

#define MS  INT64_C(1000000)
#define MIB INT64_C(1048576)
#define KIB INT64_C(1024)

enum { MAX_MS = 3600 * 1000, MAX_MIB = 1 << 20, MAX_KIB = 1 << 24 };
#define MAX_WEIGHT 1e6

static int detect(const struct json *rec)
{
	bool kind = json_is(json_get(rec, "kind"), JSON_STR);
	bool tests = json_get(rec, "tests"), id = json_get(rec, "id");

	return kind && tests ? 90 : kind || (tests && id) ? 10 : 0;
}

static int parse_kind(struct str s, enum task_kind *ret, struct err *e)
{
	static const char *const later[] = { "program", "interactive", "answer", "repo", "render" };

	for (int k = TASK_STDIN; k <= TASK_ASSERT; k++)
		if (str_is(s, task_kind_text((enum task_kind)k))) {
			*ret = (enum task_kind)k;
			return 0;
		}
	for (size_t i = 0; i < sizeof later / sizeof *later; i++)
		if (str_is(s, later[i]))
			return FAIL(e, ERR_PARSE,
			            "field 'kind': this version cannot judge '%s' tasks", later[i]);
	return FAIL(e, ERR_PARSE, "field 'kind' is '%.*s', not stdin, function or assert",
	            (int)(s.n < 40 ? s.n : 40), s.p);
}

/* {"args"} is one call, {"calls"} a list of them. */
static int load_call(const struct json *j, struct test *t, struct err *e)
{
	int r;

	t->many = json_get(j, "calls");
	if (t->many && json_get(j, "args"))
		return FAIL(e, ERR_PARSE, "fields 'args' and 'calls' are both there");
	r = json_need(j, t->many ? "calls" : "args", JSON_ARR, &t->args, e);
	if (r == 0)
		r = json_opt_bool(j, "typed", &t->typed, e);
	if (r < 0)
		return r;
	t->expected = json_get(j, "expected");
	if (!t->many)
		return 0;
	if (t->args->n == 0)
		return FAIL(e, ERR_PARSE, "field 'calls': a test without calls proves nothing");
	for (int i = 0; i < t->args->n; i++)
		if (t->args->item[i].type != JSON_ARR)
			return FAIL(e, ERR_PARSE, "field 'calls[%d]' is %s, not a list", i,
			            json_type_text(t->args->item[i].type));
	if (t->expected && (t->expected->type != JSON_ARR || t->expected->n != t->args->n))
		return FAIL(e, ERR_PARSE, "field 'expected' is no list of %d results", t->args->n);
	return 0;
}

static int load_test(const struct json *j, enum task_kind kind, struct test *t, struct err *e)
{
	int r = 0;

	if (!json_is(j, JSON_OBJ))
		return FAIL(e, ERR_PARSE, "%s, not an object", json_type_text(j->type));
	switch (kind) {
	case TASK_STDIN: /* no input is an empty one */
		r = json_opt_str(j, "stdin", &t->in, e);
		if (r == 0)
			r = json_need_str(j, "stdout", &t->out, e);
		break;
	case TASK_FUNCTION:
		r = load_call(j, t, e);
		break;
	case TASK_ASSERT:
		r = json_need_str(j, "assert", &t->code, e);
		break;
	}
	if (r == 0)
		r = json_opt_str(j, "name", &t->name, e);
	if (r == 0 && t->name.n == 0)
		r = FAIL(e, ERR_PARSE, "field 'name' is empty");
	if (r == 0)
		r = json_opt_real(j, "weight", 0, MAX_WEIGHT, &t->weight, e);
	return r < 0 ? r : json_opt_bool(j, "visible", &t->visible, e);
}

static int load_tests(const struct json *rec, struct arena *a, struct task *t, struct err *e)
{
	const struct json *list = NULL;
	struct test *test;
	int64_t visible = 0;
	int r = json_need(rec, "tests", JSON_ARR, &list, e);

	if (r == 0)
		r = json_opt_int(rec, "visible", 0, list->n, &visible, e);
	if (r < 0)
		return r;
	test = task_tests_new(a, list->n, e);
	if (!test)
		return ERR_LIMIT;
	for (int i = 0; i < list->n; i++) {
		test[i].visible = i < visible;
		r = load_test(&list->item[i], t->kind, &test[i], e);
		if (r < 0)
			return err_wrap(e, "field 'tests[%d]'", i);
	}
	t->test = test;
	t->n_tests = list->n;
	return 0;
}

static int load_limits(const struct json *rec, struct task_limits *l, struct err *e)
{
	const struct json *j = json_get(rec, "limits");
	int64_t cpu = 0, wall = 0, mem = 0, out = 0;
	int r;

	if (!j || j->type == JSON_NULL)
		return 0;
	if (j->type != JSON_OBJ)
		return FAIL(e, ERR_PARSE, "field 'limits' is %s, not an object",
		            json_type_text(j->type));
	r = json_opt_int(j, "cpu_ms", 1, MAX_MS, &cpu, e);
	if (r == 0)
		r = json_opt_int(j, "wall_ms", 1, MAX_MS, &wall, e);
	if (r == 0)
		r = json_opt_int(j, "mem_mib", 1, MAX_MIB, &mem, e);
	if (r == 0)
		r = json_opt_int(j, "output_kib", 1, MAX_KIB, &out, e);
	if (r < 0)
		return err_wrap(e, "field 'limits'");
	*l = (struct task_limits){ cpu * MS, wall * MS, mem * MIB, out * KIB };
	return 0;
}

static int load_checker(const struct json *rec, struct task *t, struct err *e)
{
	const struct json *j = json_get(rec, "checker");
	int r;

	if (!j || j->type == JSON_NULL)
		return 0;
	if (j->type != JSON_OBJ)
		return FAIL(e, ERR_PARSE, "field 'checker' is %s, not an object",
		            json_type_text(j->type));
	r = json_need_str(j, "kind", &t->checker, e);
	if (r < 0)
		return err_wrap(e, "field 'checker'");
	t->checker_opts = j;
	return 0;
}

static const struct json *carried(const struct json *rec, const char *key)
{
	const struct json *j = json_get(rec, key);

	return j && j->type != JSON_NULL ? j : NULL;
}

static int load(const struct json *rec, struct arena *a, struct task *ret, struct err *e)
{
	static const struct {
		const char *key;
		size_t off;
		bool need;
	} text[] = {
		{ "id", offsetof(struct task, id), true },
		{ "prompt", offsetof(struct task, prompt), true },
		{ "language", offsetof(struct task, language), true },
		{ "entry_point", offsetof(struct task, entry_point), false },
		{ "preamble", offsetof(struct task, preamble), false },
		{ "setup", offsetof(struct task, setup), false },
		{ "reference", offsetof(struct task, reference), false },
		{ "source", offsetof(struct task, source), false },
		{ "license", offsetof(struct task, license), false },
	};
	struct str kind;
	int r = 0;

	for (size_t i = 0; i < sizeof text / sizeof *text && r == 0; i++) {
		struct str *at = (struct str *)(void *)((char *)ret + text[i].off);

		r = text[i].need ? json_need_str(rec, text[i].key, at, e)
		                 : json_opt_str(rec, text[i].key, at, e);
	}
	if (r == 0)
		r = json_need_str(rec, "kind", &kind, e);
	if (r == 0)
		r = parse_kind(kind, &ret->kind, e);
	if (r == 0)
		r = json_opt_bool(rec, "in_place", &ret->in_place, e);
	if (r == 0)
		r = load_limits(rec, &ret->limits, e);
	if (r == 0)
		r = load_checker(rec, ret, e);
	if (r == 0)
		r = load_tests(rec, a, ret, e);
	ret->difficulty = carried(rec, "difficulty");
	ret->meta = carried(rec, "meta");
	return r;
}

static void put_text(struct jsonw *w, const char *key, struct str s)
{
	jsonw_key(w, key);
	jsonw_str(w, s);
}

static void put_optional(struct jsonw *w, const char *key, struct str s)
{
	if (s.n)
		put_text(w, key, s);
}

static bool is_numbered(struct str name, int i)
{
	char text[16];

	(void)snprintf(text, sizeof text, "%d", i + 1);
	return str_is(name, text);
}

static void put_test(const struct task *t, int i, bool first_visible, struct jsonw *w)
{
	const struct test *x = &t->test[i];

	jsonw_open(w, '{');
	switch (t->kind) {
	case TASK_STDIN:
		put_text(w, "stdin", x->in);
		put_text(w, "stdout", x->out);
		break;
	case TASK_FUNCTION:
		jsonw_key(w, x->many ? "calls" : "args");
		jsonw_json(w, x->args);
		if (x->expected)
			jsonw_key(w, "expected"), jsonw_json(w, x->expected);
		if (x->typed)
			jsonw_key(w, "typed"), jsonw_bool(w, true);
		break;
	case TASK_ASSERT:
		put_text(w, "assert", x->code);
		break;
	}
	if (!is_numbered(x->name, i))
		put_text(w, "name", x->name);
	if (x->weight != 1)
		jsonw_key(w, "weight"), jsonw_real(w, x->weight);
	if (x->visible && !first_visible)
		jsonw_key(w, "visible"), jsonw_bool(w, true);
	jsonw_close(w, '}');
}

static void put_limits(const struct task_limits *l, struct jsonw *w)
{
	const struct {
		const char *key;
		int64_t v, unit;
	} row[] = {
		{ "cpu_ms", l->cpu_ns, MS },
		{ "wall_ms", l->wall_ns, MS },
		{ "mem_mib", l->mem_bytes, MIB },
		{ "output_kib", l->output_bytes, KIB },
	};

	if (!l->cpu_ns && !l->wall_ns && !l->mem_bytes && !l->output_bytes)
		return;
	jsonw_key(w, "limits");
	jsonw_open(w, '{');
	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		if (row[i].v)
			jsonw_key(w, row[i].key), jsonw_int(w, row[i].v / row[i].unit);
	jsonw_close(w, '}');
}

static void put_checker(const struct task *t, struct jsonw *w)
{
	if (t->checker_opts) {
		jsonw_key(w, "checker");
		jsonw_json(w, t->checker_opts);
	} else if (t->checker.n) {
		jsonw_key(w, "checker");
		jsonw_open(w, '{');
		put_text(w, "kind", t->checker);
		jsonw_close(w, '}');
	}
}

static void put_carried(struct jsonw *w, const char *key, const struct json *j)
{
	if (j)
		jsonw_key(w, key), jsonw_json(w, j);
}

void task_write(const struct task *t, struct jsonw *w)
{
	int first = 0;

	while (first < t->n_tests && t->test[first].visible)
		first++;
	jsonw_open(w, '{');
	put_text(w, "id", t->id);
	put_text(w, "prompt", t->prompt);
	put_text(w, "language", t->language);
	jsonw_key(w, "kind"), jsonw_cstr(w, task_kind_text(t->kind));
	jsonw_key(w, "tests");
	jsonw_open(w, '[');
	for (int i = 0; i < t->n_tests; i++)
		put_test(t, i, i < first, w);
	jsonw_close(w, ']');
	put_optional(w, "entry_point", t->entry_point);
	if (t->in_place)
		jsonw_key(w, "in_place"), jsonw_bool(w, true);
	put_optional(w, "preamble", t->preamble);
	put_optional(w, "setup", t->setup);
	put_checker(t, w);
	put_limits(&t->limits, w);
	if (t->reference.p)
		put_text(w, "reference", t->reference);
	if (first)
		jsonw_key(w, "visible"), jsonw_int(w, first);
	put_carried(w, "difficulty", t->difficulty);
	put_optional(w, "source", t->source);
	put_optional(w, "license", t->license);
	put_carried(w, "meta", t->meta);
	jsonw_close(w, '}');
}

static const struct format_case cases[] = {
	{ "{\"id\":\"a\",\"prompt\":\"\",\"language\":\"python\",\"kind\":\"stdin\","
	  "\"tests\":[{\"stdin\":\"1\",\"stdout\":\"2\\n\"}]}",
	  "a", 1 },
	{ "{\"id\":\"b\",\"prompt\":\"p\",\"language\":\"python\",\"kind\":\"function\","
	  "\"entry_point\":\"Solution().f\",\"visible\":1,"
	  "\"tests\":[{\"args\":[1],\"expected\":null},{\"args\":[],\"expected\":[2.0]}]}",
	  "b", 2 },
	{ "{\"id\":\"d\",\"prompt\":\"p\",\"language\":\"python\",\"kind\":\"function\","
	  "\"entry_point\":\"f\",\"reference\":\"def f(x):\\n    return x\\n\",\"tests\":["
	  "{\"args\":[1]},{\"args\":[null],\"expected\":null},{\"calls\":[[1],[2]],"
	  "\"expected\":[1,2]},{\"calls\":[[{\"t\":[1]}],[{\"d\":[1,{\"s\":[]}]}]],\"typed\":true}]"
	  "}",
	  "d", 4 },
	{ "{\"id\":\"c\",\"prompt\":\"p\",\"language\":\"python\",\"kind\":\"assert\","
	  "\"tests\":[{\"assert\":\"assert f(1) == 2\",\"name\":\"one\",\"weight\":2.5}]}",
	  "c", 1 },
	{ 0 },
};

const struct format format_native = {
	.name = "native",
	.doc = "cupel's own task record",
	.source = "docs/formats.md",
	.detect = detect,
	.load = load,
	.cases = cases,
};
