// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events as text, one a line, in the order of time, for grep, awk and people:
 *
 *	1234.000567890 4321/4325 task_suspended task=0x7f00c0de reason="future::wait"
 *object=0x7f00beef
 *
 *	time	CLOCK_BOOTTIME, seconds with nine decimals
 *	pid/tid	of the initial PID namespace; 0/0: of nobody
 *	event	name as in events.def, or event_N if nobody says how event N is called
 *	args	NAME=VALUE each, in the order of events.def, one space between
 *
 * Values by the argument's type: id hexadecimal, 0x0 none; u32 and u64 decimal, "none" if all bits
 *are set (TRACER_NO_WORKER, TRACER_UNKNOWN); num a decimal integer, or a double with a point or an
 * exponent (17 digits; nan, inf); str and lit in double quotes with \" \\ \n \t \r and \xHH for
 *what else does not print in ASCII and is no UTF-8, or null without quotes. So a line never holds a
 * control character, and a string's end is the next quote without a backslash.
 *
 * An event with a call stack (record --stacks) has as its last stack="inner;outer;...", functions
 * from the innermost out, BINARY+0xADDRESS what has no name, ... where the stack went on.
 *
 * What the capture itself saw has lines of the same form: process (name, cmdline), fork (parent:
 *its pid), exec, thread_exit, process_exit (status: as wait(2) has it, -1 unknown), lost (records,
 *from, to in seconds as above, cause: ring_full, target_ring_overrun or read_fault), end.
 *
 * So have the kernel's switches and wakings of the targets' threads: off_cpu (cpu, state: 0 if it
 * could go on, next: tid that gets the CPU, 0 idle, comm: its name), on_cpu (cpu, prio, comm: its
 *own, prev), waking (waker, comm, cpu, interrupt: 1 if the waker only was there), foreign_on_cpu
 *and foreign_off_cpu (the same of a thread that took over from a target's), sched_lost (events,
 *cpu).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/say.h"
#include "export.h"
#include "outfile.h"

#define BUFFER_SIZE (256U << 10)
/* Bytes of a line: a string argument is 1,023 bytes, 4 each if escaped; a command line may be
 * longer. */
#define STRING_MAX 4096U
#define LINE_MAX_SIZE ((EVENT_ARGS + 1) * (4 * STRING_MAX + 300U) + 300U)
#define PROGRESS_EVENTS (1U << 18)

struct text {
	struct outfile *output;
	char *buffer, *at;
	bool read_failed;
};

static void put_bytes(struct text *text, const char *bytes, size_t size)
{
	memcpy(text->at, bytes, size);
	text->at += size;
}

static void put(struct text *text, const char *string)
{
	/* names of events and arguments may come from a capture: bounded as everything else is */
	put_bytes(text, string, strnlen(string, 128));
}

static void put_decimal(struct text *text, uint64_t value)
{
	char digits[20], *first = digits + sizeof(digits);

	do {
		*--first = '0' + value % 10;
		value /= 10;
	} while (value);
	put_bytes(text, first, digits + sizeof(digits) - first);
}

