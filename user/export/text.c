// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events as text, one a line, in the order of time, for grep, awk and people:
 *
 *	1234.000567890 4321/4325 task_suspended task=0x7f00c0de reason="future::wait" object=0x7f00beef
 *
 *	time	CLOCK_BOOTTIME, seconds with nine decimals
 *	pid/tid	of the initial PID namespace; 0/0: of nobody
 *	event	name as in events.def, or event_N if nobody says how event N is called
 *	args	NAME=VALUE each, in the order of events.def, one space between
 *
 * Values by the argument's type: id hexadecimal, 0x0 none; u32 and u64 decimal, "none" if all bits
 * are set (TRACER_NO_WORKER, TRACER_UNKNOWN); num a decimal integer, or a double with a point or an
 * exponent (17 digits; nan, inf); str and lit in double quotes with \" \\ \n \t \r and \xHH for
 * what else does not print in ASCII and is no UTF-8, or null without quotes. So a line never holds a
 * control character, and a string's end is the next quote without a backslash.
 *
 * An event with a call stack (record --stacks) has as its last stack="inner;outer;...", functions
 * from the innermost out, BINARY+0xADDRESS what has no name, ... where the stack went on.
 *
 * What the capture itself saw has lines of the same form: process (name, cmdline), fork (parent:
 * its pid), exec, thread_exit, process_exit (status: as wait(2) has it, -1 unknown), lost (records,
 * from, to in seconds as above, cause: ring_full, target_ring_overrun or read_fault), end.
 *
 * So have the kernel's switches and wakings of the targets' threads: off_cpu (cpu, state: 0 if it
 * could go on, next: tid that gets the CPU, 0 idle, comm: its name), on_cpu (cpu, prio, comm: its
 * own, prev), waking (waker, comm, cpu, interrupt: 1 if the waker only was there), foreign_on_cpu
 * and foreign_off_cpu (the same of a thread that took over from a target's), sched_lost (events,
 * cpu).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/say.h"
#include "text.h"

/* Bytes of a line: a string argument is 1,023 bytes, 4 each if escaped; a command line may be
 * longer. */
#define STRING_MAX 4096U
#define LINE_MAX_SIZE ((EVENT_ARGS + 1) * (4 * STRING_MAX + 300U) + 300U)

struct text {
	struct emit out;
	struct trace *trace;
	struct mismatches *mismatches;
};

/* names of events and arguments may come from a capture: bounded as everything else is */
static void put(struct emit *out, const char *string)
{
	emit__put(out, string, strnlen(string, 128));
}

void text__put_time(struct emit *out, uint64_t time)
{
	uint32_t rest = time % 1000000000U;

	emit__u64(out, time / 1000000000U);
	out->at[0] = '.';
	for (int i = 9; i > 1; i -= 2) {
		memcpy(out->at + i - 1, emit_pairs + rest % 100 * 2, 2);
		rest /= 100;
	}
	out->at[1] = (char)('0' + rest);
	out->at += 10;
}

