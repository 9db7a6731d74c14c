// SPDX-License-Identifier: BSD-2-Clause
/* Colours of markers: given ones stay, others are handed out in order and kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/palette.h"

static void given_colors_stay(void **state)
{
	struct palette palette = {0};
	const char *red = "red", *black = "black";
	bool given = false;

	(void)state;
	assert_int_equal(palette__set(&palette, red, 0xff0000), 0);
	assert_int_equal(palette__set(&palette, black, 0xff000000), 0);
	assert_int_equal(palette__get(&palette, red, &given), 0xff0000);
	assert_true(given);
	/* black is a colour, too, and what is beyond 24 bits is not */
	assert_int_equal(palette__get(&palette, black, &given), 0);
	assert_true(given);
	palette__free(&palette);
}

static void others_come_in_order(void **state)
{
	static const char names[100][2];
	struct palette palette = {0};
	bool given = true;
	uint32_t i;

	(void)state;
	for (i = 0; i < 100; i++) {
		assert_int_equal(palette__get(&palette, names[i], &given), palette__fixed(i));
		assert_false(given);
	}
	for (i = 0; i < 100; i++)
		assert_int_equal(palette__get(&palette, names[i], NULL), palette__fixed(i));
	assert_int_not_equal(palette__fixed(0), palette__fixed(1));
	assert_int_equal(palette__fixed(0), palette__fixed(PALETTE_COLORS));
	/* one that the program names later takes its place */
	assert_int_equal(palette__set(&palette, names[3], 0x123456), 0);
	assert_int_equal(palette__get(&palette, names[3], &given), 0x123456);
	assert_true(given);
	palette__free(&palette);
}

static void names_without_end(void **state)
{
	static const char names[64];
	struct palette palette = {.limit = 10};
	uint32_t i;

	(void)state;
	for (i = 0; i < 64; i++)
		palette__get(&palette, &names[i], NULL);
	assert_int_equal(palette.by_name.count, 10);
	assert_int_equal(palette__get(&palette, &names[9], NULL), palette__fixed(9));
	assert_int_equal(palette__get(&palette, &names[60], NULL), palette__fixed(0));
	assert_int_equal(palette__set(&palette, &names[60], 1), 0);
	assert_int_equal(palette__set(&palette, &names[5], 1), 0);
	assert_int_equal(palette__get(&palette, &names[5], NULL), 1);
	palette__free(&palette);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(given_colors_stay),
		cmocka_unit_test(others_come_in_order),
		cmocka_unit_test(names_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
