/* test_box_landlock.c - tier landlock: each program runs plain, and as a job of a zygote, on the
 * Landlock of this kernel and on older versions of it. What reaches outside is refused, and nothing
 * is left afterwards. Where the kernel has no Landlock, the tests are skipped.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "box_run.h"

enum { VERSIONS = 4 };

static const char *const version[VERSIONS] = { "7", "5", "2", "1" };
static struct box *box[VERSIONS];
static char dir[64]; /* of files that no program may reach */

static const char boot[] = "import os, sys\n"
			   "role = os.getppid()\n"
			   "exec(compile(open('main.py').read(), 'main.py', 'exec'))\n"
			   "sys.stdout.flush()\n"
			   "os._exit(0)\n";

/* What the programs below have in common. */
static const char head[] = "import os, sys, time, errno\n"
			   "def ok(f, *a, **k):\n"
			   "    try: f(*a, **k)\n"
			   "    except OSError: return False\n"
			   "    return True\n";

static int open_version(const char *v, enum box_tier tier, struct box **ret, struct err *e)
{
	struct box_config cfg = { .tier = tier, .slots = 1, .n_zygotes = 1 };
	int r;

	cfg.zygote[0] = (struct box_zygote){ .argv = { "/usr/bin/python3", "-P", "-s" },
		                             .boot = { boot, sizeof boot - 1 },
		                             .disk_bytes = 16 << 20 };
	assert_int_equal(setenv("CUPEL_LANDLOCK", v, 1), 0);
	r = box_open(&cfg, ret, e);
	assert_int_equal(unsetenv("CUPEL_LANDLOCK"), 0);
	return r;
}

