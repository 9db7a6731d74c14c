// SPDX-License-Identifier: BSD-2-Clause
/* Events to a model, see feed.h. */
#include <errno.h>
#include <string.h>
#include "base/say.h"
#include "feed.h"

#define EVENTS_PER_CHECK 4096U

/* 1: stop here */
static int feed__check(struct feed *feed)
{
	const struct export_options *options = feed->options;

	if (feed->err && *feed->err)
		return *feed->err;
	if (options->progress)
		say__progress("exporting: %3.0f %%", 100 * trace__progress(feed->trace));
	feed->stopped = options->stop && *options->stop;
	return feed->stopped;
}

int feed__run(struct feed *feed)
{
	uint64_t count = 0;
	struct event own, *event;
	int got, err;

	for (;;) {
		event = feed->model ? model__slot(feed->model) : &own;
		if (!event)
			return -ENOMEM;
		got = trace__next(feed->trace, event);
		if (got <= 0)
			break;
		if (!feed->first)
			feed->first = event->time;
		if (event->time > feed->last)
			feed->last = event->time;
		if (feed->event)
			feed->event(feed->ctx, event);
		err = feed->model ? model__slot_filled(feed->model) : 0;
		if (!err && ++count % EVENTS_PER_CHECK == 0)
			err = feed__check(feed);
		if (err < 0)
			return err;
		if (err > 0)
			break;
	}
	if (got < 0) {
		feed->read_failed = true;
		return got;
	}
	err = feed->model ? model__end(feed->model, feed->last) : 0;
	return err || !feed->err ? err : *feed->err;
}

char *feed__error(const struct feed *feed, const char *path, int err)
{
	if (feed->read_failed)
		return sentence__new("%s", trace__error(feed->trace));
	if (err == -ENOSPC)
		return sentence__new(
			"%s: no space left on the device; make room, or choose another "
			"place with -o",
			path);
	if (err == -ENOMEM)
		return sentence__new("%s: out of memory; nothing useful was written", path);
	return sentence__new("%s: cannot write: %s; choose another place with -o", path,
			     strerror(-err));
}
