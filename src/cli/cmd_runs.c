/* cmd_runs.c - cupel runs: what is in the run directories. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "store/store_query.h"

static const char usage[] = "cupel runs list [DIR] | show RUN [--metric NAME]\n"
			    "\n"
			    "  cupel runs list                              the runs in runs/\n"
			    "  cupel runs show runs/demo-1\n"
			    "  cupel runs show demo-1 --json\n"
			    "  cupel runs show demo-1 --metric=reward       a value for each step\n"
			    "\n"
			    "Reads the store of a run, also while it goes on; writes nothing.";

enum { ARENA = 64 << 20, OUT = 64 << 20 };

static const char *time_text(int64_t s, char buf[32])
{
	time_t t = (time_t)s;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &tm))
		*buf = 0;
	return buf;
}

static void put_summary_json(const char *run, const struct store_summary *s, bool all,
                             struct jsonw *w)
{
	char when[32];

	jsonw_open(w, '{');
	jsonw_key(w, "run"), jsonw_cstr(w, run);
	jsonw_key(w, "created"), jsonw_cstr(w, time_text(s->created_s, when));
	jsonw_key(w, "steps"), jsonw_int(w, s->n_steps);
	jsonw_key(w, "last_step");
	if (s->last_step >= 0)
		jsonw_int(w, s->last_step);
	else
		jsonw_null(w);
	jsonw_key(w, "checkpoint"), jsonw_bool(w, s->checkpoint);
	jsonw_key(w, "groups"), jsonw_int(w, s->n_groups);
	jsonw_key(w, "silent"), jsonw_int(w, s->n_silent);
	jsonw_key(w, "samples"), jsonw_int(w, s->n_samples);
	jsonw_key(w, "sampled_tokens"), jsonw_int(w, s->n_sampled_tok);
	jsonw_key(w, "rewarded"), jsonw_int(w, s->n_rewarded);
	jsonw_key(w, "mean_reward"), jsonw_real(w, s->n_rewarded ? s->mean_reward : NAN);
	jsonw_key(w, "verdicts"), jsonw_open(w, '{');
	for (int v = 0; v <= VERDICT_JUDGE_ERROR; v++)
		if (s->by_verdict[v])
			jsonw_key(w, verdict_text((enum verdict)v)), jsonw_int(w, s->by_verdict[v]);
	jsonw_close(w, '}');
	if (all) {
		jsonw_key(w, "metrics"), jsonw_open(w, '{');
		for (int i = 0; i < s->n_metrics; i++)
			jsonw_key(w, s->metric[i].name), jsonw_real(w, s->metric[i].value);
		jsonw_close(w, '}');
		jsonw_key(w, "config");
		if (s->config.p)
			jsonw_raw(w, s->config);
		else
			jsonw_null(w);
	}
	jsonw_close(w, '}');
	buf_putc(w->b, '\n');
	w->comma = false;
}

static void put_summary(const char *run, const struct store_summary *s, struct buf *b)
{
	char when[32];

	buf_putf(b, "run         %s\ncreated     %s\n", run, time_text(s->created_s, when));
	buf_putf(b, "steps       %lld", (long long)s->n_steps);
	if (s->last_step >= 0)
		buf_putf(b, ", the last is %lld", (long long)s->last_step);
	buf_putf(b, "\ncheckpoint  %s\n", s->checkpoint ? "complete" : "none");
	buf_putf(b, "groups      %lld, silent %lld\n", (long long)s->n_groups,
	         (long long)s->n_silent);
	buf_putf(b, "samples     %lld, with a reward %lld", (long long)s->n_samples,
	         (long long)s->n_rewarded);
	if (s->n_rewarded)
		buf_putf(b, ", mean %.4f", s->mean_reward);
	buf_putf(b, "\ntokens      %lld sampled\n", (long long)s->n_sampled_tok);
	for (int v = 0; v <= VERDICT_JUDGE_ERROR; v++)
		if (s->by_verdict[v])
			buf_putf(b, "  %-28s %lld\n", verdict_text((enum verdict)v),
			         (long long)s->by_verdict[v]);
	if (s->n_metrics)
		buf_puts(b, "metrics, last values\n");
	for (int i = 0; i < s->n_metrics; i++)
		buf_putf(b, "  %-28s %.6g\n", s->metric[i].name, s->metric[i].value);
}

static void put_row(const char *run, const struct store_summary *s, struct buf *b)
{
	char when[32], mean[32] = "-";

	if (s->n_rewarded)
		(void)snprintf(mean, sizeof mean, "%.4f", s->mean_reward);
	buf_putf(b, "%-24s %20s %7lld %9lld %8s  %s\n", run, time_text(s->created_s, when),
	         (long long)s->n_steps, (long long)s->n_samples, mean,
	         s->checkpoint ? "checkpoint" : "-");
}

static int visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* A run that cannot be read is named on stderr and does not hide the others. */
static int list_one(const struct conf *c, const char *dir, const char *name, struct buf *b,
                    int *ret_n)
{
	AUTO_ARENA a = { .limit = ARENA };
	struct store_summary s;
	struct jsonw w = { b };
	char path[PATH_MAX];
	struct err e;

	if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >= sizeof path ||
	    !store_is_run(path))
		return CMD_YES;
	if (store_summarize(path, &a, &s, &e) < 0)
		return cli_fail(c->command, &e);
	if (c->json)
		put_summary_json(path, &s, false, &w);
	else if ((*ret_n)++ == 0)
		buf_putf(b, "%-24s %20s %7s %9s %8s\n", "run", "created", "steps", "samples",
		         "reward");
	if (!c->json)
		put_row(name, &s, b);
	return CMD_YES;
}

