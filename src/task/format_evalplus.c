/* format_evalplus.c - HumanEval+ and MBPP+: inputs without results; the reference is the oracle.
 *
 * JSON lost the types of some arguments, and a few tasks have several right answers. Both are known
 * by task, and are restored here as EvalPlus does it. Tests are two: the inputs of the original
 * set, "base", and the added ones, "plus"; each is a list of calls.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "task/task.h"
#include "task/task_int.h"

#define ATOL "1e-6" /* where the record says 0 */

static int detect(const struct json *rec)
{
	bool base = json_get(rec, "base_input"), plus = json_get(rec, "plus_input");

	return (base || plus) && json_get(rec, "entry_point") ? 95 : base || plus ? 10 : 0;
}

/* Is the number behind the '/' of id, in the set that begins with first, one of the list? */
static bool is_listed(struct str id, struct str set, const char *list)
{
	struct str rest = { list, strlen(list) }, word;

	if (!str_starts(id, set))
		return false;
	id = (struct str){ id.p + set.n, id.n - set.n };
	while (str_next_token(&rest, &word))
		if (str_eq(id, word))
			return true;
	return false;
}

/* Shapes of the arguments (task_int.h), of all (0) or of the n-th. */
static const struct {
	int arg;
	const char *shape, *tasks;
} lost[] = {
	{ 0, "t",
	  "2 116 132 143 222 261 273 394 399 421 424 429 470 560 579 596 616 630 726 740 744 809" },
	{ 0, "-t", "63 64 70 94 120 237 272 299 400 409 417 438 473 614 780" },
	{ 0, "tt", "259 278 401 445" },
	{ 0, "T", "580 615 791" },
	{ 0, "c", "252" },
	{ 1, "-t", "75 413 444 722 753" },
	{ 1, "t", "250 307 405 446 617 720 763 808" },
	{ 1, "-s", "115" },
	{ 1, "f", "124" },
	{ 2, "t", "106 750" },
	{ 2, "c", "124" },
};

static const char *shape_of(struct str id, int arg)
{
	for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
		if ((lost[i].arg == 0 || lost[i].arg == arg) &&
		    is_listed(id, STR("Mbpp/"), lost[i].tasks))
			return lost[i].shape;
	return "";
}

static int typed_call(const struct json *args, struct str id, struct arena *a, struct json *ret,
                      struct err *e)
{
	struct json *item = arena_new(a, struct json, json_len(args));
	int r = 0;

	if (!item)
		return FAIL(e, ERR_LIMIT, "record is too long");
	for (int i = 0; i < json_len(args) && r == 0; i++)
		r = task_typed(&args->item[i], shape_of(id, i + 1), a, &item[i], e);
	*ret = (struct json){ .type = JSON_ARR, .n = json_len(args), .item = item };
	return r;
}

/* The inputs of field key. None: an empty object, which one record has in place of a list. */
static int load_calls(const struct json *rec, const char *key, struct str id, struct arena *a,
                      const struct json **ret, struct err *e)
{
	const struct json *list = json_get(rec, key);
	struct json *item, *calls = arena_new(a, struct json, 1);
	int r = 0;

	if (!list || (list->type == JSON_OBJ && list->n == 0))
		return 0;
	if (list->type != JSON_ARR)
		return FAIL(e, ERR_PARSE, "field '%s' is %s, not a list", key,
		            json_type_text(list->type));
	item = arena_new(a, struct json, list->n);
	if (!item || !calls)
		return FAIL(e, ERR_LIMIT, "record is too long");
	for (int i = 0; i < list->n && r == 0; i++) {
		if (list->item[i].type != JSON_ARR)
			return FAIL(e, ERR_PARSE, "field '%s[%d]' is %s, not a list", key, i,
			            json_type_text(list->item[i].type));
		r = typed_call(&list->item[i], id, a, &item[i], e);
		if (r < 0)
			return err_wrap(e, "field '%s[%d]'", key, i);
	}
	*calls = (struct json){ .type = JSON_ARR, .n = list->n, .item = item };
	*ret = calls;
	return 0;
}

/* Tasks whose right answers only a program can tell: the trusted side runs it. {f} is the entry
 * point, {atol} the tolerance, reference() what the reference returns.
 */
