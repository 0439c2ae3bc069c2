/* judge_boot.c - the warm interpreter that runs Python programs: its command, and the boot file
 * that is put together from the texts of src/judge/runner_*.py.
 */
#include <string.h>

#include "judge/judge_int.h"
#include "judge/runner.h"

#define BOOT_BYTES ((size_t)4 << 20)
#define DISK_BYTES (INT64_C(64) << 20)

static const struct {
	const char *name, *text;
} parts[] = {
	{ "main", runner_main_text },       { "value", runner_value_text },
	{ "call", runner_call_text },       { "wire", runner_wire_text },
	{ "pair", runner_pair_text },       { "trust", runner_trust_text },
	{ "analyse", runner_analyse_text },
};

/* Parts are raw texts of Python: they are parsed where they are needed, so that an interpreter for
 * one job parses one or two. None holds three single quotes.
 */
static void put_boot(struct buf *b)
{
	buf_puts(b, "PARTS = {\n");
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		buf_putf(b, "\"%s\": r'''%s''',\n", parts[i].name, parts[i].text);
	buf_puts(b, "}\n");
	buf_puts(b, runner_python_text);
}

/* The words of the option preload. */
static int put_args(struct judge *j, struct box_zygote *z, struct err *e)
{
	struct str rest = { j->cfg.preload, strlen(j->cfg.preload) }, word;
	int n = 0;

	while (str_next_token(&rest, &word)) {
		struct str own = arena_str(&j->a, word);

		if (n == BOX_MAX_ARGS - 1)
			return FAIL(e, ERR_RANGE, "judge.preload: more than %d modules", n);
		if (!own.p)
			return FAIL(e, ERR_NOMEM, "judge.preload");
		z->args[n++] = own.p;
	}
	return 0;
}

int judge_boot(struct judge *j, struct box_zygote *ret, struct err *e)
{
	const struct lang *lang = lang_find(STR("python"));
	struct box_zygote z = { .disk_bytes = DISK_BYTES };
	int n = 0, r;

	j->boot.max = BOOT_BYTES;
	put_boot(&j->boot);
	r = buf_check(&j->boot, "boot file", e);
	if (r < 0)
		return r;
	z.boot = buf_str(&j->boot);
	for (const char *const *s = lang->run; *s && strcmp(*s, "{src}") != 0; s++)
		z.argv[n++] = *s;
	if (*j->cfg.python)
		z.argv[0] = j->cfg.python;
	n = 0;
	for (const char *const *s = lang->env; s && *s && n < BOX_MAX_ARGS - 1; s++)
		z.env[n++] = *s;
	r = put_args(j, &z, e);
	if (r == 0)
		*ret = z;
	return r;
}
