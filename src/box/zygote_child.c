/* zygote_child.c - a fresh fork of a zygote on its way to belong to a program.
 *
 * It has inherited what the zygote has: rights, which it gives up here, and descriptors, of which
 * it keeps those of the job. The system-call filter and no_new_privs are the zygote's already.
 */
#include "box/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static _Noreturn void die(struct slot_page *p, const char *what)
{
	page_fail(p, "%s: %s", what, strerror(errno));
	_exit(127);
}

/* To the numbers of enum zygote_fd. Those of the job are all above them: nothing is overwritten. */
static void set_fds(struct slot_page *p, enum zygote_role role, const struct child_fds *f)
{
	bool trusted = role == ZYGOTE_TRUSTED, program = role == ZYGOTE_PROGRAM;
	const struct {
		int from, to;
	} move[] = {
		{ program ? f->null : f->in, 0 },
		{ trusted ? f->null : f->out[0], 1 },
		{ trusted ? f->null : f->out[1], 2 },
		{ program ? f->null : f->out[2], JOB_RESULTS },
		{ f->spec, JOB_SPEC },
		{ trusted ? f->peer : -1, JOB_PEER },
		{ program ? f->peer : -1, JOB_TRUSTED },
		{ trusted ? -1 : f->code, JOB_CODE },
	};

	for (size_t i = 0; i < sizeof move / sizeof move[0]; i++)
		if (move[i].from < 0)
			(void)close(move[i].to);
		else if (dup2(move[i].from, move[i].to) < 0)
			die(p, "dup2");
	if (syscall(SYS_close_range, JOB_FREE, ~0U, 0) < 0)
		die(p, "close_range (needs Linux 5.11)");
}

void child_become(const struct zygote_job *job, enum zygote_role role, struct slot_page *page,
                  const struct child_fds *fds)
{
	struct rights r = job->rights;
	int64_t cg = role == ZYGOTE_TRUSTED ? 0 : cg_cpu_ns(ZYGOTE_CPU);
	sigset_t mask;

	if (r.landlock && !enclose(&r, ZYGOTE_RULES))
		die(page, "Landlock");
	(void)setsid();
	(void)umask(022);
	set_fds(page, role, fds);
	if (!rights_limit(&r, &job->limits))
		die(page, "limits");
	sigemptyset(&mask);
	if (role == ZYGOTE_TRUSTED) /* the program may have the same user id */
		sigfillset(&mask);
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	r.id = role == ZYGOTE_TRUSTED ? job->trusted_id : r.id;
	if (!rights_drop(&r))
		die(page, "drop rights");
	if (r.landlock)
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (role == ZYGOTE_TRUSTED) {
		(void)munmap(page, sizeof *page);
		return;
	}
	/* The zygote is not, and a change of user id leaves nothing dumpable: a program may open
	 * its own /proc/self/fd.
	 */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		die(page, "prctl");
	page->cg_base_ns = cg;
	page->cpu_base_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	page->start_ns = now_ns();
	(void)munmap(page, sizeof *page);
}
