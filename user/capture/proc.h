/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc says of a process. */
#ifndef TRACER_CAPTURE_PROC_H
#define TRACER_CAPTURE_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* a file mapped in a process, once: where its first byte is */
struct mapping {
	uint64_t start, end; /* of the mapping that has the file's first byte */
	uint64_t device, inode;
	char path[512];
};

struct mappings {
	struct mapping *all;
	size_t count;
};

struct proc_info {
	uint64_t start_time; /* ns, CLOCK_BOOTTIME */
	pid_t parent;
	char name[64];
	char cmdline[1024]; /* arguments separated by spaces */
};

/* files of which the first byte is mapped executable or not; 0 or -errno (-ENOENT: no such process)
 */
int proc__mappings(pid_t pid, struct mappings *mappings);
void proc__free_mappings(struct mappings *mappings);

/* "/proc/PID/map_files/...": leads to the mapped file even if it was deleted or is elsewhere
 * mounted */
void proc__map_file(pid_t pid, const struct mapping *mapping, char *path, size_t size);
/* the same for a file known by device and inode; 0 or -ENOENT if the process does not map it */
int proc__find_file(pid_t pid, uint64_t device, uint64_t inode, char *path, size_t size);
/* device and inode as /proc/PID/maps would give them */
int proc__file_identity(const char *path, struct mapping *mapping);

int proc__read(pid_t pid, struct proc_info *info);
/* thread group of a thread; -ENOENT: no such thread */
pid_t proc__thread_group(pid_t tid);
/* number of @tid in its innermost PID namespace, or @tid */
pid_t proc__namespace_tid(pid_t pid, pid_t tid);
/* numbers of its threads and a 0, to be freed; NULL if there is no such process */
pid_t *proc__threads(pid_t pid);
/* bytes read, or a negative errno */
ssize_t proc__read_memory(pid_t pid, uint64_t address, void *to, size_t size);

#endif /* TRACER_CAPTURE_PROC_H */
