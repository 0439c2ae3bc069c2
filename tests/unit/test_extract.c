/* extract: the shapes in which models hand over a program. */
#include "judge/extract.h"

#include <string.h>

#include "base/buf.h"

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
	/* tags with versions, attributes, braces, file names; titles are no tags */
	{ "```python3.12\na\n```", "", "a\n", 0 },
	{ "```PY\na\n```", "", "a\n", 0 },
	{ "```python title=\"x.c\"\na\n```", "", "a\n", 0 },
	{ "```python:main.c\na\n```", "", "a\n", 0 },
	{ "```python,linenos\na\n```", "", "a\n", 0 },
	{ "```{.python .numberLines}\na\n```", "", "a\n", 0 },
	{ "```{ .numberLines .python }\na\n```", "", "a\n", 0 },
	{ "```{python}\na\n```", "", "a\n", 0 },
	{ "```{python, echo=TRUE}\na\n```", "", "a\n", 0 },
	{ "```language-python\na\n```", "", "a\n", 0 },
	{ "```main.py\na\n```", "", "a\n", 0 },
	{ "```title=\"main\"\na\n```\n```c\nb\n```", "", "a\n", 0 },
	{ "```\tpython\t\na\n```\t\n", "", "a\n", 0 },
	{ "```pythonista\na\n```", "", NULL, EXTRACT_NO_CODE },
	{ "```{.c}\na\n```", "", NULL, EXTRACT_NO_CODE },
	/* the language named in a line of its own */
	{ "```\npython\na\n```\nSo:\n```\n3\n```\n", "", "a\n", 0 },
	{ "```\n\nPython\r\na\n```", "", "a\n", 0 },
	{ "python\na = 1\n", "", "a = 1\n", 0 },
	{ "python_is = 1\n", "", "python_is = 1\n", 0 },
	{ "python", "", "python", 0 },
	/* list items, on the line of the mark too; code that is not aligned with its fence */
	{ "- ```python\n  if x:\n      y\n  ```\n", "", "if x:\n    y\n", 0 },
	{ "12) ```python\n    a\n    ```\n", "", "a\n", 0 },
	{ "* one\n\n\t```python\n\tif x:\n\t\ty\n\t```\n", "", "if x:\n\ty\n", 0 },
	{ "1. Code:\n   ```python\nif x:\n  y\n```\n", "", "if x:\n  y\n", 0 },
	{ "  ```python\n  s = '''\nz\n   '''\n  ```\n", "", "s = '''\nz\n '''\n", 0 },
	{ "   ```python\n\tif x:\n\t\ty\n   ```\n", "", "if x:\n\ty\n", 0 },
	/* block quotes */
	{ "> ```python\n> if x:\n>     y\n>\n> z\n> ```\n", "", "if x:\n    y\n\nz\n", 0 },
	{ ">```python\n>a\n>```\n", "", "a\n", 0 },
	{ "> > ```python\r\n> > a\r\n> > ```\r\n", "", "a\r\n", 0 },
	{ "> 1. ```python\n>    if x:\n>        y\n>    ```\n", "", "if x:\n    y\n", 0 },
	{ "> ```python\na\nb > c\n```\n", "", "a\nb > c\n", 0 },
	{ "> Think:\n> ```python\n> a", "", "a", 0 },
	/* the answer wrapped in another block */
	{ "```markdown\nText\n```python\na\n```\n```\n", "", "a\n", 0 },
	{ "````markdown\n```python\na\n```\nmore\n````\nBye\n", "", "a\n", 0 },
	{ "~~~md\n```py\na\n```\n~~~\n", "", "a\n", 0 },
	{ "```\n```python\na\n```\n```\n", "", "a\n", 0 },
	/* an end that was forgotten, is too short, or stands at the end of a line */
	{ "```python\nb\n\nBetter:\n```python\na\n```\n", "", "a\n", 0 },
	{ "```python\na\n```text\n3\n```\n", "", "a\n", 0 },
	{ "```text\n3\n\n```python\na\n```\n", "", "a\n", 0 },
	{ "````python\na\n```\nIt is done.\n", "", "a\n", 0 },
	{ "```python\na```\nIt is done.\n", "", "a", 0 },
	{ "```python\na\n``` It's `a`.\n", "", "a\n", 0 },
	{ "```python\nif x:\n    a\n    ```\nIt is done.\n", "", "if x:\n    a\n    ", 0 },
	{ "```python\na\n``", "", "a\n", 0 },
	{ "Code: ```python\na\n```\nOutput:\n```\n3\n```\n", "", "a\n", 0 },
	{ "It goes in ```python\n\n```python\na\n```\n", "", "a\n", 0 },
	/* fences and quotes in texts and comments of the program */
	{ "```python\ns = '''\n```\n'''\nt\n```\n", "", "s = '''\n```\n'''\nt\n", 0 },
	{ "```python\ns = \"\"\"\n```python\nx\n```\n\"\"\"\nt\n```\n", "",
	  "s = \"\"\"\n```python\nx\n```\n\"\"\"\nt\n", 0 },
	{ "```python\ns = r'\\'  # '''\n```\n```\n3\n```\n", "", "s = r'\\'  # '''\n", 0 },
	{ "```python\n# Don't ``` or ```python\na\n```\n", "", "# Don't ``` or ```python\na\n", 0 },
	{ "```python\ns = 'a```\\\n```'\nt = \"it's '''\"\n```\n```\n3\n```\n", "",
	  "s = 'a```\\\n```'\nt = \"it's '''\"\n", 0 },
	{ "```python\ns = '''\\'''\n```\n'''\n```\n", "", "s = '''\\'''\n```\n'''\n", 0 },
	{ "```python\n~~~x\n```\n", "", "~~~x\n", 0 },
	{ "~~~python\ns = '```'\n~~~\n", "", "s = '```'\n", 0 },
	/* a text that never ends does not swallow what follows */
	{ "```python\ns = '''\n```\nFixed:\n```python\ns = ''''''\n```\n", "", "s = ''''''\n", 0 },
	{ "```python\ns = '''\n```\n", "", "s = '''\n", 0 },
	{ "```python\ns = '''\n", "", "s = '''\n", 0 },
	{ "```\nit's '''\n```\n```python\na\n```\n", "", "a\n", 0 },
	/* the entry point, among several blocks */
	{ "```python\ndef f(): pass\n```\n```python\ndef f(): return 1\n```\n```python\ndef g(): "
	  "f()\n```",
	  "f", "def f(): return 1\n", 0 },
	{ "```python\ndef f(): pass\n```\n```\ndef f(): return 1\n```\n", "f", "def f(): pass\n",
	  0 },
	{ "```python\ndef f(): pass\n```\nTests:\n```python\nfrom m import f\nassert f() is "
	  "None\n```\n",
	  "f", "def f(): pass\n", 0 },
	{ "```python\n    return 1\n```\n```\n1\n```\n", "f", "    return 1\n", 0 },
	/* think blocks in other spellings, nested, without their begin, several */
	{ "<thinking>\n```python\nx\n```\n</thinking>\n```python\na\n```\n", "", "a\n", 0 },
	{ "<Reasoning>x</Reasoning>\n<answer>\na\n</answer>", "", "a\n", 0 },
	{ "[THINK]```python\nx\n```[/THINK]\n```python\na\n```\n", "", "a\n", 0 },
	{ "\xe2\x97\x81think\xe2\x96\xb7x\xe2\x97\x81/think\xe2\x96\xb7"
	  "a",
	  "", "a", 0 },
	{ "<|begin_of_thought|>x<|end_of_thought|>a", "", "a", 0 },
	{ "<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>a<|"
	  "return|>",
	  "", "a", 0 },
	{ "<think>\n<think>\nx\n</think>\n```python\ny\n```\n</think >\n```python\na\n```\n", "",
	  "a\n", 0 },
	{ "hm\n```python\nx\n```\n</think>```python\na\n```", "", "a\n", 0 },
	{ "<think>\nx\n</think>\n```python\na\n```\n<think>\nIt is right.\n</think>\n", "", "a\n",
	  0 },
	{ "<think>\nx\n</think>\n```python\na\n```\n<think>\n```python\nx\n```", "", "a\n", 0 },
	{ "<think>\n```python\nx\n```\n</think>\n```python\nb\n```\n<think>\nNo.\n</"
	  "think>\n```python\na\n```",
	  "", "a\n", 0 },
	{ "<think>\nWrite </think> soon.\n```python\nx\n```\n</think>\nprint(1)", "", "\nprint(1)",
	  0 },
	/* tags in texts of the program and in sentences */
	{ "```python\nprint('</think>')\n```\n", "", "print('</think>')\n", 0 },
	{ "```python\ns = \"<think>x</think> y\"\n```\n", "", "s = \"<think>x</think> y\"\n", 0 },
	{ "<think>\nx\n</think>\n```python\na = '</think>\\n'\n```\n", "", "a = '</think>\\n'\n",
	  0 },
	{ "<think>\nI end with `</think>` now.\n</think>\na", "", "\na", 0 },
	{ "<thinker>\na", "", "<thinker>\na", 0 },
	/* what chat templates leave */
	{ "```python\na\n```<|im_end|>", "", "a\n", 0 },
	{ "```python\na\n<|im_end|>\n<|endoftext|><|endoftext|>\n", "", "a\n", 0 },
	{ "    return 1<|eot_id|>", "", "    return 1", 0 },
	{ "a</s></s>", "", "a", 0 },
	{ "a<end_of_turn>\n", "", "a", 0 },
	{ "a<\xef\xbd\x9c"
	  "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>",
	  "", "a", 0 },
	{ "<|im_start|>assistant\na<|im_end|>", "", "a", 0 },
	{ "```python\na\n```\n</answer>", "", "a\n", 0 },
	{ "<answer>\n```python\na\n```</answer>\n", "", "a\n", 0 },
	{ "x = a<b|c>d", "", "x = a<b|c>d", 0 },
	/* a byte order mark; backticks around everything */
	{ "\xef\xbb\xbf```python\na\n```", "", "a\n", 0 },
	{ "```python\n\xef\xbb\xbf"
	  "a\n```",
	  "", "a\n", 0 },
	{ "\xef\xbb\xbf"
	  "a",
	  "", "a", 0 },
	{ "`print(1)`", "", "print(1)", 0 },
	{ "```python print(1)```", "", "print(1)", 0 },
	{ "```print(1)```\n", "", "print(1)", 0 },
	{ "`a` or `b`", "", "`a` or `b`", 0 },
	{ "&lt;a", "", "&lt;a", 0 },
	{ ">>> a\n", "", ">>> a\n", 0 },
	/* failures have a reason */
	{ "", "", NULL, EXTRACT_NO_CODE },
	{ " \n\t", "", NULL, EXTRACT_NO_CODE },
	{ "```c\nint x;\n```\n", "", NULL, EXTRACT_NO_CODE },
	{ "```python\n```\n", "", NULL, EXTRACT_NO_CODE },
	{ "<think>\nhm", "", NULL, EXTRACT_THINK_ONLY },
	{ "\n <think>\nhm </think> \n", "", NULL, EXTRACT_THINK_ONLY },
	{ "Here it is:\n```python\n", "", NULL, EXTRACT_TRUNCATED },
	{ "Here it is:\n```python", "", NULL, EXTRACT_TRUNCATED },
	{ "Here it is:\n```pyth", "", NULL, EXTRACT_TRUNCATED },
	{ "```c\nint x;\n```\nIn Python:\n```python\n", "", NULL, EXTRACT_TRUNCATED },
	{ "```python\n``", "", NULL, EXTRACT_TRUNCATED },
	{ "<|im_end|>", "", NULL, EXTRACT_NO_CODE },
	{ "<answer>\n</answer>", "", NULL, EXTRACT_NO_CODE },
	{ "```text\n3\n```\n```\n\n```\n", "", NULL, EXTRACT_NO_CODE },
	{ "<reasoning>\nhm</reasoning><|im_end|>", "", NULL, EXTRACT_THINK_ONLY },
	{ "<think>\n```python\nx\n```\n", "", NULL, EXTRACT_THINK_ONLY },
	{ "Sure.\n<thinking>\n```python\nx\n```\n", "", NULL, EXTRACT_THINK_ONLY },
	{ "<think>\na\n</think>\n<think>\n```python\nx\n```", "", NULL, EXTRACT_THINK_ONLY },
	{ "<think>\na\n</think>\n```c\nx\n```", "", NULL, EXTRACT_NO_CODE },
	{ "<think>\na\n</think>\n```python", "", NULL, EXTRACT_TRUNCATED },
};

