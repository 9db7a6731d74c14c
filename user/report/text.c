/* SPDX-License-Identifier: BSD-2-Clause */
/* The figures as a page for people: what is wrong first, then the rest, the largest first. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "order.h"

#define ROWS_MAX 20U /* of a table; how many more there are is said */
#define NAME_WIDTH 32

/* three significant digits and a unit */
static const char *human(uint64_t ns, char text[16])
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		double value = (double)ns / (double)units[i].ns;

		if (value < 0.9995)
			continue;
		snprintf(text, 16, "%.*f %s",
			 value < 9.995	 ? 2
			 : value < 99.95 ? 1
					 : 0,
			 value, units[i].name);
		return text;
	}
	snprintf(text, 16, "%" PRIu64 " ns", ns);
	return text;
}

static const char *human_or_dash(const struct hist *hist, double percent, char text[16])
{
	return hist->count ? human(hist__percentile(hist, percent), text) : "-";
}

#define HUMAN(ns) human(ns, (char[16]){0})
#define PERCENTILE(hist, percent) human_or_dash(hist, percent, (char[16]){0})

/* control characters of a hostile name must not reach the terminal */
static const char *clean(const char *name, char text[NAME_WIDTH + 4])
{
	size_t n = 0;

	if (!name || !*name)
		return "-";
	for (; name[n] && n < NAME_WIDTH; n++)
		text[n] = (unsigned char)name[n] < ' ' || name[n] == 127 ? '?' : name[n];
	/* not in the middle of a UTF-8 character */
	while (name[n] && n && ((unsigned char)name[n] & 0xc0) == 0x80)
		n--;
	strcpy(text + n, name[n] ? "..." : "");
	return text;
}

#define NAME(name) clean(name, (char[NAME_WIDTH + 4]){0})

static void more(FILE *out, size_t count)
{
	if (count > ROWS_MAX)
		fprintf(out, "  ... and %zu more\n", count - ROWS_MAX);
}

static void say_losses(const struct trace_totals *totals, FILE *out)
{
	if (totals->lost)
		fprintf(out,
			"LOST: %" PRIu64 " of %" PRIu64 " records (%.2f %%): %" PRIu64
			" for want of room in the buffers, %" PRIu64
			" overwritten in the target, %" PRIu64 " unreadable\n",
			totals->lost, totals->recorded,
			100.0 * (double)totals->lost / (double)totals->recorded,
			totals->lost_by[LOSS_RING_FULL], totals->lost_by[LOSS_TARGET_OVERRUN],
			totals->lost_by[LOSS_READ_FAULT]);
	if (totals->sched_lost)
		fprintf(out,
			"Of the kernel's scheduling %" PRIu64
			" events are missing, for want of room "
			"in the buffers: times of running and waiting are in part not known\n",
			totals->sched_lost);
	if (!totals->finished)
		fputs("The capture did not end normally: this is what it holds up to there\n", out);
	if (totals->damaged)
		fprintf(out, "Damaged records: %" PRIu64 "\n", totals->damaged);
}

static void say_anomalies(const struct report *report, FILE *out)
{
	static const char *const docs[] = {
#define X(id, name, doc) doc,
		MODEL_ANOMALIES(X)
#undef X
	};

	for (int kind = 0; kind < ANOMALY_KINDS; kind++) {
		uint64_t count = model__anomalies(report->model, (enum model_anomaly)kind);

		if (count)
			fprintf(out, "Anomaly: %" PRIu64 " %s (%s)\n", count,
				model__anomaly_name((enum model_anomaly)kind), docs[kind]);
	}
}

