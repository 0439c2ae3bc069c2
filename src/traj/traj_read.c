/* traj_read.c - a group from JSON. */
#include "traj/traj_io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TOKENS = 1 << 24 };

static int parse_verdict(const struct json *obj, enum verdict *ret, struct err *e)
{
	struct str text = { 0 };

	if (json_opt_str(obj, "verdict", &text, e) < 0)
		return e->code;
	if (!text.p)
		return 0;
	for (int v = 0; v <= VERDICT_JUDGE_ERROR; v++)
		if (str_is(text, verdict_text((enum verdict)v))) {
			*ret = (enum verdict)v;
			return 0;
		}
	return FAIL(e, ERR_PARSE, "verdict: '%.*s' is none", (int)text.n, text.p);
}

static int parse_finish(const struct json *obj, enum finish *ret, struct err *e)
{
	struct str text = { 0 };

	if (json_opt_str(obj, "finish", &text, e) < 0)
		return e->code;
	if (!text.p)
		return 0;
	for (int f = 0; f <= FINISH_ABORT; f++)
		if (str_is(text, finish_text((enum finish)f))) {
			*ret = (enum finish)f;
			return 0;
		}
	return FAIL(e, ERR_PARSE, "finish: '%.*s' is not stop, length or abort", (int)text.n,
	            text.p);
}

static int parse_int(const struct json *obj, const char *key, int64_t min, int64_t max, int *ret,
                     struct err *e)
{
	int64_t v = *ret;
	int r = json_opt_int(obj, key, min, max, &v, e);

	if (r == 0)
		*ret = (int)v;
	return r;
}

/* A number of a list. Texts of numbers stand in the arena of the parser, without a final NUL. */
static bool number(const struct json *j, double *ret, float *ret_f)
{
	char text[64];

	if (json_is(j, JSON_NULL)) {
		*ret = *ret_f = NAN;
		return true;
	}
	if (!json_is(j, JSON_NUM) || j->text.n >= sizeof text)
		return false;
	memcpy(text, j->text.p, j->text.n);
	text[j->text.n] = 0;
	*ret = strtod(text, NULL);
	*ret_f = strtof(text, NULL);
	return true;
}

/* The list of n entries under key; *ret NULL and 0 if it is not there. */
static int list(const struct json *obj, const char *key, int64_t n, const struct json **ret,
                struct err *e)
{
	const struct json *j = json_get(obj, key);

	*ret = NULL;
	if (!j || json_is(j, JSON_NULL))
		return 0;
	if (!json_is(j, JSON_ARR))
		return FAIL(e, ERR_PARSE, "%s: a list is needed, here is %s", key,
		            json_type_text(j->type));
	if (n >= 0 && json_len(j) != n)
		return FAIL(e, ERR_RANGE, "%s: %d entries where %lld are needed", key, json_len(j),
		            (long long)n);
	*ret = j;
	return 0;
}

static int parse_floats(const struct json *obj, const char *key, int n, struct arena *a,
                        const float **ret, struct err *e)
{
	const struct json *j;
	float *x;
	double d;

	if (list(obj, key, n, &j, e) < 0)
		return e->code;
	if (!j)
		return 0;
	x = arena_new(a, float, n + 1);
	if (!x)
		return FAIL(e, ERR_LIMIT, "%s: %d numbers", key, n);
	for (int t = 0; t < n; t++)
		if (!number(json_at(j, t), &d, &x[t]))
			return FAIL(e, ERR_PARSE, "%s: entry %d is no number", key, t);
	*ret = x;
	return 0;
}

static int parse_scores(const struct json *obj, const char *key, int n, struct arena *a,
                        struct score **ret, int *ret_n, struct err *e)
{
	const struct json *j;
	struct score *x;
	float f;

