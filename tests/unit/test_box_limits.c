/* test_box_limits.c - every limit ends what exceeds it, and nothing that stays within; a program
 * cannot reach beyond its box.
 */
#include "box_run.h"

static void output_cap(void **state)
{
	struct box_plan p = python("import os\nwhile True: os.write(1, b'x' * 4096)\n");
	struct box_result r;

	(void)state;
	NEEDS_BOX;
	p.limits.out_bytes[0] = 100000;
	r = run_plan(&p);
	assert_int_equal(r.end, BOX_OUT_LIMIT);
	assert_int_equal(r.out[0].n, 100000);
	box_result_done(&r);
	p = python("import os\nwhile True: os.write(2, b'x' * 10)\n");
	p.limits.out_bytes[1] = 1;
	assert_ends(&p, BOX_OUT_LIMIT);
}

static void just_the_output_cap_is_allowed(void **state)
{
	struct box_plan p =
		python("import os\nos.write(1, b'x' * 50000); os.write(1, b'x' * 50000)\n");
	struct box_result r;

	(void)state;
	NEEDS_BOX;
	p.limits.out_bytes[0] = 100000;
	r = run_plan(&p);
	assert_int_equal(r.end, BOX_EXITED);
	assert_int_equal(r.out[0].n, 100000);
	box_result_done(&r);
	p.limits.out_bytes[0] = 99999;
	assert_ends(&p, BOX_OUT_LIMIT);
}

static void cpu_time(void **state)
{
	struct box_plan p = python("while True: pass\n");
	struct box_result r;

	(void)state;
	NEEDS_BOX;
	p.limits.cpu_ns = NS_PER_S / 5;
	r = run_plan(&p);
	assert_int_equal(r.end, BOX_CPU_LIMIT);
	assert_true(r.cpu_ns >= p.limits.cpu_ns);
	box_result_done(&r);
}

static void cpu_time_of_children_counts(void **state)
{
	struct box_plan p = python("import os, time\n"
	                           "for i in range(4):\n"
	                           "    if os.fork() == 0:\n"
	                           "        while True: pass\n"
	                           "time.sleep(1000)\n");

	(void)state;
	NEEDS_BOX;
	p.limits.cpu_ns = NS_PER_S / 2;
	assert_ends(&p, BOX_CPU_LIMIT);
	p = python("import os, signal\n"
	           "for s in range(1, 32):\n"
	           "    try: signal.signal(s, signal.SIG_IGN)\n"
	           "    except OSError: pass\n"
	           "while True: pass\n");
	p.limits.cpu_ns = NS_PER_S / 5;
	assert_ends(&p, BOX_CPU_LIMIT);
}

static void wall_time(void **state)
{
	struct box_plan p = python("import time\ntime.sleep(1000)\n");

	(void)state;
	NEEDS_BOX;
	p.limits.wall_ns = NS_PER_S / 2;
	assert_ends(&p, BOX_WALL_LIMIT);
	p = python("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n");
	p.limits.wall_ns = NS_PER_S / 2;
	assert_ends(&p, BOX_WALL_LIMIT);
	p = python("import os, time\nos.close(0); os.close(1); os.close(2); os.close(3)\n"
	           "time.sleep(1000)\n");
	p.limits.wall_ns = NS_PER_S / 2;
	assert_ends(&p, BOX_WALL_LIMIT);
}

static void memory(void **state)
{
	struct box_plan p = python("a = bytearray(b'x') * (1 << 30)\nprint(len(a))\n");

	(void)state;
	NEEDS_BOX;
	p.limits.mem_bytes = 64 << 20;
	assert_ends(&p, BOX_MEM_LIMIT);
	p = python("import os, time\n"
	           "for i in range(8):\n"
	           "    if os.fork() == 0:\n"
	           "        a = bytearray(b'x') * (30 << 20); time.sleep(1000)\n"
	           "time.sleep(1000)\n");
	p.limits.mem_bytes = 100 << 20;
	assert_ends(&p, BOX_MEM_LIMIT);
	p = python("a = bytearray(b'x') * (40 << 20)\nprint(len(a))\n");
	p.limits.mem_bytes = 64 << 20;
	assert_ends(&p, BOX_EXITED);
}

