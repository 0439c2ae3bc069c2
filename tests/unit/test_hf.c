/* config.json: the shapes of known models are read, and what is not built is refused by name. */
#include "policy/hf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/io.h"
#include "test.h"

/* Qwen2.5-0.5B as published, and Llama in the layout of transformers 5. */
static const char qwen[] =
	"{\"architectures\":[\"Qwen2ForCausalLM\"],\"attention_dropout\":0.0,"
	"\"bos_token_id\":151643,\"eos_token_id\":151645,\"hidden_act\":\"silu\","
	"\"hidden_size\":896,\"initializer_range\":0.02,\"intermediate_size\":4864,"
	"\"max_position_embeddings\":32768,\"max_window_layers\":21,\"model_type\":\"qwen2\","
	"\"num_attention_heads\":14,\"num_hidden_layers\":24,\"num_key_value_heads\":2,"
	"\"rms_norm_eps\":1e-06,\"rope_theta\":1000000.0,\"sliding_window\":32768,"
	"\"tie_word_embeddings\":true,\"torch_dtype\":\"bfloat16\",\"use_cache\":true,"
	"\"use_sliding_window\":false,\"vocab_size\":151936}";

#define LLAMA_HEAD                                                                                 \
	"{\"architectures\":[\"LlamaForCausalLM\"],\"model_type\":\"llama\",\"hidden_size\":64,"   \
	"\"num_hidden_layers\":2,\"num_attention_heads\":4,\"intermediate_size\":128,"             \
	"\"vocab_size\":512,\"max_position_embeddings\":256,\"rms_norm_eps\":1e-5"
static const char llama[] =
	LLAMA_HEAD ",\"rope_parameters\":{\"rope_theta\":500000.0,\"rope_type\":\"default\"},"
		   "\"dtype\":\"float16\",\"eos_token_id\":[7,9,7],\"head_dim\":32,"
		   "\"num_key_value_heads\":2,\"mlp_bias\":false,\"attention_bias\":false}";

static int parse(const char *text, struct hf_config *c, struct err *e)
{
	return hf_config_parse((struct str){ text, strlen(text) }, c, e);
}

static void known_shapes(void **state)
{
	struct hf_config c;
	struct err e = { 0 };

	(void)state;
	if (parse(qwen, &c, &e) < 0)
		fail_msg("%s", e.msg);
	assert_true(c.d == 896 && c.layers == 24 && c.heads == 14 && c.kv_heads == 2);
	assert_true(c.head_dim == 64 && c.ffn == 4864 && c.vocab == 151936 && c.max_seq == 32768);
	assert_true(c.rope_theta == 1e6 && c.norm_eps == 1e-6 && c.tie && c.qkv_bias);
	assert_true(c.bos == 151643 && c.eos == 151645 && c.n_eos_more == 0);
	assert_string_equal(c.dtype, "bfloat16");
	if (parse(llama, &c, &e) < 0)
		fail_msg("%s", e.msg);
	assert_true(c.head_dim == 32 && c.kv_heads == 2 && c.rope_theta == 5e5);
	assert_true(!c.tie && !c.qkv_bias && c.bos == -1);
	assert_true(c.eos == 7 && c.n_eos_more == 1 && c.eos_more[0] == 9);
	assert_string_equal(c.dtype, "float16");
	/* What may be absent. */
	assert_int_equal(parse(LLAMA_HEAD "}", &c, &e), 0);
	assert_true(c.kv_heads == 4 && c.head_dim == 16 && c.rope_theta == 1e4 && c.eos == -1);
}

