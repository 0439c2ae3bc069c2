/* train_checkpoint.c - writes, finds and reads the checkpoints of a run. */
#include "train/train_checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/jsonw.h"

enum { PATH_LEN = 4096, MAX_STATE = 64 << 20, MAX_FOUND = 4096 };

static int path_of(char *ret, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int path_of(char *ret, struct err *e, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(ret, PATH_LEN, fmt, ap);
	va_end(ap);
	return n < 0 || n >= PATH_LEN ? FAIL(e, ERR_LIMIT, "path is too long") : 0;
}

const char *train_checkpoint_path(const char *run, int64_t step, struct arena *a)
{
	return arena_printf(a, "%s/checkpoints/step_%lld", run, (long long)step);
}

static int sync_path(const char *path, struct err *e)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return FAIL(e, ERR_SYS, "sync %s: %s", path, strerror(errno));
	return 0;
}

/* Every file of dir and dir itself are on disk. */
static int sync_dir(const char *dir, struct err *e)
{
	DIR *d = opendir(dir);
	struct dirent *f;
	int r = 0;

	if (!d)
		return FAIL(e, ERR_SYS, "%s: %s", dir, strerror(errno));
	while (r == 0 && (f = readdir(d))) {
		char path[PATH_LEN];

		if (f->d_name[0] == '.')
			continue;
		r = path_of(path, e, "%s/%s", dir, f->d_name);
		if (r == 0)
			r = sync_path(path, e);
	}
	(void)closedir(d);
	return r < 0 ? r : sync_path(dir, e);
}

static int hash_file(const char *path, char ret[2 * HASH_BYTES + 1], struct err *e)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	char block[1 << 14];
	struct hash_ctx *c;
	struct hash h;
	size_t n;
	int r;

	if (fd < 0)
		return FAIL(e, ERR_SYS, "%s: %s", path, strerror(errno));
	c = hash_new();
	if (!c)
		return FAIL(e, ERR_NOMEM, "%s", path);
	do {
		r = io_read(fd, block, sizeof block, &n, e);
		if (r == 0)
			hash_add(c, block, n);
	} while (r == 0 && n == sizeof block);
	h = hash_end(c);
	if (r < 0)
		return err_wrap(e, "%s", path);
	hash_hex(&h, ret);
	return 0;
}

static int write_state(const char *dir, const struct train_state *s, struct err *e)
{
	AUTO_BUF b = { .max = MAX_STATE };
	struct jsonw w = { &b, false };
	char path[PATH_LEN], sha[2 * HASH_BYTES + 1];

	if (path_of(path, e, "%s/model.safetensors", dir) < 0 || hash_file(path, sha, e) < 0)
		return ERR_SYS;
	jsonw_open(&w, '{');
	jsonw_key(&w, "step"), jsonw_int(&w, s->step);
	jsonw_key(&w, "version"), jsonw_int(&w, s->version);
	jsonw_key(&w, "next_sample"), jsonw_int(&w, s->next_sample);
	jsonw_key(&w, "seed"), jsonw_int(&w, (int64_t)s->seed);
	jsonw_key(&w, "eval_due"), jsonw_bool(&w, s->eval_due);
	jsonw_key(&w, "config_sha256"), jsonw_cstr(&w, s->identity);
	jsonw_key(&w, "weights_sha256"), jsonw_cstr(&w, sha);
	jsonw_key(&w, "build"), jsonw_cstr(&w, "cupel " CUPEL_VERSION);
	jsonw_key(&w, "selector");
	if (s->selector.p)
		jsonw_raw(&w, s->selector);
	else
		jsonw_null(&w);
	jsonw_close(&w, '}');
	buf_putc(&b, '\n');
	if (buf_check(&b, "trainer.json", e) < 0 || path_of(path, e, "%s/trainer.json", dir) < 0)
		return ERR_LIMIT;
	return io_save(path, buf_str(&b), e);
}

/* The run's link `checkpoint` points to the step, changed in one rename. */
static int point_at(const char *run, int64_t step, struct err *e)
{
	char link[PATH_LEN], tmp[PATH_LEN], to[64];

	if (path_of(link, e, "%s/checkpoint", run) < 0 ||
	    path_of(tmp, e, "%s/checkpoint.tmp", run) < 0)
		return ERR_LIMIT;
	(void)snprintf(to, sizeof to, "checkpoints/step_%lld", (long long)step);
	(void)unlink(tmp);
	if (symlink(to, tmp) < 0 || rename(tmp, link) < 0)
		return FAIL(e, ERR_SYS, "%s: %s", link, strerror(errno));
	return sync_path(run, e);
}

