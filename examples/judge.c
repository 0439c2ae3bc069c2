/* judge.c - judge a program from C.
 *
 *	cc judge.c -o judge $(pkg-config --cflags --libs cupel) && ./judge
 *
 * Prints the result record of a right program and of a wrong one, one a line.
 */
#include <cupel/judge.h>
#include <stdio.h>

static const char task[] =
	"{\"id\": \"double\", \"prompt\": \"Print twice the number.\", \"language\": \"python\","
	" \"kind\": \"stdin\", \"tests\": [{\"stdin\": \"4\\n\", \"stdout\": \"8\\n\"},"
	" {\"stdin\": \"-1\\n\", \"stdout\": \"-2\\n\"}]}";

int main(void)
{
	static const char *const program[] = { "print(2 * int(input()))", "print(8)" };
	char why[256];
	struct cupel_judge *j = cupel_judge_open("auto", "jobs=1 cpu=10", why, sizeof why);

	for (int i = 0; j && i < 2; i++) {
		char *result = cupel_judge_run(j, task, program[i], why, sizeof why);

		if (!result) {
			cupel_judge_close(j);
			j = NULL;
			break;
		}
		puts(result);
		cupel_free(result);
	}
	if (!j) {
		fprintf(stderr, "judge: %s\n", why);
		return 3;
	}
	cupel_judge_close(j);
	return 0;
}
