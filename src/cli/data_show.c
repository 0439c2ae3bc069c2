/* data_show.c - cupel data show: tasks for people. */
#include "cli/cli.h"
#include "cli/data_cmds.h"
#include "task/task.h"

#include <string.h>

static const char usage[] =
	"cupel data show FILE [ID] [--format=NAME] [--json]\n"
	"  cupel data show data/micro/test.jsonl | less\n"
	"  cupel data show data/micro/test.jsonl micro-1-test-0003\n"
	"  cupel data show mbpp.jsonl 11 --json\n\n"
	"FILE may be gzip, or - for stdin. --json prints the native record, one a line.";

enum { MAX_LINE = 64 << 20, MAX_TEXT = 256 << 20 };

struct config {
	const char *format;
};

static const struct opt opts[] = {
	{ "format", OPT_STR, offsetof(struct config, format), 0, 0, 0, "", "",
	  "format of the records; empty: detected" },
	{ 0 },
};

/* Text of a file on a terminal: control bytes but LF and tab are escaped. Each line is indented. */
static void put_text(struct buf *b, struct str s)
{
	struct str line;

	while (str_next_line(&s, &line)) {
		buf_puts(b, "  ");
		for (size_t i = 0; i < line.n; i++) {
			unsigned char ch = (unsigned char)line.p[i];

			if ((ch < ' ' && ch != '\t') || ch == 0x7f)
				buf_putf(b, "\\x%02x", ch);
			else
				buf_putc(b, (char)ch);
		}
		buf_putc(b, '\n');
	}
}

static void put_part(struct buf *b, const char *title, struct str s)
{
	if (!s.n)
		return;
	buf_putf(b, "%s\n", title);
	put_text(b, s);
}

static void put_call(const struct json *args, const struct json *expected, struct buf *b)
{
	struct jsonw w = { b };

	jsonw_json(&w, args);
	buf_puts(b, " -> ");
	w.comma = false;
	if (expected)
		jsonw_json(&w, expected);
	else
		buf_puts(b, "what the reference returns");
	buf_putc(b, '\n');
}

static void put_test(const struct task *t, const struct test *test, struct buf *b)
{
	struct jsonw w = { b };

	buf_puts(b, "  ");
	jsonw_str(&w, test->name);
	w.comma = false;
	if (t->kind == TASK_STDIN) {
		buf_puts(b, ": ");
		jsonw_str(&w, test->in);
		buf_puts(b, " -> ");
		w.comma = false;
		jsonw_str(&w, test->out);
		buf_putc(b, '\n');
	} else if (t->kind == TASK_FUNCTION && test->many) {
		buf_putf(b, ": %d calls\n", test->args->n);
		for (int i = 0; i < test->args->n; i++) {
			buf_puts(b, "    ");
			put_call(&test->args->item[i], json_at(test->expected, i), b);
		}
	} else if (t->kind == TASK_FUNCTION) {
		buf_puts(b, ": ");
		put_call(test->args, test->expected, b);
	} else {
		buf_puts(b, ":\n");
		put_text(b, test->code);
	}
}

static void put_task(const struct task *t, struct buf *b)
{
	struct jsonw w = { b };

	buf_puts(b, "task ");
	jsonw_str(&w, t->id);
	buf_putf(b, ": %s, %d tests", task_kind_text(t->kind), t->n_tests);
	if (t->difficulty) {
		buf_puts(b, ", difficulty ");
		w.comma = false;
		jsonw_json(&w, t->difficulty);
	}
	buf_putc(b, '\n');
	put_part(b, "prompt", t->prompt);
	if (!str_eq(t->preamble, t->prompt))
		put_part(b, "preamble", t->preamble);
	put_part(b, "setup", t->setup);
	put_part(b, "reference", t->reference);
	buf_puts(b, "tests\n");
	for (int i = 0; i < t->n_tests; i++)
		put_test(t, &t->test[i], b);
	buf_putc(b, '\n');
}

static int put_all(const struct conf *c, const struct tasks *ts, const struct task *only)
{
	AUTO_BUF b = { .max = MAX_TEXT };
	int r = CMD_YES;

	for (int i = 0; i < ts->n && r == CMD_YES; i++) {
		struct jsonw w = { &b };

		if (only && only != &ts->task[i])
			continue;
		buf_reset(&b);
		if (c->json) {
			task_write(&ts->task[i], &w);
			buf_putc(&b, '\n');
		} else {
			put_task(&ts->task[i], &b);
		}
		r = cli_put(&b);
	}
	return r;
}

static int show(const struct conf *c, const struct config *o)
{
	const struct task *only = NULL;
	struct tasks ts;
	struct err e;
	int r;

	if (tasks_open(c->arg[0], *o->format ? o->format : NULL, MAX_LINE, &ts, &e) < 0)
		return cli_fail(c->command, &e);
	if (c->n_args > 1)
		only = tasks_find(&ts, (struct str){ c->arg[1], strlen(c->arg[1]) });
	if (c->n_args > 1 && !only) {
		(void)FAIL(&e, ERR_NOENT, "%s: no task '%s'", c->arg[0], c->arg[1]);
		r = cli_fail(c->command, &e);
	} else {
		r = put_all(c, &ts, only);
	}
	tasks_done(&ts);
	return r;
}

int data_show(int argc, char **argv)
{
	static const char command[] = "data show";
	struct config o;
	AUTO_CONF c;
	struct err e;

	if (conf_init(&c, command, usage) < 0)
		return CMD_BROKEN;
	conf_short(&c, "format", "data.format");
	if (conf_read(&c, argc, argv, &e) < 0 || conf_bind(&c, "data", opts, &o, &e) < 0 ||
	    conf_end(&c, &e) < 0)
		return cli_fail(command, &e);
	if (conf_help_wanted(&c))
		return CMD_YES;
	if (c.n_args < 1 || c.n_args > 2)
		return cli_usage(command, "name a file of tasks, and perhaps one id");
	return show(&c, &o);
}
