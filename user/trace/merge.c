// SPDX-License-Identifier: BSD-2-Clause
/*
 * All streams and what the kernel saw, merged into one sequence in the order of time.
 *
 * Each stream is in order, so a heap of their next records gives the whole in order - if nothing
 * can still come that is older than the heap's top. What can still come?
 *
 * A stream with a decoded record is exact: what follows in it is not older. The trouble is with
 * streams of which nothing is queued, and with those that the file has not mentioned yet. The
 * capture says how far it is complete: a ROUND block has a time C, `complete`, such that of all
 * that was stamped before C either it stands above the block, or a HELD record that does names
 * its thread, and a time that it was not stamped before. A later HELD record takes that back,
 * and stands below what had been missing. So nothing can come any more that is older than the
 * least of C and the times of the threads that are held, less STREAM_SLACK_NS, as stamps are
 * not times of the kernel. This is why it holds:
 *
 * - A look at a thread hands over what is whole in its rings: it is made when the thread leaves
 *   the CPU, and 50 times a second by the tick of the CPU on which it runs. What a look at time
 *   T leaves is a record under way: a thread within a point, whose stamp may have been taken,
 *   while the ring's head has not moved yet. A ring says whether that may be (limit is not
 *   window_end), before the stamp is taken and until head has moved. If head stood elsewhere at
 *   the look before, or nothing was under way then, the record was begun after that. So the
 *   thread has a bound `since` for what it has stamped and not handed over (thread__look() in
 *   bpf/drain.bpf.h): T, if nothing is under way; the time of the look before; or what it was
 *   then. If a look comes upon a thread that is handing over, nothing is read, and the bound
 *   stays as it was.
 * - A thread that leaves the CPU with a bound less than T is told of: HELD, before any other
 *   thread runs there. It is taken back by the first look that finds that it has handed over
 *   what it had under way, behind the piece that has it.
 * - A tick notes `since` of the thread that it finds, or its own time T if that is no thread
 *   with rings, as the CPU's word; never a lesser one than before. A thread that came to the
 *   CPU since the last tick has stamped what it has not handed over since it came, unless it is
 *   held; one that was there then, not before the bound that it had. So at any moment a thread
 *   that runs has nothing left from before its CPU's word, and one that does not run has
 *   nothing left at all, but for those that are held.
 * - C is the least word of all CPUs, read before the pieces that the ROUND then stands below.
 *   Who has handed over anything, or was told of, before he raised his CPU's word, did so
 *   before it was read; a piece that is still being copied holds up the ROUND.
 * - What the kernel saw is stamped where nothing can come between the stamp and the record, and
 *   events of probe specs when their place in the buffer is taken: a ROUND waits for it.
 *
 * It does not hold for a thread that is stopped within a point for more than a second, as
 * nobody waits longer (held.c); for a CPU that does not run for as long (a virtual one, or one
 * that is unplugged); while the buffers are full, when there is no room for a HELD either; and
 * for a record that its thread left for good by a jump out of a signal handler (STUCK_TICKS).
 * What is late then is counted as such.
 *
 * Captures without such words (of kernels where the tick can't be had, before 1.3, segments,
 * windows of the flight recorder, and merged ones) say at which time R a ROUND stands, and that
 * every piece that was handed over before R stands above it. A running thread is drained by the
 * tick, one that was preempted within a record gets the CPU back after some ten or a hundred
 * milliseconds on a full machine: up to R - STREAM_DELAY_NS nothing can come any more, mostly.
 *
 * Both are about what was copied. The drain at a switch is bounded, since it runs under the
 * run-queue lock: bytes may stay in the ring of a thread that sleeps for long. Such a chunk shows
 * it (its head is beyond its end), and then the stream's last stamp is the bound, until they came,
 * or the thread or its program is known to have ended, or the stream's LAST chunk was read (which
 * the thread's end brings, and which says how much will be missing for ever). A thread that blocks
 * was drained whole (REC_CAUSE_BLOCK) and holds back nothing.
 *
 * A hole in a stream that the chunk behind it does not explain is a chunk that stands further down:
 * the stream waits for it, and its last stamp is the bound, as above. A hole that the chunk does
 * explain is a loss as soon as a ROUND says that nothing before the chunk can come.
 *
 * So: an event is given out when its time is not beyond the minimum of these bounds. What the
 * kernel saw (forks, execs, exits, and each CPU's switches in a queue of its own) stands in the
 * same heap by its own time, before records of the same time.
 *
 * A thread has a stream for each DSO, and a processor that has two points in flight at once stamps
 * them a cycle or two apart, which is one nanosecond: between records of one time the stamps
 * decide.
 *
 * Memory: chunks are held as they came, 16 bytes a record or so, one record of each stream decoded.
 * What is held back is what was recorded in a tick and the time between two ROUNDs (or in
 * STREAM_DELAY_NS), whatever the length of the capture. A thread that sleeps on undrained bytes may
 * make that more, so beyond MERGE_HELD_MAX nothing is waited for: the heap's top is given out as it
 * is. What then comes too late is given out when it comes, and counted in `late`. Order is given up
 * for memory; records are not, as what is missing in a stream is still waited for, up to
 * MERGE_MISSING_MAX. At the end of the file nothing can come, and everything is given out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "merge.h"
#include "stack.h"

/* Orders of streams begin here, those of CPUs' queues there; below are events of the capture
 * itself. */
