/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture as rows of tables (tables.def): a sink of the model that csv and sqlite share. Each row
 * is given to the writer when all of it is known, so those of a table are in the order of their
 * ends.
 */
#ifndef TRACER_EXPORT_TABLES_H
#define TRACER_EXPORT_TABLES_H

#include "../base/map.h"
#include "../base/pool.h"
#include "feed.h"

enum table {
#define TABLE(name, doc) TABLE_##name,
#include "tables.def"
	TABLES
};

enum cell_kind { CELL_NULL, CELL_INT, CELL_UINT, CELL_HEX, CELL_TEXT, CELL_REAL };

struct cell {
	enum cell_kind kind;
	union event_arg value;
};

struct table_info {
	const char *name;
	int columns;
	const char *const *column_names;
	const char *const *column_types; /* as in tables.def */
};

extern const struct table_info table_infos[TABLES];

struct tables {
	/* writes a row: as many cells as the table has columns; an error sticks in `err` */
	void (*row)(struct tables *tables, enum table table, const struct cell *cells);
	int err;

	struct trace *trace;
	struct model *model;
	int slot;
	uint64_t next_thread;
	struct pool processes, threads, markers, continuations;
	struct table_process *first_process;
	struct map open_markers; /* process, channel */
	struct map open_continuations;
	struct map colors; /* name */
};

/* tables__run() - all rows of the trace; 0 or -errno, and a sentence in @why */
int tables__run(struct tables *tables, struct trace *trace, const struct export_options *options,
		char **why);

#endif /* TRACER_EXPORT_TABLES_H */
