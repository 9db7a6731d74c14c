/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of every command that reads a capture: what to leave out of it, and where to look for
 * names that are not in it.
 */
#ifndef TRACER_CMD_FILTER_OPTIONS_H
#define TRACER_CMD_FILTER_OPTIONS_H

#include "../trace/filter.h"
#include "../trace/trace.h"
#include "cmd.h"

enum filter_key {
	KEY_FILTER_TASK = 0x400,
	KEY_FILTER_WORKER,
	KEY_FILTER_FROM,
	KEY_FILTER_TO,
	KEY_FILTER_DURATION,
	KEY_FILTER_DEBUG_DIR,
};

/* rows of a command's table, under headline @group */
#define OPTIONS_FILTER(group)                                                                     \
	{"task",                                                                                  \
	 KEY_FILTER_TASK,                                                                         \
	 "GLOB",                                                                                  \
	 0,                                                                                       \
	 "Only tasks whose name matches, such as 'solve*', and what was done in them; may be "    \
	 "given several times",                                                                   \
	 group},                                                                                  \
		{"name", KEY_FILTER_TASK, NULL, OPTION_ALIAS, NULL, group},                       \
		{"worker", KEY_FILTER_WORKER, "LIST", 0, "Only what these workers did: 0,2-5",    \
		 group},                                                                          \
		{"from",                                                                          \
		 KEY_FILTER_FROM,                                                                 \
		 "TIME",                                                                          \
		 0,                                                                               \
		 "Leave out what was before: 1.5s since the first event; what is open then is "   \
		 "shown as open",                                                                 \
		 group},                                                                          \
		{"to", KEY_FILTER_TO, "TIME", 0, "And what came after, likewise", group},         \
		{"duration",                                                                      \
		 KEY_FILTER_DURATION,                                                             \
		 "DURATION",                                                                      \
		 0,                                                                               \
		 "Instead of --to: so long from --from on (not from the environment)",            \
		 group},                                                                          \
		{"debug-dir",                                                                     \
		 KEY_FILTER_DEBUG_DIR,                                                            \
		 "DIR",                                                                           \
		 0,                                                                               \
		 "Where debug files of stripped binaries are, for call stacks: DIR/.build-id/xx/" \
		 "yyy.debug, or DIR/NAME.debug; before /usr/lib/debug; may be given several "     \
		 "times",                                                                         \
		 group},                                                                          \
	{                                                                                         \
		"categories", 'c', "LIST", 0,                                                     \
			"Only events of these, as in record (not from the environment)", group    \
	}

struct filter_options {
	struct trace_filter filter;
	const char **tasks;
	struct filter_range *workers;
	const char **debug_dirs;
	size_t debug_dir_count;
	uint64_t duration;
	bool has_to, has_duration;
	bool any; /* something was asked for */
};

/*
 * filter_options__set() - take an option
 * Returns 0, -EINVAL after telling the user, or -ENOENT: it is none of these.
 */
int filter_options__set(struct filter_options *options, int key, const char *value,
			const struct option_origin *origin);
/* once all are known; 0, or -EINVAL after telling the user what contradicts what */
int filter_options__finish(struct filter_options *options);
/* to @trace; 0 or -ENOMEM */
int filter_options__apply(const struct filter_options *options, struct trace *trace);
void filter_options__free(struct filter_options *options);

#endif /* TRACER_CMD_FILTER_OPTIONS_H */
