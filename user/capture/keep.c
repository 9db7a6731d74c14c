// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cutting a capture into parts that each stand for themselves.
 *
 * A part holds what happened from one moment to the next, on all threads: a cut anywhere else would
 * let a task begin on one worker in this part and have it stop on another in the part before. But
 * records arrive late, by up to KEEP_DELAY_NS, since they wait in the threads' rings. So what was
 * handed over waits here for that long, in the order in which it was handed over (it comes CPU by
 * CPU). What happened before a moment that lies so far back is then all there, and a cut can be
 * made at it: of the chunks that wait, what was written before goes to the part that ends (a chunk
 * may be split, between two records), the rest to the next. That is at most a window of each
 * thread.
 *
 * As the moment lies in the past, the size of the part is known when it is chosen.
 *
 * A part begins with META, the last two clock snapshots, the catalog of what holds on, and the
 * state of each stream (follow.c).
 */
#include "keep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "../base/map.h"
#include "../base/say.h"
#include "control.h"
#include "session.h"
#include "stack_record.h"
#include "trigger.h"

/* Nothing is handed over later than 200 ms after it was written (STREAM_DELAY_NS), and then
 * some. */
#define KEEP_DELAY_NS 250000000ULL
/* Beyond so much in memory nothing waits any longer. */
#define LOOK_NS 20000000ULL
#define KEEP_HELD_MAX (256ULL << 20)
/* Rounds, for the reader's sake: see user/trace/merge.c. */
#define ROUND_BYTES (4ULL << 20)
#define STACKS_TOLD_MAX (1U << 18)

struct node {
	struct node *next, *before;
	uint64_t time;
	enum file_block_type block; /* 0: a record */
	size_t size;
	union {
		struct rec_header record;
		struct rec_chunk chunk;
		struct rec_stack stack;
		unsigned char bytes[1];
	};
};

struct keep {
	struct session *session;
	struct follow *follow;
	struct catalog *catalog;
	struct flight *flight; /* NULL: segments */
	struct node *first, *last;
	struct map streams;	/* stream: its newest chunk that waits */
	struct map stacks_told; /* ids of those whose bytes the present part has */
	struct node *placed;	/* the record that came last, or NULL */
	/* when that, and the newest of all, were handed over */
	uint64_t taken, taken_newest;
	uint64_t held;
	uint64_t released; /* time up to which everything has been passed on */
	bool after_stack; /* that is a stack's, whose record is a little younger: no place to cut */
	uint64_t told_round, round_bytes;
	uint64_t start, number;
	struct clocks clocks;	  /* passed on */
	struct file_clock newest; /* read */
	/* how much more a cut adds, and what records become in the file */
	uint64_t tail, raw, raw_before, bytes_before;
	double ratio;
	struct showing showing; /* as far as has been passed on */
	struct triggers *triggers;
	uint64_t looked; /* at those that last */
	/* a trigger fired, but the last one's window has it in
	 * it, or will yet have it in another */
	bool triggered;
	uint64_t triggered_raw, written_raw;
	bool snapshot;
	uint64_t snapshot_at;
	bool finishing;
	bool failed;
};

/* --- the queue -------------------------------------------------------------------------------- */

static struct node *node__new(const void *bytes, size_t size, uint64_t time,
			      enum file_block_type block)
{
	size_t room = offsetof(struct node, bytes) + size;
	struct node *node = malloc(room < sizeof(*node) ? sizeof(*node) : room);

	if (!node)
		return NULL;
	node->next = node->before = NULL;
	node->time = time;
	node->block = block;
	node->size = size;
	memcpy(node->bytes, bytes, size);
	return node;
}

static bool node__is_chunk(const struct node *node)
{
	return !node->block && node->record.kind == REC_CHUNK;
}

static void keep__insert(struct keep *keep, struct node *node, struct node *after)
{
	node->before = after;
	node->next = after ? after->next : keep->first;
	*(after ? &after->next : &keep->first) = node;
	*(node->next ? &node->next->before : &keep->last) = node;
	keep->held += node->size;
}

static void keep__unlink(struct keep *keep, struct node *node)
{
	*(node->before ? &node->before->next : &keep->first) = node->next;
	*(node->next ? &node->next->before : &keep->last) = node->before;
	keep->held -= node->size;
	if (keep->placed == node)
		keep->placed = node->before;
	if (node__is_chunk(node) && map__get(&keep->streams, node->chunk.stream, 0) == node)
		map__remove(&keep->streams, node->chunk.stream, 0);
}

