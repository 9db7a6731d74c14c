// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory: threads, handlers that live, and one entry a title. Two threads' stamps may be inverted
 * by a little along an edge, so a handler may be invoked, in the trace, before it was created: it
 * is remembered until its creation comes, so that the model, which puts that right, is not told
 * that it waits.
 *
 * A forked child has its parent's handlers, under the same identities. They are copied at the fork,
 * and told when the child first does something with one: most children do nothing but exec.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "asio.h"
#include "../base/map.h"
#include "../base/pool.h"

#define PATH_MAX_SIZE 4096U
#define OUT_MAX 8 /* events that one becomes */
#define OVERTAKEN_MAX 65536U
#define WOULD_BLOCK 11 /* EAGAIN, as the targets' kernel has it */
#define NO_WORKER UINT32_MAX

enum text_role { TEXT_TYPE, TEXT_OPERATION, TEXT_CATEGORY, TEXT_ARGUMENT, TEXTS };

struct handler {
	struct handler *next, *prev; /* of the process */
	uint64_t id, object;
	const struct title *title; /* NULL: its creation was not seen */
	bool waits;		   /* for what a system call may bring */
	bool invoked;		   /* and not yet left */
	bool overtaken;		   /* invoked before its creation came */
	bool inherited;		   /* of the process that this one was forked from, not yet told */
};

struct place {
	const char *function, *file;
	uint32_t line;
	const char *path; /* it and those around it, once somebody asked */
};

struct asio_thread {
	struct asio_thread *next; /* of the process */
	uint32_t tid;
	uint32_t worker;
	const char *texts[TEXTS]; /* of the next event, NULL: in the event itself */
	uint64_t *stack;	  /* handlers it is in, innermost last */
	size_t depth, size;
	uint64_t native;      /* descriptor of the next creation's object, 0 none */
	struct place *places; /* HANDLER_LOCATIONs that it is in, innermost last */
	size_t place_count, place_size;
	uint32_t runs; /* run(), poll() and so on that it is in */
	bool heard;    /* it entered or left one, so that how many are open is known */
};

struct asio_process {
	struct asio_process *next;
	uint32_t index;
	uint32_t next_worker;
	struct handler *handlers;
	struct asio_thread *threads;
};

struct title {
	struct title *next; /* of the same hash */
	const char *type, *operation;
	const char *text;   /* socket@0x7f00c0de.async_send */
	const char *task;   /* and " completion" */
	const char *reason; /* socket.async_send */
};

struct asio {
	struct strings *strings;
	struct map handlers;  /* process, id */
	struct map threads;   /* process, tid */
	struct map processes; /* index */
	struct map titles;    /* object, hash of type and operation */
	struct pool handler_pool, title_pool;
	struct asio_process *all;
	struct event out[OUT_MAX];
	size_t out_count, out_next;
	uint32_t overtaken;
	bool seen; /* an event of Asio's: before, nothing is worth remembering but workers */
	int err;
};

struct asio *asio__new(struct strings *strings)
{
	struct asio *asio = calloc(1, sizeof(*asio));

	if (!asio)
		return NULL;
	asio->strings = strings;
	asio->handler_pool.size = sizeof(struct handler);
	asio->title_pool.size = sizeof(struct title);
	return asio;
}

static bool is_own(uint16_t type)
{
	return type >= EV_asio_text && type <= EV_asio_location_end;
}

bool asio__concerns(const struct asio *asio, const struct event *event)
{
	switch (event->type) {
	case EV_worker_start:
	case EV_task_begin:
		return true; /* whose numbers are taken */
	case EV_thread_exit:
	case EV_fork:
	case EV_exec:
	case EV_process_exit:
	case EV_lost:
		return asio->seen;
	default:
		return is_own(event->type);
	}
}

/* --- what is remembered --- */