static int open_all(void **state)
{
	struct err e = { 0 };

	(void)state;
	(void)snprintf(dir, sizeof dir, "/tmp/test-landlock.XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0777), 0);
	for (int i = 0; i < VERSIONS; i++) {
		if (open_version(version[i], BOX_LANDLOCK, &box[i], &e) == 0)
			continue;
		printf("# no tier landlock here: %s\n", e.msg);
		return e.code == ERR_DENIED ? 0 : -1;
	}
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	for (int i = 0; i < VERSIONS; i++)
		box_close(box[i]);
	return io_remove_tree(dir, NULL);
}

#define NEEDS_LANDLOCK                                                                             \
	do {                                                                                       \
		if (!box[VERSIONS - 1])                                                            \
			skip();                                                                    \
	} while (0)

static struct box_plan plan_of(const char *code, bool warm)
{
	struct box_plan p = { .file = { { "main.py", { code, strlen(code) }, 0644 } },
		              .n_files = 1,
		              .limits = usual_limits() };

	p.zygote = warm;
	for (int i = 0; !warm && i < 3; i++)
		p.argv[i] = (const char *[]){ "/usr/bin/python3", "-I", "main.py" }[i];
	return p;
}

/* A program that must end by itself and print just 'want', in each box, plain and warm. */
static void prints(const char *want, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void prints(const char *want, const char *fmt, ...)
{
	char *body, *code;
	va_list ap;

	va_start(ap, fmt);
	assert_true(vasprintf(&body, fmt, ap) > 0);
	va_end(ap);
	assert_true(asprintf(&code, "%s%s", head, body) > 0);
	for (int i = 0; i < 2 * VERSIONS; i++) {
		struct box_plan p = plan_of(code, i % 2);
		struct box_result r;

		shared = box[i / 2];
		r = run_plan(&p);
		if (r.end != BOX_EXITED || r.status || !str_is(r.out[0], want))
			printf("# version %s, %s: %s %d\n", version[i / 2],
			       i % 2 ? "warm" : "plain", box_end_text(r.end), r.status);
		assert_out(&r, 0, want);
		assert_int_equal(r.end, BOX_EXITED);
		assert_int_equal(r.status, 0);
		box_result_done(&r);
	}
	free(body);
	free(code);
}

/* One that must end so. */
static void ends(enum box_end want, struct box_limits l, const char *body)
{
	char *code;

	assert_true(asprintf(&code, "%s%s", head, body) > 0);
	for (int i = 0; i < 2 * VERSIONS; i++) {
		struct box_plan p = plan_of(code, i % 2);

		shared = box[i / 2];
		p.limits = l;
		assert_ends(&p, want);
	}
	free(code);
}

static void honest_programs_work(void **state)
{
	(void)state;
	NEEDS_LANDLOCK;
	prints("True True True\n[49]\nb'hi\\n'\nd41d\n['a', 'b', 'main.py']\n768\n",
	       "import subprocess, threading, tempfile, shutil, hashlib, socket\n"
	       "print(os.getcwd() == os.environ['HOME'] == os.environ['TMPDIR'],\n"
	       "      tempfile.gettempdir() == os.getcwd(), os.getpid() > 1)\n"
	       "r = []\n"
	       "t = threading.Thread(target=lambda: r.append(49)); t.start(); t.join(); print(r)\n"
	       "print(subprocess.run(['/bin/sh', '-c', 'echo hi'], capture_output=True).stdout)\n"
	       "print(hashlib.md5(b'').hexdigest()[:4])\n"
	       "open('a', 'w').write('x'); shutil.copy2('a', 'b'); print(sorted(os.listdir()))\n"
	       "d = tempfile.mkdtemp(); os.mkdir(d + '/e'); open(d + '/e/f', 'w'); "
	       "shutil.rmtree(d)\n"
	       "a, b = socket.socketpair(); a.send(b'x'); b.recv(1)\n"
	       "if os.fork() == 0: os._exit(3)\n"
	       "print(os.wait()[1])\n%s",
	       "");
}

static void files_outside_are_out_of_reach(void **state)
{
	char path[80];
	struct stat was, is;

	(void)state;
	NEEDS_LANDLOCK;
	(void)snprintf(path, sizeof path, "%s/secret", dir);
	assert_int_equal(io_save(path, STR("secret"), NULL), 0);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(stat(path, &was), 0);
	prints("[]\n[]\n[]\n",
	       "d, f = '%s', '%s'\n"
	       "w = os.O_WRONLY | os.O_CREAT\n"
	       "print([p for p in (f, '/etc/shadow', '/etc/passwd', '/etc/hostname', "
	       "'/proc/self/status',\n"
	       "    '/proc/self/mem', '/proc/1/environ', '/proc/meminfo', '/proc/version', "
	       "'/dev/tty',\n"
	       "    '/sys/kernel/version', '/root/.bashrc', '/dev/kmsg')\n"
	       "    if ok(os.open, p, os.O_RDONLY) or ok(os.open, p, 3)\n"
	       "    or ok(os.open, p, os.O_RDONLY | os.O_TRUNC) or ok(os.open, p, os.O_RDWR)])\n"
	       "print([p for p in (d, '/', '/home', '/root', '/tmp', '/dev', '/dev/shm', '/proc', "
	       "'/etc', '/var')\n"
	       "    if ok(os.listdir, p) or ok(os.open, p + '/mark', w) or ok(os.mkdir, p + "
	       "'/mark')\n"
	       "    or ok(os.symlink, 'x', p + '/mark') or ok(os.mkfifo, p + '/mark')\n"
	       "    or ok(os.rename, 'main.py', p + '/mark')])\n"
	       "os.symlink(f, 'way'); os.symlink('/', 'root')\n"
	       "print([n for n, a in enumerate((\n"
	       "    (os.unlink, f), (os.rename, f, 'x'), (os.link, f, 'y'), (os.truncate, f, 0), "
	       "(open, 'way'),\n"
	       "    (os.listdir, 'root/tmp'), (os.rename, f, f + '2'), (os.rmdir, d), (open, "
	       "'way', 'w'),\n"
	       "    (os.mknod, 'k', 0o20666, 259), (os.chown, f, os.getuid(), -1), "
	       "(os.removexattr, f, 'user.x'),\n"
	       "    (os.setxattr, f, 'user.x', b'')))\n"
	       "    if ok(*a)])\n"
	       "ok(os.chmod, f, 0); ok(os.utime, f, (1, 1))\n"
	       "try: fd = os.open('/usr', os.O_RDONLY); os.fchmod(fd, 0)\n"
	       "except OSError: pass\n",
	       dir, path);
	assert_int_equal(stat(path, &is), 0);
	assert_int_equal(is.st_mode, was.st_mode);
	assert_int_equal(is.st_mtime, was.st_mtime);
	assert_int_equal(is.st_size, 6);
}

/* Of our own user, and readable: rights of files do not keep anybody from them. */
static void files_that_may_be_read_stay_as_they_are(void **state)
{
	(void)state;
	NEEDS_LANDLOCK;
	prints("False False False True\n",
	       "f = os.path.dirname(os.getcwd()) + '/lib/zygote.so'\n"
	       "a = os.stat(f)\n"
	       "fd = os.open(f, os.O_RDONLY)\n"
	       "ok(os.chmod, f, 0); ok(os.fchmod, fd, 0); ok(os.utime, f, (1, 1)); ok(os.utime, "
	       "fd, (1, 1))\n"
	       "ok(os.truncate, f, 0)\n"
	       "import fcntl\n"
	       "print(ok(os.open, f, os.O_RDONLY | os.O_TRUNC), ok(os.open, f, os.O_WRONLY),\n"
	       "      ok(fcntl.fcntl, fd, fcntl.F_SETLEASE, fcntl.F_RDLCK),\n"
	       "      [a.st_size, a.st_mode, a.st_mtime] == [getattr(os.stat(f), 'st_' + n)\n"
	       "                                             for n in ('size', 'mode', "
	       "'mtime')])\n");
}

/* A job of a zygote would have another parent afterwards if it had hit it. */
static void nobody_outside_gets_a_signal(void **state)
{
	static const char attack[] =
		"import fcntl, signal\n"
		"for p in %d, os.getppid(), 1, -1, -os.getppid(), os.getpid() - 1, os.getpid() - "
		"2:\n"
		"    ok(os.kill, p, 9)\n"
		"try: signal.pidfd_send_signal(os.pidfd_open(%d), 9)\n"
		"except OSError: pass\n"
		"r, w = os.pipe()\n"
		"for p in %d, os.getppid():\n"
		"    ok(fcntl.fcntl, r, 10, 9); ok(fcntl.fcntl, r, fcntl.F_SETOWN, p)\n"
		"    ok(fcntl.fcntl, r, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK); os.write(w, "
		"b'x')\n"
		"print('alive')\n";
	int me = (int)getpid();
	pid_t victim = fork(), parent[VERSIONS];

	(void)state;
	if (victim == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		pause();
		_exit(0);
	}
	assert_true(victim > 0);
	for (int k = 0; k < 2 && box[VERSIONS - 1]; k++) {
		for (int i = 0; i < VERSIONS; i++) {
			struct box_plan p = plan_of("import os; print(os.getppid())", true);
			struct box_result r;
			char text[16] = { 0 };

			shared = box[i];
			r = run_plan(&p);
			assert_true(r.end == BOX_EXITED && r.out[0].n < sizeof text);
			memcpy(text, r.out[0].p, r.out[0].n);
			assert_true(k == 0 || parent[i] == strtol(text, NULL, 10));
			parent[i] = (pid_t)strtol(text, NULL, 10);
			box_result_done(&r);
		}
		prints("alive\n", attack, (int)victim, me, me);
	}
	assert_int_equal(waitpid(victim, NULL, WNOHANG), 0);
	assert_int_equal(kill(victim, SIGKILL), 0);
	assert_int_equal(waitpid(victim, NULL, 0), victim);
	NEEDS_LANDLOCK;
}

static void nobody_is_traced(void **state)
{
	(void)state;
	NEEDS_LANDLOCK;
	ends(BOX_DENIED, usual_limits(),
	     "import ctypes; ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0)");
	ends(BOX_DENIED, usual_limits(),
	     "import ctypes; ctypes.CDLL(None).syscall(310, os.getppid(), 0, 0, 0, 0, 0)");
	ends(BOX_DENIED, usual_limits(), "import ctypes; ctypes.CDLL(None).unshare(0x10000000)");
}

static int listen_at(const char *path, size_t n, int type)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type, 0);

	memcpy(a.sun_path, path, n);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a,
	                      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)),
	                 0);
	assert_true(type == SOCK_DGRAM || listen(fd, 1) == 0);
	return fd;
}

