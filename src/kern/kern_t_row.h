/* kern_t_row.h - template: element-wise rows, norms, rotary positions, AdamW. */
#ifndef KERN_KERN_T_ROW_H
#define KERN_KERN_T_ROW_H

#include "kern/kern.h"

#include <math.h>

/*	n = rint(x / ln 2), f = x - n ln 2 in two steps, 2^n (1 + f + f^2 p(f))
 *
 * Below -87.33654 (the smallest normal result): +0. Above 88: that of 88. NaN stays NaN. Adding
 * 1.5 * 2^23 rounds to an integer and leaves it in the low bits. At most 1.02 ulp off.
 */
V v16 v_exp(v16 x0)
{
	const v16 magic = v_set1(12582912.0f);
	v16 x = v_min(v_set1(88.0f), x0);
	v16 t = v_add(v_mul(x, v_set1(1.44269504f)), magic);
	v16 minus_n = v_sub(magic, t);
	v16 f = v_fma(minus_n, v_set1(0.693145752f), x);
	v16 p = v_set1(1.9875691500e-4f), y;

	f = v_fma(minus_n, v_set1(1.42860677e-6f), f);
	p = v_fma(p, f, v_set1(1.3981999507e-3f));
	p = v_fma(p, f, v_set1(8.3334519073e-3f));
	p = v_fma(p, f, v_set1(4.1665795894e-2f));
	p = v_fma(p, f, v_set1(1.6666665459e-1f));
	p = v_fma(p, f, v_set1(5.0000001201e-1f));
	y = v_add(v_fma(p, v_mul(f, f), f), v_set1(1.0f));
	return v_zero_below(x0, v_set1(-87.33654f), v_mul(y, v_pow2(t)));
}

static void exp_row(float *y, const float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i += 16)
		v_store(y + i, v_exp(v_load(x + i)));
}

static void add(float *y, const float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i += 16)
		v_store(y + i, v_add(v_load(y + i), v_load(x + i)));
}

static double sum_sq(const float *x, int64_t n)
{
	double s[16] = { 0 };

	for (int64_t i = 0; i < n; i += 16)
		for (int l = 0; l < 16; l++)
			s[l] += (double)x[i + l] * x[i + l];
	for (int m = 8; m > 0; m /= 2)
		for (int l = 0; l < m; l++)
			s[l] += s[l + m];
	return s[0];
}

static void rmsnorm_again(float *y, const float *x, const float *w, const float *rho, int m, int n)
{
	for (int r = 0; r < m; r++, x += n, y += n) {
		v16 s = v_set1(rho[r]);

		for (int i = 0; i < n; i += 16)
			v_store(y + i, v_mul(v_mul(v_load(x + i), s), v_load(w + i)));
	}
}

static void rmsnorm(float *y, const float *x, const float *w, float eps, int m, int n,
                    float *ret_rho)
{
	for (int r = 0; r < m; r++, x += n, y += n) {
		v16 ss = v_set1(0);
		float rho;

		for (int i = 0; i < n; i += 16) {
			v16 a = v_load(x + i);

			ss = v_fma(a, a, ss);
		}
		rho = 1.0f / sqrtf(v_sum(ss) / (float)n + eps);
		rmsnorm_again(y, x, w, &rho, 1, n);
		if (ret_rho)
			ret_rho[r] = rho;
	}
}

/*	D = sum_j dy_j w_j x_j		dx_i += rho dy_i w_i - x_i rho^3 D / n
 *					dw_i += dy_i x_i rho
 */
static void rmsnorm_bwd(float *dx, float *dw, const float *dy, const float *x, const float *w,
                        const float *rho, int m, int n)
{
	for (int r = 0; r < m; r++, x += n, dx += n, dy += n) {
		v16 D = v_set1(0), s = v_set1(rho[r]), c;

		for (int i = 0; i < n; i += 16)
			D = v_fma(v_mul(v_load(dy + i), v_load(w + i)), v_load(x + i), D);
		c = v_set1(rho[r] * rho[r] * rho[r] * v_sum(D) / (float)n);
		for (int i = 0; i < n; i += 16) {
			v16 a = v_load(x + i), g = v_load(dy + i);
			v16 d = v_sub(v_mul(s, v_mul(g, v_load(w + i))), v_mul(a, c));

			v_store(dx + i, v_add(v_load(dx + i), d));
			v_store(dw + i, v_fma(g, v_mul(a, s), v_load(dw + i)));
		}
	}
}

/*	lo' = lo cos - hi sin		hi' = hi cos + lo sin */
static void rope(float *x, const float *cs, int n_head, int hd, bool back)
{
	int half = hd / 2;

	for (int h = 0; h < n_head; h++, x += hd) {
		for (int i = 0; i < half; i++) {
			float lo = x[i], hi = x[i + half], c = cs[i];
			float s = back ? -cs[half + i] : cs[half + i];

			x[i] = __builtin_fmaf(lo, c, -(hi * s));
			x[i + half] = __builtin_fmaf(hi, c, lo * s);
		}
	}
}

