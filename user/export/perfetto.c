// SPDX-License-Identifier: BSD-2-Clause
/* The Perfetto export as a whole: events of a trace, through a model, to packets in a file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "../base/say.h"
#include "../trace/filter.h"
#include "perfetto.h"

#define PROTO_BUFFER (320U << 10)
#define EVENTS_PER_CHECK 4096U /* between looks at the stop flag, the error and the progress */
#define EVENTS_AHEAD 65536
/* of a capture, about a million records: beyond this it matters how large the export is */
#define COMPACT_BYTES (4U << 20)

static void op__end(void *ctx, uint64_t time)
{
	struct perfetto *px = ctx;

	for (struct drawn_process *process = px->processes; process; process = process->next)
		steals__tell(px, process, UINT64_MAX);
	/* whatever the model has left open, in a capture that was cut for example */
	for (struct row *row = px->all_rows; row; row = row->all_next)
		row__close(px, row, time);
	px->ended = true;
}

const struct model_ops perfetto_ops = {
	.process = op__process,
	.thread = op__thread,
	.worker_start = op__worker_start,
	.worker_stop = op__worker_stop,
	.thread_gone = op__thread_gone,
	.task_born = op__task_born,
	.task_instant = op__task_instant,
	.stay_begin = op__stay_begin,
	.stay_end = op__stay_end,
	.gap_begin = op__gap_begin,
	.gap_end = op__gap_end,
	.task_gone = op__task_gone,
	.span_begin = op__span_begin,
	.span_end = op__span_end,
	.span_cut = op__span_cut,
	.kernel = op__kernel,
	.sched = op__sched,
	.queue_depth = op__queue_depth,
	.steal = op__steal,
	.steal_failed = op__steal_failed,
	.future = op__future,
	.continuation_begin = op__continuation_begin,
	.continuation_end = op__continuation_end,
	.active_continuations = op__active_continuations,
	.zone_begin = op__zone_begin,
	.zone_end = op__zone_end,
	.lock = op__lock,
	.annotation = op__annotation,
	.handler = op__handler,
	.task_counts = op__task_counts,
	.lost = op__lost,
	.end = op__end,
};

int perfetto__init(struct perfetto *px, struct outfile *output, const struct perfetto_info *info)
{
	memset(px, 0, sizeof(*px));
	px->output = output;
	px->info = *info;
	px->rows.size = sizeof(struct row);
	px->slices.size = sizeof(struct slice);
	px->notes.size = sizeof(struct note);
	px->tasks.size = sizeof(struct drawn_task);
	px->threads.size = sizeof(struct drawn_thread);
	px->labels.size = sizeof(struct label);
	px->lock_pool.size = sizeof(struct drawn_lock);
	return proto__new(&px->proto, PROTO_BUFFER);
}

void perfetto__free(struct perfetto *px)
{
	struct map *maps[] = {&px->tids,	 &px->things, &px->flows, &px->sets.map,
			      &px->sets.waiting, &px->locks,  &px->hexes};
	struct pool *pools[] = {&px->rows,    &px->slices, &px->notes,	  &px->tasks,
				&px->threads, &px->labels, &px->lock_pool};

	while (px->processes) {
		struct drawn_process *process = px->processes;

		px->processes = process->next;
		map__free(&process->labels);
		free(process);
	}
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		map__free(maps[i]);
	palette__free(&px->colors);
	for (size_t i = 0; i < TABLES; i++)
		map__free(&px->interned[i]);
	for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++)
		pool__free(pools[i]);
	free(px->sets.ring);
	map__free(&px->workers_ahead);
	map__free(&px->lives_ahead);
	map__free(&px->on_cpu);
	stacks__forget(&px->stacks);
	proto__free(&px->proto);
}

static uint64_t start_time(const void *ctx, uint32_t index)
{
	const struct trace_process *process = trace__process(ctx, index);

	return process ? process->start_time : 0;
}

static const struct trace_stack *stack_of(void *ctx, uint32_t number)
{
	return trace__stack(ctx, number);
}

static void export__progress(const struct perfetto *px, struct trace *trace)
{
	say__progress("exporting: %3.0f %%, %.1f MiB", 100 * trace__progress(trace),
		      (double)outfile__bytes(px->output) / (1 << 20));
}

/*
 * A look ahead. In a capture of a running program the first that a thread does may be anything;
 * that it is a worker shows a little later, when its row has been declared, in its place for good.
 * And if there are more tasks than rows, the rows are better not named after the first tasks.
 */
struct ahead {
	struct event *events;
	size_t count, next;
	int end; /* what trace__next() said after them */
};

