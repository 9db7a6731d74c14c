/* SPDX-License-Identifier: BSD-2-Clause */
/* The bundled target: one program, several loads. `tracer-demo-runtime --help` lists them. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "demo.h"

static const struct demo *const demos[] = {&demo_fib, &demo_stencil, &demo_pipeline, &demo_churn};
#define DEMOS (sizeof(demos) / sizeof(demos[0]))

struct settings {
	const struct demo *demo;
	struct demo_options demo_options;
	struct runtime_options runtime;
	uint64_t repeat; /* 0: for ever */
	double linger_s;
	const char *wait_file;
	const char *journal;
	uint32_t journal_events;
};

static void usage(FILE *out)
{
	fprintf(out, "usage: tracer-demo-runtime PROGRAM [OPTION]...\n\nprograms:\n");
	for (size_t i = 0; i < DEMOS; i++)
		fprintf(out, "  %-10s %s (default %llu)\n", demos[i]->name, demos[i]->doc,
			(unsigned long long)demos[i]->default_size);
	fprintf(out,
		"\noptions:\n"
		"  --workers N         worker threads (default 2)\n"
		"  --size N, --tasks N how much, see above\n"
		"  --work NS           busy time of each task's body (default 0)\n"
		"  --repeat N          run N times, 0: until killed (default 1)\n"
		"  --wait-file FILE    begin when FILE appears; no thread and no point before\n"
		"  --linger SECONDS    stay alive that long at the end\n"
		"  --journal FILE      count everything in FILE, for `journal FILE`\n"
		"  --journal-events N  and keep each thread's last N events (a power of two)\n"
		"  --stack BYTES       of a fiber (default 64 KiB)\n"
		"  --no-inline         a waiting task never runs another on its stack\n"
		"  --plain-ends        TASK_END beside YIELDED, SUSPENDED and COMPLETED\n"
		"  --fork              pipeline: the sink is a child process\n"
		"  --watchdog SECONDS  abort if nothing begins for so long (default 30, 0: never)\n"
		"  --quiet\n");
}

int demo__check(const char *what, int64_t result, int64_t expected)
{
	if (result == expected)
		return 0;
	fprintf(stderr, "tracer-demo-runtime: %s: %lld, expected %lld\n", what, (long long)result,
		(long long)expected);
	return 1;
}

static uint64_t number(const char *option, const char *text)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-') {
		fprintf(stderr, "tracer-demo-runtime: --%s: \"%s\" is not a number\n", option,
			text);
		exit(2);
	}
	return value;
}

static void parse(struct settings *settings, int argc, char **argv)
{
	static const struct option options[] = {
		{"workers", required_argument, NULL, 'w'},
		{"size", required_argument, NULL, 'n'},
		{"tasks", required_argument, NULL, 'n'},
		{"work", required_argument, NULL, 'b'},
		{"repeat", required_argument, NULL, 'r'},
		{"wait-file", required_argument, NULL, 'f'},
		{"linger", required_argument, NULL, 'l'},
		{"journal", required_argument, NULL, 'j'},
		{"journal-events", required_argument, NULL, 'e'},
		{"stack", required_argument, NULL, 's'},
		{"no-inline", no_argument, NULL, 'i'},
		{"plain-ends", no_argument, NULL, 'p'},
		{"fork", no_argument, NULL, 'F'},
		{"watchdog", required_argument, NULL, 'W'},
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c, index;

	while ((c = getopt_long(argc, argv, "", options, &index)) != -1) {
		const char *name = c == '?' ? NULL : options[index].name;

		switch (c) {
		case 'w':
			settings->runtime.workers = (uint32_t)number(name, optarg);
			break;
		case 'n':
			settings->demo_options.size = number(name, optarg);
			break;
		case 'b':
			settings->demo_options.work_ns = number(name, optarg);
			break;
		case 'r':
			settings->repeat = number(name, optarg);
			break;
		case 'f':
			settings->wait_file = optarg;
			break;
		case 'l':
			settings->linger_s = atof(optarg);
			break;
		case 'j':
			settings->journal = optarg;
			break;
		case 'e':
			settings->journal_events = (uint32_t)number(name, optarg);
			break;
		case 's':
			settings->runtime.stack_size = (uint32_t)number(name, optarg);
			break;
		case 'i':
			settings->runtime.no_inline = true;
			break;
		case 'p':
			settings->runtime.plain_ends = true;
			break;
		case 'F':
			settings->demo_options.fork = true;
			break;
		case 'W':
			settings->runtime.watchdog_s = (uint32_t)number(name, optarg);
			break;
		case 'q':
			settings->demo_options.quiet = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	for (size_t i = 0; optind + 1 == argc && i < DEMOS; i++)
		if (!strcmp(argv[optind], demos[i]->name))
			settings->demo = demos[i];
	if (!settings->demo) {
		usage(stderr);
		exit(2);
	}
	if (!settings->demo_options.size)
		settings->demo_options.size = settings->demo->default_size;
	settings->demo_options.workers = settings->runtime.workers;
}

static void sleep_s(double seconds)
{
	struct timespec time = {.tv_sec = (time_t)seconds};

	time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int run(struct settings *settings)
{
	const struct demo *demo = settings->demo;
	struct runtime *runtime;
	double start = now_s();
	int err, wrong = 0;

	err = demo->before ? demo->before(&settings->demo_options) : 0;
	if (!err)
		err = runtime__start(&runtime, &settings->runtime);
	if (err) {
		fprintf(stderr, "tracer-demo-runtime: can't start: %s\n", strerror(-err));
		return 1;
	}
	for (uint64_t i = 0; !wrong && (!settings->repeat || i < settings->repeat); i++)
		wrong = demo->run(runtime, &settings->demo_options);
	runtime__stop(runtime);
	if (demo->after)
		wrong |= demo->after(&settings->demo_options);
	journal__finish();
	if (!settings->demo_options.quiet)
		printf("%s: %s, %.3f s\n", demo->name, wrong ? "WRONG" : "right", now_s() - start);
	fflush(stdout);
	return wrong;
}

int main(int argc, char **argv)
{
	struct settings settings = {.repeat = 1, .runtime = {.workers = 2, .watchdog_s = 30}};
	int err, wrong;

	parse(&settings, argc, argv);
	if (settings.journal) {
		err = journal__open(settings.journal, settings.journal_events, settings.demo->name);
		if (err) {
			fprintf(stderr, "tracer-demo-runtime: journal %s: %s\n", settings.journal,
				strerror(-err));
			return 1;
		}
	}
	while (settings.wait_file && access(settings.wait_file, F_OK))
		sleep_s(0.01);
	wrong = run(&settings);
	sleep_s(settings.linger_s);
	return wrong;
}
