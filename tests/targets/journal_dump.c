/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * journal FILE: print a runtime's journal as JSON, under the names of `tracer report --json`
 * wherever both count the same thing. With --events, print the event-by-event journal instead, a
 * line each.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/journal.h"

#define UNUSED_WORKER UINT32_MAX

/* Names, argument counts and types of the events, from the one list. */
struct event_row {
	const char *name;
	int nargs;
	const char *types[4];
};
static const struct event_row rows[JOURNAL_EVENTS] = {
#define TRACER_EVENT0(number, name, category, by, doc) [number] = {#name, 0, {NULL}},
#define TRACER_EVENT1(number, name, category, by, t1, a1, doc) [number] = {#name, 1, {#t1}},
#define TRACER_EVENT2(number, name, category, by, t1, a1, t2, a2, doc) \
	[number] = {#name, 2, {#t1, #t2}},
#define TRACER_EVENT3(number, name, category, by, t1, a1, t2, a2, t3, a3, doc) \
	[number] = {#name, 3, {#t1, #t2, #t3}},
#define TRACER_EVENT4(number, name, category, by, t1, a1, t2, a2, t3, a3, t4, a4, doc) \
	[number] = {#name, 4, {#t1, #t2, #t3, #t4}},
#include <tracer/events.def>
};

/* Keys of several slots, added up. */
struct sums {
	struct journal_key *keys;
	size_t count;
};

/* Commas of the JSON: what is printed before the next element. */
struct list {
	bool begun;
};

static void list__next(struct list *list)
{
	printf(list->begun ? ",\n    " : "\n    ");
	list->begun = true;
}

static uint32_t slot_count(const struct journal *journal)
{
	uint32_t count = atomic_load(&((struct journal *)journal)->slot_count);

	return count < JOURNAL_SLOTS ? count : JOURNAL_SLOTS;
}

static const char *name_of(const struct journal *journal, uint64_t id)
{
	return id && id <= JOURNAL_NAMES ? journal->names[id - 1] : NULL;
}

/* @end: stop there, or at the end of the string if NULL */
static void print_string(const char *text, const char *end)
{
	if (!text) {
		printf("null");
		return;
	}
	putchar('"');
	for (; *text && text != end; text++) {
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			printf("\\u%04x", (unsigned)*text);
		else
			putchar(*text);
	}
	putchar('"');
}

static uint64_t slot__records(const struct journal_slot *slot)
{
	uint64_t records = 0;

	for (int i = 0; i < JOURNAL_EVENTS; i++)
		records += slot->events[i];
	return records;
}

static uint64_t sum_event(const struct journal *journal, int event)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < slot_count(journal); i++)
		sum += journal->slots[i].events[event];
	return sum;
}

static uint64_t sum_total(const struct journal *journal, int total)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < slot_count(journal); i++)
		sum += journal->slots[i].totals[total];
	return sum;
}

static void sums__add(struct sums *sums, const struct journal_key *key, bool by_name,
		      bool by_object)
{
	for (size_t i = 0; i < sums->count; i++) {
		struct journal_key *sum = &sums->keys[i];

		if ((by_name && sum->name != key->name) ||
		    (by_object && sum->object != key->object))
			continue;
		sum->count += key->count;
		sum->sum += key->sum;
		if (key->min < sum->min)
			sum->min = key->min;
		if (key->max > sum->max)
			sum->max = key->max;
		return;
	}
	sums->keys = realloc(sums->keys, (sums->count + 1) * sizeof(*sums->keys));
	if (!sums->keys) {
		fprintf(stderr, "journal: no memory\n");
		exit(1);
	}
	sums->keys[sums->count++] = *key;
}

static struct sums sums__of(const struct journal *journal, enum journal_kind kind)
{
	struct sums sums = {NULL, 0};

	for (uint32_t i = 0; i < slot_count(journal); i++)
		for (int k = 0; k < JOURNAL_KEYS; k++)
			if (journal->slots[i].keys[k].kind == (uint32_t)kind &&
			    journal->slots[i].keys[k].count)
				sums__add(&sums, &journal->slots[i].keys[k], true, true);
	return sums;
}

