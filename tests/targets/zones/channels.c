// SPDX-License-Identifier: BSD-2-Clause
/* Two processes that use every channel each: more rows than one process can have. Then an arrow
 * from the one to the other, on the channels that come last.
 */
#include <sys/wait.h>
#include <unistd.h>
#include <tracer/tracer.h>

#define CHANNELS 65536U

static void use_all(void)
{
	for (unsigned int i = 0; i < CHANNELS; i++) {
		TRACER_MARKER_SET(i, "marker", i);
		if (i < CHANNELS - 1)
			TRACER_MARKER_RESET(i);
	}
}

int main(void)
{
	pid_t child;

	use_all();
	TRACER_MARKER_FLOW_START(CHANNELS - 1, 7);
	child = fork();
	if (!child) {
		use_all();
		TRACER_MARKER_FLOW_END(CHANNELS - 1, 7);
		_exit(0);
	}
	return child < 0 || waitpid(child, NULL, 0) != child;
}
