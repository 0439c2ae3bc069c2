/* safetensors.h - tensors in a file: mapped and borrowed when read, written whole or not at all.
 *
 * 8 bytes little-endian header length, a JSON header {name: {dtype, shape, data_offsets: [begin,
 * end]}, "__metadata__": {text: text}}, then the data; offsets count from the end of the header.
 * st_open() accepts a file only if the ranges of its tensors cover the data without overlap or hole
 * and each has the size that its shape and dtype ask for.
 *
 * Immutable after st_open(): any number of threads may read. A file that somebody truncates while
 * it is mapped raises SIGBUS; files written by st_save() are replaced, never changed.
 */
#ifndef POLICY_SAFETENSORS_H
#define POLICY_SAFETENSORS_H

#include "base/err.h"

#include <stdint.h>

enum { ST_RANK = 4 };
enum st_dtype { ST_F32, ST_BF16, ST_F16 };

struct st_tensor {
	const char *name;
	enum st_dtype dtype;
	int rank;             /* 0: one number */
	int64_t dim[ST_RANK]; /* row-major; 1 beyond rank */
	const void *data;     /* borrowed from the map; on a foreign file it may stand unaligned */
	int64_t bytes;
};

struct st_file;

int st_open(const char *path, struct st_file **ret, struct err *e);
void st_close(struct st_file *f);

int st_count(const struct st_file *f);
const struct st_tensor *st_at(const struct st_file *f, int i);              /* in order of names */
const struct st_tensor *st_find(const struct st_file *f, const char *name); /* NULL: none */
const char *st_meta(const struct st_file *f, const char *key); /* NULL: none; borrowed */

int64_t st_numel(const struct st_tensor *t);

/* All numbers as float: exact, because every dtype here is a subset of fp32. Any alignment. */
int st_to_f32(const struct st_tensor *t, float *ret, struct err *e);

/* Tensors in order of names whatever their order in t; meta ends with { NULL, NULL }, or is NULL.
 * Names are printable ASCII. On failure the old file, if any, is still there.
 */
int st_save(const char *path, const struct st_tensor *t, int n, const char *const meta[][2],
            struct err *e);

#endif