static void print_capture(const struct report *report, FILE *out)
{
	const struct trace_totals *totals = &report->totals;

	fprintf(out, "Capture      %s, %" PRIu64 " records, %" PRIu64 " lost, %.1f MB, clock %s",
		HUMAN(totals->duration_ns), totals->records, totals->lost,
		(double)totals->bytes / 1e6, totals->clock ? totals->clock : "unknown");
	if (totals->clock_error_ns)
		fprintf(out, " within %s", HUMAN(totals->clock_error_ns));
	fputc('\n', out);
	if (totals->has_target_exit)
		fprintf(out, "Exit status  %d\n", totals->target_exit);
}

static void print_workers(const struct report *report, const struct process_figures *process,
			  FILE *out)
{
	struct worker **workers = order__workers(report, process->index);

	fprintf(out, "\nProcess %u %s on %s\n", process->pid, NAME(process->name),
		NAME(process->host));
	if (workers && workers[0])
		fprintf(out, "  %6s %8s %-16s %9s %9s %9s %9s %9s %9s %8s %8s %6s\n", "worker",
			"tid", "name", "busy", "backgr.", "sleep", "idle", "preempt.", "tasks",
			"steals", "stolen", "queue");
	for (size_t i = 0; workers && workers[i]; i++) {
		const struct worker *w = workers[i];
		char depth[24] = "-";

		if (w->max_queue_depth >= 0)
			snprintf(depth, sizeof(depth), "%" PRId64, w->max_queue_depth);
		fprintf(out,
			"  %6u %8u %-16.16s %9s %9s %9s %9s %9s %9" PRIu64 " %8" PRIu64 " %8" PRIu64
			" %6s\n",
			w->index, w->tid, NAME(w->name), HUMAN(w->at[AT_TASK].total),
			HUMAN(w->at[AT_BACKGROUND].total), HUMAN(w->at[AT_SLEEP].total),
			HUMAN(w->life_ns - w->at[AT_ANY].total),
			report->totals.sched ? HUMAN(w->preempted_ns) : "-", w->tasks, w->steals,
			w->stolen_from, depth);
	}
	free(workers);
}

static void print_tasks(const struct report *report, FILE *out)
{
	const struct model *model = report->model;
	const struct groups *groups = &report->names;

	fprintf(out,
		"\nTasks        %" PRIu64 " created, %" PRIu64 " completed, %" PRIu64
		" destroyed; %" PRIu64 " stays, %" PRIu64 " migrations, %" PRIu64
		" suspensions, %" PRIu64 " yields\n",
		report->tasks_created, model__events(model, EV_task_completed),
		model__events(model, EV_task_destroyed), report->begun, report->migrations,
		model__events(model, EV_task_suspended), model__events(model, EV_task_yielded));
	if (groups->count)
		fprintf(out, "  %-*s %9s %9s %9s %9s %9s %9s %9s %9s\n", NAME_WIDTH, "name",
			"count", "run", "self", "suspended", "ready", "p50", "p99", "max");
	for (size_t i = 0; i < groups->count && i < ROWS_MAX; i++) {
		const struct group *g = groups->list[i];

		fprintf(out, "  %-*s %9" PRIu64 " %9s %9s %9s %9s %9s %9s %9s\n", NAME_WIDTH,
			NAME(g->name), g->count, HUMAN(g->total_ns), HUMAN(g->self_ns),
			HUMAN(g->suspended_ns), HUMAN(g->ready_ns), PERCENTILE(&g->hist, 50),
			PERCENTILE(&g->hist, 99), PERCENTILE(&g->hist, 100));
	}
	more(out, groups->count);
}

static void print_waits(const struct groups *groups, const char *title, const char *column,
			FILE *out)
{
	if (!groups->count)
		return;
	fprintf(out, "\n%s\n  %-*s %9s %9s %9s %9s %9s\n", title, NAME_WIDTH, column, "count",
		"total", "p50", "p99", "max");
	for (size_t i = 0; i < groups->count && i < ROWS_MAX; i++) {
		const struct group *g = groups->list[i];

		fprintf(out, "  %-*s %9" PRIu64 " %9s %9s %9s %9s\n", NAME_WIDTH, NAME(g->name),
			g->count, HUMAN(g->total_ns), PERCENTILE(&g->hist, 50),
			PERCENTILE(&g->hist, 99), PERCENTILE(&g->hist, 100));
	}
	more(out, groups->count);
}

