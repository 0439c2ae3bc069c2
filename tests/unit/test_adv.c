/* Advantages: the cases of every member, who may be trained on, agreement with verl. */
#include "adv/adv.h"

#include <math.h>

#include "test.h"

#include "batches.h"
#include "oracle.h"

static const struct adv_fn *find(const char *name)
{
	return (const struct adv_fn *)part_find(PART_TABLE(adv_table), name);
}

static struct adv_out make_out(struct arena *a, int64_t n)
{
	return (struct adv_out){ arena_new(a, float, n), arena_new(a, float, n), NULL, a };
}

static void every_estimator_runs_its_cases(void **state)
{
	static const int len[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };

	(void)state;
	for (int i = 0; adv_table[i]; i++) {
		const struct adv_fn *f = adv_table[i];

		assert_true(family_described(f->name, f->doc, f->source));
		assert_true(f->cases && f->cases->G);
		for (const struct adv_case *c = f->cases; c->G; c++) {
			AUTO_ARENA a = { .limit = 1 << 16 };
			void *cfg = family_config_with(f->opts, f->cfg_size, c->opts, &a);
			struct group g = make_group(&a, "t", c->G, len);
			struct batch b = make_batch(&a, 1, &g);
			struct adv_out o = make_out(&a, b.n_tok);
			bool silent = true;
			struct err e;

			set_rewards(&g, c->r);
			assert_int_equal(adv_batch(f, cfg, &b, &o, &e), 0);
			for (int k = 0; k < c->G; k++) {
				assert_true(fabs((double)o.A[k] - c->want[k]) < 1e-6);
				assert_true(c->want[k] != 0 || o.A[k] == 0);
				assert_true(o.weight[k] == !isnan(c->r[k]));
				silent = silent && c->want[k] == 0;
			}
			assert_int_equal(g.silent, silent);
		}
	}
}

static void tokens_get_it_where_they_may_be_trained(void **state)
{
	static const int len[3] = { 2, 3, 1 };
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct group g[2] = { make_group(&a, "s", 3, len), make_group(&a, "t", 2, len) };
	struct batch b = make_batch(&a, 2, g);
	struct adv_out o = make_out(&a, b.n_tok);
	const struct adv_fn *f = find("rloo");
	uint8_t hole[3] = { 0, 1, 0 };

	(void)state;
	memset(o.A, 7, (size_t)b.n_tok * sizeof *o.A); /* what was there does not matter */
	set_rewards(&g[0], (double[]){ 1, 0, 1 });
	set_rewards(&g[1], (double[]){ .3, .3 });
	g[0].sample[1].mask = hole;
	g[0].sample[2].finish = FINISH_ABORT;
	assert_int_equal(
		adv_batch(f, family_config_with(f->opts, f->cfg_size, NULL, &a), &b, &o, NULL), 0);
	assert_memory_equal(o.A, ((float[]){ 1, 1, 0, -1, 0, 0, 0, 0, 0, 0, 0 }),
	                    11 * sizeof(float));
	assert_memory_equal(o.weight, ((float[]){ 1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1 }),
	                    11 * sizeof(float));
	assert_true(!g[0].silent && g[1].silent);
	assert_ptr_equal(batch_sample(&b, 3), &g[1].sample[0]);
}

static void a_lonely_reward_can_be_an_error(void **state)
{
	static const int len[2] = { 1, 1 };
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct group g = make_group(&a, "lonely", 2, len);
	struct batch b = make_batch(&a, 1, &g);
	struct adv_out o = make_out(&a, b.n_tok);
	const struct adv_fn *f = find("grpo");
	struct err e;

	(void)state;
	set_rewards(&g, (double[]){ 1, NAN });
	assert_int_equal(adv_batch(f,
	                           family_config_with(f->opts, f->cfg_size, "singleton=error", &a),
	                           &b, &o, &e),
	                 ERR_RANGE);
	assert_string_equal(e.msg, "adv grpo: group lonely has one reward only");
}

