/* dec.h - decimal numbers as they are written, of any length: compared exactly, without a double
 * and without a copy.
 */
#ifndef BASE_DEC_H
#define BASE_DEC_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/*	+-0.d1d2..dn * 10^exp		d1 and dn are not 0; n = 0, exp = 0 and + for zero
 *
 * A view into the text: immutable while the text is.
 */
struct dec {
	bool neg;
	int64_t exp;
	struct str digits; /* d1..dn, perhaps with a point among them */
};

/* [+-] digits [. digits] [e [+-] digits], ASCII, at least one digit before the e. False: something
 * else (nan, inf, 0x10, 1_000), or an exponent of more than 18 digits.
 */
bool dec_parse(struct str s, struct dec *ret);

bool dec_same(const struct dec *a, const struct dec *b);

/* The nearest double; an infinity where it is too large. */
double dec_to_real(const struct dec *d);

#endif
