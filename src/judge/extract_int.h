/* extract_int.h - what the files of the extraction share: blocks between fences, and what stands
 * around an answer.
 */
#ifndef JUDGE_EXTRACT_INT_H
#define JUDGE_EXTRACT_INT_H

#include "base/arena.h"
#include "base/str.h"

enum { TAG_OTHER, TAG_NONE, TAG_WANTED };

/* An opening fence. */
struct fence {
	int quotes;    /* marks of block quotes before it */
	size_t indent; /* bytes between them and the fence, marks of list items among them */
	size_t run;    /* length */
	char c;        /* ` or ~ */
	int tag;       /* TAG_ */
};

struct block {
	struct fence f;
	struct str body; /* the lines as they stand in the text */
	bool closed;     /* by a fence, not by the end of the text */
};

/* Goes through a text block by block. One owner. */
struct fence_scan {
	struct str rest;
	const char *const *tags; /* wanted, ends with NULL */
	bool python;             /* the wanted language */
	int tries;               /* left: see fence_next() */
	bool thinks; /* a think block begins that does not end; nothing is read behind it */
};

struct fence_scan fence_scan_start(struct str text, const char *const *tags);

/* The next block; false at the end of the text. */
bool fence_next(struct fence_scan *x, struct block *ret);

/* The body without marks of block quotes and without the fence's indentation, at most as deep as
 * the first line has it; a view where nothing is to be removed. .p NULL: no memory.
 */
struct str fence_body(const struct block *b, struct arena *a);

bool fence_is_wanted(struct str tag, const char *const *tags);

/* The tag of a think block at the start of s: its length, or 0. */
size_t think_tag(struct str s, bool *ret_ends);

enum { THINK_SEGMENTS = 8 };

/* What lies outside of think blocks. */
struct answer {
	struct str last;                   /* behind the last end, or everything */
	struct str before[THINK_SEGMENTS]; /* between earlier blocks, the last of them first */
	int n;
	bool thought; /* there was a think block */
};

void think_split(struct str text, struct answer *ret);

/* Without what chat templates and wrappers leave: a byte order mark, <|im_end|>, </answer>, ... */
struct str leftovers_trim(struct str text);

/* Text without a fence: also without a line that only names the language, and without backticks
 * around all of it.
 */
struct str leftovers_bare(struct str text, const char *const *tags);

/* Program text: without a byte order mark and a first line that only names the language. */
struct str leftovers_first(struct str code, const char *const *tags, bool *ret_named);

#endif
