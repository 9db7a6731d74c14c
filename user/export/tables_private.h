/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of tables*.c. */
#ifndef TRACER_EXPORT_TABLES_PRIVATE_H
#define TRACER_EXPORT_TABLES_PRIVATE_H

#include "tables.h"

struct table_process {
	struct table_process *next;
	const struct model_process *model;
	uint32_t index, pid;
	const char *host;
	uint64_t first, end;
	int status;
	uint32_t counts[3]; /* running, ready, suspended: as told last */
};

struct table_thread {
	uint64_t id;
	uint32_t worker;
	const char *name;
	bool cut[3];	      /* by enum span_kind: the next end of it is none of the program's */
	const char *spans[3]; /* names of those that are open */
};

struct table_marker { /* open on a channel */
	uint64_t begin;
	const char *name;
	uint64_t extra, thread;
};

struct table_continuation {
	bool is_inline;
	uint64_t begin, task, thread, future, continuation;
};

static inline struct cell cell__null(void)
{
	return (struct cell){0};
}

static inline struct cell cell__uint(uint64_t value)
{
	return (struct cell){CELL_UINT, {.u = value}};
}

static inline struct cell cell__int(int64_t value)
{
	return (struct cell){CELL_INT, {.i = value}};
}

static inline struct cell cell__bool(bool value)
{
	return cell__uint(value);
}

/* 0 is none */
static inline struct cell cell__some(uint64_t value)
{
	return value ? cell__uint(value) : cell__null();
}

static inline struct cell cell__hex(uint64_t value)
{
	return value ? (struct cell){CELL_HEX, {.u = value}} : cell__null();
}

/* all bits set is none: TRACER_NO_WORKER, TRACER_UNKNOWN, MODEL_NO_CPU */
static inline struct cell cell__number(uint64_t value)
{
	return value == UINT32_MAX || value == UINT64_MAX ? cell__null() : cell__uint(value);
}

/* a num argument */
static inline struct cell cell__num(const struct event *event, int arg)
{
	return (struct cell){event->real ? CELL_REAL : CELL_INT, event->args[arg]};
}

static inline struct cell cell__task(const struct model_task *task)
{
	return cell__some(task ? task->serial : 0);
}

struct cell cell__text(const char *text);
struct table_process *table_process__get(struct tables *tables, struct model_process *model);
struct table_thread *table_thread__get(struct tables *tables, struct model_thread *model);

static inline struct cell cell__thread(struct tables *tables, struct model_thread *model)
{
	struct table_thread *thread = model ? table_thread__get(tables, model) : NULL;

	return cell__some(thread ? thread->id : 0);
}

/* a struct for each table, with a byte for each column and one more */
struct table_columns {
	char unused;
#define TABLE(name, doc)              \
	}                             \
	;                             \
	struct table_columns_##name { \
		char unused;
#define COLUMN(table, type, name, doc) char column_##name;
#include "tables.def"
};
#define TABLE_COLUMNS(table) (sizeof(struct table_columns_##table) - 1)

/* a row of that table; that there is a cell for each column is checked where it is compiled */
#define TABLES_ROW(t, table, cells)                                                        \
	do {                                                                               \
		struct tables *to = (t);                                                   \
		_Static_assert(sizeof(cells) / sizeof((cells)[0]) == TABLE_COLUMNS(table), \
			       #table ": a cell for each column");                         \
		if (!to->err)                                                              \
			to->row(to, TABLE_##table, cells);                                 \
	} while (0)

/* tables_event.c */
/* what is still open */
void markers__finish(struct tables *tables, uint64_t time);
void continuations__finish(struct tables *tables);
void rows__span_begin(void *ctx, struct model_thread *thread, enum span_kind kind, const char *name,
		      uint64_t time);
void rows__span_end(void *ctx, struct model_thread *thread, enum span_kind kind, const char *cause,
		    uint64_t begin, uint64_t time);
void rows__span_cut(void *ctx, struct model_thread *thread, enum span_kind kind, uint64_t time);
void rows__queue_depth(void *ctx, struct model_thread *thread, uint32_t worker, uint64_t depth,
		       uint64_t time);
void rows__steal(void *ctx, struct model_thread *thread, struct model_thread *victim_thread,
		 uint32_t thief, uint32_t victim, struct model_task *task, uint64_t victim_depth,
		 uint64_t time);
void rows__steal_failed(void *ctx, struct model_thread *thread, uint32_t thief, uint32_t victim,
			uint64_t time);
void rows__future(void *ctx, enum event_type kind, uint64_t object, uint64_t continuation,
		  struct model_task *task, struct model_thread *thread, uint64_t time);
void rows__continuation_begin(void *ctx, uint64_t future, uint64_t continuation,
			      struct model_task *task, struct model_thread *thread, bool is_inline,
			      uint64_t time);
void rows__continuation_end(void *ctx, uint64_t future, uint64_t continuation,
			    struct model_task *task, struct model_thread *thread, uint64_t begin,
			    uint64_t time);
void rows__active_continuations(void *ctx, struct model_process *process, int64_t count,
				uint64_t time);
void rows__zone_end(void *ctx, struct model_zone *zone, struct model_thread *thread, uint64_t time,
		    bool left_open);
void rows__annotation(void *ctx, const struct event *event, struct model_task *task,
		      struct model_thread *thread, struct model_zone *zone, uint64_t time);
void rows__task_counts(void *ctx, struct model_process *process, uint32_t running, uint32_t ready,
		       uint32_t suspended, uint64_t time);
void rows__lost(void *ctx, struct model_process *process, const struct model_loss *loss,
		uint64_t time);

#endif /* TRACER_EXPORT_TABLES_PRIVATE_H */