static void files_are_limited(void **state)
{
	struct box_plan p = python("import os\n"
	                           "def fill(path):\n"
	                           "    n = 0\n"
	                           "    try:\n"
	                           "        with open(path, 'wb', 0) as f:\n"
	                           "            while True: n += f.write(b'x' * 65536)\n"
	                           "    except OSError: return n\n"
	                           "a, b, c = fill('a'), fill('/tmp/b'), fill('/dev/shm/c')\n"
	                           "print(a + b + c <= 4 << 20, a > 3 << 20)\n"
	                           "os.unlink('a')\n"
	                           "n = 0\n"
	                           "try:\n"
	                           "    while n < 100000: open('f%d' % n, 'x').close(); n += 1\n"
	                           "except OSError: pass\n"
	                           "print(n < 20000)\n");
	struct box_result r;

	(void)state;
	NEEDS_BOX;
	p.limits.disk_bytes = 4 << 20;
	r = run_plan(&p);
	assert_out(&r, 0, "True True\nTrue\n");
	box_result_done(&r);
}

static void fork_bomb(void **state)
{
	struct box_plan p = python("import os\nwhile True:\n"
	                           "    try: os.fork()\n    except OSError: pass\n");
	struct box_plan q = python("import threading, time\nn = 0\ntry:\n"
	                           "    while n < 1000:\n"
	                           "        threading.Thread(target=time.sleep, args=(9,), "
	                           "daemon=True).start(); n += 1\n"
	                           "except RuntimeError: pass\nprint(n < 32)\n");
	struct box_result r;

	(void)state;
	NEEDS_BOX;
	p.limits.cpu_ns = NS_PER_S;
	r = run_plan(&p);
	assert_true(r.end == BOX_CPU_LIMIT || r.end == BOX_WALL_LIMIT);
	box_result_done(&r);
	r = run_plan(&q);
	assert_out(&r, 0, "True\n");
	box_result_done(&r);
	assert_prints("print('well')\n", "well\n");
}

static void killing_everything_harms_nobody(void **state)
{
	(void)state;
	NEEDS_BOX;
	assert_prints("import os\n"
	              "for pid in [os.getppid(), 1, -1] + list(range(3, 3000)):\n"
	              "    try: os.kill(pid, 9)\n    except OSError: pass\n"
	              "print('alive')\n",
	              "alive\n");
	assert_prints("print('next')\n", "next\n");
}

static void nothing_outside_can_be_written(void **state)
{
	(void)state;
	NEEDS_BOX;
	assert_prints(
		"import os\nok = []\n"
		"for d in ['/', '/usr', '/usr/bin', '/etc', '/dev', '/proc', '/w', '/var', "
		"'/run', '/bin', '/proc/1', '/proc/sys/kernel', '/box', '/tmp', '/dev/shm']:\n"
		"    try: open(d + '/x', 'w').close(); ok.append(d)\n    except OSError: pass\n"
		"print(ok)\nok = []\n"
		"for f in ['/bin/sh', '/etc/passwd', '/usr/bin/python3', "
		"'/proc/sys/kernel/hostname', '/proc/sys/kernel/core_pattern', "
		"'/proc/sysrq-trigger', '/proc/1/mem', '/proc/1/oom_score_adj']:\n"
		"    try: open(f, 'r+b').close(); ok.append(f)\n    except OSError: pass\n"
		"print(ok)\n"
		"for f in ['/dev/null', '/etc/passwd', '/usr']:\n"
		"    try: os.chmod(f, 0o777); print(f)\n    except OSError: pass\n",
		"['/box', '/tmp', '/dev/shm']\n[]\n");
}

static void host_files_are_not_there(void **state)
{
	(void)state;
	NEEDS_BOX;
	assert_prints(
		"import os\n"
		"print([f for f in ['/root', '/home', '/sys', '/work', '/opt', '/srv', '/mnt', "
		"'/etc/shadow', '/etc/resolv.conf', '/etc/hostname', '/run/docker.sock', "
		"'/dev/kmsg', '/dev/tty', '/dev/pts', '/dev/mem'] if os.path.lexists(f)])\n"
		"print(os.listdir('/w'), os.uname().nodename)\n",
		"[]\n[] box\n");
}

static void there_is_no_network(void **state)
{
	(void)state;
	NEEDS_BOX;
	assert_prints("import socket\n"
	              "for f in [socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, 40]:\n"
	              "    try: socket.socket(f, socket.SOCK_DGRAM if f != 40 else 1); print(f)\n"
	              "    except OSError as e: print(e.errno == 97)\n"
	              "print([l.split(':')[0].strip() for l in open('/proc/net/dev')][2:])\n"
	              "a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))\n",
	              "True\nTrue\nTrue\nTrue\n['lo']\nb'x'\n");
}

static void only_own_processes_are_seen(void **state)
{
	(void)state;
	NEEDS_BOX;
	assert_prints("import os\n"
	              "print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()) == "
	              "[1, os.getpid()])\n"
	              "for f in ['environ', 'mem', 'maps', 'cwd', 'exe', 'fd']:\n"
	              "    p = '/proc/1/' + f\n"
	              "    try:\n"
	              "        if f == 'fd': os.listdir(p)\n"
	              "        elif f in ('cwd', 'exe'): os.readlink(p)\n"
	              "        else: open(p, 'rb').read(1)\n"
	              "        print(p)\n"
	              "    except OSError: pass\n",
	              "True\n");
}

