/* bench.h - what the benchmarks of `cupel bench` share. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "base/err.h"
#include "judge/judge.h"

#include <stdint.h>

/* One measurement: so many tests, wall and CPU time of everything that they needed. */
struct bench_time {
	int64_t tests, wall_ns, cpu_ns;
};

double bench_tests_per_s(const struct bench_time *t);
double bench_cpu_ms(const struct bench_time *t); /* for each test */

/* CPU time of this process and of all its children that have been waited for. */
int64_t bench_cpu_ns(void);

struct bench_case {
	const char *name, *code; /* a program that prints the reverse of its first line */
};

/* bench_judge.c: n tests through the judge, several to a program; programs differ. */
int bench_judge(const struct judge_config *cfg, const struct bench_case *c, int64_t n,
                struct bench_time *ret, struct err *e);

/* bench_spawn.c: the same program n times as a new process, one after the other, without isolation;
 * jobs: so many side by side.
 */
int bench_spawn(const char *python, const struct bench_case *c, int64_t n, int jobs,
                struct bench_time *ret, struct err *e);
/* And as forks of a warm interpreter. */
int bench_floor(const char *python, const char *preload, const struct bench_case *c, int64_t n,
                int jobs, struct bench_time *ret, struct err *e);

/* bench_layers.c: what a layer of isolation costs if it is made for one test. */
struct bench_layer {
	const char *name;
	const char *paid; /* how often the judge pays it: "test", "slot" */
	int64_t cpu_ns;   /* each; negative: cannot be measured here */
};
enum { BENCH_LAYERS = 6 };
void bench_layers(struct bench_layer ret[BENCH_LAYERS]);

#endif
