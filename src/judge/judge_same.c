/* judge_same.c - a program that was judged before, with equal task and options, is not run again:
 * its verdicts are copied. That holds for programs that are being judged, and for the last that
 * were.
 */
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "judge/judge_int.h"

enum { PLACES = 1024 };

#define PLACE_BYTES ((size_t)64 << 10)
#define TASK_BYTES  ((size_t)1 << 30)

/* What a finished program said; judged_test.name is not here. */
struct kept {
	struct hash key;
	struct arena a;
	int n;
	struct judged_test *test; /* (n,) NULL: free place */
	uint8_t *way;             /* (n,) */
	bool broken;
	struct str broken_note;
};

struct same {
	struct kept place[PLACES];
};

static int hash_task(const struct task *t, struct hash *ret, struct err *e)
{
	AUTO_BUF b = { .max = TASK_BYTES };
	struct jsonw w = { &b };
	struct str text;
	int r;

	task_write(t, &w);
	r = buf_check(&b, "task", e);
	if (r < 0)
		return r;
	text = buf_str(&b);
	*ret = hash_of(&text, 1);
	return 0;
}

/* Called under the lock. */
static struct live *find_live(struct judge *j, const struct task *t)
{
	for (int i = 0; i < j->n_live; i++)
		if (j->live[i].task == t)
			return &j->live[i];
	return NULL;
}

static int add_live(struct judge *j, const struct task *t, const struct hash *key, struct err *e)
{
	if (j->n_live == j->cap_live) {
		int cap = j->cap_live ? 2 * j->cap_live : 64;
		struct live *more = realloc(j->live, (size_t)cap * sizeof *more);

		if (!more)
			return FAIL(e, ERR_NOMEM, "%d tasks", cap);
		j->live = more;
		j->cap_live = cap;
	}
	j->live[j->n_live++] = (struct live){ t, *key, 1 };
	return 0;
}

int judge_task_key(struct judge *j, const struct task *t, struct hash *ret, struct err *e)
{
	struct live *l = find_live(j, t);
	struct hash key;
	int r;

	if (!l) {
		pthread_mutex_unlock(&j->lock);
		r = hash_task(t, &key, e);
		pthread_mutex_lock(&j->lock);
		if (r < 0)
			return r;
		l = find_live(j, t);
	}
	if (!l) {
		*ret = key;
		return add_live(j, t, &key, e);
	}
	l->refs++;
	*ret = l->key;
	return 0;
}

void judge_task_drop(struct judge *j, const struct task *t)
{
	struct live *l = find_live(j, t);

	if (l && --l->refs == 0)
		*l = j->live[--j->n_live];
}

static struct kept *place_of(struct judge *j, const struct hash *key)
{
	unsigned at = (key->b[0] | (unsigned)key->b[1] << 8) % PLACES;

	if (!j->same)
		j->same = calloc(1, sizeof *j->same);
	return j->same ? &j->same->place[at] : NULL;
}

/* Texts go into a. */
static bool copy_tests(const struct judged_test *from, int n, struct arena *a,
                       struct judged_test *to)
{
	for (int i = 0; i < n; i++) {
		struct str name = to[i].name;

		to[i] = from[i];
		to[i].name = name;
		to[i].note = arena_str(a, from[i].note);
		to[i].out = arena_str(a, from[i].out);
		if (!to[i].note.p || !to[i].out.p)
			return false;
	}
	return true;
}

static bool copy_to(struct judge *j, struct program *p, const struct judged_test *test,
                    const uint8_t *way, bool broken, struct str note)
{
	if (!copy_tests(test, p->task->n_tests, &p->a, p->test))
		return false;
	memcpy(p->way, way, (size_t)p->task->n_tests);
	p->broken = broken;
	p->broken_note = arena_str(&p->a, note);
	p->next_unit = p->n_units;
	p->copied = true;
	j->stats.copied++;
	judge_finish(j, p);
	return true;
}

void judge_same_look(struct judge *j, struct program *p)
{
	const struct kept *k = place_of(j, &p->key);

	if (k && k->test && memcmp(&k->key, &p->key, sizeof p->key) == 0 &&
	    copy_to(j, p, k->test, k->way, k->broken, k->broken_note))
		return;
	for (struct program *q = j->first; q; q = q->next)
		if (q != p && !q->done && !q->leader &&
		    memcmp(&q->key, &p->key, sizeof p->key) == 0) {
			p->leader = q;
			return;
		}
}

static void keep(struct judge *j, const struct program *p)
{
	struct kept *k = place_of(j, &p->key);
	int n = p->task->n_tests;

	if (!k)
		return;
	arena_done(&k->a);
	*k = (struct kept){ .key = p->key, .a = { .limit = PLACE_BYTES }, .n = n };
	k->test = arena_new(&k->a, struct judged_test, n);
	k->way = arena_new(&k->a, uint8_t, n);
	k->broken = p->broken;
	k->broken_note = arena_str(&k->a, p->broken_note);
	if (k->test && k->way && k->broken_note.p && copy_tests(p->test, n, &k->a, k->test)) {
		memcpy(k->way, p->way, (size_t)n);
		return;
	}
	arena_done(&k->a);
	*k = (struct kept){ 0 };
}

void judge_same_tell(struct judge *j, struct program *p)
{
	if (p->copied)
		return;
	if (p->result.verdict != VERDICT_JUDGE_ERROR)
		keep(j, p);
	for (struct program *q = j->first; q; q = q->next) {
		if (q->leader != p)
			continue;
		q->leader = NULL;
		if (copy_to(j, q, p->test, p->way, p->broken, p->broken_note))
			continue;
		judge_give_up(q, 0, "no memory for the verdicts of an equal program");
		q->next_unit = q->n_units;
		judge_finish(j, q);
	}
}

void judge_same_free(struct judge *j)
{
	for (int i = 0; j->same && i < PLACES; i++)
		arena_done(&j->same->place[i].a);
	free(j->same);
	free(j->live);
}
