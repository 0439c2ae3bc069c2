/* tok_words.h - the different words of the training texts with their counts. One owner. */
#ifndef TOK_TOK_WORDS_H
#define TOK_TOK_WORDS_H

#include "tok/tok_impl.h"

#define SLOT_NONE UINT32_MAX

/* A growing array with a maximum; items live in p. */
struct vec {
	void *p;
	size_t n, cap;
};

/* Room for one more item of size bytes, or NULL and *e. Moves the others. */
void *vec_more(struct vec *v, size_t size, struct err *e);

/* Open addressing: numbers of items, SLOT_NONE is empty. The owner fills it again after growth. */
struct slots {
	uint32_t *p;
	uint32_t mask;
};

bool slots_full(const struct slots *s, size_t n); /* half of it is used by n items */
int slots_grow(struct slots *s, struct err *e);

struct word {
	struct str text; /* borrowed from the texts */
	int64_t count;
	uint32_t sym; /* first symbol in words.sym */
	int len;      /* symbols; merges make it shorter */
};

struct words {
	struct vec word, sym;
	struct slots slots;
};

int words_count(void *words, struct str piece, struct err *e); /* a tok_piece_fn */
struct word *words_at(const struct words *x, uint32_t i);
int32_t *words_syms(const struct words *x, uint32_t i); /* (len,) ids */
void words_done(struct words *x);

#endif
