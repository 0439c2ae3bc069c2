/* extract.c - finds the program in a completion. */
#include "judge/extract.h"

#include <string.h>
#include <strings.h>

#include "task/task.h"

/* An opening fence: indentation, run of one character, the first word behind it. */
struct fence {
	size_t indent, run;
	char c;
	struct str tag;
};

const char *extract_text(enum extract_result r)
{
	static const char *const text[] = { "ok", "no_code", "think_only", "truncated",
		                            "no_memory" };

	return text[r];
}

static size_t indent_of(struct str line)
{
	size_t n = 0;

	while (n < line.n && (line.p[n] == ' ' || line.p[n] == '\t'))
		n++;
	return n;
}

static size_t run_of(struct str line, size_t at, char c)
{
	size_t n = 0;

	while (at + n < line.n && line.p[at + n] == c)
		n++;
	return n;
}

static bool is_opening(struct str line, struct fence *ret)
{
	struct fence f = { .indent = indent_of(line) };
	struct str info;

	f.c = f.indent < line.n ? line.p[f.indent] : 0;
	if (f.c != '`' && f.c != '~')
		return false;
	f.run = run_of(line, f.indent, f.c);
	if (f.run < 3)
		return false;
	info = (struct str){ line.p + f.indent + f.run, line.n - f.indent - f.run };
	/* Backticks behind backticks are code in a sentence, not a fence. */
	if (f.c == '`' && info.n && memchr(info.p, '`', info.n))
		return false;
	(void)str_next_token(&info, &f.tag);
	*ret = f;
	return true;
}

/* Alone on its line, at least as long, of the same character, at most three columns deeper. */
static bool is_closing(struct str line, const struct fence *f)
{
	size_t in = indent_of(line), run = run_of(line, in, f->c);

	return in <= f->indent + 3 && run >= f->run && in + run == str_trim_end(line).n;
}

static bool is_wanted(struct str tag, const char *const *tags)
{
	for (int i = 0; tags[i]; i++)
		if (strlen(tags[i]) == tag.n && strncasecmp(tags[i], tag.p, tag.n) == 0)
			return true;
	return false;
}

/* body without the fence's indentation; .p NULL: no memory. */
static struct str dedent(struct str body, size_t indent, struct arena *a)
{
	struct str line;
	char *p;
	size_t n = 0;

	if (indent == 0)
		return body;
	p = arena_new(a, char, body.n + 1);
	if (!p)
		return (struct str){ 0 };
	while (body.n) {
		const char *from = body.p;
		size_t skip;

		(void)str_next_line(&body, &line);
		skip = indent_of(line);
		skip = skip < indent ? skip : indent;
		memcpy(p + n, from + skip, (size_t)(body.p - from) - skip);
		n += (size_t)(body.p - from) - skip;
	}
	return (struct str){ p, n };
}

/* Everything up to the last end of a think block. False: the answer never leaves it. */
static bool skip_thinking(struct str *s)
{
	static const struct str open = STR("<think>"), close = STR("</think>");
	const char *last = NULL, *at = s->p;
	size_t left = s->n;

	while (left && (at = memmem(at, left, close.p, close.n))) {
		last = at += close.n;
		left = s->n - (size_t)(at - s->p);
	}
	if (last) {
		*s = (struct str){ last, s->n - (size_t)(last - s->p) };
		return str_trim_end(*s).n != 0;
	}
	left = s->n;
	at = s->p;
	while (left && strchr(" \t\r\n", *at))
		at++, left--;
	return !str_starts((struct str){ at, left }, open);
}

/* The best block so far: 3 tag and entry, 2 tag, 1 no tag. */
struct best {
	int rank;
	struct str code;
};

static bool take_block(const struct fence *f, struct str body, const char *const *tags,
                       struct str entry, struct arena *a, struct best *best)
{
	struct str code = dedent(body, f->indent, a);
	int rank = f->tag.n == 0 ? 1 : is_wanted(f->tag, tags) ? 2 : 0;

	if (!code.p)
		return false;
	if (rank == 2 && entry.n && task_defines(code, entry, NULL))
		rank = 3;
	if (rank && rank >= best->rank && str_trim_end(code).n)
		*best = (struct best){ rank, code };
	return true;
}

enum extract_result extract_code(struct str completion, const char *const *tags, struct str entry,
                                 struct arena *a, struct str *ret)
{
	struct str rest = completion, line;
	struct fence f = { 0 };
	struct best best = { 0 };
	const char *body = NULL;
	bool fenced = false, empty = false;

	if (str_trim_end(rest).n == 0)
		return EXTRACT_NO_CODE;
	if (!skip_thinking(&rest))
		return EXTRACT_THINK_ONLY;
	completion = rest;
	while (str_next_line(&rest, &line)) {
		if (!body && is_opening(line, &f)) {
			fenced = true;
			body = rest.p;
		} else if (body && is_closing(line, &f)) {
			if (!take_block(&f, (struct str){ body, (size_t)(line.p - body) }, tags,
			                entry, a, &best))
				return EXTRACT_NO_MEMORY;
			body = NULL;
		}
	}
	if (body) { /* the end of the text closes the last block */
		struct str last = { body, (size_t)(completion.p + completion.n - body) };

		empty = str_trim_end(last).n == 0;
		if (!empty && !take_block(&f, last, tags, entry, a, &best))
			return EXTRACT_NO_MEMORY;
	}
	if (!fenced)
		best = (struct best){ 1, completion };
	if (!best.rank)
		return empty ? EXTRACT_TRUNCATED : EXTRACT_NO_CODE;
	*ret = best.code;
	return EXTRACT_OK;
}
