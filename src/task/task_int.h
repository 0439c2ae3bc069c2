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

#endif
