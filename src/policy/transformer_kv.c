/* transformer_kv.c - the KV cache: which entry of the pool holds which positions of a sequence.
 *
 * Positions are absolute: block b of a sequence always covers 16 b .. 16 b + 15, so sharing cannot
 * change a bit. fork() copies the list of entries; kv_extend() copies an entry that others see.
 * There is an entry for every block of every sequence, so the pool cannot run out first.
 */
#include "policy/transformer_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int kv_new(struct transformer *t, int max_live, struct err *e)
{
	struct kv *kv = &t->kv;
	int64_t n;

	if (max_live < 1 || max_live > 1 << 16)
		return FAIL(e, ERR_RANGE, "%d live sequences: outside 1..65536", max_live);
	kv->max_live = max_live;
	kv->max_blocks = (t->p.max_seq + KERN_BLOCK - 1) / KERN_BLOCK;
	kv->layer_floats = (int64_t)t->kv_heads * 2 * KERN_BLOCK * t->hd;
	kv->entry_floats = t->layers * kv->layer_floats;
	n = (int64_t)max_live * kv->max_blocks;
	if (n > INT32_MAX / 2)
		return FAIL(e, ERR_RANGE, "%d live sequences of %d tokens: too many", max_live,
		            t->p.max_seq);
	kv->n_entries = (int)n;
	kv->free = calloc((size_t)n, sizeof *kv->free);
	kv->refs = calloc((size_t)n, sizeof *kv->refs);
	kv->entry = calloc((size_t)n, sizeof *kv->entry);
	kv->block = calloc((size_t)n, sizeof(*kv->block));
	kv->seq = calloc((size_t)max_live, sizeof *kv->seq);
	if (!kv->free || !kv->refs || !kv->entry || !kv->block || !kv->seq)
		return FAIL(e, ERR_NOMEM, "KV cache tables");
	for (int i = 0; i < n; i++)
		kv->free[i] = (int32_t)(n - 1 - i);
	kv->n_free = (int)n;
	for (int i = 0; i < max_live; i++)
		kv->seq[i].entry = kv->entry + (int64_t)i * kv->max_blocks;
	return slab_new(&kv->pool, n * kv->entry_floats, "KV cache", e);
}

void kv_free(struct kv *kv)
{
	slab_free(&kv->pool);
	free(kv->free);
	free(kv->refs);
	free(kv->entry);
	free(kv->block);
	free(kv->seq);
	*kv = (struct kv){ 0 };
}

int kv_open(struct kv *kv, int *ret, struct err *e)
{
	for (int i = 0; i < kv->max_live; i++) {
		struct kv_seq *s = &kv->seq[i];

		if (s->live)
			continue;
		s->live = true;
		s->len = 0;
		for (int b = 0; b < kv->max_blocks; b++)
			s->entry[b] = -1;
		*ret = i;
		return 0;
	}
	return FAIL(e, ERR_LIMIT, "%d sequences are alive already", kv->max_live);
}

int kv_check(const struct kv *kv, int seq, struct err *e)
{
	if (seq < 0 || seq >= kv->max_live || !kv->seq[seq].live)
		return FAIL(e, ERR_RANGE, "no live sequence %d", seq);
	return 0;
}

int kv_fork(struct kv *kv, int seq, int *ret, struct err *e)
{
	const struct kv_seq *from;
	struct kv_seq *to;
	int id, rc = kv_check(kv, seq, e);

	if (rc < 0)
		return rc;
	rc = kv_open(kv, &id, e);
	if (rc < 0)
		return rc;
	from = &kv->seq[seq];
	to = &kv->seq[id];
	to->len = from->len;
	to->pending = from->pending;
	for (int b = 0; b * KERN_BLOCK < from->len; b++) {
		to->entry[b] = from->entry[b];
		kv->refs[to->entry[b]]++;
	}
	*ret = id;
	return 0;
}

static void drop(struct kv *kv, int32_t entry)
{
	assert(kv->refs[entry] > 0);
	if (--kv->refs[entry] == 0)
		kv->free[kv->n_free++] = entry;
}

void kv_release(struct kv *kv, int seq)
{
	struct kv_seq *s = &kv->seq[seq];

	assert(seq >= 0 && seq < kv->max_live && s->live);
	for (int b = 0; b < kv->max_blocks; b++)
		if (s->entry[b] >= 0)
			drop(kv, s->entry[b]);
	s->live = false;
}

void kv_extend(struct kv *kv, int seq, int pos)
{
	int32_t *entry = &kv->seq[seq].entry[pos / KERN_BLOCK], old = *entry;
	size_t bytes = (size_t)kv->entry_floats * sizeof(float);
	float *p;

	if (old >= 0 && kv->refs[old] == 1)
		return;
	assert(kv->n_free > 0);
	*entry = kv->free[--kv->n_free];
	kv->refs[*entry] = 1;
	p = kv->pool.p + *entry * kv->entry_floats;
	if (old < 0) {
		memset(p, 0, bytes);
		return;
	}
	memcpy(p, kv->pool.p + old * kv->entry_floats, bytes);
	drop(kv, old);
}
