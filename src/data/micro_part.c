/* micro_part.c - the parts of which micro tasks are composed. */
#include "data/micro.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
	L = 1 << MICRO_LIST,
	R = 1 << MICRO_RANGE,
	T = 1 << MICRO_TEXT,
	W = 1 << MICRO_WORDS,
};

/* Python's %: the sign of the divisor. */
static int64_t mod(int64_t x, int64_t m)
{
	return (x % m + m) % m;
}

static bool in_set(char c, const char *set)
{
	return c && strchr(set, c);
}

/* ---- filters ---- */

#define IS(name, expr)                                                                             \
	static bool is_##name(const struct micro_elem *e, int64_t n)                               \
	{                                                                                          \
		int64_t x = e->i;                                                                  \
		(void)n, (void)x;                                                                  \
		return expr;                                                                       \
	}
IS(even, mod(x, 2) == 0)
IS(odd, mod(x, 2) == 1)
IS(positive, x > 0)
IS(negative, x < 0)
IS(ge0, x >= 0)
IS(le0, x <= 0)
IS(gt3, x > 3)
IS(ge3, x >= 3)
IS(lt3, x < 3)
IS(lt5, x < 5)
IS(le5, x <= 5)
IS(gt5, x > 5)
IS(mul3, mod(x, 3) == 0)
IS(not3, mod(x, 3) != 0)
IS(between, 2 <= x && x <= 6)
IS(inside, 2 < x && x < 6)
IS(gt_n, x > n)
IS(ge_n, x >= n)
IS(lt_n, x < n)
IS(le_n, x <= n)
IS(vowel, in_set(e->s[0], "aeiouAEIOU"))
IS(consonant, !in_set(e->s[0], "aeiouAEIOU"))
IS(digit, isdigit((unsigned char)e->s[0]))
IS(notdigit, !isdigit((unsigned char)e->s[0]))
IS(letter, isalpha((unsigned char)e->s[0]))
IS(capital, isupper((unsigned char)e->s[0]))
IS(small, islower((unsigned char)e->s[0]))
IS(filled, e->s[0] != ' ')
IS(space, e->s[0] == ' ')
IS(long, e->n > 3)
IS(long3, e->n >= 3)
IS(short, e->n < 5)
IS(short5, e->n <= 5)
IS(has_a, memchr(e->s, 'a', (size_t)e->n) != NULL)
IS(no_a, memchr(e->s, 'a', (size_t)e->n) == NULL)
IS(ends, e->s[e->n - 1] == 'e')
IS(starts_e, e->s[0] == 'e')
IS(ends_vowel, in_set(e->s[e->n - 1], "aeiouAEIOU"))

#define VOWELS "\"aeiouAEIOU\""
#define FILTER(name_, in_, fn, code_, say_, say2_, adj_, near_)                                    \
	{                                                                                          \
		.name = name_, .in = in_, .is = is_##fn, .code = code_, .say = say_,               \
		.say2 = say2_, .adj = adj_, .near = near_                                          \
	}
#define WRONG_FILTER(name_, in_, fn, code_)                                                        \
	{                                                                                          \
		.name = name_, .in = in_, .is = is_##fn, .code = code_, .never = true              \
	}
