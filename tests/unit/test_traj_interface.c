/* The part interfaces against the methods that ask most of them. The parts below are small and
 * private to this test; what they compute is compared with the numbers of their papers' formulas.
 * docs/extending.md says which field each of them reads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adv/adv.h"
#include "loss/loss.h"
#include "reward/reward.h"

#include "test.h"

#include "batches.h"

static struct adv_out make_out(struct arena *a, int64_t n, bool target)
{
	return (struct adv_out){ arena_new(a, float, n), arena_new(a, float, n),
		                 target ? arena_new(a, float, n) : NULL, a };
}

static bool near(double got, double want)
{
	return fabs(got - want) < 1e-6;
}

/*	PCR, pairwise: s_i = 1/M sum_m [o_im usable] * (c_m(o_im) - 1) / (N - 1)
 *
 * M probes, N judged samples, c_m(o) how many of them gave o. A probe that did not end normally or
 * printed nothing is not usable and agrees with nothing.
 */
static bool usable(const struct tested *t)
{
	return t->probe && t->verdict == VERDICT_ACCEPTED && t->out.n > 0;
}

static int pcr(const void *cfg, const struct reward_in *in, struct reward_out *ret, struct err *e)
{
	const struct group *g = in->group;
	int N = 0;

	(void)cfg, (void)e;
	for (int i = 0; i < g->n; i++)
		N += g->sample[i].verdict != VERDICT_JUDGE_ERROR;
	for (int i = 0; i < g->n && N > 1; i++) {
		const struct sample *s = &g->sample[i];
		double sum = 0;
		int M = 0;

		for (int m = 0; m < s->n_tests; m++) {
			M += s->test[m].probe;
			for (int j = 0; j < g->n && usable(&s->test[m]); j++) {
				const struct sample *o = &g->sample[j];

				sum += j != i && o->verdict != VERDICT_JUDGE_ERROR &&
				       usable(&o->test[m]) &&
				       str_eq(o->test[m].out, s->test[m].out);
			}
		}
		ret->sample[i] = (struct score){ M ? sum / (M * (N - 1)) : 0, M > 0 };
	}
	return 0;
}

static void consensus_reads_the_outputs_of_probes(void **state)
{
	static const struct reward_fn fn = { .name = "pcr", .score = pcr };
	static const char *const out[5][3] = { { "1", "2", "3" },
		                               { "1", "2", "4" },
		                               { "1", "9", "" },
		                               { "", "", "" },
		                               { "1", "2", "3" } };
	static const double want[4] = { .333333, .333333, .222222, 0 };
	static const int len[5] = { 1, 1, 1, 1, 1 };
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct reward_use use = { &fn, NULL, 1 };
	struct group g = make_group(&a, "t", 5, len);
	struct err e;

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct tested *t = arena_new(&a, struct tested, 3);

		for (int m = 0; m < 3; m++)
			t[m] = (struct tested){ .probe = true,
				                .verdict = *out[i][m] ? VERDICT_ACCEPTED
				                                      : VERDICT_RUNTIME_ERROR,
				                .out = { out[i][m], strlen(out[i][m]) } };
		g.sample[i].test = t;
		g.sample[i].n_tests = 3;
	}
	g.sample[4].verdict =
		VERDICT_JUDGE_ERROR; /* agrees with the first two, and does not count */
	assert_int_equal(reward_group(&use, 1, NULL, &g, &a, &e), 0);
	for (int i = 0; i < 4; i++)
		assert_true(g.sample[i].reward.known && near(g.sample[i].reward.r, want[i]));
	assert_false(g.sample[4].reward.known);
}

/*	DiDPO without its search for anchors: A_t = (r_i - mean r) + (r_i - mean of the r_j that
 *have a span of the same content) for tokens of such a span
 */
static double span_mean(const struct group *g, uint64_t content, int *ret_n)
{
	double sum = 0;

	*ret_n = 0;
	for (int j = 0; j < g->n; j++)
		for (int k = 0; k < g->sample[j].n_spans; k++)
			if (g->sample[j].span[k].content == content) {
				sum += g->sample[j].reward.r;
				++*ret_n;
			}
	return sum / *ret_n;
}

static int didpo(const void *cfg, const struct batch *b, struct adv_out *ret, struct err *e)
{
	const struct group *g = &b->group[0];
	double mean = 0;

	(void)cfg, (void)e;
	for (int i = 0; i < g->n; i++)
		mean += g->sample[i].reward.r / g->n;
	for (int i = 0; i < g->n; i++) {
		const struct sample *s = &g->sample[i];
		int n;

		adv_spread(b, i, s, s->reward.r - mean, ret->A);
		for (int k = 0; k < s->n_spans; k++) {
			double D = s->reward.r - span_mean(g, s->span[k].content, &n);

			for (int t = s->span[k].tok0; n > 1 && t < s->span[k].tok1; t++)
				ret->A[b->first[i] + t] += (float)D;
		}
	}
	return 0;
}

