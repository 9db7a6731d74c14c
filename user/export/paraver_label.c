// SPDX-License-Identifier: BSD-2-Clause
/* Numbers for names, and the files that say which is which: .pcf for values, .row for objects. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/say.h"
#include "emit.h"
#include "paraver.h"

static uint64_t labels__number(struct paraver *prv, struct labels *labels, const char *name,
			       uint32_t max)
{
	size_t slot = (uintptr_t)name >> 3 & 15;
	uintptr_t number;

	if (labels->recent[slot].number && labels->recent[slot].name == name)
		return labels->recent[slot].number;
	if (!name || !*name)
		name = NULL;
	number = (uintptr_t)map__get(&labels->numbers, (uintptr_t)name, 0);
	if (number) {
		labels->recent[(uintptr_t)name >> 3 & 15].name = name;
		labels->recent[(uintptr_t)name >> 3 & 15].number = number;
		return number;
	}
	if (labels->count >= max)
		return max;
	if (labels->count == labels->size) {
		uint32_t size = labels->size ? labels->size * 2 : 64;
		const char **names = realloc(labels->names, size * sizeof(*names));

		if (!names) {
			prv->err = -ENOMEM;
			return max;
		}
		labels->names = names;
		labels->size = size;
	}
	labels->names[labels->count] = labels->count + 1 == max ? "(others)" : name;
	labels->count++;
	if (map__put(&labels->numbers, (uintptr_t)name, 0, (void *)(uintptr_t)labels->count))
		prv->err = -ENOMEM;
	return labels->count;
}

uint64_t label__number(struct paraver *prv, enum prv_group group, const char *name)
{
	return labels__number(prv, &prv->labels[group], name, PRV_LABELS_MAX);
}

uint64_t counter__type(struct paraver *prv, const char *name)
{
	return PRV_COUNTERS + labels__number(prv, &prv->counters, name, PRV_COUNTERS_MAX);
}

void labels__free(struct paraver *prv)
{
	for (int group = 0; group < GROUP_NAMES; group++) {
		map__free(&prv->labels[group].numbers);
		free(prv->labels[group].names);
	}
	map__free(&prv->counters.numbers);
	free(prv->counters.names);
}

/* .pcf */

/* a string on a line of its own, or at its end: never empty, which readers cannot take */
static void put_label(struct emit *out, const char *name, const char *instead)
{
	const char *at = name;

	while (at && (*at == ' ' || (*at > 0 && *at < ' ')))
		at++;
	emit__line(out, at && *at ? name : instead, "");
}

static void put_values(struct emit *out, const struct paraver *prv, enum prv_group group)
{
	static const char *const fixed[GROUPS - GROUP_NAMES][8] = {
		[GROUP_STOP - GROUP_NAMES] = {"", "ended", "yielded", "suspended", "completed",
					      "cut"},
		[GROUP_KERNEL -
			GROUP_NAMES] = {"not known", "running", "runnable", "blocked", "gone"},
		[GROUP_FUTURE - GROUP_NAMES] = {"", "created", "wait", "set", "exception",
						"callback", "continuation attached"},
		[GROUP_LOCK_EVENT - GROUP_NAMES] = {"", "wait", "acquired", "released"},
		[GROUP_FLOW - GROUP_NAMES] = {"", "start", "step", "end"},
	};
	static const char *const instead[GROUP_NAMES] = {
		[GROUP_TASK] = "task",	 [GROUP_REASON] = "not said", [GROUP_CAUSE] = "not said",
		[GROUP_ZONE] = "zone",	 [GROUP_MARKER] = "marker",   [GROUP_TEXT] = "message",
		[GROUP_FRAME] = "frame", [GROUP_LOCK] = "lock",	      [GROUP_WORK] = "work"};

	emit__lit(out, "VALUES\n");
	if (group >= GROUP_NAMES) {
		for (uint32_t i = 0; i < 8 && fixed[group - GROUP_NAMES][i]; i++) {
			if (!*fixed[group - GROUP_NAMES][i])
				continue;
			emit__u64(out, i);
			emit__lit(out, "      ");
			emit__text(out, fixed[group - GROUP_NAMES][i]);
			emit__char(out, '\n');
		}
		return;
	}
	emit__lit(out, "0      End\n");
	for (uint32_t i = 0; i < prv->labels[group].count; i++) {
		emit__room(out, EMIT_STRING_MAX + 64);
		emit__u64(out, i + 1);
		emit__lit(out, "      ");
		put_label(out, prv->labels[group].names[i], instead[group]);
		emit__char(out, '\n');
	}
}

static void put_type(struct emit *out, uint64_t type, const char *label)
{
	emit__room(out, EMIT_STRING_MAX + 64);
	emit__lit(out, "0    ");
	emit__u64(out, type);
	emit__lit(out, "    ");
	put_label(out, label, "counter");
	emit__char(out, '\n');
}

