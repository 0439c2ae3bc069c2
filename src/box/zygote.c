/* zygote.c - a library that cupel-boxd preloads into an interpreter and that makes a zygote of it:
 * getppid(), called once all is loaded, returns once for each job, each time in a new process.
 *
 * THEORY OF OPERATION
 *
 *	boxd ==socket== zygote (PID 1 of the slot's namespaces; a warm interpreter)
 *	                  |
 *	                  '-- fork for each job: limits, user id, no rights; then getppid() returns
 *in it
 *
 * Why getppid(): every interpreter has it and calls straight through to the C library; os.fork()
 * of Python would run the hooks of threading and random in every child, at 140 page faults each.
 *
 * The zygote is the init of its PID namespace: nothing in there can signal it, orphans come to it,
 * kill(-1) reaches all others and nobody else, and its own end is the end of them all. It is not
 * dumpable, has no more rights than it needs to give them up and to clean, and the program's filter
 * holds for it too. It never reads what a program wrote, and its memory holds nothing of any job
 * but the plan of the last program.
 *
 * Between two jobs it kills and reaps all processes, puts the last PID back, and empties the
 *private folders if anything was added to them. Files of a plan stay where the
 * next job has the same program, unless something else has to go, or zygote and programs share a
 * user id (tier user): there they are written anew, and modes and times of the folders are put
 *back.
 *
 * Without a PID namespace (tiers landlock and none) it is a subreaper and kills its descendants
 * (boxd_tree.c); Landlock keeps programs from it.
 *
 * If anything goes wrong the zygote ends; boxd starts another and the job fails as ours.
 */
#include "box/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"

static struct {
	bool armed;
	struct slot_page *page;
	int null, parts[ZYGOTE_MAX_PARTS], n_parts;
	bool init; /* PID 1 of a namespace */
	/* the program of the last job */
	uint64_t program;
	bool files; /* those of the plan are there */
	void *map;
	size_t n_map;
	struct box_plan plan;
	int spec, code; /* -1: none */
} z = { .spec = -1, .code = -1, .null = -1 };

static const struct timespec epoch[2];

static _Noreturn void die(const char *what)
{
	if (z.page)
		page_fail(z.page, "zygote: %s: %s", what, strerror(errno));
	_exit(1);
}

/* Does a folder hold more than n names? Counts of the file system would not tell: files that were
 * removed but are held in flight by a socket are given back late.
 */
static bool holds_more(int dir, int n)
{
	char list[4096];
	long got;

	if (lseek(dir, 0, SEEK_SET) < 0)
		die("read a folder");
	n += 2; /* . and .. */
	while ((got = syscall(SYS_getdents64, dir, list, sizeof list)) > 0)
		for (char *p = list; p < list + got;) {
			unsigned short len;

			memcpy(&len, p + 16, sizeof len); /* struct linux_dirent64 */
			p += len;
			if (--n < 0)
				return true;
		}
	if (got < 0)
		die("read a folder");
	return false;
}

static bool is_dirty(void)
{
	for (int i = 0; i < z.n_parts; i++)
		if (holds_more(z.parts[i], i == 0 && z.files ? z.plan.n_files : 0))
			return true;
	return false;
}

/* What hangs in sockets that nobody holds any more: closing one makes the kernel look for it. */
static void collect_sockets(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		die("socketpair");
	(void)close(pair[0]);
	(void)close(pair[1]);
}