static int list(const struct conf *c, const char *dir, bool named)
{
	AUTO_BUF b = { .max = OUT };
	struct dirent **d = NULL;
	int n = scandir(dir, &d, visible, alphasort), status = CMD_YES, shown = 0, r;
	struct err e;

	if (n < 0 && errno == ENOENT && !named)
		n = 0; /* no folder of runs yet: no runs */
	if (n < 0) {
		FAIL(&e, ERR_SYS, "%s: %s", dir, strerror(errno));
		return cli_fail(c->command, &e);
	}
	for (int i = 0; i < n; i++) {
		r = list_one(c, dir, d[i]->d_name, &b, &shown);
		status = r > status ? r : status;
		free(d[i]);
	}
	free(d);
	if (buf_check(&b, "list of runs", &e) < 0)
		return cli_fail(c->command, &e);
	r = cli_put(&b);
	return r > status ? r : status;
}

static int put_series(const struct conf *c, const char *run, const char *metric, struct buf *b,
                      struct arena *a, struct err *e)
{
	struct jsonw w = { b };
	struct store_point *p;
	int n;

	if (store_series(run, metric, a, &p, &n, e) < 0)
		return e->code;
	if (n == 0)
		return FAIL(e, ERR_NOENT, "%s has no metric '%s'", run, metric);
	for (int i = 0; i < n; i++) {
		if (!c->json) {
			buf_putf(b, "%lld\t%.6g\n", (long long)p[i].step, p[i].value);
			continue;
		}
		jsonw_open(&w, '{');
		jsonw_key(&w, "step"), jsonw_int(&w, p[i].step);
		jsonw_key(&w, metric), jsonw_real(&w, p[i].value);
		jsonw_close(&w, '}');
		buf_putc(b, '\n');
		w.comma = false;
	}
	return 0;
}

static int show(const struct conf *c, const char *name, const char *metric)
{
	AUTO_ARENA a = { .limit = ARENA };
	AUTO_BUF b = { .max = OUT };
	struct jsonw w = { &b };
	struct store_summary s;
	char path[PATH_MAX];
	struct err e;
	int r;

	(void)snprintf(path, sizeof path, "runs/%s", name);
	if (!store_is_run(name) && store_is_run(path))
		name = path;
	r = *metric ? put_series(c, name, metric, &b, &a, &e) : store_summarize(name, &a, &s, &e);
	if (r == 0 && !*metric) {
		if (c->json)
			put_summary_json(name, &s, true, &w);
		else
			put_summary(name, &s, &b);
	}
	if (r < 0 || buf_check(&b, name, &e) < 0)
		return cli_fail(c->command, &e);
	return cli_put(&b);
}

struct own {
	const char *metric;
};

static int run(int argc, char **argv)
{
	static const struct opt opts[] = {
		{ "metric", OPT_STR, offsetof(struct own, metric), 0, 0, 0, "", "",
		  "show only the values of this one" },
		{ 0 },
	};
	struct own own;
	AUTO_CONF c;
	struct err e;

	if (conf_init(&c, argv[0], usage) < 0)
		return CMD_BROKEN;
	if (conf_read(&c, argc, argv, &e) < 0 || conf_bind(&c, "", opts, &own, &e) < 0 ||
	    conf_end(&c, &e) < 0)
		return cli_fail(argv[0], &e);
	if (conf_help_wanted(&c))
		return CMD_YES;
	if (c.n_args >= 1 && c.n_args <= 2 && strcmp(c.arg[0], "list") == 0)
		return list(&c, c.n_args == 2 ? c.arg[1] : "runs", c.n_args == 2);
	if (c.n_args == 2 && strcmp(c.arg[0], "show") == 0)
		return show(&c, c.arg[1], own.metric);
	return cli_usage(argv[0], "list [DIR] or show RUN is needed");
}

const struct cmd cmd_runs = {
	.name = "runs",
	.doc = "what is in the run directories",
	.source = "docs/run-directory.md",
	.usage = usage,
	.run = run,
};
