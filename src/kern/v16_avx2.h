/* v16_avx2.h - 16 floats in two AVX2 registers. The three v16 headers define the same names with
 * the same meaning, bit for bit; the templates kern_t_*.h are written over them.
 */
#ifndef KERN_V16_AVX2_H
#define KERN_V16_AVX2_H

#include <immintrin.h>

#define V static inline __attribute__((always_inline))

typedef struct {
	__m256 lo, hi;
} v16;

V v16 v_set1(float x)
{
	__m256 v = _mm256_set1_ps(x);

	return (v16){ v, v };
}

V v16 v_load(const float *p)
{
	return (v16){ _mm256_loadu_ps(p), _mm256_loadu_ps(p + 8) };
}

V void v_store(float *p, v16 a)
{
	_mm256_storeu_ps(p, a.lo);
	_mm256_storeu_ps(p + 8, a.hi);
}

V v16 v_add(v16 a, v16 b)
{
	return (v16){ _mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi) };
}

V v16 v_sub(v16 a, v16 b)
{
	return (v16){ _mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi) };
}

V v16 v_mul(v16 a, v16 b)
{
	return (v16){ _mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi) };
}

V v16 v_div(v16 a, v16 b)
{
	return (v16){ _mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi) };
}

V v16 v_sqrt(v16 a)
{
	return (v16){ _mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi) };
}

/* a * b + c, rounded once */
V v16 v_fma(v16 a, v16 b, v16 c)
{
	return (v16){ _mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi) };
}

/* a > b ? a : b, so b where either is NaN */
V v16 v_max(v16 a, v16 b)
{
	return (v16){ _mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi) };
}

/* a < b ? a : b */
V v16 v_min(v16 a, v16 b)
{
	return (v16){ _mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi) };
}

/* x < limit ? +0 : y */
V v16 v_zero_below(v16 x, v16 limit, v16 y)
{
	return (v16){ _mm256_andnot_ps(_mm256_cmp_ps(x.lo, limit.lo, _CMP_LT_OQ), y.lo),
		      _mm256_andnot_ps(_mm256_cmp_ps(x.hi, limit.hi, _CMP_LT_OQ), y.hi) };
}

/* Lanes n..15 become fill; any n >= 0. */
V v16 v_keep(v16 a, int n, float fill)
{
	__m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	__m256 f = _mm256_set1_ps(fill);
	__m256i lo = _mm256_cmpgt_epi32(_mm256_set1_epi32(n), lane);
	__m256i hi = _mm256_cmpgt_epi32(_mm256_set1_epi32(n - 8), lane);

	return (v16){ _mm256_blendv_ps(f, a.lo, _mm256_castsi256_ps(lo)),
		      _mm256_blendv_ps(f, a.hi, _mm256_castsi256_ps(hi)) };
}

/* 2^n where a is the float 1.5 * 2^23 + n, -126 <= n <= 127 */
V v16 v_pow2(v16 a)
{
	__m256i one = _mm256_set1_epi32(127 << 23);
	__m256i lo = _mm256_slli_epi32(_mm256_castps_si256(a.lo), 23);
	__m256i hi = _mm256_slli_epi32(_mm256_castps_si256(a.hi), 23);

	return (v16){ _mm256_castsi256_ps(_mm256_add_epi32(lo, one)),
		      _mm256_castsi256_ps(_mm256_add_epi32(hi, one)) };
}

/* The tree over lanes: +8, +4, +2, +1. */
V float v_sum(v16 a)
{
	__m256 s8 = _mm256_add_ps(a.lo, a.hi);
	__m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
	__m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));

	return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}

/* The same tree with v_max */
V float v_top(v16 a)
{
	__m256 s8 = _mm256_max_ps(a.lo, a.hi);
	__m128 s4 = _mm_max_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
	__m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));

	return _mm_cvtss_f32(_mm_max_ss(s2, _mm_movehdup_ps(s2)));
}

#endif
