/* test_box.c - what a program meets in a box: its streams, its environment, its files, its end. */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "box_run.h"

static void exit_code_comes_back(void **state)
{
	struct box_result r;

	(void)state;
	NEEDS_BOX;
	r = run_python("import sys\nprint('out'); print('err', file=sys.stderr); sys.exit(7)\n");
	assert_int_equal(r.end, BOX_EXITED);
	assert_int_equal(r.status, 7);
	assert_out(&r, 0, "out\n");
	assert_out(&r, 1, "err\n");
	assert_true(r.cpu_ns > 0 && r.wall_ns > 0 && r.mem_bytes > 0);
	box_result_done(&r);
}

static void signal_comes_back(void **state)
{
	static const int sig[] = { SIGSEGV, SIGTERM, SIGKILL };

	(void)state;
	NEEDS_BOX;
	for (size_t i = 0; i < sizeof sig / sizeof sig[0]; i++) {
		char code[80];
		struct box_result r;

		snprintf(code, sizeof code, "import os\nos.kill(os.getpid(), %d)\n", sig[i]);
		r = run_python(code);
		assert_int_equal(r.end, BOX_SIGNALED);
		assert_int_equal(r.status, sig[i]);
		box_result_done(&r);
	}
}

static void stdin_is_a_file_of_its_true_size(void **state)
{
	enum { N = 300000 };
	struct box_plan p = python("import os, stat\ns = os.fstat(0)\n"
	                           "print(stat.S_ISREG(s.st_mode), s.st_size)\n"
	                           "a = open('/dev/stdin','rb').read(); b = os.read(0, 5)\n"
	                           "print(len(a), set(a) == {120}, b)\n"
	                           "try: os.write(0, b'y')\nexcept OSError: print('sealed')\n");
	char *text = malloc(N);
	struct box_result r;

	(void)state;
	NEEDS_BOX;
	memset(text, 'x', N);
	p.in = (struct str){ text, N };
	r = run_plan(&p);
	assert_out(&r, 0, "True 300000\n300000 True b'xxxxx'\nsealed\n");
	box_result_done(&r);
	free(text);
}

static void streams_may_be_opened_again(void **state)
{
	struct box_plan p = {
		.argv = { "/bin/sh", "-c",
		          "echo a; echo b >/dev/stdout; echo c; echo d >/dev/stderr" },
		.limits = usual_limits()
	};
	struct box_result r;

	(void)state;
	NEEDS_BOX;
	r = run_plan(&p);
	assert_out(&r, 0, "a\nb\nc\n");
	assert_out(&r, 1, "d\n");
	box_result_done(&r);
}

static void only_four_descriptors_are_open(void **state)
{
	(void)state;
	NEEDS_BOX;
	assert_prints("import os\nn = []\nfor i in range(256):\n"
	              "    try: os.fstat(i); n.append(i)\n    except OSError: pass\nprint(n)\n",
	              "[0, 1, 2, 3]\n");
}

static void third_channel_carries_bytes(void **state)
{
	struct box_result r;

	(void)state;
	NEEDS_BOX;
	r = run_python("import os\nos.write(3, b'a\\0b\\xff')\n");
	assert_int_equal(r.end, BOX_EXITED);
	assert_true(str_eq(r.out[2], STR("a\0b\xff")));
	assert_int_equal(r.out[0].n, 0);
	box_result_done(&r);
}

static void large_outputs_come_whole(void **state)
{
	struct box_plan p = python("import os, sys\nfor i in range(100000): print('%06d' % i)\n"
	                           "sys.stdout.flush()\nsys.stderr.write('e' * 50000)\n"
	                           "for i in range(90): os.write(3, bytes([i]) * 10000)\n");
	struct box_result r;

	(void)state;
	NEEDS_BOX;
	r = run_plan(&p);
	assert_int_equal(r.end, BOX_EXITED);
	assert_int_equal(r.out[0].n, 700000);
	for (int i = 0; i < 100000; i++) {
		char line[16];

		snprintf(line, sizeof line, "%06d\n", i);
		assert_memory_equal(r.out[0].p + 7 * i, line, 7);
	}
	assert_int_equal(r.out[1].n, 50000);
	assert_int_equal(r.out[2].n, 900000);
	for (int i = 0; i < 900000; i += 999)
		assert_int_equal(r.out[2].p[i], i / 10000);
	box_result_done(&r);
}

static void environment_is_made_from_nothing(void **state)
{
	struct box_plan p = python("import os\nfor k in sorted(os.environ): "
	                           "print(k + '=' + os.environ[k])\n");
	struct box_result r;

	(void)state;
	NEEDS_BOX;
	p.env[0] = "EXTRA=1";
	p.env[1] = "TZ=Europe/Paris";
	assert_int_equal(setenv("SECRET", "of the caller", 1), 0);
	r = run_plan(&p);
	assert_out(&r, 0,
	           "EXTRA=1\nHOME=/box\nLANG=C.UTF-8\nLC_ALL=C.UTF-8\nOMP_NUM_THREADS=1\n"
	           "OPENBLAS_NUM_THREADS=1\nPATH=/usr/local/bin:/usr/bin:/bin\nPYTHONHASHSEED=0\n"
	           "TZ=Europe/Paris\n");
	box_result_done(&r);
}

