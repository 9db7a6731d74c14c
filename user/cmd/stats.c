// SPDX-License-Identifier: BSD-2-Clause
/*
 * tracer record --stats-only: the figures of a run, and no trace.
 *
 * The capture goes to a file without a name, as any other, and a second thread reads it from
 * behind: it decodes, feeds the report, and gives back what it has read (a hole in the file). So
 * memory holds what the report holds, whatever the number of events, and the file what the reading
 * is behind: a burst that is faster than reading takes disk for a moment, up to SPOOL_MAX. Beyond,
 * the capture is held until there is room again, its buffers fill, and what is lost is counted as
 * ever.
 */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>
#include "../base/say.h"
#include "../capture/file.h"
#include "../report/report.h"
#include "../trace/reader.h"

#define SPOOL_MAX (2ULL << 30)	   /* bytes of the file, and at most half of what is free there */
#define SPOOL_MEMORY (64ULL << 20) /* the same if the file has to be in memory */
#define HOLE_BYTES (4ULL << 20)	   /* given back at once */
#define HOLE_ALIGN 4096U
#define LOOK_EVENTS 16384U /* events between looks at signals and at what can be given back */
#define WAIT_NS 5000000L
#define READER_NICE 5 /* the targets and the capture come first */

struct stats {
	const struct record *record;
	int file;
	char path[32];
	uint64_t room;
	struct report *report;
	struct trace *trace;
	pthread_t reader;
	bool reading;
	atomic_ullong taken; /* bytes that have been read */
	atomic_ullong written;
	atomic_bool captured; /* nothing more will be written */
	atomic_bool abandoned;
	uint64_t hole;	/* bytes that have been given back */
	uint64_t shown; /* snapshots so far */
	struct reader_growth growth;
	struct trace_totals totals;
	int err;
	char *why;
};

/* SIGUSR1: how many snapshots are asked for */
static volatile sig_atomic_t asked;

static void ask(int number)
{
	(void)number;
	asked = asked + 1;
}

static void pause_for(long ns)
{
	struct timespec time = {0, ns};

	nanosleep(&time, NULL);
}

/* --- the file --------------------------------------------------------------------------------- */

static int stats__open_file(struct stats *stats)
{
	const char *const folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	struct statvfs disk;
	size_t i;

	stats->file = -1;
	for (i = 0; i < sizeof(folders) / sizeof(*folders) && stats->file < 0; i++) {
		if (!folders[i])
			continue;
		stats->file = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		if (stats->file >= 0 && !fstatvfs(stats->file, &disk))
			stats->room = (uint64_t)disk.f_bavail * disk.f_frsize / 2;
	}
	if (stats->room > SPOOL_MAX)
		stats->room = SPOOL_MAX;
	if (stats->file < 0 || stats->room < SPOOL_MEMORY) {
		if (stats->file >= 0)
			close(stats->file);
		stats->file = memfd_create("tracer", MFD_CLOEXEC);
		stats->room = SPOOL_MEMORY;
	}
	if (stats->file < 0)
		return -errno;
	snprintf(stats->path, sizeof(stats->path), "/proc/self/fd/%d", stats->file);
	return 0;
}

/* what has been read is no longer needed */
static void stats__give_back(struct stats *stats, uint64_t position)
{
	uint64_t end = position & ~(uint64_t)(HOLE_ALIGN - 1);

	atomic_store(&stats->taken, position);
	if (end - stats->hole < HOLE_BYTES)
		return;
	/* a file system that cannot: the file grows, up to what it may have */
	fallocate(stats->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)stats->hole,
		  (off_t)(end - stats->hole));
	stats->hole = end;
}

static uint64_t stats__size(const struct stats *stats)
{
	struct stat status;

	return fstat(stats->file, &status) ? 0 : (uint64_t)status.st_size;
}

/* --- the second thread: reads ----------------------------------------------------------------- */

static int stats__print(const struct stats *stats, FILE *out)
{
	return stats->record->report_json ? report__json(stats->report, out)
					  : report__text(stats->report, out);
}

/* between two events the report is whole: what it says now */
static void stats__answer(struct stats *stats)
{
	if (stats->shown == (uint64_t)asked || !stats->trace)
		return;
	stats->shown = (uint64_t)asked;
	if (report__so_far(stats->report, stats->trace) || stats__print(stats, stdout))
		say__error("the figures so far could not be written: %s", strerror(errno));
}

static bool stats__more(void *ctx, uint64_t *size)
{
	struct stats *stats = ctx;
	bool captured;
	uint64_t now;

	for (;;) {
		/* in this order: what was written before it ended is in the size */
		captured = atomic_load(&stats->captured);
		now = stats__size(stats);
		if (now > *size) {
			*size = now;
			return true;
		}
		if (captured || atomic_load(&stats->abandoned))
			return false;
		stats__answer(stats);
		pause_for(WAIT_NS);
	}
}

static int stats__read_events(struct stats *stats)
{
	struct event event;
	uint32_t count = 0;
	int ret;

	while ((ret = trace__next(stats->trace, &event)) == 1) {
		ret = report__event(stats->report, &event);
		if (ret)
			return ret;
		if (++count % LOOK_EVENTS)
			continue;
		if (atomic_load(&stats->abandoned))
			return -EINTR;
		stats__give_back(stats, trace__position(stats->trace));
		stats__answer(stats);
	}
	return ret;
}

