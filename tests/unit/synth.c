// SPDX-License-Identifier: BSD-2-Clause
/* Captures made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include "base/planes.h"
#include "synth.h"

static void append(uint8_t **to, size_t *size, size_t *capacity, const void *bytes, size_t n)
{
	if (*size + n > *capacity) {
		*capacity = (*size + n) * 2 + 64;
		*to = realloc(*to, *capacity);
		if (!*to)
			abort();
	}
	if (n)
		memcpy(*to + *size, bytes, n);
	*size += n;
}

void ring__init(struct synth_ring *ring, uint64_t start, uint64_t start_records)
{
	*ring = (struct synth_ring){
		.start = start, .start_records = start_records, .records = start_records};
}

void ring__free(struct synth_ring *ring)
{
	free(ring->data);
	ring->data = NULL;
}

void ring__bytes(struct synth_ring *ring, const void *bytes, size_t size)
{
	append(&ring->data, &ring->size, &ring->capacity, bytes, size);
}

static void ring__word(struct synth_ring *ring, uint64_t word)
{
	ring__bytes(ring, &word, sizeof(word));
}

static uint64_t ring__stamp(const struct synth_ring *ring, uint64_t time)
{
	return ring->monotonic ? time - SYNTH_MONOTONIC : time * 3;
}

void ring__window(struct synth_ring *ring, uint64_t time, enum tracer_clock clock)
{
	ring->monotonic = clock == TRACER_CLOCK_MONOTONIC;
	ring__word(ring, ring__stamp(ring, time) << 8 | TRACER_EV_WINDOW);
	ring__word(ring, clock);
}

void ring__pad(struct synth_ring *ring, uint64_t bytes)
{
	uint64_t left;

	ring__word(ring, bytes << 8 | TRACER_EV_PAD);
	for (left = 8; left < bytes; left += 8)
		ring__word(ring, 0x5a5a5a5a5a5a5a5aULL);
}

void ring__name_key(struct synth_ring *ring, uint64_t key, const void *bytes, size_t size)
{
	static const char zeros[8];

	ring__word(ring, (uint64_t)size << 8 | TRACER_EV_NAME);
	ring__word(ring, key);
	ring__bytes(ring, bytes, size);
	ring__bytes(ring, zeros, -size % 8);
}

uint64_t ring__name(struct synth_ring *ring, const char *string)
{
	uint64_t key = 5381;
	const char *at;

	for (at = string; *at; at++)
		key = key * 33 + (unsigned char)*at;
	key |= TRACER_NAME_KEY;
	ring__name_key(ring, key, string, strlen(string));
	return key;
}

void ring__raw(struct synth_ring *ring, unsigned int type, uint64_t time, const void *bytes,
	       size_t size)
{
	ring__word(ring, ring__stamp(ring, time) << 8 | type);
	ring__bytes(ring, bytes, size);
	ring->records++;
}

static const char *const arg_types[256][4] = {
#define TRACER_EVENT1(n, name, category, by, t1, a1, doc) [n] = {#t1},
#define TRACER_EVENT2(n, name, category, by, t1, a1, t2, a2, doc) [n] = {#t1, #t2},
#define TRACER_EVENT3(n, name, category, by, t1, a1, t2, a2, t3, a3, doc) [n] = {#t1, #t2, #t3},
#define TRACER_EVENT4(n, name, category, by, t1, a1, t2, a2, t3, a3, t4, a4, doc) \
	[n] = {#t1, #t2, #t3, #t4},
#include <tracer/events.def>
};

void ring__event(struct synth_ring *ring, unsigned int type, uint64_t time, ...)
{
	unsigned int row = type == EV_zone_value + 1 || type == EV_counter + 1 ? type - 1 : type;
	uint8_t bytes[64] = {0};
	size_t at = 0, size, i;
	uint64_t value;
	va_list args;

	va_start(args, time);
	for (i = 0; i < 4 && arg_types[row][i]; i++) {
		value = va_arg(args, uint64_t);
		size = !strcmp(arg_types[row][i], "u32") || !strcmp(arg_types[row][i], "lit") ? 4
											      : 8;
		at = (at + size - 1) / size * size;
		memcpy(bytes + at, &value, size);
		at += size;
	}
	va_end(args);
	ring__raw(ring, type, time, bytes, (at + 7) & ~(size_t)7);
}

static void synth__append(struct synth *synth, const void *bytes, size_t size)
{
	append(&synth->data, &synth->size, &synth->capacity, bytes, size);
}

void synth__init_bare(struct synth *synth, unsigned int major, unsigned int minor)
{
	struct file_header header = {FILE_MAGIC, major, minor, sizeof(header)};

	*synth = (struct synth){0};
	synth__append(synth, &header, sizeof(header));
}

void synth__init(struct synth *synth)
{
	synth__init_bare(synth, FILE_MAJOR, FILE_MINOR);
	synth__json(synth, FILE_META,
		    "{\"boot_id\":\"b007\",\"host\":\"here\",\"machine\":\"x86_64\"}");
	synth__clock(synth, SYNTH_START * 3, SYNTH_START, 60);
	synth__clock(synth, (SYNTH_START + 60 * SEC) * 3, SYNTH_START + 60 * SEC, 60);
}

void synth__free(struct synth *synth)
{
	free(synth->data);
	free(synth->records);
	*synth = (struct synth){0};
}

static void synth__put_block(struct synth *synth, unsigned int type, const void *data, size_t size)
{
	struct file_block head = {FILE_BLOCK_MAGIC, type, 0, size, size};
	static const char zeros[8];
	void *packed = NULL, *planes = NULL;

	if (synth->zstd) {
		packed = malloc(ZSTD_compressBound(size));
		head.flags = FILE_BLOCK_ZSTD;
		if (synth->planes && type == FILE_RECORDS) {
			planes = malloc(size);
			planes__split(planes, data, size);
			head.flags |= FILE_BLOCK_PLANES;
			data = planes;
		}
		head.stored = ZSTD_compress(packed, ZSTD_compressBound(size), data, size, 1);
		data = packed;
	}
	synth__append(synth, &head, sizeof(head));
	synth__append(synth, data, head.stored);
	synth__append(synth, zeros, -(size_t)head.stored % 8);
	free(packed);
	free(planes);
}

void synth__flush(struct synth *synth)
{
	if (synth->records_size)
		synth__put_block(synth, FILE_RECORDS, synth->records, synth->records_size);
	synth->records_size = 0;
}

void synth__block(struct synth *synth, unsigned int type, const void *data, size_t size)
{
	synth__flush(synth);
	synth__put_block(synth, type, data, size);
}

void synth__json(struct synth *synth, unsigned int type, const char *format, ...)
{
	char *text;
	va_list args;
	int size;

	va_start(args, format);
	size = vasprintf(&text, format, args);
	va_end(args);
	if (size < 0)
		abort();
	synth__block(synth, type, text, size);
	free(text);
}

void synth__clock(struct synth *synth, uint64_t cycles, uint64_t boottime, uint64_t spread)
{
	struct file_clock clock = {cycles, spread, boottime - SYNTH_MONOTONIC, boottime,
				   boottime + 1000 * SEC};

	synth__block(synth, FILE_CLOCK, &clock, sizeof(clock));
}

void synth__round(struct synth *synth, uint64_t time)
{
	struct file_round round = {time, 0};

	/* as before 1.3 */
	synth__block(synth, FILE_ROUND, &round, sizeof(round.time));
}

