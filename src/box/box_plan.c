/* box_plan.c - names of tiers and ends, and a plan as people read it. */
#include "box/box.h"

#include <assert.h>

const char *box_tier_text(enum box_tier t)
{
	static const char *const text[] = { "auto", "full", "user", "landlock", "none" };

	assert((unsigned)t < sizeof text / sizeof text[0]);
	return text[t];
}

const char *box_end_text(enum box_end e)
{
	static const char *const text[] = {
		[BOX_EXITED] = "exited",       [BOX_SIGNALED] = "signaled",
		[BOX_CPU_LIMIT] = "cpu limit", [BOX_WALL_LIMIT] = "wall limit",
		[BOX_MEM_LIMIT] = "mem limit", [BOX_OUT_LIMIT] = "output limit",
		[BOX_DENIED] = "denied",       [BOX_FAILED] = "failed",
	};

	assert((unsigned)e < sizeof text / sizeof text[0]);
	return text[e];
}

void box_plan_print(const struct box_plan *p, FILE *f)
{
	const struct box_limits *l = &p->limits;

	for (int i = 0; p->argv[i]; i++)
		fprintf(f, "argv %s\n", p->argv[i]);
	for (int i = 0; p->env[i]; i++)
		fprintf(f, "env %s\n", p->env[i]);
	for (int i = 0; i < p->n_files; i++)
		fprintf(f, "file %s mode=%04o bytes=%zu\n", p->file[i].name,
		        (unsigned)p->file[i].mode, p->file[i].text.n);
	fprintf(f, "stdin bytes=%zu\n", p->in.n);
	fprintf(f, "limits cpu_ns=%lld wall_ns=%lld mem_bytes=%lld stack_bytes=%lld procs=%d\n",
	        (long long)l->cpu_ns, (long long)l->wall_ns, (long long)l->mem_bytes,
	        (long long)l->stack_bytes, l->procs);
	fprintf(f, "limits out_bytes=%lld,%lld,%lld disk_bytes=%lld\n", (long long)l->out_bytes[0],
	        (long long)l->out_bytes[1], (long long)l->out_bytes[2], (long long)l->disk_bytes);
}
