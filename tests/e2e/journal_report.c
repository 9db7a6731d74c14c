/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model and the report without a kernel: reads a runtime's event-by-event journal (the demo's
 * --journal-events), orders it by time, and prints the report as JSON. What it says must equal the
 * journal's own totals.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../../user/report/figures.h"
/* its event numbers and types are those of the same events.def as in event.h */
#include "../targets/runtime/journal.h"

struct entry {
	const struct journal_slot *slot;
	const struct journal_record *record;
};

static const char arg_types[JOURNAL_EVENTS][4][4] = {
#define TRACER_EVENT1(number, name, category, by, t1, a1, doc) [number] = {#t1},
#define TRACER_EVENT2(number, name, category, by, t1, a1, t2, a2, doc) [number] = {#t1, #t2},
#define TRACER_EVENT3(number, name, category, by, t1, a1, t2, a2, t3, a3, doc) \
	[number] = {#t1, #t2, #t3},
#define TRACER_EVENT4(number, name, category, by, t1, a1, t2, a2, t3, a3, t4, a4, doc) \
	[number] = {#t1, #t2, #t3, #t4},
#include <tracer/events.def>
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "journal_report: %s\n", what);
	exit(1);
}

static int by_time(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->record->stamp != b->record->stamp)
		return a->record->stamp < b->record->stamp ? -1 : 1;
	return a->record->sequence < b->record->sequence ? -1 : 1;
}

static struct journal *journal__map(const char *path)
{
	struct journal *journal;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) || (size_t)st.st_size < sizeof(*journal))
		die("can't read the journal");
	/* private and writable, since its atomics are loaded through pointers that are not const */
	journal = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	if (journal == MAP_FAILED || journal->magic != JOURNAL_MAGIC || !journal->ring_records)
		die("not a journal with events");
	close(fd);
	return journal;
}

static struct entry *gather(struct journal *journal, size_t *total)
{
	struct entry *entries;

	*total = 0;
	for (uint32_t i = 0; i < journal->slot_count; i++) {
		if (journal->slots[i].records > journal->ring_records)
			die("a thread had more events than its ring kept");
		*total += journal->slots[i].records;
	}
	entries = malloc((*total + 1) * sizeof(*entries));
	if (!entries)
		die("no memory");
	*total = 0;
	for (uint32_t i = 0; i < journal->slot_count; i++) {
		const struct journal_slot *slot = &journal->slots[i];

		for (uint64_t n = 0; n < slot->records; n++)
			entries[(*total)++] = (struct entry){
				slot, &journal->rings[(size_t)i * journal->ring_records + n]};
	}
	qsort(entries, *total, sizeof(*entries), by_time);
	return entries;
}

/* A process's index is that of its first thread's slot: unique is enough. */
static uint32_t process_of(const struct journal *journal, const struct journal_slot *slot)
{
	uint32_t i = 0;

	while (journal->slots[i].pid != slot->pid)
		i++;
	return i;
}

static struct event event_of(const struct journal *journal, const struct entry *entry)
{
	struct event event = {
		.time = entry->record->stamp,
		.type = (uint16_t)entry->record->event,
		.process = process_of(journal, entry->slot),
		.pid = entry->slot->pid,
		.tid = entry->slot->tid,
	};

	for (int i = 0; i < EVENT_ARGS; i++) {
		const char *type = arg_types[event.type % JOURNAL_EVENTS][i];
		uint64_t value = entry->record->args[i];

		event.nargs += *type != '\0';
		if (strcmp(type, "str") && strcmp(type, "lit"))
			event.args[i].u = value;
		else
			event.args[i].s = value ? journal->names[value - 1] : NULL;
	}
	return event;
}

int main(int argc, char **argv)
{
	struct report *report = report__new();
	struct trace_totals totals = {.finished = true, .complete = true, .clock = "tsc"};
	struct journal *journal;
	struct entry *entries;
	size_t count;

	if (argc != 2 || !report)
		die("usage: journal_report JOURNAL");
	journal = journal__map(argv[1]);
	entries = gather(journal, &count);
	for (size_t i = 0; i < count; i++) {
		struct event event = event_of(journal, &entries[i]);

		if (report__event(report, &event))
			die("the report failed");
	}
	for (uint32_t i = 0; i < journal->slot_count; i++)
		if (process_of(journal, &journal->slots[i]) == i)
			report__add_process(report, i, journal->slots[i].pid, journal->command, "");
	totals.records = totals.recorded = count;
	if (report__finish(report, &totals) || report__json(report, stdout))
		die("the report failed");
	report__free(report);
	free(entries);
	return 0;
}
