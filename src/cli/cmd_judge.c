/* cmd_judge.c - cupel judge: verdicts for a file of programs, in its order.
 *
 * Candidates are read as results go out, so that a file of any length needs the same memory. What
 * was submitted waits in a ring in the order of the input; a candidate whose completion holds no
 * code waits there too, with its verdict. Whatever ends the run (bad input, a signal, a full disk),
 * results that were made are written first.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "cli/cli.h"
#include "judge/candidate.h"
#include "judge/judge.h"
#include "task/task.h"

static const char usage[] =
	"cupel judge --tasks FILE (--candidates FILE | --reference) [--out FILE] [--key=value "
	"...]\n"
	"\n"
	"  cupel judge --tasks tasks.jsonl --candidates answers.jsonl > verdicts.jsonl\n"
	"  cupel judge --tasks HumanEval.jsonl.gz --reference --jobs 2 --out verdicts.jsonl\n"
	"  cupel judge --tasks tasks.jsonl --candidates answers.jsonl --out v.jsonl --resume\n"
	"\n"
	"A candidate is {\"task_id\", \"candidate_id\"?, \"code\" | \"completion\", "
	"\"language\"?}, "
	"one a line;\n"
	"docs/judge.md describes the results. Exit status: 0 all accepted, 1 some not, 2 bad "
	"input,\n"
	"3 the machine failed (also for any judge_error).";

/* Times jobs; less than what makes judge_submit() wait, which no signal would end. */
enum { RING = 16 };

#define WAIT_NS (100 * NS_PER_MS) /* how long a signal may go unnoticed */
#define LINES   ((size_t)8)       /* memory for a candidate, in longest lines */

struct config {
	const char *tasks, *format, *candidates, *out;
	bool reference, resume;
};

#define F(field) offsetof(struct config, field)

static const struct opt opts[] = {
	{ "tasks", OPT_STR, F(tasks), 0, 0, 0, "", "", "file of tasks, JSONL, plain or gzip" },
	{ "format", OPT_STR, F(format), 0, 0, 0, "", "", "of the tasks; empty: by their fields" },
	{ "candidates", OPT_STR, F(candidates), 0, 0, 0, "", "", "file of programs, JSONL" },
	{ "reference", OPT_BOOL, F(reference), 0, 0, 0, "false", "",
	  "judge each task's own solution instead" },
	{ "out", OPT_STR, F(out), 0, 0, 0, "-", "", "file of results; -: stdout" },
	{ "resume", OPT_BOOL, F(resume), 0, 0, 0, "false", "",
	  "keep the results that are in --out and judge the rest" },
	{ 0 },
};

struct input_config {
	int64_t line_mib;
};

static const struct opt input_opts[] = {
	{ "line_mib", OPT_INT, offsetof(struct input_config, line_mib), 1, 1024, 0, "64", "MiB",
	  "longest line of an input file" },
	{ 0 },
};

/* A candidate whose result has not been written. */
struct entry {
	const struct task *task;
	struct buf id; /* candidate_id as JSON */
	bool no_code;
	struct judged verdict; /* no_code */
};

/* One owner: run(). */
struct job {
	struct config cfg;
	struct input_config input;
	struct judge_config judge_cfg;
	struct tasks tasks;
	struct judge *judge;
	struct io_lines *in; /* candidates; NULL: references */
	struct arena a;      /* of one candidate */
	struct buf line;     /* of one result */
	FILE *out;
	bool out_failed;
	struct entry *ring; /* (cap,) */
	int cap, head, n;
	bool end;              /* of the input */
	struct io_lines *kept; /* results of an earlier run still to be matched, or NULL */
	int64_t kept_bytes;
	struct cli_progress bar;
	int64_t n_in, n_kept, n_out, n_tests, by_verdict[VERDICT_JUDGE_ERROR + 1], start_ns;
};

static size_t max_line(const struct job *j)
{
	return (size_t)j->input.line_mib << 20;
}

/* The tasks, and what makes judging them impossible, before anything runs. */
static int open_tasks(struct job *j, struct err *e)
{
	const char *format = *j->cfg.format ? j->cfg.format : NULL;
	int r = tasks_open(j->cfg.tasks, format, max_line(j), &j->tasks, e);

	for (int i = 0; r == 0 && i < j->tasks.n; i++) {
		r = judge_task_ok(&j->tasks.task[i], e);
		if (r == 0 && j->cfg.reference && !j->tasks.task[i].reference.p)
			r = FAIL(e, ERR_NOENT, "task %.*s has no reference",
			         (int)j->tasks.task[i].id.n, j->tasks.task[i].id.p);
		if (r < 0)
			return err_wrap(e, "%s", j->cfg.tasks);
	}
	return r;
}