/* types whose values have the same meaning share one section */
static void put_types(struct emit *out, const struct paraver *prv)
{
	static const struct {
		uint32_t number;
		enum prv_group group;
		const char *label;
	} types[] = {
#define X(id, number, group, label) {number, group, label},
		PRV_TYPES(X)
#undef X
	};

	for (enum prv_group group = 0; group < GROUPS; group++) {
		emit__room(out, 4096);
		emit__lit(out, "\nEVENT_TYPE\n");
		for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
			if (types[i].group == group)
				put_type(out, types[i].number, types[i].label);
		if (group != GROUP_NONE)
			put_values(out, prv, group);
	}
	if (!prv->counters.count && !prv->queue_depths)
		return;
	emit__lit(out, "\nEVENT_TYPE\n");
	for (uint32_t i = 0; i < prv->counters.count; i++)
		put_type(out, PRV_COUNTERS + 1 + i, prv->counters.names[i]);
	for (uint32_t i = 0; i < prv->queue_depths; i++) {
		char name[40];

		snprintf(name, sizeof(name), "queue depth %u", i);
		put_type(out, PRV_QUEUE_DEPTHS + i, name);
	}
}

static void put_pcf(struct emit *out, const struct paraver *prv)
{
	emit__lit(out,
		  "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n"
		  "LOOK_BACK           100\nSPEED               1\n"
		  "FLAG_ICONS          ENABLED\nNUM_OF_STATE_COLORS 1000\n"
		  "YMAX_SCALE          37\n\n"
		  "DEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is\n\nSTATES\n");
#define X(id, number, label, r, g, b) emit__lit(out, #number "    " label "\n");
	PRV_STATES(X)
#undef X
	emit__lit(out, "\nSTATES_COLOR\n");
#define X(id, number, label, r, g, b) emit__lit(out, #number "    {" #r "," #g "," #b "}\n");
	PRV_STATES(X)
#undef X
	put_types(out, prv);
}

/* .row */

static void put_level(struct emit *out, const char *level, uint64_t size)
{
	emit__room(out, 256);
	emit__lit(out, "LEVEL ");
	emit__text(out, level);
	emit__lit(out, " SIZE ");
	emit__u64(out, size);
	emit__char(out, '\n');
}

static void put_thread(struct emit *out, const struct prv_row *row)
{
	char name[64];

	emit__room(out, EMIT_STRING_MAX + 128);
	if (row->is_channel)
		snprintf(name, sizeof(name), "channel %u", row->channel);
	else if (row->worker != MODEL_NO_WORKER)
		snprintf(name, sizeof(name), "worker %u", row->worker);
	else
		snprintf(name, sizeof(name), "thread %u", row->tid);
	put_label(out, row->name, name);
	emit__char(out, '\n');
}

static void put_row(struct emit *out, struct paraver *prv, uint32_t tasks, uint32_t threads)
{
	struct prv_process *process;

	emit__lit(out, "LEVEL APPL SIZE 1\nrun\n\n");
	put_level(out, "TASK", tasks);
	for (process = prv->processes; process; process = process->next) {
		if (!process->task)
			continue;
		emit__room(out, EMIT_STRING_MAX + 64);
		put_label(out, process->model->name, "process");
		emit__lit(out, " (");
		emit__u64(out, process->pid);
		emit__lit(out, ")\n");
	}
	emit__char(out, '\n');
	put_level(out, "THREAD", threads);
	for (process = prv->processes; process; process = process->next)
		for (uint32_t i = 0; process->task && i < process->row_count; i++)
			put_thread(out, process->sorted[i]);
}

static int file__write(struct paraver *prv, const char *path, const char *extension,
		       void (*put)(struct emit *out, struct paraver *prv), char **which)
{
	struct emit out;
	int err;

	*which = export__beside(path, ".prv", extension);
	err = *which ? emit__open(&out, *which, EXPORT_PLAIN) : -ENOMEM;
	if (err)
		return err;
	put(&out, prv);
	err = emit__close(&out);
	if (!err) {
		free(*which);
		*which = NULL;
	}
	return err;
}

static void pcf__put(struct emit *out, struct paraver *prv)
{
	put_pcf(out, prv);
}

static void row__put(struct emit *out, struct paraver *prv)
{
	uint32_t tasks = 0, threads = 0;

	for (struct prv_process *process = prv->processes; process; process = process->next) {
		tasks += process->task != 0;
		threads += process->task ? process->row_count : 0;
	}
	put_row(out, prv, tasks, threads);
}

int paraver__write_labels(struct paraver *prv, const char *path, char **which)
{
	int err = file__write(prv, path, ".pcf", pcf__put, which);

	return err ? err : file__write(prv, path, ".row", row__put, which);
}
