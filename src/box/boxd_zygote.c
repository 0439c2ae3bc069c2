/* boxd_zygote.c - the zygotes of a slot, as the server sees them. zygote.c tells what they do.
 *
 * A zygote is a child of the server, PID 1 of its own PID, mount, IPC and network namespaces, in
 * the cgroup of its slot. It is started when the first job asks for it and gets its job at once:
 * the message waits in the socket until the interpreter is warm. A cold job has a zygote of its
 * own, which ends with it.
 *
 * It is replaced when it dies, when it does not end a job within STOP_S, and when the memory of
 * its slot has grown by more than GROWN while nothing runs.
 */
#include "box/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"

enum { LOOK_JOBS = 256, LOG_TAIL = 160 };

#define GROWN  ((int64_t)64 << 20)
#define FOLDER "/cupel"
#define KEEP_CAPS                                                                                  \
	(1ull << 0 /* CHOWN */ | 1ull << 1 /* DAC_OVERRIDE */ | 1ull << 3 /* FOWNER */ |           \
	 1ull << 5 /* KILL */ | 1ull << 6 /* SETGID */ | 1ull << 7 /* SETUID */ |                  \
	 1ull << 8 /* SETPCAP: of its own bounding set */ |                                        \
	 1ull << 40 /* CHECKPOINT_RESTORE: PIDs */)

/* The library, built into this program. */
__asm__(".pushsection .rodata\n"
        "zygote_so: .incbin \"" ZYGOTE_SO "\"\n"
        "zygote_so_end: .byte 0\n"
        ".popsection\n");
extern const char zygote_so[], zygote_so_end[];

static void name_file(const struct server *s, int k, char path[128])
{
	const char *dir = no_spaces(s) ? s->tmp : FOLDER, *sub = s->landlock ? "/lib" : "";

	if (k < 0)
		(void)snprintf(path, 128, "%s%s/zygote.so", dir, sub);
	else
		(void)snprintf(path, 128, "%s%s/boot-%d", dir, sub, k + 1);
}

static int put_file(const char *root, const char *path, struct str text, struct err *e)
{
	char to[256];
	AUTO_FD int fd = -1;

	(void)snprintf(to, sizeof to, "%s%s", root, path);
	fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return FAIL(e, ERR_DENIED, "%s: %s", to, strerror(errno));
	return io_write(fd, text.p, text.n, e);
}

int zygote_files(const struct server *s, const char *root, struct err *e)
{
	struct str so = { zygote_so, (size_t)(zygote_so_end - zygote_so) };
	char path[128];
	int r;

	if (s->n_zygotes == 0)
		return 0;
	if (!no_spaces(s)) {
		(void)snprintf(path, sizeof path, "%s" FOLDER, root);
		if (mkdir(path, 0755) < 0)
			return FAIL(e, ERR_DENIED, "mkdir %s: %s", path, strerror(errno));
	}
	name_file(s, -1, path);
	r = put_file(root, path, so, e);
	for (int k = 0; r == 0 && k < s->n_zygotes; k++) {
		name_file(s, k, path);
		r = put_file(root, path, s->zygote[k].boot, e);
	}
	return r;
}

/* --- in the new process --- */

static _Noreturn void die(const struct slot *sl, const char *what)
{
	page_fail(sl->page, "start zygote: %s: %s", what, strerror(errno));
	_exit(1);
}

