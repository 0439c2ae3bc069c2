/* group_stats.h - statistics of the rewards of a group, shared by the estimators.
 *
 * Float64, two passes: mean first, then squared deviations. Samples that adv_uses() refuses are in
 * none of the numbers. Rewards that differ by no more than a tolerance are equal: their
 * advantages must be exactly 0, not rounding noise divided by a tiny deviation.
 */
#ifndef ADV_GROUP_STATS_H
#define ADV_GROUP_STATS_H

#include "traj/traj.h"

#include <stdbool.h>

#define GROUP_STATS_TOL "1e-9" /* default of the option tol */

struct group_stats {
	int n;           /* samples that count */
	double mean, ss; /* 0 where n is 0; sum of squared deviations from the mean */
	double min, max; /* 0 where n is 0 */
};

struct group_stats group_stats(const struct group *g);

/* sqrt(ss / (n - ddof)), 0 where n <= ddof. */
double group_stats_std(const struct group_stats *st, int ddof);

/* All rewards are equal up to tol (or there is none). */
bool group_stats_flat(const struct group_stats *st, double tol);

#endif
