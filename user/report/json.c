/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The figures as JSON: interface, section 3, key by key in its order. Keys beyond it:
 * unfinished_count (the list holds the first 1,000), in_state_ns, pid, holder and holder_task (of
 * the lock that it waits for), bulk_ns; locks[].contended_wait_ns, max_waiters, waiters[],
 * holders[], longest;
 * stacks[] (of suspensions, those that cost most time; frames from the innermost out);
 * capture.missed (processes whose gates were not open in time), sched_lost, stacks_lost;
 * preemptions[] (who took the CPU from a worker, as the kernel or the runtime calls it; the task that was
 * running, null if none). Identities are integers; none is null.
 *
 * json-c reports want of memory by a NULL object; put() notes it once for the whole document.
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../base/utf8.h"
#include "order.h"

struct document {
	int err;
};

static void put(struct document *doc, json_object *to, const char *key, json_object *value)
{
	/* a NULL value is JSON's null: wanted ones come through put_null() */
	if (!value || json_object_object_add(to, key, value)) {
		json_object_put(value);
		doc->err = -ENOMEM;
	}
}

static void put_null(struct document *doc, json_object *to, const char *key)
{
	if (json_object_object_add(to, key, NULL))
		doc->err = -ENOMEM;
}

static void put_uint(struct document *doc, json_object *to, const char *key, uint64_t value)
{
	put(doc, to, key, json_object_new_uint64(value));
}

static void put_bool(struct document *doc, json_object *to, const char *key, bool value)
{
	put(doc, to, key, json_object_new_boolean(value));
}

static void put_string(struct document *doc, json_object *to, const char *key, const char *value)
{
	size_t size = value ? strlen(value) : 0;
	char *text;

	if (!value) {
		put_null(doc, to, key);
		return;
	}
	/* json-c writes the bytes as they are */
	text = strdup(value);
	if (text)
		utf8__clean(text, size);
	put(doc, to, key, text ? json_object_new_string_len(text, (int)size) : NULL);
	free(text);
}

static void put_identity(struct document *doc, json_object *to, const char *key, uint64_t value)
{
	if (value)
		put_uint(doc, to, key, value);
	else
		put_null(doc, to, key);
}

static void put_number(struct document *doc, json_object *to, const char *key, struct number value)
{
	/* JSON has neither infinities nor what is no number */
	if (value.real && !isfinite(value.d)) {
		put_null(doc, to, key);
		return;
	}
	put(doc, to, key,
	    value.real ? json_object_new_double(value.d) : json_object_new_int64(value.i));
}

/* a percentile of nothing is not known */
static void put_percentile(struct document *doc, json_object *to, const char *key,
			   const struct hist *hist, double percent)
{
	if (hist->count)
		put_uint(doc, to, key, hist__percentile(hist, percent));
	else
		put_null(doc, to, key);
}

static json_object *new_object(struct document *doc, json_object *list)
{
	json_object *object = json_object_new_object();

	if (!object || (list && json_object_array_add(list, object))) {
		doc->err = -ENOMEM;
		json_object_put(object);
		return NULL;
	}
	return object;
}

static json_object *put_new(struct document *doc, json_object *to, const char *key)
{
	json_object *object = json_object_new_object();

	put(doc, to, key, object);
	return object;
}

static json_object *put_list(struct document *doc, json_object *to, const char *key)
{
	json_object *list = json_object_new_array();

	put(doc, to, key, list);
	return list;
}

