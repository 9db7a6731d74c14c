/* SPDX-License-Identifier: BSD-2-Clause */
/* The map, the pool and the histogram of user/base. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>
#include "base/hist.h"
#include "base/map.h"
#include "base/pool.h"

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* against an array, with many removals in long probe chains */
static void map_keeps_what_was_put(void **state)
{
	enum { KEYS = 512 };
	uintptr_t values[KEYS] = {0};
	uint64_t random = 88172645463325252ULL;
	struct map map = {0};
	size_t count = 0;

	(void)state;
	assert_null(map__get(&map, 1, 2));
	assert_null(map__remove(&map, 1, 2));
	for (int i = 0; i < 200000; i++) {
		uint64_t key = next_random(&random) % KEYS, value = next_random(&random) | 1;

		assert_ptr_equal(map__get(&map, key & 7, key), (void *)values[key]);
		if (value & 2) {
			assert_int_equal(map__put(&map, key & 7, key, (void *)(uintptr_t)value), 0);
			count += !values[key];
			values[key] = (uintptr_t)value;
		} else {
			assert_ptr_equal(map__remove(&map, key & 7, key), (void *)values[key]);
			count -= !!values[key];
			values[key] = 0;
		}
		assert_int_equal(map.count, count);
	}
	for (struct map_entry *e = NULL; (e = map__next(&map, e)); count--)
		assert_ptr_equal(e->value, (void *)values[e->b]);
	assert_int_equal(count, 0);
	map__free(&map);
}

static void pool_gives_zeroed_objects_again(void **state)
{
	struct pool pool = {.size = 40};
	unsigned char *objects[200], zero[40] = {0};

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 200; i++) {
			objects[i] = pool__take(&pool);
			assert_non_null(objects[i]);
			assert_int_equal((uintptr_t)objects[i] % 16, 0);
			assert_memory_equal(objects[i], zero, 40);
			for (int k = 0; k < 40; k++)
				objects[i][k] = 255;
		}
		for (int i = 0; i < 200; i++)
			pool__give(&pool, objects[i]);
	}
	pool__free(&pool);
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* the stated error, over all magnitudes */
static void histogram_is_within_its_error(void **state)
{
	enum { VALUES = 20000 };
	uint64_t *values = malloc(VALUES * sizeof(*values)), random = 4101842887655102017ULL;
	struct hist hist = {0};

	(void)state;
	for (int i = 0; i < VALUES; i++) {
		unsigned int shift = next_random(&random) % 64;

		values[i] = next_random(&random) >> shift;
		assert_int_equal(hist__add(&hist, values[i]), 0);
	}
	qsort(values, VALUES, sizeof(*values), ascending);
	for (int percent = 1; percent < 100; percent++) {
		double exact = (double)values[VALUES * percent / 100 - 1];
		double got = (double)hist__percentile(&hist, percent);

		assert_true(got <= exact * 1.008 + 0.5 && got >= exact * 0.992 - 0.5);
	}
	assert_int_equal(hist__percentile(&hist, 0), values[0]);
	assert_int_equal(hist__percentile(&hist, 100), values[VALUES - 1]);
	hist__free(&hist);
	free(values);
}

static void histogram_of_few_values_is_exact(void **state)
{
	struct hist hist = {0};

	(void)state;
	assert_int_equal(hist__percentile(&hist, 50), 0);
	assert_int_equal(hist__mean(&hist), 0);
	assert_int_equal(hist__add(&hist, 1000003), 0);
	assert_int_equal(hist__percentile(&hist, 50), 1000003);
	assert_int_equal(hist__percentile(&hist, 99), 1000003);
	assert_int_equal(hist__add(&hist, 7), 0);
	assert_int_equal(hist__percentile(&hist, 50), 7);
	assert_int_equal(hist__percentile(&hist, 99), 1000003);
	assert_int_equal(hist__mean(&hist), 500005);
	assert_int_equal(hist__add(&hist, UINT64_MAX), 0);
	assert_true(hist__percentile(&hist, 100) == UINT64_MAX);
	hist__free(&hist);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map_keeps_what_was_put),
		cmocka_unit_test(pool_gives_zeroed_objects_again),
		cmocka_unit_test(histogram_is_within_its_error),
		cmocka_unit_test(histogram_of_few_values_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