/* the node before which a chunk belongs, although it came later: two CPUs' buffers; NULL: none */
static struct node *keep__overtaken(const struct keep *keep, const struct rec_chunk *chunk)
{
	struct node *node = map__get(&keep->streams, chunk->stream, 0), *overtaken = NULL;

	if (!node || node->chunk.start <= chunk->start)
		return NULL;
	for (; node; node = node->before) {
		if (!node__is_chunk(node) || node->chunk.stream != chunk->stream)
			continue;
		if (node->chunk.start <= chunk->start)
			break;
		overtaken = node;
	}
	return overtaken;
}

/*
 * The node behind which one of that time belongs; NULL: it is the first. Each CPU's records come in
 * one go and in order, so it is near the last one's place.
 */
static struct node *keep__place(const struct keep *keep, uint64_t time)
{
	struct node *node = keep->placed ? keep->placed : keep->last, *next;

	while (node && node->time > time)
		node = node->before;
	while ((next = node ? node->next : keep->first) && next->time <= time)
		node = next;
	return node;
}

static void keep__queue(struct keep *keep, struct node *node)
{
	struct node *overtaken = NULL, *place, *newest;

	if (!node) {
		keep->failed = true;
		return;
	}
	place = keep__place(keep, node->time);
	if (node__is_chunk(node)) {
		newest = map__get(&keep->streams, node->chunk.stream, 0);
		overtaken = keep__overtaken(keep, &node->chunk);
		if (overtaken)
			place = overtaken->before;
		else if (newest && newest->time > node->time)
			place = newest;
		if (!overtaken && map__put(&keep->streams, node->chunk.stream, 0, node))
			keep->failed = true;
	}
	keep__insert(keep, node, place);
	if (!node->block)
		keep->placed = node;
}

static void keep__take_record(void *ctx, const void *record, size_t size)
{
	const struct rec_header *header = record;
	struct keep *keep = ctx;

	keep->taken = header->time;
	if (header->time > keep->taken_newest)
		keep->taken_newest = header->time;
	keep__queue(keep, node__new(record, size, header->time, (enum file_block_type)0));
}

/*
 * A block goes where the record is that it was told because of, at least where it would be if
 * there were one CPU; what stacks refer to goes before all of them.
 */
static uint64_t keep__block_time(const struct keep *keep, enum file_block_type type)
{
	return type == FILE_CODE || type == FILE_BINARY ? 0 : keep->taken;
}

static bool keep__take_block(void *ctx, enum file_block_type type, const struct iovec *parts,
			     int count)
{
	struct keep *keep = ctx;
	size_t size = 0;
	unsigned char *bytes, *to;
	int i;

	switch (type) {
	case FILE_ROUND: /* ours are told when what they promise is true */
		return true;
	case FILE_META:
	case FILE_RECORDS:
	case FILE_END:
	case FILE_STREAMS:
		if (!keep->flight)
			return false;
		if (type == FILE_RECORDS)
			flight__add(keep->flight, type, parts, count);
		return true;
	default:
		break;
	}
	for (i = 0; i < count; i++)
		size += parts[i].iov_len;
	bytes = to = malloc(size);
	for (i = 0; bytes && i < count; i++) {
		memcpy(to, parts[i].iov_base, parts[i].iov_len);
		to += parts[i].iov_len;
	}
	if (bytes)
		keep__queue(keep, node__new(bytes, size, keep__block_time(keep, type), type));
	else
		keep->failed = true;
	free(bytes);
	return true;
}

static const struct file_tap keep_tap = {keep__take_record, keep__take_block};

/* --- passing on ------------------------------------------------------------------------------- */

/* a block that waited goes where the records go */
static void keep__pass_block(struct keep *keep, const struct node *node)
{
	struct file_writer *writer = keep->session->writer;
	const struct file_block *head = (const void *)node->bytes;
	struct iovec part = {(void *)(uintptr_t)node->bytes, node->size};

	if (node->block == FILE_CLOCK && head->stored >= sizeof(keep->newest)) {
		keep->clocks.last[0] = keep->clocks.last[1];
		memcpy(&keep->clocks.last[1], head + 1, sizeof(keep->clocks.last[1]));
		keep->clocks.count += keep->clocks.count < 2;
	} else {
		catalog__add(keep->catalog, node->block, node->bytes, node->size, node->time);
	}
	if (!keep->flight) {
		file_writer__image(writer, node->bytes, node->size);
	} else if (node->block == FILE_CLOCK) {
		file_writer__flush(writer);
		flight__add(keep->flight, node->block, &part, 1);
	}
}

