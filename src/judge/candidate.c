/* candidate.c - reads candidates and writes results. */
#include "judge/candidate.h"

#include <string.h>

#include "judge/lang.h"

static bool hex4(const char *p, unsigned *ret)
{
	unsigned v = 0;

	for (int i = 0; i < 4; i++) {
		char c = (char)(p[i] | 32);

		if (p[i] >= '0' && p[i] <= '9')
			v = v * 16 + (unsigned)(p[i] - '0');
		else if (c >= 'a' && c <= 'f')
			v = v * 16 + 10 + (unsigned)(c - 'a');
		else
			return false;
	}
	*ret = v;
	return true;
}

/* The code unit of the escape \uXXXX at p. */
static bool unit_at(const char *p, const char *end, unsigned *ret)
{
	return end - p >= 6 && p[0] == '\\' && p[1] == 'u' && hex4(p + 2, ret);
}

/* Whether text had lonely surrogates; they are U+FFFD now. */
static bool fix_surrogates(struct str text, char *p)
{
	const char *end = p + text.n;
	unsigned u, v;
	bool found = false;

	memcpy(p, text.p, text.n);
	while (p < end) {
		if (!unit_at(p, end, &u)) {
			p += *p == '\\' ? 2 : 1;
			continue;
		}
		if (u >= 0xd800 && u < 0xdc00 && unit_at(p + 6, end, &v) && v >= 0xdc00 &&
		    v < 0xe000) {
			p += 12;
			continue;
		}
		if (u >= 0xd800 && u < 0xe000) {
			memcpy(p + 2, "fffd", 4);
			found = true;
		}
		p += 6;
	}
	return found;
}

static int parse(struct str line, struct arena *a, const struct json **ret, struct err *e)
{
	char *copy;

	if (json_parse(line, a, ret, NULL) == 0)
		return 0;
	copy = str_has(line, STR("\\u")) ? arena_new(a, char, line.n) : NULL;
	if (copy && fix_surrogates(line, copy))
		line.p = copy;
	return json_parse(line, a, ret, e);
}

static int find_task(const struct json *rec, const struct tasks *tasks, const struct task **ret,
                     struct err *e)
{
	const struct task *t;
	struct str id;
	int r = json_need_str(rec, "task_id", &id, e);

	if (r < 0)
		return r;
	t = tasks_find(tasks, id);
	if (!t)
		return FAIL(e, ERR_NOENT, "field 'task_id': no task is called '%.*s'",
		            (int)(id.n < 100 ? id.n : 100), id.p);
	*ret = t;
	return 0;
}

static int check_language(const struct json *rec, const struct task *t, struct err *e)
{
	struct str s = t->language;
	int r = json_opt_str(rec, "language", &s, e);

	if (r == 0 && !str_eq(s, t->language))
		r = FAIL(e, ERR_RANGE, "field 'language' is '%.*s', but the task wants '%.*s'",
		         (int)(s.n < 40 ? s.n : 40), s.p, (int)t->language.n, t->language.p);
	return r;
}

static int complete(struct candidate *c, struct arena *a, struct err *e)
{
	c->code = task_program(c->task, c->code, a);
	return c->code.p ? 0 : FAIL(e, ERR_LIMIT, "program is too long");
}

static int take_code(const struct json *rec, struct candidate *c, struct arena *a, struct err *e)
{
	const struct lang *lang = lang_find(c->task->language);
	const char *const none[] = { NULL };
	const char *key = json_get(rec, "completion") ? "completion" : "code";
	struct str text = STR("");
	int r;

	if (json_get(rec, "completion") && json_get(rec, "code"))
		return FAIL(e, ERR_PARSE, "fields 'code' and 'completion' are both there");
	r = json_need_str(rec, key, &text, e);
	if (r < 0)
		return r;
	c->code = text;
	if (strcmp(key, "completion") == 0)
		c->found = extract_code(text, lang ? lang->fences : none, c->task->entry_point, a,
		                        &c->code);
	if (c->found == EXTRACT_NO_MEMORY)
		return FAIL(e, ERR_LIMIT, "completion is too long");
	return c->found == EXTRACT_OK ? complete(c, a, e) : 0;
}

int candidate_read(struct str line, const struct tasks *tasks, struct arena *a,
                   struct candidate *ret, struct err *e)
{
	struct candidate c = { .found = EXTRACT_OK };
	const struct json *rec = NULL;
	int r = parse(line, a, &rec, e);