/* Everything that it needs has a high number already, so nothing is overwritten. */
static void set_fds(const struct server *s, const struct slot *sl, int sock, int log, int rules)
{
	static const char *const folder[] = { "/box", "/tmp", "/dev/shm" };
	int cpu = s->cg.version ? s->cg.slot[sl->index].cpu : -1;
	int last = no_spaces(s) ? -1 : open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	int from[] = { sock, sl->page_fd, cpu, last, rules };
	int hi[5], log_fd = fcntl(log, F_DUPFD, 300), n = no_spaces(s) ? 1 : 3;

	for (int i = 0; i < 5; i++) {
		hi[i] = from[i] < 0 ? -1 : fcntl(from[i], F_DUPFD, 300);
		if (from[i] >= 0 && hi[i] < 0)
			die(sl, "descriptors");
	}
	for (int i = 0; i < 5; i++) {
		(void)close(ZYGOTE_SOCK + i);
		if (hi[i] >= 0 && dup2(hi[i], ZYGOTE_SOCK + i) < 0)
			die(sl, "descriptors");
	}
	for (int i = 0; i < n; i++) {
		int fd = open(n == 1 ? "." : folder[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0 || dup2(fd, ZYGOTE_PARTS + i) < 0)
			die(sl, folder[i]);
	}
	if (log_fd < 0 || dup2(log_fd, 2) < 0)
		die(sl, "descriptors");
	if (syscall(SYS_close_range, 3, ZYGOTE_SOCK - 1, 0) < 0 ||
	    syscall(SYS_close_range, ZYGOTE_PARTS + n, ~0U, 0) < 0)
		die(sl, "close_range (needs Linux 5.11)");
}

/* An interpreter that runs as another user than 0 keeps rights over its start only as ambient. */
static void keep_rights(const struct server *s)
{
	struct __user_cap_header_struct {
		uint32_t version;
		int pid;
	} head = { 0x20080522, 0 };
	uint32_t lo = (uint32_t)KEEP_CAPS, hi = (uint32_t)(KEEP_CAPS >> 32);
	uint32_t set[6] = { lo, lo, lo, hi, hi, hi };

	/* SYS_PTRACE, which Landlock bounds: to read the memory maps of programs of another id */
	drop_bounding_set(KEEP_CAPS | (s->landlock ? 1ull << 19 : 0));
	if (!s->nest)
		return;
	(void)syscall(SYS_capset, &head, set);
	for (int i = 0; i < 64; i++)
		if (KEEP_CAPS >> i & 1)
			(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0);
}

static _Noreturn void zygote_main(const struct server *s, struct slot *sl, int k, int sock,
                                  bool cold)
{
	const struct box_zygote *zy = &s->zygote[k];
	const char *own[BOX_MAX_ARGS + 4];
	char home[2 * SLOT_PATH + 16], parts[32], preload[160], path[128], boot[128];
	char *env[2 * BOX_MAX_ARGS], *argv[2 * BOX_MAX_ARGS + 1];
	struct rights r = server_rights(s, sl);
	int n = 0, rules = -1, own_rules = -1;
	struct err e = { 0 };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		die(sl, "prctl");
	if (s->cg.version && cg_join(&s->cg.slot[sl->index]) < 0)
		die(sl, "join cgroup");
	if (!no_spaces(s))
		(void)unshare(CLONE_NEWCGROUP); /* only hides a path */
	box_set_up(s, sl, zy->disk_bytes, true);
	if (s->landlock && ((rules = landlock_rules(s, sl, false, &e)) < 0 ||
	                    (own_rules = landlock_rules(s, sl, true, &e)) < 0)) {
		page_fail(sl->page, "start zygote: %s", e.msg);
		_exit(1);
	}
	if (s->landlock && !enclose_zygote(&r, own_rules))
		die(sl, "Landlock");
	set_fds(s, sl, sock, sl->zygote[k].log, rules);
	name_file(s, -1, path);
	(void)snprintf(preload, sizeof preload, "LD_PRELOAD=%s", path);
	(void)snprintf(parts, sizeof parts, "CUPEL_ZYGOTE=%d", no_spaces(s) ? 1 : 3);
	for (n = 0; zy->env[n]; n++)
		own[n] = zy->env[n];
	own[n++] = preload;
	own[n++] = parts;
	if (cold)
		own[n++] = "CUPEL_COLD=1";
	own[n] = NULL;
	make_env(s, own, env, home, sizeof home);
	for (n = 0; zy->argv[n]; n++)
		argv[n] = (char *)(uintptr_t)zy->argv[n];
	name_file(s, k, boot);
	argv[n++] = boot;
	for (int i = 0; zy->args[i]; i++)
		argv[n++] = (char *)(uintptr_t)zy->args[i];
	argv[n] = NULL;
	if (s->tier != BOX_NONE)
		keep_rights(s);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die(sl, "no_new_privs");
	if (s->zygote_filter.len &&
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &s->zygote_filter) < 0)
		die(sl, "system-call filter");
	if (s->landlock && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &s->more_filter) < 0)
		die(sl, "system-call filter");
	(void)execve(argv[0], argv, env);
	die(sl, argv[0]);
}

