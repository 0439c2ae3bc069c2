/* test_conf.c - sources and their order, flags, kinds and lists, errors with the nearest key. */
#include "base/conf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

struct judge_cfg {
	double wall;
	int64_t jobs;
	bool cache;
	const char *name;
	int mode;
};

#define F(f) offsetof(struct judge_cfg, f)
static const char *const modes[] = { "fast", "exact", NULL };
static const struct opt judge_rows[] = {
	{ "wall", OPT_REAL, F(wall), 0.01, 3600, 0, "10", "s", "wall time for each test" },
	{ "jobs", OPT_INT, F(jobs), 0, 64, 0, "0", "", "programs at a time" },
	{ "cache", OPT_BOOL, F(cache), 0, 0, 0, "false", "", "keep results" },
	{ "name", OPT_STR, F(name), 0, 0, 0, "x", "", "a text" },
	{ "mode", OPT_CHOICE, F(mode), 0, 0, modes, "fast", "", "how" },
	{ 0 },
};

struct rate_cfg {
	double floor;
};

static const struct opt rate_rows[] = {
	{ "floor", OPT_REAL, offsetof(struct rate_cfg, floor), 0, 1, 0, "0", "", "lowest value" },
	{ 0 },
};

static const struct part pass_all = { .name = "pass_all", .doc = "d", .source = "s" };
static const struct part pass_rate = { .name = "pass_rate",
	                               .doc = "d",
	                               .source = "s",
	                               .opts = rate_rows,
	                               .cfg_size = sizeof(struct rate_cfg) };
static const struct part *const rewards[] = { &pass_all, &pass_rate, NULL };

enum { MAX_ARGS = 20, MAX_PARTS = 4 };

/* Everything a test looks at. */
struct seen {
	struct conf c;
	struct judge_cfg judge;
	struct conf_part part[MAX_PARTS];
	int n;
	struct err e;
	char dir[32], text[256]; /* argv points into text */
};