static void shared_spans_get_their_own_credit(void **state)
{
	static const struct adv_fn fn = { .name = "didpo", .compute = didpo };
	static const int len[4] = { 6, 5, 6, 7 };
	static const int at[4] = { 2, 1, 3, 0 }; /* of the same three-token function */
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct group g = make_group(&a, "t", 4, len);
	struct batch b = make_batch(&a, 1, &g);
	struct adv_out o = make_out(&a, b.n_tok, false);
	struct err e;

	(void)state;
	set_rewards(&g, (double[]){ 1, 1, 0, 0 });
	for (int i = 0; i < 4; i++) {
		struct span *x = arena_new(&a, struct span, 1);

		*x = (struct span){ .tok0 = at[i], .tok1 = at[i] + 3, .content = 42 };
		g.sample[i].span = x;
		g.sample[i].n_spans = 1;
	}
	assert_int_equal(adv_batch(&fn, NULL, &b, &o, &e), 0);
	for (int i = 0; i < 4; i++)
		for (int t = 0; t < len[i]; t++) {
			double in = t >= at[i] && t < at[i] + 3 ? 1 : .5;

			assert_true(near(o.A[b.first[i] + t], i < 2 ? in : -in));
		}
}

/*	GAE with a critic, gamma = 1, lambda_i = k^(1 / L_i), over trained tokens from the last:
 *	d_t = r_t + V_next - V_t	A_t = d_t + lambda_i * A_next	target_t = sum_{u >= t} r_u
 *
 * V_next is 0 behind the end, but for an answer that was cut off: value[n_tok].
 */
static int gae(const void *cfg, const struct batch *b, struct adv_out *ret, struct err *e)
{
	double k = *(const double *)cfg;

	for (int i = 0; i < b->n_samples; i++) {
		const struct sample *s = batch_sample(b, i);
		double A = 0, next = 0, sum = 0, lambda;
		int L = 0;

		if (!adv_uses(s))
			continue;
		if (!s->value)
			return FAIL(e, ERR_RANGE, "sample %d has no values: gae needs a critic", i);
		for (int t = 0; t < s->n_tok; t++)
			L += s->mask[t];
		lambda = pow(k, 1.0 / L);
		if (s->finish == FINISH_LENGTH)
			next = sum = s->value[s->n_tok];
		for (int t = s->n_tok - 1, last = 1; t >= 0; t--) {
			double r = s->token_reward && s->token_reward[t].known
			                   ? s->token_reward[t].r
			                   : 0;

			if (!s->mask[t])
				continue;
			r += last ? s->reward.r : 0;
			last = 0;
			A = r + next - s->value[t] + lambda * A;
			next = s->value[t];
			sum += r;
			ret->A[b->first[i] + t] = (float)A;
			if (ret->target)
				ret->target[b->first[i] + t] = (float)sum;
		}
	}
	return 0;
}

static void a_critic_gives_values_and_gets_targets(void **state)
{
	static const struct adv_fn fn = { .name = "gae", .compute = gae };
	static const int len[3] = { 10, 100, 4 };
	static const double half = .5, one = 1;
	AUTO_ARENA a = { .limit = 1 << 18 };
	struct group g = make_group(&a, "t", 3, len);
	struct batch b = make_batch(&a, 1, &g);
	struct adv_out o = make_out(&a, b.n_tok, true);
	struct err e;
	const float V[5] = { .5f, 9, .25f, .75f, .125f };
	const uint8_t mask[4] = { 1, 0, 1, 1 }; /* the 9 is of a tool's token and never used */
	const struct score tr[4] = { { -.1, true }, { 7, true }, { 0, false }, { -.2, true } };

	(void)state;
	set_rewards(&g, (double[]){ 1, 1, 1 });
	assert_int_equal(adv_batch(&fn, &half, &b, &o, &e), ERR_RANGE);
	assert_string_equal(e.msg, "adv gae: sample 0 has no values: gae needs a critic");
	g.sample[0].value = arena_new(&a, float, 11);
	g.sample[1].value = arena_new(&a, float, 101);
	g.sample[2].value = V;
	g.sample[2].mask = mask;
	g.sample[2].token_reward = tr;
	assert_int_equal(adv_batch(&fn, &half, &b, &o, &e), 0);
	assert_true(near(o.A[0], .535887) && near(o.A[9], 1) && near(o.A[10], .503478));
	assert_true(near(o.target[0], 1) && near(o.target[9], 1));
	assert_int_equal(adv_batch(&fn, &one, &b, &o, &e), 0); /* lambda 1: return minus value */
	assert_true(near(o.A[110], .7 - .5) && near(o.A[112], .8 - .25));
	assert_true(near(o.A[113], .8 - .75) && o.A[111] == 0 && near(o.target[110], .7));
	g.sample[2].finish = FINISH_LENGTH;
	assert_int_equal(adv_batch(&fn, &one, &b, &o, &e), 0);
	assert_true(near(o.A[113], .8 + .125 - .75));
}

