// SPDX-License-Identifier: BSD-2-Clause
/*
 * processes KIND: records 0, 1, 2, ... of a counter by the name of the process's part, around a way to make
 * or leave a process. Each part is right if its values are 0 to COUNT - 1, once each.
 */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tracer/tracer.h>

extern char **environ;
static const char *self;
static uint64_t next;

static void count(const char *part, uint64_t to)
{
	while (next < to) {
		TRACER_COUNTER(part, next);
		next++;
	}
}

static void reap(pid_t child)
{
	int status;

	if (child <= 0 || waitpid(child, &status, 0) != child || status)
		abort();
}

/* the child inherits the parent's ring with what nobody has drained yet */
static void with_fork(void)
{
	for (uint64_t i = 0; i < 100; i++) {
		pid_t child;

		count("parent", 10 * (i + 1));
		child = fork();
		if (!child) {
			next = 0;
			count("child", 5);
			_exit(0);
		}
		reap(child);
	}
}

static void with_vfork(void)
{
	count("parent", 10);
	for (uint64_t i = 0; i < 20; i++) {
		pid_t child = vfork();

		if (!child) {
			/* in the parent's memory, on its ring; enough for some windows */
			count("parent", 2500 * i + 2500);
			_exit(0);
		}
		reap(child);
		count("parent", 2500 * i + 2500 + 10);
	}
	count("parent", 60000);
}

static void with_spawn(void)
{
	char *arguments[] = {(char *)(uintptr_t)self, (char *)(uintptr_t)"leaf", NULL};
	char command[4200];
	pid_t child;

	for (uint64_t i = 0; i < 10; i++) {
		count("parent", 10 * (2 * i + 1));
		if (posix_spawn(&child, self, NULL, NULL, arguments, environ))
			abort();
		reap(child);
		count("parent", 10 * (2 * i + 2));
		snprintf(command, sizeof(command), "'%s' leaf", self);
		if (system(command))
			abort();
	}
}

static void run_leaf(void)
{
	execl(self, self, "leaf", (char *)NULL);
	abort();
}

static void with_exec(void)
{
	count("parent", 1000);
	run_leaf();
}

static void with_failing_exec(void)
{
	for (uint64_t i = 0; i < 20; i++) {
		count("parent", 10 * (i + 1));
		execl("/nonexistent/file", "file", (char *)NULL);
	}
}

static atomic_int running;

static void *other_thread(void *argument)
{
	for (uint64_t i = 0; i < 100; i++)
		TRACER_COUNTER("other", i);
	atomic_fetch_add(&running, 1);
	for (;;)
		pause();
	return argument;
}

static void *exec_thread(void *argument)
{
	count("parent", 1000);
	run_leaf();
	return argument;
}

/* three threads with records that nobody has drained; the one that is not the first runs another program */
static void with_thread_exec(void)
{
	pthread_t thread;

	TRACER_COUNTER("first", 0);
	pthread_create(&thread, NULL, other_thread, NULL);
	while (!atomic_load(&running))
		usleep(100);
	pthread_create(&thread, NULL, exec_thread, NULL);
	pthread_join(thread, NULL);
}

static atomic_int stop;

/* short-lived threads all the time: rings are taken, and their lock held, while others fork */
static void *busy(void *argument);
static void *brief(void *argument)
{
	TRACER_MESSAGE("brief");
	return argument;
}

static void *busy(void *argument)
{
	while (!atomic_load(&stop)) {
		pthread_t threads[4];

		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, brief, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	return argument;
}

static void *child_thread(void *number)
{
	for (uint64_t i = 0; i < 5; i++)
		TRACER_QUEUE_DEPTH((uint32_t)(uintptr_t)number, i);
	return NULL;
}

static void with_threads_fork(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, busy, NULL);
	for (uint64_t i = 0; i < 100; i++) {
		pid_t child;

		count("parent", 10 * (i + 1));
		child = fork();
		if (!child) {
			pthread_t threads[3];

			alarm(10);
			next = 0;
			count("child", 5);
			for (uintptr_t k = 0; k < 3; k++)
				pthread_create(&threads[k], NULL, child_thread, (void *)k);
			for (int k = 0; k < 3; k++)
				pthread_join(threads[k], NULL);
			_exit(0);
		}
		reap(child);
	}
	atomic_store(&stop, 1);
	pthread_join(thread, NULL);
}

static void with_daemon(void)
{
	pid_t child;
	int ends[2];
	char byte;

	count("parent", 10);
	if (pipe(ends))
		abort();
	child = fork();
	if (!child) {
		next = 0;
		count("child", 10);
		setsid();
		if (fork())
			_exit(0);
		next = 0;
		count("grandchild", 10);
		if (write(ends[1], "", 1) != 1)
			abort();
		_exit(0);
	}
	reap(child);
	if (read(ends[0], &byte, 1) != 1)
		abort();
	count("parent", 20);
}

/* ways to go, with records that nobody has drained */
static void with_end(const char *how)
{
	count("parent", 1000);
	if (!strcmp(how, "_exit"))
		_exit(0);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "fault"))
		__builtin_trap();
	if (!strcmp(how, "pthread_exit"))
		pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {
		{"fork", with_fork},
		{"vfork", with_vfork},
		{"spawn", with_spawn},
		{"exec", with_exec},
		{"failing-exec", with_failing_exec},
		{"thread-exec", with_thread_exec},
		{"threads-fork", with_threads_fork},
		{"daemon", with_daemon},
	};

	self = argv[0];
	if (!strcmp(kind, "leaf"))
		count("leaf", 10);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(kind, kinds[i].name))
			kinds[i].run();
	}
	if (!strcmp(kind, "end"))
		with_end(argc > 2 ? argv[2] : "");
	return 0;
}
