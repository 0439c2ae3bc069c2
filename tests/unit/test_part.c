/* Parts: found by the whole name. */
#include "base/part.h"

#include "test.h"

/* A family's own struct begins like a struct part. */
struct thing {
	PART_HEAD;
	int extra;
};

static const struct thing one = { .name = "one", .extra = 1 }, two = { .name = "two", .extra = 2 };
static const struct thing *const table[] = { &one, &two, NULL };
static const struct thing *const empty[] = { NULL };

static void finds_by_the_whole_name(void **state)
{
	const struct part *p = part_find(PART_TABLE(table), "two");

	(void)state;
	assert_ptr_equal(p, &two);
	assert_int_equal(((const struct thing *)p)->extra, 2);
	assert_null(part_find(PART_TABLE(table), "tw"));
	assert_null(part_find(PART_TABLE(table), ""));
	assert_null(part_find(PART_TABLE(empty), "one"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(finds_by_the_whole_name) };

	return RUN(tests);
}