static void put_hex(struct text *text, uint64_t value)
{
	char digits[16], *first = digits + sizeof(digits);

	do {
		*--first = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	put(text, "0x");
	put_bytes(text, first, digits + sizeof(digits) - first);
}

static void put_time(struct text *text, uint64_t time)
{
	uint32_t rest = time % 1000000000U;
	int i;

	put_decimal(text, time / 1000000000U);
	*text->at++ = '.';
	for (i = 8; i >= 0; i--) {
		text->at[i] = '0' + rest % 10;
		rest /= 10;
	}
	text->at += 9;
}

static void put_double(struct text *text, double value)
{
	char number[40];
	int size = snprintf(number, sizeof(number), "%.17g", value);

	put_bytes(text, number, size);
	if (!strpbrk(number, ".en"))
		put(text, ".0"); /* else it would read as an integer */
}

/* bytes of the UTF-8 character there; 0: it is none, or a control character */
static int utf8_size(const unsigned char *s)
{
	static const uint32_t first[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t code;
	int size, i;

	if (s[0] < 0x80)
		return s[0] >= 0x20 && s[0] != 0x7f;
	size = s[0] >= 0xf5 ? 0 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
	if (!size)
		return 0;
	code = s[0] & (0x7f >> size);
	for (i = 1; i < size; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < first[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ||
	    code < 0xa0)
		return 0;
	return size;
}

static void put_escape(struct text *text, unsigned char byte)
{
	const char *found = byte ? strchr("\"\"\\\\\nn\tt\rr", byte) : NULL;

	*text->at++ = '\\';
	if (found && (byte < 0x20 || byte == '"' || byte == '\\')) {
		*text->at++ = byte < 0x20 ? found[1] : (char)byte;
		return;
	}
	*text->at++ = 'x';
	*text->at++ = "0123456789abcdef"[byte >> 4];
	*text->at++ = "0123456789abcdef"[byte & 15];
}

static void put_string(struct text *text, const char *string)
{
	const unsigned char *s = (const unsigned char *)string;
	const unsigned char *end;
	int size;

	if (!string) {
		put(text, "null");
		return;
	}
	*text->at++ = '"';
	end = s + strnlen(string, STRING_MAX - 4);
	while (s < end) {
		size = *s == '"' || *s == '\\' ? 0 : utf8_size(s);
		if (!size) {
			put_escape(text, *s++);
			continue;
		}
		put_bytes(text, (const char *)s, size);
		s += size;
	}
	*text->at++ = '"';
}

static void put_arg(struct text *text, char type, const union event_arg *arg, bool real)
{
	switch (type) {
	case 'i':
		put_hex(text, arg->u);
		break;
	case 'n':
		if (real) {
			put_double(text, arg->d);
			break;
		}
		if (arg->i < 0)
			*text->at++ = '-';
		put_decimal(text, arg->i < 0 ? 0 - arg->u : arg->u);
		break;
	case 's':
	case 'l':
		put_string(text, arg->s);
		break;
	default:
		if (arg->u == (type == 'u' ? UINT32_MAX : UINT64_MAX))
			put(text, "none");
		else
			put_decimal(text, arg->u);
	}
}

static void put_args(struct text *text, const struct event *event,
		     const struct event_schema *schema)
{
	unsigned int i;

	for (i = 0; i < event->nargs; i++) {
		*text->at++ = ' ';
		put(text, schema->arg_names[i]);
		*text->at++ = '=';
		put_arg(text, schema->arg_types[i], &event->args[i], event->real);
	}
}

static void put_lost(struct text *text, const struct event *event)
{
	static const char *const causes[LOSS_KINDS] = {"ring_full", "target_ring_overrun",
						       "read_fault"};

	put(text, " records=");
	put_decimal(text, event->args[0].u);
	put(text, " from=");
	put_time(text, event->args[1].u);
	put(text, " to=");
	put_time(text, event->args[2].u);
	put(text, " cause=");
	put(text, causes[event->args[3].u]);
}

/* stack="inner;outer;...": functions, of what has no name where it lies */
static void put_stack(struct text *text, const struct trace_stack *stack)
{
	char names[STRING_MAX], place[300];
	size_t at = 0;

	for (uint32_t i = 0; i < stack->count && at < sizeof(names) - 1; i++) {
		const struct trace_frame *frame = &stack->frames[i];
		const char *base = frame->binary ? strrchr(frame->binary, '/') : NULL;

		snprintf(place, sizeof(place), "%s+0x%" PRIx64,
			 base		 ? base + 1
			 : frame->binary ? frame->binary
					 : "",
			 frame->address);
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i ? ";" : "",
				       frame->function ? frame->function : place);
	}
	if (stack->truncated && at < sizeof(names) - 1)
		snprintf(names + at, sizeof(names) - at, ";...");
	put(text, " stack=");
	put_string(text, names);
}

static void put_event(struct text *text, struct trace *trace, const struct event *event)
{
	const struct event_schema *schema = trace__schema(trace, event->type);

	put_time(text, event->time);
	*text->at++ = ' ';
	put_decimal(text, event->pid);
	*text->at++ = '/';
	put_decimal(text, event->tid);
	*text->at++ = ' ';
	if (schema) {
		put(text, schema->name);
	} else {
		put(text, "event_");
		put_decimal(text, event->type);
	}
	if (event->type == EV_lost) {
		put_lost(text, event);
	} else if (event->type == EV_fork) {
		put(text, " parent=");
		put_decimal(text, trace__process(trace, event->args[0].u)->pid);
	} else if (schema) {
		put_args(text, event, schema);
	}
	if (event->stack && trace__stack(trace, event->stack))
		put_stack(text, trace__stack(trace, event->stack));
	*text->at++ = '\n';
}

static int text__flush(struct text *text)
{
	int err = outfile__write(text->output, text->buffer, text->at - text->buffer);

	text->at = text->buffer;
	return err;
}

/* 0 at the end or when stopped */
static int text__run(struct text *text, struct trace *trace, const struct export_options *options)
{
	struct event event;
	uint64_t events = 0;
	int ret;

	while ((ret = trace__next(trace, &event)) > 0) {
		if (!event.derived)
			put_event(text, trace, &event);
		if (text->at - text->buffer > BUFFER_SIZE - LINE_MAX_SIZE) {
			ret = text__flush(text);
			if (ret)
				return ret;
		}
		if (++events % PROGRESS_EVENTS)
			continue;
		if (options->progress)
			say__progress("exporting: %.0f %%", trace__progress(trace) * 100);
		if (options->stop && *options->stop)
			break;
	}
	text->read_failed = ret < 0;
	return ret < 0 ? ret : text__flush(text);
}

int export__text(struct trace *trace, const struct export_options *options, char **err)
{
	struct text text = {0};
	int ret, closed = 0;

	text.buffer = text.at = malloc(BUFFER_SIZE);
	ret = text.buffer ? outfile__open(&text.output, options->path, options->compression)
			  : -ENOMEM;
	if (ret == 0) {
		ret = text__run(&text, trace, options);
		closed = outfile__close(text.output);
	}
	if (ret == 0)
		ret = closed;
	free(text.buffer);
	if (ret < 0 && err)
		*err = text.read_failed ? sentence__new("%s", trace__error(trace))
					: sentence__new("cannot write %s: %s", options->path,
							strerror(-ret));
	return ret;
}