static struct asio_process *process__get(struct asio *asio, uint32_t index)
{
	struct asio_process *process = map__get(&asio->processes, index, 0);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process || map__put(&asio->processes, index, 0, process)) {
		free(process);
		asio->err = -ENOMEM;
		return NULL;
	}
	process->index = index;
	process->next = asio->all;
	asio->all = process;
	return process;
}

static struct asio_thread *thread__get(struct asio *asio, const struct event *event)
{
	struct asio_thread *thread = map__get(&asio->threads, event->process, event->tid);
	struct asio_process *process;

	if (thread)
		return thread;
	process = process__get(asio, event->process);
	thread = process ? calloc(1, sizeof(*thread)) : NULL;
	if (!thread || map__put(&asio->threads, event->process, event->tid, thread)) {
		free(thread);
		asio->err = -ENOMEM;
		return NULL;
	}
	thread->tid = event->tid;
	thread->worker = NO_WORKER;
	thread->next = process->threads;
	process->threads = thread;
	return thread;
}

static void thread__forget(struct asio *asio, uint32_t index, uint32_t tid)
{
	struct asio_process *process = map__get(&asio->processes, index, 0);
	struct asio_thread *thread = map__remove(&asio->threads, index, tid), **at;

	if (!process || !thread)
		return;
	for (at = &process->threads; *at != thread;)
		at = &(*at)->next;
	*at = thread->next;
	free(thread->stack);
	free(thread->places);
	free(thread);
}

static struct handler *handler__new(struct asio *asio, uint32_t index, uint64_t id)
{
	struct asio_process *process = process__get(asio, index);
	struct handler *handler = process ? pool__take(&asio->handler_pool) : NULL;

	if (!handler || map__put(&asio->handlers, index, id, handler)) {
		asio->err = -ENOMEM;
		return NULL;
	}
	handler->id = id;
	handler->next = process->handlers;
	if (handler->next)
		handler->next->prev = handler;
	process->handlers = handler;
	return handler;
}

static void handler__forget(struct asio *asio, uint32_t index, struct handler *handler)
{
	struct asio_process *process = map__get(&asio->processes, index, 0);

	map__remove(&asio->handlers, index, handler->id);
	if (handler->next)
		handler->next->prev = handler->prev;
	if (handler->prev)
		handler->prev->next = handler->next;
	else
		process->handlers = handler->next;
	asio->overtaken -= handler->overtaken;
	pool__give(&asio->handler_pool, handler);
}

static void process__forget(struct asio *asio, uint32_t index)
{
	struct asio_process *process = map__get(&asio->processes, index, 0);

	if (!process)
		return;
	while (process->threads)
		thread__forget(asio, index, process->threads->tid);
	while (process->handlers)
		handler__forget(asio, index, process->handlers);
	process->next_worker = 0;
}

static void stack__push(struct asio *asio, struct asio_thread *thread, uint64_t id)
{
	if (thread->depth == thread->size) {
		size_t size = thread->size ? thread->size * 2 : 8;
		uint64_t *stack = realloc(thread->stack, size * sizeof(*stack));

		if (!stack) {
			asio->err = -ENOMEM;
			return;
		}
		thread->stack = stack;
		thread->size = size;
	}
	thread->stack[thread->depth++] = id;
}

/* what is further in than the handler that is left has been left too */
static void stack__pop(struct asio_thread *thread, uint64_t id)
{
	for (size_t i = thread->depth; i > 0; i--) {
		if (thread->stack[i - 1] == id) {
			thread->depth = i - 1;
			return;
		}
	}
}

/* --- texts --- */

static const char *text__take(struct asio_thread *thread, enum text_role role, const char *given)
{
	const char *text = thread->texts[role];

	thread->texts[role] = NULL;
	if (!text)
		text = given;
	return text ? text : "";
}

