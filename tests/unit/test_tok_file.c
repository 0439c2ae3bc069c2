/* Tokenizer files: the same ids come out of them again, and what is not built is refused by name.
 */
#include "tok/tok.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "test.h"

static const char *const special[] = { "<|endoftext|>", "<|pad|>", NULL };

static const char code[] = "# Return the sum of the squares of xs.\ndef f(xs):\n"
			   "    total = 0\n    for x in xs:\n        total += x * x\n"
			   "    return total\n"
			   "# Return the largest of xs, or -1.\ndef f(xs):\n"
			   "    return max(xs) if xs else -1\n"
			   "# Return 2024 times n.\ndef f(n):\n    return 2024 * n\n";

static struct str of(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static struct tok *train(struct str text, int vocab)
{
	struct tok *t = NULL;
	struct err e = { 0 };

	if (tok_train(&text, 1, vocab, special, &t, &e) < 0)
		fail_msg("%s", e.msg);
	return t;
}

static char dir[64], path[96];

static int setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof dir, "/tmp/cupel-tok-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	(void)snprintf(path, sizeof path, "%s/tokenizer.json", dir);
	return 0;
}

static int teardown(void **state)
{
	struct err e;

	(void)state;
	return io_remove_tree(dir, &e);
}

/* The file of a small tokenizer, `from` replaced by `to` once. */
static void edited(struct buf *b, const char *from, const char *to)
{
	struct tok *t = train(of(code), 300);
	AUTO_BUF file = { .max = 1 << 20 };
	const char *at;
	struct err e;

	assert_int_equal(tok_save(t, path, &e), 0);
	assert_int_equal(io_load(path, &file, &e), 0);
	at = strstr(buf_cstr(&file), from);
	if (!at)
		fail_msg("no %s in the file", from);
	buf_put(b, file.p, (size_t)(at - file.p));
	buf_puts(b, to);
	buf_puts(b, at + strlen(from));
	tok_free(t);
}