static const struct micro_part filters[] = {
	{ .name = "none", .in = L | R | T | W },
	FILTER("even", L | R, even, "X % 2 == 0", "even numbers", NULL, "even", "odd none"),
	FILTER("odd", L | R, odd, "X % 2 == 1", "odd numbers", NULL, "odd", "even none"),
	FILTER("positive", L, positive, "X > 0", "positive numbers", NULL, "positive",
	       "ge0 negative none"),
	FILTER("negative", L, negative, "X < 0", "negative numbers", NULL, "negative",
	       "le0 positive none"),
	FILTER("gt3", L | R, gt3, "X > 3", "numbers greater than 3", "numbers above 3",
	       "greater than 3", "ge3 lt3 none"),
	FILTER("lt5", L | R, lt5, "X < 5", "numbers less than 5", "numbers below 5", "less than 5",
	       "le5 gt5 none"),
	FILTER("mul3", L | R, mul3, "X % 3 == 0", "multiples of 3", "numbers divisible by 3",
	       "multiples of 3", "not3 even none"),
	FILTER("not3", L | R, not3, "X % 3 != 0", "numbers not divisible by 3", NULL,
	       "not divisible by 3", "mul3 none"),
	FILTER("between", L | R, between, "2 <= X <= 6", "numbers between 2 and 6", NULL,
	       "between 2 and 6", "inside none"),
	FILTER("gt_n", L, gt_n, "X > n", "numbers greater than n", "numbers above n",
	       "greater than n", "ge_n lt_n none"),
	FILTER("lt_n", L, lt_n, "X < n", "numbers less than n", "numbers below n", "less than n",
	       "le_n gt_n none"),
	WRONG_FILTER("ge0", L, ge0, "X >= 0"),
	WRONG_FILTER("le0", L, le0, "X <= 0"),
	WRONG_FILTER("ge3", L | R, ge3, "X >= 3"),
	WRONG_FILTER("lt3", L | R, lt3, "X < 3"),
	WRONG_FILTER("le5", L | R, le5, "X <= 5"),
	WRONG_FILTER("gt5", L | R, gt5, "X > 5"),
	WRONG_FILTER("inside", L | R, inside, "2 < X < 6"),
	WRONG_FILTER("ge_n", L, ge_n, "X >= n"),
	WRONG_FILTER("le_n", L, le_n, "X <= n"),
	FILTER("vowel", T, vowel, "X in " VOWELS, "vowels", NULL, "vowels", "consonant none"),
	FILTER("consonant", T, consonant, "X not in " VOWELS, "characters that are not vowels",
	       "non-vowels", NULL, "vowel none"),
	FILTER("digit", T, digit, "X.isdigit()", "digits", NULL, "digits", "notdigit letter none"),
	FILTER("letter", T, letter, "X.isalpha()", "letters", NULL, "letters", "small digit none"),
	FILTER("capital", T, capital, "X.isupper()", "capital letters", "upper case letters",
	       "capital letters", "small letter none"),
	FILTER("small", T, small, "X.islower()", "small letters", "lower case letters",
	       "small letters", "capital letter none"),
	FILTER("filled", T, filled, "X != \" \"", "characters that are not spaces", "non-spaces",
	       NULL, "space none"),
	WRONG_FILTER("notdigit", T, notdigit, "not X.isdigit()"),
	WRONG_FILTER("space", T, space, "X == \" \""),
	FILTER("long", W, long, "len(X) > 3", "words longer than 3 letters", NULL,
	       "longer than 3 letters", "long3 short none"),
	FILTER("short", W, short, "len(X) < 5", "words shorter than 5 letters", NULL,
	       "shorter than 5 letters", "short5 long none"),
	FILTER("has_a", W, has_a, "\"a\" in X", "words that contain a", "words with an a", NULL,
	       "no_a none"),
	FILTER("vowel_first", W, vowel, "X[0] in " VOWELS, "words that start with a vowel",
	       "words that begin with a vowel", NULL, "vowel_last none"),
	FILTER("ends_e", W, ends, "X[-1] == \"e\"", "words that end with e", "words ending in e",
	       NULL, "starts_e none"),
	WRONG_FILTER("long3", W, long3, "len(X) >= 3"),
	WRONG_FILTER("short5", W, short5, "len(X) <= 5"),
	WRONG_FILTER("no_a", W, no_a, "\"a\" not in X"),
	WRONG_FILTER("vowel_last", W, ends_vowel, "X[-1] in " VOWELS),
	WRONG_FILTER("starts_e", W, starts_e, "X[0] == \"e\""),
};

/* ---- maps ---- */

#define NUM(name, expr)                                                                            \
	static void map_##name(struct micro_elem *e, int64_t n)                                    \
	{                                                                                          \
		int64_t x = e->i;                                                                  \
		(void)n;                                                                           \
		e->i = expr;                                                                       \
	}
NUM(square, x *x)
NUM(cube, x *x *x)
NUM(double, x * 2)
NUM(triple, x * 3)
NUM(inc, x + 1)
NUM(inc2, x + 2)
NUM(dec, x - 1)
NUM(neg, -x)
NUM(abs, x < 0 ? -x : x)
NUM(mod3, mod(x, 3))
NUM(div3, (x - mod(x, 3)) / 3)
NUM(mod2, mod(x, 2))
NUM(plus_n, x + n)
NUM(minus_n, x - n)
NUM(times_n, x *n)

static void set_text(struct micro_elem *e, const char *s, int n)
{
	e->text = true;
	memmove(e->s, s, (size_t)n);
	e->n = n;
}

