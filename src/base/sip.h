/* sip.h - SipHash-2-4 with 128 bits (Aumasson, Bernstein 2012): without the key nobody can find two
 * texts of the same hash, so that a program cannot choose its output for a collision. With a fresh
 * random key each time, equal hashes mean equal texts but for a chance below 2^-100.
 *
 *	struct sip s = sip_start(&key);
 *	sip_add(&s, "text", 4);
 *	sip_t h = sip_end(&s);
 */
#ifndef BASE_SIP_H
#define BASE_SIP_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef unsigned __int128 sip_t; /* sums of hashes are hashes of a multiset */

struct sip_key {
	uint64_t k[2];
};

/* One owner. */
struct sip {
	uint64_t v[4], tail, n; /* n bytes so far; the last n % 8 of them wait in tail */
};

int sip_key_random(struct sip_key *ret, struct err *e); /* from the system */
struct sip sip_start(const struct sip_key *key);
void sip_add(struct sip *s, const void *p, size_t n);
sip_t sip_end(struct sip *s);

#endif
