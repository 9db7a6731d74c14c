/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report: runs a trace through a model and keeps the figures. See figures.h for what it holds.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "figures.h"
#include "../base/say.h"

#define PROGRESS_EVENTS 500000U

struct report *report__new(void)
{
	struct report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->model = model__new();
	if (!report->model) {
		free(report);
		return NULL;
	}
	/* one slot serves all: workers use those of threads and tasks, causes those of processes */
	report->sink = model__add_sink(report->model, &report_worker_ops, report);
	model__add_sink(report->model, &report_task_ops, report);
	model__add_sink(report->model, &report_cause_ops, report);
	report->path.slot = model__add_sink(report->model, &report_path_ops, report);
	path__init(&report->path);
	return report;
}

char *report__copy(struct report *report, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		report->err = -ENOMEM;
	return copy;
}

int report__event(struct report *report, const struct event *event)
{
	int err;

	if (!report->first_time)
		report->first_time = event->time;
	if (event->time > report->last_time)
		report->last_time = event->time;
	err = model__event(report->model, event);
	return err ? err : report->err;
}

int report__finish(struct report *report, const struct trace_totals *totals)
{
	int err = model__end(report->model, report->last_time);

	workers__finish(report, report->last_time);
	path__settle(report);
	report->totals = *totals;
	free(report->clock);
	report->clock = report__copy(report, totals->clock);
	report->totals.clock = report->clock;
	return err ? err : report->err;
}

int report__add_process(struct report *report, uint32_t index, uint32_t pid, const char *name,
			const char *host)
{
	struct process_figures *processes = realloc(
		report->processes, (report->process_count + 1) * sizeof(*report->processes));

	if (!processes)
		return report->err = -ENOMEM;
	report->processes = processes;
	processes[report->process_count++] = (struct process_figures){
		.index = index,
		.pid = pid,
		.name = report__copy(report, name),
		.host = report__copy(report, host),
	};
	return report->err;
}

static int read_events(struct report *report, struct trace *trace)
{
	uint64_t count = 0;
	struct event event;
	int ret;

	while ((ret = trace__next(trace, &event)) == 1) {
		int err = report__event(report, &event);

		if (err)
			return err;
		if (!(++count % PROGRESS_EVENTS))
			say__progress("reading: %.0f %%", 100 * trace__progress(trace));
	}
	say__progress(NULL);
	return ret;
}

static void forget_processes(struct report *report)
{
	for (size_t i = 0; i < report->process_count; i++) {
		free(report->processes[i].name);
		free(report->processes[i].host);
	}
	report->process_count = 0;
}

static void take_processes(struct report *report, const struct trace *trace)
{
	forget_processes(report);
	for (uint32_t i = 0; i < trace__process_count(trace); i++) {
		const struct trace_process *process = trace__process(trace, i);

		if (process)
			report__add_process(report, i, process->pid, process->name, process->host);
	}
}

int report__so_far(struct report *report, const struct trace *trace)
{
	struct trace_totals *totals = &report->totals;

	take_processes(report, trace);
	path__settle(report);
	*totals = *trace__totals(trace);
	/* what the trace sums up at its end */
	totals->lost = 0;
	for (int i = 0; i < LOSS_KINDS; i++)
		totals->lost += totals->lost_by[i];
	totals->recorded = totals->records + totals->lost;
	totals->duration_ns = report->last_time - report->first_time;
	free(report->clock);
	report->clock = report__copy(report, totals->clock);
	totals->clock = report->clock;
	return report->err;
}

int report__ended(struct report *report, const struct trace *trace)
{
	take_processes(report, trace);
	return report__finish(report, trace__totals(trace));
}

int report__read(struct report *report, struct trace *trace, char **err)
{
	/* what could be read is reported: its processes and figures are whole up to there */
	int ret = read_events(report, trace), ended = report__ended(report, trace);

	if (!ended)
		ended = report__finish_stacks(report, trace);
	if (!ret)
		ret = ended;
	if (ret == -ENOMEM && err)
		*err = sentence__new("the report needs more memory than there is");
	else if (ret && err)
		*err = sentence__new("%s",
				     trace__error(trace) ? trace__error(trace) : strerror(-ret));
	return ret;
}

static void free_locks(struct report *report)
{
	struct map_entry *e = NULL;

	while ((e = map__next(&report->locks, e)))
		lock_figures__free(e->value);
	lock_figures__free(report->other_locks);
	map__free(&report->locks);
}

static void free_tables(struct report *report)
{
	struct map_entry *e;

	groups__free(&report->names);
	groups__free(&report->suspensions);
	groups__free(&report->preemptions);
	groups__free(&report->wakes);
	groups__free(&report->zones);
	for (e = NULL; (e = map__next(&report->pairs, e));)
		free(e->value);
	map__free(&report->pairs);
	for (e = NULL; (e = map__next(&report->counters, e));) {
		free(((struct counter_figures *)e->value)->name);
		free(e->value);
	}
	map__free(&report->counters);
	map__free(&report->messages);
	free(report->message_ring);
}

void report__free(struct report *report)
{
	if (!report)
		return;
	model__free(report->model);
	free_tables(report);
	free_locks(report);
	report__free_stacks(report);
	for (size_t i = 0; i < report->worker_count; i++) {
		free(report->workers[i]->name);
		free(report->workers[i]);
	}
	free(report->workers);
	map__free(&report->workers_by_thread);
	map__free(&report->workers_by_index);
	forget_processes(report);
	free(report->processes);
	for (size_t i = 0; i < report->unfinished_kept; i++) {
		free(report->unfinished[i].name);
		free(report->unfinished[i].reason);
		free(report->unfinished[i].holder);
	}
	path__free(&report->path);
	free(report->clock);
	free(report);
}