static void files_give_the_same_ids(void **state)
{
	struct tok *t = train(of(code), 330), *u = NULL, *v = NULL;
	AUTO_BUF first = { .max = 1 << 20 };
	AUTO_BUF again = { .max = 1 << 20 };
	int32_t a[512], b[512];
	char side[128];
	int n = 0, m = 0;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(tok_save(t, path, &e), 0);
	(void)snprintf(side, sizeof side, "%s/tokenizer_config.json", dir);
	assert_true(io_exists(side));
	(void)snprintf(side, sizeof side, "%s/special_tokens_map.json", dir);
	assert_true(io_exists(side));
	if (tok_load(path, &u, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(tok_vocab(u), tok_vocab(t));
	assert_int_equal(tok_eos(u), 256);
	assert_int_equal(tok_encode(t, of(code), false, a, 512, &n, &e), 0);
	assert_int_equal(tok_encode(u, of(code), false, b, 512, &m, &e), 0);
	assert_int_equal(n, m);
	assert_memory_equal(a, b, (size_t)n * sizeof *a);
	assert_int_equal(io_load(path, &first, &e), 0);
	/* Training again gives the same file, and so does saving what was loaded. */
	v = train(of(code), 330);
	assert_int_equal(tok_save(v, path, &e), 0);
	assert_int_equal(io_load(path, &again, &e), 0);
	assert_true(str_eq(buf_str(&first), buf_str(&again)));
	buf_reset(&again);
	assert_int_equal(tok_save(u, path, &e), 0);
	assert_int_equal(io_load(path, &again, &e), 0);
	assert_true(str_eq(buf_str(&first), buf_str(&again)));
	tok_free(t);
	tok_free(u);
	tok_free(v);
}

static void end_of_text_is_named_by_the_config(void **state)
{
	struct tok *t = train(of(code), 300), *u = NULL;
	AUTO_BUF kept = { .max = 1 << 16 };
	static const char config[] =
		"{\"eos_token\":{\"content\":\"<|pad|>\"},\"chat_template\":1}";
	char side[128];
	struct err e = { 0 };

	(void)state;
	(void)snprintf(side, sizeof side, "%s/tokenizer_config.json", dir);
	assert_int_equal(tok_save(t, path, &e), 0);
	assert_int_equal(io_save(side, of(config), &e), 0);
	assert_int_equal(tok_load(path, &u, &e), 0);
	assert_int_equal(tok_eos(u), 257);
	assert_int_equal(io_save(side, STR("{}"), &e), 0);
	assert_int_equal(tok_save(u, path, &e), 0); /* the file read comes back */
	assert_int_equal(io_load(side, &kept, &e), 0);
	assert_true(str_is(buf_str(&kept), config));
	tok_free(u);
	u = NULL;
	assert_int_equal(io_save(side, STR("{\"eos_token\":\"<|x|>\"}"), &e), 0);
	assert_true(tok_load(path, &u, &e) < 0 && strstr(e.msg, "<|x|>"));
	assert_int_equal(io_save(side, STR("{"), &e), 0);
	assert_true(tok_load(path, &u, &e) < 0 && strstr(e.msg, "tokenizer_config.json"));
	assert_null(u);
	assert_int_equal(unlink(side), 0);
	assert_true(tok_load("/nonexistent/tokenizer.json", &u, &e) == ERR_SYS);
	tok_free(t);
}

static void unsupported_is_named(void **state)
{
	static const struct {
		const char *from, *to, *want;
	} bad[] = {
		{ "\"normalizer\":null", "\"normalizer\":{\"type\":\"NFC\"}", "NFC" },
		{ "\"truncation\":null", "\"truncation\":{}", "truncation" },
		{ "\"version\"", "\"pieces\"", "pieces" },
		{ "\"Isolated\"", "\"Removed\"", "Removed" },
		{ "\"invert\":false", "\"invert\":true", "invert" },
		{ "\"type\":\"Split\"", "\"type\":\"Metaspace\"", "Metaspace" },
		{ "\"Regex\":\"", "\"Regex\":\"(", "pattern" },
		{ "\"Regex\":\"", "\"Regex\":\"[a&&b]", "pattern" },
		{ "\"Regex\":\"", "\"Regex\":\"[[a]b]", "pattern" },
		{ "\"Regex\":\"", "\"Regex\":\"\\\\C", "pattern" },
		{ "\"add_prefix_space\":false", "\"add_prefix_space\":true", "add_prefix_space" },
		{ "\"decoder\":{\"type\":\"ByteLevel\"", "\"decoder\":{\"type\":\"BPEDecoder\"",
		  "BPEDecoder" },
		{ "\"type\":\"BPE\"", "\"type\":\"Unigram\"", "Unigram" },
		{ "\"dropout\":null", "\"dropout\":0.1", "dropout" },
		{ "\"byte_fallback\":false", "\"byte_fallback\":true", "byte_fallback" },
		{ "\"fuse_unk\":false", "\"fuse\":false", "fuse" },
		{ "\"lstrip\":false", "\"lstrip\":true", "lstrip" },
		{ "\"a\":97", "\"a\":98", "given twice" },
		{ "\"a\":97", "\"a\":-1", "vocab" },
		{ "\"a\":97", "\"a\":1048576", "vocab" },
		{ "\"a\":97", "\"a\":\"x\"", "vocab" },
		{ "\"a\":97", "\"aQ\":97", "0x61" },
		{ "\"a\":97", "\"\":97", "empty" },
		{ "\"merges\":[", "\"merges\":[\"a\",", "merges[0]" },
		{ "\"merges\":[", "\"merges\":[[\"a\",\"b\",\"c\"],", "merges[0]" },
		{ "\"merges\":[", "\"merges\":[\"a Q\",", "merges[0]" },
		{ "\"merges\":[", "\"merges\":[\"a \xe6\xbc\xa2\",", "merges[0]" },
		{ "\"merges\":[", "\"merges\":[3,", "merges[0]" },
		{ "{\"id\":256,", "{\"id\":257,", "added_tokens[0]" },
		{ "{\"id\":256,", "{\"it\":256,", "no id" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		AUTO_BUF b = { .max = 1 << 20 };
		struct tok *t = NULL;
		struct err e = { 0 };

		edited(&b, bad[i].from, bad[i].to);
		assert_true(tok_parse(buf_str(&b), &t, &e) < 0);
		assert_null(t);
		if (!strstr(e.msg, bad[i].want))
			fail_msg("%s: %s", bad[i].to, e.msg);
	}
}

static void other_layouts(void **state)
{
	static const struct {
		const char *from, *to;
	} same[] = {
		{ "\"merges\":[\"",
		  "\"merges\":[[\"\xc4\xa0\",\"\xc4\xa0\"],\"" }, /* blank blank */
		{ "\"type\":\"BPE\",", "" },
		{ "\"post_processor\":null",
		  "\"post_processor\":{\"type\":\"TemplateProcessing\"}" },
		{ "\"pretokenizers\":[", "\"pretokenizers\":[{\"type\":\"Digits\","
		                         "\"individual_digits\":true}," },
		{ "\"pretokenizers\":[", "\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":"
		                         "{\"String\":\"(x)*\"},\"behavior\":\"Isolated\"}," },
	};

	(void)state;
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		AUTO_BUF b = { .max = 1 << 20 };
		AUTO_BUF back = { .max = 1 << 16 };
		struct tok *t = NULL;
		int32_t id[512];
		int n = 0;
		struct err e = { 0 };

		edited(&b, same[i].from, same[i].to);
		if (tok_parse(buf_str(&b), &t, &e) < 0)
			fail_msg("%s: %s", same[i].to, e.msg);
		assert_int_equal(tok_encode(t, of(code), false, id, 512, &n, &e), 0);
		tok_decode(t, id, n, &back, NULL);
		assert_true(str_is(buf_str(&back), code));
		tok_free(t);
	}
}

/* A token that no merge reaches is taken whole with ignore_merges, and never a special one. */
static void whole_pieces(void **state)
{
	AUTO_BUF b = { .max = 1 << 20 };
	AUTO_BUF c = { .max = 1 << 20 };
	struct tok *t = NULL;
	int32_t id[16];
	int n = 0;
	struct err e = { 0 };

	(void)state;
	edited(&b, "\"vocab\":{", "\"vocab\":{\"zq\":900,");
	assert_int_equal(tok_parse(buf_str(&b), &t, &e), 0);
	assert_int_equal(tok_vocab(t), 901); /* holes are no tokens */
	assert_int_equal(tok_encode(t, STR("zq"), false, id, 16, &n, &e), 0);
	assert_int_equal(n, 2);
	tok_free(t);
	edited(&c, "\"ignore_merges\":false,\"vocab\":{",
	       "\"ignore_merges\":true,\"vocab\":{\"zq\":900,");
	assert_int_equal(tok_parse(buf_str(&c), &t, &e), 0);
	assert_int_equal(tok_encode(t, STR("zq"), false, id, 16, &n, &e), 0);
	assert_true(n == 1 && id[0] == 900);
	tok_free(t);
}

static void a_costly_pattern_ends(void **state)
{
	AUTO_BUF b = { .max = 1 << 20 };
	struct tok *t = NULL;
	int32_t id[64];
	int n = -5;
	struct err e = { 0 };

	(void)state;
	edited(&b, "\"Regex\":\"", "\"Regex\":\"(?:a+)+(?:a+)+$|");
	assert_int_equal(tok_parse(buf_str(&b), &t, &e), 0);
	assert_int_equal(tok_encode(t, STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
	                            false, id, 64, &n, &e),
	                 ERR_LIMIT);
	assert_int_equal(n, -5);
	tok_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_give_the_same_ids),
		cmocka_unit_test(end_of_text_is_named_by_the_config),
		cmocka_unit_test(unsupported_is_named),
		cmocka_unit_test(other_layouts),
		cmocka_unit_test(whole_pieces),
		cmocka_unit_test(a_costly_pattern_ends),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
