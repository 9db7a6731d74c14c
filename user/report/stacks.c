/* SPDX-License-Identifier: BSD-2-Clause */
/* Where tasks are suspended (record --stacks): call stacks, those that cost most time first. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "figures.h"

#define STACKS_COUNTED_MAX 65536U

void report__suspended_at(struct report *report, uint32_t stack, const char *reason,
			  uint64_t length)
{
	struct stack_figures *figures;

	if (!stack)
		return;
	figures = map__get(&report->stacks, stack, (uintptr_t)reason);
	if (!figures && report->stacks.count < STACKS_COUNTED_MAX) {
		figures = calloc(1, sizeof(*figures));
		if (!figures || map__put(&report->stacks, stack, (uintptr_t)reason, figures)) {
			free(figures);
			report->err = -ENOMEM;
			return;
		}
		figures->number = stack;
		figures->reason = report__copy(report, reason);
	}
	if (!figures)
		return;
	figures->count++;
	figures->total_ns += length;
	if (length > figures->max_ns)
		figures->max_ns = length;
}

static int compare(const void *left, const void *right)
{
	const struct stack_figures *a = *(struct stack_figures *const *)left;
	const struct stack_figures *b = *(struct stack_figures *const *)right;

	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? 1 : -1;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* a frame's name: function, else where it lies */
static char *frame__name(const struct trace_frame *frame)
{
	const char *base = frame->binary ? strrchr(frame->binary, '/') : NULL;
	char *name = NULL;

	if (frame->function)
		return strdup(frame->function);
	if (asprintf(&name, "%s+0x%llx",
		     base	     ? base + 1
		     : frame->binary ? frame->binary
				     : "",
		     (unsigned long long)frame->address) < 0)
		return NULL;
	return name;
}

static void figures__name(struct report *report, struct stack_figures *figures, struct trace *trace)
{
	const struct trace_stack *stack = trace__stack(trace, figures->number);

	if (!stack)
		return;
	figures->frames = calloc(stack->count + 1, sizeof(*figures->frames));
	if (!figures->frames) {
		report->err = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < stack->count; i++) {
		figures->frames[figures->frame_count] = frame__name(&stack->frames[i]);
		if (figures->frames[figures->frame_count])
			figures->frame_count++;
	}
}

int report__finish_stacks(struct report *report, struct trace *trace)
{
	size_t count = 0;

	report->top_stacks = calloc(report->stacks.count + 1, sizeof(*report->top_stacks));
	if (!report->top_stacks)
		return -ENOMEM;
	for (struct map_entry *e = NULL; (e = map__next(&report->stacks, e));)
		report->top_stacks[count++] = e->value;
	if (count)
		qsort(report->top_stacks, count, sizeof(*report->top_stacks), compare);
	report->top_stack_count = count < FIGURES_STACKS_MAX ? count : FIGURES_STACKS_MAX;
	for (size_t i = 0; i < report->top_stack_count; i++)
		figures__name(report, report->top_stacks[i], trace);
	return report->err;
}

void report__free_stacks(struct report *report)
{
	for (struct map_entry *e = NULL; (e = map__next(&report->stacks, e));) {
		struct stack_figures *figures = e->value;

		for (uint32_t i = 0; i < figures->frame_count; i++)
			free(figures->frames[i]);
		free(figures->frames);
		free(figures->reason);
		free(figures);
	}
	map__free(&report->stacks);
	free(report->top_stacks);
}
