/* traj.h - plain data of a step: samples, groups and the batch. The contract between rollout,
 * reward, adv, loss, train and store; no behaviour beyond reading and writing (traj_io.h).
 *
 * Every array lives in the arena of the step. An array that nobody filled is NULL ("not known"),
 * never zeros in disguise; the comment says who fills it. Who reads what, checked against the
 * parts that need most:
 *
 *	consensus (PCR, CodeT)	group -> sample[] -> test[].out (probe outputs), .verdict, code
 *	DiDPO			turn[] with byte and token ranges, text, byte_of (exact offsets)
 *	GAE with a critic	value (n_tok + 1), mask, token_reward, reward, finish
 *	tree advantages		parent, fork_tok: tokens [fork_tok, n_tok) of a sample are its own
 *	FC-SWE chains		chain (the failed attempt before it), one group for all attempts
 *	CARM, DPPO		logp (as sampled) beside the log-probs that loss is given
 *	GiGPO, cross groups	group.key is any text; sample.anchor is a second comparison key
 *	curricula, posteriors	group.seen, group.mean_before: earlier outcomes of the task
 *
 * docs/extending.md has the whole table, field by field.
 *
 * Immutable after the part of the loop that fills it; one owner until then.
 */
#ifndef TRAJ_TRAJ_H
#define TRAJ_TRAJ_H

#include "base/str.h"
#include "base/verdict.h"

#include <stdbool.h>
#include <stdint.h>

enum finish { FINISH_STOP, FINISH_LENGTH, FINISH_ABORT };

const char *finish_text(enum finish f);

/* A number or "not available", which is never a zero in disguise. */
struct score {
	double r;
	bool known;
};

/* One test (or probe) run on one program. */
struct tested {
	struct str name;
	enum verdict verdict;
	double score;       /* in [0, 1], from the checker */
	double weight;      /* of the test in its task; 1 unless the task says otherwise */
	bool visible;       /* the policy has seen this test */
	bool probe;         /* has no expected output: only `out` means anything */
	bool ignored_input; /* known to have read nothing of its standard input */
	int64_t cpu_ns, wall_ns, mem_bytes;
	struct str out; /* what the program answered, where it was kept; p == NULL: not kept */
};

/* One call of the policy: tokens it sampled and what the environment said after them. */
struct turn {
	int tok0, tok1;        /* sampled tokens [tok0, tok1) of the sample */
	size_t byte0, byte1;   /* their bytes in text */
	struct str code;       /* program taken from this turn; p == NULL: none */
	enum verdict verdict;  /* of that program */
	int n_tests, n_passed; /* on the tests that may be fed back */
	enum finish finish;
};

/* Any marked part of the text: an edit, a sentence, a statement, a tool call. */
struct span {
	int kind; /* as the part that made it defines */
	int turn;
	size_t byte0, byte1; /* in text */
	int tok0, tok1;      /* tokens that hold these bytes */
	uint64_t content;    /* hash of the normalised bytes: equal spans of a group share it */
};

struct sample {
	int64_t id; /* counts from 0 over the run */
	struct str task_id;
	int rollout;       /* number within its task and step: keys the random numbers */
	int parent;        /* index in the group of the sample it was forked from, which stands
	                      before it, or -1 */
	int fork_tok;      /* first token that is its own; n_prompt where parent is -1. The tokens
	                      before it are the parent's: their mask is 0 here */
	int chain;         /* index in the group of the failed attempt it recovers from, or -1 */
	struct str anchor; /* other comparison key (state, turn); empty: none */
	int64_t version;   /* of the weights that sampled it */
	bool foreign;      /* sampled by another engine: its log-probs are not ours */
	enum finish finish;

	int n_prompt, n_tok;     /* prompt tokens come first; n_tok counts both */
	const int32_t *tok;      /* (n_tok,) */
	const uint8_t *mask;     /* (n_tok,) 1: sampled by the policy and may be trained */
	const float *logp;       /* (n_tok,) as sampled; 0 where mask is 0 */
	const float *entropy;    /* (n_tok,) of the distribution sampled from, or NULL */
	const float *ref_logp;   /* (n_tok,) of a reference policy, or NULL */
	const float *value;      /* (n_tok + 1,) of a critic, or NULL */
	const uint32_t *byte_of; /* (n_tok + 1,) where each token starts in text, or NULL */

	struct str text; /* the bytes of all tokens behind the prompt */
	struct str code; /* the program that was judged; p == NULL: none was found */

	int n_turns, n_spans, n_tests;
	const struct turn *turn;   /* (n_turns,) one for a single-turn rollout */
	const struct span *span;   /* (n_spans,) */
	const struct tested *test; /* (n_tests,) in the order of the task */
	enum verdict verdict;      /* first that is not accepted; judge_error: never a reward */
	int n_passed;

	struct score reward; /* set from the reward of the loop */
	struct score *part;  /* (batch.n_rewards,) each reward before composition, or NULL */

	/* Weighted sums of what the rewards of the loop said about units, set by reward_group();
	 * NULL where no reward speaks of them. They stand beside `reward`, which does not contain
	 * them: an estimator that wants dense credit reads them, others do not. */
	const struct score *turn_reward;  /* (n_turns,) */
	const struct score *test_reward;  /* (n_tests,) */
	const struct score *span_reward;  /* (n_spans,) */
	const struct score *token_reward; /* (n_tok,) */
};

/* Samples that are compared with each other. */
struct group {
	struct str key; /* normally the task id */
	int n;
	struct sample *sample; /* (n,) */
	int64_t seen;          /* samples of this task judged before this step */
	double mean_before;    /* their mean reward, 0 where seen is 0 */
	bool silent;           /* all advantages exactly zero: set by adv */
};

/* A step's groups, and token arrays over all of them: token t of sample i (counted over groups in
 * order) stands at first[i] + t.
 */
struct batch {
	int n_groups, n_samples, n_rewards;
	struct group *group; /* (n_groups,) */
	int64_t step;
	int64_t n_tok;        /* sum of n_tok */
	const int64_t *first; /* (n_samples + 1,) */
};

/* Sample i counted over the groups in order; 0 <= i < n_samples. */
struct sample *batch_sample(const struct batch *b, int i);

#endif
