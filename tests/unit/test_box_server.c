/* test_box_server.c - many jobs, several threads, servers that die, and what is left behind. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "box_run.h"

enum { MAX_PIDS = 64, PATIENCE_MS = 20000 };

static struct box *open_box(int slots)
{
	struct box_config cfg = { .tier = BOX_AUTO, .slots = slots };
	struct err e = { 0 };
	struct box *b;

	if (box_open(&cfg, &b, &e) < 0)
		fail_msg("open: %s", e.msg);
	return b;
}

/* Children of a process, from all its threads. */
static int children_of(pid_t pid, pid_t *ret, int max)
{
	char path[64];
	struct dirent *f;
	int n = 0;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (f = readdir(d))) {
		char name[128];
		int child;
		FILE *in;

		if (!isdigit((unsigned char)f->d_name[0]))
			continue;
		snprintf(name, sizeof name, "/proc/%d/task/%.20s/children", pid, f->d_name);
		in = fopen(name, "re");
		while (in && n < max && fscanf(in, "%d", &child) == 1)
			ret[n++] = child;
		if (in)
			fclose(in);
	}
	if (d)
		closedir(d);
	return n;
}

/* All descendants of pid, children before grandchildren. */
static int descendants_of(pid_t pid, pid_t *ret)
{
	int n = children_of(pid, ret, MAX_PIDS);

	for (int i = 0; i < n; i++)
		n += children_of(ret[i], ret + n, MAX_PIDS - n);
	return n;
}

static bool lives(pid_t pid)
{
	char path[64], text[512], *p;
	FILE *f;
	size_t n;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = 0;
	p = strrchr(text, ')');
	return p && p[2] != 'Z' && p[2] != 'X'; /* reaping is the business of its parent */
}

static bool all_gone(const pid_t *pid, int n, int ms)
{
	for (int i = 0; i < n; i++)
		for (; lives(pid[i]); ms--) {
			if (ms <= 0)
				return false;
			poll(NULL, 0, 1);
		}
	return true;
}

/* The server of a box is our youngest child. */
static pid_t server_of(void)
{
	pid_t pid[MAX_PIDS], max = 0;
	int n = children_of(getpid(), pid, MAX_PIDS);

	for (int i = 0; i < n; i++)
		max = pid[i] > max ? pid[i] : max;
	assert_true(max > 1);
	return max;
}

static struct box_result next(struct box *b)
{
	struct box_result r;
	struct err e;

	assert_int_equal(box_wait(b, -1, &r, &e), 1);
	if (r.end == BOX_FAILED)
		printf("# %s\n", r.why);
	return r;
}

static void ten_jobs_in_two_slots(void **state)
{
	uint64_t id[10];
	bool seen[10] = { 0 };
	struct err e;

	(void)state;
	NEEDS_BOX;
	for (int i = 0; i < 10; i++) {
		char code[100];
		struct box_plan p;

		snprintf(code, sizeof code, "import time\ntime.sleep(%d / 100)\nprint(%d)\n",
		         10 - i, i);
		p = python(code);
		assert_int_equal(box_submit(shared, &p, &id[i], &e), 0);
	}
	for (int i = 0; i < 10; i++) {
		struct box_result r = next(shared);
		char want[16];
		int k = 0;

		while (k < 10 && id[k] != r.job)
			k++;
		assert_true(k < 10 && !seen[k]);
		seen[k] = true;
		snprintf(want, sizeof want, "%d\n", k);
		assert_out(&r, 0, want);
		assert_int_equal(r.end, BOX_EXITED);
		box_result_done(&r);
	}
	assert_int_equal(box_wait(shared, -1, &(struct box_result){ 0 }, &e), 0);
}

static void waiting_has_an_end(void **state)
{
	struct box_plan p = python("import time\ntime.sleep(0.7)\n");
	struct box_result r;
	struct err e;
	uint64_t job;

	(void)state;
	NEEDS_BOX;
	assert_int_equal(box_submit(shared, &p, &job, &e), 0);
	assert_int_equal(box_wait(shared, 0, &r, &e), 0);
	assert_int_equal(box_wait(shared, 10 * NS_PER_MS, &r, &e), 0);
	r = next(shared);
	assert_true(r.wall_ns >= 700 * NS_PER_MS);
	box_result_done(&r);
}

enum { EACH = 15, SUBMITTERS = 3 };

static void *submit_some(void *arg)
{
	struct box_plan p = python("import sys\nprint(sys.stdin.read())\n");

	p.in = (struct str){ arg, strlen(arg) };
	for (int i = 0; i < EACH; i++) {
		struct err e;
		uint64_t job;

		if (box_submit(shared, &p, &job, &e) < 0)
			return (void *)"failed";
	}
	return NULL;
}

