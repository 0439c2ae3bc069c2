/* kern_t_attn.h - template: causal attention of a whole sequence and its gradient, and attention
 * of single rows over blocks. Both use one softmax and one register tile, so that a row has the
 * same bits in training and in decoding.
 *
 *	s_t = (chain over i of q_i k_{t,i}) / sqrt(hd)		t = 0..p
 *	m = max s_t	e_t = exp(s_t - m)	S = sum e_t (lane t mod 16)
 *	o_i = ((chain over t of e_t v_{t,i}) + 0) * (1 / S)
 *
 * Keys behind the row (t > p, same block or same tile) have e exactly +0. They leave a chain as it
 * is, except that they may turn -0 into +0; hence the addition of +0.
 */
#ifndef KERN_KERN_T_ATTN_H
#define KERN_KERN_T_ATTN_H

#include "kern/kern_t_row.h"
#include "kern/kern_t_tile.h"

#include <string.h>

enum { ATTN_QUERIES = 128 }; /* query rows whose P and dS exist at a time in the gradient */

int64_t kern_attn_scratch(int n, int hd);

/* (n, hd) rows into blocks [hd][16], padded with zeros. */
static void transpose_blocks(float *ret, const float *x, int64_t ld, int n, int hd)
{
	for (int t0 = 0; t0 < n; t0 += 16, ret += 16 * (int64_t)hd) {
		int rows = n - t0 < 16 ? n - t0 : 16;

		for (int i = 0; i < hd; i++)
			for (int t = 0; t < 16; t++)
				ret[i * 16 + t] = t < rows ? x[(t0 + t) * ld + i] : 0;
	}
}

/* s (rows, 16 blocks), row stride ls = x (rows, hd) . blocks */
static void rows_by_blocks(float *s, int64_t ls, const float *x, int64_t ld, int rows,
                           const float *blk, int blocks, int hd)
{
	struct tile t = { .rs = ld, .ks = 1, .bs = 16, .ldc = ls, .k = hd };

	for (int i = 0, mr; i < rows; i += mr) {
		mr = tile_height(rows - i);
		t.a = x + i * ld;
		for (int b = 0, nv; b < blocks; b += nv) {
			nv = tile_width(mr, blocks - b);
			for (int j = 0; j < nv; j++)
				t.b[j] = blk + (int64_t)(b + j) * 16 * hd;
			t.c = s + i * ls + 16 * b;
			tile_run(&t, mr, nv);
		}
	}
}

/* c (rows, hd) = weights (rows, k) . x (k, hd). With k apart by ks, rows by rs. */
static void rows_by_rows(float *c, int64_t ldc, const float *a, int64_t rs, int64_t ks, int rows,
                         int k, const float *x, int64_t ld, int hd, bool go_on)
{
	struct tile t = { .rs = rs, .ks = ks, .bs = ld, .ldc = ldc, .k = k, .go_on = go_on };

	for (int i = 0, mr; i < rows; i += mr) {
		mr = tile_height(rows - i);
		t.a = a + i * rs;
		for (int j = 0, nv; j < hd / 16; j += nv) {
			nv = tile_width(mr, hd / 16 - j);
			for (int y = 0; y < nv; y++)
				t.b[y] = x + 16 * (j + y);
			t.c = c + i * ldc + 16 * j;
			tile_run(&t, mr, nv);
		}
	}
}

/* Scores of the row at position p become e; stat: m, 1 / S. */
static void softmax_row(float *s, int p, float scale, float *stat)
{
	v16 c = v_set1(scale), m = v_set1(-INFINITY), sum = v_set1(0);
	float top;

	for (int t = 0; t <= p; t += 16) {
		v16 x = v_keep(v_mul(v_load(s + t), c), p + 1 - t, -INFINITY);

		v_store(s + t, x);
		m = v_max(x, m);
	}
	top = v_top(m);
	m = v_set1(top);
	for (int t = 0; t <= p; t += 16) {
		v16 e = v_exp(v_sub(v_load(s + t), m));

		v_store(s + t, e);
		sum = v_add(sum, e);
	}
	stat[0] = top;
	stat[1] = 1.0f / v_sum(sum);
}

static void scale_row(float *o, float inv_sum, int hd)
{
	v16 c = v_set1(inv_sum), zero = v_set1(0);

	for (int i = 0; i < hd; i += 16)
		v_store(o + i, v_mul(v_add(v_load(o + i), zero), c));
}