#define MERGE_STREAMS (1ULL << 63)
#define MERGE_QUEUES (1ULL << 62)

void merge__init(struct merge *merge, struct strings *strings, struct trace_totals *totals)
{
	*merge = (struct merge){0};
	merge->context.strings = strings;
	merge->context.totals = totals;
	schema__init(&merge->context.schema);
	processes__init(&merge->context.processes, strings);
	table__init(&merge->by_id, strings__seed(strings));
	table__init(&merge->context.thread_exits, strings__seed(strings));
}

static bool before(const struct merge_item *a, const struct merge_item *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	return a->stamp != b->stamp ? a->stamp < b->stamp : a->order < b->order;
}

static int heap__push(struct merge *merge, struct merge_item item)
{
	struct merge_item *bigger;
	size_t capacity, i, up;

	if (merge->count == merge->capacity) {
		capacity = merge->capacity ? merge->capacity * 2 : 64;
		bigger = reallocarray(merge->heap, capacity, sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		merge->heap = bigger;
		merge->capacity = capacity;
	}
	for (i = merge->count++; i > 0; i = up) {
		up = (i - 1) / 2;
		if (!before(&item, &merge->heap[up]))
			break;
		merge->heap[i] = merge->heap[up];
	}
	merge->heap[i] = item;
	return 0;
}

/* the top's place is taken by @item, which then finds its own */
static void heap__replace_top(struct merge *merge, struct merge_item item)
{
	struct merge_item *heap = merge->heap;
	size_t i = 0, down;

	for (;;) {
		down = 2 * i + 1;
		if (down >= merge->count)
			break;
		if (down + 1 < merge->count && before(&heap[down + 1], &heap[down]))
			down++;
		if (!before(&heap[down], &item))
			break;
		heap[i] = heap[down];
		i = down;
	}
	heap[i] = item;
}

static void heap__pop(struct merge *merge)
{
	merge->count--;
	if (merge->count)
		heap__replace_top(merge, merge->heap[merge->count]);
}

static struct merge_item stream__item(struct stream *stream)
{
	return (struct merge_item){stream->time, stream->stamp, MERGE_STREAMS + stream->number,
				   stream};
}

/*
 * The stream at the heap's top has another record: mostly the oldest again. Then two words change,
 * each by itself: an item that is made of parts and copied in larger ones waits for its stores.
 */
static void heap__refresh_top(struct merge *merge, struct stream *stream)
{
	struct merge_item *heap = merge->heap;
	size_t i;

	for (i = 1; i <= 2 && i < merge->count; i++) {
		if (heap[i].time <= stream->time) {
			heap__replace_top(merge, stream__item(stream));
			return;
		}
	}
	heap[0].time = stream->time;
	heap[0].stamp = stream->stamp;
}

static void merge__remove(struct merge *merge, struct stream *stream)
{
	table__remove(&merge->by_id, stream->id);
	*stream->link = stream->next;
	if (stream->next)
		stream->next->link = stream->link;
	merge->stream_count--;
	stream__free(&merge->context, stream);
}

static int merge__add_stream(struct merge *merge, struct stream *stream)
{
	int err = table__set(&merge->by_id, stream->id, stream);

	if (err) {
		stream__free(&merge->context, stream);
		return err;
	}
	stream->number = merge->stream_number++;
	stream->next = merge->streams;
	stream->link = &merge->streams;
	if (stream->next)
		stream->next->link = &stream->next;
	merge->streams = stream;
	merge->stream_count++;
	return 0;
}

int merge__add_chunk(struct merge *merge, const struct rec_chunk *chunk)
{
	struct stream *stream = table__get(&merge->by_id, chunk->stream);
	int err;

	if (!stream) {
		if (merge->stream_count == MERGE_STREAMS_MAX) {
			merge->context.totals->damaged++;
			return 0;
		}
		stream = stream__new(&merge->context, chunk);
		err = stream ? merge__add_stream(merge, stream) : -ENOMEM;
		if (err)
			return err;
	}
	return stream__add(&merge->context, stream, chunk);
}

int merge__restore(struct merge *merge, const struct file_stream *entry, const uint8_t *carried,
		   const uint8_t *context)
{
	struct stream *stream;
	struct event event;
	size_t at = 0;
	int err = 0;

	if (entry->stream && (merge->stream_count == MERGE_STREAMS_MAX ||
			      table__get(&merge->by_id, entry->stream))) {
		merge->context.totals->damaged++;
		return 0;
	}
	stream = stream__restore(&merge->context, entry, carried);
	if (!stream)
		return -ENOMEM;
	while (!err &&
	       stream__context(&merge->context, stream, context, entry->context, &at, &event))
		err = merge__add_event(merge, &event);
	if (entry->stream && !err)
		return merge__add_stream(merge, stream);
	stream__free(&merge->context, stream);
	return err;
}

int merge__add_event(struct merge *merge, const struct event *event)
{
	struct event *copy = malloc(sizeof(*copy));
	int err;

	if (!copy)
		return -ENOMEM;
	*copy = *event;
	err = heap__push(merge, (struct merge_item){event->time, 0, merge->control_number++, copy});
	if (err)
		free(copy);
	else
		merge->context.held += sizeof(*copy);
	return err;
}

static struct event *queue__at(const struct merge_queue *queue, size_t i)
{
	return &queue->events[(queue->head + i) & (queue->size - 1)];
}

static int queue__grow(struct merge_queue *queue)
{
	size_t size = queue->size ? queue->size * 2 : 64, i;
	struct event *events = reallocarray(NULL, size, sizeof(*events));

	if (!events)
		return -ENOMEM;
	for (i = 0; i < queue->count; i++)
		events[i] = *queue__at(queue, i);
	free(queue->events);
	*queue = (struct merge_queue){events, 0, queue->count, size};
	return 0;
}

static struct merge_item queue__item(const struct merge_queue *queue, uint16_t cpu)
{
	return (struct merge_item){queue__at(queue, 0)->time, 0, MERGE_QUEUES + cpu,
				   (void *)(uintptr_t)cpu};
}

static int merge__make_queues(struct merge *merge, size_t count)
{
	struct merge_queue *queues;

	if (count <= merge->queue_count)
		return 0;
	queues = reallocarray(merge->queues, count, sizeof(*queues));
	if (!queues)
		return -ENOMEM;
	memset(queues + merge->queue_count, 0, (count - merge->queue_count) * sizeof(*queues));
	merge->queues = queues;
	merge->queue_count = count;
	return 0;
}

int merge__add_sched(struct merge *merge, uint16_t cpu, const struct event *event)
{
	struct merge_queue *queue;
	int err = merge__make_queues(merge, cpu + 1U);

	if (err)
		return err;
	queue = &merge->queues[cpu];
	/* an interrupt between taking the time and the place, or a damaged file */
	if (queue->count && queue__at(queue, queue->count - 1)->time > event->time)
		return merge__add_event(merge, event);
	err = queue->count == queue->size ? queue__grow(queue) : 0;
	if (err)
		return err;
	queue->count++;
	*queue__at(queue, queue->count - 1) = *event;
	merge->context.held += sizeof(*event);
	return queue->count == 1 ? heap__push(merge, queue__item(queue, cpu)) : 0;
}

/* takes the oldest event of the CPU at the heap's top */
static void merge__take_sched(struct merge *merge, uint16_t cpu, struct event *event)
{
	struct merge_queue *queue = &merge->queues[cpu];

	*event = *queue__at(queue, 0);
	queue->head = (queue->head + 1) & (queue->size - 1);
	queue->count--;
	merge->context.held -= sizeof(*event);
	if (queue->count)
		heap__replace_top(merge, queue__item(queue, cpu));
	else
		heap__pop(merge);
}

/* looks at all streams that wait */
static int merge__look(struct merge *merge)
{
	struct stream *stream, *next;
	int err;

	for (stream = merge->streams; stream; stream = next) {
		next = stream->next;
		if (stream->ready)
			continue;
		switch (stream__peek(&merge->context, stream)) {
		case STREAM_READY:
			err = heap__push(merge, stream__item(stream));
			if (err)
				return err;
			stream->ready = true;
			break;
		case STREAM_DONE:
			merge__remove(merge, stream);
			break;
		case STREAM_WAITS:
			if (stream__holds(&merge->context, stream) && stream->hold < merge->bound)
				merge->bound = stream->hold;
		}
	}
	return merge->context.no_memory ? -ENOMEM : 0;
}

/* up to when nothing can come any more, as far as streams do not say that something waits */
static uint64_t merge__complete_to(struct stream_context *context)
{
	uint64_t delay = context->complete ? STREAM_SLACK_NS : STREAM_DELAY_NS;
	uint64_t bound = context->complete ? context->complete : context->round;

	bound = held__bound(&context->held_back, context->round, bound);
	return bound > delay ? bound - delay : 0;
}

int merge__settle(struct merge *merge)
{
	struct stream_context *context = &merge->context;
	int err;

	merge->bound = context->eof ? UINT64_MAX : merge__complete_to(context);
	err = merge__look(merge);
	if (err || context->held <= MERGE_MISSING_MAX)
		return err;
	context->force = true;
	err = merge__look(merge);
	context->force = false;
	return err;
}

/* the stream at the heap's top lost its record */
static void merge__advance(struct merge *merge, struct stream *stream)
{
	switch (stream__peek(&merge->context, stream)) {
	case STREAM_READY:
		heap__refresh_top(merge, stream);
		break;
	case STREAM_WAITS:
		heap__pop(merge);
		stream->ready = false;
		if (stream__holds(&merge->context, stream) && stream->hold < merge->bound)
			merge->bound = stream->hold;
		break;
	case STREAM_DONE:
		heap__pop(merge);
		merge__remove(merge, stream);
	}
}

int merge__next(struct merge *merge, struct event *event)
{
	const struct merge_item *item = merge->heap;
	struct merge_item top;
	struct stream *stream;

	if (!merge->count)
		return 0;
	/* part by part, as they may just have been written: see heap__refresh_top() */
	top.time = item->time;
	top.order = item->order;
	top.of = item->of;
	if (top.time > merge->bound && merge->context.held <= MERGE_HELD_MAX)
		return 0;
	if (top.order < MERGE_STREAMS && top.order >= MERGE_QUEUES) {
		merge__take_sched(merge, (uint16_t)(uintptr_t)top.of, event);
	} else if (top.order < MERGE_QUEUES) {
		*event = *(struct event *)top.of;
		free(top.of);
		merge->context.held -= sizeof(*event);
		heap__pop(merge);
	} else {
		stream = top.of;
		if (!stream__take(&merge->context, stream, event) || !stream->record)
			merge__advance(merge, stream);
	}
	if (event->time < merge->given)
		merge->context.totals->late++;
	else
		merge->given = event->time;
	return merge->context.no_memory ? -ENOMEM : 1;
}

void merge__free(struct merge *merge)
{
	size_t i;

	for (i = 0; i < merge->count; i++) {
		if (merge->heap[i].order < MERGE_QUEUES)
			free(merge->heap[i].of);
	}
	for (i = 0; i < merge->queue_count; i++)
		free(merge->queues[i].events);
	free(merge->queues);
	while (merge->streams)
		merge__remove(merge, merge->streams);
	free(merge->heap);
	table__free(&merge->by_id);
	table__free(&merge->context.thread_exits);
	processes__free(&merge->context.processes);
	held__free(&merge->context.held_back);
	stack_table__free(merge->context.stacks);
	timebase__free(&merge->context.timebase);
}
