/* checker_python.c - an equal value as Python's == has it: a list is no tuple, True is 1. */
#include "judge/checker.h"

enum { AS_VALUE, AS_SET, AS_FOUND };

struct cfg {
	int as;
	double abs, rel;
};

static const char *const ways[] = { "value", "set", "found", NULL };

static const struct opt opts[] = {
	{ "as", OPT_CHOICE, offsetof(struct cfg, as), 0, 0, ways, "value", "",
	  "set: the same elements; found: both None, or neither" },
	{ "abs", OPT_REAL, offsetof(struct cfg, abs), 0, 1, 0, "0", "",
	  "absolute tolerance, for floats of the reference" },
	{ "rel", OPT_REAL, offsetof(struct cfg, rel), 0, 1, 0, "0", "", "relative tolerance" },
	{ 0 },
};

/* A bool says itself whether something was found. */
static bool is_found(const struct value *v)
{
	return v->type == VALUE_BOOL ? v->yes : v->type != VALUE_NULL;
}

static double value(const void *cfg, struct value *want, struct value *got)
{
	const struct cfg *c = cfg;

	switch (c->as) {
	case AS_SET:
		return value_same_as_sets(want, got);
	case AS_FOUND:
		return is_found(want) == is_found(got);
	default:
		return value_same_python(want, got, c->abs, c->rel);
	}
}

static const struct check_value_case cases[] = {
	{ "[1,[2,3]]", "[1,[2,3]]", 1 },
	{ "[1,2]", "{\"t\":[1,2]}", 0 },
	{ "[1,2]", "{\"s\":[1,2]}", 0 },
	{ "1", "true", 1 },
	{ "false", "0.0", 1 },
	{ "[true]", "[1]", 1 },
	{ "2", "2.0", 1 },
	{ "9007199254740993", "9007199254740992.0", 0 },
	{ "0.5", "{\"q\":[\"1\",\"2\",0.5]}", 1 },
	{ "0.5", "{\"D\":[\"0.50\",\"1\",\"2\",0.5]}", 1 },
	{ "0.1", "{\"D\":[\"0.1\",\"1\",\"10\",null]}", 0 },
	{ "3", "{\"q\":[\"3\",\"1\",3.0]}", 1 },
	{ "3", "{\"c\":[3.0,0.0]}", 1 },
	{ "3", "{\"c\":[3.0,1.0]}", 0 },
	{ "0", "null", 0 },
	{ "0", "false", 1 },
	{ "\"a\"", "{\"b\":\"61\"}", 0 },
	{ "\"a\"", "{\"u\":\"a\"}", 0 },
	{ "{\"a\":1,\"b\":[]}", "{\"d\":[\"b\",[],\"a\",1.0]}", 1 },
	{ "{\"1\":1}", "{\"d\":[1,1]}", 0 },
	{ "{\"a\":1}", "{\"d\":[\"a\",1,\"b\",2]}", 0 },
	{ "1", "{\"f\":\"nan\"}", 0 },
	{ "\"inf\"", "{\"f\":\"inf\"}", 0 },
	{ "[]", "{\"t\":[]}", 0 },
	{ 0 },
};

const struct checker checker_python = {
	.name = "python",
	.doc = "an equal value, as == of Python has it",
	.source = "https://docs.python.org/3/reference/expressions.html#value-comparisons",
	.opts = opts,
	.cfg_size = sizeof(struct cfg),
	.value = value,
	.value_cases = cases,
};
