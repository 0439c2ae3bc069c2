/* cmd_bench.c - cupel bench judge: measured speed, always beside a reference in the same run. */
#include "base/clock.h"
#include "cli/bench.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"cupel bench judge [--json] [--tests=2000] [--rounds=3]\n"
	"\n"
	"  cupel bench judge --jobs=1\n"
	"  cupel bench judge --json --tests=500 --judge.python=/usr/bin/python3\n"
	"\n"
	"CPU time of one small test, measured in turn in one run:\n"
	"  zygote  the judge: a fork of a warm interpreter, isolated\n"
	"  cold    the judge, with a new interpreter for each test\n"
	"  spawn   a new interpreter for each test, no isolation\n"
	"  floor   fork + run + exit + wait of a warm interpreter, no isolation\n"
	"ratio_vs_spawn is CPU of spawn / own (more is better), ratio_vs_floor own / CPU of floor\n"
	"(less is better). Of several rounds the middle one counts. Then two jobs against one, "
	"and\n"
	"what each layer of isolation would cost if it were made for every test.";

struct bench_conf {
	int64_t tests, rounds;
	bool json;
	struct judge_config judge;
};

static const struct opt opts[] = {
	{ "tests", OPT_INT, offsetof(struct bench_conf, tests), 20, 1000000, 0, "2000", "",
	  "tests of a measurement of zygote and floor; a tenth of it for the others" },
	{ "rounds", OPT_INT, offsetof(struct bench_conf, rounds), 1, 99, 0, "3", "",
	  "measurements of each kind" },
	{ 0 },
};

/* Each prints its first line backwards. */
static const struct bench_case cases[] = {
	{ "hello", "print(input()[::-1])\n" },
	{ "imports", "import collections, heapq, math, itertools, re, functools, bisect\n"
	             "print(input()[::-1])\n" },
};

enum { CASES = sizeof cases / sizeof cases[0], MAX_ROUNDS = 99 };
enum method { ZYGOTE, COLD, SPAWN, FLOOR, METHODS };
static const char *const method_name[] = { "zygote", "cold", "spawn", "floor" };

static const char *python_of(const struct bench_conf *b)
{
	return *b->judge.python ? b->judge.python : "/usr/bin/python3";
}

static int measure(const struct bench_conf *b, enum method m, const struct bench_case *c, int jobs,
                   struct bench_time *ret, struct err *e)
{
	struct judge_config cfg = b->judge;
	int64_t few = b->tests / 10 > 20 ? b->tests / 10 : 20;

	cfg.jobs = jobs;
	cfg.zygote = m == ZYGOTE;
	switch (m) {
	case ZYGOTE:
		return bench_judge(&cfg, c, b->tests, ret, e);
	case COLD:
		return bench_judge(&cfg, c, few, ret, e);
	case SPAWN:
		return bench_spawn(python_of(b), c, few, jobs, ret, e);
	default:
		return bench_floor(python_of(b), b->judge.preload, c, b->tests, jobs, ret, e);
	}
}

static int by_cpu(const void *x, const void *y)
{
	double a = bench_cpu_ms(x), b = bench_cpu_ms(y);

	return (a > b) - (a < b);
}

/* Round by round, so that a change of the machine's speed meets all methods. */
static int measure_all(const struct bench_conf *b, const struct bench_case *c, int jobs,
                       struct bench_time ret[METHODS], struct err *e)
{
	struct bench_time t[METHODS][MAX_ROUNDS];
	int r = 0;

	for (int i = 0; i < b->rounds; i++)
		for (int m = 0; r == 0 && m < METHODS; m++)
			r = measure(b, (enum method)m, c, jobs, &t[m][i], e);
	for (int m = 0; r == 0 && m < METHODS; m++) {
		qsort(t[m], (size_t)b->rounds, sizeof t[m][0], by_cpu);
		ret[m] = t[m][b->rounds / 2];
	}
	return r;
}

static void put_method(const struct bench_conf *b, const char *name, enum method m,
                       const struct bench_time t[METHODS])
{
	double cpu = bench_cpu_ms(&t[m]), spawn = bench_cpu_ms(&t[SPAWN]) / cpu;
	double floor = cpu / bench_cpu_ms(&t[FLOOR]);

	if (b->json)
		printf("{\"case\":\"%s\",\"method\":\"%s\",\"tests_per_s\":%.1f,\"cpu_ms\":%.3f,"
		       "\"ratio_vs_spawn\":%.2f,\"ratio_vs_floor\":%.3f}\n",
		       name, method_name[m], bench_tests_per_s(&t[m]), cpu, spawn, floor);
	else
		printf("%-8s %-8s %10.1f %10.3f %12.2f %12.3f\n", name, method_name[m],
		       bench_tests_per_s(&t[m]), cpu, spawn, floor);
	(void)fflush(stdout);
}

