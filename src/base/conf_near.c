/* conf_near.c - an unknown key, and what was probably meant. */
#include "base/conf_int.h"

#include <string.h>

enum { LONGEST = 63 };

static int min3(int a, int b, int c)
{
	int m = a < b ? a : b;

	return m < c ? m : c;
}

/*	d(i, j) = min(d(i-1, j) + 1, d(i, j-1) + 1, d(i-1, j-1) + [a_i != b_j],
 *	              d(i-2, j-2) + 1 if a_i a_{i-1} = b_{j-1} b_j)
 *
 * Optimal string alignment distance: letters missing, added, changed, or two swapped.
 */
static int distance(const char *a, const char *b)
{
	int d[3][LONGEST + 1], n = (int)strlen(a), m = (int)strlen(b);

	if (n > LONGEST || m > LONGEST)
		return LONGEST;
	for (int j = 0; j <= m; j++)
		d[0][j] = j;
	for (int i = 1; i <= n; i++) {
		int *row = d[i % 3], *up = d[(i + 2) % 3], *up2 = d[(i + 1) % 3];

		row[0] = i;
		for (int j = 1; j <= m; j++) {
			row[j] =
				min3(up[j] + 1, row[j - 1] + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min3(row[j], up2[j - 2] + 1, LONGEST);
		}
	}
	return d[n % 3][m];
}

/* reward.floor for floor */
static bool ends_with_word(const char *key, const char *word)
{
	size_t n = strlen(key), m = strlen(word);

	return n > m && key[n - m - 1] == '.' && strcmp(key + n - m, word) == 0;
}

static const char *nearest(const struct conf *c, const char *key)
{
	int best = (int)strlen(key) / 3, d;
	const char *ret = NULL;

	best = best < 2 ? 2 : best;
	for (const struct conf_row *row = c->row; row; row = row->next)
		if ((d = distance(key, row->key)) < best + !ret) {
			best = d;
			ret = row->key;
		}
	for (int i = 0; i < c->n_shorts; i++)
		if ((d = distance(key, c->shorts[i][0])) < best + !ret) {
			best = d;
			ret = c->shorts[i][0];
		}
	for (const struct conf_row *row = c->row; row && !ret; row = row->next)
		if (ends_with_word(row->key, key))
			ret = row->key;
	return ret;
}

/* A row below key: "judge" alone says nothing. */
static const char *below(const struct conf *c, const char *key)
{
	size_t n = strlen(key);

	for (const struct conf_row *row = c->row; row; row = row->next)
		if (strncmp(row->key, key, n) == 0 && row->key[n] == '.')
			return row->key;
	return NULL;
}

int conf_unknown(const struct conf *c, const char *key, const char *origin, struct err *e)
{
	const char *near = below(c, key), *dash = "";
	int r;

	if (origin && origin[0] == '-') {
		dash = "--";
		key = origin[1] == '-' ? origin + 2 : key;
	}
	if (near)
		r = FAIL(e, ERR_NOENT, "option '%s%s' needs a key below it, as '%s%s'", dash, key,
		         dash, near);
	else if ((near = nearest(c, key)))
		r = FAIL(e, ERR_NOENT, "unknown option '%s%s' (did you mean '%s%s'?)", dash, key,
		         dash, near);
	else
		r = FAIL(e, ERR_NOENT, "unknown option '%s%s'", dash, key);
	return origin && !*dash ? err_wrap(e, "%s", origin) : r;
}
