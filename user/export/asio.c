// SPDX-License-Identifier: BSD-2-Clause
/*
 * Asio's handler tracking as text, line by line what Asio itself writes if it is compiled with
 * ASIO_ENABLE_HANDLER_TRACKING, so that its tools (handlerviz.pl and the like) read it:
 *
 *	@asio|SECONDS.MICROSECONDS|ACTION|DESCRIPTION
 *
 *	n*m	in handler n (0: in none) the operation starts whose handler is m:
 *		TYPE@OBJECT.OPERATION
 *	n^m	a place in the source that led there, innermost first, before n*m
 *	>n	handler n is entered, with these arguments
 *	<n	and left; !n by an exception; ~n destroyed without having been entered
 *	.n	a system call of the operation of handler n
 *	n	close, cancel in handler n
 *
 * Handlers are numbered in the order of creation, over all processes of the capture; a handler that
 * was created before the capture gets its number where it is entered, and has no n*m.
 */
#include <errno.h>
#include <string.h>
#include "base/map.h"
#include "base/say.h"
#include "emit.h"
#include "feed.h"

/* what Asio's format holds of a text */
#define TYPE_MAX 20U
#define OPERATION_MAX 50U
#define PLACE_MAX 80U
#define ARGUMENT_MAX 50U
#define LINE_MAX_SIZE 512U

struct asio_text {
	struct emit emit;
	struct map numbers; /* process, handler: its number */
	uint64_t count;	    /* numbers given */
	uint64_t lines;
	int64_t offset; /* to CLOCK_REALTIME */
	int err;
};

static void put_part(struct emit *emit, const char *text, size_t size, size_t max)
{
	char part[PLACE_MAX + 1];

	if (size > max)
		size = max;
	memcpy(part, text, size);
	part[size] = '\0';
	emit__line(emit, part, "|");
}

/* "socket@0x7f00c0de.async_send", each part cut as Asio does */
static void put_operation(struct emit *emit, const char *text)
{
	const char *at = strchr(text, '@'), *dot = at ? strchr(at, '.') : NULL;

	if (!dot) {
		put_part(emit, text, strlen(text), OPERATION_MAX);
		return;
	}
	put_part(emit, text, (size_t)(at - text), TYPE_MAX);
	put_part(emit, at, (size_t)(dot - at), TYPE_MAX);
	emit__char(emit, '.');
	put_part(emit, dot + 1, strlen(dot + 1), OPERATION_MAX);
}

/* "system:2" */
static void put_error(struct emit *emit, const char *error)
{
	const char *colon = error ? strrchr(error, ':') : NULL;

	if (!colon)
		return;
	emit__lit(emit, "ec=");
	put_part(emit, error, (size_t)(colon - error), TYPE_MAX);
	put_part(emit, colon, strlen(colon), TYPE_MAX);
}

static void line__begin(struct asio_text *text, uint64_t time)
{
	uint64_t us = (time + (uint64_t)text->offset) / 1000, rest = us % 1000000;
	struct emit *emit = &text->emit;

	emit__room(emit, LINE_MAX_SIZE);
	emit__lit(emit, "@asio|");
	emit__u64(emit, us / 1000000);
	emit__char(emit, '.');
	for (uint64_t digit = 100000; digit; digit /= 10)
		emit__char(emit, (char)('0' + rest / digit % 10));
	emit__char(emit, '|');
	text->lines++;
}

static void line__end(struct asio_text *text)
{
	emit__char(&text->emit, '\n');
}

static uint64_t number_of(const struct asio_text *text, uint32_t process, uint64_t handler)
{
	return (uintptr_t)map__get(&text->numbers, process, handler);
}

static uint64_t number__new(struct asio_text *text, uint32_t process, uint64_t handler)
{
	if (map__put(&text->numbers, process, handler, (void *)(uintptr_t)++text->count))
		text->err = -ENOMEM;
	return text->count;
}

/* the handler that the thread is in, 0: none */
static uint64_t number_in(const struct asio_text *text, uint32_t process,
			  const struct model_task *task)
{
	return task ? number_of(text, process, task->identity) : 0;
}

/*
 * A line of the path, "in 'function' (file:line)", up to its end or newline. Asio cuts the function's
 * name and the file's by themselves, so that quotes, line and parentheses stay.
 */
static const char *put_place(struct emit *emit, const char *place)
{
	const char *end = place + strcspn(place, "\n");
	const char *file = memrchr(place, '(', (size_t)(end - place)), *quote, *line;

	file = file ? file + 1 : end;
	line = memrchr(file, ':', (size_t)(end - file));
	line = line ? line : end;
	quote = memchr(place, '\'', (size_t)(file - place));
	if (quote && file - quote > 4) { /* the quotes, a space and a parenthesis */
		put_part(emit, place, (size_t)(quote + 1 - place), PLACE_MAX);
		put_part(emit, quote + 1, (size_t)(file - quote - 4), PLACE_MAX);
		put_part(emit, file - 3, 3, PLACE_MAX);
	} else {
		put_part(emit, place, (size_t)(file - place), PLACE_MAX);
	}
	put_part(emit, file, (size_t)(line - file), PLACE_MAX);
	put_part(emit, line, (size_t)(end - line), PLACE_MAX);
	return *end ? end + 1 : NULL;
}

