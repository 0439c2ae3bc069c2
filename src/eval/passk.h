/* passk.h - pass@k: the chance that one of k answers is right, estimated from n >= k answers of
 * which c are right.
 */
#ifndef EVAL_PASSK_H
#define EVAL_PASSK_H

/* Unbiased; NaN if n < k (not to be had from so few answers). 0 <= c <= n, k >= 1. */
double passk(int n, int c, int k);

/* Mean over tasks with a confidence interval. */
struct passk_mean {
	int n_tasks;      /* tasks that could be counted: those with n >= k */
	double mean;      /* NaN if there is none */
	double low, high; /* 95 % confidence, within [0, 1]; NaN below two tasks */
};

/* n, c (n_tasks,): answers with a verdict and right answers of each task. */
struct passk_mean passk_over(const int *n, const int *c, int n_tasks, int k);

#endif
