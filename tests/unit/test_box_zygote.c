/* The zygotes of a box: jobs as forks of a warm interpreter, and what one job leaves to the next.
 */
#include <string.h>

#include "box_run.h"

/* A boot file as small as can be: the program is run as text, then the process ends. */
static const char boot[] = "import os, sys\n"
			   "role = os.getppid()\n"
			   "exec(compile(open('main.py').read(), 'main.py', 'exec'))\n"
			   "sys.stdout.flush()\n"
			   "os._exit(0)\n";

static struct box *warm;

static int open_warm(void **state)
{
	struct box_config cfg = { .slots = 1, .n_zygotes = 1 };
	struct err e = { 0 };

	(void)state;
	cfg.zygote[0] = (struct box_zygote){ .argv = { "/usr/bin/python3", "-P", "-s" },
		                             .boot = { boot, sizeof boot - 1 },
		                             .disk_bytes = 16 << 20 };
	if (box_open(&cfg, &warm, &e) == 0) {
		if (box_tier(warm) != BOX_LANDLOCK)
			return 0;
		printf("# only tier landlock here, which has tests of its own\n");
		box_close(warm);
		warm = NULL;
		return 0;
	}
	printf("# no isolation here: %s\n", e.msg);
	return e.code == ERR_DENIED ? 0 : -1;
}

static int close_warm(void **state)
{
	(void)state;
	box_close(warm);
	return 0;
}

#define NEEDS_WARM                                                                                 \
	do {                                                                                       \
		if (!warm)                                                                         \
			skip();                                                                    \
	} while (0)

static struct box_plan job(const char *code)
{
	return (struct box_plan){ .zygote = 1,
		                  .file = { { "main.py", { code, strlen(code) }, 0644 } },
		                  .n_files = 1,
		                  .limits = usual_limits() };
}

static struct box_result run(struct box_plan plan)
{
	struct box_result r;
	struct err e = { 0 };
	uint64_t id;

	assert_int_equal(box_submit(warm, &plan, &id, &e), 0);
	assert_int_equal(box_wait(warm, -1, &r, &e), 1);
	assert_int_equal(r.job, id);
	if (r.end == BOX_FAILED)
		print_message("# failed: %s\n", r.why);
	return r;
}

static void expect_out(struct box_plan plan, const char *out)
{
	struct box_result r = run(plan);

	if (r.end != BOX_EXITED || !str_is(r.out[0], out))
		print_message("# %s %d out '%.*s' err '%.*s'\n", box_end_text(r.end), r.status,
		              (int)r.out[0].n, r.out[0].p, (int)r.out[1].n, r.out[1].p);
	assert_int_equal(r.end, BOX_EXITED);
	assert_int_equal(r.status, 0);
	assert_true(str_is(r.out[0], out));
	box_result_done(&r);
}

static void expect_end(struct box_plan plan, enum box_end end, int status)
{
	struct box_result r = run(plan);

	if (r.end != end || (status >= 0 && r.status != status))
		print_message("# %s %d out '%.*s' err '%.*s'\n", box_end_text(r.end), r.status,
		              (int)r.out[0].n, r.out[0].p, (int)r.out[1].n, r.out[1].p);
	assert_int_equal(r.end, end);
	if (status >= 0)
		assert_int_equal(r.status, status);
	box_result_done(&r);
}

static void test_runs(void **state)
{
	struct box_plan p = job("print(input()[::-1])");

	(void)state;
	NEEDS_WARM;
	p.in = STR("abc\n");
	expect_out(p, "cba\n");
	expect_out(job("import os; print(os.getcwd(), os.getpid() > 1, os.getpid() < 5)"),
	           "/box True True\n");
	expect_out(job("import sys; sys.stdout.write('x' * 100000 and 'y')"), "y");
	expect_end(job("import os; os._exit(7)"), BOX_EXITED, 7);
	expect_end(job("import os; os.kill(os.getpid(), 11)"), BOX_SIGNALED, 11);
}

static void test_limits(void **state)
{
	struct box_plan p = job("while True: pass");

	(void)state;
	NEEDS_WARM;
	p.limits.cpu_ns = NS_PER_S / 10;
	expect_end(p, BOX_CPU_LIMIT, -1);
	p = job("import time; time.sleep(100)");
	p.limits.wall_ns = NS_PER_S / 10;
	expect_end(p, BOX_WALL_LIMIT, -1);
	expect_end(job("x = bytearray(1 << 30); print(len(x))"),
	           box_tier(warm) == BOX_FULL ? BOX_MEM_LIMIT : BOX_MEM_LIMIT, -1);
	expect_end(job("while True: print('x' * 1000)"), BOX_OUT_LIMIT, -1);
	expect_end(job("import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0)"), BOX_DENIED, -1);
	expect_out(job("print('still here')"), "still here\n");
}

