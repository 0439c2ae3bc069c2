/* boxd.h - what the files of cupel-boxd share. boxd.c tells the theory of operation. */
#ifndef BOX_BOXD_H
#define BOX_BOXD_H

#include "base/err.h"
#include "box/box.h"
#include "box/box_wire.h"

#include <limits.h>
#include <linux/filter.h>
#include <stdatomic.h>
#include <sys/types.h>

enum {
	CG_MAX = 4,          /* hierarchies of cgroup v1 that we use */
	KEEPER_SOCK = 4,     /* descriptors of a keeper and of an init */
	KEEPER_CPU = 5,      /* CPU time of the slot, -1 without cgroups */
	KEEPER_FREE = 6,     /* the first number that is free in a keeper */
	HOST_ID = 200000,    /* host ids of slots, where that range is mapped */
	HOST_ID_LOW = 60000, /* else, inside containers with 65536 ids */
	BOX_ID = 1000,       /* id of slot 0 as a program sees it */
	POLL_MS = 10,        /* between two looks at the processes of a box without cgroup */
	START_S = 30,        /* a box that has not started its program by then has failed */
	WHY = 232,
	KEEPER_TRIES = 3, /* then a slot is given up */
	SLOT_PATH = 96,   /* bytes for the name of a slot's folder, where it has one */
};

/* What a process that is about to belong to a program keeps and loses. */
struct rights {
	uint32_t id;      /* its user id, if slot_ids */
	uint8_t slot_ids; /* each slot has its own */
	uint8_t polls;    /* no cgroup limits memory and processes */
	uint8_t no_proc, none;
	uint8_t ours;       /* processes of ours that RLIMIT_NPROC counts */
	uint8_t landlock;   /* its version; 0: another tier */
	uint32_t max_tasks; /* of the whole user; 0: only processes of the slot have its id */
};

/* Control files of one slot's cgroup, opened before the host's file system is out of sight. */
struct cg_slot {
	int procs[CG_MAX]; /* cgroup.procs of each hierarchy */
	int mem_limit, mem_swap, mem_peak, mem_now, mem_events, pids_max, cpu;
	int oom_event; /* version 1: an eventfd; version 2: mem_events itself; -1: none */
	int64_t mem_set, pids_set; /* as written last */
	int64_t oom_kills;         /* as read last */
	int64_t peak_before; /* where the peak cannot be reset (version 2 before Linux 6.12) */
	bool peak_resets;
};

/* What of ours is in a slot's cgroup beside a program. */
struct idle {
	int64_t bytes;
	int procs;
};

struct cgroups {
	int version; /* 0: none */
	int home;    /* version 2: our cgroup, if its processes had to move down; 0: they had not */
	int n_dirs;
	struct {
		int parent, dir;
		char name[48];
	} dir[CG_MAX];
	int n_slots;
	struct cg_slot *slot;
};

/* Shared memory of boxd, keeper and init of a slot; the payload unmaps it by its exec. */
struct slot_page {
	_Atomic int64_t start_ns; /* CLOCK_MONOTONIC just before the exec; 0: not yet */
	_Atomic int64_t end_ns;   /* the payload was gone; 0: not seen */
	_Atomic int64_t cpu_base_ns, cpu_end_ns;
	/* of a zygote's job: the same by the cgroup, which misses no process but counts ticks */
	_Atomic int64_t cg_base_ns, cg_end_ns;
	_Atomic int64_t peak_bytes;
	_Atomic int status; /* of the payload, as wait() gives it; valid if end_ns */
	_Atomic int early;  /* pair: the program's process ended first */
	_Atomic int over;   /* limit that init saw crossed: enum box_end, or 0 */
	_Atomic int failed; /* 'why' holds a fault of ours */
	_Atomic int no_proc;
	char why[WHY];
};

/* boxd -> keeper, with WIRE_MAX_FDS descriptors: plan, stdin, and the writing ends of three pipes
 */
