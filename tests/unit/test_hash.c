/* Hashes: known answers, pieces, lists of views. */
#include "base/hash.h"

#include <string.h>

#include "test.h"

static void hex_of(const void *p, size_t n, char *ret)
{
	struct hash_ctx *c = hash_new();
	struct hash h;

	assert_non_null(c);
	hash_add(c, p, n);
	h = hash_end(c);
	hash_hex(&h, ret);
}

static void known_answers(void **state)
{
	char hex[2 * HASH_BYTES + 1];

	(void)state;
	hex_of("abc", 3, hex);
	assert_string_equal(hex,
	                    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	hex_of("", 0, hex);
	assert_string_equal(hex,
	                    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void pieces_make_no_difference(void **state)
{
	struct hash_ctx *c = hash_new();
	char a[65], b[65];
	struct hash h;

	(void)state;
	hash_add(c, "a", 1);
	hash_add(c, "bc", 2);
	h = hash_end(c);
	hash_hex(&h, a);
	hex_of("abc", 3, b);
	assert_string_equal(a, b);
}

static void lists_of_views_do_not_collide(void **state)
{
	struct str one[] = { STR("ab"), STR("c") }, two[] = { STR("a"), STR("bc") };
	struct str three[] = { STR("abc") }, four[] = { STR("abc"), STR("") };
	struct hash h[] = { hash_of(one, 2), hash_of(two, 2), hash_of(three, 1), hash_of(four, 2) };
	char want[65], got[65];

	(void)state;
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < i; j++)
			assert_true(memcmp(&h[i], &h[j], sizeof h[i]) != 0);
	hex_of("\3\0\0\0\0\0\0\0abc", 11, want);
	hash_hex(&h[2], got);
	assert_string_equal(got, want);
}

static void number_is_the_first_eight_bytes(void **state)
{
	(void)state;
	assert_true(hash_u64(STR("abc")) == 0xeacf018fbf1678ba);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(pieces_make_no_difference),
		cmocka_unit_test(lists_of_views_do_not_collide),
		cmocka_unit_test(number_is_the_first_eight_bytes),
	};

	return RUN(tests);
}
