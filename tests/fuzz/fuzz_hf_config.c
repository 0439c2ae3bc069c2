/* fuzz_hf_config.c - any bytes as config.json; what is accepted keeps its promises. */
#include "policy/hf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct hf_config c;
	struct err e;

	if (hf_config_parse((struct str){ (const char *)data, n }, &c, &e) < 0)
		return 0;
	if (c.d < 1 || c.layers < 1 || c.kv_heads < 1 || c.heads % c.kv_heads || c.head_dim % 2 ||
	    c.vocab < 1 || c.eos >= c.vocab || c.bos >= c.vocab)
		abort();
	return 0;
}
