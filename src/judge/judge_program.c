/* judge_program.c - what is known of a program before it runs: its task's language, checker and
 * limits, and the options of the judge that decide them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/hash.h"
#include "judge/judge_int.h"

enum { MAX_CODE = 16 << 20 };

#define REQUEST_BYTES ((size_t)16 << 20)
#define MIB           ((int64_t)1 << 20)

/* What programs usually import, and what that loads. */
#define PRELOAD                                                                                    \
	"collections heapq math itertools functools bisect re string operator typing copy random " \
	"datetime"

#define F(field) offsetof(struct judge_config, field)

const struct opt judge_opts[] = {
	{ "jobs", OPT_INT, F(jobs), 0, JUDGE_MAX_JOBS, 0, "0", "",
	  "programs at a time; 0: one for each core" },
	{ "cpu", OPT_REAL, F(cpu_s), 0.01, 3600, 0, "10", "s",
	  "CPU time for each test where the task sets no limit" },
	{ "wall", OPT_REAL, F(wall_s), 0.01, 3600, 0, "25", "s",
	  "wall time for each test; follows the CPU limit of a task" },
	{ "memory", OPT_INT, F(mem_mib), 16, 1 << 20, 0, "1024", "MiB",
	  "memory where the task sets no limit" },
	{ "output", OPT_INT, F(output_mib), 1, 4096, 0, "64", "MiB",
	  "output where the task sets no limit" },
	{ "python", OPT_STR, F(python), 0, 0, 0, "", "", "interpreter; empty: /usr/bin/python3" },
	{ "zygote", OPT_BOOL, F(zygote), 0, 0, 0, "true", "",
	  "fork a warm interpreter for each job; false: start one" },
	{ "preload", OPT_STR, F(preload), 0, 0, 0, PRELOAD, "",
	  "modules of the warm interpreter; what is missing is left out" },
	{ "fail_fast", OPT_BOOL, F(fail_fast), 0, 0, 0, "false", "",
	  "skip the tests behind the first that is not accepted" },
	{ "keep_output", OPT_BOOL, F(keep_output), 0, 0, 0, "false", "",
	  "keep what each test answered" },
	{ "fault_rate", OPT_REAL, F(fault_rate), 0, 1, 0, "0", "",
	  "for tests: share of programs that end as judge_error" },
	{ 0 },
};

static const char *const pers[] = { "test", "sample", NULL };
static const char *const tiers[] = { "auto", "full", "user", "landlock", "none", NULL };

const struct opt judge_box_opts[] = {
	{ "isolation", OPT_CHOICE, F(isolation), 0, 0, tiers, "auto", "",
	  "auto: the best that this machine offers" },
	{ "per", OPT_CHOICE, F(per), 0, 0, pers, "test", "",
	  "a process for each test, or one for all tests of a function task" },
	{ 0 },
};

void judge_program_free(struct program *p)
{
	struct arena a;

	if (!p)
		return;
	a = p->a; /* p lies in it */
	arena_done(&a);
}

/* A scalar of the checker object as the option table reads it. */
static int set_check_opt(const struct checker *c, void *cfg, struct str key, const struct json *val,
                         struct arena *a, struct err *e)
{
	const char *k = arena_str(a, key).p, *v;
	struct str text = val->text;
	const struct opt *o;

	if (val->type == JSON_BOOL)
		text = val->yes ? STR("true") : STR("false");
	v = arena_str(a, text).p;
	if (!k || !v)
		return FAIL(e, ERR_NOMEM, "checker options");
	o = opt_find(c->opts, k);
	if (!o)
		return FAIL(e, ERR_NOENT, "unknown option '%s'", k);
	if (val->type != JSON_BOOL && val->type != JSON_NUM && val->type != JSON_STR)
		return FAIL(e, ERR_PARSE, "option '%s' is %s", k, json_type_text(val->type));
	return opt_set(o, cfg, k, v, a, e);
}

