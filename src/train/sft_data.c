/* sft_data.c - reads the records of a warm start and encodes them. */
#include "train/sft.h"

#include <string.h>

#include "base/io.h"
#include "base/json.h"

enum { MAX_LINE = 16 << 20, FIRST = 1024 };

static int read_record(struct str line, struct arena *scratch, struct arena *a,
                       struct sft_text *ret, struct err *e)
{
	const struct json *j = NULL;
	struct sft_text t;

	arena_reset(scratch);
	if (json_parse(line, scratch, &j, e) < 0 || json_need_str(j, "prompt", &t.prompt, e) < 0 ||
	    json_need_str(j, "completion", &t.completion, e) < 0)
		return ERR_PARSE;
	if (t.prompt.n == 0)
		return FAIL(e, ERR_PARSE, "'prompt' is empty");
	t.prompt = arena_str(a, t.prompt);
	t.completion = arena_str(a, t.completion);
	if (!t.prompt.p || !t.completion.p)
		return FAIL(e, ERR_LIMIT, "more texts than %zu bytes", a->limit);
	*ret = t;
	return 0;
}

static int add(struct sft_texts *t, int *cap, struct sft_text x, struct arena *a, struct err *e)
{
	if (t->n == *cap) {
		int more = *cap ? 2 * *cap : FIRST;
		struct sft_text *p = arena_new(a, struct sft_text, more);

		if (!p)
			return FAIL(e, ERR_LIMIT, "more records than fit into %zu bytes", a->limit);
		if (t->n)
			memcpy(p, t->text, (size_t)t->n * sizeof *p);
		t->text = p;
		*cap = more;
	}
	t->text[t->n++] = x;
	return 0;
}

int sft_read(const char *path, struct arena *a, struct sft_texts *ret, struct err *e)
{
	AUTO_ARENA scratch = { .limit = 4 * (size_t)MAX_LINE };
	struct sft_texts t = { 0 };
	struct io_lines *l;
	struct str line;
	int cap = 0, r;

	if (io_lines_open(path, MAX_LINE, &l, e) < 0)
		return e->code;
	while ((r = io_lines_next(l, &line, e)) == 1) {
		struct sft_text x = { 0 };

		if (str_trim_end(line).n == 0)
			continue;
		r = read_record(line, &scratch, a, &x, e);
		if (r == 0)
			r = add(&t, &cap, x, a, e);
		if (r < 0) {
			r = err_wrap(e, "%s:%d", path, io_lines_number(l));
			break;
		}
	}
	io_lines_close(l);
	if (r < 0)
		return r;
	if (t.n == 0)
		return FAIL(e, ERR_PARSE, "%s holds no records", path);
	*ret = t;
	return 0;
}

/* prompt, completion, end of text; *ret_n 0 if that is longer than max. */
static int encode_one(const struct sft_text *x, const struct tok *tok, int32_t *buf, int room,
                      int max, int *ret_prompt, int *ret_n, struct err *e)
{
	int p = 0, c = 0;

	if (tok_encode(tok, x->prompt, false, buf, room, &p, e) < 0 ||
	    tok_encode(tok, x->completion, false, buf + p, room - p - 1, &c, e) < 0)
		return e->code;
	buf[p + c] = tok_eos(tok);
	*ret_prompt = p;
	*ret_n = p + c + 1 <= max ? p + c + 1 : 0;
	return 0;
}

int sft_encode(const struct sft_texts *t, const struct tok *tok, int max_seq, struct arena *a,
               struct sft_set *ret, struct err *e)
{
	AUTO_ARENA scratch = { .limit = 8 * (size_t)MAX_LINE };
	struct sft_set s = { .seq = arena_new(a, struct sft_seq, t->n) };
	size_t longest = 0;
	int32_t *buf;

	for (int i = 0; i < t->n; i++) {
		size_t n = t->text[i].prompt.n + t->text[i].completion.n;

		longest = n > longest ? n : longest;
	}
	buf = arena_new(&scratch, int32_t, longest + 2); /* a token has one byte at least */
	if (!s.seq || !buf)
		return FAIL(e, ERR_LIMIT, "%d records", t->n);
	for (int i = 0; i < t->n; i++) {
		struct sft_seq *q = &s.seq[s.n];
		int32_t *own;
		int n = 0;

		if (encode_one(&t->text[i], tok, buf, (int)longest + 2, max_seq, &q->n_prompt, &n,
		               e) < 0)
			return err_wrap(e, "record %d", i + 1);
		if (n == 0) {
			s.too_long++;
			continue;
		}
		own = arena_new(a, int32_t, n);
		if (!own)
			return FAIL(e, ERR_LIMIT, "%d records", t->n);
		memcpy(own, buf, (size_t)n * sizeof *own);
		q->tok = own;
		q->n = n;
		s.trained += n - q->n_prompt;
		s.n++;
	}
	if (s.n == 0)
		return FAIL(e, ERR_RANGE, "no record fits into max_seq = %d tokens", max_seq);
	*ret = s;
	return 0;
}