static void several_threads_submit(void **state)
{
	static char text[SUBMITTERS][2] = { "a", "b", "c" };
	pthread_t t[SUBMITTERS];
	int n = 0, count[SUBMITTERS] = { 0 };
	void *failed;

	(void)state;
	NEEDS_BOX;
	for (int i = 0; i < SUBMITTERS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, submit_some, text[i]), 0);
	while (n < EACH * SUBMITTERS) {
		struct box_result r;
		struct err e;

		if (box_wait(shared, NS_PER_S, &r, &e) != 1)
			continue;
		assert_int_equal(r.end, BOX_EXITED);
		assert_int_equal(r.out[0].n, 2);
		count[r.out[0].p[0] - 'a']++;
		box_result_done(&r);
		n++;
	}
	for (int i = 0; i < SUBMITTERS; i++) {
		assert_int_equal(pthread_join(t[i], &failed), 0);
		assert_null(failed);
		assert_int_equal(count[i], EACH);
	}
}

static void killed_server_loses_nothing(void **state)
{
	struct box *b;
	pid_t pid[MAX_PIDS], boxd;
	int n;
	uint64_t job;
	struct err e;

	(void)state;
	NEEDS_BOX;
	b = open_box(2);
	for (int i = 0; i < 6; i++) {
		struct box_plan p = python("import sys, time\ntime.sleep(0.3)\n"
		                           "print(sys.stdin.read())\n");

		p.in = STR("input");
		assert_int_equal(box_submit(b, &p, &job, &e), 0);
	}
	boxd = server_of();
	for (int ms = 0; descendants_of(boxd, pid) < 6 && ms < PATIENCE_MS; ms++)
		poll(NULL, 0, 1);
	n = descendants_of(boxd, pid);
	assert_true(n >= 6); /* two keepers, two inits, two programs */
	assert_int_equal(kill(boxd, SIGKILL), 0);
	for (int i = 0; i < 6; i++) {
		struct box_result r = next(b);

		assert_int_equal(r.end, BOX_EXITED);
		assert_out(&r, 0, "input\n");
		box_result_done(&r);
	}
	assert_true(all_gone(pid, n, PATIENCE_MS));
	box_close(b);
}

static void a_job_is_not_tried_for_ever(void **state)
{
	struct box_plan p = python("import time\ntime.sleep(1000)\n");
	struct box_result r;
	struct box *b;
	struct err e;
	uint64_t job;

	(void)state;
	NEEDS_BOX;
	b = open_box(1);
	assert_int_equal(box_submit(b, &p, &job, &e), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(box_wait(b, NS_PER_S / 5, &r, &e), 0);
		assert_int_equal(kill(server_of(), SIGKILL), 0);
	}
	assert_int_equal(box_wait(b, -1, &r, &e), 1);
	assert_int_equal(r.end, BOX_FAILED);
	assert_non_null(strstr(r.why, "each time"));
	box_result_done(&r);
	p = python("print('works')\n");
	assert_int_equal(box_submit(b, &p, &job, &e), 0);
	r = next(b);
	assert_out(&r, 0, "works\n");
	box_result_done(&r);
	box_close(b);
}

/* A keeper is ours, too; it is replaced. */
static void killed_keeper_is_replaced(void **state)
{
	struct box_plan p = python("import time\ntime.sleep(1000)\n");
	pid_t boxd, pid[MAX_PIDS];
	struct box_result r;
	struct box *b;
	struct err e;
	uint64_t job;

	(void)state;
	NEEDS_BOX;
	b = open_box(1);
	boxd = server_of();
	assert_int_equal(box_submit(b, &p, &job, &e), 0);
	for (int ms = 0; descendants_of(boxd, pid) < 3 && ms < PATIENCE_MS; ms++)
		poll(NULL, 0, 1);
	assert_true(children_of(boxd, pid, MAX_PIDS) == 1);
	assert_int_equal(kill(pid[0], SIGKILL), 0);
	r = next(b);
	assert_int_equal(r.end, BOX_FAILED);
	box_result_done(&r);
	p = python("print('works')\n");
	assert_int_equal(box_submit(b, &p, &job, &e), 0);
	r = next(b);
	assert_out(&r, 0, "works\n");
	box_result_done(&r);
	box_close(b);
}

static char cgroup_name[64];
static int n_cgroups;

static int count_cgroup(const char *path, const struct stat *st, int type, struct FTW *w)
{
	(void)st;
	n_cgroups += type == FTW_D && !strncmp(path + w->base, cgroup_name, strlen(cgroup_name));
	return 0;
}

