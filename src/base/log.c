/* log.c - lines on stderr. */
#include "base/log.h"

#include "base/buf.h"
#include "base/jsonw.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static enum log_level log_max = LOG_INFO;
static bool log_json;

void log_setup(enum log_level level, bool json)
{
	log_max = level;
	log_json = json;
}

static const char *level_text(enum log_level level)
{
	static const char *const text[] = { "error", "warn", "info", "debug" };

	return text[level];
}

static void put_escaped(struct buf *b, const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			buf_putf(b, "\\x%02x", (unsigned char)*s);
		else
			buf_putc(b, *s);
}

void log_line(enum log_level level, const char *module, const char *fmt, ...)
{
	AUTO_BUF b = { .max = 1 << 16 };
	char text[4096], when[32];
	struct timespec now;
	struct tm tm;
	va_list ap;

	if (level > log_max)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	(void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (log_json) {
		struct jsonw w = { &b };

		jsonw_open(&w, '{');
		jsonw_key(&w, "time"), jsonw_cstr(&w, when);
		jsonw_key(&w, "level"), jsonw_cstr(&w, level_text(level));
		jsonw_key(&w, "module"), jsonw_cstr(&w, module);
		jsonw_key(&w, "text"), jsonw_cstr(&w, text);
		jsonw_close(&w, '}');
	} else {
		buf_putf(&b, "%s %s %s: ", when, level_text(level), module);
		put_escaped(&b, text);
	}
	buf_putc(&b, '\n');
	/* One write a line, so that lines of threads do not mix; nobody is told of a failure. */
	if (!b.failed && write(STDERR_FILENO, b.p, b.n) < 0)
		return;
}
