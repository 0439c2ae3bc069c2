/* test_box_wire.c - plans as bytes: what goes in comes out, and whatever is not a plan is refused.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "box/box_wire.h"

#include "test.h"

static struct box_plan example(void)
{
	return (struct box_plan){ .argv = { "/bin/x", "", "c" },
		                  .env = { "A=1" },
		                  .file = { { "f", STR("a\0b"), 0644 },
		                            { "empty", STR(""), 0755 } },
		                  .n_files = 2,
		                  .in = STR("in"),
		                  .limits = { 1, 2, 3, 4, { 5, 6, 7 }, 8, 9 } };
}

static void plan_survives(void **state)
{
	AUTO_BUF b = { .max = 1 << 16 };
	struct box_plan p = example(), q;
	struct err e;

	(void)state;
	box_wire_put_plan(&b, &p);
	assert_int_equal(box_wire_get_plan(buf_str(&b), &q, &e), 0);
	assert_string_equal(q.argv[0], "/bin/x");
	assert_string_equal(q.argv[1], "");
	assert_string_equal(q.argv[2], "c");
	assert_null(q.argv[3]);
	assert_string_equal(q.env[0], "A=1");
	assert_null(q.env[1]);
	assert_int_equal(q.n_files, 2);
	assert_string_equal(q.file[0].name, "f");
	assert_true(str_eq(q.file[0].text, STR("a\0b")));
	assert_int_equal(q.file[1].mode, 0755);
	assert_int_equal(q.file[1].text.n, 0);
}

/* Copies of exact size, so that a sanitizer sees a read behind the end. */
static int get_copy(const char *p, size_t n)
{
	char *copy = malloc(n ? n : 1);
	struct box_plan q;
	struct err e;
	int r;

	memcpy(copy, p, n);
	r = box_wire_get_plan((struct str){ copy, n }, &q, &e);
	free(copy);
	return r;
}

static void broken_plans_are_refused(void **state)
{
	AUTO_BUF b = { .max = 1 << 16 };
	struct box_plan p = example();

	(void)state;
	box_wire_put_plan(&b, &p);
	for (size_t n = 0; n < b.n; n++)
		assert_true(get_copy(b.p, n) < 0);
	/* every byte of every count and length made huge */
	for (size_t i = 0; i < b.n; i++) {
		char old = b.p[i];

		b.p[i] = (char)0xff;
		(void)get_copy(b.p, b.n);
		b.p[i] = old;
	}
	buf_putc(&b, 0);
	assert_true(get_copy(b.p, b.n) < 0);
}

static void names_with_folders_are_refused(void **state)
{
	static const char *const bad[] = { "../x", "a/b", ".", "..", "", "/etc/passwd" };
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		AUTO_BUF b = { .max = 1 << 16 };
		struct box_plan p = example(), q;

		p.file[0].name = bad[i];
		assert_int_equal(box_wire_check(&p, &e), ERR_RANGE);
		box_wire_put_plan(&b, &p);
		assert_true(box_wire_get_plan(buf_str(&b), &q, &e) < 0);
	}
}

static void limits_must_be_set(void **state)
{
	struct box_plan p = example();
	struct err e;

	(void)state;
	assert_int_equal(box_wire_check(&p, &e), 0);
	p.limits.out_bytes[2] = 0;
	assert_int_equal(box_wire_check(&p, &e), ERR_RANGE);
	assert_non_null(strstr(e.msg, "out_bytes[2]"));
	p = example();
	p.limits.procs = -1;
	assert_int_equal(box_wire_check(&p, &e), ERR_RANGE);
}

static void memfd_cannot_change(void **state)
{
	struct stat st;
	struct err e;
	char text[8];
	int fd;

	(void)state;
	assert_int_equal(box_wire_memfd("x", STR("abc"), &fd, &e), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISREG(st.st_mode) && st.st_size == 3);
	assert_true(write(fd, "x", 1) < 0);
	assert_true(ftruncate(fd, 0) < 0);
	assert_int_equal(read(fd, text, sizeof text), 3);
	close(fd);
}

static void plan_reads_as_text(void **state)
{
	struct box_plan p = example();
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	box_plan_print(&p, f);
	fclose(f);
	assert_string_equal(text, "argv /bin/x\nargv \nargv c\nenv A=1\nfile f mode=0644 bytes=3\n"
	                          "file empty mode=0755 bytes=0\nstdin bytes=2\n"
	                          "limits cpu_ns=1 wall_ns=2 mem_bytes=3 stack_bytes=4 procs=9\n"
	                          "limits out_bytes=5,6,7 disk_bytes=8\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_survives),
		cmocka_unit_test(broken_plans_are_refused),
		cmocka_unit_test(names_with_folders_are_refused),
		cmocka_unit_test(limits_must_be_set),
		cmocka_unit_test(memfd_cannot_change),
		cmocka_unit_test(plan_reads_as_text),
	};

	return RUN(tests);
}