/* The tester's own ignored signals and blocked mask do not reach the program. */
static void signals_are_as_new(void **state)
{
	struct box_config cfg = { .tier = BOX_AUTO, .slots = 1 };
	struct box *own = shared;
	sigset_t all;
	struct err e;

	(void)state;
	NEEDS_BOX;
	sigfillset(&all);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(sigprocmask(SIG_BLOCK, &all, NULL), 0);
	assert_int_equal(box_open(&cfg, &shared, &e), 0);
	assert_prints(
		"for l in open('/proc/self/status'):\n"
		"    if l[:3] == 'Sig' and l[3:6] in ('Blk', 'Ign'): print(l[:6], l.split()[1])\n",
		/* Python itself ignores SIGPIPE and SIGXFSZ */
		"SigBlk 0000000000000000\nSigIgn 0000000001001000\n");
	box_close(shared);
	shared = own;
	assert_int_equal(sigprocmask(SIG_UNBLOCK, &all, NULL), 0);
	signal(SIGPIPE, SIG_DFL);
}

static void files_of_the_plan_are_there(void **state)
{
	struct box_plan p = python("import os, subprocess\n"
	                           "print(os.getcwd(), sorted(os.listdir()))\n"
	                           "print(open('a b.txt','rb').read())\n"
	                           "print(subprocess.run(['./run'], capture_output=True).stdout)\n"
	                           "open('a b.txt','a').write('x'); open('new','w').write('y')\n");

	(void)state;
	NEEDS_BOX;
	p.file[1] = (struct box_file){ "a b.txt", STR("x\0y"), 0644 };
	p.file[2] = (struct box_file){ "run", STR("#!/bin/sh\necho ran\n"), 0755 };
	p.n_files = 3;
	/* twice: nothing of the first run is there in the second, in whatever slot */
	for (int i = 0; i < 4; i++) {
		struct box_result r = run_plan(&p);

		assert_out(&r, 0, "/box ['a b.txt', 'main.py', 'run']\nb'x\\x00y'\nb'ran\\n'\n");
		box_result_done(&r);
	}
}

static void missing_program_is_our_fault(void **state)
{
	struct box_plan p = { .argv = { "/usr/bin/no-such-program" }, .limits = usual_limits() };
	struct box_result r;

	(void)state;
	NEEDS_BOX;
	r = run_plan(&p);
	assert_int_equal(r.end, BOX_FAILED);
	assert_non_null(strstr(r.why, "/usr/bin/no-such-program: No such file"));
	box_result_done(&r);
}

static void end_of_the_program_ends_the_job(void **state)
{
	struct box_plan p = python("import os, sys, time\nprint('first', flush=True)\n"
	                           "if os.fork() == 0:\n"
	                           "    os.setsid()\n"
	                           "    if os.fork() == 0:\n"
	                           "        while True:\n"
	                           "            time.sleep(0.001); print('daemon', flush=True)\n"
	                           "    time.sleep(1000)\n"
	                           "print('last', flush=True)\nos._exit(0)\n");
	struct box_result r;

	(void)state;
	NEEDS_BOX;
	r = run_plan(&p);
	assert_int_equal(r.end, BOX_EXITED);
	assert_true(str_starts(r.out[0], STR("first\n")) && str_has(r.out[0], STR("last\n")));
	box_result_done(&r);
	assert_prints(
		"import os, time\n"
		"if os.fork() == 0: time.sleep(1000)\nprint('held', flush=True)\nos._exit(0)\n",
		"held\n");
}

static void threads_and_subprocesses_work(void **state)
{
	(void)state;
	NEEDS_BOX;
	assert_prints(
		"import threading, subprocess, multiprocessing as mp\nr = []\n"
		"t = [threading.Thread(target=lambda i=i: r.append(i)) for i in range(8)]\n"
		"[x.start() for x in t]; [x.join() for x in t]\n"
		"print(sorted(r))\n"
		"print(subprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout)\n"
		"q = mp.Queue(); p = mp.Process(target=q.put, args=(42,)); p.start()\n"
		"print(q.get()); p.join()\n",
		"[0, 1, 2, 3, 4, 5, 6, 7]\nhi\n\n42\n");
}

static void kept_inputs_are_refused_if_wrong(void **state)
{
	struct box_plan good = python("print(1)\n"), p;
	struct err e;
	uint64_t job;

	(void)state;
	NEEDS_BOX;
	p = good;
	p.argv[0] = NULL;
	assert_int_equal(box_submit(shared, &p, &job, &e), ERR_RANGE);
	p = good;
	p.file[0].name = "../x";
	assert_int_equal(box_submit(shared, &p, &job, &e), ERR_RANGE);
	p = good;
	p.limits.wall_ns = 0;
	assert_int_equal(box_submit(shared, &p, &job, &e), ERR_RANGE);
	assert_non_null(strstr(e.msg, "wall_ns"));
	assert_int_equal(box_wait(shared, -1, &(struct box_result){ 0 }, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit_code_comes_back),
		cmocka_unit_test(signal_comes_back),
		cmocka_unit_test(stdin_is_a_file_of_its_true_size),
		cmocka_unit_test(streams_may_be_opened_again),
		cmocka_unit_test(only_four_descriptors_are_open),
		cmocka_unit_test(third_channel_carries_bytes),
		cmocka_unit_test(large_outputs_come_whole),
		cmocka_unit_test(environment_is_made_from_nothing),
		cmocka_unit_test(signals_are_as_new),
		cmocka_unit_test(files_of_the_plan_are_there),
		cmocka_unit_test(missing_program_is_our_fault),
		cmocka_unit_test(end_of_the_program_ends_the_job),
		cmocka_unit_test(threads_and_subprocesses_work),
		cmocka_unit_test(kept_inputs_are_refused_if_wrong),
	};

	return RUN_BOX(tests);
}