static void map_upper(struct micro_elem *e, int64_t n)
{
	(void)n;
	for (int i = 0; i < e->n; i++)
		e->s[i] = (char)toupper((unsigned char)e->s[i]);
}

static void map_lower(struct micro_elem *e, int64_t n)
{
	(void)n;
	for (int i = 0; i < e->n; i++)
		e->s[i] = (char)tolower((unsigned char)e->s[i]);
}

static void map_swap(struct micro_elem *e, int64_t n)
{
	(void)n;
	for (int i = 0; i < e->n; i++) {
		unsigned char c = (unsigned char)e->s[i];

		e->s[i] = (char)(islower(c) ? toupper(c) : tolower(c));
	}
}

static void map_twice(struct micro_elem *e, int64_t n)
{
	(void)n;
	memcpy(e->s + e->n, e->s, (size_t)e->n); /* words have at most MICRO_WORD / 2 bytes */
	e->n *= 2;
}

static void map_dash(struct micro_elem *e, int64_t n)
{
	(void)n;
	e->s[e->n++] = '-';
}

static void map_reverse(struct micro_elem *e, int64_t n)
{
	(void)n;
	for (int i = 0, j = e->n - 1; i < j; i++, j--) {
		char c = e->s[i];

		e->s[i] = e->s[j];
		e->s[j] = c;
	}
}

static void map_first(struct micro_elem *e, int64_t n)
{
	(void)n;
	set_text(e, e->s, 1);
}

static void map_last(struct micro_elem *e, int64_t n)
{
	(void)n;
	set_text(e, e->s + e->n - 1, 1);
}

static void map_len(struct micro_elem *e, int64_t n)
{
	(void)n;
	e->text = false;
	e->i = e->n;
}

#define MAP(name_, in_, fn, code_, say_, say2_, near_)                                             \
	{                                                                                          \
		.name = name_, .in = in_, .map = map_##fn, .code = code_, .say = say_,             \
		.say2 = say2_, .near = near_                                                       \
	}
#define WRONG_MAP(name_, in_, fn, code_)                                                           \
	{                                                                                          \
		.name = name_, .in = in_, .map = map_##fn, .code = code_, .never = true            \
	}
static const struct micro_part maps[] = {
	{ .name = "none", .in = L | R | T | W, .code = "X", .say2 = "kept" },
	MAP("square", L | R, square, "X * X", "squares of the ", "squared", "double cube none"),
	MAP("cube", L | R, cube, "X ** 3", "cubes of the ", "cubed", "square triple none"),
	MAP("double", L | R, double, "X * 2", "doubles of the ", "doubled", "square inc2 none"),
	MAP("triple", L | R, triple, "X * 3", "triples of the ", "tripled", "double cube none"),
	MAP("inc", L | R, inc, "X + 1", NULL, "increased by 1", "dec inc2 none"),
	MAP("dec", L | R, dec, "X - 1", NULL, "decreased by 1", "inc none"),
	MAP("neg", L | R, neg, "-X", "negatives of the ", "negated", "abs none"),
	MAP("abs", L, abs, "abs(X)", "absolute values of the ", NULL, "neg none"),
	MAP("mod3", L | R, mod3, "X % 3", "remainders modulo 3 of the ", "taken modulo 3",
	    "div3 mod2 none"),
	MAP("plus_n", L, plus_n, "X + n", NULL, "increased by n", "minus_n times_n none"),
	MAP("minus_n", L, minus_n, "X - n", NULL, "decreased by n", "plus_n none"),
	MAP("times_n", L, times_n, "X * n", NULL, "multiplied by n", "plus_n none"),
	WRONG_MAP("inc2", L | R, inc2, "X + 2"),
	WRONG_MAP("div3", L | R, div3, "X // 3"),
	WRONG_MAP("mod2", L | R, mod2, "X % 2"),
	MAP("upper", T | W, upper, "X.upper()", NULL, "in upper case", "lower none"),
	MAP("lower", T | W, lower, "X.lower()", NULL, "in lower case", "upper none"),
	MAP("swap", T, swap, "X.swapcase()", NULL, "with swapped case", "upper lower none"),
	MAP("twice", T | W, twice, "X * 2", NULL, "repeated twice", "dash none"),
	MAP("dash", T | W, dash, "X + \"-\"", NULL, "followed by a dash", "twice none"),
	MAP("reverse", W, reverse, "X[::-1]", NULL, "reversed", "first none"),
	MAP("first", W, first, "X[0]", "first letters of the ", NULL, "last none"),
	MAP("last", W, last, "X[-1]", "last letters of the ", NULL, "first none"),
	MAP("length", W, len, "len(X)", "lengths of the ", NULL, NULL),
};