static bool complete(const char *dir)
{
	char path[PATH_LEN];

	return path_of(path, NULL, "%s/COMPLETE", dir) == 0 && io_exists(path);
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Steps with a complete checkpoint, ascending; other step_* folders are removed. */
static int list(const char *run, int64_t *ret, int max, int *ret_n, struct err *e)
{
	char dir[PATH_LEN], path[PATH_LEN];
	struct dirent *f;
	int n = 0, r = 0;
	DIR *d;

	if (path_of(dir, e, "%s/checkpoints", run) < 0)
		return ERR_LIMIT;
	d = opendir(dir);
	if (!d && errno != ENOENT)
		return FAIL(e, ERR_SYS, "%s: %s", dir, strerror(errno));
	while (r == 0 && d && (f = readdir(d))) {
		char *end;
		long long step;

		if (strncmp(f->d_name, "step_", 5) != 0)
			continue;
		step = strtoll(f->d_name + 5, &end, 10);
		r = path_of(path, e, "%s/%s", dir, f->d_name);
		if (r < 0)
			break;
		if (*end || end == f->d_name + 5 || !complete(path))
			r = io_remove_tree(path, e);
		else if (n < max)
			ret[n++] = step;
	}
	if (d)
		(void)closedir(d);
	if (r < 0)
		return r;
	qsort(ret, (size_t)n, sizeof *ret, ascending);
	*ret_n = n;
	return 0;
}

static int prune(const char *run, int keep, struct err *e)
{
	int64_t step[MAX_FOUND];
	char path[PATH_LEN];
	int n = 0;

	if (list(run, step, MAX_FOUND, &n, e) < 0)
		return ERR_SYS;
	for (int i = 0; i < n - keep; i++)
		if (path_of(path, e, "%s/checkpoints/step_%lld", run, (long long)step[i]) < 0 ||
		    io_remove_tree(path, e) < 0)
			return ERR_SYS;
	return 0;
}

static int write_new(const char *dir, const struct train_state *s, struct policy *p, struct err *e)
{
	char tmp[PATH_LEN], mark[PATH_LEN];
	AUTO_BUF text = { .max = 64 };

	if (path_of(tmp, e, "%s.tmp", dir) < 0 || path_of(mark, e, "%s/COMPLETE", dir) < 0 ||
	    io_remove_tree(tmp, e) < 0 || io_remove_tree(dir, e) < 0 || io_mkdirs(tmp, e) < 0)
		return ERR_SYS;
	if (p->fn->save(p, tmp, true, e) < 0 || write_state(tmp, s, e) < 0 || sync_dir(tmp, e) < 0)
		return ERR_SYS;
	if (rename(tmp, dir) < 0)
		return FAIL(e, ERR_SYS, "rename %s: %s", tmp, strerror(errno));
	buf_putf(&text, "step %lld\n", (long long)s->step);
	return io_save(mark, buf_str(&text), e);
}

int train_checkpoint_save(const char *run, const struct train_state *s, struct policy *p, int keep,
                          struct err *e)
{
	char dir[PATH_LEN], parent[PATH_LEN];
	struct err own;
	int r;

	e = e ? e : &own;
	if (path_of(parent, e, "%s/checkpoints", run) < 0 ||
	    path_of(dir, e, "%s/step_%lld", parent, (long long)s->step) < 0)
		return e->code;
	r = io_mkdirs(parent, e);
	if (r == 0)
		r = complete(dir) ? write_state(dir, s, e) : write_new(dir, s, p, e);
	if (r == 0)
		r = sync_path(parent, e);
	if (r == 0)
		r = point_at(run, s->step, e);
	if (r == 0)
		r = prune(run, keep, e);
	return r < 0 ? err_wrap(e, "checkpoint of step %lld", (long long)s->step) : 0;
}

int train_checkpoint_find(const char *run, int64_t *ret_step, struct err *e)
{
	int64_t step[MAX_FOUND];
	int n = 0, r = list(run, step, MAX_FOUND, &n, e);

	if (r < 0)
		return r;
	*ret_step = n ? step[n - 1] : -1;
	return 0;
}

int train_checkpoint_read(const char *run, int64_t step, struct arena *a, struct train_state *ret,
                          struct err *e)
{
	AUTO_BUF b = { .max = MAX_STATE };
	char path[PATH_LEN];
	const struct json *j = NULL;
	struct train_state s = { 0 };
	struct str identity;
	int64_t seed = 0;
	struct err own;
	int r;

	e = e ? e : &own;
	if (path_of(path, e, "%s/checkpoints/step_%lld/trainer.json", run, (long long)step) < 0 ||
	    io_load(path, &b, e) < 0)
		return e->code;
	r = json_parse(buf_str(&b), a, &j, e);
	if (r == 0)
		r = json_opt_int(j, "step", 0, INT64_MAX, &s.step, e);
	if (r == 0)
		r = json_opt_int(j, "version", 0, INT64_MAX, &s.version, e);
	if (r == 0)
		r = json_opt_int(j, "next_sample", 0, INT64_MAX, &s.next_sample, e);
	if (r == 0)
		r = json_opt_int(j, "seed", 0, INT64_MAX, &seed, e);
	if (r == 0)
		r = json_opt_bool(j, "eval_due", &s.eval_due, e);
	if (r == 0)
		r = json_need_str(j, "config_sha256", &identity, e);
	if (r == 0 && (s.step != step || identity.n >= sizeof s.identity))
		r = FAIL(e, ERR_PARSE, "not the state of step %lld", (long long)step);
	if (r < 0)
		return err_wrap(e, "%s", path);
	s.seed = (uint64_t)seed;
	memcpy(s.identity, identity.p, identity.n);
	s.selector_json = json_get(j, "selector");
	if (json_is(s.selector_json, JSON_NULL))
		s.selector_json = NULL;
	*ret = s;
	return 0;
}
