// SPDX-License-Identifier: BSD-2-Clause
/* Executable mappings of the targets, and what of their files goes into the capture. */
#include "code.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../base/say.h"
#include "file.h"
#include "stacks.h"

#define RANGES_MAX 65536U
/* of a BINARY block's bytes; a binary with larger symbols is read where it lies, if it is still
 * there */
#define BINARY_MAX (15U << 20)

/* --- files --- */

static void code_file__open(struct code_file *file, pid_t pid, const struct code_range *range)
{
	struct elf_parts parts;
	struct stat status;
	char path[128];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, range->start,
		 range->end);
	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (file->fd < 0 || fstat(file->fd, &status))
		return;
	file->size = (uint64_t)status.st_size;
	file->changed =
		(uint64_t)status.st_mtim.tv_sec * 1000000000ULL + (uint64_t)status.st_mtim.tv_nsec;
	if (elf_parts__find(&parts, file->fd, BINARY_MAX))
		return;
	memcpy(file->build_id, parts.build_id, sizeof(file->build_id));
	elf_parts__free(&parts);
}

static struct code_file *code__file(struct code *code, pid_t pid, const struct code_range *range,
				    uint64_t device, uint64_t inode, const char *path)
{
	static const char deleted[] = " (deleted)";
	struct code_file *file;
	size_t length;

	for (file = code->files; file; file = file->next) {
		if (file->device == device && file->inode == inode)
			return file;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->path = strdup(path);
	if (!file->path) {
		free(file);
		return NULL;
	}
	length = strlen(path);
	if (length > sizeof(deleted) && !strcmp(path + length - (sizeof(deleted) - 1), deleted))
		file->path[length - (sizeof(deleted) - 1)] = '\0';
	file->id = ++code->file_ids;
	file->device = device;
	file->inode = inode;
	code_file__open(file, pid, range);
	file->next = code->files;
	code->files = file;
	return file;
}

static void code_file__tell(const struct code_file *file, struct file_writer *writer)
{
	struct json_object *json, *ranges, *range;
	struct elf_parts parts;
	unsigned char *bytes;
	uint64_t at = 0;

	if (file->fd < 0 || elf_parts__find(&parts, file->fd, BINARY_MAX))
		return;
	bytes = malloc(parts.size ? parts.size : 1);
	json = bytes ? json_object_new_object() : NULL;
	ranges = json ? json_object_new_array() : NULL;
	if (!ranges)
		goto out;
	for (size_t i = 0; i < parts.count; i++) {
		ssize_t n = pread(file->fd, bytes + at, parts.parts[i].size,
				  (off_t)parts.parts[i].offset);

		if (n != (ssize_t)parts.parts[i].size)
			continue; /* the file was cut */
		range = json_object_new_array();
		json_object_array_add(range, json_object_new_int64((int64_t)parts.parts[i].offset));
		json_object_array_add(range, json_object_new_int64((int64_t)parts.parts[i].size));
		json_object_array_add(ranges, range);
		at += (uint64_t)n;
	}
	json_object_object_add(json, "id", json_object_new_int64(file->id));
	json_object_object_add(json, "size", json_object_new_int64((int64_t)file->size));
	json_object_object_add(json, "ranges", ranges);
	file_writer__binary(writer, json, bytes, at);
	json = NULL;
out:
	json_object_put(json);
	free(bytes);
	elf_parts__free(&parts);
}

void code__tell_files(struct code *code, struct file_writer *writer)
{
	for (struct code_file *file = code->files; file; file = file->next) {
		if (file->used && !file->told)
			code_file__tell(file, writer);
		file->told = file->used;
	}
}

/* --- sets --- */

static bool code_set__add(struct code_set *set, const struct code_range *range)
{
	struct code_range *ranges;

	if (set->count == RANGES_MAX)
		return false;
	ranges = reallocarray(set->ranges, set->count + 1, sizeof(*ranges));
	if (!ranges)
		return false;
	ranges[set->count++] = *range;
	set->ranges = ranges;
	for (uint64_t part = range->start >> 21; part <= (range->end - 1) >> 21; part++)
		set->maybe[part / 64 % 64] |= 1ULL << part % 64;
	return true;
}

struct code_range *code_set__find(const struct code_set *set, uint64_t address)
{
	size_t low = 0, high = set->count, middle;
	uint64_t part = address >> 21;

	if (!(set->maybe[part / 64 % 64] & 1ULL << part % 64))
		return NULL;
	while (low < high) {
		middle = (low + high) / 2;
		if (address >= set->ranges[middle].end)
			low = middle + 1;
		else if (address < set->ranges[middle].start)
			high = middle;
		else
			return &set->ranges[middle];
	}
	return NULL;
}

static bool code_set__equals(const struct code_set *a, const struct code_set *b)
{
	return a->count == b->count && !memcmp(a->ranges, b->ranges, a->count * sizeof(*a->ranges));
}

static bool code__read_maps(struct code *code, struct code_set *set, pid_t pid)
{
	uint64_t start, end, offset, inode;
	unsigned int major, minor;
	char path[64], perms[8];
	char *line = NULL;
	size_t room = 0;
	int name_at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (getline(&line, &room, file) > 0) {
		struct code_range range = {0};

		name_at = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n",
			   &start, &end, perms, &offset, &major, &minor, &inode, &name_at) < 7 ||
		    perms[2] != 'x' || end <= start)
			continue;
		range.start = start;
		range.end = end;
		range.offset = offset;
		line[strcspn(line, "\n")] = '\0';
		if (inode && name_at)
			range.file = code__file(code, pid, &range, (uint64_t)major << 32 | minor,
						inode, line + name_at);
		if (!code_set__add(set, &range))
			break;
	}
	free(line);
	fclose(file);
	return set->count > 0;
}

