/* rollout_single.c - one answer, one turn: every sample of a task grows from the same prompt.
 *
 * Samples are numbered over the whole call, in the order of ask. At most cfg.batch of them (rows)
 * are alive; a row that ends leaves, and the next sample enters at once. A prompt is prefilled
 * when its first sample enters and forked for each; it is released with its last. A finished
 * sample goes to the judge at once, and results are taken between two tokens without waiting, so
 * that judging hides behind sampling.
 *
 * The random numbers of a token depend on (seed, position, rollout, task, step) alone and the
 * policy computes a row the same way whatever stands beside it, so the result depends neither on
 * the batch nor on timing.
 */
#include "rollout/rollout.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/rng.h"
#include "judge/extract.h"

enum {
	MAX_TEXT = 1 << 24,  /* bytes of one answer */
	POLL_NS = 100000000, /* how often a stop is looked at while waiting for the judge */
	MAX_WAITING = 4096,  /* judged or running programs that were not taken yet */
};

/* A sequence that is being generated. */
struct row {
	int sample; /* over the call */
	int seq;
	int n, max; /* tokens so far and at most, prompt included */
	int32_t *tok;
	float *logp, *entropy; /* (max,) */
};

struct place {
	int group, k; /* sample k of the group */
};

/* One owner: the caller of run(). */
struct single {
	const struct rollout_env *env;
	const struct rollout_ask *ask;
	struct arena *a;
	struct batch b;
	struct place *place; /* (n_samples,) */
	uint32_t *task_word; /* (n_groups,) */
	int *first_rollout;  /* (n_groups,) earlier groups of the same task */
	struct row *row, **live, **idle;
	struct draw *draw;
	struct drawn *drawn;
	int n_rows, n_live, n_idle;
	int next;        /* sample that enters next */
	int prompt_seq;  /* of the task whose samples are entering, or -1 */
	int32_t *prompt; /* (max_seq,) */
	int n_prompt;
	struct buf text;
	struct rollout_stats st;
};

static bool stopped(const struct single *s)
{
	return s->env->stop && *s->env->stop;
}

static struct sample *sample_at(struct single *s, int i)
{
	return &s->b.group[s->place[i].group].sample[s->place[i].k];
}

/* Groups and samples of the call, empty so far. */
static int lay_out(struct single *s, int n, struct err *e)
{
	int total = 0;

	for (int i = 0; i < n; i++)
		total += s->ask[i].samples;
	s->b.n_groups = n;
	s->b.n_samples = total;
	s->b.step = s->env->step;
	s->b.group = arena_new(s->a, struct group, n);
	s->place = arena_new(s->a, struct place, total);
	s->task_word = arena_new(s->a, uint32_t, n);
	s->first_rollout = arena_new(s->a, int, n);
	if (!s->b.group || !s->place || !s->task_word || !s->first_rollout)
		return FAIL(e, ERR_LIMIT, "step arena: %d samples", total);
	for (int i = 0, k = 0; i < n; i++) {
		struct group *g = &s->b.group[i];
		const struct task *t = s->ask[i].task;

		g->key = arena_str(s->a, t->id);
		g->n = s->ask[i].samples;
		g->sample = arena_new(s->a, struct sample, g->n);
		if (!g->key.p || !g->sample)
			return FAIL(e, ERR_LIMIT, "step arena: %d samples", total);
		s->task_word[i] = (uint32_t)hash_u64(t->id);
		for (int j = 0; j < i; j++)
			if (s->ask[j].task == t)
				s->first_rollout[i] += s->ask[j].samples;
		for (int j = 0; j < g->n; j++, k++) {
			s->place[k] = (struct place){ i, j };
			g->sample[j] = (struct sample){
				.id = s->env->first_id + k,
				.task_id = g->key,
				.rollout = s->first_rollout[i] + j,
				.parent = -1,
				.chain = -1,
				.version = s->env->policy->version,
			};
		}
	}
	return 0;
}

static int rows_init(struct single *s, struct err *e)
{
	int n = (int)s->env->cfg->batch, max = s->env->policy->max_seq;

	if (n > s->b.n_samples)
		n = s->b.n_samples;
	s->row = arena_new(s->a, struct row, n);
	s->live = arena_new(s->a, struct row *, n);
	s->idle = arena_new(s->a, struct row *, n);
	s->draw = arena_new(s->a, struct draw, n);
	s->drawn = arena_new(s->a, struct drawn, n);
	s->prompt = arena_new(s->a, int32_t, max);
	if (!s->row || !s->live || !s->idle || !s->draw || !s->drawn || !s->prompt)
		return FAIL(e, ERR_LIMIT, "step arena: %d rows", n);
	for (int i = 0; i < n; i++) {
		struct row *r = &s->row[i];

		r->seq = -1;
		r->tok = arena_new(s->a, int32_t, max);
		r->logp = arena_new(s->a, float, max);
		r->entropy = arena_new(s->a, float, max);
		if (!r->tok || !r->logp || !r->entropy)
			return FAIL(e, ERR_LIMIT, "step arena: %d rows of %d tokens", n, max);
		s->idle[n - 1 - i] = r;
	}
	s->n_rows = s->n_idle = n;
	return 0;
}

