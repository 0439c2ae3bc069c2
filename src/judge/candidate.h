/* candidate.h - a candidate record, and the record of its result.
 *
 *	{"task_id", "candidate_id"?, "code" | "completion", "language"?}
 */
#ifndef JUDGE_CANDIDATE_H
#define JUDGE_CANDIDATE_H

#include "base/json.h"
#include "base/jsonw.h"
#include "judge/extract.h"
#include "judge/judge.h"
#include "task/task.h"

struct candidate {
	const struct task *task;
	const struct json *id;     /* a text or a number; NULL: none */
	struct str code;           /* the whole program, if found */
	enum extract_result found; /* EXTRACT_OK, or why a completion holds no code */
};

/* Everything of *ret is in a, tasks or line. An error names the field. An escaped surrogate that is
 * no half of a pair becomes U+FFFD: Python's json writes such texts, and UTF-8 cannot hold them.
 */
int candidate_read(struct str line, const struct tasks *tasks, struct arena *a,
                   struct candidate *ret, struct err *e);

/* Tasks without a reference are an error. */
int candidate_reference(const struct task *t, struct arena *a, struct candidate *ret,
                        struct err *e);

/* The result of a candidate that was not judged, because no code was found in it. */
void candidate_no_code(const struct candidate *c, struct judged *ret);

/* The result record of docs/judge.md. id: candidate_id as JSON, or empty. */
void judged_write(const struct judged *v, const struct task *t, struct str id, enum box_tier tier,
                  struct jsonw *w);

#endif