static void print_worker(const struct journal *journal, const struct journal_slot *slot)
{
	uint64_t stolen_from = 0;
	struct sums pairs = sums__of(journal, JOURNAL_KIND_PAIR);

	for (size_t i = 0; i < pairs.count; i++)
		if ((uint32_t)pairs.keys[i].object == slot->worker)
			stolen_from += pairs.keys[i].count;
	free(pairs.keys);
	printf("{\"index\": %u, \"tid\": %u, \"name\": ", slot->worker, slot->tid);
	print_string(name_of(journal, slot->worker_name), NULL);
	printf(", \"tasks\": %llu, \"steals\": %llu, \"stolen_from\": %llu, \"max_queue_depth\": ",
	       (unsigned long long)slot->totals[JOURNAL_WORKER_TASKS],
	       (unsigned long long)slot->events[JOURNAL_steal], (unsigned long long)stolen_from);
	/* a worker that never told a depth: not known */
	if (slot->events[JOURNAL_queue_depth])
		printf("%llu}", (unsigned long long)slot->max_queue_depth);
	else
		printf("null}");
}

static bool first_of_process(const struct journal *journal, uint32_t slot)
{
	for (uint32_t i = 0; i < slot; i++)
		if (journal->slots[i].pid == journal->slots[slot].pid)
			return false;
	return true;
}

static void print_process(const struct journal *journal, uint32_t pid)
{
	uint64_t records = 0;
	struct list workers = {false};

	for (uint32_t i = 0; i < slot_count(journal); i++)
		if (journal->slots[i].pid == pid)
			records += slot__records(&journal->slots[i]);
	printf("{\"pid\": %u, \"records\": %llu, \"workers\": [", pid, (unsigned long long)records);
	for (uint32_t i = 0; i < slot_count(journal); i++) {
		const struct journal_slot *slot = &journal->slots[i];

		if (slot->pid != pid || slot->worker == UNUSED_WORKER)
			continue;
		list__next(&workers);
		print_worker(journal, slot);
	}
	printf("]}");
}

static void print_processes(const struct journal *journal)
{
	struct list list = {false};

	printf("  \"processes\": [");
	for (uint32_t i = 0; i < slot_count(journal); i++) {
		if (!journal->slots[i].pid || !first_of_process(journal, i))
			continue;
		list__next(&list);
		print_process(journal, journal->slots[i].pid);
	}
	printf("],\n");
}

/* name and count of each */
static void print_counts(const struct journal *journal, enum journal_kind kind, const char *key)
{
	struct sums sums = sums__of(journal, kind);
	struct list list = {false};

	for (size_t i = 0; i < sums.count; i++) {
		list__next(&list);
		printf("{\"%s\": ", key);
		print_string(name_of(journal, sums.keys[i].name), NULL);
		printf(", \"count\": %llu}", (unsigned long long)sums.keys[i].count);
	}
	free(sums.keys);
}

static void print_tasks(const struct journal *journal)
{
	static const struct {
		const char *name;
		int event;
	} counts[] = {
		{"created", JOURNAL_task_created},	 {"begun", JOURNAL_task_begin},
		{"completed", JOURNAL_task_completed},	 {"destroyed", JOURNAL_task_destroyed},
		{"suspensions", JOURNAL_task_suspended}, {"yields", JOURNAL_task_yielded},
	};

	printf("  \"tasks\": {");
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		printf("\"%s\": %llu, ", counts[i].name,
		       (unsigned long long)sum_event(journal, counts[i].event));
	printf("\"migrations\": %llu,\n   \"by_name\": [",
	       (unsigned long long)sum_total(journal, JOURNAL_MIGRATIONS));
	print_counts(journal, JOURNAL_KIND_LIFETIME, "name");
	printf("]},\n  \"suspensions\": [");
	print_counts(journal, JOURNAL_KIND_REASON, "reason");
	printf("],\n  \"wakes\": [");
	print_counts(journal, JOURNAL_KIND_CAUSE, "cause");
	printf("],\n");
}

static void print_steals(const struct journal *journal)
{
	struct sums pairs = sums__of(journal, JOURNAL_KIND_PAIR);
	struct list list = {false};

	printf("  \"steals\": {\"count\": %llu, \"failed\": %llu, \"pairs\": [",
	       (unsigned long long)sum_event(journal, JOURNAL_steal),
	       (unsigned long long)sum_event(journal, JOURNAL_steal_failed));
	for (size_t i = 0; i < pairs.count; i++) {
		const struct journal_key *key = &pairs.keys[i];

		list__next(&list);
		printf("{\"thief\": %u, \"victim\": %u, \"count\": %llu, \"mean_victim_depth\": "
		       "%.17g}",
		       (uint32_t)(key->object >> 32), (uint32_t)key->object,
		       (unsigned long long)key->count, (double)key->sum / (double)key->count);
	}
	printf("]},\n");
	free(pairs.keys);
}

