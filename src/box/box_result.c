/* box_result.c - the outputs of a finished job: mapped or copied, as they came. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "box/box_client.h"

/* Memory of the outputs of one result: mappings, and small ones behind the struct. */
struct own {
	void *map[BOX_CHANNELS];
	size_t n_map[BOX_CHANNELS];
	char small[];
};

static bool map_channel(struct own *o, int ch, int fd, size_t n)
{
	void *p = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return false;
	o->map[ch] = p;
	o->n_map[ch] = n;
	return true;
}

bool box_result_take(const struct wire_result *w, struct str small, int *fd, struct box_result *r)
{
	struct own *o = malloc(sizeof *o + small.n);
	size_t at = 0;
	int k = 0;

	if (!o)
		return false;
	*o = (struct own){ 0 };
	memcpy(o->small, small.p, small.n);
	r->own = o;
	for (int i = 0; i < BOX_CHANNELS; i++) {
		size_t n = w->n_out[i];

		if (w->fd_mask & 1u << i) {
			if (!map_channel(o, i, fd[k++], n)) {
				box_result_done(r);
				return false;
			}
			r->out[i] = (struct str){ o->map[i], n };
		} else {
			if (n > small.n - at)
				n = small.n - at;
			r->out[i] = (struct str){ o->small + at, n };
			at += n;
		}
	}
	return true;
}

void box_result_done(struct box_result *r)
{
	struct own *o = r->own;

	for (int i = 0; o && i < BOX_CHANNELS; i++)
		if (o->map[i])
			(void)munmap(o->map[i], o->n_map[i]);
	free(o);
	r->own = NULL;
	for (int i = 0; i < BOX_CHANNELS; i++)
		r->out[i] = (struct str){ "", 0 };
}