static int cgroups_of(pid_t boxd)
{
	snprintf(cgroup_name, sizeof cgroup_name, "cupel-%d.", boxd);
	n_cgroups = 0;
	(void)nftw("/sys/fs/cgroup", count_cgroup, 32, FTW_PHYS);
	return n_cgroups;
}

static int count_entries(const char *dir, const char *prefix)
{
	DIR *d = opendir(dir);
	struct dirent *f;
	int n = 0;

	while (d && (f = readdir(d)))
		n += !strncmp(f->d_name, prefix, strlen(prefix));
	if (d)
		closedir(d);
	return n;
}

static struct buf mounts(void)
{
	struct buf b = { .max = 1 << 20 };

	assert_int_equal(io_load("/proc/self/mountinfo", &b, NULL), 0);
	return b;
}

/* Stopped, detached, forked and sleeping processes, files and shared memory: all gone, at once. */
static void nothing_is_left(void **state)
{
	struct box_plan p =
		python("import os, signal, time\n"
	               "open('/tmp/a', 'w').write('x' * 100000)\n"
	               "for i in range(5):\n"
	               "    if os.fork() == 0:\n"
	               "        os.setsid()\n"
	               "        if os.fork() == 0: os.kill(os.getpid(), signal.SIGSTOP)\n"
	               "        os.mkdir('/box/d%d' % i); os.chmod('/box/d%d' % i, 0)\n"
	               "        time.sleep(1000)\n"
	               "time.sleep(1000)\n");
	struct buf before, after;
	pid_t boxd, pid[MAX_PIDS];
	struct box *b;
	struct err e;
	uint64_t job;
	int fds, n;

	(void)state;
	NEEDS_BOX;
	before = mounts();
	fds = count_entries("/proc/self/fd", "");
	b = open_box(2);
	boxd = server_of();
	for (int i = 0; i < 3; i++)
		assert_int_equal(box_submit(b, &p, &job, &e), 0);
	for (int ms = 0; descendants_of(boxd, pid) < 20 && ms < PATIENCE_MS; ms++)
		poll(NULL, 0, 1);
	n = descendants_of(boxd, pid);
	assert_true(n >= 20);
	assert_true((cgroups_of(boxd) > 0) == (box_tier(b) == BOX_FULL));
	box_close(b);
	assert_true(all_gone(pid, n, 0)); /* no waiting: box_close() has */
	assert_false(lives(boxd));
	assert_int_equal(cgroups_of(boxd), 0);
	assert_int_equal(count_entries("/proc/self/fd", ""), fds);
	after = mounts();
	assert_true(str_eq(buf_str(&before), buf_str(&after)));
	buf_done(&before);
	buf_done(&after);
}

/* The next server clears what a killed one could not. */
static void cgroups_of_a_killed_server_go(void **state)
{
	pid_t boxd, pid[MAX_PIDS];
	struct box *b;
	int n;

	(void)state;
	NEEDS_BOX;
	b = open_box(1);
	boxd = server_of();
	n = descendants_of(boxd, pid);
	assert_int_equal(kill(boxd, SIGKILL), 0);
	assert_true(all_gone(pid, n, PATIENCE_MS));
	box_close(b);
	b = open_box(1);
	assert_int_equal(cgroups_of(boxd), 0);
	box_close(b);
}

/* A child that opens a box and lives until it is killed; its boxes' processes go with it. */
static void killed_caller_leaves_nothing(void **state)
{
	pid_t child, pid[MAX_PIDS];
	int n = 0;

	(void)state;
	NEEDS_BOX;
	child = fork();
	if (child == 0) {
		struct box_config cfg = { .tier = BOX_AUTO, .slots = 1 };
		struct box_plan p = python("import time\ntime.sleep(1000)\n");
		struct box_result r;
		struct box *b;
		uint64_t job;

		if (box_open(&cfg, &b, NULL) < 0 || box_submit(b, &p, &job, NULL) < 0)
			_exit(1);
		(void)box_wait(b, -1, &r, NULL);
		_exit(2);
	}
	for (int ms = 0; n < 4 && ms < PATIENCE_MS; ms++) {
		n = descendants_of(child, pid);
		poll(NULL, 0, 1);
	}
	assert_true(n >= 4); /* server, keeper, init, program */
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(all_gone(pid, n, PATIENCE_MS));
	assert_int_equal(cgroups_of(pid[0]), 0);
}

/* 0: the child got a box, else the code of the error; *ret_why says what it was. */
static int try_in_child(void (*prepare)(void), const struct box_config *cfg, char ret_why[232])
{
	char why[232] = "";
	int status, out[2];
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		struct err e = { 0 };
		struct box *b;

		prepare();
		if (box_open(cfg, &b, &e) == 0) {
			box_close(b);
			_exit(0);
		}
		_exit(write(out[1], e.msg, sizeof e.msg) == sizeof e.msg ? -e.code : 200);
	}
	close(out[1]);
	assert_true(read(out[0], why, sizeof why) >= 0);
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	memcpy(ret_why, why, sizeof why);
	return -WEXITSTATUS(status);
}

