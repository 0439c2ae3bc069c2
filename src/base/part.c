/* part.c - finds a plug-in in the table of its family. */
#include "base/part.h"

#include <string.h>

const struct part *part_find(const struct part *const *table, const char *name)
{
	for (int i = 0; table[i]; i++)
		if (strcmp(table[i]->name, name) == 0)
			return table[i];
	return NULL;
}
