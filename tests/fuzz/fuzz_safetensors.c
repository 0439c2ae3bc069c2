/* fuzz_safetensors.c - any bytes as a tensor file; what is accepted is read to its last byte. */
#include "policy/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct st_file *f = NULL;
	char path[40];
	struct err e;

	if (fd < 0)
		abort();
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (io_write(fd, data, n, &e) == 0 && st_open(path, &f, &e) == 0) {
		for (int i = 0; i < st_count(f); i++) {
			const struct st_tensor *t = st_at(f, i);
			float *x = malloc((size_t)st_numel(t) * sizeof *x + 1);

			if (!x || st_to_f32(t, x, &e) < 0 || st_find(f, t->name) != t)
				abort();
			free(x);
		}
		(void)st_meta(f, "format");
		st_close(f);
	}
	(void)close(fd);
	return 0;
}
