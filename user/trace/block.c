// SPDX-License-Identifier: BSD-2-Clause
/* What each sort of block of a capture says. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/say.h"
#include "foreign.h"
#include "sched.h"
#include "stack.h"
#include "trace_state.h"

struct json_object *block__json(const uint8_t *data, size_t size)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *json = NULL;

	if (!tokener)
		return NULL;
	if (size && size <= FILE_BLOCK_MAX)
		json = json_tokener_parse_ex(tokener, (const char *)data, size);
	/* a number at the very end is complete only once the text is */
	if (!json && json_tokener_get_error(tokener) == json_tokener_continue)
		json = json_tokener_parse_ex(tokener, "", 1);
	json_tokener_free(tokener);
	if (json && !json_object_is_type(json, json_type_object)) {
		json_object_put(json);
		json = NULL;
	}
	return json;
}

/* a CODE or BINARY block; one that was read before changes nothing */
int trace__stack_block(struct trace *trace, const struct reader_block *block)
{
	size_t text = strnlen((const char *)block->data, block->size);
	struct stack_table *stacks = trace->merge.context.stacks;
	struct json_object *json;
	int err;

	json = stacks ? block__json(block->data, text) : NULL;
	if (!json)
		return 0;
	if (text < block->size)
		text++;
	err = block->type == FILE_CODE
		      ? stack_table__code(stacks, json)
		      : stack_table__binary(stacks, json, block->data + text, block->size - text);
	json_object_put(json);
	return err;
}

static int trace__task_record(struct trace *trace, const struct rec_header *header)
{
	struct processes *processes = &trace->merge.context.processes;
	struct event event = {.time = header->time};
	struct process *process;
	struct rec_task task;
	int err = 0;

	if (header->size < sizeof(task))
		return 0;
	memcpy(&task, header, sizeof(task));
	if (header->kind == REC_FORK)
		process = processes__fork(processes, task.pid, task.parent, header->time);
	else
		process = processes__at(processes, task.pid, header->time);
	if (!process)
		return -ENOMEM;
	event.process = process->shown.index;
	event.pid = task.pid;
	event.tid = task.tid;
	switch (header->kind) {
	case REC_FORK:
		event.type = EV_fork;
		event.nargs = 1;
		event.args[0].u = process->parent->shown.index;
		break;
	case REC_EXEC:
		event.type = EV_exec;
		err = process__exec(processes, process, header->time);
		break;
	case REC_THREAD_EXIT:
		event.type = EV_thread_exit;
		if (header->time)
			err = table__set(&trace->merge.context.thread_exits, task.tid,
					 (void *)(uintptr_t)header->time);
		break;
	default:
		event.type = EV_process_exit;
		event.nargs = 1;
		event.args[0].i = task.status;
		process->exited_at = header->time;
	}
	if ((header->kind == REC_FORK || header->kind == REC_EXEC) && task.comm[0])
		process__rename(processes, process, task.comm, sizeof(task.comm));
	return err ? err : merge__add_event(&trace->merge, &event);
}

/* the recorder paused, went on, or changed the share of tasks that it records */
static int trace__pause(struct trace *trace, const struct rec_header *header)
{
	struct rec_pause pause;
	struct event event = {
		.time = header->time,
		.type = EV_pause,
		.nargs = 2,
		.process = EVENT_NO_PROCESS,
	};

	if (header->size < sizeof(pause))
		return 0;
	memcpy(&pause, header, sizeof(pause));
	event.args[0].u = pause.paused;
	event.args[1].u = pause.sample;
	return merge__add_event(&trace->merge, &event);
}

