// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks with the time spent in them, one a line, for flamegraph.pl, inferno, speedscope:
 *
 *	solver;fib;fib;multiply 123456
 *
 *	process;what runs outermost;what runs inside it;... nanoseconds
 *
 * What runs are tasks and zones, as they lie on the worker: a task that runs inline inside another
 * or inside one of its zones, and zones inside tasks. The time is that of the innermost, while its
 * task runs: a suspended task and its zones are on no stack. Semicolons in names become colons, line
 * breaks spaces.
 *
 * Stacks are a tree whose nodes sum up as time passes: memory is that of the different stacks, at
 * most FOLDED_NODES_MAX; deeper ones then count for what is outside them.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/map.h"
#include "base/pool.h"
#include "base/say.h"
#include "emit.h"
#include "feed.h"

#define FOLDED_NODES_MAX 1000000U
#define FOLDED_DEPTH_MAX 512U

struct node {
	struct node *outer, *next; /* next: all, in the order of their making */
	const char *name;
	uint64_t ns;
	uint32_t depth;
};

/* something open on a thread or parked with a task: a stay or a zone */
struct frame {
	struct frame *outer; /* on the thread; or the next further out that is parked with it */
	const void *owner; /* the task of a zone, the task of a stay; NULL: a zone of the thread */
	const char *name;
	uint64_t zone; /* 0: a stay */
	struct node *node;
};

struct stack { /* of a thread */
	struct frame *top;
	struct node *root; /* its process */
	uint64_t since;	   /* time up to which the top has been counted */
};

struct folded {
	struct model *model;
	int slot;
	int err;
	struct map nodes; /* outer, name */
	struct node *first, **last;
	uint64_t count, refused;
	struct pool node_pool, frame_pool, stack_pool;
	struct map parked; /* task's serial: frames of its zones, innermost first */
};

static struct node *node__get(struct folded *f, struct node *outer, const char *name)
{
	struct node *node = map__get(&f->nodes, (uintptr_t)outer, (uintptr_t)name);

	if (node)
		return node;
	if (outer && (f->count >= FOLDED_NODES_MAX || outer->depth >= FOLDED_DEPTH_MAX)) {
		f->refused++;
		return outer;
	}
	node = pool__take(&f->node_pool);
	if (!node || map__put(&f->nodes, (uintptr_t)outer, (uintptr_t)name, node)) {
		f->err = -ENOMEM;
		return outer;
	}
	node->outer = outer;
	node->name = name;
	node->depth = outer ? outer->depth + 1 : 0;
	f->count++;
	*f->last = node;
	f->last = &node->next;
	return node;
}

static struct stack *stack__get(struct folded *f, struct model_thread *thread)
{
	struct stack *stack = thread->priv[f->slot];

	if (stack)
		return stack;
	stack = pool__take(&f->stack_pool);
	if (!stack) {
		f->err = -ENOMEM;
		return NULL;
	}
	stack->root = node__get(f, NULL, thread->process->name);
	thread->priv[f->slot] = stack;
	return stack;
}

/* what was on top until now gets the time since it was looked at last */
static void stack__count(struct stack *stack, uint64_t time)
{
	if (stack->top && stack->top->node)
		stack->top->node->ns += time - stack->since;
	stack->since = time;
}

static void stack__push(struct folded *f, struct stack *stack, struct frame *frame, uint64_t time)
{
	struct node *outer = stack->top ? stack->top->node : stack->root;

	stack__count(stack, time);
	frame->node = outer ? node__get(f, outer, frame->name) : NULL;
	frame->outer = stack->top;
	stack->top = frame;
}

static void frame__open(struct folded *f, struct stack *stack, const void *owner, const char *name,
			uint64_t zone, uint64_t time)
{
	struct frame *frame = stack ? pool__take(&f->frame_pool) : NULL;

	if (!frame) {
		f->err = stack ? -ENOMEM : f->err;
		return;
	}
	frame->owner = owner;
	frame->name = name;
	frame->zone = zone;
	stack__push(f, stack, frame, time);
}

static void frame__park(struct folded *f, uint64_t task, struct frame *frame)
{
	frame->outer = map__get(&f->parked, task, 0);
	if (map__put(&f->parked, task, 0, frame))
		f->err = -ENOMEM;
}

/*
 * Takes a frame off its stack. What lies inside it goes on, on what is outside; but zones of a task
 * that stops wait with it.
 */
static void stack__remove(struct folded *f, struct stack *stack, struct frame *frame,
			  uint64_t stopped, uint64_t time)
{
	struct frame *inside = NULL, *top;

	stack__count(stack, time);
	while (stack->top && stack->top != frame) {
		top = stack->top;
		stack->top = top->outer;
		if (stopped && top->zone && top->owner == frame->owner) {
			frame__park(f, stopped, top);
			continue;
		}
		top->outer = inside;
		inside = top;
	}
	if (stack->top)
		stack->top = frame->outer;
	pool__give(&f->frame_pool, frame);
	while (inside) {
		top = inside;
		inside = top->outer;
		stack__push(f, stack, top, time);
	}
}

static void op__stay_begin(void *ctx, struct model_stay *stay, uint64_t time)
{
	struct folded *f = ctx;
	struct stack *stack = stack__get(f, stay->thread);
	struct frame *parked = map__remove(&f->parked, stay->task->serial, 0);

	frame__open(f, stack, stay->task, stay->task->name, 0, time);
	/* the outermost was parked last, so it is first here */
	while (parked && stack) {
		struct frame *frame = parked;

		parked = frame->outer;
		stack__push(f, stack, frame, time);
	}
}

