/* box_run.h - what the tests of boxes share: one box for a whole test program, and Python programs
 * run in it. Where the machine offers no namespaces, the tests are skipped.
 */
#ifndef BOX_RUN_H
#define BOX_RUN_H

#include "base/clock.h"
#include "box/box.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static struct box *shared;

static inline int open_shared(void **state)
{
	struct box_config cfg = { .tier = BOX_AUTO, .slots = 2 };
	struct err e = { 0 };

	(void)state;
	if (box_open(&cfg, &shared, &e) == 0) {
		if (box_tier(shared) != BOX_LANDLOCK)
			return 0;
		printf("# only tier landlock here, which has tests of its own\n");
		box_close(shared);
		shared = NULL;
		return 0;
	}
	printf("# no isolation here: %s\n", e.msg);
	return e.code == ERR_DENIED ? 0 : -1;
}

static inline int close_shared(void **state)
{
	(void)state;
	box_close(shared);
	return 0;
}

#define NEEDS_BOX                                                                                  \
	do {                                                                                       \
		if (!shared)                                                                       \
			skip();                                                                    \
	} while (0)

/* SLOW in the environment: how many times slower than usual the machine is. */
static inline struct box_limits usual_limits(void)
{
	const char *text = getenv("SLOW");
	int64_t slow = text ? strtol(text, NULL, 10) : 1;

	return (struct box_limits){ .cpu_ns = 20 * slow * NS_PER_S,
		                    .wall_ns = 60 * slow * NS_PER_S,
		                    .mem_bytes = 256 << 20,
		                    .stack_bytes = 16 << 20,
		                    .out_bytes = { 1 << 20, 1 << 20, 1 << 20 },
		                    .disk_bytes = 16 << 20,
		                    .procs = 32 };
}

/* /usr/bin/python3 on a text, which must live until the plan was submitted */
static inline struct box_plan python(const char *code)
{
	return (struct box_plan){ .argv = { "/usr/bin/python3", "-I", "main.py" },
		                  .file = { { "main.py", { code, strlen(code) }, 0644 } },
		                  .n_files = 1,
		                  .limits = usual_limits() };
}

static inline struct box_result run_plan(const struct box_plan *p)
{
	struct box_result r;
	struct err e = { 0 };
	uint64_t job;

	if (box_submit(shared, p, &job, &e) < 0)
		fail_msg("submit: %s", e.msg);
	assert_int_equal(box_wait(shared, -1, &r, &e), 1);
	assert_true(r.job == job);
	if (r.end == BOX_FAILED)
		printf("# %s\n", r.why);
	return r;
}

static inline struct box_result run_python(const char *code)
{
	struct box_plan p = python(code);

	return run_plan(&p);
}

static inline void assert_out(const struct box_result *r, int ch, const char *want)
{
	if (!str_is(r->out[ch], want))
		fail_msg("channel %d: '%.*s' for '%s'; stderr '%.*s'", ch, (int)r->out[ch].n,
		         r->out[ch].p, want, (int)r->out[1].n, r->out[1].p);
}

/* The program must end by itself with status 0 and print just that. */
static inline void assert_prints(const char *code, const char *want)
{
	struct box_result r = run_python(code);

	assert_out(&r, 0, want);
	assert_string_equal(box_end_text(r.end), "exited");
	assert_int_equal(r.status, 0);
	box_result_done(&r);
}

static inline void assert_ends(const struct box_plan *p, enum box_end end)
{
	struct box_result r = run_plan(p);

	if (r.end != end)
		fail_msg("'%s' for '%s', status %d, stdout '%.*s', stderr '%.*s', cpu %.3f s",
		         box_end_text(r.end), box_end_text(end), r.status, (int)r.out[0].n,
		         r.out[0].p, (int)r.out[1].n, r.out[1].p, (double)r.cpu_ns / 1e9);
	box_result_done(&r);
}

#define RUN_BOX(tests)                                                                             \
	(cmocka_set_message_output(CM_OUTPUT_TAP),                                                 \
	 cmocka_run_group_tests(tests, open_shared, close_shared))

#endif
