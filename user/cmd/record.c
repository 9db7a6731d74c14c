/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracer record: a capture, and what becomes of it.
 *
 * The capture is always written as a .trc. If another format is asked for, that file lies beside
 * the output (x.pftrace.trc) and is removed once the output is complete; if the export fails or is
 * stopped it stays, and the user is told. So nothing that was captured is ever lost to a failed
 * export.
 *
 * Ctrl-C, once: the capture ends, the export runs. Once more: the export ends.
 */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "../base/say.h"
#include "../report/report.h"
#include "output.h"
#include "record_files.h"
#include "specs.h"

#define SEGMENT_MAX (4ULL << 30) /* where segments are implied */

struct run {
	const struct record *record;
	char *output;			    /* what the user wants */
	char *capture;			    /* the .trc: the same name if that is it */
	const struct output_format *format; /* NULL: the capture itself */
	enum export_compression compression;
	struct capture_result result;
	struct record_files files;
	char **paths; /* the capture's files, after it; of a flight recorder the last snapshot */
	size_t path_count;
	int failed; /* exit status if the tracer fails */
};

static int run__choose_format(struct run *run)
{
	enum export_compression compression;

	if (path__ends_with(run->output, ".trc"))
		return 0;
	run->format = output__format_of(run->output, &compression);
	run->compression = compression;
	if (!run->format) {
		say__error("%s: its name does not say which format; end it in .trc (a capture), "
			   ".pftrace (Perfetto), or another's extension (tracer export --help)",
			   run->output);
		return -EINVAL;
	}
	if (!run->format->write) {
		say__error("%s: %s is not in this version (%s); end the name in .trc or .pftrace",
			   run->output, run->format->name, TRACER_VERSION);
		return -EINVAL;
	}
	return 0;
}

/*
 * record__imply_segments() - for --on-full overwrite: of one file nothing could go. Their size is
 * such that some fit on what the disk has left now; without a full disk there is mostly one.
 */
static void record__imply_segments(struct record *record)
{
	struct capture_options *options = &record->capture;
	uint64_t size = SEGMENT_MAX;
	struct statvfs disk;
	char *folder;

	if (options->on_full != CAPTURE_ON_FULL_OVERWRITE || options->flight_size ||
	    options->max_file_size)
		return;
	folder = strdup(record->output ? record->output : ".");
	if (folder && !statvfs(record->output ? dirname(folder) : folder, &disk) &&
	    (uint64_t)disk.f_bavail * disk.f_frsize / 8 < size)
		size = (uint64_t)disk.f_bavail * disk.f_frsize / 8;
	free(folder);
	options->max_file_size = size < CAPTURE_FILE_MIN ? CAPTURE_FILE_MIN : size;
	record->segments_implied = true;
}

/* run__choose() - names and formats, and that they can be written: before anything is attached */
static int run__choose(struct run *run)
{
	const struct record *record = run->record;
	const struct capture_options *options = &record->capture;
	bool segments = options->max_file_size && !record->segments_implied;

	run->output = record->output ? strdup(record->output)
				     : sentence__new("tracer-%d%s",
						     options->command ? getpid() : options->pids[0],
						     segments ? ".trc" : ".pftrace");
	if (!run->output)
		return -ENOMEM;
	if (run__choose_format(run))
		return -EINVAL;
	if (run->format && segments) {
		say__error("%s: --max-file-size makes segments of a capture; name it x.trc, and "
			   "afterwards: tracer export x.trc x.trc.*",
			   run->output);
		return -EINVAL;
	}
	if (run->format &&
	    output__check_all(run->format, run->output, run->compression, record->force))
		return -EEXIST;
	run->capture = sentence__new("%s%s", run->output, run->format ? ".trc" : "");
	if (!run->capture)
		return -ENOMEM;
	run->files = (struct record_files){
		.base = run->capture,
		.output = run->format ? run->output : NULL,
		.tracks = record->tracks,
		.force = record->force,
	};
	if (options->max_file_size || options->flight_size) {
		if (record_files__check(run->capture, record->force) ||
		    (run->format && options->flight_size &&
		     record_files__check(run->output, record->force)))
			return -EEXIST;
	}
	/* a recorder's files come when there is something to keep */
	return options->flight_size ? output__check(run->capture, record->force)
				    : output__claim(run->capture, record->force);
}

