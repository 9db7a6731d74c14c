// SPDX-License-Identifier: BSD-2-Clause
/* The parent hands windows over; then a forked child does, for 1 MiB of records, and has to live. */
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tracer/tracer.h>

static void record(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		TRACER_QUEUE_DEPTH(1, i);
}

int main(void)
{
	int status;
	pid_t child;

	record(20000); /* 480 KB: some windows of 64 KiB */
	child = fork();
	if (!child) {
		record((1 << 20) / 24);
		_exit(7);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	record(20000);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}
