/* transformer_backward.c - gradients of one chunk, in one thread.
 *
 * The chunk's buffer g is laid out like the weights. Each matrix is written once, as a chain over
 * the chunk's tokens from +0; vectors and the embedding are cleared first and added to in token
 * order. Norms and silu(gate) * up are computed again (the same bits).
 */
#include "policy/transformer_int.h"

#include <string.h>

/* dx = dy W */
static void back_x(const struct transformer *t, const struct linear *x, const float *dy,
                   int64_t ldy, float *dx, int m)
{
	t->k->gemm(&(struct kern_gemm){
		.a = dy,
		.p = x->pt,
		.c = dx,
		.lda = ldy,
		.ldc = x->in,
		.m = m,
		.n = x->in,
		.k = x->out,
	});
}

/* dW = dy^T x, db = sum dy */
static void back_w(const struct transformer *t, const struct work *w, const struct linear *x,
                   const float *dy, int64_t ldy, const float *in, float *g, int m, bool more)
{
	t->k->gemm_dw(&(struct kern_dw){
		.dy = dy,
		.x = in,
		.dw = g + x->w,
		.scratch = w->dw,
		.ldy = ldy,
		.ldx = x->in,
		.tokens = m,
		.out = x->out,
		.in = x->in,
		.add = more,
	});
	for (int i = 0; x->bias >= 0 && i < m; i++)
		t->k->add(g + x->bias, dy + i * ldy, x->out);
}

static void clear(float *g, int64_t n)
{
	memset(g, 0, (size_t)n * sizeof *g);
}

/* What is added to rather than set. */
static void clear_vectors(const struct transformer *t, float *g)
{
	for (int i = 0; i < t->n_tensors; i++)
		if (t->tensor[i].rank == 1)
			clear(g + t->tensor[i].off, t->tensor[i].n);
	if (!t->cfg.tie)
		clear(g + t->embed, (int64_t)t->vocab * t->d);
}

/* m rows of x_end: logits again, their gradient, that of the head's matrix, that of the rows. */
static void back_head_tile(const struct transformer *t, struct work *w, const struct seqs *s,
                           const int *row, int m, float inv_t, const float *c, const float *h,
                           float *g, bool more)
{
	int64_t V16 = kern_round16(t->vocab), d = t->d;
	const float *W = t->weight.p + t->norm_end, *x_end = w->a.x_end;

	for (int i = 0; i < m; i++)
		memcpy(w->dzn + i * d, x_end + row[i] * d, (size_t)d * sizeof(float));
	transformer_logits(t, w, w->dzn, m);
	for (int i = 0; i < m; i++) {
		struct kern_head k = transformer_head(t, w, i, inv_t);
		int64_t at = w->at[row[i]];

		t->k->head_bwd(&k, s->tok[at], c[at], h[at]);
	}
	back_w(t, w, &t->head, w->z, V16, w->zn, g, m, more);
	back_x(t, &t->head, w->z, V16, w->dzn, m);
	for (int i = 0; i < m; i++)
		t->k->rmsnorm_bwd(w->dx + row[i] * d, g + t->norm_end, w->dzn + i * d,
		                  x_end + row[i] * d, W, w->rho + i, 1, t->d);
}

static void back_head(const struct transformer *t, struct work *w, const struct seqs *s, int n,
                      float inv_t, const float *c, const float *h, float *g)
{
	bool more = false;
	int m = 0;

	clear(w->dx, (int64_t)n * t->d);
	for (int r = 0; r < n; r++) {
		int64_t at = w->at[r];

		if (c[at] != 0 || h[at] != 0)
			w->pick[m++] = r;
		if (m == w->tile || (m > 0 && r == n - 1)) {
			back_head_tile(t, w, s, w->pick, m, inv_t, c, h, g, more);
			more = true;
			m = 0;
		}
	}
	if (!more)
		clear(g + t->head.w, (int64_t)t->vocab * t->d);
}

