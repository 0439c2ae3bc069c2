/* verify.c - judges the reference solutions of tasks. */
#include "data/verify.h"

enum { WINDOW = 32, PROGRAM_BYTES = 64 << 20 };

static int submit(const struct task *t, int i, struct judge *j, struct arena *scratch,
                  struct err *e)
{
	struct str code;

	arena_reset(scratch);
	code = task_program(t, t->reference, scratch);
	if (!code.p)
		return FAIL(e, ERR_LIMIT, "task %.*s: reference is too long", (int)t->id.n,
		            t->id.p);
	if (judge_submit(j, t, code, (uint64_t)i, e) < 0)
		return err_wrap(e, "task %.*s", (int)t->id.n, t->id.p);
	return 0;
}

static int take_next(struct judge *j, int i, verify_take_fn *take, void *arg, struct err *e)
{
	struct judged v;
	int r = judge_next(j, -1, &v, e);

	if (r < 0)
		return r;
	if (r == 0 || v.tag != (uint64_t)i) {
		if (r)
			judged_done(&v);
		return FAIL(e, ERR_SYS, "the judge lost a program");
	}
	r = take(arg, i, &v, e);
	judged_done(&v);
	return r;
}

int verify_references(const struct task *const *task, int n, struct judge *j, verify_take_fn *take,
                      void *arg, struct err *e)
{
	AUTO_ARENA scratch = { .limit = PROGRAM_BYTES };
	int sent = 0, r = 0;

	for (int i = 0; i < n && r >= 0; i++) {
		for (; sent < n && sent < i + WINDOW && r >= 0; sent++)
			if (task[sent]->reference.p)
				r = submit(task[sent], sent, j, &scratch, e);
		if (r < 0)
			break;
		r = task[i]->reference.p ? take_next(j, i, take, arg, e) : take(arg, i, NULL, e);
	}
	return r < 0 ? r : 0;
}

struct str verify_note(const struct judged *v)
{
	for (int i = 0; i < v->n_tests; i++)
		if (v->test[i].verdict == v->verdict)
			return v->test[i].note;
	return v->compile_note;
}
