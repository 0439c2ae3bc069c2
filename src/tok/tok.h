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

/* A tokenizer.json; the end-of-text token is named by tokenizer_config.json beside it, else it is
 * the first special token. What the file asks for and is not built is an error that names it. The
 * post_processor is not applied: ids are those of the text, without added ids around them.
 */
int tok_load(const char *path, struct tok **ret, struct err *e);
int tok_parse(struct str json, struct tok **ret, struct err *e); /* the same from memory */

/* A loaded tokenizer is written as it was read. If path ends with tokenizer.json, also
 * tokenizer_config.json and special_tokens_map.json are written beside it.
 */
int tok_save(const struct tok *t, const char *path, struct err *e);
void tok_free(struct tok *t);

/* Train on texts: 256 bytes, the special tokens, then merges until `vocab` tokens exist or no pair
 * occurs twice. Ties go to the smaller pair of ids: the result is a function of the input alone.
 * special: ends with NULL; special[0] is the end-of-text token; texts of
 * printable ASCII without blanks.
 */
int tok_train(const struct str *text, int n, int vocab, const char *const *special,
              struct tok **ret, struct err *e);

int tok_vocab(const struct tok *t);                         /* number of ids */
int32_t tok_eos(const struct tok *t);                       /* -1: none */
int32_t tok_special(const struct tok *t, const char *text); /* id of an added token, or -1 */

/* Ids of text, at most max; *ret_n. Added tokens are recognised (longest first) only if `special`.
 * Any bytes are text: a byte that is not part of valid UTF-8 is a piece of its own. On failure
 * ret may have been written to.
 */
int tok_encode(const struct tok *t, struct str text, bool special, int32_t *ret, int max,
               int *ret_n, struct err *e);

/* Appends the bytes of ids; special tokens and ids that do not exist give nothing. byte_of (n +
 * 1,): where each token starts, counted from the first byte appended, and the end; or NULL.
 */
void tok_decode(const struct tok *t, const int32_t *id, int n, struct buf *ret, uint32_t *byte_of);

#endif
