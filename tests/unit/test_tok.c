/* Tokenizer: every text comes back, encoding and training agree with their plain definitions. */
#include "tok/tok.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "tok/tok_impl.h"

static const char *const special[] = { "<|endoftext|>", "<|pad|>", NULL };

static const char code[] = "# Return the sum of the squares of xs.\ndef f(xs):\n"
			   "    total = 0\n    for x in xs:\n        total += x * x\n"
			   "    return total\n"
			   "# Return the largest of xs, or -1.\ndef f(xs):\n"
			   "    return max(xs) if xs else -1\n"
			   "# Return 2024 times n.\ndef f(n):\n    return 2024 * n\n";

static uint32_t next_random(void)
{
	static uint32_t x = 12345;

	x = x * 1664525 + 1013904223;
	return x >> 8;
}

static struct str of(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static struct tok *train(struct str text, int vocab)
{
	struct tok *t = NULL;
	struct err e = { 0 };

	if (tok_train(&text, 1, vocab, special, &t, &e) < 0)
		fail_msg("%s", e.msg);
	return t;
}

static void every_text_comes_back(void **state)
{
	static const char *const bits[] = {
		"def ", "xs",       "\n",           "\r\n", "    ", "12",       "\xff",
		"\xc3", "\xe2\x82", "\xed\xa0\x80", "é",    "漢",   "\xc2\x85", "<|endoftext|>",
		"'s",   "(:"
	};
	struct tok *t = train(of(code), 330);

	(void)state;
	for (int round = 0; round < 3000; round++) {
		AUTO_BUF text = { .max = 1 << 16 };
		AUTO_BUF back = { .max = 1 << 16 };
		int32_t id[1 << 10];
		uint32_t byte_of[(1 << 10) + 1];
		uint32_t parts = next_random() % 24;
		int n = -1;
		struct err e;

		for (uint32_t i = 0; i < parts; i++)
			if (next_random() % 2)
				buf_puts(&text, bits[next_random() % 16]);
			else
				buf_putc(&text, (char)next_random()); /* NUL too */
		assert_int_equal(tok_encode(t, buf_str(&text), false, id, 1 << 10, &n, &e), 0);
		tok_decode(t, id, n, &back, byte_of);
		assert_true(str_eq(buf_str(&text), buf_str(&back)));
		/* byte_of: each token's own bytes stand there. */
		for (int i = 0; i < n; i++) {
			AUTO_BUF one = { .max = 1 << 16 };

			assert_true(id[i] >= 0 && id[i] < tok_vocab(t) && id[i] != tok_eos(t));
			tok_decode(t, &id[i], 1, &one, NULL);
			assert_int_equal(byte_of[i + 1] - byte_of[i], one.n);
			assert_memory_equal(back.p + byte_of[i], one.p, one.n);
		}
		assert_int_equal(byte_of[n], text.n);
	}
	tok_free(t);
}

static void prompts_of_micro_tasks(void **state)
{
	struct tok *t = train(of(code), 420);
	int32_t id[64];
	int n = 0, digits = 0;
	struct err e;

	(void)state;
	assert_int_equal(tok_encode(t, STR("\ndef f(xs):\n"), false, id, 64, &n, &e), 0);
	assert_true(n <= 6); /* learnt as words: "\n", "def", " f", "(xs", "):\n" */
	assert_int_equal(tok_encode(t, STR("2024"), false, id, 64, &n, &e), 0);
	for (int i = 0; i < n; i++)
		digits += t->piece[id[i]].n == 1;
	assert_int_equal(digits, 4); /* never merged, however often they stand together */
	tok_free(t);
}

/* ---- encoding and training against their definitions ---- */

/* Merge the pair of lowest rank, the leftmost of equal ones, until there is none. */
static int plain_encode(const struct tok *t, struct str s, int32_t *id)
{
	int n = 0;

	for (size_t i = 0; i < s.n; i++)
		id[n++] = t->byte_id[(unsigned char)s.p[i]];
	for (;;) {
		int best = -1, at = -1;

		for (int i = 0; i + 1 < n; i++)
			for (int r = 0; r < t->n_merges; r++)
				if (t->merge[r].a == id[i] && t->merge[r].b == id[i + 1] &&
				    (best < 0 || r < best)) {
					best = r;
					at = i;
				}
		if (at < 0)
			return n;
		id[at] = t->merge[best].to;
		memmove(id + at + 1, id + at + 2, (size_t)(n - at - 2) * sizeof *id);
		n--;
	}
}

/* Words of letters: each is one piece. */
static void random_words(struct buf *b, int words, int letters)
{
	for (int i = 0; i < words; i++) {
		uint32_t n = 1 + next_random() % 12;

		for (uint32_t k = 0; k < n; k++)
			buf_putc(b, (char)('a' + next_random() % (uint32_t)letters));
		buf_putc(b, '\n');
	}
}

static void encoding_is_the_definition(void **state)
{
	AUTO_BUF text = { .max = 1 << 20 };

	(void)state;
	random_words(&text, 400, 3);
	struct tok *t = train(buf_str(&text), 340);
	for (int round = 0; round < 400; round++) {
		char s[80];
		int32_t got[80], want[80];
		uint32_t len = 1 + next_random() % sizeof s;
		int n = 0, m;
		struct err e;

		for (uint32_t i = 0; i < len; i++)
			s[i] = (char)('a' + next_random() % 3);
		m = plain_encode(t, (struct str){ s, len }, want);
		assert_int_equal(tok_encode(t, (struct str){ s, len }, false, got, 80, &n, &e), 0);
		assert_int_equal(n, m);
		assert_memory_equal(got, want, (size_t)n * sizeof *got);
	}
	tok_free(t);
}

/* Count all pairs of all words anew for each merge. */
struct plain {
	int32_t sym[200][16];
	int len[200], n;
	struct str piece[512];
	char bytes[512][16];
	int n_ids, n_merges;
	struct tok_merge merge[512];
};

static void plain_best(const struct plain *p, int32_t *a, int32_t *b, int *count)
{
	*count = 0;
	for (int i = 0; i < p->n; i++)
		for (int k = 0; k + 1 < p->len[i]; k++) {
			int32_t x = p->sym[i][k], y = p->sym[i][k + 1];
			int c = 0;

			for (int j = 0; j < p->n; j++)
				for (int m = 0; m + 1 < p->len[j]; m++)
					c += p->sym[j][m] == x && p->sym[j][m + 1] == y;
			if (c > *count || (c == *count && (x < *a || (x == *a && y < *b)))) {
				*count = c;
				*a = x;
				*b = y;
			}
		}
}

static void plain_step(struct plain *p, int32_t a, int32_t b)
{
	struct str s = { p->bytes[p->n_ids], p->piece[a].n + p->piece[b].n };
	int32_t to = p->n_ids;

	memcpy(p->bytes[to], p->piece[a].p, p->piece[a].n);
	memcpy(p->bytes[to] + p->piece[a].n, p->piece[b].p, p->piece[b].n);
	for (int i = 0; i < p->n_ids; i++)
		assert_false(str_eq(p->piece[i], s)); /* no other pair spells it */
	p->piece[p->n_ids++] = s;
	p->merge[p->n_merges++] = (struct tok_merge){ a, b, to };
	for (int i = 0; i < p->n; i++) {
		int n = 0;

		for (int k = 0; k < p->len[i]; k++) {
			bool hit = k + 1 < p->len[i] && p->sym[i][k] == a && p->sym[i][k + 1] == b;

			p->sym[i][n++] = hit ? to : p->sym[i][k];
			k += hit;
		}
		p->len[i] = n;
	}
}

static void training_is_the_definition(void **state)
{
	static struct plain p;

	(void)state;
	for (int round = 0; round < 12; round++) {
		AUTO_BUF text = { .max = 1 << 20 };
		struct str rest, line;
		int32_t a = 0, b = 0;
		int count, vocab = 258 + 20 + 8 * round;

		random_words(&text, 120, 1 + round % 4);
		memset(&p, 0, sizeof p);
		for (int i = 0; i < 256; i++) {
			p.bytes[i][0] = (char)i;
			p.piece[i] = (struct str){ p.bytes[i], 1 };
		}
		p.piece[256] = of(special[0]);
		p.piece[257] = of(special[1]);
		p.n_ids = 258;
		for (rest = buf_str(&text); str_next_line(&rest, &line); p.n++)
			for (size_t i = 0; i < line.n; i++)
				p.sym[p.n][p.len[p.n]++] = (unsigned char)line.p[i];
		for (;;) {
			plain_best(&p, &a, &b, &count);
			if (count < 2 || p.n_ids == vocab)
				break;
			plain_step(&p, a, b);
		}
		struct tok *t = train(buf_str(&text), vocab);
		assert_int_equal(t->n, p.n_ids);
		assert_int_equal(t->n_merges, p.n_merges);
		for (int i = 0; i < t->n_merges; i++)
			assert_memory_equal(&t->merge[i], &p.merge[i], sizeof *t->merge);
		tok_free(t);
	}
}

static void ties_go_to_the_smaller_ids(void **state)
{
	struct tok *t = train(STR("xy\nxy\nba\nba\n"), 259);

	(void)state;
	assert_int_equal(t->n_merges, 1);
	assert_true(t->merge[0].a == 'b' && t->merge[0].b == 'a' && t->merge[0].to == 258);
	tok_free(t);
	t = train(STR("abab\nabab\n"), 1000);
	assert_int_equal(t->n, 260); /* ab, abab; then nothing occurs twice */
	tok_free(t);
}

/* ---- special tokens ---- */

static void special_only_if_asked(void **state)
{
	struct tok *t = train(of(code), 320);
	struct str s = STR("ab<|endoftext|><|pad|>c<|end");
	AUTO_BUF back = { .max = 1 << 16 };
	int32_t id[64];
	uint32_t byte_of[65];
	int n = 0, found = 0;
	struct err e;

	(void)state;
	assert_int_equal(tok_eos(t), 256);
	assert_int_equal(tok_special(t, "<|pad|>"), 257);
	assert_int_equal(tok_special(t, "<|x|>"), -1);
	assert_int_equal(tok_special(t, "a"), -1);
	assert_int_equal(tok_encode(t, s, false, id, 64, &n, &e), 0);
	for (int i = 0; i < n; i++)
		assert_true(id[i] != 256 && id[i] != 257);
	assert_int_equal(tok_encode(t, s, true, id, 64, &n, &e), 0);
	for (int i = 0; i < n; i++)
		if (id[i] == 256) {
			found++;
			assert_int_equal(id[i + 1], 257);
		}
	assert_int_equal(found, 1);
	tok_decode(t, id, n, &back, byte_of);
	assert_true(str_eq(buf_str(&back), STR("abc<|end")));
	tok_decode(t, (int32_t[]){ -1, 'x', 9999, 256, 'y' }, 5, &back, byte_of);
	assert_true(str_eq(buf_str(&back), STR("abc<|endxy")));
	assert_memory_equal(byte_of, ((uint32_t[]){ 0, 0, 1, 1, 1, 2 }), 24);
	tok_free(t);
}

/* The text of a special token is a word here: no merge may spell it. */
static void special_is_never_learnt(void **state)
{
	static const char *const word[] = { "stop", NULL };
	struct str text = STR("stop\nstop\nstop\nstop it\n");
	struct tok *t = NULL;
	int32_t id[32];
	int n = 0;
	struct err e;

	(void)state;
	assert_int_equal(tok_train(&text, 1, 400, word, &t, &e), 0);
	assert_int_equal(tok_encode(t, text, false, id, 32, &n, &e), 0);
	for (int i = 0; i < n; i++)
		assert_true(id[i] != tok_eos(t));
	assert_int_equal(tok_encode(t, STR("stop"), true, id, 32, &n, &e), 0);
	assert_true(n == 1 && id[0] == tok_eos(t));
	tok_free(t);
}

static void bad_training_arguments(void **state)
{
	static const char *const bad[][3] = {
		{ "" }, { "a" }, { "a b" }, { "\xc3\xa9x" }, { "<a>", "<a>" }
	};
	struct str text = STR("a");
	struct tok *t = NULL;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(tok_train(&text, 1, 300, bad[i], &t, &e), ERR_RANGE);
	assert_int_equal(tok_train(&text, 1, 257, special, &t, &e), ERR_RANGE);
	assert_int_equal(tok_train(&text, 1, 1 << 30, special, &t, &e), ERR_RANGE);
	assert_null(t);
	assert_int_equal(tok_train(NULL, 0, 258, special, &t, &e), 0); /* no text: bytes */
	assert_int_equal(tok_vocab(t), 258);
	tok_free(t);
}

static void room_for_ids_is_kept(void **state)
{
	struct tok *t = train(of("q"), 258);
	int32_t id[4] = { 0, 0, 0, -7 };
	int n = -5;
	struct err e;

	(void)state;
	assert_int_equal(tok_encode(t, STR("wxyz"), false, id, 3, &n, &e), ERR_LIMIT);
	assert_int_equal(n, -5);
	assert_int_equal(id[3], -7);
	assert_int_equal(tok_encode(t, STR("xyz"), false, id, 3, &n, &e), 0);
	assert_int_equal(n, 3);
	assert_int_equal(tok_encode(t, (struct str){ 0 }, true, NULL, 0, &n, &e), 0);
	assert_int_equal(n, 0);
	tok_free(t);
}

static void one_long_piece(void **state)
{
	enum { N = 1 << 19 };
	struct tok *t = train(STR("aaaaaaaa\naaaa\naaaaaaaaaaaaaaaa\n"), 300);
	char *p = malloc(N);
	int32_t *id = malloc(N * sizeof *id);
	int n = 0;
	struct err e;

	(void)state;
	assert_true(p && id);
	memset(p, 'a', N);
	assert_int_equal(tok_encode(t, (struct str){ p, N }, false, id, N, &n, &e), 0);
	assert_true(n < N / 4);
	memset(p, ' ', N);
	assert_int_equal(tok_encode(t, (struct str){ p, N }, false, id, N, &n, &e), 0);
	free(p);
	free(id);
	tok_free(t);
}

/* ---- pieces ---- */

static int note_piece(void *arg, struct str s, struct err *e)
{
	struct buf *b = arg;

	(void)e;
	buf_putstr(b, s);
	buf_putc(b, '|');
	return 0;
}

static void pieces_of_the_qwen_pattern(void **state)
{
	static const struct {
		const char *text, *want;
	} c[] = {
		{ "def f(xs):\n    return x1 + 23", "def| f|(xs|):\n|   | return| x|1| +| |2|3|" },
		{ "I'Re it's", "I|'Re| it|'s|" },
		{ "a\n\n  b \t\n c  ", "a|\n\n| | b| \t\n| c|  |" },
		{ "..\xc2\x85..", "..|\xc2\x85|..|" },       /* U+0085 is white space */
		{ "..\xe1\xa0\x8e..", "..\xe1\xa0\x8e..|" }, /* U+180E is not */
		{ "..\xe2\x80\x8b..", "..\xe2\x80\x8b..|" }, /* U+200B is not */
		{ "a\xff\xfe b\xed\xa0\x80", "a|\xff|\xfe| b|\xed|\xa0|\x80|" },
		{ "a  \xff", "a|  |\xff|" }, /* text ends at a bad byte */
	};
	struct tok *t = train(of("q"), 258);

	(void)state;
	for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
		AUTO_BUF b = { .max = 1 << 10 };
		struct err e;

		assert_int_equal(tok_pieces(t, of(c[i].text), note_piece, &b, &e), 0);
		if (!str_is(buf_str(&b), c[i].want))
			fail_msg("%s: %s", c[i].text, buf_cstr(&b));
	}
	tok_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_text_comes_back),
		cmocka_unit_test(prompts_of_micro_tasks),
		cmocka_unit_test(encoding_is_the_definition),
		cmocka_unit_test(training_is_the_definition),
		cmocka_unit_test(ties_go_to_the_smaller_ids),
		cmocka_unit_test(special_only_if_asked),
		cmocka_unit_test(special_is_never_learnt),
		cmocka_unit_test(bad_training_arguments),
		cmocka_unit_test(room_for_ids_is_kept),
		cmocka_unit_test(one_long_piece),
		cmocka_unit_test(pieces_of_the_qwen_pattern),
	};

	return RUN(tests);
}