/*	h = (a / (1 + exp(-a))) u */
static void silu_mul(float *h, const float *gu, int m, int n)
{
	v16 one = v_set1(1), zero = v_set1(0);

	for (int r = 0; r < m; r++, h += n, gu += 2 * (int64_t)n) {
		for (int i = 0; i < n; i += 16) {
			v16 a = v_load(gu + i);
			v16 s = v_div(a, v_add(one, v_exp(v_sub(zero, a))));

			v_store(h + i, v_mul(s, v_load(gu + n + i)));
		}
	}
}

/*	sg = 1 / (1 + exp(-a))		da = dh u sg (1 + a (1 - sg))		du = dh a sg */
static void silu_mul_bwd(float *dgu, const float *dh, const float *gu, int m, int n)
{
	v16 one = v_set1(1), zero = v_set1(0);

	for (int r = 0; r < m; r++, dh += n, gu += 2 * (int64_t)n, dgu += 2 * (int64_t)n) {
		for (int i = 0; i < n; i += 16) {
			v16 a = v_load(gu + i), d = v_load(dh + i);
			v16 sg = v_div(one, v_add(one, v_exp(v_sub(zero, a))));
			v16 t = v_fma(a, v_sub(one, sg), one);

			v_store(dgu + i, v_mul(v_mul(v_mul(d, v_load(gu + n + i)), sg), t));
			v_store(dgu + n + i, v_mul(v_mul(d, a), sg));
		}
	}
}

static void adamw(const struct kern_adamw *p, float *w, float *m, float *v, const float *g,
                  int64_t n)
{
	v16 b1 = v_set1(p->b1), b2 = v_set1(p->b2), c1 = v_set1(p->c1), c2 = v_set1(p->c2);
	v16 eps = v_set1(p->eps), lr = v_set1(p->lr), wd = v_set1(p->wd);

	for (int64_t i = 0; i < n; i += 16) {
		v16 x = v_mul(v_load(g + i), v_set1(p->scale)), w0 = v_load(w + i), d;
		v16 m1 = v_add(v_mul(b1, v_load(m + i)), v_mul(v_set1(p->one_b1), x));
		v16 v1 = v_add(v_mul(b2, v_load(v + i)), v_mul(v_set1(p->one_b2), v_mul(x, x)));

		d = v_div(v_mul(m1, c1), v_add(v_sqrt(v_mul(v1, c2)), eps));
		v_store(w + i, v_sub(w0, v_mul(lr, v_add(d, v_mul(wd, w0)))));
		v_store(m + i, m1);
		v_store(v + i, v1);
	}
}

/* Scaled logits, maximum, exponentials, log of the sum, entropy. */
static void head(struct kern_head *h)
{
	v16 m = v_set1(-INFINITY), s = v_set1(0), hz = v_set1(0), c = v_set1(h->inv_t);
	int n = (int)kern_round16(h->n);

	for (int i = 0; i < n; i += 16) {
		v16 z = v_keep(v_mul(v_load(h->z + i), c), h->n - i, -1e30f);

		v_store(h->z + i, z);
		m = v_max(z, m);
	}
	h->m = v_top(m);
	m = v_set1(h->m);
	for (int i = 0; i < n; i += 16) {
		v16 x = v_exp(v_sub(v_load(h->z + i), m));

		v_store(h->ex + i, x);
		s = v_add(s, x);
	}
	h->logz = h->m + (float)kern_log((double)v_sum(s));
	h->inv_sum = 1.0f / v_sum(s);
	c = v_set1(h->inv_sum);
	for (int i = 0; i < n; i += 16)
		hz = v_fma(v_mul(v_load(h->ex + i), c), v_load(h->z + i), hz);
	h->entropy = h->logz - v_sum(hz);
}

/*	dz_v = (c (1[v = y] - p_v) - e p_v (log p_v + H)) / T
 *	     = (c 1[v = y] - p_v w_v) / T,  w_v = e ((z_v - logZ) + H) + c
 */
static void head_bwd(const struct kern_head *h, int y, float c, float e)
{
	v16 logz = v_set1(h->logz), H = v_set1(h->entropy), inv_t = v_set1(h->inv_t);
	v16 is = v_set1(h->inv_sum), vc = v_set1(c), ve = v_set1(e), zero = v_set1(0);
	float p = h->ex[y] * h->inv_sum;
	float w = __builtin_fmaf(e, (h->z[y] - h->logz) + h->entropy, c);

	for (int i = 0; i < h->n; i += 16) {
		v16 t = v_add(v_sub(v_load(h->z + i), logz), H);
		v16 pw = v_mul(v_mul(v_load(h->ex + i), is), v_fma(ve, t, vc));

		v_store(h->z + i, v_mul(v_sub(zero, pw), inv_t));
	}
	h->z[y] = (c - p * w) * h->inv_t;
}

#endif
