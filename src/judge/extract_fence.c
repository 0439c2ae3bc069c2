/* extract_fence.c - fenced blocks: CommonMark, and what people and models write instead.
 *
 * Beyond CommonMark, because what follows would be lost otherwise:
 *  - the fence may follow text in its line, if a wanted tag ends that line;
 *  - a fence with a wanted tag begins a block in a block of another language (an answer wrapped in
 *    markdown, a forgotten end);
 *  - in Python three backticks outside of texts and comments cannot be code: they end the block,
 *    wherever they stand; inside a text in triple quotes they do not, wherever they stand.
 */
#include <string.h>

#include "judge/extract_int.h"

enum {
	MAX_TRIES = 16, /* blocks whose triple quotes do not end: each costs a look at all text */
	MAX_LIST_DIGITS = 9, /* CommonMark */
	MAX_QUOTES = 100
};

/* A lexer of Python, as far as to know where texts are. */
struct texts {
	char quote; /* inside a text: how it ends, else 0 */
	bool triple;
};

static size_t run_of(struct str s, size_t at, char c)
{
	size_t n = 0;

	while (at + n < s.n && s.p[at + n] == c)
		n++;
	return n;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static size_t indent_of(struct str line)
{
	size_t n = 0;

	while (n < line.n && is_blank(line.p[n]))
		n++;
	return n;
}

static struct str from(struct str s, size_t n)
{
	return (struct str){ s.p + n, s.n - n };
}

/* To the end of the line. Returns where three backticks stand outside of texts, else the length. */
static size_t texts_line(struct texts *t, struct str s)
{
	size_t i = 0, run;
	bool joined = false;

	while (i < s.n) {
		char c = s.p[i];

		run = run_of(s, i, c);
		if (t->quote && c == '\\') {
			joined = i + 1 == s.n;
			i += 2;
		} else if (t->quote && c == t->quote && (!t->triple || run >= 3)) {
			i += t->triple ? 3 : 1;
			t->quote = 0;
		} else if (t->quote) {
			i++;
		} else if (c == '"' || c == '\'') {
			*t = (struct texts){ c, run >= 3 };
			i += t->triple ? 3 : 1;
		} else if (c == '`' && run >= 3) {
			return i;
		} else if (c == '#') {
			break;
		} else {
			i++;
		}
	}
	if (t->quote && !t->triple && !joined)
		t->quote = 0; /* a text that does not end is no text */
	return s.n;
}

/* Length of the mark of a list item with the blank behind it, or 0. */
static size_t list_mark(struct str s)
{
	size_t n = 0;

	while (n < s.n && n < MAX_LIST_DIGITS && s.p[n] >= '0' && s.p[n] <= '9')
		n++;
	if (n == s.n ||
	    !(n ? s.p[n] == '.' || s.p[n] == ')' : s.p[n] == '-' || s.p[n] == '*' || s.p[n] == '+'))
		return 0;
	n++;
	return n < s.n && is_blank(s.p[n]) ? n + 1 : 0;
}

/* Past marks of block quotes, as many as there are but at most max. */
static struct str unquote(struct str line, int max, int *ret_marks)
{
	int n = 0;

	for (; n < max; n++) {
		size_t at = indent_of(line);

		if (at == line.n || line.p[at] != '>')
			break;
		line = from(line, at + 1);
		if (line.n && line.p[0] == ' ')
			line = from(line, 1);
	}
	if (ret_marks)
		*ret_marks = n;
	return line;
}

bool fence_is_wanted(struct str tag, const char *const *tags)
{
	for (int i = 0; tags[i]; i++) {
		size_t n = strlen(tags[i]), k = n;

		if (tag.n < n || !str_eq_fold((struct str){ tags[i], n }, (struct str){ tag.p, n }))
			continue;
		while (k < tag.n && ((tag.p[k] >= '0' && tag.p[k] <= '9') || tag.p[k] == '.'))
			k++; /* python3.12 */
		if (k == tag.n)
			return true;
	}
	return false;
}

/* One word of the info string: python, .python, language-python, python:main.py, main.py. */
static bool names_language(struct str word, const char *const *tags)
{
	static const struct str prefix[] = { STR("."), STR("language-"), STR("lang-") };
	const char *dot;

	for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
		if (word.n > prefix[i].n &&
		    str_eq_fold((struct str){ word.p, prefix[i].n }, prefix[i]))
			word = from(word, prefix[i].n);
	if (fence_is_wanted(word, tags))
		return true;
	dot = word.n ? memrchr(word.p, '.', word.n) : NULL;
	return dot && fence_is_wanted(from(word, (size_t)(dot - word.p) + 1), tags);
}

/* The first word decides; in braces any of them. title="x" is no language. */
static int tag_of(struct str info, const char *const *tags)
{
	bool braces, first = true;

	info = str_trim(info);
	braces = info.n && info.p[0] == '{';
	for (size_t i = 0, n; i < info.n; i += n + 1) {
		struct str word = from(info, i);

		for (n = 0; n < word.n && !memchr(" \t{},;:=(", word.p[n], 9);)
			n++;
		word.n = n;
		if (n == 0)
			continue;
		if (i + n < info.n && info.p[i + n] == '=' && first)
			return TAG_NONE;
		if (names_language(word, tags))
			return TAG_WANTED;
		first = false;
		if (!braces)
			break;
	}
	return info.n && !first ? TAG_OTHER : TAG_NONE;
}

/* Backticks behind backticks are code in a sentence, not a fence. */
static bool open_at(struct str s, const char *const *tags, struct fence *ret, struct str *ret_info)
{
	size_t run;
	char c = s.n ? s.p[0] : 0;

	if (c != '`' && c != '~')
		return false;
	run = run_of(s, 0, c);
	s = from(s, run);
	if (run < 3 || (c == '`' && s.n && memchr(s.p, '`', s.n)))
		return false;
	ret->c = c;
	ret->run = run;
	ret->tag = tag_of(s, tags);
	*ret_info = s;
	return true;
}

/* loose: also behind text, where a wanted tag ends the line. */
static bool is_opening(struct str line, const char *const *tags, bool loose, struct fence *ret)
{
	struct fence f = { 0 };
	struct str s = unquote(line, MAX_QUOTES, &f.quotes), info;
	const char *tick;
	size_t n;

	do {
		f.indent += n = indent_of(s);
		s = from(s, n);
		f.indent += n = list_mark(s);
		s = from(s, n);
	} while (n);
	if (open_at(s, tags, &f, &info)) {
		*ret = f;
		return true;
	}
	tick = loose && s.n ? memchr(s.p, '`', s.n) : NULL;
	if (!tick || !open_at(from(s, (size_t)(tick - s.p)), tags, &f, &info) ||
	    !fence_is_wanted(str_trim(info), tags))
		return false;
	f.indent = 0;
	*ret = f;
	return true;
}

/* Alone on its line, at least as long, of the same character, at most three columns deeper. */
static bool is_closing(struct str line, const struct fence *f)
{
	size_t in = indent_of(line), run = run_of(line, in, f->c);

	return in <= f->indent + 3 && run >= f->run && in + run == str_trim_end(line).n;
}

/* Does the fence g begin a block within a block of f? */
static bool begins_anew(const struct fence_scan *x, const struct fence *f, const struct fence *g,
                        bool lexed)
{
	if (f->tag != TAG_WANTED && g->tag == TAG_WANTED)
		return true;
	if (g->c != f->c || g->tag == TAG_NONE)
		return false;
	return g->tag == TAG_WANTED || (lexed && x->python);
}

struct ending {
	const char *body, *next; /* where the body ends and where to go on */
};

/* Fences in a text in triple quotes are part of it, unless it never ends: then the first one ends
 * the block.
 */
static bool find_end(struct fence_scan *x, const struct fence *f, struct ending *ret)
{
	bool lexed = x->python && f->tag != TAG_OTHER;
	struct ending first = { 0 };
	struct str rest = x->rest, line;
	struct texts t = { 0 };
	struct fence g;

	while (str_next_line(&rest, &line)) {
		struct str s = unquote(line, f->quotes, NULL);
		bool in_text = t.quote != 0;
		size_t at;

		if (is_closing(s, f)) {
			*ret = (struct ending){ line.p, rest.p };
			if (!in_text || x->tries == 0)
				return true;
			first = first.next ? first : *ret;
		} else if (!in_text && is_opening(line, x->tags, false, &g) &&
		           begins_anew(x, f, &g, lexed)) {
			*ret = (struct ending){ line.p, line.p };
			return true;
		}
		at = lexed ? texts_line(&t, s) : s.n;
		if (at < s.n && f->c == '`') {
			*ret = (struct ending){ s.p + at, rest.p };
			return true;
		}
	}
	*ret = (struct ending){ rest.p, rest.p };
	if (!t.quote || !first.next)
		return false;
	x->tries--;
	*ret = first;
	return true;
}

struct fence_scan fence_scan_start(struct str text, const char *const *tags)
{
	return (struct fence_scan){ .rest = text,
		                    .tags = tags,
		                    .python = fence_is_wanted(STR("python"), tags),
		                    .tries = MAX_TRIES };
}

bool fence_next(struct fence_scan *x, struct block *ret)
{
	struct str line;
	struct ending end;
	struct block b;
	bool ends;

	while (!x->thinks && str_next_line(&x->rest, &line)) {
		struct str s = from(line, indent_of(line));
		const char *text_end = x->rest.p + x->rest.n;

		if (think_tag(s, &ends) && !ends)
			x->thinks = true;
		if (x->thinks || !is_opening(line, x->tags, true, &b.f))
			continue;
		b.closed = find_end(x, &b.f, &end);
		b.body = (struct str){ x->rest.p, (size_t)(end.body - x->rest.p) };
		x->rest = (struct str){ end.next, (size_t)(text_end - end.next) };
		*ret = b;
		return true;
	}
	return false;
}

/* Of the first line that is not blank, at most max. */
static size_t first_indent(const struct block *b, size_t max)
{
	struct str rest = b->body, line;

	while (str_next_line(&rest, &line)) {
		line = unquote(line, b->f.quotes, NULL);
		if (str_trim_end(line).n)
			return indent_of(line) < max ? indent_of(line) : max;
	}
	return 0;
}

struct str fence_body(const struct block *b, struct arena *a)
{
	size_t n = 0, indent = first_indent(b, b->f.indent);
	struct str rest = b->body, line;
	char *p;

	if (indent == 0 && b->f.quotes == 0)
		return b->body;
	p = arena_new(a, char, rest.n + 1);
	if (!p)
		return (struct str){ 0 };
	while (str_next_line(&rest, &line)) {
		struct str s = unquote(line, b->f.quotes, NULL);
		size_t skip = indent_of(s);

		s = from(s, skip < indent ? skip : indent);
		s.n = (size_t)(rest.p - s.p); /* with the line's end */
		memcpy(p + n, s.p, s.n);
		n += s.n;
	}
	return (struct str){ p, n };
}
