/* synth.c - what every family of made tasks shares: verification by the judge, and the files. */
#include "data/synth.h"

#include "base/io.h"
#include "base/jsonw.h"
#include "data/verify.h"

#include <errno.h>
#include <stdio.h>

enum { MAX_FILE = 1 << 30 };

struct watched {
	const struct synth_set *set;
	int (*watch)(void *arg, int done, int total);
	void *arg;
};

static int take(void *arg, int i, const struct judged *v, struct err *e)
{
	const struct watched *w = arg;
	const struct task *t = &w->set->task[i].task;
	enum verdict verdict = v ? v->verdict : VERDICT_SKIPPED;
	struct str note = v ? verify_note(v) : STR("it has none");

	errno = 0; /* of no call here: a judge_error must not look like a file that is missing */
	if (verdict != VERDICT_ACCEPTED)
		return FAIL(e, verdict == VERDICT_JUDGE_ERROR ? ERR_SYS : ERR_PARSE,
		            "the reference of task %.*s is not accepted: %s, %.*s", (int)t->id.n,
		            t->id.p, verdict_text(verdict), (int)note.n, note.n ? note.p : "");
	if (w->watch && w->watch(w->arg, i + 1, w->set->n) < 0)
		return FAIL(e, ERR_STOP, "stopped");
	return 0;
}

int synth_verify(const struct synth_set *set, struct judge *j,
                 int (*watch)(void *arg, int done, int total), void *arg, struct err *e)
{
	AUTO_ARENA scratch = { .limit = (size_t)set->n * sizeof(struct task *) + 64 };
	const struct task **task = arena_new(&scratch, const struct task *, set->n);
	struct watched w = { set, watch, arg };

	if (!task)
		return FAIL(e, ERR_NOMEM, "%d tasks", set->n);
	for (int i = 0; i < set->n; i++)
		task[i] = &set->task[i].task;
	return verify_references(task, set->n, j, take, &w, e);
}

/* ---- files ---- */

static int save(const char *dir, const char *name, struct buf *b, struct err *e)
{
	char path[4096];

	if (buf_check(b, name, e) < 0)
		return err_wrap(e, "%s", dir);
	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
		return FAIL(e, ERR_RANGE, "path is too long: %s", dir);
	return io_save(path, buf_str(b), e);
}

static int write_tasks(const struct synth_set *set, bool held_out, const char *dir, struct err *e)
{
	AUTO_BUF b = { .max = MAX_FILE };

	for (int i = 0; i < set->n; i++) {
		struct jsonw w = { &b };

		if (set->task[i].held_out != held_out)
			continue;
		task_write(&set->task[i].task, &w);
		buf_putc(&b, '\n');
	}
	return save(dir, held_out ? "test.jsonl" : "train.jsonl", &b, e);
}

static int write_corpus(const struct synth_set *set, const char *dir, struct err *e)
{
	AUTO_BUF b = { .max = MAX_FILE };

	for (int i = 0; i < set->n; i++)
		for (int k = 0; k < set->task[i].n_noisy; k++) {
			struct jsonw w = { &b };

			jsonw_open(&w, '{');
			jsonw_key(&w, "task_id"), jsonw_str(&w, set->task[i].task.id);
			jsonw_key(&w, "prompt"), jsonw_str(&w, set->task[i].task.prompt);
			jsonw_key(&w, "completion"), jsonw_str(&w, set->task[i].noisy[k]);
			jsonw_close(&w, '}');
			buf_putc(&b, '\n');
		}
	return save(dir, "sft.jsonl", &b, e);
}

static void put_option(struct jsonw *w, const struct opt *o, const void *cfg)
{
	const char *p = (const char *)cfg + o->off;

	jsonw_key(w, o->key);
	switch (o->type) {
	case OPT_BOOL:
		jsonw_bool(w, *(const bool *)p);
		break;
	case OPT_INT:
		jsonw_int(w, *(const int64_t *)(const void *)p);
		break;
	case OPT_REAL:
		jsonw_real(w, *(const double *)(const void *)p);
		break;
	case OPT_STR:
		jsonw_cstr(w, *(const char *const *)(const void *)p);
		break;
	case OPT_CHOICE:
		jsonw_cstr(w, o->choices[*(const int *)(const void *)p]);
		break;
	}
}

static int write_manifest(const struct synth_made *m, const char *dir, struct err *e)
{
	AUTO_BUF b = { .max = 1 << 20 };
	struct jsonw w = { &b };
	int n_test = 0, n_corpus = 0, n_programs = 0, n_wrong = 0;

	for (int i = 0; i < m->set.n; i++) {
		const struct synth_task *t = &m->set.task[i];

		n_test += t->held_out;
		n_corpus += t->n_noisy > 0;
		n_programs += t->n_noisy;
		for (int k = 0; k < t->n_noisy; k++)
			n_wrong += t->wrong[k];
	}
	jsonw_open(&w, '{');
	jsonw_key(&w, "family"), jsonw_cstr(&w, m->family->name);
	jsonw_key(&w, "seed"), jsonw_int(&w, (int64_t)m->seed);
	jsonw_key(&w, "train"), jsonw_int(&w, m->set.n - n_test);
	jsonw_key(&w, "test"), jsonw_int(&w, n_test);
	jsonw_key(&w, "distinct_behaviours"), jsonw_int(&w, m->set.n_distinct);
	jsonw_key(&w, "corpus"), jsonw_open(&w, '{');
	jsonw_key(&w, "prompts"), jsonw_int(&w, n_corpus);
	jsonw_key(&w, "programs"), jsonw_int(&w, n_programs);
	jsonw_key(&w, "wrong"), jsonw_int(&w, n_wrong);
	jsonw_close(&w, '}');
	jsonw_key(&w, "options"), jsonw_open(&w, '{');
	for (const struct opt *o = m->family->opts; o && o->key; o++)
		put_option(&w, o, m->cfg);
	jsonw_close(&w, '}');
	jsonw_close(&w, '}');
	buf_putc(&b, '\n');
	return save(dir, "manifest.json", &b, e);
}

int synth_write(const struct synth_made *made, const char *dir, struct err *e)
{
	int r = io_mkdirs(dir, e);

	if (r == 0)
		r = write_tasks(&made->set, false, dir, e);
	if (r == 0)
		r = write_tasks(&made->set, true, dir, e);
	if (r == 0)
		r = write_corpus(&made->set, dir, e);
	if (r == 0)
		r = write_manifest(made, dir, e);
	return r;
}
