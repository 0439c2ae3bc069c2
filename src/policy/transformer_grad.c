/* transformer_grad.c - score and gradient of a batch, by chunks.
 *
 * The list of chunks is a function of the batch alone: whole sequences in order, put together
 * until CHUNK_ROWS tokens are reached. A chunk is one thread's work from embedding to gradient.
 * The gradients of chunks are added by a fixed binary tree over the chunk index (grad_tree.c), so
 * the sum is the same bits whatever the number of threads.
 */
#include "policy/transformer_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_ROWS = 256 };

/* The last token of a sequence predicts nothing: it needs no row. */
static int rows_of(const struct seqs *s, int i)
{
	int64_t n = s->first[i + 1] - s->first[i];

	return n > 1 ? (int)n - 1 : 0;
}

static int check_batch(const struct transformer *t, const struct seqs *s, struct err *e)
{
	for (int i = 0; i < s->n; i++) {
		int64_t n = s->first[i + 1] - s->first[i];

		if (n < 0 || n > t->p.max_seq)
			return FAIL(e, ERR_RANGE, "sequence %d has %lld tokens: outside 0..%d", i,
			            (long long)n, t->p.max_seq);
	}
	for (int64_t j = s->n ? s->first[0] : 0; s->n && j < s->first[s->n]; j++)
		if (s->tok[j] < 0 || s->tok[j] >= t->vocab)
			return FAIL(e, ERR_RANGE, "token id %d: outside 0..%d", s->tok[j],
			            t->vocab - 1);
	return 0;
}

/* At least one chunk, so that an empty batch has a gradient too (zero). */
static int cut(struct transformer *t, const struct seqs *s, int *ret_rows, int *ret_longest,
               struct err *e)
{
	int max_rows = 1, longest = 1;

	if (t->cap_chunks < s->n + 1) {
		struct chunk *c = realloc(t->chunk, ((size_t)s->n + 1) * sizeof *c);

		if (!c)
			return FAIL(e, ERR_NOMEM, "chunks");
		t->chunk = c;
		t->cap_chunks = s->n + 1;
	}
	t->n_chunks = 1;
	t->chunk[0] = (struct chunk){ 0 };
	for (int i = 0; i < s->n; i++) {
		struct chunk *c = &t->chunk[t->n_chunks - 1];
		int rows = rows_of(s, i);

		if (c->rows > 0 && c->rows + rows > CHUNK_ROWS) {
			c = &t->chunk[t->n_chunks++];
			*c = (struct chunk){ .i0 = i };
		}
		c->i1 = i + 1;
		c->rows += rows;
		max_rows = c->rows > max_rows ? c->rows : max_rows;
		longest = rows > longest ? rows : longest;
	}
	*ret_rows = max_rows;
	*ret_longest = longest;
	return 0;
}

static struct rows lay_out(struct work *w, const struct seqs *s, const struct chunk *c)
{
	struct rows r = { .tok = w->tok, .pos = w->pos, .first = w->first };

	for (int i = c->i0; i < c->i1; i++) {
		int n = rows_of(s, i);

		if (n == 0)
			continue;
		w->first[r.n_seq++] = r.n;
		for (int p = 0; p < n; p++, r.n++) {
			w->tok[r.n] = s->tok[s->first[i] + p];
			w->pos[r.n] = p;
			w->at[r.n] = s->first[i] + p + 1;
		}
	}
	w->first[r.n_seq] = r.n;
	return r;
}

struct pass {
	struct transformer *t;
	const struct seqs *s;
	float inv_t;
	float *logp, *entropy, *c, *h; /* c NULL: only scores */
	coef_fn *coef;
	void *arg;
	int rc; /* the first error; under t->lock */
	struct err err;
};

static bool failed(struct pass *p)
{
	bool yes;

	pthread_mutex_lock(&p->t->lock);
	yes = p->rc < 0;
	pthread_mutex_unlock(&p->t->lock);
	return yes;
}

static void fail(struct pass *p, int rc, const struct err *e)
{
	pthread_mutex_lock(&p->t->lock);
	if (p->rc == 0) {
		p->rc = rc;
		p->err = *e;
	}
	pthread_mutex_unlock(&p->t->lock);
}

