/* v16_scalar.h - 16 floats in an array: the reference; see v16_avx2.h for the meanings. */
#ifndef KERN_V16_SCALAR_H
#define KERN_V16_SCALAR_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Sanitizers check every lane: in one function that is minutes of compiling. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define V static __attribute__((noinline, unused))
#else
#define V static inline
#endif

typedef struct {
	float f[16];
} v16;

#define LANES(expr)                                                                                \
	v16 r;                                                                                     \
	for (int l = 0; l < 16; l++)                                                               \
		r.f[l] = (expr);                                                                   \
	return r

V v16 v_set1(float x)
{
	LANES(x);
}

V v16 v_load(const float *p)
{
	LANES(p[l]);
}

V void v_store(float *p, v16 a)
{
	memcpy(p, a.f, sizeof a.f);
}

V v16 v_add(v16 a, v16 b)
{
	LANES(a.f[l] + b.f[l]);
}

V v16 v_sub(v16 a, v16 b)
{
	LANES(a.f[l] - b.f[l]);
}

V v16 v_mul(v16 a, v16 b)
{
	LANES(a.f[l] * b.f[l]);
}

V v16 v_div(v16 a, v16 b)
{
	LANES(a.f[l] / b.f[l]);
}

V v16 v_sqrt(v16 a)
{
	LANES(sqrtf(a.f[l]));
}

V v16 v_fma(v16 a, v16 b, v16 c)
{
	LANES(fmaf(a.f[l], b.f[l], c.f[l]));
}

V v16 v_max(v16 a, v16 b)
{
	LANES(a.f[l] > b.f[l] ? a.f[l] : b.f[l]);
}

V v16 v_min(v16 a, v16 b)
{
	LANES(a.f[l] < b.f[l] ? a.f[l] : b.f[l]);
}

V v16 v_zero_below(v16 x, v16 limit, v16 y)
{
	LANES(x.f[l] < limit.f[l] ? 0.0f : y.f[l]);
}

V v16 v_keep(v16 a, int n, float fill)
{
	LANES(l < n ? a.f[l] : fill);
}

V v16 v_pow2(v16 a)
{
	uint32_t u[16];

	memcpy(u, a.f, sizeof u);
	for (int l = 0; l < 16; l++)
		u[l] = (u[l] << 23) + (127u << 23);
	memcpy(a.f, u, sizeof u);
	return a;
}

V float v_sum(v16 a)
{
	for (int n = 8; n > 0; n /= 2)
		for (int l = 0; l < n; l++)
			a.f[l] += a.f[l + n];
	return a.f[0];
}

V float v_top(v16 a)
{
	for (int n = 8; n > 0; n /= 2)
		for (int l = 0; l < n; l++)
			a.f[l] = a.f[l] > a.f[l + n] ? a.f[l] : a.f[l + n];
	return a.f[0];
}

#endif
