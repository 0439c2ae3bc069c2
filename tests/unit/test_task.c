/* task: putting answers and preambles together, and files of tasks. */
#include "task/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

static struct str view(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static void definitions(void **state)
{
	static const struct {
		const char *code, *name;
		bool yes;
	} row[] = {
		{ "def f(x):\n", "f", true },
		{ "import os\n\ndef  f (x):\n", "f", true },
		{ "async def f():\n", "f", true },
		{ "class Solution:\n", "Solution().f", true },
		{ "class S(object):\n", "S", true },
		{ "f = lambda x: x", "f", true },
		{ "f=g\n", "f", true },
		{ "f: int = 3\n", "f", true },
		{ "    def f(x):\n", "f", false },
		{ "def ff(x):\n", "f", false },
		{ "f == 3\n", "f", false },
		{ "f(3)\n", "f", false },
		{ "# def f(x):\n", "f", false },
		{ "", "f", false },
		{ "def f(x):\n", "", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		if (task_defines(view(row[i].code), view(row[i].name), NULL) != row[i].yes)
			fail_msg("'%s' and %s", row[i].code, row[i].name);
}

static void programs(void **state)
{
	static const char prompt[] = "import math\n\n\ndef helper(x):\n    return x\n\n\n"
				     "@cached\ndef f(x):\n    \"\"\"Doc.\"\"\"\n";
	static const struct {
		const char *preamble, *answer, *want;
	} row[] = {
		/* a body completes the prompt */
		{ "def f(x):\n", "    return x\n", "def f(x):\n    return x\n" },
		/* a whole function replaces the header, and keeps imports and second functions */
		{ prompt, "def f(x):\n    return helper(x)\n",
		  "import math\n\n\ndef helper(x):\n    return x\n\n\n"
		  "def f(x):\n    return helper(x)\n" },
		{ "# Add.\ndef f(x):\n", "def f(x):\n    return 1\n",
		  "# Add.\ndef f(x):\n    return 1\n" },
		/* what does not define the function stands before every answer */
		{ "import math\n", "def f(x):\n    return 1\n",
		  "import math\ndef f(x):\n    return 1\n" },
		{ "", "def f(x):\n    return 1\n", "def f(x):\n    return 1\n" },
		/* an import that must come first */
		{ prompt, "from __future__ import annotations\ndef f(x):\n    return 1\n",
		  "from __future__ import annotations\ndef f(x):\n    return 1\n" },
		{ "x", "", "x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		AUTO_ARENA a = { .limit = 1 << 16 };
		struct task t = { .preamble = view(row[i].preamble), .entry_point = STR("f") };
		struct str got = task_program(&t, view(row[i].answer), &a);

		if (!str_is(got, row[i].want))
			fail_msg("'%.*s' is not '%s'", (int)got.n, got.p, row[i].want);
	}
}

static char folder[] = "/tmp/test_task.XXXXXX";

static const char *file(const char *text, size_t n)
{
	static char path[64];
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/tasks.jsonl", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	return path;
}

#define REC(id)                                                                                    \
	"{\"id\":\"" id "\",\"prompt\":\"\",\"language\":\"python\",\"kind\":\"stdin\","           \
	"\"tests\":[{\"stdin\":\"\",\"stdout\":\"\"}]}"

static void a_file_of_tasks(void **state)
{
	static const char text[] = REC("b") "\n\n" REC("a") "\r\n" REC("c");
	struct tasks t;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(tasks_open(file(text, sizeof text - 1), NULL, 1 << 20, &t, &e), 0);
	assert_int_equal(t.n, 3);
	assert_true(str_is(t.task[0].id, "b"));
	assert_ptr_equal(tasks_find(&t, STR("a")), &t.task[1]);
	assert_ptr_equal(tasks_find(&t, STR("c")), &t.task[2]);
	assert_null(tasks_find(&t, STR("d")));
	assert_null(tasks_find(&t, STR("")));
	tasks_done(&t);
	assert_int_equal(tasks_open(file(text, sizeof text - 1), "native", 1 << 20, &t, &e), 0);
	tasks_done(&t);
}

static void errors_name_the_line(void **state)
{
	static const struct {
		const char *text, *format, *why;
	} row[] = {
		{ REC("a") "\n{\"id\":3", NULL, "tasks.jsonl:2: not JSON" },
		{ REC("a") "\n" REC(""), NULL, "tasks.jsonl:2: the id has 0 bytes" },
		{ REC("a") "\n\n" REC("a") "\n", NULL, "tasks.jsonl:3: id 'a' was given" },
		{ "\n\n", NULL, "no task in this file" },
		{ "", NULL, "no task in this file" },
		{ REC("a"), "mbpp", "tasks.jsonl:1: field 'task_id' is missing" },
		{ REC("a"), "nothing", "unknown task format 'nothing'" },
		{ "\x1f\x8b\x08\x00\x00", NULL, "tasks.jsonl:1: " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		size_t n = row[i].text[0] == '\x1f' ? 5 : strlen(row[i].text);
		struct tasks t;
		struct err e = { 0 };

		if (tasks_open(file(row[i].text, n), row[i].format, 4096, &t, &e) == 0)
			fail_msg("%s loads", row[i].text);
		if (!strstr(e.msg, row[i].why))
			fail_msg("'%s' does not say: %s", e.msg, row[i].why);
	}
}

/* As Python's json writes it; in a text it stays. */
static void infinity_is_a_number(void **state)
{
	static const char text[] =
		"{\"id\":\"a\",\"prompt\":\"\\\"Infinity\",\"language\":\"python\","
		"\"kind\":\"function\",\"entry_point\":\"f\",\"tests\":[{\"args\":"
		"[Infinity, -Infinity,\"Infinity\"],\"expected\":1}]}";
	struct tasks t;
	struct err e = { 0 };
	const struct json *args;

	(void)state;
	if (tasks_open(file(text, sizeof text - 1), NULL, 4096, &t, &e) < 0)
		fail_msg("%s", e.msg);
	args = t.task[0].test[0].args;
	assert_true(str_is(t.task[0].prompt, "\"Infinity"));
	assert_true(str_is(args->item[0].text, "1e999") && str_is(args->item[1].text, "-1e999"));
	assert_true(args->item[2].type == JSON_STR && str_is(args->item[2].text, "Infinity"));
	tasks_done(&t);
	assert_true(tasks_open(file("{\"x\":Infinit}", 13), NULL, 4096, &t, &e) < 0);
	assert_true(tasks_open(file("{\"x\":NaN}", 9), NULL, 4096, &t, &e) < 0);
}

static void a_long_line_is_refused(void **state)
{
	static char text[10000];
	struct tasks t;
	struct err e = { 0 };

	(void)state;
	memset(text, ' ', sizeof text);
	assert_int_equal(tasks_open(file(text, sizeof text), NULL, 4096, &t, &e), ERR_LIMIT);
	assert_non_null(strstr(e.msg, "tasks.jsonl:1: line is longer"));
	assert_int_equal(tasks_open("/nonexistent/x", NULL, 4096, &t, &e), ERR_SYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(definitions),          cmocka_unit_test(programs),
		cmocka_unit_test(a_file_of_tasks),      cmocka_unit_test(errors_name_the_line),
		cmocka_unit_test(infinity_is_a_number), cmocka_unit_test(a_long_line_is_refused),
	};
	char path[64];
	int r;

	if (!mkdtemp(folder))
		return 1;
	r = RUN(tests);
	(void)snprintf(path, sizeof path, "%s/tasks.jsonl", folder);
	(void)unlink(path);
	(void)rmdir(folder);
	return r;
}
