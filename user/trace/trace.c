// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reading a capture: blocks go in at one end, events come out at the other.
 *
 * The file is read twice: first its clock snapshots alone (the rest is skipped, not unpacked), so
 * that a stamp has one time from the beginning to the end; then everything, as far as order
 * demands.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "asio.h"
#include "base/say.h"
#include "filter.h"
#include "merge.h"
#include "reader.h"
#include "sample.h"
#include "segments.h"
#include "stack.h"
#include "trace.h"
#include "trace_state.h"

static void trace__meta(struct trace *trace, struct json_object *json, double *hz)
{
	struct stream_context *context = &trace->merge.context;
	uint16_t sizes[SCHEMA_TYPES];
	struct json_object *member;
	const char *text;

	text = json__string(json, "boot_id", "");
	trace->boot_id = strings__add(trace->strings, text, strlen(text));
	text = json__string(json, "machine", "");
	trace->machine = strings__add(trace->strings, text, strlen(text));
	text = json__string(json, "host", "");
	context->processes.host = strings__add(trace->strings, text, strlen(text));
	text = json__string(json, "events", "");
	schema__learn(&context->schema, trace->strings, text, strlen(text), sizes);
	context->monotonic = !strcmp(json__string(json, "clock", ""), "monotonic");
	if (json_object_object_get_ex(json, "categories", &member))
		schema__ask(&context->schema, (uint32_t)json_object_get_int64(member));
	if (json_object_object_get_ex(json, "sample", &member))
		sample__set(&trace->sample, (uint64_t)json_object_get_int64(member));
	if (json_object_object_get_ex(json, "sched", &member))
		trace->totals.sched = json_object_get_boolean(member);
	if (json_object_object_get_ex(json, "stacks", &member) && !context->stacks &&
	    json_object_get_boolean(member))
		context->stacks =
			stack_table__new(trace->strings, !strcmp(trace->machine, "aarch64"));
	if (json_object_object_get_ex(json, "clock_hz", &member))
		*hz = json_object_get_double(member);
	if (json_object_object_get_ex(json, "paused", &member))
		trace->paused = json_object_get_boolean(member);
	trace->stated_start = (uint64_t)json__integer(json, "start", 0);
}

/* the next file of the capture, 1; 0: there is none; or a negative errno */
static int trace__next_file(struct trace *trace, size_t number)
{
	char *why = NULL;
	int ret;

	if (number >= trace->segments.count)
		return 0;
	if (number == trace->segment && trace->reader.fd >= 0) {
		reader__rewind(&trace->reader);
		return 1;
	}
	trace->bytes_read = number ? trace->bytes_read + trace->reader.size : 0;
	trace->blocks_skipped = number && (trace->blocks_skipped || trace->reader.skipped);
	reader__close(&trace->reader);
	ret = reader__open(&trace->reader, trace->segments.paths[number], &why);
	free(why);
	trace->segment = number;
	/* how the one before ended is not how the capture did */
	trace->end_read = trace->totals.finished = false;
	return ret < 0 ? ret : 1;
}

/* stacks are unwound when they are read, but the binaries stand at the end of the file */
static int trace__scan_stacks(struct trace *trace)
{
	static const uint16_t types[] = {FILE_CODE, FILE_BINARY};
	struct reader_block block;
	int ret = 0;

	if (!trace->merge.context.stacks || trace->reader.growth)
		return 0;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		while ((ret = reader__next(&trace->reader, types[i], &block)) > 0) {
			ret = trace__stack_block(trace, &block);
			if (ret)
				return ret;
		}
		if (ret < 0)
			return ret;
		reader__rewind(&trace->reader);
	}
	return ret;
}

/* the clock snapshots of the present file */
static int trace__scan_clocks(struct trace *trace)
{
	struct stream_context *context = &trace->merge.context;
	struct reader_block block;
	struct file_clock clock;
	int ret = 0;

	/* of a file that grows the first two must do: the others come as they come */
	while (!(trace->reader.growth && context->timebase.count >= 2) &&
	       (ret = reader__next(&trace->reader, FILE_CLOCK, &block)) > 0) {
		if (block.size < sizeof(clock))
			continue;
		memcpy(&clock, block.data, sizeof(clock));
		ret = timebase__add(&context->timebase, &clock);
		if (ret < 0)
			return ret;
	}
	if (ret < 0)
		return ret;
	reader__rewind(&trace->reader);
	return 0;
}