	if (list(obj, key, n, &j, e) < 0)
		return e->code;
	if (!j)
		return 0;
	x = arena_new(a, struct score, json_len(j) + 1);
	if (!x)
		return FAIL(e, ERR_LIMIT, "%s: %d numbers", key, json_len(j));
	for (int t = 0; t < json_len(j); t++) {
		if (!number(json_at(j, t), &x[t].r, &f))
			return FAIL(e, ERR_PARSE, "%s: entry %d is no number", key, t);
		x[t].known = isfinite(x[t].r);
		x[t].r = x[t].known ? x[t].r : 0;
	}
	*ret = x;
	*ret_n = json_len(j);
	return 0;
}

/* Whole numbers min..max; what is stored is up to put. */
static int parse_ints(const struct json *obj, const char *key, int n, double min, double max,
                      int size, struct arena *a, void *ret, struct err *e)
{
	const struct json *j;
	char *x;
	double d;
	float f;

	if (list(obj, key, n, &j, e) < 0)
		return e->code;
	if (!j)
		return 0;
	x = arena_alloc(a, (size_t)n + 1, (size_t)size, (size_t)size);
	if (!x)
		return FAIL(e, ERR_LIMIT, "%s: %d numbers", key, n);
	for (int t = 0; t < n; t++) {
		uint32_t u;

		if (!number(json_at(j, t), &d, &f) || !(d >= min && d <= max) || d != trunc(d))
			return FAIL(e, ERR_RANGE, "%s: entry %d is no whole number %.0f..%.0f", key,
			            t, min, max);
		u = (uint32_t)(int64_t)d;
		if (size == 1)
			x[t] = (char)u;
		else
			memcpy(x + (size_t)t * sizeof u, &u, sizeof u);
	}
	memcpy(ret, &x, sizeof x);
	return 0;
}

static int parse_pair(const struct json *obj, const char *key, int64_t max, int64_t ret[2],
                      struct err *e)
{
	const struct json *j;
	double d[2];
	float f;

	if (list(obj, key, 2, &j, e) < 0)
		return e->code;
	if (!j)
		return FAIL(e, ERR_PARSE, "%s is missing", key);
	for (int k = 0; k < 2; k++)
		if (!number(json_at(j, k), &d[k], &f) || !(d[k] >= 0 && d[k] <= (double)max))
			return FAIL(e, ERR_RANGE, "%s: outside 0..%lld", key, (long long)max);
	if (d[0] > d[1])
		return FAIL(e, ERR_RANGE, "%s: begins behind its end", key);
	ret[0] = (int64_t)d[0];
	ret[1] = (int64_t)d[1];
	return 0;
}

static int parse_test(const struct json *j, struct tested *t, struct err *e)
{
	t->weight = 1;
	t->verdict = VERDICT_SKIPPED;
	if (!json_is(j, JSON_OBJ))
		return FAIL(e, ERR_PARSE, "an object is needed");
	return json_opt_str(j, "name", &t->name, e) < 0 || parse_verdict(j, &t->verdict, e) < 0 ||
	                       json_opt_real(j, "score", 0, 1, &t->score, e) < 0 ||
	                       json_opt_real(j, "weight", 0, 1e300, &t->weight, e) < 0 ||
	                       json_opt_bool(j, "visible", &t->visible, e) < 0 ||
	                       json_opt_bool(j, "probe", &t->probe, e) < 0 ||
	                       json_opt_bool(j, "ignored_input", &t->ignored_input, e) < 0 ||
	                       json_opt_int(j, "cpu_ns", 0, INT64_MAX, &t->cpu_ns, e) < 0 ||
	                       json_opt_int(j, "wall_ns", 0, INT64_MAX, &t->wall_ns, e) < 0 ||
	                       json_opt_int(j, "mem_bytes", 0, INT64_MAX, &t->mem_bytes, e) < 0 ||
	                       json_opt_str(j, "out", &t->out, e) < 0
	               ? e->code
	               : 0;
}

