/* SPDX-License-Identifier: BSD-2-Clause */
/* Options that leave out a part of a capture. */
#include "filter_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../base/say.h"

static int filter_options__add_debug_dir(struct filter_options *options, const char *dir)
{
	size_t count = options->debug_dir_count;
	const char **dirs = reallocarray(options->debug_dirs, count + 1, sizeof(*dirs));

	if (!dirs)
		return -ENOMEM;
	dirs[count] = dir;
	options->debug_dirs = dirs;
	options->debug_dir_count = count + 1;
	return 0;
}

static int filter_options__add_task(struct filter_options *options, const char *pattern)
{
	size_t count = options->filter.task_count;
	const char **tasks = reallocarray(options->tasks, count + 1, sizeof(*tasks));

	if (!tasks)
		return -ENOMEM;
	tasks[count] = pattern;
	options->tasks = tasks;
	options->filter.tasks = tasks;
	options->filter.task_count = count + 1;
	return 0;
}

/* "3" or "2-5"; moves behind it */
static bool range__parse(const char **at, struct filter_range *range)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	range->first = range->last = (uint32_t)strtoul(*at, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		range->last = (uint32_t)strtoul(end + 1, &end, 10);
	*at = end;
	return !errno && range->first <= range->last;
}

static int filter_options__add_workers(struct filter_options *options, const char *text,
				       const struct option_origin *origin)
{
	size_t count = options->filter.worker_count;
	struct filter_range *workers, range;
	const char *at = text;

	for (;;) {
		if (!range__parse(&at, &range) || (*at && *at != ',')) {
			say__error("%s: '%s' is no list of workers; write for example 0 or 0,2-5",
				   origin->name, text);
			return -EINVAL;
		}
		workers = reallocarray(options->workers, count + 1, sizeof(*workers));
		if (!workers)
			return -ENOMEM;
		workers[count++] = range;
		options->workers = workers;
		options->filter.workers = workers;
		options->filter.worker_count = count;
		if (!*at++)
			return 0;
	}
}

int filter_options__set(struct filter_options *options, int key, const char *value,
			const struct option_origin *origin)
{
	/* TRACER_DURATION and TRACER_CATEGORIES are those of `record` */
	if (origin->environment && (key == KEY_FILTER_DURATION || key == 'c'))
		return 0;
	if ((key >= KEY_FILTER_TASK && key <= KEY_FILTER_DURATION) || key == 'c')
		options->any = true;
	switch (key) {
	case KEY_FILTER_TASK:
		return filter_options__add_task(options, value);
	case KEY_FILTER_WORKER:
		return filter_options__add_workers(options, value, origin);
	case KEY_FILTER_DEBUG_DIR:
		return filter_options__add_debug_dir(options, value);
	case KEY_FILTER_FROM:
		return option__duration(value, origin, &options->filter.from);
	case KEY_FILTER_TO:
		options->has_to = true;
		return option__duration(value, origin, &options->filter.to);
	case KEY_FILTER_DURATION:
		options->has_duration = true;
		return option__duration(value, origin, &options->duration);
	case 'c':
		return option__categories(value, origin, &options->filter.categories);
	default:
		return -ENOENT;
	}
}

int filter_options__finish(struct filter_options *options)
{
	struct trace_filter *filter = &options->filter;

	if (options->has_to && options->has_duration) {
		say__error("--to and --duration: both say where to end; give one of them");
		return -EINVAL;
	}
	if (options->has_duration &&
	    __builtin_add_overflow(filter->from, options->duration, &filter->to))
		filter->to = UINT64_MAX;
	if (!options->has_to && !options->has_duration)
		filter->to = UINT64_MAX;
	if (filter->to > filter->from)
		return 0;
	say__error("--to: is not after --from, so nothing is left");
	return -EINVAL;
}

int filter_options__apply(const struct filter_options *options, struct trace *trace)
{
	trace__debug_dirs(trace, options->debug_dirs, options->debug_dir_count);
	return options->any ? trace__filter(trace, &options->filter) : 0;
}

void filter_options__free(struct filter_options *options)
{
	free(options->tasks);
	free(options->workers);
	free(options->debug_dirs);
}