static void save(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* Read files and flags, bind the judge and the reward, look for unknown keys. */
static int read_all(struct seen *s, const char *recipe, const char *config, const char *flags)
{
	char *argv[MAX_ARGS] = { (char *)"test" }, *save_ptr = NULL;
	int argc = 1, r;

	(void)snprintf(s->dir, sizeof s->dir, "/tmp/cupel-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	assert_int_equal(chdir(s->dir), 0);
	(void)snprintf(s->text, sizeof s->text, "%s", flags);
	for (char *w = strtok_r(s->text, " ", &save_ptr); w; w = strtok_r(NULL, " ", &save_ptr))
		argv[argc++] = w;
	assert_int_equal(conf_init(&s->c, "test", "cupel test"), 0);
	conf_short(&s->c, "jobs", "judge.jobs");
	if (config) {
		save("c.yaml", config);
		argv[argc++] = (char *)"--config";
		argv[argc++] = (char *)"c.yaml";
	}
	r = conf_read(&s->c, argc, argv, &s->e);
	if (r == 0 && recipe) {
		save("r.yaml", recipe);
		r = conf_file(&s->c, "r.yaml", &s->e);
	}
	if (r == 0)
		r = conf_bind(&s->c, "judge", judge_rows, &s->judge, &s->e);
	if (r == 0)
		r = conf_parts(&s->c, "reward", rewards, "pass_all", s->part, MAX_PARTS, &s->n,
		               &s->e);
	if (r == 0)
		r = conf_end(&s->c, &s->e);
	(void)unlink("r.yaml");
	(void)unlink("c.yaml");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(s->dir), 0);
	return r;
}

static void ok(struct seen *s, const char *recipe, const char *config, const char *flags)
{
	int r = read_all(s, recipe, config, flags);

	if (r < 0)
		print_error("%s\n", s->e.msg);
	assert_int_equal(r, 0);
}

static void fails(const char *recipe, const char *flags, const char *message)
{
	struct seen s = { 0 };

	assert_true(read_all(&s, recipe, NULL, flags) < 0);
	assert_string_equal(s.e.msg, message);
	conf_done(&s.c);
}

static const char *origin_of(struct seen *s, const char *key)
{
	static char text[4096], *at, *end;
	FILE *f = fmemopen(text, sizeof text, "w");

	assert_non_null(f);
	assert_int_equal(conf_explain(&s->c, key, f, &s->e), 0);
	fclose(f);
	at = strstr(text, "origin");
	assert_non_null(at);
	at += strspn(at + 6, " ") + 6;
	end = strchr(at, '\n');
	*end = 0;
	return at;
}

static void defaults(void **state)
{
	struct seen s = { 0 };

	(void)state;
	ok(&s, NULL, NULL, "");
	assert_true(s.judge.wall == 10 && s.judge.jobs == 0 && !s.judge.cache);
	assert_string_equal(s.judge.name, "x");
	assert_true(s.n == 1 && s.part[0].part == &pass_all && !s.part[0].cfg);
	assert_string_equal(origin_of(&s, "judge.wall"), "default");
	conf_done(&s.c);
}

static void order_of_sources(void **state)
{
	static const char recipe[] = "judge:\n  wall: 1\n  jobs: 1\n  name: r\n  cache: yes\n";
	static const char config[] = "judge: {jobs: 2, name: c}\njudge.cache: off\n";
	struct seen s = { 0 };

	(void)state;
	setenv("CUPEL_JUDGE_JOBS", "3", 1);
	setenv("CUPEL_JUDGE_NAME", "env", 1);
	ok(&s, recipe, config, "--judge.name=flag");
	unsetenv("CUPEL_JUDGE_JOBS");
	unsetenv("CUPEL_JUDGE_NAME");
	assert_true(s.judge.wall == 1 && s.judge.jobs == 3 && !s.judge.cache);
	assert_string_equal(s.judge.name, "flag");
	assert_string_equal(origin_of(&s, "judge.wall"), "r.yaml:2");
	assert_string_equal(origin_of(&s, "judge.cache"), "c.yaml:2");
	assert_string_equal(origin_of(&s, "judge.jobs"), "CUPEL_JUDGE_JOBS");
	assert_string_equal(origin_of(&s, "judge.name"), "--judge.name");
	assert_true(conf_given(&s.c, "judge.wall") && conf_given(&s.c, "judge"));
	assert_false(conf_given(&s.c, "judge.mode"));
	conf_done(&s.c);
}

static void types_come_from_rows(void **state)
{
	struct seen s = { 0 };

	(void)state;
	ok(&s, "judge: {name: no, jobs: 1e1, wall: 5, cache: on, mode: exact}", NULL, "");
	assert_string_equal(s.judge.name, "no");
	assert_true(s.judge.jobs == 10 && s.judge.wall == 5 && s.judge.cache && s.judge.mode == 1);
	conf_done(&s.c);
	memset(&s, 0, sizeof s);
	ok(&s, "judge: {name: [1, 8]}", NULL, "");
	assert_string_equal(s.judge.name, "1,8");
	conf_done(&s.c);
}

static void flags_in_every_form(void **state)
{
	struct seen s = { 0 };

	(void)state;
	ok(&s, NULL, NULL, "a --judge.wall 7 -j 3 --judge.name=y --json - -v");
	assert_true(s.judge.wall == 7 && s.judge.jobs == 3 && s.c.json && s.c.verbose);
	assert_true(s.c.n_args == 2 && strcmp(s.c.arg[0], "a") == 0 &&
	            strcmp(s.c.arg[1], "-") == 0);
	conf_done(&s.c);
	memset(&s, 0, sizeof s);
	ok(&s, NULL, NULL, "-j5 --jobs 6 -- --judge.wall -x");
	assert_true(s.judge.jobs == 6 && s.c.n_args == 2);
	conf_done(&s.c);
}

static void word_behind_a_switch_is_an_argument(void **state)
{
	struct seen s = { 0 };

	(void)state;
	ok(&s, NULL, NULL, "a --judge.cache b c");
	assert_true(s.judge.cache && s.c.n_args == 3);
	assert_string_equal(s.c.arg[1], "b");
	assert_string_equal(s.c.arg[2], "c");
	conf_done(&s.c);
	memset(&s, 0, sizeof s);
	ok(&s, "judge.cache: true", NULL, "--judge.cache false b");
	assert_true(!s.judge.cache && s.c.n_args == 1);
	conf_done(&s.c);
	memset(&s, 0, sizeof s);
	ok(&s, NULL, NULL, "b --judge.cache");
	assert_true(s.judge.cache && s.c.n_args == 1);
	conf_done(&s.c);
}

static void declared_switch_takes_no_word(void **state)
{
	static char *argv[] = { (char *)"test", (char *)"--cache", (char *)"b", (char *)"--cache",
		                (char *)"false" };
	struct judge_cfg judge;
	struct conf c;
	struct err e;

	(void)state;
	assert_int_equal(conf_init(&c, "test", ""), 0);
	conf_short(&c, "cache", "judge.cache");
	conf_switch(&c, "cache");
	assert_int_equal(conf_read(&c, 3, argv, &e), 0);
	assert_true(c.n_args == 1 && strcmp(c.arg[0], "b") == 0);
	assert_int_equal(conf_bind(&c, "judge", judge_rows, &judge, &e), 0);
	assert_true(judge.cache);
	conf_done(&c);
	assert_int_equal(conf_init(&c, "test", ""), 0);
	conf_short(&c, "cache", "judge.cache");
	conf_switch(&c, "judge.cache");
	assert_int_equal(conf_read(&c, 5, argv, &e), 0);
	assert_int_equal(c.n_args, 1);
	assert_int_equal(conf_bind(&c, "judge", judge_rows, &judge, &e), 0);
	assert_false(judge.cache);
	conf_done(&c);
	fails("judge: {wall: 1}", "--judge.cache b",
	      "--judge.cache is a switch: 'b' behind it needs --judge.cache=true");
}

static double floor_of(const struct conf_part *p)
{
	return ((const struct rate_cfg *)p->cfg)->floor;
}

static void kinds(void **state)
{
	static const char *const same[][2] = {
		{ "reward: {kind: pass_rate, floor: 0.4}", "" },
		{ "reward: pass_rate\n", "--reward.floor=0.4" },
		{ "reward: pass_all", "--reward=pass_rate --reward.floor 0.4" },
		{ NULL, "--reward.floor=0.4 --reward.kind pass_rate" },
		{ "reward: [{kind: pass_rate, floor: 0.4}]", "" },
		{ "reward: [pass_all, pass_all]", "--reward=pass_rate --reward.floor=0.4" },
		{ NULL, "--reward.0.kind=pass_rate --reward.0.floor=0.4" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		struct seen s = { 0 };

		ok(&s, same[i][0], NULL, same[i][1]);
		assert_int_equal(s.n, 1);
		assert_ptr_equal(s.part[0].part, &pass_rate);
		assert_true(floor_of(&s.part[0]) == 0.4 && s.part[0].weight == 1);
		conf_done(&s.c);
	}
}

static void kind_from_the_environment(void **state)
{
	struct seen s = { 0 };

	(void)state;
	setenv("CUPEL_REWARD", "pass_rate", 1);
	setenv("CUPEL_REWARD_FLOOR", "0.25", 1);
	ok(&s, "reward: [pass_all, {kind: pass_rate, floor: 0.5}]", NULL, "");
	unsetenv("CUPEL_REWARD");
	unsetenv("CUPEL_REWARD_FLOOR");
	assert_true(s.n == 1 && s.part[0].part == &pass_rate && floor_of(&s.part[0]) == 0.25);
	conf_done(&s.c);
}

/* The options of a kind that a higher source replaces belong to nobody. */
static void replaced_kind_takes_its_options_along(void **state)
{
	struct seen s = { 0 };

	(void)state;
	ok(&s, "reward: {kind: pass_rate, floor: 0.4}", NULL, "--reward=pass_all");
	assert_ptr_equal(s.part[0].part, &pass_all);
	conf_done(&s.c);
	fails("reward: {kind: pass_all, floor: 0.4}", "",
	      "r.yaml:1: unknown option 'reward.floor'");
	fails("reward: {kind: pass_rate}", "--reward=pass_all --reward.floor=1",
	      "unknown option '--reward.floor'");
}

static void lists(void **state)
{
	static const char recipe[] =
		"reward:\n- kind: pass_all\n- {kind: pass_rate, weight: 0.2}\n";
	struct seen s = { 0 };

	(void)state;
	ok(&s, recipe, NULL, "--reward.1.floor=0.5 --reward.0.weight=2");
	assert_true(s.n == 2 && s.part[0].weight == 2 && s.part[1].weight == 0.2);
	assert_true(floor_of(&s.part[1]) == 0.5);
	assert_string_equal(s.part[1].key, "reward.1");
	conf_done(&s.c);
	memset(&s, 0, sizeof s);
	ok(&s, recipe, "reward: [pass_rate]", ""); /* a list replaces a list */
	assert_true(s.n == 1 && s.part[0].part == &pass_rate && s.part[0].weight == 1);
	conf_done(&s.c);
	fails(recipe, "--reward.2.weight=1", "reward.2.kind: '' is none of: pass_all, pass_rate");
	fails("reward: []", "", "r.yaml:1: 'reward' is an empty list");
	fails("reward: [pass_all, pass_all, pass_all, pass_all, pass_all]", "",
	      "reward: more than 4 parts");
}

static void optional_parts(void **state)
{
	static char *none[] = { (char *)"test", NULL },
		    *off[] = { (char *)"test", (char *)"--kl=none" };
	struct conf_part p = { 0 };
	struct conf c;
	struct err e;

	(void)state;
	assert_int_equal(conf_init(&c, "test", ""), 0);
	assert_int_equal(conf_read(&c, 1, none, &e), 0);
	assert_int_equal(conf_part(&c, "kl", rewards, NULL, &p, &e), 0);
	assert_null(p.part);
	conf_done(&c);
	assert_int_equal(conf_init(&c, "test", ""), 0);
	assert_int_equal(conf_read(&c, 2, off, &e), 0);
	assert_int_equal(conf_part(&c, "kl", rewards, NULL, &p, &e), 0);
	assert_null(p.part);
	assert_int_equal(conf_end(&c, &e), 0);
	conf_done(&c);
}

static void errors_name_place_and_nearest(void **state)
{
	(void)state;
	fails("# x\njudge: {wal: 1}", "",
	      "r.yaml:2: unknown option 'judge.wal' (did you mean 'judge.wall'?)");
	fails(NULL, "--judge.wlal=1",
	      "unknown option '--judge.wlal' (did you mean '--judge.wall'?)");
	fails(NULL, "--job=1", "unknown option '--job' (did you mean '--jobs'?)");
	fails(NULL, "--wall=1", "unknown option '--wall' (did you mean '--judge.wall'?)");
	fails(NULL, "--zzzzzz=1", "unknown option '--zzzzzz'");
	fails(NULL, "-x", "unknown option '-x'");
	fails(NULL, "--judge=5", "option '--judge' needs a key below it, as '--judge.wall'");
	fails("judge:\n  wall: 1\n  wall: 2\n", "", "r.yaml:3: 'judge.wall' is given twice");
	fails("judge: {wall: 99999}", "", "r.yaml:1: judge.wall: 99999 is outside 0.01..3600 s");
	fails(NULL, "--jobs=many", "--jobs: 'many' is not a whole number");
	fails("judge: {jobs: [1, 2]}", "", "r.yaml:1: judge.jobs is not a list");
	fails("judge: {cache: perhaps}", "",
	      "r.yaml:1: judge.cache: 'perhaps' is not true or false");
	fails("judge: {mode: slow}", "", "r.yaml:1: judge.mode: 'slow' is none of: fast, exact");
	fails("reward: pass_most", "",
	      "r.yaml:1: reward.kind: 'pass_most' is none of: pass_all, pass_rate");
	fails("unread: []", "", "r.yaml:1: unknown option 'unread'");
}

static void yaml_is_kept_small(void **state)
{
	static const char *const bad[] = {
		"a: &x 1\nb: *x\n",
		"--- {a: 1}\n--- {a: 1}\n",
		"[1, 2]",
		"just text",
		"judge: {wall: !!float 1}",
		"{[1]: 2}",
		"a: \"\\0\"\n",
		"judge: {wall: 1",
		"\ta: 1\n",
		"? {a: 1}\n: 2\n",
		"a..b: 1",
		".a: 1",
		"a: {b: {c: {d: {e: {f: {g: {h: {i: {j: {k: {l: {m: 1}}}}}}}}}}}}",
		"a.b.c.d.e.f.g.h.i.j.k.l.m: 1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct seen s = { 0 };

		assert_true(read_all(&s, bad[i], NULL, "") < 0);
		assert_int_equal(strncmp(s.e.msg, "r.yaml:", 7), 0);
		conf_done(&s.c);
	}
}

static void file_after_binding_fills_again(void **state)
{
	static char *argv[] = { (char *)"test", (char *)"--judge.wall=3" };
	char path[] = "/tmp/cupel-XXXXXX";
	int fd = mkstemp(path);
	struct judge_cfg judge;
	struct conf c;
	struct err e;

	(void)state;
	assert_true(fd >= 0 && close(fd) == 0);
	save(path, "judge: {wall: 2, jobs: 5}");
	assert_int_equal(conf_init(&c, "test", ""), 0);
	assert_int_equal(conf_read(&c, 2, argv, &e), 0);
	assert_int_equal(conf_bind(&c, "judge", judge_rows, &judge, &e), 0);
	assert_true(judge.wall == 3 && judge.jobs == 0);
	assert_int_equal(conf_file(&c, path, &e), 0);
	assert_true(judge.wall == 3 && judge.jobs == 5);
	assert_int_equal(conf_end(&c, &e), 0);
	conf_done(&c);
	(void)unlink(path);
}

static void missing_file_is_bad_input(void **state)
{
	struct conf c;
	struct err e;

	(void)state;
	assert_int_equal(conf_init(&c, "test", ""), 0);
	assert_int_equal(conf_file(&c, "/nowhere/x.yaml", &e), ERR_NOENT);
	assert_string_equal(e.msg, "/nowhere/x.yaml: No such file or directory");
	conf_done(&c);
}

/* What conf_show() prints is a config file that gives the same values. */
static void shown_text_is_a_config_file(void **state)
{
	char text[4096] = "", again[4096] = "";
	struct seen s = { 0 }, t = { 0 };
	FILE *f = fmemopen(text, sizeof text, "w");

	(void)state;
	ok(&s, "judge: {name: 'a: \"b\" # c\\d', wall: 2.5}\nreward: {kind: pass_rate, floor: .5}",
	   NULL, "");
	conf_show(&s.c, f);
	fclose(f);
	assert_non_null(strstr(text, "judge.wall: 2.5  # r.yaml:1\n"));
	ok(&t, text, NULL, "");
	assert_string_equal(t.judge.name, s.judge.name);
	assert_true(floor_of(&t.part[0]) == 0.5);
	f = fmemopen(again, sizeof again, "w");
	conf_show(&t.c, f);
	fclose(f);
	assert_non_null(strstr(again, "judge.wall: 2.5  # r.yaml:1\n"));
	conf_done(&s.c);
	conf_done(&t.c);
}

static void json_has_types_and_origins(void **state)
{
	AUTO_BUF b = { .max = 1 << 16 };
	struct jsonw w = { &b };
	struct seen s = { 0 };

	(void)state;
	ok(&s, "judge: {jobs: 4, cache: on}", NULL, "");
	conf_json(&s.c, &w);
	assert_non_null(
		strstr(buf_cstr(&b), "\"judge.jobs\":{\"value\":4,\"origin\":\"r.yaml:1\"}"));
	assert_non_null(strstr(buf_cstr(&b), "\"judge.cache\":{\"value\":true,"));
	assert_non_null(
		strstr(buf_cstr(&b), "\"judge.name\":{\"value\":\"x\",\"origin\":\"default\"}"));
	assert_non_null(strstr(buf_cstr(&b),
	                       "\"reward.kind\":{\"value\":\"pass_all\",\"origin\":\"default\"}"));
	conf_done(&s.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(order_of_sources),
		cmocka_unit_test(types_come_from_rows),
		cmocka_unit_test(flags_in_every_form),
		cmocka_unit_test(word_behind_a_switch_is_an_argument),
		cmocka_unit_test(declared_switch_takes_no_word),
		cmocka_unit_test(kinds),
		cmocka_unit_test(kind_from_the_environment),
		cmocka_unit_test(replaced_kind_takes_its_options_along),
		cmocka_unit_test(lists),
		cmocka_unit_test(optional_parts),
		cmocka_unit_test(errors_name_place_and_nearest),
		cmocka_unit_test(yaml_is_kept_small),
		cmocka_unit_test(file_after_binding_fills_again),
		cmocka_unit_test(missing_file_is_bad_input),
		cmocka_unit_test(shown_text_is_a_config_file),
		cmocka_unit_test(json_has_types_and_origins),
	};

	return RUN(tests);
}
