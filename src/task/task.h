/* task.h - the task record: a prompt with the means to verify an answer.
 *
 * One file for each format (format_<name>.c) turns a JSON record into a struct task; the native
 * record is the one of docs/formats.md, and task_write() writes it. Everything of a task lives in
 * one arena. Immutable after loading.
 */
#ifndef TASK_TASK_H
#define TASK_TASK_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "base/part.h"
#include "base/str.h"

enum task_kind { TASK_STDIN, TASK_FUNCTION, TASK_ASSERT };

const char *task_kind_text(enum task_kind k);

struct test {
	struct str name;    /* unique in the task; "1", "2", ... unless the record names it */
	struct str in, out; /* TASK_STDIN */
	/* TASK_FUNCTION: a list of arguments and the result; many: lists of such lists and of their
	 * results, of calls that one process makes one after the other. expected NULL: whatever the
	 * task's reference returns (computed in a box, once; the task has a reference then).
	 */
	const struct json *args, *expected;
	bool many;
	bool typed;      /* args and expected hold marks: docs/formats.md, "Values" */
	struct str code; /* TASK_ASSERT: source that raises if the answer is wrong */
	double weight;   /* 1 unless the record says otherwise */
	bool visible;
};

struct task_limits { /* 0: the judge's default */
	int64_t cpu_ns, wall_ns, mem_bytes, output_bytes;
};

struct task {
	struct str id, prompt, language;
	enum task_kind kind;
	struct str entry_point; /* NAME or CLASS().NAME; may be empty unless TASK_FUNCTION */
	bool in_place;          /* TASK_FUNCTION: the result is the first argument after the call */
	struct str preamble;    /* put before the answer: see task_program() */
	struct str setup;       /* runs after the answer and before the tests */
	struct str reference;   /* a right answer, completed by preamble in the same way; p == NULL:
	                           none */
	struct str checker;     /* name of the checker; empty: the default of the kind */
	const struct json *checker_opts; /* the record's checker object, or NULL */
	struct task_limits limits;
	int n_tests, n_visible;
	const struct test *test; /* (n_tests,) n_tests >= 1 */
	struct str source, license;
	const struct json *difficulty, *meta; /* carried through, or NULL */
};

struct format_case {
	const char *record, *id; /* must load, with this id */
	int n_tests;
};

/* Immutable. */
struct format {
	PART_HEAD;
	/* How sure the format is that a record is its own: 0 not at all, higher wins. */
	int (*detect)(const struct json *rec);
	int (*load)(const struct json *rec, struct arena *a, struct task *ret, struct err *e);
	const struct format_case *cases; /* ends with record == NULL */
};

extern const struct format *const format_table[]; /* generated, ends with NULL */

/* One record; f NULL: detect. Checks what every task must hold (id, tests, known kind). */
int task_load(const struct format *f, const struct json *rec, struct arena *a, struct task *ret,
              struct err *e);

/* Why a record is no task is an error of the whole file: it names file and line. */
struct tasks {
	struct arena a;
	int n;
	struct task *task; /* (n,) in file order */
	int *by_id;        /* (n,) sorted by id */
};

/* A whole JSONL file (plain or gzip; "-": stdin). An id that occurs twice is an error. */
int tasks_open(const char *path, const char *format, size_t max_line, struct tasks *ret,
               struct err *e);
void tasks_done(struct tasks *t);
const struct task *tasks_find(const struct tasks *t, struct str id); /* NULL: none */

void task_write(const struct task *t, struct jsonw *w); /* the native record */

/* The program for an answer: preamble + answer. If both define entry_point, only the part of the
 * preamble before its definition (imports, second functions) is kept. .p is NULL: no memory.
 */
struct str task_program(const struct task *t, struct str answer, struct arena *a);

/* code defines name (or, for CLASS().NAME, the class) in its first column; false if name is empty.
 * *ret_at, unless NULL: where the definition and its decorators begin.
 */
bool task_defines(struct str code, struct str name, size_t *ret_at);

#endif