static void trace__set_bounds(struct trace *trace)
{
	struct stream_context *context = &trace->merge.context;

	if (!context->timebase.count)
		return;
	trace->start = context->timebase.snapshots[0].boottime;
	trace->end = context->timebase.snapshots[context->timebase.count - 1].boottime;
	if (trace->stated_start) {
		/* the snapshots before it are of what went before */
		trace->start = trace->stated_start;
		context->earliest = trace->start;
		return;
	}
	/* gates open after the first snapshot; the slack is for how well it fits */
	context->earliest = trace->start > STREAM_EARLY_NS ? trace->start - STREAM_EARLY_NS : 0;
}

/* first pass: META and the clock snapshots */
static int trace__scan(struct trace *trace)
{
	struct stream_context *context = &trace->merge.context;
	struct reader_block block;
	struct json_object *json;
	double hz = 0;
	size_t file = 0;
	int ret;

	ret = reader__next(&trace->reader, FILE_META, &block);
	if (ret < 0)
		return ret;
	json = ret ? block__json(block.data, block.size) : NULL;
	if (json)
		trace__meta(trace, json, &hz);
	json_object_put(json);
	while ((ret = trace__next_file(trace, file)) > 0) {
		reader__rewind(&trace->reader);
		ret = trace__scan_clocks(trace);
		if (ret >= 0)
			ret = trace__scan_stacks(trace);
		if (ret < 0)
			break;
		file++;
	}
	if (ret >= 0)
		ret = trace__next_file(trace, 0);
	if (ret < 0)
		return ret;
	ret = timebase__finish(&context->timebase, hz);
	if (ret == 0)
		trace__set_bounds(trace);
	trace->totals.clock_error_ns = context->timebase.error_ns;
	return ret;
}

static struct trace *trace__open_files(const char *const *paths, size_t count,
				       const struct reader_growth *growth, char **err)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	char *why = NULL;
	int ret = -ENOMEM;

	if (!trace)
		goto fail;
	trace->reader.fd = -1;
	trace->image_budget = DSO_IMAGES_MAX;
	trace->strings = strings__new();
	if (!trace->strings)
		goto fail;
	trace->asio = asio__new(trace->strings);
	if (!trace->asio)
		goto fail;
	merge__init(&trace->merge, trace->strings, &trace->totals);
	sample__init(&trace->sample, strings__seed(trace->strings));
	trace->boot_id = trace->machine = strings__add(trace->strings, "", 0);
	trace->totals.clock = "tsc";
	ret = segments__open(&trace->segments, paths, count, &why);
	if (!ret)
		ret = reader__open(&trace->reader, trace->segments.paths[0], &why);
	if (ret < 0)
		goto fail;
	if (count == 1)
		trace->segments.bytes = trace->reader.size;
	trace->totals.bytes = trace->segments.bytes;
	trace->reader.growth = growth;
	ret = trace__scan(trace);
	if (ret < 0)
		goto fail;
	return trace;
fail:
	if (!why)
		why = sentence__new("cannot read capture %s: %s", paths[0], strerror(-ret));
	if (err)
		*err = why;
	else
		free(why);
	trace__close(trace);
	return NULL;
}

struct trace *trace__open(const char *path, char **err)
{
	return trace__open_files(&path, 1, NULL, err);
}

struct trace *trace__open_all(const char *const *paths, size_t count, char **err)
{
	return trace__open_files(paths, count, NULL, err);
}

struct trace *trace__open_growing(const char *path, const struct reader_growth *growth, char **err)
{
	return trace__open_files(&path, 1, growth, err);
}

const struct trace_stack *trace__stack(struct trace *trace, uint32_t number)
{
	struct stack_table *stacks = trace->merge.context.stacks;

	return stacks ? stack_table__get(stacks, number) : NULL;
}

void trace__debug_dirs(struct trace *trace, const char *const *dirs, size_t count)
{
	if (trace->merge.context.stacks)
		stack_table__set_debug_dirs(trace->merge.context.stacks, dirs, count);
}

/* reads one block, or finds the end of the file */
static int trace__read(struct trace *trace)
{
	struct reader_block block;
	int ret;

	while ((ret = reader__next(&trace->reader, 0, &block)) == 0) {
		ret = trace__next_file(trace, trace->segment + 1);
		if (ret <= 0)
			break;
	}
	if (ret < 0)
		return ret;
	trace->merge.context.blocks_missing = trace->blocks_skipped || trace->reader.skipped;
	if (ret == 0)
		trace->merge.context.eof = true;
	else
		ret = trace__block(trace, &block);
	if (ret < 0)
		return ret;
	return merge__settle(&trace->merge);
}

