// SPDX-License-Identifier: BSD-2-Clause
/*
 * Asio's handlers, beside what they have as tasks (perfetto_task.c): titles and places of
 * creations, arguments of invocations, the system calls of an operation on the arrow from its
 * creation to its handler, what the reactor watches, and slices for run(), poll() and so on.
 */
#include <errno.h>
#include "perfetto.h"

static void instant__open_named(struct perfetto *px, const struct row *row,
				enum perfetto_category category, uint32_t iid, const char *name,
				uint64_t time)
{
	event__open(px, row, EVENT_INSTANT, time);
	event__title(px, category, iid, FORM_PLAIN, name);
	px->tally.instants[category]++;
}

/* --- creations --- */

static bool is_created_next(const struct perfetto *px, uint64_t handler)
{
	return px->asio.operation && px->asio.handler == handler;
}

static void created__remember(struct perfetto *px, const struct event *event)
{
	px->asio.handler = event->args[0].u;
	px->asio.operation = event->args[1].s;
	px->asio.path = event->args[2].s;
	px->asio.descriptor = event->args[3].u;
}

const char *asio__created_title(struct perfetto *px, uint64_t handler, uint32_t *iid)
{
	if (!is_created_next(px, handler))
		return NULL;
	px->asio.path_iid = intern__text(px, TABLE_STRINGS, FORM_PLAIN, px->asio.path);
	*iid = intern__text(px, TABLE_NAMES, FORM_PLAIN, px->asio.operation);
	return px->asio.operation;
}

void asio__annotate_created(struct perfetto *px, uint64_t handler)
{
	if (!is_created_next(px, handler))
		return;
	annotate__text(px, ANNOTATION_PATH, px->asio.path_iid, px->asio.path);
	if (px->asio.descriptor)
		annotate__uint(px, ANNOTATION_DESCRIPTOR, px->asio.descriptor);
	px->asio.operation = NULL;
}

/* --- invocations --- */

/* on both slices of the stay that the handler is in */
static void invocation__note(struct perfetto *px, const struct model_task *handler,
			     const struct note *note)
{
	struct drawn_task *task = handler ? handler->priv[px->slot] : NULL;

	if (task && task->stay)
		slice__note(px, task->stay, note);
	if (task && task->run)
		slice__note(px, task->run, note);
}

static void invoked__draw(struct perfetto *px, const struct event *event,
			  const struct model_task *handler)
{
	struct note error = {
		.annotation = ANNOTATION_ERROR,
		.kind = NOTE_STRING,
		.value = event->args[1],
	};
	struct note value = {
		.annotation = ANNOTATION_BYTES_TRANSFERRED,
		.kind = NOTE_INT,
		.value = event->args[2],
	};

	if (error.value.s)
		invocation__note(px, handler, &error);
	if (event->args[3].u == EVENT_HANDLER_SIGNAL) {
		value.annotation = ANNOTATION_SIGNAL_NUMBER;
		value.value.i = (int32_t)(uint32_t)event->args[2].u;
	}
	if (event->args[3].u == EVENT_HANDLER_BYTES || event->args[3].u == EVENT_HANDLER_SIGNAL)
		invocation__note(px, handler, &value);
}

static void left__draw(struct perfetto *px, const struct event *event,
		       const struct model_task *handler)
{
	struct note note = {.annotation = ANNOTATION_EXCEPTION, .kind = NOTE_BOOL};

	note.value.u = 1;
	if (event->args[1].u == EVENT_HANDLER_THROWN)
		invocation__note(px, handler, &note);
}

static void syscall__draw(struct perfetto *px, const struct event *event,
			  const struct model_task *handler, const struct row *row, uint64_t time)
{
	const struct drawn_task *task = handler ? handler->priv[px->slot] : NULL;
	uint32_t iid = intern__text(px, TABLE_NAMES, FORM_PLAIN, event->args[1].s);
	uint32_t error_iid = intern__text(px, TABLE_STRINGS, FORM_PLAIN, event->args[2].s);

	instant__open_named(px, row, CATEGORY_ASIO_SYSCALL, iid, event->args[1].s, time);
	annotate__hex(px, ANNOTATION_TASK, event->args[0].u);
	annotate__text(px, ANNOTATION_ERROR, error_iid, event->args[2].s);
	if (event->args[3].u != UINT64_MAX)
		annotate__uint(px, ANNOTATION_BYTES_TRANSFERRED, event->args[3].u);
	if (task && task->create_flow)
		event__flow(px, task->create_flow);
	event__close(px);
}

