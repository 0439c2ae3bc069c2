/* err.h - error codes, and the error record that crosses process borders.
 *
 * Three kinds of failure are never mixed: a bug is an assert; an infrastructure error is a
 * negative return plus *e; a verdict is data (verdict.h). A function that fails leaves all
 * its ret_ values untouched and fills *e unless e is NULL. A function that succeeds does not
 * touch *e.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#define ERR_MAP(X)                                                                                 \
	X(OK, 0, "ok")                                                                             \
	X(NOMEM, -1, "out of memory")                                                              \
	X(SYS, -2, "system call failed")                                                           \
	X(PARSE, -3, "malformed input")                                                            \
	X(RANGE, -4, "value out of range")                                                         \
	X(NOENT, -5, "no such item")                                                               \
	X(LIMIT, -6, "limit reached")                                                              \
	X(DENIED, -7, "isolation is not available")                                                \
	X(STOP, -8, "stopped")

enum err_code {
#define X(name, val, text) ERR_##name = val,
	ERR_MAP(X)
#undef X
};

/* Plain data on purpose: a child of a box writes it whole into the error pipe (it must stay
 * below PIPE_BUF). 'file' points into the program text: valid after fork, not after exec.
 * One owner.
 */
struct err {
	int code; /* enum err_code */
	int sys;  /* errno where code is ERR_SYS, else 0 */
	int line;
	const char *file;
	char msg[232];
};

const char *err_text(int code);

/* Fill *e and return code. Use FAIL(). */
int err_set(struct err *e, int code, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Put "<context>: " before the message, once for each layer; returns e->code, or ERR_SYS
 * without e.
 */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define FAIL(e, code, ...) err_set((e), (code), __FILE__, __LINE__, __VA_ARGS__)

#endif
