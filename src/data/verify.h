/* verify.h - judges the reference solutions of tasks. */
#ifndef DATA_VERIFY_H
#define DATA_VERIFY_H

#include "base/err.h"
#include "judge/judge.h"
#include "task/task.h"

/* Sees the result of task[i], in ascending order of i; a negative return (with *e filled) ends the
 * run. v NULL: the task has no reference.
 */
typedef int verify_take_fn(void *arg, int i, const struct judged *v, struct err *e);

/* task (n,). Errors are those of the judge and of take: a verdict is none. */
int verify_references(const struct task *const *task, int n, struct judge *j, verify_take_fn *take,
                      void *arg, struct err *e);

/* What the judge has to say to the verdict of v: a note of the test that decided it. Borrowed. */
struct str verify_note(const struct judged *v);

#endif
