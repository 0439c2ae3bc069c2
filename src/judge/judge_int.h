/* judge_int.h - what the files of the judge share.
 *
 * A program is cut into units, one box job each: a test of a stdin task, or all tests of a function
 * or assert task together. One more unit, the probe, only compiles the program; it runs where a
 * test ended as if the program had a syntax error.
 *
 *	judge.c		the queue, two threads, the order of results
 *	judge_program.c	options; what is known of a program before it runs
 *	judge_plan.c	unit -> box plan
 *	judge_take.c	box result -> verdicts of tests
 *	judge_call.c	the same for units that report their tests one by one
 */
#ifndef JUDGE_JUDGE_INT_H
#define JUDGE_JUDGE_INT_H

#include "base/arena.h"
#include "base/buf.h"
#include "judge/checker.h"
#include "judge/judge.h"
#include "judge/lang.h"

enum { JUDGE_PROBE = -1, JUDGE_ATTEMPTS = 3, JUDGE_TOKEN = 32, JUDGE_MAX_JOBS = 256 };

/* The limits of one test, task and configuration taken together. */
struct judge_limits {
	int64_t cpu_ns, wall_ns, mem_bytes, out_bytes;
};

/* One submitted program. Owned by the judge until its result is taken, then by the result. The
 * fields below the line are guarded by the judge's lock.
 */
struct program {
	struct arena a; /* everything here and in `result` */
	uint64_t tag;
	const struct task *task;
	const struct lang *lang;
	const struct checker *checker; /* NULL: assert task */
	void *check_cfg;
	struct str code;
	char token[JUDGE_TOKEN + 1]; /* assert tasks: proves that a test was passed */
	struct judge_limits limits;
	bool keep_output;
	struct judged_test *test; /* (task->n_tests,) */
	bool probed, broken;      /* broken: does not compile */
	struct str broken_note;
	int64_t submit_ns, queue_ns, run_ns, compile_ns;
	/* --- */
	struct program *next;
	int n_units, next_unit;
	int flying;        /* units in a box */
	uint8_t *attempts; /* (n_units + 1,) the last one is the probe's */
	int *redo, n_redo; /* units to run once more */
	bool want_probe, done;
	struct judged result;
};

/* Everything but its place in the list. */
int judge_program_new(const struct judge_config *cfg, const struct task *t, struct str code,
                      struct program **ret, struct err *e);
void judge_program_free(struct program *p);

/* Programs that need no box: too long, or chosen as a fault. Their verdict is set. */
bool judge_is_decided(struct program *p, double fault_rate);

int judge_units(const struct task *t); /* n_units of a program */

/* The plan of a unit; texts go into spec. python: interpreter instead of the language's, or "". */
int judge_plan(const struct program *p, int unit, const char *python, struct buf *spec,
               struct box_plan *ret, struct err *e);

enum judge_taken {
	JUDGE_TAKEN, /* its tests have verdicts */
	JUDGE_AGAIN, /* our machinery failed */
	JUDGE_ASK,   /* looks like a syntax error: run the probe */
};

/* What a finished unit means. */
enum judge_taken judge_take(struct program *p, int unit, const struct box_result *r);
void judge_call_take(struct program *p, const struct box_result *r);

/* The unit could not be run: its tests are judge_error. */
void judge_give_up(struct program *p, int unit, const char *why);

/* Fill p->result from p->test. */
void judge_conclude(struct program *p);

/* Verdict and note of a job that did not end by itself with status 0. */
enum verdict judge_end_verdict(const struct program *p, const struct box_result *r, char *ret_note,
                               size_t size);

/* A note of test t, cut at 200 bytes. */
void judge_note(struct program *p, struct judged_test *t, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