/* Everything that a job leaves is gone in the next. */
static void test_leaves_nothing(void **state)
{
	static const char look[] =
		"import os\n"
		"n = sum(len(f) + len(d) for t in ('/box', '/tmp', '/dev/shm')\n"
		"        for _, d, f in os.walk(t))\n"
		"print(n, os.getpid(), [p for p in os.listdir('/proc') if p.isdigit()],\n"
		"      [int(os.stat(t).st_mtime) for t in ('/box', '/tmp', '/dev/shm')],\n"
		"      [oct(os.stat(t).st_mode) for t in ('/box', '/tmp', '/dev/shm')])\n";
	static const char leave[] =
		"import os, time\n"
		"for t in '/box', '/tmp', '/dev/shm':\n"
		"    p = t + '/d'\n"
		"    for i in range(300):\n"
		"        os.mkdir(p)\n"
		"        open(p + '/f', 'w').write('x')\n"
		"        os.chdir(p)\n"
		"        p = 'd'\n"
		"    os.chmod('.', 0)\n"
		"    open(t + '/f', 'w').write('x')\n"
		"    os.mkdir(t + '/none'); open(t + '/none/x', 'w'); os.chmod(t + '/none', 0)\n"
		"    try:\n"
		"        os.utime(t, (1, 1)); os.chmod(t, 0o711)\n"
		"    except PermissionError: pass\n"
		"for i in range(5):\n"
		"    if os.fork() == 0:\n"
		"        os.setsid()\n"
		"        if os.fork() == 0: time.sleep(100)\n"
		"        os._exit(0)\n";
	struct box_result first, last;

	(void)state;
	NEEDS_WARM;
	first = run(job(look));
	assert_int_equal(first.end, BOX_EXITED);
	expect_end(job(leave), BOX_EXITED, 0);
	last = run(job(look));
	if (!str_eq(first.out[0], last.out[0]))
		print_message("# %.*s# %.*s", (int)first.out[0].n, first.out[0].p,
		              (int)last.out[0].n, last.out[0].p);
	assert_true(str_eq(first.out[0], last.out[0]));
	box_result_done(&first);
	box_result_done(&last);
}

/* Jobs of one program keep its files, and what the boot file wrote at descriptor 7. */
static void test_program(void **state)
{
	static const char code[] = "import os\n"
				   "n = os.fstat(7).st_size\n"
				   "print(n, os.pread(4, 99, 0))\n"
				   "if n == 0: os.write(7, b'kept')\n"
				   "else:\n"
				   "    try: os.write(7, b'x')\n"
				   "    except PermissionError: print('sealed')\n";
	struct box_plan p = job(code);

	(void)state;
	NEEDS_WARM;
	p.program = 77;
	p.spec = STR("the spec");
	expect_out(p, "0 b'the spec'\n");
	expect_out(p, "4 b'the spec'\nsealed\n");
	expect_out(p, "4 b'the spec'\nsealed\n");
	p.program = 78;
	expect_out(p, "0 b'the spec'\n");
	p.program = 0;
	expect_out(p, "0 b'the spec'\n");
	expect_out(p, "0 b'the spec'\n");
}

static void test_pair(void **state)
{
	struct box_plan p =
		job("import os\n"
	            "if role == 1:\n"
	            "    os.write(5, b'ask'); a = os.read(5, 99)\n"
	            "    os.write(3, os.read(0, 99) + a)\n"
	            "else:\n"
	            "    os.write(1, os.read(6, 99) + os.read(0, 99)); os.write(6, b'answer')\n"
	            "    os.read(6, 1)\n");
	struct box_result r;

	(void)state;
	NEEDS_WARM;
	p.pair = true;
	p.in = STR("secret ");
	r = run(p);
	assert_int_equal(r.end, BOX_EXITED);
	assert_true(str_is(r.out[0], "ask"));
	assert_true(str_is(r.out[2], "secret answer"));
	box_result_done(&r);
	p = job("import os\n"
	        "if role == 1: os.read(5, 9); os.read(5, 9)\n"
	        "elif os.fork(): os._exit(5)\n" /* a child that keeps the socket open */
	        "else: import time; time.sleep(100)\n");
	p.pair = true;
	r = run(p);
	assert_int_equal(r.end, BOX_EXITED);
	assert_true(r.early);
	assert_int_equal(r.status, 5);
	box_result_done(&r);
}

static void test_cold(void **state)
{
	struct box_plan p = job("import os; print(os.environ.get('CUPEL_COLD'))");

	(void)state;
	NEEDS_WARM;
	expect_out(p, "None\n");
	p.cold = true;
	expect_out(p, "1\n");
	expect_out(p, "1\n");
	p.cold = false;
	expect_out(p, "None\n");
}

static void test_bad_interpreter(void **state)
{
	struct box_config cfg = { .slots = 1, .n_zygotes = 1 };
	struct box *b;
	struct err e = { 0 };

	(void)state;
	NEEDS_WARM;
	cfg.zygote[0] = (struct box_zygote){ .argv = { "/usr/bin/python3" },
		                             .boot = STR("import no_such_module\n"),
		                             .disk_bytes = 1 << 20 };
	assert_int_equal(box_open(&cfg, &b, &e), ERR_DENIED);
	assert_non_null(strstr(e.msg, "no_such_module"));
	cfg.zygote[0].argv[0] = "/usr/bin/no-such-python";
	assert_int_equal(box_open(&cfg, &b, &e), ERR_DENIED);
	assert_non_null(strstr(e.msg, "no-such-python"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_leaves_nothing),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_pair),
		cmocka_unit_test(test_cold),
		cmocka_unit_test(test_bad_interpreter),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, open_warm, close_warm);
}