static struct title *title__get(struct asio *asio, const char *type, uint64_t object,
				const char *operation)
{
	uint64_t hash = (uintptr_t)type * 31 + (uintptr_t)operation;
	struct title *first = map__get(&asio->titles, object, hash), *title;

	for (title = first; title; title = title->next)
		if (title->type == type && title->operation == operation)
			return title;
	title = pool__take(&asio->title_pool);
	if (!title || map__put(&asio->titles, object, hash, title)) {
		asio->err = -ENOMEM;
		return NULL;
	}
	title->next = first;
	title->type = type;
	title->operation = operation;
	title->text = strings__format(asio->strings, "%s@0x%llx.%s", type,
				      (unsigned long long)object, operation);
	title->task = strings__format(asio->strings, "%s completion", title->text);
	title->reason = strings__format(asio->strings, "%s.%s", type, operation);
	return title;
}

static const char *error__text(struct asio *asio, struct asio_thread *thread, const char *category,
			       uint64_t value)
{
	return strings__format(asio->strings, "%s:%d", text__take(thread, TEXT_CATEGORY, category),
			       (int)(uint32_t)value);
}

/* the places that the thread is in, a line each, innermost first; NULL if it is in none */
static const char *path__text(struct asio *asio, struct asio_thread *thread)
{
	struct place *top = thread->places ? &thread->places[thread->place_count - 1] : NULL;
	char text[PATH_MAX_SIZE];
	size_t used = 0;

	if (!thread->place_count || top->path)
		return thread->place_count ? top->path : NULL;
	for (size_t n = 0; n < thread->place_count && used < sizeof(text); n++) {
		const struct place *place = top - n;
		const char *quote = *place->function ? "'" : "";

		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%s%.300s%s%s(%.300s:%u)", n ? "\ncalled from " : "in ",
					 quote, place->function, quote, *quote ? " " : "",
					 place->file, place->line);
	}
	return top->path = strings__add(asio->strings, text, strlen(text));
}

/* --- events out --- */

static struct event *put(struct asio *asio, const struct event *from, uint16_t type, uint8_t nargs)
{
	struct event *event = &asio->out[asio->out_count++];

	*event = (struct event){
		.time = from->time,
		.type = type,
		.nargs = nargs,
		.derived = true,
		.process = from->process,
		.pid = from->pid,
		.tid = from->tid,
	};
	return event;
}

/* the same with its handler first */
static struct event *put_about(struct asio *asio, const struct event *from, uint16_t type,
			       uint8_t nargs)
{
	struct event *event = put(asio, from, type, nargs);

	event->args[0] = from->args[0];
	return event;
}

/*
 * A handler that the event is about, NULL if nothing is known of it. What it waits for is told for
 * the sake of the system call that ends it.
 */
static struct handler *handler__find(struct asio *asio, const struct event *event)
{
	struct handler *handler = map__get(&asio->handlers, event->process, event->args[0].u);
	struct event *out;

	if (!handler || !handler->inherited)
		return handler;
	handler->inherited = false;
	if (!handler->title)
		return handler;
	put_about(asio, event, EV_asio_found, 1);
	put_about(asio, event, EV_task_known, 3)->args[1].s = handler->title->task;
	if (handler->waits) {
		out = put_about(asio, event, EV_task_state, 4);
		out->args[1].u = EVENT_TASK_SUSPENDED;
		out->args[2].s = handler->title->reason;
		out->args[3].u = handler->object;
	}
	return handler;
}

static void take_fork(struct asio *asio, const struct event *event)
{
	struct asio_process *parent = map__get(&asio->processes, event->args[0].u, 0);

	if (!parent || event->process == event->args[0].u)
		return;
	for (struct handler *of = parent->handlers; of; of = of->next) {
		struct handler *handler;

		if (of->overtaken || map__get(&asio->handlers, event->process, of->id))
			continue;
		handler = handler__new(asio, event->process, of->id);
		if (!handler)
			return;
		handler->object = of->object;
		handler->title = of->title;
		handler->waits = of->waits;
		handler->inherited = true;
	}
}

/* operations whose handler is in a queue from its creation on: post, dispatch, defer, execute... */
static bool operation__waits(const char *operation)
{
	return !strncmp(operation, "async_", strlen("async_"));
}

