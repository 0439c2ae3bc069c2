/* fuzz_tokenizer.c - any bytes as tokenizer.json; with what is accepted, text comes back. */
#include <stdlib.h>

#include "tok/tok.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char text[] = "def f(xs):\n    return 12 + x \xff\xc3\xa9\0<|endoftext|>";
	struct str s = { text, sizeof text - 1 };
	AUTO_BUF back = { .max = 1 << 16 };
	struct tok *t = NULL;
	int32_t id[256];
	int n_ids = 0;
	struct err e;

	if (tok_parse((struct str){ (const char *)data, n }, &t, &e) < 0)
		return 0;
	if (tok_encode(t, s, false, id, 256, &n_ids, &e) == 0) {
		tok_decode(t, id, n_ids, &back, NULL);
		if (!str_eq(buf_str(&back), s))
			abort();
	}
	(void)tok_encode(t, s, true, id, 256, &n_ids, &e);
	(void)tok_special(t, "<|endoftext|>");
	tok_free(t);
	return 0;
}