static void gradient(struct pass *p, struct work *w, const struct rows *r, int i)
{
	struct transformer *t = p->t;
	const struct chunk *c = &t->chunk[i];
	struct err e = { 0 };
	float *g;

	if (c->i1 > c->i0) {
		int rc = p->coef(p->arg, c->i0, c->i1, p->logp, p->entropy, p->c, p->h, &e);

		if (rc < 0) {
			fail(p, rc, &e);
			return;
		}
	}
	g = grad_tree_take(&t->tree, &t->lock);
	transformer_backward(t, w, r, p->s, p->inv_t, p->c, p->h, g);
	grad_tree_put(&t->tree, &t->lock, t->k, i, g);
}

static void run_chunk(void *arg, int i)
{
	struct pass *p = arg;
	struct transformer *t = p->t;
	struct work *w;
	struct rows r;
	unsigned fp;

	if (failed(p))
		return;
	w = transformer_work_take(t);
	fp = kern_fp_init();
	r = lay_out(w, p->s, &t->chunk[i]);
	if (r.n > 0) {
		transformer_forward(t, w, &r);
		transformer_head_score(t, w, p->s, r.n, p->inv_t, p->logp, p->entropy);
	}
	if (p->c)
		gradient(p, w, &r, i);
	kern_fp_done(fp);
	transformer_work_put(t, w);
}

static int run(struct pass *p, struct err *e)
{
	struct transformer *t = p->t;
	int rows = 1, longest = 1, rc = check_batch(t, p->s, e);

	if (rc == 0)
		rc = cut(t, p->s, &rows, &longest, e);
	if (rc == 0)
		rc = transformer_work_need(t, rows, longest, p->c != NULL, e);
	if (rc == 0 && p->c)
		rc = grad_tree_need(&t->tree, t->n_floats, t->n_chunks, pool_threads(t->p.pool), e);
	if (rc < 0)
		return rc;
	pool_run(t->p.pool, t->n_chunks, run_chunk, p);
	if (p->rc < 0 && e)
		*e = p->err;
	return p->rc;
}

/* One array (n,) after the other: logp, entropy, c, h, all zero, indexed like tok. */
static int batch_arrays(struct pass *p, int64_t n, struct err *e)
{
	struct slab *s = &p->t->coef;
	int rc = slab_need(s, 4 * n, "coefficients", e);

	if (rc < 0)
		return rc;
	memset(s->p, 0, (size_t)(4 * n) * sizeof(float));
	p->logp = s->p;
	p->entropy = s->p + n;
	p->c = s->p + 2 * n;
	p->h = s->p + 3 * n;
	return 0;
}

int transformer_score(struct policy *pol, const struct seqs *s, double temperature, float *ret_logp,
                      float *ret_entropy, struct err *e)
{
	struct pass p = { .t = transformer_of(pol),
		          .s = s,
		          .inv_t = transformer_inv_t(temperature) };
	int64_t n = s->n ? s->first[s->n] : 0;
	int rc = batch_arrays(&p, n, e);

	if (rc < 0)
		return rc;
	p.c = p.h = NULL;
	rc = run(&p, e);
	if (rc < 0)
		return rc;
	memcpy(ret_logp, p.logp, (size_t)n * sizeof(float));
	if (ret_entropy)
		memcpy(ret_entropy, p.entropy, (size_t)n * sizeof(float));
	return 0;
}

int transformer_grad(struct policy *pol, const struct seqs *s, double temperature, coef_fn *coef,
                     void *arg, struct err *e)
{
	struct transformer *t = transformer_of(pol);
	struct pass p = {
		.t = t, .s = s, .inv_t = transformer_inv_t(temperature), .coef = coef, .arg = arg
	};
	int rc = batch_arrays(&p, s->n ? s->first[s->n] : 0, e);

	t->grad = NULL;
	if (rc == 0)
		rc = run(&p, e);
	if (rc == 0)
		t->grad = t->tree.root;
	return rc;
}