static void fill_capture(struct document *doc, json_object *to, const struct trace_totals *totals)
{
	json_object *by;

	put_uint(doc, to, "records", totals->records);
	put_uint(doc, to, "lost", totals->lost);
	put_uint(doc, to, "recorded", totals->recorded);
	put_uint(doc, to, "bytes", totals->bytes);
	put_uint(doc, to, "duration_ns", totals->duration_ns);
	put_string(doc, to, "clock", totals->clock);
	put_uint(doc, to, "clock_error_ns", totals->clock_error_ns);
	put_bool(doc, to, "complete", totals->complete);
	put_uint(doc, to, "missed", totals->missed);
	if (totals->has_target_exit)
		put(doc, to, "target_exit", json_object_new_int(totals->target_exit));
	else
		put_null(doc, to, "target_exit");
	if (totals->sched)
		put_uint(doc, to, "sched_lost", totals->sched_lost);
	else
		put_null(doc, to, "sched_lost");
	put_uint(doc, to, "stacks_lost", totals->stacks_lost);
	by = put_new(doc, to, "lost_by");
	put_uint(doc, by, "ring_full", totals->lost_by[LOSS_RING_FULL]);
	put_uint(doc, by, "target_ring_overrun", totals->lost_by[LOSS_TARGET_OVERRUN]);
	put_uint(doc, by, "read_fault", totals->lost_by[LOSS_READ_FAULT]);
}

static void fill_worker(struct document *doc, json_object *to, const struct worker *worker,
			bool sched)
{
	put_uint(doc, to, "index", worker->index);
	put_uint(doc, to, "tid", worker->tid);
	put_string(doc, to, "name", worker->name);
	put_uint(doc, to, "busy_ns", worker->at[AT_TASK].total);
	put_uint(doc, to, "background_ns", worker->at[AT_BACKGROUND].total);
	put_uint(doc, to, "sleep_ns", worker->at[AT_SLEEP].total);
	put_uint(doc, to, "idle_ns", worker->life_ns - worker->at[AT_ANY].total);
	if (sched)
		put_uint(doc, to, "preempted_ns", worker->preempted_ns);
	else
		put_null(doc, to, "preempted_ns");
	put_uint(doc, to, "bulk_ns", worker->at[AT_BULK].total);
	put_uint(doc, to, "tasks", worker->tasks);
	put_uint(doc, to, "steals", worker->steals);
	put_uint(doc, to, "stolen_from", worker->stolen_from);
	if (worker->max_queue_depth >= 0)
		put_uint(doc, to, "max_queue_depth", (uint64_t)worker->max_queue_depth);
	else
		put_null(doc, to, "max_queue_depth");
}

static void fill_processes(struct document *doc, json_object *list, const struct report *report)
{
	for (size_t i = 0; i < report->process_count; i++) {
		const struct process_figures *process = &report->processes[i];
		struct worker **workers = order__workers(report, process->index);
		json_object *to = new_object(doc, list), *in;

		if (!to || !workers) {
			free(workers);
			doc->err = -ENOMEM;
			return;
		}
		put_uint(doc, to, "pid", process->pid);
		put_string(doc, to, "name", process->name);
		put_string(doc, to, "host", process->host);
		in = put_list(doc, to, "workers");
		for (size_t k = 0; workers[k]; k++)
			fill_worker(doc, new_object(doc, in), workers[k], report->totals.sched);
		free(workers);
	}
}

static void put_spread(struct document *doc, json_object *to, const struct hist *hist)
{
	put_percentile(doc, to, "min_ns", hist, 0);
	if (hist->count)
		put_uint(doc, to, "mean_ns", hist__mean(hist));
	else
		put_null(doc, to, "mean_ns");
	put_percentile(doc, to, "p50_ns", hist, 50);
	put_percentile(doc, to, "p99_ns", hist, 99);
	put_percentile(doc, to, "max_ns", hist, 100);
}

static void fill_tasks(struct document *doc, json_object *to, const struct report *report)
{
	const struct model *model = report->model;
	json_object *list;

	put_uint(doc, to, "created", report->tasks_created);
	put_uint(doc, to, "begun", report->begun);
	put_uint(doc, to, "completed", model__events(model, EV_task_completed));
	put_uint(doc, to, "destroyed", model__events(model, EV_task_destroyed));
	put_uint(doc, to, "migrations", report->migrations);
	put_uint(doc, to, "suspensions", model__events(model, EV_task_suspended));
	put_uint(doc, to, "yields", model__events(model, EV_task_yielded));
	list = put_list(doc, to, "by_name");
	for (size_t i = 0; i < report->names.count; i++) {
		const struct group *group = report->names.list[i];
		json_object *row = new_object(doc, list);

		put_string(doc, row, "name", group->name);
		put_uint(doc, row, "count", group->count);
		put_uint(doc, row, "run_ns", group->total_ns);
		put_uint(doc, row, "self_ns", group->self_ns);
		put_uint(doc, row, "suspended_ns", group->suspended_ns);
		put_uint(doc, row, "ready_ns", group->ready_ns);
		put_spread(doc, row, &group->hist);
	}
}

