/* checker_unordered.c - the same elements in any order: lines or words of text, items of a list.
 *
 * Text of any size needs no memory: an element is hashed with a key that lives for one comparison,
 * and the sums of the hashes (mod 2^128) are compared. Texts with other elements, or other numbers
 * of them, have equal sums with a chance below 2^-100, and nobody can aim at it.
 */
#include "judge/checker.h"

#include "base/sip.h"

struct cfg {
	bool deep;
	int layout, letters;
};

static const struct opt opts[] = {
	{ "deep", OPT_BOOL, offsetof(struct cfg, deep), 0, 0, 0, "false", "",
	  "in lists within lists too" },
	CHECKER_OPT_LAYOUT(layout, "what may change places: lines, or tokens: all words"),
	CHECKER_OPT_CASE(letters),
	{ 0 },
};

struct sum {
	sip_t hashes;
	size_t n;
};

static void add_word(struct sip *s, struct str word, bool fold)
{
	char small[64];

	if (!fold)
		sip_add(s, word.p, word.n);
	for (size_t i = 0, k; fold && i < word.n; i += k) {
		for (k = 0; k < sizeof small && i + k < word.n; k++)
			small[k] = str_fold(word.p[i + k]);
		sip_add(s, small, k);
	}
	sip_add(s, " ", 1); /* no word holds a blank */
}

/* Word by word, so that the amount of blank between words does not matter. */
static sip_t hash_line(const struct sip_key *key, struct str line, bool fold)
{
	struct sip s = sip_start(key);
	struct str word;

	while (str_next_token(&line, &word))
		add_word(&s, word, fold);
	return sip_end(&s);
}

static struct sum sum_of(const struct cfg *c, const struct sip_key *key, struct str text)
{
	bool (*next)(struct str *, struct str *) =
		c->layout == CHECKER_TOKENS ? str_next_token : str_next_line;
	struct str rest = str_trim_end(text), element;
	struct sum s = { 0 };

	for (; next(&rest, &element); s.n++)
		s.hashes += hash_line(key, element, c->letters == CHECKER_FOLD);
	return s;
}

static int check(const void *cfg, const struct check_in *in, double *ret_score, struct err *e)
{
	struct sum want, got;
	struct sip_key key;
	int r;

	if (str_eq(in->expected, in->got)) {
		*ret_score = 1;
		return 0;
	}
	r = sip_key_random(&key, e);
	if (r < 0)
		return r;
	want = sum_of(cfg, &key, in->expected);
	got = sum_of(cfg, &key, in->got);
	*ret_score = want.n == got.n && want.hashes == got.hashes;
	return 0;
}

static double value(const void *cfg, struct value *want, struct value *got)
{
	const struct cfg *c = cfg;

	value_sort(want, c->deep);
	value_sort(got, c->deep);
	return value_same(want, got, 0, 0);
}

static const struct check_case cases[] = {
	{ { STR(""), STR("1 2\n3\n"), STR("3\n1  2") }, 1 },
	{ { STR(""), STR("1\r\n2\r\n"), STR(" 2\n1\n\n") }, 1 },
	{ { STR(""), STR(""), STR("\n") }, 1 },
	{ { STR(""), STR("1\n1\n2"), STR("1\n2\n2") }, 0 },
	{ { STR(""), STR("1\n2"), STR("1\n2\n1") }, 0 },
	{ { STR(""), STR("1\n1"), STR("1") }, 0 },
	{ { STR(""), STR("1 2"), STR("2 1") }, 0 },
	{ { STR(""), STR("1 2"), STR("12") }, 0 },
	{ { STR(""), STR("1 2\n3"), STR("1\n2 3") }, 0 },
	{ { STR(""), STR("1\n2"), STR("1\n\n2") }, 0 },
	{ { STR(""), STR("a\nb"), STR("b\0\na") }, 0 },
	{ { STR(""), STR("a\nb"), STR("B\nA") }, 0 },
	{ { STR(""), STR("a\nb"), STR("B\nA") }, 1, "case=fold" },
	{ { STR(""), STR("1 2\n3"), STR("3 2\n1") }, 1, "layout=tokens" },
	{ { STR(""), STR("1 2\n3"), STR("3 2\n2") }, 0, "layout=tokens" },
	{ { STR(""), STR("1 2 2"), STR("2 1 1") }, 0, "layout=tokens" },
	{ { STR(""), STR("1 2"), STR("12") }, 0, "layout=tokens" },
	{ { STR(""), STR("No Yes"), STR("YES\nNO") }, 1, "layout=tokens case=fold" },
	{ 0 },
};

static const struct check_value_case value_cases[] = {
	{ "[0,1,2]", "[2,1,0]", 1 },
	{ "[1,2]", "{\"s\":[2,1]}", 1 },
	{ "[[1],[2,3]]", "[[2,3],[1]]", 1 },
	{ "[1,1,2]", "[1,2,2]", 0 },
	{ "[1,1,2]", "[1,2]", 0 },
	{ "[[1,2]]", "[[2,1]]", 0 },
	{ "[\"a\",1,null,2.5]", "[2.5,null,\"a\",1.0]", 1 },
	{ 0 },
};

const struct checker checker_unordered = {
	.name = "unordered",
	.doc = "the same lines, words or list items in any order",
	.source = "spec/FAULTS.md, R12",
	.opts = opts,
	.cfg_size = sizeof(struct cfg),
	.check = check,
	.value = value,
	.cases = cases,
	.value_cases = value_cases,
};