static void keep__pass_record(struct keep *keep, const struct rec_header *record)
{
	const struct rec_task *task = (const void *)record;
	const struct rec_pause *pause = (const void *)record;

	catalog__record(keep->catalog, record);
	if (record->kind == REC_THREAD_EXIT)
		follow__thread_ends(keep->follow, task->tid, record->time);
	else if (record->kind == REC_PAUSE)
		keep->showing = (struct showing){pause->paused != REC_SHOWN, pause->sample};
	else if (record->kind == REC_PROCESS_EXIT || record->kind == REC_EXEC)
		follow__process_ends(keep->follow, task->pid);
	keep->raw += record->size;
	file_writer__append(keep->session->writer, record, record->size);
}

/* the bytes of a stack stand once in a part */
static void keep__trim_stack(struct keep *keep, struct rec_stack *stack)
{
	if (!map__get(&keep->stacks_told, stack->id, 0)) {
		if (keep->stacks_told.count >= STACKS_TOLD_MAX)
			map__free(&keep->stacks_told);
		map__put(&keep->stacks_told, stack->id, 0, keep);
	} else if (stack->h.size > sizeof(*stack)) {
		stack->len = 0;
		stack->h.size = sizeof(*stack);
	}
}

static void keep__pass(struct keep *keep, struct node *node)
{
	uint64_t records;

	keep__unlink(keep, node);
	if (!node->block && node->time > keep->released) {
		keep->released = node->time;
		keep->after_stack = node->record.kind == REC_STACK;
	}
	if (node->block) {
		keep__pass_block(keep, node);
	} else {
		if (node__is_chunk(node))
			follow__chunk(keep->follow, &node->chunk, NULL, &records);
		else if (node->record.kind == REC_STACK)
			keep__trim_stack(keep, &node->stack);
		keep__pass_record(keep, &node->record);
	}
	free(node);
}

/* --- cutting ---------------------------------------------------------------------------------- */

/* the other clocks at that time */
static struct moment keep__moment(const struct keep *keep, uint64_t boottime)
{
	const struct file_clock *a = &keep->clocks.last[0], *b = &keep->newest;
	double rate = 1;
	int64_t distance = (int64_t)(boottime - b->boottime);

	if (a->boottime && b->boottime > a->boottime)
		rate = (double)(b->cycles - a->cycles) / (double)(b->boottime - a->boottime);
	return (struct moment){
		.boottime = boottime,
		.monotonic = b->monotonic + (uint64_t)distance,
		.cycles = b->cycles + (uint64_t)(int64_t)((double)distance * rate),
	};
}

/* what of a chunk was written before the cut is passed on; the rest stays. False: nothing does */
static bool keep__split(struct keep *keep, struct node *node, const struct moment *moment)
{
	struct rec_chunk *chunk = &node->chunk, *part;
	uint64_t records = 0;
	uint32_t used;

	if (follow__is_held(keep->follow, chunk->stream))
		return true;
	/* one without data, that tells of a beginning or an end, goes by its own time */
	used = chunk->len || chunk->h.time < moment->boottime
		       ? follow__chunk(keep->follow, chunk, moment, &records)
		       : 0;
	if (used == chunk->len && (chunk->len || chunk->h.time < moment->boottime))
		return false;
	follow__hold(keep->follow, chunk);
	if (!used)
		return true;
	part = malloc(sizeof(*part) + used);
	if (!part) {
		keep->failed = true;
		return true;
	}
	memcpy(part, chunk, sizeof(*part) + used);
	part->h.size = (uint32_t)sizeof(*part) + used;
	part->len = used;
	part->head = chunk->start + used;
	part->head_records = records;
	part->flags &= (uint16_t)~REC_CHUNK_LAST;
	keep__pass_record(keep, &part->h);
	free(part);
	chunk->h.size -= used;
	chunk->start += used;
	chunk->start_records = records;
	chunk->len -= used;
	chunk->flags &= REC_CHUNK_LAST;
	memmove(chunk->data, chunk->data + used, chunk->len);
	node->size -= used;
	keep->held -= used;
	return true;
}

