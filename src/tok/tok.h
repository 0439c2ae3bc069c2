/* tok.h - byte-level BPE: tokenizer.json read, trained and written.
 *
 * Immutable after loading: any number of threads may encode and decode.
 */
#ifndef TOK_TOK_H
#define TOK_TOK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

struct tok;

int tok_load(const char *path, struct tok **ret, struct err *e); /* a tokenizer.json */
int tok_save(const struct tok *t, const char *path, struct err *e);
void tok_free(struct tok *t);

/* Train on texts: 256 bytes, the special tokens, then merges until `vocab` tokens exist or no pair
 * occurs twice. Ties go to the smaller pair of ids: the result is a function of the input alone.
 * special: ends with NULL; special[0] is the end-of-text token.
 */
int tok_train(const struct str *text, int n, int vocab, const char *const *special,
              struct tok **ret, struct err *e);

int tok_vocab(const struct tok *t); /* number of ids */
int32_t tok_eos(const struct tok *t);
int32_t tok_special(const struct tok *t, const char *text); /* id, or -1 */

/* Ids of text, at most max; *ret_n. Special tokens are recognised only if `special`. */
int tok_encode(const struct tok *t, struct str text, bool special, int32_t *ret, int max,
               int *ret_n, struct err *e);

/* Bytes of ids; special tokens give nothing. byte_of (n + 1,): where each token starts, or NULL. */
void tok_decode(const struct tok *t, const int32_t *id, int n, struct buf *ret, uint32_t *byte_of);

#endif