static void no_socket_and_no_ipc(void **state)
{
	char path[80], gram[80], name[80];
	int fd[3], shm = shmget(IPC_PRIVATE, 4096, 0666), n;

	(void)state;
	NEEDS_LANDLOCK;
	(void)snprintf(path, sizeof path, "%s/stream", dir);
	(void)snprintf(gram, sizeof gram, "%s/gram", dir);
	n = snprintf(name, sizeof name, "%ccupel-test-%d", 0, getpid());
	fd[0] = listen_at(path, strlen(path), SOCK_STREAM);
	fd[1] = listen_at(gram, strlen(gram), SOCK_DGRAM);
	fd[2] = listen_at(name, (size_t)n, SOCK_STREAM);
	assert_int_equal(chmod(path, 0666) | chmod(gram, 0666), 0);
	prints("[]\n[]\n[]\n[-1, -1, -1, -1, -1, -1]\n",
	       "import socket as s, ctypes\n"
	       "print([(f, t) for f in (s.AF_UNIX, s.AF_INET, s.AF_INET6, s.AF_NETLINK, "
	       "s.AF_PACKET, 38)\n"
	       "    for t in (s.SOCK_STREAM, s.SOCK_DGRAM, s.SOCK_RAW, s.SOCK_SEQPACKET) if "
	       "ok(s.socket, f, t)])\n"
	       "print([t for t in (s.SOCK_DGRAM, s.SOCK_RAW) if ok(s.socketpair, s.AF_UNIX, t)])\n"
	       "a, b = s.socketpair(); c, d = s.socketpair(s.AF_UNIX, s.SOCK_SEQPACKET)\n"
	       "print([(x.type, to) for x in (a, c) for to in ('%s', '%s', chr(0) + "
	       "'cupel-test-%d')\n"
	       "    if ok(x.connect, to) or ok(x.sendto, b'x', to) or ok(x.sendmsg, [b'x'], [], 0, "
	       "to)\n"
	       "    and x.type != s.SOCK_SEQPACKET or ok(x.bind, 'here') or ok(x.listen)])\n"
	       "l = ctypes.CDLL(None)\n"
	       "print([l.shmget(7, 4096, 0o1666), l.shmctl(%d, 0, 0), l.semget(7, 1, 0o1666),\n"
	       "    l.msgget(7, 0o1666), l.mq_open(b'/cupel', 66, 0o600, 0), l.shm_open(b'/cupel', "
	       "66, 0o600)])\n"
	       "try: import _multiprocessing as m; m.SemLock(1, 1, 1, '/cupel', True); "
	       "print('sem')\n"
	       "except OSError: pass\n",
	       path, gram, getpid(), shm);
	for (int i = 0; i < 3; i++)
		(void)close(fd[i]);
	assert_int_equal(shmctl(shm, IPC_RMID, NULL), 0);
}

