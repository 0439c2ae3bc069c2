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
#define EVALPLUS(id, more)                                                                         \
	"{\"task_id\":\"" id "\",\"prompt\":\"\",\"entry_point\":\"f\",\"canonical_solution\":"    \
	"\"def f(*x):\\n    return 1\\n\"," more "}"
#define STDIN_TEST "{\"stdin\":\"\",\"stdout\":\"1\"}"

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
	  "field 'tests[0]': field 'expected' is missing, and no 'reference'" },
	{ NATIVE("\"kind\":\"function\",\"entry_point\":\"f\",\"tests\":[{\"args\":[],"
	         "\"calls\":[[]],\"expected\":1}]"),
	  "field 'tests[0]': fields 'args' and 'calls' are both there" },
	{ NATIVE("\"kind\":\"function\",\"entry_point\":\"f\",\"tests\":[{\"calls\":[],"
	         "\"expected\":[]}]"),
	  "field 'tests[0]': field 'calls': a test without calls" },
	{ NATIVE("\"kind\":\"function\",\"entry_point\":\"f\",\"tests\":[{\"calls\":[[],1],"
	         "\"expected\":[1,2]}]"),
	  "field 'tests[0]': field 'calls[1]' is a number, not a list" },
	{ NATIVE("\"kind\":\"function\",\"entry_point\":\"f\",\"tests\":[{\"calls\":[[1],[2]],"
	         "\"expected\":[1]}]"),
	  "field 'tests[0]': field 'expected' is no list of 2 results" },
	{ NATIVE("\"kind\":\"function\",\"entry_point\":\"f\",\"tests\":[{\"args\":[1],"
	         "\"typed\":1,\"expected\":1}]"),
	  "field 'tests[0]': field 'typed' is a number" },
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
	{ EVALPLUS("Mbpp/2", "\"base_input\":[]"), "without tests" },
	{ EVALPLUS("Mbpp/2", "\"base_input\":3"), "field 'base_input' is a number, not a list" },
	{ EVALPLUS("Mbpp/2", "\"base_input\":[[1]],\"plus_input\":[[1],2]"),
	  "field 'plus_input[1]' is a number, not a list" },
	{ EVALPLUS("Mbpp/2", "\"base_input\":[[1]],\"atol\":\"x\""), "field 'atol' is a text" },
	{ EVALPLUS("Mbpp/252", "\"base_input\":[[\"1+j\"]]"), "'1+j' is no complex number" },
	{ EVALPLUS("Mbpp/124", "\"base_input\":[[\"x\",1]]"),
	  "field 'base_input[0]': 'x' is no number" },
	{ "{\"task_id\":\"CPP/0\",\"prompt\":\"\",\"declaration\":\"\",\"test\":\"\"}",
	  "field 'task_id' is 'CPP/0': only tests in Python" },
	{ "{\"task_id\":\"Python/0\",\"prompt\":\"\",\"declaration\":\"\",\"test\":\"def "
	  "check(f):\\n    pass\\n\"}",
	  "field 'test' does not end in a call of check()" },
	{ "{\"name\":\"f\",\"buggy_program\":\"\",\"tests\":\"x = 1\\n\"}",
	  "field 'tests' does not end in assertions or calls" },
	{ "{\"task_id\":\"t\",\"prompt\":\"\",\"completion\":\"\",\"starter_code\":\"\","
	  "\"entry_point\":\"Solution().f\",\"test\":\"\"}",
	  "does not define check()" },
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
	assert_int_equal(
		load("{\"uuid\":\"u\",\"query\":\"q\",\"ground_truth\":{\"inputs\":[\"1\","
	             "\"2\\r\\n3\\r\\n\",\"\",\"4\\n\",\"5\\r6\",\"7\\r\\r\\n8\\r\",\"\\r\"],"
	             "\"outputs\":[\"\",\"\",\"\",\"\",\"\",\"\",\"\"]}}",
	             NULL, &a, &t, &e),
		0);
	assert_true(str_is(t.test[0].in, "1\n") && str_is(t.test[1].in, "2\n3\n"));
	assert_true(t.test[2].in.n == 0 && str_is(t.test[3].in, "4\n"));
	assert_true(str_is(t.test[4].in, "5\r6\n"));
	assert_true(str_is(t.test[5].in, "7\n8\n") && str_is(t.test[6].in, "\n"));
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

