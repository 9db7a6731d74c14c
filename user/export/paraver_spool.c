// SPDX-License-Identifier: BSD-2-Clause
/* Records on their way from the first pass to the second, see paraver.h. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/say.h"
#include "paraver.h"

/*
 * Most ends come soon: they are filled in while the record is still here. Half of it stays when it
 * is written out. A pipeline's tasks that wait for one another needed a write in the past for 9 %
 * of the capture's records when 32,768 of ours were here; this is half a million and more.
 */
#define SPOOL_BYTES (8U << 20)
#define SPOOL_CHUNK (256U << 10) /* of reading */
#define RECORD_MAX 64U		 /* bytes: a header, five numbers of up to ten, one of eight */

/*
 * A record is a byte with its kind and what it has in common with the one before it, then numbers
 * of seven bits a byte, the lowest first: time since that one, row, CPU, and what the kind needs.
 * Of a state the end stands last, in eight bytes; a RECEIVE is the byte and a struct arrival: these
 * two are filled in later. 6 to 8 bytes a record instead of 32, which is what the kernel copies
 * twice.
 */
enum { SAME_TIME = 4, SAME_PLACE = 8, KIND_MASK = 3 };

#define TYPES_FROM 9000000U /* of events */

struct arrival {
	uint64_t time, a;
	uint32_t row;
	uint16_t cpu;
};

/* a file without a name, which is gone with us, however we go */
static int temporary__open(const char *folder)
{
	char *name;
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd >= 0 ? fd : -errno;
	/* a file system without such files */
	name = sentence__new("%s/.tracer-XXXXXX", folder);
	if (!name)
		return -ENOMEM;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd >= 0 ? fd : -errno;
}

int spool__open(struct spool *spool, const char *path)
{
	char *copy = strdup(path);
	const char *elsewhere = getenv("TMPDIR");

	memset(spool, 0, sizeof(*spool));
	spool->fd = copy ? temporary__open(dirname(copy)) : -ENOMEM;
	free(copy);
	/* a folder that only its files may be written in */
	if (spool->fd < 0)
		spool->fd = temporary__open(elsewhere ? elsewhere : "/tmp");
	spool->bytes = malloc(SPOOL_BYTES);
	if (spool->fd >= 0 && !spool->bytes) {
		close(spool->fd);
		spool->fd = -ENOMEM;
	}
	return spool->fd < 0 ? spool->fd : 0;
}

void spool__close(struct spool *spool)
{
	if (spool->bytes && spool->fd >= 0)
		close(spool->fd);
	free(spool->bytes);
	memset(spool, 0, sizeof(*spool));
}

static void write_at(struct spool *spool, const void *data, size_t size, uint64_t at)
{
	const char *from = data;

	while (size && !spool->err) {
		ssize_t n = pwrite(spool->fd, from, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			spool->err = n < 0 ? -errno : -ENOSPC;
			return;
		}
		from += n;
		at += (uint64_t)n;
		size -= (size_t)n;
	}
}

/* the first of what is here to the file */
static void spool__flush(struct spool *spool, size_t size)
{
	write_at(spool, spool->bytes, size, spool->written);
	spool->written += size;
	spool->size -= size;
	memmove(spool->bytes, spool->bytes + size, spool->size);
}

static unsigned char *put_number(unsigned char *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (unsigned char)(value | 0x80);
	*at++ = (unsigned char)value;
	return at;
}

static const unsigned char *get_number(const unsigned char *at, uint64_t *value)
{
	unsigned int shift = 0;

	/* most */
	if (!(*at & 0x80)) {
		*value = *at;
		return at + 1;
	}
	for (*value = 0; *at & 0x80 && shift < 63; shift += 7)
		*value |= (uint64_t)(*at++ & 0x7f) << shift;
	*value |= (uint64_t)*at++ << shift;
	return at;
}

/* both in one: not as they lie in the record, or they would be loaded as one, which waits for their
 * stores */
static uint64_t place__of(const struct prv_record *record)
{
	return (uint64_t)record->row << 16 | record->cpu;
}

static unsigned char *put_head(struct spool *spool, unsigned char *at,
			       const struct prv_record *record)
{
	uint64_t place = place__of(record);
	bool same_time = record->time == spool->last.time;
	bool same_place = place == spool->last.place;

	*at++ = (unsigned char)(record->kind | (same_time ? SAME_TIME : 0) |
				(same_place ? SAME_PLACE : 0));
	if (!same_time)
		at = put_number(at, record->time - spool->last.time);
	if (!same_place)
		at = put_number(put_number(at, record->row), record->cpu);
	spool->last.time = record->time;
	spool->last.place = place;
	return at;
}

