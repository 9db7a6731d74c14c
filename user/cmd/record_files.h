/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbered files of a capture: FILE, FILE.1, ... */
#ifndef TRACER_CMD_RECORD_FILES_H
#define TRACER_CMD_RECORD_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "../export/export.h"

struct record_files {
	const char *base;   /* FILE, a capture */
	const char *output; /* what it is exported to, numbered likewise; or NULL */
	enum export_tracks tracks;
	bool force;
	struct record_export *exports; /* under way */
	int failed;		       /* exports that failed; their captures are kept */
	uint64_t snapshots;
};

/* "FILE", "FILE.1": to be freed */
char *record_files__path(const char *base, uint64_t number);
/*
 * record_files__check() - no FILE.<number> of an earlier capture is there, or it is removed
 * Returns 0 or -errno after telling the user.
 */
int record_files__check(const char *base, bool force);
/* for capture_options: both take the struct as ctx */
int record_files__claim(void *ctx, const char *path);
void record_files__snapshot(void *ctx, const char *path);
/* waits for the exports; returns how many failed */
int record_files__finish(struct record_files *files);
/* paths of numbers @from to @to - 1, that are there; NULL at the end, all to be freed */
char **record_files__list(const char *base, uint64_t from, uint64_t to, size_t *count);
void record_files__free_list(char **paths);

#endif /* TRACER_CMD_RECORD_FILES_H */
