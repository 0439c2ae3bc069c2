/* checker_regex.c - the expected text is a regular expression (PCRE2) that matches the whole
 * output.
 *
 * Work is counted, not timed: each step of the match and each byte that it passes, up to a bound
 * that is linear in the output. A search that takes more (or more memory) is tried once more with
 * the other algorithm of PCRE2, which follows all ways at once: slower, but it never goes back, and
 * knows no back references. What neither decides is the pattern's fault, and an error.
 */
#include "judge/checker.h"

#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum {
	MAX_PATTERN = 1 << 16, /* bytes */
	HEAP_LIMIT_KIB = 1 << 14,
	WORKSPACE = 1 << 13, /* ints: ways that are followed at once */
	STEPS_MIN = 20000000,
	STEPS_PER_BYTE = 8,
};

struct work {
	uint64_t left;
	size_t at;     /* where the last step was */
	bool compares; /* back references: a step may read what a group has matched */
};

/* Before each step of a match. Not 0: give up. */
static int count(pcre2_callout_block *b, void *data)
{
	struct work *w = data;
	size_t n = b->current_position, d = n > w->at ? n - w->at : w->at - n;

	for (uint32_t i = 1; w->compares && i < b->capture_top; i++) {
		PCRE2_SIZE from = b->offset_vector[2 * i], to = b->offset_vector[2 * i + 1];

		if (from != PCRE2_UNSET && to > from)
			d += (to - from) / 8;
	}
	w->at = n;
	if (w->left <= d)
		return PCRE2_ERROR_CALLOUT;
	w->left -= d + 1;
	return 0;
}

struct regex {
	pcre2_code *code;
	pcre2_compile_context *compile;
	pcre2_match_context *match;
	pcre2_match_data *data;
	struct work work[2]; /* of either algorithm, for all tries together */
};

static void regex_done(struct regex *x)
{
	pcre2_code_free(x->code);
	pcre2_compile_context_free(x->compile);
	pcre2_match_context_free(x->match);
	pcre2_match_data_free(x->data);
}

/* For a text of n bytes. Letters and digits are ASCII only unless the pattern says (*UCP). $ is the
 * end or before the last line end.
 */
static int regex_init(struct regex *x, struct str pattern, size_t n, struct err *e)
{
	const uint32_t flags = PCRE2_UTF | PCRE2_AUTO_CALLOUT | PCRE2_NEVER_BACKSLASH_C |
	                       PCRE2_ANCHORED | PCRE2_ENDANCHORED;
	char why[128] = "";
	PCRE2_SIZE at = 0;
	uint32_t groups = 0;
	int code = 0;

	x->compile = pcre2_compile_context_create(NULL);
	x->match = pcre2_match_context_create(NULL);
	x->data = pcre2_match_data_create(1, NULL);
	if (!x->compile || !x->match || !x->data)
		return FAIL(e, ERR_NOMEM, "a regular expression");
	(void)pcre2_set_max_pattern_length(x->compile, MAX_PATTERN);
	(void)pcre2_set_heap_limit(x->match, HEAP_LIMIT_KIB);
	(void)pcre2_set_match_limit(x->match, UINT32_MAX); /* count() knows better */
	(void)pcre2_set_depth_limit(x->match, UINT32_MAX);
	x->code = pcre2_compile((PCRE2_SPTR)(pattern.n ? pattern.p : ""), pattern.n, flags, &code,
	                        &at, x->compile);
	if (x->code) {
		(void)pcre2_pattern_info(x->code, PCRE2_INFO_BACKREFMAX, &groups);
		x->work[0].left = x->work[1].left = STEPS_MIN + (uint64_t)STEPS_PER_BYTE * n;
		x->work[0].compares = groups != 0;
		return 0;
	}
	(void)pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
	return FAIL(e, ERR_PARSE, "the expected text is no regular expression: %s at byte %zu", why,
	            (size_t)at);
}

static bool is_limit(int r)
{
	return r == PCRE2_ERROR_CALLOUT || r == PCRE2_ERROR_HEAPLIMIT ||
	       r == PCRE2_ERROR_MATCHLIMIT || r == PCRE2_ERROR_DEPTHLIMIT;
}

/* Text that is no UTF-8 matches nothing. */
static bool is_no_utf8(int r)
{
	return r <= PCRE2_ERROR_UTF8_ERR1 && r >= PCRE2_ERROR_UTF8_ERR21;
}

static int match_whole(struct regex *x, struct str s, bool *ret, struct err *e)
{
	PCRE2_SPTR p = (PCRE2_SPTR)(s.n ? s.p : "");
	int space[WORKSPACE], r;

	x->work[0].at = x->work[1].at = 0;
	(void)pcre2_set_callout(x->match, count, &x->work[0]);
	r = pcre2_match(x->code, p, s.n, 0, 0, x->data, x->match);
	if (is_limit(r)) {
		(void)pcre2_set_callout(x->match, count, &x->work[1]);
		r = pcre2_dfa_match(x->code, p, s.n, 0, 0, x->data, x->match, space, WORKSPACE);
	}
	if (r < 0 && r != PCRE2_ERROR_NOMATCH && !is_no_utf8(r))
		return FAIL(e, ERR_LIMIT,
		            "the regular expression takes too long for %zu bytes (%d)", s.n, r);
	*ret = r >= 0;
	return 0;
}

