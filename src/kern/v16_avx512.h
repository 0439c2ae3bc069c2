/* v16_avx512.h - 16 floats in one AVX-512 register; see v16_avx2.h for the meanings. */
#ifndef KERN_V16_AVX512_H
#define KERN_V16_AVX512_H

#include <immintrin.h>

#define V static inline __attribute__((always_inline))

typedef __m512 v16;

V v16 v_set1(float x)
{
	return _mm512_set1_ps(x);
}

V v16 v_load(const float *p)
{
	return _mm512_loadu_ps(p);
}

V void v_store(float *p, v16 a)
{
	_mm512_storeu_ps(p, a);
}

V v16 v_add(v16 a, v16 b)
{
	return _mm512_add_ps(a, b);
}

V v16 v_sub(v16 a, v16 b)
{
	return _mm512_sub_ps(a, b);
}

V v16 v_mul(v16 a, v16 b)
{
	return _mm512_mul_ps(a, b);
}

V v16 v_div(v16 a, v16 b)
{
	return _mm512_div_ps(a, b);
}

V v16 v_sqrt(v16 a)
{
	return _mm512_sqrt_ps(a);
}

V v16 v_fma(v16 a, v16 b, v16 c)
{
	return _mm512_fmadd_ps(a, b, c);
}

V v16 v_max(v16 a, v16 b)
{
	return _mm512_max_ps(a, b);
}

V v16 v_min(v16 a, v16 b)
{
	return _mm512_min_ps(a, b);
}

V v16 v_zero_below(v16 x, v16 limit, v16 y)
{
	return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, limit, _CMP_NLT_UQ), y);
}

V v16 v_keep(v16 a, int n, float fill)
{
	__mmask16 m = n >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << n) - 1);

	return _mm512_mask_mov_ps(_mm512_set1_ps(fill), m, a);
}

V v16 v_pow2(v16 a)
{
	__m512i n = _mm512_slli_epi32(_mm512_castps_si512(a), 23);

	return _mm512_castsi512_ps(_mm512_add_epi32(n, _mm512_set1_epi32(127 << 23)));
}

V float v_sum(v16 a)
{
	__m256 s8 = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
	__m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
	__m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));

	return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}

V float v_top(v16 a)
{
	__m256 s8 = _mm256_max_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
	__m128 s4 = _mm_max_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
	__m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));

	return _mm_cvtss_f32(_mm_max_ss(s2, _mm_movehdup_ps(s2)));
}

#endif