struct keeper_job {
	struct box_limits limits;
};

enum keeper_say { KEEPER_READY = 1, KEEPER_BORN /* with the pidfd of init */, KEEPER_GONE };

struct keeper_msg {
	int32_t say, status; /* GONE: wait status of init */
};

struct channel {
	int rd;    /* -1: closed */
	int memfd; /* -1: all is in 'small' */
	size_t n;  /* bytes kept */
	char small[WIRE_INLINE / BOX_CHANNELS];
};

enum zygote_state { ZYGOTE_DEAD, ZYGOTE_STARTING, ZYGOTE_IDLE, ZYGOTE_ENDING };

struct zygote {
	enum zygote_state state;
	pid_t pid;
	int fd, sock, log; /* pidfd, socket, its stderr; -1 */
	int jobs;
	int64_t base_bytes; /* memory of the slot while nothing runs; 0: not known yet */
};

enum slot_state { SLOT_DEAD, SLOT_STARTING, SLOT_IDLE, SLOT_RUNNING };

struct slot {
	int index;
	enum slot_state state;
	pid_t keeper;
	int keeper_fd, sock, init_fd; /* pidfd, socket, pidfd; -1 */
	int failures;                 /* of keepers that never became ready, in a row */
	struct slot_page *page;
	int page_fd;
	struct zygote zygote[BOX_MAX_ZYGOTES];
	struct wire_job job;      /* RUNNING */
	uint64_t program;         /* of the last job */
	int64_t sent_ns, next_ns; /* when the job was sent; when to look at its limits */
	enum box_end killed_for;  /* BOX_EXITED: not killed by us */
	bool kill;                /* as soon as its pidfd is here */
	bool gone;                /* the box has ended: results may be read */
	int init_status;
	char why[WHY];
	struct channel out[BOX_CHANNELS];
};

struct server {
	enum box_tier tier;
	int n_slots;
	int sock, epfd, parent_fd; /* parent_fd: pidfd of the caller */
	bool root;                 /* started with uid 0 */
	bool userns;               /* has its own user namespace */
	bool slot_ids;             /* each slot has its own uid */
	bool nest;                 /* each box has its own user namespace: counts processes apart */
	bool polls;                /* init looks after memory and CPU time: no cgroups */
	bool no_proc;              /* a box gets no /proc of its own */
	int landlock;              /* tier landlock: version of its interface; else 0 */
	uint32_t first_id;         /* of slots without user namespace */
	int cpus;
	struct cgroups cg;
	struct sock_fprog filter, zygote_filter;
	struct sock_fprog more_filter; /* tier landlock: beside them */
	struct box_zygote zygote[BOX_MAX_ZYGOTES];
	int n_zygotes;
	struct slot *slot;
	char missing[512], about[512];
	char tmp[64]; /* folder of the boxes, in tiers without namespaces */
	int tmp_fd;   /* locked, so that no other server removes it */
};

/* Tiers landlock and none: one PID namespace, and files, for all. */
static inline bool no_spaces(const struct server *s)
{
	return s->tier >= BOX_LANDLOCK;
}

/* Its user id as the server sees it, if slots have ids. */
static inline uint32_t slot_id(const struct server *s, const struct slot *sl)
{
	return (s->userns ? (uint32_t)BOX_ID : s->first_id) + (uint32_t)sl->index;
}

/* boxd_cgroup_tree.c: makes the server's folders; at[]: the one with memory, pids, CPU time. */
int cg_make(struct cgroups *cg, int at[CG_MAX], struct err *e);
void cg_close(struct cgroups *cg);
int cg_write(int dir, const char *name, const char *text); /* 0 or -1 and errno */

/* boxd_cgroup.c. ERR_DENIED: there is none that we may use. */
int cg_open(struct cgroups *cg, int slots, struct err *e);
int cg_join(const struct cg_slot *c); /* moves the calling process; -1 and errno */
int cg_prepare(struct cg_slot *c, const struct box_limits *l, const struct idle *idle,
               struct err *e);
