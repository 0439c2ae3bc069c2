/* io.h - files and descriptors. EINTR is handled here and nowhere else. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

/* All n bytes, or an error; io_read() returns fewer only at the end of the file. */
int io_write(int fd, const void *p, size_t n, struct err *e);
int io_read(int fd, void *p, size_t n, size_t *ret_n, struct err *e);

/* The whole file behind what is in b already (b->max bytes in all). */
int io_load(const char *path, struct buf *b, struct err *e);

/* Write a file so that it is there whole or not at all: temporary name, fsync, rename. */
int io_save(const char *path, struct str text, struct err *e);

int io_mkdirs(const char *path, struct err *e); /* like mkdir -p */
bool io_exists(const char *path);
int io_remove_tree(const char *path, struct err *e); /* like rm -rf; does not follow links */

/* A reader of lines from a plain or gzip file (recognised by content), "-" is stdin. */
struct io_lines;

int io_lines_open(const char *path, size_t max_line, struct io_lines **ret, struct err *e);
void io_lines_close(struct io_lines *l);

/* The next line without its LF; *ret is valid until the next call. 1 a line, 0 the end, negative:
 * an error that names file and line (too long, truncated gzip, read error).
 */
int io_lines_next(struct io_lines *l, struct str *ret, struct err *e);
int io_lines_number(const struct io_lines *l); /* of the line returned last, from 1 */
const char *io_lines_name(const struct io_lines *l);

#endif
