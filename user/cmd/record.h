/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of `tracer record`, read and checked. */
#ifndef TRACER_CMD_RECORD_H
#define TRACER_CMD_RECORD_H

#include "../capture/capture.h"
#include "../export/export.h"
#include "cmd.h"

#define RECORD_PIDS_MAX 1024

struct record {
	struct capture_options capture; /* its path is set by the run */
	pid_t pids[RECORD_PIDS_MAX];
	bool pids_of_environment;
	const char *output;  /* as given, or NULL */
	const char *summary; /* file, or NULL */
	enum export_tracks tracks;
	bool force;
	bool report;
};

/* record__parse() - fill @record; 0 or an exit status */
int record__parse(struct record *record, int argc, char **argv);

#endif /* TRACER_CMD_RECORD_H */
