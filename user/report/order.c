/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables in the order in which they are shown, see order.h. */
#include <stdlib.h>
#include <string.h>
#include "order.h"

static int pairs(const void *left, const void *right)
{
	const struct steal_pair *a = *(struct steal_pair *const *)left;
	const struct steal_pair *b = *(struct steal_pair *const *)right;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	if (a->thief != b->thief)
		return a->thief > b->thief ? 1 : -1;
	return a->victim > b->victim ? 1 : a->victim < b->victim ? -1 : 0;
}

static int locks(const void *left, const void *right)
{
	const struct lock_figures *a = *(struct lock_figures *const *)left;
	const struct lock_figures *b = *(struct lock_figures *const *)right;

	if (a->wait_ns != b->wait_ns)
		return a->wait_ns < b->wait_ns ? 1 : -1;
	return a->object > b->object ? 1 : a->object < b->object ? -1 : 0;
}

static int counters(const void *left, const void *right)
{
	const struct counter_figures *a = *(struct counter_figures *const *)left;
	const struct counter_figures *b = *(struct counter_figures *const *)right;

	return strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

static int workers(const void *left, const void *right)
{
	const struct worker *a = *(struct worker *const *)left;
	const struct worker *b = *(struct worker *const *)right;

	if (a->index != b->index)
		return a->index > b->index ? 1 : -1;
	return a->tid > b->tid ? 1 : a->tid < b->tid ? -1 : 0;
}

static void *sorted(const struct map *map, void *more, int (*compare)(const void *, const void *))
{
	void **list = calloc(map->count + 2, sizeof(void *));
	struct map_entry *e = NULL;
	size_t n = 0;

	if (!list)
		return NULL;
	while ((e = map__next(map, e)))
		list[n++] = e->value;
	if (n)
		qsort(list, n, sizeof(void *), compare);
	list[n] = more;
	return list;
}

struct steal_pair **order__pairs(const struct report *report)
{
	return sorted(&report->pairs, NULL, pairs);
}

struct lock_figures **order__locks(const struct report *report)
{
	return sorted(&report->locks, report->other_locks, locks);
}

struct counter_figures **order__counters(const struct report *report)
{
	return sorted(&report->counters, NULL, counters);
}

struct worker **order__workers(const struct report *report, uint32_t process)
{
	struct worker **list = calloc(report->worker_count + 1, sizeof(struct worker *));
	size_t n = 0;

	if (!list)
		return NULL;
	for (size_t i = 0; i < report->worker_count; i++)
		if (report->workers[i]->process == process)
			list[n++] = report->workers[i];
	if (n)
		qsort(list, n, sizeof(struct worker *), workers);
	return list;
}
