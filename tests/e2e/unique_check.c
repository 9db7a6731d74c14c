/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Did every record of tests/targets/stress reach the capture exactly once, whole, and in its
 * thread's order? Reads the decoded events and keeps a bit for each record. What is expected comes
 * from what the threads say they did (--progress, also of a killed stress), or is N threads of M
 * records. With --allow-lost records may be missing if the capture says so: exactly as many as it
 * says.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../../user/trace/trace.h"
#include "../targets/progress.h"

#define NAMES 300U /* as stress makes them */

struct thread {
	uint64_t *bits;
	uint64_t size;	   /* in bits */
	uint64_t seen;	   /* different records */
	uint64_t next;	   /* one more than the last one seen */
	uint64_t expected; /* records that must be there; one more may be, if killed */
	uint32_t tid;
};

struct check {
	struct thread *threads;
	uint32_t count;
	uint64_t records; /* of each thread, if nothing stops it */
	bool allow_lost;
	uint64_t duplicate, unexpected, damaged, out_of_order, other_thread;
};

static void usage(void)
{
	fprintf(stderr,
		"usage: unique_check [--allow-lost] --progress FILE | --threads N --records M "
		"CAPTURE\n");
	exit(2);
}

static void die(const char *what, const char *why)
{
	fprintf(stderr, "unique_check: %s: %s\n", what, why);
	exit(1);
}

static void check__threads(struct check *check, uint32_t count)
{
	check->count = count;
	check->threads = calloc(count, sizeof(*check->threads));
	if (!check->threads)
		die("threads", strerror(ENOMEM));
}

static void check__progress(struct check *check, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct progress *progress;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die(path, strerror(errno));
	if ((size_t)st.st_size < sizeof(*progress))
		die(path, "not a progress file");
	progress = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (progress == MAP_FAILED)
		die(path, strerror(errno));
	if (progress->magic != PROGRESS_MAGIC ||
	    (size_t)st.st_size < progress__size(progress->count))
		die(path, "not a progress file");
	check__threads(check, progress->count);
	check->records = progress->records;
	for (uint32_t i = 0; i < progress->count; i++)
		check->threads[i].expected = progress->threads[i].returned;
	close(fd);
}

/* true if it was not set before */
static bool thread__mark(struct thread *thread, uint64_t n)
{
	uint64_t bit = 1ULL << n % 64;

	if (n >= thread->size) {
		uint64_t size = thread->size ? thread->size : 1 << 20;

		while (size <= n)
			size *= 2;
		thread->bits = realloc(thread->bits, size / 8);
		if (!thread->bits)
			die("bitmap", strerror(ENOMEM));
		memset((char *)thread->bits + thread->size / 8, 0, (size - thread->size) / 8);
		thread->size = size;
	}
	if (thread->bits[n / 64] & bit)
		return false;
	thread->bits[n / 64] |= bit;
	return true;
}

static bool name_right(const char *name, uint64_t n)
{
	char expected[40];

	if (!name)
		return false;
	if (!strcmp(name, "stress"))
		return true;
	snprintf(expected, sizeof(expected), "stress name %u%.*s", (unsigned)(n % NAMES),
		 (int)(n % 16), " and some more..");
	return !strcmp(name, expected);
}

/*
 * The value that tells the record; *@whole: its other arguments are as they were recorded.
 * Returns false for events that are not stress's.
 */
static bool record_value(const struct event *event, uint64_t *value, bool *whole)
{
	const union event_arg *args = event->args;
	const uint64_t mask = PROGRESS_RECORDS_MAX - 1;

	*whole = true;
	switch (event->type) {
	case EV_task_begin:
	case EV_task_end:
		/* a pair has one value: records 2k and 2k + 1 */
		*value =
			(args[0].u & ~mask) | (args[0].u & mask) * 2 | (event->type == EV_task_end);
		if (event->type == EV_task_begin)
			*whole = args[1].u == (args[0].u >> PROGRESS_SHIFT) - 1;
		return true;
	case EV_counter:
		*value = (uint64_t)args[1].i;
		*whole = !event->real && name_right(args[0].s, *value & mask);
		return true;
	case EV_marker_set:
		*value = args[2].u;
		*whole = args[0].u == 1 && name_right(args[1].s, *value & mask);
		return true;
	case EV_steal:
		*value = args[2].u;
		*whole = args[0].u == 0 && args[1].u == 1 && args[3].u == (*value & mask);
		return true;
	case EV_sent:
		*value = args[0].u;
		*whole = args[1].u == 1 && args[2].u == (*value & mask);
		return true;
	case EV_lock_wait:
		*value = args[0].u;
		*whole = name_right(args[1].s, *value & mask);
		return true;
	case EV_queue_depth:
		*value = args[1].u;
		*whole = args[0].u == 0;
		return true;
	case EV_flow_step:
	case EV_future_set:
		*value = args[0].u;
		return true;
	default:
		return false;
	}
}

