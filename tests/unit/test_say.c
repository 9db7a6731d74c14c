/* SPDX-License-Identifier: BSD-2-Clause */
/* Words for the user: what is said at which level, and no progress line in a file. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <setjmp.h>
#include <cmocka.h>
#include "base/say.h"

/* all of the ways to say something, with standard error in a file; to be freed */
static char *said_at(enum say_level level)
{
	FILE *file = tmpfile();
	int error = dup(STDERR_FILENO);
	char *text = calloc(1, 4096);

	assert_non_null(file);
	fflush(stderr);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	say__set_level(level);
	assert_int_equal(say__level(), level);
	say__error("%s: %d", "error", 1);
	say__info("info");
	say__progress("progress");
	say__verbose("verbose");
	say__progress(NULL);
	say__debug("debug");
	fflush(stderr);
	assert_true(dup2(error, STDERR_FILENO) >= 0);
	close(error);
	say__set_level(SAY_NORMAL);
	rewind(file);
	assert_true(fread(text, 1, 4095, file) > 0);
	fclose(file);
	return text;
}

static void levels(void **state)
{
	static const char *const expected[] = {
		"tracer: error: 1\n",
		"tracer: error: 1\ntracer: info\n",
		"tracer: error: 1\ntracer: info\ntracer: verbose\n",
		"tracer: error: 1\ntracer: info\ntracer: verbose\ntracer: debug\n",
	};

	(void)state;
	for (int level = SAY_QUIET; level <= SAY_DEBUG; level++) {
		char *text = said_at((enum say_level)level);

		assert_string_equal(text, expected[level + 1]);
		free(text);
	}
}

static void sentence(void **state)
{
	char *text = sentence__new("%s: %d", "file", 7);

	(void)state;
	assert_string_equal(text, "file: 7");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels),
		cmocka_unit_test(sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
