/* passk.c - unbiased pass@k. */
#include "eval/passk.h"

#include <assert.h>
#include <math.h>

/*	pass@k = 1 - C(n - c, k) / C(n, k) = 1 - prod_{i = n-c+1}^{n} (1 - k / i)
 *
 * n answers, c of them right, 1 <= k <= n; 1 if n - c < k, because then every choice of k holds a
 * right one. Source: Chen et al., arXiv 2107.03374, section 2.1.
 */
double passk(int n, int c, int k)
{
	double miss = 1;

	assert(n >= 0 && c >= 0 && c <= n && k >= 1);
	if (n < k)
		return NAN;
	if (n - c < k)
		return 1;
	for (int i = n - c + 1; i <= n; i++)
		miss *= 1 - (double)k / i;
	return 1 - miss;
}

/*	m = (1 / T) sum_j x_j		x_j pass@k of task j, j = 1..T
 *	s^2 = (1 / (T - 1)) sum_j (x_j - m)^2
 *	interval m +- 1.959964 s / sqrt(T), cut to [0, 1]
 *
 * Normal approximation over tasks: it says how much m would move with other tasks of the same
 * kind; the noise of the answers is part of s.
 */
struct passk_mean passk_over(const int *n, const int *c, int n_tasks, int k)
{
	struct passk_mean ret = { 0, NAN, NAN, NAN };
	double sum = 0, dev = 0, half;

	for (int j = 0; j < n_tasks; j++)
		if (n[j] >= k) {
			ret.n_tasks++;
			sum += passk(n[j], c[j], k);
		}
	if (ret.n_tasks == 0)
		return ret;
	ret.mean = sum / ret.n_tasks;
	if (ret.n_tasks == 1)
		return ret;
	for (int j = 0; j < n_tasks; j++)
		if (n[j] >= k) {
			double d = passk(n[j], c[j], k) - ret.mean;

			dev += d * d;
		}
	half = 1.959964 * sqrt(dev / (ret.n_tasks - 1) / ret.n_tasks);
	ret.low = fmax(0, ret.mean - half);
	ret.high = fmin(1, ret.mean + half);
	return ret;
}