static void limits_hold(void **state)
{
	struct box_limits l = usual_limits();

	(void)state;
	NEEDS_LANDLOCK;
	l.cpu_ns = NS_PER_S / 10;
	ends(BOX_CPU_LIMIT, l, "while True: pass");
	ends(BOX_CPU_LIMIT, l, "os.fork()\nos.fork()\nwhile True: pass");
	l = usual_limits();
	l.wall_ns = NS_PER_S / 10;
	ends(BOX_WALL_LIMIT, l, "os.fork(); time.sleep(100)");
	l = usual_limits();
	l.mem_bytes = 64 << 20;
	ends(BOX_MEM_LIMIT, l, "x = bytearray(b'x') * (200 << 20); time.sleep(100)");
	ends(BOX_MEM_LIMIT, l,
	     "for i in range(8):\n"
	     "    if os.fork() == 0: x = bytearray(b'x') * (20 << 20); time.sleep(100)\n"
	     "time.sleep(100)\n");
	ends(BOX_OUT_LIMIT, usual_limits(), "while True: print('x' * 1000)");
	ends(BOX_OUT_LIMIT, usual_limits(),
	     "for i in range(5):\n"
	     "    open(str(i), 'wb').write(bytes(5 << 20))\n"
	     "time.sleep(100)\n");
	ends(BOX_OUT_LIMIT, usual_limits(),
	     "os.mkdir('d', 0o300); os.chdir('d')\n"
	     "for i in range(5): open(str(i), 'wb').write(bytes(5 << 20))\n"
	     "time.sleep(100)\n");
}

