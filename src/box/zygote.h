/* zygote.h - what cupel-boxd and the library in its zygotes (zygote.c) say to each other, over a
 * SOCK_SEQPACKET socket for each zygote.
 *
 *	zygote -> boxd	ZYGOTE_READY once: what is worth loading is loaded
 *	boxd -> zygote	struct zygote_job with the descriptors of enum zygote_fd
 *	zygote -> boxd	ZYGOTE_DONE: every process of the job is dead; the page says the rest
 *
 * The slot's page, which both have mapped, holds the times, the status and the reason of a failure.
 * boxd ends a job early by SIGUSR1 to the zygote, and the zygote itself if that does not help.
 */
#ifndef BOX_ZYGOTE_H
#define BOX_ZYGOTE_H

#include "box/boxd.h"

#include <stdint.h>

/* Descriptors of a zygote: high numbers, which an interpreter leaves alone. */
enum {
	ZYGOTE_SOCK = 240,
	ZYGOTE_PAGE,
	ZYGOTE_CPU,      /* CPU time of the slot's cgroup, or closed */
	ZYGOTE_LAST_PID, /* /proc/sys/kernel/ns_last_pid, or closed */
	ZYGOTE_RULES,    /* tier landlock: those of a process of a job */
	ZYGOTE_PARTS,    /* number of folders below, one descriptor each */
	ZYGOTE_MAX_PARTS = 3,
};

/* What getppid() returns in a process of a job. */
enum zygote_role { ZYGOTE_ALONE, ZYGOTE_TRUSTED, ZYGOTE_PROGRAM };

/* Descriptors of such a process beside 0, 1, 2; those in brackets only in a pair. */
enum zygote_fd {
	JOB_RESULTS = 3, /* channel 2; of the trusted process, in a pair */
	JOB_SPEC,        /* sealed: read it with pread() */
	JOB_PEER,        /* (trusted) socket to the program's process */
	JOB_TRUSTED,     /* (program) the other end */
	JOB_CODE,        /* kept for the program: what the boot file may want to know again */
	JOB_FREE,        /* the first number that is free */
};

enum zygote_say { ZYGOTE_READY = 1, ZYGOTE_DONE };

struct zygote_msg {
	int32_t say;
};

/* With five descriptors: plan, stdin, and the writing ends of three pipes. */
struct zygote_job {
	struct box_limits limits;
	uint64_t program;
	struct rights rights;
	uint32_t trusted_id; /* user id of the trusted process of a pair */
	uint8_t pair;
};

/* In the library; its files are zygote*.c. */

/* What a process of a job gets; -1: nothing. */
struct child_fds {
	int in, out[BOX_CHANNELS], spec, peer, code, null;
};

/* zygote_child.c: the steps after the fork and before the process belongs to the program. Does not
 * return if one fails: the page says why.
 */
void child_become(const struct zygote_job *job, enum zygote_role role, struct slot_page *page,
                  const struct child_fds *fds);

#endif
