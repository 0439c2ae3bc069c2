/* bench_layers.c - what each layer of isolation costs if it is made anew for one test: the CPU time
 * of a small process that makes it, less that of one that does not. The judge makes most of them
 * once for each slot.
 */
#include "cli/bench.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"

enum { TIMES = 200, FILTER = 120 };

#define SPACES (CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET)

static bool nothing(void)
{
	return true;
}

static bool mounts(void)
{
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("bench", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m") == 0 &&
	       mkdir("/tmp/a", 0700) == 0 && mkdir("/tmp/b", 0700) == 0 &&
	       mount("/tmp/a", "/tmp/b", NULL, MS_BIND, NULL) == 0 &&
	       mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

/* As long as the judge's. */
static bool filter(void)
{
	struct sock_filter f[FILTER];
	struct sock_fprog p = { FILTER, f };

	for (unsigned i = 0; i + 1 < FILTER; i++)
		f[i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1000 + i, 0, 0);
	f[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	f[FILTER - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) == 0;
}

static bool pipes(void)
{
	int p[2];

	for (int i = 0; i < 3; i++)
		if (pipe2(p, O_CLOEXEC) < 0 || fcntl(p[0], F_SETFL, O_NONBLOCK) < 0 ||
		    close(p[0]) < 0 || close(p[1]) < 0)
			return false;
	return true;
}

static bool stdin_file(void)
{
	AUTO_FD int fd = memfd_create("bench", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return fd >= 0 && write(fd, "1 2\n", 4) == 4 && lseek(fd, 0, SEEK_SET) == 0 &&
	       fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) == 0;
}

static bool cgroup(void)
{
	static const char *const root[] = { "/sys/fs/cgroup/memory", "/sys/fs/cgroup" };
	char dir[64], procs[96];
	bool ok = false;

	for (size_t i = 0; !ok && i < sizeof root / sizeof root[0]; i++) {
		(void)snprintf(dir, sizeof dir, "%s/cupel-bench-%d", root[i], getpid());
		if (mkdir(dir, 0755) < 0)
			continue;
		(void)snprintf(procs, sizeof procs, "%s/cgroup.procs", dir);
		AUTO_FD int fd = open(procs, O_WRONLY | O_CLOEXEC);
		(void)snprintf(procs, sizeof procs, "%s/cgroup.procs", root[i]);
		AUTO_FD int back = open(procs, O_WRONLY | O_CLOEXEC);
		ok = fd >= 0 && write(fd, "0", 1) == 1;
		(void)!write(back, "0", 1);
		(void)rmdir(dir);
	}
	return ok;
}

/* CPU time of one process that does it; negative: it could not. */
static int64_t cost(unsigned long flags, bool (*work)(void))
{
	int64_t cpu = bench_cpu_ns();

	for (int i = 0; i < TIMES; i++) {
		int status;
		pid_t pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, 0);

		if (pid == 0)
			_exit(!work());
		if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0)
			return -1;
	}
	return (bench_cpu_ns() - cpu) / TIMES;
}

void bench_layers(struct bench_layer ret[BENCH_LAYERS])
{
	unsigned long user = geteuid() == 0 ? 0 : CLONE_NEWUSER;
	int64_t base = cost(0, nothing), spaces = cost(user | SPACES, nothing);
	const struct bench_layer l[BENCH_LAYERS] = {
		{ "namespaces", "slot", spaces - base },
		{ "mounts", "slot", cost(user | SPACES, mounts) - spaces },
		{ "cgroup", "slot", cost(0, cgroup) - base },
		{ "seccomp", "slot", cost(0, filter) - base },
		{ "pipes", "test", cost(0, pipes) - base },
		{ "stdin", "test", cost(0, stdin_file) - base },
	};

	memcpy(ret, l, sizeof l);
}
