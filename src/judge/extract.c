/* extract.c - finds the program in a completion. */
#include "judge/extract.h"

#include "judge/extract_int.h"
#include "task/task.h"

const char *extract_text(enum extract_result r)
{
	static const char *const text[] = { "ok", "no_code", "think_only", "truncated",
		                            "no_memory" };

	return text[r];
}

enum { RANK_UNTAGGED = 1, RANK_TAGGED, RANK_ENTRY };

/* What a text offers: the best block so far, or why there is none. */
struct found {
	int rank; /* 0: none */
	struct str code;
	bool fenced; /* there is a fence */
	bool cut;    /* the text ends where a block begins */
	bool thinks; /* the text ends within a think block */
};

/* An end of which only a part was written: `` */
static struct str cut_half_fence(struct str code, char c)
{
	struct str s = str_trim_end(code);
	size_t n = s.n;

	while (n && s.p[n - 1] == c)
		n--;
	return n < s.n && (n == 0 || s.p[n - 1] == '\n') ? (struct str){ s.p, n } : code;
}

static bool take_block(const struct block *b, const char *const *tags, struct str entry,
                       struct arena *a, struct found *f)
{
	struct str code = fence_body(b, a);
	bool named = false;
	int rank = 0;

	if (!code.p)
		return false;
	if (!b->closed)
		code = cut_half_fence(code, b->f.c);
	code = leftovers_first(code, tags, &named);
	if (str_trim_end(code).n == 0)
		return true;
	if (b->f.tag == TAG_WANTED || (named && b->f.tag == TAG_NONE))
		rank = entry.n && task_defines(code, entry, NULL) ? RANK_ENTRY : RANK_TAGGED;
	else if (b->f.tag == TAG_NONE)
		rank = RANK_UNTAGGED;
	if (rank && rank >= f->rank)
		f->rank = rank, f->code = code;
	return true;
}

/* False: no memory. */
static bool find(struct str text, const char *const *tags, struct str entry, struct arena *a,
                 struct found *ret)
{
	struct fence_scan x = fence_scan_start(text, tags);
	struct found f = { 0 };
	struct block b;

	while (fence_next(&x, &b)) {
		f.fenced = true;
		f.cut = !b.closed && str_trim_end(cut_half_fence(b.body, b.f.c)).n == 0;
		if (b.body.n && !take_block(&b, tags, entry, a, &f))
			return false;
	}
	f.thinks = x.thinks;
	*ret = f;
	return true;
}

enum extract_result extract_code(struct str completion, const char *const *tags, struct str entry,
                                 struct arena *a, struct str *ret)
{
	struct str text = leftovers_trim(completion);
	struct answer all;
	struct found last, f = { 0 };

	if (str_trim(text).n == 0)
		return EXTRACT_NO_CODE;
	think_split(text, &all);
	if (!find(all.last, tags, entry, a, &last))
		return EXTRACT_NO_MEMORY;
	if (!last.rank) /* an answer may stand before the last thought */
		for (int i = 0; i < all.n && !f.rank; i++)
			if (!find(all.before[i], tags, entry, a, &f))
				return EXTRACT_NO_MEMORY;
	if (last.rank || f.rank) {
		*ret = last.rank ? last.code : f.code;
		return EXTRACT_OK;
	}
	if (last.thinks || (all.thought && str_trim(all.last).n == 0))
		return EXTRACT_THINK_ONLY;
	if (last.fenced)
		return last.cut ? EXTRACT_TRUNCATED : EXTRACT_NO_CODE;
	text = leftovers_bare(all.last, tags);
	if (str_trim(text).n == 0)
		return EXTRACT_NO_CODE;
	*ret = text;
	return EXTRACT_OK;
}
