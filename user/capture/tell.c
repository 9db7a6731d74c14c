// SPDX-License-Identifier: BSD-2-Clause
/* What the first and the last blocks of a capture's files say, and what the files are called. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../base/say.h"
#include "control.h"
#include "full.h"
#include "keep.h"
#include "session.h"
#include "specs.h"
#include "stacks.h"

static const char schema[] =
#define ROW(number, name, category, by) #number " " #name " " #category " " #by
#define TRACER_EVENT0(number, name, category, by, doc) ROW(number, name, category, by) "\n"
#define TRACER_EVENT1(number, name, category, by, t1, a1, doc) \
	ROW(number, name, category, by) " " #t1 ":" #a1 "\n"
#define TRACER_EVENT2(number, name, category, by, t1, a1, t2, a2, doc) \
	ROW(number, name, category, by) " " #t1 ":" #a1 " " #t2 ":" #a2 "\n"
#define TRACER_EVENT3(number, name, category, by, t1, a1, t2, a2, t3, a3, doc) \
	ROW(number, name, category, by) " " #t1 ":" #a1 " " #t2 ":" #a2 " " #t3 ":" #a3 "\n"
#define TRACER_EVENT4(number, name, category, by, t1, a1, t2, a2, t3, a3, t4, a4, doc) \
	ROW(number, name, category, by)                                                \
	" " #t1 ":" #a1 " " #t2 ":" #a2 " " #t3 ":" #a3 " " #t4 ":" #a4 "\n"
#include <tracer/events.def>
#undef ROW
	;

/* --- the file's first and last blocks --------------------------------------------------------- */

/* the same in all files of a capture, and in no other's */
void session__make_id(struct session *session)
{
	uint64_t number = now__boottime() ^ (uint64_t)getpid() << 40;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		say__verbose("no random number: %s", strerror(errno));
	snprintf(session->id, sizeof(session->id), "%016llx", (unsigned long long)number);
}

void session__tell_meta(const struct session *session, struct file_writer *writer, uint64_t start,
			uint64_t number, struct showing showing)
{
	struct json_object *json = json_object_new_object();
	char boot_id[64] = "";
	struct utsname system;
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (file) {
		if (fgets(boot_id, sizeof(boot_id), file))
			boot_id[strcspn(boot_id, "\n")] = '\0';
		fclose(file);
	}
	uname(&system);
	json_object_object_add(json, "format", json_object_new_string("tracer capture"));
	json_object_object_add(json, "host", json_object_new_string(system.nodename));
	json_object_object_add(json, "kernel", json_object_new_string(system.release));
	json_object_object_add(json, "machine", json_object_new_string(system.machine));
	json_object_object_add(json, "boot_id", json_object_new_string(boot_id));
	json_object_object_add(json, "page_size", json_object_new_int64(sysconf(_SC_PAGESIZE)));
	json_object_object_add(json, "cpus", json_object_new_int(session->cpus));
	json_object_object_add(
		json, "clock",
		json_object_new_string(session->use_monotonic ? "monotonic" : "cycles"));
	json_object_object_add(json, "categories",
			       json_object_new_int64(session->options->categories));
	json_object_object_add(json, "sample", json_object_new_int64(showing.sample));
	json_object_object_add(json, "buffer_size",
			       json_object_new_int64((int64_t)session->buffer_size));
	json_object_object_add(json, "sched", json_object_new_boolean(session->options->sched));
	json_object_object_add(json, "stacks", json_object_new_boolean(session->stacks != NULL));
	json_object_object_add(json, "events", json_object_new_string(schema));
	json_object_object_add(json, "capture", json_object_new_string(session->id));
	json_object_object_add(json, "segment", json_object_new_int64((int64_t)number));
	if (showing.paused)
		json_object_object_add(json, "paused", json_object_new_boolean(true));
	if (start)
		json_object_object_add(json, "start", json_object_new_int64((int64_t)start));
	file_writer__json(writer, FILE_META, json);
}

void session__tell_clock(struct session *session)
{
	struct file_clock clock;

	clocks__read(&clock);
	file_writer__block(session->writer, FILE_CLOCK, &clock, sizeof(clock));
	session->clock_time = clock.monotonic;
}

int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* what the tracer itself has cost so far; drains are the targets' time, and the kernel's */
static int64_t own_cpu_ns(void)
{
	struct timespec cpu = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	return (int64_t)cpu.tv_sec * 1000000000 + cpu.tv_nsec;
}

