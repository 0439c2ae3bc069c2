/* tasks.c - a file of tasks. */
#include "task/task.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"

#define MAX_BYTES ((size_t)8 << 30)

static int compare(struct str a, struct str b)
{
	int c = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return c ? c : (a.n > b.n) - (a.n < b.n);
}

static int by_id(const void *x, const void *y, void *arg)
{
	const struct task *task = arg;
	int i = *(const int *)x, k = *(const int *)y, c = compare(task[i].id, task[k].id);

	return c ? c : i - k;
}

static int index_ids(struct tasks *t, const int *line, const char *name, struct err *e)
{
	t->by_id = arena_new(&t->a, int, t->n);
	if (!t->by_id)
		return FAIL(e, ERR_LIMIT, "%s: too many tasks", name);
	for (int i = 0; i < t->n; i++)
		t->by_id[i] = i;
	qsort_r(t->by_id, (size_t)t->n, sizeof *t->by_id, by_id, t->task);
	for (int i = 1; i < t->n; i++) {
		int k = t->by_id[i], before = t->by_id[i - 1];
		struct str id = t->task[k].id;

		if (str_eq(t->task[before].id, id))
			return FAIL(e, ERR_PARSE,
			            "%s:%d: id '%.*s' was given to the task of line %d already",
			            name, line[k], (int)(id.n < 60 ? id.n : 60), id.p,
			            line[before]);
	}
	return 0;
}

/* Room for one more task and its line number; both arrays double in the arena. */
static int grow(struct tasks *t, int **line, int *cap, struct err *e)
{
	struct task *task;
	int *l, n = *cap ? *cap * 2 : 64;

	if (t->n < *cap)
		return 0;
	task = *cap > INT32_MAX / 4 ? NULL : arena_new(&t->a, struct task, n);
	l = task ? arena_new(&t->a, int, n) : NULL;
	if (!l)
		return FAIL(e, ERR_LIMIT, "too many tasks");
	if (t->n) {
		memcpy(task, t->task, (size_t)t->n * sizeof *task);
		memcpy(l, *line, (size_t)t->n * sizeof *l);
	}
	t->task = task;
	*line = l;
	*cap = n;
	return 0;
}

/* Python's json writes Infinity, which is no JSON. In a copy of the same length it becomes a number
 * that no double holds. .p is NULL: there is none, or no memory.
 */
static struct str without_infinity(struct str text, struct arena *a)
{
	static const struct str word = STR("Infinity");
	bool inside = false, found = false;
	char *p;

	if (!str_has(text, word))
		return (struct str){ 0 };
	p = (char *)arena_str(a, text).p; /* ours: a fresh copy */
	for (size_t i = 0; p && i < text.n; i++) {
		if (inside && p[i] == '\\') {
			i++;
		} else if (p[i] == '"') {
			inside = !inside;
		} else if (!inside && i + word.n <= text.n && !memcmp(p + i, word.p, word.n)) {
			memcpy(p + i, "1e999   ", word.n);
			found = true;
		}
	}
	return (struct str){ found ? p : NULL, text.n };
}

static int parse(struct str text, struct arena *a, const struct json **ret, struct err *e)
{
	struct str other;
	int r = json_parse(text, a, ret, e);

	if (r != ERR_PARSE)
		return r;
	other = without_infinity(text, a);
	return other.p ? json_parse(other, a, ret, e) : r;
}

static int load_line(struct tasks *t, const struct format *f, struct str text, struct err *e)
{
	const struct json *rec = NULL;
	int r = parse(text, &t->a, &rec, e);

	if (r == 0)
		r = task_load(f, rec, &t->a, &t->task[t->n], e);
	if (r == 0)
		t->n++;
	return r;
}

static int load(struct tasks *t, struct io_lines *in, const struct format *f, struct err *e)
{
	int *line = NULL, cap = 0, r;
	struct str text;

	while ((r = io_lines_next(in, &text, e)) == 1) {
		if (str_trim_end(text).n == 0)
			continue;
		r = grow(t, &line, &cap, e);
		if (r == 0) {
			line[t->n] = io_lines_number(in);
			r = load_line(t, f, text, e);
		}
		if (r < 0)
			return err_wrap(e, "%s:%d", io_lines_name(in), io_lines_number(in));
	}
	if (r < 0)
		return r;
	if (t->n == 0)
		return FAIL(e, ERR_PARSE, "%s: no task in this file", io_lines_name(in));
	return index_ids(t, line, io_lines_name(in), e);
}

int tasks_open(const char *path, const char *format, size_t max_line, struct tasks *ret,
               struct err *e)
{
	struct tasks t = { .a = { .limit = MAX_BYTES } };
	const struct part *f = NULL;
	struct io_lines *in = NULL;
	int r;

	if (format && *format) {
		f = part_find(PART_TABLE(format_table), format);
		if (!f)
			return FAIL(e, ERR_NOENT, "unknown task format '%s'", format);
	}
	r = io_lines_open(path, max_line, &in, e);
	if (r < 0)
		return r;
	r = load(&t, in, (const struct format *)(const void *)f, e);
	io_lines_close(in);
	if (r < 0) {
		tasks_done(&t);
		return r;
	}
	*ret = t;
	return 0;
}

void tasks_done(struct tasks *t)
{
	if (!t)
		return;
	arena_done(&t->a);
	*t = (struct tasks){ 0 };
}

const struct task *tasks_find(const struct tasks *t, struct str id)
{
	int lo = 0, hi = t->n;

	while (lo < hi) {
		int mid = lo + (hi - lo) / 2, c = compare(id, t->task[t->by_id[mid]].id);

		if (c == 0)
			return &t->task[t->by_id[mid]];
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}
