/* test_io.c - lines of plain and gzip files, files that are there whole or not at all, folders. */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "test.h"

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof dir, "/tmp/cupel-XXXXXX");
	return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int drop_dir(void **state)
{
	(void)state;
	return chdir("/") == 0 && io_remove_tree(dir, NULL) == 0 ? 0 : -1;
}

static void save(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void save_gz(const char *path, const void *p, unsigned n)
{
	gzFile f = gzopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(gzwrite(f, p, n), n);
	assert_int_equal(gzclose(f), Z_OK);
}

/* The lines of a file joined by '|'; the code of the call that ended it in *ret_end. */
static const char *lines(const char *path, size_t max, int *ret_end, struct err *e)
{
	static char text[1 << 18];
	struct io_lines *l = NULL;
	struct str s;
	size_t at = 0;
	int r = io_lines_open(path, max, &l, e), n = 0;

	*text = 0;
	while (r >= 0 && (r = io_lines_next(l, &s, e)) == 1) {
		at += (size_t)snprintf(text + at, sizeof text - at, "%.*s|", (int)s.n, s.p);
		assert_int_equal(io_lines_number(l), ++n);
	}
	io_lines_close(l);
	*ret_end = r;
	return text;
}

static void plain_and_gzip_lines(void **state)
{
	static const char text[] = "one\n\ntwo\r\nlast";
	struct err e;
	int end;

	(void)state;
	save("a", text, sizeof text - 1);
	save_gz("a.gz", text, sizeof text - 1);
	assert_string_equal(lines("a", 100, &end, &e), "one||two\r|last|");
	assert_int_equal(end, 0);
	assert_string_equal(lines("a.gz", 100, &end, &e), "one||two\r|last|");
	assert_int_equal(end, 0);
	save("a", "", 0);
	assert_string_equal(lines("a", 100, &end, &e), "");
	assert_int_equal(end, 0);
	save("a", "x\n", 2);
	assert_string_equal(lines("a", 100, &end, &e), "x|");
}

static void stdin_is_a_dash(void **state)
{
	int old = dup(0), fd, end;
	struct err e;

	(void)state;
	save("a", "x\ny\n", 4);
	fd = open("a", O_RDONLY);
	(void)dup2(fd, 0);
	assert_string_equal(lines("-", 100, &end, &e), "x|y|");
	(void)dup2(old, 0);
	close(fd);
	close(old);
}

static void truncated_gzip_is_an_error(void **state)
{
	static char text[200000], gz[400000];
	size_t n;
	FILE *f;
	struct err e;
	int end;

	(void)state;
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = i % 50 == 49 ? '\n' : (char)('a' + (i * i / 7) % 26);
	save_gz("a.gz", text, sizeof text);
	f = fopen("a.gz", "rb");
	assert_non_null(f);
	n = fread(gz, 1, sizeof gz, f);
	fclose(f);
	for (size_t cut = 3; cut < n; cut += n / 17) {
		struct io_lines *l = NULL;
		struct str s;
		int r;

		save("cut.gz", gz, cut);
		assert_int_equal(io_lines_open("cut.gz", 1000, &l, &e), 0);
		while ((r = io_lines_next(l, &s, &e)) == 1)
			assert_int_equal(s.n, 49);
		assert_int_equal(r, ERR_PARSE);
		assert_non_null(strstr(e.msg, "cut.gz:"));
		io_lines_close(l);
	}
	gz[n / 2] ^= 0x55;
	save("bad.gz", gz, n);
	(void)lines("bad.gz", 1000, &end, &e);
	assert_int_equal(end, ERR_PARSE);
}

static void long_lines_are_an_error(void **state)
{
	static char big[300000];
	struct err e;
	int end;

	(void)state;
	memset(big, 'x', sizeof big);
	memcpy(big, "ok\n", 3);
	save("big", big, sizeof big);
	assert_string_equal(lines("big", 1000, &end, &e), "ok|");
	assert_int_equal(end, ERR_LIMIT);
	assert_string_equal(e.msg, "big:2: line is longer than 1000 bytes");
	save("fits", "12345\n", 6);
	assert_string_equal(lines("fits", 5, &end, &e), "12345|");
	assert_int_equal(end, 0);
	(void)lines("fits", 4, &end, &e);
	assert_int_equal(end, ERR_LIMIT);
}

static void missing_files_and_folders(void **state)
{
	struct err e;
	int end;

	(void)state;
	(void)lines("nothing", 100, &end, &e);
	assert_int_equal(end, ERR_SYS);
	assert_int_equal(e.sys, ENOENT);
	assert_string_equal(e.msg, "nothing: No such file or directory");
	(void)lines(".", 100, &end, &e);
	assert_int_equal(end, ERR_SYS);
	assert_int_equal(e.sys, EISDIR);
}

static void load_takes_what_fits(void **state)
{
	AUTO_BUF b = { .max = 5 }, small = { .max = 4 };
	struct err e;

	(void)state;
	save("a", "12345", 5);
	assert_int_equal(io_load("a", &b, &e), 0);
	assert_string_equal(buf_cstr(&b), "12345");
	assert_int_equal(io_load("a", &small, &e), ERR_LIMIT);
	assert_string_equal(e.msg, "a is longer than 4 bytes");
}

static void save_is_whole_or_nothing(void **state)
{
	AUTO_BUF b = { .max = 100 };
	struct err e;

	(void)state;
	assert_int_equal(io_save("f", STR("old"), &e), 0);
	assert_int_equal(io_save("f", STR("new\n"), &e), 0);
	assert_int_equal(io_load("f", &b, &e), 0);
	assert_string_equal(buf_cstr(&b), "new\n");
	assert_false(io_exists("f.tmp"));
	/* rename cannot replace a folder that is not empty: nothing is left behind */
	assert_int_equal(io_mkdirs("d/e", &e), 0);
	assert_int_equal(io_save("d", STR("x"), &e), ERR_SYS);
	assert_false(io_exists("d.tmp"));
	assert_int_equal(io_save("no/where/f", STR("x"), &e), ERR_SYS);
}

static void write_reports_a_full_disk(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct err e;

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(io_write(fd, "x", 1, &e), ERR_SYS);
	assert_int_equal(e.sys, ENOSPC);
	close(fd);
}

static void folders(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(io_mkdirs("x/y//z/", &e), 0);
	assert_int_equal(io_mkdirs("x/y/z", &e), 0);
	save("x/y/f", "1", 1);
	assert_int_equal(io_mkdirs("x/y/f", &e), ERR_SYS);
	assert_int_equal(e.sys, ENOTDIR);
	assert_int_equal(io_mkdirs("x/y/f/g", &e), ERR_SYS);
	/* a link is removed, not what it points at */
	save("keep", "1", 1);
	assert_int_equal(symlink("../keep", "x/link"), 0);
	assert_int_equal(symlink("..", "x/up"), 0);
	assert_int_equal(io_remove_tree("x", &e), 0);
	assert_false(io_exists("x"));
	assert_true(io_exists("keep"));
	assert_int_equal(io_remove_tree("x", &e), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)
	const struct CMUnitTest tests[] = {
		T(plain_and_gzip_lines),
		T(stdin_is_a_dash),
		T(truncated_gzip_is_an_error),
		T(long_lines_are_an_error),
		T(missing_files_and_folders),
		T(load_takes_what_fits),
		T(save_is_whole_or_nothing),
		T(write_reports_a_full_disk),
		T(folders),
	};

	return RUN(tests);
}