/* of all that waits, what happened before */
static void keep__pass_before(struct keep *keep, const struct moment *moment)
{
	struct node *node, *next;

	for (node = keep->first; node; node = next) {
		next = node->next;
		if (node__is_chunk(node)) {
			if (keep__split(keep, node, moment))
				continue;
			keep__unlink(keep, node);
			keep__pass_record(keep, &node->record);
			free(node);
		} else if (node->time < moment->boottime) {
			keep__pass(keep, node);
		}
	}
}

static int keep__put_streams(void *ctx, const void *bytes, size_t size)
{
	struct keep *keep = ctx;

	file_writer__packed(keep->session->writer, FILE_STREAMS, bytes, size);
	return file_writer__error(keep->session->writer);
}

static void keep__write_clocks(const struct keep *keep)
{
	const struct file_clock *clock;
	unsigned int i;
	struct {
		struct file_block head;
		struct file_clock clock;
	} block = {.head = {FILE_BLOCK_MAGIC, FILE_CLOCK, 0, sizeof(*clock), sizeof(*clock)}};

	for (i = 2 - keep->clocks.count; i < 2; i++) {
		block.clock = keep->clocks.last[i];
		file_writer__image(keep->session->writer, &block, sizeof(block));
	}
}

/* the next segment, which begins at keep->start */
static void keep__turn(struct keep *keep)
{
	struct session *session = keep->session;
	char *path = session__next_path(session);

	if (!path || file_writer__turn(session->writer, path)) {
		keep->failed = true;
		free(path);
		return;
	}
	free(path);
	session__tell_meta(session, session->writer, keep->start, keep->number, keep->showing);
	keep__write_clocks(keep);
	catalog__write(keep->catalog, session->writer);
	if (follow__tell(keep->follow, keep__put_streams, keep) ||
	    follow__tell_tasks(keep->follow, keep->number, keep__put_streams, keep))
		keep->failed = true;
	follow__cut(keep->follow, keep->number, keep->number);
	keep->raw_before = keep->raw;
	keep->bytes_before = file_writer__bytes(session->writer);
}

static void keep__cut(struct keep *keep, uint64_t time)
{
	struct session *session = keep->session;
	struct moment moment;
	uint64_t before = keep->raw;

	clocks__read(&keep->newest);
	moment = keep__moment(keep, time);
	keep__pass_before(keep, &moment);
	if (keep->raw - before > keep->tail)
		keep->tail = keep->raw - before;
	else
		keep->tail -= (keep->tail - (keep->raw - before)) / 4;
	keep->number++;
	file_writer__flush(session->writer);
	map__free(&keep->stacks_told);
	if (!keep->flight)
		session__tell_end(session, session->writer, time - keep->start, time, true);
	keep->start = time;
	if (keep->flight) {
		flight__begin(keep->flight, time, keep->showing, &keep->clocks, keep->follow,
			      keep->number);
		follow__cut(keep->follow, keep->number, flight__oldest_cut(keep->flight));
		catalog__prune(keep->catalog, flight__oldest_start(keep->flight));
	} else {
		catalog__prune(keep->catalog, time);
		keep__turn(keep);
	}
	follow__release(keep->follow);
	follow__sweep(keep->follow, time > KEEP_DELAY_NS ? time - KEEP_DELAY_NS : 0);
}

/* would the file, with what a cut adds to it, be too large after @more bytes of records? */
static bool keep__is_full(const struct keep *keep, uint64_t more)
{
	const struct file_writer *writer = keep->session->writer;
	uint64_t limit = keep->session->options->max_file_size;
	uint64_t bytes, waits, tail, least;

	if (keep->flight)
		return flight__is_full(keep->flight);
	if (!limit)
		return false;
	bytes = file_writer__bytes(writer);
	waits = file_writer__pending(writer);
	tail = (uint64_t)((double)(keep->tail + keep->tail / 2) * keep->ratio);
	/* a cut that took much once, on a machine that stood
	 * still, makes no small files for ever */
	if (tail > limit / 2)
		tail = limit / 2;
	waits = (uint64_t)((double)(waits + more) * keep->ratio);
	/* where many tasks live, or large binaries are told, what a file begins with may leave no
	 * room; it has some all the same, or there would be no end of files */
	least = keep->bytes_before > limit / 2 ? limit / 2 : limit / 8;
	if (bytes - keep->bytes_before + waits < least)
		return false;
	return bytes + tail + 4096 + waits > limit;
}