static int out_failed(struct job *j, const char *what, struct err *e)
{
	j->out_failed = true;
	return FAIL(e, ERR_SYS, "%s: %s: %s", j->cfg.out, what, strerror(errno));
}

static int open_out(struct job *j, struct err *e)
{
	int flags = O_RDWR | O_CREAT | O_CLOEXEC | (j->cfg.resume ? 0 : O_TRUNC);
	AUTO_FD int fd = -1;

	if (strcmp(j->cfg.out, "-") == 0) {
		j->out = stdout;
		return 0;
	}
	fd = open(j->cfg.out, flags, 0666);
	if (fd < 0)
		return out_failed(j, "open", e);
	j->out = fdopen(fd, "r+");
	if (!j->out)
		return out_failed(j, "open", e);
	(void)take_fd(&fd);
	return j->cfg.resume ? io_lines_open(j->cfg.out, max_line(j), &j->kept, e) : 0;
}

static int job_open(struct job *j, struct err *e)
{
	int r = open_tasks(j, e);

	if (r == 0 && !j->cfg.reference)
		r = io_lines_open(j->cfg.candidates, max_line(j), &j->in, e);
	if (r == 0)
		r = judge_open(&j->judge_cfg, &j->judge, e);
	if (r == 0) /* last: without a judge the results of an earlier run stay */
		r = open_out(j, e);
	if (r < 0)
		return r;
	j->cap = RING * judge_jobs(j->judge);
	j->ring = calloc((size_t)j->cap, sizeof *j->ring);
	if (!j->ring)
		return FAIL(e, ERR_NOMEM, "%d candidates", j->cap);
	for (int i = 0; i < j->cap; i++)
		j->ring[i].id.max = max_line(j) + 64;
	return 0;
}

static void job_close(struct job *j)
{
	judge_close(j->judge);
	io_lines_close(j->in);
	io_lines_close(j->kept);
	if (j->out && j->out != stdout)
		(void)fclose(j->out);
	for (int i = 0; i < j->cap && j->ring; i++)
		buf_done(&j->ring[i].id);
	free(j->ring);
	buf_done(&j->line);
	arena_done(&j->a);
	tasks_done(&j->tasks);
}

/* The next candidate: 1, or 0 at the end of the input. */
static int read_candidate(struct job *j, struct candidate *ret, struct err *e)
{
	struct str line;
	int r;

	arena_reset(&j->a);
	if (!j->in) {
		if (j->n_in == j->tasks.n)
			return 0;
		r = candidate_reference(&j->tasks.task[j->n_in], &j->a, ret, e);
		return r < 0 ? r : 1;
	}
	do
		r = io_lines_next(j->in, &line, e);
	while (r == 1 && str_trim_end(line).n == 0);
	if (r != 1)
		return r;
	r = candidate_read(line, &j->tasks, &j->a, ret, e);
	if (r < 0)
		return err_wrap(e, "%s:%d", io_lines_name(j->in), io_lines_number(j->in));
	return 1;
}

static int put_id(const struct candidate *c, struct buf *b, struct err *e)
{
	struct jsonw w = { b, false };

	buf_reset(b);
	if (c->id)
		jsonw_json(&w, c->id);
	return buf_check(b, "candidate_id", e);
}

static bool same_id(const struct json *a, const struct json *b)
{
	if (!a || a->type == JSON_NULL || !b)
		return (!a || a->type == JSON_NULL) && !b;
	return a->type == b->type && str_eq(a->text, b->text);
}

static void count(struct job *j, enum verdict v, int64_t tests)
{
	j->by_verdict[v]++;
	j->n_tests += tests;
}

static bool read_verdict(struct str s, enum verdict *ret)
{
	for (int v = 0; v <= VERDICT_JUDGE_ERROR; v++)
		if (str_is(s, verdict_text((enum verdict)v))) {
			*ret = (enum verdict)v;
			return true;
		}
	return false;
}

/* Everything behind the kept results goes: a line that a crash cut short. */
static int end_of_kept(struct job *j, struct err *e)
{
	io_lines_close(j->kept);
	j->kept = NULL;
	if (ftruncate(fileno(j->out), j->kept_bytes) < 0 ||
	    fseeko(j->out, j->kept_bytes, SEEK_SET) < 0)
		return out_failed(j, "resume", e);
	return 0;
}

/* A whole line of the file; 0 at its end. */
static int next_kept(struct job *j, struct str *ret, struct err *e)
{
	struct stat st;
	int r = io_lines_next(j->kept, ret, e);

	if (r == 1 && fstat(fileno(j->out), &st) < 0)
		return out_failed(j, "resume", e);
	return r == 1 ? j->kept_bytes + (int64_t)ret->n + 1 <= st.st_size : r;
}