void synth__round_complete(struct synth *synth, uint64_t time, uint64_t complete)
{
	struct file_round round = {time, complete};

	synth__block(synth, FILE_ROUND, &round, sizeof(round));
}

void synth__held(struct synth *synth, uint64_t time, uint32_t tid, uint64_t since)
{
	struct rec_held held = {
		.h = {.size = sizeof(held), .kind = REC_HELD, .time = time},
		.pid = 100,
		.tid = tid,
		.since = since,
	};

	synth__record(synth, &held, sizeof(held));
}

void synth__dso(struct synth *synth, const char *json, const void *image, size_t size)
{
	size_t text = strlen(json) + 1;
	char *bytes = malloc(text + size);

	memcpy(bytes, json, text);
	memcpy(bytes + text, image, size);
	synth__block(synth, FILE_DSO, bytes, text + size);
	free(bytes);
}

void synth__record(struct synth *synth, const void *record, size_t size)
{
	static const char zeros[8];

	append(&synth->records, &synth->records_size, &synth->records_capacity, record, size);
	append(&synth->records, &synth->records_size, &synth->records_capacity, zeros, -size % 8);
}

void synth__end(struct synth *synth)
{
	synth__json(synth, FILE_END, "{\"finished\":true,\"duration_ns\":60000000000}");
}

void synth__chunk(struct synth *synth, const struct synth_ring *ring, size_t from, size_t to,
		  struct synth_chunk options)
{
	size_t size = sizeof(struct rec_chunk) + (to - from);
	struct rec_chunk *chunk = calloc(1, size);

	chunk->h.size = size;
	chunk->h.kind = REC_CHUNK;
	chunk->h.time = options.time;
	chunk->pid = options.pid ? options.pid : 100;
	chunk->tid = options.tid ? options.tid : 100;
	chunk->stream = options.stream;
	chunk->ring = 0x7f0000000000ULL + options.stream * 0x100000;
	chunk->dso = options.dso;
	chunk->start = ring->start + from;
	chunk->start_records = options.start_records ? options.start_records : ring->start_records;
	chunk->head = options.head ? options.head : ring->start + ring->size;
	chunk->head_records = options.head_records ? options.head_records : ring->records;
	chunk->len = to - from;
	chunk->cause = options.cause;
	chunk->flags = options.flags;
	if (to > from)
		memcpy(chunk->data, ring->data + from, to - from);
	synth__record(synth, chunk, size);
	free(chunk);
}