/* how far records have shrunk in the file so far */
static void keep__measure(struct keep *keep)
{
	uint64_t bytes = file_writer__bytes(keep->session->writer) - keep->bytes_before;
	uint64_t raw = keep->raw - keep->raw_before - file_writer__pending(keep->session->writer);

	if (raw && bytes)
		keep->ratio = 1.1 * (double)bytes / (double)raw;
	if (keep->ratio > 1)
		keep->ratio = 1;
}

/* all that was read and is no younger than @time */
static void keep__release(struct keep *keep, uint64_t time)
{
	struct node *node;

	while ((node = keep->first) && node->time <= time && !keep->failed) {
		if (!keep->flight)
			keep__measure(keep);
		if (keep->released > keep->start && keep->raw > keep->raw_before &&
		    !keep->after_stack && keep__is_full(keep, node->size))
			keep__cut(keep, keep->released);
		/* the cut may have taken it */
		if (keep->first == node)
			keep__pass(keep, node);
	}
}

/* up to when has everything been passed on? What came in another order than that of time may wait
 * still. */
static uint64_t keep__complete_to(const struct keep *keep, uint64_t time)
{
	const struct node *node;

	for (node = keep->first; node; node = node->next) {
		if (!node->block && node->time < time)
			time = node->time;
	}
	return time;
}

static void keep__tell_round(struct keep *keep, uint64_t time)
{
	struct {
		struct file_block head;
		struct file_round round;
	} block = {
		.head = {FILE_BLOCK_MAGIC, FILE_ROUND, 0, sizeof(block.round), sizeof(block.round)},
		.round = {time}};
	struct iovec part = {&block, sizeof(block)};

	file_writer__flush(keep->session->writer);
	if (keep->flight)
		flight__add(keep->flight, FILE_ROUND, &part, 1);
	else
		file_writer__image(keep->session->writer, &block, sizeof(block));
	keep->told_round = time;
	keep->round_bytes = keep->raw;
}

static void keep__watch(struct keep *keep, uint64_t safe);

static void keep__write_window(struct keep *keep, uint64_t time)
{
	struct session *session = keep->session;
	char *path;

	keep__cut(keep, time);
	path = session__next_path(session);
	if (!path ||
	    flight__write(keep->flight, path, keep->catalog, keep->follow, time, keep->finishing)) {
		free(path);
		control__tell_snapshot(session->control, NULL);
		return;
	}
	session__tell_snapshot(session, path);
	free(path);
}

void keep__round(struct keep *keep, uint64_t time)
{
	const struct capture_options *options = keep->session->options;
	uint64_t safe = time > KEEP_DELAY_NS ? time - KEEP_DELAY_NS : 0;
	uint64_t interval = options->flush_interval_ns == UINT64_MAX ? 100000000ULL
								     : options->flush_interval_ns;

	/* blocks that no record causes come after all that was taken so far */
	keep->taken = keep->taken_newest;
	if (keep->held > KEEP_HELD_MAX)
		safe = time;
	if (keep->snapshot && keep->snapshot_at <= safe) {
		keep__release(keep, keep->snapshot_at);
		keep->snapshot = false;
		keep__write_window(keep, keep->snapshot_at);
	}
	keep__release(keep, safe);
	if (keep->triggers)
		keep__watch(keep, safe);
	if (safe > keep->released) {
		keep->released = safe;
		keep->after_stack = false;
	}
	if (keep->failed && !file_writer__error(keep->session->writer))
		file_writer__fail(keep->session->writer, -ENOMEM);
	if (safe - keep->told_round >= interval || keep->raw - keep->round_bytes > ROUND_BYTES)
		keep__tell_round(keep, keep__complete_to(keep, safe));
}

void keep__snapshot(struct keep *keep)
{
	if (!keep->flight || keep->snapshot)
		return;
	keep->snapshot = true;
	keep->snapshot_at = now__boottime();
}

