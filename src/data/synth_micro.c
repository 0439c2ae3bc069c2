/* synth_micro.c - small Python tasks on lists, ranges and texts, composed from parts (micro.h).
 *
 * The regime of the defaults: a small model that imitates the noisy answers is right in a part
 * more often than not, and seldom in all of them at once; so groups hold right and wrong samples,
 * and reinforcement has something to choose from. Many prompts with few answers each teach
 * composing better than few prompts with many. Words and compositions of four parts are off: a
 * million parameters learn the others better without them.
 */
#include "base/json.h"
#include "data/micro.h"
#include "data/synth.h"

#include <assert.h>
#include <string.h>

struct cfg {
	int64_t train, test, corpus, programs, tests;
	double noise, two, vary;
	struct micro_shares share;
};

#define SHARE(key, field, dflt, text)                                                              \
	{                                                                                          \
		key, OPT_REAL, offsetof(struct cfg, share.field), 0, 1, 0, dflt, "", text          \
	}
static const struct opt opts[] = {
	{ "train", OPT_INT, offsetof(struct cfg, train), 1, 10000, 0, "800", "tasks",
	  "size of the train split" },
	{ "test", OPT_INT, offsetof(struct cfg, test), 0, 10000, 0, "150", "tasks",
	  "size of the held-out split: compositions that are not in train" },
	{ "corpus", OPT_INT, offsetof(struct cfg, corpus), 0, 10000, 0, "800", "tasks",
	  "train tasks with answers in the warm-start corpus" },
	{ "programs", OPT_INT, offsetof(struct cfg, programs), 1, 64, 0, "3", "",
	  "answers for each of them" },
	{ "noise", OPT_REAL, offsetof(struct cfg, noise), 0, 1, 0, "0.57", "",
	  "share of answers that are plausibly wrong" },
	{ "two", OPT_REAL, offsetof(struct cfg, two), 0, 1, 0, "0.3", "",
	  "share of wrong answers with two mistakes instead of one" },
	{ "vary", OPT_REAL, offsetof(struct cfg, vary), 0, 1, 0, "0.1", "",
	  "share of phrases in another wording" },
	{ "tests", OPT_INT, offsetof(struct cfg, tests), 2, 16, 0, "8", "", "tests of a task" },
	SHARE("list", family[MICRO_LIST], "0.6", "share of tasks on a list of numbers"),
	SHARE("range", family[MICRO_RANGE], "0.2", "share of tasks on a range of numbers"),
	SHARE("text", family[MICRO_TEXT], "0.2", "share of tasks on the characters of a text"),
	SHARE("words", family[MICRO_WORDS], "0", "share of tasks on the words of a text"),
	SHARE("pipe", shape[MICRO_PIPE], "0.6", "share of plain pipelines"),
	SHARE("branch", shape[MICRO_BRANCH], "0.12", "share with a branch for each element"),
	SHARE("all", shape[MICRO_ALL], "0.06", "share with all() or any()"),
	SHARE("tested", shape[MICRO_TESTED], "0.1", "share with a comparison of the result"),
	SHARE("guarded", shape[MICRO_GUARDED], "0.12", "share with a guard of the argument"),
	SHARE("level1", level[0], "0.1", "share of tasks of one part"),
	SHARE("level2", level[1], "0.4", "share of tasks of two parts"),
	SHARE("level3", level[2], "0.5", "share of tasks of three parts"),
	SHARE("level4", level[3], "0", "share of tasks of four parts"),
	{ 0 },
};

struct maker {
	const struct cfg *cfg;
	uint64_t seed;
	struct arena *a;
	struct micro_probes probes;
	struct micro_pool pool;
	struct buf b; /* scratch */
};

/* The scratch buffer as a text of the arena. */
static int take_text(struct maker *m, struct str *ret, struct err *e)
{
	struct str s;

	if (buf_check(&m->b, "text of a task", e) < 0)
		return ERR_LIMIT;
	s = arena_str(m->a, buf_str(&m->b));
	if (!s.p)
		return FAIL(e, ERR_NOMEM, "text of a task");
	buf_reset(&m->b);
	*ret = s;
	return 0;
}

static int take_json(struct maker *m, const struct json **ret, struct err *e)
{
	int r = buf_check(&m->b, "values of a task", e);

	if (r == 0)
		r = json_parse(buf_str(&m->b), m->a, ret, e);
	buf_reset(&m->b);
	return r;
}

static int make_tests(struct maker *m, const struct micro_comp *c, uint64_t picked, struct task *t,
                      struct err *e)
{
	int n = __builtin_popcountll(picked), k = 0, r;
	struct test *test = arena_new(m->a, struct test, n);

	if (!test)
		return FAIL(e, ERR_NOMEM, "tests");
	for (int i = 0; i < m->probes.n[c->family]; i++) {
		const struct micro_input *in = &m->probes.in[c->family][i];
		struct micro_val v = { 0 };
		bool has;

		if (!(picked >> i & 1))
			continue;
		has = micro_eval(c, in, &v);
		assert(has); /* the pool holds only what has a value on every probe */
		(void)has;
		buf_putf(&m->b, "%d", k + 1);
		if ((r = take_text(m, &test[k].name, e)) < 0)
			return r;
		micro_put_args(c, in, &m->b);
		if ((r = take_json(m, &test[k].args, e)) < 0)
			return r;
		micro_put_val(&v, &m->b);
		if ((r = take_json(m, &test[k].expected, e)) < 0)
			return r;
		test[k++].weight = 1;
	}
	t->n_tests = n;
	t->test = test;
	return 0;
}