static void fill_waits(struct document *doc, json_object *root, const struct report *report)
{
	json_object *list = put_list(doc, root, "suspensions"), *row;

	for (size_t i = 0; i < report->suspensions.count; i++) {
		const struct group *group = report->suspensions.list[i];

		row = new_object(doc, list);
		put_string(doc, row, "reason", group->name);
		put_uint(doc, row, "count", group->count);
		put_uint(doc, row, "total_ns", group->total_ns);
		put_percentile(doc, row, "p50_ns", &group->hist, 50);
		put_percentile(doc, row, "p99_ns", &group->hist, 99);
		put_percentile(doc, row, "max_ns", &group->hist, 100);
	}
	list = put_list(doc, root, "wakes");
	for (size_t i = 0; i < report->wakes.count; i++) {
		const struct group *group = report->wakes.list[i];

		row = new_object(doc, list);
		put_string(doc, row, "cause", group->name);
		put_uint(doc, row, "count", group->count);
		put_percentile(doc, row, "ready_to_run_p50_ns", &group->hist, 50);
		put_percentile(doc, row, "ready_to_run_p99_ns", &group->hist, 99);
	}
}

static void fill_preemptions(struct document *doc, json_object *root, const struct report *report)
{
	json_object *list, *row;

	if (!report->totals.sched) {
		put_null(doc, root, "preemptions");
		return;
	}
	list = put_list(doc, root, "preemptions");
	for (size_t i = 0; i < report->preemptions.count; i++) {
		const struct group *group = report->preemptions.list[i];

		row = new_object(doc, list);
		put_string(doc, row, "by", group->name);
		put_string(doc, row, "task", group->function);
		put_uint(doc, row, "count", group->count);
		put_uint(doc, row, "total_ns", group->total_ns);
		put_percentile(doc, row, "p50_ns", &group->hist, 50);
		put_percentile(doc, row, "p99_ns", &group->hist, 99);
		put_percentile(doc, row, "max_ns", &group->hist, 100);
	}
}

static void fill_steals(struct document *doc, json_object *to, const struct report *report)
{
	struct steal_pair **pairs = order__pairs(report);
	json_object *list, *row;

	put_uint(doc, to, "count", report->steals);
	put_uint(doc, to, "failed", report->steals_failed);
	list = put_list(doc, to, "pairs");
	for (size_t i = 0; pairs && pairs[i]; i++) {
		row = new_object(doc, list);
		put_uint(doc, row, "thief", pairs[i]->thief);
		put_uint(doc, row, "victim", pairs[i]->victim);
		put_uint(doc, row, "count", pairs[i]->count);
		if (pairs[i]->depth_count)
			put(doc, row, "mean_victim_depth",
			    json_object_new_double((double)pairs[i]->depth_sum /
						   (double)pairs[i]->depth_count));
		else
			put_null(doc, row, "mean_victim_depth");
	}
	if (!pairs)
		doc->err = -ENOMEM;
	free(pairs);
}

static void fill_futures(struct document *doc, json_object *to, const struct report *report)
{
	const struct model *model = report->model;

	put_uint(doc, to, "created", model__events(model, EV_future_created));
	put_uint(doc, to, "set", model__events(model, EV_future_set));
	put_uint(doc, to, "exceptions", model__events(model, EV_future_exception));
	put_uint(doc, to, "continuations_inline", report->continuations_inline);
	put_uint(doc, to, "continuations_scheduled", report->continuations_scheduled);
	put_uint(doc, to, "max_active_continuations", (uint64_t)report->max_active_continuations);
}

