// SPDX-License-Identifier: BSD-2-Clause
/*
 * `-- COMMAND`: a child that waits, while it is attached to, to become the command. So its first
 * instruction is traced, and its process number is known before.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../base/say.h"
#include "session.h"

#define STATUS_FAILED 125
#define STATUS_NOT_RUN 126
#define STATUS_NOT_FOUND 127
#define INTERPRETERS_MAX \
	4 /* a script's interpreter may be a script, as deep as the kernel allows */

struct command {
	pid_t pid;
	int go;	     /* written to when the child may go on */
	int failure; /* errno of exec; closed by a successful one */
	char *path;
	char **argv;
	bool reaped;
	int status;
};

/* what execvp would run: 0, or 126 or 127 */
static int command__find(const char *name, char **path)
{
	const char *folders = getenv("PATH"), *end;
	struct stat status;
	int result = STATUS_NOT_FOUND;
	char *candidate;

	if (strchr(name, '/')) {
		*path = strdup(name);
		if (!*path)
			return STATUS_FAILED;
		if (stat(name, &status))
			return errno == ENOENT || errno == ENOTDIR ? STATUS_NOT_FOUND
								   : STATUS_NOT_RUN;
		return access(name, X_OK) || S_ISDIR(status.st_mode) ? STATUS_NOT_RUN : 0;
	}
	if (!folders)
		folders = "/usr/local/bin:/bin:/usr/bin";
	for (;; folders = end + 1) {
		end = strchrnul(folders, ':');
		candidate = end == folders
				    ? sentence__new("./%s", name)
				    : sentence__new("%.*s/%s", (int)(end - folders), folders, name);
		if (!candidate)
			return STATUS_FAILED;
		if (!stat(candidate, &status) && S_ISREG(status.st_mode)) {
			if (!access(candidate, X_OK)) {
				*path = candidate;
				return 0;
			}
			result = STATUS_NOT_RUN;
		}
		free(candidate);
		if (!*end)
			return result;
	}
}

/* "#! /usr/bin/interpreter argument": the interpreter, to be freed, or NULL */
static char *script__interpreter(const char *path)
{
	char line[256] = "", *start;
	FILE *file = fopen(path, "re");

	if (!file)
		return NULL;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	if (strncmp(line, "#!", 2) != 0)
		return NULL;
	start = line + 2 + strspn(line + 2, " \t");
	start[strcspn(start, " \t\r\n")] = '\0';
	return *start ? strdup(start) : NULL;
}

/* the dynamic linker of an ELF file is where libraries announce themselves */
static int session__scan_with_linker(struct session *session, const char *path)
{
	struct binary *binary = binary__open(path, NULL);
	int err = session__scan_file(session, session->first_pid, path);

	if (!err && binary && binary->interpreter)
		err = session__scan_file(session, session->first_pid, binary->interpreter);
	if (binary)
		binary__free(binary);
	return err;
}

static int session__scan_command(struct session *session, const char *path)
{
	struct binary *binary = binary__open(path, NULL);
	char *next = strdup(path), *interpreter;
	int i, err = 0;

	session->everywhere =
		session->options->follow && !session->returns && !(binary && binary->has_points);
	if (binary)
		binary__free(binary);
	for (i = 0; next && i < INTERPRETERS_MAX && !err; i++) {
		err = session__scan_with_linker(session, next);
		interpreter = script__interpreter(next);
		free(next);
		next = interpreter;
	}
	free(next);
	/* whatever it runs in turn mostly has the linker that we have */
	return err ? err : session__scan_with_linker(session, "/proc/self/exe");
}

/* is_elf() - execvp() would have the shell read one that the kernel can't run */
static bool is_elf(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char magic[4];
	bool elf = fd >= 0 && read(fd, magic, 4) == 4 && !memcmp(magic, "\177ELF", 4);

	if (fd >= 0)
		close(fd);
	return elf;
}

static void __attribute__((noreturn)) child__run(const struct command *command, int go, int failure)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	char byte;
	int err;

	sigaction(SIGINT, &standard, NULL);
	sigaction(SIGTERM, &standard, NULL);
	/* end of file: the tracer is gone, or has given up */
	if (read(go, &byte, 1) != 1)
		_exit(STATUS_FAILED);
	execv(command->path, command->argv);
	if (errno == ENOEXEC && !is_elf(command->path))
		execvp(command->path, command->argv);
	err = errno;
	if (write(failure, &err, sizeof(err)) < 0)
		_exit(STATUS_FAILED);
	_exit(STATUS_NOT_RUN);
}

static int command__start(struct command *command)
{
	int go[2], failure[2];

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(failure, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return -errno;
	}
	command->pid = fork();
	if (!command->pid) {
		close(go[1]);
		close(failure[0]);
		child__run(command, go[0], failure[1]);
	}
	close(go[0]);
	close(failure[1]);
	command->go = go[1];
	command->failure = failure[0];
	return command->pid < 0 ? -errno : 0;
}

int command__prepare(struct command **result, struct session *session, char **argv)
{
	struct command *command = calloc(1, sizeof(*command));
	int status;

	if (!command)
		return STATUS_FAILED;
	*result = command;
	command->go = command->failure = -1;
	command->argv = argv;
	status = command__find(argv[0], &command->path);
	if (status == STATUS_NOT_FOUND)
		say__error("%s: not found; give its path, or see that it is in PATH", argv[0]);
	else if (status == STATUS_NOT_RUN)
		say__error(
			"%s: can't be run; is it a program, with permission to execute it (chmod "
			"+x)?",
			argv[0]);
	if (status)
		return status;
	if (command__start(command)) {
		say__error("%s: no process for it: %s", argv[0], strerror(errno));
		return STATUS_FAILED;
	}
	session->first_pid = command->pid;
	if (!session__add_process(session, command->pid, true) ||
	    session__scan_command(session, command->path))
		return STATUS_FAILED;
	return 0;
}

pid_t command__pid(const struct command *command)
{
	return command->pid;
}

/* what it runs closes the descriptor, but may wait for us before that is done (bpf/return.bpf.c) */
static void command__await_exec(const struct command *command, struct session *session)
{
	struct pollfd failure = {.fd = command->failure, .events = POLLIN};

	while (!poll(&failure, 1, 1))
		session__consume(session);
}

int command__release(struct command *command, struct session *session)
{
	int err = 0;
	ssize_t got;

	if (write(command->go, "", 1) != 1)
		return STATUS_FAILED;
	command__await_exec(command, session);
	do {
		got = read(command->failure, &err, sizeof(err));
	} while (got < 0 && errno == EINTR);
	if (got != sizeof(err))
		return 0;
	if (err == ENOEXEC)
		say__error("%s: can't be run: made for another machine; build it for this one",
			   command->argv[0]);
	else
		say__error("%s: can't be run: %s", command->argv[0], strerror(err));
	return err == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
}

bool command__reap(struct command *command, int *status)
{
	if (!command->reaped && waitpid(command->pid, &command->status, WNOHANG) == command->pid)
		command->reaped = true;
	*status = command->status;
	return command->reaped;
}

void command__free(struct command *command)
{
	int status;

	if (!command)
		return;
	if (command->go >= 0)
		close(command->go);
	if (command->failure >= 0)
		close(command->failure);
	if (command->pid > 0)
		command__reap(command, &status);
	free(command->path);
	free(command);
}
