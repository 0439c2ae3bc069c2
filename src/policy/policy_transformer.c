/* policy_transformer.c - the embedded transformer: Llama and Qwen2 shapes, fp32, own kernels. */
#include "policy/transformer_int.h"

#include <string.h>

static int fork_seq(struct policy *p, int seq, int *ret_seq, struct err *e)
{
	return kv_fork(&transformer_of(p)->kv, seq, ret_seq, e);
}

static void release(struct policy *p, int seq)
{
	kv_release(&transformer_of(p)->kv, seq);
}

static void restart(struct policy *p)
{
	struct transformer *t = transformer_of(p);

	memset(t->moment.p, 0, 2 * (size_t)t->n_floats * sizeof *t->moment.p);
	t->opt_step = 0;
}

static void free_policy(struct policy *p)
{
	transformer_free(transformer_of(p));
}

const struct policy_fn policy_transformer = {
	.name = "transformer",
	.doc = "decoder-only transformer on this CPU (Llama, Qwen2)",
	.source = "arXiv 2302.13971, 2407.10671",
	.prefill = transformer_prefill,
	.fork = fork_seq,
	.release = release,
	.sample = transformer_sample,
	.score = transformer_score,
	.grad = transformer_grad,
	.step = transformer_step,
	.restart = restart,
	.save = transformer_save,
	.free = free_policy,
};