static void put_meta(const struct micro_comp *c, struct buf *b)
{
	static const char *const slot[] = { "guard", "source", "filter", "cond",
		                            "map",   "other",  "fold",   "test" };
	struct jsonw w = { b };

	jsonw_open(&w, '{');
	jsonw_key(&w, "family"), jsonw_cstr(&w, "micro");
	jsonw_key(&w, "over"), jsonw_cstr(&w, micro_family_text(c->family));
	jsonw_key(&w, "shape"), jsonw_cstr(&w, micro_shape_text(micro_shape(c)));
	jsonw_key(&w, "parts");
	jsonw_open(&w, '{');
	for (int s = 0; s < MICRO_SLOTS; s++)
		if (c->part[s] || s == MICRO_SOURCE || s == MICRO_FOLD)
			jsonw_key(&w, slot[s]), jsonw_cstr(&w, micro_part_of(c, s)->name);
	jsonw_close(&w, '}');
	jsonw_close(&w, '}');
}

static int make_noisy(struct maker *m, const struct micro_comp *c, uint64_t tests, struct rng *r,
                      struct synth_task *t, struct err *e)
{
	int n = (int)m->cfg->programs, code;
	struct str *noisy = arena_new(m->a, struct str, n);
	bool *wrong = arena_new(m->a, bool, n);

	if (!noisy || !wrong)
		return FAIL(e, ERR_NOMEM, "answers");
	for (int i = 0; i < n; i++) {
		struct micro_comp d = *c;

		if (rng_unit(r) < m->cfg->noise)
			wrong[i] = micro_mistake(c, rng_unit(r) < m->cfg->two ? 2 : 1, tests,
			                         &m->probes, r, &d);
		micro_put_code(&d, &m->b);
		if ((code = take_text(m, &noisy[i], e)) < 0)
			return code;
	}
	t->n_noisy = n;
	t->noisy = noisy;
	t->wrong = wrong;
	return 0;
}

/* Task number i of its split, counted from 0. */
static int make_task(struct maker *m, const struct micro_comp *c, bool held_out, int i,
                     struct synth_task *ret, struct err *e)
{
	struct task *t = &ret->task;
	uint64_t picked;
	struct rng r;
	int code;

	rng_init(&r, m->seed, RNG_DATA, 1 + held_out, (uint32_t)i);
	ret->held_out = held_out;
	t->kind = TASK_FUNCTION;
	t->language = STR("python");
	t->entry_point = STR("f");
	t->source = STR("cupel data synth");
	buf_putf(&m->b, "micro-%llu-%s-%04d", (unsigned long long)m->seed,
	         held_out ? "test" : "train", i + 1);
	if ((code = take_text(m, &t->id, e)) < 0)
		return code;
	micro_put_prompt(c, &r, m->cfg->vary, &m->b);
	if ((code = take_text(m, &t->prompt, e)) < 0)
		return code;
	t->preamble = t->prompt;
	micro_put_code(c, &m->b);
	if ((code = take_text(m, &t->reference, e)) < 0)
		return code;
	buf_putf(&m->b, "{\"level\":%d}", micro_level(c));
	if ((code = take_json(m, &t->difficulty, e)) < 0)
		return code;
	put_meta(c, &m->b);
	if ((code = take_json(m, &t->meta, e)) < 0)
		return code;
	picked = micro_pick_tests(c, &m->probes, (int)m->cfg->tests, &r);
	if ((code = make_tests(m, c, picked, t, e)) < 0)
		return code;
	if (held_out || i >= m->cfg->corpus)
		return 0;
	return make_noisy(m, c, picked, &r, ret, e);
}

static int make_all(struct maker *m, struct arena *scratch, struct synth_set *ret, struct err *e)
{
	const struct cfg *cfg = m->cfg;
	int n_train = (int)cfg->train, n = n_train + (int)cfg->test, r;
	int n_known = cfg->corpus > 0 ? (int)cfg->corpus : n_train;
	int *pick = arena_new(scratch, int, n);
	struct synth_task *task = arena_new(m->a, struct synth_task, n);

	if (!pick || !task)
		return FAIL(e, ERR_NOMEM, "%d tasks", n);
	r = micro_enumerate(MICRO_LEVELS, &m->probes, scratch, &m->pool, e);
	if (r == 0)
		r = micro_split(&m->pool, &cfg->share, m->seed, n_train, n_known, (int)cfg->test,
		                pick, e);
	for (int i = 0; r == 0 && i < n; i++)
		r = make_task(m, &m->pool.comp[pick[i]], i >= n_train,
		              i < n_train ? i : i - n_train, &task[i], e);
	if (r < 0)
		return r;
	*ret = (struct synth_set){ .n = n, .task = task, .n_distinct = m->pool.n };
	return 0;
}

static int make(const void *cfg, uint64_t seed, struct arena *a, struct synth_set *ret,
                struct err *e)
{
	AUTO_ARENA scratch = { .limit = 8 << 20 };
	struct maker *m = arena_new(&scratch, struct maker, 1);
	int r;

	if (!m)
		return FAIL(e, ERR_NOMEM, "micro");
	m->cfg = cfg;
	m->seed = seed;
	m->a = a;
	m->b.max = 1 << 16;
	micro_probes(&m->probes);
	r = make_all(m, &scratch, ret, e);
	buf_done(&m->b);
	return r;
}

const struct synth synth_micro = {
	.name = "micro",
	.doc = "small Python functions on lists, ranges and texts, composed from parts",
	.source = "our construction: source x filter x map x fold, branches, tests, guards",
	.opts = opts,
	.cfg_size = sizeof(struct cfg),
	.make = make,
};