/* ---- sources ---- */

enum { NO_END = 1 << 20 };

static int place(int at, int n) /* a slice bound of Python */
{
	at = at < 0 ? at + n : at;
	return at < 0 ? 0 : at > n ? n : at;
}

static void slice(struct micro_list *l, int from, int to, int step)
{
	int n = 0, end = place(to, l->n);

	for (int i = place(from, l->n); i < end; i += step)
		l->e[n++] = l->e[i];
	l->n = n;
}

static void reverse(struct micro_list *l)
{
	for (int i = 0, j = l->n - 1; i < j; i++, j--) {
		struct micro_elem t = l->e[i];

		l->e[i] = l->e[j];
		l->e[j] = t;
	}
}

static void list_all(const struct micro_input *in, struct micro_list *l)
{
	l->n = in->n_xs;
	for (int i = 0; i < l->n; i++) {
		l->e[i].text = false;
		l->e[i].i = in->xs[i];
	}
}

static void text_all(const struct micro_input *in, struct micro_list *l)
{
	for (l->n = 0; in->s[l->n]; l->n++)
		set_text(&l->e[l->n], &in->s[l->n], 1);
}

static void words_all(const struct micro_input *in, struct micro_list *l)
{
	const char *p = in->s;

	for (l->n = 0; *(p += strspn(p, " "));) {
		int n = (int)strcspn(p, " ");

		set_text(&l->e[l->n++], p, n);
		p += n;
	}
}

static void span(struct micro_list *l, int64_t from, int64_t to)
{
	l->n = 0;
	for (int64_t x = from; x < to && l->n < MICRO_ITEMS; x++) {
		l->e[l->n].text = false;
		l->e[l->n++].i = x;
	}
}

#define TAKE(name, ...)                                                                            \
	static void take_##name(const struct micro_input *in, struct micro_list *l)                \
	{                                                                                          \
		__VA_ARGS__;                                                                       \
	}
TAKE(all, list_all(in, l))
TAKE(tail, list_all(in, l), slice(l, 1, NO_END, 1))
TAKE(tail2, list_all(in, l), slice(l, 2, NO_END, 1))
TAKE(head, list_all(in, l), slice(l, 0, -1, 1))
TAKE(head2, list_all(in, l), slice(l, 0, -2, 1))
TAKE(second, list_all(in, l), slice(l, 0, NO_END, 2))
TAKE(second1, list_all(in, l), slice(l, 1, NO_END, 2))
TAKE(first3, list_all(in, l), slice(l, 0, 3, 1))
TAKE(first4, list_all(in, l), slice(l, 0, 4, 1))
TAKE(last3, list_all(in, l), slice(l, -3, NO_END, 1))
TAKE(reversed, list_all(in, l), reverse(l))
TAKE(to_n, span(l, 1, in->n + 1))
TAKE(below_n, span(l, 0, in->n))
TAKE(zero_to_n, span(l, 0, in->n + 1))
TAKE(two_to_n, span(l, 2, in->n + 1))
TAKE(one_below_n, span(l, 1, in->n))
TAKE(text, text_all(in, l))
TAKE(text_tail, text_all(in, l), slice(l, 1, NO_END, 1))
TAKE(text_head, text_all(in, l), slice(l, 0, -1, 1))
TAKE(text_second, text_all(in, l), slice(l, 0, NO_END, 2))
TAKE(text_second1, text_all(in, l), slice(l, 1, NO_END, 2))
TAKE(text_first4, text_all(in, l), slice(l, 0, 4, 1))
TAKE(text_first5, text_all(in, l), slice(l, 0, 5, 1))
TAKE(text_reversed, text_all(in, l), reverse(l))
TAKE(words, words_all(in, l))
TAKE(words_tail, words_all(in, l), slice(l, 1, NO_END, 1))
TAKE(words_head, words_all(in, l), slice(l, 0, -1, 1))
TAKE(words_first3, words_all(in, l), slice(l, 0, 3, 1))
TAKE(words_reversed, words_all(in, l), reverse(l))

