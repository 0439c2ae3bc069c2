/* judge_plan.c - what runs in the box for a unit of a program. */
#include <string.h>

#include "base/jsonw.h"
#include "judge/judge_int.h"

#define MIB  INT64_C(1048576)
#define S_NS INT64_C(1000000000)

enum { PROCS = 64, ANALYSE_S = 60, ORACLE_FACTOR = 4 };

#define MAX_NS      (3600 * S_NS)
#define START_NS    (S_NS / 2) /* of a process that all tests share */
#define DISK_BYTES  (64 * MIB)
#define EVENT_BYTES 4096 /* of a test, beside its value */
#define VALUE_TEXT  4    /* times the output limit: the text of all values of a test */
#define ANALYSE_OUT (1024 * MIB)
#define ANALYSE_MEM (2048 * MIB)

static const char *mode_of(const struct program *p, int way)
{
	static const char *const mode[] = { "stdin", "function", "pair", "weak", "analyse" };

	return mode[p->role == ROLE_ANALYSIS ? WAY_ANALYSE : way];
}

/* The lines that runner_main.py expects: the same for all tests that run in this way. */
static void put_spec(const struct program *p, int way, struct buf *b)
{
	const struct task *t = p->task;

	buf_putf(b, "%s\n%s\n", mode_of(p, way), p->lang->file);
	buf_putstr(b, t->entry_point);
	buf_puts(b, t->in_place ? "\np:" : "\n:");
	if (p->prep)
		buf_putstr(b, p->prep->classes);
	buf_putf(b, "\n%.6f\n%.6f\n", (double)p->limits.cpu_ns / 1e9,
	         (double)p->limits.wall_ns / 1e9);
	if (p->prep)
		buf_putstr(b, p->prep->imports);
}

/* For the analysis: the task without its reference. The preamble counts up to the entry point: what
 * the tests may use of it.
 */
static void put_task(const struct task *t, struct buf *b)
{
	struct jsonw w = { b };
	struct str before = t->preamble;
	size_t at;

	if (task_defines(before, t->entry_point, &at))
		before.n = at;
	jsonw_open(&w, '{');
	jsonw_key(&w, "preamble"), jsonw_str(&w, before);
	jsonw_key(&w, "setup"), jsonw_str(&w, t->setup);
	jsonw_key(&w, "entry"), jsonw_str(&w, t->entry_point);
	jsonw_key(&w, "tests"), jsonw_open(&w, '[');
	for (int i = 0; i < t->n_tests; i++)
		jsonw_str(&w, t->test[i].code);
	jsonw_close(&w, ']');
	jsonw_close(&w, '}');
}

/* What each test calls the function with, and nothing of what is expected: see runner_call.py. */
static void put_args(const struct program *p, int first, int n, struct buf *b)
{
	struct jsonw w = { b };

	jsonw_open(&w, '[');
	for (int i = first; i < first + n; i++) {
		const struct test *t = &p->task->test[i];

		jsonw_open(&w, '[');
		jsonw_bool(&w, t->typed);
		if (!t->many)
			jsonw_null(&w);
		jsonw_json(&w, t->args);
		if (t->many)
			jsonw_null(&w);
		jsonw_close(&w, ']');
	}
	jsonw_close(&w, ']');
}

/* An assertion: a secret, the length of what goes before it, and both as code. */
static void put_assertion(const struct program *p, int way, const struct prep_test *t,
                          struct buf *b)
{
	buf_putf(b, "%s\n%zu\n", way == WAY_WEAK ? p->token : "-", p->prep->before.n);
	buf_putstr(b, p->prep->before);
	buf_putstr(b, t->code);
}

static struct str input_of(const struct program *p, int way, int first, int n, struct buf *b)
{
	const struct prep_test *t = p->prep && p->prep->test ? &p->prep->test[first] : NULL;

	if (p->role == ROLE_ANALYSIS)
		put_task(p->task, b);
	else if (way == WAY_RUN)
		return p->task->test[first].in;
	else if (way != WAY_CALL)
		put_assertion(p, way, t, b);
	else if (p->task->kind == TASK_ASSERT)
		return t->args;
	else
		put_args(p, first, n, b);
	return buf_str(b);
}

static int64_t times(int64_t ns, int n)
{
	return ns > MAX_NS / n ? MAX_NS : ns * n;
}

/* Where several tests share a process the runner ends one that takes too long, and the limit of the
 * box, for all tests together, holds whoever disarms the runner.
 */
static void set_limits(const struct program *p, int n, struct box_limits *l)
{
	const struct judge_limits *t = &p->limits;
	int64_t start_ns = n > 1 ? START_NS : 0;
	int64_t values = p->task->kind == TASK_STDIN ? 0 : VALUE_TEXT * t->out_bytes;

	*l = (struct box_limits){
		.cpu_ns = times(t->cpu_ns, n) + start_ns,
		.wall_ns = times(t->wall_ns, n) + start_ns,
		.mem_bytes = t->mem_bytes,
		.stack_bytes = t->mem_bytes,
		.out_bytes = { t->out_bytes, t->out_bytes, values + EVENT_BYTES * (int64_t)n },
		.disk_bytes = DISK_BYTES,
		.procs = PROCS + p->lang->max_procs,
	};
	if (p->role == ROLE_ORACLE) { /* a task must not fail for a slow moment */
		l->cpu_ns = times(l->cpu_ns, ORACLE_FACTOR);
		l->wall_ns = times(l->wall_ns, ORACLE_FACTOR);
		l->mem_bytes *= 2;
		l->stack_bytes *= 2;
	}
	if (p->role == ROLE_ANALYSIS) {
		l->cpu_ns = l->wall_ns = ANALYSE_S * S_NS;
		l->out_bytes[2] = ANALYSE_OUT;
		l->mem_bytes = l->mem_bytes > ANALYSE_MEM ? l->mem_bytes : ANALYSE_MEM;
	}
}

/* A language without a warm interpreter. */
static void set_argv(const struct program *p, struct box_plan *plan)
{
	int n = 0;

	for (const char *const *s = p->lang->run; *s && n < BOX_MAX_ARGS - 1; s++)
		plan->argv[n++] = strcmp(*s, "{src}") ? *s : p->lang->file;
	n = 0;
	for (const char *const *s = p->lang->env; s && *s && n < BOX_MAX_ARGS - 1; s++)
		plan->env[n++] = *s;
}

int judge_plan(const struct judge_config *cfg, const struct program *p, int unit, struct buf *spec,
               struct buf *in, struct box_plan *ret, struct err *e)
{
	struct box_plan plan = { .cold = !cfg->zygote };
	int n, first = judge_unit_tests(p, unit, &n), way = p->way[first], r;

	buf_reset(spec);
	buf_reset(in);
	if (p->role != ROLE_ANALYSIS)
		plan.file[plan.n_files++] = (struct box_file){ p->lang->file, p->code, 0644 };
	if (p->lang->zygote) {
		plan.zygote = 1;
		plan.pair = way == WAY_PAIR;
		put_spec(p, way, spec);
		plan.program = p->number * 8 + (uint64_t)way;
	} else {
		set_argv(p, &plan);
	}
	set_limits(p, n, &plan.limits);
	plan.in = input_of(p, way, first, n, in);
	plan.spec = buf_str(spec);
	r = buf_check(spec, "spec", e);
	if (r == 0)
		r = buf_check(in, "tests", e);
	if (r == 0)
		*ret = plan;
	return r;
}