static void print_preemptions(const struct report *report, FILE *out)
{
	const struct groups *groups = &report->preemptions;

	if (!groups->count)
		return;
	fprintf(out, "\nWorkers preempted\n  %-24s %-*s %9s %9s %9s %9s\n", "by", NAME_WIDTH,
		"while it ran", "count", "total", "p99", "max");
	for (size_t i = 0; i < groups->count && i < ROWS_MAX; i++) {
		const struct group *g = groups->list[i];

		fprintf(out, "  %-24.24s %-*s %9" PRIu64 " %9s %9s %9s\n", NAME(g->name),
			NAME_WIDTH, g->function ? g->function : "no task", g->count,
			HUMAN(g->total_ns), PERCENTILE(&g->hist, 99), PERCENTILE(&g->hist, 100));
	}
	more(out, groups->count);
}

static void print_steals(const struct report *report, FILE *out)
{
	struct steal_pair **pairs = order__pairs(report);

	if (report->steals || report->steals_failed)
		fprintf(out, "\nSteals       %" PRIu64 ", %" PRIu64 " attempts failed\n",
			report->steals, report->steals_failed);
	for (size_t i = 0; pairs && pairs[i] && i < ROWS_MAX; i++) {
		fprintf(out, "  worker %u from %u: %" PRIu64, pairs[i]->thief, pairs[i]->victim,
			pairs[i]->count);
		if (pairs[i]->depth_count)
			fprintf(out, ", %.1f left there on average",
				(double)pairs[i]->depth_sum / (double)pairs[i]->depth_count);
		fputc('\n', out);
	}
	more(out, report->pairs.count);
	free(pairs);
}

static void print_futures(const struct report *report, FILE *out)
{
	const struct model *model = report->model;
	uint64_t created = model__events(model, EV_future_created);
	uint64_t set = model__events(model, EV_future_set);
	uint64_t exceptions = model__events(model, EV_future_exception);
	uint64_t continuations = report->continuations_inline + report->continuations_scheduled;

	if (!created && !set && !exceptions && !continuations)
		return;
	fprintf(out,
		"\nFutures      %" PRIu64 " created, %" PRIu64 " set, %" PRIu64
		" exceptions; continuations: %" PRIu64 " inline, %" PRIu64
		" scheduled, at most %" PRId64 " at once\n",
		created, set, exceptions, report->continuations_inline,
		report->continuations_scheduled, report->max_active_continuations);
}

/* the end of a path is what tells */
static void print_place(const char *file, FILE *out)
{
	char text[NAME_WIDTH + 4];
	size_t length = file ? strlen(file) : 0;

	if (length < NAME_WIDTH) {
		fputs(clean(file, text), out);
		return;
	}
	file += length - (NAME_WIDTH - 4);
	/* not in the middle of a UTF-8 character */
	while (((unsigned char)*file & 0xc0) == 0x80)
		file++;
	fprintf(out, "...%s", clean(file, text));
}

static void print_zones(const struct report *report, FILE *out)
{
	const struct groups *groups = &report->zones;

	if (!groups->count)
		return;
	fprintf(out, "\nZones\n  %-*s %9s %9s %9s %9s %9s %9s %9s %9s %5s  %s\n", NAME_WIDTH,
		"name", "count", "total", "self", "min", "mean", "p50", "p99", "max", "depth",
		"where");
	for (size_t i = 0; i < groups->count && i < ROWS_MAX; i++) {
		const struct group *g = groups->list[i];

		fprintf(out, "  %-*s %9" PRIu64 " %9s %9s %9s %9s %9s %9s %9s %5" PRIu32 "  ",
			NAME_WIDTH, NAME(g->name ? g->name : g->function), g->count,
			HUMAN(g->total_ns), HUMAN(g->self_ns), PERCENTILE(&g->hist, 0),
			g->hist.count ? HUMAN(hist__mean(&g->hist)) : "-", PERCENTILE(&g->hist, 50),
			PERCENTILE(&g->hist, 99), PERCENTILE(&g->hist, 100), g->max_depth);
		print_place(g->file, out);
		if (g->line >= 0)
			fprintf(out, ":%" PRId64, g->line);
		fputc('\n', out);
	}
	more(out, groups->count);
}

