/* kern.c - choice of the vector width, and what needs no vectors: sampling, double mathematics. */
#include "kern/kern.h"

#include <immintrin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool kern_usable(const struct kern *k)
{
	__builtin_cpu_init();
	if (k == &kern_avx2)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
	if (k == &kern_avx512)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
	return true;
}

int kern_pick(const char *isa, const struct kern **ret, struct err *e)
{
	const struct kern *all[] = { &kern_avx512, &kern_avx2, &kern_scalar };

	if (!isa)
		isa = getenv("CUPEL_ISA");
	for (int i = 0; i < 3; i++) {
		if (isa && *isa && strcmp(isa, all[i]->name) != 0)
			continue;
		if (kern_usable(all[i])) {
			*ret = all[i];
			return 0;
		}
		if (isa && *isa)
			return FAIL(e, ERR_RANGE, "CUPEL_ISA: this CPU has no %s", isa);
	}
	return FAIL(e, ERR_RANGE, "CUPEL_ISA: unknown '%s' (scalar, avx2, avx512)", isa);
}

unsigned kern_fp_init(void)
{
	unsigned old = _mm_getcsr();

	_mm_setcsr(0x1f80); /* all exceptions masked, to nearest, subnormals kept */
	return old;
}

void kern_fp_done(unsigned old)
{
	_mm_setcsr(old);
}

int64_t kern_attn_scratch(int n, int hd)
{
	int64_t n16 = kern_round16(n), queries = n16 < 128 ? n16 : 128;

	return 2 * n16 * hd + 2 * queries * n16;
}

int64_t kern_paged_scratch(int n_pos, int heads, int kv_heads, int hd)
{
	(void)hd;
	return (kern_round16(n_pos) + 1) * (heads / kv_heads);
}

int kern_argmax(const float *z, int n)
{
	int best = 0;

	for (int i = 1; i < n; i++)
		if (z[i] > z[best])
			best = i;
	return best;
}

/* The tree over lanes of one block; beyond n: +0. */
static float block_sum(const float *ex, int n)
{
	float s[16];

	for (int l = 0; l < 16; l++)
		s[l] = l < n ? ex[l] : 0;
	for (int m = 8; m > 0; m /= 2)
		for (int l = 0; l < m; l++)
			s[l] += s[l + m];
	return s[0];
}

int kern_draw(const float *ex, int n, double u)
{
	double total = 0, run = 0, target;
	int last = 0, i;

	for (i = 0; i < n; i += 16)
		total += block_sum(ex + i, n - i);
	target = u * total;
	for (i = 0; i < n; i += 16) {
		double next = run + block_sum(ex + i, n - i);

		if (next > target)
			break;
		run = next;
	}
	for (int end = i + 16; i < n && i < end; i++) {
		run += ex[i];
		if (ex[i] > 0)
			last = i;
		if (run > target && ex[i] > 0)
			return i;
	}
	return last; /* one by one the block sums up to less: its last possible token */
}

/*	x = 2^e m, m in [sqrt(1/2), sqrt(2)), f = (m - 1) / (m + 1)
 *	log x = 2 (f + f^3 / 3 + f^5 / 5 + ...) + e log 2
 */
double kern_log(double x)
{
	uint64_t bits;
	int64_t e;
	double m, f, g, s = 0;

	if (!(x > 0))
		return x < 0 ? NAN : x == 0 ? -INFINITY : x;
	memcpy(&bits, &x, sizeof bits);
	e = (int64_t)(bits >> 52) - 1023;
	bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
	memcpy(&m, &bits, sizeof m);
	if (m >= 1.4142135623730951) {
		m *= 0.5;
		e++;
	}
	f = (m - 1) / (m + 1);
	g = f * f;
	for (int i = 15; i >= 1; i -= 2)
		s = s * g + 1.0 / i;
	return 2 * (f * s) + (double)e * 0.6931471805599453;
}

double kern_exp(double x)
{
	double n = floor(x * 1.4426950408889634 + 0.5), s = 1, p;
	double f = (x - n * 0.693147180369123816490) - n * 1.90821492927058770002e-10;
	uint64_t bits = (uint64_t)((int64_t)n + 1023) << 52;

	for (int i = 14; i >= 1; i--)
		s = s * f / i + 1;
	memcpy(&p, &bits, sizeof p);
	return s * p;
}

void kern_sincos(double x, double *ret_sin, double *ret_cos)
{
	double n = floor(x * 0.6366197723675814 + 0.5);
	/* pi / 2 in three pieces of 33 bits: exact products up to 2^20 quarter turns */
	double r = ((x - n * 1.57079632673412561417) - n * 6.07710050630396597660e-11) -
	           n * 2.02226624879595063154e-21;
	double g = r * r, s = 1, c = 1;

	for (int i = 17; i >= 3; i -= 2)
		s = 1 - s * g / (i * (i - 1));
	for (int i = 16; i >= 2; i -= 2)
		c = 1 - c * g / (i * (i - 1));
	s *= r;
	switch ((int64_t)n & 3) {
	case 0:
		*ret_sin = s, *ret_cos = c;
		break;
	case 1:
		*ret_sin = c, *ret_cos = -s;
		break;
	case 2:
		*ret_sin = -s, *ret_cos = -c;
		break;
	default:
		*ret_sin = -c, *ret_cos = s;
		break;
	}
}

void kern_rope_table(float *ret, int n_pos, int hd, double theta)
{
	double step = kern_log(theta) * -2 / hd;

	for (int p = 0; p < n_pos; p++, ret += hd) {
		for (int i = 0; i < hd / 2; i++) {
			double s, c;

			kern_sincos(p * kern_exp(step * i), &s, &c);
			ret[i] = (float)c;
			ret[hd / 2 + i] = (float)s;
		}
	}
}