/*
 * A condition that holds all the time shall not fill the disk: after one window there is no other
 * before half of what is kept is new; what fires meanwhile is in that one.
 */
static bool keep__has_renewed(const struct keep *keep, uint64_t since)
{
	double kept = (double)keep->session->options->flight_size / 2;

	return (double)(keep->raw - since) * flight__ratio(keep->flight, keep->raw) > kept;
}

static void keep__fire(void *ctx, const char *what)
{
	struct keep *keep = ctx;

	say__info("%s", what);
	if (keep->triggered || keep->snapshot)
		return;
	keep->triggered = true;
	keep->triggered_raw = keep->raw;
}

static void keep__watch(struct keep *keep, uint64_t safe)
{
	struct moment moment;
	double rate;

	if (safe - keep->looked > LOOK_NS) {
		keep->looked = safe;
		clocks__read(&keep->newest);
		if (keep->clocks.count) {
			rate = (double)(keep->newest.cycles - keep->clocks.last[1].cycles) /
			       (double)(keep->newest.boottime - keep->clocks.last[1].boottime);
			triggers__set_rate(keep->triggers, rate);
		}
		moment = keep__moment(keep, safe);
		triggers__look(keep->triggers, &moment);
	}
	if (!keep->triggered || keep->snapshot)
		return;
	if (keep->written_raw && !keep__has_renewed(keep, keep->written_raw))
		return;
	keep->triggered = false;
	keep->written_raw = keep->raw;
	keep->snapshot = true;
	keep->snapshot_at = now__boottime() + keep->session->options->trigger_after_ns;
}

void keep__finish(struct keep *keep)
{
	uint64_t now = now__boottime();

	keep->finishing = true;
	keep__release(keep, UINT64_MAX);
	keep__tell_round(keep, now);
	keep->snapshot = false;
	if (keep->flight)
		keep__write_window(keep, now);
}

/* --- beginning and end ------------------------------------------------------------------------ */

int keep__new(struct keep **result, struct session *session)
{
	const struct capture_options *options = session->options;
	struct keep *keep = calloc(1, sizeof(*keep));
	uint64_t block = 1 << 20;

	if (!keep)
		return -ENOMEM;
	*result = keep;
	keep->session = session;
	keep->ratio = 0.5;
	keep->showing = (struct showing){session->paused, session->sample};
	keep->start = keep->released = keep->taken = keep->taken_newest = now__boottime();
	keep->follow = follow__new();
	keep->catalog = catalog__new();
	if (!keep->follow || !keep->catalog)
		return -ENOMEM;
	clocks__read(&keep->newest);
	if (options->flight_size) {
		keep->flight = flight__new(session, options->flight_size);
		if (!keep->flight)
			return -ENOMEM;
		flight__begin(keep->flight, keep->start, keep->showing, &keep->clocks, keep->follow,
			      0);
		block = options->flight_size / 64;
	} else if (options->max_file_size) {
		block = options->max_file_size / 8;
		keep->tail = options->max_file_size / 4;
	}
	keep->bytes_before = file_writer__bytes(session->writer);
	file_writer__set_block(session->writer, block < (16U << 10) ? 16U << 10 : block);
	follow__learn(keep->follow, session__schema());
	if (options->trigger_count) {
		keep->triggers = triggers__new(options->triggers, options->trigger_count,
					       keep->follow, keep__fire, keep);
		if (!keep->triggers)
			return -ENOMEM;
	}
	file_writer__tap(session->writer, &keep_tap, keep);
	return 0;
}

void keep__free(struct keep *keep)
{
	struct node *node;

	if (!keep)
		return;
	while ((node = keep->first)) {
		keep__unlink(keep, node);
		free(node);
	}
	map__free(&keep->streams);
	map__free(&keep->stacks_told);
	triggers__free(keep->triggers);
	follow__free(keep->follow);
	catalog__free(keep->catalog);
	flight__free(keep->flight);
	free(keep);
}

struct follow *keep__follow(const struct keep *keep)
{
	return keep->follow;
}

uint64_t keep__start(const struct keep *keep)
{
	return keep->start;
}

uint64_t keep__number(const struct keep *keep)
{
	return keep->number;
}

uint64_t keep__held(const struct keep *keep)
{
	return keep->held;
}

uint64_t keep__window(const struct keep *keep)
{
	return keep->flight ? flight__bytes(keep->flight) : 0;
}
