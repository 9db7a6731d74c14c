// SPDX-License-Identifier: BSD-2-Clause
/*
 * children HOW[,HOW]... COUNT AT-ONCE FILE [wait]: COUNT children, AT-ONCE of them at the same time. With several ways,
 * so many each, of FILE-HOW.
 *	dlopen		forked; load the library FILE and use it
 *	execve, execveat, fexecve, memfd, script
 *			forked; run FILE: by its path, its name in an open folder, its descriptor, a copy of it that has
 *			no name, a script that has it as its interpreter
 *	vfork, spawn	run FILE
 * wait: for the tracer, before the first of them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tracer/tracer.h>
#include <unistd.h>
#include "gate.h"

extern char **environ;
static const char *how, *file;
static char *arguments[2];

static void use_library(void)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	void (*count)(uint64_t from, uint64_t to);

	if (!library)
		_exit(3);
	count = (void (*)(uint64_t, uint64_t))(uintptr_t)dlsym(library, "plugin_count");
	count(0, 100);
	_exit(0);
}

static int unnamed_copy(void)
{
	int from = open(file, O_RDONLY | O_CLOEXEC), copy = memfd_create("copy", MFD_CLOEXEC);
	struct stat status;

	if (from < 0 || copy < 0 || fstat(from, &status))
		abort();
	while (status.st_size > 0) {
		ssize_t done = sendfile(copy, from, NULL, (size_t)status.st_size);

		if (done <= 0)
			abort();
		status.st_size -= done;
	}
	close(from);
	return copy;
}

static void run_in_folder(void)
{
	char folder[4096];
	char *name;
	int fd;

	snprintf(folder, sizeof(folder), "%s", file);
	name = strrchr(folder, '/');
	*name++ = '\0';
	fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	syscall(SYS_execveat, fd, name, arguments, environ, 0);
}

static void run(void)
{
	if (!strcmp(how, "dlopen"))
		use_library();
	if (!strcmp(how, "execve") || !strcmp(how, "vfork") || !strcmp(how, "script"))
		execve(file, arguments, environ);
	else if (!strcmp(how, "execveat"))
		run_in_folder();
	else if (!strcmp(how, "fexecve"))
		fexecve(open(file, O_RDONLY | O_CLOEXEC), arguments, environ);
	else if (!strcmp(how, "memfd"))
		fexecve(unnamed_copy(), arguments, environ);
	_exit(4);
}

static pid_t start(void)
{
	pid_t child = -1;

	if (!strcmp(how, "spawn"))
		posix_spawn(&child, file, NULL, NULL, arguments, environ);
	else
		child = strcmp(how, "vfork") ? fork() : vfork();
	if (!child)
		run();
	return child;
}

/* the interpreter of a script is told the script's path: what the program calls itself */
static const char *script__of(const char *interpreter)
{
	static char path[4096 + 8];
	FILE *script;

	snprintf(path, sizeof(path), "%s.script", interpreter);
	script = fopen(path, "we");
	if (!script)
		abort();
	fprintf(script, "#!%s\n", interpreter);
	fclose(script);
	chmod(path, 0755);
	return path;
}

static void start_all(int count, int most)
{
	int started = 0, ended, status;

	for (ended = 0; ended < count; ended++) {
		for (; started < count && started - ended < most; started++) {
			if (start() <= 0)
				abort();
		}
		if (wait(&status) <= 0 || status) {
			fprintf(stderr, "%s: a child's status: %d\n", how, status);
			exit(5);
		}
	}
}

int main(int argc, char **argv)
{
	bool several;
	char *ways;

	if (argc < 5)
		return 2;
	ways = argv[1];
	several = strchr(ways, ',');
	TRACER_COUNTER("parent", 0);
	if (argc > 5)
		wait_for_tracer();
	while ((how = strsep(&ways, ","))) {
		char path[4096];

		snprintf(path, sizeof(path), "%s%s%s", argv[4], several ? "-" : "",
			 several ? how : "");
		file = strcmp(how, "script") ? path : script__of(path);
		arguments[0] = (char *)(uintptr_t)file;
		start_all(atoi(argv[2]), atoi(argv[3]));
	}
	TRACER_COUNTER("parent", 1);
	return 0;
}