static int parse_turn(const struct json *j, const struct sample *s, struct turn *t, struct err *e)
{
	int64_t tok[2] = { 0 }, byte[2] = { 0 };

	t->verdict = VERDICT_SKIPPED;
	if (!json_is(j, JSON_OBJ))
		return FAIL(e, ERR_PARSE, "an object is needed");
	if (parse_pair(j, "tok", s->n_tok, tok, e) < 0 ||
	    parse_pair(j, "byte", (int64_t)s->text.n, byte, e) < 0 ||
	    json_opt_str(j, "code", &t->code, e) < 0 || parse_verdict(j, &t->verdict, e) < 0 ||
	    parse_int(j, "n_tests", 0, INT32_MAX, &t->n_tests, e) < 0 ||
	    parse_int(j, "n_passed", 0, t->n_tests, &t->n_passed, e) < 0 ||
	    parse_finish(j, &t->finish, e) < 0)
		return e->code;
	t->tok0 = (int)tok[0], t->tok1 = (int)tok[1];
	t->byte0 = (size_t)byte[0], t->byte1 = (size_t)byte[1];
	return 0;
}

static int parse_span(const struct json *j, const struct sample *s, struct span *x, struct err *e)
{
	int64_t tok[2] = { 0 }, byte[2] = { 0 };
	struct str hex = { 0 };
	char text[17] = { 0 }, *end = text;

	if (!json_is(j, JSON_OBJ))
		return FAIL(e, ERR_PARSE, "an object is needed");
	if (parse_int(j, "kind", INT32_MIN, INT32_MAX, &x->kind, e) < 0 ||
	    parse_int(j, "turn", 0, INT32_MAX, &x->turn, e) < 0 ||
	    parse_pair(j, "tok", s->n_tok, tok, e) < 0 ||
	    parse_pair(j, "byte", (int64_t)s->text.n, byte, e) < 0 ||
	    json_opt_str(j, "content", &hex, e) < 0)
		return e->code;
	if (hex.n == 16) {
		memcpy(text, hex.p, hex.n);
		x->content = strtoull(text, &end, 16);
	}
	if (hex.p && end != text + 16)
		return FAIL(e, ERR_PARSE, "content: 16 hexadecimal digits are needed");
	x->tok0 = (int)tok[0], x->tok1 = (int)tok[1];
	x->byte0 = (size_t)byte[0], x->byte1 = (size_t)byte[1];
	return 0;
}

/* Lists of objects: tests, turns and spans. */
static int parse_units(const struct json *obj, struct arena *a, struct sample *s, struct err *e)
{
	const struct json *tests, *turns, *spans;
	struct tested *test = NULL;
	struct turn *turn = NULL;
	struct span *span = NULL;

	if (list(obj, "tests", -1, &tests, e) < 0 || list(obj, "turns", -1, &turns, e) < 0 ||
	    list(obj, "spans", -1, &spans, e) < 0)
		return e->code;
	if ((tests && !(test = arena_new(a, struct tested, json_len(tests) + 1))) ||
	    (turns && !(turn = arena_new(a, struct turn, json_len(turns) + 1))) ||
	    (spans && !(span = arena_new(a, struct span, json_len(spans) + 1))))
		return FAIL(e, ERR_LIMIT, "tests, turns and spans");
	for (int k = 0; k < json_len(tests); k++)
		if (parse_test(json_at(tests, k), &test[k], e) < 0)
			return err_wrap(e, "tests[%d]", k);
	for (int k = 0; k < json_len(turns); k++)
		if (parse_turn(json_at(turns, k), s, &turn[k], e) < 0)
			return err_wrap(e, "turns[%d]", k);
	for (int k = 0; k < json_len(spans); k++)
		if (parse_span(json_at(spans, k), s, &span[k], e) < 0)
			return err_wrap(e, "spans[%d]", k);
	if (tests) {
		s->n_tests = json_len(tests);
		s->n_passed = 0;
		for (int k = 0; k < s->n_tests; k++)
			s->n_passed += test[k].verdict == VERDICT_ACCEPTED;
	}
	s->test = test;
	s->turn = turn, s->n_turns = json_len(turns);
	s->span = span, s->n_spans = json_len(spans);
	return 0;
}

