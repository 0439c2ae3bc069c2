/* sft.h - supervised warm start: next-token loss on the completions of a file.
 *
 *	policy: {d: 128, layers: 4, heads: 4, kv_heads: 2, ffn: 384, max_seq: 256}
 *	sft:    {data: data/micro/sft.jsonl, vocab: 512, epochs: 3, batch: 32}
 *	train:  {lr: 2e-3, schedule: cosine, warmup: 0.05, seed: 1, out: runs/sft}
 *
 * A record is {"task_id"?, "prompt", "completion"}. The sequence is prompt, completion, end of
 * text, each text encoded by itself, exactly as a rollout sees it; the prompt is not trained on.
 */
#ifndef TRAIN_SFT_H
#define TRAIN_SFT_H

#include "train/train_conf.h"

struct sft_opts {
	const char *data;
	int64_t vocab, epochs, batch;
	int64_t log_every; /* steps between lines of metrics */
};

struct sft_conf {
	struct train_policy policy;
	struct policy_shape shape; /* of a new policy, where load is empty */
	struct sft_opts sft;
	struct train_opts train;
};

int sft_conf_bind(struct conf *c, struct sft_conf *s, struct err *e);

/* Borrowed while sft_run() runs. */
struct sft_setup {
	const struct sft_conf *conf;
	const char *dir;
	struct str config, identity; /* as in train_setup */
	const volatile int *stop;
};

struct sft_result {
	int64_t steps, sequences, tokens; /* tokens: trained, in one epoch */
	int64_t too_long;                 /* records left out: longer than max_seq */
	double loss_first, loss_last;     /* of the first and the last whole epoch; NaN: none */
};

int sft_run(const struct sft_setup *in, struct sft_result *ret, struct err *e);

/* sft_data.c: the records as sequences. Immutable after loading. */
struct sft_text {
	struct str prompt, completion;
};

struct sft_texts {
	int n;
	struct sft_text *text;
};

struct sft_seq {
	const int32_t *tok;
	int n_prompt, n;
};

struct sft_set {
	int n;
	int64_t too_long, trained; /* trained: tokens of all completions and ends of text */
	struct sft_seq *seq;
};

/* Bad records are errors that name file and line. */
int sft_read(const char *path, struct arena *a, struct sft_texts *ret, struct err *e);
int sft_encode(const struct sft_texts *t, const struct tok *tok, int max_seq, struct arena *a,
               struct sft_set *ret, struct err *e);

#endif
