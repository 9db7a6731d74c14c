// SPDX-License-Identifier: BSD-2-Clause
/*
 * Any bytes as a capture file: never a crash, a hang or a leak, and what is given out is sound. The
 * seeds are the captures of the unit tests' helper, unpacked, so that mutations reach the decoder.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "trace/trace.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_event(const struct trace *trace, const struct event *event)
{
	const struct event_schema *schema = trace__schema(trace, event->type);
	size_t length = 0;
	unsigned int i;

	require(schema != NULL);
	require(event->nargs <= EVENT_ARGS && event->nargs <= schema->nargs);
	if (event->process == EVENT_NO_PROCESS)
		require(event->type >= EV_foreign_off_cpu && event->type <= EV_sched_lost);
	else if (event->type != EV_end)
		require(trace__process(trace, event->process) != NULL);
	if (event->type == EV_fork)
		require(trace__process(trace, event->args[0].u) != NULL);
	if (event->type == EV_lost)
		require(event->args[3].u < LOSS_KINDS && event->args[0].u > 0);
	for (i = 0; i < event->nargs; i++) {
		if ((schema->arg_types[i] == 's' || schema->arg_types[i] == 'l') &&
		    event->args[i].s)
			length += strlen(event->args[i].s);
	}
	require(length < 1U << 25);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	int fd = memfd_create("capture", MFD_CLOEXEC);
	const struct trace_totals *totals;
	struct event event = {0};
	struct trace *trace;
	char path[64];
	int ret;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = trace__open(path, NULL);
	close(fd);
	if (!trace)
		return 0;
	while ((ret = trace__next(trace, &event)) > 0) {
		check_event(trace, &event);
		trace__stack(trace, event.stack);
	}
	totals = trace__totals(trace);
	if (ret == 0) {
		require(event.type == EV_end);
		require(totals->recorded >= totals->records && totals->recorded >= totals->lost);
		require(!totals->complete || (totals->finished && !totals->lost));
	}
	trace__close(trace);
	return 0;
}
