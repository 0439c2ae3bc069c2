/* eval.c - samples answers for every task, judges them and counts.
 *
 * Tasks are worked on in pieces of about PIECE answers, so that memory does not grow with the set.
 */
#include "eval/eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define F(field) offsetof(struct eval_opts, field)

const struct opt eval_opts_table[] = {
	{ "n", OPT_INT, F(n), 1, 1 << 16, 0, "16", "", "answers for each task" },
	{ "k", OPT_STR, F(k), 0, 0, 0, "1,8", "", "pass@k for these k" },
	{ "greedy", OPT_BOOL, F(greedy), 0, 0, 0, "false", "",
	  "one answer, always the likeliest token" },
	{ "tasks", OPT_INT, F(tasks), 0, 1 << 24, 0, "0", "", "the first so many tasks; 0: all" },
	{ 0 },
};

enum { PIECE = 2048 };

static int answers(const struct eval_opts *o)
{
	return o->greedy ? 1 : (int)o->n;
}

/* The next of "1,8,16"; a comma must have a number behind it. */
static bool next_number(const char **p, long *ret)
{
	char *end;

	if (**p < '0' || **p > '9')
		return false;
	*ret = strtol(*p, &end, 10);
	*p = *end == ',' && end[1] ? end + 1 : end;
	return *p > end || !*end;
}

int eval_parse_k(const struct eval_opts *o, int *ret, int *ret_n, struct err *e)
{
	int k[EVAL_MAX_K], n = 0;
	const char *p = o->k;

	if (o->greedy) {
		ret[0] = *ret_n = 1;
		return 0;
	}
	while (*p) {
		long v = 0;

		if (!next_number(&p, &v))
			return FAIL(e, ERR_PARSE, "eval.k: '%s' is no list like 1,8", o->k);
		if (v < 1 || v > o->n)
			return FAIL(e, ERR_RANGE, "eval.k: %ld is not within 1..%lld (eval.n)", v,
			            (long long)o->n);
		if (n && v <= k[n - 1])
			return FAIL(e, ERR_PARSE, "eval.k: '%s' is not ascending", o->k);
		if (n == EVAL_MAX_K)
			return FAIL(e, ERR_LIMIT, "eval.k: more than %d entries", EVAL_MAX_K);
		k[n++] = (int)v;
	}
	if (n == 0)
		return FAIL(e, ERR_PARSE, "eval.k is empty");
	memcpy(ret, k, (size_t)n * sizeof *k);
	*ret_n = n;
	return 0;
}

/* One owner: eval_run(). */
struct count {
	int *n, *c; /* (n_tasks,) */
	int64_t sampled;
	double entropy;
	struct eval_result *r;
};

static void count_group(struct count *k, int task, const struct group *g)
{
	for (int i = 0; i < g->n; i++) {
		const struct sample *s = &g->sample[i];

		k->r->by_verdict[s->verdict]++;
		k->r->n_samples++;
		k->r->n_truncated += s->finish == FINISH_LENGTH;
		k->sampled += s->n_tok - s->n_prompt;
		for (int t = s->n_prompt; t < s->n_tok; t++)
			k->entropy += s->entropy[t];
		if (s->verdict == VERDICT_JUDGE_ERROR) {
			k->r->n_left_out++;
			continue;
		}
		k->n[task]++;
		k->c[task] += s->verdict == VERDICT_ACCEPTED;
	}
}

static void add_stats(struct rollout_stats *sum, const struct rollout_stats *x)
{
	sum->sampled_tokens += x->sampled_tokens;
	sum->programs += x->programs;
	sum->tests += x->tests;
	sum->generate_ns += x->generate_ns;
	sum->judge_wait_ns += x->judge_wait_ns;
}

/* Tasks t0.. of one piece; *ret_n: how many. */
static int piece(const struct eval_env *env, const struct eval_opts *o, const struct tasks *t,
                 int t0, struct count *k, int *ret_n, struct err *e)
{
	struct rollout_config cfg = *env->cfg;
	struct rollout_env re = { .policy = env->policy,
		                  .judge = env->judge,
		                  .cfg = &cfg,
		                  .seed = env->seed,
		                  .step = EVAL_STEP,
		                  .stop = env->stop };
	int n = PIECE / answers(o), left = k->r->n_tasks - t0;
	AUTO_ARENA ask_mem = { .limit = 1 << 20 };
	AUTO_ARENA a = { 0 };
	struct rollout_stats st;
	struct rollout_ask *ask;
	struct batch b;

	n = n < 1 ? 1 : n > left ? left : n;
	ask = arena_new(&ask_mem, struct rollout_ask, n);
	if (!ask)
		return FAIL(e, ERR_LIMIT, "%d tasks", n);
	for (int i = 0; i < n; i++)
		ask[i] = (struct rollout_ask){ &t->task[t0 + i], answers(o) };
	if (o->greedy)
		cfg.temperature = 0;
	a.limit = rollout_arena_limit(env->policy, &cfg, ask, n);
	if (env->rollout->run(env->rollout_cfg, &re, ask, n, &a, &b, &st, e) < 0)
		return e->code;
	for (int i = 0; i < n; i++)
		count_group(k, t0 + i, &b.group[i]);
	add_stats(&k->r->st, &st);
	*ret_n = n;
	return 0;
}