static void attn(const struct kern_attn *a)
{
	int blocks = (a->n + 15) / 16, group = a->heads / a->kv_heads, hd = a->hd;
	float *kt = a->scratch, *s = kt + (int64_t)blocks * 16 * hd;
	float scale = 1.0f / sqrtf((float)hd);
	int64_t ls = 16 * (int64_t)blocks;

	for (int h = 0; h < a->heads; h++) {
		const float *q = a->q + h * hd, *v = a->v + h / group * hd;

		if (h % group == 0)
			transpose_blocks(kt, a->k + h / group * hd, a->ld, a->n, hd);
		for (int r0 = 0; r0 < a->n; r0 += 16) {
			int rows = a->n - r0 < 16 ? a->n - r0 : 16;
			float *o = a->o + r0 * a->ldo + h * hd;
			float *stat = a->stat + ((int64_t)r0 * a->heads + h) * 2;

			rows_by_blocks(s, ls, q + r0 * a->ld, a->ld, rows, kt, r0 / 16 + 1, hd);
			for (int r = 0; r < rows; r++)
				softmax_row(s + r * ls, r0 + r, scale, stat + 2 * r * a->heads);
			rows_by_rows(o, a->ldo, s, ls, 1, rows, r0 + rows, v, a->ld, hd, false);
			for (int r = 0; r < rows; r++)
				scale_row(o + r * a->ldo, stat[2 * r * a->heads + 1], hd);
		}
	}
}

/*	P_t = exp(s_t - m) / S	    dS_t = P_t (dP_t - D) / sqrt(hd)	D = sum_i dO_i O_i
 *
 * In place: s becomes P, dp becomes dS; row at position p.
 */
static void softmax_row_bwd(float *s, float *dp, int p, float scale, const float *stat,
                            const float *o, const float *dout, int hd)
{
	v16 c = v_set1(scale), m = v_set1(stat[0]), is = v_set1(stat[1]), D = v_set1(0);

	for (int i = 0; i < hd; i += 16)
		D = v_fma(v_load(dout + i), v_load(o + i), D);
	D = v_set1(v_sum(D));
	for (int t = 0; t <= p; t += 16) {
		v16 x = v_keep(v_mul(v_load(s + t), c), p + 1 - t, -INFINITY);
		v16 P = v_mul(v_exp(v_sub(x, m)), is);

		v_store(s + t, P);
		v_store(dp + t, v_mul(v_mul(P, v_sub(v_load(dp + t), D)), c));
	}
}

struct attn_work {
	float *kt, *vt, *P, *dS;
	int64_t ls;
};

/* Query rows q0 .. q0 + rows - 1 of one head: P, dS and dQ. */
static void attn_bwd_queries(const struct kern_attn_bwd *a, const struct attn_work *w, int h,
                             int q0, int rows)
{
	const struct kern_attn *f = &a->f;
	int hd = f->hd, g = h / (f->heads / f->kv_heads);
	float scale = 1.0f / sqrtf((float)hd);

	for (int r0 = q0; r0 < q0 + rows; r0 += 16) {
		int m = q0 + rows - r0 < 16 ? q0 + rows - r0 : 16, blocks = r0 / 16 + 1;
		const float *o = f->o + r0 * f->ldo + h * hd;
		const float *dout = a->dout + r0 * f->ldo + h * hd;
		float *P = w->P + (r0 - q0) * w->ls, *dS = w->dS + (r0 - q0) * w->ls;

		rows_by_blocks(P, w->ls, f->q + r0 * f->ld + h * hd, f->ld, m, w->kt, blocks, hd);
		rows_by_blocks(dS, w->ls, dout, f->ldo, m, w->vt, blocks, hd);
		for (int r = 0; r < m; r++)
			softmax_row_bwd(P + r * w->ls, dS + r * w->ls, r0 + r, scale,
			                f->stat + ((int64_t)(r0 + r) * f->heads + h) * 2,
			                o + r * f->ldo, dout + r * f->ldo, hd);
		rows_by_rows(a->dq + r0 * a->ldd + h * hd, a->ldd, dS, w->ls, 1, m, r0 + m,
		             f->k + g * hd, f->ld, hd, false);
	}
}