static void trace__finish(struct trace *trace)
{
	const struct stream_context *context = &trace->merge.context;
	struct trace_totals *totals = &trace->totals;
	int i;

	totals->lost = 0;
	for (i = 0; i < LOSS_KINDS; i++) {
		if (__builtin_add_overflow(totals->lost, totals->lost_by[i], &totals->lost))
			totals->lost = UINT64_MAX;
	}
	if (__builtin_add_overflow(totals->records, totals->lost, &totals->recorded))
		totals->recorded = UINT64_MAX;
	if (trace->segments.cut)
		totals->finished = trace->end_read = false;
	totals->complete =
		totals->finished && !totals->lost && !totals->rings_refused && !totals->missed;
	if (context->round > trace->end)
		trace->end = context->round;
	if (trace->merge.given > trace->end)
		trace->end = trace->merge.given;
	if (trace->stated_end && trace->stated_end >= trace->merge.given)
		trace->end = trace->stated_end;
	if (!trace->start)
		trace->start = totals->first_time;
	/* if the last file was cut off, what the others say is not all */
	totals->duration_ns = trace->stated_duration && trace->end_read ? trace->stated_duration
									: trace->end - trace->start;
	if (!context->cycles_seen && (context->monotonic_seen || context->monotonic))
		totals->clock = "monotonic";
	else if (!strcmp(trace->machine, "aarch64"))
		totals->clock = "cntvct";
}

/* a point's event: counts, and says whether its process shows it */
static bool trace__shows(struct trace *trace, const struct event *event)
{
	struct process *process = trace->merge.context.processes.all[event->process];
	struct trace_totals *totals = &trace->totals;
	bool was_muted = process->muted;

	if (event->type < SCHEMA_TYPES && trace->merge.context.schema.rows[event->type].unasked)
		return false;
	if (!totals->first_time || event->time < totals->first_time)
		totals->first_time = event->time;
	if (event->time > totals->last_time)
		totals->last_time = event->time;
	if (event->type == EV_capture_off)
		process->muted = true;
	else if (event->type == EV_capture_on)
		process->muted = false;
	/* the two themselves are shown once each, whatever nests */
	return !(was_muted && process->muted);
}

/* what is there but not shown: another tracer's, or of a process that asked for it */
static bool trace__hides(struct trace *trace, const struct event *event)
{
	if (event->type == EV_pause) {
		trace->paused = event->args[0].u != REC_SHOWN;
		trace->ended = event->args[0].u == REC_ENDED;
		if (trace->ended)
			return true;
		sample__set(&trace->sample, event->args[1].u);
		return false;
	}
	if (trace->paused && (event_type__is_sched(event->type) || event->type < SCHEMA_TYPES)) {
		trace->totals.records -=
			trace->ended && !event->derived && event->type < SCHEMA_TYPES;
		return true;
	}
	if (event_type__is_sched(event->type))
		return event->process != EVENT_NO_PROCESS &&
		       trace->merge.context.processes.all[event->process]->muted;
	if (event->type >= SCHEMA_TYPES) {
		sample__keeps(&trace->sample, event);
		return false;
	}
	if (!trace__shows(trace, event))
		return true;
	if (sample__keeps(&trace->sample, event))
		return false;
	trace->totals.records--;
	return true;
}

/* 1: @event became the announcement of a process; 0: it was announced before */
static int trace__announce(struct trace *trace, uint32_t index, uint64_t time, struct event *event)
{
	struct process *process = trace->merge.context.processes.all[index];

	if (process->announced)
		return 0;
	process->announced = true;
	*event = (struct event){.time = time, .type = EV_process, .nargs = 2};
	event->process = index;
	event->pid = event->tid = process->shown.pid;
	event->args[0].s = process->shown.name;
	event->args[1].s = process->shown.cmdline;
	return 1;
}

/* takes trace->pending, after the announcements that it needs */
static int trace__give(struct trace *trace, struct event *event)
{
	const struct event *pending = &trace->pending;
	struct process **processes = trace->merge.context.processes.all;
	struct process *process;

	if (pending->process == EVENT_NO_PROCESS) {
		trace->has_pending = false;
		*event = *pending;
		return 1;
	}
	process = processes[pending->process];
	if (pending->type == EV_fork &&
	    trace__announce(trace, pending->args[0].u, pending->time, event))
		return 1;
	if (trace__announce(trace, pending->process, pending->time, event))
		return 1;
	trace->has_pending = false;
	switch (pending->type) {
	case EV_process:
		return 0; /* announced before */
	case EV_fork:
		process->muted = processes[pending->args[0].u]->muted;
		break;
	case EV_exec:
		process->muted = false;
		break;
	}
	*event = *pending;
	return 1;
}

