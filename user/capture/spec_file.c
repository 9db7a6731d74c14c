// SPDX-License-Identifier: BSD-2-Clause
/*
 * Binaries that targets have mapped. A file is known by device and inode, whatever its path is in
 * whatever namespace, and is kept open: its names are needed when the process may be gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../base/say.h"
#include "specs.h"

struct spec_file *specs__file(struct specs *specs, uint64_t device, uint64_t inode,
			      const char *path, const char *shown, pid_t pid)
{
	struct spec_file *file;

	for (file = specs->files; file; file = file->next) {
		if (file->device == device && file->inode == inode)
			return file;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->device = device;
	file->inode = inode;
	file->pid = pid;
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	snprintf(file->path, sizeof(file->path), "%s", shown);
	file->next = specs->files;
	specs->files = file;
	return file;
}

void spec_file__way(const struct spec_file *file, char *path, size_t size)
{
	snprintf(path, size, "/proc/self/fd/%d", file->fd);
}

struct symbols *spec_file__symbols(struct spec_file *file)
{
	char path[64], root[64] = "", *err = NULL;

	if (file->tried_symbols || file->fd < 0)
		return file->symbols;
	file->tried_symbols = true;
	spec_file__way(file, path, sizeof(path));
	if (file->pid)
		snprintf(root, sizeof(root), "/proc/%d/root", file->pid);
	file->symbols = symbols__open(path, root, &err);
	if (err)
		say__debug("%s: %s", file->path, err);
	free(err);
	return file->symbols;
}

struct binary *spec_file__binary(struct spec_file *file)
{
	char path[64];

	if (file->tried_binary || file->fd < 0)
		return file->binary;
	file->tried_binary = true;
	spec_file__way(file, path, sizeof(path));
	file->binary = binary__open(path, NULL);
	return file->binary;
}

/* the digits that stand for % in a pattern such as *python%, which may begin with a * */
static uint64_t version__in(const char *name, const char *pattern)
{
	bool anywhere = *pattern == '*';
	const char *before = pattern + anywhere;
	size_t len = strcspn(before, "%");

	for (; *name; name++) {
		if (!strncmp(name, before, len) && name[len] >= '0' && name[len] <= '9')
			return version__parse(name + len, strspn(name + len, "0123456789."));
		if (!anywhere)
			break;
	}
	return 0;
}

/* the version of what the spec is about: Go's, or what stands in the file's name */
uint64_t spec_file__version(struct spec_file *file, const struct spec *spec)
{
	const char *name = strrchr(file->path, '/');
	struct symbols *symbols;

	if (spec->version == VERSION_GO) {
		symbols = spec_file__symbols(file);
		return symbols ? symbols__go_version(symbols) : 0;
	}
	if (spec->version != VERSION_FILE)
		return 0;
	return version__in(name ? name + 1 : file->path, spec->version_pattern);
}

void specs__map(struct specs *specs, pid_t pid, uint64_t start, struct spec_file *file)
{
	struct spec_map *map;

	for (map = specs->maps; map; map = map->next) {
		if (map->pid == pid && map->start == start) {
			map->file = file;
			return;
		}
	}
	map = calloc(1, sizeof(*map));
	if (!map)
		return;
	*map = (struct spec_map){specs->maps, pid, start, file, false};
	specs->maps = map;
}

void specs__unmap(struct specs *specs, pid_t pid)
{
	struct spec_map **at = &specs->maps, *map;

	while ((map = *at)) {
		if (map->pid != pid) {
			at = &map->next;
			continue;
		}
		*at = map->next;
		free(map);
	}
}

/* not at once: records of its last moments may still be on their way */
void specs__sweep(struct session *session)
{
	struct spec_map **at = &session->specs->maps, *map;
	bool gone;

	while ((map = *at)) {
		gone = !session__find_process(session, map->pid);
		if (gone && map->gone) {
			*at = map->next;
			free(map);
			continue;
		}
		map->gone = gone;
		at = &map->next;
	}
}

static const struct spec_map *specs__find_map(const struct specs *specs, pid_t pid,
					      uint64_t address)
{
	const struct spec_map *map, *found = NULL;

	for (map = specs->maps; map; map = map->next) {
		if (map->pid == pid && map->start <= address &&
		    (!found || map->start > found->start))
			found = map;
	}
	return found;
}

/* a process that was not looked at yet: a record may come before what tells of it */
static void specs__map_process(struct specs *specs, pid_t pid)
{
	struct mappings mappings;
	struct spec_file *file;
	char path[128];
	size_t i;

	if (proc__mappings(pid, &mappings))
		return;
	for (i = 0; i < mappings.count; i++) {
		proc__map_file(pid, &mappings.all[i], path, sizeof(path));
		file = specs__file(specs, mappings.all[i].device, mappings.all[i].inode, path,
				   mappings.all[i].path, pid);
		if (file)
			specs__map(specs, pid, mappings.all[i].start, file);
	}
	proc__free_mappings(&mappings);
}

static char *file__name_at(struct spec_file *file, uint64_t start, uint64_t address)
{
	struct symbols *symbols = spec_file__symbols(file);
	const struct symbol *symbol;

	if (!symbols)
		return NULL;
	address = address - start + symbols__first_load(symbols);
	symbol = symbols__at(symbols, symbols__go_wrapped(symbols, address));
	return symbol ? symbol__shown(symbol->name) : NULL;
}

char *specs__name(struct specs *specs, pid_t pid, uint64_t address)
{
	const struct spec_map *map = specs__find_map(specs, pid, address);
	struct spec_attachment *attachment;
	char *name = NULL;

	if (!map) {
		specs__map_process(specs, pid);
		map = specs__find_map(specs, pid, address);
	}
	if (map)
		return file__name_at(map->file, map->start, address);
	/* it is gone: a program that is not position-independent is where its file says */
	for (attachment = specs->attachments; attachment && !name; attachment = attachment->next) {
		struct symbols *symbols =
			attachment->file ? spec_file__symbols(attachment->file) : NULL;

		if (symbols && symbols__first_load(symbols))
			name = file__name_at(attachment->file, symbols__first_load(symbols),
					     address);
	}
	return name;
}

void specs__free_files(struct specs *specs)
{
	struct spec_file *file;
	struct spec_map *map;

	while ((map = specs->maps)) {
		specs->maps = map->next;
		free(map);
	}
	while ((file = specs->files)) {
		specs->files = file->next;
		symbols__close(file->symbols);
		if (file->binary)
			binary__free(file->binary);
		if (file->fd >= 0)
			close(file->fd);
		free(file);
	}
}