static void fill_zones(struct document *doc, json_object *list, const struct report *report)
{
	for (size_t i = 0; i < report->zones.count; i++) {
		const struct group *group = report->zones.list[i];
		json_object *row = new_object(doc, list);

		put_string(doc, row, "name", group->name);
		put_string(doc, row, "function", group->function);
		put_string(doc, row, "file", group->file);
		if (group->line >= 0)
			put_uint(doc, row, "line", (uint64_t)group->line);
		else
			put_null(doc, row, "line");
		put_uint(doc, row, "count", group->count);
		put_uint(doc, row, "total_ns", group->total_ns);
		put_uint(doc, row, "self_ns", group->self_ns);
		put_spread(doc, row, &group->hist);
		put_uint(doc, row, "max_depth", group->max_depth);
	}
}

static void fill_party(struct document *doc, json_object *row, const struct lock_party *party)
{
	put_string(doc, row, "name", party->name);
	put_identity(doc, row, "task", party->task);
	put_uint(doc, row, "tid", party->tid);
}

static void fill_parties(struct document *doc, json_object *list,
			 const struct lock_parties *parties)
{
	for (uint32_t i = 0; i < parties->count; i++) {
		json_object *row = new_object(doc, list);

		put_string(doc, row, "name", parties->all[i].name);
		put_uint(doc, row, "count", parties->all[i].count);
		put_uint(doc, row, "wait_ns", parties->all[i].wait_ns);
	}
	if (parties->other_count) {
		json_object *row = new_object(doc, list);

		put_string(doc, row, "name", FIGURES_OTHERS);
		put_uint(doc, row, "count", parties->other_count);
		put_uint(doc, row, "wait_ns", parties->other_wait_ns);
	}
}

/* of contended waits: by whom, for whom, and the longest */
static void fill_contention(struct document *doc, json_object *row, const struct lock_figures *lock)
{
	json_object *longest;

	put_uint(doc, row, "contended_wait_ns", lock->contended_ns);
	put_uint(doc, row, "max_waiters", lock->max_waiters);
	fill_parties(doc, put_list(doc, row, "waiters"), &lock->waiters);
	fill_parties(doc, put_list(doc, row, "holders"), &lock->holding);
	if (!lock->longest.waiter.name) {
		put_null(doc, row, "longest");
		return;
	}
	longest = put_new(doc, row, "longest");
	put_uint(doc, longest, "wait_ns", lock->longest.wait_ns);
	fill_party(doc, put_new(doc, longest, "waiter"), &lock->longest.waiter);
	if (lock->longest.holder.name)
		fill_party(doc, put_new(doc, longest, "holder"), &lock->longest.holder);
	else
		put_null(doc, longest, "holder");
}

static void fill_locks(struct document *doc, json_object *list, const struct report *report)
{
	struct lock_figures **locks = order__locks(report);

	for (size_t i = 0; locks && locks[i]; i++) {
		json_object *row = new_object(doc, list);

		put_string(doc, row, "name", locks[i]->name);
		put_identity(doc, row, "object", locks[i]->object);
		put_uint(doc, row, "acquisitions", locks[i]->acquisitions);
		put_uint(doc, row, "contended", locks[i]->contended);
		put_uint(doc, row, "wait_ns", locks[i]->wait_ns);
		put_percentile(doc, row, "wait_p99_ns", &locks[i]->wait, 99);
		put_uint(doc, row, "held_ns", locks[i]->held_ns);
		fill_contention(doc, row, locks[i]);
	}
	if (!locks)
		doc->err = -ENOMEM;
	free(locks);
}

