/* box.h - runs untrusted programs in isolation and reports what happened. Knows nothing of tasks
 * or verdicts.
 *
 * Everything that forks lives in one small single-threaded program, cupel-boxd, started by
 * box_open() (never a fork of the caller: trainers have threads and gigabytes) and spoken to over
 * a socketpair. It owns the slots; each has its cgroup, its network namespace and its zygotes. If
 * it dies it is started again and its jobs are run again (boxd.c tells the theory).
 *
 * A job is a plan: plain data that can be printed and tested without rights. box_submit() sends
 * it; box_wait() returns finished jobs in any order. A struct box is internally locked: several
 * threads may submit; one thread waits.
 */
#ifndef BOX_BOX_H
#define BOX_BOX_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum box_tier { BOX_AUTO, BOX_FULL, BOX_USER, BOX_LANDLOCK, BOX_NONE };

const char *box_tier_text(enum box_tier t); /* "auto", "full", "user", ... */

enum { BOX_MAX_FILES = 16, BOX_MAX_ARGS = 64, BOX_CHANNELS = 3, BOX_MAX_ZYGOTES = 4 };

struct box_file {
	const char *name; /* in the working directory /box; no '/' */
	struct str text;
	int mode; /* 0644, 0755 */
};

struct box_limits {     /* all must be set */
	int64_t cpu_ns; /* CPU time of all processes of the box */
	int64_t wall_ns;
	int64_t mem_bytes;
	int64_t stack_bytes;
	int64_t out_bytes[BOX_CHANNELS]; /* cap of each channel */
	int64_t disk_bytes;              /* size of the private tmpfs */
	int procs;                       /* processes and threads */
};

/* A zygote: an interpreter that each slot starts once, that loads what most programs load, and
 * then forks a fresh process for each job (zygote.c tells how). Its boot file is run as argv + the
 * path of the file + args; it calls getppid(), which returns once for each job, in the new process.
 * With CUPEL_COLD=1 in its environment it serves one job only.
 */
struct box_zygote {
	const char *argv[BOX_MAX_ARGS]; /* ends with NULL; the interpreter and its flags */
	const char *args[BOX_MAX_ARGS];
	const char *env[BOX_MAX_ARGS]; /* added to the fixed environment; ends with NULL */
	struct str boot;
	int64_t disk_bytes; /* size of its tmpfs: of all its jobs */
};

/* Borrowed until box_submit() returns. */
struct box_plan {
	/* A new program (zygote == 0): argv[0] is a path in the box; ends with NULL. */
	const char *argv[BOX_MAX_ARGS];
	const char *env[BOX_MAX_ARGS]; /* added to the fixed environment; ends with NULL */
	/* Or a fork of box_config.zygote[zygote - 1]; limits.disk_bytes is then the zygote's. */
	int zygote;
	bool cold;       /* of a zygote that is started for this job */
	bool pair;       /* a trusted process beside the program: gets `in` and channel 2 */
	struct str spec; /* for the boot file, at descriptor 4 */
	/* The same number other than 0: zygote, files and spec are the same as before. */
	uint64_t program;
	struct box_file file[BOX_MAX_FILES];
	int n_files;
	struct str in; /* stdin: a sealed regular file */
	struct box_limits limits;
};

enum box_end {
	BOX_EXITED,   /* status is its exit code */
	BOX_SIGNALED, /* status is the signal */
	BOX_CPU_LIMIT,
	BOX_WALL_LIMIT,
	BOX_MEM_LIMIT,
	BOX_OUT_LIMIT,
	BOX_DENIED, /* killed by the system-call filter */
	BOX_FAILED, /* our machinery failed, not the program: see why */
};

const char *box_end_text(enum box_end e);

struct box_result {
	uint64_t job; /* as box_submit() numbered it */
	enum box_end end;
	int status;
	bool early; /* pair: the program's process ended first; end and status are its own */
	int64_t cpu_ns, wall_ns, queue_ns, mem_bytes;
	struct str out[BOX_CHANNELS]; /* stdout, stderr and descriptor 3, each up to its cap */
	char why[232];                /* BOX_FAILED */
	void *own;                    /* memory of out */
};

void box_result_done(struct box_result *r);

struct box_config {
	enum box_tier tier; /* BOX_AUTO: the best there is, never BOX_NONE */
	int slots;          /* jobs that run at the same time, 1..256 */
	const char *boxd; /* path of cupel-boxd, or NULL: beside the program, or where installed */
	/* Copied. What lies outside the system's folders is shown in the boxes, read-only: the
	 * folder above the one of argv[0], and the one to which its links lead.
	 */
	struct box_zygote zygote[BOX_MAX_ZYGOTES];
	int n_zygotes;
};

struct box;

/* Fails (ERR_DENIED) if the tier asked for is not to be had: untrusted code is not run then. */
int box_open(const struct box_config *cfg, struct box **ret, struct err *e);
void box_close(struct box *b); /* kills what runs; leaves no process, mount, file or cgroup */

enum box_tier box_tier(const struct box *b);
const char *box_missing(const struct box *b); /* what the next better tier needs, or "" */
const char *box_about(const struct box *b);   /* for people: what the server found on the machine */

/* Queue a job; returns at once unless 4 * slots jobs wait already, then blocks. */
int box_submit(struct box *b, const struct box_plan *plan, uint64_t *ret_job, struct err *e);

/* The next finished job. timeout_ns < 0: wait for ever. 1 a result, 0 nothing within the time or
 * nothing submitted. Free it with box_result_done().
 */
int box_wait(struct box *b, int64_t timeout_ns, struct box_result *ret, struct err *e);

void box_plan_print(const struct box_plan *plan, FILE *f); /* for people and tests */

#endif
