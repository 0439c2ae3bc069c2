/* judge_int.h - what the files of the judge share.
 *
 * A program is cut into units, one box job each: a test, or all tests of a function task together.
 * How a test runs is its way. Assertions and tests whose expected value a reference knows need
 * more: their task is prepared once (struct prep), by programs of the judge's own.
 *
 *	judge.c		the front: open, submit, next
 *	judge_queue.c	two threads that keep the boxes busy
 *	judge_boot.c	the warm interpreter
 *	judge_program.c	options; what is known of a program before it runs
 *	judge_prep.c	what is known of a task, and the cache of it
 *	judge_trial.c	a test that cannot cross: asks the task's reference
 *	judge_same.c	programs that were judged before
 *	judge_plan.c	unit -> box plan
 *	judge_take.c	box result -> verdicts of tests
 *	judge_call.c	the same for units that report their tests one by one
 */
#ifndef JUDGE_JUDGE_INT_H
#define JUDGE_JUDGE_INT_H

#include <pthread.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "judge/checker.h"
#include "judge/judge.h"
#include "judge/lang.h"

enum { JUDGE_ATTEMPTS = 3, JUDGE_TOKEN = 32, JUDGE_MAX_JOBS = 256 };

/* The limits of one test, task and configuration taken together. */
struct judge_limits {
	int64_t cpu_ns, wall_ns, mem_bytes, out_bytes;
};

enum judge_way {
	WAY_RUN,  /* a program that reads stdin and prints */
	WAY_CALL, /* a function is called; what it returns is compared here */
	WAY_PAIR, /* an assertion, in a trusted process beside the program */
	WAY_WEAK, /* an assertion, in the program's own process */
	WAY_ANALYSE,
};

/* What a program is for. All but the first are the judge's own. */
enum judge_role { ROLE_CANDIDATE, ROLE_ANALYSIS, ROLE_ORACLE, ROLE_TRIAL };

enum judge_trial { TRIAL_NONE, TRIAL_RUNS, TRIAL_DONE };

struct prep_test {
	enum judge_way way;
	struct str args;    /* WAY_CALL of an assertion: marshalled */
	struct str code;    /* of an assertion: marshalled */
	struct value *want; /* of an assertion that is called: what must be returned */
	struct str line;    /* what the runner said when the reference was called; empty: none */
	bool exact;         /* line: the same text is the same value */
	bool is;            /* `is` instead of == */
	struct str why;     /* why there is neither */
	enum judge_trial trial;
	enum judge_way tried; /* TRIAL_RUNS: how the reference runs now */
};

enum prep_state { PREP_NEW, PREP_RUNS, PREP_READY, PREP_BROKEN };

/* What has to be known of a task before its programs can be judged, and what is known from its
 * content alone: programs of equal tasks share it. Guarded by the judge's lock; what a result fills
 * in, by `work`.
 */
struct prep {
	struct prep *next;
	struct hash key; /* of the task */
	int refs;        /* programs */
	struct arena a;
	enum prep_state state;
	struct str why;     /* PREP_BROKEN */
	struct str before;  /* of assertions: marshalled preamble and set-up */
	struct str imports; /* of the set-up */
	struct str classes; /* of the preamble: both processes of a pair know them */
	int n_tests;
	struct prep_test *test; /* (n_tests,) */
};

/* One submitted program. Owned by the judge until its result is taken, then by the result. The
 * fields below the line are guarded by the judge's lock.
 */
struct program {
	struct arena a; /* everything here and in `result` */
	uint64_t tag;
	enum judge_role role;
	uint64_t number; /* of this judge */
	const struct task *task;
	const struct lang *lang;
	const struct checker *checker;
	void *check_cfg;
	struct str code;
	char token[JUDGE_TOKEN + 1]; /* assert tasks: proves that a test was passed */
	struct judge_limits limits;
	bool keep_output, fail_fast, whole; /* whole: one unit for all tests */
	struct judged_test *test;           /* (task->n_tests,) */
	bool *opaque;                       /* (n_tests,) something could not cross */
	bool broken;                        /* does not compile */
	struct str broken_note;
	int64_t submit_ns, queue_ns, run_ns, compile_ns;
	/* --- */
	struct program *next;
	struct prep *prep;      /* NULL: its task needs none */
	struct program *leader; /* the same program, which is judged instead */
	struct hash key;        /* of task and code */
	uint8_t *way;           /* (n_tests,) enum judge_way */
	uint8_t *held;          /* (n_tests,) waits for a trial */
	int n_held;
	int n_units, next_unit;
	int only;          /* ROLE_TRIAL: the test that is its one unit */
	int stop_at;       /* fail_fast: no unit behind this one */
	int flying;        /* units in a box */
	uint8_t *attempts; /* (n_units,) */
	int *redo, n_redo; /* units to run (once more) */
	bool copied, done;
	struct judged result;
};

