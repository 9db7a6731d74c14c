// SPDX-License-Identifier: BSD-2-Clause
/*
 * Since Linux 6.18 a uprobe on a 5-byte nop is optimised: the nop becomes a call into a page of the
 * kernel's. The call pushes its return address below the stack pointer, where leaf functions may
 * have data, and a forked child inherits it without that page. Both is tried here on a child that
 * runs such a leaf function: nobody else's process is touched, and the answer does not depend on
 * version numbers.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nop5.h"

#if defined(__x86_64__)

#define HITS 200
#define SAVED 0x1234567890abcdefULL

enum { DAMAGED = 1, CHILD_DIED = 2, IS_CALL = 4 };

/* a leaf function whose data is below the stack pointer when the nop is run */
__asm__(".text\n	.balign 64\n"
	"	.type nop5_leaf, %function\n"
	"nop5_leaf:\n"
	"	movabs $0x1234567890abcdef, %rax\n"
	"	mov %rax, -8(%rsp)\n"
	"nop5_site:\n"
	"	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
	"	mov -8(%rsp), %rax\n"
	"	ret\n"
	"	.size nop5_leaf, . - nop5_leaf\n");

extern uint64_t nop5_leaf(void) __attribute__((visibility("hidden")));
extern const uint8_t nop5_site[] __attribute__((visibility("hidden")));

static int scratch__run(int start)
{
	int i, status = 0, found = 0;
	char byte;
	pid_t child;

	if (read(start, &byte, 1) != 1)
		return 0;
	for (i = 0; i < HITS; i++) {
		if (nop5_leaf() != SAVED)
			found |= DAMAGED;
	}
	if (*(const volatile uint8_t *)nop5_site == 0xe8)
		found |= IS_CALL;
	child = fork();
	if (!child) {
		nop5_leaf();
		_exit(0);
	}
	if (child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status))
		found |= CHILD_DIED;
	return found;
}

static int site__offset(uint64_t *offset)
{
	unsigned long start, end, at, site = (unsigned long)nop5_site;
	FILE *maps = fopen("/proc/self/maps", "re");
	int err = -ENOENT;
	char line[512];

	while (maps && err && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &at) == 3 && site >= start &&
		    site < end) {
			*offset = at + (site - start);
			err = 0;
		}
	}
	if (maps)
		fclose(maps);
	return err;
}

static int probe__open(pid_t pid, uint64_t offset)
{
	struct perf_event_attr attributes = {.size = sizeof(attributes)};
	FILE *type = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int known = type ? fscanf(type, "%u", &attributes.type) : 0, fd;

	if (type)
		fclose(type);
	if (known != 1)
		return -ENOTSUP;
	attributes.config1 = (uintptr_t) "/proc/self/exe";
	attributes.config2 = offset;
	fd = (int)syscall(SYS_perf_event_open, &attributes, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int nop5__try(struct nop5_trial *trial)
{
	const struct rlimit no_core = {0, 0};
	int start[2], status = 0, probe, err;
	uint64_t offset;
	pid_t child;

	memset(trial, 0, sizeof(*trial));
	err = site__offset(&offset);
	if (err || pipe(start))
		return err ? err : -errno;
	child = fork();
	if (!child) {
		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGALRM, SIG_DFL);
		alarm(5);
		close(start[1]);
		_exit(scratch__run(start[0]));
	}
	close(start[0]);
	probe = child > 0 ? probe__open(child, offset) : -errno;
	if (probe >= 0 && write(start[1], "", 1) != 1)
		err = -errno;
	close(start[1]);
	if (child > 0)
		waitpid(child, &status, 0);
	if (probe < 0)
		return probe;
	close(probe);
	if (err || !WIFEXITED(status))
		return err ? err : -EIO;
	trial->tried = true;
	trial->becomes_call = WEXITSTATUS(status) & IS_CALL;
	trial->red_zone_damaged = WEXITSTATUS(status) & DAMAGED;
	trial->fork_dies = WEXITSTATUS(status) & CHILD_DIED;
	return 0;
}

#else

int nop5__try(struct nop5_trial *trial)
{
	memset(trial, 0, sizeof(*trial));
	return -ENOTSUP;
}

#endif
