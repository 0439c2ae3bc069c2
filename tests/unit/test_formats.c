/* Task formats: the cases of every member load; what is broken is named; what was written is read
 * back the same.
 */
#include <string.h>

#include "base/jsonw.h"
#include "task/task.h"

#include "test.h"

#include "family.h"

static struct str view(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static int load(const char *text, const struct format *f, struct arena *a, struct task *ret,
                struct err *e)
{
	const struct json *rec = NULL;

	assert_int_equal(json_parse(view(text), a, &rec, e), 0);
	return task_load(f, rec, a, ret, e);
}

static void members_and_cases(void **state)
{
	(void)state;
	for (int i = 0; format_table[i]; i++) {
		const struct format *f = format_table[i];

		assert_true(family_described(f->name, f->doc, f->source));
		assert_true(f->cases && f->cases->record);
		for (const struct format_case *k = f->cases; k->record; k++) {
			AUTO_ARENA a = { .limit = 1 << 20 };
			struct task t, u;
			struct err e = { 0 };

			if (load(k->record, NULL, &a, &t, &e) < 0)
				fail_msg("%s: %s", k->record, e.msg);
			assert_true(str_is(t.id, k->id));
			assert_int_equal(t.n_tests, k->n_tests);
			assert_int_equal(load(k->record, f, &a, &u, &e), 0);
		}
	}
}

static void put_native(const struct task *t, struct buf *b)
{
	struct jsonw w = { b };
	struct err e;

	task_write(t, &w);
	assert_int_equal(buf_check(b, "task", &e), 0);
}

/* Of every format: the native record of a task loads and is written the same again. */
static void round_trip(void **state)
{
	(void)state;
	for (int i = 0; format_table[i]; i++)
		for (const struct format_case *k = format_table[i]->cases; k->record; k++) {
			AUTO_ARENA a = { .limit = 1 << 20 };
			AUTO_BUF one = { .max = 1 << 16 }, two = { .max = 1 << 16 };
			struct task t, u;
			struct err e = { 0 };

			assert_int_equal(load(k->record, NULL, &a, &t, &e), 0);
			put_native(&t, &one);
			if (load(buf_cstr(&one), NULL, &a, &u, &e) < 0)
				fail_msg("%s: %s", buf_cstr(&one), e.msg);
			put_native(&u, &two);
			assert_string_equal(buf_cstr(&one), buf_cstr(&two));
			assert_true(str_eq(t.id, u.id) && t.kind == u.kind);
			assert_true(str_eq(t.preamble, u.preamble));
			assert_true(str_eq(t.setup, u.setup) && t.n_visible == u.n_visible);
			assert_true(!t.reference.p == !u.reference.p);
		}
}

#define NATIVE(more) "{\"id\":\"a\",\"prompt\":\"\",\"language\":\"python\"," more "}"
#define STDIN_TEST   "{\"stdin\":\"\",\"stdout\":\"1\"}"

static const struct {
	const char *record, *why;
} broken[] = {
	{ "[]", "a task is an object, not a list" },
	{ "{\"x\":1}", "no known format" },
	{ "{\"id\":\"a\",\"tests\":[]}", "field 'prompt' is missing" },
	{ NATIVE("\"kind\":\"stdin\""), "field 'tests' is missing" },
	{ NATIVE("\"kind\":\"stdin\",\"tests\":[]"), "without tests" },
	{ NATIVE("\"kind\":\"stdin\",\"tests\":{}"), "field 'tests' is an object, not a list" },
	{ NATIVE("\"kind\":\"stdin\",\"tests\":[3]"), "field 'tests[0]': a number" },
	{ NATIVE("\"kind\":\"stdin\",\"tests\":[" STDIN_TEST ",{\"stdin\":\"\"}]"),
	  "field 'tests[1]': field 'stdout' is missing" },
	{ NATIVE("\"kind\":\"stdin\",\"tests\":[{\"stdin\":1,\"stdout\":\"\"}]"),
	  "field 'tests[0]': field 'stdin' is a number, not a text" },
	{ NATIVE("\"kind\":\"interactive\",\"tests\":[" STDIN_TEST "]"),
	  "cannot judge 'interactive' tasks" },
	{ NATIVE("\"kind\":\"riddle\",\"tests\":[" STDIN_TEST "]"), "field 'kind' is 'riddle'" },
	{ NATIVE("\"kind\":\"function\",\"tests\":[{\"args\":[],\"expected\":1}]"),
	  "field 'entry_point' is missing" },
	{ NATIVE("\"kind\":\"function\",\"entry_point\":\"f\",\"tests\":[{\"args\":1}]"),
	  "field 'tests[0]': field 'args' is a number" },
	{ NATIVE("\"kind\":\"function\",\"entry_point\":\"f\",\"tests\":[{\"args\":[1]}]"),
	  "field 'tests[0]': field 'expected' is missing" },
	{ NATIVE("\"kind\":\"function\",\"entry_point\":\"a.b\","
	         "\"tests\":[{\"args\":[],\"expected\":1}]"),
	  "neither NAME nor CLASS().NAME" },
	{ NATIVE("\"kind\":\"stdin\",\"limits\":{\"cpu_ms\":0},\"tests\":[" STDIN_TEST "]"),
	  "field 'limits': field 'cpu_ms' is 0" },
	{ NATIVE("\"kind\":\"stdin\",\"limits\":{\"mem_mib\":1e99},\"tests\":[" STDIN_TEST "]"),
	  "field 'limits': field 'mem_mib' is 1e99" },
	{ NATIVE("\"kind\":\"stdin\",\"limits\":{\"wall_ms\":99999999999},\"tests\":[" STDIN_TEST
	         "]"),
	  "field 'limits': field 'wall_ms'" },
	{ NATIVE("\"kind\":\"stdin\",\"visible\":2,\"tests\":[" STDIN_TEST "]"),
	  "field 'visible' is 2" },
	{ NATIVE("\"kind\":\"stdin\",\"checker\":{\"abs\":1},\"tests\":[" STDIN_TEST "]"),
	  "field 'checker': field 'kind' is missing" },
	{ NATIVE("\"kind\":\"assert\",\"tests\":[{\"assert\":\"\",\"weight\":-1}]"),
	  "field 'weight' is -1" },
	{ NATIVE("\"kind\":\"assert\",\"tests\":[{\"assert\":\"\",\"weight\":0}]"),
	  "all tests weigh nothing" },
	{ NATIVE("\"kind\":\"assert\",\"tests\":[{\"assert\":\"\",\"name\":\"2\"},{\"assert\":\"\"}"
	         "]"),
	  "two tests are named '2'" },
	{ "{\"task_id\":\"H/0\",\"prompt\":\"\",\"entry_point\":\"f\"}",
	  "field 'test' is missing" },
	{ "{\"task_id\":\"H/0\",\"prompt\":\"\",\"entry_point\":\"f\",\"test\":\"x = 1\"}",
	  "does not define check()" },
	{ "{\"task_id\":1,\"text\":\"\",\"code\":\"\",\"test_list\":[]}", "without tests" },
	{ "{\"task_id\":1,\"text\":\"\",\"code\":\"\",\"test_list\":[\"\",3]}",
	  "field 'test_list[1]' is a number, not a text" },
	{ "{\"task_id\":1.5,\"text\":\"\",\"code\":\"\",\"test_list\":[\"\"]}", "field 'task_id'" },
	{ "{\"uuid\":\"u\",\"query\":\"\",\"domain\":\"Math\",\"ground_truth\":\"4\"}",
	  "field 'domain' is 'Math'" },
	{ "{\"uuid\":\"u\",\"query\":\"\",\"ground_truth\":\"4\"}", "is a number, not an object" },
	{ "{\"uuid\":\"u\",\"query\":\"\",\"ground_truth\":\"{\"}",
	  "field 'ground_truth': not JSON" },
	{ "{\"uuid\":\"u\",\"query\":\"\",\"ground_truth\":{\"inputs\":[\"1\"],\"outputs\":[]}}",
	  "has 1 entries, field 'outputs' 0" },
	{ "{\"uuid\":\"u\",\"query\":\"\",\"ground_truth\":{\"inputs\":[\"1\"],\"outputs\":[\"1\"],"
	  "\"call_type\":\"fn\"}}",
	  "'call_type' is 'fn'" },
};

static void broken_records_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		AUTO_ARENA a = { .limit = 1 << 20 };
		struct task t;
		struct err e = { 0 };

		if (load(broken[i].record, NULL, &a, &t, &e) == 0)
			fail_msg("%s loads", broken[i].record);
		if (!strstr(e.msg, broken[i].why))
			fail_msg("%s: '%s' does not say: %s", broken[i].record, e.msg,
			         broken[i].why);
	}
}