	if (r < 0)
		return r;
	if (rec->type != JSON_OBJ)
		return FAIL(e, ERR_PARSE, "a candidate is an object, not %s",
		            json_type_text(rec->type));
	r = find_task(rec, tasks, &c.task, e);
	if (r == 0)
		r = check_language(rec, c.task, e);
	if (r == 0)
		r = take_code(rec, &c, a, e);
	if (r < 0)
		return r;
	c.id = json_get(rec, "candidate_id");
	if (c.id && c.id->type == JSON_NULL)
		c.id = NULL;
	if (c.id && c.id->type != JSON_STR && c.id->type != JSON_NUM)
		return FAIL(e, ERR_PARSE, "field 'candidate_id' is %s, not a text or a number",
		            json_type_text(c.id->type));
	*ret = c;
	return 0;
}

int candidate_reference(const struct task *t, struct arena *a, struct candidate *ret, struct err *e)
{
	struct candidate c = { .task = t, .code = t->reference, .found = EXTRACT_OK };
	int r;

	if (!t->reference.p)
		return FAIL(e, ERR_NOENT, "task %.*s has no reference",
		            (int)(t->id.n < 100 ? t->id.n : 100), t->id.p);
	r = complete(&c, a, e);
	if (r == 0)
		*ret = c;
	return r;
}

void candidate_no_code(const struct candidate *c, struct judged *ret)
{
	*ret = (struct judged){
		.verdict = VERDICT_COMPILE_ERROR,
		.n_tests = c->task->n_tests,
		.compile_verdict = VERDICT_COMPILE_ERROR,
		.compile_note = { extract_text(c->found), strlen(extract_text(c->found)) },
	};
}

static void put_ms(struct jsonw *w, const char *key, int64_t ns)
{
	jsonw_key(w, key), jsonw_fixed(w, (double)ns / 1e6, 3);
}

static void put_test(const struct judged_test *t, struct jsonw *w)
{
	jsonw_open(w, '{');
	jsonw_key(w, "name"), jsonw_str(w, t->name);
	jsonw_key(w, "verdict"), jsonw_cstr(w, verdict_text(t->verdict));
	put_ms(w, "cpu_ms", t->cpu_ns);
	put_ms(w, "wall_ms", t->wall_ns);
	jsonw_key(w, "mem_kib"), jsonw_int(w, t->mem_bytes >> 10);
	if (t->note.n)
		jsonw_key(w, "note"), jsonw_str(w, t->note);
	jsonw_close(w, '}');
}

/* Without v->test (no code was found) no test was reached. */
static void put_tests(const struct judged *v, const struct task *t, struct jsonw *w)
{
	jsonw_key(w, "tests");
	jsonw_open(w, '[');
	for (int i = 0; i < v->n_tests; i++) {
		struct judged_test skipped = { .name = t->test[i].name,
			                       .verdict = VERDICT_SKIPPED };

		put_test(v->test ? &v->test[i] : &skipped, w);
	}
	jsonw_close(w, ']');
}

void judged_write(const struct judged *v, const struct task *t, struct str id, enum box_tier tier,
                  struct jsonw *w)
{
	jsonw_open(w, '{');
	jsonw_key(w, "task_id"), jsonw_str(w, t->id);
	jsonw_key(w, "candidate_id"), jsonw_raw(w, id.n ? id : STR("null"));
	jsonw_key(w, "verdict"), jsonw_cstr(w, verdict_text(v->verdict));
	jsonw_key(w, "passed"), jsonw_int(w, v->n_passed);
	jsonw_key(w, "total"), jsonw_int(w, v->n_tests);
	jsonw_key(w, "score"), jsonw_real(w, v->score);
	put_tests(v, t, w);
	if (v->compile_verdict != VERDICT_ACCEPTED) {
		jsonw_key(w, "compile");
		jsonw_open(w, '{');
		jsonw_key(w, "verdict"), jsonw_cstr(w, verdict_text(v->compile_verdict));
		put_ms(w, "ms", v->compile_ns);
		jsonw_key(w, "cached"), jsonw_bool(w, false);
		if (v->compile_note.n)
			jsonw_key(w, "note"), jsonw_str(w, v->compile_note);
		jsonw_close(w, '}');
	}
	jsonw_key(w, "stage_ms");
	jsonw_open(w, '{');
	put_ms(w, "queue", v->queue_ns);
	put_ms(w, "compile", v->compile_ns);
	put_ms(w, "run", v->run_ns);
	jsonw_close(w, '}');
	jsonw_key(w, "isolation"), jsonw_cstr(w, box_tier_text(tier));
	jsonw_key(w, "trust"), jsonw_cstr(w, v->weak ? "weak" : "data");
	jsonw_close(w, '}');
}