static uint64_t file__size(const char *path)
{
	struct stat status;

	return stat(path, &status) || !S_ISREG(status.st_mode) ? 0 : (uint64_t)status.st_size;
}

/* summary__is_ours() - nothing is lost if it is written over: empty, or the figures of a capture */
static bool summary__is_ours(const char *path)
{
	static const char first[] = "\"records\"";
	char head[256];
	size_t length;
	struct stat status;
	FILE *file;

	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return true;
	file = fopen(path, "re");
	if (!file)
		return true; /* opening it for writing will say why */
	length = fread(head, 1, sizeof(head), file);
	fclose(file);
	return !length || memmem(head, length, first, sizeof(first) - 1);
}

int summary__check(const struct record *record)
{
	const char *path = record->summary;
	char *folder;
	int rc = 0;

	if (!path)
		return 0;
	if (!record->force && !summary__is_ours(path)) {
		say__error(
			"%s: is there already, and is no summary; choose another name, or replace "
			"it with --force",
			path);
		return -EEXIST;
	}
	/* told before a long run, not after it */
	folder = strdup(path);
	if (!folder)
		return -ENOMEM;
	if (access(path, W_OK) && (errno != ENOENT || access(dirname(folder), W_OK))) {
		rc = -errno;
		say__error("%s: %s; choose another file for --summary", path, strerror(errno));
	}
	free(folder);
	return rc;
}

static int summary__write(const char *path, const struct trace_totals *totals)
{
	FILE *file = fopen(path, "we");
	int rc;

	if (!file) {
		say__error("%s: %s; choose another file for --summary", path, strerror(errno));
		return -EIO;
	}
	rc = report__summary(totals, file);
	if (fclose(file) && !rc)
		rc = -errno;
	if (rc)
		say__error("%s: %s", path, strerror(-rc));
	output__give(path);
	return rc;
}

/* trace__count() - its totals, without keeping what the events mean: flat memory, and fast */
static int trace__count(struct trace *trace, char **err)
{
	struct event event;
	int rc;

	do {
		rc = trace__next(trace, &event);
	} while (rc > 0);
	if (rc)
		*err = sentence__new("%s",
				     trace__error(trace) ? trace__error(trace) : strerror(-rc));
	return rc;
}

/* run__report() - one pass over the capture for --summary and --report; also of an empty one */
static int run__report(const struct run *run)
{
	const struct record *record = run->record;
	struct report *report = NULL;
	struct trace *trace;
	char *err = NULL;
	int rc = -ENOMEM;

	if (!record->summary && !record->report)
		return 0;
	trace = trace__open_all((const char *const *)run->paths, run->path_count, &err);
	if (trace && record->report) {
		report = report__new();
		if (report)
			rc = report__read(report, trace, &err);
	} else if (trace) {
		rc = trace__count(trace, &err);
	}
	if (rc) {
		say__error("%s: %s", run->capture, err ? err : strerror(-rc));
		goto out;
	}
	if (record->summary)
		rc = summary__write(record->summary, trace__totals(trace));
	if (record->report &&
	    (record->report_json ? report__json(report, stdout) : report__text(report, stdout)))
		rc = -EIO;
	if (fflush(stdout))
		rc = -errno;
out:
	free(err);
	report__free(report);
	if (trace)
		trace__close(trace);
	return rc;
}

