// SPDX-License-Identifier: BSD-2-Clause
/*
 * Processes of a capture, the binaries mapped in them, and who forked whom.
 *
 * The file's order is not that of time: a chunk may stand before the FORK of its process, a MAP
 * behind the EXEC that ends it. So nothing is applied when it is read; facts are kept with their
 * times, and questions are asked with one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "process.h"

/* What /proc says of a start is coarser, and who reads it later, than what the kernel says. */
#define START_SLACK_NS 1000000000ULL
#define FORK_SLACK_NS 50000000ULL
/* Generations of fork without exec that are followed to find a map. */
#define ANCESTORS_MAX 1000
#define PAGE_BYTES 4096 /* the smallest there are */

void processes__init(struct processes *processes, struct strings *strings)
{
	*processes = (struct processes){.strings = strings, .host = strings__add(strings, "", 0)};
	table__init(&processes->by_pid, strings__seed(strings));
}

void processes__free(struct processes *processes)
{
	struct process *process;
	uint32_t i;
	size_t d;

	for (i = 0; i < processes->count; i++) {
		process = processes->all[i];
		table__free(&process->names);
		free(process->execs);
		free(process->maps);
		free(process);
	}
	for (d = 0; d < processes->dso_count; d++)
		dso__free(processes->dsos[d]);
	free(processes->all);
	free(processes->dsos);
	table__free(&processes->by_pid);
}

/* room for one more element; 0 or -ENOMEM */
static int more(void *array, size_t count, size_t size)
{
	void **pointer = array;
	void *bigger;

	if (count & (count - 1)) /* grows at powers of two only */
		return 0;
	bigger = reallocarray(*pointer, count ? count * 2 : 1, size);
	if (!bigger)
		return -ENOMEM;
	*pointer = bigger;
	return 0;
}

static struct process *processes__new(struct processes *processes, uint32_t pid, uint64_t begin)
{
	struct process *process;

	if (processes->count == PROCESSES_MAX ||
	    more(&processes->all, processes->count, sizeof(*processes->all)) < 0)
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->before = table__get(&processes->by_pid, pid);
	process->begin = begin;
	process->shown.index = processes->count;
	process->shown.pid = pid;
	process->shown.name = strings__format(processes->strings, "pid %u", pid);
	process->shown.cmdline = strings__add(processes->strings, "", 0);
	process->shown.host = processes->host;
	table__init(&process->names, strings__seed(processes->strings));
	if (table__set(&processes->by_pid, pid, process) < 0) {
		free(process);
		return NULL;
	}
	processes->all[processes->count++] = process;
	return process;
}

/* newest that began by @time, else the oldest of that pid, else NULL */
static struct process *processes__lookup(const struct processes *processes, uint32_t pid,
					 uint64_t time)
{
	struct process *process = table__get(&processes->by_pid, pid);

	while (process && process->before && process->begin > time)
		process = process->before;
	return process;
}

struct process *processes__at(struct processes *processes, uint32_t pid, uint64_t time)
{
	struct process *process = processes__lookup(processes, pid, time);

	if (!process)
		return processes__new(processes, pid, time);
	if (process->exited_at && time > process->exited_at + START_SLACK_NS &&
	    process == table__get(&processes->by_pid, pid))
		return processes__new(processes, pid, time);
	return process;
}

struct process *processes__fork(struct processes *processes, uint32_t pid, uint32_t parent_pid,
				uint64_t time)
{
	struct process *parent = processes__at(processes, parent_pid, time);
	struct process *child = table__get(&processes->by_pid, pid);

	if (!parent)
		return NULL;
	/* a chunk or a PROCESS block of the child may have come first, and is no other process */
	if (!child || child == parent || child->forked_at || child->begin + FORK_SLACK_NS < time ||
	    (child->exited_at && child->exited_at < time))
		child = processes__new(processes, pid, time);
	if (!child)
		return NULL;
	child->begin = time;
	child->forked_at = time ? time : 1;
	child->parent = parent;
	if (!child->shown.start_time)
		child->shown.start_time = time;
	processes->map_changes++;
	return child;
}

int process__exec(struct processes *processes, struct process *process, uint64_t time)
{
	if (more(&process->execs, process->exec_count, sizeof(*process->execs)) < 0)
		return -ENOMEM;
	process->execs[process->exec_count++] = time;
	processes->map_changes++;
	return 0;
}

void process__rename(struct processes *processes, struct process *process, const char *name,
		     size_t size)
{
	process->shown.name = strings__add(processes->strings, name, size);
}

/* is @start, as a PROCESS block has it, the start of another process than @process? */
static bool process__is_other(const struct process *process, uint64_t start, uint64_t time)
{
	if (process->exited_at && process->exited_at < time)
		return true;
	if (!start)
		return false;
	if (process->shown.start_time && !process->forked_at)
		return process->shown.start_time != start;
	return start > process->begin + START_SLACK_NS;
}

