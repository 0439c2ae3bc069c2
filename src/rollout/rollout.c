/* rollout.c - what all rollouts share: options and the text that a policy sees. */
#include "rollout/rollout.h"

#define F(field) offsetof(struct rollout_config, field)

const struct opt rollout_opts[] = {
	{ "temperature", OPT_REAL, F(temperature), 0, 100, 0, "1.0", "", "0: greedy" },
	{ "max_tokens", OPT_INT, F(max_tokens), 1, 1 << 20, 0, "96", "tokens", "of an answer" },
	{ "batch", OPT_INT, F(batch), 1, 4096, 0, "64", "",
	  "sequences generated at the same time" },
	{ 0 },
};

int rollout_prompt(const struct policy *p, const struct task *t, int32_t *ret, int max, int *ret_n,
                   struct err *e)
{
	int n = 0;

	if (tok_encode(p->tok, t->prompt, false, ret, max, &n, e) < 0)
		return err_wrap(e, "prompt of task %.*s", (int)t->id.n, t->id.p);
	if (n == 0)
		return FAIL(e, ERR_RANGE, "the prompt of task %.*s is empty", (int)t->id.n,
		            t->id.p);
	*ret_n = n;
	return 0;
}

/* A token costs its id, mask, log-prob, entropy, place in the text and its bytes, thrice (text,
 * extracted code, program); rows that are alive cost their longest length. Outputs of tests are
 * only kept on request and have room of OUT_BYTES each.
 */
size_t rollout_arena_limit(const struct policy *p, const struct rollout_config *cfg,
                           const struct rollout_ask *ask, int n)
{
	enum { FIXED = 32 << 20, TOKEN = 128, SAMPLE = 4096, OUT_BYTES = 4096 };
	size_t len = (size_t)p->max_seq, sum = FIXED + (size_t)cfg->batch * len * TOKEN;

	for (int i = 0; i < n; i++) {
		const struct task *t = ask[i].task;
		size_t each = SAMPLE + len * TOKEN + 4 * t->prompt.n + 4 * t->preamble.n;

		each += (size_t)t->n_tests * (sizeof(struct tested) + OUT_BYTES);
		sum += each * (size_t)ask[i].samples;
	}
	return sum;
}
