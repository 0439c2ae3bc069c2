/* cli.h - what commands share: errors as messages and exit status, signals, progress.
 *
 *	AUTO_CONF c;
 *	struct err e;
 *
 *	if (conf_read(&c, argc, argv, &e) < 0 || ...)
 *		return cli_fail(argv[0], &e);
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/conf.h"
#include "base/err.h"
#include "cli/cmd.h"

#include <stdint.h>

/* Prints "cupel COMMAND: message" on stderr, control bytes escaped. CMD_USAGE for bad input
 * (malformed, out of range, unknown, too long, no such file), CMD_BROKEN for what the machine
 * failed at, 128 + signal after cli_signals() caught one and the work stopped with ERR_STOP.
 */
int cli_fail(const char *command, const struct err *e);

/* Prints "cupel COMMAND: text" and "try: cupel COMMAND --help"; CMD_USAGE. */
int cli_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* SIGINT and SIGTERM set cli_stop to the signal's number; the second one kills. SIGPIPE is ignored:
 * a closed stdout is a failed write.
 */
extern volatile int cli_stop;
void cli_signals(void);

/* A progress line on stderr with rate and time left: rewritten in place on a terminal, a plain line
 * about every ten seconds otherwise and where CI is set. Colours only on a terminal without
 * NO_COLOR. One owner; nothing is printed from other threads meanwhile.
 */
struct cli_progress {
	const char *what, *unit; /* "judge", "programs" */
	int64_t total;           /* 0: unknown */
	int64_t start_ns, last_ns;
	bool tty, color, shown;
};

void cli_progress_init(struct cli_progress *p, const char *what, const char *unit, int64_t total);
/* Prints if it is time to; note stands at the end of the line (may be NULL). */
void cli_progress(struct cli_progress *p, int64_t done, const char *note);
/* Removes the line from a terminal, so that other text can follow. */
void cli_progress_end(struct cli_progress *p);

/* Everything of the buffer to stdout; CMD_YES or CMD_BROKEN. */
int cli_put(const struct buf *b);

#endif