/* The next sample takes an idle row; its prompt is prefilled if it is the first of its task. */
static int enter(struct single *s, struct err *e)
{
	struct policy *p = s->env->policy;
	struct place at = s->place[s->next];
	const struct task *t = s->ask[at.group].task;
	struct row *r = s->idle[s->n_idle - 1];
	int64_t room;

	if (at.k == 0) {
		if (rollout_prompt(p, t, s->prompt, p->max_seq, &s->n_prompt, e) < 0)
			return e->code;
		if (s->n_prompt >= p->max_seq)
			return FAIL(e, ERR_LIMIT,
			            "task %.*s: a prompt of %d tokens leaves no room in %d",
			            (int)t->id.n, t->id.p, s->n_prompt, p->max_seq);
		if (p->fn->prefill(p, s->prompt, s->n_prompt, &s->prompt_seq, e) < 0)
			return err_wrap(e, "prefill of task %.*s", (int)t->id.n, t->id.p);
	}
	if (p->fn->fork(p, s->prompt_seq, &r->seq, e) < 0)
		return err_wrap(e, "fork of task %.*s", (int)t->id.n, t->id.p);
	room = p->max_seq - s->n_prompt;
	r->sample = s->next;
	r->n = s->n_prompt;
	r->max = s->n_prompt +
	         (int)(room < s->env->cfg->max_tokens ? room : s->env->cfg->max_tokens);
	memcpy(r->tok, s->prompt, (size_t)s->n_prompt * sizeof *r->tok);
	memset(r->logp, 0, (size_t)s->n_prompt * sizeof *r->logp);
	memset(r->entropy, 0, (size_t)s->n_prompt * sizeof *r->entropy);
	s->n_idle--;
	s->live[s->n_live++] = r;
	if (at.k == s->ask[at.group].samples - 1) {
		p->fn->release(p, s->prompt_seq);
		s->prompt_seq = -1;
	}
	s->next++;
	return 0;
}

static void *copy(struct arena *a, const void *p, int n, size_t size)
{
	void *q = arena_alloc(a, (size_t)n, size, size);

	return q && n ? memcpy(q, p, (size_t)n * size) : q;
}

/* The tokens of a finished row and their text become those of its sample. */
static int fill_text(struct single *s, const struct row *r, struct sample *x, struct err *e)
{
	uint32_t *byte_of = arena_new(s->a, uint32_t, r->n + 1);
	uint8_t *mask = arena_new(s->a, uint8_t, r->n);

	x->n_tok = r->n;
	x->tok = copy(s->a, r->tok, r->n, sizeof *r->tok);
	x->logp = copy(s->a, r->logp, r->n, sizeof *r->logp);
	x->entropy = copy(s->a, r->entropy, r->n, sizeof *r->entropy);
	if (!byte_of || !mask || !x->tok || !x->logp || !x->entropy)
		return FAIL(e, ERR_LIMIT, "step arena: sample of %d tokens", r->n);
	memset(mask + x->n_prompt, 1, (size_t)(r->n - x->n_prompt));
	x->mask = mask;
	buf_reset(&s->text);
	tok_decode(s->env->policy->tok, r->tok + x->n_prompt, r->n - x->n_prompt, &s->text,
	           byte_of + x->n_prompt);
	if (buf_check(&s->text, "text of a sample", e) < 0)
		return e->code;
	x->byte_of = byte_of;
	x->text = arena_str(s->a, buf_str(&s->text));
	if (!x->text.p)
		return FAIL(e, ERR_LIMIT, "step arena: sample of %d tokens", r->n);
	return 0;
}

static const char *const *fence_tags(struct str language)
{
	static const char *const python[] = { "python", "python3", "py", NULL };
	static const char *const none[] = { NULL };

	return str_is(language, "python") ? python : none;
}