void op__handler(void *ctx, const struct event *event, struct model_task *handler,
		 struct model_task *task, struct model_thread *thread, uint64_t time)
{
	struct perfetto *px = ctx;
	struct row *row;

	switch (event->type) {
	case EV_handler_created:
		created__remember(px, event);
		break;
	case EV_handler_invoked:
		invoked__draw(px, event, handler);
		break;
	case EV_handler_left:
		left__draw(px, event, handler);
		break;
	default:
		row = thread__host(px, thread, task);
		if (row)
			syscall__draw(px, event, handler, row, time);
	}
}

/* --- everything else --- */

static void run__begin(struct perfetto *px, const struct event *event, struct row *row,
		       uint64_t time)
{
	const char *name = event->args[1].s && *event->args[1].s ? event->args[1].s : NULL;
	struct slice *slice = slice__new(px, SLICE_PLAIN, CATEGORY_ASIO_RUN, FORM_PLAIN, name,
					 name ? 0 : CATEGORY_ASIO_RUN + 1);

	if (!slice)
		return;
	slice->object = event->args[0].u;
	row__push(px, row, slice, time, NULL);
}

/* one that was taken for granted has no context: whichever ends first must be it */
static void run__end(struct perfetto *px, const struct event *event, struct row *row, uint64_t time)
{
	struct slice *slice = row->top;

	while (slice && (slice->kind != SLICE_PLAIN || slice->category != CATEGORY_ASIO_RUN ||
			 (slice->object && slice->object != event->args[0].u)))
		slice = slice->below;
	if (slice)
		row__remove(px, slice, NULL, NULL, NULL, time);
}

static void reactor__draw(struct perfetto *px, const struct event *event, const struct row *row,
			  uint64_t time)
{
	static const char *const readiness[] = {
		"",	 "read",       "write",	      "read write",
		"error", "read error", "write error", "read write error"};
	bool ready = event->type == EV_asio_ready;
	uint32_t name = ready				    ? NAME_READINESS
			: event->type == EV_asio_registered ? NAME_REGISTRATION
							    : NAME_DEREGISTRATION;

	instant__open_named(px, row, CATEGORY_ASIO_REACTOR, name, NULL, time);
	annotate__hex(px, ANNOTATION_REGISTRATION, event->args[!ready].u);
	if (ready)
		annotate__text(px, ANNOTATION_EVENTS, 0, readiness[event->args[1].u & 7]);
	else
		annotate__uint(px, ANNOTATION_DESCRIPTOR, event->args[0].u);
	event__close(px);
}

static void operation__draw(struct perfetto *px, const struct event *event, const struct row *row,
			    uint64_t time)
{
	uint32_t iid = intern__text(px, TABLE_NAMES, FORM_PLAIN, event->args[1].s);

	instant__open_named(px, row, CATEGORY_ASIO_OPERATION, iid, event->args[1].s, time);
	annotate__hex(px, ANNOTATION_OBJECT, event->args[0].u);
	if (event->args[2].u)
		annotate__uint(px, ANNOTATION_DESCRIPTOR, event->args[2].u);
	event__close(px);
}

bool asio__draw(struct perfetto *px, const struct event *event, struct model_thread *model,
		struct row *row, uint64_t time)
{
	struct drawn_thread *thread;

	switch (event->type) {
	case EV_asio_run_begin:
	case EV_asio_run_end:
		/* around all that the thread does, so on its own row also within a handler */
		thread = drawn_thread__get(px, model);
		if (thread && event->type == EV_asio_run_begin)
			run__begin(px, event, &thread->row, time);
		else if (thread)
			run__end(px, event, &thread->row, time);
		return true;
	case EV_asio_registered:
	case EV_asio_deregistered:
	case EV_asio_ready:
		reactor__draw(px, event, row, time);
		return true;
	case EV_handler_operation:
		operation__draw(px, event, row, time);
		return true;
	default:
		return false;
	}
}
