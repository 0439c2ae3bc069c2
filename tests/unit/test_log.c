/* Log lines: control bytes are escaped, levels, JSON, long texts. */
#include "base/log.h"

#include "base/json.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

/* What log_line() writes to descriptor 2. */
static const char *logged(enum log_level level, const char *text)
{
	static char buf[8192];
	int pipe_fd[2], old = dup(2);
	ssize_t n;

	assert_int_equal(pipe(pipe_fd), 0);
	(void)dup2(pipe_fd[1], 2);
	log_line(level, "judge", "%s", text);
	(void)dup2(old, 2);
	close(old);
	close(pipe_fd[1]);
	n = read(pipe_fd[0], buf, sizeof buf - 1);
	close(pipe_fd[0]);
	buf[n > 0 ? n : 0] = 0;
	return buf;
}

static void control_bytes_are_escaped(void **state)
{
	const char *line;

	(void)state;
	log_setup(LOG_INFO, false);
	line = logged(LOG_WARN, "a=1\n2026 error fake\x1b[31m\x7f");
	assert_int_equal(line[10], 'T');
	assert_string_equal(line + 20, " warn judge: a=1\\x0a2026 error fake\\x1b[31m\\x7f\n");
}

static void level_drops_lines(void **state)
{
	(void)state;
	log_setup(LOG_WARN, false);
	assert_string_equal(logged(LOG_INFO, "x"), "");
	assert_string_not_equal(logged(LOG_ERROR, "x"), "");
}

static void json_lines_parse(void **state)
{
	AUTO_ARENA a = { .limit = 1 << 16 };
	const struct json *j = NULL;
	const char *line;
	struct err e;

	(void)state;
	log_setup(LOG_DEBUG, true);
	line = logged(LOG_DEBUG, "quote \" newline \n byte \xff");
	log_setup(LOG_INFO, false);
	assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
	assert_int_equal(json_parse((struct str){ line, strlen(line) }, &a, &j, &e), 0);
	assert_true(str_is(json_str(json_get(j, "level")), "debug"));
	assert_true(str_is(json_str(json_get(j, "text")), "quote \" newline \n byte \xef\xbf\xbd"));
}

static void long_texts_are_cut_to_one_line(void **state)
{
	static char big[20000];
	const char *line;

	(void)state;
	memset(big, '\n', sizeof big - 1);
	line = logged(LOG_ERROR, big);
	assert_ptr_equal(strchr(line, '\n'), strlen(line) ? strrchr(line, '\n') : NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_bytes_are_escaped),
		cmocka_unit_test(level_drops_lines),
		cmocka_unit_test(json_lines_parse),
		cmocka_unit_test(long_texts_are_cut_to_one_line),
	};

	return RUN(tests);
}