/* Before main() of the interpreter. */
__attribute__((constructor)) static void start(void)
{
	const char *env = getenv("CUPEL_ZYGOTE");

	if (!env)
		return;
	z.n_parts = env[0] - '0';
	(void)unsetenv("LD_PRELOAD");
	(void)unsetenv("CUPEL_ZYGOTE");
	z.init = getpid() == 1;
	/* SIGUSR1 ends a job: without a namespace nobody else would. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, z.init ? SIGKILL : SIGUSR1, 0, 0, 0) < 0)
		die("prctl");
	z.page = mmap(NULL, sizeof *z.page, PROT_READ | PROT_WRITE, MAP_SHARED, ZYGOTE_PAGE, 0);
	if (z.page == MAP_FAILED) {
		z.page = NULL;
		die("map page");
	}
	for (int fd = ZYGOTE_SOCK; fd < ZYGOTE_PARTS + z.n_parts; fd++)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	for (int i = 0; i < z.n_parts; i++)
		z.parts[i] = ZYGOTE_PARTS + i;
	if (!z.init && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		die("prctl");
	z.armed = true;
}

static void clean_all(void)
{
	for (int i = 0; i < z.n_parts; i++)
		if (!clean_dir(z.parts[i]))
			die("empty a folder");
}

static void write_files(void)
{
	for (int i = 0; i < z.plan.n_files; i++) {
		const struct box_file *f = &z.plan.file[i];
		AUTO_FD int fd = openat(z.parts[0], f->name,
		                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		struct err e = { 0 };

		if (fd < 0 || io_write(fd, f->text.p, f->text.n, &e) < 0 ||
		    fchmod(fd, (mode_t)f->mode) < 0)
			die(f->name);
	}
	(void)futimens(z.parts[0], epoch);
	z.files = true;
}

static void forget_program(void)
{
	if (z.map)
		(void)munmap(z.map, z.n_map);
	z.map = NULL;
	auto_close(&z.spec);
	auto_close(&z.code);
	z.spec = z.code = -1;
	z.program = 0;
	z.plan.n_files = 0;
}

static void load_program(const struct zygote_job *job, int fd)
{
	struct err e = { 0 };
	struct stat st;
	int spec = -1;

	if (z.files)
		clean_all();
	z.files = false;
	forget_program();
	if (fstat(fd, &st) < 0 || st.st_size <= 0)
		die("plan");
	z.n_map = (size_t)st.st_size;
	z.map = mmap(NULL, z.n_map, PROT_READ, MAP_PRIVATE, fd, 0);
	if (z.map == MAP_FAILED) {
		z.map = NULL;
		die("map plan");
	}
	if (box_wire_get_plan((struct str){ z.map, z.n_map }, &z.plan, &e) < 0 ||
	    box_wire_memfd("spec", z.plan.spec, &spec, &e) < 0) {
		page_fail(z.page, "%s", e.msg);
		_exit(1);
	}
	z.spec = spec;
	z.program = job->program;
}

/* Memory of the program, which it cannot change any more once one of its jobs has filled it. */
static void open_code(void)
{
	struct stat st;

	if (z.code >= 0 && fstat(z.code, &st) == 0 && st.st_size > 0 &&
	    fcntl(z.code, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) <
	            0 &&
	    errno != EPERM) /* sealed before */
		auto_close(&z.code), z.code = -1;
	if (z.code < 0)
		z.code = memfd_create("code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (z.code < 0)
		die("memfd_create");
}

/* Nothing that was there before may tell the next program of the last. */
static void restore(const struct zygote_job *job)
{
	bool own = job->rights.slot_ids; /* folders and files are not the program's */

	collect_sockets();
	if (!own || !z.init || is_dirty()) {
		clean_all();
		z.files = false;
	}
	for (int i = 0; i < z.n_parts; i++) {
		if (!own)
			(void)fchmod(z.parts[i], z.init ? 01777 : 0700);
		(void)futimens(z.parts[i], epoch);
	}
	if (z.init)
		(void)!pwrite(ZYGOTE_LAST_PID, "1", 1, 0);
}

struct watch {
	pid_t program, trusted; /* trusted: 0 if there is none */
	int64_t cpu_ns;         /* of all that were reaped, without the trusted process */
	int64_t trusted_ns;
	int status;
	bool early, done;
};

static void reap(struct watch *w)
{
	struct rusage ru;
	int status;
	pid_t pid;

	while (!w->done && (pid = wait4(-1, &status, WNOHANG | __WALL, &ru)) > 0) {
		int64_t ns = rusage_ns(&ru);

		if (pid == w->trusted)
			w->trusted_ns = ns;
		else
			w->cpu_ns += ns;
		if (ru.ru_maxrss * INT64_C(1024) > z.page->peak_bytes)
			z.page->peak_bytes = ru.ru_maxrss * INT64_C(1024);
		if (pid == w->program) {
			w->status = status;
			w->early = w->trusted != 0;
		} else if (pid == w->trusted && !w->early) {
			w->status = status;
		}
		/* A program that ends first ends its pair: a child of it may hold the socket open.
		 */
		w->done = pid == w->trusted || pid == w->program;
	}
}

/* The trusted process has ended, perhaps because the program's had: a process that is on its way
 * out keeps its status, whatever signal comes.
 */
static void reap_program(struct watch *w)
{
	struct rusage ru;
	int status;

	(void)kill(w->program, SIGKILL);
	if (wait4(w->program, &status, 0, &ru) != w->program)
		return;
	w->cpu_ns += rusage_ns(&ru);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return;
	w->status = status;
	w->early = true;
}

/* Until the job has ended or must. */
static void watch(const struct zygote_job *job, struct watch *w, const sigset_t *set)
{
	static const struct timespec tick = { 0, POLL_MS * NS_PER_MS };
	bool tree = job->rights.landlock;
	bool looks = job->rights.polls && !job->rights.no_proc && (z.init || tree);

	reap(w);
	while (!w->done) {
		siginfo_t si;
		int sig = looks ? sigtimedwait(set, &si, &tick) : sigwaitinfo(set, &si);

		/* A signal from outside the namespace has no sender there; nobody can forge its
		 * code. */
		if (sig == SIGUSR1 && si.si_code == SI_USER && (si.si_pid == 0 || !z.init))
			break;
		reap(w);
		if (!w->done && looks &&
		    (tree ? tree_over(z.page, &job->limits, w->cpu_ns, z.parts[0], w->trusted)
		          : meter_over(z.page, &job->limits, w->cpu_ns)))
			break;
	}
}

static pid_t start_child(const struct zygote_job *job, enum zygote_role role, struct child_fds fds)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0)
		child_become(job, role, z.page, &fds);
	return pid;
}

