/* Tensor files: what is written comes back, and every way to lie in a header is refused. */
#include "policy/safetensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "test.h"

static char dir[64], path[96];

static int setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof dir, "/tmp/cupel-st-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	(void)snprintf(path, sizeof path, "%s/x.safetensors", dir);
	return 0;
}

static int teardown(void **state)
{
	struct err e;

	(void)state;
	return io_remove_tree(dir, &e);
}

static const float w[6] = { 1, -2, 3.5F, 0, 1e-40F, 6 };
static const uint16_t h[3] = { 0x3c00, 0x8001, 0xfc00 }, b[1] = { 0x3f80 };
static const struct st_tensor three[] = {
	{ "w", ST_F32, 2, { 2, 3, 1, 1 }, w, sizeof w },
	{ "b", ST_BF16, 0, { 1, 1, 1, 1 }, b, sizeof b },
	{ "h", ST_F16, 1, { 3, 1, 1, 1 }, h, sizeof h },
};

static void write_file(const char *header, uint64_t header_n, size_t data_n)
{
	AUTO_BUF f = { .max = 1 << 20 };
	struct err e;

	buf_put(&f, &header_n, 8);
	buf_puts(&f, header);
	for (size_t i = 0; i < data_n; i++)
		buf_putc(&f, (char)i);
	assert_int_equal(io_save(path, buf_str(&f), &e), 0);
}

static void comes_back(void **state)
{
	static const char *const meta[][2] = { { "format", "pt" }, { "k", "a \"b\"\n" }, { 0 } };
	struct st_file *f = NULL;
	const struct st_tensor *t;
	float x[6];
	struct err e;

	(void)state;
	assert_int_equal(st_save(path, three, 3, meta, &e), 0);
	assert_int_equal(st_open(path, &f, &e), 0);
	assert_int_equal(st_count(f), 3);
	assert_string_equal(st_at(f, 0)->name, "b");
	assert_string_equal(st_at(f, 2)->name, "w");
	assert_null(st_find(f, "W"));
	assert_string_equal(st_meta(f, "format"), "pt");
	assert_string_equal(st_meta(f, "k"), "a \"b\"\n");
	assert_null(st_meta(f, "x"));
	t = st_find(f, "w");
	assert_non_null(t);
	assert_true(t->rank == 2 && t->dim[0] == 2 && t->dim[1] == 3 && t->dim[3] == 1);
	assert_int_equal(st_numel(t), 6);
	assert_int_equal(st_to_f32(t, x, &e), 0);
	assert_memory_equal(x, w, sizeof w);
	assert_int_equal(st_to_f32(st_find(f, "h"), x, &e), 0);
	assert_true(x[0] == 1 && x[1] == -0x1p-24F && x[2] == -INFINITY);
	t = st_find(f, "b");
	assert_true(t->rank == 0 && st_numel(t) == 1);
	assert_int_equal(st_to_f32(t, x, &e), 0);
	assert_true(x[0] == 1);
	st_close(f);
}

static void header_is_padded_and_sorted(void **state)
{
	AUTO_BUF f = { .max = 1 << 20 };
	uint64_t n;
	struct err e;

	(void)state;
	assert_int_equal(st_save(path, three, 3, NULL, &e), 0);
	assert_int_equal(io_load(path, &f, &e), 0);
	memcpy(&n, f.p, 8);
	assert_int_equal(n % 8, 0);
	assert_int_equal(f.n, 8 + n + sizeof w + sizeof h + sizeof b);
	assert_true(f.p[8] == '{' && (f.p[8 + n - 1] == ' ' || f.p[8 + n - 1] == '}'));
	assert_true(
		str_starts((struct str){ f.p + 8, n },
	                   STR("{\"b\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[0,2]},"
	                       "\"h\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[2,8]},"
	                       "\"w\":")));
	assert_memory_equal(f.p + 8 + n, b, sizeof b);
}

/* Every fp16 number against its definition. */
static void half_numbers(void **state)
{
	(void)state;
	for (unsigned u = 0; u < 1 << 16; u++) {
		uint16_t half = (uint16_t)u;
		struct st_tensor t = { "t", ST_F16, 0, { 1, 1, 1, 1 }, &half, 2 };
		int exp = (int)(u >> 10 & 31), frac = (int)(u & 1023);
		float got, want = exp == 31  ? (frac ? NAN : INFINITY)
		                  : exp == 0 ? ldexpf((float)frac, -24)
		                             : ldexpf((float)(1024 + frac), exp - 25);
		struct err e;

		assert_int_equal(st_to_f32(&t, &got, &e), 0);
		assert_int_equal(!!signbit(got), u >> 15);
		assert_true(isnan(want) ? isnan(got) : fabsf(got) == want);
	}
}