#define SOURCE(name_, in_, fn, code_, say_, near_)                                                 \
	{                                                                                          \
		.name = name_, .in = in_, .take = take_##fn, .code = code_, .say = say_,           \
		.near = near_                                                                      \
	}
#define WRONG_SOURCE(name_, in_, fn, code_)                                                        \
	{                                                                                          \
		.name = name_, .in = in_, .take = take_##fn, .code = code_, .never = true          \
	}
/* The first ones are the plain source of each family, in the order of enum micro_family. */
static const struct micro_part sources[] = {
	SOURCE("all", L, all, "xs", "in xs", "tail head"),
	SOURCE("all", R, to_n, "range(1, n + 1)", "from 1 to n", "below_n one_below_n"),
	SOURCE("all", T, text, "s", "in s", "tail head"),
	SOURCE("all", W, words, "s.split()", "in s", "tail"),
	SOURCE("tail", L, tail, "xs[1:]", "in xs after the first item", "all head tail2"),
	SOURCE("head", L, head, "xs[:-1]", "in xs before the last item", "all tail head2"),
	SOURCE("second", L, second, "xs[::2]", "in every second place of xs", "all second1"),
	SOURCE("first3", L, first3, "xs[:3]", "in the first 3 items of xs", "first4 last3 all"),
	SOURCE("last3", L, last3, "xs[-3:]", "in the last 3 items of xs", "first3 all"),
	SOURCE("reversed", L, reversed, "xs[::-1]", "in reversed xs", "all"),
	WRONG_SOURCE("tail2", L, tail2, "xs[2:]"),
	WRONG_SOURCE("head2", L, head2, "xs[:-2]"),
	WRONG_SOURCE("second1", L, second1, "xs[1::2]"),
	WRONG_SOURCE("first4", L, first4, "xs[:4]"),
	SOURCE("below_n", R, below_n, "range(n)", "from 0 to n - 1", "all one_below_n"),
	SOURCE("zero_to_n", R, zero_to_n, "range(n + 1)", "from 0 to n", "below_n all"),
	SOURCE("two_to_n", R, two_to_n, "range(2, n + 1)", "from 2 to n", "all one_below_n"),
	WRONG_SOURCE("one_below_n", R, one_below_n, "range(1, n)"),
	SOURCE("tail", T, text_tail, "s[1:]", "in s after the first character", "all head"),
	SOURCE("head", T, text_head, "s[:-1]", "in s before the last character", "all tail"),
	SOURCE("second", T, text_second, "s[::2]", "in every second place of s", "all second1"),
	SOURCE("first4", T, text_first4, "s[:4]", "in the first 4 characters of s", "all first5"),
	SOURCE("reversed", T, text_reversed, "s[::-1]", "in reversed s", "all"),
	WRONG_SOURCE("second1", T, text_second1, "s[1::2]"),
	WRONG_SOURCE("first5", T, text_first5, "s[:5]"),
	SOURCE("tail", W, words_tail, "s.split()[1:]", "in s after the first word", "all head"),
	SOURCE("head", W, words_head, "s.split()[:-1]", "in s before the last word", "all tail"),
	SOURCE("reversed", W, words_reversed, "s.split()[::-1]", "in s from last to first", "all"),
	SOURCE("first3", W, words_first3, "s.split()[:3]", "in the first 3 words of s", "all tail"),
};

/* ---- folds ---- */

