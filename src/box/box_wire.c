/* box_wire.c - messages between the library and cupel-boxd. */
#include "box/box_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/io.h"

enum { MAGIC = 0x62786f63, TEXT_MAX = 1 << 17 /* of one argument: MAX_ARG_STRLEN of the kernel */ };

ssize_t box_wire_send(int sock, const void *msg, size_t n, const int *fd, int n_fd, int flags)
{
	union {
		char room[CMSG_SPACE(sizeof(int) * WIRE_MAX_FDS)];
		struct cmsghdr align;
	} u = { 0 };
	struct iovec v = { (void *)(uintptr_t)msg, n };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	size_t bytes = sizeof(int) * (size_t)n_fd;
	ssize_t r;

	if (n_fd > 0) {
		struct cmsghdr *c;

		m.msg_control = u.room;
		m.msg_controllen = CMSG_SPACE(bytes);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(c), fd, bytes);
	}
	do
		r = sendmsg(sock, &m, flags | MSG_NOSIGNAL);
	while (r < 0 && errno == EINTR);
	return r;
}

ssize_t box_wire_recv(int sock, void *msg, size_t n, int fd[WIRE_MAX_FDS], int flags)
{
	union {
		char room[CMSG_SPACE(sizeof(int) * WIRE_MAX_FDS)];
		struct cmsghdr align;
	} u;
	struct iovec v = { msg, n };
	struct msghdr m = { .msg_iov = &v,
		            .msg_iovlen = 1,
		            .msg_control = u.room,
		            .msg_controllen = sizeof u.room };
	ssize_t r;

	for (int i = 0; i < WIRE_MAX_FDS; i++)
		fd[i] = -1;
	do
		r = recvmsg(sock, &m, flags | MSG_CMSG_CLOEXEC);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return r;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			memcpy(fd, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	if (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		for (int i = 0; i < WIRE_MAX_FDS; i++)
			if (fd[i] >= 0)
				(void)close(take_fd(&fd[i]));
		errno = EMSGSIZE;
		return -1;
	}
	return r;
}

static int check_texts(const char *const *text, const char *what, struct err *e)
{
	int n = 0;

	while (n < BOX_MAX_ARGS && text[n]) {
		if (strlen(text[n]) >= TEXT_MAX)
			return FAIL(e, ERR_RANGE, "%s %d is longer than %d bytes", what, n,
			            TEXT_MAX);
		n++;
	}
	return n < BOX_MAX_ARGS ? n
	                        : FAIL(e, ERR_RANGE, "%s: more than %d", what, BOX_MAX_ARGS - 1);
}

static int check_files(const struct box_plan *p, struct err *e)
{
	if (p->n_files < 0 || p->n_files > BOX_MAX_FILES)
		return FAIL(e, ERR_RANGE, "%d files, at most %d", p->n_files, BOX_MAX_FILES);
	for (int i = 0; i < p->n_files; i++) {
		const char *name = p->file[i].name;

		if (!name || !*name || strchr(name, '/') || strlen(name) > 255 ||
		    !strcmp(name, ".") || !strcmp(name, ".."))
			return FAIL(e, ERR_RANGE, "'%s' is no file name", name ? name : "");
		if (p->file[i].mode & ~0777)
			return FAIL(e, ERR_RANGE, "file %s: mode %o", name,
			            (unsigned)p->file[i].mode);
	}
	return 0;
}

static int check_limits(const struct box_limits *l, struct err *e)
{
	const struct {
		const char *name;
		int64_t val;
	} limit[] = {
		{ "cpu_ns", l->cpu_ns },
		{ "wall_ns", l->wall_ns },
		{ "mem_bytes", l->mem_bytes },
		{ "stack_bytes", l->stack_bytes },
		{ "out_bytes[0]", l->out_bytes[0] },
		{ "out_bytes[1]", l->out_bytes[1] },
		{ "out_bytes[2]", l->out_bytes[2] },
		{ "disk_bytes", l->disk_bytes },
		{ "procs", l->procs },
	};

	for (size_t i = 0; i < sizeof limit / sizeof limit[0]; i++)
		if (limit[i].val <= 0 || limit[i].val > INT64_MAX / 4)
			return FAIL(e, ERR_RANGE, "limit %s is %lld", limit[i].name,
			            (long long)limit[i].val);
	return 0;
}

int box_wire_check(const struct box_plan *p, struct err *e)
{
	int n = check_texts(p->argv, "argument", e);

	if (n < 0)
		return n;
	if (n == 0 && !p->zygote)
		return FAIL(e, ERR_RANGE, "no argv");
	if (!p->zygote && (p->cold || p->pair))
		return FAIL(e, ERR_RANGE, "a plan of a zygote's job without a zygote");
	n = check_texts(p->env, "environment", e);
	if (n < 0)
		return n;
	n = check_files(p, e);
	return n < 0 ? n : check_limits(&p->limits, e);
}

static void put_num(struct buf *b, uint64_t n)
{
	buf_put(b, &n, sizeof n);
}

static void put_text(struct buf *b, struct str s)
{
	put_num(b, s.n);
	buf_putstr(b, s);
	buf_putc(b, 0);
}

static void put_texts(struct buf *b, const char *const *text)
{
	int n = 0;

	while (text[n])
		n++;
	put_num(b, (uint64_t)n);
	for (int i = 0; i < n; i++)
		put_text(b, (struct str){ text[i], strlen(text[i]) });
}

void box_wire_put_plan(struct buf *b, const struct box_plan *p)
{
	put_num(b, MAGIC);
	put_texts(b, p->argv);
	put_texts(b, p->env);
	put_text(b, p->spec);
	put_num(b, (uint64_t)p->n_files);
	for (int i = 0; i < p->n_files; i++) {
		put_text(b, (struct str){ p->file[i].name, strlen(p->file[i].name) });
		put_num(b, (uint64_t)p->file[i].mode);
		put_text(b, p->file[i].text);
	}
}

/* Reading stops at the first fault: then rest.p is NULL. */
static uint64_t get_num(struct str *rest)
{
	uint64_t n;

	if (!rest->p || rest->n < sizeof n) {
		rest->p = NULL;
		return 0;
	}
	memcpy(&n, rest->p, sizeof n);
	*rest = (struct str){ rest->p + sizeof n, rest->n - sizeof n };
	return n;
}

static struct str get_text(struct str *rest)
{
	uint64_t n = get_num(rest);
	struct str s;

	if (!rest->p || n >= rest->n || rest->p[n]) {
		rest->p = NULL;
		return (struct str){ "", 0 };
	}
	s = (struct str){ rest->p, n };
	*rest = (struct str){ rest->p + n + 1, rest->n - n - 1 };
	return s;
}

static void get_texts(struct str *rest, const char **text)
{
	uint64_t n = get_num(rest);

	if (n >= BOX_MAX_ARGS) {
		rest->p = NULL;
		n = 0;
	}
	for (uint64_t i = 0; i < n; i++)
		text[i] = get_text(rest).p;
	text[n] = NULL;
}

int box_wire_get_plan(struct str blob, struct box_plan *ret, struct err *e)
{
	struct box_plan p = { 0 };
	uint64_t n;

	if (get_num(&blob) != MAGIC)
		return FAIL(e, ERR_PARSE, "not a plan");
	get_texts(&blob, p.argv);
	get_texts(&blob, p.env);
	p.spec = get_text(&blob);
	n = get_num(&blob);
	if (n > BOX_MAX_FILES)
		return FAIL(e, ERR_PARSE, "plan with %llu files", (unsigned long long)n);
	for (uint64_t i = 0; i < n; i++) {
		p.file[i].name = get_text(&blob).p;
		p.file[i].mode = (int)(get_num(&blob) & 0777);
		p.file[i].text = get_text(&blob);
	}
	p.n_files = (int)n;
	if (!blob.p || blob.n)
		return FAIL(e, ERR_PARSE, "malformed plan");
	n = (uint64_t)check_files(&p, e);
	if (n)
		return ERR_RANGE;
	*ret = p;
	return 0;
}

void box_wire_put_zygotes(struct buf *b, const struct box_zygote *z, int n)
{
	for (int i = 0; i < n; i++) {
		put_texts(b, z[i].argv);
		put_texts(b, z[i].args);
		put_texts(b, z[i].env);
		put_text(b, z[i].boot);
		put_num(b, (uint64_t)z[i].disk_bytes);
	}
}

int box_wire_get_zygotes(struct str blob, struct box_zygote *ret, int n, struct err *e)
{
	for (int i = 0; i < n; i++) {
		struct box_zygote z = { 0 };

		get_texts(&blob, z.argv);
		get_texts(&blob, z.args);
		get_texts(&blob, z.env);
		z.boot = get_text(&blob);
		z.disk_bytes = (int64_t)get_num(&blob);
		if (!blob.p || !z.argv[0] || z.disk_bytes <= 0)
			return FAIL(e, ERR_PARSE, "malformed zygote");
		ret[i] = z;
	}
	return 0;
}

int box_wire_memfd(const char *name, struct str text, int *ret_fd, struct err *e)
{
	AUTO_FD int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r;

	if (fd < 0)
		return FAIL(e, ERR_SYS, "memfd_create: %s", strerror(errno));
	r = io_write(fd, text.p, text.n, e);
	if (r < 0)
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return FAIL(e, ERR_SYS, "seal %s: %s", name, strerror(errno));
	*ret_fd = take_fd(&fd);
	return 0;
}
