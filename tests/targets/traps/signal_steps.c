// SPDX-License-Identifier: BSD-2-Clause
/*
 * A signal between any two instructions of a point. The parent single-steps the child into a point, one
 * instruction further each time, and sends it a signal there, whose handler has a point as well. Prints how
 * often. With an argument every interrupted point is the last that its window has room for.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tracer/tracer.h>

#define STEPS 90	/* more than an open point has instructions on its fast way */
#define POINT_SIZE 24	/* of the record of a counter */

static volatile int64_t handled;

static void handler(int signal)
{
	(void)signal;
	TRACER_COUNTER("handler", handled);
	handled++;
}

/* leaves room for one counter in the window, and not for two */
static void fill_window(void)
{
	const struct tracer_ring *ring = tracer__ring();

	while (ring && ring->window_end - (uint32_t)ring->head != POINT_SIZE + 8)
		TRACER_ZONE_END();
}

static void child(int at_edge)
{
	struct sigaction action = {.sa_handler = handler};
	int64_t i;

	sigaction(SIGUSR1, &action, NULL);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	TRACER_COUNTER("main", (int64_t)-1); /* the ring is there, the slow way is another test's */
	for (i = 0; i < STEPS; i++) {
		if (at_edge)
			fill_window();
		__asm__ __volatile__("int3" ::: "memory");
		TRACER_COUNTER("main", i);
		/* the steps never reach the next int3 */
		__asm__ __volatile__(".rept 100\n\tnop\n\t.endr" ::: "memory");
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	pid_t pid = fork();
	int status, step, i;

	(void)argv;
	if (!pid)
		child(argc > 1);
	for (i = 0; i < STEPS; i++) {
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			return 1;
		for (step = 0; step < i % STEPS; step++) {
			ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
			if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
				return 1;
		}
		ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)SIGUSR1);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 1;
	printf("%d\n", STEPS);
	return 0;
}
