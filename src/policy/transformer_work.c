/* transformer_work.c - one thread's memory for a forward and backward pass. */
#include "policy/transformer_int.h"

#include <assert.h>
#include <string.h>

enum {
	HEAD_ROWS = 64,        /* rows of logits that exist at a time */
	HEAD_FLOATS = 1 << 21, /* fewer if they would be larger than this */
};

/* Deals out arrays of floats; with base NULL it only counts. */
struct deal {
	float *base;
	int64_t at;
};

static float *take(struct deal *d, int64_t n)
{
	float *p = d->base ? d->base + d->at : NULL;

	d->at += kern_round16(n);
	return p;
}

static int64_t max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void deal_acts(const struct transformer *t, struct acts *a, struct deal *d, int64_t T,
                      bool keep)
{
	int64_t begin = d->at, q = (int64_t)t->heads * t->hd;

	a->x = take(d, T * t->d);
	a->rho1 = take(d, T);
	a->qkv = take(d, T * t->nqkv);
	a->stat = take(d, T * t->heads * 2);
	a->o = take(d, T * q);
	a->x1 = take(d, T * t->d);
	a->rho2 = take(d, T);
	a->gu = take(d, T * 2 * t->ffn);
	a->stride = keep ? d->at - begin : 0;
	d->at = begin + (keep ? t->layers : 1) * (d->at - begin);
	a->x_end = take(d, T * t->d);
}

static int64_t deal_work(const struct transformer *t, struct work *w, float *base, int rows,
                         int longest, bool keep)
{
	struct deal d = { base, 0 };
	int64_t T = rows, V16 = kern_round16(t->vocab), q = (int64_t)t->heads * t->hd;
	int64_t wide = max64(t->ffn, q), tile = HEAD_FLOATS / V16;

	tile = tile > HEAD_ROWS ? HEAD_ROWS : tile < 6 ? 6 : tile;
	deal_acts(t, &w->a, &d, T, keep);
	w->tile = (int)tile;
	w->n = take(&d, T * t->d);
	w->h = take(&d, T * t->ffn);
	w->attn = take(&d, max64(kern_attn_scratch(longest, t->hd),
	                         kern_paged_scratch(t->p.max_seq, t->heads, t->kv_heads, t->hd)));
	w->z = take(&d, tile * V16);
	w->ex = take(&d, V16);
	w->zn = take(&d, tile * t->d);
	w->rho = take(&d, tile);
	w->tok = (int *)(void *)take(&d, T);
	w->pos = (int *)(void *)take(&d, T);
	w->pick = (int *)(void *)take(&d, tile);
	w->at = (int64_t *)(void *)take(&d, 2 * T);
	w->first = (int64_t *)(void *)take(&d, 2 * (T + 1));
	if (keep) {
		w->dx = take(&d, T * t->d);
		w->dn = take(&d, T * t->d);
		w->dh = take(&d, T * wide);
		w->dgu = take(&d, T * 2 * t->ffn);
		w->dqkv = take(&d, T * t->nqkv);
		w->dw = take(&d, KERN_DW_TOKENS * (max64(wide, t->d) + 16));
		w->dzn = take(&d, tile * t->d);
	}
	return d.at;
}

int transformer_work_need(struct transformer *t, int rows, int longest, bool keep, struct err *e)
{
	int threads = pool_threads(t->p.pool);
	struct work count;
	int64_t n = deal_work(t, &count, NULL, rows, longest, keep);

	t->n_work_free = 0;
	for (int i = threads - 1; i >= 0; i--) {
		struct work *w = &t->work[i];
		int rc = slab_need(&w->slab, n, "workspace", e);

		if (rc < 0)
			return rc;
		deal_work(t, w, w->slab.p, rows, longest, keep);
		t->work_free[t->n_work_free++] = w;
	}
	return 0;
}

struct work *transformer_work_take(struct transformer *t)
{
	struct work *w;

	pthread_mutex_lock(&t->lock);
	assert(t->n_work_free > 0);
	w = t->work_free[--t->n_work_free];
	pthread_mutex_unlock(&t->lock);
	return w;
}

void transformer_work_put(struct transformer *t, struct work *w)
{
	pthread_mutex_lock(&t->lock);
	t->work_free[t->n_work_free++] = w;
	pthread_mutex_unlock(&t->lock);
}
