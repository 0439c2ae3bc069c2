/* task.c - loading one record: finds its format and checks what every task must hold. */
#include "task/task.h"

#include <stdlib.h>
#include <string.h>

#include "task/task_int.h"

enum { MAX_ID = 512 };

const char *task_kind_text(enum task_kind k)
{
	static const char *const text[] = { "stdin", "function", "assert" };

	return text[k];
}

struct test *task_tests_new(struct arena *a, int n, struct err *e)
{
	struct test *t = n >= 0 && n <= TASK_MAX_TESTS ? arena_new(a, struct test, n) : NULL;

	if (!t) {
		FAIL(e, ERR_LIMIT, "%d tests are too many", n);
		return NULL;
	}
	for (int i = 0; i < n; i++) {
		char *name = arena_printf(a, "%d", i + 1);

		if (!name) {
			FAIL(e, ERR_LIMIT, "%d tests are too many", n);
			return NULL;
		}
		t[i].name = (struct str){ name, strlen(name) };
		t[i].weight = 1;
	}
	return t;
}

int task_need_texts(const struct json *rec, const char *key, const struct json **ret, struct err *e)
{
	const struct json *list = NULL;
	int r = json_need(rec, key, JSON_ARR, &list, e);

	if (r < 0)
		return r;
	for (int i = 0; i < list->n; i++)
		if (list->item[i].type != JSON_STR)
			return FAIL(e, ERR_PARSE, "field '%s[%d]' is %s, not a text", key, i,
			            json_type_text(list->item[i].type));
	*ret = list;
	return 0;
}

static const struct format *detect(const struct json *rec)
{
	const struct format *best = NULL;
	int most = 0;

	for (int i = 0; format_table[i]; i++) {
		int sure = format_table[i]->detect(rec);

		if (sure > most) {
			most = sure;
			best = format_table[i];
		}
	}
	return best;
}

static bool is_name_byte(char c, bool first)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) ||
	       (!first && c >= '0' && c <= '9');
}

static size_t name_len(struct str s)
{
	size_t n = 0;

	while (n < s.n && is_name_byte(s.p[n], n == 0))
		n++;
	return n;
}

/* NAME or CLASS().NAME */
static bool is_entry(struct str s)
{
	size_t n = name_len(s), m;

	if (n == 0 || n == s.n)
		return n != 0;
	s = (struct str){ s.p + n, s.n - n };
	if (!str_starts(s, STR("().")))
		return false;
	s = (struct str){ s.p + 3, s.n - 3 };
	m = name_len(s);
	return m && m == s.n;
}

static int by_name(const void *x, const void *y)
{
	const struct str *a = x, *b = y;
	int c = memcmp(a->p, b->p, a->n < b->n ? a->n : b->n);

	return c ? c : (a->n > b->n) - (a->n < b->n);
}

static int names_are_unique(const struct task *t, struct arena *a, struct err *e)
{
	struct str *name = arena_new(a, struct str, t->n_tests);

	if (!name)
		return FAIL(e, ERR_LIMIT, "%d tests are too many", t->n_tests);
	for (int i = 0; i < t->n_tests; i++)
		name[i] = t->test[i].name;
	qsort(name, (size_t)t->n_tests, sizeof *name, by_name);
	for (int i = 1; i < t->n_tests; i++)
		if (str_eq(name[i - 1], name[i]))
			return FAIL(e, ERR_PARSE, "field 'tests': two tests are named '%.*s'",
			            (int)(name[i].n < 60 ? name[i].n : 60), name[i].p);
	return 0;
}

/* Line ends become LF and the last line gets one: correct programs rely on both. */
static int fix_stdin(struct str *s, struct arena *a, struct err *e)
{
	char *p;
	size_t n = 0;

	if (s->n == 0 || (s->p[s->n - 1] == '\n' && !str_has(*s, STR("\r\n"))))
		return 0;
	p = arena_new(a, char, s->n + 1);
	if (!p)
		return FAIL(e, ERR_LIMIT, "input of %zu bytes is too long", s->n);
	for (size_t i = 0; i <= s->n; i++) {
		bool ends = i == s->n || s->p[i] == '\n';

		while (ends && n && p[n - 1] == '\r')
			n--;
		if (i < s->n)
			p[n++] = s->p[i];
		else if (n == 0 || p[n - 1] != '\n')
			p[n++] = '\n';
	}
	*s = (struct str){ p, n };
	return 0;
}

