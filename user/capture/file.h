/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The capture file (.trc): format, and the writer.
 *
 * A file header, then blocks until the end of the file. Only ever appended to, so a file whose
 * writer was killed is whole up to its last complete block; the reader stops there and says so.
 * All numbers are little-endian; every block begins at a multiple of 8.
 *
 * Block types (payloads are JSON text or C structs, never both):
 *
 *	META	JSON, first block, once a file: format, tracer's version, host, boot id, machine,
 *		page size, categories, options; "events": the schema text of this tracer
 *	DSO	JSON, then NUL, then bytes: a binary with points. {"id", "path", "build_id",
 *		"schema", "dso_offset": of struct tracer_dso from the ELF header, "image_size",
 *		"image": [[offset from ELF header, size], ...]}; the bytes are those ranges of the
 *		read-only image one after the other (where string literals are)
 *	MAP	JSON: {"pid", "time", "dso_id", "base": address of the ELF header, "dso": address of
 *		struct tracer_dso}: from then on that binary is there
 *	PROCESS	JSON: {"pid", "time", "start_time", "name", "cmdline", "parent", "host"...}
 *	RECORDS	struct rec_* of bpf/records.h, each padded to 8 bytes
 *	CLOCK	struct file_clock: the two clocks read together; at both ends and now and then
 *	ROUND	struct file_round: every record handed over before `time` stands above this block
 *	END	JSON, once, last: {"finished": true, "target_exit", "duration_ns", "lost": ...}
 *
 * docs/format.md has the rest.
 */
#ifndef TRACER_CAPTURE_FILE_H
#define TRACER_CAPTURE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FILE_MAGIC "TRACER\r\n"
/* A reader takes any minor version of its major; minors only add blocks, members and flags. */
#define FILE_MAJOR 1
#define FILE_MINOR 3

struct file_header {
	char magic[8];
	uint16_t major;
	uint16_t minor;
	uint32_t header_size;
};

enum file_block_type {
	FILE_META = 1,
	FILE_DSO,
	FILE_MAP,
	FILE_PROCESS,
	FILE_RECORDS,
	FILE_CLOCK,
	FILE_ROUND,
	FILE_END,
	/* with --stacks: */
	FILE_CODE = 32, /* what a process has mapped executable */
	FILE_BINARY,	/* of one of those files, as much as it takes to unwind and to name */
	/* of a part of a capture, see below: */
	FILE_STREAMS = 48,
};

enum file_block_flags {
	FILE_BLOCK_ZSTD = 1, /* payload is one zstd frame */
	FILE_BLOCK_PLANES =
		2, /* 1.1: of the payload's byte planes (base/planes.h); only with ZSTD */
};

#define FILE_BLOCK_MAGIC 0x4b424354U /* "TCBK" */
#define FILE_BLOCK_MAX \
	(16U << 20) /* bytes of a payload, stored or raw; DSO: FILE_IMAGE_MAX more \
		     */
#define FILE_IMAGE_MAX (64U << 20)

struct file_block {
	uint32_t magic;
	uint16_t type; /* enum file_block_type; a reader skips those it does not know */
	uint16_t flags;
	uint32_t stored; /* bytes that follow, without the padding to 8 */
	uint32_t raw;	 /* bytes after decompression */
};

struct file_clock {
	uint64_t cycles; /* of the counter that points stamp with, half way between the two below */
	uint64_t spread; /* cycles between reading the counter before and after the clocks */
	uint64_t monotonic; /* ns */
	uint64_t boottime;
	uint64_t realtime;
};

struct file_round {
	uint64_t time; /* CLOCK_BOOTTIME */
	/*
	 * Since 1.3, 0: not known. What was stamped before stands above, too, but for threads that a
	 * REC_HELD tells of. See trace/merge.c.
	 */
	uint64_t complete;
};

enum file_stream_flags {
	FILE_STREAM_MONOTONIC = 1, /* its stamps, until a WINDOW says otherwise */
	FILE_STREAM_UNKNOWN = 2, /* position and records are not known: the next chunk is found into
				    at its head */
};

/*
 * In a file that does not begin with the capture (a later segment, a flight recorder's window),
 * what one had to read before: STREAMS blocks, made of these, each followed by `carried` bytes
 * (padded to 8) of the record that `position` is in, and `context` bytes of whole records: names
 * that the present window has given, and events that hold on and are not counted: WORKER_START,
 * CHANNEL_NAME, MARKER_COLOR, and TASK_CREATED of a task that lives. With stream 0 there is only
 * context.
 */
