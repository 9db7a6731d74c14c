/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that leave out a part of a capture, the same for every command that reads one. */
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
};

/* rows of a command's table, under headline @group */
#define OPTIONS_FILTER(group)                                                                   \
	{"task",                                                                                \
	 KEY_FILTER_TASK,                                                                       \
	 "GLOB",                                                                                \
	 0,                                                                                     \
	 "Only tasks whose name matches, such as 'solve*', and what was done in them; may be "  \
	 "given several times",                                                                 \
	 group},                                                                                \
		{"name", KEY_FILTER_TASK, NULL, OPTION_ALIAS, NULL, group},                     \
		{"worker", KEY_FILTER_WORKER, "LIST", 0, "Only what these workers did: 0,2-5",  \
		 group},                                                                        \
		{"from",                                                                        \
		 KEY_FILTER_FROM,                                                               \
		 "TIME",                                                                        \
		 0,                                                                             \
		 "Leave out what was before: 1.5s since the first event; what is open then is " \
		 "shown as open",                                                               \
		 group},                                                                        \
		{"to", KEY_FILTER_TO, "TIME", 0, "And what came after, likewise", group},       \
		{"duration",                                                                    \
		 KEY_FILTER_DURATION,                                                           \
		 "DURATION",                                                                    \
		 0,                                                                             \
		 "Instead of --to: so long from --from on (not from the environment)",          \
		 group},                                                                        \
	{                                                                                       \
		"categories", 'c', "LIST", 0,                                                   \
			"Only events of these, as in record (not from the environment)", group  \
	}

struct filter_options {
	struct trace_filter filter;
	const char **tasks;
	struct filter_range *workers;
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
/* leaves out of @trace what is not wanted; 0 or -ENOMEM */
int filter_options__apply(const struct filter_options *options, struct trace *trace);
void filter_options__free(struct filter_options *options);

#endif /* TRACER_CMD_FILTER_OPTIONS_H */
