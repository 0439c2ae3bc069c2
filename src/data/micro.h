/* micro.h - the compositions behind the micro family: parts, interpreter, printers.
 *
 * A composition is a pipeline over the elements of one argument, with at most one part in each
 * slot; 0 is the plain part of a slot (no guard, the whole argument, no filter, ...):
 *
 *	[guard] source -> [filter] -> [map | cond ? map : other] -> fold [-> test]
 *
 *	"Return the sum of the squares of the even numbers in xs after the first item."
 *	    return sum(x * x for x in xs[1:] if x % 2 == 0)
 *
 * Each part knows its words, its Python text and its C function, and by which other parts people
 * mistake it. English and Python are printed from the composition, the values come from the C
 * functions: the judge, which runs the Python text, checks one against the other.
 */
#ifndef DATA_MICRO_H
#define DATA_MICRO_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/rng.h"

#include <stdbool.h>
#include <stdint.h>

enum micro_family { MICRO_LIST, MICRO_RANGE, MICRO_TEXT, MICRO_WORDS, MICRO_FAMILIES };
enum micro_slot {
	MICRO_GUARD,
	MICRO_SOURCE,
	MICRO_FILTER,
	MICRO_COND, /* a part of the filter table: the condition of a branch or of all() and any()
	             */
	MICRO_MAP,
	MICRO_OTHER, /* a part of the map table: what happens where the condition is false */
	MICRO_FOLD,
	MICRO_TEST,
	MICRO_SLOTS
};
enum micro_shape {
	MICRO_PIPE,   /* source, filter, map, fold */
	MICRO_BRANCH, /* cond ? map : other for each element */
	MICRO_ALL,    /* all() or any() of a condition */
	MICRO_TESTED, /* a comparison of the folded value */
	MICRO_GUARDED,
	MICRO_SHAPES
};

enum {
	MICRO_ITEMS = 32, /* elements of a list, characters of an argument */
	MICRO_WORD = 24,  /* bytes of an element */
	MICRO_LINE = 96,  /* bytes of a text result */
	MICRO_PROBES = 36,
	MICRO_NEAR = 6,
};

struct micro_elem {
	bool text;
	int n; /* bytes of s */
	int64_t i;
	char s[MICRO_WORD];
};

struct micro_list {
	int n;
	struct micro_elem e[MICRO_ITEMS];
};

enum micro_type { MICRO_INT, MICRO_BOOL, MICRO_STR, MICRO_LISTED };

struct micro_val {
	enum micro_type type;
	int64_t i; /* MICRO_INT, MICRO_BOOL */
	int n;     /* bytes of s */
	char s[MICRO_LINE];
	struct micro_list list;
};

/* Arguments of one call: xs and n, n alone, or s, as the family says. */
struct micro_input {
	int n_xs;
	int64_t xs[MICRO_ITEMS], n;
	char s[MICRO_ITEMS]; /* ends with NUL */
};

enum micro_fold {
	MICRO_SUM,
	MICRO_PRODUCT,
	MICRO_MAX,
	MICRO_MIN,
	MICRO_COUNT,
	MICRO_DISTINCT,
	MICRO_FIRST,
	MICRO_LAST,
	MICRO_COLLECT,
	MICRO_SORT,
	MICRO_JOIN,
	MICRO_JOIN_SORTED,
	MICRO_JOIN_SPACED,
	MICRO_EVERY,
	MICRO_SOME,
};

/* One choice for a slot. Immutable. In code, X is the element's variable; in folds, @ is the
 * iterable and % the mapped element.
 */
struct micro_part {
	const char *name;
	unsigned in;        /* bit for each enum micro_family */
	bool never;         /* stands in wrong programs only: nobody asks for it */
	const char *code;   /* Python */
	const char *say;    /* English; for a map the words before the noun, or NULL */
	const char *say2;   /* another wording; for a map the words behind it, or NULL */
	const char *adj;    /* filter: "are ..." */
	const char *near;   /* names of parts that are mistaken for it, separated by blanks */
	const char *plain;  /* fold: code if there is neither filter nor map */
	const char *init;   /* fold as a loop: before it, or NULL */
	const char *step;   /* in it; NULL: never a loop */
	const char *result; /* behind it */
	const char *tail;   /* fold: words at the end of the sentence */
	bool loop;          /* fold: always a loop; otherwise only over a range */
	bool ints, texts;   /* fold: takes; map: gives texts */
	bool scalar;        /* fold: gives a number, so that it can be tested or guarded */
	enum micro_fold fold;
	bool (*is)(const struct micro_elem *e, int64_t n);
	void (*map)(struct micro_elem *e, int64_t n);
	bool (*pre)(const struct micro_input *in);                          /* guard */
	void (*take)(const struct micro_input *in, struct micro_list *ret); /* source */
	bool (*cmp)(int64_t v);                                             /* test */
};