static int nan_everywhere(const void *cfg, const struct batch *b, struct adv_out *ret,
                          struct err *e)
{
	(void)cfg;
	(void)e;
	for (int64_t t = 0; t < b->n_tok; t++)
		ret->A[t] = NAN;
	return 0;
}

static void an_advantage_is_a_number(void **state)
{
	static const struct adv_fn f = { .name = "bad", .compute = nan_everywhere };
	static const int len[1] = { 1 };
	AUTO_ARENA a = { .limit = 1 << 16 };
	struct group g = make_group(&a, "t", 1, len);
	struct batch b = make_batch(&a, 1, &g);
	struct adv_out o = make_out(&a, b.n_tok);
	struct err e;

	(void)state;
	set_rewards(&g, (double[]){ NAN }); /* not trained: whatever stands there is dropped */
	assert_int_equal(adv_batch(&f, NULL, &b, &o, &e), 0);
	assert_true(o.A[0] == 0 && g.silent);
	set_rewards(&g, (double[]){ 1 });
	assert_int_equal(adv_batch(&f, NULL, &b, &o, &e), ERR_RANGE);
}

/* Rows of verl's vectors as groups, in order: the file has them sorted by group. */
static void agrees_with_verl(void **state)
{
	static const struct {
		const char *name, *adv, *opts;
	} rows[] = {
		{ "grpo(std=True)", "grpo", "singleton=raw" },
		{ "grpo(std=False)", "grpo", "singleton=raw std=none" },
		{ "grpo_vectorized(std=True)", "grpo", "singleton=raw" },
		{ "rloo", "rloo", "singleton=raw" },
		{ "rloo_vectorized", "rloo", NULL },
	};
	AUTO_ARENA a = { .limit = 64 << 20 };
	const struct json *top = oracle_open(&a, ORACLE_PATH), *in = json_get(top, "in");
	const struct json *mask = json_get(in, "mask"), *r = json_get(in, "token_level_rewards");
	int B = json_len(mask), T = json_len(json_at(mask, 0)), seen = 0;

	(void)state;
	if (!top)
		skip();
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		const struct adv_fn *f = find(rows[k].adv);
		const struct json *want =
			json_get(json_get(json_get(top, "adv"), rows[k].name), "advantages");
		struct group *g = arena_new(&a, struct group, B);
		struct batch b;
		struct adv_out o;
		int n = 0, len[16];
		struct err e;

		if (!want)
			continue;
		seen++;
		for (int i = 0; i < B; i++)
			len[i] = T;
		for (int i = 0, j; i < B; i = j) {
			struct str key = json_str(json_at(json_get(in, "index"), i));

			for (j = i;
			     j < B && str_eq(key, json_str(json_at(json_get(in, "index"), j)));)
				j++;
			g[n] = make_group(&a, "", j - i, len);
			for (int s = i; s < j; s++) {
				uint8_t *m = arena_new(&a, uint8_t, T);
				double sum = 0;

				for (int t = 0; t < T; t++) {
					m[t] = oracle_at(mask, s, t) != 0;
					sum += oracle_at(r, s, t);
				}
				g[n].sample[s - i].mask = m;
				g[n].sample[s - i].reward = (struct score){ sum, true };
			}
			n++;
		}
		b = make_batch(&a, n, g);
		o = make_out(&a, b.n_tok);
		assert_int_equal(
			adv_batch(f, family_config_with(f->opts, f->cfg_size, rows[k].opts, &a), &b,
		                  &o, &e),
			0);
		for (int i = 0; i < B; i++)
			for (int t = 0; t < T; t++) {
				double w = oracle_at(want, i, t), got = o.A[i * T + t];

				assert_true(fabs(got - w) <= 2e-5 * fmax(1, fabs(w)));
			}
	}
	assert_int_equal(seen, sizeof rows / sizeof *rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_estimator_runs_its_cases),
		cmocka_unit_test(tokens_get_it_where_they_may_be_trained),
		cmocka_unit_test(a_lonely_reward_can_be_an_error),
		cmocka_unit_test(an_advantage_is_a_number),
		cmocka_unit_test(agrees_with_verl),
	};

	return RUN(tests);
}