static int parse_tokens(const struct json *obj, struct arena *a, struct sample *s, struct err *e)
{
	const struct json *tok = json_get(obj, "tokens");
	bool length = json_is(tok, JSON_ARR) || json_get(obj, "n_tok");
	uint8_t *mask = NULL;
	struct score *token = NULL;
	int n;

	s->n_tok = json_is(tok, JSON_ARR) ? json_len(tok) : 1;
	if (parse_int(obj, "n_tok", 0, MAX_TOKENS, &s->n_tok, e) < 0 ||
	    parse_int(obj, "n_prompt", 0, length ? s->n_tok : MAX_TOKENS, &s->n_prompt, e) < 0)
		return e->code;
	if (!length)
		s->n_prompt = 0;
	s->fork_tok = s->n_prompt;
	n = s->n_tok;
	if (s->parent >= 0 && parse_int(obj, "fork_tok", s->n_prompt, n, &s->fork_tok, e) < 0)
		return e->code;
	if (parse_ints(obj, "tokens", n, 0, INT32_MAX, 4, a, &s->tok, e) < 0 ||
	    parse_ints(obj, "mask", n, 0, 1, 1, a, &s->mask, e) < 0 ||
	    parse_ints(obj, "byte_of", n + 1, 0, UINT32_MAX, 4, a, &s->byte_of, e) < 0 ||
	    parse_floats(obj, "logp", n, a, &s->logp, e) < 0 ||
	    parse_floats(obj, "entropy", n, a, &s->entropy, e) < 0 ||
	    parse_floats(obj, "ref_logp", n, a, &s->ref_logp, e) < 0 ||
	    parse_floats(obj, "value", n + 1, a, &s->value, e) < 0 ||
	    parse_scores(obj, "token_reward", n, a, &token, &(int){ 0 }, e) < 0)
		return e->code;
	s->token_reward = token;
	if (s->mask)
		return 0;
	mask = arena_new(a, uint8_t, n + 1);
	if (!mask)
		return FAIL(e, ERR_LIMIT, "mask of %d tokens", n);
	for (int t = s->fork_tok; t < n; t++)
		mask[t] = 1;
	s->mask = mask;
	return 0;
}

static int parse_rewards(const struct json *obj, struct arena *a, struct sample *s, int *ret_parts,
                         struct err *e)
{
	struct score *unit[3] = { 0 };
	const struct json *r = json_get(obj, "reward");
	float f;
	int n;

	if (r && !number(r, &s->reward.r, &f))
		return FAIL(e, ERR_PARSE, "reward: a number or null is needed");
	s->reward.known = r && isfinite(s->reward.r);
	s->reward.r = s->reward.known ? s->reward.r : 0;
	if (parse_scores(obj, "parts", -1, a, &s->part, ret_parts, e) < 0 ||
	    parse_scores(obj, "turn_reward", s->n_turns, a, &unit[0], &n, e) < 0 ||
	    parse_scores(obj, "test_reward", s->n_tests, a, &unit[1], &n, e) < 0 ||
	    parse_scores(obj, "span_reward", s->n_spans, a, &unit[2], &n, e) < 0)
		return e->code;
	s->turn_reward = unit[0];
	s->test_reward = unit[1];
	s->span_reward = unit[2];
	return 0;
}