static void take_created(struct asio *asio, const struct event *event, struct asio_thread *thread)
{
	uint64_t id = event->args[0].u, object = event->args[1].u;
	const char *type = text__take(thread, TEXT_TYPE, event->args[2].s);
	const char *operation = text__take(thread, TEXT_OPERATION, event->args[3].s);
	struct handler *handler = map__get(&asio->handlers, event->process, id);
	struct title *title = title__get(asio, type, object, operation);
	bool overtaken = handler && handler->overtaken;
	struct event *out;

	if (!title)
		return;
	out = put_about(asio, event, EV_handler_created, 4);
	out->args[1].s = title->text;
	out->args[2].s = path__text(asio, thread);
	out->args[3].u = thread->native;
	thread->native = 0;
	out = put_about(asio, event, EV_task_created, 3);
	out->args[1].s = title->task;
	out->args[2].u = thread->depth ? thread->stack[thread->depth - 1] : 0;
	if (overtaken) {
		asio->overtaken--;
		handler->overtaken = false;
		if (!handler->invoked)
			handler__forget(asio, event->process, handler);
		return;
	}
	if (!handler)
		handler = handler__new(asio, event->process, id);
	if (!handler)
		return;
	handler->object = object;
	handler->title = title;
	handler->inherited = false;
	handler->waits = operation__waits(operation);
	if (!handler->waits)
		return;
	out = put_about(asio, event, EV_task_waits, 3);
	out->args[1].s = title->reason;
	out->args[2].u = object;
}

static void take_found(struct asio *asio, const struct event *event)
{
	static const char name[] = "handler created before the capture";
	struct event *out = put_about(asio, event, EV_task_known, 3);

	handler__new(asio, event->process, event->args[0].u);
	out->args[1].s = strings__add(asio->strings, name, strlen(name));
}

/*
 * Handlers are invoked in run() and its like alone. If the thread is in one that it entered before
 * the capture began, its name is not known: the slice is called after the usual one.
 */
static void assume_run(struct asio *asio, const struct event *event, struct asio_thread *thread)
{
	struct event *out;

	if (thread->heard || thread->runs)
		return;
	thread->runs = 1;
	out = put(asio, event, EV_asio_run_begin, 2);
	out->args[1].s = strings__add(asio->strings, "run", 3);
}

static uint32_t worker__number(struct asio *asio, const struct event *event,
			       struct asio_thread *thread)
{
	struct asio_process *process = process__get(asio, event->process);

	if (thread->worker == NO_WORKER && process)
		thread->worker = process->next_worker++;
	return thread->worker;
}

static void take_invoked(struct asio *asio, const struct event *event, struct asio_thread *thread)
{
	uint64_t id = event->args[0].u;
	struct handler *handler = handler__find(asio, event);
	struct event *out;

	assume_run(asio, event, thread);
	if (!handler && asio->overtaken < OVERTAKEN_MAX) {
		handler = handler__new(asio, event->process, id);
		if (handler)
			handler->overtaken = true;
		asio->overtaken += handler != NULL;
	}
	if (handler)
		handler->invoked = true;
	stack__push(asio, thread, id);
	out = put_about(asio, event, EV_task_begin, 2);
	out->args[1].u = worker__number(asio, event, thread);
	out = put_about(asio, event, EV_handler_invoked, 4);
	switch (event->type) {
	case EV_asio_invoked_error:
		out->args[1].s = error__text(asio, thread, event->args[1].s, event->args[2].u);
		out->args[2].s = thread->texts[TEXT_ARGUMENT];
		out->args[3].u = out->args[2].s ? EVENT_HANDLER_TEXT : EVENT_HANDLER_ERROR;
		break;
	case EV_asio_invoked_bytes:
	case EV_asio_invoked_signal:
		out->args[1].s = error__text(asio, thread, event->args[2].s, event->args[3].u);
		out->args[2] = event->args[1];
		out->args[3].u = event->type == EV_asio_invoked_bytes ? EVENT_HANDLER_BYTES
								      : EVENT_HANDLER_SIGNAL;
		break;
	default:
		break;
	}
	thread->texts[TEXT_ARGUMENT] = NULL;
}

