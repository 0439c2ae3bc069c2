/* dec.c - decimal numbers as they are written. */
#include "base/dec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_EXP_DIGITS = 18,
	REAL_DIGITS = 780, /* more than any double needs to be told from its neighbours */
	REAL_EXP = 10000,  /* beyond the range of doubles on both sides */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The exponent behind the e: the whole of s. */
static bool read_exp(struct str s, int64_t *ret)
{
	bool neg = s.n && s.p[0] == '-';
	size_t i = s.n && (neg || s.p[0] == '+');
	int64_t v = 0;
	size_t from;

	if (i == s.n)
		return false;
	while (i < s.n && s.p[i] == '0')
		i++;
	for (from = i; i < s.n; i++) {
		if (!is_digit(s.p[i]))
			return false;
		v = i - from < MAX_EXP_DIGITS ? v * 10 + (s.p[i] - '0') : -1;
		if (v < 0)
			return false;
	}
	*ret = neg ? -v : v;
	return true;
}

bool dec_parse(struct str s, struct dec *ret)
{
	struct dec d = { .neg = s.n && s.p[0] == '-' };
	size_t i = s.n && (d.neg || s.p[0] == '+'), first = s.n, last = 0, n = 0;
	int64_t whole = 0, lead = 0; /* digits before the point, and of those, zeros in front */
	bool point = false;

	for (; i < s.n && (is_digit(s.p[i]) || (s.p[i] == '.' && !point)); i++) {
		if (s.p[i] == '.') {
			point = true;
			continue;
		}
		n++;
		whole += !point;
		if (s.p[i] != '0') {
			first = first < i ? first : i;
			last = i;
		} else if (first == s.n) {
			lead++;
		}
	}
	if (n == 0)
		return false;
	if (i < s.n &&
	    ((s.p[i] | 32) != 'e' || !read_exp((struct str){ s.p + i + 1, s.n - i - 1 }, &d.exp))) {
		/* 0e99..99 is zero all the same, but nobody writes it. */
		return false;
	}
	if (first == s.n)
		d = (struct dec){ 0 };
	else
		d.exp += whole - lead, d.digits = (struct str){ s.p + first, last + 1 - first };
	*ret = d;
	return true;
}

bool dec_same(const struct dec *a, const struct dec *b)
{
	struct str x = a->digits, y = b->digits;
	size_t i = 0, k = 0;

	if (a->neg != b->neg || a->exp != b->exp)
		return false;
	for (;;) {
		i += i < x.n && x.p[i] == '.';
		k += k < y.n && y.p[k] == '.';
		if (i == x.n || k == y.n)
			return i == x.n && k == y.n;
		if (x.p[i++] != y.p[k++])
			return false;
	}
}

/* The first digits decide, and whether there are more. */
double dec_to_real(const struct dec *d)
{
	char buf[REAL_DIGITS + 40];
	int64_t exp = d->exp;
	int n = 0;

	if (d->neg)
		buf[n++] = '-';
	buf[n++] = '.';
	buf[n] = '0';
	for (size_t i = 0, k = 0; i < d->digits.n; i++) {
		if (d->digits.p[i] == '.')
			continue;
		buf[n++] = k < REAL_DIGITS ? d->digits.p[i] : '1';
		if (k++ == REAL_DIGITS)
			break;
	}
	n += d->digits.n == 0;
	exp = exp > REAL_EXP ? REAL_EXP : exp < -REAL_EXP ? -REAL_EXP : exp;
	(void)snprintf(buf + n, sizeof buf - (size_t)n, "e%d", (int)exp);
	return strtod(buf, NULL);
}
