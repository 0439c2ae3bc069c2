/* cli.c - errors, signals and progress of commands. */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile int cli_stop;

static void put_escaped(const char *s)
{
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f)
			fprintf(stderr, "\\x%02x", (unsigned char)*s);
		else
			fputc(*s, stderr);
}

/* A file that is not there is bad input, a full disk is not. */
static bool is_bad_input(const struct err *e)
{
	switch (e->code) {
	case ERR_PARSE:
	case ERR_RANGE:
	case ERR_NOENT:
	case ERR_LIMIT:
		return true;
	case ERR_SYS:
		return e->sys == ENOENT || e->sys == EISDIR || e->sys == ENOTDIR;
	default:
		return false;
	}
}

int cli_fail(const char *command, const struct err *e)
{
	(void)fflush(stdout);
	fprintf(stderr, "cupel %s: ", command);
	put_escaped(*e->msg ? e->msg : err_text(e->code));
	fputc('\n', stderr);
	if (e->code == ERR_STOP && cli_stop)
		return 128 + cli_stop;
	return is_bad_input(e) ? CMD_USAGE : CMD_BROKEN;
}

int cli_usage(const char *command, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fprintf(stderr, "cupel %s: ", command);
	put_escaped(text);
	fprintf(stderr, "\ntry: cupel %s --help\n", command);
	return CMD_USAGE;
}

/* The second signal has its default action. */
static void on_signal(int sig)
{
	cli_stop = sig;
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGTERM, SIG_DFL);
}

void cli_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigemptyset(&sa.sa_mask);
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
}

void cli_progress_init(struct cli_progress *p, const char *what, const char *unit, int64_t total)
{
	const char *no_color = getenv("NO_COLOR"), *ci = getenv("CI"), *term = getenv("TERM");

	*p = (struct cli_progress){ .what = what, .unit = unit, .total = total };
	p->start_ns = p->last_ns = now_ns();
	p->tty = isatty(STDERR_FILENO) && !(ci && *ci) && !(term && strcmp(term, "dumb") == 0);
	p->color = p->tty && !(no_color && *no_color);
}

static void put_time(double s)
{
	if (s < 90)
		fprintf(stderr, "%.0f s", s);
	else if (s < 5400)
		fprintf(stderr, "%.0f min", s / 60);
	else
		fprintf(stderr, "%.1f h", s / 3600);
}

void cli_progress(struct cli_progress *p, int64_t done, const char *note)
{
	int64_t now = now_ns();
	double s = (double)(now - p->start_ns) / NS_PER_S, rate = s > 0 ? (double)done / s : 0;

	if (now - p->last_ns < (p->tty ? NS_PER_S / 5 : 10 * NS_PER_S))
		return;
	p->last_ns = now;
	p->shown = true;
	fprintf(stderr, "%s%s%s%s ", p->tty ? "\r\033[K" : "", p->color ? "\033[1m" : "", p->what,
	        p->color ? "\033[0m" : "");
	if (p->total)
		fprintf(stderr, "%" PRId64 "/%" PRId64 " %s", done, p->total, p->unit);
	else
		fprintf(stderr, "%" PRId64 " %s", done, p->unit);
	fprintf(stderr, ", %.*f/s", rate < 10 ? 1 : 0, rate);
	if (p->total > done && rate > 0) {
		fputs(", ", stderr);
		put_time((double)(p->total - done) / rate);
		fputs(" left", stderr);
	}
	if (note)
		fprintf(stderr, ", %s", note);
	if (!p->tty)
		fputc('\n', stderr);
}

void cli_progress_end(struct cli_progress *p)
{
	if (p->shown && p->tty)
		fputs("\r\033[K", stderr);
	p->shown = false;
}

int cli_put(const struct buf *b)
{
	if (b->failed || (b->n && fwrite(b->p, 1, b->n, stdout) != b->n))
		return CMD_BROKEN;
	return CMD_YES;
}
