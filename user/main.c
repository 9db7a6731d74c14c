/* SPDX-License-Identifier: BSD-2-Clause */
/* tracer: which command is meant. The commands are in cmd/. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/say.h"
#include "cmd/cmd.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv); /* NULL: of a later version */
	const char *title;		   /* what messages and --help call it */
	const char *usage;
	const char *summary;
};

static const struct command commands[] = {
	{"record", record__main, "tracer record", "tracer [record] [OPTION...] -p PID [-p PID]...",
	 "trace running processes, until the duration, Ctrl-C, or their exit"},
	{"record", record__main, "tracer record", "tracer [record] [OPTION...] -- COMMAND [ARG]...",
	 "start a program and trace it"},
	{"export", export__main, "tracer export", "tracer export [-f FORMAT] [-o FILE] CAPTURE",
	 "turn a capture into a file for a viewer"},
	{"report", report__main, "tracer report", "tracer report [--json] CAPTURE",
	 "figures of a capture"},
	{"list", list__main, "tracer list", "tracer list [-p PID | FILE]",
	 "points and probes of a process or binary"},
	{"doctor", doctor__main, "tracer doctor", "tracer doctor",
	 "what this kernel and user can do, and how to get what is missing"},
	{"diff", NULL, NULL, NULL, NULL},
	{"merge", merge__main, "tracer merge", "tracer merge -o FILE CAPTURE...",
	 "one capture of several"},
	{"top", NULL, NULL, NULL, NULL},
	{"ctl", ctl__main, "tracer ctl", "tracer ctl start|stop|snapshot|status|sample N [-p PID]",
	 "steer a running tracer record"},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void usage__print(FILE *out)
{
	fputs("Traces programs that run many tasks on few threads.\n\n", out);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (commands[i].run)
			fprintf(out, "  %s\n        %s\n", commands[i].usage, commands[i].summary);
	fputs("\nExamples:\n"
	      "  sudo tracer -p 4711 -d 5s            five seconds of process 4711, for "
	      "ui.perfetto.dev\n"
	      "  sudo tracer -o run.trc -- ./solver   a whole run, kept as a capture\n"
	      "  tracer report run.trc                its figures\n"
	      "  tracer doctor                        can this machine do it?\n"
	      "\ntracer COMMAND --help says more of each.\n",
	      out);
}

static bool word__is(const char *word, const char *one, const char *other)
{
	return !strcmp(word, one) || !strcmp(word, other);
}

int main(int argc, char **argv)
{
	static char title[64];
	const char *word = argc > 1 ? argv[1] : NULL;

	if (!word && getenv("TRACER_PID"))
		return record__main(argc, argv);
	if (!word) {
		usage__print(stderr);
		return STATUS_USAGE;
	}
	if (word__is(word, "--help", "help") || word__is(word, "-h", "-?")) {
		usage__print(stdout);
		return STATUS_OK;
	}
	if (word__is(word, "--version", "-V")) {
		puts("tracer " TRACER_VERSION);
		return STATUS_OK;
	}
	if (word[0] == '-')
		return record__main(argc, argv);
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(commands[i].name, word) != 0)
			continue;
		if (!commands[i].run) {
			say__error("%s is not in this version (%s)", word, TRACER_VERSION);
			return STATUS_USAGE;
		}
		snprintf(title, sizeof(title), "%s", commands[i].title);
		argv[1] = title;
		return commands[i].run(argc - 1, argv + 1);
	}
	say__error("'%s' is not a command of the tracer; to trace a program write: tracer -- %s",
		   word, word);
	return STATUS_USAGE;
}