static void take_left(struct asio *asio, const struct event *event, struct asio_thread *thread)
{
	uint64_t id = event->args[0].u;
	struct handler *handler = handler__find(asio, event);
	bool abandoned = event->type == EV_asio_abandoned;

	put_about(asio, event, EV_handler_left, 2)->args[1].u =
		event->type == EV_asio_left ? EVENT_HANDLER_RETURNED
		: abandoned		    ? EVENT_HANDLER_ABANDONED
					    : EVENT_HANDLER_THROWN;
	put_about(asio, event, abandoned ? EV_task_destroyed : EV_task_completed, 1);
	if (!abandoned) {
		/* no other of its identity will come, so nobody need keep it */
		put_about(asio, event, EV_task_state, 4)->args[1].u = EVENT_TASK_GONE;
		stack__pop(thread, id);
	}
	if (!handler)
		return;
	handler->invoked = false;
	if (!handler->overtaken)
		handler__forget(asio, event->process, handler);
}

/* standalone Asio has a category of its own for the system's errors; NULL: the system's */
static bool category__is_system(const char *category)
{
	return !category || !strcmp(category, "asio.system");
}

/* EAGAIN says that it still waits; whatever else came of it, the handler is to be invoked */
static void take_syscall(struct asio *asio, const struct event *event, struct asio_thread *thread)
{
	struct handler *handler = handler__find(asio, event);
	bool in_system = category__is_system(thread->texts[TEXT_CATEGORY]);
	const char *operation = text__take(thread, TEXT_OPERATION, event->args[2].s);
	struct event *out;

	out = put_about(asio, event, EV_handler_syscall, 4);
	out->args[1].s = operation;
	out->args[2].s = error__text(asio, thread, "system", event->args[3].u);
	out->args[3] = event->args[1];
	if (!handler || !handler->waits || (in_system && event->args[3].u == WOULD_BLOCK))
		return;
	handler->waits = false;
	out = put_about(asio, event, EV_task_resumed, 3);
	out->args[1].s = operation;
	out->args[2].u = handler->object;
}

static void take_operation(struct asio *asio, const struct event *event, struct asio_thread *thread)
{
	const char *type = text__take(thread, TEXT_TYPE, event->args[2].s);
	const char *operation = text__take(thread, TEXT_OPERATION, event->args[3].s);
	struct title *title = title__get(asio, type, event->args[0].u, operation);
	struct event *out;

	if (!title)
		return;
	out = put_about(asio, event, EV_handler_operation, 3);
	out->args[1].s = title->text;
	out->args[2] = event->args[1];
}

static void take_location(struct asio *asio, const struct event *event, struct asio_thread *thread)
{
	struct event *out = put(asio, event, EV_zone_begin, 3);
	struct place place = {
		event->args[0].s ? event->args[0].s : "",
		event->args[1].s ? event->args[1].s : "",
		(uint32_t)event->args[2].u,
		NULL,
	};

	out->args[0] = out->args[1] = event->args[0];
	out->args[2].s = strings__format(asio->strings, "%s:%u", place.file, place.line);
	if (thread->place_count == thread->place_size) {
		size_t size = thread->place_size ? thread->place_size * 2 : 8;
		struct place *places = realloc(thread->places, size * sizeof(*places));

		if (!places) {
			asio->err = -ENOMEM;
			return;
		}
		thread->places = places;
		thread->place_size = size;
	}
	thread->places[thread->place_count++] = place;
}

/* run_for() and run_until() are made of wait_one(), which is run_one() with a limit */
static void take_run(struct asio *asio, struct event *event, struct asio_thread *thread)
{
	bool begins = event->type == EV_asio_run_begin;

	if (begins && event->args[1].s && !strcmp(event->args[1].s, "wait_one"))
		event->args[1].s = strings__add(asio->strings, "run_one", 7);
	thread->heard = true;
	if (begins)
		thread->runs++;
	else if (thread->runs)
		thread->runs--;
}

