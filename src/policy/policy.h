/* policy.h - what a policy can do: sample, score, differentiate, step. One file for each back-end:
 * src/policy/policy_<name>.c.
 *
 * Contract of the embedded transformer: the log-prob stored when a token is sampled and the one the
 * trainer computes for it with the same weights are equal bit for bit, whatever the batch, the
 * threads or the machine's vector width. Samples depend only on (seed, counter, prefix, weights).
 *
 * A policy has one owner; it uses the threads of the pool it was given.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "base/err.h"
#include "base/opt.h"
#include "base/part.h"
#include "base/pool.h"
#include "tok/tok.h"

#include <stdint.h>

struct policy; /* one struct for all back-ends: the first member is its policy_fn */

/* Sequences for score and grad: tokens of sequence i are tok[first[i] .. first[i + 1]). */
struct seqs {
	int n;
	const int32_t *tok;
	const int64_t *first; /* (n + 1,) */
};

struct sampling {
	double temperature; /* > 0; 1: as is. 0: greedy (logp is then that of temperature 1) */
	uint64_t seed;
};

/* One sequence that wants its next token. The token drawn is appended to the sequence. */
struct draw {
	int seq;
	uint32_t ctr[4]; /* (position, rollout id | purpose << 24, task hash, step) */
};

struct drawn {
	int32_t tok;
	float logp, entropy;
};

/* grad() calls this once for each run of whole sequences [i0, i1) when their forward pass is done:
 * logp and entropy are indexed like tok (the first token of a sequence has logp 0); fill c =
 * dL/dlogp and h = dL/dH likewise. May be called from any thread, for disjoint runs at the same
 * time.
 */
typedef int coef_fn(void *arg, int i0, int i1, const float *logp, const float *entropy, float *c,
                    float *h, struct err *e);

struct optim {
	double lr, beta1, beta2, eps, weight_decay, clip; /* clip 0: none */
};

struct step_stats {
	double grad_norm; /* before clipping */
	bool skipped;     /* the norm was not finite: nothing was changed */
};

/* Immutable. */
struct policy_fn {
	PART_HEAD;
	/* Sampling. A sequence is a number; its prefix KV is shared after fork(). */
	int (*prefill)(struct policy *p, const int32_t *tok, int n, int *ret_seq, struct err *e);
	int (*fork)(struct policy *p, int seq, int *ret_seq, struct err *e);
	void (*release)(struct policy *p, int seq);
	int (*sample)(struct policy *p, const struct sampling *s, const struct draw *d, int n,
	              struct drawn *ret, struct err *e);
	/* Training. temperature is that of the samples. */
	int (*score)(struct policy *p, const struct seqs *s, double temperature, float *ret_logp,
	             float *ret_entropy, struct err *e);
	int (*grad)(struct policy *p, const struct seqs *s, double temperature, coef_fn *coef,
	            void *arg, struct err *e); /* sets the gradient (does not add to an old one) */
	int (*step)(struct policy *p, const struct optim *o, struct step_stats *ret, struct err *e);
	/* Forget what the optimizer remembers: a new run on old weights begins like this. */
	void (*restart)(struct policy *p);
	/* Hugging Face layout; with_optimizer: also fp32 moments and the step counter, so that a
	 * resumed run is the same bit for bit. */
	int (*save)(struct policy *p, const char *dir, bool with_optimizer, struct err *e);
	void (*free)(struct policy *p);
};

extern const struct policy_fn *const policy_table[]; /* generated, ends with NULL */

struct policy {
	const struct policy_fn *fn;
	const struct tok *tok; /* borrowed tokenizer, owned by the policy */
	struct pool *pool;     /* borrowed */
	int64_t version;       /* raised by every step */
	int max_seq;           /* longest sequence in tokens */
	int64_t n_params;
	char describe[128]; /* for people: "llama 0.92 M parameters, avx2" */
};

/* Load a checkpoint directory (Hugging Face layout). max_live: sequences alive at a time, those
 * that are only forked from included.
 */
int policy_load(const char *dir, struct pool *pool, int max_live, struct policy **ret,
                struct err *e);

/* A new transformer with random weights (option table: policy_shape_opts). The tokenizer is taken
 * over (freed with the policy; on failure it stays the caller's).
 */
struct policy_shape {
	int64_t d, layers, heads, kv_heads, ffn, max_seq;
	double rope_theta, norm_eps;
};
extern const struct opt policy_shape_opts[];

int policy_new(const struct policy_shape *shape, struct tok *tok, uint64_t seed, struct pool *pool,
               int max_live, struct policy **ret, struct err *e);
void policy_free(struct policy *p);

#endif