static void put_double(struct emit *out, double value)
{
	char number[40];
	int size = snprintf(number, sizeof(number), "%.17g", value);

	emit__put(out, number, (size_t)size);
	if (!strpbrk(number, ".en"))
		emit__lit(out, ".0"); /* else it would read as an integer */
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

static void put_escape(struct emit *out, unsigned char byte)
{
	const char *found = byte ? strchr("\"\"\\\\\nn\tt\rr", byte) : NULL;

	emit__char(out, '\\');
	if (found && (byte < 0x20 || byte == '"' || byte == '\\')) {
		emit__char(out, byte < 0x20 ? found[1] : (char)byte);
		return;
	}
	emit__char(out, 'x');
	emit__char(out, "0123456789abcdef"[byte >> 4]);
	emit__char(out, "0123456789abcdef"[byte & 15]);
}

void text__put_string(struct emit *out, const char *string)
{
	const unsigned char *s = (const unsigned char *)string;
	const unsigned char *end;
	int size;

	if (!string) {
		put(out, "null");
		return;
	}
	emit__char(out, '"');
	end = s + strnlen(string, STRING_MAX - 4);
	while (s < end) {
		size = *s == '"' || *s == '\\' ? 0 : utf8_size(s);
		if (!size) {
			put_escape(out, *s++);
			continue;
		}
		emit__put(out, (const char *)s, (size_t)size);
		s += size;
	}
	emit__char(out, '"');
}

static void put_arg(struct emit *out, char type, const union event_arg *arg, bool real)
{
	switch (type) {
	case 'i':
		emit__hex(out, arg->u);
		break;
	case 'n':
		if (real) {
			put_double(out, arg->d);
			break;
		}
		if (arg->i < 0)
			emit__char(out, '-');
		emit__u64(out, arg->i < 0 ? 0 - arg->u : arg->u);
		break;
	case 's':
	case 'l':
		text__put_string(out, arg->s);
		break;
	default:
		if (arg->u == (type == 'u' ? UINT32_MAX : UINT64_MAX))
			put(out, "none");
		else
			emit__u64(out, arg->u);
	}
}

static void put_args(struct emit *out, const struct event *event, const struct event_schema *schema)
{
	unsigned int i;

	for (i = 0; i < event->nargs && i < schema->nargs; i++) {
		emit__char(out, ' ');
		put(out, schema->arg_names[i]);
		emit__char(out, '=');
		put_arg(out, schema->arg_types[i], &event->args[i], event->real);
	}
}

static void put_lost(struct emit *out, const struct event *event)
{
	static const char *const causes[LOSS_KINDS] = {"ring_full", "target_ring_overrun",
						       "read_fault"};

	put(out, " records=");
	emit__u64(out, event->args[0].u);
	put(out, " from=");
	text__put_time(out, event->args[1].u);
	put(out, " to=");
	text__put_time(out, event->args[2].u);
	put(out, " cause=");
	put(out, causes[event->args[3].u]);
}

/* stack="inner;outer;...": functions, of what has no name where it lies */
static void put_stack(struct emit *out, const struct trace_stack *stack)
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
	put(out, " stack=");
	text__put_string(out, names);
}

static void put_event(struct emit *out, struct trace *trace, const struct event *event)
{
	const struct event_schema *schema = trace__schema(trace, event->type);

	text__put_time(out, event->time);
	emit__char(out, ' ');
	emit__u64(out, event->pid);
	emit__char(out, '/');
	emit__u64(out, event->tid);
	emit__char(out, ' ');
	if (schema) {
		put(out, schema->name);
	} else {
		put(out, "event_");
		emit__u64(out, event->type);
	}
	if (event->type == EV_lost) {
		put_lost(out, event);
	} else if (event->type == EV_fork) {
		put(out, " parent=");
		emit__u64(out, trace__process(trace, event->args[0].u)->pid);
	} else if (schema) {
		put_args(out, event, schema);
	}
	if (event->stack && trace__stack(trace, event->stack))
		put_stack(out, trace__stack(trace, event->stack));
	emit__char(out, '\n');
}

static void text__event(void *ctx, const struct event *event)
{
	struct text *text = ctx;

	/* what is made of Asio's records is shown as far as it is an event like any other */
	if (event->derived && event->type >= EV_process)
		return;
	emit__room(&text->out, LINE_MAX_SIZE);
	put_event(&text->out, text->trace, event);
}

/* the model reads along only to tell what does not pair */
static int text__run(struct text *text, struct feed *feed)
{
	int err;

	text->mismatches = mismatches__new(feed->model);
	if (!text->mismatches)
		return -ENOMEM;
	err = feed__run(feed);
	if (err)
		return err;
	mismatches__write(text->mismatches, &text->out, feed->stopped);
	return emit__flush(&text->out);
}

int export__text(struct trace *trace, const struct export_options *options, char **err)
{
	struct text text = {.trace = trace};
	struct feed feed = {
		.trace = trace,
		.options = options,
		.model = model__new(),
		.err = &text.out.err,
		.event = text__event,
		.ctx = &text,
	};
	int result = -ENOMEM, closed = 0;

	if (feed.model)
		result = emit__open(&text.out, options->path, options->compression);
	if (result == 0) {
		result = text__run(&text, &feed);
		closed = emit__close(&text.out);
	}
	if (result == 0)
		result = closed;
	if (result == 0 && mismatches__count(text.mismatches))
		say__info("%" PRIu64 " begins and ends without their other end: the lines at the "
			  "end that begin with #",
			  mismatches__count(text.mismatches));
	if (result < 0 && err)
		*err = feed__error(&feed, options->path, result);
	mismatches__free(text.mismatches);
	model__free(feed.model);
	return result;
}
