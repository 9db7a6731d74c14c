// SPDX-License-Identifier: BSD-2-Clause
/* tracer merge: several captures of one machine, or segments of them, as one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../base/say.h"
#include "cmd.h"
#include "join.h"
#include "output.h"

enum merge_key { KEY_FORCE = 256 };

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "The capture to write", 0},
	{"force", KEY_FORCE, NULL, 0, "Replace FILE if it is there", 0},
	OPTIONS_SPEECH,
	{0},
};

static const char doc[] =
	"Makes one capture of several: segments of one, or captures of one machine."
	"\v"
	"Captures of different processes may overlap in time; those of one process may\n"
	"not. What was between two of them is a pause.\n\n"
	"Examples:\n"
	"  tracer merge -o whole.trc run.trc run.trc.*      segments\n"
	"  tracer merge -o both.trc server.trc client.trc   recorded at the same time\n"
	"  tracer report whole.trc";

struct merge_command {
	struct operands captures;
	const char *output;
	bool force;
};

static int merge__set(void *ctx, int key, const char *value, const struct option_origin *origin)
{
	struct merge_command *command = ctx;

	(void)origin;
	switch (key) {
	case 'o':
		command->output = value;
		return 0;
	case KEY_FORCE:
		command->force = true;
		return 0;
	default:
		return option__speech(key);
	}
}

static int merge__operand(void *ctx, const char *operand)
{
	struct merge_command *command = ctx;

	return operands__add(&command->captures, operand);
}

/* the file that is written is none of those that are read */
static bool merge__is_input(const struct merge_command *command)
{
	struct stat output, input;
	size_t i;

	if (stat(command->output, &output))
		return false;
	for (i = 0; i < command->captures.count; i++) {
		if (!stat(command->captures.paths[i], &input) && input.st_dev == output.st_dev &&
		    input.st_ino == output.st_ino)
			return true;
	}
	return false;
}

static int merge__run(const struct merge_command *command)
{
	const struct operands *captures = &command->captures;
	char *err = NULL;
	int rc = join__check(captures->paths, captures->count, &err);

	if (rc) {
		say__error("%s", err ? err : strerror(-rc));
		free(err);
		return rc;
	}
	rc = output__claim(command->output, command->force);
	if (rc)
		return rc;
	rc = join__write(captures->paths, captures->count, command->output, &err);
	if (rc) {
		say__error("%s: %s", command->output, err ? err : strerror(-rc));
		unlink(command->output);
	}
	free(err);
	return rc;
}

int merge__main(int argc, char **argv)
{
	struct merge_command command = {0};
	struct cmd_parser parser = {
		.options = options,
		.operands = "-o FILE CAPTURE...",
		.doc = doc,
		.usage_status = STATUS_USAGE,
		.ctx = &command,
		.set = merge__set,
		.operand = merge__operand,
	};
	int status = cmd__parse(&parser, argc, argv);

	if (status)
		return status;
	if (!command.captures.count || !command.output) {
		say__error("merge what into what? Write: tracer merge -o all.trc a.trc b.trc");
		status = STATUS_USAGE;
	} else if (merge__is_input(&command)) {
		say__error("%s would be read and written; give -o another name", command.output);
		status = STATUS_REFUSED;
	} else {
		status = merge__run(&command) ? STATUS_REFUSED : STATUS_OK;
	}
	free(command.captures.paths);
	return status;
}