/* Who changes its user id cannot read /proc/self/exe any more. */
static const char *server_path(void)
{
	static char path[4200];
	char self[4096], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (getenv("CUPEL_BOXD"))
		return getenv("CUPEL_BOXD");
	assert_true(n > 0);
	self[n] = 0;
	slash = strrchr(self, '/');
	*slash = 0;
	snprintf(path, sizeof path, "%s/../cupel-boxd", self);
	return path;
}

static void as_nobody(void)
{
	if (getuid() == 0 && syscall(SYS_setresuid, 65534, 65534, 65534) < 0)
		_exit(200);
}

/* A user namespace whose own rule is that it has none below it. */
static void without_user_namespaces(void)
{
	FILE *f;

	(void)setenv("CUPEL_LANDLOCK", "0", 1); /* which would do without */
	if (unshare(CLONE_NEWUSER) < 0)
		_exit(-ERR_DENIED);
	f = fopen("/proc/sys/user/max_user_namespaces", "w");
	if (!f || fputs("0\n", f) < 0 || fclose(f))
		_exit(200);
}

static void do_nothing(void)
{
}

static void no_isolation_no_box(void **state)
{
	struct box_config cfg = { .tier = BOX_FULL, .slots = 1, .boxd = server_path() };
	char why[232];

	(void)state;
	if (shared && box_tier(shared) == BOX_FULL && getuid() != 0)
		skip(); /* delegated cgroups */
	if (access(cfg.boxd, X_OK) < 0)
		skip(); /* built elsewhere */
	assert_int_equal(try_in_child(as_nobody, &cfg, why), ERR_DENIED);
	if (!strstr(why, "cgroup") &&
	    !strstr(why, "Permission denied")) /* a private build folder */
		fail_msg("%s", why);
	cfg.tier = BOX_AUTO;
	assert_int_equal(try_in_child(without_user_namespaces, &cfg, why), ERR_DENIED);
	if (*why && !strstr(why, "namespace") && !strstr(why, "Permission denied"))
		fail_msg("%s", why);
}

static void no_server_no_box(void **state)
{
	struct box_config cfg = { .tier = BOX_AUTO, .slots = 1, .boxd = "/nonesuch/cupel-boxd" };
	char why[232];

	(void)state;
	assert_int_equal(try_in_child(do_nothing, &cfg, why), ERR_DENIED);
	assert_non_null(strstr(why, "/nonesuch"));
	cfg.boxd = "/bin/true";
	assert_int_equal(try_in_child(do_nothing, &cfg, why), ERR_DENIED);
	cfg = (struct box_config){ .tier = BOX_AUTO, .slots = 0 };
	assert_int_equal(try_in_child(do_nothing, &cfg, why), ERR_RANGE);
}

static void weaker_tiers_must_be_asked_for(void **state)
{
	struct box_config cfg = { .tier = BOX_NONE, .slots = 1 };
	struct box *own = shared;
	struct err e;

	(void)state;
	NEEDS_BOX;
	assert_true(box_tier(shared) == BOX_FULL || box_tier(shared) == BOX_USER);
	if (box_tier(shared) == BOX_USER)
		assert_non_null(strstr(box_missing(shared), "cgroup"));
	/* Only this harmless program ever runs without isolation. */
	assert_int_equal(box_open(&cfg, &shared, &e), 0);
	assert_int_equal(box_tier(shared), BOX_NONE);
	assert_prints("print(open('main.py').read()[:5])\n", "print\n");
	box_close(shared);
	cfg.tier = BOX_USER;
	assert_int_equal(box_open(&cfg, &shared, &e), 0);
	assert_int_equal(box_tier(shared), BOX_USER);
	assert_prints("print(1)\n", "1\n");
	box_close(shared);
	shared = own;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ten_jobs_in_two_slots),
		cmocka_unit_test(waiting_has_an_end),
		cmocka_unit_test(several_threads_submit),
		cmocka_unit_test(killed_server_loses_nothing),
		cmocka_unit_test(a_job_is_not_tried_for_ever),
		cmocka_unit_test(killed_keeper_is_replaced),
		cmocka_unit_test(nothing_is_left),
		cmocka_unit_test(cgroups_of_a_killed_server_go),
		cmocka_unit_test(killed_caller_leaves_nothing),
		cmocka_unit_test(no_isolation_no_box),
		cmocka_unit_test(no_server_no_box),
		cmocka_unit_test(weaker_tiers_must_be_asked_for),
	};

	return RUN_BOX(tests);
}
