/* SPDX-License-Identifier: BSD-2-Clause */
/* tracer ctl: steers a running tracer record. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "../base/say.h"
#define CONTROL_NAME_ONLY
#include "../capture/control.h"
#include "cmd.h"

#define RECORDERS_MAX 256

static const struct argp_option options[] = {
	{"pid", 'p', "PID", 0,
	 "The recorder, or a process that it traces (default: the only recorder there is)", 0},
	OPTIONS_SPEECH,
	{0},
};

static const char doc[] = "Steers a running tracer record."
			  "\v"
			  "start     record again, or at last (--start-paused)\n"
			  "stop      close the gates: the targets pay nothing until start\n"
			  "snapshot  write a flight recorder's window; prints the file's name\n"
			  "sample N  one task in N from here on\n"
			  "status    what it does, as JSON\n\n"
			  "Examples:\n"
			  "  sudo tracer --flight-recorder 64M -o x.trc -p 4711 &\n"
			  "  sudo tracer ctl snapshot              x.trc\n"
			  "  sudo tracer ctl stop -p 4711\n"
			  "  sudo tracer ctl status | jq .state";

struct ctl {
	const char *verb, *argument;
	pid_t pid;
};

static int ctl__set(void *ctx, int key, const char *value, const struct option_origin *origin)
{
	struct ctl *ctl = ctx;
	uint64_t number;

	if (key != 'p')
		return option__speech(key);
	if (option__number(value, origin, 1, INT32_MAX, &number))
		return -EINVAL;
	ctl->pid = (pid_t)number;
	return 0;
}

static int ctl__operand(void *ctx, const char *operand)
{
	struct ctl *ctl = ctx;

	if (!ctl->verb)
		ctl->verb = operand;
	else if (!ctl->argument)
		ctl->argument = operand;
	else {
		say__error("'%s' is one word too many; see tracer ctl --help", operand);
		return -EINVAL;
	}
	return 0;
}

/* numbers of the recorders that can be reached */
static size_t recorders__find(pid_t *pids)
{
	FILE *file = fopen("/proc/net/unix", "re");
	static const char name[] = "@" CONTROL_NAME;
	char line[512], *at;
	size_t count = 0, i;
	pid_t pid;

	while (file && count < RECORDERS_MAX && fgets(line, sizeof(line), file)) {
		at = strstr(line, name);
		if (!at)
			continue;
		pid = atoi(at + sizeof(name) - 1);
		/* a connection has its socket's name, too */
		for (i = 0; i < count && pids[i] != pid; i++)
			;
		if (i == count && pid > 0)
			pids[count++] = pid;
	}
	if (file)
		fclose(file);
	return count;
}

/* sends a line to a recorder; its answer, to be freed, or NULL with errno */
static char *recorder__ask(pid_t pid, const char *request)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char *answer = calloc(1, CONTROL_LINE);
	ssize_t got;
	size_t used = 0;
	int length;

	if (fd < 0 || !answer)
		goto fail;
	length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, CONTROL_NAME "%d",
			  pid);
	if (connect(fd, (struct sockaddr *)&address,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) ||
	    dprintf(fd, "%s\n", request) < 0)
		goto fail;
	while (used < CONTROL_LINE - 1) {
		got = read(fd, answer + used, CONTROL_LINE - 1 - used);
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	close(fd);
	answer[strcspn(answer, "\n")] = '\0';
	if (*answer)
		return answer;
	errno = ECONNRESET;
	free(answer);
	return NULL;
fail:
	if (fd >= 0)
		close(fd);
	free(answer);
	return NULL;
}

static bool recorder__traces(pid_t recorder, pid_t pid)
{
	char *answer = recorder__ask(recorder, "status");
	struct json_object *json =
		answer && !strncmp(answer, "ok ", 3) ? json_tokener_parse(answer + 3) : NULL;
	struct json_object *targets;
	bool found = false;
	size_t i;

	if (json && json_object_object_get_ex(json, "targets", &targets)) {
		for (i = 0; i < json_object_array_length(targets); i++)
			found |= json_object_get_int(json_object_array_get_idx(targets, i)) == pid;
	}
	json_object_put(json);
	free(answer);
	return found;
}

/* the recorder that is meant; 0 after telling the user */
static pid_t ctl__recorder(const struct ctl *ctl)
{
	pid_t pids[RECORDERS_MAX];
	size_t count = recorders__find(pids), i;

	if (!count) {
		say__error("no tracer record is running; start one: tracer record -p PID ...");
		return 0;
	}
	for (i = 0; ctl->pid && i < count; i++)
		if (pids[i] == ctl->pid)
			return pids[i];
	for (i = 0; ctl->pid && i < count; i++)
		if (recorder__traces(pids[i], ctl->pid))
			return pids[i];
	if (ctl->pid) {
		say__error("process %d is no recorder, and none traces it; tracer ctl status -p "
			   "RECORDER says what that one traces",
			   ctl->pid);
		return 0;
	}
	if (count == 1)
		return pids[0];
	say__error("%zu recorders are running (%d, %d%s); say which with -p", count, pids[0],
		   pids[1], count > 2 ? ", ..." : "");
	return 0;
}

static int ctl__run(const struct ctl *ctl)
{
	pid_t recorder = ctl__recorder(ctl);
	char *request = NULL, *answer;
	int status = STATUS_REFUSED;

	if (!recorder)
		return status;
	request = ctl->argument ? sentence__new("%s %s", ctl->verb, ctl->argument)
				: strdup(ctl->verb);
	answer = request ? recorder__ask(recorder, request) : NULL;
	if (!answer)
		say__error("recorder %d does not answer: %s; has it ended just now?", recorder,
			   strerror(errno));
	else if (strncmp(answer, "ok", 2) != 0)
		say__error("%s", !strncmp(answer, "error ", 6) ? answer + 6 : answer);
	else {
		status = STATUS_OK;
		if (!strcmp(ctl->verb, "snapshot") || !strcmp(ctl->verb, "status"))
			puts(answer[2] ? answer + 3 : "");
	}
	free(answer);
	free(request);
	return status;
}

int ctl__main(int argc, char **argv)
{
	static const char *const verbs[] = {"start", "stop", "snapshot", "status", "sample"};
	struct ctl ctl = {0};
	struct cmd_parser parser = {
		.options = options,
		.operands = "start|stop|snapshot|status\nsample N",
		.doc = doc,
		.usage_status = STATUS_USAGE,
		.ctx = &ctl,
		.set = ctl__set,
		.operand = ctl__operand,
	};
	int status = cmd__parse(&parser, argc, argv);
	bool known = false;

	if (status)
		return status;
	for (size_t i = 0; ctl.verb && i < sizeof(verbs) / sizeof(*verbs); i++)
		known |= !strcmp(ctl.verb, verbs[i]);
	if (!known || !strcmp(ctl.verb, "sample") != !!ctl.argument) {
		say__error(
			"%s%s%sstart, stop, snapshot, status, or sample N; see tracer ctl --help",
			ctl.verb ? "'" : "", ctl.verb ? ctl.verb : "what shall it do? ",
			ctl.verb ? "' is not understood here: " : "");
		return STATUS_USAGE;
	}
	return ctl__run(&ctl);
}