static bool any_sleeper(const char *mark)
{
	DIR *d = opendir("/proc");
	bool found = false;

	for (struct dirent *f; d && (f = readdir(d));) {
		char path[300], text[256] = { 0 };
		int fd;

		(void)snprintf(path, sizeof path, "/proc/%s/cmdline", f->d_name);
		fd = open(path, O_RDONLY);
		if (fd >= 0 && read(fd, text, sizeof text - 1) > 6)
			found = found || !strcmp(text + strlen(text) + 1, mark);
		if (fd >= 0)
			(void)close(fd);
	}
	(void)closedir(d);
	return found;
}

static void wait_for_sleepers(const char *mark, bool there)
{
	for (int i = 0; i < 2000 && any_sleeper(mark) != there; i++)
		(void)nanosleep(&(struct timespec){ 0, 10 * NS_PER_MS }, NULL);
	assert_int_equal(any_sleeper(mark), there);
}

static void no_process_is_left(void **state)
{
	struct box_limits l = usual_limits();
	char mark[32];

	(void)state;
	NEEDS_LANDLOCK;
	(void)snprintf(mark, sizeof mark, "7124.%d", getpid());
	prints("started\n",
	       "import signal\n"
	       "for s in 1, 2, 15: signal.signal(s, signal.SIG_IGN)\n"
	       "for i in range(3):\n"
	       "    if os.fork() == 0:\n"
	       "        os.setsid()\n"
	       "        if os.fork() == 0:\n"
	       "            if i: os.kill(os.getpid(), signal.SIGSTOP)\n"
	       "            os.execv('/bin/sleep', ['sleep', '%s'])\n"
	       "        os._exit(0)\n"
	       "if os.fork() == 0:\n"
	       "    os.fork(); os.execv('/bin/sleep', ['sleep', '%s'])\n"
	       "time.sleep(0.05)\n"
	       "print('started')\n",
	       mark, mark);
	assert_false(any_sleeper(mark));
	l.cpu_ns = NS_PER_S;
	for (int i = 0; i < 2 * VERSIONS; i++) {
		struct box_plan p = plan_of("import os\n"
		                            "while True:\n"
		                            "    try:\n"
		                            "        if os.fork() and os.fork(): os._exit(0)\n"
		                            "    except OSError: pass\n",
		                            i % 2);
		struct box_result r;

		p.limits = l;
		shared = box[i / 2];
		r = run_plan(&p);
		assert_true(r.end == BOX_EXITED || r.end == BOX_CPU_LIMIT ||
		            (r.end == BOX_SIGNALED && r.status == SIGKILL));
		box_result_done(&r);
		p = plan_of("import os\n"
		            "while True:\n"
		            "    try: os.fork()\n"
		            "    except OSError: pass\n",
		            i % 2);
		p.limits = l;
		r = run_plan(&p);
		assert_true(r.end == BOX_CPU_LIMIT ||
		            (r.end == BOX_SIGNALED && r.status == SIGKILL));
		box_result_done(&r);
	}
	prints("well\n", "print('well')\n");
}

static void nothing_is_left_in_the_folder(void **state)
{
	(void)state;
	NEEDS_LANDLOCK;
	for (int i = 0; i < 2; i++) {
		prints("1 ['main.py']\n",
		       "n = sum(len(d) + len(f) for _, d, f in os.walk('.'))\n"
		       "print(n, os.listdir())\n"
		       "sys.stdout.flush()\n"
		       "p = 'd'\n"
		       "for i in range(20):\n"
		       "    os.mkdir(p); open(p + '/f', 'w').write('x'); os.chdir(p); p = 'd'\n"
		       "    os.mkdir('e'); open('e/x', 'w')\n"
		       "ok(os.chmod, '.', 0)\n"
		       "os.chdir(os.environ['HOME'])\n"
		       "os.mkdir('none', 0o300); open('none/x', 'w'); os.mkdir('none/y', 0)\n");
		prints("1 ['main.py']\n", "%s", "print(len(os.listdir()), os.listdir())\n");
	}
}

