/* extract_think.c - what stands around an answer: think blocks, and what chat templates leave. */
#include <string.h>

#include "judge/extract_int.h"

enum { MAX_TAG = 60, MAX_LOOK = 1000 };

/* <name> and </name>, in any case. */
static const char *const names[] = { "think",      "thinking",   "thought",
	                             "thoughts",   "reasoning",  "reflection",
	                             "scratchpad", "seed:think", NULL };

struct mark {
	struct str text;
	bool ends;
};

static const struct mark marks[] = {
	{ STR("[THINK]"), false },
	{ STR("[/THINK]"), true },
	{ STR("\xe2\x97\x81think\xe2\x96\xb7"), false },
	{ STR("\xe2\x97\x81/think\xe2\x96\xb7"), true },
	{ STR("<|begin_of_thought|>"), false },
	{ STR("<|end_of_thought|>"), true },
	{ STR("<|START_THINKING|>"), false },
	{ STR("<|END_THINKING|>"), true },
	{ STR("<|channel|>analysis<|message|>"), false },
	{ STR("<|channel|>final<|message|>"), true },
};

static bool is_name(struct str s)
{
	for (int i = 0; names[i]; i++)
		if (str_eq_fold(s, (struct str){ names[i], strlen(names[i]) }))
			return true;
	return false;
}

size_t think_tag(struct str s, bool *ret_ends)
{
	size_t n = s.n < MAX_TAG ? s.n : MAX_TAG;
	const char *gt = n && s.p[0] == '<' ? memchr(s.p, '>', n) : NULL;
	struct str name;
	bool ends;

	for (size_t i = 0; n && i < sizeof marks / sizeof *marks; i++) {
		if (str_starts(s, marks[i].text)) {
			*ret_ends = marks[i].ends;
			return marks[i].text.n;
		}
	}
	if (!gt)
		return 0;
	name = str_trim((struct str){ s.p + 1, (size_t)(gt - s.p) - 1 });
	ends = name.n && name.p[0] == '/';
	if (ends)
		name = str_trim((struct str){ name.p + 1, name.n - 1 });
	if (!is_name(name))
		return 0;
	*ret_ends = ends;
	return (size_t)(gt - s.p) + 1;
}

/* "</think>" and "a </think> b" are texts of a program, `</think>` is part of a sentence; but an
 * answer may begin with a fence or a text in triple quotes.
 */
static bool is_quoted(struct str text, size_t at, size_t end)
{
	struct str behind = { text.p + end, text.n - end };
	const char *lf;
	size_t n = 0, stop = at > MAX_LOOK ? at - MAX_LOOK : 0;

	if (behind.n && memchr("'\"\\`", behind.p[0], 4)) {
		for (size_t i = 0; i < behind.n && i < 3 && behind.p[i] == behind.p[0];)
			n = ++i;
		return n < 3;
	}
	while (at > stop && text.p[at - 1] != '\n')
		n += text.p[--at] == '"';
	behind.n = behind.n < MAX_LOOK ? behind.n : MAX_LOOK;
	lf = behind.n ? memchr(behind.p, '\n', behind.n) : NULL;
	behind.n = lf ? (size_t)(lf - behind.p) : behind.n;
	return n % 2 && behind.n && memchr(behind.p, '"', behind.n);
}

static bool begins_line(struct str text, size_t at)
{
	size_t stop = at > MAX_LOOK ? at - MAX_LOOK : 0;

	while (at > stop && (text.p[at - 1] == ' ' || text.p[at - 1] == '\t'))
		at--;
	return at == 0 || text.p[at - 1] == '\n';
}

/* An end without a begin means that all before it was thought. Between an end and the next begin
 * stands an answer.
 */
void think_split(struct str text, struct answer *ret)
{
	struct answer r = { .last = text };
	size_t from = 0, n;
	bool outside = true, ends;

	for (size_t i = 0; i < text.n; i += n ? n : 1) {
		struct str rest = { text.p + i, text.n - i };

		n = *rest.p == '<' || *rest.p == '[' || *rest.p == '\xe2' ? think_tag(rest, &ends)
		                                                          : 0;
		if (n == 0)
			continue;
		if (!ends && outside && begins_line(text, i)) {
			memmove(r.before + 1, r.before, sizeof r.before - sizeof *r.before);
			r.before[0] = (struct str){ text.p + from, i - from };
			r.n += r.n < THINK_SEGMENTS;
			outside = false;
		} else if (ends && !is_quoted(text, i, i + n)) {
			r.n = outside ? 0 : r.n;
			outside = r.thought = true;
			from = i + n;
			r.last = (struct str){ text.p + from, text.n - from };
		}
	}
	/* A block that does not end leaves its begin in last. */
	if (!outside && r.n) {
		memmove(r.before, r.before + 1, sizeof r.before - sizeof *r.before);
		r.n--;
	}
	*ret = r;
}