static int finish(struct task *t, struct arena *a, struct err *e)
{
	struct test *test = (struct test *)t->test; /* ours: made by the format a moment ago */
	double weight = 0;
	int r;

	if (t->id.n == 0 || t->id.n > MAX_ID)
		return FAIL(e, ERR_PARSE, "the id has %zu bytes, not 1..%d", t->id.n, MAX_ID);
	if (t->n_tests < 1)
		return FAIL(e, ERR_PARSE, "field 'tests': a task without tests proves nothing");
	if (t->entry_point.n && !is_entry(t->entry_point))
		return FAIL(e, ERR_PARSE,
		            "field 'entry_point' is '%.*s': neither NAME nor CLASS().NAME",
		            (int)(t->entry_point.n < 60 ? t->entry_point.n : 60), t->entry_point.p);
	if (t->kind == TASK_FUNCTION && !t->entry_point.n)
		return FAIL(e, ERR_PARSE, "field 'entry_point' is missing");
	t->n_visible = 0;
	for (int i = 0; i < t->n_tests; i++) {
		if (t->kind == TASK_FUNCTION && !test[i].expected && !t->reference.p)
			return FAIL(e, ERR_PARSE,
			            "field 'tests[%d]': field 'expected' is missing, and no "
			            "'reference' can tell it",
			            i);
		weight += test[i].weight;
		t->n_visible += test[i].visible;
		if (t->kind == TASK_STDIN && (r = fix_stdin(&test[i].in, a, e)) < 0)
			return r;
	}
	if (!(weight > 0))
		return FAIL(e, ERR_RANGE, "field 'weight': all tests weigh nothing");
	return names_are_unique(t, a, e);
}

int task_load(const struct format *f, const struct json *rec, struct arena *a, struct task *ret,
              struct err *e)
{
	struct task t = { 0 };
	int r;

	if (!json_is(rec, JSON_OBJ))
		return FAIL(e, ERR_PARSE, "a task is an object, not %s",
		            rec ? json_type_text(rec->type) : "nothing");
	if (!f)
		f = detect(rec);
	if (!f)
		return FAIL(e, ERR_PARSE,
		            "no known format: a native record has 'id', 'kind' and 'tests'");
	r = f->load(rec, a, &t, e);
	if (r < 0)
		return r;
	if (!t.language.n)
		t.language = STR("python");
	r = finish(&t, a, e);
	if (r == 0)
		*ret = t;
	return r;
}

/* Does the line at p define name? */
static bool line_defines(struct str line, struct str name)
{
	static const struct str word[] = { STR("def "), STR("class "), STR("async def ") };
	size_t n = name.n;

	for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
		if (!str_starts(line, word[i]))
			continue;
		line = (struct str){ line.p + word[i].n, line.n - word[i].n };
		while (line.n && line.p[0] == ' ')
			line = (struct str){ line.p + 1, line.n - 1 };
		return str_starts(line, name) && (line.n == n || !is_name_byte(line.p[n], false));
	}
	if (!str_starts(line, name))
		return false;
	while (n < line.n && (line.p[n] == ' ' || line.p[n] == '\t'))
		n++;
	if (n + 1 < line.n && line.p[n] == ':' && memchr(line.p + n, '=', line.n - n))
		return true;
	return n < line.n && line.p[n] == '=' && (n + 1 == line.n || line.p[n + 1] != '=');
}

bool task_defines(struct str code, struct str name, size_t *ret_at)
{
	struct str rest = code, line;
	const char *decorators = NULL;

	name.n = name_len(name);
	if (name.n == 0)
		return false;
	while (str_next_line(&rest, &line)) {
		if (line_defines(line, name)) {
			if (ret_at)
				*ret_at = (size_t)((decorators ? decorators : line.p) - code.p);
			return true;
		}
		if (line.n && line.p[0] == '@')
			decorators = decorators ? decorators : line.p;
		else
			decorators = NULL;
	}
	return false;
}

struct str task_program(const struct task *t, struct str answer, struct arena *a)
{
	struct str head = t->preamble, rest = answer, line;
	size_t at = 0;
	char *p;

	if (task_defines(answer, t->entry_point, NULL) && task_defines(head, t->entry_point, &at)) {
		head.n = at;
		/* Nothing may stand before such an import. */
		while (str_next_line(&rest, &line))
			if (str_starts(line, STR("from __future__ ")))
				head.n = 0;
	}
	p = arena_new(a, char, head.n + answer.n + 1);
	if (!p)
		return (struct str){ 0 };
	if (head.n)
		memcpy(p, head.p, head.n);
	if (answer.n)
		memcpy(p + head.n, answer.p, answer.n);
	return (struct str){ p, head.n + answer.n };
}
