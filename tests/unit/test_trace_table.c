// SPDX-License-Identifier: BSD-2-Clause
/* trace: the hash table and the string store, against plain arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "trace/strings.h"
#include "trace/table.h"

#define KEYS 512

/* removal closes holes in runs of collisions; few keys and many turns make all kinds of runs */
static void table_like_an_array(void **state)
{
	static char values[KEYS];
	void *expected[KEYS] = {0};
	struct table table;
	unsigned int turn, key, count = 0, i;

	(void)state;
	srandom(1);
	table__init(&table, 12345);
	assert_null(table__get(&table, 1));
	table__remove(&table, 1);
	for (turn = 0; turn < 200000; turn++) {
		key = random() % KEYS;
		if (random() % 2) {
			count += !expected[key];
			expected[key] = &values[random() % KEYS];
			assert_int_equal(table__set(&table, key, expected[key]), 0);
		} else {
			count -= expected[key] != NULL;
			expected[key] = NULL;
			table__remove(&table, key);
		}
		assert_int_equal(table.count, count);
		if (turn % 1000 == 0) {
			for (i = 0; i < KEYS; i++)
				assert_ptr_equal(table__get(&table, i), expected[i]);
		}
	}
	table__free(&table);
	assert_null(table__get(&table, 1));
}

static void strings_are_interned(void **state)
{
	struct strings *strings = strings__new();
	const char *kept[5000];
	char text[32];
	size_t i;

	(void)state;
	for (i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "string %zu", i);
		kept[i] = strings__add(strings, text, strlen(text));
		assert_string_equal(kept[i], text);
	}
	for (i = 0; i < 5000; i++)
		assert_ptr_equal(strings__format(strings, "string %zu", i), kept[i]);
	/* up to the first NUL, and not beyond the length */
	assert_ptr_equal(strings__add(strings, "string 7\0tail", 13), kept[7]);
	assert_ptr_equal(strings__add(strings, "string 77", 8), kept[7]);
	assert_string_equal(strings__add(strings, "", 0), "");
	strings__free(strings);
}

/* what a hostile target can make a reader keep is bounded */
static void strings_have_a_limit(void **state)
{
	struct strings *strings = strings__new();
	static char text[1 << 20];
	const char *first;
	unsigned int i;

	(void)state;
	memset(text, 'x', sizeof(text));
	first = strings__add(strings, "first", 5);
	for (i = 0; i < STRINGS_MAX >> 20; i++) {
		memcpy(text, &i, sizeof(i));
		text[0] |= 1;
		text[1] |= 1;
		text[2] |= 1;
		text[3] |= 1;
		text[4] = 1 + i % 255;
		text[5] = 1 + i / 255 % 255;
		if (!strcmp(strings__add(strings, text, sizeof(text)), STRINGS_TOO_MANY))
			break;
	}
	assert_in_range(i, (STRINGS_MAX >> 20) - 8, STRINGS_MAX >> 20);
	assert_string_equal(strings__add(strings, text, sizeof(text)), STRINGS_TOO_MANY);
	assert_ptr_equal(strings__add(strings, "first", 5), first);
	strings__free(strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_like_an_array),
		cmocka_unit_test(strings_are_interned),
		cmocka_unit_test(strings_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