static void humaneval_is_one_assert(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct task t;
	struct err e;

	(void)state;
	assert_int_equal(load("{\"task_id\":\"H/1\",\"prompt\":\"def g(x):\\n\",\"entry_point\":"
	                      "\"g\",\"canonical_solution\":\"    return x\\n\",\"test\":"
	                      "\"\\n\\ndef check(candidate):\\n    assert candidate(1) == 1\\n\"}",
	                      NULL, &a, &t, &e),
	                 0);
	assert_int_equal(t.kind, TASK_ASSERT);
	assert_true(str_is(t.test[0].code, "check(g)\n"));
	assert_true(str_starts(t.setup, STR("\n\ndef check")));
	assert_true(str_eq(t.preamble, t.prompt) && t.n_visible == 0);
}

static void mbpp_runs_its_set_up_later(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct task t;
	struct err e;

	(void)state;
	assert_int_equal(load("{\"task_id\":9,\"text\":\"Walk.\",\"code\":\"class Node:\\r\\n  "
	                      "pass\\r\\ndef walk(n):\\r\\n  return 1\",\"test_setup_code\":"
	                      "\"root = Node()\",\"test_list\":[\"assert sorted([walk(root)]) == "
	                      "[1]\"],\"challenge_test_list\":[\"assert False\"]}",
	                      NULL, &a, &t, &e),
	                 0);
	assert_true(str_is(t.entry_point, "walk"));
	assert_true(str_is(t.setup, "root = Node()") && t.n_tests == 1 && t.n_visible == 1);
	assert_true(str_has(t.reference, STR("\r\n")));
	assert_true(str_is(t.prompt, "Walk.\nYour code should pass these tests:\n\n"
	                             "assert sorted([walk(root)]) == [1]\n"));
}