static struct str view(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static void every_shape(void **state)
{
	int wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		const struct shape *s = &shapes[i];
		AUTO_ARENA a = { .limit = 1 << 16 };
		struct str code = STR("untouched");
		enum extract_result r =
			extract_code(view(s->completion), python, view(s->entry), &a, &code);

		if (r != (s->want ? EXTRACT_OK : s->why) ||
		    !str_eq(code, s->want ? view(s->want) : STR("untouched"))) {
			print_error("'%s': %s '%.*s'\n", s->completion, extract_text(r),
			            (int)code.n, code.p);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
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

static struct str run(struct str text, const char *const *tags)
{
	AUTO_ARENA a = { .limit = 1 << 24 };
	struct str code = STR("");

	/* Nothing of these is copied into the arena. */
	return extract_code(text, tags, STR(""), &a, &code) == EXTRACT_OK ? code : STR("none");
}

static void nul_bytes_are_bytes(void **state)
{
	(void)state;
	assert_true(str_eq(run(STR("\0```python\na\0b\n```\n\0"), python), STR("a\0b\n")));
	assert_true(str_eq(run(STR("```python\na\0b\n```\n\0"), python), STR("a\0b\n")));
	assert_true(str_eq(run(STR("a\0b"), python), STR("a\0b")));
}

/* Other languages: tags of any characters, and nothing of the rules for Python. */
static void other_languages(void **state)
{
	static const char *const cpp[] = { "cpp", "c++", NULL };
	static const char *const js[] = { "javascript", "js", NULL };

	(void)state;
	assert_true(str_eq(run(STR("```c++\nx\n```\n```python\ny\n```"), cpp), STR("x\n")));
	assert_true(str_eq(run(STR("```C++17\nx\n```"), cpp), STR("x\n")));
	assert_true(str_eq(run(STR("```c\nx\n```"), cpp), STR("none")));
	assert_true(str_eq(run(STR("```cpp\nchar c = '\"';\n'''\n```\n```\n3\n```"), cpp),
	                   STR("char c = '\"';\n'''\n")));
	assert_true(str_eq(run(STR("```js\n`x```y`;\n```\n"), js), STR("`x```y`;\n")));
}

/* Shapes that could cost a look at everything for each line. */
static void long_texts_take_linear_time(void **state)
{
	static const char *const line[] = {
		"```py\n'''\n```\n# ''' x\n",
		"</think>",
		"<think>\n",
		"```\n",
		"> ",
		"1. ",
		"\"</think>",
		"`",
		"~~~py\n",
		"```py\n",
		"<|x|>",
		"```text\n```py\n```\n",
		"- ```py\n  a\n  ```\n",
		"</s>",
		"<",
		"```py\n'''\n```\n",
		"    ```py {.x\n",
		"<think>\n</think>\n",
		" ",
		"\n",
		"\xe2",
		"```py\n'''\n```\n```py\n\"\"\"\n```\n",
	};
	enum { SIZE = 1 << 19 };

	(void)state;
	for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
		AUTO_BUF b = { .max = SIZE + 100 };
		AUTO_ARENA a = { .limit = 4 * SIZE };
		struct str code;

		while (b.n < SIZE)
			buf_puts(&b, line[i]);
		assert_int_not_equal(extract_code(buf_str(&b), python, STR("f"), &a, &code),
		                     EXTRACT_NO_MEMORY);
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
		cmocka_unit_test(nul_bytes_are_bytes),
		cmocka_unit_test(other_languages),
		cmocka_unit_test(long_texts_take_linear_time),
		cmocka_unit_test(a_full_arena_is_no_verdict),
	};

	return RUN(tests);
}
