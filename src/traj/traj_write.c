/* traj_write.c - a group as JSON. */
#include "traj/traj_io.h"

#include <math.h>
#include <stdio.h>

static void put_float(struct jsonw *w, float x)
{
	char text[32];
	int n = snprintf(text, sizeof text, "%.9g", (double)x); /* reads back equal */

	if (isfinite(x))
		jsonw_raw(w, (struct str){ text, (size_t)n });
	else
		jsonw_null(w);
}

static void put_floats(struct jsonw *w, const char *key, const float *x, int n)
{
	if (!x)
		return;
	jsonw_key(w, key), jsonw_open(w, '[');
	for (int t = 0; t < n; t++)
		put_float(w, x[t]);
	jsonw_close(w, ']');
}

static void put_scores(struct jsonw *w, const char *key, const struct score *x, int n)
{
	if (!x || n <= 0)
		return;
	jsonw_key(w, key), jsonw_open(w, '[');
	for (int t = 0; t < n; t++)
		jsonw_real(w, x[t].known ? x[t].r : NAN);
	jsonw_close(w, ']');
}

static void put_pair(struct jsonw *w, const char *key, int64_t from, int64_t to)
{
	jsonw_key(w, key), jsonw_open(w, '[');
	jsonw_int(w, from), jsonw_int(w, to);
	jsonw_close(w, ']');
}

static void put_tokens(struct jsonw *w, const struct sample *s)
{
	if (s->tok) {
		jsonw_key(w, "tokens"), jsonw_open(w, '[');
		for (int t = 0; t < s->n_tok; t++)
			jsonw_int(w, s->tok[t]);
		jsonw_close(w, ']');
	}
	if (s->mask) {
		jsonw_key(w, "mask"), jsonw_open(w, '[');
		for (int t = 0; t < s->n_tok; t++)
			jsonw_int(w, s->mask[t]);
		jsonw_close(w, ']');
	}
	if (s->byte_of) {
		jsonw_key(w, "byte_of"), jsonw_open(w, '[');
		for (int t = 0; t <= s->n_tok; t++)
			jsonw_int(w, s->byte_of[t]);
		jsonw_close(w, ']');
	}
	put_floats(w, "logp", s->logp, s->n_tok);
	put_floats(w, "entropy", s->entropy, s->n_tok);
	put_floats(w, "ref_logp", s->ref_logp, s->n_tok);
	put_floats(w, "value", s->value, s->n_tok + 1);
	put_scores(w, "token_reward", s->token_reward, s->n_tok);
}

static void put_tests(struct jsonw *w, const struct sample *s)
{
	if (!s->test || s->n_tests <= 0)
		return;
	jsonw_key(w, "tests"), jsonw_open(w, '[');
	for (int k = 0; k < s->n_tests; k++) {
		const struct tested *t = &s->test[k];

		jsonw_open(w, '{');
		jsonw_key(w, "name"), jsonw_str(w, t->name);
		jsonw_key(w, "verdict"), jsonw_cstr(w, verdict_text(t->verdict));
		jsonw_key(w, "score"), jsonw_real(w, t->score);
		if (t->weight != 1)
			jsonw_key(w, "weight"), jsonw_real(w, t->weight);
		if (t->visible)
			jsonw_key(w, "visible"), jsonw_bool(w, true);
		if (t->probe)
			jsonw_key(w, "probe"), jsonw_bool(w, true);
		if (t->ignored_input)
			jsonw_key(w, "ignored_input"), jsonw_bool(w, true);
		jsonw_key(w, "cpu_ns"), jsonw_int(w, t->cpu_ns);
		jsonw_key(w, "wall_ns"), jsonw_int(w, t->wall_ns);
		jsonw_key(w, "mem_bytes"), jsonw_int(w, t->mem_bytes);
		if (t->out.p)
			jsonw_key(w, "out"), jsonw_str(w, t->out);
		jsonw_close(w, '}');
	}
	jsonw_close(w, ']');
}

