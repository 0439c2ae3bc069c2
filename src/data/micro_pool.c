/* micro_pool.c - enumerates compositions and keeps one for each behaviour. */
#include "data/micro.h"

#include "base/hash.h"

#include <string.h>

enum { MAX_COMPS = 1 << 17, MIN_SPREAD = 3 };

struct search {
	int level;
	struct micro_comp *all; /* (MAX_COMPS,) */
	int n;
};

/* Fills slots one after the other; what is too long already is left early. */
static void extend(struct search *s, struct micro_comp *c, int slot)
{
	const struct micro_part *p;

	if (slot == MICRO_SLOTS) {
		if (micro_level(c) == s->level && micro_asked(c) && s->n < MAX_COMPS)
			s->all[s->n++] = *c;
		return;
	}
	for (int i = 0; (p = micro_part(slot, i)); i++) {
		if (p->never || !(p->in & 1u << c->family))
			continue;
		c->part[slot] = (uint8_t)i;
		if (micro_level(c) <= s->level)
			extend(s, c, slot + 1);
	}
	c->part[slot] = slot == MICRO_SOURCE ? c->family : 0;
}

/* Equal values give equal bytes, others do not. */
static void put_key(const struct micro_val *v, struct buf *b)
{
	buf_putc(b, (char)v->type);
	if (v->type == MICRO_STR) {
		buf_putc(b, (char)v->n);
		buf_put(b, v->s, (size_t)v->n);
		return;
	}
	if (v->type != MICRO_LISTED) {
		buf_put(b, &v->i, sizeof v->i);
		return;
	}
	buf_putc(b, (char)v->list.n);
	for (int i = 0; i < v->list.n; i++) {
		const struct micro_elem *e = &v->list.e[i];

		buf_putc(b, (char)(e->text ? 1 + e->n : 0));
		buf_put(b, e->text ? (const void *)e->s : &e->i,
		        e->text ? (size_t)e->n : sizeof e->i);
	}
}

/* The outputs on all probes; false: some input gives no value, or hardly two differ. */
static bool outputs(const struct micro_comp *c, const struct micro_input *in, int n, struct buf *b)
{
	size_t end[MICRO_PROBES + 1];
	struct micro_val v = { 0 };
	int k = n / 2, n_other = 0; /* k: an ordinary input, not an edge */

	buf_putc(b, (char)('0' + c->family));
	for (int i = 0; i < n; i++) {
		end[i] = b->n;
		if (!micro_eval(c, &in[i], &v))
			return false;
		put_key(&v, b);
	}
	end[n] = b->n;
	for (int i = 0; i < n; i++)
		n_other += !str_eq((struct str){ b->p + end[i], end[i + 1] - end[i] },
		                   (struct str){ b->p + end[k], end[k + 1] - end[k] });
	return n_other >= MIN_SPREAD && (v.type != MICRO_BOOL || n - n_other >= MIN_SPREAD);
}

/* Set of 64-bit keys, open addressing; size a power of two; 0 is an empty place. */
static bool set_add(uint64_t *set, size_t size, uint64_t key)
{
	size_t i = (size_t)key & (size - 1);

	key += !key;
	for (; set[i]; i = (i + 1) & (size - 1))
		if (set[i] == key)
			return false;
	set[i] = key;
	return true;
}

static int keep_distinct(struct search *s, const struct micro_probes *probes, struct arena *a,
                         struct micro_pool *ret, struct err *e)
{
	AUTO_ARENA scratch = { .limit = 4 << 20 };
	AUTO_BUF b = { .max = 1 << 20 };
	enum { SIZE = 2 * MAX_COMPS };
	uint64_t *set = arena_new(&scratch, uint64_t, SIZE);
	struct micro_pool p = { .n_tried = s->n,
		                .comp = arena_new(a, struct micro_comp, s->n),
		                .sig = arena_new(a, uint64_t, s->n) };

	if (!set || !p.comp || !p.sig)
		return FAIL(e, ERR_NOMEM, "%d compositions", s->n);
	for (int i = 0; i < s->n; i++) {
		const struct micro_comp *c = &s->all[i];

		buf_reset(&b);
		if (!outputs(c, probes->in[c->family], probes->n[c->family], &b))
			continue;
		p.sig[p.n] = hash_u64(buf_str(&b));
		p.comp[p.n] = *c;
		p.n += set_add(set, SIZE, p.sig[p.n]);
	}
	if (buf_check(&b, "outputs", e) < 0)
		return ERR_LIMIT;
	*ret = p;
	return 0;
}

int micro_enumerate(int max_level, const struct micro_probes *p, struct arena *a,
                    struct micro_pool *ret, struct err *e)
{
	AUTO_ARENA scratch = { .limit = MAX_COMPS * sizeof(struct micro_comp) };
	struct search s = { .all = arena_new(&scratch, struct micro_comp, MAX_COMPS) };

	if (!s.all)
		return FAIL(e, ERR_NOMEM, "compositions");
	for (s.level = 1; s.level <= max_level; s.level++)
		for (int f = 0; f < MICRO_FAMILIES; f++) {
			struct micro_comp c = { .family = (uint8_t)f };

			c.part[MICRO_SOURCE] = (uint8_t)f;
			extend(&s, &c, 0);
		}
	if (s.n == MAX_COMPS)
		return FAIL(e, ERR_LIMIT, "more than %d compositions", MAX_COMPS - 1);
	return keep_distinct(&s, p, a, ret, e);
}