static int ahead__count_life(struct perfetto *px, uint32_t process)
{
	uintptr_t count = (uintptr_t)map__get(&px->lives_ahead, process, 0);

	return map__put(&px->lives_ahead, process, 0, (void *)(count + 1));
}

static int ahead__fill(struct ahead *ahead, struct perfetto *px, struct trace *trace)
{
	struct event *event;

	ahead->events = malloc(EVENTS_AHEAD * sizeof(*ahead->events));
	if (!ahead->events)
		return -ENOMEM;
	ahead->end = 1;
	while (ahead->count < EVENTS_AHEAD) {
		event = &ahead->events[ahead->count];
		ahead->end = trace__next(trace, event);
		if (ahead->end <= 0)
			break;
		ahead->count++;
		if ((event->type == EV_worker_start ||
		     (event->type == EV_task_begin && event->args[1].u != MODEL_NO_WORKER)) &&
		    map__put(&px->workers_ahead, event->process, event->tid, px))
			return -ENOMEM;
		if (event->type == EV_task_created && ahead__count_life(px, event->process))
			return -ENOMEM;
	}
	return 0;
}

static int ahead__next(struct ahead *ahead, struct trace *trace, struct event *event)
{
	if (ahead->next < ahead->count) {
		*event = ahead->events[ahead->next++];
		return 1;
	}
	free(ahead->events);
	ahead->events = NULL;
	return ahead->end > 0 ? trace__next(trace, event) : ahead->end;
}

/*
 * The piece is as large as it may be, but for what closes it, and the trace can go on in another:
 * an eighth is kept for the ends of what is open.
 */
static bool piece__is_full(const struct perfetto *px, struct trace *trace,
			   const struct export_options *options, uint64_t time)
{
	uint64_t buffered = options->compression == EXPORT_PLAIN ? proto__used(&px->proto) : 0;
	uint64_t max = options->max_file_size;

	return max && outfile__bytes(px->output) + buffered >= max - max / 8 &&
	       trace__retell(trace, time);
}

/* all events to the model, or those of a piece; 0, or -errno of the trace or the sink */
static int export__events(struct perfetto *px, struct model *model, struct trace *trace,
			  const struct export_options *options, bool *more, char **err)
{
	uint64_t count = 0, last = 0;
	struct ahead ahead = {0};
	struct event event;
	int got = 0, result;

	/* a look ahead would belong to the piece after this one, perhaps */
	ahead.end = 1;
	result = options->max_file_size ? 0 : ahead__fill(&ahead, px, trace);
	while (!result && (got = ahead__next(&ahead, trace, &event)) > 0) {
		if (!px->started)
			perfetto__start(px, event.time);
		if (event.time > last)
			last = event.time;
		result = model__event(model, &event);
		if (!result && options->max_file_size && piece__is_full(px, trace, options, last)) {
			*more = true;
			break;
		}
		if (++count % EVENTS_PER_CHECK || result)
			continue;
		result = px->error;
		if (options->stop && *options->stop)
			break;
		if (options->progress)
			export__progress(px, trace);
	}
	free(ahead.events);
	if (result)
		return result;
	if (got < 0) {
		*err = sentence__new("%s", trace__error(trace));
		return got;
	}
	if (!px->started)
		perfetto__start(px, last);
	result = model__end(model, last);
	return result ? result : px->error;
}

/* what the reader of the file may want to know of the capture beside its events */
static void export__attributes(struct perfetto *px, const struct trace *trace)
{
	const struct trace_totals *totals = trace__totals(trace);
	static const char *const keys[] = {
		"tracer.records",	 "tracer.lost",	 "tracer.complete",  "tracer.clock",
		"tracer.clock_error_ns", "tracer.sched", "tracer.sched_lost"};
	char records[24], lost[24], clock_error[24], sched_lost[24];
	const char *values[] = {records,
				lost,
				totals->complete ? "true" : "false",
				totals->clock ? totals->clock : "unknown",
				clock_error,
				totals->sched ? "true" : "false",
				sched_lost};

	snprintf(records, sizeof(records), "%" PRIu64, totals->records);
	snprintf(lost, sizeof(lost), "%" PRIu64, totals->lost);
	snprintf(clock_error, sizeof(clock_error), "%" PRIu64, totals->clock_error_ns);
	snprintf(sched_lost, sizeof(sched_lost), "%" PRIu64, totals->sched_lost);
	perfetto__attributes(px, keys, values, sizeof(keys) / sizeof(keys[0]));
}

