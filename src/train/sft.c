/* sft.c - the supervised warm start.
 *
 * Theory of operation: an epoch goes through all sequences once, in an order that is a function of
 * (seed, epoch) alone; a step takes the next `batch` of them (the last of an epoch may be smaller),
 * makes one gradient and one update. So the number of a step says where in which order it stands,
 * and a resumed run needs no more than weights, optimizer and that number. Run directory, metrics
 * and checkpoints are those of train (train.c).
 */
#include "train/sft.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "train/train_metrics.h"
#include "train/train_run.h"

enum { DATA_ARENA = 1 << 30, STEP_ARENA = 1 << 30, LOG_S = 5 };

static const char end_of_text[] = "<|endoftext|>";

static const struct opt policy_opts[] = {
	{ "load", OPT_STR, offsetof(struct train_policy, load), 0, 0, 0, "", "",
	  "checkpoint directory; empty: a new policy" },
	{ 0 },
};

static const struct opt sft_opts[] = {
	{ "data", OPT_STR, offsetof(struct sft_opts, data), 0, 0, 0, "", "",
	  "JSONL of {\"prompt\", \"completion\"}" },
	{ "vocab", OPT_INT, offsetof(struct sft_opts, vocab), 257, 1 << 20, 0, "512", "tokens",
	  "of the tokenizer of a new policy" },
	{ "epochs", OPT_INT, offsetof(struct sft_opts, epochs), 1, 100000, 0, "3", "",
	  "passes over the data" },
	{ "batch", OPT_INT, offsetof(struct sft_opts, batch), 1, 65536, 0, "32", "sequences",
	  "of a step" },
	{ "log_every", OPT_INT, offsetof(struct sft_opts, log_every), 1, 1 << 30, 0, "10", "steps",
	  "one line of metrics, of its step alone" },
	{ 0 },
};

int sft_conf_bind(struct conf *c, struct sft_conf *s, struct err *e)
{
	struct conf_part p;
	struct err own;

	e = e ? e : &own;
	memset(s, 0, sizeof *s);
	if (conf_part(c, "policy", PART_TABLE(policy_table), "transformer", &p, e) < 0 ||
	    conf_bind(c, "policy", policy_opts, &s->policy, e) < 0 ||
	    conf_bind(c, "policy", policy_shape_opts, &s->shape, e) < 0 ||
	    conf_bind(c, "sft", sft_opts, &s->sft, e) < 0)
		return e->code;
	return train_opts_bind(c, true, &s->train, e);
}

/* One owner: sft_run(). */
struct warm {
	const struct sft_setup *in;
	const struct sft_conf *conf;
	struct arena a, data, step_mem;
	struct sft_texts texts;
	struct sft_set set;
	struct pool *pool;
	struct policy *policy;
	struct store *store;
	struct train_state at;
	bool saved;
	int64_t steps, per_epoch;
	int *order; /* (set.n,) of ordered_epoch */
	int64_t ordered_epoch, log_ns, mark_ns;
	struct sft_result result;
	bool epoch_cut;    /* resumed within the epoch that goes on */
	double epoch_loss; /* sum over the steps of the epoch, weighted by tokens */
	int64_t epoch_tokens;
};

static bool stopped(const struct warm *w)
{
	return w->in->stop && *w->in->stop;
}

/* A tokenizer and weights made from the seed and the texts alone. */
static int new_policy(struct warm *w, struct err *e)
{
	static const char *const special[] = { end_of_text, NULL };
	struct str *text = arena_new(&w->data, struct str, 2 * w->texts.n);
	struct tok *tok;

	if (!text)
		return FAIL(e, ERR_LIMIT, "%d records", w->texts.n);
	for (int i = 0; i < w->texts.n; i++) {
		text[2 * i] = w->texts.text[i].prompt;
		text[2 * i + 1] = w->texts.text[i].completion;
	}
	if (tok_train(text, 2 * w->texts.n, (int)w->conf->sft.vocab, special, &tok, e) < 0)
		return err_wrap(e, "tokenizer");
	return policy_new(&w->conf->shape, tok, (uint64_t)w->conf->train.seed, w->pool, 1,
	                  &w->policy, e);
}