/* who waited longest, and for whom */
static void print_contention(const struct lock_figures *lock, FILE *out)
{
	if (!lock->longest.waiter.name)
		return;
	fprintf(out, "  %-*s longest wait %s, by %s", NAME_WIDTH, NAME(lock->name),
		HUMAN(lock->longest.wait_ns), NAME(lock->longest.waiter.name));
	if (lock->longest.waiter.task)
		fprintf(out, " %#" PRIx64, lock->longest.waiter.task);
	if (lock->longest.holder.name)
		fprintf(out, ", held by %s", NAME(lock->longest.holder.name));
	if (lock->longest.holder.name && lock->longest.holder.task)
		fprintf(out, " %#" PRIx64, lock->longest.holder.task);
	fputc('\n', out);
}

static void print_locks(const struct report *report, FILE *out)
{
	struct lock_figures **locks = order__locks(report);

	if (locks && locks[0])
		fprintf(out, "\nLocks\n  %-*s %18s %9s %9s %9s %9s %9s\n", NAME_WIDTH, "name",
			"object", "acquired", "contended", "wait", "wait p99", "held");
	for (size_t i = 0; locks && locks[i] && i < ROWS_MAX; i++)
		fprintf(out, "  %-*s %#18" PRIx64 " %9" PRIu64 " %9" PRIu64 " %9s %9s %9s\n",
			NAME_WIDTH, NAME(locks[i]->name), locks[i]->object, locks[i]->acquisitions,
			locks[i]->contended, HUMAN(locks[i]->wait_ns),
			PERCENTILE(&locks[i]->wait, 99), HUMAN(locks[i]->held_ns));
	for (size_t i = 0; locks && locks[i] && i < ROWS_MAX; i++)
		print_contention(locks[i], out);
	more(out, report->locks.count);
	free(locks);
}

static void print_number(FILE *out, struct number number)
{
	if (number.real)
		fprintf(out, " %14.6g", number.d);
	else
		fprintf(out, " %14" PRId64, number.i);
}

static void print_counters(const struct report *report, FILE *out)
{
	struct counter_figures **counters = order__counters(report);

	if (counters && counters[0])
		fprintf(out, "\nCounters\n  %-*s %9s %14s %14s %14s\n", NAME_WIDTH, "name", "count",
			"min", "max", "last");
	for (size_t i = 0; counters && counters[i] && i < ROWS_MAX; i++) {
		fprintf(out, "  %-*s %9" PRIu64, NAME_WIDTH, NAME(counters[i]->name),
			counters[i]->count);
		print_number(out, counters[i]->min);
		print_number(out, counters[i]->max);
		print_number(out, counters[i]->last);
		fputc('\n', out);
	}
	more(out, report->counters.count);
	free(counters);
}

/* where tasks were suspended longest; innermost function first */
static void print_stacks(const struct report *report, FILE *out)
{
	if (report->top_stack_count)
		fprintf(out, "\nSuspended in\n");
	for (size_t i = 0; i < report->top_stack_count && i < ROWS_MAX; i++) {
		const struct stack_figures *stack = report->top_stacks[i];

		fprintf(out, "  %9s %9" PRIu64 " times  %s\n   ", HUMAN(stack->total_ns),
			stack->count, NAME(stack->reason));
		for (uint32_t k = 0; k < stack->frame_count; k++)
			fprintf(out, "%s %s", k ? " <" : "", NAME(stack->frames[k]));
		fputc('\n', out);
	}
}

