/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of `tracer record`, read and checked. */
#ifndef TRACER_CMD_RECORD_H
#define TRACER_CMD_RECORD_H

#include "../capture/capture.h"
#include "../export/export.h"
#include "cmd.h"
#include "output.h"

#define RECORD_PIDS_MAX 1024
#define RECORD_TRIGGERS_MAX 16
/* of a flight recorder, if the user says nothing */
#define SNAPSHOTS_MAX 16

struct record {
	struct capture_options capture; /* its path is set by the run */
	pid_t pids[RECORD_PIDS_MAX];
	bool pids_of_environment;
	struct capture_stacks stacks;
	struct capture_trigger triggers[RECORD_TRIGGERS_MAX];
	bool max_files_given;
	bool segments_implied; /* by --on-full overwrite: the user asked for none */
	const char *output;    /* as given, or NULL */
	const char *summary;   /* file, or NULL */
	enum export_tracks tracks;
	bool force;
	bool report;
	bool report_json;
	bool stats_only;
	bool no_specs; /* --runtime none */
};

/* record__parse() - fill @record; 0 or an exit status */
int record__parse(struct record *record, int argc, char **argv);

/* --summary may be written: nothing else is lost by it. 0 or -errno after telling */
int summary__check(const struct record *record);
/* stats.c: record --stats-only; its exit status */
int stats__main(struct record *record);

#endif /* TRACER_CMD_RECORD_H */