static int trace__record(struct trace *trace, const struct rec_header *header)
{
	const struct rec_chunk *chunk = (const void *)header;
	int err;

	switch (header->kind) {
	case REC_CHUNK:
		if (header->size < sizeof(*chunk) || chunk->len > header->size - sizeof(*chunk) ||
		    !chunk->stream) {
			trace->totals.damaged++;
			return 0;
		}
		return merge__add_chunk(&trace->merge, chunk);
	case REC_FORK:
	case REC_EXEC:
	case REC_THREAD_EXIT:
	case REC_PROCESS_EXIT:
		return trace__task_record(trace, header);
	case REC_STACK:
		err = trace->merge.context.stacks
			      ? stack_table__record(trace->merge.context.stacks, header)
			      : 0;
		trace->totals.damaged += err == -EINVAL;
		return err == -EINVAL ? 0 : err;
	case REC_SWITCH:
	case REC_WAKING:
		return sched__record(&trace->merge, header);
	case REC_PAUSE:
		return trace__pause(trace, header);
	case REC_HELD:
		return header->size < sizeof(struct rec_held)
			       ? 0
			       : held__tell(&trace->merge.context.held_back, (const void *)header);
	case REC_FOREIGN:
		return foreign__record(&trace->merge, header);
	default:
		return 0; /* of a later version */
	}
}

/* records begin at multiples of 8, so the structures may be looked at where they are */
static int trace__records(struct trace *trace, const struct reader_block *block)
{
	const struct rec_header *header;
	size_t at = 0;
	int err;

	while (block->size - at >= sizeof(*header)) {
		header = (const void *)(block->data + at);
		if (header->size < sizeof(*header) || header->size > block->size - at) {
			trace->totals.damaged++;
			break;
		}
		err = trace__record(trace, header);
		if (err)
			return err;
		at += (header->size + 7ULL) & ~7ULL;
		if (at > block->size)
			break;
	}
	return 0;
}

static int trace__dso(struct trace *trace, const struct reader_block *block)
{
	struct stream_context *context = &trace->merge.context;
	size_t text = strnlen((const char *)block->data, block->size);
	struct json_object *json;
	struct dso *dso;

	json = block__json(block->data, text);
	if (!json)
		return 0;
	if (text < block->size)
		text++;
	/* each file of a capture has them all */
	if (processes__has_dso(&context->processes, json__integer(json, "id", -1))) {
		json_object_put(json);
		return 0;
	}
	dso = dso__new(json, block->data + text, block->size - text, &trace->image_budget,
		       &context->schema, trace->strings);
	json_object_put(json);
	return dso ? processes__add_dso(&context->processes, dso) : 0;
}

static int trace__process_block(struct trace *trace, struct json_object *json)
{
	struct event event = {.type = EV_process};
	struct process *process;

	process = processes__describe(&trace->merge.context.processes, json, &event.time);
	if (!process)
		return -ENOMEM;
	if (process->announced)
		return 0;
	event.process = process->shown.index;
	event.pid = event.tid = process->shown.pid;
	return merge__add_event(&trace->merge, &event);
}

static uint64_t trace__count(struct json_object *json, const char *key)
{
	int64_t n = json__integer(json, key, 0);

	return n > 0 ? (uint64_t)n : 0;
}

/* how the streams stood where the first file begins, if that is not where the capture does */
static int trace__streams(struct trace *trace, const struct reader_block *block)
{
	struct file_stream entry;
	const uint8_t *data;
	size_t at = 0;
	int err = 0;

	/* of the later ones we have read ourselves how they stand */
	while (!trace->segment && !err && block->size - at >= sizeof(entry)) {
		memcpy(&entry, block->data + at, sizeof(entry));
		data = block->data + at + sizeof(entry);
		if (entry.size % 8 || entry.size < sizeof(entry) || entry.size > block->size - at ||
		    ((entry.carried + 7ULL) & ~7ULL) + entry.context > entry.size - sizeof(entry)) {
			trace->totals.damaged++;
			return 0;
		}
		err = merge__restore(&trace->merge, &entry, data,
				     data + ((entry.carried + 7) & ~7U));
		at += entry.size;
	}
	return err;
}

