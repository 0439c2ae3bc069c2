/* extract: the shapes in which models hand over a program. */
#include "judge/extract.h"

#include <string.h>

#include "test.h"

static const char *const python[] = { "python", "py", "python3", NULL };

struct shape {
	const char *completion, *entry, *want; /* want NULL: why */
	enum extract_result why;
};

static const struct shape shapes[] = {
	/* bare text is code as it stands: the body of a function keeps its blanks */
	{ "    return x\n", "", "    return x\n", 0 },
	{ "print(1)", "", "print(1)", 0 },
	/* the last block with the tag, not the first, and never joined */
	{ "First:\n```python\na\n```\nFinal:\n```python\nb\n```\n", "", "b\n", 0 },
	/* sample output behind the program */
	{ "```python\na\n```\nOutput:\n```\n3\n```\n", "", "a\n", 0 },
	{ "```python\na\n```\n```text\n3\n```\n", "", "a\n", 0 },
	/* usage example behind the program */
	{ "```python\ndef f(x):\n    return 1\n```\n```python\nprint(f(1))\n```\n", "f",
	  "def f(x):\n    return 1\n", 0 },
	{ "```python\nclass Solution:\n  pass\n```\n```python\nSolution()\n```\n", "Solution().f",
	  "class Solution:\n  pass\n", 0 },
	/* no end, no newline at the end */
	{ "```python\na\n", "", "a\n", 0 },
	{ "```python\na", "", "a", 0 },
	/* other spellings of the tag, attributes behind it */
	{ "```Python3\na\n```", "", "a\n", 0 },
	{ "``` py title=\"x\"\na\n```", "", "a\n", 0 },
	{ "~~~python\na\n~~~\n", "", "a\n", 0 },
	{ "```\na\n```\n", "", "a\n", 0 },
	/* inside a list item */
	{ "1. Code:\n\n   ```python\n   if x:\n       y\n\n   ```\n", "", "if x:\n    y\n\n", 0 },
	/* backticks that do not close: in a string, deeper, too few, the other character */
	{ "```python\ns = \"```\"\nt\n```\n", "", "s = \"```\"\nt\n", 0 },
	{ "```python\ndef f():\n    '''\n    ```\n    '''\n```\n", "",
	  "def f():\n    '''\n    ```\n    '''\n", 0 },
	{ "````python\n'''\n```\n'''\n````\n", "", "'''\n```\n'''\n", 0 },
	{ "```python\n~~~\n```\n", "", "~~~\n", 0 },
	{ "```python\na\n`````  \nafter\n", "", "a\n", 0 },
	/* code in a sentence is no fence */
	{ "Use ```x``` here:\n```python\na\n```\n", "", "a\n", 0 },
	{ "```x``` is it\n```python\na\n```\n", "", "a\n", 0 },
	/* think blocks, also with a fence that never ends in them */
	{ "<think>\n```python\nx\n```\n</think>\n```python\na\n```\n", "", "a\n", 0 },
	{ "<think>\nmaybe ```python\nx\n</think>\n```python\na\n```\n", "", "a\n", 0 },
	{ "<think>\n```python\nx\n</think>\n    return 1\n", "", "\n    return 1\n", 0 },
	{ "a</think>b</think>c", "", "c", 0 },
	{ "```python\r\na\r\n```\r\n", "", "a\r\n", 0 },
	/* an empty block does not hide a full one */
	{ "```python\na\n```\n```python\n```\n", "", "a\n", 0 },
	/* failures have a reason */
	{ "", "", NULL, EXTRACT_NO_CODE },
	{ " \n\t", "", NULL, EXTRACT_NO_CODE },
	{ "```c\nint x;\n```\n", "", NULL, EXTRACT_NO_CODE },
	{ "```python\n```\n", "", NULL, EXTRACT_NO_CODE },
	{ "<think>\nhm", "", NULL, EXTRACT_THINK_ONLY },
	{ "\n <think>\nhm </think> \n", "", NULL, EXTRACT_THINK_ONLY },
	{ "Here it is:\n```python\n", "", NULL, EXTRACT_TRUNCATED },
	{ "Here it is:\n```python", "", NULL, EXTRACT_TRUNCATED },
};

static struct str view(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static void every_shape(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		const struct shape *s = &shapes[i];
		AUTO_ARENA a = { .limit = 1 << 16 };
		struct str code = STR("untouched");
		enum extract_result r =
			extract_code(view(s->completion), python, view(s->entry), &a, &code);

		if (r != (s->want ? EXTRACT_OK : s->why) ||
		    !str_eq(code, s->want ? view(s->want) : STR("untouched")))
			fail_msg("'%s': %s '%.*s'", s->completion, extract_text(r), (int)code.n,
			         code.p);
	}
}

/* No prefix of a text may crash or read outside. */
static void every_prefix(void **state)
{
	static const char text[] =
		"<think>\r\n`` ```\n</think>\n 1.\n   ~~~~py x\n\t a\n   ~~~~\n```\n~~~\n````";

	(void)state;
	for (size_t n = 0; n < sizeof text; n++) {
		AUTO_ARENA a = { .limit = 1 << 16 }, copy = { .limit = 1 << 16 };
		struct str code, s = arena_str(&copy, (struct str){ text, n });

		(void)extract_code(s, python, STR("f"), &a, &code);
	}
}

static void a_full_arena_is_no_verdict(void **state)
{
	AUTO_ARENA a = { .limit = 4 };
	struct str code = STR("");

	(void)state;
	assert_int_equal(
		extract_code(STR("  ```py\n  long enough\n  ```"), python, STR(""), &a, &code),
		EXTRACT_NO_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape),
		cmocka_unit_test(every_prefix),
		cmocka_unit_test(a_full_arena_is_no_verdict),
	};

	return RUN(tests);
}