static void a_trusted_process_is_out_of_reach(void **state)
{
	static const char code[] =
		"import os\n"
		"if role == 1:\n"
		"    os.write(5, b'go'); a = os.read(5, 99)\n"
		"    os.write(3, os.read(0, 99) + a)\n"
		"else:\n"
		"    os.read(6, 2)\n"
		"    for p in range(os.getpid() - 9, os.getpid() + 9):\n"
		"        try: os.kill(p, 9) if p != os.getpid() else None\n"
		"        except OSError: pass\n"
		"        for f in 'mem', 'environ', 'maps', 'fd':\n"
		"            try: open('/proc/%d/%s' % (p, f), 'rb'); os.write(1, b'open')\n"
		"            except OSError: pass\n"
		"    os.write(6, b'answer'); os.read(6, 1)\n";

	(void)state;
	NEEDS_LANDLOCK;
	for (int i = 0; i < VERSIONS; i++) {
		struct box_plan p = plan_of(code, true);
		struct box_result r;

		p.pair = true;
		p.in = STR("secret ");
		shared = box[i];
		for (int k = 0; k < 3; k++) {
			p.cold = k == 1;
			r = run_plan(&p);
			assert_int_equal(r.end, BOX_EXITED);
			assert_out(&r, 2, "secret answer");
			assert_out(&r, 0, "");
			box_result_done(&r);
		}
	}
}

/* Parent of a process; 0: it is none that sleeps for 'mark'. */
static pid_t parent_of_sleeper(const char *pid, const char *mark)
{
	char path[300], text[512] = { 0 }, *p;
	int fd, n;

	(void)snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? 0 : (int)read(fd, text, sizeof text - 1);
	(void)close(fd);
	if (n <= 6 || strcmp(text + strlen(text) + 1, mark))
		return 0;
	(void)snprintf(path, sizeof path, "/proc/%s/stat", pid);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? 0 : (int)read(fd, text, sizeof text - 1);
	(void)close(fd);
	text[n > 0 ? n : 0] = 0;
	p = strrchr(text, ')');
	return p ? (pid_t)strtol(p + 4, NULL, 10) : 0;
}

/* The init or zygote above the sleepers: the only parent that is none of them. */
static pid_t helper_above(const char *mark)
{
	DIR *d = opendir("/proc");
	pid_t ret = 0;

	for (struct dirent *f; d && (f = readdir(d));) {
		pid_t pid = parent_of_sleeper(f->d_name, mark);
		char text[16];

		(void)snprintf(text, sizeof text, "%d", pid);
		if (pid > 0 && !parent_of_sleeper(text, mark))
			ret = pid;
	}
	(void)closedir(d);
	return ret;
}

