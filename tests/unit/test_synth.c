#include "data/micro.h"
#include "data/synth.h"
#include "data/verify.h"

#include "base/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

#include "family.h"

extern const struct synth synth_micro;

static struct micro_probes probes;
static struct micro_pool pool;
static struct arena pool_arena = { .limit = 8 << 20 };

static int enumerate(void **state)
{
	(void)state;
	micro_probes(&probes);
	return micro_enumerate(MICRO_LEVELS, &probes, &pool_arena, &pool, NULL);
}

static int forget(void **state)
{
	(void)state;
	arena_done(&pool_arena);
	return 0;
}

static void make(const struct synth *f, const char *options, uint64_t seed, struct arena *a,
                 struct synth_set *ret)
{
	struct err e;
	void *cfg = family_config_with(f->opts, f->cfg_size, options, a);

	if (f->make(cfg, seed, a, ret, &e) < 0)
		fail_msg("%s", e.msg);
}

/* Every task and every answer as text. */
static void put_set(const struct synth_set *s, struct buf *b)
{
	for (int i = 0; i < s->n; i++) {
		struct jsonw w = { b };

		task_write(&s->task[i].task, &w);
		buf_putc(b, '\n');
		for (int k = 0; k < s->task[i].n_noisy; k++) {
			buf_putstr(b, s->task[i].noisy[k]);
			buf_putc(b, '\n');
		}
	}
	assert_int_equal(buf_check(b, "set", NULL), 0);
}

/* ---- every family ---- */

static void members_describe_themselves(void **state)
{
	(void)state;
	assert_non_null(synth_table[0]);
	for (int i = 0; synth_table[i]; i++)
		assert_true(family_described(synth_table[i]->name, synth_table[i]->doc,
		                             synth_table[i]->source));
}

static void seed_decides_every_byte(void **state)
{
	(void)state;
	for (int i = 0; synth_table[i]; i++) {
		AUTO_ARENA a = { .limit = 64 << 20 };
		struct synth_set s[3];
		struct buf b[3] = { { .max = 16 << 20 }, { .max = 16 << 20 }, { .max = 16 << 20 } };

		for (int k = 0; k < 3; k++) {
			make(synth_table[i], "train=60 test=20 corpus=40", k == 2 ? 8 : 7, &a,
			     &s[k]);
			put_set(&s[k], &b[k]);
		}
		assert_int_equal(b[0].n, b[1].n);
		assert_memory_equal(b[0].p, b[1].p, b[0].n);
		assert_false(str_eq(buf_str(&b[0]), buf_str(&b[2])));
		for (int k = 0; k < 3; k++)
			buf_done(&b[k]);
	}
}

/* ---- micro: the parts ---- */

static bool has_name(enum micro_slot slot, const char *name, size_t n)
{
	const struct micro_part *p;

	for (int i = 0; (p = micro_part(slot, i)); i++)
		if (strlen(p->name) == n && !memcmp(p->name, name, n))
			return true;
	return false;
}

static void neighbours_exist(void **state)
{
	const struct micro_part *p;
	int n_near = 0;

	(void)state;
	for (int slot = 0; slot < MICRO_SLOTS; slot++)
		for (int i = 0; (p = micro_part(slot, i)); i++)
			for (const char *q = p->near; q && *q; q += strspn(q, " ")) {
				size_t n = strcspn(q, " ");

				if (!has_name(slot, q, n))
					fail_msg("%s: no part %.*s", p->name, (int)n, q);
				q += n;
				n_near++;
			}
	assert_true(n_near > 100);
}

/* What is asked for has words and a plausible mistake; the others stand in wrong programs only. */
static void parts_are_complete(void **state)
{
	const struct micro_part *p;

	(void)state;
	for (int slot = 0; slot < MICRO_SLOTS; slot++)
		for (int i = 1; (p = micro_part(slot, i)); i++) {
			assert_true(p->in != 0);
			assert_true(p->code || (slot == MICRO_FOLD && p->step));
			assert_true(p->never || p->say || p->say2);
		}
}

static int part_named(enum micro_slot slot, enum micro_family f, const char *name)
{
	const struct micro_part *p;

	for (int i = 0; (p = micro_part(slot, i)); i++)
		if (!strcmp(p->name, name) && p->in & 1u << f)
			return i;
	fail_msg("no part %s", name);
	return 0;
}

/* "filter=even map=square fold=sum" over a family. */
static struct micro_comp comp_of(enum micro_family f, const char *text)
{
	static const char *const slot[] = { "guard", "source", "filter", "cond",
		                            "map",   "other",  "fold",   "test" };
	struct micro_comp c = { .family = (uint8_t)f };
	char key[16], val[16];
	int n;