/* As it was printed; without blanks at the end; with the first line end of those. So neither a
 * pattern with nor one without a last line end is missed.
 */
static int check(const void *cfg, const struct check_in *in, double *ret_score, struct err *e)
{
	__attribute__((cleanup(regex_done))) struct regex x = { 0 };
	struct str pattern = in->expected, view[3] = { in->got, str_trim_end(in->got) };
	bool yes = false;
	int r, n = 2;

	(void)cfg;
	while (pattern.n && (pattern.p[pattern.n - 1] == '\n' || pattern.p[pattern.n - 1] == '\r'))
		pattern.n--;
	if (view[1].n + 1 < in->got.n && in->got.p[view[1].n] == '\n')
		view[n++] = (struct str){ in->got.p, view[1].n + 1 };
	r = regex_init(&x, pattern, in->got.n, e);
	for (int i = 0; r == 0 && !yes && i < n; i++)
		if (i != 1 || view[1].n != in->got.n)
			r = match_whole(&x, view[i], &yes, e);
	if (r == 0)
		*ret_score = yes;
	return r;
}

static const struct check_case cases[] = {
	{ { STR(""), STR("\\d+ \\d+"), STR("12 345\n") }, 1 },
	{ { STR(""), STR("\\d+ \\d+\n"), STR("12 345") }, 1 },
	{ { STR(""), STR("(\\d+\n)+"), STR("1\n2\n") }, 1 },
	{ { STR(""), STR("(\\d+\\n)+"), STR("1\n2\n\n") }, 1 },
	{ { STR(""), STR("^a|b$"), STR("b\r\n") }, 1 },
	{ { STR(""), STR("(?i)yes|no"), STR("NO") }, 1 },
	{ { STR(""), STR("(?s)a.*b"), STR("a\n\nb") }, 1 },
	{ { STR(""), STR("(\\w+) \\1"), STR("ab ab") }, 1 },
	{ { STR(""), STR(".\xc3\xa4."), STR("\xc3\xb6\xc3\xa4\xc3\xbc") }, 1 },
	{ { STR(""), STR("a.c"), STR("a\0c") }, 1 },
	{ { STR(""), STR(""), STR("\n") }, 1 },
	/* the whole output */
	{ { STR(""), STR("\\d+"), STR("12 345") }, 0 },
	{ { STR(""), STR("\\d+"), STR("x12") }, 0 },
	{ { STR(""), STR("a|ab"), STR("ab") }, 1 },
	{ { STR(""), STR("a|b"), STR("a\nb") }, 0 },
	{ { STR(""), STR("a$"), STR("a\nb") }, 0 },
	{ { STR(""), STR("(?m)^a$"), STR("a\nb") }, 0 },
	{ { STR(""), STR("a.*"), STR("a\nb") }, 0 },
	{ { STR(""), STR("3"), STR("3\0") }, 0 },
	{ { STR(""), STR(""), STR("x") }, 0 },
	{ { STR(""), STR("YES"), STR("yes") }, 0 },
	{ { STR(""), STR("\\d"), STR("\xef\xbc\x91") }, 0 },
	{ { STR(""), STR(".*"), STR("\xff") }, 0 },
	/* ways that multiply */
	{ { STR(""), STR("(a+)+"), STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab") }, 0 },
	{ { STR(""), STR("(a|aa)+"), STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab") }, 0 },
	{ { STR(""), STR("(\\s*\\d+\\s*)*"), STR("1111111111111111111111111111111111111111x") },
	  0 },
	/* no regular expression, or one that the machine cannot decide */
	{ { STR(""), STR("(a"), STR("(a") }, -1 },
	{ { STR(""), STR("a)|(b"), STR("a") }, -1 },
	{ { STR(""), STR("[z-a]"), STR("z") }, -1 },
	{ { STR(""), STR("*"), STR("*") }, -1 },
	{ { STR(""), STR("\\"), STR("\\") }, -1 },
	{ { STR(""), STR("\\C"), STR("a") }, -1 },
	{ { STR(""), STR("\xff"), STR("\xff") }, -1 },
	{ { STR(""), STR("(a+)+\\1[bc]"), STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa") },
	  -1 },
	{ 0 },
};

const struct checker checker_regex = {
	.name = "regex",
	.doc = "the expected text is a regular expression for the whole output",
	.source = "https://www.pcre.org/current/doc/html/pcre2pattern.html",
	.check = check,
	.cases = cases,
};