int64_t cg_now(const struct cg_slot *c);  /* bytes in use */
int64_t cg_peak(const struct cg_slot *c); /* bytes, or 0 if not known */
bool cg_oom(struct cg_slot *c);           /* killed for memory since the last call */
bool cg_oom_event(struct cg_slot *c);     /* the same, when oom_event has become ready */

/* boxd_ns.c: user namespace, other namespaces, then a root that holds only what a box may see. */
int ns_enter(struct server *s, struct err *e);
int ns_make_root(const struct server *s, struct err *e);
/* Are host ids first..first+n-1 mapped in the namespace that we are in? */
bool ids_are_mapped(unsigned first, unsigned n);
/* Folders beside the system's that an interpreter needs: of its name and of what its links lead
 * to; "" for none.
 */
int ns_prefixes(const char *path, char ret[2][PATH_MAX], struct err *e);

/* boxd_none.c: fills s->tmp. */
int none_open(struct server *s, struct err *e);
void none_close(struct server *s);

/* boxd_landlock.c */
int landlock_open(struct server *s, struct err *e);
int landlock_version(void); /* 0: none */
/* A set of rules for programs or zygotes of a slot: a descriptor, or an error. */
int landlock_rules(const struct server *s, const struct slot *sl, bool zygote, struct err *e);
void landlock_folder(const struct server *s, const struct slot *sl, char path[SLOT_PATH]);
uint32_t landlock_tasks(const struct server *s, int procs);
/* Kills what zygotes and inits that were killed have left to the server. */
void landlock_strays(const struct server *s);

/* boxd_landlock_filter.c: what Landlock leaves open, beside the other filter. */
int landlock_filter_make(int version, struct sock_fprog *ret, struct err *e);

/* boxd_enclose.c: into one more layer of Landlock, and a filter for it. rules: a set of them. */
bool enclose(const struct rights *r, int rules);
bool enclose_zygote(const struct rights *r, int rules); /* without the filter */

/* boxd_tree.c: descendants, where they have no namespace of their own. */
/* Kills and reaps all children but those that are known, and their descendants; returns the CPU
 * time of the children. known may be NULL.
 */
int64_t tree_kill(bool (*known)(pid_t pid, const void *arg), const void *arg);
/* As meter_over(), with processes and the folder as well. skip: a child that does not count, or 0.
 */
bool tree_over(struct slot_page *p, const struct box_limits *l, int64_t reaped_ns, int folder,
               pid_t skip);

/* boxd_clean.c: removes everything in a folder. */
bool clean_dir(int dir);

/* boxd_filter.c: the system-call filter as BPF. */
enum filter_ipc { FILTER_ALL_IPC, FILTER_NO_SHM, FILTER_NO_IPC };
int filter_make(enum filter_ipc ipc, struct sock_fprog *ret, struct err *e);

/* boxd_keeper.c: starts the keeper of a slot; it answers KEEPER_READY. */
int keeper_start(const struct server *s, struct slot *sl, struct err *e);

/* boxd_init.c: PID 1 of a box. With job == NULL it only tries to set up a box. */
_Noreturn void init_main(const struct server *s, const struct slot *sl,
                         const struct keeper_job *job, const int fd[WIRE_MAX_FDS]);
/* The first steps of an init or a zygote: its namespaces and folders. Does not return on failure.
 */
