/* reward.c - runs the rewards of a recipe on a group: three-valued rule and weighted sum. */
#include "reward/reward.h"

#include <assert.h>
#include <math.h>

enum unit { UNIT_TURN, UNIT_TEST, UNIT_SPAN, UNIT_TOKEN, N_UNITS };

static int count(const struct sample *s, enum unit u)
{
	return u == UNIT_TURN   ? s->n_turns
	       : u == UNIT_TEST ? s->n_tests
	       : u == UNIT_SPAN ? s->n_spans
	                        : s->n_tok;
}

static const struct score *answer(const struct reward_out *o, enum unit u)
{
	return u == UNIT_TURN   ? o->turn
	       : u == UNIT_TEST ? o->test
	       : u == UNIT_SPAN ? o->span
	                        : o->token;
}

static void hand_over(struct sample *s, enum unit u, const struct score *p)
{
	*(u == UNIT_TURN   ? &s->turn_reward
	  : u == UNIT_TEST ? &s->test_reward
	  : u == UNIT_SPAN ? &s->span_reward
	                   : &s->token_reward) = p;
}

static bool judged(const struct sample *s)
{
	return s->verdict != VERDICT_JUDGE_ERROR && s->verdict != VERDICT_SKIPPED;
}

/* One reward on the whole group; what it says about unjudged samples is dropped. */
static int ask(const struct reward_use *use, const struct reward_in *in, struct reward_out *o,
               struct err *e)
{
	const struct group *g = in->group;
	int r;

	o->sample = arena_new(in->a, struct score, g->n ? g->n : 1);
	if (!o->sample)
		return FAIL(e, ERR_NOMEM, "rewards of %d samples", g->n);
	r = use->fn->score(use->cfg, in, o, e);
	if (r < 0)
		return err_wrap(e, "reward %s", use->fn->name);
	for (int i = 0; i < g->n; i++) {
		if (!judged(&g->sample[i]))
			o->sample[i] = (struct score){ 0 };
		if (o->sample[i].known && !isfinite(o->sample[i].r))
			return FAIL(e, ERR_RANGE, "reward %s: sample %d of group %.*s got %g",
			            use->fn->name, i, (int)g->key.n, g->key.p, o->sample[i].r);
	}
	return 0;
}

static struct score plus(struct score sum, double weight, struct score x)
{
	if (!sum.known || !x.known)
		return (struct score){ 0 };
	return (struct score){ sum.r + weight * x.r, true };
}

/* Sum what the rewards said about one kind of unit, or leave NULL if none did. */
static int compose_units(const struct reward_use *use, int n_use, const struct reward_out *out,
                         enum unit u, struct group *g, struct arena *a, struct err *e)
{
	size_t total = 0, at = 0;
	bool any = false;
	struct score *sum;

	for (int i = 0; i < g->n; i++) {
		hand_over(&g->sample[i], u, NULL);
		total += (size_t)count(&g->sample[i], u);
	}
	for (int k = 0; k < n_use; k++)
		any = any || answer(&out[k], u);
	if (!any || !total)
		return 0;
	sum = arena_new(a, struct score, total);
	if (!sum)
		return FAIL(e, ERR_NOMEM, "rewards of %zu units", total);
	for (int i = 0; i < g->n; i++) {
		struct sample *s = &g->sample[i];

		hand_over(s, u, sum + at);
		for (int j = 0; j < count(s, u); j++, at++) {
			sum[at] = (struct score){ 0, judged(s) };
			for (int k = 0; k < n_use; k++)
				if (answer(&out[k], u))
					sum[at] = plus(sum[at], use[k].weight,
					               answer(&out[k], u)[at]);
			if (sum[at].known && !isfinite(sum[at].r))
				return FAIL(e, ERR_RANGE,
				            "unit reward %d of sample %d of group %.*s is %g", j, i,
				            (int)g->key.n, g->key.p, sum[at].r);
		}
	}
	return 0;
}

int reward_group(const struct reward_use *use, int n_use, const struct task *task, struct group *g,
                 struct arena *a, struct err *e)
{
	struct reward_in in = { g, task, a };
	struct reward_out *out = arena_new(a, struct reward_out, n_use);
	struct score *part = arena_new(a, struct score, (size_t)n_use * (size_t)(g->n ? g->n : 1));
	int r = 0;

	assert(n_use >= 1);
	if (!out || !part)
		return FAIL(e, ERR_NOMEM, "rewards of %d samples", g->n);
	for (int k = 0; k < n_use; k++) {
		r = ask(&use[k], &in, &out[k], e);
		if (r < 0)
			return r;
	}
	for (int i = 0; i < g->n; i++) {
		struct sample *s = &g->sample[i];

		s->part = part + (size_t)i * (size_t)n_use;
		s->reward = (struct score){ 0, true };
		for (int k = 0; k < n_use; k++) {
			s->part[k] = out[k].sample[i];
			s->reward = plus(s->reward, use[k].weight, s->part[k]);
		}
	}
	for (enum unit u = 0; u < N_UNITS && r == 0; u++)
		r = compose_units(use, n_use, out, u, g, a, e);
	return r;
}
