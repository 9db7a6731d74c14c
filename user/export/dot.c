// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tasks of a capture as a graph for Graphviz: a node for each lifetime, with its times; an edge
 * from a task to those that it created, and from a waker to those that it woke, with the cause.
 * What no task did, a thread did: threads are nodes too, where they are needed. Edges of one kind
 * and cause between the same two are one, with their number.
 *
 * No tool lays out a graph of a million nodes, so it is bounded: the first `limit` tasks of the
 * capture, and what lies between them. Nodes and edges are kept until the end, which that bounds
 * too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/pool.h"
#include "base/say.h"
#include "emit.h"
#include "feed.h"

#define TASKS_MAX 2000U /* by default; more than that takes dot(1) minutes */
#define EDGES_PER_TASK 8U
#define LABEL_MAX 200U /* bytes of a name or cause that are drawn */
#define LINE_MAX_SIZE 2048U

enum edge_kind { EDGE_CREATED, EDGE_WOKE };

struct node { /* of a task or, with a tid, of a thread */
	struct node *next;
	const char *name;
	uint64_t serial, identity;
	uint64_t born, run_ns, suspended_ns, ready_ns;
	uint32_t process, tid, worker, stays;
	enum task_state state;
	bool finished;
	bool used; /* a thread: something begins or ends there */
};

struct edge {
	struct edge *next;
	struct edge *same_ends;
	const struct node *from, *to;
	const char *cause;
	enum edge_kind kind;
	uint64_t first, count, object;
};

struct group { /* a process that has nodes */
	struct group *next;
	const char *name;
	uint32_t index, pid;
	struct node *nodes, **nodes_end;
};

struct dot {
	struct emit emit;
	struct map tasks;   /* serial: its node */
	struct map threads; /* process, tid: its node */
	struct map ends;    /* from, to: edges */
	struct pool node_pool, edge_pool, group_pool;
	struct group *groups, **groups_end;
	struct edge *edges, **edges_end;
	uint64_t limit; /* UINT64_MAX: none */
	uint64_t task_count, edge_count, edges_left_out;
	uint64_t start;
	int slot;
	int err;
};

/* --- what is kept --- */

static struct group *group__get(struct dot *dot, struct model_process *process)
{
	struct group *group = process->priv[dot->slot];

	if (group)
		return group;
	group = pool__take(&dot->group_pool);
	if (!group) {
		dot->err = -ENOMEM;
		return NULL;
	}
	group->name = process->name;
	group->index = process->index;
	group->pid = process->pid;
	group->nodes_end = &group->nodes;
	*dot->groups_end = group;
	dot->groups_end = &group->next;
	process->priv[dot->slot] = group;
	return group;
}

static struct node *node__new(struct dot *dot, struct model_process *process, struct map *map,
			      uint64_t a, uint64_t b)
{
	struct group *group = group__get(dot, process);
	struct node *node = group ? pool__take(&dot->node_pool) : NULL;

	if (!node || map__put(map, a, b, node)) {
		dot->err = -ENOMEM;
		return NULL;
	}
	node->process = group->index;
	*group->nodes_end = node;
	group->nodes_end = &node->next;
	return node;
}

static struct node *node__of_thread(struct dot *dot, struct model_thread *thread)
{
	struct node *node = map__get(&dot->threads, thread->process->index, thread->tid);

	if (!node)
		node = node__new(dot, thread->process, &dot->threads, thread->process->index,
				 thread->tid);
	if (!node)
		return NULL;
	node->tid = thread->tid;
	node->worker = thread->worker;
	node->name = thread->name;
	return node;
}

