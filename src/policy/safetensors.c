/* safetensors.c - reads and writes tensor files. */
#include "policy/safetensors.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/json.h"
#include "base/jsonw.h"

enum {
	HEADER_MAX = 16 << 20,
	NAME_MAX_BYTES = 512,
	ARENA_MAX = 512 << 20, /* the JSON tree of a header of HEADER_MAX bytes */
};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensor data is used as it lies");

static const struct {
	const char *text;
	int bytes;
} dtypes[] = { [ST_F32] = { "F32", 4 }, [ST_BF16] = { "BF16", 2 }, [ST_F16] = { "F16", 2 } };

enum { N_DTYPES = sizeof dtypes / sizeof *dtypes };

struct range {
	int64_t begin, end;
	const char *name;
};

struct st_file {
	struct arena a;
	void *map;
	size_t map_n;
	struct st_tensor *t; /* (n,) in order of names */
	int n;
	const struct json *meta; /* NULL: none */
};

static int by_name(const void *a, const void *b)
{
	const struct st_tensor *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int by_begin(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static bool is_name(const char *s)
{
	size_t n = 0;

	for (; s[n] && n <= NAME_MAX_BYTES; n++)
		if (s[n] < ' ' || s[n] > '~')
			return false;
	return n > 0 && n <= NAME_MAX_BYTES;
}

static bool to_int(const struct json *j, int64_t *ret)
{
	const struct str *s = &j->text;
	int64_t v = 0;

	if (!json_is(j, JSON_NUM) || s->n == 0)
		return false;
	for (size_t i = 0; i < s->n; i++)
		if (s->p[i] < '0' || s->p[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, s->p[i] - '0', &v))
			return false;
	*ret = v;
	return true;
}

/* Bytes that shape and dtype ask for; false beyond int64. */
static bool size_of(const struct st_tensor *t, int64_t *ret)
{
	int64_t n = dtypes[t->dtype].bytes;

	for (int i = 0; i < t->rank; i++)
		if (t->dim[i] < 0 || __builtin_mul_overflow(n, t->dim[i], &n))
			return false;
	*ret = n;
	return true;
}

static int read_shape(const struct json *j, struct st_tensor *t, struct err *e)
{
	const struct json *shape = NULL;
	int r = json_need(j, "shape", JSON_ARR, &shape, e);

	if (r < 0)
		return r;
	t->rank = json_len(shape);
	if (t->rank > ST_RANK)
		return FAIL(e, ERR_RANGE, "shape has %d dimensions, at most %d are read", t->rank,
		            ST_RANK);
	for (int i = 0; i < ST_RANK; i++) {
		t->dim[i] = 1;
		if (i < t->rank && !to_int(json_at(shape, i), &t->dim[i]))
			return FAIL(e, ERR_PARSE, "shape[%d] is not a whole number", i);
	}
	return 0;
}

static int read_tensor(const struct json *j, struct str data, struct st_tensor *t, struct range *g,
                       struct err *e)
{
	const struct json *at = NULL;
	struct str dtype;
	int64_t want;
	int r = json_need_str(j, "dtype", &dtype, e);
	int d = 0;

	if (r < 0)
		return r;
	while (d < N_DTYPES && !str_is(dtype, dtypes[d].text))
		d++;
	if (d == N_DTYPES)
		return FAIL(e, ERR_RANGE, "dtype '%.*s' is not read (F32, BF16, F16)",
		            (int)(dtype.n < 20 ? dtype.n : 20), dtype.p);
	t->dtype = (enum st_dtype)d;
	r = read_shape(j, t, e);
	if (r < 0)
		return r;
	r = json_need(j, "data_offsets", JSON_ARR, &at, e);
	if (r < 0)
		return r;
	if (json_len(at) != 2 || !to_int(json_at(at, 0), &g->begin) ||
	    !to_int(json_at(at, 1), &g->end) || g->begin > g->end)
		return FAIL(e, ERR_PARSE, "data_offsets is not [begin, end]");
	if (g->end > (int64_t)data.n)
		return FAIL(e, ERR_RANGE,
		            "data_offsets end at %lld, the file has %zu bytes of data",
		            (long long)g->end, data.n);
	if (!size_of(t, &want) || want != g->end - g->begin)
		return FAIL(e, ERR_RANGE, "shape and dtype do not have the %lld bytes of the range",
		            (long long)(g->end - g->begin));
	g->name = t->name;
	t->data = data.p + g->begin;
	t->bytes = want;
	return 0;
}

static int check_meta(const struct json *j, struct err *e)
{
	if (!json_is(j, JSON_OBJ))
		return FAIL(e, ERR_PARSE, "__metadata__ is not an object");
	for (int i = 0; i < j->n; i++)
		if (!json_is(&j->item[i], JSON_STR))
			return FAIL(e, ERR_PARSE, "__metadata__ holds something other than text");
	return 0;
}

/* The ranges, in their order in the file, cover the data without overlap or hole. */
static int check_ranges(struct range *g, int n, size_t bytes, struct err *e)
{
	int64_t at = 0;

	qsort(g, (size_t)n, sizeof *g, by_begin);
	for (int i = 0; i < n; i++) {
		if (g[i].begin != at)
			return FAIL(e, ERR_PARSE, "tensor '%.80s' %s", g[i].name,
			            g[i].begin < at ? "overlaps another" : "stands behind a hole");
		at = g[i].end;
	}
	if (at != (int64_t)bytes)
		return FAIL(e, ERR_PARSE, "%lld bytes behind the last tensor",
		            (long long)bytes - (long long)at);
	return 0;
}

static int read_header(struct st_file *f, struct str header, struct str data, struct err *e)
{
	const struct json *j = NULL;
	struct range *g;
	int r = json_parse(header, &f->a, &j, e);

	if (r < 0)
		return r;
	if (!json_is(j, JSON_OBJ))
		return FAIL(e, ERR_PARSE, "header is not an object");
	f->t = arena_new(&f->a, struct st_tensor, j->n);
	g = arena_new(&f->a, struct range, j->n);
	if (!f->t || !g)
		return FAIL(e, ERR_LIMIT, "header with %d names is too large", j->n);
	for (int i = 0; i < j->n; i++) {
		struct str name = arena_str(&f->a, j->key[i]);

		if (!name.p)
			return FAIL(e, ERR_LIMIT, "header is too large");
		if (str_is(name, "__metadata__")) {
			r = check_meta(&j->item[i], e);
			f->meta = &j->item[i];
		} else if (strlen(name.p) != name.n || !is_name(name.p)) {
			r = FAIL(e, ERR_PARSE, "name of tensor %d is not printable", i);
		} else {
			f->t[f->n].name = name.p;
			r = read_tensor(&j->item[i], data, &f->t[f->n], &g[f->n], e);
			if (r < 0)
				r = err_wrap(e, "tensor '%.80s'", name.p);
			f->n++;
		}
		if (r < 0)
			return r;
	}
	r = check_ranges(g, f->n, data.n, e);
	if (r < 0)
		return r;
	qsort(f->t, (size_t)f->n, sizeof *f->t, by_name);
	for (int i = 1; i < f->n; i++)
		if (strcmp(f->t[i - 1].name, f->t[i].name) == 0)
			return FAIL(e, ERR_PARSE, "tensor '%.80s' is given twice", f->t[i].name);
	return 0;
}

/* Metadata texts get a final NUL, so that st_meta() can lend C strings. */
static int own_meta(struct st_file *f, struct err *e)
{
	struct json *own = f->meta ? arena_new(&f->a, struct json, f->meta->n) : NULL;
	struct json *obj = f->meta ? arena_new(&f->a, struct json, 1) : NULL;

	if (!f->meta)
		return 0;
	if (!own || !obj)
		return FAIL(e, ERR_LIMIT, "__metadata__ is too large");
	for (int i = 0; i < f->meta->n; i++) {
		own[i] = f->meta->item[i];
		own[i].text = arena_str(&f->a, f->meta->item[i].text);
		if (!own[i].text.p)
			return FAIL(e, ERR_LIMIT, "__metadata__ is too large");
	}
	*obj = *f->meta;
	obj->item = own;
	f->meta = obj;
	return 0;
}

static int map_file(struct st_file *f, const char *path, struct err *e)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return FAIL(e, ERR_SYS, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return FAIL(e, ERR_PARSE, "not a regular file");
	if (st.st_size < 8)
		return FAIL(e, ERR_PARSE, "truncated: %lld bytes", (long long)st.st_size);
	f->map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (f->map == MAP_FAILED) {
		f->map = NULL;
		return FAIL(e, ERR_SYS, "mmap: %s", strerror(errno));
	}
	f->map_n = (size_t)st.st_size;
	return 0;
}

int st_open(const char *path, struct st_file **ret, struct err *e)
{
	struct st_file *f = calloc(1, sizeof *f);
	uint64_t header_n = 0;
	int r;

	if (!f)
		return FAIL(e, ERR_NOMEM, "%s", path);
	f->a.limit = ARENA_MAX;
	r = map_file(f, path, e);
	if (r == 0) {
		const char *p = f->map;

		memcpy(&header_n, p, 8);
		if (header_n > HEADER_MAX)
			r = FAIL(e, ERR_LIMIT, "header of %llu bytes, at most %d are read",
			         (unsigned long long)header_n, HEADER_MAX);
		else if (header_n > f->map_n - 8)
			r = FAIL(e, ERR_PARSE, "truncated: the header has %llu bytes",
			         (unsigned long long)header_n);
		else
			r = read_header(f, (struct str){ p + 8, header_n },
			                (struct str){ p + 8 + header_n, f->map_n - 8 - header_n },
			                e);
	}
	if (r == 0)
		r = own_meta(f, e);
	if (r < 0) {
		st_close(f);
		return err_wrap(e, "%s", path);
	}
	*ret = f;
	return 0;
}

void st_close(struct st_file *f)
{
	if (!f)
		return;
	if (f->map)
		(void)munmap(f->map, f->map_n);
	arena_done(&f->a);
	free(f);
}

int st_count(const struct st_file *f)
{
	return f->n;
}

const struct st_tensor *st_at(const struct st_file *f, int i)
{
	assert(i >= 0 && i < f->n);
	return &f->t[i];
}

const struct st_tensor *st_find(const struct st_file *f, const char *name)
{
	struct st_tensor key = { .name = name };

	return f->n ? bsearch(&key, f->t, (size_t)f->n, sizeof *f->t, by_name) : NULL;
}

const char *st_meta(const struct st_file *f, const char *key)
{
	const struct json *j = json_get(f->meta, key);

	return j ? j->text.p : NULL;
}

int64_t st_numel(const struct st_tensor *t)
{
	return t->bytes / dtypes[t->dtype].bytes;
}

/* fp16 to fp32: sign 1, exponent 5 (bias 15), fraction 10 bits; every value exists in fp32. */
static float from_f16(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = h >> 10 & 0x1f, frac = h & 0x3ff, u;
	float x;

	if (exp == 0) { /* zero or subnormal: frac * 2^-24, exact */
		x = (float)frac * 0x1p-24F;
		memcpy(&u, &x, 4);
		u |= sign;
	} else if (exp == 0x1f) {
		u = sign | 0x7f800000 | frac << 13;
	} else {
		u = sign | (exp + 127 - 15) << 23 | frac << 13;
	}
	memcpy(&x, &u, 4);
	return x;
}

int st_to_f32(const struct st_tensor *t, float *ret, struct err *e)
{
	const char *p = t->data;
	int64_t n;

	if ((int)t->dtype < 0 || (int)t->dtype >= N_DTYPES)
		return FAIL(e, ERR_RANGE, "tensor '%.80s': no such dtype", t->name);
	n = st_numel(t);
	if (n == 0)
		return 0;
	if (t->dtype == ST_F32) {
		memcpy(ret, p, (size_t)n * sizeof *ret);
		return 0;
	}
	for (int64_t i = 0; i < n; i++) {
		uint16_t h;
		uint32_t u;

		memcpy(&h, p + 2 * i, 2);
		u = (uint32_t)h << 16;
		if (t->dtype == ST_F16)
			ret[i] = from_f16(h);
		else
			memcpy(&ret[i], &u, 4);
	}
	return 0;
}

/* ---- writing ---- */

static int check_tensor(const struct st_tensor *t, struct err *e)
{
	int64_t want;

	if (!t->name || !is_name(t->name) || strcmp(t->name, "__metadata__") == 0)
		return FAIL(e, ERR_RANGE, "tensor without a printable name");
	if ((int)t->dtype < 0 || (int)t->dtype >= N_DTYPES || t->rank < 0 || t->rank > ST_RANK ||
	    !size_of(t, &want) || want != t->bytes || (want && !t->data))
		return FAIL(e, ERR_RANGE, "tensor '%.80s': dtype, shape, bytes and data disagree",
		            t->name);
	return 0;
}

static void put_tensor(struct jsonw *w, const struct st_tensor *t, int64_t begin)
{
	jsonw_key(w, t->name), jsonw_open(w, '{');
	jsonw_key(w, "dtype"), jsonw_cstr(w, dtypes[t->dtype].text);
	jsonw_key(w, "shape"), jsonw_open(w, '[');
	for (int i = 0; i < t->rank; i++)
		jsonw_int(w, t->dim[i]);
	jsonw_close(w, ']');
	jsonw_key(w, "data_offsets"), jsonw_open(w, '[');
	jsonw_int(w, begin), jsonw_int(w, begin + t->bytes);
	jsonw_close(w, ']');
	jsonw_close(w, '}');
}

static int put_header(struct buf *b, const struct st_tensor *t, int n, const char *const meta[][2],
                      struct err *e)
{
	struct jsonw w = { b };
	int64_t at = 0;

	jsonw_open(&w, '{');
	if (meta && meta[0][0]) {
		jsonw_key(&w, "__metadata__"), jsonw_open(&w, '{');
		for (int i = 0; meta[i][0]; i++)
			jsonw_key(&w, meta[i][0]), jsonw_cstr(&w, meta[i][1] ? meta[i][1] : "");
		jsonw_close(&w, '}');
	}
	for (int i = 0; i < n; i++) {
		int r = check_tensor(&t[i], e);

		if (r < 0)
			return r;
		if (i > 0 && strcmp(t[i - 1].name, t[i].name) == 0)
			return FAIL(e, ERR_RANGE, "tensor '%.80s' is given twice", t[i].name);
		put_tensor(&w, &t[i], at);
		if (__builtin_add_overflow(at, t[i].bytes, &at))
			return FAIL(e, ERR_LIMIT, "more than 2^63 bytes");
	}
	jsonw_close(&w, '}');
	while (b->n % 8 && !b->failed)
		buf_putc(b, ' ');
	return buf_check(b, "header", e);
}

static int sync_folder_of(const char *path)
{
	char dir[4096];
	const char *slash = strrchr(path, '/');
	int n = slash ? (int)(slash - path) : 0;
	AUTO_FD int fd = -1;

	(void)snprintf(dir, sizeof dir, "%.*s", n ? n : 1, n ? path : slash ? "/" : ".");
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -1 : fsync(fd);
}

static int write_all(const char *tmp, struct str header, const struct st_tensor *t, int n,
                     struct err *e)
{
	AUTO_FD int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	uint64_t header_n = header.n;
	int r;

	if (fd < 0)
		return FAIL(e, ERR_SYS, "%s", strerror(errno));
	r = io_write(fd, &header_n, 8, e);
	if (r == 0)
		r = io_write(fd, header.p, header.n, e);
	for (int i = 0; i < n && r == 0; i++)
		r = io_write(fd, t[i].data, (size_t)t[i].bytes, e);
	if (r == 0 && (fsync(fd) < 0 || close(take_fd(&fd)) < 0))
		r = FAIL(e, ERR_SYS, "%s", strerror(errno));
	return r;
}

int st_save(const char *path, const struct st_tensor *t, int n, const char *const meta[][2],
            struct err *e)
{
	AUTO_ARENA a = { .limit = ARENA_MAX };
	AUTO_BUF header = { .max = HEADER_MAX };
	struct st_tensor *own = arena_new(&a, struct st_tensor, n > 0 ? n : 1);
	const char *tmp = arena_printf(&a, "%s.tmp", path);
	int r;

	assert(n >= 0);
	if (!own || !tmp)
		return FAIL(e, ERR_LIMIT, "%s: %d tensors", path, n);
	if (n)
		memcpy(own, t, (size_t)n * sizeof *t);
	for (int i = 0; i < n; i++)
		if (!own[i].name)
			return FAIL(e, ERR_RANGE, "%s: tensor %d has no name", path, i);
	qsort(own, (size_t)n, sizeof *own, by_name);
	r = put_header(&header, own, n, meta, e);
	if (r < 0)
		return err_wrap(e, "%s", path);
	r = write_all(tmp, buf_str(&header), own, n, e);
	if (r == 0 && rename(tmp, path) < 0)
		r = FAIL(e, ERR_SYS, "rename: %s", strerror(errno));
	if (r < 0) {
		(void)unlink(tmp);
		return err_wrap(e, "%s", path);
	}
	if (sync_folder_of(path) < 0)
		return FAIL(e, ERR_SYS, "%s: sync of the folder: %s", path, strerror(errno));
	return 0;
}
