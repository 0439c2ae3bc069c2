/* Buffers: growth up to the maximum, failures that are remembered, any bytes. */
#include "base/buf.h"

#include <string.h>

#include "test.h"

static void grows_to_its_maximum(void **state)
{
	AUTO_BUF b = { .max = 1000 };
	struct err e;

	(void)state;
	for (int i = 0; i < 100; i++)
		buf_puts(&b, "0123456789");
	assert_int_equal(buf_check(&b, "text", &e), 0);
	assert_int_equal(b.n, 1000);
	assert_int_equal(strlen(buf_cstr(&b)), 1000); /* the NUL does not count */
	assert_int_equal(b.failed, 0);
	buf_putc(&b, 'x');
	assert_int_equal(buf_check(&b, "text", &e), ERR_LIMIT);
	assert_string_equal(e.msg, "text is longer than 1000 bytes");
	assert_int_equal(b.n, 1000);
}

static void failure_is_remembered(void **state)
{
	AUTO_BUF b = { .max = 4 };

	(void)state;
	buf_puts(&b, "12345");
	buf_puts(&b, "1");
	assert_int_equal(b.n, 0);
	assert_int_equal(buf_check(&b, "x", NULL), ERR_LIMIT);
	buf_reset(&b);
	buf_puts(&b, "1234");
	assert_string_equal(buf_cstr(&b), "1234");
}

static void formats_of_any_length(void **state)
{
	AUTO_BUF b = { .max = 3000 };
	char big[2000];

	(void)state;
	memset(big, 'a', sizeof big - 1);
	big[sizeof big - 1] = 0;
	buf_putf(&b, "%d:%s", 7, big);
	assert_int_equal(b.n, 2001);
	assert_memory_equal(b.p, "7:aaa", 5);
	assert_int_equal(b.p[2000], 'a');
	buf_putf(&b, "%s", big);
	assert_int_equal(buf_check(&b, "x", NULL), ERR_LIMIT);
	assert_int_equal(b.n, 2001);
}

static void holds_any_bytes(void **state)
{
	AUTO_BUF b = { .max = 100 };

	(void)state;
	buf_put(&b, "a\0b", 3);
	buf_putstr(&b, (struct str){ NULL, 0 });
	assert_true(str_eq(buf_str(&b), STR("a\0b")));
}

static void empty_is_fine(void **state)
{
	AUTO_BUF b = { .max = 100 };

	(void)state;
	assert_int_equal(buf_str(&b).n, 0);
	assert_string_equal(buf_cstr(&b), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_to_its_maximum),  cmocka_unit_test(failure_is_remembered),
		cmocka_unit_test(formats_of_any_length), cmocka_unit_test(holds_any_bytes),
		cmocka_unit_test(empty_is_fine),
	};

	return RUN(tests);
}
