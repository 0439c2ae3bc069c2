/* cmd_doctor.c - cupel doctor: what this machine can do, what is missing, and how to get it. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/jsonw.h"
#include "box/box.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char usage[] = "cupel doctor [--json]\n"
			    "\n"
			    "  cupel doctor                 the tier of isolation, what the next "
			    "better one needs, and\n"
			    "                               how exact timers are\n"
			    "\n"
			    "Status 0 if untrusted programs can be run in isolation, 1 if not.";

struct health {
	struct utsname os;
	int cores;
	bool isolated;
	enum box_tier tier;
	double open_ms;
	char missing[512], about[512];
	double jitter_ms[3]; /* 50, 90, 100 % */
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* How late sleeps of 1 ms end: load, and the timer of a virtual machine. */
static void measure_jitter(struct health *h)
{
	enum { N = 100 };
	double late[N];

	for (int i = 0; i < N; i++) {
		int64_t t = now_ns();

		(void)nanosleep(&(struct timespec){ 0, NS_PER_MS }, NULL);
		late[i] = (double)(now_ns() - t - NS_PER_MS) / NS_PER_MS;
	}
	qsort(late, N, sizeof late[0], by_value);
	h->jitter_ms[0] = late[N / 2];
	h->jitter_ms[1] = late[N * 9 / 10];
	h->jitter_ms[2] = late[N - 1];
}

static void try_isolation(struct health *h)
{
	struct box_config cfg = { .tier = BOX_AUTO, .slots = 1 };
	int64_t t = now_ns();
	struct err e = { 0 };
	struct box *b;

	h->isolated = box_open(&cfg, &b, &e) == 0;
	h->open_ms = (double)(now_ns() - t) / NS_PER_MS;
	if (!h->isolated) {
		(void)snprintf(h->missing, sizeof h->missing, "%s", e.msg);
		return;
	}
	h->tier = box_tier(b);
	(void)snprintf(h->missing, sizeof h->missing, "%s", box_missing(b));
	(void)snprintf(h->about, sizeof h->about, "%s", box_about(b));
	box_close(b);
}

static void put_json(const struct health *h, struct buf *b)
{
	struct jsonw w = { b, false };

	jsonw_open(&w, '{');
	jsonw_key(&w, "kernel"), jsonw_cstr(&w, h->os.release);
	jsonw_key(&w, "machine"), jsonw_cstr(&w, h->os.machine);
	jsonw_key(&w, "cores"), jsonw_int(&w, h->cores);
	jsonw_key(&w, "isolation");
	jsonw_cstr(&w, h->isolated ? box_tier_text(h->tier) : "");
	jsonw_key(&w, "missing"), jsonw_cstr(&w, h->missing);
	jsonw_key(&w, "about"), jsonw_cstr(&w, h->about);
	jsonw_key(&w, "open_ms"), jsonw_real(&w, h->open_ms);
	jsonw_key(&w, "timer_late_ms"), jsonw_open(&w, '[');
	for (int i = 0; i < 3; i++)
		jsonw_real(&w, h->jitter_ms[i]);
	jsonw_close(&w, ']');
	jsonw_close(&w, '}');
	buf_putc(b, '\n');
}

static void put_text(const struct health *h, struct buf *b)
{
	buf_putf(b, "machine     Linux %.64s, %.64s, %d cores\n", h->os.release, h->os.machine,
	         h->cores);
	if (h->isolated)
		buf_putf(b, "isolation   %s (%s)\n", box_tier_text(h->tier), h->about);
	else
		buf_puts(b, "isolation   none: untrusted programs are refused\n");
	if (*h->missing)
		buf_putf(b, "missing     %s\n", h->missing);
	buf_putf(b, "boxes       ready in %.1f ms\n", h->open_ms);
	buf_putf(b,
	         "timer       1 ms sleeps end %.3f ms late (median), %.3f (90 %%), %.3f (worst)\n",
	         h->jitter_ms[0], h->jitter_ms[1], h->jitter_ms[2]);
}

static int run(int argc, char **argv)
{
	AUTO_BUF b = { .max = 1 << 16 };
	struct health h = { 0 };
	AUTO_CONF c;
	struct err e;
	int r;

	if (conf_init(&c, argv[0], usage) < 0)
		return CMD_BROKEN;
	if (conf_read(&c, argc, argv, &e) < 0 || conf_end(&c, &e) < 0)
		return cli_fail(argv[0], &e);
	if (conf_help_wanted(&c))
		return CMD_YES;
	if (c.n_args)
		return cli_usage(argv[0], "unexpected argument '%.100s'", c.arg[0]);
	(void)uname(&h.os);
	h.cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
	try_isolation(&h);
	measure_jitter(&h);
	if (c.json)
		put_json(&h, &b);
	else
		put_text(&h, &b);
	r = cli_put(&b);
	return r == CMD_YES && !h.isolated ? CMD_NO : r;
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.doc = "what this machine can do, what is missing",
	.source = "docs/design.md",
	.usage = usage,
	.run = run,
};
