/* json_shim.h - the few calls of simdjson that json.c needs, as C. A walk in document order:
 * the shim calls back for each value. Nothing of C++ crosses this border.
 */
#ifndef BASE_JSON_SHIM_H
#define BASE_JSON_SHIM_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each callback returns false to stop the walk. open: '{' or '['; close: '}' or ']'; scalar: type
 * 's' (unescaped text), '#' (a number as written), 't', 'f' or 'n'.
 */
struct json_shim_events {
	void *arg;
	bool (*open)(void *arg, char c);
	bool (*close)(void *arg, char c);
	bool (*key)(void *arg, const char *p, size_t n);
	bool (*scalar)(void *arg, char type, const char *p, size_t n);
};

/* NULL if all of text is one value, else what is wrong; "stopped" if a callback returned false. */
const char *json_shim_walk(const char *text, size_t n, int max_depth,
                           const struct json_shim_events *ev);

const char *json_shim_version(void); /* of simdjson */

#ifdef __cplusplus
}
#endif

#endif