/*	Tree: a node is a run of tokens between forks, V its leaves' mean reward;
 *	A = (V(node) - V(root)) + (V(node) - V(parent node))	root: the prompt, all leaves
 */
static bool below(const struct group *g, int leaf, int i, int t)
{
	while (leaf != i) {
		int parent = g->sample[leaf].parent;

		if (parent < 0 || (parent == i && g->sample[leaf].fork_tok <= t))
			return false;
		leaf = parent;
	}
	return true;
}

static double node_value(const struct group *g, int i, int t)
{
	double sum = 0;
	int n = 0;

	while (g->sample[i].parent >= 0 && t < g->sample[i].fork_tok)
		i = g->sample[i].parent; /* whose token it is */
	for (int leaf = 0; leaf < g->n; leaf++)
		if (t < g->sample[i].n_prompt || below(g, leaf, i, t)) {
			sum += g->sample[leaf].reward.r;
			n++;
		}
	return sum / n;
}

static int tree(const void *cfg, const struct batch *b, struct adv_out *ret, struct err *e)
{
	const struct group *g = &b->group[0];

	(void)cfg, (void)e;
	for (int i = 0; i < g->n; i++) {
		const struct sample *s = &g->sample[i];
		double root = node_value(g, i, -1), V = root, parent = root;

		for (int t = s->fork_tok; t < s->n_tok; t++) {
			bool begins = t == s->fork_tok;

			for (int c = 0; c < g->n; c++)
				begins = begins ||
				         (g->sample[c].parent == i && g->sample[c].fork_tok == t);
			if (begins)
				parent = node_value(g, i, t - 1);
			V = node_value(g, i, t);
			ret->A[b->first[i] + t] = (float)(V - root + V - parent);
		}
	}
	return 0;
}

static void a_tree_gives_credit_to_its_nodes(void **state)
{
	static const struct adv_fn fn = { .name = "tree", .compute = tree };
	static const int len[4] = { 6, 7, 7, 3 }, parent[4] = { -1, 0, 1, -1 };
	static const int fork[4] = { 1, 3, 5, 1 };
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct group g = make_group(&a, "t", 4, len);
	struct batch b = make_batch(&a, 1, &g);
	struct adv_out o = make_out(&a, b.n_tok, false);
	struct err e;
	const double want[4][7] = {
		{ 0, 1 / 3., 1 / 3., 5 / 6., 5 / 6., 5 / 6. },
		{ 0, 0, 0, -1 / 6., -1 / 6., -1, -1 },
		{ 0, 0, 0, 0, 0, 1, 1 },
		{ 0, -1, -1 },
	};

	(void)state;
	set_rewards(&g, (double[]){ 1, 0, 1, 0 });
	for (int i = 0; i < 4; i++) {
		uint8_t *m = arena_new(&a, uint8_t, len[i]);

		for (int t = fork[i]; t < len[i]; t++)
			m[t] = 1;
		g.sample[i].mask = m;
		g.sample[i].n_prompt = 1;
		g.sample[i].parent = parent[i];
		g.sample[i].fork_tok = fork[i];
	}
	assert_int_equal(adv_batch(&fn, NULL, &b, &o, &e), 0);
	for (int i = 0; i < 4; i++)
		for (int t = 0; t < len[i]; t++)
			assert_true(near(o.A[b.first[i] + t], want[i][t]));
}

