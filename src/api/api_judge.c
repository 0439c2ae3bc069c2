/* api_judge.c - implements cupel/judge.h. */
#include "cupel/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/candidate.h"
#include "judge/judge.h"

#define RECORD_BYTES ((size_t)1 << 30) /* of one task as a tree */
#define RESULT_BYTES ((size_t)256 << 20)

struct cupel_judge {
	struct judge *judge;
	struct judge_config cfg;
	struct arena a; /* strings of cfg */
};

static void *fail(const struct err *e, char *why, size_t size)
{
	if (why && size)
		(void)snprintf(why, size, "%s", *e->msg ? e->msg : err_text(e->code));
	return NULL;
}

static int configure(struct cupel_judge *j, const char *isolation, const char *options,
                     struct err *e)
{
	const struct opt *o = opt_find(judge_box_opts, "isolation");
	int r = opt_fill(judge_opts, &j->cfg, options, &j->a, e);

	return r < 0 ? r : opt_set(o, &j->cfg, "isolation", isolation, &j->a, e);
}

struct cupel_judge *cupel_judge_open(const char *isolation, const char *options, char *why,
                                     size_t size)
{
	struct cupel_judge *j = calloc(1, sizeof *j);
	struct err e = { 0 };
	int r = j ? 0 : FAIL(&e, ERR_NOMEM, "judge");

	if (j)
		j->a.limit = 1 << 16;
	if (r == 0)
		r = configure(j, isolation ? isolation : "auto", options, &e);
	if (r == 0)
		r = judge_open(&j->cfg, &j->judge, &e);
	if (r == 0)
		return j;
	cupel_judge_close(j);
	return fail(&e, why, size);
}

static int judge_one(struct judge *j, const struct task *t, const char *code, struct arena *a,
                     struct judged *ret, struct err *e)
{
	struct str program = task_program(t, (struct str){ code, strlen(code) }, a);
	int r;

	if (!program.p)
		return FAIL(e, ERR_LIMIT, "program of %zu bytes", strlen(code));
	r = judge_task_ok(t, e);
	if (r == 0)
		r = judge_submit(j, t, program, 0, e);
	if (r == 0)
		r = judge_next(j, -1, ret, e);
	return r < 0 ? r : 0;
}

/* buf's memory comes from malloc(), so that the caller can own it. */
char *cupel_judge_run(struct cupel_judge *j, const char *task, const char *code, char *why,
                      size_t size)
{
	AUTO_ARENA a = { .limit = RECORD_BYTES };
	struct buf b = { .max = RESULT_BYTES };
	struct jsonw w = { &b, false };
	const struct json *rec = NULL;
	struct judged v = { 0 };
	struct task t;
	struct err e = { 0 };
	int r = json_parse((struct str){ task, strlen(task) }, &a, &rec, &e);

	if (r == 0)
		r = task_load(NULL, rec, &a, &t, &e);
	if (r == 0)
		r = judge_one(j->judge, &t, code, &a, &v, &e);
	if (r < 0)
		return fail(&e, why, size);
	judged_write(&v, &t, STR(""), judge_tier(j->judge), &w);
	judged_done(&v);
	buf_putc(&b, 0);
	if (buf_check(&b, "result", &e) < 0) {
		buf_done(&b);
		return fail(&e, why, size);
	}
	return b.p;
}

void cupel_free(char *text)
{
	free(text);
}

void cupel_judge_close(struct cupel_judge *j)
{
	if (!j)
		return;
	judge_close(j->judge);
	arena_done(&j->a);
	free(j);
}