/* What JSON lost comes back, by task; nothing else changes. */
static void types_come_back(void **state)
{
	static const struct {
		const char *id, *in, *want;
	} row[] = {
		{ "Mbpp/2", "[[1,[2]],[]]", "[{\"t\":[1,[2]]},{\"t\":[]}]" },
		{ "Mbpp/63", "[[[1,2],[3]]]", "[[{\"t\":[1,2]},{\"t\":[3]}]]" },
		{ "Mbpp/259", "[[[1],[2]]]", "[{\"t\":[{\"t\":[1]},{\"t\":[2]}]}]" },
		{ "Mbpp/278", "[[1,[2],\"a\"]]", "[{\"t\":[1,{\"t\":[2]},\"a\"]}]" },
		{ "Mbpp/580", "[[1,[2,[]]]]", "[{\"t\":[1,{\"t\":[2,{\"t\":[]}]}]}]" },
		{ "Mbpp/753", "[[[1]],[2]]", "[[{\"t\":[1]}],[2]]" },
		{ "Mbpp/722", "[{\"a\":[1.5,[]]},[2]]", "[{\"d\":[\"a\",{\"t\":[1.5,[]]}]},[2]]" },
		{ "Mbpp/750", "[[1],[2]]", "[[1],{\"t\":[2]}]" },
		{ "Mbpp/763", "[[1],[2]]", "[{\"t\":[1]},[2]]" },
		{ "Mbpp/115", "[[[1,1],[],{}]]", "[[{\"s\":[1,1]},{\"d\":[]},{\"d\":[]}]]" },
		{ "Mbpp/124", "[\"-1\",\"(-0-2.5e-16j)\"]", "[-1.0,{\"c\":[-0.0,-2.5e-16]}]" },
		{ "Mbpp/252", "[\"3j\"]", "[{\"c\":[0.0,3.0]}]" },
		{ "Mbpp/252", "[\"(1e+2+3j)\"]", "[{\"c\":[1e+2,3.0]}]" },
		{ "Mbpp/252", "[\"+.5-007j\"]", "[{\"c\":[0.5,-7.0]}]" },
		{ "Mbpp/252", "[4]", "[{\"c\":[4.0,0.0]}]" },
		{ "Mbpp/404", "[-1e999,1e999,1]", "[{\"f\":\"-inf\"},{\"f\":\"inf\"},1]" },
		{ "Mbpp/3", "[[[1]],{\"t\":[2]},null]", "[[[1]],{\"d\":[\"t\",[2]]},null]" },
		{ "HumanEval/2", "[[1,[2]]]", "[[1,[2]]]" },
		{ "HumanEval/22", "[9007199254740993,{\"1\":true}]",
		  "[9007199254740993,{\"d\":[\"1\",true]}]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		AUTO_ARENA a = { .limit = 1 << 20 };
		AUTO_BUF b = { .max = 1 << 16 };
		struct jsonw w = { &b };
		const char *rec = arena_printf(&a, EVALPLUS("%s", "\"plus_input\":[%s]"), row[i].id,
		                               row[i].in);
		struct task t;
		struct err e = { 0 };

		if (load(rec, NULL, &a, &t, &e) < 0)
			fail_msg("%s: %s", rec, e.msg);
		assert_true(t.kind == TASK_FUNCTION && t.test[0].many && t.test[0].typed);
		assert_true(!t.test[0].expected && str_is(t.test[0].name, "plus"));
		jsonw_json(&w, &t.test[0].args->item[0]);
		if (strcmp(buf_cstr(&b), row[i].want))
			fail_msg("%s: %s, not %s", row[i].id, buf_cstr(&b), row[i].want);
	}
}

static void evalplus_compares_as_its_grader(void **state)
{
	static const struct {
		const char *id, *more, *want;
	} row[] = {
		{ "HumanEval/2", "\"atol\":1e-06",
		  "{\"kind\":\"python\",\"as\":\"value\",\"abs\":1e-06,"
		  "\"rel\":1e-7}" },
		{ "Mbpp/2", "\"atol\":0",
		  "{\"kind\":\"python\",\"as\":\"set\",\"abs\":1e-6,\"rel\":1e-7}" },
		{ "Mbpp/22", "\"atol\":0",
		  "{\"kind\":\"python\",\"as\":\"value\",\"abs\":1e-6,\"rel\":1e-7}" },
		{ "Mbpp/787", "\"atol\":0",
		  "{\"kind\":\"python\",\"as\":\"found\",\"abs\":1e-6,\"rel\":1e-7}" },
		{ "HumanEval/787", "\"atol\":0",
		  "{\"kind\":\"python\",\"as\":\"value\",\"abs\":1e-6,\"rel\":1e-7}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		AUTO_ARENA a = { .limit = 1 << 20 };
		AUTO_BUF b = { .max = 1 << 16 };
		struct jsonw w = { &b };
		const char *rec = arena_printf(&a, EVALPLUS("%s", "\"base_input\":[[1]],%s"),
		                               row[i].id, row[i].more);
		struct task t;
		struct err e = { 0 };

		assert_int_equal(load(rec, NULL, &a, &t, &e), 0);
		jsonw_json(&w, t.checker_opts);
		if (strcmp(buf_cstr(&b), row[i].want))
			fail_msg("%s: %s", row[i].id, buf_cstr(&b));
	}
}

/* Where only a program can tell what is right, the calls are assertions. */
static void evalplus_oracles_are_assertions(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct task t;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(load(EVALPLUS("HumanEval/32", "\"base_input\":[[[1,2]]],\"plus_input\":"
	                                               "[[[1,3]],[[2,4]]],\"atol\":0.0001"),
	                      NULL, &a, &t, &e),
	                 0);
	assert_true(t.kind == TASK_ASSERT && t.n_tests == 2 && !t.checker.n && !t.checker_opts);
	assert_true(str_is(t.test[0].name, "base") && str_is(t.test[1].name, "plus"));
	assert_true(str_is(t.test[1].code, "check(f, [[[1,3]],[[2,4]]])\n"));
	assert_true(str_has(t.setup, STR("<= 0.0001\n")) && !str_has(t.setup, STR("reference(")));
	assert_int_equal(
		load(EVALPLUS("Mbpp/581", "\"base_input\":[[1,2]],\"atol\":0"), NULL, &a, &t, &e),
		0);
	assert_true(str_has(t.setup, STR("exec(\"def f(*x):\\n    return 1\\n\", space)")));
	assert_true(str_has(t.setup, STR("<= 1e-6\n")));
}

static void the_last_call_of_check_is_the_test(void **state)
{
	static const char text[] = "{\"task_id\":\"Python/3\",\"prompt\":\"import math\\n\\ndef "
				   "f(x):\\n\",\"declaration\":\"def f(x):\\n\",\"test\":\"def "
				   "check(f):\\n    assert f(1)\\n\\ncheck(f)\\n\\n\"%s}";
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct task t;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(load(arena_printf(&a, text, ""), NULL, &a, &t, &e), 0);
	assert_true(str_is(t.setup, "def check(f):\n    assert f(1)\n\n"));
	assert_true(str_is(t.test[0].code, "check(f)\n") && str_is(t.entry_point, "f"));
	assert_true(str_eq(t.prompt, t.preamble) && !t.reference.p);
	assert_int_equal(load(arena_printf(&a, text, ",\"buggy_solution\":\"    return 0\\n\""),
	                      NULL, &a, &t, &e),
	                 0);
	assert_true(str_is(t.prompt, "Fix the bug in f.\n\ndef f(x):\n    return 0\n"));
	assert_true(str_is(t.preamble, "import math\n\ndef f(x):\n"));
}

static void leetcode_has_a_prelude(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct task t;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(load("{\"task_id\":\"two\",\"prompt\":\"import math\\n\",\"completion\":"
	                      "\"class Solution:\\n    pass\\n\",\"entry_point\":\"Solution().f\","
	                      "\"test\":\"def check(candidate):\\n    pass\\n\",\"starter_code\":"
	                      "\"class Solution:\\n\",\"problem_description\":\"Two.\"}",
	                      NULL, &a, &t, &e),
	                 0);
	assert_true(str_is(t.preamble, "import math\n"));
	assert_true(str_is(t.prompt, "Two.\n\nclass Solution:\n"));
	assert_true(str_is(t.test[0].code, "check(Solution().f)\n"));
	assert_true(str_is(task_program(&t, t.reference, &a),
	                   "import math\nclass Solution:\n    pass\n"));
}

static void quixbugs_ends_in_its_tests(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 20 };
	struct task t;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(load("{\"name\":\"f\",\"buggy_program\":\"def f(n):\\n    pass\","
	                      "\"docstring\":\"Doc.\",\"tests\":\"assert True\\nnode = 1\\n\\ndef "
	                      "test1():\\n    assert f(node)\\n\\ntest1()\\n\\nassert f(2)  "
	                      "\\n\"}",
	                      NULL, &a, &t, &e),
	                 0);
	assert_int_equal(t.n_tests, 2);
	assert_true(str_is(t.test[0].code, "test1()") && str_is(t.test[1].code, "assert f(2)"));
	assert_true(str_starts(t.setup, STR("assert True\nnode = 1\n")));
	assert_true(str_is(t.prompt, "Fix the bug in f.\n\nDoc.\ndef f(n):\n    pass\n"));
}

/* No field that one format needs makes another one claim the record. */
static void formats_are_not_confused(void **state)
{
	(void)state;
	for (int i = 0; format_table[i]; i++)
		for (const struct format_case *k = format_table[i]->cases; k->record; k++) {
			AUTO_ARENA a = { .limit = 1 << 20 };
			const struct json *rec = NULL;
			struct err e;
			int own;

			assert_int_equal(json_parse(view(k->record), &a, &rec, &e), 0);
			own = format_table[i]->detect(rec);
			for (int j = 0; format_table[j]; j++)
				if (j != i && format_table[j]->detect(rec) >= own)
					fail_msg("%s is taken for %s", k->record,
					         format_table[j]->name);
		}
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
		cmocka_unit_test(types_come_back),
		cmocka_unit_test(evalplus_compares_as_its_grader),
		cmocka_unit_test(evalplus_oracles_are_assertions),
		cmocka_unit_test(the_last_call_of_check_is_the_test),
		cmocka_unit_test(leetcode_has_a_prelude),
		cmocka_unit_test(quixbugs_ends_in_its_tests),
		cmocka_unit_test(formats_are_not_confused),
	};

	return RUN(tests);
}