/* The input ended before the kept results did. */
static int check_rest(struct job *j, struct err *e)
{
	struct str line;
	int r = next_kept(j, &line, e);

	if (r == 1)
		return FAIL(e, ERR_PARSE, "%s:%d: more results than candidates", j->cfg.out,
		            io_lines_number(j->kept));
	return r < 0 ? r : end_of_kept(j, e);
}

/* 1: the candidate has its result from an earlier run; 0: from here on all are to be judged. */
static int match_kept(struct job *j, const struct candidate *c, struct err *e)
{
	const struct json *rec = NULL;
	struct str line, id;
	enum verdict v = VERDICT_JUDGE_ERROR;
	int r = next_kept(j, &line, e);

	if (r <= 0)
		return r < 0 ? r : end_of_kept(j, e);
	r = json_parse(line, &j->a, &rec, e);
	if (r == 0)
		r = json_need_str(rec, "task_id", &id, e);
	if (r == 0 && (!str_eq(id, c->task->id) || !same_id(json_get(rec, "candidate_id"), c->id)))
		r = FAIL(e, ERR_PARSE, "not the result of the candidate in this place");
	if (r == 0 && !read_verdict(json_str(json_get(rec, "verdict")), &v))
		r = FAIL(e, ERR_PARSE, "field 'verdict' is missing or unknown");
	if (r < 0)
		return err_wrap(e, "%s:%d", j->cfg.out, io_lines_number(j->kept));
	j->kept_bytes += (int64_t)line.n + 1;
	j->n_kept++;
	count(j, v, 0);
	return 1;
}

/* Take one candidate from the input to the judge. */
static int feed(struct job *j, struct err *e)
{
	struct entry *x = &j->ring[(j->head + j->n) % j->cap];
	struct candidate c;
	int r = read_candidate(j, &c, e);

	if (r <= 0) {
		j->end = true;
		return r;
	}
	j->n_in++;
	if (j->kept) {
		r = match_kept(j, &c, e);
		if (r)
			return r < 0 ? r : 0;
	}
	r = put_id(&c, &x->id, e);
	if (r < 0)
		return r;
	x->task = c.task;
	x->no_code = c.found != EXTRACT_OK;
	if (x->no_code)
		candidate_no_code(&c, &x->verdict);
	else
		r = judge_submit(j->judge, c.task, c.code, 0, e);
	if (r == 0)
		j->n++;
	return r;
}

static int put_result(struct job *j, const struct entry *x, const struct judged *v, struct err *e)
{
	struct jsonw w = { &j->line, false };
	int r;

	buf_reset(&j->line);
	judged_write(v, x->task, buf_str(&x->id), judge_tier(j->judge), &w);
	buf_putc(&j->line, '\n');
	r = buf_check(&j->line, "result", e);
	if (r < 0)
		return r;
	if (fwrite(j->line.p, 1, j->line.n, j->out) != j->line.n || fflush(j->out))
		return out_failed(j, "write", e);
	count(j, v->verdict, v->n_tests);
	j->n_out++;
	return 0;
}

/* Write the oldest result. 1 written, 0 not yet there. */
static int drain(struct job *j, int64_t timeout_ns, struct err *e)
{
	struct entry *x = &j->ring[j->head];
	struct judged v = { 0 };
	int r = 1;

	if (x->no_code)
		v = x->verdict;
	else
		r = judge_next(j->judge, timeout_ns, &v, e);
	if (r <= 0)
		return r;
	r = put_result(j, x, &v, e);
	judged_done(&v);
	j->head = (j->head + 1) % j->cap;
	j->n--;
	cli_progress(&j->bar, j->n_kept + j->n_out, NULL);
	return r < 0 ? r : 1;
}

/* Until the input ends; a malformed candidate ends it too, after the results before it. */
static int judge_all(struct job *j, struct err *e)
{
	struct err bad = { 0 };
	int r = 0;

	while (!cli_stop && (!j->end || j->n)) {
		while (!cli_stop && !j->end && j->n < j->cap) {
			if (feed(j, &bad) < 0)
				j->end = true;
			while (j->n && (r = drain(j, 0, e)) == 1)
				continue;
			if (r < 0)
				return r;
		}
		r = j->n ? drain(j, WAIT_NS, e) : 0;
		if (r < 0)
			return r;
	}
	if (cli_stop)
		return FAIL(e, ERR_STOP, "stopped: %" PRId64 " results are kept",
		            j->n_kept + j->n_out);
	if (bad.code) {
		*e = bad;
		return bad.code;
	}
	if (j->n_in == 0)
		return FAIL(e, ERR_PARSE, "%s: no candidate in this file", j->cfg.candidates);
	return j->kept ? check_rest(j, e) : 0;
}

