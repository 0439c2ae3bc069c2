/* fuzz_conf_yaml.c - any bytes as a recipe: reaches the YAML reader, the tree, parts and tables.
 * The first line, if it begins with '#', is also read as flags.
 */
#include "base/conf.h"
#include "base/conf_int.h"

#include <stdint.h>
#include <string.h>

struct config {
	double wall;
	int64_t mem;
	bool cache;
	const char *name;
	int mode;
};

#define F(f) offsetof(struct config, f)
static const char *const modes[] = { "a", "b", NULL };
static const struct opt opts[] = {
	{ "wall", OPT_REAL, F(wall), 0.01, 3600, 0, "10", "s", "x" },
	{ "mem", OPT_INT, F(mem), 1, 1 << 20, 0, "512", "MiB", "x" },
	{ "cache", OPT_BOOL, F(cache), 0, 0, 0, "true", "", "x" },
	{ "name", OPT_STR, F(name), 0, 0, 0, "", "", "x" },
	{ "mode", OPT_CHOICE, F(mode), 0, 0, modes, "a", "", "x" },
	{ 0 },
};

static const struct part plain = { .name = "plain", .doc = "x", .source = "x" };
static const struct part rich = { .name = "rich", .opts = opts, .cfg_size = sizeof(struct config) };
static const struct part *const table[] = { &plain, &rich, NULL };

enum { MAX_WORDS = 16, MAX_PARTS = 4 };

/* The words of the first line into argv. */
static int words(const uint8_t *data, size_t n, char *line, size_t size, char **argv)
{
	const uint8_t *lf = memchr(data, '\n', n);
	size_t len = lf ? (size_t)(lf - data) : n;
	char *rest = NULL;
	int argc = 1;

	argv[0] = (char *)(uintptr_t) "fuzz";
	if (n == 0 || data[0] != '#' || len >= size)
		return argc;
	memcpy(line, data, len);
	line[len] = 0;
	for (char *w = strtok_r(line + 1, " ", &rest); w && argc < MAX_WORDS;
	     w = strtok_r(NULL, " ", &rest))
		if (strncmp(w, "--config", 8) != 0) /* the corpus reads no files */
			argv[argc++] = w;
	return argc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	AUTO_CONF c;
	AUTO_BUF b = { .max = 1 << 22 };
	struct jsonw w = { &b };
	struct config judge = { 0 };
	struct conf_part part[MAX_PARTS];
	char line[4096], *argv[MAX_WORDS + 1] = { 0 };
	struct err e;
	int argc = words(data, n, line, sizeof line, argv), k = 0;

	if (conf_init(&c, "fuzz", "fuzz") < 0)
		return 0;
	conf_short(&c, "mem", "judge.mem");
	if (conf_read(&c, argc, argv, &e) < 0 ||
	    conf_yaml_load(&c, (struct str){ (const char *)data, n }, "fuzz", 1, &e) < 0 ||
	    conf_bind(&c, "judge", opts, &judge, &e) < 0 ||
	    conf_parts(&c, "reward", table, "plain", part, MAX_PARTS, &k, &e) < 0 ||
	    conf_part(&c, "kl", table, NULL, part, &e) < 0)
		return 0;
	(void)conf_given(&c, "judge.name");
	c.help = false;
	(void)conf_end(&c, &e);
	conf_json(&c, &w);
	return 0;
}