static void unsupported_is_named(void **state)
{
	static const struct {
		const char *add, *want; /* a key behind the valid ones: the last one counts */
	} bad[] = {
		{ "\"model_type\":\"gemma\"", "gemma" },
		{ "\"model_type\":3", "model_type" },
		{ "\"architectures\":[\"MistralForCausalLM\"]", "architectures" },
		{ "\"architectures\":[]", "architectures" },
		{ "\"hidden_act\":\"gelu\"", "hidden_act" },
		{ "\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":32.0}", "rope_scaling" },
		{ "\"rope_scaling\":{\"type\":\"linear\"}", "rope_scaling" },
		{ "\"rope_scaling\":{\"factor\":2.0}", "rope_scaling" },
		{ "\"rope_parameters\":{\"rope_type\":\"yarn\"}", "rope_parameters" },
		{ "\"rope_parameters\":[]", "rope_parameters" },
		{ "\"attention_bias\":true", "attention_bias" },
		{ "\"mlp_bias\":true", "mlp_bias" },
		{ "\"sliding_window\":4096", "sliding_window" },
		{ "\"layer_types\":[\"full_attention\",\"sliding_attention\"]", "layer_types" },
		{ "\"quantization_config\":{\"bits\":4}", "quantization_config" },
		{ "\"no_rope_layers\":[1,0]", "no_rope_layers" },
		{ "\"partial_rotary_factor\":0.5", "partial_rotary_factor" },
		{ "\"torch_dtype\":\"int8\"", "torch_dtype" },
		{ "\"dtype\":\"float64\"", "dtype" },
		{ "\"hidden_size\":0", "hidden_size" },
		{ "\"hidden_size\":66", "hidden_size" },
		{ "\"hidden_size\":1e3", "hidden_size" },
		{ "\"hidden_size\":\"64\"", "hidden_size" },
		{ "\"hidden_size\":1000000000000", "hidden_size" },
		{ "\"num_hidden_layers\":-1", "num_hidden_layers" },
		{ "\"num_key_value_heads\":3", "num_key_value_heads" },
		{ "\"num_key_value_heads\":8", "num_key_value_heads" },
		{ "\"head_dim\":15", "head_dim" },
		{ "\"vocab_size\":99999999999999999999", "vocab_size" },
		{ "\"rms_norm_eps\":0", "rms_norm_eps" },
		{ "\"rope_theta\":-1", "rope_theta" },
		{ "\"eos_token_id\":512", "eos_token_id" },
		{ "\"eos_token_id\":[1,\"x\"]", "eos_token_id" },
		{ "\"eos_token_id\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]", "eos_token_id" },
		{ "\"tie_word_embeddings\":1", "tie_word_embeddings" },
		{ "\"hidden_size\":65536,\"intermediate_size\":1048576,\"num_hidden_layers\":1024",
		  "parameters" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct hf_config c = { .d = -7 };
		char text[1024];
		struct err e = { 0 };

		(void)snprintf(text, sizeof text, "%s,%s}", LLAMA_HEAD, bad[i].add);
		assert_true(parse(text, &c, &e) < 0);
		assert_int_equal(c.d, -7);
		if (!strstr(e.msg, bad[i].want))
			fail_msg("%s: %s", bad[i].add, e.msg);
	}
	struct hf_config c;
	struct err e;
	assert_true(parse("{}", &c, &e) < 0 && strstr(e.msg, "model_type"));
	assert_true(parse("[]", &c, &e) < 0);
}

static void files(void **state)
{
	char dir[] = "/tmp/cupel-hf-XXXXXX", path[64];
	struct hf_config c = { .d = 64,
		               .layers = 2,
		               .heads = 4,
		               .kv_heads = 2,
		               .head_dim = 16,
		               .ffn = 128,
		               .vocab = 512,
		               .max_seq = 128,
		               .rope_theta = 10000,
		               .norm_eps = 1e-5,
		               .tie = true,
		               .bos = -1,
		               .eos = 256,
		               .n_eos_more = 1,
		               .eos_more = { 3 },
		               .model_type = "llama",
		               .dtype = "float32" };
	struct hf_config back;
	AUTO_BUF text = { .max = 1 << 16 };
	struct err e = { 0 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	memset(&back, 0, sizeof back);
	if (hf_config_save(dir, &c, &e) < 0 || hf_config_load(dir, &back, &e) < 0)
		fail_msg("%s", e.msg);
	assert_true(back.d == 64 && back.layers == 2 && back.heads == 4 && back.kv_heads == 2);
	assert_true(back.head_dim == 16 && back.ffn == 128 && back.vocab == 512);
	assert_true(back.max_seq == 128 && back.rope_theta == 10000 && back.norm_eps == 1e-5);
	assert_true(back.tie && !back.qkv_bias && back.bos == -1 && back.eos == 256);
	assert_true(back.n_eos_more == 1 && back.eos_more[0] == 3);
	(void)snprintf(path, sizeof path, "%s/config.json", dir);
	assert_int_equal(io_load(path, &text, &e), 0);
	assert_true(str_has(buf_str(&text), STR("\"LlamaForCausalLM\"")));
	assert_true(str_has(buf_str(&text), STR("\"rope_theta\":10000.0"))); /* a float there */

	/* generation_config.json adds ids; a broken one is an error. */
	(void)snprintf(path, sizeof path, "%s/generation_config.json", dir);
	assert_int_equal(io_save(path, STR("{\"eos_token_id\":[256,5]}"), &e), 0);
	assert_int_equal(hf_config_load(dir, &back, &e), 0);
	assert_true(back.eos == 256 && back.n_eos_more == 2 && back.eos_more[1] == 5);
	assert_int_equal(io_save(path, STR("{\"eos_token_id\":[256,512]}"), &e), 0);
	assert_true(hf_config_load(dir, &back, &e) < 0 && strstr(e.msg, path));

	/* What could not be read back is not written. */
	c.heads = 3;
	assert_true(hf_config_save(dir, &c, &e) < 0);
	c.heads = 4;
	c.qkv_bias = true;
	assert_true(hf_config_save(dir, &c, &e) < 0);
	assert_int_equal(io_remove_tree(dir, &e), 0);
	assert_true(hf_config_load(dir, &back, &e) == ERR_SYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_shapes),
		cmocka_unit_test(unsupported_is_named),
		cmocka_unit_test(files),
	};

	return RUN(tests);
}