static void print_unfinished(const struct report *report, FILE *out)
{
	if (!report->unfinished_count)
		return;
	fprintf(out,
		"\nUnfinished   %" PRIu64
		" tasks, the oldest first\n  %18s %-*s %-10s %9s %9s  %s\n",
		report->unfinished_count, "task", NAME_WIDTH, "name", "state", "for", "age",
		"waits for");
	for (size_t i = 0; i < report->unfinished_kept && i < ROWS_MAX; i++) {
		const struct unfinished *task = &report->unfinished[i];

		fprintf(out, "  %#18" PRIx64 " %-*s %-10s %9s %9s", task->identity, NAME_WIDTH,
			NAME(task->name), task_state__name(task->state), HUMAN(task->in_state_ns),
			HUMAN(task->age_ns));
		if (task->reason || task->object)
			fprintf(out, "  %s", NAME(task->reason));
		if (task->object)
			fprintf(out, " %#" PRIx64, task->object);
		if (task->holder)
			fprintf(out, ", held by %s", NAME(task->holder));
		if (task->holder_task)
			fprintf(out, " %#" PRIx64, task->holder_task);
		fputc('\n', out);
	}
	more(out, report->unfinished_count);
}

static void print_messages(const struct report *report, FILE *out)
{
	uint64_t sent = model__events(report->model, EV_sent);
	uint64_t received = model__events(report->model, EV_received);

	if (sent || received)
		fprintf(out,
			"\nMessages     %" PRIu64 " sent, %" PRIu64 " received, %" PRIu64
			" seen at both ends\n",
			sent, received, report->messages_matched);
}

static void print_asio(const struct report *report, FILE *out)
{
	struct asio_figures figures = asio__figures(report->model);

	if (figures.any)
		fprintf(out,
			"\nAsio         %" PRIu64 " handlers created, %" PRIu64 " invoked, %" PRIu64
			" destroyed without; %" PRIu64 " left by an exception; %" PRIu64
			" system calls\n",
			figures.created, figures.invoked, figures.destroyed,
			model__events(report->model, EV_asio_thrown),
			model__events(report->model, EV_asio_syscall));
}

/* more CPUs than the parallelism do not help: who shortens the path does */
static void print_critical_path(const struct report *report, FILE *out)
{
	const struct report_path *path = &report->path;
	uint64_t length = path->last ? path->end - path->start : 0;

	if (!length)
		return;
	fprintf(out,
		"\nCritical path: %s, %s of it waits; work of all tasks %s, parallelism %.2f\n",
		HUMAN(length), HUMAN(path->wait_ns), HUMAN(path->work_ns),
		(double)path->work_ns / (double)length);
}

int report__text(const struct report *report, FILE *out)
{
	groups__sort(&report->names);
	groups__sort(&report->suspensions);
	groups__sort(&report->preemptions);
	groups__sort(&report->wakes);
	groups__sort(&report->zones);
	say_losses(&report->totals, out);
	say_anomalies(report, out);
	print_capture(report, out);
	for (size_t i = 0; i < report->process_count; i++)
		print_workers(report, &report->processes[i], out);
	print_tasks(report, out);
	print_waits(&report->suspensions, "Suspensions", "reason", out);
	print_waits(&report->wakes, "Wakes: from being made ready to running", "cause", out);
	print_preemptions(report, out);
	print_critical_path(report, out);
	print_steals(report, out);
	print_futures(report, out);
	print_zones(report, out);
	print_locks(report, out);
	print_counters(report, out);
	print_messages(report, out);
	print_asio(report, out);
	print_stacks(report, out);
	print_unfinished(report, out);
	return fflush(out) || ferror(out) ? (errno ? -errno : -EIO) : 0;
}
