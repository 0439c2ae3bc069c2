/* runner.h - programs of ours that run inside a box, beside the program that is judged. Each is
 * the text of src/judge/<name>.py, compiled in; its head tells the protocol.
 */
#ifndef JUDGE_RUNNER_H
#define JUDGE_RUNNER_H

extern const char runner_python_text[];

#endif
