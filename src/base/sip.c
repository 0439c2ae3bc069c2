/* sip.c - SipHash-2-4-128. */
#include "base/sip.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

int sip_key_random(struct sip_key *ret, struct err *e)
{
	struct sip_key key;
	ssize_t n;

	do
		n = getrandom(&key, sizeof key, 0);
	while (n < 0 && errno == EINTR);
	if (n != sizeof key)
		return FAIL(e, ERR_SYS, "getrandom");
	*ret = key;
	return 0;
}

static uint64_t rotl(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static void rounds(uint64_t v[4], int n)
{
	uint64_t a = v[0], b = v[1], c = v[2], d = v[3];

	while (n--) {
		a += b, b = rotl(b, 13) ^ a, a = rotl(a, 32);
		c += d, d = rotl(d, 16) ^ c;
		a += d, d = rotl(d, 21) ^ a;
		c += b, b = rotl(b, 17) ^ c, c = rotl(c, 32);
	}
	v[0] = a, v[1] = b, v[2] = c, v[3] = d;
}

static void word(struct sip *s, uint64_t m)
{
	s->v[3] ^= m;
	rounds(s->v, 2);
	s->v[0] ^= m;
}

struct sip sip_start(const struct sip_key *key)
{
	uint64_t a = key->k[0], b = key->k[1];

	return (struct sip){ { a ^ 0x736f6d6570736575, b ^ 0x646f72616e646f6d ^ 0xee,
		               a ^ 0x6c7967656e657261, b ^ 0x7465646279746573 },
		             0,
		             0 };
}

void sip_add(struct sip *s, const void *data, size_t n)
{
	const unsigned char *p = data, *end = p + n;

	while (p < end && s->n % 8) {
		s->tail |= (uint64_t)*p++ << 8 * (s->n++ % 8);
		if (s->n % 8 == 0)
			word(s, s->tail), s->tail = 0;
	}
	for (; end - p >= 8; p += 8, s->n += 8) {
		uint64_t m;

		memcpy(&m, p, sizeof m);
		word(s, le64toh(m));
	}
	while (p < end)
		s->tail |= (uint64_t)*p++ << 8 * (s->n++ % 8);
}

static uint64_t fold(struct sip *s)
{
	rounds(s->v, 4);
	return s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3];
}

sip_t sip_end(struct sip *s)
{
	uint64_t low, high;

	word(s, s->tail | s->n << 56);
	s->v[2] ^= 0xee;
	low = fold(s);
	s->v[1] ^= 0xdd;
	high = fold(s);
	return (sip_t)high << 64 | low;
}