/* Parts of a slot by number, NULL behind the last; entry 0 is the plain part. */
const struct micro_part *micro_part(enum micro_slot slot, int i);

struct micro_comp {
	uint8_t family, part[MICRO_SLOTS];
};

const struct micro_part *micro_part_of(const struct micro_comp *c, enum micro_slot slot);
const char *micro_family_text(enum micro_family f);
const char *micro_shape_text(enum micro_shape s);
enum micro_shape micro_shape(const struct micro_comp *c);
int micro_level(const struct micro_comp *c);  /* number of parts that are not plain; fold counts */
bool micro_bound(const struct micro_comp *c); /* takes a second argument n */
bool micro_typed(const struct micro_comp *c); /* runs without a type error */
bool micro_asked(const struct micro_comp *c); /* typed, and can be said in one plain sentence */

/* The compositions that differ from c in slot by a plausible mistake; ret (MICRO_NEAR,). */
int micro_near(const struct micro_comp *c, enum micro_slot slot, struct micro_comp *ret);

/* The value for an input. false: a number left +-10^15, or a result is too long. */
bool micro_eval(const struct micro_comp *c, const struct micro_input *in, struct micro_val *ret);
bool micro_val_eq(const struct micro_val *a, const struct micro_val *b);

/* The fixed inputs on which behaviours are compared. */
struct micro_probes {
	int n[MICRO_FAMILIES];
	struct micro_input in[MICRO_FAMILIES][MICRO_PROBES];
};
void micro_probes(struct micro_probes *ret);

/* Bit i: d's value on probe i is another than c's, or d has none. Of one family. */
uint64_t micro_differ(const struct micro_comp *c, const struct micro_comp *d,
                      const struct micro_probes *p);

/* n probes (or all, if there are no more) on which as many plausible mistakes and constant answers
 * as possible show; the edge case is always in. Bit i: probe i.
 */
uint64_t micro_pick_tests(const struct micro_comp *c, const struct micro_probes *p, int n,
                          struct rng *r);

/* c with mistakes in n of its parts (fewer if it has no more), of which some probe in `tests`
 * shows that they are mistakes. false: found none.
 */
bool micro_mistake(const struct micro_comp *c, int n, uint64_t tests, const struct micro_probes *p,
                   struct rng *r, struct micro_comp *ret);

void micro_put_args(const struct micro_comp *c, const struct micro_input *in, struct buf *b);
void micro_put_val(const struct micro_val *v, struct buf *b);
void micro_put_code(const struct micro_comp *c, struct buf *b); /* the body, no LF at the end */

/* "# <sentence>\ndef f(xs):\n"; each phrase takes another wording with probability vary. */
void micro_put_prompt(const struct micro_comp *c, struct rng *r, double vary, struct buf *b);

/* Every composition that can be asked for, one for each behaviour, plainest first. */
struct micro_pool {
	int n;
	struct micro_comp *comp; /* (n,) */
	uint64_t *sig;           /* (n,) of the outputs on the probes */
	int n_tried;             /* compositions before equal and constant behaviours went */
};

int micro_enumerate(int max_level, const struct micro_probes *p, struct arena *a,
                    struct micro_pool *ret, struct err *e);

enum { MICRO_LEVELS = 4 };

/* What a set is drawn by: shares of families, shapes and levels (from 1); they need not add up. */
struct micro_shares {
	double family[MICRO_FAMILIES], shape[MICRO_SHAPES], level[MICRO_LEVELS];
};

/* Train, then test compositions, all of different behaviour: ret (n_train + n_test,) indices into
 * the pool. Each part of a test composition is in one of the first n_known train compositions.
 */
int micro_split(const struct micro_pool *pool, const struct micro_shares *share, uint64_t seed,
                int n_train, int n_known, int n_test, int *ret, struct err *e);

#endif