void code__scan(struct code *code, pid_t pid)
{
	struct code_set *set = calloc(1, sizeof(*set)), *other;

	if (!set)
		return;
	if (!code__read_maps(code, set, pid))
		goto drop;
	for (other = code->sets; other; other = other->next) {
		if (code_set__equals(set, other)) {
			map__put(&code->by_pid, (uint64_t)pid, 0, other);
			goto drop;
		}
	}
	set->id = ++code->set_ids;
	set->next = code->sets;
	code->sets = set;
	map__put(&code->by_pid, (uint64_t)pid, 0, set);
	return;
drop:
	free(set->ranges);
	free(set);
}

void code__fork(struct code *code, pid_t pid, pid_t parent)
{
	struct code_set *set = map__get(&code->by_pid, (uint64_t)parent, 0);

	if (set)
		map__put(&code->by_pid, (uint64_t)pid, 0, set);
}

struct code_set *code__of(struct code *code, pid_t pid)
{
	if (!map__get(&code->by_pid, (uint64_t)pid, 0))
		code__scan(code, pid);
	return map__get(&code->by_pid, (uint64_t)pid, 0);
}

void code_set__tell(struct code *code, struct code_set *set, struct file_writer *writer)
{
	struct json_object *json, *maps, *files, *item;

	if (set->told)
		return;
	set->told = true;
	json = json_object_new_object();
	maps = json_object_new_array();
	files = json_object_new_array();
	for (size_t i = 0; i < set->count; i++) {
		const struct code_range *range = &set->ranges[i];

		item = json_object_new_array();
		json_object_array_add(item, json_object_new_int64((int64_t)range->start));
		json_object_array_add(item, json_object_new_int64((int64_t)range->end));
		json_object_array_add(item, json_object_new_int64((int64_t)range->offset));
		json_object_array_add(item,
				      json_object_new_int64(range->file ? range->file->id : 0));
		json_object_array_add(maps, item);
	}
	for (const struct code_file *file = code->files; file; file = file->next) {
		item = json_object_new_object();
		json_object_object_add(item, "id", json_object_new_int64(file->id));
		json_object_object_add(item, "path", json_object_new_string(file->path));
		json_object_object_add(item, "build_id", json_object_new_string(file->build_id));
		json_object_object_add(item, "size", json_object_new_int64((int64_t)file->size));
		json_object_object_add(item, "changed",
				       json_object_new_int64((int64_t)file->changed));
		json_object_array_add(files, item);
	}
	json_object_object_add(json, "id", json_object_new_int64(set->id));
	json_object_object_add(json, "maps", maps);
	json_object_object_add(json, "files", files);
	file_writer__json(writer, FILE_CODE, json);
}

void code__free(struct code *code)
{
	struct code_file *file;
	struct code_set *set;

	while ((set = code->sets)) {
		code->sets = set->next;
		free(set->ranges);
		free(set);
	}
	while ((file = code->files)) {
		code->files = file->next;
		if (file->fd >= 0)
			close(file->fd);
		free(file->path);
		free(file);
	}
	map__free(&code->by_pid);
}
