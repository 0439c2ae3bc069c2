/* task_int.h - what the task formats share. */
#ifndef TASK_TASK_INT_H
#define TASK_TASK_INT_H

#include "task/task.h"

enum { TASK_MAX_TESTS = 1 << 20 };

/* Room for n tests, named "1".."n", weight 1; NULL: the arena is full. */
struct test *task_tests_new(struct arena *a, int n, struct err *e);

/* A list of texts, field `key` of rec. */
int task_need_texts(const struct json *rec, const char *key, const struct json **ret,
                    struct err *e);

/* The shape of HumanEval and its kin: `test` defines check(candidate). One assert test calls it
 * with the entry point; a last line of `test` that does so already is dropped.
 */
int task_set_check(struct task *t, struct str test, struct arena *a, struct err *e);

/* The parsed JSON of a text that is made here and cannot be wrong. NULL: the arena is full. */
const struct json *task_json(struct arena *a, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A copy of plain JSON as a typed value (docs/formats.md, "Values").
 *
 * shape, one letter a level from the outside in, says what JSON lost; levels beyond its end and
 * other letters stay as they are; a dictionary's values are one level below it:
 *	t	list -> tuple
 *	T	the same, at this and every deeper level
 *	s	list -> set; an empty one -> {}
 *	c	number or text -> complex
 *	f	number or text -> float
 */
int task_typed(const struct json *j, const char *shape, struct arena *a, struct json *ret,
               struct err *e);

#endif
