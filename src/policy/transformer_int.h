/* transformer_int.h - the embedded transformer, shared by its files.
 *
 * Shapes: d width, L layers, h query heads, g KV heads, hd head size, ffn, V vocabulary, T rows (a
 * row is the state of one token). Linear weights are [out, in], row-major. q, k and v of a layer
 * lie one behind the other and form one matrix [nqkv = (h + 2 g) hd, d]; so do gate and up.
 *
 * Memory is one mapping for each class: weights, packed weights, moments, positions, KV cache, and
 * what training needs, which grows to the largest chunk and then stays.
 *
 * One owner. Work for several threads is cut by rows (sampling) or chunks (training); each thread
 * borrows a workspace of its own.
 */
#ifndef POLICY_TRANSFORMER_INT_H
#define POLICY_TRANSFORMER_INT_H

#include "base/err.h"
#include "kern/kern.h"
#include "policy/hf.h"
#include "policy/policy.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Zeroed pages that cost nothing until they are touched. */
struct slab {
	float *p;
	int64_t n; /* floats */
};

int slab_new(struct slab *s, int64_t n, const char *what, struct err *e);
void slab_free(struct slab *s);
int slab_need(struct slab *s, int64_t n, const char *what, struct err *e); /* loses the contents */

enum { TENSOR_NAME = 72 };

struct tensor {
	char name[TENSOR_NAME]; /* as Hugging Face calls it */
	int64_t off, n;         /* floats, multiples of 16 */
	int rank;
	int64_t dim[2];
	double sum_sq; /* of the gradient, while a step is at work */
};

/* A matrix of one layer: offset of the weights, panels for y = x W^T and for dx = dy W. */
struct linear {
	int64_t w, bias; /* bias -1: none */
	int out, in;
	const float *p, *pt;
};

struct layer {
	int64_t norm1, norm2;
	struct linear qkv, o, gate_up, down;
};

/* Activations of T rows: what the backward pass needs. Layer l begins l * stride floats behind
 * layer 0; stride 0: nothing is kept.
 */
struct acts {
	float *x, *rho1, *qkv, *stat, *o, *x1, *rho2, *gu;
	int64_t stride;
	float *x_end; /* (T, d) behind the last layer */
};

/* One thread's memory for a pass. */
struct work {
	struct slab slab;
	struct acts a;
	float *n, *h;                     /* (T, d), (T, ffn) */
	float *dx, *dn, *dh, *dgu, *dqkv; /* backward; dh (T, ffn) or (T, h hd) */
	float *attn, *dw;                 /* scratch of kernels */
	float *z, *ex;                    /* (tile, V16), (V16,) */
	float *zn, *dzn, *rho;            /* (tile, d), (tile, d), (tile,): final norm */
	int tile;                         /* rows of the head at a time */
	int *tok, *pos, *pick; /* (T,), (T,), (tile,): rows with a gradient at the head */
	int64_t *at;           /* (T,): place in the batch of the token a row predicts */
	int64_t *first;        /* (T + 1,): first row of each sequence */
};

struct kv_seq {
	bool live;
	int len;         /* positions in the cache */
	int row;         /* of the call of sample() at work */
	int32_t pending; /* the last token: its row has not been computed yet */
	int32_t *entry;  /* (max_blocks,) -1: none */
};

/* The KV cache: a pool of entries, each of 16 positions of all layers and heads; sequences share
 * entries until one of them appends.
 */
struct kv {
	struct slab pool;
	int64_t entry_floats, layer_floats;
	int n_entries, n_free, max_blocks, max_live;
	int32_t *free; /* stack of entries */
	int32_t *refs;
	int32_t *entry;
	struct kv_seq *seq;
	float **block; /* (max_live, max_blocks) entries of the rows at work */
};

/* Gradients of chunks on their way up the tree. Under a lock while chunks are at work. */
struct grad_tree {
	struct slab slab;
	float **free;    /* stack of buffers */
	float **waiting; /* one slot for each pair of nodes, level by level */
	int n_free, cap_bufs, cap_slots, chunks;
	int64_t n_floats;
	float *root; /* when the last chunk is there */
};

struct chunk {
	int i0, i1; /* sequences */
	int rows;
};

struct transformer {
	struct policy p;
	const struct kern *k;
	struct tok *tok; /* owned; set by policy.c */
	struct hf_config cfg;
	int d, layers, heads, kv_heads, hd, ffn, vocab, nqkv;
	struct layer *layer;
	int64_t embed, norm_end;
	struct linear head;
	struct tensor *tensor; /* in order of names */
	int n_tensors;
	int64_t n_floats;
	struct slab weight, packed, moment, rope; /* moment: m, then v */
	int64_t opt_step;
	struct kv kv;

