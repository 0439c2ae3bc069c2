/* traj_io.h - groups as JSON, one object a group: recorded rollouts for `cupel reward` and for
 * trainers that sample elsewhere. docs/run-directory.md describes the record.
 *
 * What a sample does not know is left out when writing and not known after reading; in a list of
 * numbers, null is NaN. Texts go through JSON: bytes that are no UTF-8 come back as U+FFFD (token
 * numbers are exact).
 */
#ifndef TRAJ_TRAJ_IO_H
#define TRAJ_TRAJ_IO_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "traj/traj.h"

/* tokens: also everything that has one entry for each token. n_rewards: length of sample.part. */
void traj_group_write(const struct group *g, int n_rewards, bool tokens, struct jsonw *w);

/* All memory from a; *ret_n_rewards is the length of sample.part, 0 where it is not there (it must
 * be the same for all samples). A sample without token numbers and without "n_tok" counts as one
 * trained token, so that advantages come out as one number a sample. Errors name sample and field.
 */
int traj_group_read(const struct json *rec, struct arena *a, struct group *ret, int *ret_n_rewards,
                    struct err *e);

/* A batch of n groups (borrowed), with its table `first` from a. */
int traj_batch(struct group *g, int n, int n_rewards, struct arena *a, struct batch *ret,
               struct err *e);

#endif
