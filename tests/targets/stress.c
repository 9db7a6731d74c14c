/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that run through points as fast as they can, each point with a value of its own, so that
 * unique_check can tell whether every record arrived exactly once. Record n (from 0) of thread t
 * (from 0) carries (t + 1) << 40 | n; a BEGIN and END pair are two records with one task.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <tracer/tracer.h>
#include "progress.h"

#define PACE_BATCH 64U /* records between looks at the clock, when paced */
#define NAMES 300U     /* more than a window's table of names holds */
#define SPREAD 8U      /* kinds of points in turn under --mixed */

enum kind { KIND_COUNTER, KIND_TASK, KIND_MIXED };

struct stress {
	enum kind kind;
	uint32_t threads;
	uint64_t records;
	uint64_t rate;
	uint64_t kill_after_ms;
	double linger_s;
	int names;
	const char *wait_file;
	struct progress *progress; /* private to this process without --shared-progress */
	pthread_barrier_t barrier;
};

struct stress_thread {
	struct stress *stress;
	uint32_t index;
	pthread_t thread;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec time;

	time.tv_sec = (time_t)(ns / 1000000000U);
	time.tv_nsec = (long)(ns % 1000000000U);
	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

/* Records of different lengths; each has its value where unique_check looks for it. */
static void point_mixed(const char *name, uint64_t n, uint64_t value)
{
	switch (n % SPREAD) {
	case 0:
		TRACER_FLOW_STEP(value);
		break;
	case 1:
		TRACER_MARKER_SET(1, name, value);
		break;
	case 2:
		TRACER_COUNTER(name, (int64_t)value);
		break;
	case 3:
		TRACER_STEAL(0, 1, value, n);
		break;
	case 4:
		TRACER_FUTURE_SET(value);
		break;
	case 5:
		TRACER_SENT(value, 1, n);
		break;
	case 6:
		TRACER_LOCK_WAIT(value, name);
		break;
	default:
		TRACER_QUEUE_DEPTH(0, value);
		break;
	}
}

static void point(const struct stress *stress, uint32_t thread, uint64_t n)
{
	uint64_t value = progress__value(thread, n);
	char text[40];
	const char *name = "stress";

	switch (stress->kind) {
	case KIND_TASK:
		value = progress__value(thread, n / 2);
		if (n % 2)
			TRACER_TASK_END(value);
		else
			TRACER_TASK_BEGIN(value, thread);
		return;
	case KIND_COUNTER:
	case KIND_MIXED:
		if (stress->names) {
			/* on the stack, so it is another string at the same address each time */
			snprintf(text, sizeof(text), "stress name %u%.*s", (unsigned)(n % NAMES),
				 (int)(n % 16), " and some more..");
			name = text;
		}
		if (stress->kind == KIND_MIXED)
			point_mixed(name, n, value);
		else
			TRACER_COUNTER(name, (int64_t)value);
		return;
	}
}

static void *stress_main(void *arg)
{
	struct stress_thread *self = arg;
	struct stress *stress = self->stress;
	uint64_t *returned = &stress->progress->threads[self->index].returned;
	uint64_t start;

	pthread_barrier_wait(&stress->barrier);
	start = now_ns();
	for (uint64_t n = 0; n < stress->records; n++) {
		if (stress->rate && n % PACE_BATCH == 0) {
			uint64_t due = start + (uint64_t)((double)n * 1e9 / (double)stress->rate);
			uint64_t now = now_ns();

			if (due > now)
				sleep_ns(due - now);
		}
		point(stress, self->index, n);
		__atomic_store_n(returned, n + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* In the middle of whatever the others are doing, like the OOM killer. */
static void *killer_main(void *arg)
{
	struct stress *stress = arg;

	pthread_barrier_wait(&stress->barrier);
	sleep_ns(stress->kill_after_ms * 1000000U);
	kill(getpid(), SIGKILL);
	return NULL;
}

static struct progress *progress__map(const char *path, const struct stress *stress)
{
	size_t size = progress__size(stress->threads);
	struct progress *progress;
	int fd = -1, flags = MAP_SHARED | MAP_ANONYMOUS;

	if (path) {
		flags = MAP_SHARED;
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (fd < 0 || ftruncate(fd, (off_t)size)) {
			fprintf(stderr, "stress: %s: %s\n", path, strerror(errno));
			exit(1);
		}
	}
	progress = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (progress == MAP_FAILED) {
		fprintf(stderr, "stress: can't map the progress: %s\n", strerror(errno));
		exit(1);
	}
	if (fd >= 0)
		close(fd);
	progress->pid = (uint32_t)getpid();
	progress->count = stress->threads;
	progress->records = stress->records;
	progress->magic = PROGRESS_MAGIC;
	return progress;
}

static void usage(FILE *out)
{
	fprintf(out,
		"usage: stress [OPTION]...\n"
		"  --threads N           default 2\n"
		"  --records N           of each thread, default 1000000\n"
		"  --rate N              records per second and thread, 0: as fast as can be\n"
		"  --kind counter|task|mixed  default counter; mixed: records of many lengths\n"
		"  --names               run-time names, several hundred of them\n"
		"  --kill-after MS       SIGKILL for itself, so long after the start\n"
		"  --shared-progress FILE  each thread's count of points that have returned\n"
		"  --wait-file FILE      begin when FILE appears; no thread before\n"
		"  --linger SECONDS      stay alive that long at the end\n");
}

static uint64_t number(const char *text)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-') {
		fprintf(stderr, "stress: \"%s\" is not a number\n", text);
		exit(2);
	}
	return value;
}

static enum kind kind(const char *text)
{
	if (!strcmp(text, "counter"))
		return KIND_COUNTER;
	if (!strcmp(text, "task"))
		return KIND_TASK;
	if (!strcmp(text, "mixed"))
		return KIND_MIXED;
	usage(stderr);
	exit(2);
}

static void parse(struct stress *stress, const char **shared, int argc, char **argv)
{
	static const struct option options[] = {
		{"threads", required_argument, NULL, 't'},
		{"records", required_argument, NULL, 'n'},
		{"rate", required_argument, NULL, 'r'},
		{"kind", required_argument, NULL, 'k'},
		{"names", no_argument, NULL, 'N'},
		{"kill-after", required_argument, NULL, 'K'},
		{"shared-progress", required_argument, NULL, 'p'},
		{"wait-file", required_argument, NULL, 'f'},
		{"linger", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 't':
			stress->threads = (uint32_t)number(optarg);
			break;
		case 'n':
			stress->records = number(optarg);
			break;
		case 'r':
			stress->rate = number(optarg);
			break;
		case 'k':
			stress->kind = kind(optarg);
			break;
		case 'N':
			stress->names = 1;
			break;
		case 'K':
			stress->kill_after_ms = number(optarg);
			break;
		case 'p':
			*shared = optarg;
			break;
		case 'f':
			stress->wait_file = optarg;
			break;
		case 'l':
			stress->linger_s = atof(optarg);
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (!stress->threads || stress->records > PROGRESS_RECORDS_MAX) {
		usage(stderr);
		exit(2);
	}
}

static void start(pthread_t *thread, void *(*body)(void *), void *arg)
{
	int err = pthread_create(thread, NULL, body, arg);

	if (err) {
		fprintf(stderr, "stress: can't start a thread: %s\n", strerror(err));
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct stress stress = {.threads = 2, .records = 1000000};
	const char *shared = NULL;
	struct stress_thread *threads;
	pthread_t killer;

	parse(&stress, &shared, argc, argv);
	stress.progress = progress__map(shared, &stress);
	threads = calloc(stress.threads, sizeof(*threads));
	if (!threads)
		return 1;
	while (stress.wait_file && access(stress.wait_file, F_OK))
		sleep_ns(10000000);
	pthread_barrier_init(&stress.barrier, NULL,
			     stress.threads + (stress.kill_after_ms ? 1 : 0));
	for (uint32_t i = 0; i < stress.threads; i++) {
		threads[i].stress = &stress;
		threads[i].index = i;
		start(&threads[i].thread, stress_main, &threads[i]);
	}
	if (stress.kill_after_ms)
		start(&killer, killer_main, &stress);
	for (uint32_t i = 0; i < stress.threads; i++)
		pthread_join(threads[i].thread, NULL);
	/* records ran out before the time did: die all the same, the caller counts on it */
	if (stress.kill_after_ms)
		pthread_join(killer, NULL);
	sleep_ns((uint64_t)(stress.linger_s * 1e9));
	free(threads);
	return 0;
}
