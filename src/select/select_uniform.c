/* select_uniform.c - every task once in an epoch, in random order.
 *
 * The order of an epoch is a function of (seed, epoch) alone. A pick that reaches the end of an
 * epoch goes on with the next; a task that would then stand twice in one step (two groups with the
 * same random numbers) is held back and comes first in the next pick, so that an epoch still has
 * every task once. State: epoch, position in its order, tasks held back.
 */
#include "select/select.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/rng.h"

struct selector {
	int n;
	uint64_t set; /* hash of the ids: a state belongs to one task set */
	int *order;   /* (n,) of the epoch ordered_epoch with the seed ordered_seed */
	int *held;    /* (n,) the first n_held */
	bool *taken;  /* (n,) in the pick that is going on */
	int n_held, position;
	int64_t epoch, ordered_epoch; /* ordered_epoch -1: order is not filled */
	uint64_t ordered_seed;
};

static void release(struct selector *s)
{
	if (!s)
		return;
	free(s->order);
	free(s->held);
	free(s->taken);
	free(s);
}

static int start(const void *cfg, const struct tasks *t, struct selector **ret, struct err *e)
{
	struct selector *s = calloc(1, sizeof *s);
	size_t n = t->n > 0 ? (size_t)t->n : 1;

	(void)cfg;
	if (s) {
		s->order = calloc(n, sizeof *s->order);
		s->held = calloc(n, sizeof *s->held);
		s->taken = calloc(n, sizeof *s->taken);
	}
	if (!s || !s->order || !s->held || !s->taken) {
		release(s);
		return FAIL(e, ERR_NOMEM, "selector of %d tasks", t->n);
	}
	s->n = t->n;
	s->ordered_epoch = -1;
	for (int i = 0; i < t->n; i++)
		s->set = s->set * 0x9E3779B97F4A7C15u + hash_u64(t->task[i].id);
	*ret = s;
	return 0;
}

static int next(struct selector *s, uint64_t seed)
{
	struct rng r;

	if (s->position == s->n) {
		s->position = 0;
		s->epoch++;
	}
	if (s->ordered_epoch != s->epoch || s->ordered_seed != seed) {
		for (int i = 0; i < s->n; i++)
			s->order[i] = i;
		rng_init(&r, seed, RNG_ORDER, (uint32_t)s->epoch, (uint32_t)(s->epoch >> 32));
		rng_shuffle(&r, s->order, s->n);
		s->ordered_epoch = s->epoch;
		s->ordered_seed = seed;
	}
	return s->order[s->position++];
}

static int pick(struct selector *s, const struct select_ask *ask, struct picked *ret, int *ret_n,
                struct err *e)
{
	int want = ask->prompts < s->n ? ask->prompts : s->n, n = 0, left = 0;

	(void)e;
	memset(s->taken, 0, (size_t)s->n * sizeof *s->taken);
	for (int i = 0; i < s->n_held; i++) {
		if (n == want) {
			s->held[left++] = s->held[i];
			continue;
		}
		s->taken[s->held[i]] = true;
		ret[n++] = (struct picked){ s->held[i], ask->samples };
	}
	s->n_held = left;
	while (n < want) {
		int task = next(s, ask->seed);

		if (s->taken[task]) {
			assert(s->n_held < s->n);
			s->held[s->n_held++] = task;
			continue;
		}
		s->taken[task] = true;
		ret[n++] = (struct picked){ task, ask->samples };
	}
	*ret_n = n;
	return 0;
}

static void save(const struct selector *s, struct jsonw *w)
{
	char set[17];

	(void)snprintf(set, sizeof set, "%016llx", (unsigned long long)s->set);
	jsonw_open(w, '{');
	jsonw_key(w, "epoch"), jsonw_int(w, s->epoch);
	jsonw_key(w, "position"), jsonw_int(w, s->position);
	jsonw_key(w, "held"), jsonw_open(w, '[');
	for (int i = 0; i < s->n_held; i++)
		jsonw_int(w, s->held[i]);
	jsonw_close(w, ']');
	jsonw_key(w, "tasks"), jsonw_cstr(w, set);
	jsonw_close(w, '}');
}

static int load(struct selector *s, const struct json *j, struct err *e)
{
	const struct json *held = json_get(j, "held");
	int64_t epoch = -1, position = -1;
	struct str set = { 0 };
	char own[17];

	(void)snprintf(own, sizeof own, "%016llx", (unsigned long long)s->set);
	if (json_need_str(j, "tasks", &set, e) < 0 ||
	    json_opt_int(j, "epoch", 0, INT64_MAX / 2, &epoch, e) < 0 ||
	    json_opt_int(j, "position", 0, s->n, &position, e) < 0)
		return err_wrap(e, "state of selector uniform");
	if (!str_is(set, own))
		return FAIL(e, ERR_RANGE,
		            "state of selector uniform: it belongs to another task set");
	if (epoch < 0 || position < 0 || !json_is(held, JSON_ARR) || json_len(held) > s->n)
		return FAIL(e, ERR_PARSE, "state of selector uniform: incomplete");
	memset(s->taken, 0, (size_t)s->n * sizeof *s->taken);
	for (int i = 0; i < json_len(held); i++) {
		struct str t = json_at(held, i)->text;
		double x;

		if (!json_is(json_at(held, i), JSON_NUM) || !str_is_int(t) || !str_to_real(t, &x) ||
		    x < 0 || x >= s->n || s->taken[(int)x])
			return FAIL(e, ERR_RANGE, "state of selector uniform: held task %d", i);
		s->held[i] = (int)x;
		s->taken[(int)x] = true;
	}
	s->n_held = json_len(held);
	s->epoch = epoch;
	s->position = (int)position;
	return 0;
}

const struct select_fn select_uniform = {
	.name = "uniform",
	.doc = "every task once in an epoch, in random order",
	.source = "plain sampling without replacement",
	.start = start,
	.pick = pick,
	.save = save,
	.load = load,
	.free = release,
};
