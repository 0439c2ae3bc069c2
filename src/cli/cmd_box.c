/* cmd_box.c - cupel box -- PROGRAM [ARG ...]: one program in a box, for people and tests. */
#include "base/auto.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/str.h"
#include "box/box.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
	"cupel box [--key=value ...] -- PROGRAM [ARG ...]\n"
	"\n"
	"  echo 3 | cupel box -- /usr/bin/python3 -c 'print(int(input()) + 1)'\n"
	"  cupel box --files=main.py --cpu=2 --mem=64 -- /usr/bin/python3 main.py\n"
	"  cupel box --isolation=user --json -- /bin/ls -l /\n"
	"\n"
	"Runs a program in isolation: stdin goes in whole, its outputs come back, the last line "
	"on\n"
	"stderr says how it ended. Status 0 if it ended with status 0, else 1.";

struct run_conf {
	int isolation;
	double cpu_s, wall_s;
	int64_t mem_mib, stack_mib, out_kib, disk_mib, procs;
	const char *files;
};

static const char *const tiers[] = { "auto", "full", "user", "landlock", "none", NULL };

#define F(field) offsetof(struct run_conf, field)

static const struct opt opts[] = {
	{ "isolation", OPT_CHOICE, F(isolation), 0, 0, tiers, "auto", "", "tier of isolation" },
	{ "cpu", OPT_REAL, F(cpu_s), 0.01, 86400, 0, "10", "s", "CPU time of all processes" },
	{ "wall", OPT_REAL, F(wall_s), 0.01, 86400, 0, "20", "s", "time from start to end" },
	{ "mem", OPT_INT, F(mem_mib), 1, 1 << 20, 0, "256", "MiB", "memory" },
	{ "stack", OPT_INT, F(stack_mib), 1, 1 << 20, 0, "64", "MiB", "stack" },
	{ "out", OPT_INT, F(out_kib), 1, 1 << 20, 0, "1024", "KiB", "each output" },
	{ "disk", OPT_INT, F(disk_mib), 1, 1 << 20, 0, "64", "MiB", "private files" },
	{ "procs", OPT_INT, F(procs), 1, 1 << 16, 0, "64", "", "processes and threads" },
	{ "files", OPT_STR, F(files), 0, 0, 0, "", "", "files to copy into /box, with commas" },
	{ 0 },
};

/* Names of c->files become files of the plan, their contents lie in the arena. */
static int add_files(const struct run_conf *c, struct arena *a, struct box_plan *p, struct err *e)
{
	struct str rest = { c->files, strlen(c->files) };

	while (rest.n) {
		const char *comma = memchr(rest.p, ',', rest.n);
		size_t n = comma ? (size_t)(comma - rest.p) : rest.n;
		const char *path = arena_str(a, (struct str){ rest.p, n }).p, *slash;
		AUTO_BUF b = { .max = 64 << 20 };
		int r;

		if (!path || p->n_files == BOX_MAX_FILES)
			return FAIL(e, ERR_RANGE, "more than %d files", BOX_MAX_FILES);
		r = io_load(path, &b, e);
		if (r < 0)
			return r;
		slash = strrchr(path, '/');
		p->file[p->n_files++] = (struct box_file){ slash ? slash + 1 : path,
			                                   arena_str(a, buf_str(&b)), 0755 };
		n += comma != NULL;
		rest = (struct str){ rest.p + n, rest.n - n };
	}
	return 0;
}

static int load_stdin(struct buf *b, struct err *e)
{
	enum { STEP = 1 << 16 };
	size_t got = STEP;

	while (!isatty(0) && got == STEP) {
		char *at = buf_room(b, STEP);
		int r;

		if (!at)
			return buf_check(b, "stdin", e);
		r = io_read(0, at, STEP, &got, e);
		if (r < 0)
			return err_wrap(e, "stdin");
		b->n += got;
	}
	return 0;
}

