/* bench_spawn.c - what the judge is compared with: a new interpreter for each test, and the fork of
 * a warm one, both without any isolation.
 */
#include "cli/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "cli/bench_text.h"

/* A folder with prog.py, floor.py and the input. */
struct place {
	char dir[64], prog[80], floor[80], in[80];
};

static int64_t rusage_ns(const struct rusage *ru)
{
	return (ru->ru_utime.tv_sec + ru->ru_stime.tv_sec) * NS_PER_S +
	       (ru->ru_utime.tv_usec + ru->ru_stime.tv_usec) * 1000;
}

int64_t bench_cpu_ns(void)
{
	struct rusage self, children;

	if (getrusage(RUSAGE_SELF, &self) < 0 || getrusage(RUSAGE_CHILDREN, &children) < 0)
		return 0;
	return rusage_ns(&self) + rusage_ns(&children);
}

static int put(const char *path, const char *text, struct err *e)
{
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return FAIL(e, ERR_SYS, "%s: %s", path, strerror(errno));
	return io_write(fd, text, strlen(text), e);
}

static int place_open(struct place *p, const struct bench_case *c, struct err *e)
{
	int r;

	(void)snprintf(p->dir, sizeof p->dir, "/tmp/cupel-bench-XXXXXX");
	if (!mkdtemp(p->dir)) {
		p->dir[0] = 0;
		return FAIL(e, ERR_SYS, "folder in /tmp: %s", strerror(errno));
	}
	(void)snprintf(p->prog, sizeof p->prog, "%s/prog.py", p->dir);
	(void)snprintf(p->floor, sizeof p->floor, "%s/floor.py", p->dir);
	(void)snprintf(p->in, sizeof p->in, "%s/in", p->dir);
	r = put(p->prog, c->code, e);
	r = r < 0 ? r : put(p->floor, bench_floor_text, e);
	return r < 0 ? r : put(p->in, "12\n", e);
}

static void place_done(const struct place *p)
{
	if (p->dir[0])
		(void)io_remove_tree(p->dir, NULL);
}

/* stdin from a file, stdout into *ret_rd. */
static int start(const char *const *argv, const char *in, int *ret_rd, pid_t *ret_pid,
                 struct err *e)
{
	static const char *const env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8",
		                           NULL };
	posix_spawn_file_actions_t fa;
	int p[2], r;

	if (pipe2(p, O_CLOEXEC) < 0)
		return FAIL(e, ERR_SYS, "pipe: %s", strerror(errno));
	r = posix_spawn_file_actions_init(&fa);
	r = r ? r : posix_spawn_file_actions_addopen(&fa, 0, in, O_RDONLY, 0);
	r = r ? r : posix_spawn_file_actions_adddup2(&fa, p[1], 1);
	r = r ? r
	      : posix_spawn(ret_pid, argv[0], &fa, NULL, (char *const *)argv, (char *const *)env);
	(void)posix_spawn_file_actions_destroy(&fa);
	(void)close(p[1]);
	if (r) {
		(void)close(p[0]);
		return FAIL(e, ERR_SYS, "start %s: %s", argv[0], strerror(r));
	}
	*ret_rd = p[0];
	return 0;
}

/* Reads what it prints, to its end, and waits for it. */
static int finish(int rd, pid_t pid, char *text, size_t room, struct err *e)
{
	size_t n = 0;
	int status, r = io_read(rd, text, room - 1, &n, e);

	(void)close(rd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	text[r < 0 ? 0 : n] = 0;
	if (r == 0 && status != 0)
		r = FAIL(e, ERR_SYS, "a program of the comparison ended with status %#x",
		         (unsigned)status);
	return r;
}

int bench_spawn(const char *python, const struct bench_case *c, int64_t n, int jobs,
                struct bench_time *ret, struct err *e)
{
	struct bench_time t = { .tests = n };
	struct place p;
	int r = place_open(&p, c, e);
	const char *argv[] = { python, p.prog, NULL };
	int64_t cpu = bench_cpu_ns(), wall = now_ns();

	for (int64_t i = 0; r == 0 && i < n; i += jobs) {
		int rd[64];
		pid_t pid[64];
		int k = 0;

		for (; k < jobs && i + k < n && r == 0; k++)
			r = start(argv, p.in, &rd[k], &pid[k], e);
		for (int m = 0; m < k - (r < 0); m++) {
			char text[256];
			int s = finish(rd[m], pid[m], text, sizeof text, r < 0 ? NULL : e);

			r = r < 0 ? r : s;
			if (r == 0 && strcmp(text, "21\n") != 0)
				r = FAIL(e, ERR_SYS, "the spawned program is wrong");
		}
	}
	t.cpu_ns = bench_cpu_ns() - cpu;
	t.wall_ns = now_ns() - wall;
	place_done(&p);
	if (r == 0)
		*ret = t;
	return r;
}

/* The script prints "wall_ns cpu_ns" of its loop. */
int bench_floor(const char *python, const char *preload, const struct bench_case *c, int64_t n,
                int jobs, struct bench_time *ret, struct err *e)
{
	struct bench_time t = { 0 };
	struct place p;
	char count[32];
	int rd[64], k = 0, r = place_open(&p, c, e);
	pid_t pid[64];
	const char *argv[] = { python, "-P", "-s",  "-X",    "utf8", p.floor,
		               p.prog, p.in, count, preload, NULL };

	(void)snprintf(count, sizeof count, "%lld", (long long)(n / jobs));
	for (; k < jobs && r == 0; k++)
		r = start(argv, p.in, &rd[k], &pid[k], e);
	for (int m = 0; m < k - (r < 0); m++) {
		long long wall = 0, cpu = 0;
		char text[256];
		int s = finish(rd[m], pid[m], text, sizeof text, r < 0 ? NULL : e);

		r = r < 0 ? r : s;
		if (r == 0 && sscanf(text, "%lld %lld", &wall, &cpu) != 2)
			r = FAIL(e, ERR_SYS, "the floor says nothing");
		t.tests += n / jobs;
		t.cpu_ns += cpu;
		t.wall_ns = wall > t.wall_ns ? wall : t.wall_ns;
	}
	place_done(&p);
	if (r == 0)
		*ret = t;
	return r;
}
