/* tok_impl.h - the tokenizer's tables, shared by the files of this module.
 *
 * A text goes through three stages: added tokens are cut out (if asked), the pre-tokenizer cuts the
 * rest into pieces by regular expressions, and inside each piece the adjacent pair with the lowest
 * rank is merged until no pair has one.
 */
#ifndef TOK_TOK_IMPL_H
#define TOK_TOK_IMPL_H

#include "tok/tok.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	TOK_IDS_MAX = 1 << 20,
	TOK_MERGES_MAX = 1 << 22,
	TOK_STEPS_MAX = 8,
	TOK_PATTERN_MAX = 4096,  /* bytes of a regular expression */
	TOK_ADDED_MAX = 1 << 16, /* added tokens */
	TOK_FILE_MAX = 64 << 20,
	TOK_MEM_MAX = 512 << 20, /* bytes of the tables; Qwen's need 40 MB */
};

enum tok_kind {
	TOK_HOLE,    /* no token has this id */
	TOK_BYTES,   /* from the vocabulary */
	TOK_RAW,     /* in the vocabulary, but not in the byte alphabet: no merge gives it */
	TOK_ADDED,   /* added, an ordinary text */
	TOK_SPECIAL, /* added, decodes to nothing */
};

struct tok_merge {
	int32_t a, b, to;
};

/* Cuts every match and everything between matches into its own piece. */
struct tok_step {
	struct str pattern; /* as the file has it */
	void *code;         /* pcre2_code */
};

struct tok {
	struct arena a;
	int n;             /* ids */
	struct str *piece; /* (n,) bytes */
	uint8_t *kind;     /* (n,) enum tok_kind */
	int32_t byte_id[256];
	struct tok_merge *merge; /* (n_merges,) in order of rank */
	int n_merges;
	int32_t *pair_slot; /* open addressing over (a, b): rank or -1 */
	uint32_t pair_mask;
	int32_t *text_slot; /* open addressing over bytes: id of a TOK_BYTES token or -1 */
	uint32_t text_mask;
	int32_t *added; /* (n_added,) ids by first byte, longer ones first */
	int n_added;
	int added_first[257]; /* added tokens that begin with byte c: [c] .. [c + 1] */
	bool ignore_merges;   /* a piece that is in the vocabulary is taken whole */
	struct tok_step step[TOK_STEPS_MAX];
	int n_steps;
	int32_t eos;
	struct str source, config, special_map; /* files as read; .p NULL: made by us */
};

/* ---- tok.c: tables ---- */

struct tok *tok_new(size_t limit); /* NULL: no memory */

/* Build what is looked up: first the tokens by their bytes (tok_find), then, when merges and added
 * tokens are there, the rest. The tables lie in t->a.
 */
int tok_index_text(struct tok *t, struct err *e);
int tok_index(struct tok *t, struct err *e);

int32_t tok_rank(const struct tok *t, int32_t a, int32_t b); /* -1: no merge */
int32_t tok_find(const struct tok *t, struct str bytes);     /* -1: not in the vocabulary */
uint64_t tok_hash(struct str s);

/* The byte alphabet of byte-level BPE: printable code points that stand for the 256 bytes. */
int tok_alphabet(int byte);                                                /* code point */
bool tok_from_alphabet(struct str text, struct arena *a, struct str *ret); /* false: not in it */

/* ---- tok_pre.c: pieces ---- */

extern const char tok_pattern_qwen2[], tok_pattern_gpt2[];

int tok_step_add(struct tok *t, struct str pattern, struct err *e);
void tok_step_done(struct tok_step *s);

/* Call fn for each piece, in order; fn's negative return ends it. */
typedef int tok_piece_fn(void *arg, struct str piece, struct err *e);
int tok_pieces(const struct tok *t, struct str text, tok_piece_fn *fn, void *arg, struct err *e);

#endif