/* The result of one system call: killed, or the error number that it prints. */
static void refuses(const char *call, int error)
{
	char code[600], want[16];
	struct box_plan p;

	snprintf(code, sizeof code,
	         "import ctypes\nc = ctypes.CDLL(None, use_errno=True)\n"
	         "r = %s\nprint(ctypes.get_errno() if r == -1 else 'done')\n",
	         call);
	p = python(code);
	if (!error) {
		assert_ends(&p, BOX_DENIED);
		return;
	}
	snprintf(want, sizeof want, "%d\n", error);
	assert_prints(code, want);
}

static void dangerous_calls_are_refused(void **state)
{
	(void)state;
	NEEDS_BOX;
	refuses("c.ptrace(0, 0, 0, 0)", 0);
	refuses("c.unshare(0x10000000)", 0);
	refuses("c.unshare(0x80)", 0);
	refuses("c.setns(0, 0)", 0);
	refuses("c.mount(b'x', b'/tmp', b'tmpfs', 0, 0)", 0);
	refuses("c.umount2(b'/tmp', 2)", 0);
	refuses("c.process_vm_readv(1, 0, 0, 0, 0, 0)", 0);
	refuses("c.sethostname(b'x', 1)", 1);
	refuses("c.chroot(b'/')", 1);
	refuses("c.personality(0x400000)", 1);
#ifdef __x86_64__
	refuses("c.syscall(56, 0x10000011, 0, 0, 0, 0)", 0); /* clone, new user namespace */
	refuses("c.syscall(435, 0, 0)", 38);                 /* clone3 */
	refuses("c.syscall(425, 1, 0)", 38);                 /* io_uring_setup */
	refuses("c.syscall(321, 0, 0, 0)", 0);               /* bpf */
	refuses("c.syscall(250, 0, 0)", 1);                  /* keyctl */
	refuses("c.syscall(298, 0, 0, 0, 0, 0)", 1);         /* perf_event_open */
	refuses("c.syscall(500, 0)", 38);                    /* none yet */
	refuses("c.syscall(0x40000000 + 39)", 0);            /* x32 */
#endif
}

#ifdef __x86_64__
static void foreign_architecture_is_killed(void **state)
{
	struct box_plan p = python(
		"import ctypes, mmap\n"
		"m = mmap.mmap(-1, 4096, prot=7)\n"
		"m.write(b'\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3')\n" /* mov eax, 20; int 0x80; ret */
		"f = "
		"ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))\n"
		"print(f())\n");

	(void)state;
	NEEDS_BOX;
	assert_ends(&p, BOX_DENIED);
}
#endif

static void rights_are_gone(void **state)
{
	(void)state;
	NEEDS_BOX;
	assert_prints(
		"import os, resource as r\n"
		"s = dict(l.rstrip('\\n').split(':\\t', 1) for l in open('/proc/self/status') if "
		"':\\t' in l)\n"
		"print([s[k].lstrip('0') for k in ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', "
		"'CapAmb']], s['NoNewPrivs'], s['Seccomp'])\n"
		"print(r.getrlimit(r.RLIMIT_CORE), r.getrlimit(r.RLIMIT_NOFILE))\n"
		"print(os.getuid() != 0, os.geteuid() == os.getuid(), os.getsid(0) == "
		"os.getpid())\n"
		"try: os.setuid(0); print('root')\nexcept OSError: pass\n",
		"['', '', '', '', ''] 1 2\n(0, 0) (256, 256)\nTrue True True\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_cap),
		cmocka_unit_test(just_the_output_cap_is_allowed),
		cmocka_unit_test(cpu_time),
		cmocka_unit_test(cpu_time_of_children_counts),
		cmocka_unit_test(wall_time),
		cmocka_unit_test(memory),
		cmocka_unit_test(files_are_limited),
		cmocka_unit_test(fork_bomb),
		cmocka_unit_test(killing_everything_harms_nobody),
		cmocka_unit_test(nothing_outside_can_be_written),
		cmocka_unit_test(host_files_are_not_there),
		cmocka_unit_test(there_is_no_network),
		cmocka_unit_test(only_own_processes_are_seen),
		cmocka_unit_test(dangerous_calls_are_refused),
#ifdef __x86_64__
		cmocka_unit_test(foreign_architecture_is_killed),
#endif
		cmocka_unit_test(rights_are_gone),
	};

	return RUN_BOX(tests);
}