static void edge__add(struct dot *dot, struct node *from, struct node *to, enum edge_kind kind,
		      const char *cause, uint64_t object, uint64_t time)
{
	struct edge *first, *edge;

	if (!from || !to)
		return;
	from->used = to->used = true;
	first = map__get(&dot->ends, (uintptr_t)from, (uintptr_t)to);
	for (edge = first; edge; edge = edge->same_ends) {
		if (edge->kind == kind && edge->cause == cause) {
			edge->count++;
			return;
		}
	}
	if (dot->limit != UINT64_MAX && dot->edge_count >= dot->limit * EDGES_PER_TASK) {
		dot->edges_left_out++;
		return;
	}
	edge = pool__take(&dot->edge_pool);
	if (!edge || map__put(&dot->ends, (uintptr_t)from, (uintptr_t)to, edge)) {
		dot->err = -ENOMEM;
		return;
	}
	*edge = (struct edge){
		.same_ends = first,
		.from = from,
		.to = to,
		.cause = cause,
		.kind = kind,
		.first = time,
		.count = 1,
		.object = object,
	};
	*dot->edges_end = edge;
	dot->edges_end = &edge->next;
	dot->edge_count++;
}

/* --- what the model tells --- */

static void op__task_born(void *ctx, struct model_task *task, uint64_t time)
{
	struct dot *dot = ctx;
	struct node *node;

	dot->task_count++;
	if (dot->task_count > dot->limit)
		return;
	node = node__new(dot, task->process, &dot->tasks, task->serial, 0);
	if (!node)
		return;
	node->serial = task->serial;
	node->identity = task->identity;
	node->name = task->name;
	node->born = time;
}

static void op__task_instant(void *ctx, struct model_task *task, enum model_instant kind,
			     struct model_thread *thread, uint64_t time)
{
	struct dot *dot = ctx;
	struct node *node = map__get(&dot->tasks, task->serial, 0);
	struct node *by;

	if (!node)
		return;
	if (kind == INSTANT_RENAMED) {
		node->name = task->name;
		return;
	}
	if (kind != INSTANT_CREATED)
		return;
	node->name = task->name;
	if (task->parent_serial)
		by = map__get(&dot->tasks, task->parent_serial, 0);
	else if (thread && thread->top)
		by = map__get(&dot->tasks, thread->top->task->serial, 0);
	else
		by = thread ? node__of_thread(dot, thread) : NULL;
	edge__add(dot, by, node, EDGE_CREATED, NULL, 0, time);
}

/* an end of a suspension: by whom, and why */
static void op__gap_end(void *ctx, struct model_task *task, const struct model_gap *gap,
			uint64_t time)
{
	struct dot *dot = ctx;
	struct node *node = map__get(&dot->tasks, task->serial, 0), *by = NULL;

	if (!node || gap->kind == GAP_READY || !gap->resumed || gap->self_resumed)
		return;
	if (gap->waker_serial)
		by = map__get(&dot->tasks, gap->waker_serial, 0);
	else if (gap->waker_tid)
		by = map__get(&dot->threads, task->process->index, gap->waker_tid);
	edge__add(dot, by, node, EDGE_WOKE, gap->cause, gap->cause_object, time);
}

static void op__thread(void *ctx, struct model_thread *thread, uint64_t time)
{
	(void)time;
	node__of_thread(ctx, thread);
}

static void op__task_gone(void *ctx, struct model_task *task, uint64_t time, bool finished)
{
	struct dot *dot = ctx;
	struct node *node = map__get(&dot->tasks, task->serial, 0);

	(void)time;
	if (!node)
		return;
	node->name = task->name;
	node->run_ns = task->run_ns;
	node->suspended_ns = task->suspended_ns;
	node->ready_ns = task->ready_ns;
	node->stays = task->stays;
	node->state = task->state;
	node->finished = finished;
}

static const struct model_ops dot_ops = {
	.thread = op__thread,
	.task_born = op__task_born,
	.task_instant = op__task_instant,
	.gap_end = op__gap_end,
	.task_gone = op__task_gone,
};

/* --- the file --- */

static void put_label(struct emit *emit, const char *text)
{
	char part[LABEL_MAX + 1];
	size_t size = strnlen(text, LABEL_MAX);

	memcpy(part, text, size);
	part[size] = '\0';
	/* a quote or a backslash would mean something to Graphviz */
	emit__line(emit, part, "\"\\");
	if (text[size])
		emit__lit(emit, "...");
}