struct file_stream {
	uint32_t size; /* with what follows; a multiple of 8 */
	uint32_t pid, tid;
	uint32_t flags; /* enum file_stream_flags */
	uint64_t stream;
	uint64_t dso;
	uint64_t position; /* of the stream's next byte */
	uint64_t records; /* written before the one that `position` is in, or is the beginning of */
	uint32_t carried;
	uint32_t context;
};

/* --- the writer ------------------------------------------------------------------------------ */

struct file_writer;
struct json_object;

/*
 * file_writer__create() - a new capture file, with its header
 * @path: must not exist, or may be overwritten; NULL: there is no file, a tap takes all blocks
 * @compress: zstd for blocks of records, as long as file_writer__set_pressure() does not object
 * Returns 0 or a negative errno.
 */
int file_writer__create(struct file_writer **writer, const char *path, bool compress);

struct iovec;

/*
 * Stands between those who have something for the file and the file (keep.c): sees each record
 * instead of the file, and each block on its way. Until file_writer__tap() nothing does.
 */
struct file_tap {
	void (*record)(void *ctx, const void *record, size_t size);
	/* the parts of a whole block; true: it was taken, and does not go to the file */
	bool (*block)(void *ctx, enum file_block_type type, const struct iovec *parts, int count);
};
void file_writer__tap(struct file_writer *writer, const struct file_tap *tap, void *ctx);
/* for a tap: a record goes to the file; a block does as it is, without another look at it */
void file_writer__append(struct file_writer *writer, const void *record, size_t size);
void file_writer__image(struct file_writer *writer, const void *block, size_t size);
/* a block whose payload is packed, if the file is */
void file_writer__packed(struct file_writer *writer, enum file_block_type type, const void *payload,
			 size_t size);
/*
 * file_writer__drop_when_full() - a full disk is no error
 * @drop: is told of each record from then on that is not written
 * Some room is kept for file_writer__end_anyway(), after which what is written goes into it.
 */
void file_writer__drop_when_full(struct file_writer *writer,
				 void (*drop)(void *ctx, const void *records, size_t size),
				 void *ctx);
/* file_writer__overwrite_when_full() - @room makes some, as often as it can; false: there is none
 * to be made */
void file_writer__overwrite_when_full(struct file_writer *writer, bool (*room)(void *ctx),
				      void *ctx);
bool file_writer__is_full(const struct file_writer *writer);
void file_writer__end_anyway(struct file_writer *writer);
/* ends this file and begins the next, which is there; 0 or the first error */
int file_writer__turn(struct file_writer *writer, const char *path);
/* a block of records is written once it has so many bytes; records that wait for it now */
void file_writer__set_block(struct file_writer *writer, size_t size);
size_t file_writer__pending(const struct file_writer *writer);

/* A record, as BPF handed it over; buffered until a block is full or file_writer__flush(). */
void file_writer__record(struct file_writer *writer, const void *record, size_t size);
/* Any other block; what was buffered goes first. @json is consumed. */
void file_writer__block(struct file_writer *writer, enum file_block_type type, const void *payload,
			size_t size);
void file_writer__json(struct file_writer *writer, enum file_block_type type,
		       struct json_object *json);
/* DSO: JSON, a NUL, then @size bytes */
void file_writer__dso(struct file_writer *writer, struct json_object *json,
		      const unsigned char *image, size_t size);
/* BINARY: likewise */
void file_writer__binary(struct file_writer *writer, struct json_object *json,
			 const unsigned char *bytes, size_t size);
void file_writer__flush(struct file_writer *writer);
/* true: the reader of the kernel's buffers falls behind, do not compress */
void file_writer__set_pressure(struct file_writer *writer, bool pressure);
/* bytes of records that were not compressed because of it */
uint64_t file_writer__unpacked(const struct file_writer *writer);

/*
 * The first error of any call above, a negative errno, or 0. After an error nothing more is
 * written, and the file ends with its last whole block.
 */
int file_writer__error(const struct file_writer *writer);
void file_writer__fail(struct file_writer *writer, int error);
uint64_t file_writer__bytes(const struct file_writer *writer);
/* flushes; returns file_writer__error() */
int file_writer__close(struct file_writer *writer);

#endif /* TRACER_CAPTURE_FILE_H */
