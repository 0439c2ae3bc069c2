/* part.h - what every plug-in has in common. A family (rewards, advantages, formats, ...) is a
 * folder of files <family>_<name>.c; each defines one constant struct that begins with PART_HEAD;
 * the build writes the table of the family from the directory listing.
 *
 * Whoever only needs names, texts and options (list, help, recipes) sees any entry as a
 * struct part.
 */
#ifndef BASE_PART_H
#define BASE_PART_H

#include <stddef.h>

struct opt;

/* name: as users write it in a recipe; doc: one line; source: paper, equation or "our reading";
 * opts: the option table of the part, or NULL; cfg_size: size of the struct its rows point into.
 */
#define PART_HEAD                                                                                  \
	const char *name, *doc, *source;                                                           \
	const struct opt *opts;                                                                    \
	size_t cfg_size

/* Immutable. */
struct part {
	PART_HEAD;
};

/* The member called name of a table that ends with NULL, or NULL. */
const struct part *part_find(const struct part *const *table, const char *name);

/* A generated table seen as a table of parts: every entry begins with PART_HEAD. */
#define PART_TABLE(table) ((const struct part *const *)(const void *)(table))

#endif