static void check__event(struct check *check, const struct event *event)
{
	struct thread *thread;
	uint64_t value, index, n;
	bool whole;

	if (!record_value(event, &value, &whole)) {
		/* 256 and above are the capture's own */
		if (event->type < EV_process)
			check->unexpected++;
		return;
	}
	index = value >> PROGRESS_SHIFT;
	n = value & (PROGRESS_RECORDS_MAX - 1);
	if (!index || index > check->count || n > check->records) {
		check->unexpected++;
		return;
	}
	thread = &check->threads[index - 1];
	if (!thread->tid)
		thread->tid = event->tid;
	check->other_thread += thread->tid != event->tid;
	check->damaged += !whole;
	if (!thread__mark(thread, n)) {
		check->duplicate++;
		return;
	}
	thread->seen++;
	check->out_of_order += n < thread->next;
	thread->next = n + 1;
	/* the point that was under way when the process was
	 * killed may be there, nothing after it */
	check->unexpected += n > thread->expected || n >= check->records;
}

static uint64_t thread__missing(const struct thread *thread)
{
	uint64_t missing = 0;

	for (uint64_t n = 0; n < thread->expected; n++)
		missing += n >= thread->size || !(thread->bits[n / 64] >> n % 64 & 1);
	return missing;
}

/* Prints the figures; returns 0 if all is as it must be. */
static int check__result(const struct check *check, const struct trace_totals *totals)
{
	uint64_t missing = 0, expected = 0, seen = 0, allowed;
	bool wrong;

	for (uint32_t i = 0; i < check->count; i++) {
		missing += thread__missing(&check->threads[i]);
		expected += check->threads[i].expected;
		seen += check->threads[i].seen;
	}
	allowed = check->allow_lost ? totals->lost : 0;
	/* with losses, the ones under way at a kill (at most one a thread) may be lost as well */
	wrong = check->allow_lost ? missing > allowed || missing + check->count < allowed
				  : missing || totals->lost;
	wrong |= check->duplicate || check->unexpected || check->damaged || check->out_of_order ||
		 check->other_thread || totals->records != seen ||
		 totals->recorded != totals->records + totals->lost ||
		 totals->recorded < expected || totals->recorded > expected + check->count;
	printf("%s: expected %" PRIu64 " seen %" PRIu64 " missing %" PRIu64 " duplicate %" PRIu64
	       " unexpected %" PRIu64 " damaged %" PRIu64 " out_of_order %" PRIu64
	       " other_thread %" PRIu64 "; capture: records %" PRIu64 " lost %" PRIu64
	       " recorded %" PRIu64 "\n",
	       wrong ? "WRONG" : "right", expected, seen, missing, check->duplicate,
	       check->unexpected, check->damaged, check->out_of_order, check->other_thread,
	       totals->records, totals->lost, totals->recorded);
	return wrong;
}

static void parse(struct check *check, int argc, char **argv)
{
	static const struct option options[] = {
		{"progress", required_argument, NULL, 'p'},
		{"threads", required_argument, NULL, 't'},
		{"records", required_argument, NULL, 'n'},
		{"allow-lost", no_argument, NULL, 'l'},
		{NULL, 0, NULL, 0},
	};
	bool progress = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'p':
			check__progress(check, optarg);
			progress = true;
			break;
		case 't':
			check__threads(check, (uint32_t)strtoul(optarg, NULL, 0));
			break;
		case 'n':
			check->records = strtoull(optarg, NULL, 0);
			break;
		case 'l':
			check->allow_lost = true;
			break;
		default:
			usage();
		}
	}
	if (!check->count || optind + 1 != argc)
		usage();
	for (uint32_t i = 0; !progress && i < check->count; i++)
		check->threads[i].expected = check->records;
}

int main(int argc, char **argv)
{
	struct check check = {0};
	struct trace *trace;
	struct event event;
	char *err = NULL;
	int result;

	parse(&check, argc, argv);
	trace = trace__open(argv[optind], &err);
	if (!trace)
		die(argv[optind], err ? err : "can't be opened");
	while ((result = trace__next(trace, &event)) == 1)
		check__event(&check, &event);
	if (result < 0)
		die(argv[optind], trace__error(trace));
	result = check__result(&check, trace__totals(trace));
	trace__close(trace);
	for (uint32_t i = 0; i < check.count; i++)
		free(check.threads[i].bits);
	free(check.threads);
	return result;
}
