/* extract.h - takes the program out of a completion: think blocks, CommonMark fences, leftovers.
 *
 * Rule (spec R16): text up to the last end of a think block goes first; fences of three or more
 * backticks or tildes, closed by a line of at least as many of the same character or by the end of
 * the text; the last block with the wanted tag that defines the entry point, else the last with
 * the tag, else the last untagged; text without a fence is code as it stands. docs/judge.md says
 * what else is read. Time is linear in the completion.
 */
#ifndef JUDGE_EXTRACT_H
#define JUDGE_EXTRACT_H

#include "base/arena.h"
#include "base/str.h"

/* no_code: blank, or blocks in other languages only; think_only: nothing behind the think block, or
 * it never ends; truncated: the only block begins where the text ends. The last is no answer about
 * the completion: a is full.
 */
enum extract_result {
	EXTRACT_OK,
	EXTRACT_NO_CODE,
	EXTRACT_THINK_ONLY,
	EXTRACT_TRUNCATED,
	EXTRACT_NO_MEMORY,
};

const char *extract_text(enum extract_result r);

/* tags: the language's fence tags, ends with NULL; entry may be empty. *ret lives in a (or is a
 * view into completion).
 */
enum extract_result extract_code(struct str completion, const char *const *tags, struct str entry,
                                 struct arena *a, struct str *ret);

#endif