#define IF_NONE ", or 0 if there are none"
static const struct micro_part folds[] = {
	{ .name = "sum",
	  .in = L | R | W,
	  .fold = MICRO_SUM,
	  .ints = true,
	  .scalar = true,
	  .code = "sum(@)",
	  .plain = "sum(@)",
	  .init = "0",
	  .step = "r += %",
	  .result = "r",
	  .say = "sum of the ",
	  .say2 = "Add up the ",
	  .near = "product max count" },
	{ .name = "product",
	  .in = L | R,
	  .fold = MICRO_PRODUCT,
	  .ints = true,
	  .scalar = true,
	  .loop = true,
	  .init = "1",
	  .step = "r *= %",
	  .result = "r",
	  .say = "product of the ",
	  .say2 = "Multiply the ",
	  .near = "sum" },
	{ .name = "max",
	  .in = L | W,
	  .fold = MICRO_MAX,
	  .ints = true,
	  .code = "max([@], default=0)",
	  .plain = "max(@, default=0)",
	  .say = "largest of the ",
	  .tail = IF_NONE,
	  .near = "min last" },
	{ .name = "min",
	  .in = L | W,
	  .fold = MICRO_MIN,
	  .ints = true,
	  .code = "min([@], default=0)",
	  .plain = "min(@, default=0)",
	  .say = "smallest of the ",
	  .tail = IF_NONE,
	  .near = "max first" },
	{ .name = "count",
	  .in = L | R | T | W,
	  .fold = MICRO_COUNT,
	  .ints = true,
	  .texts = true,
	  .scalar = true,
	  .code = "len([@])",
	  .plain = "len(@)",
	  .init = "0",
	  .step = "r += 1",
	  .result = "r",
	  .say = "number of ",
	  .say2 = "Count the ",
	  .near = "sum distinct" },
	{ .name = "distinct",
	  .in = L | T | W,
	  .fold = MICRO_DISTINCT,
	  .ints = true,
	  .texts = true,
	  .scalar = true,
	  .code = "len(set(@))",
	  .plain = "len(set(@))",
	  .say = "number of distinct ",
	  .say2 = "Count the distinct ",
	  .near = "count" },
	{ .name = "first",
	  .in = L,
	  .fold = MICRO_FIRST,
	  .ints = true,
	  .loop = true,
	  .step = "return %",
	  .result = "0",
	  .say = "first of the ",
	  .tail = IF_NONE,
	  .near = "last min" },
	{ .name = "last",
	  .in = L,
	  .fold = MICRO_LAST,
	  .ints = true,
	  .loop = true,
	  .init = "0",
	  .step = "r = %",
	  .result = "r",
	  .say = "last of the ",
	  .tail = IF_NONE,
	  .near = "first max" },
	{ .name = "list",
	  .in = L | R | W,
	  .fold = MICRO_COLLECT,
	  .ints = true,
	  .texts = true,
	  .code = "[@]",
	  .plain = "@",
	  .say = "list of the ",
	  .say2 = "List the ",
	  .near = "sorted" },
	{ .name = "sorted",
	  .in = L | W,
	  .fold = MICRO_SORT,
	  .ints = true,
	  .texts = true,
	  .code = "sorted(@)",
	  .plain = "sorted(@)",
	  .say = "sorted list of the ",
	  .say2 = "Sort the ",
	  .near = "list" },
	{ .name = "join",
	  .in = T | W,
	  .fold = MICRO_JOIN,
	  .texts = true,
	  .code = "\"\".join(@)",
	  .plain = "\"\".join(@)",
	  .say = "string of the ",
	  .say2 = "Join the ",
	  .near = "join_sorted join_spaced" },
	{ .name = "join_sorted",
	  .in = T,
	  .fold = MICRO_JOIN_SORTED,
	  .texts = true,
	  .code = "\"\".join(sorted(@))",
	  .plain = "\"\".join(sorted(@))",
	  .say = "sorted string of the ",
	  .say2 = "Sort and join the ",
	  .near = "join" },
	{ .name = "join_spaced",
	  .in = W,
	  .fold = MICRO_JOIN_SPACED,
	  .texts = true,
	  .code = "\" \".join(@)",
	  .plain = "\" \".join(@)",
	  .say = "string of the ",
	  .tail = ", joined with spaces",
	  .near = "join" },
	{ .name = "all",
	  .in = L | T,
	  .fold = MICRO_EVERY,
	  .ints = true,
	  .texts = true,
	  .code = "all(@)",
	  .say = "all",
	  .near = "any" },
	{ .name = "any",
	  .in = L | T,
	  .fold = MICRO_SOME,
	  .ints = true,
	  .texts = true,
	  .code = "any(@)",
	  .say = "any",
	  .near = "all" },
};

/* ---- tests of the result, guards of the argument ---- */

#define CMP(name, expr)                                                                            \
	static bool cmp_##name(int64_t v)                                                          \
	{                                                                                          \
		return expr;                                                                       \
	}
CMP(gt2, v > 2)
CMP(ge2, v >= 2)
CMP(gt10, v > 10)
CMP(ge10, v >= 10)
CMP(lt10, v < 10)
CMP(even, mod(v, 2) == 0)
CMP(odd, mod(v, 2) == 1)