static void put_duration(struct emit *emit, uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	char text[40];
	double value = (double)ns;
	int unit = 0;

	while (value >= 1000 && unit < 3) {
		value /= 1000;
		unit++;
	}
	snprintf(text, sizeof(text), unit ? "%.3g %s" : "%.0f %s", value, units[unit]);
	emit__text(emit, text);
}

static void put_time(struct dot *dot, uint64_t time)
{
	char text[40];

	snprintf(text, sizeof(text), "+%.6f s", (double)(time - dot->start) / 1e9);
	emit__text(&dot->emit, text);
}

static void put_id(struct emit *emit, const struct node *node)
{
	if (node->tid) {
		emit__lit(emit, "w");
		emit__u64(emit, node->process);
		emit__char(emit, '_');
		emit__u64(emit, node->tid);
		return;
	}
	emit__char(emit, 't');
	emit__u64(emit, node->serial);
}

static void put_thread(struct dot *dot, const struct node *node)
{
	struct emit *emit = &dot->emit;
	bool worker = node->worker != MODEL_NO_WORKER;

	emit__lit(emit, " [shape=ellipse, style=filled, fillcolor=\"#e8e8e8\", label=\"");
	if (node->name)
		put_label(emit, node->name);
	else
		emit__text(emit, worker ? "worker " : "thread");
	if (worker && !node->name)
		emit__u64(emit, node->worker);
	emit__lit(emit, "\\ntid ");
	emit__u64(emit, node->tid);
	emit__lit(emit, "\"];\n");
}

static void put_task(struct dot *dot, const struct node *node)
{
	static const char *const states[] = {"staged",	  "created", "ready",	 "running",
					     "suspended", "stopped", "completed"};
	struct emit *emit = &dot->emit;

	emit__lit(emit, " [label=\"");
	put_label(emit, node->name ? node->name : "task");
	emit__lit(emit, "\\n");
	emit__hex(emit, node->identity);
	emit__char(emit, ' ');
	put_time(dot, node->born);
	emit__lit(emit, "\\nruns ");
	put_duration(emit, node->run_ns);
	if (node->stays > 1) {
		emit__lit(emit, " in ");
		emit__u64(emit, node->stays);
		emit__lit(emit, " stays");
	}
	if (node->suspended_ns) {
		emit__lit(emit, ", suspended ");
		put_duration(emit, node->suspended_ns);
	}
	if (node->ready_ns) {
		emit__lit(emit, ", ready ");
		put_duration(emit, node->ready_ns);
	}
	if (!node->finished) {
		emit__lit(emit, "\\nunfinished: ");
		emit__text(emit, states[node->state]);
		emit__lit(emit, "\", color=red];\n");
	} else if (!node->stays) {
		emit__lit(emit, "\\nnever ran\", style=dashed];\n");
	} else {
		emit__lit(emit, "\"];\n");
	}
}

static void put_group(struct dot *dot, const struct group *group)
{
	struct emit *emit = &dot->emit;

	emit__room(emit, LINE_MAX_SIZE);
	emit__lit(emit, "\tsubgraph cluster_");
	emit__u64(emit, group->index);
	emit__lit(emit, " {\n\t\tlabel=\"");
	if (group->name)
		put_label(emit, group->name);
	emit__lit(emit, " (pid ");
	emit__u64(emit, group->pid);
	emit__lit(emit, ")\";\n");
	for (const struct node *node = group->nodes; node; node = node->next) {
		if (node->tid && !node->used)
			continue;
		emit__room(emit, LINE_MAX_SIZE);
		emit__lit(emit, "\t\t");
		put_id(emit, node);
		if (node->tid)
			put_thread(dot, node);
		else
			put_task(dot, node);
	}
	emit__room(emit, LINE_MAX_SIZE);
	emit__lit(emit, "\t}\n");
}

