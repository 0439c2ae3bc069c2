/* train_summary.c - reads metrics.jsonl, writes summary.json and a table. */
#include "train/train_summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/json.h"
#include "base/jsonw.h"

enum { MAX_LINE = 1 << 20 };

/* Mean of the first and of the last SUMMARY_ENDS values that are numbers. */
struct ends {
	int n;
	double first_sum, last[SUMMARY_ENDS];
};

struct reading {
	struct train_summary s;
	struct ends reward, entropy;
	double sample_s, generate_s;
};

static double real(const struct json *line, const char *key)
{
	const struct json *j = json_get(line, key);
	double v;

	return json_is(j, JSON_NUM) && str_to_real(j->text, &v) ? v : NAN;
}

static double or_zero(double v)
{
	return isnan(v) ? 0 : v;
}

static void ends_add(struct ends *x, double v)
{
	if (isnan(v))
		return;
	if (x->n < SUMMARY_ENDS)
		x->first_sum += v;
	x->last[x->n % SUMMARY_ENDS] = v;
	x->n++;
}

static double ends_first(const struct ends *x)
{
	int n = x->n < SUMMARY_ENDS ? x->n : SUMMARY_ENDS;

	return n ? x->first_sum / n : NAN;
}

static double ends_last(const struct ends *x)
{
	int n = x->n < SUMMARY_ENDS ? x->n : SUMMARY_ENDS;
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += x->last[i];
	return n ? sum / n : NAN;
}

static void read_eval(struct reading *r, const struct json *line, int64_t step)
{
	for (int i = 0; i < r->s.n_k; i++) {
		char key[32];
		double v;

		(void)snprintf(key, sizeof key, "eval/pass@%d", r->s.k[i]);
		v = real(line, key);
		if (!isnan(v))
			*(step == 0 ? &r->s.before[i] : &r->s.after[i]) = v;
	}
	r->s.programs += (int64_t)or_zero(real(line, "eval/programs"));
	r->s.tests += (int64_t)or_zero(real(line, "eval/tests"));
	r->s.tokens += (int64_t)or_zero(real(line, "eval/tokens"));
	r->s.judge_error += (int64_t)or_zero(real(line, "eval/judge_error"));
	r->generate_s += or_zero(real(line, "time/eval_generate_s"));
	r->sample_s += or_zero(real(line, "time/eval_generate_s")) +
	               or_zero(real(line, "time/eval_judge_wait_s"));
	r->s.wall_s += or_zero(real(line, "time/eval_s"));
}

static void read_line(void *arg, const struct json *line)
{
	struct reading *r = arg;
	int64_t step = (int64_t)or_zero(real(line, "step"));

	r->s.steps = step > r->s.steps ? step : r->s.steps;
	ends_add(&r->reward, real(line, "reward"));
	ends_add(&r->entropy, real(line, "entropy"));
	r->s.groups += (int64_t)or_zero(real(line, "select/groups"));
	r->s.silent += (int64_t)or_zero(real(line, "select/silent"));
	r->s.programs += (int64_t)or_zero(real(line, "judge/programs"));
	r->s.tests += (int64_t)or_zero(real(line, "judge/tests"));
	r->s.judge_error += (int64_t)or_zero(real(line, "judge/judge_error"));
	r->s.tokens += (int64_t)or_zero(real(line, "ledger/sampled"));
	r->generate_s += or_zero(real(line, "time/generate_s"));
	r->sample_s +=
		or_zero(real(line, "time/generate_s")) + or_zero(real(line, "time/judge_wait_s"));
	r->s.wall_s += or_zero(real(line, "time/step_s"));
	read_eval(r, line, step);
}

/* Calls each for every line of the run's metrics. */
static int each_line(const char *dir, void (*each)(void *arg, const struct json *line), void *arg,
                     struct err *e)
{
	AUTO_ARENA a = { .limit = 16 << 20 };
	struct io_lines *l;
	char path[4096];
	struct str text;
	int more;

	if ((size_t)snprintf(path, sizeof path, "%s/metrics.jsonl", dir) >= sizeof path)
		return FAIL(e, ERR_LIMIT, "%s: path is too long", dir);
	if (io_lines_open(path, MAX_LINE, &l, e) < 0)
		return ERR_SYS;
	while ((more = io_lines_next(l, &text, e)) == 1) {
		const struct json *line = NULL;

		arena_reset(&a);
		more = json_parse(text, &a, &line, e);
		if (more < 0) {
			more = err_wrap(e, "%s:%d", path, io_lines_number(l));
			break;
		}
		each(arg, line);
	}
	io_lines_close(l);
	return more;
}

int train_summary_read(const char *dir, int64_t seed, const int *k, int n_k,
                       struct train_summary *ret, struct err *e)
{
	struct reading r = { .s = { .seed = seed, .n_k = n_k } };

	for (int i = 0; i < n_k; i++) {
		r.s.k[i] = k[i];
		r.s.before[i] = r.s.after[i] = NAN;
	}
	if (each_line(dir, read_line, &r, e) < 0)
		return e ? e->code : ERR_SYS;
	r.s.reward_first = ends_first(&r.reward), r.s.reward_last = ends_last(&r.reward);
	r.s.entropy_first = ends_first(&r.entropy), r.s.entropy_last = ends_last(&r.entropy);
	r.s.tests_per_s = r.sample_s > 0 ? (double)r.s.tests / r.sample_s : 0;
	r.s.tokens_per_s = r.generate_s > 0 ? (double)r.s.tokens / r.generate_s : 0;
	*ret = r.s;
	return 0;
}