/* --- in the server --- */

static void reset(struct zygote *zy)
{
	auto_close(&zy->fd);
	auto_close(&zy->sock);
	auto_close(&zy->log);
	zy->fd = zy->sock = zy->log = -1;
	zy->state = ZYGOTE_DEAD;
	zy->base_bytes = 0;
	zy->jobs = 0;
}

static int start(struct server *s, struct slot *sl, int k, bool cold, struct err *e)
{
	struct zygote *zy = &sl->zygote[k];
	unsigned long flags = CLONE_PIDFD | SIGCHLD;
	int pair[2];
	pid_t pid;

	reset(zy);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return FAIL(e, ERR_SYS, "socketpair: %s", strerror(errno));
	zy->log = memfd_create("log", MFD_CLOEXEC);
	if (!no_spaces(s))
		flags |= CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET |
		         (s->nest ? CLONE_NEWUSER : 0);
	pid = (pid_t)syscall(SYS_clone, flags, NULL, &zy->fd, NULL, 0);
	if (pid == 0)
		zygote_main(s, sl, k, pair[1], cold);
	(void)close(pair[1]);
	zy->sock = pair[0];
	zy->pid = pid;
	if (pid < 0) {
		zy->fd = -1;
		reset(zy);
		return FAIL(e, ERR_SYS, "start zygote: %s", strerror(errno));
	}
	zy->state = ZYGOTE_STARTING;
	if (event_add(s, zy->sock, EV_ZYGOTE, sl->index, k) < 0 ||
	    event_add(s, zy->fd, EV_ZYGOTE_END, sl->index, k) < 0)
		return FAIL(e, ERR_SYS, "epoll: %s", strerror(errno));
	return 0;
}

static void kill_zygote(const struct zygote *zy)
{
	(void)syscall(SYS_pidfd_send_signal, zy->fd, SIGKILL, NULL, 0);
}

static void bury(struct zygote *zy)
{
	siginfo_t si;

	while (waitid((idtype_t)P_PIDFD, (id_t)zy->fd, &si, WEXITED) < 0 && errno == EINTR)
		continue;
	reset(zy);
}

/* The last line that it wrote to stderr before it died. */
static void last_words(const struct zygote *zy, char *ret, size_t room)
{
	char text[LOG_TAIL + 1], *line;
	off_t end = zy->log < 0 ? 0 : lseek(zy->log, 0, SEEK_END);
	ssize_t n = pread(zy->log, text, LOG_TAIL, end > LOG_TAIL ? end - LOG_TAIL : 0);

	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n > 0 ? n : 0] = 0;
	line = strrchr(text, '\n');
	(void)snprintf(ret, room, "%s", line ? line + 1 : text);
}

static void grow_limits(struct server *s, struct slot *sl, struct zygote *zy)
{
	struct err e;

	zy->base_bytes = s->cg.version ? cg_now(&s->cg.slot[sl->index]) : 0;
	if (s->cg.version && sl->state == SLOT_RUNNING)
		(void)slot_limit(s, sl, &e);
}