int eval_run(const struct eval_env *env, const struct eval_opts *o, const struct tasks *t,
             struct eval_result *ret, struct err *e)
{
	struct eval_result r = { .n_tasks = t->n };
	struct count k = { .r = &r };
	AUTO_ARENA a = { .limit = 1 << 28 };
	int64_t t0 = now_ns();
	struct err own;
	int done = 0;

	e = e ? e : &own;
	if (o->tasks && o->tasks < r.n_tasks)
		r.n_tasks = (int)o->tasks;
	if (eval_parse_k(o, r.k, &r.n_k, e) < 0)
		return e->code;
	k.n = arena_new(&a, int, r.n_tasks);
	k.c = arena_new(&a, int, r.n_tasks);
	if (!k.n || !k.c)
		return FAIL(e, ERR_LIMIT, "%d tasks", r.n_tasks);
	while (done < r.n_tasks) {
		int n = 0;

		if (env->progress)
			env->progress(env->arg, done, r.n_tasks);
		if (piece(env, o, t, done, &k, &n, e) < 0)
			return err_wrap(e, "evaluation");
		done += n;
	}
	if (env->progress)
		env->progress(env->arg, done, r.n_tasks);
	for (int i = 0; i < r.n_k; i++)
		r.pass[i] = passk_over(k.n, k.c, r.n_tasks, r.k[i]);
	r.mean_length = r.n_samples ? (double)k.sampled / (double)r.n_samples : 0;
	r.entropy = k.sampled ? k.entropy / (double)k.sampled : 0;
	r.wall_ns = now_ns() - t0;
	*ret = r;
	return 0;
}

double eval_pass(const struct eval_result *r, int k)
{
	for (int i = 0; i < r->n_k; i++)
		if (r->k[i] == k)
			return r->pass[i].mean;
	return NAN;
}

static void json_rates(const struct eval_result *r, struct jsonw *w)
{
	double gen_s = (double)r->st.generate_ns / NS_PER_S, wall_s = (double)r->wall_ns / NS_PER_S;

	jsonw_key(w, "wall_s"), jsonw_fixed(w, wall_s, 3);
	jsonw_key(w, "tokens_per_s");
	jsonw_fixed(w, gen_s > 0 ? (double)r->st.sampled_tokens / gen_s : 0, 1);
	jsonw_key(w, "tests_per_s");
	jsonw_fixed(w, wall_s > 0 ? (double)r->st.tests / wall_s : 0, 1);
}

void eval_json(const struct eval_result *r, const struct eval_opts *o, struct jsonw *w)
{
	jsonw_open(w, '{');
	jsonw_key(w, "tasks"), jsonw_int(w, r->n_tasks);
	jsonw_key(w, "n"), jsonw_int(w, answers(o));
	jsonw_key(w, "greedy"), jsonw_bool(w, o->greedy);
	for (int i = 0; i < r->n_k; i++) {
		char key[32];

		(void)snprintf(key, sizeof key, "pass@%d", r->k[i]);
		jsonw_key(w, key), jsonw_open(w, '{');
		jsonw_key(w, "mean"), jsonw_real(w, r->pass[i].mean);
		jsonw_key(w, "low"), jsonw_real(w, r->pass[i].low);
		jsonw_key(w, "high"), jsonw_real(w, r->pass[i].high);
		jsonw_key(w, "tasks"), jsonw_int(w, r->pass[i].n_tasks);
		jsonw_close(w, '}');
	}
	jsonw_key(w, "samples"), jsonw_int(w, r->n_samples);
	jsonw_key(w, "left_out"), jsonw_int(w, r->n_left_out);
	jsonw_key(w, "truncated"), jsonw_int(w, r->n_truncated);
	jsonw_key(w, "mean_length"), jsonw_real(w, r->mean_length);
	jsonw_key(w, "entropy"), jsonw_real(w, r->entropy);
	jsonw_key(w, "verdicts"), jsonw_open(w, '{');
	for (int v = 0; v <= VERDICT_JUDGE_ERROR; v++)
		if (r->by_verdict[v])
			jsonw_key(w, verdict_text(v)), jsonw_int(w, r->by_verdict[v]);
	jsonw_close(w, '}');
	json_rates(r, w);
	jsonw_close(w, '}');
}