static int open_policy(struct warm *w, int64_t step, struct err *e)
{
	const char *dir = *w->conf->policy.load ? w->conf->policy.load : NULL;

	if (step >= 0)
		dir = train_checkpoint_path(w->in->dir, step, &w->a);
	if (!dir && step >= 0)
		return FAIL(e, ERR_LIMIT, "run arena");
	if (dir ? policy_load(dir, w->pool, 1, &w->policy, e) < 0 : new_policy(w, e) < 0)
		return e->code;
	if (step < 0)
		w->policy->fn->restart(w->policy);
	w->policy->version = w->at.version;
	return 0;
}

static int open_data(struct warm *w, struct err *e)
{
	int64_t b = w->conf->sft.batch;

	if (sft_encode(&w->texts, w->policy->tok, w->policy->max_seq, &w->data, &w->set, e) < 0)
		return err_wrap(e, "%s", w->conf->sft.data);
	if (w->set.too_long)
		log_warn("sft", "left_out=%" PRId64 " records longer than max_seq=%d tokens",
		         w->set.too_long, w->policy->max_seq);
	w->order = arena_new(&w->data, int, w->set.n);
	if (!w->order)
		return FAIL(e, ERR_LIMIT, "%d sequences", w->set.n);
	w->ordered_epoch = -1;
	w->per_epoch = (w->set.n + b - 1) / b;
	w->steps = w->per_epoch * w->conf->sft.epochs;
	return 0;
}

static int warm_open(struct warm *w, struct err *e)
{
	const struct sft_conf *c = w->conf;
	char identity[sizeof w->at.identity];
	int64_t step = -1;

	if (!*c->sft.data)
		return FAIL(e, ERR_RANGE,
		            "sft.data is not set: name a JSONL file of prompts and "
		            "completions");
	train_identity_hash(w->in->identity, identity);
	if (sft_read(c->sft.data, &w->data, &w->texts, e) < 0 ||
	    train_pool(c->train.threads, &w->pool, e) < 0)
		return e->code;
	/* Before there is a run directory: what is missing here leaves none behind. */
	if ((!c->train.resume && (open_policy(w, step, e) < 0 || open_data(w, e) < 0)) ||
	    train_store_open(w->in->dir, c->train.resume, &w->store, e) < 0)
		return e->code;
	if (c->train.resume &&
	    train_resume(w->in->dir, w->store, identity, &w->a, &w->at, &step, e) < 0)
		return e->code;
	w->saved = step >= 0;
	w->at.seed = (uint64_t)c->train.seed;
	memcpy(w->at.identity, identity, sizeof identity);
	if (c->train.resume && (open_policy(w, step, e) < 0 || open_data(w, e) < 0))
		return e->code;
	w->epoch_cut = w->at.step % w->per_epoch != 0;
	if (step < 0 &&
	    train_store_config(w->store, w->in->config, c->train.seed, w->policy->describe, e) < 0)
		return e->code;
	log_info("sft",
	         "run=%s policy=\"%s\" vocab=%d sequences=%d trained_tokens=%" PRId64
	         " steps=%" PRId64 " step=%" PRId64,
	         w->in->dir, w->policy->describe, tok_vocab(w->policy->tok), w->set.n,
	         w->set.trained, w->steps, w->at.step);
	return 0;
}

static void warm_close(struct warm *w)
{
	policy_free(w->policy);
	if (w->store)
		store_close(w->store);
	pool_free(w->pool);
	arena_done(&w->step_mem);
	arena_done(&w->data);
	arena_done(&w->a);
}

/* What coef() needs and leaves behind; each call writes only its own sequences. */
struct lesson {
	const struct sft_seq *const *seq; /* (n,) */
	const int64_t *first;
	double n_tok;          /* trained tokens of the step */
	double *nll, *entropy; /* (n,) sums over the trained tokens of a sequence */
	int *right;            /* (n,) tokens whose probability is above 1/2 */
};

