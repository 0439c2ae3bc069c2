/* judge.h - public interface of the judge: one program against one task, in an isolated box.
 *
 *	char why[256];
 *	struct cupel_judge *j = cupel_judge_open("auto", "jobs=1 cpu=10", why, sizeof why);
 *	char *result = cupel_judge_run(j, task_json, "print(1)", why, sizeof why);
 *	cupel_free(result);
 *	cupel_judge_close(j);
 *
 * Texts end with a NUL. A call that fails returns NULL and puts the reason into why, unless why is
 * NULL. A handle is used by one thread at a time; several handles are independent.
 */
#ifndef CUPEL_JUDGE_H
#define CUPEL_JUDGE_H

#include <cupel/cupel.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cupel_judge;

/* isolation: "auto" (the best that this machine offers), "full", "user", "landlock" or "none";
 * fails if it is not to be had. options: "key=value ..." with the keys of `cupel judge --help`
 * below judge, or NULL. Starts a helper process (cupel-boxd) that ends with cupel_judge_close().
 */
CUPEL_API struct cupel_judge *cupel_judge_open(const char *isolation, const char *options,
                                               char *why, size_t size);

/* task: a task record as JSON, in any format that `cupel judge --tasks` reads. code: the program or
 * what completes the task's prompt. Returns the result record of `cupel judge` as JSON, to be freed
 * with cupel_free(). A failing program is a result, not a failure; so is the verdict "judge_error",
 * which says that the machine failed and nothing about the program.
 */
CUPEL_API char *cupel_judge_run(struct cupel_judge *j, const char *task, const char *code,
                                char *why, size_t size);

CUPEL_API void cupel_free(char *text);

/* Kills what still runs. NULL is fine. */
CUPEL_API void cupel_judge_close(struct cupel_judge *j);

#ifdef __cplusplus
}
#endif

#endif