	c.part[MICRO_SOURCE] = (uint8_t)f;
	for (; sscanf(text, " %15[a-z]=%15[a-z0-9_]%n", key, val, &n) == 2; text += n)
		for (int s = 0; s < MICRO_SLOTS; s++)
			if (!strcmp(slot[s], key))
				c.part[s] = (uint8_t)part_named(s, f, val);
	assert_true(micro_typed(&c));
	return c;
}

static void prints_and_evaluates(void **state)
{
	static const struct {
		enum micro_family family;
		const char *parts, *prompt, *code;
		struct micro_input in;
		const char *args, *value;
	} cases[] = {
		{ MICRO_LIST,
		  "source=tail filter=even map=square fold=sum",
		  "# Return the sum of the squares of the even numbers in xs after the first "
		  "item.\n"
		  "def f(xs):\n",
		  "    return sum(x * x for x in xs[1:] if x % 2 == 0)",
		  { .n_xs = 4, .xs = { 2, -4, 3, 6 } },
		  "[[2,-4,3,6]]",
		  "52" },
		{ MICRO_LIST,
		  "filter=gt_n map=times_n fold=list",
		  "# Return the list of the numbers greater than n in xs, each multiplied by n.\n"
		  "def f(xs, n):\n",
		  "    return [x * n for x in xs if x > n]",
		  { .n_xs = 3, .xs = { 2, -4, 3 }, .n = -2 },
		  "[[2,-4,3],-2]",
		  "[-4,-6]" },
		{ MICRO_LIST,
		  "map=mod3 fold=max",
		  "# Return the largest of the remainders modulo 3 of the numbers in xs, or 0 if "
		  "there are none.\ndef f(xs):\n",
		  "    return max([x % 3 for x in xs], default=0)",
		  { .n_xs = 2, .xs = { -4, 3 } },
		  "[[-4,3]]",
		  "2" },
		{ MICRO_LIST,
		  "cond=odd map=neg fold=product",
		  "# Return the product of the numbers in xs, with odd numbers negated and others "
		  "kept.\ndef f(xs):\n",
		  "    r = 1\n    for x in xs:\n        r *= -x if x % 2 == 1 else x\n    return r",
		  { .n_xs = 3, .xs = { -3, 2, 5 } },
		  "[[-3,2,5]]",
		  "-30" },
		{ MICRO_LIST,
		  "filter=even cond=positive fold=all",
		  "# Return whether all even numbers in xs are positive.\ndef f(xs):\n",
		  "    return all(x > 0 for x in xs if x % 2 == 0)",
		  { .n_xs = 3, .xs = { -3, 2, 4 } },
		  "[[-3,2,4]]",
		  "true" },
		{ MICRO_RANGE,
		  "guard=big filter=odd fold=sum",
		  "# Return the sum of the odd numbers from 1 to n, or -1 if n is greater than 6.\n"
		  "def f(n):\n",
		  "    if n > 6:\n        return -1\n    r = 0\n    for x in range(1, n + 1):\n"
		  "        if x % 2 == 1:\n            r += x\n    return r",
		  { .n = 5 },
		  "[5]",
		  "9" },
		{ MICRO_TEXT,
		  "source=reversed filter=vowel map=upper fold=join",
		  "# Return the string of the vowels in reversed s, each in upper case.\n"
		  "def f(s):\n",
		  "    return \"\".join(c.upper() for c in s[::-1] if c in \"aeiouAEIOU\")",
		  { .s = "one Ada" },
		  "[\"one Ada\"]",
		  "\"AAEO\"" },
		{ MICRO_WORDS,
		  "filter=long fold=count test=odd",
		  "# Return whether the number of words longer than 3 letters in s is odd.\n"
		  "def f(s):\n",
		  "    return len([w for w in s.split() if len(w) > 3]) % 2 == 1",
		  { .s = "tree on  house eat" },
		  "[\"tree on  house eat\"]",
		  "false" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		AUTO_BUF b = { .max = 4096 };
		struct micro_comp c = comp_of(cases[i].family, cases[i].parts);
		struct micro_val v = { 0 };
		struct rng r;

		rng_init(&r, 1, RNG_DATA, 0, 0);
		assert_true(micro_asked(&c));
		micro_put_prompt(&c, &r, 0, &b);
		assert_string_equal(buf_cstr(&b), cases[i].prompt);
		buf_reset(&b);
		micro_put_code(&c, &b);
		assert_string_equal(buf_cstr(&b), cases[i].code);
		buf_reset(&b);
		micro_put_args(&c, &cases[i].in, &b);
		assert_string_equal(buf_cstr(&b), cases[i].args);
		buf_reset(&b);
		assert_true(micro_eval(&c, &cases[i].in, &v));
		micro_put_val(&v, &b);
		assert_string_equal(buf_cstr(&b), cases[i].value);
	}
}

static void large_numbers_have_no_value(void **state)
{
	struct micro_comp c = comp_of(MICRO_LIST, "map=cube fold=product");
	struct micro_input in = { .n_xs = 6, .xs = { 9, 9, 9, 9, 9, 9 } };
	struct micro_val v = { 0 };

	(void)state;
	assert_false(micro_eval(&c, &in, &v)); /* 9^18 > 10^15 */
	in.n_xs = 5;
	assert_true(micro_eval(&c, &in, &v));
	assert_true(v.i == 205891132094649);
}

/* ---- micro: behaviours ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Runs every composition of the pool on every probe, and counts the different output texts. */
static void thousands_of_behaviours(void **state)
{
	AUTO_ARENA a = { .limit = 64 << 20 };
	AUTO_BUF b = { .max = 1 << 20 };
	char **text = arena_new(&a, char *, pool.n);
	int n_distinct = 1;

	(void)state;
	assert_true(pool.n >= 2000);
	for (int i = 0; i < pool.n; i++) {
		const struct micro_comp *c = &pool.comp[i];

		buf_reset(&b);
		buf_putf(&b, "%s ", micro_family_text(c->family));
		for (int k = 0; k < probes.n[c->family]; k++) {
			struct micro_val v = { 0 };

			assert_true(micro_eval(c, &probes.in[c->family][k], &v));
			micro_put_val(&v, &b);
			buf_putc(&b, ';');
		}
		text[i] = arena_strdup(&a, buf_cstr(&b));
		assert_non_null(text[i]);
	}
	qsort(text, (size_t)pool.n, sizeof *text, by_text);
	for (int i = 1; i < pool.n; i++)
		n_distinct += strcmp(text[i - 1], text[i]) != 0;
	assert_int_equal(n_distinct, pool.n);
}

static void every_shape_and_family_occurs(void **state)
{
	int n[MICRO_FAMILIES][MICRO_SHAPES] = { 0 };

	(void)state;
	for (int i = 0; i < pool.n; i++)
		n[pool.comp[i].family][micro_shape(&pool.comp[i])]++;
	for (int f = 0; f < MICRO_FAMILIES; f++) {
		assert_true(n[f][MICRO_PIPE] > 100);
		assert_true(n[f][MICRO_BRANCH] > 100);
		assert_true(n[f][MICRO_TESTED] > 20);
		assert_true(n[f][MICRO_GUARDED] > 20);
	}
	assert_true(n[MICRO_LIST][MICRO_ALL] > 100);
}

/* Every plausible mistake that shows on some probe shows in the tests, and no constant passes. */
static void tests_show_mistakes(void **state)
{
	struct rng r;
	int n_near = 0, n_missed = 0;

	(void)state;
	rng_init(&r, 3, RNG_DATA, 0, 0);
	for (int k = 0; k < 120; k++) {
		const struct micro_comp *c = &pool.comp[rng_below(&r, (uint32_t)pool.n)];
		uint64_t tests = micro_pick_tests(c, &probes, 8, &r);
		struct micro_val first = { 0 }, v = { 0 };
		bool constant = true;

		assert_int_equal(__builtin_popcountll(tests), 8);
		assert_true(tests & 1);
		(void)micro_eval(c, &probes.in[c->family][0], &first);
		for (int i = 1; i < probes.n[c->family]; i++)
			if (tests >> i & 1 && micro_eval(c, &probes.in[c->family][i], &v))
				constant = constant && micro_val_eq(&first, &v);
		assert_false(constant);
		for (int s = 0; s < MICRO_SLOTS; s++) {
			struct micro_comp near[MICRO_NEAR];

			for (int i = micro_near(c, s, near); i-- > 0;) {
				uint64_t d = micro_differ(c, &near[i], &probes);

				n_near += d != 0;
				n_missed += d && !(d & tests);
			}
		}
	}
	assert_true(n_near > 500);
	assert_int_equal(n_missed, 0);
}

/* ---- micro: the set ---- */

static struct str part_text(const struct task *t, const char *slot)
{
	return json_str(json_get(json_get(t->meta, "parts"), slot));
}

static bool same_parts(const struct task *a, const struct task *b)
{
	static const char *const slot[] = { "guard", "source", "filter", "cond",
		                            "map",   "other",  "fold",   "test" };

	for (size_t s = 0; s < sizeof slot / sizeof *slot; s++)
		if (!str_eq(part_text(a, slot[s]), part_text(b, slot[s])))
			return false;
	return str_eq(json_str(json_get(a->meta, "over")), json_str(json_get(b->meta, "over")));
}

/* Every part of t stands in one of the first n tasks that is over the same kind of argument. */
static bool parts_known(const struct task *t, const struct synth_set *s, int n)
{
	const struct json *parts = json_get(t->meta, "parts");

	for (int p = 0; p < parts->n; p++) {
		char slot[16];
		bool found = false;

		(void)snprintf(slot, sizeof slot, "%.*s", (int)parts->key[p].n, parts->key[p].p);
		for (int i = 0; i < n && !found; i++) {
			const struct task *u = &s->task[i].task;

			found = str_eq(json_str(json_get(t->meta, "over")),
			               json_str(json_get(u->meta, "over"))) &&
			        str_eq(part_text(u, slot), json_str(&parts->item[p]));
		}
		if (!found)
			return false;
	}
	return true;
}

static void test_split_is_held_out(void **state)
{
	AUTO_ARENA a = { .limit = 64 << 20 };
	struct synth_set s;
	int n_train = 0;

	(void)state;
	make(&synth_micro, "train=150 test=50 corpus=100", 5, &a, &s);
	assert_int_equal(s.n, 200);
	assert_int_equal(s.n_distinct, pool.n);
	for (int i = 0; i < s.n; i++) {
		const struct task *t = &s.task[i].task;

		n_train += !s.task[i].held_out;
		assert_int_equal(s.task[i].held_out, i >= 150);
		assert_int_equal(s.task[i].n_noisy, i < 100 ? 3 : 0);
		for (int k = 0; k < i; k++) {
			assert_false(same_parts(t, &s.task[k].task));
			assert_false(str_eq(t->prompt, s.task[k].task.prompt));
			assert_false(str_eq(t->id, s.task[k].task.id));
		}
		if (i >= 150)
			assert_true(parts_known(t, &s, 100));
	}
	assert_int_equal(n_train, 150);
}

static int wrong_of(const char *options, int *ret_programs)
{
	AUTO_ARENA a = { .limit = 64 << 20 };
	struct synth_set s;
	int n_wrong = 0;

	make(&synth_micro, options, 11, &a, &s);
	*ret_programs = 0;
	for (int i = 0; i < s.n; i++)
		for (int k = 0; k < s.task[i].n_noisy; k++) {
			bool same = str_eq(s.task[i].noisy[k], s.task[i].task.reference);

			assert_int_equal(same, !s.task[i].wrong[k]);
			n_wrong += s.task[i].wrong[k];
			++*ret_programs;
		}
	return n_wrong;
}

static void noise_is_what_was_asked_for(void **state)
{
	int n, n_wrong;

	(void)state;
	assert_int_equal(wrong_of("train=40 test=0 corpus=30 noise=0 programs=2", &n), 0);
	assert_int_equal(n, 60);
	n_wrong = wrong_of("train=150 test=0 corpus=150 noise=0.57 programs=8", &n);
	assert_true(n_wrong > 0.52 * n && n_wrong < 0.62 * n);
}

static void shares_are_kept(void **state)
{
	AUTO_ARENA a = { .limit = 64 << 20 };
	struct synth_set s;
	int n_range = 0;

	(void)state;
	make(&synth_micro, "train=200 test=0 text=0 words=0 list=0.5 range=0.5 level4=0", 2, &a,
	     &s);
	for (int i = 0; i < s.n; i++) {
		struct str over = json_str(json_get(s.task[i].task.meta, "over"));

		assert_true(str_is(over, "list") || str_is(over, "range"));
		n_range += str_is(over, "range");
		assert_false(str_is(json_get(s.task[i].task.difficulty, "level")->text, "4"));
	}
	assert_true(n_range > 70 && n_range < 130);
}

static void too_few_compositions_are_an_error(void **state)
{
	AUTO_ARENA a = { .limit = 64 << 20 };
	void *cfg = family_config_with(synth_micro.opts, synth_micro.cfg_size,
	                               "train=500 level2=0 level3=0 level4=0", &a);
	struct synth_set s = { .n = -1 };
	struct err e;

	(void)state;
	assert_int_equal(synth_micro.make(cfg, 1, &a, &s, &e), ERR_RANGE);
	assert_non_null(strstr(e.msg, "only"));
	assert_int_equal(s.n, -1);
	cfg = family_config_with(synth_micro.opts, synth_micro.cfg_size, "train=1 test=100", &a);
	assert_int_equal(synth_micro.make(cfg, 1, &a, &s, &e), ERR_RANGE);
	assert_non_null(strstr(e.msg, "unseen"));
}

/* ---- the judge and the files ---- */

static void broken_reference_is_named(void **state)
{
	AUTO_ARENA a = { .limit = 64 << 20 };
	struct judge_config cfg;
	struct synth_set s;
	struct judge *j;
	struct err e;
	int r;

	(void)state;
	make(&synth_micro, "train=4 test=0", 1, &a, &s);
	assert_int_equal(opt_fill(judge_opts, &cfg, "jobs=1", &a, NULL), 0);
	assert_int_equal(opt_fill(judge_box_opts, &cfg, NULL, &a, NULL), 0);
	r = judge_open(&cfg, &j, &e);
	if (r == ERR_DENIED)
		skip();
	if (r < 0)
		fail_msg("%s", e.msg);
	if (synth_verify(&s, j, NULL, NULL, &e) < 0)
		fail_msg("%s", e.msg);
	s.task[2].task.reference = STR("    return {}");
	assert_int_equal(synth_verify(&s, j, NULL, NULL, &e), ERR_PARSE);
	assert_non_null(strstr(e.msg, "micro-1-train-0003"));
	assert_non_null(strstr(e.msg, "wrong_answer"));
	judge_close(j);
}

static void files_hold_the_set(void **state)
{
	AUTO_ARENA a = { .limit = 64 << 20 };
	AUTO_BUF b = { .max = 1 << 20 };
	char dir[] = "/tmp/cupel-synth-XXXXXX", path[64];
	struct synth_made m = { .family = &synth_micro, .seed = 9 };
	const struct json *manifest;
	struct tasks ts;
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(dir));
	m.cfg = family_config_with(synth_micro.opts, synth_micro.cfg_size,
	                           "train=30 test=10 corpus=20 programs=2 noise=1", &a);
	assert_int_equal(synth_micro.make(m.cfg, m.seed, &a, &m.set, NULL), 0);
	if (synth_write(&m, dir, &e) < 0)
		fail_msg("%s", e.msg);
	(void)snprintf(path, sizeof path, "%s/test.jsonl", dir);
	if (tasks_open(path, NULL, 1 << 20, &ts, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(ts.n, 10);
	for (int i = 0; i < ts.n; i++) {
		assert_true(str_eq(ts.task[i].id, m.set.task[30 + i].task.id));
		assert_true(str_eq(ts.task[i].reference, m.set.task[30 + i].task.reference));
		assert_int_equal(ts.task[i].n_tests, 8);
	}
	tasks_done(&ts);
	(void)snprintf(path, sizeof path, "%s/manifest.json", dir);
	assert_int_equal(io_load(path, &b, NULL), 0);
	assert_int_equal(json_parse(buf_str(&b), &a, &manifest, NULL), 0);
	assert_true(str_is(json_get(manifest, "train")->text, "30"));
	assert_true(str_is(json_get(json_get(manifest, "corpus"), "programs")->text, "40"));
	assert_true(str_is(json_get(json_get(manifest, "corpus"), "wrong")->text, "40"));
	assert_true(str_is(json_get(json_get(manifest, "options"), "noise")->text, "1"));
	assert_int_equal(io_remove_tree(dir, NULL), 0);
	m.set.n = 0;
	assert_int_equal(synth_write(&m, "/dev/null/x", &e), ERR_SYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_describe_themselves),
		cmocka_unit_test(seed_decides_every_byte),
		cmocka_unit_test(neighbours_exist),
		cmocka_unit_test(parts_are_complete),
		cmocka_unit_test(prints_and_evaluates),
		cmocka_unit_test(large_numbers_have_no_value),
		cmocka_unit_test(thousands_of_behaviours),
		cmocka_unit_test(every_shape_and_family_occurs),
		cmocka_unit_test(tests_show_mistakes),
		cmocka_unit_test(test_split_is_held_out),
		cmocka_unit_test(noise_is_what_was_asked_for),
		cmocka_unit_test(shares_are_kept),
		cmocka_unit_test(too_few_compositions_are_an_error),
		cmocka_unit_test(broken_reference_is_named),
		cmocka_unit_test(files_hold_the_set),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, enumerate, forget);
}