void box_set_up(const struct server *s, const struct slot *sl, int64_t disk_bytes, bool zygote);
/* Says in the page why a box failed. */
void page_fail(struct slot_page *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* boxd_mount.c: the private file systems of one box; false: said in the page. */
bool mount_box(const struct server *s, const struct slot *sl, int64_t disk_bytes, bool zygote);

/* boxd_payload.c: the process that becomes the program. */
_Noreturn void payload_main(const struct server *s, const struct slot *sl,
                            const struct box_limits *l, const struct box_plan *plan,
                            const int fd[WIRE_MAX_FDS]);

void make_env(const struct server *s, const char *const *own, char **env, char *home, size_t room);
struct rights server_rights(const struct server *s, const struct slot *sl);

/* boxd_rights.c; false and errno */
bool rights_limit(const struct rights *r, const struct box_limits *l);
bool rights_drop(const struct rights *r);
/* No program that is executed from here gains a capability but those of the mask. */
void drop_bounding_set(uint64_t keep);

/* boxd_zygote.c: the zygotes of a slot, as the server sees them. */
/* Once, into the root that boxes share and that is now at 'root'. */
int zygote_files(const struct server *s, const char *root, struct err *e);
int zygote_start_job(struct server *s, struct slot *sl, const int fd[WIRE_MAX_FDS], struct err *e);
void zygote_hear(struct server *s, struct slot *sl, int k);
void zygote_died(struct server *s, struct slot *sl, int k);
/* Started in the first slot and awaited: whatever is wrong with the interpreter shows now. */
int zygote_try(struct server *s, int k, struct err *e);

/* boxd_meter.c: what init or a zygote sees of the processes of its box, through their own /proc.
 * True: a limit was crossed, as the page says. reaped_ns: CPU time of those that are gone.
 */
bool meter_over(struct slot_page *p, const struct box_limits *l, int64_t reaped_ns);
int64_t cg_cpu_ns(int fd); /* of a cgroup */

/* boxd_reap.c */
struct rusage;
int64_t rusage_ns(const struct rusage *ru);
int64_t children_ns(void); /* CPU time of all that were waited for */
int64_t reap_all(void);    /* in a PID namespace of which we are the init; returns CPU time */

/* boxd_slot.c: the life of a job in a slot. */
int slot_start(struct server *s, struct slot *sl, const struct wire_job *job, int plan, int in,
               struct err *e);
void slot_hear(struct server *s, struct slot *sl, bool wait);     /* a message of its keeper */
void slot_read(struct server *s, struct slot *sl, int ch);        /* output of the program */
void slot_watch(struct server *s, struct slot *sl, int64_t now);  /* limits of time */
int slot_limit(struct server *s, struct slot *sl, struct err *e); /* into the cgroup */
void slot_oom(struct server *s, struct slot *sl);
void slot_keeper_died(struct server *s, struct slot *sl);
/* Of a job that is 'gone': fills head and takes the outputs; the slot is idle then. */
void slot_result(struct server *s, struct slot *sl, struct wire_result *ret,
                 char small[WIRE_INLINE], size_t *ret_small, int fd[BOX_CHANNELS]);
void slot_end(struct slot *sl);                               /* kills keeper, zygotes and box */
void box_gone(struct server *s, struct slot *sl, int status); /* what runs has ended */

/* boxd_queue.c */
struct waiting {
	struct wire_job job;
	int plan, in;
};
int queue_open(int slots, struct err *e);
bool queue_is_empty(void);
bool queue_put(const struct waiting *w); /* false: full */
/* The oldest job, but one of the program that the slot knows before others, if that does not let
 * the oldest wait for long. Not empty.
 */
struct waiting queue_take(uint64_t program);
/* Closes the descriptors. False: no memory to keep a result that the socket does not take now. */
bool result_send(const struct server *s, const void *msg, size_t n, const int *fd, int n_fd);
void result_send_held(const struct server *s); /* when the socket can be written to */

/* Events of the epoll set. */
enum event { EV_CALLER, EV_PARENT, EV_SLOT, EV_KEEPER, EV_OUT, EV_OOM, EV_ZYGOTE, EV_ZYGOTE_END };
int event_add(const struct server *s, int fd, enum event ev, int slot, int ch);
/* The process of a pidfd has ended. An event alone does not prove it: a child that has not yet
 * executed its program holds copies of our descriptors, and keeps closed ones in the epoll set.
 */
bool has_ended(int pidfd);

#endif