	pthread_mutex_t lock; /* workspaces, grad_tree, the first error */
	struct work *work;    /* (threads,) */
	struct work **work_free;
	int n_work_free;

	struct chunk *chunk;
	int n_chunks, cap_chunks;
	struct slab coef; /* logp, entropy, c, h of a batch */
	struct grad_tree tree;
	const float *grad; /* of the last grad(), or NULL */
};

static inline struct transformer *transformer_of(struct policy *p)
{
	return (struct transformer *)(void *)p;
}

/* Build one from a shape: weights zero, nothing packed. */
int transformer_new(const struct hf_config *c, struct pool *pool, int max_live,
                    struct transformer **ret, struct err *e);
void transformer_free(struct transformer *t);
void transformer_init_weights(struct transformer *t, uint64_t seed);
void transformer_pack(struct transformer *t); /* after every change of the weights */

/* Workspaces. need: before the work is handed out; take and put: in the work. */
int transformer_work_need(struct transformer *t, int rows, int longest, bool keep, struct err *e);
struct work *transformer_work_take(struct transformer *t);
void transformer_work_put(struct transformer *t, struct work *w);

/* Rows to compute: whole sequences from position 0, or (n_seq 0) single rows at the ends of cached
 * sequences. block: the row's list of cache entries, which get its key and value; NULL: none.
 */
struct rows {
	const int *tok, *pos; /* (n,) */
	int n, n_seq;
	const int64_t *first; /* (n_seq + 1,), in rows */
	float *const *block;  /* row r: block + r * ld_block; ld_block 0: the same for all */
	int64_t ld_block;
};

/* All layers; the result is a.x_end. */
void transformer_forward(const struct transformer *t, struct work *w, const struct rows *r);

/* Final norm (w->zn, w->rho) and logits (w->z) of rows x (m, d), m <= w->tile. */
void transformer_logits(const struct transformer *t, struct work *w, const float *x, int m);
/* Softmax of row i of that tile; the exponentials are in w->ex. */
struct kern_head transformer_head(const struct transformer *t, struct work *w, int i, float inv_t);

/* Log-prob and entropy of the target of each row, stored at logp[at], entropy[at]. */
void transformer_head_score(const struct transformer *t, struct work *w, const struct seqs *s,
                            int n, float inv_t, float *logp, float *entropy);

/* Gradient of one chunk into g (n_floats,), which is set: head, then layers, then embedding. c, h:
 * dL/dlogp and dL/dentropy at [at].
 */
void transformer_backward(const struct transformer *t, struct work *w, const struct rows *r,
                          const struct seqs *s, float inv_t, const float *c, const float *h,
                          float *g);

static inline float transformer_inv_t(double temperature)
{
	return temperature > 0 ? (float)(1 / temperature) : 1.0f;
}

int grad_tree_need(struct grad_tree *g, int64_t n_floats, int chunks, int threads, struct err *e);
float *grad_tree_take(struct grad_tree *g, pthread_mutex_t *lock);
/* buf: the gradient of a chunk; taken back. */
void grad_tree_put(struct grad_tree *g, pthread_mutex_t *lock, const struct kern *k, int chunk,
                   float *buf);

int kv_new(struct transformer *t, int max_live, struct err *e);
void kv_free(struct kv *kv);
int kv_open(struct kv *kv, int *ret, struct err *e); /* an empty sequence */
int kv_fork(struct kv *kv, int seq, int *ret, struct err *e);
void kv_release(struct kv *kv, int seq);
int kv_check(const struct kv *kv, int seq, struct err *e);
/* Make the entry of position pos exist and private to seq. */
void kv_extend(struct kv *kv, int seq, int pos);
static inline float *kv_entry(const struct kv *kv, int seq, int block)
{
	return kv->pool.p + kv->seq[seq].entry[block] * kv->entry_floats;
}

int transformer_prefill(struct policy *p, const int32_t *tok, int n, int *ret_seq, struct err *e);
int transformer_sample(struct policy *p, const struct sampling *s, const struct draw *d, int n,
                       struct drawn *ret, struct err *e);
int transformer_score(struct policy *p, const struct seqs *s, double temperature, float *ret_logp,
                      float *ret_entropy, struct err *e);
int transformer_grad(struct policy *p, const struct seqs *s, double temperature, coef_fn *coef,
                     void *arg, struct err *e);
int transformer_step(struct policy *p, const struct optim *o, struct step_stats *ret,
                     struct err *e);
int transformer_save(struct policy *p, const char *dir, bool with_optimizer, struct err *e);
int transformer_load(const char *dir, struct pool *pool, int max_live, struct transformer **ret,
                     struct err *e);

#endif