/* a point's, of a process that was announced: trace__give() would do nothing with it */
static bool trace__gives_at_once(const struct trace *trace, const struct event *event)
{
	return event->type < SCHEMA_TYPES && event->process != EVENT_NO_PROCESS &&
	       trace->merge.context.processes.all[event->process]->announced;
}

static int trace__end(struct trace *trace, struct event *event)
{
	if (trace->over)
		return 0;
	trace->over = true;
	trace__finish(trace);
	*event = (struct event){.time = trace->end, .type = EV_end};
	return 1;
}

/* trace__next() of what was recorded alone */
static int trace__next_recorded(struct trace *trace, struct event *event)
{
	int ret;

	for (;;) {
		if (trace->has_pending && trace__give(trace, event))
			return 1;
		ret = merge__next(&trace->merge, event);
		if (ret > 0) {
			if (trace__hides(trace, event))
				continue;
			/* mostly nothing goes before it */
			if (trace__gives_at_once(trace, event))
				return 1;
			trace->pending = *event;
			trace->has_pending = true;
			continue;
		}
		if (ret == 0 && trace->merge.context.eof)
			return trace__end(trace, event);
		if (ret == 0)
			ret = trace__read(trace);
		if (ret < 0) {
			if (!trace->error)
				trace->error = sentence__new("cannot read the capture: %s",
							     strerror(-ret));
			return ret;
		}
	}
}

/* trace__next() without the filter */
static int trace__next_of_all(struct trace *trace, struct event *event)
{
	int ret;

	while (!asio__give(trace->asio, event)) {
		ret = trace__next_recorded(trace, event);
		if (ret <= 0 || !asio__concerns(trace->asio, event))
			return ret;
		ret = asio__take(trace->asio, event);
		if (ret < 0)
			return ret;
	}
	return 1;
}

int trace__next(struct trace *trace, struct event *event)
{
	struct event whole;
	int ret;

	if (!trace->filter)
		return trace__next_of_all(trace, event);
	while (!filter__give(trace->filter, event)) {
		ret = trace__next_of_all(trace, &whole);
		if (ret > 0)
			ret = filter__take(trace->filter, &whole);
		else if (ret == 0)
			return 0;
		if (ret < 0)
			return ret;
	}
	return 1;
}

int trace__filter(struct trace *trace, const struct trace_filter *filter)
{
	filter__free(trace->filter);
	trace->filter = filter__new(filter);
	return trace->filter ? 0 : -ENOMEM;
}

bool trace__retell(struct trace *trace, uint64_t time)
{
	return trace->filter && filter__retell_all(trace->filter, time);
}

const struct trace_totals *trace__totals(const struct trace *trace)
{
	return &trace->totals;
}

const struct trace_process *trace__process(const struct trace *trace, uint32_t index)
{
	const struct processes *processes = &trace->merge.context.processes;

	return index < processes->count ? &processes->all[index]->shown : NULL;
}

uint32_t trace__process_count(const struct trace *trace)
{
	return trace->merge.context.processes.count;
}

const char *trace__error(const struct trace *trace)
{
	return trace->error ? trace->error : "no error";
}

uint64_t trace__position(const struct trace *trace)
{
	return trace->bytes_read + trace->reader.offset;
}

const char *trace__boot_id(const struct trace *trace)
{
	return trace->boot_id;
}

double trace__progress(const struct trace *trace)
{
	const struct reader *reader = &trace->reader;

	uint64_t read = trace->bytes_read + reader->offset;

	if (!trace->segments.bytes || read >= trace->segments.bytes)
		return 1;
	return (double)read / (double)trace->segments.bytes;
}

int64_t trace__monotonic_offset(const struct trace *trace)
{
	const struct timebase *base = &trace->merge.context.timebase;

	return base->count ? (int64_t)(base->snapshots[0].monotonic - base->snapshots[0].boottime)
			   : 0;
}

int64_t trace__realtime_offset(const struct trace *trace)
{
	const struct timebase *base = &trace->merge.context.timebase;

	return base->count ? (int64_t)(base->snapshots[0].realtime - base->snapshots[0].boottime)
			   : 0;
}

const struct event_schema *trace__schema(const struct trace *trace, uint16_t type)
{
	const struct schema *schema = &trace->merge.context.schema;

	if (type >= SCHEMA_TYPES)
		return schema__own(type);
	return schema->sizes[type] ? &schema->rows[type].event : NULL;
}

void trace__close(struct trace *trace)
{
	if (!trace)
		return;
	if (trace->strings)
		merge__free(&trace->merge);
	sample__free(&trace->sample);
	reader__close(&trace->reader);
	segments__close(&trace->segments);
	filter__free(trace->filter);
	asio__free(trace->asio);
	strings__free(trace->strings);
	free(trace->error);
	free(trace);
}