static void put_edge(struct dot *dot, const struct edge *edge)
{
	struct emit *emit = &dot->emit;

	emit__room(emit, LINE_MAX_SIZE);
	emit__char(emit, '\t');
	put_id(emit, edge->from);
	emit__lit(emit, " -> ");
	put_id(emit, edge->to);
	emit__lit(emit, " [label=\"");
	if (edge->kind == EDGE_CREATED)
		emit__lit(emit, "creates");
	else
		put_label(emit, edge->cause && *edge->cause ? edge->cause : "wakes");
	if (edge->count > 1) {
		emit__lit(emit, " x");
		emit__u64(emit, edge->count);
	}
	emit__lit(emit, "\\n");
	put_time(dot, edge->first);
	if (edge->object) {
		emit__lit(emit, "\\n");
		emit__hex(emit, edge->object);
	}
	if (edge->kind == EDGE_CREATED)
		emit__lit(emit, "\"];\n");
	else
		emit__lit(emit, "\", style=dashed, color=blue, fontcolor=blue];\n");
}

static void put_graph(struct dot *dot)
{
	uint64_t drawn = dot->task_count < dot->limit ? dot->task_count : dot->limit;
	struct emit *emit = &dot->emit;

	emit__room(emit, LINE_MAX_SIZE);
	emit__lit(emit, "digraph tasks {\n\tgraph [labelloc=t, label=\"");
	emit__u64(emit, drawn);
	if (drawn < dot->task_count) {
		emit__lit(emit, " of ");
		emit__u64(emit, dot->task_count);
	}
	emit__lit(emit, " tasks\"];\n\tnode [shape=box, fontsize=10];\n\tedge [fontsize=9];\n");
	for (const struct group *group = dot->groups; group; group = group->next)
		put_group(dot, group);
	for (const struct edge *edge = dot->edges; edge; edge = edge->next)
		put_edge(dot, edge);
	emit__room(emit, LINE_MAX_SIZE);
	emit__lit(emit, "}\n");
}

static void tell_limit(const struct dot *dot, const struct export_options *options)
{
	if (dot->task_count > dot->limit)
		say__info("%s: the first %" PRIu64 " of %" PRIu64
			  " tasks are drawn; --limit=N draws N, --limit=0 all, and --from, --to, "
			  "--task choose others",
			  options->path, dot->limit, dot->task_count);
	if (dot->edges_left_out)
		say__info("%s: %" PRIu64 " edges beyond %u a task are not drawn; --limit=0 draws "
			  "them",
			  options->path, dot->edges_left_out, EDGES_PER_TASK);
}

int export__dot(struct trace *trace, const struct export_options *options, char **err)
{
	struct dot dot = {
		.node_pool = {.size = sizeof(struct node)},
		.edge_pool = {.size = sizeof(struct edge)},
		.group_pool = {.size = sizeof(struct group)},
		.limit = options->limit ? options->limit : TASKS_MAX,
	};
	struct feed feed = {.trace = trace, .options = options, .err = &dot.err};
	int ret, closed;

	dot.groups_end = &dot.groups;
	dot.edges_end = &dot.edges;
	ret = emit__open(&dot.emit, options->path, options->compression);
	if (ret)
		goto out;
	ret = -ENOMEM;
	feed.model = model__new();
	dot.slot = feed.model ? model__add_sink(feed.model, &dot_ops, &dot) : -ENOMEM;
	if (dot.slot >= 0)
		ret = feed__run(&feed);
	if (!ret) {
		dot.start = feed.first;
		put_graph(&dot);
	}
	closed = emit__close(&dot.emit);
	if (!ret)
		ret = closed;
	if (!ret)
		tell_limit(&dot, options);
out:
	model__free(feed.model);
	map__free(&dot.tasks);
	map__free(&dot.threads);
	map__free(&dot.ends);
	pool__free(&dot.node_pool);
	pool__free(&dot.edge_pool);
	pool__free(&dot.group_pool);
	if (ret && err)
		*err = feed__error(&feed, options->path, ret);
	return ret;
}