void session__tell_end(struct session *session, struct file_writer *writer, uint64_t duration,
		       uint64_t end, bool continues)
{
	struct json_object *json = json_object_new_object();
	static const struct {
		const char *name;
		enum counter counter;
	} counters[] = {
		{"flushes", COUNT_FLUSHES},
		{"chunks", COUNT_CHUNKS},
		{"chunk_bytes", COUNT_BYTES},
		{"no_room", COUNT_NO_ROOM},
		{"faults", COUNT_FAULTS},
		{"overruns", COUNT_OVERRUNS},
		{"rings_refused", COUNT_RINGS_REFUSED},
		{"task_records_lost", COUNT_TASK_RECORDS_LOST},
	};
	size_t i;

	json_object_object_add(json, "finished", json_object_new_boolean(true));
	json_object_object_add(json, "cpu_ns", json_object_new_int64(own_cpu_ns()));
	json_object_object_add(json, "duration_ns", json_object_new_int64((int64_t)duration));
	json_object_object_add(json, "target_exit",
			       session->target_exited
				       ? json_object_new_int(shell_status(session->target_status))
				       : NULL);
	json_object_object_add(
		json, "buffer_bytes",
		json_object_new_int64((int64_t)(session->buffer_size * (uint64_t)session->cpus)));
	for (i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		json_object_object_add(json, counters[i].name,
				       json_object_new_int64((int64_t)session__counter(
					       session, counters[i].counter)));
	json_object_object_add(
		json, "missed",
		json_object_new_int64(
			(int64_t)(session->missed + session__counter(session, COUNT_NOT_HELD))));
	/* what is lost in all would be too much for a part; the records tell it, too */
	if (!session->keep)
		json_object_object_add(
			json, "sched_lost",
			json_object_new_int64((int64_t)(session__sched_lost(session) +
							full__sched(session->full))));
	session__tell_specs(session, json);
	json_object_object_add(json, "stacks_taken",
			       json_object_new_int64((int64_t)stacks__taken(session)));
	json_object_object_add(json, "stacks_unlike",
			       json_object_new_int64((int64_t)stacks__unlike(session)));
	json_object_object_add(json, "stacks_lost",
			       json_object_new_int64((int64_t)stacks__lost(session)));
	if (end)
		json_object_object_add(json, "end", json_object_new_int64((int64_t)end));
	if (continues)
		json_object_object_add(json, "continues", json_object_new_boolean(true));
	file_writer__json(writer, FILE_END, json);
}

const char *session__schema(void)
{
	return schema;
}

/* --- files ------------------------------------------------------------------------------------ */

static char *session__path_number(const struct session *session, uint64_t number)
{
	const char *path = session->options->path;

	return number ? sentence__new("%s.%llu", path, (unsigned long long)number) : strdup(path);
}

int session__claim(const struct session *session, const char *path)
{
	const struct capture_options *options = session->options;

	return options->claim ? options->claim(options->claim_ctx, path) : 0;
}

/* the oldest goes when there would be more than --max-files */
static void session__make_room(struct session *session)
{
	uint64_t most = session->options->max_files;
	char *path;

	while (most && session->files_made - session->files_gone >= most) {
		path = session__path_number(session, session->files_gone++);
		if (path && unlink(path))
			say__verbose("%s: %s", path, strerror(errno));
		free(path);
	}
}

/* --on-full overwrite: the oldest file goes, if it is not the one that is being written */
bool session__unlink_oldest(void *ctx)
{
	struct session *session = ctx;
	char *path;
	bool gone;

	if (session->files_made - session->files_gone < 2)
		return false;
	path = session__path_number(session, session->files_gone++);
	gone = path && !unlink(path);
	if (gone)
		say__info("%s: removed, as the disk is full (--on-full overwrite)", path);
	free(path);
	return gone;
}

char *session__next_path(struct session *session)
{
	char *path;

	session__make_room(session);
	path = session__path_number(session, session->files_made);
	/* a recorder's window gets its name when it is complete */
	if (path && !session->options->flight_size && session__claim(session, path)) {
		free(path);
		return NULL;
	}
	session->files_made++;
	return path;
}

void session__tell_snapshot(struct session *session, const char *path)
{
	const struct capture_options *options = session->options;

	session->snapshots++;
	control__tell_snapshot(session->control, path);
	if (options->snapshot_done)
		options->snapshot_done(options->snapshot_ctx, path);
}
