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
 * Most ends come soon: they are filled in while the record is still here. A pipeline's tasks that
 * wait for one another needed a write in the past for 9 % of the capture's records with 1 MiB, and
 * for 0.1 % with 8.
 */
#define SPOOL_RECORDS 262144U

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
	spool->records = malloc(SPOOL_RECORDS * sizeof(*spool->records));
	if (spool->fd >= 0 && !spool->records) {
		close(spool->fd);
		spool->fd = -ENOMEM;
	}
	return spool->fd < 0 ? spool->fd : 0;
}

void spool__close(struct spool *spool)
{
	if (spool->records && spool->fd >= 0)
		close(spool->fd);
	free(spool->records);
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

static void spool__flush(struct spool *spool)
{
	write_at(spool, spool->records, spool->count * sizeof(*spool->records),
		 spool->written * sizeof(*spool->records));
	spool->written += spool->count;
	spool->count = 0;
}

uint64_t spool__add(struct spool *spool, const struct prv_record *record)
{
	if (spool->count == SPOOL_RECORDS)
		spool__flush(spool);
	spool->records[spool->count] = *record;
	return spool->written + spool->count++;
}

void spool__set_a(struct spool *spool, uint64_t number, uint64_t a)
{
	if (number >= spool->written)
		spool->records[number - spool->written].a = a;
	else
		write_at(spool, &a, sizeof(a),
			 number * sizeof(struct prv_record) + offsetof(struct prv_record, a));
}

void spool__set(struct spool *spool, uint64_t number, const struct prv_record *record)
{
	if (number >= spool->written)
		spool->records[number - spool->written] = *record;
	else
		write_at(spool, record, sizeof(*record), number * sizeof(*record));
}

int spool__rewind(struct spool *spool)
{
	spool__flush(spool);
	if (!spool->err && lseek(spool->fd, 0, SEEK_SET))
		spool->err = -errno;
	return spool->err;
}

int spool__read(struct spool *spool, struct prv_record *records, size_t max)
{
	size_t got = 0;
	ssize_t n;

	while (got < max * sizeof(*records)) {
		n = read(spool->fd, (char *)records + got, max * sizeof(*records) - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (int)(got / sizeof(*records));
}