static void trace__end_block(struct trace *trace, struct json_object *json)
{
	static const char *const causes[LOSS_KINDS] = {"ring_full", "target_ring_overrun",
						       "read_fault"};
	struct trace_totals *totals = &trace->totals;
	struct json_object *member;
	int64_t n;
	int i;

	foreign__end(&trace->merge, json);
	trace->end_read = true;
	/* of the whole capture up to here */
	totals->cpu_ns = trace__count(json, "cpu_ns");
	totals->flushes = trace__count(json, "flushes");
	totals->chunks = trace__count(json, "chunks");
	totals->chunk_bytes = trace__count(json, "chunk_bytes");
	if (json_object_object_get_ex(json, "finished", &member))
		totals->finished = json_object_get_boolean(member);
	n = json__integer(json, "rings_refused", 0);
	totals->rings_refused = n > 0 ? n : 0;
	if (json_object_object_get_ex(json, "target_exit", &member) &&
	    json_object_is_type(member, json_type_int)) {
		totals->has_target_exit = true;
		totals->target_exit = json_object_get_int(member);
	}
	n = json__integer(json, "missed", 0);
	totals->missed = n > 0 ? n : 0;
	n = json__integer(json, "stacks_lost", 0);
	totals->stacks_lost = n > 0 ? n : 0;
	n = json__integer(json, "duration_ns", 0);
	trace->stated_duration += n > 0 ? n : 0;
	trace->stated_end = (uint64_t)json__integer(json, "end", 0);
	trace->merge.context.continues = json_object_object_get_ex(json, "continues", &member) &&
					 json_object_get_boolean(member);
	/* counted by the kernel: more than records tell if none came after the last ones */
	n = json__integer(json, "sched_lost", 0);
	if (n > 0 && (uint64_t)n > totals->sched_lost)
		totals->sched_lost = n;
	if (!json_object_object_get_ex(json, "lost", &member) ||
	    !json_object_is_type(member, json_type_object))
		return;
	for (i = 0; i < LOSS_KINDS; i++) {
		n = json__integer(member, causes[i], 0);
		totals->lost_by[i] += n > 0 ? n : 0;
	}
}

static int trace__json_block(struct trace *trace, const struct reader_block *block)
{
	struct json_object *json = block__json(block->data, block->size);
	int err = 0;

	if (!json)
		return 0;
	switch (block->type) {
	case FILE_MAP:
		err = processes__map(&trace->merge.context.processes, json);
		break;
	case FILE_PROCESS:
		err = trace__process_block(trace, json);
		break;
	case FILE_END:
		trace__end_block(trace, json);
		break;
	}
	json_object_put(json);
	return err;
}

/* one that the scan of a growing file has not seen; those that it has are too old to be added */
static int trace__clock(struct trace *trace, const struct reader_block *block)
{
	struct timebase *timebase = &trace->merge.context.timebase;
	struct file_clock clock;
	int err;

	if (block->size < sizeof(clock))
		return 0;
	memcpy(&clock, block->data, sizeof(clock));
	err = timebase__extend(timebase, &clock);
	trace->totals.clock_error_ns = timebase->error_ns;
	return err;
}

static void trace__round(struct trace *trace, const struct reader_block *block)
{
	struct stream_context *context = &trace->merge.context;
	struct file_round round = {0};

	/* before 1.3 it was the time alone */
	if (block->size < sizeof(round.time))
		return;
	memcpy(&round, block->data, block->size < sizeof(round) ? block->size : sizeof(round));
	if (round.time > context->round && round.time >> 62 == 0)
		context->round = round.time;
	if (round.complete > context->complete && round.complete <= context->round)
		context->complete = round.complete;
}

int trace__block(struct trace *trace, const struct reader_block *block)
{
	switch (block->type) {
	case FILE_META:
		return 0;
	case FILE_RECORDS:
		return trace__records(trace, block);
	case FILE_STREAMS:
		return trace__streams(trace, block);
	case FILE_DSO:
		return trace__dso(trace, block);
	case FILE_CLOCK:
		return trace->reader.growth ? trace__clock(trace, block) : 0;
	case FILE_CODE:
	case FILE_BINARY:
		return trace__stack_block(trace, block);
	case FILE_ROUND:
		trace__round(trace, block);
		return 0;
	default:
		return trace__json_block(trace, block);
	}
}
