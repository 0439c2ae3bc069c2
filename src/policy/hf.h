/* hf.h - the shape of a model as Hugging Face writes it: config.json and generation_config.json.
 *
 * Everything is read from the file. What would change the computation and is not built (another
 * architecture, scaled rotary positions, windows, quantised weights, other activations) is an error
 * that names the key; keys that do not matter for the computation are passed over.
 */
#ifndef POLICY_HF_H
#define POLICY_HF_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { HF_EOS_MORE = 15 };

struct hf_config {
	int64_t d, layers, heads, kv_heads, head_dim, ffn, vocab;
	int64_t max_seq; /* tokens */
	double rope_theta, norm_eps;
	bool tie, qkv_bias;
	int32_t bos, eos;    /* -1: none */
	char model_type[16]; /* "llama", "qwen2" */
	char dtype[16];      /* of the weights: "float32", "bfloat16", "float16"; "": float32 */
	int n_eos_more;      /* further ids that end a text, from both files */
	int32_t eos_more[HF_EOS_MORE];
};

/* dir/config.json, and dir/generation_config.json if it is there. */
int hf_config_load(const char *dir, struct hf_config *ret, struct err *e);

/* Writes both files so that transformers opens the folder as LlamaForCausalLM or Qwen2ForCausalLM.
 * What hf_config_load() would refuse is refused here.
 */
int hf_config_save(const char *dir, const struct hf_config *c, struct err *e);

/* The same from a text in memory; nothing of the file system is touched. */
int hf_config_parse(struct str text, struct hf_config *ret, struct err *e);

#endif
