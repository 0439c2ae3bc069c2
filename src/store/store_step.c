/* store_step.c - writes a step: groups, samples, rewards, tests, metrics. */
#include "store/store_int.h"

#include <math.h>
#include <string.h>

#include "base/io.h"
#include "base/jsonw.h"

static void put_int(struct bind *b, int64_t v)
{
	(void)sqlite3_bind_int64(b->q, ++b->i, v);
}

/* NaN is NULL; -0 becomes 0, as SQLite would store it. */
static void put_real(struct bind *b, double v)
{
	(void)sqlite3_bind_double(b->q, ++b->i, v + 0.0);
}

static void put_needed_text(struct bind *b, struct str s)
{
	store_put_text(b, s.p ? s : STR(""));
}

static void put_cstr(struct bind *b, const char *s)
{
	store_put_text(b, (struct str){ s, strlen(s) });
}

static void put_score(struct bind *b, struct score s)
{
	put_real(b, s.known ? s.r : NAN);
}

static int add_tests(struct store *s, const struct sample *x, struct err *e)
{
	int r = 0;

	for (int k = 0; x->test && k < x->n_tests && r == 0; k++) {
		const struct tested *t = &x->test[k];
		struct bind b = store_ready(s, Q_TEST);

		put_int(&b, x->id);
		put_int(&b, k);
		put_needed_text(&b, t->name);
		put_cstr(&b, verdict_text(t->verdict));
		put_real(&b, t->score);
		put_real(&b, t->weight);
		put_int(&b, t->visible);
		put_int(&b, t->probe);
		put_int(&b, t->cpu_ns);
		put_int(&b, t->wall_ns);
		put_int(&b, t->mem_bytes);
		r = store_run(s, Q_TEST, e);
	}
	return r;
}

static int add_parts(struct store *s, const struct sample *x, int n_rewards, struct err *e)
{
	int r = 0;

	for (int k = 0; x->part && k < n_rewards && r == 0; k++) {
		struct bind b = store_ready(s, Q_REWARD);

		put_int(&b, x->id);
		put_int(&b, k);
		put_score(&b, x->part[k]);
		r = store_run(s, Q_REWARD, e);
	}
	return r;
}

static void put_tree(struct bind *b, const struct sample *x)
{
	if (x->parent >= 0) {
		put_int(b, x->parent);
		put_int(b, x->fork_tok);
	} else {
		b->i += 2; /* NULL */
	}
	if (x->chain >= 0)
		put_int(b, x->chain);
	else
		b->i++;
	store_put_text(b, x->anchor.n ? x->anchor : (struct str){ 0 });
}

static int add_sample(struct store *s, int64_t step, int grp, int idx, const struct sample *x,
                      double adv, struct err *e)
{
	struct bind b = store_ready(s, Q_SAMPLE);
	int64_t n_sampled = 0;
	double logp = 0;

	for (int t = 0; x->mask && t < x->n_tok; t++) {
		n_sampled += x->mask[t];
		logp += x->mask[t] && x->logp ? x->logp[t] : 0;
	}
	put_int(&b, x->id);
	put_int(&b, step);
	put_int(&b, grp);
	put_int(&b, idx);
	put_needed_text(&b, x->task_id);
	put_int(&b, x->rollout);
	put_tree(&b, x);
	put_int(&b, x->version);
	put_int(&b, x->foreign);
	put_cstr(&b, finish_text(x->finish));
	put_int(&b, x->n_prompt);
	put_int(&b, x->n_tok);
	put_int(&b, n_sampled);
	put_real(&b, x->mask && x->logp ? logp : NAN);
	put_needed_text(&b, x->text);
	store_put_text(&b, x->code);
	put_cstr(&b, verdict_text(x->verdict));
	put_int(&b, x->n_tests);
	put_int(&b, x->n_passed);
	put_score(&b, x->reward);
	put_real(&b, adv);
	return store_run(s, Q_SAMPLE, e);
}

static int add_group(struct store *s, int64_t step, int idx, const struct group *g, struct err *e)
{
	struct bind b = store_ready(s, Q_GROUP);

	put_int(&b, step);
	put_int(&b, idx);
	put_needed_text(&b, g->key);
	put_int(&b, g->n);
	put_int(&b, g->silent);
	put_int(&b, g->seen);
	put_real(&b, g->mean_before);
	return store_run(s, Q_GROUP, e);
}

static int add_batch(struct store *s, int64_t step, const struct batch *batch, const double *adv,
                     struct err *e)
{
	struct bind b = store_ready(s, Q_STEP);
	int r, i = 0;

	put_int(&b, step);
	put_int(&b, batch ? batch->n_groups : 0);
	put_int(&b, batch ? batch->n_samples : 0);
	put_int(&b, batch ? batch->n_tok : 0);
	r = store_run(s, Q_STEP, e);
	for (int g = 0; batch && g < batch->n_groups && r == 0; g++) {
		const struct group *grp = &batch->group[g];

		r = add_group(s, step, g, grp, e);
		for (int k = 0; k < grp->n && r == 0; k++, i++) {
			const struct sample *x = &grp->sample[k];

			r = add_sample(s, step, g, k, x, adv ? adv[i] : NAN, e);
			if (r == 0)
				r = add_parts(s, x, batch->n_rewards, e);
			if (r == 0)
				r = add_tests(s, x, e);
		}
	}
	return r;
}

static int add_metrics(struct store *s, int64_t step, const struct metric *m, int n, struct err *e)
{
	struct jsonw w = { &s->line };
	int64_t line;
	int r = 0;

	buf_reset(&s->line);
	if (n <= 0)
		return 0;
	if (sqlite3_step(s->q[Q_LAST_LINE]) != SQLITE_ROW)
		r = store_sql_fail(s->db, s->dir, e);
	line = sqlite3_column_int64(s->q[Q_LAST_LINE], 0) + 1;
	(void)sqlite3_reset(s->q[Q_LAST_LINE]);
	store_line_begin(&w, step);
	for (int k = 0; k < n && r == 0; k++) {
		struct bind b = store_ready(s, Q_METRIC);

		put_int(&b, line);
		put_int(&b, k);
		put_int(&b, step);
		put_cstr(&b, m[k].name);
		put_real(&b, m[k].value);
		r = store_run(s, Q_METRIC, e);
		store_line_add(&w, m[k].name, m[k].value + 0.0);
	}
	store_line_end(&w);
	return r == 0 ? buf_check(&s->line, "metrics of a step", e) : r;
}

int store_step(struct store *s, int64_t step, const struct batch *b, const double *adv,
               const struct metric *m, int n_metrics, struct err *e)
{
	int r = store_run(s, Q_BEGIN, e);

	if (r == 0) {
		r = add_batch(s, step, b, adv, e);
		if (r == 0)
			r = add_metrics(s, step, m, n_metrics, e);
		if (r == 0)
			r = store_run(s, Q_COMMIT, e);
		if (r < 0 && !sqlite3_get_autocommit(s->db))
			(void)store_run(s, Q_ROLLBACK, NULL);
	}
	if (r == 0 && s->line.n && (r = io_write(s->metrics_fd, s->line.p, s->line.n, e)) < 0)
		err_wrap(e, "%s/metrics.jsonl", s->dir);
	return r < 0 ? err_wrap(e, "run store, step %lld", (long long)step) : 0;
}