int zygote_start_job(struct server *s, struct slot *sl, const int fd[WIRE_MAX_FDS], struct err *e)
{
	const struct wire_job *job = &sl->job;
	int k = job->zygote - 1, r = 0;
	struct zygote *zy = &sl->zygote[k];
	struct zygote_job z = { .limits = job->limits,
		                .program = job->program,
		                .rights = server_rights(s, sl),
		                .pair = job->pair };

	if (zy->state == ZYGOTE_ENDING || (job->cold && zy->state != ZYGOTE_DEAD)) {
		kill_zygote(zy);
		bury(zy);
	}
	if (zy->state == ZYGOTE_DEAD)
		r = start(s, sl, k, job->cold, e);
	if (r < 0)
		return r;
	z.limits.disk_bytes = s->zygote[k].disk_bytes;
	z.trusted_id = z.rights.id + (uint32_t)s->n_slots;
	z.rights.ours = (uint8_t)(s->nest ? 1 + job->pair : 0);
	if (s->landlock && !s->slot_ids)
		z.rights.max_tasks = landlock_tasks(s, job->limits.procs);
	r = slot_limit(s, sl, e);
	if (r == 0 && box_wire_send(zy->sock, &z, sizeof z, fd, WIRE_MAX_FDS, 0) < 0)
		r = FAIL(e, ERR_SYS, "zygote: %s", strerror(errno));
	return r;
}

static void look_at_growth(const struct server *s, const struct slot *sl, struct zygote *zy)
{
	if (++zy->jobs % LOOK_JOBS || !s->cg.version)
		return;
	if (cg_now(&s->cg.slot[sl->index]) > zy->base_bytes + GROWN) {
		zy->state = ZYGOTE_ENDING;
		kill_zygote(zy);
	}
}

void zygote_hear(struct server *s, struct slot *sl, int k)
{
	struct zygote *zy = &sl->zygote[k];
	struct zygote_msg m = { 0 };
	int fd[WIRE_MAX_FDS];

	if (zy->sock < 0 || box_wire_recv(zy->sock, &m, sizeof m, fd, MSG_DONTWAIT) != sizeof m)
		return; /* its end is another event */
	if (m.say == ZYGOTE_READY) {
		zy->state = ZYGOTE_IDLE;
		grow_limits(s, sl, zy);
		return;
	}
	if (sl->job.cold) {
		zy->state = ZYGOTE_ENDING;
		kill_zygote(zy); /* its end is the job's */
		return;
	}
	look_at_growth(s, sl, zy);
	box_gone(s, sl, 0);
}

void zygote_died(struct server *s, struct slot *sl, int k)
{
	struct zygote *zy = &sl->zygote[k];
	bool mine = sl->state == SLOT_RUNNING && sl->job.zygote == k + 1 && !sl->gone;
	char words[LOG_TAIL + 1];

	if (zy->fd < 0 || !has_ended(zy->fd))
		return; /* heard of already */
	if (mine && zy->state != ZYGOTE_ENDING && !sl->page->failed && !sl->kill) {
		last_words(zy, words, sizeof words);
		(void)snprintf(sl->why, sizeof sl->why, "the zygote of slot %d died%s%s", sl->index,
		               *words ? ": " : "", words);
	}
	bury(zy);
	landlock_strays(s);
	if (mine)
		box_gone(s, sl, 0);
}

int zygote_try(struct server *s, int k, struct err *e)
{
	struct slot *sl = &s->slot[0];
	struct zygote *zy = &sl->zygote[k];
	struct zygote_msg m;
	int fd[WIRE_MAX_FDS], r = start(s, sl, k, false, e);
	char words[LOG_TAIL + 1];

	if (r < 0)
		return r;
	if (box_wire_recv(zy->sock, &m, sizeof m, fd, 0) == sizeof m) {
		zy->state = ZYGOTE_IDLE;
		grow_limits(s, sl, zy);
		return 0;
	}
	last_words(zy, words, sizeof words);
	bury(zy);
	if (sl->page->failed)
		return FAIL(e, ERR_DENIED, "%s", sl->page->why);
	return FAIL(e, ERR_DENIED, "%s does not start in a box%s%s", s->zygote[k].argv[0],
	            *words ? ": " : "", words);
}