static void *stats__read(void *ctx)
{
	struct stats *stats = ctx;
	uint64_t size = sizeof(struct file_header) - 1;
	int err;

	setpriority(PRIO_PROCESS, 0, READER_NICE);
	if (!stats__more(stats, &size))
		return NULL; /* nothing was captured, and somebody said why */
	stats->trace = trace__open_growing(stats->path, &stats->growth, &stats->why);
	if (!stats->trace) {
		stats->err = -EIO;
		return NULL;
	}
	stats->err = stats__read_events(stats);
	if (stats->err && stats->err != -EINTR)
		stats->why = sentence__new("%s", trace__error(stats->trace));
	err = report__ended(stats->report, stats->trace);
	stats->totals = *trace__totals(stats->trace);
	if (!stats->err)
		stats->err = err;
	return NULL;
}

/* --- beside the capture ----------------------------------------------------------------------- */

/* the capture asks before it takes more from its buffers */
static bool stats__hold(void *ctx, uint64_t bytes)
{
	struct stats *stats = ctx;

	atomic_store(&stats->written, bytes);
	return bytes > atomic_load(&stats->taken) + stats->room;
}

static int stats__begin(struct stats *stats)
{
	struct sigaction action = {.sa_handler = ask, .sa_flags = SA_RESTART};
	int err = stats__open_file(stats);

	if (err) {
		say__error("--stats-only: no place for a temporary file: %s; set TMPDIR to a "
			   "folder with room",
			   strerror(-err));
		return err;
	}
	stats->growth = (struct reader_growth){stats__more, stats};
	stats->report = report__new();
	if (!stats->report)
		return -ENOMEM;
	sigaction(SIGUSR1, &action, NULL);
	err = pthread_create(&stats->reader, NULL, stats__read, stats);
	stats->reading = !err;
	if (err)
		say__error("--stats-only: no thread to read what is captured: %s", strerror(err));
	return -err;
}

/* the reading catches up; one more Ctrl-C ends it where it is */
static void stats__await(struct stats *stats)
{
	const volatile sig_atomic_t *stop = signals__flag();
	uint64_t size = stats__size(stats);

	atomic_store(&stats->captured, true);
	while (pthread_tryjoin_np(stats->reader, NULL) == EBUSY) {
		if (*stop)
			atomic_store(&stats->abandoned, true);
		if (stats->record->capture.progress && size)
			say__progress("figures: %.0f %%",
				      100.0 * (double)atomic_load(&stats->taken) / (double)size);
		pause_for(WAIT_NS);
	}
	stats->reading = false;
	if (stats->record->capture.progress)
		say__progress(NULL);
}

static int stats__write_summary(struct stats *stats)
{
	const char *path = stats->record->summary;
	FILE *file = fopen(path, "we");
	int rc;

	if (!file) {
		say__error("%s: %s; choose another file for --summary", path, strerror(errno));
		return -EIO;
	}
	rc = report__figures(stats->report, file);
	if (fclose(file) && !rc)
		rc = -errno;
	if (rc)
		say__error("%s: %s", path, strerror(-rc));
	output__give(path);
	return rc;
}

static void stats__say(const struct stats *stats)
{
	const struct trace_totals *totals = &stats->totals;

	if (!totals->recorded)
		say__error("no event: the target ran no point that was to be recorded; 'tracer "
			   "list' shows what "
			   "it has");
	else if (totals->lost)
		say__info("%llu of %llu records lost; a larger --buffer-size, or fewer categories "
			  "(-c)",
			  (unsigned long long)totals->lost, (unsigned long long)totals->recorded);
}

/* 0, or a negative errno after telling */
static int stats__finish(struct stats *stats)
{
	int rc = 0;

	if (!stats->trace || (stats->err && stats->err != -EINTR)) {
		say__error("--stats-only: %s", stats->why   ? stats->why
					       : stats->err ? strerror(-stats->err)
							    : "nothing was captured");
		return -EIO;
	}
	if (stats->err)
		say__info("stopped: the figures end early");
	stats__say(stats);
	if (stats->record->summary)
		rc = stats__write_summary(stats);
	if (stats->record->report || !stats->record->summary) {
		if (stats__print(stats, stdout)) {
			say__error("the report could not be written: %s", strerror(errno));
			rc = -EIO;
		}
	}
	return rc;
}

static void stats__end(struct stats *stats)
{
	if (stats->reading) {
		atomic_store(&stats->abandoned, true);
		pthread_join(stats->reader, NULL);
	}
	report__free(stats->report);
	if (stats->trace)
		trace__close(stats->trace);
	if (stats->file >= 0)
		close(stats->file);
	free(stats->why);
}

int stats__main(struct record *record)
{
	struct stats stats = {.record = record, .file = -1};
	struct capture_options *options = &record->capture;
	int failed = options->command ? STATUS_TRACER_FAILED : STATUS_REFUSED;
	struct capture_result result;
	int status = failed;

	if (summary__check(record))
		return failed;
	signals__catch(true);
	if (stats__begin(&stats))
		goto out;
	options->path = stats.path;
	options->hold = stats__hold;
	options->hold_ctx = &stats;
	status = capture__run(options, &result, signals__flag());
	if (options->progress)
		say__progress(NULL);
	if (status) {
		status = options->command && status == STATUS_REFUSED ? STATUS_TRACER_FAILED
								      : status;
		goto out;
	}
	signals__next();
	stats__await(&stats);
	if (stats__finish(&stats))
		status = failed;
	else if (options->command)
		status = result.command_status;
	else
		status = stats.totals.recorded ? STATUS_OK : STATUS_REFUSED;
out:
	stats__end(&stats);
	return status;
}
