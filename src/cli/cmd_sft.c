/* cmd_sft.c - cupel sft RECIPE: supervised warm start. */
#include <math.h>

#include "base/log.h"
#include "cli/cli.h"
#include "train/sft.h"

static const char usage[] =
	"cupel sft [RECIPE] [--key=value ...]\n"
	"\n"
	"  cupel sft recipes/sft.yaml                          into runs/sft\n"
	"  cupel sft --data=sft.jsonl --out=runs/warm --policy.d=128 --policy.layers=4\n"
	"  cupel sft --data=more.jsonl --policy=runs/warm/checkpoint --out=runs/more\n"
	"\n"
	"Trains on the completions of a file of {\"prompt\", \"completion\"}. Without --policy a\n"
	"tokenizer is trained on the file and a new transformer begins from random weights.";

static int put(const struct conf *c, const struct sft_result *r, const char *dir)
{
	AUTO_BUF b = { .max = 1 << 16 };
	struct jsonw w = { &b, false };

	if (!c->json) {
		buf_putf(&b, "%lld steps on %lld sequences", (long long)r->steps,
		         (long long)r->sequences);
		if (!isnan(r->loss_last)) /* a finished run that was resumed has no epoch */
			buf_putf(&b, ", loss %.4f in the last epoch", r->loss_last);
		buf_putc(&b, '\n');
		buf_putf(&b, "checkpoint: %s/checkpoint\n", dir);
		return cli_put(&b);
	}
	jsonw_open(&w, '{');
	jsonw_key(&w, "steps"), jsonw_int(&w, r->steps);
	jsonw_key(&w, "sequences"), jsonw_int(&w, r->sequences);
	jsonw_key(&w, "left_out"), jsonw_int(&w, r->too_long);
	jsonw_key(&w, "trained_tokens"), jsonw_int(&w, r->tokens);
	jsonw_key(&w, "loss_first"), jsonw_real(&w, r->loss_first);
	jsonw_key(&w, "loss_last"), jsonw_real(&w, r->loss_last);
	jsonw_key(&w, "run"), jsonw_cstr(&w, dir);
	jsonw_close(&w, '}');
	buf_putc(&b, '\n');
	return cli_put(&b);
}

static int sft(struct conf *c, const struct sft_conf *s)
{
	AUTO_BUF config = { .max = 1 << 22 };
	struct jsonw w = { &config, false };
	struct sft_setup in = { .conf = s, .stop = &cli_stop };
	struct sft_result r;
	struct err e;

	in.dir = *s->train.out ? s->train.out : "runs/sft";
	conf_json(c, &w);
	in.config = buf_str(&config);
	if (buf_check(&config, "configuration", &e) < 0 ||
	    train_conf_identity(c, &c->a, &in.identity, &e) < 0)
		return cli_fail(c->command, &e);
	cli_signals();
	if (sft_run(&in, &r, &e) < 0)
		return cli_fail(c->command, &e);
	return put(c, &r, in.dir);
}

static int run(int argc, char **argv)
{
	struct sft_conf s;
	AUTO_CONF c;
	struct err e;

	if (conf_init(&c, argv[0], usage) < 0)
		return CMD_BROKEN;
	conf_short(&c, "policy", "policy.load");
	conf_short(&c, "data", "sft.data");
	conf_short(&c, "out", "train.out");
	conf_short(&c, "seed", "train.seed");
	conf_short(&c, "resume", "train.resume");
	conf_switch(&c, "resume");
	if (conf_read(&c, argc, argv, &e) < 0)
		return cli_fail(argv[0], &e);
	for (int i = 0; i < c.n_args && !c.help; i++)
		if (conf_file(&c, c.arg[i], &e) < 0)
			return cli_fail(argv[0], &e);
	if (sft_conf_bind(&c, &s, &e) < 0 || conf_end(&c, &e) < 0)
		return cli_fail(argv[0], &e);
	if (conf_help_wanted(&c))
		return CMD_YES;
	log_setup(c.verbose ? LOG_DEBUG : LOG_INFO, false);
	return sft(&c, &s);
}

const struct cmd cmd_sft = {
	.name = "sft",
	.doc = "supervised warm start on prompts and completions",
	.source = "docs/recipes.md",
	.usage = usage,
	.run = run,
};
