// SPDX-License-Identifier: BSD-2-Clause
/*
 * Asio's handlers in the Chrome trace, beside what they have as tasks: titles and places of creations,
 * arguments of invocations, system calls on the arrow from a creation to its handler, what the reactor
 * watches, and slices for run(), poll() and so on.
 */
#include <errno.h>
#include "chrome.h"

/* Creations: told right before the task is created */

bool chrome_asio__is_next(const struct chrome *ch, uint64_t handler)
{
	return ch->asio.operation && ch->asio.handler == handler;
}

void chrome_asio__created_args(struct chrome *ch)
{
	chrome_arg__text(ch, "path", ch->asio.path);
	if (ch->asio.descriptor)
		chrome_arg__uint(ch, "descriptor", ch->asio.descriptor);
	ch->asio.operation = NULL;
}

/* Invocations */

static void slice__note(struct chrome *ch, struct chrome_slice *slice,
			const struct chrome_note *from)
{
	struct chrome_note *note;

	if (!slice || slice->note_count >= CHROME_NOTES_MAX)
		return;
	note = pool__take(&ch->notes);
	if (!note) {
		ch->err = -ENOMEM;
		return;
	}
	*note = *from;
	slice->note_count++;
	*slice->notes_end = note;
	slice->notes_end = &note->next;
}

/* on both slices of the stay that the handler is in */
static void invocation__note(struct chrome *ch, const struct chrome_task *task,
			     const struct chrome_note *note)
{
	slice__note(ch, task->stay, note);
	slice__note(ch, task->run, note);
}

static void invoked__draw(struct chrome *ch, const struct event *event,
			  const struct chrome_task *task)
{
	struct chrome_note note = {
		.name = "error", .kind = CHROME_NOTE_TEXT, .value = event->args[1]};
	uint64_t what = event->args[3].u;

	if (note.value.s)
		invocation__note(ch, task, &note);
	if (what != EVENT_HANDLER_BYTES && what != EVENT_HANDLER_SIGNAL)
		return;
	note.name = what == EVENT_HANDLER_BYTES ? "bytes_transferred" : "signal_number";
	note.kind = CHROME_NOTE_INT;
	note.value.i = what == EVENT_HANDLER_BYTES ? event->args[2].i
						   : (int32_t)(uint32_t)event->args[2].u;
	invocation__note(ch, task, &note);
}

static void syscall__draw(struct chrome *ch, const struct event *event,
			  const struct chrome_task *task, const struct chrome_row *row,
			  uint64_t time)
{
	chrome__instant_named(ch, row, "asio.syscall", event->args[1].s, time);
	chrome_arg__hex(ch, "task", event->args[0].u);
	chrome_arg__text(ch, "error", event->args[2].s);
	if (event->args[3].u != UINT64_MAX)
		chrome_arg__uint(ch, "bytes_transferred", event->args[3].u);
	chrome_event__finish(ch);
	if (task && task->create_flow)
		chrome__flow(ch, 't', "task.spawn", task->create_flow, row, time);
}

static void op__handler(void *ctx, const struct event *event, struct model_task *handler,
			struct model_task *task, struct model_thread *thread, uint64_t time)
{
	static const struct chrome_note thrown = {.name = "exception", .kind = CHROME_NOTE_TRUE};
	struct chrome *ch = ctx;
	struct chrome_task *drawn = handler ? handler->priv[ch->slot] : NULL;
	struct chrome_row *row;

	switch (event->type) {
	case EV_handler_created:
		ch->asio.handler = event->args[0].u;
		ch->asio.operation = event->args[1].s;
		ch->asio.path = event->args[2].s;
		ch->asio.descriptor = event->args[3].u;
		break;
	case EV_handler_invoked:
		if (drawn)
			invoked__draw(ch, event, drawn);
		break;
	case EV_handler_left:
		if (drawn && event->args[1].u == EVENT_HANDLER_THROWN)
			invocation__note(ch, drawn, &thrown);
		break;
	default:
		row = chrome__host(ch, thread, task);
		if (row)
			syscall__draw(ch, event, drawn, row, time);
	}
}

/* Everything else */

static void run__begin(struct chrome *ch, const struct event *event, struct chrome_row *row,
		       uint64_t time)
{
	const char *name = event->args[1].s && *event->args[1].s ? event->args[1].s : "run";
	struct chrome_slice *slice = chrome_slice__new(ch, SLICE_ASIO_RUN, "asio.run", NULL, name);

	if (!slice)
		return;
	slice->object = event->args[0].u;
	chrome_row__push(ch, row, slice, time);
}

/* one that was taken for granted has no context: whichever ends first must be it */
static void run__end(struct chrome *ch, const struct event *event, struct chrome_row *row,
		     uint64_t time)
{
	struct chrome_slice *slice = row->top;

	while (slice && (slice->kind != SLICE_ASIO_RUN ||
			 (slice->object && slice->object != event->args[0].u)))
		slice = slice->below;
	if (slice)
		chrome_row__remove(ch, slice, NULL, time);
}

static void reactor__draw(struct chrome *ch, const struct event *event,
			  const struct chrome_row *row, uint64_t time)
{
	static const char *const readiness[] = {
		"",	 "read",       "write",	      "read write",
		"error", "read error", "write error", "read write error"};
	bool ready = event->type == EV_asio_ready;

	chrome__instant_named(ch, row, "asio.reactor",
			      ready				  ? "readiness"
			      : event->type == EV_asio_registered ? "registration"
								  : "deregistration",
			      time);
	chrome_arg__hex(ch, "registration", event->args[!ready].u);
	if (ready)
		chrome_arg__text(ch, "events", readiness[event->args[1].u & 7]);
	else
		chrome_arg__uint(ch, "descriptor", event->args[0].u);
	chrome_event__finish(ch);
}

static void operation__draw(struct chrome *ch, const struct event *event,
			    const struct chrome_row *row, uint64_t time)
{
	chrome__instant_named(ch, row, "asio.operation", event->args[1].s, time);
	chrome_arg__hex(ch, "object", event->args[0].u);
	if (event->args[2].u)
		chrome_arg__uint(ch, "descriptor", event->args[2].u);
	chrome_event__finish(ch);
}

bool chrome_asio__draw(struct chrome *ch, const struct event *event, struct model_thread *model,
		       const struct chrome_row *row, uint64_t time)
{
	struct chrome_thread *thread;

	switch (event->type) {
	case EV_asio_run_begin:
	case EV_asio_run_end:
		/* around all that the thread does, so on its own row also within a handler */
		thread = chrome_thread__get(ch, model);
		if (thread && event->type == EV_asio_run_begin)
			run__begin(ch, event, &thread->row, time);
		else if (thread)
			run__end(ch, event, &thread->row, time);
		return true;
	case EV_asio_registered:
	case EV_asio_deregistered:
	case EV_asio_ready:
		reactor__draw(ch, event, row, time);
		return true;
	case EV_handler_operation:
		operation__draw(ch, event, row, time);
		return true;
	default:
		return false;
	}
}

void chrome_asio__add_ops(struct model_ops *ops)
{
	ops->handler = op__handler;
}
