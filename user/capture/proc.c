// SPDX-License-Identifier: BSD-2-Clause
/* What /proc says of a process. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>
#include "proc.h"

static FILE *proc__open(pid_t pid, const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	return fopen(path, "re");
}

static int mappings__add(struct mappings *mappings, const struct mapping *mapping)
{
	struct mapping *all;
	size_t i;

	for (i = 0; i < mappings->count; i++) {
		if (mappings->all[i].device == mapping->device &&
		    mappings->all[i].inode == mapping->inode &&
		    mappings->all[i].start == mapping->start)
			return 0;
	}
	all = reallocarray(mappings->all, mappings->count + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	mappings->all = all;
	all[mappings->count++] = *mapping;
	return 0;
}

int proc__mappings(pid_t pid, struct mappings *mappings)
{
	FILE *file = proc__open(pid, "maps");
	unsigned int major, minor;
	struct mapping mapping;
	char *line = NULL;
	uint64_t offset;
	size_t room = 0;
	int at, err = 0;

	*mappings = (struct mappings){0};
	if (!file)
		return -errno;
	while (!err && getline(&line, &room, file) > 0) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %" SCNu64 " %n",
			   &mapping.start, &mapping.end, &offset, &major, &minor, &mapping.inode,
			   &at) < 6)
			continue;
		if (offset || !mapping.inode || line[at] != '/')
			continue;
		mapping.device = makedev(major, minor);
		line[strcspn(line, "\n")] = '\0';
		snprintf(mapping.path, sizeof(mapping.path), "%s", line + at);
		err = mappings__add(mappings, &mapping);
	}
	free(line);
	fclose(file);
	if (err)
		proc__free_mappings(mappings);
	return err;
}

void proc__free_mappings(struct mappings *mappings)
{
	free(mappings->all);
	*mappings = (struct mappings){0};
}

void proc__map_file(pid_t pid, const struct mapping *mapping, char *path, size_t size)
{
	snprintf(path, size, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->start,
		 mapping->end);
}

int proc__find_file(pid_t pid, uint64_t device, uint64_t inode, char *path, size_t size)
{
	struct mappings mappings;
	int err = proc__mappings(pid, &mappings);
	size_t i;

	if (err)
		return err;
	err = -ENOENT;
	for (i = 0; i < mappings.count && err; i++) {
		if (mappings.all[i].device != device || mappings.all[i].inode != inode)
			continue;
		proc__map_file(pid, &mappings.all[i], path, size);
		err = 0;
	}
	proc__free_mappings(&mappings);
	return err;
}

/*
 * Where file systems are stacked (overlay) a file's own numbers are not those of its mappings: so
 * it is mapped, and /proc asked.
 */
static void mapping__ask(int fd, struct mapping *mapping)
{
	void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	unsigned int major, minor;
	uint64_t start, inode;
	char line[512];
	FILE *file;

	if (page == MAP_FAILED)
		return;
	file = fopen("/proc/self/maps", "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 "-%*x %*s %*x %x:%x %" SCNu64, &start, &major, &minor,
			   &inode) != 4 ||
		    start != (uintptr_t)page || !inode)
			continue;
		mapping->device = makedev(major, minor);
		mapping->inode = inode;
		break;
	}
	if (file)
		fclose(file);
	munmap(page, 1);
}

int proc__file_identity(const char *path, struct mapping *mapping)
{
	struct stat status;
	int fd;

	if (stat(path, &status))
		return -errno;
	*mapping = (struct mapping){.device = status.st_dev, .inode = status.st_ino};
	snprintf(mapping->path, sizeof(mapping->path), "%s", path);
	if (!S_ISREG(status.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0) {
		mapping__ask(fd, mapping);
		close(fd);
	}
	return 0;
}

static void proc__read_cmdline(pid_t pid, char *to, size_t size)
{
	FILE *file = proc__open(pid, "cmdline");
	size_t length, i;

	to[0] = '\0';
	if (!file)
		return;
	length = fread(to, 1, size - 1, file);
	fclose(file);
	while (length && !to[length - 1])
		length--;
	to[length] = '\0';
	for (i = 0; i < length; i++) {
		if (!to[i])
			to[i] = ' ';
	}
}

int proc__read(pid_t pid, struct proc_info *info)
{
	FILE *file = proc__open(pid, "stat");
	unsigned long long start = 0;
	char line[1024] = "", *open, *close;
	size_t length;

	*info = (struct proc_info){0};
	if (!file)
		return -errno;
	length = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[length] = '\0';
	/* the name is in parentheses, and may have some of its own */
	open = strchr(line, '(');
	close = strrchr(line, ')');
	if (!open || !close || close < open)
		return -ESRCH;
	snprintf(info->name, sizeof(info->name), "%.*s", (int)(close - open - 1), open + 1);
	/* proc(5): after the name the state, the parent (field 4), ..., start time (field 22) */
	sscanf(close + 1,
	       " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
	       &info->parent, &start);
	info->start_time = start * (1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK));
	proc__read_cmdline(pid, info->cmdline, sizeof(info->cmdline));
	return 0;
}

static long proc__status(pid_t pid, pid_t tid, const char *key, bool last)
{
	char path[64], line[256], *value, *end;
	long number = -ENOENT, next;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return -ENOENT;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		for (value = line + strlen(key);; value = end) {
			next = strtol(value, &end, 10);
			if (end == value)
				break;
			number = next;
			if (!last)
				break;
		}
		break;
	}
	fclose(file);
	return number;
}

pid_t proc__thread_group(pid_t tid)
{
	return (pid_t)proc__status(tid, tid, "Tgid:", false);
}

pid_t proc__namespace_tid(pid_t pid, pid_t tid)
{
	long number = proc__status(pid, tid, "NSpid:", true);

	return number < 0 ? tid : (pid_t)number;
}

pid_t *proc__threads(pid_t pid)
{
	pid_t *threads = NULL, *more;
	struct dirent *entry;
	size_t count = 0;
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	folder = opendir(path);
	if (!folder)
		return NULL;
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		more = reallocarray(threads, count + 2, sizeof(*threads));
		if (!more)
			break;
		threads = more;
		threads[count++] = atoi(entry->d_name);
		threads[count] = 0;
	}
	closedir(folder);
	return threads;
}

ssize_t proc__read_memory(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};
	ssize_t done = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return done < 0 ? -errno : done;
}
