/* kern_t_tile.h - template: the register tile that every product goes through.
 *
 *	c[i][16 j + l] = chain over k of fma(a[i][k], b[k][16 j + l], .)	i < mr, j < nv
 *
 * mr rows times nv vectors of accumulators stay in registers. An element is a chain of its own, so
 * the shape of the tile never changes a bit. Before: v16, KERN_MR (largest mr), TILE_SHAPES(X).
 */
#ifndef KERN_KERN_T_TILE_H
#define KERN_KERN_T_TILE_H

#include "kern/kern.h"

enum { TILE_NV = 4 };

struct tile {
	const float *a;          /* a[i][k] at a + i * rs + k * ks */
	const float *b[TILE_NV]; /* b[k][16 j ..] at b[j] + k * bs */
	float *c;                /* c[i][16 j ..] at c + i * ldc + 16 j */
	const float *bias, *res; /* NULL: none; res with row stride ldres */
	int64_t rs, ks, bs, ldc, ldres, k;
	bool go_on; /* the chains start from c, else from +0 */
};

V void tile_body(const struct tile *t, const int mr, const int nv)
{
	v16 acc[KERN_MR][TILE_NV];
	const float *a = t->a, *b[TILE_NV];
	int64_t rs = t->rs, ks = t->ks, bs = t->bs;

#pragma GCC unroll 4
	for (int j = 0; j < nv; j++)
		b[j] = t->b[j];
#pragma GCC unroll 16
	for (int i = 0; i < mr; i++)
#pragma GCC unroll 4
		for (int j = 0; j < nv; j++)
			acc[i][j] = t->go_on ? v_load(t->c + i * t->ldc + 16 * j) : v_set1(0);
	for (int64_t k = t->k; k > 0; k--) {
		v16 w[TILE_NV];

#pragma GCC unroll 4
		for (int j = 0; j < nv; j++) {
			w[j] = v_load(b[j]);
			b[j] += bs;
		}
#pragma GCC unroll 16
		for (int i = 0; i < mr; i++) {
			v16 x = v_set1(a[i * rs]);

#pragma GCC unroll 4
			for (int j = 0; j < nv; j++)
				acc[i][j] = v_fma(x, w[j], acc[i][j]);
		}
		a += ks;
	}
#pragma GCC unroll 16
	for (int i = 0; i < mr; i++) {
#pragma GCC unroll 4
		for (int j = 0; j < nv; j++) {
			v16 y = acc[i][j];

			if (t->bias)
				y = v_add(y, v_load(t->bias + 16 * j));
			if (t->res)
				y = v_add(y, v_load(t->res + i * t->ldres + 16 * j));
			v_store(t->c + i * t->ldc + 16 * j, y);
		}
	}
}

#define TILE_DEFINE(mr, nv)                                                                        \
	static __attribute__((noinline)) void tile_##mr##_##nv(const struct tile *t)               \
	{                                                                                          \
		tile_body(t, mr, nv);                                                              \
	}
#define TILE_ENTRY(mr, nv) [mr][nv] = tile_##mr##_##nv,

TILE_SHAPES(TILE_DEFINE)

static void (*const tile_fn[KERN_MR + 1][TILE_NV + 1])(const struct tile *t) = {
	TILE_SHAPES(TILE_ENTRY)
};

/* The most vectors, up to nv, that a tile of mr rows takes. */
static inline int tile_width(int mr, int nv)
{
	for (int n = nv >= 4 ? 4 : nv; n > 1; n--)
		if (tile_fn[mr][n])
			return n;
	return 1;
}

static inline void tile_run(const struct tile *t, int mr, int nv)
{
	tile_fn[mr][nv](t);
}

/* Rows of the next tile when m are left: as few tiles as can be, of nearly the same height. */
static inline int tile_height(int m)
{
	int tiles = (m + KERN_MR - 1) / KERN_MR;

	return (m + tiles - 1) / tiles;
}

#endif
