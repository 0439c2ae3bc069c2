/* data_synth.c - cupel data synth: makes a task set and verifies every reference. */
#include "base/io.h"
#include "cli/cli.h"
#include "cli/data_cmds.h"
#include "data/synth.h"

static const char usage[] =
	"cupel data synth --out DIR [--family micro] [--seed=1] [--key=value ...]\n"
	"  cupel data synth --family micro --out data/micro\n"
	"  cupel data synth --out data/big --train 2000 --test 300 --noise 0.4 --seed 7\n"
	"  cupel data synth --out data/lists --family.text=0 --family.words=0\n\n"
	"Writes train.jsonl, test.jsonl (held out), sft.jsonl (right and plausibly wrong answers "
	"to\n"
	"train tasks) and manifest.json. The same seed and options give the same bytes.";

struct config {
	const char *out;
	int64_t seed;
};

static const struct opt opts[] = {
	{ "out", OPT_STR, offsetof(struct config, out), 0, 0, 0, "", "",
	  "folder for the files of the set" },
	{ "seed", OPT_INT, offsetof(struct config, seed), 0, 4294967295.0, 0, "1", "",
	  "seed of everything drawn" },
	{ 0 },
};

static int watch(void *arg, int done, int total)
{
	(void)total;
	cli_progress(arg, done, NULL);
	return cli_stop ? -1 : 0;
}

static int verify(const struct synth_made *m, const struct judge_config *jc, struct err *e)
{
	struct cli_progress bar;
	struct judge *j;
	int r = judge_open(jc, &j, e);

	if (r < 0)
		return r;
	cli_progress_init(&bar, "verify", "references", m->set.n);
	r = synth_verify(&m->set, j, watch, &bar, e);
	cli_progress_end(&bar);
	judge_close(j);
	return r;
}

static int put(const struct conf *c, const struct synth_made *m, const char *out)
{
	AUTO_BUF b = { .max = 1 << 16 };
	struct jsonw w = { &b };
	int n_test = 0, n_programs = 0, n_wrong = 0;

	for (int i = 0; i < m->set.n; i++) {
		n_test += m->set.task[i].held_out;
		n_programs += m->set.task[i].n_noisy;
		for (int k = 0; k < m->set.task[i].n_noisy; k++)
			n_wrong += m->set.task[i].wrong[k];
	}
	if (!c->json) {
		buf_putf(&b, "%s: %d train and %d test tasks, every reference accepted\n", out,
		         m->set.n - n_test, n_test);
		buf_putf(&b, "drawn from %d behaviours; warm-start corpus: %d programs, %d wrong\n",
		         m->set.n_distinct, n_programs, n_wrong);
		return cli_put(&b);
	}
	jsonw_open(&w, '{');
	jsonw_key(&w, "out"), jsonw_cstr(&w, out);
	jsonw_key(&w, "train"), jsonw_int(&w, m->set.n - n_test);
	jsonw_key(&w, "test"), jsonw_int(&w, n_test);
	jsonw_key(&w, "distinct_behaviours"), jsonw_int(&w, m->set.n_distinct);
	jsonw_key(&w, "programs"), jsonw_int(&w, n_programs);
	jsonw_key(&w, "wrong"), jsonw_int(&w, n_wrong);
	jsonw_close(&w, '}');
	buf_putc(&b, '\n');
	return cli_put(&b);
}

enum { SET_BYTES = 1 << 30 };

static int synth(const struct conf *c, const struct config *o, const struct judge_config *jc,
                 const struct conf_part *part)
{
	AUTO_ARENA a = { .limit = SET_BYTES };
	const struct synth *family = (const void *)part->part;
	struct synth_made m = { .family = family, .cfg = part->cfg, .seed = (uint64_t)o->seed };
	struct err e;
	int r;

	if (!*o->out)
		return cli_usage(c->command, "--out is not set: name a folder for the set");
	cli_signals();
	if (family->make(part->cfg, m.seed, &a, &m.set, &e) < 0)
		return cli_fail(c->command, &e);
	/* Before the judging: it should not fail after minutes. Whatever errno says, a folder that
	 * cannot be made is a fault of the machine.
	 */
	if (io_mkdirs(o->out, &e) < 0) {
		e.sys = 0;
		return cli_fail(c->command, &e);
	}
	r = verify(&m, jc, &e);
	if (r < 0) { /* a program that is not accepted is an answer, anything else is not */
		int status = cli_fail(c->command, &e);

		return r == ERR_PARSE ? CMD_NO : status;
	}
	if (synth_write(&m, o->out, &e) < 0)
		return cli_fail(c->command, &e);
	return put(c, &m, o->out);
}

int data_synth(int argc, char **argv)
{
	static const char command[] = "data synth";
	static const char *const shorts[][2] = {
		{ "out", "data.out" },         { "seed", "data.seed" },
		{ "jobs", "judge.jobs" },      { "isolation", "box.isolation" },
		{ "train", "family.train" },   { "test", "family.test" },
		{ "corpus", "family.corpus" }, { "programs", "family.programs" },
		{ "noise", "family.noise" },
	};
	struct conf_part part = { 0 };
	struct judge_config jc = { 0 };
	struct config o;
	AUTO_CONF c;
	struct err e;

	if (conf_init(&c, command, usage) < 0)
		return CMD_BROKEN;
	for (size_t i = 0; i < sizeof shorts / sizeof *shorts; i++)
		conf_short(&c, shorts[i][0], shorts[i][1]);
	if (conf_read(&c, argc, argv, &e) < 0 || conf_bind(&c, "data", opts, &o, &e) < 0 ||
	    conf_part(&c, "family", PART_TABLE(synth_table), "micro", &part, &e) < 0 ||
	    conf_bind(&c, "judge", judge_opts, &jc, &e) < 0 ||
	    conf_bind(&c, "box", judge_box_opts, &jc, &e) < 0 || conf_end(&c, &e) < 0)
		return cli_fail(command, &e);
	if (conf_help_wanted(&c))
		return CMD_YES;
	if (c.n_args)
		return cli_usage(command, "no argument '%s' expected", c.arg[0]);
	return synth(&c, &o, &jc, &part);
}
