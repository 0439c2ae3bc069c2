/* checker_value.c - the standard checker of function tasks: an equal value. */
#include "judge/checker.h"

static double value(const void *cfg, struct value *want, struct value *got)
{
	(void)cfg;
	return value_same(want, got, 0, 0);
}

static const struct check_value_case cases[] = {
	{ "[1,[2,3]]", "[1,[2,3]]", 1 },
	{ "2", "2.0", 1 },
	{ "2.0", "2", 1 },
	{ "-0.0", "0", 1 },
	{ "null", "null", 1 },
	{ "{\"5\":2,\"6\":1}", "{\"d\":[6,1,5,2]}", 1 },
	{ "{\"d\":[1,2]}", "{\"d\":[\"d\",[1,2]]}", 1 },
	{ "{}", "{\"d\":[]}", 1 },
	{ "\"\\u00e4\\u0000\"", "\"\\u00e4\\u0000\"", 1 },
	{ "100000000000000000000", "100000000000000000000", 1 },
	{ "9007199254740992", "9007199254740993", 0 },
	{ "9007199254740993", "9007199254740992.0", 0 },
	{ "0.3", "0.30000000000000004", 0 },
	{ "1", "true", 0 },
	{ "true", "1", 0 },
	{ "0", "null", 0 },
	{ "1", "\"1\"", 0 },
	{ "[1]", "[1,2]", 0 },
	{ "[1,2]", "[1]", 0 },
	{ "[1,2]", "{\"s\":[1,2]}", 0 },
	{ "{\"5\":2}", "{\"d\":[5,3]}", 0 },
	{ "{\"1\":2}", "{\"d\":[1,2,\"1\",2]}", 0 },
	{ "\"inf\"", "{\"f\":\"inf\"}", 0 },
	{ "\"E\"", "{\"u\":\"E\"}", 0 },
	{ "[]", "{\"u\":\"E\"}", 0 },
	{ 0 },
};

const struct checker checker_value = {
	.name = "value",
	.doc = "an equal value, numbers exactly",
	.source = "spec/FAULTS.md, R13",
	.value = value,
	.value_cases = cases,
};