/* FC-SWE needs no part of its own: all attempts that ran are one group, whatever its size. */
static void a_recovery_does_not_pay_its_parent(void **state)
{
	static const int len[13] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	AUTO_ARENA a = { .limit = 1 << 16 };
	const struct adv_fn *fn = (const struct adv_fn *)part_find(PART_TABLE(adv_table), "grpo");
	struct group g = make_group(&a, "issue-1", 13, len);
	struct batch b = make_batch(&a, 1, &g);
	struct adv_out o = make_out(&a, b.n_tok, false);
	struct err e;
	/*	mean = 5/13, population std = sqrt(5/13 * 8/13) */
	double up = 8 / sqrt(40), down = -5 / sqrt(40);

	(void)state;
	set_rewards(&g, (double[]){ 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0 });
	for (int k = 0; k < 5; k++)
		g.sample[8 + k].chain = 3 + k;
	assert_int_equal(
		adv_batch(fn,
	                  family_config_with(fn->opts, fn->cfg_size, "std=population eps=0", &a),
	                  &b, &o, &e),
		0);
	for (int i = 0; i < 13; i++) {
		assert_true(near(o.A[i], g.sample[i].reward.r > 0 ? up : down));
		if (g.sample[i].chain >= 0 && g.sample[i].reward.r > 0)
			assert_true(o.A[g.sample[i].chain] < 0);
	}
}

/*	CARM: keep sample i iff d_i <= tau, d_i = 1/T sum_t |logp_t - old_t| over trained tokens */
static int carm(const void *cfg, const struct loss_in *in, int i0, int i1, float *ret_weight,
                struct err *e)
{
	double tau = *(const double *)cfg;

	(void)e;
	for (int i = i0; i < i1; i++) {
		double d = 0;
		int T = 0;

		for (int64_t t = in->b->first[i]; t < in->b->first[i + 1]; t++)
			if (in->weight[t] > 0) {
				d += fabs((double)in->logp[t] - in->old[t]);
				T++;
			}
		for (int64_t t = in->b->first[i]; T && d / T > tau && t < in->b->first[i + 1]; t++)
			ret_weight[t] = 0;
	}
	return 0;
}

static void a_mask_looks_at_both_log_probs(void **state)
{
	static const struct mask fn = { .name = "carm", .apply = carm, .needs_logp = true };
	static const int len[2] = { 3, 4 };
	static const double d = 0.133333, edge = 1e-5;
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct group g = make_group(&a, "t", 2, len);
	struct batch b = make_batch(&a, 1, &g);
	const struct surrogate *s = surrogate_table[0];
	float old[7] = { -1, -1, -1, -1, -1, -1, -1 };
	/* the golden one, then +-.5 in turn, whose mean log-ratio is 0 */
	float logp[7] = { -.9f, -1.1f, -.8f, -.5f, -1.5f, -.5f, -1.5f };
	float A[7] = { 1, 1, 1, 1, 1, 1, 1 }, w[7], c[7], h[7];
	const struct loss_in in = { &b, A, w, old, logp };
	double tau = d + edge;
	struct loss l = { .surrogate = s,
		          .surrogate_cfg = family_config_with(s->opts, s->cfg_size, NULL, &a),
		          .agg = agg_table[0],
		          .n_masks = 1,
		          .mask = { &fn },
		          .mask_cfg = { &tau } };
	struct loss_stats st = { 0 };
	struct err e;

	(void)state;
	assert_true(near(exp(2 / 15.), 1.142631));
	l.agg_cfg = family_config_with(l.agg->opts, l.agg->cfg_size, NULL, &a);
	for (int t = 0; t < 7; t++)
		w[t] = 1;
	assert_int_equal(loss_plan(&l, &b, w, &e), 0);
	assert_int_equal(loss_eval(&l, &in, 0, 2, c, h, &st, &e), 0);
	assert_true(c[0] != 0 && c[3] == 0 && c[6] == 0 && st.n_tok == 3 && st.n_masked == 4);
	tau = d - edge;
	st = (struct loss_stats){ 0 };
	assert_int_equal(loss_eval(&l, &in, 0, 2, c, h, &st, &e), 0);
	assert_true(c[0] == 0 && c[2] == 0 && st.n_tok == 0 && st.n_masked == 7);
	tau = .5 + edge;
	st = (struct loss_stats){ 0 };
	assert_int_equal(loss_eval(&l, &in, 0, 2, c, h, &st, &e), 0);
	assert_true(c[4] != 0 && st.n_tok == 7 && st.n_masked == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(consensus_reads_the_outputs_of_probes),
		cmocka_unit_test(shared_spans_get_their_own_credit),
		cmocka_unit_test(a_critic_gives_values_and_gets_targets),
		cmocka_unit_test(a_tree_gives_credit_to_its_nodes),
		cmocka_unit_test(a_recovery_does_not_pay_its_parent),
		cmocka_unit_test(a_mask_looks_at_both_log_probs),
	};

	return RUN(tests);
}
