/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asio's handlers as tasks: stands behind the merge and gives out, beside the events of
 * probes/asio, those that everybody understands, so that no model, filter or exporter need know.
 *
 *	asio_created			task_created, named after the operation; EV_task_waits, if
 *					it is not put into a queue at once
 *	asio_syscall			task_resumed, when it finishes what is waited for
 *	asio_invoked...			task_begin, on a worker numbered here if nobody else did
 *	asio_left, asio_thrown		task_completed
 *	asio_abandoned			task_destroyed
 *	asio_location_begin, _end	zone_begin, zone_end
 *
 * What is Asio's own comes with its texts put together, as EV_handler_... . All of these are marked
 * `derived`: they are no records. The creator of a handler is the one that the thread is in.
 */
#ifndef TRACER_TRACE_ASIO_H
#define TRACER_TRACE_ASIO_H

#include <stdbool.h>
#include "event.h"
#include "strings.h"

struct asio;

/* NULL without memory; @strings outlives it */
struct asio *asio__new(struct strings *strings);
/* is there anything to do with the event? Else it is passed on as it is. */
bool asio__concerns(const struct asio *asio, const struct event *event);
/* the next event of the trace; 0 or -ENOMEM */
int asio__take(struct asio *asio, const struct event *event);
/* an event that came out; false: there is none, take another */
bool asio__give(struct asio *asio, struct event *event);
void asio__free(struct asio *asio);

#endif /* TRACER_TRACE_ASIO_H */