static void fill_stacks(struct document *doc, json_object *list, const struct report *report)
{
	for (size_t i = 0; i < report->top_stack_count; i++) {
		const struct stack_figures *stack = report->top_stacks[i];
		json_object *row = new_object(doc, list), *frames;

		put_string(doc, row, "reason", stack->reason);
		put_uint(doc, row, "count", stack->count);
		put_uint(doc, row, "total_ns", stack->total_ns);
		put_uint(doc, row, "max_ns", stack->max_ns);
		frames = put_list(doc, row, "frames");
		for (uint32_t k = 0; k < stack->frame_count; k++)
			if (json_object_array_add(frames, json_object_new_string(stack->frames[k])))
				doc->err = -ENOMEM;
	}
}

static void fill_unfinished(struct document *doc, json_object *list, const struct report *report)
{
	for (size_t i = 0; i < report->unfinished_kept; i++) {
		const struct unfinished *task = &report->unfinished[i];
		json_object *row = new_object(doc, list);

		put_uint(doc, row, "task", task->identity);
		put_string(doc, row, "name", task->name);
		put_string(doc, row, "state", task_state__name(task->state));
		put_uint(doc, row, "age_ns", task->age_ns);
		put_string(doc, row, "reason", task->reason);
		put_identity(doc, row, "object", task->object);
		put_uint(doc, row, "in_state_ns", task->in_state_ns);
		put_string(doc, row, "holder", task->holder);
		put_identity(doc, row, "holder_task", task->holder_task);
		put_uint(doc, row, "pid", task->pid);
	}
}

static void fill_counters(struct document *doc, json_object *list, const struct report *report)
{
	struct counter_figures **counters = order__counters(report);

	for (size_t i = 0; counters && counters[i]; i++) {
		json_object *row = new_object(doc, list);

		put_string(doc, row, "name", counters[i]->name);
		put_uint(doc, row, "count", counters[i]->count);
		put_number(doc, row, "min", counters[i]->min);
		put_number(doc, row, "max", counters[i]->max);
		put_number(doc, row, "last", counters[i]->last);
	}
	if (!counters)
		doc->err = -ENOMEM;
	free(counters);
}

static void fill_steps(struct document *doc, json_object *list, const struct report *report)
{
	const struct report_path *path = &report->path;

	for (size_t i = 0; i < path->step_count; i++) {
		const struct path_step *step = &path->steps[i];
		json_object *row = new_object(doc, list);

		put_uint(doc, row, "pid", step->pid);
		put_identity(doc, row, "task", step->task);
		put_string(doc, row, "name", step->name);
		put_uint(doc, row, "from_ns", step->from - report->first_time);
		put_uint(doc, row, "to_ns", step->to - report->first_time);
		put_string(doc, row, "kind", step->waits ? "wait" : "run");
		put_string(doc, row, "via", path__via(step->via));
	}
}

static void fill_critical_path(struct document *doc, json_object *to, const struct report *report)
{
	const struct report_path *path = &report->path;
	uint64_t length = path->end - path->start;

	if (path->last) {
		put_uint(doc, to, "length_ns", length);
		put_uint(doc, to, "run_ns", path->run_ns);
		put_uint(doc, to, "wait_ns", path->wait_ns);
		put_uint(doc, to, "work_ns", path->work_ns);
	} else {
		put_null(doc, to, "length_ns");
		put_null(doc, to, "run_ns");
		put_null(doc, to, "wait_ns");
		put_null(doc, to, "work_ns");
	}
	if (path->last && length)
		put_number(
			doc, to, "parallelism",
			(struct number){.real = true, .d = (double)path->work_ns / (double)length});
	else
		put_null(doc, to, "parallelism");
	if (path->severed)
		put_null(doc, to, "steps");
	else
		fill_steps(doc, put_list(doc, to, "steps"), report);
}

/* handlers, if there are any: created is invoked and destroyed and those that still wait */
static void fill_asio(struct document *doc, json_object *root, const struct report *report)
{
	const struct model *model = report->model;
	struct asio_figures figures = asio__figures(model);
	json_object *to;

	if (!figures.any)
		return;
	to = put_new(doc, root, "asio");
	put_uint(doc, to, "created", figures.created);
	put_uint(doc, to, "invoked", figures.invoked);
	put_uint(doc, to, "destroyed", figures.destroyed);
	put_uint(doc, to, "exceptions", model__events(model, EV_asio_thrown));
	put_uint(doc, to, "created_before", model__events(model, EV_asio_found));
	put_uint(doc, to, "syscalls", model__events(model, EV_asio_syscall));
	put_uint(doc, to, "runs", model__events(model, EV_asio_run_begin));
}

