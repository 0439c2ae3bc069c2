/* test_rollout_single.c - samples do not depend on the batch or on when the judge answers; every
 * sequence is released; what ended how; what stops it. Policy and judge are fakes: the policy draws
 * tokens from its counters, the judge answers after as many questions as the test says.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/rng.h"
#include "rollout/rollout.h"

enum { MAX_LIVE = 64, MAX_JOBS = 256, STEP = 9, SEED = 5 };

static struct {
	bool live[MAX_LIVE];
	int len[MAX_LIVE];
	int n_live, most_live, n_prefill, n_sample;
	int fail_at;            /* the call of sample() that fails; 0: none */
	volatile int *stop_now; /* set by the call stop_at */
	int stop_at;
	int64_t only_token; /* always this one; -1: from the counters */
	uint32_t word[4];   /* counters of the last draw */
} pol;

static int open_seq(int len, int *ret)
{
	for (int i = 0; i < MAX_LIVE; i++)
		if (!pol.live[i]) {
			pol.live[i] = true;
			pol.len[i] = len;
			if (++pol.n_live > pol.most_live)
				pol.most_live = pol.n_live;
			*ret = i;
			return 0;
		}
	fail_msg("more than %d sequences", MAX_LIVE);
	return -1;
}

static int fake_prefill(struct policy *p, const int32_t *tok, int n, int *ret, struct err *e)
{
	(void)p;
	(void)tok;
	(void)e;
	pol.n_prefill++;
	return open_seq(n, ret);
}

static int fake_fork(struct policy *p, int seq, int *ret, struct err *e)
{
	(void)p;
	(void)e;
	assert_true(pol.live[seq]);
	return open_seq(pol.len[seq], ret);
}

static void fake_release(struct policy *p, int seq)
{
	(void)p;
	assert_true(pol.live[seq]);
	pol.live[seq] = false;
	pol.n_live--;
}

/* A function of the counters: the end of text with 1 in 8, else a byte from ' ' to '?'. */
static int fake_sample(struct policy *p, const struct sampling *s, const struct draw *d, int n,
                       struct drawn *ret, struct err *e)
{
	if (++pol.n_sample == pol.fail_at)
		return FAIL(e, ERR_NOMEM, "no room for keys");
	if (pol.stop_now && pol.n_sample == pol.stop_at)
		*pol.stop_now = 15;
	for (int i = 0; i < n; i++) {
		uint32_t r[4];

		assert_true(pol.live[d[i].seq]);
		assert_int_equal(d[i].ctr[0], pol.len[d[i].seq]++);
		rng_philox(s->seed, d[i].ctr, r);
		ret[i].tok = r[0] % 8 == 0 ? tok_eos(p->tok) : (int32_t)(' ' + r[1] % 32);
		if (pol.only_token >= 0)
			ret[i].tok = (int32_t)pol.only_token;
		ret[i].logp = -rng_to_unit(r[2]);
		ret[i].entropy = rng_to_unit(r[3]);
		memcpy(pol.word, d[i].ctr, sizeof pol.word);
	}
	return 0;
}

static const struct policy_fn fake_fn = { .name = "fake",
	                                  .prefill = fake_prefill,
	                                  .fork = fake_fork,
	                                  .release = fake_release,
	                                  .sample = fake_sample };

/* The judge of judge.h. Verdict by the length of the program: a third each accepted, wrong and
 * judge_error.
 */
static struct {
	struct {
		uint64_t tag;
		const struct task *task;
		size_t len;
	} job[MAX_JOBS];
	int n, taken, delay, asked; /* a result is there after `delay` questions */
	bool broken;
} jud;

int judge_submit(struct judge *j, const struct task *t, struct str code, uint64_t tag,
                 struct err *e)
{
	(void)j;
	(void)e;
	assert_true(jud.n < MAX_JOBS && code.n > t->preamble.n);
	assert_memory_equal(code.p, t->preamble.p, t->preamble.n);
	jud.job[jud.n].tag = tag;
	jud.job[jud.n].task = t;
	jud.job[jud.n++].len = code.n;
	return 0;
}