static int find_checker(const struct task *t, const struct checker **ret, struct err *e)
{
	struct str name = t->checker;
	const struct checker *c;

	if (!name.n)
		name = t->kind == TASK_STDIN    ? STR("lines")
		       : t->kind == TASK_ASSERT ? STR("python")
		                                : STR("value");
	c = checker_find(name);
	if (!c)
		return FAIL(e, ERR_NOENT, "unknown checker '%.*s'",
		            (int)(name.n < 60 ? name.n : 60), name.p);
	if ((t->kind == TASK_ASSERT && t->checker.n) ||
	    (t->kind == TASK_STDIN ? !c->check : !c->value))
		return FAIL(e, ERR_RANGE, "checker '%s' is not for %s tasks", c->name,
		            task_kind_text(t->kind));
	*ret = c;
	return 0;
}

static int make_checker(const struct task *t, struct arena *a, const struct checker **ret,
                        void **ret_cfg, struct err *e)
{
	const struct json *o = t->checker_opts;
	const struct checker *c = NULL;
	void *cfg = NULL;
	int r = find_checker(t, &c, e);

	if (r < 0)
		return r;
	if (c->opts) {
		cfg = arena_alloc(a, 1, c->cfg_size, alignof(max_align_t));
		if (!cfg)
			return FAIL(e, ERR_NOMEM, "checker options");
		r = opt_fill(c->opts, cfg, NULL, a, e);
	}
	for (int i = 0; r == 0 && o && i < o->n; i++)
		if (!str_is(o->key[i], "kind"))
			r = set_check_opt(c, cfg, o->key[i], &o->item[i], a, e);
	if (r < 0)
		return err_wrap(e, "checker '%s'", c->name);
	*ret = c;
	*ret_cfg = cfg;
	return 0;
}

/* Language and checker of p->task. */
static int prepare(struct program *p, struct err *e)
{
	const struct task *t = p->task;

	p->lang = lang_find(t->language);
	if (!p->lang)
		return FAIL(e, ERR_NOENT, "language '%.*s' is not known to this version",
		            (int)(t->language.n < 40 ? t->language.n : 40), t->language.p);
	if (t->n_tests < 1)
		return FAIL(e, ERR_RANGE, "a task without tests proves nothing");
	if (t->kind != TASK_STDIN && !p->lang->zygote)
		return FAIL(e, ERR_RANGE, "language %s has no %s tasks in this version",
		            p->lang->name, task_kind_text(t->kind));
	return make_checker(t, &p->a, &p->checker, &p->check_cfg, e);
}

int judge_task_ok(const struct task *t, struct err *e)
{
	struct program p = { .a = { .limit = 1 << 16 }, .task = t };
	int r = prepare(&p, e);

	arena_done(&p.a);
	if (r < 0)
		return err_wrap(e, "task %.*s", (int)(t->id.n < 80 ? t->id.n : 80), t->id.p);
	return 0;
}

/* The task's limits, or the judge's; where a task sets only the CPU limit, the wall limit keeps
 * its proportion to it.
 */
static struct judge_limits limits_of(const struct judge_config *c, const struct task *t,
                                     const struct lang *lang)
{
	const struct task_limits *l = &t->limits;
	double cpu = l->cpu_ns ? (double)l->cpu_ns : c->cpu_s * NS_PER_S;
	double wall = l->wall_ns  ? (double)l->wall_ns
	              : l->cpu_ns ? (double)l->cpu_ns * (c->wall_s / c->cpu_s)
	                          : c->wall_s * NS_PER_S;

	return (struct judge_limits){
		.cpu_ns = (int64_t)(cpu * lang->time_factor),
		.wall_ns = (int64_t)(wall * lang->time_factor),
		.mem_bytes =
			(l->mem_bytes ? l->mem_bytes : c->mem_mib * MIB) + lang->extra_mib * MIB,
		.out_bytes = l->output_bytes ? l->output_bytes : c->output_mib * MIB,
	};
}

