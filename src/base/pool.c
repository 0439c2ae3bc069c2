/* pool.c - threads that sleep on a condition variable (a futex) between batches. */
#include "base/pool.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 1024 };

struct pool {
	int n_threads, n_started; /* n_threads counts the caller */
	pthread_t *thread;
	pthread_mutex_t lock;
	pthread_cond_t wake, done;
	void (*work)(void *arg, int i);
	void *arg;
	int n, next, running; /* items of the batch, next one to hand out, items in work */
	bool stop;
};

/* Take and run items until none is left; called and returns with the lock held. */
static void drain(struct pool *p)
{
	while (p->next < p->n) {
		int i = p->next++;

		p->running++;
		pthread_mutex_unlock(&p->lock);
		p->work(p->arg, i);
		pthread_mutex_lock(&p->lock);
		if (--p->running == 0 && p->next == p->n)
			pthread_cond_signal(&p->done);
	}
}

static void *thread_main(void *arg)
{
	struct pool *p = arg;

	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		drain(p);
		if (!p->stop)
			pthread_cond_wait(&p->wake, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int pool_new(int n, struct pool **ret, struct err *e)
{
	struct pool *p;
	int why = 0;

	if (n < 1 || n > MAX_THREADS)
		return FAIL(e, ERR_RANGE, "%d threads: outside 1..%d", n, MAX_THREADS);
	p = calloc(1, sizeof *p);
	if (!p)
		return FAIL(e, ERR_NOMEM, "thread pool");
	p->n_threads = n;
	p->thread = calloc((size_t)n, sizeof *p->thread);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	pthread_cond_init(&p->done, NULL);
	for (int i = 1; p->thread && why == 0 && i < n; i++) {
		why = pthread_create(&p->thread[p->n_started], NULL, thread_main, p);
		p->n_started += why == 0;
	}
	if (!p->thread || why) {
		pool_free(p);
		errno = why ? why : ENOMEM;
		return FAIL(e, ERR_SYS, "start %d threads: %s", n, strerror(errno));
	}
	*ret = p;
	return 0;
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	for (int i = 0; i < p->n_started; i++)
		pthread_join(p->thread[i], NULL);
	pthread_cond_destroy(&p->wake);
	pthread_cond_destroy(&p->done);
	pthread_mutex_destroy(&p->lock);
	free(p->thread);
	free(p);
}

int pool_threads(const struct pool *p)
{
	return p->n_threads;
}

void pool_run(struct pool *p, int n, void (*work)(void *arg, int i), void *arg)
{
	pthread_mutex_lock(&p->lock);
	assert(p->next == p->n && p->running == 0);
	p->work = work;
	p->arg = arg;
	p->n = n;
	p->next = 0;
	if (n > 1)
		pthread_cond_broadcast(&p->wake);
	drain(p);
	while (p->running)
		pthread_cond_wait(&p->done, &p->lock);
	pthread_mutex_unlock(&p->lock);
}