/*	L = -1 / N * sum_t logp_t	t: tokens behind the prompt, end of text included; N of them
 *	dL/dlogp_t = -1 / N
 */
static int coef(void *arg, int i0, int i1, const float *logp, const float *entropy, float *c,
                float *h, struct err *e)
{
	struct lesson *l = arg;
	float weight = (float)(-1 / l->n_tok);

	(void)e;
	for (int i = i0; i < i1; i++)
		for (int t = 0; t < l->seq[i]->n; t++) {
			int64_t at = l->first[i] + t;
			bool on = t >= l->seq[i]->n_prompt;

			c[at] = on ? weight : 0;
			h[at] = 0;
			if (!on)
				continue;
			l->nll[i] -= logp[at];
			l->entropy[i] += entropy[at];
			l->right[i] += logp[at] > -0.69314718f;
		}
	return 0;
}

static void order_epoch(struct warm *w, int64_t epoch)
{
	struct rng r;

	if (w->ordered_epoch == epoch)
		return;
	for (int i = 0; i < w->set.n; i++)
		w->order[i] = i;
	rng_init(&r, w->at.seed, RNG_ORDER, (uint32_t)epoch, 0);
	rng_shuffle(&r, w->order, w->set.n);
	w->ordered_epoch = epoch;
}

/* The sequences of a step, packed. */
static int gather(struct warm *w, int64_t step, struct lesson *l, struct seqs *ret, struct err *e)
{
	int64_t epoch = (step - 1) / w->per_epoch, from = (step - 1) % w->per_epoch;
	int b = (int)w->conf->sft.batch, lo = (int)(from * b), n = w->set.n - lo;
	const struct sft_seq **seq;
	int32_t *tok;
	int64_t *first, total = 0;

	n = n < b ? n : b;
	order_epoch(w, epoch);
	for (int i = 0; i < n; i++)
		total += w->set.seq[w->order[lo + i]].n;
	seq = arena_new(&w->step_mem, const struct sft_seq *, n);
	first = arena_new(&w->step_mem, int64_t, n + 1);
	tok = arena_new(&w->step_mem, int32_t, total);
	l->nll = arena_new(&w->step_mem, double, n);
	l->entropy = arena_new(&w->step_mem, double, n);
	l->right = arena_new(&w->step_mem, int, n);
	if (!seq || !first || !tok || !l->nll || !l->entropy || !l->right)
		return FAIL(e, ERR_LIMIT, "step arena: %d sequences", n);
	for (int i = 0; i < n; i++) {
		seq[i] = &w->set.seq[w->order[lo + i]];
		memcpy(tok + first[i], seq[i]->tok, (size_t)seq[i]->n * sizeof *tok);
		first[i + 1] = first[i] + seq[i]->n;
		l->n_tok += seq[i]->n - seq[i]->n_prompt;
	}
	l->seq = seq;
	l->first = first;
	*ret = (struct seqs){ n, tok, first };
	return 0;
}

/* What the step adds to the loss of its epoch. */
static void count(struct warm *w, const struct lesson *l, int n)
{
	for (int i = 0; i < n; i++)
		w->epoch_loss += l->nll[i];
	w->epoch_tokens += (int64_t)l->n_tok;
}

static void fill_metrics(struct warm *w, struct metrics *m, const struct lesson *l, int n,
                         const struct step_stats *stats, double lr)
{
	double nll = 0, entropy = 0, right = 0;
	int64_t now = now_ns();

	for (int i = 0; i < n; i++) {
		nll += l->nll[i];
		entropy += l->entropy[i];
		right += l->right[i];
	}
	metrics_add(m, nll / l->n_tok, "loss");
	metrics_add(m, entropy / l->n_tok, "entropy");
	metrics_add(m, right / l->n_tok, "likely_tokens");
	metrics_add(m, stats->grad_norm, "actor/grad_norm");
	metrics_add(m, stats->skipped, "actor/skipped");
	metrics_add(m, lr, "actor/lr");
	metrics_add(m, (double)w->at.step / (double)w->per_epoch, "epoch");
	metrics_add(m, l->n_tok, "trained_tokens");
	metrics_add(m, (double)(now - w->mark_ns) / NS_PER_S, "time/since_last_s");
	w->mark_ns = now;
}