static void back_attention(const struct transformer *t, const struct work *w, const struct rows *r,
                           int64_t at)
{
	const struct acts *a = &w->a;
	int q = t->heads * t->hd, kv = t->kv_heads * t->hd;

	for (int s = 0; s < r->n_seq; s++) {
		const float *row = a->qkv + at + r->first[s] * t->nqkv;
		float *drow = w->dqkv + r->first[s] * t->nqkv;

		t->k->attn_bwd(&(struct kern_attn_bwd){
			.f = { .q = row,
		               .k = row + q,
		               .v = row + q + kv,
		               .o = a->o + at + r->first[s] * q,
		               .stat = a->stat + at + r->first[s] * t->heads * 2,
		               .scratch = w->attn,
		               .ld = t->nqkv,
		               .ldo = q,
		               .n = (int)(r->first[s + 1] - r->first[s]),
		               .heads = t->heads,
		               .kv_heads = t->kv_heads,
		               .hd = t->hd },
			.dout = w->dh + r->first[s] * q,
			.dq = drow,
			.dk = drow + q,
			.dv = drow + q + kv,
			.ldd = t->nqkv,
		});
	}
	for (int i = 0; i < r->n; i++)
		t->k->rope(w->dqkv + (int64_t)i * t->nqkv, t->rope.p + (int64_t)r->pos[i] * t->hd,
		           t->heads + t->kv_heads, t->hd, true);
}

static void back_layer(const struct transformer *t, struct work *w, const struct rows *r, int l,
                       float *g)
{
	const struct layer *y = &t->layer[l];
	const struct acts *a = &w->a;
	const float *W = t->weight.p;
	int64_t at = l * a->stride;
	int n = r->n, d = t->d;

	/* x2 = x1 + Wdown h, h = silu(gate) up, gate_up = W n, n = norm2(x1) */
	t->k->silu_mul(w->h, a->gu + at, n, t->ffn);
	back_w(t, w, &y->down, w->dx, d, w->h, g, n, false);
	back_x(t, &y->down, w->dx, d, w->dh, n);
	t->k->silu_mul_bwd(w->dgu, w->dh, a->gu + at, n, t->ffn);
	t->k->rmsnorm_again(w->n, a->x1 + at, W + y->norm2, a->rho2 + at, n, d);
	back_w(t, w, &y->gate_up, w->dgu, y->gate_up.out, w->n, g, n, false);
	back_x(t, &y->gate_up, w->dgu, y->gate_up.out, w->dn, n);
	t->k->rmsnorm_bwd(w->dx, g + y->norm2, w->dn, a->x1 + at, W + y->norm2, a->rho2 + at, n, d);

	/* x1 = x + Wo o, o = attn(qkv), qkv = W n + b, n = norm1(x) */
	back_w(t, w, &y->o, w->dx, d, a->o + at, g, n, false);
	back_x(t, &y->o, w->dx, d, w->dh, n);
	back_attention(t, w, r, at);
	t->k->rmsnorm_again(w->n, a->x + at, W + y->norm1, a->rho1 + at, n, d);
	back_w(t, w, &y->qkv, w->dqkv, t->nqkv, w->n, g, n, false);
	back_x(t, &y->qkv, w->dqkv, t->nqkv, w->dn, n);
	t->k->rmsnorm_bwd(w->dx, g + y->norm1, w->dn, a->x + at, W + y->norm1, a->rho1 + at, n, d);
}

void transformer_backward(const struct transformer *t, struct work *w, const struct rows *r,
                          const struct seqs *s, float inv_t, const float *c, const float *h,
                          float *g)
{
	if (r->n == 0) {
		clear(g, t->n_floats);
		return;
	}
	clear_vectors(t, g);
	back_head(t, w, s, r->n, inv_t, c, h, g);
	for (int l = t->layers - 1; l >= 0; l--)
		back_layer(t, w, r, l, g);
	for (int i = 0; i < r->n; i++)
		t->k->add(g + t->embed + (int64_t)r->tok[i] * t->d, w->dx + (int64_t)i * t->d,
		          t->d);
}