uint64_t spool__add(struct spool *spool, const struct prv_record *record)
{
	unsigned char *at, *fixed;
	struct arrival arrival;

	if (SPOOL_BYTES - spool->size < RECORD_MAX) {
		spool__flush(spool, spool->half);
		spool->half = 0;
	}
	/* where a record begins: one that was in both could not be filled in */
	if (!spool->half && spool->size >= SPOOL_BYTES / 2)
		spool->half = spool->size;
	at = fixed = spool->bytes + spool->size;
	switch ((enum prv_kind)record->kind) {
	case PRV_EVENT:
		at = put_number(put_head(spool, at, record), record->a - TYPES_FROM);
		at = put_number(at, record->b);
		break;
	case PRV_SEND:
		at = put_number(put_number(put_head(spool, at, record), record->a), record->b);
		break;
	case PRV_STATE:
		fixed = put_number(put_head(spool, at, record), record->b);
		memcpy(fixed, &record->a, sizeof(record->a));
		at = fixed + sizeof(record->a);
		break;
	case PRV_RECEIVE:
		*fixed++ = PRV_RECEIVE;
		arrival = (struct arrival){record->time, record->a, record->row, record->cpu};
		memcpy(fixed, &arrival, sizeof(arrival));
		at = fixed + sizeof(arrival);
		break;
	}
	spool->size = (size_t)(at - spool->bytes);
	spool->records++;
	return spool->written + (size_t)(fixed - spool->bytes);
}

static void spool__set(struct spool *spool, uint64_t place, const void *data, size_t size)
{
	if (place >= spool->written)
		memcpy(spool->bytes + (place - spool->written), data, size);
	else
		write_at(spool, data, size, place);
}

void spool__set_end(struct spool *spool, uint64_t place, uint64_t end)
{
	spool__set(spool, place, &end, sizeof(end));
}

void spool__set_arrival(struct spool *spool, uint64_t place, const struct prv_record *record)
{
	const struct arrival arrival = {record->time, record->a, record->row, record->cpu};

	spool__set(spool, place, &arrival, sizeof(arrival));
}

int spool__rewind(struct spool *spool)
{
	/* a short one has never been in the file */
	if (spool->written && !spool->reading)
		spool__flush(spool, spool->size);
	spool->reading = true;
	spool->at = 0;
	if (spool->written) {
		spool->size = 0;
		if (!spool->err && lseek(spool->fd, 0, SEEK_SET))
			spool->err = -errno;
	}
	memset(&spool->last, 0, sizeof(spool->last));
	return spool->err;
}

/* more of the file behind what is left of it here */
static int spool__fill(struct spool *spool)
{
	ssize_t n;

	spool->size -= spool->at;
	memmove(spool->bytes, spool->bytes + spool->at, spool->size);
	spool->at = 0;
	while (spool->size < SPOOL_CHUNK) {
		n = read(spool->fd, spool->bytes + spool->size, SPOOL_CHUNK - spool->size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		spool->size += (size_t)n;
	}
	return 0;
}

static const unsigned char *get_head(const unsigned char *at, uint64_t *time, uint64_t *place,
				     struct prv_record *record)
{
	unsigned char head = *at++;
	uint64_t number;

	if (!(head & SAME_TIME)) {
		at = get_number(at, &number);
		*time += number;
	}
	if (!(head & SAME_PLACE)) {
		at = get_number(at, &number);
		*place = number << 16;
		at = get_number(at, &number);
		*place |= number & UINT16_MAX;
	}
	record->time = *time;
	record->row = (uint32_t)(*place >> 16);
	record->cpu = (uint16_t)*place;
	return at;
}

/* @time, @place: of the record before, and then of this one; returns where the next one is */
static const unsigned char *record__decode(const unsigned char *at, uint64_t *time, uint64_t *place,
					   struct prv_record *record)
{
	struct arrival arrival;

	record->kind = *at & KIND_MASK;
	switch ((enum prv_kind)record->kind) {
	case PRV_RECEIVE:
		memcpy(&arrival, at + 1, sizeof(arrival));
		record->time = arrival.time;
		record->row = arrival.row;
		record->cpu = arrival.cpu;
		record->a = arrival.a;
		record->b = 0;
		return at + 1 + sizeof(arrival);
	case PRV_STATE:
		at = get_number(get_head(at, time, place, record), &record->b);
		memcpy(&record->a, at, sizeof(record->a));
		return at + sizeof(record->a);
	case PRV_EVENT:
		at = get_number(get_head(at, time, place, record), &record->a);
		record->a += TYPES_FROM;
		return get_number(at, &record->b);
	case PRV_SEND:
		at = get_number(get_head(at, time, place, record), &record->a);
		return get_number(at, &record->b);
	}
	return at + 1; /* two bits have four values */
}

int spool__read(struct spool *spool, struct prv_record *records, size_t max)
{
	/* in registers meanwhile */
	uint64_t time = spool->last.time, place = spool->last.place;
	const unsigned char *at;
	size_t got;
	int err;

	for (got = 0; got < max; got++) {
		if (spool->written && spool->size - spool->at < RECORD_MAX) {
			err = spool__fill(spool);
			if (err)
				return err;
		}
		if (spool->at == spool->size)
			break;
		at = record__decode(spool->bytes + spool->at, &time, &place, &records[got]);
		spool->at = (size_t)(at - spool->bytes);
	}
	spool->last.time = time;
	spool->last.place = place;
	return (int)got;
}
