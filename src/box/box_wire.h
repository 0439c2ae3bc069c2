/* box_wire.h - what box.c and cupel-boxd say to each other over their SOCK_SEQPACKET socket.
 *
 *	box.c -> cupel-boxd	WIRE_SETUP once, with a descriptor: the zygotes (memfd)
 *	cupel-boxd -> box.c	WIRE_HELLO once, then one WIRE_RESULT for each job, any order
 *	box.c -> cupel-boxd	WIRE_JOB with two descriptors: plan (memfd), stdin (sealed memfd)
 *
 * Both ends come from one build and trust each other; the version only catches a stale program.
 * A plan travels as a blob: argv, env, spec and files as counted texts, each followed by a NUL, so
 * that a reader points into the blob and copies nothing. The blob is checked all the same: the
 *reader is the process that holds rights.
 */
#ifndef BOX_BOX_WIRE_H
#define BOX_BOX_WIRE_H

#include "base/buf.h"
#include "base/err.h"
#include "box/box.h"

#include <sys/types.h>

enum {
	WIRE_VERSION = 2,
	WIRE_SOCK = 3,           /* the descriptor at which cupel-boxd finds its socket */
	WIRE_MAX_SLOTS = 256,    /* of one server */
	WIRE_INLINE = 32 << 10,  /* outputs up to here travel in the message */
	WIRE_MAX_FDS = 5,        /* descriptors of one message */
	WIRE_PLAN_MAX = 1 << 28, /* bytes of argv, env and files */
};

enum wire_type { WIRE_HELLO = 1, WIRE_JOB, WIRE_RESULT, WIRE_SETUP };

struct wire_setup {
	uint32_t type, n_zygotes;
};

struct wire_hello {
	uint32_t type, version;
	int32_t code; /* 0, or why there is no box: an ERR_* */
	int32_t tier; /* enum box_tier; BOX_AUTO: code says why none could be had */
	int32_t slots;
	char why[232];     /* code != 0 */
	char missing[512]; /* what the next better tier needs */
	char about[512];   /* for people: what this server found on the machine */
};

struct wire_job {
	uint32_t type;
	uint8_t zygote, cold, pair, reserved;
	uint64_t job, program;
	int64_t submitted_ns; /* CLOCK_MONOTONIC */
	struct box_limits limits;
};

/* Followed by the outputs that are not in a descriptor, in order. */
struct wire_result {
	uint32_t type, end;
	uint64_t job;
	int32_t status;
	uint16_t fd_mask; /* channels that travel as a memfd, lowest first */
	uint16_t early;
	int64_t cpu_ns, wall_ns, queue_ns, mem_bytes;
	uint64_t n_out[BOX_CHANNELS];
	char why[232];
};

/* One message; flags as for sendmsg(). -1 and errno on failure. */
ssize_t box_wire_send(int sock, const void *msg, size_t n, const int *fd, int n_fd, int flags);

/* One message, its descriptors CLOEXEC; unused places of fd are -1. 0 at the end. A message that
 * does not fit fails with EMSGSIZE, and its descriptors are closed.
 */
ssize_t box_wire_recv(int sock, void *msg, size_t n, int fd[WIRE_MAX_FDS], int flags);

/* Refuses what no box could run: no argv, a file name with '/', a limit that is not set. */
int box_wire_check(const struct box_plan *plan, struct err *e);

void box_wire_put_plan(struct buf *b, const struct box_plan *plan);

void box_wire_put_zygotes(struct buf *b, const struct box_zygote *z, int n);
int box_wire_get_zygotes(struct str blob, struct box_zygote *ret, int n, struct err *e);

/* argv, env, spec and files of *ret point into the blob. */
int box_wire_get_plan(struct str blob, struct box_plan *ret, struct err *e);

/* A memfd that holds text and cannot be changed any more; read position 0. */
int box_wire_memfd(const char *name, struct str text, int *ret_fd, struct err *e);

#endif