static bool cut_end(struct str *s, struct str what)
{
	if (s->n < what.n || !str_eq((struct str){ s->p + s->n - what.n, what.n }, what))
		return false;
	s->n -= what.n;
	return true;
}

/* <|anything|> in a line, or the same with the wide bars of DeepSeek. */
static bool cut_special(struct str *s)
{
	static const struct str close[] = { STR("|>"), STR("\xef\xbd\x9c>") };
	static const struct str open[] = { STR("<|"), STR("<\xef\xbd\x9c") };

	for (size_t k = 0; k < 2; k++) {
		struct str t = *s;

		if (!cut_end(&t, close[k]))
			continue;
		for (size_t i = 0; i < MAX_TAG && t.n && t.p[t.n - 1] != '\n'; i++, t.n--) {
			if (cut_end(&t, open[k])) {
				*s = t;
				return true;
			}
		}
	}
	return false;
}

static struct str skip_mark(struct str s)
{
	static const struct str bom = STR("\xef\xbb\xbf");

	return str_starts(s, bom) ? (struct str){ s.p + bom.n, s.n - bom.n } : s;
}

struct str leftovers_trim(struct str text)
{
	static const struct str last[] = { STR("</s>"),          STR("<eos>"),
		                           STR("<end_of_turn>"), STR("<pad>"),
		                           STR("[EOS]"),         STR("[/INST]"),
		                           STR("</answer>"),     STR("</solution>") };
	struct str s = skip_mark(text), t;
	bool cut;

	do {
		t = str_trim_end(s);
		cut = cut_special(&t);
		for (size_t i = 0; !cut && i < sizeof last / sizeof *last; i++)
			cut = cut_end(&t, last[i]);
		s = cut ? t : s;
	} while (cut);
	return s;
}

/* The rest behind prefix, if the text begins with it, from the next line on or from the next byte
 * that is not blank.
 */
static struct str cut_begin(struct str text, struct str prefix)
{
	struct str s = str_trim(text);
	size_t at = (size_t)(s.p - text.p) + prefix.n;

	if (!str_starts(s, prefix))
		return text;
	while (at < text.n && memchr(" \t\r", text.p[at], 3))
		at++;
	at += at < text.n && text.p[at] == '\n';
	return (struct str){ text.p + at, text.n - at };
}

struct str leftovers_first(struct str code, const char *const *tags, bool *ret_named)
{
	struct str s = skip_mark(code), rest = s, line;

	while (str_next_line(&rest, &line) && str_trim(line).n == 0)
		;
	*ret_named = rest.n && fence_is_wanted(str_trim(line), tags);
	return *ret_named ? rest : s;
}

/* Code between backticks, one line or more: `x`, ```python x```. */
static struct str between_ticks(struct str text, const char *const *tags)
{
	struct str s = str_trim(text), word, rest;
	size_t n = 0;

	while (n < s.n && s.p[n] == '`')
		n++;
	if (n == 0 || s.n <= 2 * n || s.p[s.n - n - 1] == '`')
		return text;
	for (size_t i = 0; i < n; i++)
		if (s.p[s.n - 1 - i] != '`')
			return text;
	s = (struct str){ s.p + n, s.n - 2 * n };
	if (memchr(s.p, '`', s.n))
		return text;
	rest = s;
	if (n >= 3 && str_next_token(&rest, &word) && rest.n && fence_is_wanted(word, tags))
		return str_trim(rest);
	return s;
}

struct str leftovers_bare(struct str text, const char *const *tags)
{
	bool named;

	text = cut_begin(text, STR("<|im_start|>assistant"));
	text = cut_begin(text, STR("<answer>"));
	text = cut_begin(text, STR("<solution>"));
	return leftovers_first(between_ticks(text, tags), tags, &named);
}