static void fill_anomalies(struct document *doc, json_object *list, const struct report *report)
{
	for (int kind = 0; kind < ANOMALY_KINDS; kind++) {
		uint64_t count = model__anomalies(report->model, (enum model_anomaly)kind);
		json_object *row;

		if (!count)
			continue;
		row = new_object(doc, list);
		put_string(doc, row, "kind", model__anomaly_name((enum model_anomaly)kind));
		put_uint(doc, row, "count", count);
	}
	if (report->totals.damaged) {
		json_object *row = new_object(doc, list);

		put_string(doc, row, "kind", "damaged_record");
		put_uint(doc, row, "count", report->totals.damaged);
	}
}

static void fill(struct document *doc, json_object *root, const struct report *report)
{
	json_object *messages;

	put_uint(doc, root, "schema", 1);
	fill_capture(doc, put_new(doc, root, "capture"), &report->totals);
	fill_processes(doc, put_list(doc, root, "processes"), report);
	fill_tasks(doc, put_new(doc, root, "tasks"), report);
	fill_waits(doc, root, report);
	fill_preemptions(doc, root, report);
	fill_steals(doc, put_new(doc, root, "steals"), report);
	fill_futures(doc, put_new(doc, root, "futures"), report);
	fill_zones(doc, put_list(doc, root, "zones"), report);
	fill_locks(doc, put_list(doc, root, "locks"), report);
	fill_stacks(doc, put_list(doc, root, "stacks"), report);
	fill_unfinished(doc, put_list(doc, root, "unfinished"), report);
	put_uint(doc, root, "unfinished_count", report->unfinished_count);
	fill_counters(doc, put_list(doc, root, "counters"), report);
	messages = put_new(doc, root, "messages");
	put_uint(doc, messages, "sent", model__events(report->model, EV_sent));
	put_uint(doc, messages, "received", model__events(report->model, EV_received));
	put_uint(doc, messages, "matched", report->messages_matched);
	fill_asio(doc, root, report);
	fill_critical_path(doc, put_new(doc, root, "critical_path"), report);
	fill_anomalies(doc, put_list(doc, root, "anomalies"), report);
}

static int write_out(struct document *doc, json_object *root, FILE *out)
{
	const char *text = NULL;

	if (!doc->err)
		text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
								    JSON_C_TO_STRING_SPACED |
								    JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!doc->err && !text)
		doc->err = -ENOMEM;
	if (!doc->err && (fputs(text, out) < 0 || fputc('\n', out) < 0 || fflush(out)))
		doc->err = errno ? -errno : -EIO;
	json_object_put(root);
	return doc->err;
}

static int write_report(const struct report *report, FILE *out, bool capture_outside)
{
	json_object *root = json_object_new_object();
	struct document doc = {0};

	if (!root)
		return -ENOMEM;
	if (capture_outside)
		fill_capture(&doc, root, &report->totals);
	groups__sort(&report->names);
	groups__sort(&report->suspensions);
	groups__sort(&report->preemptions);
	groups__sort(&report->wakes);
	groups__sort(&report->zones);
	fill(&doc, root, report);
	return write_out(&doc, root, out);
}

int report__json(const struct report *report, FILE *out)
{
	return write_report(report, out, false);
}

int report__figures(const struct report *report, FILE *out)
{
	return write_report(report, out, true);
}

int report__summary(const struct trace_totals *totals, FILE *out)
{
	json_object *root = json_object_new_object();
	struct document doc = {0};

	if (!root)
		return -ENOMEM;
	fill_capture(&doc, root, totals);
	return write_out(&doc, root, out);
}
