/* SPDX-License-Identifier: BSD-2-Clause */
/* tracer report: figures of a capture, for people or as JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../base/say.h"
#include "../report/report.h"
#include "cmd.h"
#include "filter_options.h"

enum report_key { KEY_JSON = 256, KEY_HTML };

static const struct argp_option options[] = {
	{"json", KEY_JSON, NULL, 0, "For programs", 0},
	{"html", KEY_HTML, "FILE", OPTION_HIDDEN, "", 0},
	OPTIONS_FILTER(1),
	OPTIONS_SPEECH,
	{0},
};

static const char doc[] =
	"Prints the figures of a capture."
	"\v"
	"Examples:\n"
	"  tracer report run.trc\n"
	"  tracer report run.trc run.trc.*                segments, read as one capture\n"
	"  tracer report --json run.trc | jq '.suspensions[] | {reason, count, p99_ns}'";

struct report_command {
	struct operands captures;
	bool json;
	struct filter_options filter;
};

static int report__set(void *ctx, int key, const char *value, const struct option_origin *origin)
{
	struct report_command *command = ctx;
	int rc = filter_options__set(&command->filter, key, value, origin);

	if (rc != -ENOENT)
		return rc;
	switch (key) {
	case KEY_JSON:
		command->json = true;
		return 0;
	case KEY_HTML:
		say__error("%s: not in this version (%s); there is text, and --json", origin->name,
			   TRACER_VERSION);
		return -EINVAL;
	default:
		return option__speech(key);
	}
}

static int report__operand(void *ctx, const char *operand)
{
	struct report_command *command = ctx;

	return operands__add(&command->captures, operand);
}

static int report__print(const struct report_command *command)
{
	char *err = NULL;
	struct trace *trace =
		trace__open_all(command->captures.paths, command->captures.count, &err);
	struct report *report = trace ? report__new() : NULL;
	int rc = -ENOMEM;

	if (report)
		rc = filter_options__apply(&command->filter, trace);
	if (report && !rc)
		rc = report__read(report, trace, &err);
	if (rc) {
		say__error("%s", err ? err : strerror(-rc));
		goto out;
	}
	rc = command->json ? report__json(report, stdout) : report__text(report, stdout);
	if (!rc && fflush(stdout))
		rc = -errno;
	if (rc)
		say__error("standard output: %s", strerror(-rc));
out:
	free(err);
	report__free(report);
	if (trace)
		trace__close(trace);
	return rc;
}

int report__main(int argc, char **argv)
{
	struct report_command command = {0};
	struct cmd_parser parser = {
		.options = options,
		.operands = "CAPTURE [SEGMENT...]",
		.doc = doc,
		.usage_status = STATUS_USAGE,
		.ctx = &command,
		.set = report__set,
		.operand = report__operand,
	};
	int status = cmd__parse(&parser, argc, argv);

	if (status)
		return status;
	if (!command.captures.count) {
		say__error("no capture named; write: tracer report x.trc");
		return STATUS_USAGE;
	}
	if (filter_options__finish(&command.filter))
		return STATUS_USAGE;
	operands__hint(&command.captures, "report");
	status = report__print(&command) ? STATUS_REFUSED : STATUS_OK;
	free(command.captures.paths);
	filter_options__free(&command.filter);
	return status;
}
