/* judge.h - turns (task, program) into verdicts by running the program in a box.
 *
 * The checker compares outside the box, and assertions run in a process of their own: expected
 * values never enter a process that runs candidate code, except for assertions that nothing else
 * can run (trust: weak). `accepted` needs positive proof for every test; a failure of our own
 * machinery is judge_error and nothing else is.
 *
 *	judge_submit(j, task, code, tag, e);		any number of times, from any thread
 *	while (judge_next(j, &v, e) == 1) ...		finished programs, in order of submission
 *
 * A struct judge is internally locked; one thread takes results.
 */
#ifndef JUDGE_JUDGE_H
#define JUDGE_JUDGE_H

#include "base/err.h"
#include "base/opt.h"
#include "base/str.h"
#include "base/verdict.h"
#include "box/box.h"
#include "task/task.h"

struct judge_config {         /* option table: judge_opts */
	int64_t jobs;         /* programs at a time; 0: one for each core */
	double cpu_s, wall_s; /* limits of a test where its task sets none */
	int64_t mem_mib, output_mib;
	int isolation;       /* enum box_tier */
	int per;             /* enum judge_per */
	const char *python;  /* interpreter; empty: the one of the language file */
	const char *preload; /* modules of a warm interpreter, with blanks between them */
	bool zygote;         /* false: a new interpreter for each job */
	bool fail_fast;      /* tests behind the first that is not accepted are skipped */
	bool keep_output;    /* keep what each test printed (consensus rewards) */
	double fault_rate;   /* testing: share of programs that end as judge_error */
};

/* What gets a process of its own: each test, or all tests of a function task together. */
enum judge_per { JUDGE_PER_TEST, JUDGE_PER_SAMPLE };

extern const struct opt judge_opts[];
extern const struct opt judge_box_opts[]; /* of the same struct, bound under "box" */

struct judged_test {
	struct str name;
	enum verdict verdict;
	double score;
	int64_t cpu_ns, wall_ns, mem_bytes;
	struct str note; /* why, for people; may be empty */
	struct str out;  /* if keep_output */
};

/* One judged program. Memory belongs to `own`; free with judged_done(). */
struct judged {
	uint64_t tag;
	enum verdict verdict; /* first that is not accepted, in test order; judge_error if any is */
	int n_tests, n_passed;
	double score;                   /* weighted share of passed tests */
	const struct judged_test *test; /* (n_tests,) */
	bool weak;                      /* trust: a test ran inside the candidate's process */
	int64_t queue_ns, compile_ns, run_ns;
	enum verdict compile_verdict; /* accepted or compile_error */
	struct str compile_note;
	void *own;
};

void judged_done(struct judged *v);

struct judge;

int judge_open(const struct judge_config *cfg, struct judge **ret, struct err *e);
void judge_close(struct judge *j); /* drops what is still running */
enum box_tier judge_tier(const struct judge *j);
int judge_jobs(const struct judge *j); /* programs at a time */

/* Can this task be judged: language, checker and its options are known. */
int judge_task_ok(const struct task *t, struct err *e);

/* The task must live until its result was taken; code is copied. Blocks while too much waits. */
int judge_submit(struct judge *j, const struct task *t, struct str code, uint64_t tag,
                 struct err *e);

/* The oldest submission's result. timeout_ns < 0: wait. 1 a result, 0 none (nothing is out, or
 * not yet), negative: the judge itself is broken.
 */
int judge_next(struct judge *j, int64_t timeout_ns, struct judged *ret, struct err *e);

int judge_pending(const struct judge *j); /* submitted and not yet taken */

/* counters since judge_open() */
struct judge_stats {
	int64_t programs, tests, retried;
	int64_t copied; /* programs that had been judged before, or were being judged */
	int64_t by_verdict[VERDICT_JUDGE_ERROR + 1];
};

void judge_stats(const struct judge *j, struct judge_stats *ret);

#endif