static const struct {
	const char *set, *tasks, *right;
} oracle[] = {
	/* any root will do */
	{ "HumanEval/", "32",
	  "def right(args, got):\n"
	  "    return abs(sum(c * got ** i for i, c in enumerate(args[0]))) <= {atol}\n" },
	/* the slant height may be taken for what the sentence calls height */
	{ "Mbpp/", "581",
	  "def right(args, got):\n"
	  "    b, h = args\n"
	  "    other = round(b ** 2 + 2 * b * ((b / 2) ** 2 + h ** 2) ** 0.5)\n"
	  "    return got == reference(args) or abs(got - other) <= {atol}\n" },
	/* numbers of different length may be aligned at their ends */
	{ "Mbpp/", "558",
	  "def right(args, got):\n"
	  "    a, b = (str(x) for x in args)\n"
	  "    n = max(len(a), len(b))\n"
	  "    other = sum(abs(int(x) - int(y)) for x, y in zip(a.zfill(n), b.zfill(n)))\n"
	  "    return got == reference(args) or got == other\n" },
};

static const char oracle_head[] = "true, false, null = True, False, None\n\n\n";
static const char oracle_tail[] =
	"\n\ndef check(candidate, calls):\n"
	"    for args in calls:\n"
	"        got = candidate(*[list(x) if isinstance(x, list) else x for x in args])\n"
	"        assert isinstance(got, (int, float)) and right(args, got), 'no right answer'\n";

static const char *oracle_of(struct str id)
{
	for (size_t i = 0; i < sizeof oracle / sizeof *oracle; i++)
		if (is_listed(id, (struct str){ oracle[i].set, strlen(oracle[i].set) },
		              oracle[i].tasks))
			return oracle[i].right;
	return NULL;
}

static void put_oracle(const struct task *t, const char *right, struct str atol, struct buf *b)
{
	struct jsonw w = { b };

	buf_puts(b, oracle_head);
	if (strstr(right, "reference(")) { /* a JSON text without '/' is a Python text */
		buf_puts(b, "def reference(args):\n    space = {}\n    exec(");
		jsonw_str(&w, t->reference);
		buf_puts(b, ", space)\n    return space['");
		buf_putstr(b, t->entry_point);
		buf_puts(b, "'](*args)\n\n\n");
	}
	while (*right) {
		if (strncmp(right, "{atol}", 6) == 0) {
			buf_putstr(b, atol);
			right += 6;
		} else {
			buf_putc(b, *right++);
		}
	}
	buf_puts(b, oracle_tail);
}

/* Takes the bytes over into a. */
static int keep(const struct buf *b, struct arena *a, struct str *ret, struct err *e)
{
	int r = buf_check(b, "test", e);

	if (r < 0)
		return r;
	*ret = arena_str(a, buf_str(b));
	return ret->p ? 0 : FAIL(e, ERR_LIMIT, "record is too long");
}

/* The calls as assertions. */
static int set_oracle(struct task *t, struct test *test, const char *right, struct str atol,
                      struct arena *a, struct err *e)
{
	AUTO_BUF b = { .max = a->limit };
	int r;

	t->kind = TASK_ASSERT;
	put_oracle(t, right, atol, &b);
	r = keep(&b, a, &t->setup, e);
	for (int i = 0; i < t->n_tests && r == 0; i++) {
		struct jsonw w = { &b };

		buf_reset(&b);
		buf_puts(&b, "check(");
		buf_putstr(&b, t->entry_point);
		buf_puts(&b, ", ");
		jsonw_json(&w, test[i].args);
		buf_puts(&b, ")\n");
		test[i].args = NULL;
		test[i].many = test[i].typed = false;
		r = keep(&b, a, &test[i].code, e);
	}
	return r;
}

static int set_checker(struct task *t, struct str atol, struct arena *a, struct err *e)
{
	static const struct {
		const char *as, *tasks;
	} loose[] = {
		{ "set", "2 7 111 140 232 249 579 769" },
		{ "found", "737 787 794" },
	};
	const char *as = "value";

	for (size_t i = 0; i < sizeof loose / sizeof *loose; i++)
		if (is_listed(t->id, STR("Mbpp/"), loose[i].tasks))
			as = loose[i].as;
	t->checker = STR("python");
	t->checker_opts =
		task_json(a, e, "{\"kind\":\"python\",\"as\":\"%s\",\"abs\":%.*s,\"rel\":1e-7}", as,
	                  (int)(atol.n < 40 ? atol.n : 40), atol.p);
	return t->checker_opts ? 0 : ERR_LIMIT;
}

