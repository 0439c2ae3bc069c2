/* sip: the same hashes as libcrypto, whole and in pieces. */
#include "base/sip.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <string.h>

#include "test.h"

static sip_t by_libcrypto(const struct sip_key *key, const void *p, size_t n)
{
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "SIPHASH", NULL);
	EVP_MAC_CTX *c = EVP_MAC_CTX_new(mac);
	unsigned size = sizeof(sip_t);
	OSSL_PARAM param[] = { OSSL_PARAM_construct_uint(OSSL_MAC_PARAM_SIZE, &size),
		               OSSL_PARAM_construct_end() };
	size_t len = 0;
	sip_t h = 0;

	assert_true(EVP_MAC_init(c, (const unsigned char *)key, sizeof *key, param) == 1);
	assert_true(EVP_MAC_update(c, p, n) == 1);
	assert_true(EVP_MAC_final(c, (unsigned char *)&h, &len, sizeof h) == 1);
	assert_true(len == sizeof h);
	EVP_MAC_CTX_free(c);
	EVP_MAC_free(mac);
	return h;
}

static void every_length(void **state)
{
	unsigned char text[80];
	struct sip_key key;
	struct err e;

	(void)state;
	assert_int_equal(sip_key_random(&key, &e), 0);
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (unsigned char)(i * 37 + 200);
	for (size_t n = 0; n <= sizeof text; n++) {
		sip_t want = by_libcrypto(&key, text, n);

		for (size_t cut = 0; cut <= n; cut++) {
			struct sip s = sip_start(&key);

			sip_add(&s, text, cut / 2);
			sip_add(&s, text + cut / 2, cut - cut / 2);
			sip_add(&s, text + cut, n - cut);
			assert_true(sip_end(&s) == want);
		}
	}
}

static void keys_differ(void **state)
{
	struct sip_key a, b;
	struct err e;

	(void)state;
	assert_int_equal(sip_key_random(&a, &e), 0);
	assert_int_equal(sip_key_random(&b, &e), 0);
	assert_true(memcmp(&a, &b, sizeof a) != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_length),
		cmocka_unit_test(keys_differ),
	};

	return RUN(tests);
}