/* Their share of dK and dV: chains over query rows, begun by the first rows that see a key. */
static void attn_bwd_keys(const struct kern_attn_bwd *a, const struct attn_work *w, int h, int q0,
                          int rows)
{
	const struct kern_attn *f = &a->f;
	int hd = f->hd, group = f->heads / f->kv_heads, g = h / group, end = q0 + rows;

	for (int t0 = 0; t0 < end; t0 += 16) {
		int keys = f->n - t0 < 16 ? f->n - t0 : 16, p0 = t0 > q0 ? t0 : q0;
		int64_t at = (p0 - q0) * w->ls + t0;
		bool go_on = h % group > 0 || q0 > t0;

		rows_by_rows(a->dk + t0 * a->ldd + g * hd, a->ldd, w->dS + at, 1, w->ls, keys,
		             end - p0, f->q + p0 * f->ld + h * hd, f->ld, hd, go_on);
		rows_by_rows(a->dv + t0 * a->ldd + g * hd, a->ldd, w->P + at, 1, w->ls, keys,
		             end - p0, a->dout + p0 * f->ldo + h * hd, f->ldo, hd, go_on);
	}
}

static void attn_bwd(const struct kern_attn_bwd *a)
{
	const struct kern_attn *f = &a->f;
	int hd = f->hd, group = f->heads / f->kv_heads;
	int64_t n16 = kern_round16(f->n), queries = n16 < ATTN_QUERIES ? n16 : ATTN_QUERIES;
	struct attn_work w = { .kt = f->scratch, .ls = n16 };

	w.vt = w.kt + n16 * hd;
	w.P = w.vt + n16 * hd;
	w.dS = w.P + queries * n16;
	for (int h = 0; h < f->heads; h++) {
		if (h % group == 0) {
			transpose_blocks(w.kt, f->k + h / group * hd, f->ld, f->n, hd);
			transpose_blocks(w.vt, f->v + h / group * hd, f->ld, f->n, hd);
		}
		for (int q0 = 0; q0 < f->n; q0 += ATTN_QUERIES) {
			int rows = f->n - q0 < ATTN_QUERIES ? f->n - q0 : ATTN_QUERIES;

			attn_bwd_queries(a, &w, h, q0, rows);
			attn_bwd_keys(a, &w, h, q0, rows);
		}
	}
}

/* The query heads of one KV head, row r. */
static void paged_group(const struct kern_paged *a, int r, int g, float *s)
{
	int hd = a->hd, group = a->heads / a->kv_heads, p = a->pos[r], blocks = p / 16 + 1;
	const float *const *blk = a->block + r * a->ld_block;
	int64_t ls = 16 * (int64_t)blocks, off = a->off + (int64_t)g * 32 * hd;
	float *o = a->o + r * a->ldo + g * group * hd, stat[2];
	struct tile t = { .rs = hd, .ks = 1, .bs = 16, .ldc = ls, .k = hd };

	for (int i = 0, mr; i < group; i += mr) {
		mr = tile_height(group - i);
		t.a = a->q + r * a->ldq + (g * group + i) * hd;
		for (int b = 0, nv; b < blocks; b += nv) {
			nv = tile_width(mr, blocks - b);
			for (int j = 0; j < nv; j++)
				t.b[j] = blk[b + j] + off;
			t.c = s + i * ls + 16 * b;
			tile_run(&t, mr, nv);
		}
	}
	for (int i = 0; i < group; i++) {
		softmax_row(s + i * ls, p, 1.0f / sqrtf((float)hd), stat);
		s[group * ls + i] = stat[1];
	}
	for (int b = 0; b < blocks; b++)
		rows_by_rows(o, hd, s + 16 * b, ls, 1, group, b < blocks - 1 ? 16 : p % 16 + 1,
		             blk[b] + off + 16 * hd, hd, hd, b > 0);
	for (int i = 0; i < group; i++)
		scale_row(o + i * hd, s[group * ls + i], hd);
}

static void attn_paged(const struct kern_paged *a)
{
	for (int r = 0; r < a->m; r++)
		for (int g = 0; g < a->kv_heads; g++)
			paged_group(a, r, g, a->scratch);
}

static void kv_put(float *entry, const float *k, const float *v, int kv_heads, int hd, int pos)
{
	int t = pos % 16;

	for (int g = 0; g < kv_heads; g++, entry += 32 * (int64_t)hd, k += hd, v += hd) {
		for (int i = 0; i < hd; i++)
			entry[i * 16 + t] = k[i];
		memcpy(entry + (16 + t) * (int64_t)hd, v, (size_t)hd * sizeof *v);
	}
}

#endif
