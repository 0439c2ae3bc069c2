/* kern_t_gemm.h - template: packing and the two products of a linear layer. */
#ifndef KERN_KERN_T_GEMM_H
#define KERN_KERN_T_GEMM_H

#include "kern/kern_t_tile.h"

enum {
	GEMM_K = 384,    /* a panel of this depth stays in the first-level cache */
	GEMM_TILES = 16, /* tiles of rows that pass all panels together */
};

static void pack(float *ret, const float *w, int64_t ld, int n, int k)
{
	for (int j0 = 0; j0 < n; j0 += 16) {
		int cols = n - j0 < 16 ? n - j0 : 16;

		for (int i = 0; i < k; i++, ret += 16) {
			for (int j = 0; j < cols; j++)
				ret[j] = w[(j0 + j) * ld + i];
			for (int j = cols; j < 16; j++)
				ret[j] = 0;
		}
	}
}

static void pack_t(float *ret, const float *w, int64_t ld, int n, int k)
{
	for (int j0 = 0; j0 < n; j0 += 16) {
		int cols = n - j0 < 16 ? n - j0 : 16;

		for (int i = 0; i < k; i++, ret += 16) {
			const float *row = w + i * ld + j0;

			if (cols == 16) {
				v_store(ret, v_load(row));
				continue;
			}
			for (int j = 0; j < 16; j++)
				ret[j] = j < cols ? row[j] : 0;
		}
	}
}

/* Rows i0 .. i0 + m - 1, depth k0 .. k0 + k - 1. */
static void gemm_group(const struct kern_gemm *g, int i0, int m, int k0, int k)
{
	int panels = (int)(kern_round16(g->n) / 16);
	bool last = k0 + k == g->k;
	struct tile t = { .rs = g->lda,
		          .ks = 1,
		          .bs = 16,
		          .ldc = g->ldc,
		          .ldres = g->ldres,
		          .k = k,
		          .go_on = k0 > 0 };

	for (int j = 0, nv; j < panels; j += nv) {
		nv = tile_width(tile_height(m), panels - j);
		for (int x = 0; x < nv; x++)
			t.b[x] = g->p + ((int64_t)(j + x) * g->k + k0) * 16;
		t.bias = last && g->bias ? g->bias + 16 * j : NULL;
		for (int i = i0, mr; i < i0 + m; i += mr) {
			mr = tile_height(i0 + m - i);
			t.a = g->a + i * g->lda + k0;
			t.c = g->c + i * g->ldc + 16 * j;
			t.res = last && g->res ? g->res + i * g->ldres + 16 * j : NULL;
			tile_run(&t, mr, nv);
		}
	}
}

static void gemm(const struct kern_gemm *g)
{
	int k = g->k;

	for (int k0 = 0, kn; k0 < k; k0 += kn) {
		int parts = (k - k0 + GEMM_K - 1) / GEMM_K;

		kn = (k - k0 + parts - 1) / parts;
		for (int i = 0, m; i < g->m; i += m) {
			m = g->m - i < GEMM_TILES * KERN_MR ? g->m - i : GEMM_TILES * KERN_MR;
			gemm_group(g, i, m, k0, kn);
		}
	}
}

/* One block of tokens: both operands as panels of 16 columns, [token][16]. */
static void dw_block(const struct kern_dw *g, int t0, int tokens)
{
	float *xp = g->scratch, *yp = xp + (int64_t)tokens * g->in;
	struct tile t = {
		.rs = 1, .ks = 16, .bs = 16, .ldc = g->in, .k = tokens, .go_on = g->add || t0 > 0
	};

	pack_t(xp, g->x + t0 * g->ldx, g->ldx, g->in, tokens);
	for (int o0 = 0; o0 < g->out; o0 += 16) {
		int rows = g->out - o0 < 16 ? g->out - o0 : 16;

		pack_t(yp, g->dy + t0 * g->ldy + o0, g->ldy, 16, tokens);
		for (int j = 0, nv; j < g->in / 16; j += nv) {
			nv = tile_width(tile_height(rows), g->in / 16 - j);
			for (int x = 0; x < nv; x++)
				t.b[x] = xp + (int64_t)(j + x) * tokens * 16;
			for (int i = 0, mr; i < rows; i += mr) {
				mr = tile_height(rows - i);
				t.a = yp + i;
				t.c = g->dw + (int64_t)(o0 + i) * g->in + 16 * j;
				tile_run(&t, mr, nv);
			}
		}
	}
}

static void gemm_dw(const struct kern_dw *g)
{
	for (int t = 0, n; t < g->tokens; t += n) {
		n = g->tokens - t < KERN_DW_TOKENS ? g->tokens - t : KERN_DW_TOKENS;
		dw_block(g, t, n);
	}
}

#endif
