/* transformer_forward.c - the one forward pass, for prefill, decoding, scoring and training.
 *
 *	x += Wo . attn(norm1(x))	x += Wdown . (silu(Wgate . n) * (Wup . n)), n = norm2(x)
 *
 * Every operation works on rows one by one, so the result for a token is the same bits whatever
 * else is in the call.
 */
#include "policy/transformer_int.h"

#include <string.h>

static void apply(const struct transformer *t, const struct linear *x, const float *a, float *c,
                  const float *res, int m)
{
	t->k->gemm(&(struct kern_gemm){
		.a = a,
		.p = x->p,
		.c = c,
		.bias = x->bias >= 0 ? t->weight.p + x->bias : NULL,
		.res = res,
		.lda = x->in,
		.ldc = kern_round16(x->out),
		.ldres = x->out,
		.m = m,
		.n = x->out,
		.k = x->in,
	});
}

static void rotate_and_store(const struct transformer *t, const struct rows *r, float *qkv, int l)
{
	int q = t->heads * t->hd, kv = t->kv_heads * t->hd;

	for (int i = 0; i < r->n; i++, qkv += t->nqkv) {
		t->k->rope(qkv, t->rope.p + (int64_t)r->pos[i] * t->hd, t->heads + t->kv_heads,
		           t->hd, false);
		if (r->block)
			t->k->kv_put(r->block[i * r->ld_block + r->pos[i] / KERN_BLOCK] +
			                     l * t->kv.layer_floats,
			             qkv + q, qkv + q + kv, t->kv_heads, t->hd, r->pos[i]);
	}
}

static void attend(const struct transformer *t, const struct work *w, const struct rows *r,
                   const float *qkv, float *o, float *stat, int l)
{
	int q = t->heads * t->hd, kv = t->kv_heads * t->hd;

	if (r->n_seq == 0) {
		t->k->attn_paged(&(struct kern_paged){
			.q = qkv,
			.o = o,
			.block = (const float *const *)r->block,
			.pos = r->pos,
			.scratch = w->attn,
			.ldq = t->nqkv,
			.ldo = q,
			.ld_block = r->ld_block,
			.off = l * t->kv.layer_floats,
			.m = r->n,
			.heads = t->heads,
			.kv_heads = t->kv_heads,
			.hd = t->hd,
		});
		return;
	}
	for (int s = 0; s < r->n_seq; s++) {
		const float *row = qkv + r->first[s] * t->nqkv;

		t->k->attn(&(struct kern_attn){
			.q = row,
			.k = row + q,
			.v = row + q + kv,
			.o = o + r->first[s] * q,
			.stat = stat + r->first[s] * t->heads * 2,
			.scratch = w->attn,
			.ld = t->nqkv,
			.ldo = q,
			.n = (int)(r->first[s + 1] - r->first[s]),
			.heads = t->heads,
			.kv_heads = t->kv_heads,
			.hd = t->hd,
		});
	}
}

void transformer_forward(const struct transformer *t, struct work *w, const struct rows *r)
{
	const struct acts *a = &w->a;
	const float *W = t->weight.p;
	float eps = (float)t->cfg.norm_eps;
	int n = r->n;

	for (int i = 0; i < n; i++)
		memcpy(a->x + (int64_t)i * t->d, W + t->embed + (int64_t)r->tok[i] * t->d,
		       (size_t)t->d * sizeof(float));
	for (int l = 0; l < t->layers; l++) {
		const struct layer *y = &t->layer[l];
		int64_t at = l * a->stride;
		float *x = a->x + at, *x1 = a->x1 + at, *qkv = a->qkv + at, *o = a->o + at;
		float *out = l + 1 < t->layers ? x + a->stride : a->x_end;

		t->k->rmsnorm(w->n, x, W + y->norm1, eps, n, t->d, a->rho1 + at);
		apply(t, &y->qkv, w->n, qkv, NULL, n);
		rotate_and_store(t, r, qkv, l);
		attend(t, w, r, qkv, o, a->stat + at, l);
		apply(t, &y->o, o, x1, x, n);
		t->k->rmsnorm(w->n, x1, W + y->norm2, eps, n, t->d, a->rho2 + at);
		apply(t, &y->gate_up, w->n, a->gu + at, NULL, n);
		t->k->silu_mul(w->h, a->gu + at, n, t->ffn);
		apply(t, &y->down, w->h, out, x1, n);
	}
}

void transformer_logits(const struct transformer *t, struct work *w, const float *x, int m)
{
	t->k->rmsnorm(w->zn, x, t->weight.p + t->norm_end, (float)t->cfg.norm_eps, m, t->d, w->rho);
	apply(t, &t->head, w->zn, w->z, NULL, m);
}

struct kern_head transformer_head(const struct transformer *t, struct work *w, int i, float inv_t)
{
	struct kern_head h = {
		.z = w->z + i * kern_round16(t->vocab), .ex = w->ex, .inv_t = inv_t, .n = t->vocab
	};

	t->k->head(&h);
	return h;
}

void transformer_head_score(const struct transformer *t, struct work *w, const struct seqs *s,
                            int n, float inv_t, float *logp, float *entropy)
{
	for (int r0 = 0, m; r0 < n; r0 += m) {
		m = n - r0 < w->tile ? n - r0 : w->tile;
		transformer_logits(t, w, w->a.x_end + (int64_t)r0 * t->d, m);
		for (int i = 0; i < m; i++) {
			struct kern_head h = transformer_head(t, w, i, inv_t);
			int64_t at = w->at[r0 + i];

			logp[at] = h.z[s->tok[at]] - h.logz;
			entropy[at] = h.entropy;
		}
	}
}
