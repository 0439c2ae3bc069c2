/* mask_truncated.c - do not train on answers that were cut off at the length limit. */
#include "loss/loss.h"

static int apply(const void *cfg, const struct loss_in *in, int i0, int i1, float *ret_weight,
                 struct err *e)
{
	(void)cfg;
	(void)e;
	for (int i = i0; i < i1; i++) {
		bool cut = batch_sample(in->b, i)->finish == FINISH_LENGTH;

		for (int64_t t = in->b->first[i]; cut && t < in->b->first[i + 1]; t++)
			ret_weight[t] = 0;
	}
	return 0;
}

const struct mask mask_truncated = {
	.name = "truncated",
	.doc = "drop samples that ended at the length limit",
	.source = "DAPO, arXiv 2503.14476; TRL mask_truncated_completions",
	.apply = apply,
	.needs_logp = false,
};