void synth__stream(struct synth *synth, const struct synth_ring *ring, uint64_t stream,
		   uint32_t tid, uint64_t time)
{
	synth__chunk(synth, ring, 0, ring->size,
		     (struct synth_chunk){.stream = stream,
					  .tid = tid,
					  .time = time,
					  .cause = REC_CAUSE_EXIT,
					  .flags = REC_CHUNK_FIRST | REC_CHUNK_LAST});
}

void synth__task(struct synth *synth, unsigned int kind, uint64_t time, uint32_t pid, uint32_t tid,
		 uint32_t parent, int status)
{
	struct rec_task task = {.h = {sizeof(task), kind, 0, time},
				.pid = pid,
				.tid = tid,
				.parent = parent,
				.status = status};

	synth__record(synth, &task, sizeof(task));
}

/* threads from 100 to 199 are process 100's, others processes of their own; tid 7 is called t7 */
void synth__switch(struct synth *synth, uint64_t time, unsigned int cpu, unsigned int flags,
		   uint32_t prev, uint32_t state, uint32_t next, uint32_t lost)
{
	struct rec_switch record = {.h = {sizeof(record), REC_SWITCH, cpu, time},
				    .prev_pid = prev / 100 == 1 ? 100 : prev,
				    .prev_tid = prev,
				    .next_pid = next / 100 == 1 ? 100 : next,
				    .next_tid = next,
				    .state = state,
				    .lost = lost,
				    .flags = flags,
				    .prev_prio = 120,
				    .next_prio = 100 - 1};

	snprintf(record.prev_comm, sizeof(record.prev_comm), "t%u", prev);
	snprintf(record.next_comm, sizeof(record.next_comm), "t%u", next);
	synth__record(synth, &record, sizeof(record));
}

void synth__waking(struct synth *synth, uint64_t time, unsigned int cpu, uint32_t tid,
		   uint32_t waker, unsigned int flags)
{
	struct rec_waking record = {.h = {sizeof(record), REC_WAKING, cpu, time},
				    .pid = 100,
				    .tid = tid,
				    .waker_pid = waker,
				    .waker_tid = waker,
				    .flags = flags,
				    .prio = 120,
				    .waker_comm = "waker-16-bytes.."};

	synth__record(synth, &record, sizeof(record));
}

const char *synth__write(const struct synth *synth, size_t size)
{
	static char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/tracer-synth-%d.trc", getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, synth->data, size), size);
	close(fd);
	return path;
}

struct trace *synth__open_size(const struct synth *synth, size_t size)
{
	const char *path = synth__write(synth, size);
	char *err = NULL;
	struct trace *trace = trace__open(path, &err);

	unlink(path);
	if (!trace)
		fail_msg("trace__open: %s", err ? err : "(no reason)");
	return trace;
}

struct trace *synth__open(struct synth *synth)
{
	synth__flush(synth);
	return synth__open_size(synth, synth->size);
}

static void dump_arg(FILE *out, const struct event_schema *schema, const struct event *event,
		     unsigned int i)
{
	const union event_arg *arg = &event->args[i];
	char type = schema ? schema->arg_types[i] : 'q';

	if (type == 's' || type == 'l')
		fprintf(out, " %s", arg->s ? arg->s : "NULL");
	else if (type == 'n' && event->real)
		fprintf(out, " %.3f", arg->d);
	else if (type == 'n')
		fprintf(out, " %" PRId64, arg->i);
	else
		fprintf(out, " %" PRIu64, arg->u);
}

char *synth__dump(struct trace *trace)
{
	const struct event_schema *schema;
	struct event event;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	unsigned int i;
	int ret;

	while ((ret = trace__next(trace, &event)) > 0) {
		schema = trace__schema(trace, event.type);
		fprintf(out, "%" PRId64 " %u %s", (int64_t)(event.time - SYNTH_START) / 1000,
			event.tid, schema ? schema->name : "?");
		if (event.type == EV_lost)
			fprintf(out, " %" PRIu64 " %" PRIu64, event.args[0].u, event.args[3].u);
		for (i = 0; event.type != EV_lost && i < event.nargs; i++)
			dump_arg(out, schema, &event, i);
		fputc('\n', out);
	}
	fclose(out);
	assert_int_equal(ret, 0);
	assert_int_equal(event.type, EV_end);
	return text;
}
