/* bench_judge.c - tests through the judge, for `cupel bench judge`. */
#include "cli/bench.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

enum { TESTS = 10 }; /* of a program */

double bench_tests_per_s(const struct bench_time *t)
{
	return (double)t->tests * NS_PER_S / (double)t->wall_ns;
}

double bench_cpu_ms(const struct bench_time *t)
{
	return (double)t->cpu_ns / (double)t->tests / NS_PER_MS;
}

/* The inputs differ from test to test, so that each has to be run. */
struct tests {
	struct test test[TESTS];
	char in[TESTS][8], out[TESTS][8], name[TESTS][8];
};

static void make_task(struct tests *s, struct task *ret)
{
	for (int i = 0; i < TESTS; i++) {
		(void)snprintf(s->in[i], sizeof s->in[i], "1%d\n", i);
		(void)snprintf(s->out[i], sizeof s->out[i], "%d1\n", i);
		(void)snprintf(s->name[i], sizeof s->name[i], "%d", i + 1);
		s->test[i] = (struct test){ .name = { s->name[i], strlen(s->name[i]) },
			                    .in = { s->in[i], strlen(s->in[i]) },
			                    .out = { s->out[i], strlen(s->out[i]) },
			                    .weight = 1 };
	}
	*ret = (struct task){ .id = STR("bench"),
		              .language = STR("python"),
		              .kind = TASK_STDIN,
		              .n_tests = TESTS,
		              .test = s->test };
}

static int take(struct judge *j, struct err *e)
{
	struct judged v;
	int r = judge_next(j, -1, &v, e);

	if (r <= 0)
		return r < 0 ? r : FAIL(e, ERR_SYS, "a verdict is missing");
	r = v.verdict == VERDICT_ACCEPTED
	            ? 0
	            : FAIL(e, ERR_SYS, "the program of the benchmark is '%s': %.*s",
	                   verdict_text(v.verdict), (int)v.test[0].note.n,
	                   v.test[0].note.n ? v.test[0].note.p : "");
	judged_done(&v);
	return r;
}

/* No two programs are the same: those would be judged once. */
static int submit(struct judge *j, const struct task *t, const struct bench_case *c, int64_t i,
                  struct err *e)
{
	char code[1024];
	int n = snprintf(code, sizeof code, "# %lld\n%s", (long long)i, c->code);

	return judge_submit(j, t, (struct str){ code, (size_t)n }, (uint64_t)i, e);
}

static int run(struct judge *j, const struct bench_case *c, int64_t first, int64_t n, struct err *e)
{
	struct tests s;
	struct task t;
	int64_t out = 0;
	int r = 0;

	make_task(&s, &t);
	for (int64_t i = 0; r == 0 && i < n; i++) {
		if (out == 2 * judge_jobs(j)) {
			r = take(j, e);
			out--;
		}
		r = r < 0 ? r : submit(j, &t, c, first + i, e);
		out++;
	}
	while (r == 0 && out--)
		r = take(j, e);
	return r;
}

/* From an idle judge to one with n tests behind it, start and end of the judge not counted: wall
 * time by the clock, CPU time as the difference of two judges with n and few tests.
 */
static int measure(const struct judge_config *cfg, const struct bench_case *c, int64_t programs,
                   struct bench_time *ret, struct err *e)
{
	struct bench_time t = { .tests = programs * TESTS };
	int64_t cpu = bench_cpu_ns(), wall;
	struct judge *j;
	int r = judge_open(cfg, &j, e);

	if (r < 0)
		return r;
	r = run(j, c, 0, judge_jobs(j), e); /* zygotes start */
	wall = now_ns();
	r = r < 0 ? r : run(j, c, 1000000, programs, e);
	t.wall_ns = now_ns() - wall;
	judge_close(j);
	t.cpu_ns = bench_cpu_ns() - cpu;
	if (r == 0)
		*ret = t;
	return r;
}

int bench_judge(const struct judge_config *cfg, const struct bench_case *c, int64_t n,
                struct bench_time *ret, struct err *e)
{
	int64_t programs = (n + TESTS - 1) / TESTS;
	struct bench_time few, all;
	int r = measure(cfg, c, 1, &few, e);

	r = r < 0 ? r : measure(cfg, c, programs, &all, e);
	if (r < 0)
		return r;
	all.cpu_ns -= few.cpu_ns;
	all.tests -= TESTS;
	all.wall_ns =
		(int64_t)((double)all.wall_ns * (double)all.tests / (double)(all.tests + TESTS));
	*ret = all;
	return 0;
}
