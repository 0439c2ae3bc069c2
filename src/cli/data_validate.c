/* data_validate.c - cupel data validate: does the judge accept the reference of every task? */
#include "cli/cli.h"
#include "cli/data_cmds.h"
#include "data/verify.h"

static const char usage[] =
	"cupel data validate FILE [--format=NAME] [--jobs=N] [--json]\n"
	"  cupel data validate data/micro/test.jsonl\n"
	"  cupel data validate HumanEval.jsonl.gz --json\n\n"
	"Runs the reference of every task through the judge and lists broken ones; exit\n"
	"status 1 if there are any. A task without a reference is counted, not checked.";

enum { MAX_LINE = 64 << 20 };

struct config {
	const char *format;
};

static const struct opt opts[] = {
	{ "format", OPT_STR, offsetof(struct config, format), 0, 0, 0, "", "",
	  "format of the records; empty: detected" },
	{ 0 },
};

/* One owner: validate(). */
struct job {
	bool json;
	struct tasks ts;
	int n_accepted, n_broken, n_unjudged, n_without;
	struct cli_progress bar;
};

static void put_broken(const struct job *j, int i, const struct judged *v, struct buf *b)
{
	struct jsonw w = { b };

	if (j->json) {
		jsonw_open(&w, '{');
		jsonw_key(&w, "task_id"), jsonw_str(&w, j->ts.task[i].id);
		jsonw_key(&w, "verdict"), jsonw_cstr(&w, verdict_text(v->verdict));
		jsonw_key(&w, "passed"), jsonw_int(&w, v->n_passed);
		jsonw_key(&w, "total"), jsonw_int(&w, v->n_tests);
		jsonw_key(&w, "note"), jsonw_str(&w, verify_note(v));
		jsonw_close(&w, '}');
	} else { /* quoted, so that no byte of a file reaches a terminal as it is */
		jsonw_str(&w, j->ts.task[i].id);
		buf_putf(b, " %s %d/%d ", verdict_text(v->verdict), v->n_passed, v->n_tests);
		w.comma = false;
		jsonw_str(&w, verify_note(v));
	}
	buf_putc(b, '\n');
}

static int take(void *arg, int i, const struct judged *v, struct err *e)
{
	AUTO_BUF b = { .max = 1 << 24 };
	struct job *j = arg;

	if (!v)
		j->n_without++;
	else if (v->verdict == VERDICT_ACCEPTED)
		j->n_accepted++;
	else if (v->verdict == VERDICT_JUDGE_ERROR)
		j->n_unjudged++;
	else
		j->n_broken++;
	if (v && v->verdict != VERDICT_ACCEPTED) {
		put_broken(j, i, v, &b);
		cli_progress_end(&j->bar);
		if (cli_put(&b) != CMD_YES)
			return FAIL(e, ERR_SYS, "writing to stdout");
	}
	cli_progress(&j->bar, i + 1, NULL);
	return cli_stop ? FAIL(e, ERR_STOP, "stopped") : 0;
}

static int judge_all(struct job *j, const struct judge_config *jc, struct err *e)
{
	AUTO_ARENA scratch = { .limit = (size_t)j->ts.n * sizeof(struct task *) + 64 };
	const struct task **task = arena_new(&scratch, const struct task *, j->ts.n);
	struct judge *judge;
	int r;

	if (!task)
		return FAIL(e, ERR_NOMEM, "%d tasks", j->ts.n);
	for (int i = 0; i < j->ts.n; i++)
		task[i] = &j->ts.task[i];
	r = judge_open(jc, &judge, e);
	if (r < 0)
		return r;
	r = verify_references(task, j->ts.n, judge, take, j, e);
	cli_progress_end(&j->bar);
	judge_close(judge);
	return r;
}

static int put_counts(const struct job *j)
{
	AUTO_BUF b = { .max = 1 << 12 };

	buf_putf(&b,
	         "%d tasks: %d accepted, %d broken, %d could not be judged, %d have no reference\n",
	         j->ts.n, j->n_accepted, j->n_broken, j->n_unjudged, j->n_without);
	if (j->json) /* stdout is one object for each broken task */
		return fputs(buf_cstr(&b), stderr) < 0 ? CMD_BROKEN : CMD_YES;
	return cli_put(&b);
}

static int validate(const struct conf *c, const struct config *o, const struct judge_config *jc)
{
	struct job j = { .json = c->json };
	struct err e;
	int r;

	if (tasks_open(c->arg[0], *o->format ? o->format : NULL, MAX_LINE, &j.ts, &e) < 0)
		return cli_fail(c->command, &e);
	cli_signals();
	cli_progress_init(&j.bar, "validate", "tasks", j.ts.n);
	r = judge_all(&j, jc, &e);
	if (r < 0)
		r = cli_fail(c->command, &e);
	else if ((r = put_counts(&j)) == CMD_YES)
		r = j.n_unjudged ? CMD_BROKEN : j.n_broken ? CMD_NO : CMD_YES;
	tasks_done(&j.ts);
	return r;
}

int data_validate(int argc, char **argv)
{
	static const char command[] = "data validate";
	struct judge_config jc = { 0 };
	struct config o;
	AUTO_CONF c;
	struct err e;

	if (conf_init(&c, command, usage) < 0)
		return CMD_BROKEN;
	conf_short(&c, "format", "data.format");
	conf_short(&c, "jobs", "judge.jobs");
	conf_short(&c, "isolation", "box.isolation");
	if (conf_read(&c, argc, argv, &e) < 0 || conf_bind(&c, "data", opts, &o, &e) < 0 ||
	    conf_bind(&c, "judge", judge_opts, &jc, &e) < 0 ||
	    conf_bind(&c, "box", judge_box_opts, &jc, &e) < 0 || conf_end(&c, &e) < 0)
		return cli_fail(command, &e);
	if (conf_help_wanted(&c))
		return CMD_YES;
	if (c.n_args != 1)
		return cli_usage(command, "name a file of tasks");
	return validate(&c, &o, &jc);
}