static void inputs_end_in_a_newline(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct task t;
	struct err e;

	(void)state;
	assert_int_equal(load("{\"uuid\":\"u\",\"query\":\"q\",\"ground_truth\":{\"inputs\":[\"1\","
	                      "\"2\\r\\n3\\r\\n\",\"\",\"4\\n\",\"5\\r6\"],\"outputs\":[\"\",\"\","
	                      "\"\",\"\",\"\"]}}",
	                      NULL, &a, &t, &e),
	                 0);
	assert_true(str_is(t.test[0].in, "1\n") && str_is(t.test[1].in, "2\n3\n"));
	assert_true(t.test[2].in.n == 0 && str_is(t.test[3].in, "4\n"));
	assert_true(str_is(t.test[4].in, "5\r6\n"));
}

/* Numbers of tests keep their text: no integer may pass through a double. */
static void values_keep_their_text(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	AUTO_BUF b = { .max = 1 << 16 };
	struct task t;
	struct err e;

	(void)state;
	assert_int_equal(
		load(NATIVE("\"kind\":\"function\",\"entry_point\":\"f\",\"in_place\":true,"
	                    "\"tests\":[{\"args\":[9007199254740993,1.0,1e-7],"
	                    "\"expected\":{\"1\":2}}]"),
	             NULL, &a, &t, &e),
		0);
	put_native(&t, &b);
	assert_true(str_has(buf_str(&b), STR("[9007199254740993,1.0,1e-7]")));
	assert_true(str_has(buf_str(&b), STR("\"in_place\":true")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_and_cases),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(broken_records_are_named),
		cmocka_unit_test(humaneval_is_one_assert),
		cmocka_unit_test(mbpp_runs_its_set_up_later),
		cmocka_unit_test(inputs_end_in_a_newline),
		cmocka_unit_test(values_keep_their_text),
	};

	return RUN(tests);
}