struct process *processes__describe(struct processes *processes, struct json_object *json,
				    uint64_t *time)
{
	uint32_t pid = json__integer(json, "pid", 0);
	uint64_t start = json__integer(json, "start_time", 0);
	struct strings *strings = processes->strings;
	struct process *process;
	const char *text;

	*time = json__integer(json, "time", 0);
	process = processes__lookup(processes, pid, *time);
	if (!process || process__is_other(process, start, *time))
		process = processes__new(processes, pid, start ? start : *time);
	if (!process)
		return NULL;
	if (start) {
		process->shown.start_time = start;
		if (!process->forked_at && start < process->begin)
			process->begin = start;
	}
	text = json__string(json, "name", NULL);
	if (text && *text)
		process->shown.name = strings__add(strings, text, strlen(text));
	text = json__string(json, "cmdline", NULL);
	if (text)
		process->shown.cmdline = strings__add(strings, text, strlen(text));
	text = json__string(json, "host", NULL);
	if (text)
		process->shown.host = strings__add(strings, text, strlen(text));
	return process;
}

/* each file of a capture repeats those that hold */
static bool process__has_map(const struct process *process, struct json_object *json, uint64_t time)
{
	const struct process_map *map;
	size_t i;

	for (i = 0; process && i < process->map_count; i++) {
		map = &process->maps[i];
		if (map->from == time && map->dso_address == json__address(json, "dso") &&
		    map->base == json__address(json, "base"))
			return true;
	}
	return false;
}

int processes__map(struct processes *processes, struct json_object *json)
{
	uint64_t time = json__integer(json, "time", 0);
	struct process *process = processes__at(processes, json__integer(json, "pid", 0), time);

	if (process__has_map(process, json, time))
		return 0;
	if (!process || more(&process->maps, process->map_count, sizeof(*process->maps)) < 0)
		return -ENOMEM;
	process->maps[process->map_count++] = (struct process_map){
		.dso_address = json__address(json, "dso"),
		.base = json__address(json, "base"),
		.from = time,
		.dso_id = json__integer(json, "dso_id", -1),
	};
	processes->map_changes++;
	return 0;
}

int processes__add_dso(struct processes *processes, struct dso *dso)
{
	if (more(&processes->dsos, processes->dso_count, sizeof(*processes->dsos)) < 0) {
		dso__free(dso);
		return -ENOMEM;
	}
	processes->dsos[processes->dso_count++] = dso;
	processes->map_changes++;
	return 0;
}

static struct dso *processes__dso(const struct processes *processes, int64_t id)
{
	size_t i;

	for (i = processes->dso_count; i > 0; i--) {
		if (processes->dsos[i - 1]->id == id)
			return processes->dsos[i - 1];
	}
	return NULL;
}

bool processes__has_dso(const struct processes *processes, int64_t id)
{
	return id >= 0 && processes__dso(processes, id);
}

static bool process__exec_between(const struct process *process, uint64_t a, uint64_t b)
{
	uint64_t from = a < b ? a : b, to = a < b ? b : a;
	size_t i;

	for (i = 0; i < process->exec_count; i++) {
		if (process->execs[i] > from && process->execs[i] <= to)
			return true;
	}
	return false;
}

/*
 * The reader learns of a mapping a little after the target used it, so a map may begin after @time;
 * one that began before is better, and of those the newest (dlclose, then dlopen of another).
 */
static const struct process_map *process__own_map(const struct process *process, uint64_t address,
						  uint64_t time)
{
	const struct process_map *best = NULL, *map;
	size_t i;

	for (i = 0; i < process->map_count; i++) {
		map = &process->maps[i];
		if (map->dso_address != address || process__exec_between(process, time, map->from))
			continue;
		if (!best || (map->from <= time ? best->from > time || map->from >= best->from
						: best->from > time && map->from < best->from))
			best = map;
	}
	return best;
}

/*
 * A process that was gone before the tracer could read its mappings has no MAP. Binaries are mapped
 * at whole pages, so where a struct tracer_dso lies in its page mostly tells whose it is; if two
 * could be meant, neither is.
 */
static struct dso *processes__guess(const struct processes *processes, uint64_t address,
				    uint64_t *base)
{
	struct dso *found = NULL, *dso;
	size_t i;

	for (i = 0; i < processes->dso_count; i++) {
		dso = processes->dsos[i];
		if (!dso->dso_offset || dso->dso_offset > address ||
		    (address - dso->dso_offset) % PAGE_BYTES)
			continue;
		if (found)
			return NULL;
		found = dso;
	}
	if (found)
		*base = address - found->dso_offset;
	return found;
}

/* has the process, as it was at @time, any MAP of its own? */
static bool process__was_read(const struct process *process, uint64_t time)
{
	size_t i;

	for (i = 0; i < process->map_count; i++) {
		if (!process__exec_between(process, time, process->maps[i].from))
			return true;
	}
	return false;
}

struct dso *processes__find_map(const struct processes *processes, const struct process *process,
				uint64_t address, uint64_t time, uint64_t *base)
{
	const struct process_map *map = NULL;
	bool read = process && process__was_read(process, time);
	int ancestors;

	for (ancestors = 0; process && ancestors < ANCESTORS_MAX; ancestors++) {
		map = process__own_map(process, address, time);
		if (map)
			break;
		if (!process->forked_at || process__exec_between(process, process->forked_at, time))
			break;
		time = process->forked_at;
		process = process->parent;
	}
	if (!map)
		return read ? NULL : processes__guess(processes, address, base);
	*base = map->base;
	return processes__dso(processes, map->dso_id);
}
