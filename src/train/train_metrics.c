/* train_metrics.c - names follow TRL and verl where they have one. */
#include "train/train_metrics.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

void metrics_add(struct metrics *m, double value, const char *fmt, ...)
{
	va_list ap;

	assert(m->n < METRICS_MAX);
	va_start(ap, fmt);
	(void)vsnprintf(m->name[m->n], METRICS_NAME, fmt, ap);
	va_end(ap);
	m->m[m->n] = (struct metric){ m->name[m->n], value };
	m->n++;
}

double metrics_get(const struct metrics *m, const char *name)
{
	for (int i = 0; i < m->n; i++)
		if (!strcmp(m->name[i], name))
			return m->m[i].value;
	return NAN;
}

/* Sum, mean and deviation of known rewards of one group; n known. */
struct moments {
	int n;
	double sum, std;
};

/*	std = sqrt(1 / (n - 1) * sum_i (r_i - mean)^2), 0 below two		as TRL's reward_std
 */
static struct moments group_moments(const struct group *g)
{
	struct moments x = { 0 };
	double dev = 0;

	for (int i = 0; i < g->n; i++)
		if (g->sample[i].reward.known) {
			x.n++;
			x.sum += g->sample[i].reward.r;
		}
	for (int i = 0; x.n > 1 && i < g->n; i++)
		if (g->sample[i].reward.known) {
			double d = g->sample[i].reward.r - x.sum / x.n;

			dev += d * d;
		}
	x.std = x.n > 1 ? sqrt(dev / (x.n - 1)) : 0;
	return x;
}

static void add_rewards(struct metrics *m, const struct batch *b, const char *const *part_name)
{
	double sum = 0, std = 0;
	int known = 0, with = 0, silent = 0;

	for (int i = 0; i < b->n_groups; i++) {
		struct moments x = group_moments(&b->group[i]);

		known += x.n;
		sum += x.sum;
		with += x.n > 0;
		std += x.std;
		silent += b->group[i].silent;
	}
	metrics_add(m, known ? sum / known : NAN, "reward");
	metrics_add(m, with ? std / with : NAN, "reward_std");
	metrics_add(m, b->n_groups ? (double)silent / b->n_groups : NAN, "frac_reward_zero_std");
	for (int k = 0; b->n_rewards > 1 && k < b->n_rewards; k++) {
		double part = 0;
		int n = 0;

		for (int i = 0; i < b->n_groups; i++)
			for (int j = 0; j < b->group[i].n; j++) {
				const struct score *p = b->group[i].sample[j].part;

				if (p && p[k].known) {
					part += p[k].r;
					n++;
				}
			}
		metrics_add(m, n ? part / n : NAN, "rewards/%d_%s", k, part_name[k]);
	}
	metrics_add(m, b->n_groups, "select/groups");
	metrics_add(m, silent, "select/silent");
	metrics_add(m, b->n_samples, "select/samples");
	metrics_add(m, b->n_samples - known, "select/without_reward");
}

void metrics_batch(struct metrics *m, const struct batch *b, const struct rollout_stats *st,
                   const char *const *part_name)
{
	int64_t tokens = 0, verdicts[VERDICT_JUDGE_ERROR + 1] = { 0 };
	int clipped = 0, longest = 0;
	double entropy = 0;

	add_rewards(m, b, part_name);
	for (int i = 0; i < b->n_groups; i++)
		for (int j = 0; j < b->group[i].n; j++) {
			const struct sample *s = &b->group[i].sample[j];
			int len = s->n_tok - s->n_prompt;

			tokens += len;
			longest = len > longest ? len : longest;
			clipped += s->finish == FINISH_LENGTH;
			verdicts[s->verdict]++;
			for (int t = s->n_prompt; s->entropy && t < s->n_tok; t++)
				entropy += s->entropy[t];
		}
	metrics_add(m, tokens ? entropy / (double)tokens : NAN, "entropy");
	metrics_add(m, (double)tokens / b->n_samples, "completions/mean_length");
	metrics_add(m, longest, "completions/max_length");
	metrics_add(m, (double)clipped / b->n_samples, "completions/clipped_ratio");
	metrics_add(m, (double)st->programs, "judge/programs");
	metrics_add(m, (double)st->tests, "judge/tests");
	for (int v = 0; v <= VERDICT_JUDGE_ERROR; v++)
		if (v != VERDICT_SKIPPED)
			metrics_add(m, (double)verdicts[v], "judge/%s", verdict_text(v));
	metrics_add(m, (double)st->generate_ns / NS_PER_S, "time/generate_s");
	metrics_add(m, (double)st->judge_wait_ns / NS_PER_S, "time/judge_wait_s");
}

void metrics_ledger(struct metrics *m, const struct batch *b, const uint8_t *trained,
                    int64_t masked, bool extra)
{
	enum { TRAINED, SILENT, FILTERED, STALE, TRUNCATED, JUDGE_ERROR, KINDS };
	static const char *const name[] = { "trained", "silent",    "filtered",
		                            "stale",   "truncated", "judge_error" };
	int64_t n[KINDS] = { 0 }, sum = 0, sampled = 0;
	int k = 0;

	for (int i = 0; i < b->n_groups; i++)
		for (int j = 0; j < b->group[i].n; j++, k++) {
			const struct sample *s = &b->group[i].sample[j];

			for (int t = 0; t < s->n_tok; t++) {
				if (!s->mask[t])
					continue;
				sampled++;
				if (s->verdict == VERDICT_JUDGE_ERROR)
					n[JUDGE_ERROR]++;
				else if (b->group[i].silent && !extra)
					n[SILENT]++;
				else if (trained[b->first[k] + t])
					n[TRAINED]++;
				else
					n[s->finish == FINISH_LENGTH ? TRUNCATED : FILTERED]++;
			}
		}
	n[TRAINED] -= masked;
	n[FILTERED] += masked;
	metrics_add(m, (double)sampled, "ledger/sampled");
	for (int i = 0; i < KINDS; i++) {
		sum += n[i];
		metrics_add(m, (double)n[i], "ledger/%s", name[i]);
	}
	assert(sum == sampled);
}

void metrics_eval(struct metrics *m, const struct eval_result *r)
{
	for (int i = 0; i < r->n_k; i++) {
		metrics_add(m, r->pass[i].mean, "eval/pass@%d", r->k[i]);
		metrics_add(m, r->pass[i].low, "eval/pass@%d_low", r->k[i]);
		metrics_add(m, r->pass[i].high, "eval/pass@%d_high", r->k[i]);
	}
	metrics_add(m, r->n_tasks, "eval/tasks");
	metrics_add(m, (double)r->n_samples, "eval/samples");
	metrics_add(m, (double)r->n_left_out, "eval/judge_error");
	metrics_add(m, r->entropy, "eval/entropy");
	metrics_add(m, r->mean_length, "eval/mean_length");
	metrics_add(m, r->n_samples ? (double)r->n_truncated / (double)r->n_samples : NAN,
	            "eval/clipped_ratio");
	metrics_add(m, (double)r->st.programs, "eval/programs");
	metrics_add(m, (double)r->st.tests, "eval/tests");
	metrics_add(m, (double)r->st.sampled_tokens, "eval/tokens");
	metrics_add(m, (double)r->wall_ns / NS_PER_S, "time/eval_s");
	metrics_add(m, (double)r->st.generate_ns / NS_PER_S, "time/eval_generate_s");
	metrics_add(m, (double)r->st.judge_wait_ns / NS_PER_S, "time/eval_judge_wait_s");
}