/* One judged program, or the lack of one, becomes the tests and the verdict of its sample. */
static int take(struct single *s, const struct judged *v, struct err *e)
{
	assert(v->tag < (uint64_t)s->b.n_samples);
	struct sample *x = sample_at(s, (int)v->tag);
	const struct task *t = s->ask[s->place[v->tag].group].task;
	struct tested *test = arena_new(s->a, struct tested, v->n_tests);
	struct turn *turn = (struct turn *)x->turn; /* made by finish(), const to others */

	if (!test)
		return FAIL(e, ERR_LIMIT, "step arena: %d tests", v->n_tests);
	for (int i = 0; i < v->n_tests; i++) {
		const struct judged_test *j = &v->test[i];
		bool own = i < t->n_tests;

		test[i] = (struct tested){
			.name = own ? t->test[i].name : arena_str(s->a, j->name),
			.verdict = j->verdict,
			.score = j->score,
			.weight = own ? t->test[i].weight : 1,
			.visible = own && t->test[i].visible,
			.cpu_ns = j->cpu_ns,
			.wall_ns = j->wall_ns,
			.mem_bytes = j->mem_bytes,
		};
		if (j->out.p)
			test[i].out = arena_str(s->a, j->out);
		if ((j->out.p && !test[i].out.p) || !test[i].name.p)
			return FAIL(e, ERR_LIMIT, "step arena: outputs of %d tests", v->n_tests);
		if (test[i].visible) {
			turn->n_tests++;
			turn->n_passed += j->verdict == VERDICT_ACCEPTED;
		}
	}
	x->test = test;
	x->n_tests = v->n_tests;
	x->n_passed = v->n_passed;
	x->verdict = turn->verdict = v->verdict;
	s->st.programs++;
	s->st.tests += v->n_tests;
	return 0;
}

/* Results that are there (timeout 0), or the next one within the timeout. 1: one was taken. */
static int poll_judge(struct single *s, int64_t timeout_ns, struct err *e)
{
	struct judged v;
	int r = judge_next(s->env->judge, timeout_ns, &v, e);

	if (r <= 0)
		return r;
	r = take(s, &v, e);
	judged_done(&v);
	return r < 0 ? r : 1;
}

static int drain(struct single *s, int at_most, struct err *e)
{
	while (judge_pending(s->env->judge) > at_most) {
		if (stopped(s))
			return FAIL(e, ERR_STOP, "stopped");
		if (poll_judge(s, POLL_NS, e) < 0)
			return e->code;
	}
	return 0;
}

/* A sample without a program fails every test that it never ran: it is wrong, and not by a fault
 * of the machine.
 */
static int no_program(struct single *s, int i, struct err *e)
{
	struct sample *x = sample_at(s, i);
	const struct task *t = s->ask[s->place[i].group].task;
	struct tested *test = arena_new(s->a, struct tested, t->n_tests);
	struct turn *turn = (struct turn *)x->turn; /* made by finish(), const to others */

	if (!test)
		return FAIL(e, ERR_LIMIT, "step arena: %d tests", t->n_tests);
	for (int k = 0; k < t->n_tests; k++) {
		test[k] = (struct tested){ .name = t->test[k].name,
			                   .verdict = VERDICT_SKIPPED,
			                   .weight = t->test[k].weight,
			                   .visible = t->test[k].visible };
		turn->n_tests += t->test[k].visible;
	}
	x->test = test;
	x->n_tests = t->n_tests;
	x->verdict = turn->verdict = VERDICT_COMPILE_ERROR;
	return 0;
}

static int submit(struct single *s, int i, struct err *e)
{
	struct sample *x = sample_at(s, i);
	const struct task *t = s->ask[s->place[i].group].task;
	struct str code = { 0 };
	enum extract_result got =
		extract_code(x->text, fence_tags(t->language), t->entry_point, s->a, &code);

	if (got == EXTRACT_NO_MEMORY)
		return FAIL(e, ERR_LIMIT, "step arena: answer of %zu bytes", x->text.n);
	if (got != EXTRACT_OK || !code.p)
		return no_program(s, i, e);
	x->code = task_program(t, code, s->a);
	if (!x->code.p)
		return FAIL(e, ERR_LIMIT, "step arena: program of %zu bytes", code.n);
	((struct turn *)x->turn)->code = x->code;
	if (drain(s, MAX_WAITING, e) < 0)
		return e->code;
	if (stopped(s)) /* judge_submit() may wait for a program to end */
		return FAIL(e, ERR_STOP, "stopped");
	if (judge_submit(s->env->judge, t, x->code, (uint64_t)i, e) < 0)
		return err_wrap(e, "judge task %.*s", (int)t->id.n, t->id.p);
	return 0;
}

/* The row ended: its sample is complete but for the verdict. */
static int finish(struct single *s, struct row *r, enum finish how, struct err *e)
{
	struct sample *x = sample_at(s, r->sample);
	struct turn *turn = arena_new(s->a, struct turn, 1);

	x->finish = how;
	if (!turn)
		return FAIL(e, ERR_LIMIT, "step arena: turn");
	if (fill_text(s, r, x, e) < 0)
		return e->code;
	x->n_turns = 1;
	x->turn = turn;
	*turn = (struct turn){ .tok0 = x->n_prompt, .tok1 = x->n_tok, .finish = how };
	turn->byte1 = x->text.n;
	s->env->policy->fn->release(s->env->policy, r->seq);
	r->seq = -1;
	return submit(s, r->sample, e);
}