static int parse_sample(const struct json *obj, struct arena *a, struct str key, int i,
                        struct sample *s, int *ret_parts, struct err *e)
{
	*s = (struct sample){ .task_id = key,
		              .id = i,
		              .rollout = i,
		              .parent = -1,
		              .chain = -1,
		              .foreign = true,
		              .verdict = VERDICT_SKIPPED };
	if (!json_is(obj, JSON_OBJ))
		return FAIL(e, ERR_PARSE, "an object is needed");
	s->foreign = json_get(obj, "version") == NULL; /* of our own weights: says which */
	if (json_opt_int(obj, "id", 0, INT64_MAX, &s->id, e) < 0 ||
	    json_opt_str(obj, "task_id", &s->task_id, e) < 0 ||
	    parse_int(obj, "rollout", 0, INT32_MAX, &s->rollout, e) < 0 ||
	    parse_int(obj, "parent", -1, i - 1, &s->parent, e) < 0 ||
	    parse_int(obj, "chain", -1, i - 1, &s->chain, e) < 0 ||
	    json_opt_str(obj, "anchor", &s->anchor, e) < 0 ||
	    json_opt_int(obj, "version", 0, INT64_MAX, &s->version, e) < 0 ||
	    json_opt_bool(obj, "foreign", &s->foreign, e) < 0 ||
	    parse_finish(obj, &s->finish, e) < 0 || json_opt_str(obj, "text", &s->text, e) < 0 ||
	    json_opt_str(obj, "code", &s->code, e) < 0 || parse_verdict(obj, &s->verdict, e) < 0 ||
	    parse_int(obj, "n_tests", 0, INT32_MAX, &s->n_tests, e) < 0 ||
	    parse_int(obj, "n_passed", 0, s->n_tests, &s->n_passed, e) < 0 ||
	    parse_tokens(obj, a, s, e) < 0 || parse_units(obj, a, s, e) < 0)
		return e->code;
	return parse_rewards(obj, a, s, ret_parts, e);
}

int traj_group_read(const struct json *rec, struct arena *a, struct group *ret, int *ret_n_rewards,
                    struct err *e)
{
	struct group g = { 0 };
	const struct json *samples;
	struct err own;
	int parts = 0;

	e = e ? e : &own;
	if (json_need_str(rec, "key", &g.key, e) < 0 ||
	    json_need(rec, "samples", JSON_ARR, &samples, e) < 0 ||
	    json_opt_int(rec, "seen", 0, INT64_MAX, &g.seen, e) < 0 ||
	    json_opt_real(rec, "mean_before", -1e300, 1e300, &g.mean_before, e) < 0)
		return e->code;
	g.n = json_len(samples);
	g.sample = arena_new(a, struct sample, g.n + 1);
	if (!g.sample)
		return FAIL(e, ERR_LIMIT, "samples: %d of them", g.n);
	for (int i = 0; i < g.n; i++) {
		int own_parts = 0;

		if (parse_sample(json_at(samples, i), a, g.key, i, &g.sample[i], &own_parts, e) < 0)
			return err_wrap(e, "samples[%d]", i);
		if (i > 0 && own_parts != parts)
			return FAIL(e, ERR_RANGE,
			            "samples[%d]: parts: %d entries, %d in samples[0]", i,
			            own_parts, parts);
		parts = own_parts;
	}
	*ret = g;
	*ret_n_rewards = parts;
	return 0;
}

int traj_batch(struct group *g, int n, int n_rewards, struct arena *a, struct batch *ret,
               struct err *e)
{
	struct batch b = { .n_groups = n, .group = g, .n_rewards = n_rewards };
	int64_t *first, at = 0;
	int i = 0;

	for (int k = 0; k < n; k++)
		b.n_samples += g[k].n;
	first = arena_new(a, int64_t, b.n_samples + 1);
	if (!first)
		return FAIL(e, ERR_LIMIT, "batch of %d samples", b.n_samples);
	for (int k = 0; k < n; k++)
		for (int s = 0; s < g[k].n; s++) {
			first[i++] = at;
			at += g[k].sample[s].n_tok;
		}
	first[i] = at;
	b.n_tok = at;
	b.first = first;
	*ret = b;
	return 0;
}