static void report(struct warm *w, const struct metrics *m)
{
	if (w->mark_ns - w->log_ns < LOG_S * NS_PER_S && w->at.step < w->steps)
		return;
	w->log_ns = w->mark_ns;
	log_info("sft", "step=%" PRId64 "/%" PRId64 " epoch=%.2f loss=%.4f grad_norm=%.3f lr=%.2g",
	         w->at.step, w->steps, metrics_get(m, "epoch"), metrics_get(m, "loss"),
	         metrics_get(m, "actor/grad_norm"), metrics_get(m, "actor/lr"));
}

/* Mean loss of the first and of the last epoch that this process went through as a whole. */
static void note_epoch(struct warm *w)
{
	if (w->at.step % w->per_epoch)
		return;
	if (!w->epoch_cut) {
		w->result.loss_last = w->epoch_loss / (double)w->epoch_tokens;
		if (isnan(w->result.loss_first))
			w->result.loss_first = w->result.loss_last;
	}
	w->epoch_cut = false;
	w->epoch_loss = 0;
	w->epoch_tokens = 0;
}

static int one_step(struct warm *w, struct err *e)
{
	int64_t step = w->at.step + 1;
	double lr = train_lr(&w->conf->train, step, w->steps);
	struct optim o = train_optim(&w->conf->train, lr);
	struct step_stats stats = { 0 };
	struct lesson l = { 0 };
	struct metrics m = { 0 };
	struct seqs s = { 0 };

	arena_reset(&w->step_mem);
	if (gather(w, step, &l, &s, e) < 0)
		return e->code;
	if (w->policy->fn->grad(w->policy, &s, 1, coef, &l, e) < 0 ||
	    w->policy->fn->step(w->policy, &o, &stats, e) < 0)
		return err_wrap(e, "step %" PRId64, step);
	w->at.step = step;
	w->at.version = w->policy->version;
	w->saved = false;
	count(w, &l, s.n);
	note_epoch(w);
	if (step % w->conf->sft.log_every && step != w->steps)
		return 0;
	fill_metrics(w, &m, &l, s.n, &stats, lr);
	report(w, &m);
	return store_step(w->store, step, NULL, NULL, m.m, m.n, e);
}

static int save(struct warm *w, struct err *e)
{
	if (train_checkpoint_save(w->in->dir, &w->at, w->policy, (int)w->conf->train.keep, e) < 0)
		return e->code;
	w->saved = true;
	return 0;
}

static int loop(struct warm *w, struct err *e)
{
	int64_t every = w->conf->train.save_every;

	w->mark_ns = now_ns();
	while (w->at.step < w->steps) {
		if (stopped(w))
			return FAIL(e, ERR_STOP, "stopped");
		if (one_step(w, e) < 0 || (every && w->at.step % every == 0 && save(w, e) < 0))
			return e->code;
	}
	return w->saved ? 0 : save(w, e);
}

int sft_run(const struct sft_setup *in, struct sft_result *ret, struct err *e)
{
	struct warm w = { .in = in, .conf = in->conf };
	struct err own, later;
	int r;

	e = e ? e : &own;
	w.a.limit = 64 << 20;
	w.data.limit = DATA_ARENA;
	w.step_mem.limit = STEP_ARENA;
	w.result.loss_first = w.result.loss_last = NAN;
	r = warm_open(&w, e);
	if (r == 0)
		r = loop(&w, e);
	if (r == ERR_STOP && save(&w, &later) < 0) {
		*e = later;
		r = e->code;
	} else if (r == ERR_STOP) {
		r = FAIL(e, ERR_STOP,
		         "stopped after step %" PRId64
		         ", which is saved in %s: go on with --resume",
		         w.at.step, in->dir);
	}
	w.result.steps = w.at.step;
	w.result.sequences = w.set.n;
	w.result.tokens = w.set.trained;
	w.result.too_long = w.set.too_long;
	warm_close(&w);
	if (r < 0)
		return r;
	*ret = w.result;
	return 0;
}