/* One more token for every row; rows that end leave, the others keep their order. */
static int one_token(struct single *s, struct err *e)
{
	struct policy *p = s->env->policy;
	struct sampling how = { s->env->cfg->temperature, s->env->seed };
	int32_t eos = tok_eos(p->tok);
	int left = 0, r = 0;

	for (int i = 0; i < s->n_live; i++) {
		struct row *w = s->live[i];

		s->draw[i] = (struct draw){
			.seq = w->seq,
			.ctr = { (uint32_t)w->n,
			         (uint32_t)sample_at(s, w->sample)->rollout | (uint32_t)RNG_SAMPLE
			                                                              << 24,
			         s->task_word[s->place[w->sample].group], (uint32_t)s->env->step },
		};
	}
	if (p->fn->sample(p, &how, s->draw, s->n_live, s->drawn, e) < 0)
		return err_wrap(e, "sample");
	s->st.sampled_tokens += s->n_live;
	for (int i = 0, n = s->n_live; i < n; i++) {
		struct row *w = s->live[i];
		bool end = s->drawn[i].tok == eos;

		w->tok[w->n] = s->drawn[i].tok;
		w->logp[w->n] = s->drawn[i].logp;
		w->entropy[w->n] = s->drawn[i].entropy;
		w->n++;
		if (!end && w->n < w->max) {
			s->live[left++] = w;
			continue;
		}
		s->idle[s->n_idle++] = w;
		if (r == 0)
			r = finish(s, w, end ? FINISH_STOP : FINISH_LENGTH, e);
	}
	s->n_live = left;
	return r;
}

static int generate(struct single *s, struct err *e)
{
	for (;;) {
		if (stopped(s))
			return FAIL(e, ERR_STOP, "stopped");
		while (s->n_idle && s->next < s->b.n_samples) {
			struct sample *x = sample_at(s, s->next);

			if (enter(s, e) < 0)
				return e->code;
			x->n_prompt = x->fork_tok = s->n_prompt;
		}
		if (s->n_live == 0)
			return 0;
		if (one_token(s, e) < 0)
			return e->code;
		for (int r = 1; r > 0;) {
			r = poll_judge(s, 0, e);
			if (r < 0)
				return r;
		}
	}
}

static int index_tokens(struct single *s, struct err *e)
{
	int64_t *first = arena_new(s->a, int64_t, s->b.n_samples + 1);

	if (!first)
		return FAIL(e, ERR_LIMIT, "step arena: %d samples", s->b.n_samples);
	for (int i = 0; i < s->b.n_samples; i++)
		first[i + 1] = first[i] + sample_at(s, i)->n_tok;
	s->b.first = first;
	s->b.n_tok = first[s->b.n_samples];
	return 0;
}

static void release_all(struct single *s)
{
	struct policy *p = s->env->policy;

	if (s->prompt_seq >= 0)
		p->fn->release(p, s->prompt_seq);
	for (int i = 0; i < s->n_rows; i++)
		if (s->row[i].seq >= 0)
			p->fn->release(p, s->row[i].seq);
}

static int run(const void *cfg, const struct rollout_env *env, const struct rollout_ask *ask, int n,
               struct arena *a, struct batch *ret, struct rollout_stats *st, struct err *e)
{
	struct single s = { .env = env, .ask = ask, .a = a, .prompt_seq = -1 };
	int64_t t0 = now_ns(), t1 = t0;
	struct err own;
	int r;

	(void)cfg;
	e = e ? e : &own;
	for (int i = 0; i < n; i++)
		if (ask[i].samples < 1 || ask[i].samples >= 1 << 24)
			return FAIL(e, ERR_RANGE, "%d samples of task %.*s", ask[i].samples,
			            (int)ask[i].task->id.n, ask[i].task->id.p);
	s.text.max = MAX_TEXT;
	r = lay_out(&s, n, e);
	if (r == 0)
		r = rows_init(&s, e);
	if (r == 0)
		r = generate(&s, e);
	t1 = now_ns();
	if (r == 0)
		r = drain(&s, 0, e);
	if (r == 0)
		r = index_tokens(&s, e);
	release_all(&s);
	buf_done(&s.text);
	if (r < 0)
		return r;
	s.st.generate_ns = t1 - t0;
	s.st.judge_wait_ns = now_ns() - t1;
	*ret = s.b;
	*st = s.st;
	return 0;
}

const struct rollout_fn rollout_single = {
	.name = "single",
	.doc = "independent answers of one turn, judged while others still generate",
	.source = "our reading of the common GRPO rollout",
	.run = run,
};