static void lies_are_refused(void **state)
{
#define T(dtype, shape, at) "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" at "}"
	static const struct {
		const char *header, *want;
		size_t data;
	} bad[] = {
		{ "{\"a\":" T("F32", "[2]", "[0,8]") "}", "behind the last", 12 },
		{ "{\"a\":" T("F32", "[2]", "[0,8]") "}", "the file has", 7 },
		{ "{\"a\":" T("F32", "[2]", "[4,12]") "}", "hole", 12 },
		{ "{\"a\":" T("F32", "[2]", "[0,8]") ",\"b\":" T("F32", "[1]", "[4,8]") "}",
		  "overlaps", 8 },
		{ "{\"a\":" T("F32", "[2]", "[0,8]") ",\"b\":" T("F32", "[2]", "[0,8]") "}",
		  "overlaps", 8 },
		{ "{\"a\":" T("F32", "[2]", "[0,4]") "}", "shape and dtype", 4 },
		{ "{\"a\":" T("F32", "[2]", "[8,0]") "}", "data_offsets", 8 },
		{ "{\"a\":" T("F32", "[2]", "[0]") "}", "data_offsets", 8 },
		{ "{\"a\":" T("F32", "[2]", "[-8,0]") "}", "data_offsets", 8 },
		{ "{\"a\":" T("F32", "[2]", "[0,8.0]") "}", "data_offsets", 8 },
		{ "{\"a\":" T("F32", "[-2]", "[0,8]") "}", "shape", 8 },
		{ "{\"a\":" T("F32", "[4611686018427387904,4]", "[0,0]") "}", "shape and dtype",
		  0 },
		{ "{\"a\":" T("F32", "[99999999999999999999]", "[0,0]") "}", "shape", 0 },
		{ "{\"a\":" T("F32", "[1,1,1,1,2]", "[0,8]") "}", "dimensions", 8 },
		{ "{\"a\":" T("I64", "[1]", "[0,8]") "}", "I64", 8 },
		{ "{\"\":" T("F32", "[2]", "[0,8]") "}", "name", 8 },
		{ "{\"a\\u0000b\":" T("F32", "[2]", "[0,8]") "}", "name", 8 },
		{ "{\"a\":" T("F32", "[0]", "[0,0]") ",\"a\":" T("F32", "[0]", "[0,0]") "}",
		  "twice", 0 },
		{ "{\"a\":[1]}", "dtype", 0 },
		{ "{\"__metadata__\":{\"a\":1}}", "__metadata__", 0 },
		{ "[1]", "object", 0 },
		{ "{", "JSON", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct st_file *f = NULL;
		struct err e = { 0 };

		write_file(bad[i].header, strlen(bad[i].header), bad[i].data);
		assert_true(st_open(path, &f, &e) < 0);
		assert_null(f);
		if (!strstr(e.msg, bad[i].want) || !strstr(e.msg, path))
			fail_msg("%s: %s", bad[i].header, e.msg);
	}
	write_file("{}", 2, 0);
	struct st_file *f = NULL;
	struct err e;
	assert_int_equal(st_open(path, &f, &e), 0);
	assert_null(st_find(f, "a"));
	st_close(f);
}

static void header_length_is_bounded(void **state)
{
	static const uint64_t len[] = { 3, 1 << 20, (16 << 20) + 1, UINT64_MAX, INT64_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof len / sizeof *len; i++) {
		struct st_file *f = NULL;
		struct err e;

		write_file("{}", len[i], 0);
		assert_true(st_open(path, &f, &e) < 0);
	}
}

static void truncated_anywhere(void **state)
{
	AUTO_BUF all = { .max = 1 << 20 };
	struct st_file *f = NULL;
	struct err e;

	(void)state;
	assert_int_equal(st_save(path, three, 3, NULL, &e), 0);
	assert_int_equal(io_load(path, &all, &e), 0);
	for (size_t n = 0; n < all.n; n++) {
		assert_int_equal(io_save(path, (struct str){ all.p, n }, &e), 0);
		assert_true(st_open(path, &f, &e) < 0);
	}
	assert_true(st_open("/nonexistent/x", &f, &e) == ERR_SYS);
	assert_true(st_open(dir, &f, &e) == ERR_PARSE);
}

static void a_failed_write_keeps_the_old_file(void **state)
{
	struct st_tensor bad[] = { three[0], three[0] }, odd = three[0], none = three[0];
	struct st_file *f = NULL;
	char tmp[128];
	struct err e;

	(void)state;
	assert_int_equal(st_save(path, three, 1, NULL, &e), 0);
	assert_true(st_save(path, bad, 2, NULL, &e) < 0); /* the same name twice */
	odd.bytes--;
	assert_true(st_save(path, &odd, 1, NULL, &e) < 0);
	none.name = "a\nb";
	assert_true(st_save(path, &none, 1, NULL, &e) < 0);
	assert_int_equal(st_open(path, &f, &e), 0);
	assert_int_equal(st_count(f), 1);
	/* A mapped file stays what it was when it is replaced. */
	assert_int_equal(st_save(path, three + 1, 2, NULL, &e), 0);
	assert_memory_equal(st_at(f, 0)->data, w, sizeof w);
	st_close(f);
	(void)snprintf(tmp, sizeof tmp, "%s.tmp", path);
	assert_false(io_exists(tmp));
	assert_true(st_save("/nonexistent/x", three, 3, NULL, &e) == ERR_SYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(header_is_padded_and_sorted),
		cmocka_unit_test(half_numbers),
		cmocka_unit_test(lies_are_refused),
		cmocka_unit_test(header_length_is_bounded),
		cmocka_unit_test(truncated_anywhere),
		cmocka_unit_test(a_failed_write_keeps_the_old_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
