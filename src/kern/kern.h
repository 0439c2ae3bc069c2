/* kern.h - row operations of a transformer in fp32: one table of functions for each vector width.
 *
 * Exactness. The tables (scalar, avx2, avx512) give the same bits, and the result for a row never
 * depends on the other rows of the call:
 *	- a product sum is one chain acc = fma(a_k, b_k, acc), k ascending, from +0;
 *	- any other reduction uses 16 lanes from +0, element i in lane i mod 16, i ascending, then
 *	  the tree s[l] += s[l + 8], += s[l + 4], += s[l + 2], += s[l + 1];
 *	- exp and log are our own; division and square root are those of IEEE 754.
 *
 * Every row length (n, hd, ...) is a multiple of 16, except the counts that say otherwise; rows
 * are 4-byte aligned, 64 is faster. No function allocates, or fails, or keeps state: call from any
 * thread. A thread that calls kernels first calls kern_fp_init().
 */
#ifndef KERN_KERN_H
#define KERN_KERN_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	KERN_LANES = 16,
	KERN_BLOCK = 16,     /* positions in a block of keys and values */
	KERN_DW_TOKENS = 128 /* tokens that gemm_dw takes at a time */
};

static inline int64_t kern_round16(int64_t n)
{
	return (n + 15) & ~(int64_t)15;
}

/* c (m, n) = a (m, k) . W^T [+ bias] [+ res]; W is packed. c aliases nothing. m, k: any. */
struct kern_gemm {
	const float *a, *p; /* p: pack() or pack_t() */
	float *c;
	const float *bias; /* (n,) or NULL: one addition after the chain */
	const float *res;  /* (m, n) or NULL: one addition after that */
	int64_t lda, ldc, ldres;
	int m, n, k;
};

/* dw (out, in) = dy^T x, a chain over tokens; add: continue the chain that dw holds. out: any;
 * rows of dy are readable up to the next multiple of 16.
 */
struct kern_dw {
	const float *dy, *x;
	float *dw;      /* row stride: in */
	float *scratch; /* KERN_DW_TOKENS * (in + 16) */
	int64_t ldy, ldx;
	int tokens, out, in;
	bool add;
};

/* Causal attention of one sequence, positions 0..n-1. Query head j uses KV head j / (heads /
 * kv_heads). stat (n, heads, 2) gets maximum and 1/sum of each softmax.
 */
struct kern_attn {
	const float *q, *k, *v; /* (n, heads * hd), (n, kv_heads * hd) */
	float *o, *stat;
	float *scratch;  /* kern_attn_scratch() floats */
	int64_t ld, ldo; /* row stride of q, k, v; of o */
	int n, heads, kv_heads, hd;
};

/* Gradients of the same call: f.o, f.stat as computed by it; dq, dk, dv are set. */
struct kern_attn_bwd {
	struct kern_attn f;
	const float *dout; /* row stride f.ldo */
	float *dq, *dk, *dv;
	int64_t ldd;
};

/* Attention of m rows, each at the end of its own sequence, over blocks of 16 positions. Entry b
 * of a row's list holds positions 16 b .. 16 b + 15 of all heads: head g at + g * 32 * hd,
 * keys [hd][16], then values [16][hd]. Values of positions not yet written are finite.
 */
struct kern_paged {
	const float *q;                  /* (m, heads * hd) */
	float *o;                        /* likewise */
	const float *const *block;       /* row r: block + r * ld_block */
	const int *pos;                  /* (m,) */
	float *scratch;                  /* kern_paged_scratch() floats */
	int64_t ldq, ldo, ld_block, off; /* off: from the start of an entry to this layer */
	int m, heads, kv_heads, hd;
};

/* A row of logits z (n_pad = round16(n),), scaled in place by inv_t; elements beyond n become
 * -1e30. ex (n_pad,): exp(z - m).
 */
struct kern_head {
	float *z, *ex;
	float inv_t;
	int n;
	float m, inv_sum, logz, entropy; /* results */
};

/*	m = b1 * m + (1 - b1) * g		g = scale * gradient
 *	v = b2 * v + (1 - b2) * (g * g)
 *	w = w - lr * ((m * c1) / (sqrt(v * c2) + eps) + wd * w)
 */
