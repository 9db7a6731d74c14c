/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of figures by name or call site. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "figures.h"

static struct group *add(struct report *report, struct groups *groups)
{
	struct group *group = calloc(1, sizeof(*group));

	if (groups->count == groups->size) {
		size_t size = groups->size ? groups->size * 2 : 16;
		struct group **list = realloc(groups->list, size * sizeof(struct group *));

		if (!list) {
			free(group);
			group = NULL;
		} else {
			groups->list = list;
			groups->size = size;
		}
	}
	if (!group) {
		report->err = -ENOMEM;
		return NULL;
	}
	groups->list[groups->count++] = group;
	group->line = -1;
	return group;
}

/* "file:line"; a file may hold colons, a line does not */
static void set_place(struct report *report, struct group *group, const char *where)
{
	const char *colon = where ? strrchr(where, ':') : NULL;

	group->file = report__copy(report, where);
	if (!colon || !group->file)
		return;
	group->line = strtoll(colon + 1, NULL, 10);
	group->file[colon - where] = '\0';
}

static struct group *others(struct report *report, struct groups *groups)
{
	if (!groups->others) {
		groups->others = add(report, groups);
		if (groups->others)
			groups->others->name = report__copy(report, FIGURES_OTHERS);
	}
	return groups->others;
}

struct group *groups__get(struct report *report, struct groups *groups, const char *name,
			  const char *function, const char *where)
{
	uint64_t a = (uint64_t)(uintptr_t)name * 31 + (uint64_t)(uintptr_t)function;
	uint64_t b = (uint64_t)(uintptr_t)where;
	struct group *group = map__get(&groups->by_key, a, b);

	if (group)
		return group;
	if (groups->by_key.count >= FIGURES_GROUPS_MAX)
		return others(report, groups);
	group = add(report, groups);
	if (!group)
		return NULL;
	group->name = report__copy(report, name);
	group->function = report__copy(report, function);
	set_place(report, group, where);
	if (map__put(&groups->by_key, a, b, group))
		report->err = -ENOMEM;
	return group;
}

void group__add(struct report *report, struct group *group, uint64_t value)
{
	if (hist__add(&group->hist, value))
		report->err = -ENOMEM;
}

/* the longest total first, then the most frequent; then by name, so that reports can be compared */
static int compare(const void *left, const void *right)
{
	const struct group *a = *(struct group *const *)left, *b = *(struct group *const *)right;

	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? 1 : -1;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

void groups__sort(const struct groups *groups)
{
	if (groups->count)
		qsort(groups->list, groups->count, sizeof(struct group *), compare);
}

void groups__free(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		struct group *group = groups->list[i];

		free(group->name);
		free(group->function);
		free(group->file);
		hist__free(&group->hist);
		free(group);
	}
	free(groups->list);
	map__free(&groups->by_key);
}
