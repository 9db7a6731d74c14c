/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tasks that live, told by several threads, one after the other: whatever the order in which the
 * threads' records come, what is alive at the end is what was, under its last name.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>
#include "capture/alive.h"

enum { THREADS = 3, TOLD_MAX = 32, ROUNDS = 200000 };
enum { PID = 7, IDENTITY = 0x1000 };

struct told {
	enum { CREATED, RENAMED, COMPLETED, DESTROYED } what;
	unsigned int thread;
	uint64_t stamp, name;
};

struct history {
	struct told told[TOLD_MAX];
	size_t count;
	bool lives;
	uint64_t name, parent; /* of the one that lives */
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void tell(struct history *history, uint64_t *random, int what, uint64_t name)
{
	history->told[history->count] = (struct told){
		.what = what,
		.thread = (unsigned int)(next_random(random) % THREADS),
		.stamp = 10 + history->count,
		.name = name,
	};
	history->count++;
}

/* up to four lives of one identity; the last may last */
static struct history history__new(uint64_t *random)
{
	struct history history = {0};
	uint64_t lives = 1 + next_random(random) % 4, life, names;

	for (life = 1; life <= lives; life++) {
		history.name = life * 16;
		history.parent = 10 + history.count;
		tell(&history, random, CREATED, history.name);
		for (names = next_random(random) % 3; names > 0; names--)
			tell(&history, random, RENAMED, ++history.name);
		history.lives = life == lives && next_random(random) % 2;
		if (history.lives)
			break;
		if (next_random(random) % 2)
			tell(&history, random, COMPLETED, 0);
		tell(&history, random, DESTROYED, 0);
	}
	return history;
}

static void take(struct alive *alive, const struct told *told)
{
	struct alive_task task = {
		.pid = PID,
		.identity = IDENTITY,
		.name = told->name,
		.stamp = told->stamp,
		.parent = told->what == CREATED ? told->stamp : 0,
	};

	if (told->what == CREATED)
		alive__add(alive, &task);
	else if (told->what == RENAMED)
		alive__rename(alive, &task);
	else
		alive__end(alive, PID, IDENTITY, told->stamp);
}

/* thread by thread, a few of each at a time, each thread's own in their order */
static void take_all(struct alive *alive, const struct history *history, uint64_t *random)
{
	size_t next[THREADS] = {0}, left = history->count;
	unsigned int thread;
	uint64_t few;

	while (left) {
		thread = (unsigned int)(next_random(random) % THREADS);
		for (few = 1 + next_random(random) % 4; few && next[thread] < history->count;
		     next[thread]++) {
			if (history->told[next[thread]].thread != thread)
				continue;
			take(alive, &history->told[next[thread]]);
			left--;
			few--;
		}
	}
}

struct found {
	unsigned int count;
	struct alive_task task;
};

static int find(void *ctx, const struct alive_task *task)
{
	struct found *found = ctx;

	found->count++;
	found->task = *task;
	return 0;
}

static void any_order_has_the_same_end(void **state)
{
	uint64_t random = 88172645463325252ULL;
	struct alive *alive = alive__new();
	struct history history;
	struct found found;

	(void)state;
	assert_non_null(alive);
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		history = history__new(&random);
		/* later rounds are later */
		for (size_t i = 0; i < history.count; i++)
			history.told[i].stamp += round * 2 * TOLD_MAX;
		take_all(alive, &history, &random);
		alive__cut(alive, round, round);
		found = (struct found){0};
		alive__each(alive, round, find, &found);
		assert_int_equal(found.count, history.lives);
		if (history.lives) {
			assert_int_equal(found.task.name, history.name);
			assert_int_equal(found.task.parent, history.parent + round * 2 * TOLD_MAX);
		}
		alive__end(alive, PID, IDENTITY, (round + 1) * 2 * TOLD_MAX);
	}
	alive__free(alive);
}

static void names_of_run_time_are_kept_while_somebody_has_them(void **state)
{
	struct alive *alive = alive__new();
	char bytes[] = "solve";
	struct alive_task task = {
		.pid = PID, .identity = 1, .name = 99, .bytes = bytes, .length = 5, .stamp = 1};
	struct found found = {0};

	(void)state;
	assert_non_null(alive);
	alive__add(alive, &task);
	task.identity = 2;
	alive__add(alive, &task);
	alive__end(alive, PID, 1, 2);
	memset(bytes, 'x', 5);
	alive__cut(alive, 1, 1);
	alive__each(alive, 1, find, &found);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.task.length, 5);
	assert_memory_equal(found.task.bytes, "solve", 5);
	alive__free(alive);
}

static void who_lived_at_an_earlier_cut_is_told_there(void **state)
{
	struct alive *alive = alive__new();
	struct alive_task task = {.pid = PID, .identity = 1, .stamp = 1};
	struct found found = {0};

	(void)state;
	assert_non_null(alive);
	alive__add(alive, &task);
	alive__cut(alive, 1, 1);
	alive__end(alive, PID, 1, 2);
	alive__cut(alive, 2, 1);
	alive__each(alive, 1, find, &found);
	assert_int_equal(found.count, 1);
	alive__each(alive, 2, find, &found);
	assert_int_equal(found.count, 1);
	alive__cut(alive, 3, 3);
	alive__each(alive, 1, find, &found);
	assert_int_equal(found.count, 1);
	alive__free(alive);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_has_the_same_end),
		cmocka_unit_test(names_of_run_time_are_kept_while_somebody_has_them),
		cmocka_unit_test(who_lived_at_an_earlier_cut_is_told_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