static void totals__say(const struct trace_totals *totals, const char *path)
{
	char size[32], lost[64] = "none lost";

	if (totals->lost)
		snprintf(lost, sizeof(lost), "%llu of %llu lost", (unsigned long long)totals->lost,
			 (unsigned long long)totals->recorded);
	say__info("%s: %llu records, %s, %.1f s (%s)", path, (unsigned long long)totals->records,
		  lost, (double)totals->duration_ns / 1e9,
		  size__text(file__size(path), size, sizeof(size)));
	if (totals->lost_by[LOSS_RING_FULL])
		say__info("the buffers were full; next time a larger --buffer-size, or fewer "
			  "categories (-c)");
	else if (totals->sched_lost)
		say__info("the buffers were full: %llu switches and wakings of the kernel's are "
			  "missing; a larger --buffer-size, or --no-sched",
			  (unsigned long long)totals->sched_lost);
	if (totals->rings_refused)
		say__info("threads with points in more than 64 libraries: what the others recorded "
			  "is not in the capture");
	if (totals->missed)
		say__info(
			"the first events of some processes, or all, are missing (%llu); see above",
			(unsigned long long)totals->missed);
	if (totals->stacks_lost)
		say__info(
			"%llu call stacks are not there: they came faster than they could be kept; "
			"ask for fewer events (--stacks)",
			(unsigned long long)totals->stacks_lost);
	if (totals->lost_by[LOSS_TARGET_OVERRUN])
		say__info("a thread went round its ring before it was read; fewer categories (-c) "
			  "help");
}

static int run__export(struct run *run)
{
	const struct record *record = run->record;
	struct export_options options = {
		.path = run->output,
		.tracks = record->tracks,
		.compression = run->compression,
		.progress = record->capture.progress,
		.stop = signals__flag(),
	};
	struct trace_totals totals = {0};
	const char *others = run->path_count > 1 ? " ..." : "";
	int rc = output__claim_all(run->format, run->output, record->force);

	if (!rc)
		rc = output__export(run->format, (const char *const *)run->paths, run->path_count,
				    &options, &totals);
	if (rc == -EINTR)
		say__info("%s: stopped; it can be opened, but ends early. The capture is kept: "
			  "tracer export %s%s",
			  run->output, run->paths[0], others);
	else if (rc)
		say__error("the capture is kept: tracer export -o FILE %s%s", run->paths[0],
			   others);
	else
		totals__say(&totals, run->output);
	return rc;
}

static void run__say_capture(const struct run *run)
{
	const char *first, *blank;
	uint64_t bytes = 0;
	char size[32];
	size_t i;

	for (i = 0; i < run->path_count; i++)
		bytes += file__size(run->paths[i]);
	size__text(bytes, size, sizeof(size));
	/* the first, which has no number, may have gone (--max-files) */
	first = strcmp(run->paths[0], run->capture) ? "" : run->capture;
	blank = *first ? " " : "";
	if (run->path_count > 1)
		say__info("%s to %s: %zu files, of %.1f s (%s); next: tracer report %s%s%s.*, or "
			  "tracer export %s%s%s.*",
			  run->paths[0], run->paths[run->path_count - 1], run->path_count,
			  (double)run->result.duration_ns / 1e9, size, first, blank, run->capture,
			  first, blank, run->capture);
	else
		say__info("%s: %.1f s (%s); next: tracer report %s, or tracer export %s",
			  run->capture, (double)run->result.duration_ns / 1e9, size, run->capture,
			  run->capture);
}

/* run__list() - the files that there are now; 0 or -ENOMEM */
static int run__list(struct run *run)
{
	const struct capture_result *result = &run->result;
	uint64_t from = result->files_gone, to = result->files_made;

	if (run->record->capture.flight_size && to)
		from = to - 1;
	record_files__free_list(run->paths);
	run->paths = record_files__list(run->capture, from, to ? to : 1, &run->path_count);
	return run->paths ? 0 : -ENOMEM;
}

