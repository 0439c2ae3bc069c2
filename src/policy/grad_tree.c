/* grad_tree.c - adds the gradients of chunks by a fixed tree, as they come.
 *
 *	level 0: chunks 0 .. n - 1; node i of the next level = node 2 i + node 2 i + 1
 *	an odd node at the end moves up unchanged
 *
 * Whoever finishes the second of two siblings adds them. Chunks begin in ascending order, so at
 * most (threads + 1) nodes of a level wait for a sibling: that bounds the buffers.
 */
#include "policy/transformer_int.h"

#include <assert.h>
#include <stdlib.h>

static int64_t nodes(int chunks, int level)
{
	return ((int64_t)chunks + (1LL << level) - 1) >> level;
}

int grad_tree_need(struct grad_tree *g, int64_t n_floats, int chunks, int threads, struct err *e)
{
	int levels = 0, bufs, slots, rc;

	while (nodes(chunks, levels) > 1)
		levels++;
	bufs = threads + (threads + 1) * levels;
	bufs = bufs < chunks ? bufs : chunks;
	slots = chunks + levels;
	rc = slab_need(&g->slab, bufs * n_floats, "gradients", e);
	if (rc < 0)
		return rc;
	if (bufs > g->cap_bufs || slots > g->cap_slots) {
		free(g->free);
		free(g->waiting);
		g->free = calloc((size_t)bufs, sizeof(*g->free));
		g->waiting = calloc((size_t)slots, sizeof(*g->waiting));
		g->cap_bufs = g->free ? bufs : 0;
		g->cap_slots = g->waiting ? slots : 0;
		if (!g->free || !g->waiting)
			return FAIL(e, ERR_NOMEM, "gradients of %d chunks", chunks);
	}
	for (int i = 0; i < bufs; i++)
		g->free[i] = g->slab.p + (bufs - 1 - i) * n_floats;
	for (int i = 0; i < slots; i++)
		g->waiting[i] = NULL;
	g->n_free = bufs;
	g->n_floats = n_floats;
	g->chunks = chunks;
	g->root = NULL;
	return 0;
}

float *grad_tree_take(struct grad_tree *g, pthread_mutex_t *lock)
{
	float *p;

	pthread_mutex_lock(lock);
	assert(g->n_free > 0);
	p = g->free[--g->n_free];
	pthread_mutex_unlock(lock);
	return p;
}

/* The sibling's buffer if it is there, else buf waits for it. slot: of the pair. */
static float *meet(struct grad_tree *g, pthread_mutex_t *lock, int64_t slot, float *buf)
{
	float *other;

	pthread_mutex_lock(lock);
	other = g->waiting[slot];
	g->waiting[slot] = other ? NULL : buf;
	pthread_mutex_unlock(lock);
	return other;
}

void grad_tree_put(struct grad_tree *g, pthread_mutex_t *lock, const struct kern *k, int chunk,
                   float *buf)
{
	int64_t i = chunk, slot0 = 0;

	for (int level = 0; nodes(g->chunks, level) > 1; level++, i /= 2) {
		int64_t n = nodes(g->chunks, level);

		if ((i ^ 1) < n) {
			float *other = meet(g, lock, slot0 + i / 2, buf);

			if (!other)
				return;
			k->add(buf, other, g->n_floats);
			pthread_mutex_lock(lock);
			g->free[g->n_free++] = other;
			pthread_mutex_unlock(lock);
		}
		slot0 += (n + 1) / 2;
	}
	g->root = buf;
}