static void put_turns(struct jsonw *w, const struct sample *s)
{
	if (!s->turn || s->n_turns <= 0)
		return;
	jsonw_key(w, "turns"), jsonw_open(w, '[');
	for (int k = 0; k < s->n_turns; k++) {
		const struct turn *t = &s->turn[k];

		jsonw_open(w, '{');
		put_pair(w, "tok", t->tok0, t->tok1);
		put_pair(w, "byte", (int64_t)t->byte0, (int64_t)t->byte1);
		if (t->code.p)
			jsonw_key(w, "code"), jsonw_str(w, t->code);
		jsonw_key(w, "verdict"), jsonw_cstr(w, verdict_text(t->verdict));
		jsonw_key(w, "n_tests"), jsonw_int(w, t->n_tests);
		jsonw_key(w, "n_passed"), jsonw_int(w, t->n_passed);
		jsonw_key(w, "finish"), jsonw_cstr(w, finish_text(t->finish));
		jsonw_close(w, '}');
	}
	jsonw_close(w, ']');
}

static void put_spans(struct jsonw *w, const struct sample *s)
{
	char hex[17];

	if (!s->span || s->n_spans <= 0)
		return;
	jsonw_key(w, "spans"), jsonw_open(w, '[');
	for (int k = 0; k < s->n_spans; k++) {
		const struct span *x = &s->span[k];

		(void)snprintf(hex, sizeof hex, "%016llx", (unsigned long long)x->content);
		jsonw_open(w, '{');
		jsonw_key(w, "kind"), jsonw_int(w, x->kind);
		jsonw_key(w, "turn"), jsonw_int(w, x->turn);
		put_pair(w, "byte", (int64_t)x->byte0, (int64_t)x->byte1);
		put_pair(w, "tok", x->tok0, x->tok1);
		jsonw_key(w, "content"), jsonw_cstr(w, hex);
		jsonw_close(w, '}');
	}
	jsonw_close(w, ']');
}

static void put_sample(struct jsonw *w, const struct group *g, const struct sample *s,
                       int n_rewards, bool tokens)
{
	jsonw_open(w, '{');
	jsonw_key(w, "id"), jsonw_int(w, s->id);
	if (!str_eq(s->task_id, g->key))
		jsonw_key(w, "task_id"), jsonw_str(w, s->task_id);
	jsonw_key(w, "rollout"), jsonw_int(w, s->rollout);
	if (s->parent >= 0) {
		jsonw_key(w, "parent"), jsonw_int(w, s->parent);
		jsonw_key(w, "fork_tok"), jsonw_int(w, s->fork_tok);
	}
	if (s->chain >= 0)
		jsonw_key(w, "chain"), jsonw_int(w, s->chain);
	if (s->anchor.n)
		jsonw_key(w, "anchor"), jsonw_str(w, s->anchor);
	jsonw_key(w, "version"), jsonw_int(w, s->version);
	if (s->foreign)
		jsonw_key(w, "foreign"), jsonw_bool(w, true);
	jsonw_key(w, "finish"), jsonw_cstr(w, finish_text(s->finish));
	jsonw_key(w, "n_prompt"), jsonw_int(w, s->n_prompt);
	jsonw_key(w, "n_tok"), jsonw_int(w, s->n_tok);
	if (tokens)
		put_tokens(w, s);
	jsonw_key(w, "text"), jsonw_str(w, s->text);
	if (s->code.p)
		jsonw_key(w, "code"), jsonw_str(w, s->code);
	jsonw_key(w, "verdict"), jsonw_cstr(w, verdict_text(s->verdict));
	jsonw_key(w, "n_tests"), jsonw_int(w, s->n_tests);
	jsonw_key(w, "n_passed"), jsonw_int(w, s->n_passed);
	put_tests(w, s);
	put_turns(w, s);
	put_spans(w, s);
	jsonw_key(w, "reward"), jsonw_real(w, s->reward.known ? s->reward.r : NAN);
	put_scores(w, "parts", s->part, n_rewards);
	put_scores(w, "turn_reward", s->turn_reward, s->n_turns);
	put_scores(w, "test_reward", s->test_reward, s->n_tests);
	put_scores(w, "span_reward", s->span_reward, s->n_spans);
	jsonw_close(w, '}');
}

void traj_group_write(const struct group *g, int n_rewards, bool tokens, struct jsonw *w)
{
	jsonw_open(w, '{');
	jsonw_key(w, "key"), jsonw_str(w, g->key);
	if (g->seen) {
		jsonw_key(w, "seen"), jsonw_int(w, g->seen);
		jsonw_key(w, "mean_before"), jsonw_real(w, g->mean_before);
	}
	jsonw_key(w, "samples"), jsonw_open(w, '[');
	for (int i = 0; i < g->n; i++)
		put_sample(w, g, &g->sample[i], n_rewards, tokens);
	jsonw_close(w, ']');
	jsonw_close(w, '}');
}
