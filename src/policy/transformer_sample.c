/* transformer_sample.c - prefill and batched sampling.
 *
 * The cache of a sequence holds every token but the last, the pending one. sample() computes the
 * pending token's row, draws, and makes the drawn token pending; so forks of a prompt need
 * nothing but the shared cache.
 */
#include "policy/transformer_int.h"

#include <string.h>

#include "base/rng.h"

static int check_tokens(const struct transformer *t, const int32_t *tok, int64_t n, struct err *e)
{
	for (int64_t i = 0; i < n; i++)
		if (tok[i] < 0 || tok[i] >= t->vocab)
			return FAIL(e, ERR_RANGE, "token id %d: outside 0..%d", tok[i],
			            t->vocab - 1);
	return 0;
}

int transformer_prefill(struct policy *p, const int32_t *tok, int n, int *ret_seq, struct err *e)
{
	struct transformer *t = transformer_of(p);
	struct kv *kv = &t->kv;
	int64_t first[2] = { 0, n - 1 };
	struct rows r = { .n = n - 1, .n_seq = 1, .first = first, .block = kv->block };
	struct work *w = t->work;
	unsigned fp;
	int seq, rc;

	if (n < 1 || n > p->max_seq)
		return FAIL(e, ERR_RANGE, "prompt of %d tokens: outside 1..%d", n, p->max_seq);
	rc = check_tokens(t, tok, n, e);
	if (rc < 0)
		return rc;
	rc = transformer_work_need(t, n, n, false, e);
	if (rc < 0)
		return rc;
	rc = kv_open(kv, &seq, e);
	if (rc < 0)
		return rc;
	for (int i = 0; i < n - 1; i++) {
		w->tok[i] = tok[i];
		w->pos[i] = i;
		if (i % KERN_BLOCK == 0) {
			kv_extend(kv, seq, i);
			kv->block[i / KERN_BLOCK] = kv_entry(kv, seq, i / KERN_BLOCK);
		}
	}
	r.tok = w->tok;
	r.pos = w->pos;
	fp = kern_fp_init();
	if (n > 1)
		transformer_forward(t, w, &r);
	kern_fp_done(fp);
	kv->seq[seq].len = n - 1;
	kv->seq[seq].pending = tok[n - 1];
	*ret_seq = seq;
	return 0;
}

struct sample_arg {
	struct transformer *t;
	const struct sampling *s;
	const struct draw *d;
	struct drawn *ret;
	int n, part; /* rows, rows of one item */
};

static struct drawn draw_one(const struct sample_arg *a, const struct kern_head *h,
                             const struct draw *d)
{
	uint32_t word[4];
	int y;

	if (a->s->temperature > 0) {
		rng_philox(a->s->seed, d->ctr, word);
		y = kern_draw(h->ex, h->n, rng_to_unit(word[0]));
	} else {
		y = kern_argmax(h->z, h->n);
	}
	return (struct drawn){ y, h->z[y] - h->logz, h->entropy };
}

static void sample_part(void *arg, int item)
{
	const struct sample_arg *a = arg;
	struct transformer *t = a->t;
	struct work *w = transformer_work_take(t);
	int r0 = item * a->part, n = a->n - r0 < a->part ? a->n - r0 : a->part;
	float inv_t = transformer_inv_t(a->s->temperature);
	unsigned fp = kern_fp_init();

	for (int i = 0; i < n; i++) {
		const struct kv_seq *s = &t->kv.seq[a->d[r0 + i].seq];

		w->tok[i] = s->pending;
		w->pos[i] = s->len;
	}
	transformer_forward(t, w,
	                    &(struct rows){ .tok = w->tok,
	                                    .pos = w->pos,
	                                    .n = n,
	                                    .block = t->kv.block + (int64_t)r0 * t->kv.max_blocks,
	                                    .ld_block = t->kv.max_blocks });
	for (int i0 = 0, m; i0 < n; i0 += m) {
		m = n - i0 < w->tile ? n - i0 : w->tile;
		transformer_logits(t, w, w->a.x_end + (int64_t)i0 * t->d, m);
		for (int i = 0; i < m; i++) {
			struct kern_head h = transformer_head(t, w, i, inv_t);

			a->ret[r0 + i0 + i] = draw_one(a, &h, &a->d[r0 + i0 + i]);
		}
	}
	kern_fp_done(fp);
	transformer_work_put(t, w);
}

/* Every sequence once, alive, with room for one more token. */
static int check_draws(const struct transformer *t, const struct draw *d, int n, struct err *e)
{
	const struct kv *kv = &t->kv;

	for (int i = 0; i < n; i++) {
		int rc = kv_check(kv, d[i].seq, e);

		if (rc < 0)
			return rc;
		if (kv->seq[d[i].seq].len + 2 > t->p.max_seq)
			return FAIL(e, ERR_LIMIT, "sequence %d has %d tokens already", d[i].seq,
			            t->p.max_seq);
	}
	for (int i = 0; i < n; i++)
		kv->seq[d[i].seq].row = i;
	for (int i = 0; i < n; i++)
		if (kv->seq[d[i].seq].row != i)
			return FAIL(e, ERR_RANGE, "sequence %d is drawn from twice", d[i].seq);
	return 0;
}

int transformer_sample(struct policy *p, const struct sampling *s, const struct draw *d, int n,
                       struct drawn *ret, struct err *e)
{
	struct transformer *t = transformer_of(p);
	struct kv *kv = &t->kv;
	int threads = pool_threads(p->pool), part = (n + threads - 1) / threads;
	struct sample_arg a = { t, s, d, ret, n, part < 4 ? 4 : part };
	int rc;

	if (n < 1)
		return 0;
	if (!(s->temperature >= 0))
		return FAIL(e, ERR_RANGE, "temperature %g", s->temperature);
	rc = check_draws(t, d, n, e);
	if (rc < 0)
		return rc;
	rc = transformer_work_need(t, a.part, 1, false, e);
	if (rc < 0)
		return rc;
	for (int i = 0; i < n; i++) {
		int len = kv->seq[d[i].seq].len;

		kv_extend(kv, d[i].seq, len);
		for (int b = 0; b <= len / KERN_BLOCK; b++)
			kv->block[(int64_t)i * kv->max_blocks + b] = kv_entry(kv, d[i].seq, b);
	}
	pool_run(p->pool, (n + a.part - 1) / a.part, sample_part, &a);
	for (int i = 0; i < n; i++) {
		kv->seq[d[i].seq].len++;
		kv->seq[d[i].seq].pending = ret[i].tok;
	}
	return 0;
}