static pid_t youngest_child(void)
{
	char text[4096] = { 0 };
	int fd = open("/proc/thread-self/children", O_RDONLY);
	pid_t ret = 0;

	assert_true(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
	(void)close(fd);
	for (char *t = text; *t; t += strspn(t, " "))
		ret = (pid_t)strtol(t, &t, 10);
	return ret;
}

static bool has_folder(pid_t server)
{
	DIR *d = opendir("/tmp");
	bool found = false;
	char name[40];

	(void)snprintf(name, sizeof name, "cupel-boxes-%d.", server);
	for (struct dirent *f; d && (f = readdir(d));)
		found = found || !strncmp(f->d_name, name, strlen(name));
	(void)closedir(d);
	return found;
}

static char sleepers[200], sleep_mark[32];

static struct box_plan sleeping_plan(bool warm)
{
	(void)snprintf(sleep_mark, sizeof sleep_mark, "7125.%d", getpid());
	(void)snprintf(sleepers, sizeof sleepers,
	               "import os\n"
	               "if os.fork() == 0: os.setsid()\n"
	               "os.fork()\nos.execv('/bin/sleep', ['sleep', '%s'])\n",
	               sleep_mark);
	return plan_of(sleepers, warm);
}

/* Zygote or init are killed from outside while a program has children. */
static void a_helper_that_dies_leaves_nothing(void **state)
{
	(void)state;
	NEEDS_LANDLOCK;
	shared = box[0];
	for (int warm = 0; warm < 2; warm++) {
		struct box_plan p = sleeping_plan(warm), q = plan_of("print('next')\n", warm);
		struct box_result r;
		struct err e = { 0 };
		uint64_t id;

		assert_int_equal(box_submit(shared, &p, &id, &e), 0);
		wait_for_sleepers(sleep_mark, true);
		assert_int_equal(kill(helper_above(sleep_mark), SIGKILL), 0);
		assert_int_equal(box_wait(shared, -1, &r, &e), 1);
		assert_int_equal(r.end, BOX_FAILED);
		box_result_done(&r);
		assert_false(any_sleeper(sleep_mark));
		r = run_plan(&q);
		assert_out(&r, 0, "next\n");
		box_result_done(&r);
	}
}

static void a_server_that_dies_leaves_nothing(void **state)
{
	(void)state;
	NEEDS_LANDLOCK;
	for (int warm = 0; warm < 2; warm++) {
		struct box_plan p = sleeping_plan(warm);
		struct err e = { 0 };
		struct box *b;
		pid_t server;
		uint64_t id;

		assert_int_equal(open_version("7", BOX_LANDLOCK, &b, &e), 0);
		server = youngest_child();
		assert_true(has_folder(server));
		assert_int_equal(box_submit(b, &p, &id, &e), 0);
		wait_for_sleepers(sleep_mark, true);
		assert_int_equal(kill(server, SIGKILL), 0);
		box_close(b);
		wait_for_sleepers(sleep_mark, false);
		assert_int_equal(open_version("7", BOX_LANDLOCK, &b, &e), 0);
		assert_false(has_folder(server));
		box_close(b);
	}
}

static void without_landlock_nothing_runs(void **state)
{
	struct err e = { 0 };
	struct box *b;

	(void)state;
	assert_int_equal(open_version("0", BOX_LANDLOCK, &b, &e), ERR_DENIED);
	assert_non_null(strstr(e.msg, "Landlock is not available"));
}

/* No namespace to be had, as in many containers. */
static bool deny_namespaces(void)
{
	enum { SPACES = CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC };
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, SPACES, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof f / sizeof f[0], f };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) == 0;
}

static int open_in_child(const char *v, enum box_tier tier, enum box_tier want, const char *say)
{
	struct err e = { 0 };
	struct box *b;
	int r;

	if (!deny_namespaces())
		return 2;
	r = open_version(v, tier, &b, &e);
	if (want == BOX_NONE)
		return r == ERR_DENIED && strstr(e.msg, say) ? 0 : 3;
	if (r < 0) {
		printf("# %s\n", e.msg);
		return 4;
	}
	r = box_tier(b) != want || !strstr(box_missing(b), say);
	box_close(b);
	return r;
}

static void auto_takes_it_where_there_are_no_namespaces(void **state)
{
	static const struct {
		const char *version;
		enum box_tier tier, want;
		const char *say;
	} try[] = {
		{ "7", BOX_AUTO, BOX_LANDLOCK, "namespaces" },
		{ "0", BOX_AUTO, BOX_NONE, "Landlock is not available" },
		{ "7", BOX_USER, BOX_NONE, "namespaces" },
		{ "7", BOX_LANDLOCK, BOX_LANDLOCK, "" },
	};

	(void)state;
	NEEDS_LANDLOCK;
	for (size_t i = 0; i < sizeof try / sizeof try[0]; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			status =
				open_in_child(try[i].version, try[i].tier, try[i].want, try[i].say);
			(void)fflush(stdout);
			_exit(status);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(honest_programs_work),
		cmocka_unit_test(files_outside_are_out_of_reach),
		cmocka_unit_test(files_that_may_be_read_stay_as_they_are),
		cmocka_unit_test(nobody_outside_gets_a_signal),
		cmocka_unit_test(nobody_is_traced),
		cmocka_unit_test(no_socket_and_no_ipc),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(no_process_is_left),
		cmocka_unit_test(nothing_is_left_in_the_folder),
		cmocka_unit_test(a_trusted_process_is_out_of_reach),
		cmocka_unit_test(a_helper_that_dies_leaves_nothing),
		cmocka_unit_test(a_server_that_dies_leaves_nothing),
		cmocka_unit_test(without_landlock_nothing_runs),
		cmocka_unit_test(auto_takes_it_where_there_are_no_namespaces),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, open_all, close_all);
}