static void summary_text(const struct job *j, double wall_s)
{
	const char *sep = " ";

	fprintf(stderr, "%" PRId64 " programs:", j->n_kept + j->n_out);
	for (int v = 0; v <= VERDICT_JUDGE_ERROR; v++)
		if (j->by_verdict[v]) {
			fprintf(stderr, "%s%" PRId64 " %s", sep, j->by_verdict[v],
			        verdict_text((enum verdict)v));
			sep = ", ";
		}
	if (j->n_kept)
		fprintf(stderr, " (%" PRId64 " from before)", j->n_kept);
	fprintf(stderr, "; %" PRId64 " tests, %.1f tests/s, %.2f s, isolation %s\n", j->n_tests,
	        wall_s > 0 ? (double)j->n_tests / wall_s : 0, wall_s,
	        box_tier_text(judge_tier(j->judge)));
}

static void summary_json(const struct job *j, double wall_s)
{
	AUTO_BUF b = { .max = 1 << 16 };
	struct jsonw w = { &b, false };

	jsonw_open(&w, '{');
	jsonw_key(&w, "programs"), jsonw_int(&w, j->n_kept + j->n_out);
	jsonw_key(&w, "kept"), jsonw_int(&w, j->n_kept);
	jsonw_key(&w, "tests"), jsonw_int(&w, j->n_tests);
	jsonw_key(&w, "verdicts"), jsonw_open(&w, '{');
	for (int v = 0; v <= VERDICT_JUDGE_ERROR; v++)
		if (j->by_verdict[v])
			jsonw_key(&w, verdict_text((enum verdict)v)),
				jsonw_int(&w, j->by_verdict[v]);
	jsonw_close(&w, '}');
	jsonw_key(&w, "wall_s"), jsonw_fixed(&w, wall_s, 3);
	jsonw_key(&w, "isolation"), jsonw_cstr(&w, box_tier_text(judge_tier(j->judge)));
	jsonw_close(&w, '}');
	fprintf(stderr, "%s\n", buf_cstr(&b));
}

static int judge(const struct conf *c, struct job *j)
{
	struct err e = { 0 };
	int r;

	cli_signals();
	j->a.limit = LINES * max_line(j);
	j->line.max = LINES * max_line(j);
	j->start_ns = now_ns();
	r = job_open(j, &e);
	if (r == 0) {
		cli_progress_init(&j->bar, "judge", "programs", j->in ? 0 : j->tasks.n);
		r = judge_all(j, &e);
		cli_progress_end(&j->bar);
	}
	if (r == 0) {
		double wall_s = (double)(now_ns() - j->start_ns) / NS_PER_S;

		(c->json ? summary_json : summary_text)(j, wall_s);
		r = j->by_verdict[VERDICT_JUDGE_ERROR]                        ? CMD_BROKEN
		    : j->by_verdict[VERDICT_ACCEPTED] == j->n_kept + j->n_out ? CMD_YES
		                                                              : CMD_NO;
	} else {
		r = cli_fail(c->command, &e);
		if (j->out_failed)
			r = CMD_BROKEN;
	}
	job_close(j);
	return r;
}

static int run(int argc, char **argv)
{
	struct job j = { 0 };
	AUTO_CONF c;
	struct err e;

	if (conf_init(&c, argv[0], usage) < 0)
		return CMD_BROKEN;
	conf_short(&c, "jobs", "judge.jobs");
	conf_short(&c, "isolation", "box.isolation");
	if (conf_read(&c, argc, argv, &e) < 0 || conf_bind(&c, "", opts, &j.cfg, &e) < 0 ||
	    conf_bind(&c, "judge", judge_opts, &j.judge_cfg, &e) < 0 ||
	    conf_bind(&c, "box", judge_box_opts, &j.judge_cfg, &e) < 0 ||
	    conf_bind(&c, "input", input_opts, &j.input, &e) < 0 || conf_end(&c, &e) < 0)
		return cli_fail(argv[0], &e);
	if (conf_help_wanted(&c))
		return CMD_YES;
	if (c.n_args)
		return cli_usage(argv[0], "takes no argument: %s", c.arg[0]);
	if (!*j.cfg.tasks)
		return cli_usage(argv[0], "--tasks is not set: name a file of tasks");
	if (!*j.cfg.candidates == !j.cfg.reference)
		return cli_usage(argv[0], "give either --candidates FILE or --reference");
	if (j.cfg.resume && strcmp(j.cfg.out, "-") == 0)
		return cli_usage(argv[0], "--resume needs --out FILE");
	return judge(&c, &j);
}

const struct cmd cmd_judge = {
	.name = "judge",
	.doc = "verdicts for programs",
	.source = "docs/judge.md",
	.usage = usage,
	.run = run,
};