static int put_json(const struct box_result *r, enum box_tier tier)
{
	static const char *const name[] = { "stdout", "stderr", "data" };
	AUTO_BUF b = { .max = (size_t)1 << 34 };
	struct jsonw w = { &b, false };

	jsonw_open(&w, '{');
	jsonw_key(&w, "end"), jsonw_cstr(&w, box_end_text(r->end));
	jsonw_key(&w, "status"), jsonw_int(&w, r->status);
	jsonw_key(&w, "isolation"), jsonw_cstr(&w, box_tier_text(tier));
	jsonw_key(&w, "cpu_ms"), jsonw_real(&w, (double)r->cpu_ns / NS_PER_MS);
	jsonw_key(&w, "wall_ms"), jsonw_real(&w, (double)r->wall_ns / NS_PER_MS);
	jsonw_key(&w, "mem_kib"), jsonw_int(&w, r->mem_bytes / 1024);
	jsonw_key(&w, "why"), jsonw_cstr(&w, r->why);
	for (int i = 0; i < BOX_CHANNELS; i++)
		jsonw_key(&w, name[i]), jsonw_str(&w, r->out[i]);
	jsonw_close(&w, '}');
	buf_putc(&b, '\n');
	return cli_put(&b);
}

static int put_text(const struct box_result *r, enum box_tier tier)
{
	struct err e;

	if (io_write(1, r->out[0].p, r->out[0].n, &e) < 0)
		return cli_fail("box", &e);
	(void)io_write(2, r->out[1].p, r->out[1].n, NULL);
	fprintf(stderr, "%s status=%d cpu_ms=%.1f wall_ms=%.1f mem_kib=%lld isolation=%s%s%s\n",
	        box_end_text(r->end), r->status, (double)r->cpu_ns / NS_PER_MS,
	        (double)r->wall_ns / NS_PER_MS, (long long)r->mem_bytes / 1024, box_tier_text(tier),
	        *r->why ? " why=" : "", r->why);
	return CMD_YES;
}

static int run_plan(const struct run_conf *c, const struct box_plan *p, bool json)
{
	struct box_config cfg = { .tier = (enum box_tier)c->isolation, .slots = 1 };
	struct box_result r;
	struct box *b;
	struct err e;
	uint64_t job;
	int ret;

	if (box_open(&cfg, &b, &e) < 0)
		return cli_fail("box", &e);
	if (box_submit(b, p, &job, &e) < 0 || box_wait(b, -1, &r, &e) < 0) {
		box_close(b);
		return cli_fail("box", &e);
	}
	ret = json ? put_json(&r, box_tier(b)) : put_text(&r, box_tier(b));
	if (ret == CMD_YES && r.end == BOX_FAILED)
		ret = CMD_BROKEN;
	else if (ret == CMD_YES && (r.end != BOX_EXITED || r.status))
		ret = CMD_NO;
	box_result_done(&r);
	box_close(b);
	return ret;
}

static struct box_limits limits_of(const struct run_conf *c)
{
	int64_t out = c->out_kib << 10;

	return (struct box_limits){ .cpu_ns = (int64_t)(c->cpu_s * NS_PER_S),
		                    .wall_ns = (int64_t)(c->wall_s * NS_PER_S),
		                    .mem_bytes = c->mem_mib << 20,
		                    .stack_bytes = c->stack_mib << 20,
		                    .out_bytes = { out, out, out },
		                    .disk_bytes = c->disk_mib << 20,
		                    .procs = (int)c->procs };
}

static int run(int argc, char **argv)
{
	AUTO_BUF in = { .max = 256 << 20 };
	struct run_conf r;
	struct box_plan p = { 0 };
	AUTO_CONF c;
	struct err e;

	if (conf_init(&c, argv[0], usage) < 0)
		return CMD_BROKEN;
	if (conf_read(&c, argc, argv, &e) < 0 || conf_bind(&c, "", opts, &r, &e) < 0 ||
	    conf_end(&c, &e) < 0)
		return cli_fail(argv[0], &e);
	if (conf_help_wanted(&c))
		return CMD_YES;
	if (c.n_args < 1 || c.n_args >= BOX_MAX_ARGS)
		return cli_usage(argv[0], "which program?");
	for (int i = 0; i < c.n_args; i++)
		p.argv[i] = c.arg[i];
	p.limits = limits_of(&r);
	if (add_files(&r, &c.a, &p, &e) < 0 || load_stdin(&in, &e) < 0)
		return cli_fail(argv[0], &e);
	p.in = buf_str(&in);
	return run_plan(&r, &p, c.json);
}

const struct cmd cmd_box = {
	.name = "box",
	.doc = "run one program in isolation",
	.source = "docs/design.md",
	.usage = usage,
	.run = run,
};