static void take_text(const struct event *event, struct asio_thread *thread)
{
	if (event->args[0].u < TEXTS)
		thread->texts[event->args[0].u] = event->args[1].s;
}

static void take_own(struct asio *asio, const struct event *event, struct asio_thread *thread)
{
	switch (event->type) {
	case EV_asio_text:
		take_text(event, thread);
		break;
	case EV_asio_created:
		take_created(asio, event, thread);
		break;
	case EV_asio_found:
		take_found(asio, event);
		break;
	case EV_asio_invoked ... EV_asio_invoked_signal:
		take_invoked(asio, event, thread);
		break;
	case EV_asio_left:
	case EV_asio_thrown:
	case EV_asio_abandoned:
		take_left(asio, event, thread);
		break;
	case EV_asio_syscall:
		take_syscall(asio, event, thread);
		break;
	case EV_asio_operation:
		take_operation(asio, event, thread);
		break;
	case EV_asio_run_begin:
	case EV_asio_run_end:
		take_run(asio, &asio->out[0], thread);
		break;
	case EV_asio_native:
		thread->native = event->args[1].u;
		break;
	case EV_asio_location_begin:
		take_location(asio, event, thread);
		break;
	case EV_asio_location_end:
		thread->place_count -= thread->place_count > 0;
		put(asio, event, EV_zone_end, 0);
		break;
	default:
		break;
	}
}

/* somebody else numbers workers: that thread's is known, and the number taken */
static void take_worker(struct asio *asio, const struct event *event, uint32_t worker)
{
	struct asio_process *process = process__get(asio, event->process);
	struct asio_thread *thread = process ? thread__get(asio, event) : NULL;

	if (!thread || worker == NO_WORKER)
		return;
	thread->worker = worker;
	if (worker >= process->next_worker && worker < NO_WORKER - 1)
		process->next_worker = worker + 1;
}

static void take_other(struct asio *asio, const struct event *event)
{
	struct asio_thread *thread;

	switch (event->type) {
	case EV_worker_start:
		take_worker(asio, event, (uint32_t)event->args[0].u);
		break;
	case EV_task_begin:
		take_worker(asio, event, (uint32_t)event->args[1].u);
		break;
	case EV_thread_exit:
		thread__forget(asio, event->process, event->tid);
		break;
	case EV_fork:
		take_fork(asio, event);
		break;
	case EV_exec:
	case EV_process_exit:
		process__forget(asio, event->process);
		break;
	case EV_lost:
		/* where the thread is now is not known */
		thread = map__get(&asio->threads, event->process, event->tid);
		if (thread) {
			thread->depth = thread->place_count = 0;
			thread->native = 0;
			memset(thread->texts, 0, sizeof(thread->texts));
		}
		break;
	default:
		break;
	}
}

int asio__take(struct asio *asio, const struct event *event)
{
	struct asio_thread *thread;

	asio->out[0] = *event;
	asio->out_count = 1;
	asio->out_next = 0;
	if (!is_own(event->type)) {
		take_other(asio, event);
		return asio->err;
	}
	asio->seen = true;
	thread = thread__get(asio, event);
	if (thread)
		take_own(asio, event, thread);
	return asio->err;
}

bool asio__give(struct asio *asio, struct event *event)
{
	if (asio->out_next == asio->out_count)
		return false;
	*event = asio->out[asio->out_next++];
	return true;
}

void asio__free(struct asio *asio)
{
	if (!asio)
		return;
	while (asio->all) {
		struct asio_process *process = asio->all;

		process__forget(asio, process->index);
		asio->all = process->next;
		free(process);
	}
	map__free(&asio->handlers);
	map__free(&asio->threads);
	map__free(&asio->processes);
	map__free(&asio->titles);
	pool__free(&asio->handler_pool);
	pool__free(&asio->title_pool);
	free(asio);
}