struct kern_adamw {
	float b1, one_b1, b2, one_b2, c1, c2, eps, lr, wd, scale;
};

struct kern {
	const char *name;
	/* Panels of 16 columns, [n / 16][k][16], n padded with zeros: round16(n) * k floats.
	 * pack: from w (n, k), row stride ld; pack_t: from w (k, n).
	 */
	void (*pack)(float *ret, const float *w, int64_t ld, int n, int k);
	void (*pack_t)(float *ret, const float *w, int64_t ld, int n, int k);
	void (*gemm)(const struct kern_gemm *g);
	void (*gemm_dw)(const struct kern_dw *g);

	/* y = (x * rho) * w with rho = 1 / sqrt(mean x^2 + eps); ret_rho (m,) or NULL. */
	void (*rmsnorm)(float *y, const float *x, const float *w, float eps, int m, int n,
	                float *ret_rho);
	void (*rmsnorm_again)(float *y, const float *x, const float *w, const float *rho, int m,
	                      int n); /* the same bits from a known rho */
	/* dx += gradient of the input; dw += gradient of w, rows ascending. */
	void (*rmsnorm_bwd)(float *dx, float *dw, const float *dy, const float *x, const float *w,
	                    const float *rho, int m, int n);

	/* Rotate n_head heads of a row, halves against each other; cs: (hd / 2) cosines, then
	 * sines. back: by the negative angle.
	 */
	void (*rope)(float *x, const float *cs, int n_head, int hd, bool back);
	void (*attn)(const struct kern_attn *a);
	void (*attn_bwd)(const struct kern_attn_bwd *a);
	void (*attn_paged)(const struct kern_paged *a);
	/* Rows of keys (kv_heads * hd) and values into an entry at position pos mod 16. */
	void (*kv_put)(float *entry, const float *k, const float *v, int kv_heads, int hd, int pos);

	/* gu (m, 2 n): gate, then up. h (m, n) = silu(gate) * up. dgu from dh. */
	void (*silu_mul)(float *h, const float *gu, int m, int n);
	void (*silu_mul_bwd)(float *dgu, const float *dh, const float *gu, int m, int n);

	void (*head)(struct kern_head *h);
	/* z becomes dL/dlogits from c = dL/dlogp(y), e = dL/dentropy. */
	void (*head_bwd)(const struct kern_head *h, int y, float c, float e);

	void (*add)(float *y, const float *x, int64_t n); /* y += x */
	void (*adamw)(const struct kern_adamw *a, float *w, float *m, float *v, const float *g,
	              int64_t n);
	double (*sum_sq)(const float *x, int64_t n); /* 16 lanes of double */
	void (*exp)(float *y, const float *x, int64_t n);
};

extern const struct kern kern_scalar, kern_avx2, kern_avx512;

/* isa: "scalar", "avx2", "avx512", or NULL: $CUPEL_ISA, else the best that this CPU has. */
int kern_pick(const char *isa, const struct kern **ret, struct err *e);
bool kern_usable(const struct kern *k); /* does this CPU have it? */

/* Round to nearest, keep subnormal numbers. Returns the old state for kern_fp_done(). */
unsigned kern_fp_init(void);
void kern_fp_done(unsigned old);

int64_t kern_attn_scratch(int n, int hd); /* enough for attn and attn_bwd */
int64_t kern_paged_scratch(int n_pos, int heads, int kv_heads, int hd);

/* Index of the largest element; the lowest of equals. */
int kern_argmax(const float *z, int n);

/* The token at fraction u in (0, 1) of the distribution ex / sum ex: blocks of 16 are summed by
 * the tree and added up in double; the first block, then the first element whose running sum
 * exceeds u times the total. An element that is zero is never drawn.
 */
int kern_draw(const float *ex, int n, double u);

/* Elementary functions that do not depend on the C library; relative error below 1e-12. */
double kern_log(double x);                                    /* x > 0, normal */
double kern_exp(double x);                                    /* |x| < 700 */
void kern_sincos(double x, double *ret_sin, double *ret_cos); /* |x| < 2^30 */

/* RoPE table (n_pos, hd): hd / 2 cosines, then sines, of pos * theta^(-2 i / hd). */
void kern_rope_table(float *ret, int n_pos, int hd, double theta);

#endif