struct flight {
	uint64_t job;
	struct program *p; /* NULL: free place */
	int unit;
	bool sent; /* job is valid */
};

/* A task that a program of this judge belongs to: it is hashed once. */
struct live {
	const struct task *task;
	struct hash key;
	int refs;
};

struct same; /* judge_same.c */

/* Internally locked. */
struct judge {
	struct judge_config cfg;
	struct arena a; /* strings of cfg */
	struct buf boot;
	struct box *box;
	enum box_tier tier;
	pthread_mutex_t lock;
	pthread_mutex_t work; /* taken before lock: who writes into the tests of a program */
	pthread_cond_t changed;
	pthread_t feeder, collector;
	bool stop, broken;
	struct err why; /* broken */
	struct program *first, **last;
	struct program *inner; /* the judge's own */
	uint64_t n_programs;
	int pending, unfinished;
	size_t bytes; /* of unfinished programs */
	struct flight *flight;
	int n_places, n_flying;
	struct judge_stats stats;
	struct buf spec, in; /* of the feeder */
	struct prep *preps;
	struct live *live;
	int n_live, cap_live;
	struct same *same;
};

/* judge_boot.c: the warm interpreter as box_config wants it; its texts are j's. */
int judge_boot(struct judge *j, struct box_zygote *ret, struct err *e);

/* judge_program.c: everything but its place in the list. */
int judge_program_new(const struct judge_config *cfg, const struct task *t, struct str code,
                      struct program **ret, struct err *e);
void judge_program_free(struct program *p);

/* Programs that need no box: too long, or chosen as a fault. Their verdict is set. */
bool judge_is_decided(struct program *p, double fault_rate);

/* The tests of a unit: *ret_n from the one that is returned. */
int judge_unit_tests(const struct program *p, int unit, int *ret_n);

/* judge_plan.c: the plan of a unit; texts go into spec and in. */
int judge_plan(const struct judge_config *cfg, const struct program *p, int unit, struct buf *spec,
               struct buf *in, struct box_plan *ret, struct err *e);

enum judge_taken {
	JUDGE_TAKEN, /* its tests have verdicts */
	JUDGE_AGAIN, /* our machinery failed */
};

/* judge_take.c: what a finished unit means. */
enum judge_taken judge_take(struct program *p, int unit, const struct box_result *r);
enum judge_taken judge_call_take(struct program *p, int first, int n, const struct box_result *r);
enum judge_taken judge_analysis_take(struct program *p, const struct box_result *r);

/* What the runner says of the program before it runs. False: it is something else. */
bool judge_take_load(struct program *p, const struct json *event);

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

/* The rest is called under the lock. */

/* judge_queue.c */
void *judge_feeder(void *judge);
void *judge_collector(void *judge);
void judge_finish(struct judge *j, struct program *p); /* nothing of p is out or to be run */
bool judge_is_finished(const struct program *p);       /* it is so, and was not said yet */
void judge_add_inner(struct judge *j, struct program *p);

/* judge_prep.c: sets p->prep and p->key; the judge's own programs that this needs are made later,
 * by judge_prep_start(), when p is the oldest that asks.
 */
int judge_prep_get(struct judge *j, struct program *p, const struct hash *task, struct err *e);
void judge_prep_start(struct judge *j, struct program *p);
void judge_prep_done(struct judge *j, struct program *own); /* a program of a role has ended */
void judge_prep_ways(struct program *p);                    /* prep is ready */
void judge_prep_drop(struct judge *j, struct prep *prep);
void judge_prep_free_all(struct judge *j);

/* judge_trial.c: a test that failed for want of a way to cross is held until the task's reference
 * has shown whether it can be run that way at all. False: its verdict stands.
 */
bool judge_trial_wanted(struct judge *j, struct program *p, int unit);
void judge_trial_done(struct judge *j, struct program *trial);

/* judge_same.c */
int judge_task_key(struct judge *j, const struct task *t, struct hash *ret, struct err *e);
void judge_task_drop(struct judge *j, const struct task *t);
void judge_same_look(struct judge *j, struct program *p); /* done, follows another, or neither */
void judge_same_tell(struct judge *j, struct program *p); /* p is done */
void judge_same_free(struct judge *j);

#endif
