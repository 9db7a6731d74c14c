/* SPDX-License-Identifier: BSD-2-Clause */
/* tracer export: a capture into a file for a viewer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../base/say.h"
#include "cmd.h"
#include "filter_options.h"
#include "output.h"

enum export_key { KEY_TRACKS = 256, KEY_FORCE, KEY_LIMIT, KEY_MAX_FILE_SIZE };

#define MIN_FILE_SIZE (64U << 10)

static const struct argp_option options[] = {
	{"format", 'f', "FORMAT", 0,
	 "perfetto (.pftrace), chrome (.json), paraver (.prv), text (.txt), asio, dot, sqlite, "
	 "csv (a folder), or folded (default: as the output's name says, else perfetto)",
	 0},
	{"output", 'o', "FILE", 0,
	 "Default: the capture's name with the format's extension; text, asio, dot and folded go "
	 "to "
	 "standard output. - is standard output; names that end in .gz or .zst are compressed",
	 0},
	{"tracks", KEY_TRACKS, "lanes|task|workers", 0, "Rows of the Tasks group", 1},
	{"limit", KEY_LIMIT, "N", 0,
	 "dot: draw the first N tasks at most, 0: all (default 2000; for more, "
	 "Graphviz takes minutes)",
	 1},
	{"max-file-size", KEY_MAX_FILE_SIZE, "SIZE", 0,
	 "perfetto: several files, x.0001.pftrace, x.0002.pftrace, ..., each of which can be "
	 "opened "
	 "alone",
	 1},
	{"force", KEY_FORCE, NULL, 0, "Replace an output file that is there", 1},
	OPTIONS_FILTER(2),
	OPTIONS_SPEECH,
	{0},
};

static const char doc[] =
	"Turns a capture into a file for a viewer."
	"\v"
	"Examples:\n"
	"  tracer export run.trc                  run.pftrace, for ui.perfetto.dev\n"
	"  tracer export -o run.pftrace.gz run.trc\n"
	"  tracer export run.trc run.trc.*        segments, as one\n"
	"  tracer export -f text run.trc | less   one event a line\n"
	"  tracer export -o run.dot run.trc && dot -Tsvg -O run.dot\n"
	"  tracer export -f asio run.trc | handlerviz.pl | dot -Tsvg > run.svg\n"
	"  tracer export -o run.json run.trc      chrome://tracing, speedscope\n"
	"  tracer export -o run.sqlite run.trc && sqlite3 run.sqlite 'select * from task_summary'\n"
	"  tracer export -f csv -o run run.trc && duckdb -c \"from 'run/tasks.csv' limit 5\"\n"
	"  tracer export -f folded run.trc | flamegraph.pl > run.svg\n"
	"  tracer export --from 2s --duration 100ms --task 'solve*' run.trc";

struct export_command {
	const struct output_format *format;
	const char *output, *capture; /* the first of captures */
	struct operands captures;
	char *chosen; /* output, if the user named none */
	enum export_compression compression;
	enum export_tracks tracks;
	bool force;
	uint64_t limit;
	struct filter_options filter;
	uint64_t max_file_size;
};

static int export__refuse_format(const char *name, const struct option_origin *origin)
{
	const struct output_format *format = output__format_named(name);
	char names[160];

	output__names(names, sizeof(names));
	if (format)
		say__error("%s: %s is not in this version (%s); there are: %s", origin->name, name,
			   TRACER_VERSION, names);
	else
		say__error("%s: '%s' is no format; there are: %s", origin->name, name, names);
	return -EINVAL;
}

static int export__set(void *ctx, int key, const char *value, const struct option_origin *origin)
{
	static const char *const tracks[] = {"lanes", "task", "workers", NULL};
	struct export_command *command = ctx;
	unsigned int index;
	int rc = filter_options__set(&command->filter, key, value, origin);

	if (rc != -ENOENT)
		return rc;
	switch (key) {
	case 'f':
		command->format = output__format_named(value);
		if (!command->format || !command->format->write)
			return export__refuse_format(value, origin);
		return 0;
	case 'o':
		command->output = value;
		return 0;
	case KEY_TRACKS:
		if (option__word(value, origin, tracks, &index))
			return -EINVAL;
		command->tracks = (enum export_tracks)index;
		return 0;
	case KEY_MAX_FILE_SIZE:
		rc = option__size(value, origin, &command->max_file_size);
		if (!rc && command->max_file_size < MIN_FILE_SIZE) {
			say__error("%s: %s is too small for a trace; 64K at least", origin->name,
				   value);
			rc = -EINVAL;
		}
		return rc;
	case KEY_FORCE:
		command->force = true;
		return 0;
	case KEY_LIMIT:
		if (option__number(value, origin, 0, UINT64_MAX, &command->limit))
			return -EINVAL;
		if (!command->limit)
			command->limit = UINT64_MAX;
		return 0;
	default:
		return option__speech(key);
	}
}