static void op__stay_end(void *ctx, struct model_stay *stay, uint64_t time, enum stay_end how)
{
	struct folded *f = ctx;
	struct stack *stack = stay->thread->priv[f->slot];
	struct frame *frame = stack ? stack->top : NULL;

	(void)how;
	while (frame && (frame->zone || frame->owner != stay->task))
		frame = frame->outer;
	if (frame)
		stack__remove(f, stack, frame, stay->task->serial, time);
}

static void op__zone_begin(void *ctx, struct model_zone *zone, uint64_t time)
{
	const char *name = zone->name ? zone->name : zone->function ? zone->function : "zone";
	struct folded *f = ctx;

	frame__open(f, stack__get(f, zone->thread), zone->task, name, zone->id, time);
}

/* a zone that ends while its task does not run: no time has passed in it since it was parked */
static bool parked__remove(struct folded *f, uint64_t task, uint64_t zone)
{
	struct frame *frame = map__get(&f->parked, task, 0), *before = NULL;

	for (; frame && frame->zone != zone; frame = frame->outer)
		before = frame;
	if (!frame)
		return false;
	if (before)
		before->outer = frame->outer;
	else if (!frame->outer)
		map__remove(&f->parked, task, 0);
	else if (map__put(&f->parked, task, 0, frame->outer))
		f->err = -ENOMEM;
	pool__give(&f->frame_pool, frame);
	return true;
}

static void op__zone_end(void *ctx, struct model_zone *zone, struct model_thread *thread,
			 uint64_t time, bool left_open)
{
	struct folded *f = ctx;
	struct stack *stack = (thread ? thread : zone->thread)->priv[f->slot];
	struct frame *frame = stack ? stack->top : NULL;

	(void)left_open;
	if (zone->task && parked__remove(f, zone->task->serial, zone->id))
		return;
	while (frame && frame->zone != zone->id)
		frame = frame->outer;
	if (frame)
		stack__remove(f, stack, frame, 0, time);
}

static void op__task_gone(void *ctx, struct model_task *task, uint64_t time, bool finished)
{
	struct folded *f = ctx;
	struct frame *frame = map__remove(&f->parked, task->serial, 0);

	(void)time;
	(void)finished;
	while (frame) {
		struct frame *outer = frame->outer;

		pool__give(&f->frame_pool, frame);
		frame = outer;
	}
}

static void op__thread_gone(void *ctx, struct model_thread *thread, uint64_t time)
{
	struct folded *f = ctx;
	struct stack *stack = thread->priv[f->slot];

	if (!stack)
		return;
	stack__count(stack, time);
	while (stack->top) {
		struct frame *frame = stack->top;

		stack->top = frame->outer;
		pool__give(&f->frame_pool, frame);
	}
	pool__give(&f->stack_pool, stack);
	thread->priv[f->slot] = NULL;
}

/* from the outermost on: the chain is known from its inner end */
static void put_stack(struct emit *out, const struct node *node)
{
	const struct node *chain[FOLDED_DEPTH_MAX + 1];
	uint32_t count = 0;

	for (; node && count <= FOLDED_DEPTH_MAX; node = node->outer)
		chain[count++] = node;
	while (count--) {
		emit__room(out, EMIT_STRING_MAX + 64);
		if (chain[count]->name && *chain[count]->name)
			emit__line(out, chain[count]->name, ";");
		else
			emit__char(out, '?');
		if (count)
			emit__char(out, ';');
	}
}

static void folded__write(const struct folded *f, struct emit *out)
{
	for (const struct node *node = f->first; node; node = node->next) {
		if (!node->ns)
			continue;
		put_stack(out, node);
		emit__char(out, ' ');
		emit__u64(out, node->ns);
		emit__char(out, '\n');
	}
}

static int folded__run(struct folded *f, struct feed *feed, struct emit *out)
{
	static const struct model_ops ops = {
		.stay_begin = op__stay_begin,
		.stay_end = op__stay_end,
		.zone_begin = op__zone_begin,
		.zone_end = op__zone_end,
		.task_gone = op__task_gone,
		.thread_gone = op__thread_gone,
	};
	int err;

	f->slot = f->model ? model__add_sink(f->model, &ops, f) : -ENOMEM;
	err = f->slot < 0 ? f->slot : feed__run(feed);
	if (err)
		return err;
	folded__write(f, out);
	return emit__flush(out);
}

int export__folded(struct trace *trace, const struct export_options *options, char **err)
{
	struct folded f = {
		.model = model__new(),
		.node_pool.size = sizeof(struct node),
		.frame_pool.size = sizeof(struct frame),
		.stack_pool.size = sizeof(struct stack),
	};
	struct feed feed = {.trace = trace, .options = options, .model = f.model, .err = &f.err};
	struct emit out;
	int result = emit__open(&out, options->path, options->compression), closed;

	f.last = &f.first;
	if (!result)
		result = folded__run(&f, &feed, &out);
	closed = emit__close(&out);
	if (!result)
		result = closed;
	if (!result && f.refused)
		say__info("%s: more than %u different stacks, or deeper than %u: what is further "
			  "inside counts for what is outside it",
			  options->path, FOLDED_NODES_MAX, FOLDED_DEPTH_MAX);
	if (result && err)
		*err = feed__error(&feed, options->path, result);
	model__free(f.model);
	map__free(&f.nodes);
	map__free(&f.parked);
	pool__free(&f.node_pool);
	pool__free(&f.frame_pool);
	pool__free(&f.stack_pool);
	return result;
}
