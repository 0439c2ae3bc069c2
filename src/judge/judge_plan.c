/* judge_plan.c - what runs in the box for a unit of a program. */
#include <string.h>

#include "base/jsonw.h"
#include "judge/judge_int.h"

#define MIB  INT64_C(1048576)
#define S_NS INT64_C(1000000000)

enum { PROCS = 64, PROBE_S = 10 };

#define MAX_NS          (3600 * S_NS)
#define RUNNER_START_NS (S_NS / 2)
#define DISK_BYTES      (64 * MIB)
#define SPARE_OUT       (1 * MIB) /* descriptor 3 of a program that has no use for it */

static const char *const runner_file = "runner.py";

int judge_units(const struct task *t)
{
	return t->kind == TASK_STDIN ? t->n_tests : 1;
}

static const char *kind_of(const struct program *p, int unit)
{
	return unit == JUDGE_PROBE ? "compile" : task_kind_text(p->task->kind);
}

static void put_tests(const struct program *p, struct jsonw *w)
{
	const struct task *t = p->task;

	jsonw_key(w, "tests");
	jsonw_open(w, '[');
	for (int i = 0; i < t->n_tests; i++)
		if (t->kind == TASK_FUNCTION)
			jsonw_json(w, t->test[i].args); /* and nothing of what is expected */
		else
			jsonw_str(w, t->test[i].code);
	jsonw_close(w, ']');
}

/* The job of the runner: see runner_python.py. */
static void put_spec(const struct program *p, int unit, struct buf *b)
{
	struct jsonw w = { b };

	jsonw_open(&w, '{');
	jsonw_key(&w, "kind"), jsonw_cstr(&w, kind_of(p, unit));
	jsonw_key(&w, "file"), jsonw_cstr(&w, p->lang->file);
	jsonw_key(&w, "cpu_s"), jsonw_real(&w, (double)p->limits.cpu_ns / 1e9);
	jsonw_key(&w, "wall_s"), jsonw_real(&w, (double)p->limits.wall_ns / 1e9);
	if (unit != JUDGE_PROBE) {
		jsonw_key(&w, "entry"), jsonw_str(&w, p->task->entry_point);
		jsonw_key(&w, "in_place"), jsonw_bool(&w, p->task->in_place);
		jsonw_key(&w, "setup"), jsonw_str(&w, p->task->setup);
		jsonw_key(&w, "token"), jsonw_cstr(&w, p->token);
		put_tests(p, &w);
	} else {
		jsonw_key(&w, "tests"), jsonw_open(&w, '['), jsonw_close(&w, ']');
	}
	jsonw_close(&w, '}');
}

static void set_argv(const struct program *p, const char *file, const char *python,
                     struct box_plan *plan)
{
	int n = 0;

	for (const char *const *s = p->lang->run; *s && n < BOX_MAX_ARGS - 1; s++)
		plan->argv[n++] = strcmp(*s, "{src}") ? *s : file;
	if (python && *python)
		plan->argv[0] = python;
	n = 0;
	for (const char *const *s = p->lang->env; s && *s && n < BOX_MAX_ARGS - 1; s++)
		plan->env[n++] = *s;
}

static int64_t times(int64_t ns, int n)
{
	return ns > MAX_NS / n ? MAX_NS : ns * n;
}

/* All tests of a call task share one process: the runner ends a test that takes too long, and the
 * limit of the box, for all tests together, holds whoever disarms the runner.
 */
static void set_limits(const struct program *p, int unit, struct box_limits *l)
{
	const struct judge_limits *t = &p->limits;
	int64_t spec_out = t->out_bytes + 256 * (int64_t)p->task->n_tests;
	bool own = p->task->kind == TASK_STDIN && unit != JUDGE_PROBE;
	int64_t start_ns = own ? 0 : RUNNER_START_NS;
	int n = own ? 1 : p->task->n_tests;

	*l = (struct box_limits){
		.cpu_ns = times(t->cpu_ns, n) + start_ns,
		.wall_ns = times(t->wall_ns, n) + start_ns,
		.mem_bytes = t->mem_bytes,
		.stack_bytes = t->mem_bytes,
		.out_bytes = { t->out_bytes, t->out_bytes, own ? SPARE_OUT : spec_out },
		.disk_bytes = DISK_BYTES,
		.procs = PROCS + p->lang->max_procs,
	};
	if (unit == JUDGE_PROBE)
		l->cpu_ns = l->wall_ns = PROBE_S * S_NS;
}

int judge_plan(const struct program *p, int unit, const char *python, struct buf *spec,
               struct box_plan *ret, struct err *e)
{
	bool own = p->task->kind == TASK_STDIN && unit != JUDGE_PROBE;
	struct box_plan plan = { .n_files = 1 };
	int r;

	plan.file[0] = (struct box_file){ p->lang->file, p->code, 0644 };
	set_argv(p, own ? p->lang->file : runner_file, python, &plan);
	set_limits(p, unit, &plan.limits);
	if (own) {
		plan.in = p->task->test[unit].in;
	} else {
		buf_reset(spec);
		put_spec(p, unit, spec);
		r = buf_check(spec, "tests", e);
		if (r < 0)
			return r;
		plan.in = buf_str(spec);
		plan.file[plan.n_files++] = (struct box_file){
			runner_file, { p->lang->call, strlen(p->lang->call) }, 0644
		};
	}
	*ret = plan;
	return 0;
}
