// SPDX-License-Identifier: BSD-2-Clause
/* A point of each kind of argument, once it is told to go on. */
#include <stdint.h>
#include <tracer/tracer.h>
#include "gate.h"

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		wait_for_tracer();
	TRACER_TASK_BEGIN(0x123456789abcULL, 7);
	TRACER_TASK_CREATED(0x77, "created", 0x66);
	TRACER_STEAL(1, 2, 0x55, TRACER_UNKNOWN);
	TRACER_COUNTER("real", 2.75);
	TRACER_COUNTER("whole", -5);
	TRACER_ZONE_BEGIN("zone");
	TRACER_ZONE_END();
	return 0;
}
