/* runner.h - what runs inside a box, beside the program that is judged: the texts of
 * src/judge/runner_*.py, compiled in; their heads tell the protocols. judge_boot.c makes one file
 * of them.
 */
#ifndef JUDGE_RUNNER_H
#define JUDGE_RUNNER_H

extern const char runner_python_text[], runner_main_text[], runner_value_text[], runner_call_text[],
	runner_wire_text[], runner_pair_text[], runner_trust_text[], runner_analyse_text[];

#endif