static int make_token(char *ret, struct err *e)
{
	unsigned char b[JUDGE_TOKEN / 2];

	if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b)
		return FAIL(e, ERR_SYS, "getrandom: %s", strerror(errno));
	for (size_t i = 0; i < sizeof b; i++)
		(void)snprintf(ret + 2 * i, 3, "%02x", b[i]);
	return 0;
}

static int make_units(struct program *p, const struct judge_config *cfg, struct err *e)
{
	int n = p->task->n_tests;

	p->whole = p->task->kind == TASK_FUNCTION && cfg->per == JUDGE_PER_SAMPLE;
	p->n_units = p->stop_at = p->whole ? 1 : n;
	p->only = -1;
	p->test = arena_new(&p->a, struct judged_test, n);
	p->opaque = arena_new(&p->a, bool, n);
	p->way = arena_new(&p->a, uint8_t, n);
	p->held = arena_new(&p->a, uint8_t, n);
	p->attempts = arena_new(&p->a, uint8_t, n);
	p->redo = arena_new(&p->a, int, n);
	if (!p->test || !p->opaque || !p->way || !p->held || !p->attempts || !p->redo)
		return FAIL(e, ERR_NOMEM, "program of %d tests", n);
	for (int i = 0; i < n; i++) {
		p->test[i].name = p->task->test[i].name;
		p->test[i].verdict = VERDICT_SKIPPED;
		p->way[i] = p->task->kind == TASK_STDIN ? WAY_RUN : WAY_CALL;
	}
	return 0;
}

int judge_unit_tests(const struct program *p, int unit, int *ret_n)
{
	*ret_n = p->whole ? p->task->n_tests : 1;
	return p->whole ? 0 : p->only >= 0 ? p->only : unit;
}

/* Code, tests and lists of units, in p's own arena. */
static int fill(struct program *p, const struct judge_config *cfg, struct str code, struct err *e)
{
	const struct task *t = p->task;
	int r = prepare(p, e);

	if (r == 0 && t->kind == TASK_ASSERT)
		r = make_token(p->token, e);
	if (r < 0)
		return r;
	p->limits = limits_of(cfg, t, p->lang);
	p->keep_output = cfg->keep_output;
	p->fail_fast = cfg->fail_fast;
	if (p->keep_output)
		p->a.limit += (size_t)p->limits.out_bytes * (size_t)t->n_tests;
	p->code = arena_str(&p->a, code);
	if (!p->code.p)
		return FAIL(e, ERR_NOMEM, "program of %zu bytes", code.n);
	return make_units(p, cfg, e);
}

int judge_program_new(const struct judge_config *cfg, const struct task *t, struct str code,
                      struct program **ret, struct err *e)
{
	struct arena a = { .limit = REQUEST_BYTES + code.n + 512 * (size_t)t->n_tests };
	struct program *p = arena_new(&a, struct program, 1);
	int r;

	if (!p)
		return FAIL(e, ERR_NOMEM, "program of %zu bytes", code.n);
	p->a = a;
	p->task = t;
	p->submit_ns = now_ns();
	r = fill(p, cfg, code, e);
	if (r < 0) {
		judge_program_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

/*	h / 2^64 < rate		h the first 64 bits of a hash of task id and program
 *
 * The same programs fail in every run, so that a test of the three-valued rule can be repeated.
 */
static bool is_chosen_fault(double rate, struct str id, struct str code)
{
	struct str part[] = { id, code };
	struct hash h;
	uint64_t x = 0;

	if (rate <= 0)
		return false;
	h = hash_of(part, 2);
	for (int i = 0; i < 8; i++)
		x = x << 8 | h.b[i];
	return (double)x / 0x1p64 < rate;
}

bool judge_is_decided(struct program *p, double fault_rate)
{
	if (p->code.n > MAX_CODE) {
		p->broken = true;
		p->broken_note = STR("program is longer than 16 MiB");
	} else if (is_chosen_fault(fault_rate, p->task->id, p->code)) {
		p->test[0].verdict = VERDICT_JUDGE_ERROR;
		p->test[0].note = STR("judge.fault_rate");
	} else {
		return false;
	}
	p->next_unit = p->n_units;
	return true;
}