static enum verdict verdict_of(size_t len)
{
	static const enum verdict v[] = { VERDICT_ACCEPTED, VERDICT_WRONG_ANSWER,
		                          VERDICT_JUDGE_ERROR };

	return v[len % 3];
}

int judge_next(struct judge *j, int64_t timeout_ns, struct judged *ret, struct err *e)
{
	struct judged_test *t;
	int n;

	(void)j;
	if (jud.broken)
		return FAIL(e, ERR_SYS, "boxd is dead");
	if (jud.taken == jud.n || (timeout_ns == 0 && ++jud.asked < jud.delay))
		return 0;
	jud.asked = 0;
	n = jud.job[jud.taken].task->n_tests;
	t = calloc((size_t)n, sizeof *t);
	assert_non_null(t);
	*ret = (struct judged){ .tag = jud.job[jud.taken].tag,
		                .verdict = verdict_of(jud.job[jud.taken].len),
		                .n_tests = n,
		                .test = t,
		                .own = t };
	for (int i = 0; i < n; i++) {
		t[i] = (struct judged_test){ .name = STR("x"), .verdict = ret->verdict };
		ret->n_passed += ret->verdict == VERDICT_ACCEPTED;
	}
	jud.taken++;
	return 1;
}

void judged_done(struct judged *v)
{
	free(v->own);
}

int judge_pending(const struct judge *j)
{
	(void)j;
	return jud.n - jud.taken;
}

/* Three tasks of which the first comes twice; two tests, one visible. */
static const struct test two_tests[] = { { .name = { "1", 1 }, .weight = 2, .visible = true },
	                                 { .name = { "2", 1 }, .weight = 1 } };

static struct task task_of(const char *id)
{
	return (struct task){ .id = { id, strlen(id) },
		              .prompt = { "def f(x):\n", 10 },
		              .preamble = { "def f(x):\n", 10 },
		              .language = STR("python"),
		              .kind = TASK_FUNCTION,
		              .entry_point = STR("f"),
		              .n_tests = 2,
		              .test = two_tests };
}

/* One owner: the test. */
struct bench {
	struct arena a;
	struct task task[3];
	struct rollout_ask ask[4];
	struct policy policy;
	struct rollout_config cfg;
	struct rollout_env env;
	struct batch b;
	struct rollout_stats st;
	struct tok *tok;
};

extern const struct rollout_fn rollout_single;

static void bench_init(struct bench *x, int batch, int delay)
{
	static const char *const special[] = { "<end>", NULL };
	struct str text = STR("def f(x):\n    return x\n");
	struct err e;

	memset(&pol, 0, sizeof pol);
	memset(&jud, 0, sizeof jud);
	pol.only_token = -1;
	jud.delay = delay;
	*x = (struct bench){ .a = { .limit = 64 << 20 } };
	assert_int_equal(tok_train(&text, 1, 257, special, &x->tok, &e), 0);
	x->task[0] = task_of("one"), x->task[1] = task_of("two"), x->task[2] = task_of("three");
	x->ask[0] = (struct rollout_ask){ &x->task[0], 4 };
	x->ask[1] = (struct rollout_ask){ &x->task[1], 1 };
	x->ask[2] = (struct rollout_ask){ &x->task[2], 7 };
	x->ask[3] = (struct rollout_ask){ &x->task[0], 2 };
	x->policy = (struct policy){ .fn = &fake_fn, .tok = x->tok, .max_seq = 40, .version = 3 };
	x->cfg = (struct rollout_config){ .temperature = 1, .max_tokens = 12, .batch = batch };
	x->env = (struct rollout_env){
		.policy = &x->policy, .cfg = &x->cfg, .seed = SEED, .step = STEP, .first_id = 100
	};
}

static int run(struct bench *x, struct err *e)
{
	return rollout_single.run(NULL, &x->env, x->ask, 4, &x->a, &x->b, &x->st, e);
}

static void bench_done(struct bench *x)
{
	assert_int_equal(pol.n_live, 0);
	arena_done(&x->a);
	tok_free(x->tok);
}