static void on_created(struct asio_text *text, const struct event *event, uint64_t in,
		       uint64_t time)
{
	uint64_t number = number__new(text, event->process, event->args[0].u);
	const char *place = event->args[2].s;
	struct emit *emit = &text->emit;

	while (place) {
		line__begin(text, time);
		emit__u64(emit, in);
		emit__char(emit, '^');
		emit__u64(emit, number);
		emit__char(emit, '|');
		place = put_place(emit, place);
		line__end(text);
	}
	line__begin(text, time);
	emit__u64(emit, in);
	emit__char(emit, '*');
	emit__u64(emit, number);
	emit__char(emit, '|');
	put_operation(emit, event->args[1].s);
	line__end(text);
}

static void on_invoked(struct asio_text *text, const struct event *event, uint64_t time)
{
	uint64_t number = number_of(text, event->process, event->args[0].u);
	struct emit *emit = &text->emit;

	if (!number)
		number = number__new(text, event->process, event->args[0].u);
	line__begin(text, time);
	emit__char(emit, '>');
	emit__u64(emit, number);
	emit__char(emit, '|');
	put_error(emit, event->args[1].s);
	if (event->args[3].u == EVENT_HANDLER_BYTES) {
		emit__lit(emit, ",bytes_transferred=");
		emit__u64(emit, event->args[2].u);
	} else if (event->args[3].u == EVENT_HANDLER_SIGNAL) {
		emit__lit(emit, ",signal_number=");
		emit__i64(emit, (int32_t)(uint32_t)event->args[2].u);
	} else if (event->args[3].u == EVENT_HANDLER_TEXT) {
		emit__char(emit, ',');
		put_part(emit, event->args[2].s, strlen(event->args[2].s), ARGUMENT_MAX);
	}
	line__end(text);
}

static void on_left(struct asio_text *text, const struct event *event, uint64_t time)
{
	uint64_t number = (uintptr_t)map__remove(&text->numbers, event->process, event->args[0].u);

	/* entered before the capture: nobody knows it; destroyed: a forked child's, of its parent */
	if (!number && event->args[1].u != EVENT_HANDLER_ABANDONED)
		return;
	if (!number)
		number = ++text->count;
	line__begin(text, time);
	emit__char(&text->emit, event->args[1].u == EVENT_HANDLER_RETURNED ? '<'
				: event->args[1].u == EVENT_HANDLER_THROWN ? '!'
									   : '~');
	emit__u64(&text->emit, number);
	emit__char(&text->emit, '|');
	line__end(text);
}

static void on_syscall(struct asio_text *text, const struct event *event, uint64_t time)
{
	uint64_t number = number_of(text, event->process, event->args[0].u);
	struct emit *emit = &text->emit;

	if (!number) /* a forked child's, of its parent */
		number = number__new(text, event->process, event->args[0].u);
	line__begin(text, time);
	emit__char(emit, '.');
	emit__u64(emit, number);
	emit__char(emit, '|');
	put_part(emit, event->args[1].s, strlen(event->args[1].s), OPERATION_MAX);
	emit__char(emit, ',');
	put_error(emit, event->args[2].s);
	if (event->args[3].u != UINT64_MAX) {
		emit__lit(emit, ",bytes_transferred=");
		emit__u64(emit, event->args[3].u);
	}
	line__end(text);
}

static void op__handler(void *ctx, const struct event *event, struct model_task *handler,
			struct model_task *task, struct model_thread *thread, uint64_t time)
{
	struct asio_text *text = ctx;

	(void)handler;
	(void)thread;
	switch (event->type) {
	case EV_handler_created:
		on_created(text, event, number_in(text, event->process, task), time);
		break;
	case EV_handler_invoked:
		on_invoked(text, event, time);
		break;
	case EV_handler_left:
		on_left(text, event, time);
		break;
	default:
		on_syscall(text, event, time);
	}
}

static void op__annotation(void *ctx, const struct event *event, struct model_task *task,
			   struct model_thread *thread, struct model_zone *zone, uint64_t time)
{
	struct asio_text *text = ctx;

	(void)thread;
	(void)zone;
	if (event->type != EV_handler_operation)
		return;
	line__begin(text, time);
	emit__u64(&text->emit, number_in(text, event->process, task));
	emit__char(&text->emit, '|');
	put_operation(&text->emit, event->args[1].s);
	line__end(text);
}

static const struct model_ops asio_ops = {
	.handler = op__handler,
	.annotation = op__annotation,
};

int export__asio(struct trace *trace, const struct export_options *options, char **err)
{
	struct asio_text text = {.offset = trace__realtime_offset(trace)};
	struct feed feed = {.trace = trace, .options = options, .err = &text.err};
	int ret, closed;

	ret = emit__open(&text.emit, options->path, options->compression);
	if (ret)
		goto out;
	ret = -ENOMEM;
	feed.model = model__new();
	if (feed.model && model__add_sink(feed.model, &asio_ops, &text) >= 0)
		ret = feed__run(&feed);
	closed = emit__close(&text.emit);
	if (!ret)
		ret = closed;
	if (!ret && !text.lines && !feed.stopped)
		ret = -ENODATA;
out:
	model__free(feed.model);
	map__free(&text.numbers);
	if (ret == -ENODATA && err)
		*err = sentence__new("there are no handlers of Asio in the capture; compile the "
				     "program with tracer_asio.hpp, or export -f dot, which draws "
				     "tasks of any kind");
	else if (ret && err)
		*err = feed__error(&feed, options->path, ret);
	return ret;
}