/* True in a process of the job. */
static bool start_processes(const struct zygote_job *job, const int fd[WIRE_MAX_FDS],
                            struct watch *w, enum zygote_role *ret_role)
{
	struct child_fds fds = { fd[1], { fd[2], fd[3], fd[4] }, z.spec, -1, z.code, z.null };
	int pair[2] = { -1, -1 };

	*ret_role = job->pair ? ZYGOTE_PROGRAM : ZYGOTE_ALONE;
	if (job->pair) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
			die("socketpair");
		fds.peer = pair[0];
		w->trusted = start_child(job, ZYGOTE_TRUSTED, fds);
		if (w->trusted == 0) {
			*ret_role = ZYGOTE_TRUSTED;
			return true;
		}
		fds.peer = pair[1];
	}
	w->program = start_child(job, *ret_role, fds);
	if (w->program == 0)
		return true;
	auto_close(&pair[0]);
	auto_close(&pair[1]);
	return false;
}

/* One job from its message to its end. True in a process of the job. */
static bool run(const struct zygote_job *job, const int fd[WIRE_MAX_FDS], const sigset_t *set,
                enum zygote_role *ret_role)
{
	struct zygote_msg done = { .say = ZYGOTE_DONE };
	struct slot_page *p = z.page;
	static const struct timespec zero;
	struct watch w = { 0 };
	siginfo_t si;

	if (!z.program || job->program != z.program)
		load_program(job, fd[0]);
	if (!z.files)
		write_files();
	open_code();
	while (sigtimedwait(set, &si, &zero) > 0) /* meant for the job before */
		continue;
	if (start_processes(job, fd, &w, ret_role))
		return true;
	for (int i = 0; i < WIRE_MAX_FDS; i++)
		auto_close(&fd[i]);
	watch(job, &w, set);
	p->cg_end_ns = cg_cpu_ns(ZYGOTE_CPU) - w.trusted_ns;
	if (w.done)
		p->end_ns = now_ns();
	if (w.done && w.trusted && !w.early)
		reap_program(&w);
	w.cpu_ns += z.init ? reap_all() : tree_kill(NULL, NULL);
	p->cpu_end_ns = w.cpu_ns;
	if (p->over != BOX_SIGNALED)
		p->status = w.status;
	p->early = w.early;
	restore(job);
	if (box_wire_send(ZYGOTE_SOCK, &done, sizeof done, NULL, 0, 0) < 0)
		_exit(1);
	return false;
}

/* Instead of the C library's; what it did is left to the processes of jobs. */
__attribute__((visibility("default"))) pid_t getppid(void)
{
	struct zygote_msg ready = { .say = ZYGOTE_READY };
	enum zygote_role role;
	sigset_t set;
	struct sigaction old, dfl = { .sa_handler = SIG_DFL };

	if (!z.armed)
		return (pid_t)syscall(SYS_getppid);
	z.armed = false;
	z.null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (z.null < 0)
		die("/dev/null");
	/* The numbers that a job's process uses are taken: what comes gets higher ones. */
	for (int fd = 3; fd < JOB_FREE; fd++)
		if (fd != z.null && fcntl(fd, F_GETFD) < 0 && dup3(z.null, fd, O_CLOEXEC) < 0)
			die("dup3");
	z.null = fcntl(z.null, F_DUPFD_CLOEXEC, JOB_FREE);
	/* As PID 1 we are deaf to what we do not handle; Python handles SIGINT. */
	(void)sigaction(SIGINT, &dfl, &old);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		die("sigprocmask");
	if (box_wire_send(ZYGOTE_SOCK, &ready, sizeof ready, NULL, 0, 0) < 0)
		_exit(1);
	for (;;) {
		struct zygote_job job;
		int fd[WIRE_MAX_FDS];

		if (box_wire_recv(ZYGOTE_SOCK, &job, sizeof job, fd, 0) != sizeof job)
			_exit(0);
		if (run(&job, fd, &set, &role))
			break;
	}
	(void)sigaction(SIGINT, &old, NULL);
	return (pid_t)role;
}