static void same_sample(const struct sample *x, const struct sample *y)
{
	assert_true(x->id == y->id && x->rollout == y->rollout && x->n_tok == y->n_tok);
	assert_true(x->finish == y->finish && x->verdict == y->verdict);
	assert_memory_equal(x->tok, y->tok, (size_t)x->n_tok * sizeof *x->tok);
	assert_memory_equal(x->logp, y->logp, (size_t)x->n_tok * sizeof *x->logp);
	assert_memory_equal(x->entropy, y->entropy, (size_t)x->n_tok * sizeof *x->entropy);
	assert_true(str_eq(x->text, y->text) && str_eq(x->code, y->code));
}

static void the_batch_and_the_judge_do_not_matter(void **state)
{
	static const struct {
		int batch, delay;
	} how[] = { { 1, 0 }, { 3, 5 }, { 64, 1000 }, { 5, 2 } };
	struct bench want, got;
	struct err e = { 0 };

	(void)state;
	bench_init(&want, 14, 0);
	if (run(&want, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(want.b.n_samples, 14);
	for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
		bench_init(&got, how[i].batch, how[i].delay);
		assert_int_equal(run(&got, &e), 0);
		assert_true(pol.most_live <= how[i].batch + 1);
		assert_int_equal(pol.n_prefill, 4);
		assert_int_equal(got.b.n_tok, want.b.n_tok);
		for (int k = 0; k < 14; k++)
			same_sample(batch_sample(&want.b, k), batch_sample(&got.b, k));
		bench_done(&got);
	}
	arena_done(&want.a);
	tok_free(want.tok);
}

static void check_text(const struct bench *x, const struct sample *s)
{
	const struct turn *t = s->turn;
	bool end = s->tok[s->n_tok - 1] == tok_eos(x->tok);

	assert_int_equal(s->finish, end ? FINISH_STOP : FINISH_LENGTH);
	assert_true(end || s->n_tok - s->n_prompt == x->cfg.max_tokens);
	assert_true(s->n_prompt == 10 && s->fork_tok == 10 && s->parent == -1 && s->chain == -1);
	for (int k = 0; k < s->n_tok; k++) {
		assert_int_equal(s->mask[k], k >= s->n_prompt);
		assert_true(k >= s->n_prompt ? s->logp[k] < 0 : s->logp[k] == 0);
		if (k >= s->n_prompt && !(end && k == s->n_tok - 1))
			assert_int_equal(s->text.p[s->byte_of[k]], s->tok[k]);
	}
	assert_int_equal(s->byte_of[s->n_tok], s->text.n);
	assert_int_equal(s->n_turns, 1);
	assert_true(t->tok0 == s->n_prompt && t->tok1 == s->n_tok);
	assert_true(t->byte0 == 0 && t->byte1 == s->text.n && t->finish == s->finish);
}

static void every_field(void **state)
{
	struct bench x;
	int judged = 0, i = 0;
	struct err e;

	(void)state;
	bench_init(&x, 4, 3);
	assert_int_equal(run(&x, &e), 0);
	for (int g = 0; g < 4; g++) {
		assert_true(str_eq(x.b.group[g].key, x.ask[g].task->id));
		for (int k = 0; k < x.b.group[g].n; k++, i++) {
			const struct sample *s = &x.b.group[g].sample[k];

			assert_int_equal(s->id, 100 + i);
			assert_int_equal(s->rollout, g == 3 ? 4 + k : k);
			assert_int_equal(s->version, 3);
			assert_int_equal(x.b.first[i + 1] - x.b.first[i], s->n_tok);
			check_text(&x, s);
			assert_int_equal(s->n_tests, 2);
			assert_true(s->test[0].weight == 2 && s->test[0].visible);
			assert_true(str_is(s->test[1].name, "2"));
			assert_int_equal(s->turn[0].n_tests, 1);
			if (!s->code.p) {
				assert_int_equal(s->verdict, VERDICT_COMPILE_ERROR);
				continue;
			}
			judged++;
			assert_int_equal(s->verdict, verdict_of(s->code.n));
			assert_int_equal(s->turn[0].verdict, s->verdict);
			assert_int_equal(s->turn[0].n_passed, s->verdict == VERDICT_ACCEPTED);
		}
	}
	assert_true(judged > 10 && x.st.programs == judged && x.st.tests == 2 * judged);
	assert_int_equal(x.st.sampled_tokens, x.b.n_tok - 14 * 10);
	bench_done(&x);
}

/* The counters of a draw are (position, rollout | purpose << 24, task, step). */
static void counters(void **state)
{
	struct bench x;
	struct err e;

	(void)state;
	bench_init(&x, 1, 0);
	pol.only_token = 'x';
	assert_int_equal(run(&x, &e), 0);
	assert_int_equal(pol.word[0], 10 + 12 - 1);
	assert_int_equal(pol.word[1], 5 | RNG_SAMPLE << 24);
	assert_int_equal(pol.word[2], (uint32_t)hash_u64(STR("one")));
	assert_int_equal(pol.word[3], STEP);
	bench_done(&x);
}

/* Nothing but the end of text: no program, nothing to judge, and that is no fault of the machine.
 */
static void empty_answers(void **state)
{
	struct bench x;
	struct err e;

	(void)state;
	bench_init(&x, 4, 0);
	pol.only_token = tok_eos(x.tok);
	assert_int_equal(run(&x, &e), 0);
	assert_int_equal(jud.n, 0);
	for (int i = 0; i < 14; i++) {
		const struct sample *s = batch_sample(&x.b, i);

		assert_true(s->text.n == 0 && s->code.p == NULL);
		assert_true(s->verdict == VERDICT_COMPILE_ERROR && s->n_passed == 0);
		assert_true(s->n_tests == 2 && s->test[0].verdict == VERDICT_SKIPPED);
	}
	bench_done(&x);
}

static void the_longest_sequence_is_the_limit(void **state)
{
	struct bench x;
	struct err e;

	(void)state;
	bench_init(&x, 4, 0);
	x.policy.max_seq = 15;
	pol.only_token = 'x';
	assert_int_equal(run(&x, &e), 0);
	assert_int_equal(batch_sample(&x.b, 13)->n_tok, 15);
	assert_int_equal(batch_sample(&x.b, 13)->finish, FINISH_LENGTH);
	bench_done(&x);
	bench_init(&x, 4, 0);
	x.policy.max_seq = 10;
	assert_true(run(&x, &e) < 0);
	assert_non_null(strstr(e.msg, "one"));
	bench_done(&x);
}

static void failures_release_everything(void **state)
{
	volatile int stop = 0;
	struct bench x;
	struct err e;

	(void)state;
	for (int at = 1; at < 6; at++) {
		bench_init(&x, 3, 0);
		pol.fail_at = at;
		x.b.n_samples = -1;
		assert_int_equal(run(&x, &e), ERR_NOMEM);
		assert_int_equal(x.b.n_samples, -1);
		bench_done(&x);
	}
	bench_init(&x, 3, 0);
	jud.broken = true;
	assert_int_equal(run(&x, &e), ERR_SYS);
	bench_done(&x);
	bench_init(&x, 3, 0);
	x.env.stop = pol.stop_now = &stop;
	pol.stop_at = 4;
	assert_int_equal(run(&x, &e), ERR_STOP);
	assert_int_equal(pol.n_sample, 4);
	bench_done(&x);
	for (size_t limit = 1; limit < 6000; limit += 777) {
		bench_init(&x, 3, 0);
		x.a.limit = limit;
		assert_int_equal(run(&x, &e), ERR_LIMIT);
		bench_done(&x);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_batch_and_the_judge_do_not_matter),
		cmocka_unit_test(every_field),
		cmocka_unit_test(counters),
		cmocka_unit_test(empty_answers),
		cmocka_unit_test(the_longest_sequence_is_the_limit),
		cmocka_unit_test(failures_release_everything),
	};

	return RUN(tests);
}
