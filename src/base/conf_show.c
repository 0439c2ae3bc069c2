/* conf_show.c - what people read of a configuration: help, effective values, one key explained. */
#include "base/conf_int.h"

#include <string.h>

static const char *type_text(enum opt_type t)
{
	switch (t) {
	case OPT_BOOL:
		return "true|false";
	case OPT_INT:
		return "N";
	case OPT_REAL:
		return "X";
	case OPT_STR:
		return "TEXT";
	case OPT_CHOICE:
		return "NAME";
	}
	return "";
}

static void put_names(const struct conf_row *row, FILE *f)
{
	const char *sep = "";

	for (int i = 0; row->table && row->table[i]; i++, sep = "|")
		fprintf(f, "%s%s", sep, row->table[i]->name);
	for (int i = 0; row->opt && row->opt->choices && row->opt->choices[i]; i++, sep = "|")
		fprintf(f, "%s%s", sep, row->opt->choices[i]);
	if (row->table && row->optional)
		fprintf(f, "%snone", sep);
}

static void put_default(const struct conf_row *row, FILE *f)
{
	const struct opt *o = row->opt;

	if (row->table)
		fprintf(f, " [%s]", row->value);
	else if (*o->dflt || *o->unit)
		fprintf(f, " [%s%s%s]", o->dflt, *o->dflt && *o->unit ? " " : "", o->unit);
}

static void help_row(const struct conf *c, const struct conf_row *row, FILE *f)
{
	char left[CONF_KEY + 64];
	int n = snprintf(left, sizeof left, "--%s", row->key);

	for (int i = 0; i < c->n_shorts && n < CONF_KEY; i++)
		if (strcmp(c->shorts[i][1], row->key) == 0)
			n += snprintf(left + n, sizeof left - (size_t)n, ", --%.40s",
			              c->shorts[i][0]);
	fprintf(f, n > 30 ? "  %s\n%34s" : "  %-32s", left, "");
	if (row->table)
		fputs("which one: ", f);
	else
		fputs(row->opt->text, f);
	if (row->opt && row->opt->type == OPT_CHOICE)
		fputs(": ", f);
	put_names(row, f);
	put_default(row, f);
	fputc('\n', f);
}

void conf_help(const struct conf *c, FILE *f)
{
	fprintf(f, "%s\n", c->usage);
	if (c->row)
		fputs("\nOptions (--key=value; in files key: value; in the environment "
		      "CUPEL_KEY):\n",
		      f);
	for (const struct conf_row *row = c->row; row; row = row->next)
		help_row(c, row, f);
	fputs("\nEvery command: --config FILE, --json, -v, -h. -j N is --jobs, -o FILE is --out.\n",
	      f);
}

/* Text that YAML would not read back as it is goes into double quotes. */
static void put_yaml(const char *s, FILE *f)
{
	bool plain = *s && !strchr("-?&*!|>%@`\"'#{}[], ", *s) && !strpbrk(s, ":#\n\t\\\",{}[]") &&
	             s[strlen(s) - 1] != ' ';

	if (s[0] == '-' && s[1] >= '0' && s[1] <= '9')
		plain = true;
	if (plain) {
		fputs(s, f);
		return;
	}
	fputc('"', f);
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if ((unsigned char)*s < ' ' || *s == 0x7f)
			fprintf(f, "\\x%02x", (unsigned char)*s);
		else
			fputc(*s, f);
	fputc('"', f);
}

/* A table that is bound twice under one key shows it once. */
static bool is_last(const struct conf_row *row)
{
	for (const struct conf_row *x = row->next; x; x = x->next)
		if (strcmp(x->key, row->key) == 0)
			return false;
	return true;
}

void conf_show(const struct conf *c, FILE *f)
{
	for (const struct conf_row *row = c->row; row; row = row->next) {
		if (!is_last(row))
			continue;
		fprintf(f, "%s: ", row->key);
		put_yaml(row->value, f);
		fprintf(f, "  # %s\n", row->origin);
	}
}

static void put_typed(const struct conf_row *row, struct jsonw *w)
{
	union {
		bool yes;
		int64_t i;
		double x;
	} v;
	struct opt o;
	AUTO_ARENA a = { .limit = 1 };

	if (!row->opt || row->opt->type == OPT_STR || row->opt->type == OPT_CHOICE) {
		jsonw_cstr(w, row->value);
		return;
	}
	o = *row->opt;
	o.off = 0;
	if (opt_set(&o, &v, "", row->value, &a, NULL) < 0)
		jsonw_null(w);
	else if (o.type == OPT_BOOL)
		jsonw_bool(w, v.yes);
	else if (o.type == OPT_INT)
		jsonw_int(w, v.i);
	else
		jsonw_real(w, v.x);
}

void conf_json(const struct conf *c, struct jsonw *w)
{
	jsonw_open(w, '{');
	for (const struct conf_row *row = c->row; row; row = row->next) {
		if (!is_last(row))
			continue;
		jsonw_key(w, row->key);
		jsonw_open(w, '{');
		jsonw_key(w, "value");
		put_typed(row, w);
		jsonw_key(w, "origin");
		jsonw_cstr(w, row->origin);
		jsonw_close(w, '}');
	}
	jsonw_close(w, '}');
}

int conf_explain(const struct conf *c, const char *key, FILE *f, struct err *e)
{
	const struct conf_row *row = conf_row_find(c, key);
	char env[CONF_KEY + 8], kind[CONF_KEY];

	(void)snprintf(kind, sizeof kind, "%.150s.kind", key);
	for (int i = 0; i < c->n_shorts && !row; i++)
		if (strcmp(c->shorts[i][0], key) == 0)
			row = conf_row_find(c, c->shorts[i][1]);
	if (!row)
		row = conf_row_find(c, kind);
	if (!row)
		return conf_unknown(c, key, NULL, e);
	fprintf(f, "%s\n", row->key);
	if (row->opt) {
		const struct opt *o = row->opt;

		fprintf(f, "  %s\n  type     %s\n", o->text, type_text(o->type));
		if (o->type == OPT_INT || o->type == OPT_REAL)
			fprintf(f, "  range    %.12g..%.12g%s%s\n", o->min, o->max,
			        *o->unit ? " " : "", o->unit);
		fprintf(f, "  default  %s\n", o->dflt);
	}
	if (row->table || row->opt->choices) {
		fputs("  one of   ", f);
		put_names(row, f);
		fputc('\n', f);
	}
	fprintf(f, "  value    %s\n  origin   %s\n  flag     --%s=%s\n  variable %s\n", row->value,
	        row->origin, row->key, row->value, conf_env_name(row->key, env, sizeof env));
	return 0;
}