#define TEST(name_, in_, fn, code_, say_, near_)                                                   \
	{                                                                                          \
		.name = name_, .in = in_, .cmp = cmp_##fn, .code = code_, .say = say_,             \
		.near = near_                                                                      \
	}
static const struct micro_part tests[] = {
	{ .name = "none", .in = L | R | T | W },
	TEST("gt2", L | R | T | W, gt2, " > 2", "is greater than 2", "ge2"),
	TEST("gt10", L | R | W, gt10, " > 10", "is greater than 10", "ge10 lt10"),
	TEST("lt10", L | R | W, lt10, " < 10", "is less than 10", "gt10"),
	TEST("even", L | R | T | W, even, " % 2 == 0", "is even", "odd"),
	TEST("odd", L | R | T | W, odd, " % 2 == 1", "is odd", "even"),
	{ .name = "ge2", .in = L | R | T | W, .cmp = cmp_ge2, .code = " >= 2", .never = true },
	{ .name = "ge10", .in = L | R | W, .cmp = cmp_ge10, .code = " >= 10", .never = true },
};

#define PRE(name, expr)                                                                            \
	static bool pre_##name(const struct micro_input *in)                                       \
	{                                                                                          \
		return expr;                                                                       \
	}

static bool has_zero(const struct micro_input *in)
{
	for (int i = 0; i < in->n_xs; i++)
		if (in->xs[i] == 0)
			return true;
	return false;
}

PRE(few, in->n_xs < 3)
PRE(few3, in->n_xs <= 3)
PRE(many, in->n_xs > 5)
PRE(many5, in->n_xs >= 5)
PRE(zero, has_zero(in))
PRE(no_zero, !has_zero(in))
PRE(big, in->n > 6)
PRE(big6, in->n >= 6)
PRE(even_n, in->n % 2 == 0)
PRE(odd_n, in->n % 2 == 1)
PRE(brief, strlen(in->s) < 5)
PRE(brief5, strlen(in->s) <= 5)

#define GUARD(name_, in_, fn, code_, say_, near_)                                                  \
	{                                                                                          \
		.name = name_, .in = in_, .pre = pre_##fn, .code = code_, .say = say_,             \
		.near = near_                                                                      \
	}
#define WRONG_GUARD(name_, in_, fn, code_)                                                         \
	{                                                                                          \
		.name = name_, .in = in_, .pre = pre_##fn, .code = code_, .never = true            \
	}
static const struct micro_part guards[] = {
	{ .name = "none", .in = L | R | T | W },
	GUARD("few", L, few, "len(xs) < 3", "xs has fewer than 3 items", "few3 none"),
	GUARD("many", L, many, "len(xs) > 5", "xs has more than 5 items", "many5 none"),
	GUARD("zero", L, zero, "0 in xs", "xs contains 0", "no_zero none"),
	GUARD("big", R, big, "n > 6", "n is greater than 6", "big6 none"),
	GUARD("even_n", R, even_n, "n % 2 == 0", "n is even", "odd_n none"),
	GUARD("brief", T | W, brief, "len(s) < 5", "s has fewer than 5 characters", "brief5 none"),
	WRONG_GUARD("few3", L, few3, "len(xs) <= 3"),
	WRONG_GUARD("many5", L, many5, "len(xs) >= 5"),
	WRONG_GUARD("no_zero", L, no_zero, "0 not in xs"),
	WRONG_GUARD("big6", R, big6, "n >= 6"),
	WRONG_GUARD("odd_n", R, odd_n, "n % 2 == 1"),
	WRONG_GUARD("brief5", T | W, brief5, "len(s) <= 5"),
};

#define TABLE(t)                                                                                   \
	{                                                                                          \
		t, (int)(sizeof t / sizeof *t)                                                     \
	}
static const struct {
	const struct micro_part *row;
	int n;
} tables[MICRO_SLOTS] = {
	[MICRO_GUARD] = TABLE(guards),   [MICRO_SOURCE] = TABLE(sources),
	[MICRO_FILTER] = TABLE(filters), [MICRO_COND] = TABLE(filters),
	[MICRO_MAP] = TABLE(maps),       [MICRO_OTHER] = TABLE(maps),
	[MICRO_FOLD] = TABLE(folds),     [MICRO_TEST] = TABLE(tests),
};

const struct micro_part *micro_part(enum micro_slot slot, int i)
{
	return i < tables[slot].n ? &tables[slot].row[i] : NULL;
}
