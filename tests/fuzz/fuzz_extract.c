/* fuzz_extract.c - any bytes as a completion: the same answer each time, never a blank program, and
 * a plain program comes back from its fence byte by byte.
 */
#include "judge/extract.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

static const char *const python[] = { "python", "py", "python3", NULL };
static const char *const cpp[] = { "cpp", "c++", NULL };

static void extract(struct str text, const char *const *tags, struct str entry)
{
	AUTO_ARENA a = { .limit = 1 << 24 }, b = { .limit = 1 << 24 };
	struct str once = STR("untouched"), twice = STR("untouched");
	enum extract_result r = extract_code(text, tags, entry, &a, &once);

	assert(extract_code(text, tags, entry, &b, &twice) == r);
	assert(str_eq(once, twice));
	assert(r == EXTRACT_OK ? str_trim(once).n != 0 : str_is(once, "untouched"));
	assert(once.n <= text.n || r != EXTRACT_OK);
}

/* Bytes that mean something to the extraction or to the lexer of Python are left out. */
static void wrap(struct str text)
{
	AUTO_ARENA a = { .limit = 1 << 24 };
	AUTO_BUF b = { .max = 1 << 24 };
	struct str code = STR("");
	size_t n;

	buf_puts(&b, "Here:\n```python\nx = 1\n");
	for (size_t i = 0; i < text.n; i++)
		if (!memchr("`~<>[]'\"\xe2", text.p[i], 9))
			buf_putc(&b, text.p[i]);
	buf_puts(&b, "\n```\nIt prints:\n```\n1\n```\n");
	assert(!b.failed);
	n = b.n - strlen("Here:\n```python\n") - strlen("```\nIt prints:\n```\n1\n```\n");
	assert(extract_code(buf_str(&b), python, STR(""), &a, &code) == EXTRACT_OK);
	assert(str_eq(code, (struct str){ b.p + strlen("Here:\n```python\n"), n }));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str text = { (const char *)data, n };

	extract(text, python, STR("f"));
	extract(text, cpp, STR(""));
	wrap(text);
	return 0;
}