/* run__say_nothing() - points, but not one event of them */
static void run__say_nothing(const struct run *run)
{
	const struct capture_options *options = &run->record->capture;
	double seconds = (double)run->result.duration_ns / 1e9;

	if (run->result.probed) {
		say__error(
			"no event in %.1f s: the specs' probes are there, but none that makes an "
			"event was hit",
			seconds);
		say__error(
			"is it at work? Trace longer (-d), with all categories; tracer list --spec "
			"NAME -p PID shows where the probes are");
		return;
	}
	if (options->command) {
		say__error("no event in %.1f s: %s ran no point that was to be recorded", seconds,
			   options->command[0]);
		say__error("'tracer list %s' shows whether it has points (if not: build it, or its "
			   "runtime, with <tracer/tracer.h>); if it has, trace all categories",
			   options->command[0]);
		return;
	}
	say__error(
		"no event in %.1f s: the target has points, but ran none that was to be recorded",
		seconds);
	say__error(
		"is it at work? Trace longer (-d), with all categories; tracer list -p PID shows "
		"what it has");
}

/* run__finish() - after the capture: figures, export, what is kept; the exit status */
static int run__finish(struct run *run)
{
	bool exported = false;
	int failed = 0;
	size_t i;

	if (run__report(run))
		failed = run->failed;
	if (run->record->capture.flight_size) {
		if (record_files__finish(&run->files))
			failed = run->failed;
	} else if (run->format) {
		exported = !run__export(run);
		if (!exported)
			failed = run->failed;
	} else if (run->result.any_event) {
		run__say_capture(run);
	}
	for (i = 0; exported && i < run->path_count; i++) {
		if (unlink(run->paths[i]))
			say__verbose("%s: %s", run->paths[i], strerror(errno));
	}
	if (!run->result.any_event) {
		run__say_nothing(run);
		if (!run->record->capture.command)
			failed = STATUS_REFUSED;
	}
	if (failed)
		return failed;
	return run->record->capture.command ? run->result.command_status : STATUS_OK;
}

/* run__abandon() - the capture failed: keep what it has, remove what it has not */
static void run__abandon(struct run *run)
{
	if (run->record->capture.flight_size) {
		record_files__finish(&run->files);
	} else if (run->result.chunks && file__size(run->capture)) {
		say__error("what was captured so far is kept: %s", run->capture);
		run__report(run);
	} else {
		unlink(run->capture);
	}
}

int record__main(int argc, char **argv)
{
	struct record *record = calloc(1, sizeof(*record));
	struct run run = {.record = record, .failed = STATUS_REFUSED};
	int status = STATUS_TRACER_FAILED;

	if (!record)
		return status;
	status = record__parse(record, argc, argv);
	if (status)
		goto out;
	if (record->capture.command)
		run.failed = STATUS_TRACER_FAILED;
	record->capture.progress = isatty(STDERR_FILENO) && say__level() >= SAY_NORMAL;
	if (record->stats_only) {
		status = stats__main(record);
		goto out;
	}
	status = run.failed;
	record__imply_segments(record);
	if (summary__check(record) || run__choose(&run))
		goto out;
	record->capture.path = run.capture;
	/* of one that is exported and goes nobody sees the size */
	record->capture.repack = !run.format;
	record->capture.claim = record_files__claim;
	record->capture.claim_ctx = &run.files;
	record->capture.snapshot_done = record_files__snapshot;
	record->capture.snapshot_ctx = &run.files;
	record->capture.snapshots_wanted = signals__snapshots();
	run.result.command_status = -1;
	signals__catch(true);
	status = capture__run(&record->capture, &run.result, signals__flag());
	if (record->capture.progress)
		say__progress(NULL);
	if (run__list(&run))
		status = run.failed;
	if (status) {
		if (record->capture.command && status == STATUS_REFUSED)
			status = STATUS_TRACER_FAILED;
		run__abandon(&run);
		goto out;
	}
	/* the one that ended the capture, or reached the command at the same time, is answered */
	signals__next();
	output__give(run.capture);
	status = run__finish(&run);
out:
	record_files__free_list(run.paths);
	free(run.capture);
	free(run.output);
	specs__free(record->capture.specs);
	free(record);
	return status;
}