/*	efficiency = (tests/s of 2 jobs) / (2 * tests/s of 1 job) */
static int put_scaling(const struct bench_conf *b, struct err *e)
{
	static const enum method way[] = { ZYGOTE, FLOOR };
	double ours[2] = { 0 };

	for (int i = 0; i < 2; i++) {
		struct bench_time one, two;
		int r = measure(b, way[i], &cases[0], 1, &one, e);

		r = r < 0 ? r : measure(b, way[i], &cases[0], 2, &two, e);
		if (r < 0)
			return r;
		ours[i] = bench_tests_per_s(&two) / (2 * bench_tests_per_s(&one));
		if (b->json)
			printf("{\"case\":\"two_jobs\",\"method\":\"%s\",\"tests_per_s\":%.1f,"
			       "\"efficiency\":%.3f}\n",
			       method_name[way[i]], bench_tests_per_s(&two), ours[i]);
		else
			printf("two jobs %-8s %10.1f   efficiency %.3f\n", method_name[way[i]],
			       bench_tests_per_s(&two), ours[i]);
		(void)fflush(stdout);
	}
	return 0;
}

static void put_layers(const struct bench_conf *b)
{
	struct bench_layer l[BENCH_LAYERS];

	bench_layers(l);
	if (!b->json)
		printf("\nlayer         cpu ms if made once a test   made once a\n");
	for (int i = 0; i < BENCH_LAYERS; i++) {
		double ms = (double)l[i].cpu_ns / NS_PER_MS;

		if (l[i].cpu_ns < 0)
			fprintf(stderr, "cupel bench: layer %s cannot be measured here\n",
			        l[i].name);
		else if (b->json)
			printf("{\"case\":\"layer\",\"method\":\"%s\",\"cpu_ms\":%.3f,"
			       "\"made_once_a\":\"%s\"}\n",
			       l[i].name, ms, l[i].paid);
		else
			printf("%-12s %27.3f   %s\n", l[i].name, ms, l[i].paid);
	}
}

static int bench_judge_all(const struct bench_conf *b, struct err *e)
{
	int jobs = b->judge.jobs ? (int)b->judge.jobs : 1;

	if (!b->json)
		printf("case     method      tests/s     cpu ms  ratio spawn  ratio floor\n");
	for (int i = 0; i < CASES; i++) {
		struct bench_time t[METHODS];
		int r = measure_all(b, &cases[i], jobs, t, e);

		if (r < 0)
			return r;
		for (int m = 0; m < METHODS; m++)
			put_method(b, cases[i].name, (enum method)m, t);
	}
	if (put_scaling(b, e) < 0)
		return e->code;
	put_layers(b);
	return 0;
}

static int run(int argc, char **argv)
{
	struct bench_conf b = { 0 };
	AUTO_CONF c;
	struct err e;

	if (conf_init(&c, argv[0], usage) < 0)
		return CMD_BROKEN;
	conf_short(&c, "jobs", "judge.jobs");
	conf_short(&c, "isolation", "box.isolation");
	if (conf_read(&c, argc, argv, &e) < 0 || conf_bind(&c, "", opts, &b, &e) < 0 ||
	    conf_bind(&c, "judge", judge_opts, &b.judge, &e) < 0 ||
	    conf_bind(&c, "box", judge_box_opts, &b.judge, &e) < 0 || conf_end(&c, &e) < 0)
		return cli_fail(argv[0], &e);
	if (conf_help_wanted(&c))
		return CMD_YES;
	if (c.n_args != 1 || strcmp(c.arg[0], "judge") != 0)
		return cli_usage(argv[0], "say what to measure: judge");
	b.json = c.json;
	return bench_judge_all(&b, &e) < 0 ? cli_fail(argv[0], &e) : CMD_YES;
}

const struct cmd cmd_bench = {
	.name = "bench",
	.doc = "measure speed beside a reference, in one run",
	.source = "docs/results.md",
	.usage = usage,
	.run = run,
};
