/* checker_python.c - an equal value as Python's == has it: a list is no tuple, True is 1. */
#include "judge/checker.h"

static double value(const void *cfg, struct value *want, struct value *got)
{
	(void)cfg;
	return value_same_python(want, got);
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
	.value = value,
	.value_cases = cases,
};
