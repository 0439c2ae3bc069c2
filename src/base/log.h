/* log.h - one line an event on stderr, values as key=value, control bytes escaped.
 *
 *	log_info("judge", "slot=%d restarted", i);
 *
 * Only cli/, serve/ and train/ log; library code returns errors. Internally locked.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Lines above the level are dropped; json: one JSON object a line. Call before threads start. */
void log_setup(enum log_level level, bool json);

void log_line(enum log_level level, const char *module, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define log_error(module, ...) log_line(LOG_ERROR, module, __VA_ARGS__)
#define log_warn(module, ...)  log_line(LOG_WARN, module, __VA_ARGS__)
#define log_info(module, ...)  log_line(LOG_INFO, module, __VA_ARGS__)
#define log_debug(module, ...) log_line(LOG_DEBUG, module, __VA_ARGS__)

#endif
