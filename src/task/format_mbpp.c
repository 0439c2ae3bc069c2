/* format_mbpp.c - MBPP: a sentence, a solution and a list of asserts. */
#include <string.h>

#include "base/buf.h"
#include "task/task.h"
#include "task/task_int.h"

static int detect(const struct json *rec)
{
	bool tests = json_get(rec, "test_list"), code = json_get(rec, "code");
	bool id = json_get(rec, "task_id");

	return tests && code && id ? 80 : tests && id ? 10 : 0;
}

static int load_id(const struct json *rec, struct arena *a, struct str *ret, struct err *e)
{
	const struct json *j = json_get(rec, "task_id");
	const char *id;

	if (!j)
		return FAIL(e, ERR_PARSE, "field 'task_id' is missing");
	if (j->type == JSON_STR) {
		*ret = j->text;
		return 0;
	}
	if (j->type != JSON_NUM || !str_is_int(j->text) || j->text.n > 20)
		return FAIL(e, ERR_PARSE, "field 'task_id' is neither a whole number nor a text");
	id = arena_printf(a, "MBPP/%.*s", (int)j->text.n, j->text.p);
	if (!id)
		return FAIL(e, ERR_LIMIT, "record is too long");
	*ret = (struct str){ id, strlen(id) };
	return 0;
}

static bool is_word(char c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

/* The record does not name the function: it is the first name that the test calls and the
 * solution defines. Empty if there is none.
 */
static struct str find_entry(struct str test, struct str code)
{
	for (size_t i = 0, n; i < test.n; i += n) {
		struct str word = { test.p + i, 0 };

		for (n = 0; i + n < test.n && is_word(test.p[i + n]);)
			n++;
		word.n = n;
		if (n && i + n < test.n && test.p[i + n] == '(' && task_defines(code, word, NULL))
			return word;
		n += n == 0;
	}
	return STR("");
}

/* As the set is usually shown to a model. */
static int make_prompt(struct str text, const struct json *list, struct arena *a, struct str *ret,
                       struct err *e)
{
	AUTO_BUF b = { .max = a->limit };
	int r;

	buf_putstr(&b, text);
	buf_puts(&b, "\nYour code should pass these tests:\n\n");
	for (int i = 0; i < list->n; i++) {
		buf_putstr(&b, list->item[i].text);
		buf_putc(&b, '\n');
	}
	r = buf_check(&b, "prompt", e);
	if (r < 0)
		return r;
	*ret = arena_str(a, buf_str(&b));
	return ret->p ? 0 : FAIL(e, ERR_LIMIT, "record is too long");
}

/* test_imports (the sanitized set) and test_setup_code both follow the answer: two tasks build
 * their arguments with a class of it.
 */
static int make_setup(const struct json *rec, struct arena *a, struct str *ret, struct err *e)
{
	AUTO_BUF b = { .max = a->limit };
	const struct json *imports = NULL;
	struct str code = STR("");
	int r = json_opt_str(rec, "test_setup_code", &code, e);

	if (r == 0 && json_get(rec, "test_imports"))
		r = task_need_texts(rec, "test_imports", &imports, e);
	if (r < 0)
		return r;
	for (int i = 0; i < json_len(imports); i++) {
		buf_putstr(&b, imports->item[i].text);
		buf_putc(&b, '\n');
	}
	buf_putstr(&b, code);
	r = buf_check(&b, "set-up", e);
	if (r < 0)
		return r;
	*ret = arena_str(a, buf_str(&b));
	return ret->p ? 0 : FAIL(e, ERR_LIMIT, "record is too long");
}

static int load(const struct json *rec, struct arena *a, struct task *ret, struct err *e)
{
	const struct json *list = NULL;
	struct str text = STR("");
	struct test *t;
	int r = load_id(rec, a, &ret->id, e);

	if (r == 0)
		r = json_need_str(rec, json_get(rec, "text") ? "text" : "prompt", &text, e);
	if (r == 0)
		r = json_need_str(rec, "code", &ret->reference, e);
	if (r == 0)
		r = task_need_texts(rec, "test_list", &list, e);
	if (r == 0)
		r = make_setup(rec, a, &ret->setup, e);
	if (r == 0)
		r = make_prompt(text, list, a, &ret->prompt, e);
	if (r < 0)
		return r;
	t = task_tests_new(a, list->n, e);
	if (!t)
		return ERR_LIMIT;
	for (int i = 0; i < list->n; i++) {
		t[i].code = list->item[i].text;
		t[i].visible = true;
	}
	if (list->n)
		ret->entry_point = find_entry(t[0].code, ret->reference);
	ret->kind = TASK_ASSERT;
	ret->test = t;
	ret->n_tests = list->n;
	ret->source = STR("MBPP");
	return 0;
}

static const struct format_case cases[] = {
	{ "{\"text\":\"Add one.\",\"code\":\"def inc(x):\\r\\n  return x + 1\",\"task_id\":7,"
	  "\"test_setup_code\":\"\",\"test_list\":[\"assert set([inc(1)]) == {2}\","
	  "\"assert inc(2) == 3\"],\"challenge_test_list\":[]}",
	  "MBPP/7", 2 },
	{ "{\"prompt\":\"Root.\",\"code\":\"def r(x):\\n  return x ** .5\",\"task_id\":8,"
	  "\"test_imports\":[\"import math\"],\"test_list\":[\"assert math.isclose(r(4), 2)\"]}",
	  "MBPP/8", 1 },
	{ 0 },
};

const struct format format_mbpp = {
	.name = "mbpp",
	.doc = "MBPP: text, code, test_list, test_setup_code",
	.source = "Austin et al. 2021, arXiv 2108.07732",
	.detect = detect,
	.load = load,
	.cases = cases,
};