struct looking {
	int64_t step;
	bool found;
};

static void look_for_eval(void *arg, const struct json *line)
{
	struct looking *l = arg;

	if (real(line, "step") == (double)l->step && json_get(line, "eval/tasks"))
		l->found = true;
}

int train_summary_evaluated(const char *dir, int64_t step, bool *ret, struct err *e)
{
	struct looking l = { .step = step };
	int r = each_line(dir, look_for_eval, &l, e);

	if (r == 0)
		*ret = l.found;
	return r;
}

static void json_pass(const struct train_summary *s, const double *v, struct jsonw *w)
{
	jsonw_open(w, '{');
	for (int i = 0; i < s->n_k; i++) {
		char key[32];

		(void)snprintf(key, sizeof key, "pass@%d", s->k[i]);
		jsonw_key(w, key), jsonw_real(w, v[i]);
	}
	jsonw_close(w, '}');
}

int train_summary_json(const struct train_summary *s, struct buf *b, struct err *e)
{
	struct jsonw w = { b, false };

	jsonw_open(&w, '{');
	jsonw_key(&w, "seed"), jsonw_int(&w, s->seed);
	jsonw_key(&w, "steps"), jsonw_int(&w, s->steps);
	jsonw_key(&w, "before"), json_pass(s, s->before, &w);
	jsonw_key(&w, "after"), json_pass(s, s->after, &w);
	jsonw_key(&w, "reward_first"), jsonw_real(&w, s->reward_first);
	jsonw_key(&w, "reward_last"), jsonw_real(&w, s->reward_last);
	jsonw_key(&w, "entropy_first"), jsonw_real(&w, s->entropy_first);
	jsonw_key(&w, "entropy_last"), jsonw_real(&w, s->entropy_last);
	jsonw_key(&w, "groups"), jsonw_int(&w, s->groups);
	jsonw_key(&w, "silent"), jsonw_int(&w, s->silent);
	jsonw_key(&w, "programs"), jsonw_int(&w, s->programs);
	jsonw_key(&w, "tests"), jsonw_int(&w, s->tests);
	jsonw_key(&w, "judge_error"), jsonw_int(&w, s->judge_error);
	jsonw_key(&w, "tokens"), jsonw_int(&w, s->tokens);
	jsonw_key(&w, "tests_per_s"), jsonw_fixed(&w, s->tests_per_s, 1);
	jsonw_key(&w, "tokens_per_s"), jsonw_fixed(&w, s->tokens_per_s, 1);
	jsonw_key(&w, "wall_s"), jsonw_fixed(&w, s->wall_s, 1);
	jsonw_close(&w, '}');
	buf_putc(b, '\n');
	return buf_check(b, "summary", e);
}

int train_summary_save(const struct train_summary *s, const char *dir, struct err *e)
{
	AUTO_BUF b = { .max = 1 << 16 };
	char path[4096];

	if ((size_t)snprintf(path, sizeof path, "%s/summary.json", dir) >= sizeof path)
		return FAIL(e, ERR_LIMIT, "%s: path is too long", dir);
	if (train_summary_json(s, &b, e) < 0)
		return ERR_LIMIT;
	return io_save(path, buf_str(&b), e);
}

static void row(struct buf *b, const char *name, double before, double after, bool percent)
{
	double scale = percent ? 100 : 1;
	const char *unit = percent ? " %" : "";

	if (isnan(before) && isnan(after))
		return;
	buf_putf(b, "  %-16s", name);
	if (isnan(before))
		buf_putf(b, "%11s", "-");
	else
		buf_putf(b, "%9.*f%s", percent ? 1 : 3, before * scale, percent ? unit : "  ");
	if (isnan(after))
		buf_putf(b, "%11s", "-");
	else
		buf_putf(b, "%9.*f%s", percent ? 1 : 3, after * scale, percent ? unit : "  ");
	if (!isnan(before) && !isnan(after))
		buf_putf(b, "%+9.*f", percent ? 1 : 3, (after - before) * scale);
	buf_putc(b, '\n');
}

void train_summary_text(const struct train_summary *s, const char *dir, struct buf *b)
{
	buf_putf(b, "  %-16s%11s%11s%9s\n", "", "before", "after", "change");
	for (int i = 0; i < s->n_k; i++) {
		char name[32];

		(void)snprintf(name, sizeof name, "pass@%d", s->k[i]);
		row(b, name, s->before[i], s->after[i], true);
	}
	row(b, "mean reward", s->reward_first, s->reward_last, false);
	row(b, "entropy", s->entropy_first, s->entropy_last, false);
	buf_putf(b, "  %-16s%lld of %lld\n", "silent groups", (long long)s->silent,
	         (long long)s->groups);
	buf_putf(b, "  %-16s%lld (%lld tests, %.0f tests/s)\n", "programs judged",
	         (long long)s->programs, (long long)s->tests, s->tests_per_s);
	if (s->judge_error)
		buf_putf(b, "  %-16s%lld programs\n", "judge errors", (long long)s->judge_error);
	buf_putf(b, "  %-16s%lld (%.0f tokens/s)\n", "tokens sampled", (long long)s->tokens,
	         s->tokens_per_s);
	buf_putf(b, "  %-16s%.1f s\n", "time", s->wall_s);
	buf_putf(b, "  %-16s%s\n", "run directory", dir);
}
