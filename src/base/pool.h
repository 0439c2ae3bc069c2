/* pool.h - a pool of threads that sleep while there is nothing to do: the judge shares the cores,
 * and a spinning barrier would wait for a preempted peer.
 *
 *	pool_run(pool, n, work, arg);		work(arg, i) for i = 0..n-1, the caller helps
 *
 * Items are handed out in ascending order; which thread runs an item is not fixed, so a result
 * must not depend on it. Internally locked; pool_run() is called by one thread at a time and does
 * not nest.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/err.h"

struct pool;

/* n threads in all, the caller of pool_run() included: 1 starts none. */
int pool_new(int n, struct pool **ret, struct err *e);
void pool_free(struct pool *p);
int pool_threads(const struct pool *p);
void pool_run(struct pool *p, int n, void (*work)(void *arg, int i), void *arg);

#endif