static void print_futures(const struct journal *journal)
{
	printf("  \"futures\": {\"created\": %llu, \"set\": %llu, \"exceptions\": %llu, "
	       "\"continuations_inline\": %llu, \"continuations_scheduled\": %llu, "
	       "\"max_active_continuations\": %lld},\n",
	       (unsigned long long)sum_event(journal, JOURNAL_future_created),
	       (unsigned long long)sum_event(journal, JOURNAL_future_set),
	       (unsigned long long)sum_event(journal, JOURNAL_future_exception),
	       (unsigned long long)sum_total(journal, JOURNAL_CONTINUATIONS_INLINE),
	       (unsigned long long)sum_total(journal, JOURNAL_CONTINUATIONS_SCHEDULED),
	       (long long)atomic_load(&((struct journal *)journal)->max_active_continuations));
}

/* A zone's name holds three fields: name, function, file:line. */
static void print_zone(const char *text, uint64_t count)
{
	const char *function = strchr(text, JOURNAL_SEPARATOR);
	const char *file = function ? strchr(function + 1, JOURNAL_SEPARATOR) : NULL;
	const char *line = file ? strrchr(file, ':') : NULL;

	printf("{\"name\": ");
	print_string(text, function);
	printf(", \"function\": ");
	print_string(function ? function + 1 : NULL, file);
	printf(", \"file\": ");
	print_string(file ? file + 1 : NULL, line);
	printf(", \"line\": %s, \"count\": %llu}", line ? line + 1 : "null",
	       (unsigned long long)count);
}

static void print_zones(const struct journal *journal)
{
	struct sums zones = sums__of(journal, JOURNAL_KIND_ZONE);
	struct list list = {false};

	printf("  \"zones\": [");
	for (size_t i = 0; i < zones.count; i++) {
		const char *text = name_of(journal, zones.keys[i].name);

		if (!text)
			continue;
		list__next(&list);
		print_zone(text, zones.keys[i].count);
	}
	printf("],\n");
	free(zones.keys);
}

static void print_locks(const struct journal *journal)
{
	struct sums locks = sums__of(journal, JOURNAL_KIND_LOCK);
	struct sums names = sums__of(journal, JOURNAL_KIND_LOCK_NAME);
	struct list list = {false};

	printf("  \"locks\": [");
	for (size_t i = 0; i < locks.count; i++) {
		uint32_t name = 0;

		for (size_t k = 0; k < names.count; k++)
			if (names.keys[k].object == locks.keys[i].object)
				name = names.keys[k].name;
		list__next(&list);
		printf("{\"name\": ");
		print_string(name_of(journal, name), NULL);
		printf(", \"object\": \"0x%llx\", \"acquisitions\": %llu, \"contended\": %lld}",
		       (unsigned long long)locks.keys[i].object,
		       (unsigned long long)locks.keys[i].count, (long long)locks.keys[i].sum);
	}
	printf("],\n");
	free(locks.keys);
	free(names.keys);
}

static void print_counters(const struct journal *journal)
{
	struct sums counters = sums__of(journal, JOURNAL_KIND_COUNTER);
	struct list list = {false};

	printf("  \"counters\": [");
	for (size_t i = 0; i < counters.count; i++) {
		list__next(&list);
		printf("{\"name\": ");
		print_string(name_of(journal, counters.keys[i].name), NULL);
		printf(", \"count\": %llu, \"min\": %lld, \"max\": %lld}",
		       (unsigned long long)counters.keys[i].count, (long long)counters.keys[i].min,
		       (long long)counters.keys[i].max);
	}
	printf("],\n");
	free(counters.keys);
}

/* What the report has no place for, but `export -f text | sort | uniq -c` does. */
static void print_events(const struct journal *journal)
{
	struct list list = {false};

	printf("  \"events\": {");
	for (int i = 0; i < JOURNAL_EVENTS; i++) {
		if (!sum_event(journal, i))
			continue;
		list__next(&list);
		printf("\"%s\": %llu", rows[i].name, (unsigned long long)sum_event(journal, i));
	}
	printf("},\n");
}