static int export__operand(void *ctx, const char *operand)
{
	struct export_command *command = ctx;

	int rc = operands__add(&command->captures, operand);

	command->capture = command->captures.paths ? command->captures.paths[0] : NULL;
	return rc;
}

static bool file__is_same(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* export__choose() - format from the name, or the name from the format */
static int export__choose(struct export_command *command)
{
	const struct output_format *named;
	char names[160];
	size_t length = strlen(command->capture);

	if (command->output && strcmp(command->output, "-") != 0) {
		named = output__format_of(command->output, &command->compression);
		if (!command->format && named && !named->write) {
			say__error("%s: %s is not in this version (%s); there are: %s",
				   command->output, named->name, TRACER_VERSION,
				   output__names(names, sizeof(names)));
			return -EINVAL;
		}
		if (!command->format)
			command->format = named;
	}
	if (!command->format)
		command->format = output__format_named("perfetto");
	if (command->output)
		return 0;
	if (command->format->for_terminals) {
		command->output = "-";
		return 0;
	}
	if (path__ends_with(command->capture, ".trc"))
		length -= strlen(".trc");
	if (asprintf(&command->chosen, "%.*s%s", (int)length, command->capture,
		     command->format->extension) < 0) {
		command->chosen = NULL;
		return -ENOMEM;
	}
	command->output = command->chosen;
	return 0;
}

static int export__prepare(struct export_command *command)
{
	if (export__choose(command) || filter_options__finish(&command->filter))
		return -EINVAL;
	if (command->max_file_size &&
	    (strcmp(command->format->name, "perfetto") != 0 || !strcmp(command->output, "-"))) {
		say__error("--max-file-size is for perfetto, into files; leave it out");
		return -EINVAL;
	}
	if (!strcmp(command->output, "-") && command->format->shape == OUTPUT_FILE) {
		if (command->format->for_terminals || !isatty(STDOUT_FILENO))
			return 0;
		say__error("standard output is a terminal, and %s is not for reading; name a file "
			   "with -o",
			   command->format->name);
		return -EINVAL;
	}
	if (access(command->capture, R_OK)) {
		say__error("%s: %s", command->capture, strerror(errno));
		return -EINVAL;
	}
	if (file__is_same(command->output, command->capture)) {
		say__error("%s: is the capture itself; choose another name with -o",
			   command->output);
		return -EINVAL;
	}
	/* its pieces have other names, which are looked at when it comes to them */
	if (command->max_file_size)
		return 0;
	return output__check_all(command->format, command->output, command->compression,
				 command->force);
}

static int export__run(struct export_command *command)
{
	struct export_options options = {
		.path = command->output,
		.tracks = command->tracks,
		.compression = command->compression,
		.progress = isatty(STDERR_FILENO) && say__level() >= SAY_NORMAL,
		.stop = signals__flag(),
		.max_file_size = command->max_file_size,
		.claim = output__claim,
		.force = command->force,
		.filter = command->filter.any ? &command->filter.filter : NULL,
		.debug_dirs = command->filter.debug_dirs,
		.debug_dir_count = command->filter.debug_dir_count,
		.limit = command->limit,
	};
	bool to_file = strcmp(command->output, "-") != 0;
	bool one = to_file && !command->max_file_size;
	struct trace_totals totals;
	struct trace *trace;
	char *err = NULL;
	int rc;

	/* what is no capture is refused before an output is replaced */
	trace = trace__open_all(command->captures.paths, command->captures.count, &err);
	if (!trace) {
		say__error("%s", err ? err : command->capture);
		free(err);
		return STATUS_REFUSED;
	}
	trace__close(trace);
	if (one && output__claim_all(command->format, command->output, command->force))
		return STATUS_REFUSED;
	signals__catch(to_file);
	rc = output__export(command->format, command->captures.paths, command->captures.count,
			    &options, &totals);
	if (rc == -EINTR && to_file)
		say__info("%s: stopped; it can be opened, but ends early", command->output);
	if (rc)
		return STATUS_REFUSED;
	if (to_file)
		say__info("%s: %llu records, %llu lost%s", command->output,
			  (unsigned long long)totals.records, (unsigned long long)totals.lost,
			  totals.finished ? "" : "; the capture itself ended early");
	return STATUS_OK;
}

int export__main(int argc, char **argv)
{
	struct export_command command = {0};
	struct cmd_parser parser = {
		.options = options,
		.operands = "CAPTURE [SEGMENT...]",
		.doc = doc,
		.usage_status = STATUS_USAGE,
		.ctx = &command,
		.set = export__set,
		.operand = export__operand,
	};
	int status = cmd__parse(&parser, argc, argv);

	if (status)
		return status;
	if (!command.capture) {
		say__error("no capture named; write: tracer export x.trc");
		return STATUS_USAGE;
	}
	operands__hint(&command.captures, "export");
	status = export__prepare(&command) ? STATUS_REFUSED : export__run(&command);
	free(command.captures.paths);
	free(command.chosen);
	filter_options__free(&command.filter);
	return status;
}