static void export__tell(const struct perfetto *px, const struct export_options *options)
{
	const struct perfetto_tally *tally = &px->tally;

	if (tally->gaps_without_row || tally->evicted)
		say__info("%s: more tasks alive at once than there are rows for: %" PRIu64
			  " waits are not drawn, %" PRIu64
			  " in part (--tracks=task gives each task a row of its own)",
			  options->path, tally->gaps_without_row, tally->evicted);
	if (tally->without_row)
		say__info("%s: more than %u channels, counters and frames: %" PRIu64
			  " events of further ones are not drawn",
			  options->path, PERFETTO_THINGS_MAX, tally->without_row);
	if (tally->too_deep)
		say__info("%s: %" PRIu64 " slices nested deeper than %u are not drawn",
			  options->path, tally->too_deep, PERFETTO_DEPTH_MAX);
}

static int export__run(struct perfetto *px, struct trace *trace,
		       const struct export_options *options, bool *more, char **err)
{
	struct model *model = model__new();
	int result = -ENOMEM;

	if (!model)
		return result;
	px->slot = model__add_sink(model, &perfetto_ops, px);
	result = px->slot < 0 ? px->slot : export__events(px, model, trace, options, more, err);
	if (!result) {
		/* figures of the capture as a whole stand in the last piece */
		if (!*more) {
			capture__draw(px, trace__totals(trace));
			export__attributes(px, trace);
		} else {
			sched__end_piece(px);
		}
		perfetto__flush(px);
		result = px->error;
	}
	model__free(model);
	return result;
}

/* a whole trace in a file, or a piece of one: then @more says that another follows */
static int export__file(struct trace *trace, const struct export_options *options,
			const struct perfetto_info *info, bool *more, char **why)
{
	struct outfile *output = NULL;
	struct perfetto px = {};
	int result, closed;

	*more = false;
	result = outfile__open(&output, options->path, options->compression);
	if (result)
		return result;
	result = perfetto__init(&px, output, info);
	if (!result)
		result = export__run(&px, trace, options, more, why);
	closed = outfile__close(output);
	if (!result)
		result = closed;
	if (!result)
		export__tell(&px, options);
	perfetto__free(&px);
	return result;
}

/* x.0001.pftrace, x.0002.pftrace, ... */
static int export__pieces(struct trace *trace, const struct export_options *options,
			  const struct perfetto_info *info, char **why)
{
	static const char *const suffixes[] = {
		[EXPORT_PLAIN] = "", [EXPORT_GZIP] = ".gz", [EXPORT_ZSTD] = ".zst"};
	static const struct trace_filter everything = {.to = UINT64_MAX};
	struct export_options piece = *options;
	unsigned int number = 0;
	bool more = true;
	char extension[40], *path;
	int result = options->filter ? 0 : trace__filter(trace, &everything);

	while (!result && more && !(number && options->stop && *options->stop)) {
		snprintf(extension, sizeof(extension), ".%04u.pftrace%s", ++number,
			 suffixes[options->compression]);
		path = export__beside(options->path, ".pftrace", extension);
		result = path ? 0 : -ENOMEM;
		if (!result && options->claim && options->claim(path, options->force)) {
			result = -EEXIST;
			*why = sentence__new("%s: stopped before %s", options->path, path);
		}
		piece.path = path;
		if (!result)
			result = export__file(trace, &piece, info, &more, why);
		free(path);
	}
	if (!result)
		say__info("%s: %u pieces", options->path, number);
	return result;
}

int export__perfetto(struct trace *trace, const struct export_options *options, char **err)
{
	struct perfetto_info info = {
		.boot_id = trace__boot_id(trace),
		.monotonic_offset = trace__monotonic_offset(trace),
		.realtime_offset = trace__realtime_offset(trace),
		.start_time = start_time,
		.ctx = trace,
		.tracks = options->tracks,
		.piece = options->max_file_size != 0,
		.compact = options->compact || trace__totals(trace)->bytes > COMPACT_BYTES,
		.stack = stack_of,
		.stack_ctx = trace,
	};
	char *why = NULL;
	bool more;
	int result;

	result = options->max_file_size ? export__pieces(trace, options, &info, &why)
					: export__file(trace, options, &info, &more, &why);
	if (options->progress)
		say__progress(NULL);
	if (result && !why && result == -ENOSPC)
		why = sentence__new(
			"%s: no space left on the device; make room, or choose another place "
			"with -o",
			options->path);
	else if (result == -ENOMEM && !why)
		why = sentence__new("%s: out of memory; nothing useful was written", options->path);
	else if (result && !why)
		why = sentence__new("%s: cannot write: %s; choose another place with -o",
				    options->path, strerror(-result));
	if (err)
		*err = why;
	else
		free(why);
	return result;
}
