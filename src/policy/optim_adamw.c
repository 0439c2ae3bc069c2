/* optim_adamw.c - AdamW with clipping by the global norm.
 *
 *	norm = sqrt(sum g^2)	per tensor in 16 lanes of double, tensors in order of names
 *	scale = min(1, clip / (norm + 1e-6))	on g while it is read
 *	c1 = 1 / (1 - b1^t), c2 = 1 / (1 - b2^t)	in double, rounded once
 *
 * then element by element as in kern.h (Loshchilov and Hutter, arXiv 1711.05101). Weight decay
 * skips one-dimensional tensors. A norm that is not finite skips the update.
 */
#include "policy/transformer_int.h"

#include <math.h>

struct step_arg {
	struct transformer *t;
	struct kern_adamw a;
	float wd;
};

static void norm_one(void *arg, int i)
{
	struct step_arg *s = arg;
	struct tensor *x = &s->t->tensor[i];
	unsigned fp = kern_fp_init();

	x->sum_sq = s->t->k->sum_sq(s->t->grad + x->off, x->n);
	kern_fp_done(fp);
}

static void update_one(void *arg, int i)
{
	const struct step_arg *s = arg;
	struct transformer *t = s->t;
	const struct tensor *x = &t->tensor[i];
	struct kern_adamw a = s->a;
	float *m = t->moment.p + x->off;
	unsigned fp = kern_fp_init();

	a.wd = x->rank == 1 ? 0 : s->wd;
	t->k->adamw(&a, t->weight.p + x->off, m, m + t->n_floats, t->grad + x->off, x->n);
	kern_fp_done(fp);
}

/* b^n by squaring: the C library's pow() differs between machines in the last bit. */
static double power(double b, int64_t n)
{
	double y = 1;

	for (; n > 0; n /= 2, b *= b)
		if (n % 2)
			y *= b;
	return y;
}

int transformer_step(struct policy *p, const struct optim *o, struct step_stats *ret, struct err *e)
{
	struct transformer *t = transformer_of(p);
	struct step_arg s = { .t = t, .wd = (float)o->weight_decay };
	double sum = 0, norm;

	if (!t->grad)
		return FAIL(e, ERR_RANGE, "step without a gradient");
	pool_run(p->pool, t->n_tensors, norm_one, &s);
	for (int i = 0; i < t->n_tensors; i++)
		sum += t->tensor[i].sum_sq;
	norm = sqrt(sum);
	if (!isfinite(norm)) {
		*ret = (struct step_stats){ norm, true };
		return 0;
	}
	t->opt_step++;
	s.a = (struct kern_adamw){
		.b1 = (float)o->beta1,
		.one_b1 = (float)(1 - o->beta1),
		.b2 = (float)o->beta2,
		.one_b2 = (float)(1 - o->beta2),
		.c1 = (float)(1 / (1 - power(o->beta1, t->opt_step))),
		.c2 = (float)(1 / (1 - power(o->beta2, t->opt_step))),
		.eps = (float)o->eps,
		.lr = (float)o->lr,
		.scale = o->clip > 0 ? (float)fmin(1, o->clip / (norm + 1e-6)) : 1,
	};
	pool_run(p->pool, t->n_tensors, update_one, &s);
	transformer_pack(t);
	p->version++;
	*ret = (struct step_stats){ norm, false };
	return 0;
}
