/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all exports through the model have in common: events of the trace to the model, the progress
 * bar, the stop flag, what went wrong. A format brings its sink.
 */
#ifndef TRACER_EXPORT_FEED_H
#define TRACER_EXPORT_FEED_H

#include "../model/model.h"
#include "export.h"

struct feed {
	struct trace *trace;
	const struct export_options *options;
	struct model *model;
	const int *err;	      /* the sink's, looked at now and then; stops the feed */
	uint64_t first, last; /* times of events so far */
	/* may be NULL; told of each event before the model is */
	void (*event)(void *ctx, const struct event *event);
	void *ctx;
	bool stopped;
	bool read_failed; /* trace__error() says why */
};

/* feed__run() - all there is, then the end; 0, or -errno. A stop is an early end, and no error. */
int feed__run(struct feed *feed);

/* feed__error() - a sentence for what failed: the capture, or writing @path */
char *feed__error(const struct feed *feed, const char *path, int err);

#endif /* TRACER_EXPORT_FEED_H */