static void print_threads(const struct journal *journal)
{
	struct list list = {false};

	printf("  \"threads\": [");
	for (uint32_t i = 0; i < slot_count(journal); i++) {
		list__next(&list);
		printf("{\"pid\": %u, \"tid\": %u, \"records\": %llu}", journal->slots[i].pid,
		       journal->slots[i].tid,
		       (unsigned long long)slot__records(&journal->slots[i]));
	}
	printf("]\n");
}

static void print_totals(const struct journal *journal)
{
	uint64_t records = 0, refused = atomic_load(&((struct journal *)journal)->refused);

	for (uint32_t i = 0; i < slot_count(journal); i++) {
		records += slot__records(&journal->slots[i]);
		refused += journal->slots[i].keys_refused;
	}
	printf("{\n  \"schema\": 1,\n  \"journal\": {\"command\": ");
	print_string(journal->command, NULL);
	printf(", \"pid\": %u, \"finished\": %s, \"refused\": %llu, \"fibers\": %llu},\n",
	       journal->pid, atomic_load(&((struct journal *)journal)->finished) ? "true" : "false",
	       (unsigned long long)refused,
	       (unsigned long long)sum_total(journal, JOURNAL_FIBERS_MADE));
	printf("  \"capture\": {\"records\": %llu},\n", (unsigned long long)records);
	print_processes(journal);
	print_tasks(journal);
	print_steals(journal);
	print_futures(journal);
	print_zones(journal);
	print_locks(journal);
	print_counters(journal);
	printf("  \"messages\": {\"sent\": %llu, \"received\": %llu},\n",
	       (unsigned long long)sum_event(journal, JOURNAL_sent),
	       (unsigned long long)sum_event(journal, JOURNAL_received));
	print_events(journal);
	print_threads(journal);
	printf("}\n");
}

static void print_record(const struct journal *journal, const struct journal_slot *slot,
			 const struct journal_record *record)
{
	const struct event_row *row = &rows[record->event % JOURNAL_EVENTS];

	printf("{\"pid\": %u, \"tid\": %u, \"sequence\": %llu, \"stamp\": %llu, ", slot->pid,
	       slot->tid, (unsigned long long)record->sequence, (unsigned long long)record->stamp);
	printf("\"event\": \"%s\", \"args\": [", row->name ? row->name : "?");
	for (int i = 0; i < row->nargs; i++) {
		printf(i ? ", " : "");
		if (!strcmp(row->types[i], "str") || !strcmp(row->types[i], "lit"))
			print_string(name_of(journal, record->args[i]), NULL);
		else if (!strcmp(row->types[i], "num"))
			printf("%lld", (long long)record->args[i]);
		else
			printf("%llu", (unsigned long long)record->args[i]);
	}
	printf("]}\n");
}

/* Each thread's, oldest first; to be sorted by stamp by whoever wants that. */
static void print_records(const struct journal *journal)
{
	uint64_t size = journal->ring_records;

	for (uint32_t i = 0; i < slot_count(journal); i++) {
		const struct journal_slot *slot = &journal->slots[i];
		uint64_t first = slot->records > size ? slot->records - size : 0;

		for (uint64_t n = first; n < slot->records; n++) {
			const struct journal_record *record =
				&journal->rings[i * size + (n & (size - 1))];

			/* else the thread was killed while it wrote the one that takes its place */
			if (record->sequence == n + 1)
				print_record(journal, slot, record);
		}
	}
}

static const struct journal *journal__map(const char *path)
{
	struct stat st;
	const struct journal *journal = MAP_FAILED;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && !fstat(fd, &st) && (size_t)st.st_size >= sizeof(*journal))
		journal = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (journal == MAP_FAILED || journal->magic != JOURNAL_MAGIC ||
	    journal->size != (uint64_t)st.st_size) {
		fprintf(stderr, "journal: %s is not a journal of this build: %s\n", path,
			fd < 0 ? strerror(errno) : "wrong size or magic number");
		exit(1);
	}
	close(fd);
	return journal;
}

int main(int argc, char **argv)
{
	bool events = argc == 3 && !strcmp(argv[1], "--events");

	if (argc != 2 && !events) {
		fprintf(stderr, "usage: journal [--events] FILE\n");
		return 2;
	}
	if (events)
		print_records(journal__map(argv[2]));
	else
		print_totals(journal__map(argv[1]));
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