/* The tolerance, as written. */
static int load_atol(const struct json *rec, struct str *ret, struct err *e)
{
	const struct json *j = json_get(rec, "atol");
	double x = 0;
	int r = json_opt_real(rec, "atol", 0, 1, &x, e);

	*ret = r == 0 && x > 0 ? j->text : STR(ATOL);
	return r;
}

static int load_tests(const struct json *rec, struct arena *a, struct task *t, struct err *e)
{
	static const char *const key[] = { "base_input", "plus_input" };
	struct test *test = task_tests_new(a, 2, e);
	struct str atol;
	const char *right = oracle_of(t->id);
	int r = test ? load_atol(rec, &atol, e) : ERR_LIMIT;

	for (int i = 0; i < 2 && r == 0; i++) {
		const struct json *calls = NULL;

		r = load_calls(rec, key[i], t->id, a, &calls, e);
		if (r < 0 || json_len(calls) == 0)
			continue;
		test[t->n_tests++] = (struct test){ .name = i ? STR("plus") : STR("base"),
			                            .args = calls,
			                            .many = true,
			                            .typed = true,
			                            .weight = 1 };
	}
	if (r < 0)
		return r;
	t->test = test;
	t->kind = TASK_FUNCTION;
	return right ? set_oracle(t, test, right, atol, a, e) : set_checker(t, atol, a, e);
}

static int load(const struct json *rec, struct arena *a, struct task *ret, struct err *e)
{
	int r = json_need_str(rec, "task_id", &ret->id, e);

	if (r == 0)
		r = json_need_str(rec, "prompt", &ret->prompt, e);
	if (r == 0)
		r = json_need_str(rec, "entry_point", &ret->entry_point, e);
	if (r == 0)
		r = json_need_str(rec, "canonical_solution", &ret->reference, e);
	if (r < 0)
		return r;
	/* HumanEval completes the prompt, MBPP has a whole function. */
	if (task_defines(ret->prompt, ret->entry_point, NULL))
		ret->preamble = ret->prompt;
	ret->source = str_starts(ret->id, STR("Mbpp/")) ? STR("MBPP+") : STR("HumanEval+");
	return load_tests(rec, a, ret, e);
}

static const struct format_case cases[] = {
	{ "{\"task_id\":\"HumanEval/900\",\"prompt\":\"def f(x):\\n\",\"entry_point\":\"f\","
	  "\"canonical_solution\":\"    return x / 2\\n\",\"test\":\"def check(candidate):\\n    "
	  "assert candidate(2) == 1\\n\",\"contract\":\"\",\"base_input\":[[2]],\"plus_input\":[[3]"
	  ",[1e999]],\"atol\":0}",
	  "HumanEval/900", 2 },
	{ "{\"task_id\":\"Mbpp/"
	  "124\",\"prompt\":\"\\\"\\\"\\\"Angle.\\\"\\\"\\\"\\n\",\"entry_point\""
	  ":\"g\",\"canonical_solution\":\"def g(x, y):\\n    return x + y\\n\",\"base_input\":[["
	  "\"1\",\"(-0-2e-3j)\"]],\"plus_input\":{},\"atol\":1e-4,\"contract\":\"\"}",
	  "Mbpp/124", 1 },
	{ "{\"task_id\":\"Mbpp/558\",\"prompt\":\"\",\"entry_point\":\"h\",\"canonical_solution\":"
	  "\"def h(a, b):\\n    return a - b\\n\",\"base_input\":[[1,2],[23,4]],\"plus_input\":[[5,"
	  "6]],\"atol\":0}",
	  "Mbpp/558", 2 },
	{ 0 },
};

const struct format format_evalplus = {
	.name = "evalplus",
	.doc = "HumanEval+ and MBPP+: canonical_solution, base_input, plus_input, atol",
	.source = "Liu et al. 2023, arXiv 2305.01210",
	.detect = detect,
	.load = load,
	.cases = cases,
};
