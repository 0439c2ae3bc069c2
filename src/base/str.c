/* str.c - views of bytes. */
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_is(struct str a, const char *text)
{
	return str_eq(a, (struct str){ text, strlen(text) });
}

bool str_starts(struct str a, struct str prefix)
{
	return a.n >= prefix.n && str_eq((struct str){ a.p, prefix.n }, prefix);
}

bool str_has(struct str a, struct str part)
{
	return part.n == 0 || (a.n && memmem(a.p, a.n, part.p, part.n));
}

char str_fold(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c | 32 : c);
}

bool str_eq_fold(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (str_fold(a.p[i]) != str_fold(b.p[i]))
			return false;
	return true;
}

size_t str_utf8_len(struct str s)
{
	static const unsigned char lo[] = { 0xa0, 0x80, 0x90, 0x80 },
				   hi[] = { 0xbf, 0x9f, 0xbf, 0x8f };
	static const unsigned char edge[] = { 0xe0, 0xed, 0xf0, 0xf4 };
	const unsigned char *p = (const unsigned char *)s.p;
	size_t n = !s.n          ? 0
	           : p[0] < 0x80 ? 1
	           : p[0] < 0xc2 ? 0
	           : p[0] < 0xe0 ? 2
	           : p[0] < 0xf0 ? 3
	           : p[0] < 0xf5 ? 4
	                         : 0;

	if (n > s.n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	for (size_t i = 0; i < sizeof edge && n > 2; i++)
		if (p[0] == edge[i] && (p[1] < lo[i] || p[1] > hi[i]))
			return 0;
	return n;
}

struct str str_trim(struct str s)
{
	while (s.n && is_blank(s.p[0]))
		s = (struct str){ s.p + 1, s.n - 1 };
	return str_trim_end(s);
}

struct str str_trim_end(struct str s)
{
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

bool str_next_line(struct str *rest, struct str *ret_line)
{
	const char *lf;

	if (!rest->n)
		return false;
	lf = memchr(rest->p, '\n', rest->n);
	size_t n = lf ? (size_t)(lf - rest->p) : rest->n, skip = lf ? n + 1 : n;
	*ret_line = (struct str){ rest->p, n && rest->p[n - 1] == '\r' ? n - 1 : n };
	*rest = (struct str){ rest->p + skip, rest->n - skip };
	return true;
}

bool str_next_token(struct str *rest, struct str *ret_token)
{
	size_t i = 0, j;

	while (i < rest->n && is_blank(rest->p[i]))
		i++;
	for (j = i; j < rest->n && !is_blank(rest->p[j]);)
		j++;
	if (i == j)
		return false;
	*ret_token = (struct str){ rest->p + i, j - i };
	*rest = (struct str){ rest->p + j, rest->n - j };
	return true;
}

static size_t digits(struct str s, size_t i)
{
	while (i < s.n && is_digit(s.p[i]))
		i++;
	return i;
}

static size_t sign(struct str s, size_t i)
{
	return i < s.n && (s.p[i] == '+' || s.p[i] == '-') ? i + 1 : i;
}

bool str_is_int(struct str s)
{
	size_t i = sign(s, 0);

	return i < s.n && digits(s, i) == s.n;
}

/* [sign] digits [. digits] [e [sign] digits], with at least one digit before the e. strtod
 * alone would also take nan, inf and hexadecimal.
 */
static bool is_decimal(struct str s)
{
	size_t i = sign(s, 0), j = digits(s, i), n = j - i;

	if (j < s.n && s.p[j] == '.') {
		i = j + 1;
		j = digits(s, i);
		n += j - i;
	}
	if (n && j < s.n && (s.p[j] == 'e' || s.p[j] == 'E')) {
		i = sign(s, j + 1);
		j = digits(s, i);
		n = j - i;
	}
	return n && j == s.n;
}

bool str_to_real(struct str s, double *ret)
{
	char buf[512];
	double x;

	if (s.n >= sizeof buf || !is_decimal(s))
		return false;
	memcpy(buf, s.p, s.n);
	buf[s.n] = 0;
	x = strtod(buf, NULL);
	if (!isfinite(x))
		return false;
	*ret = x;
	return true;
}
