/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments that have effects: evaluated when a point is open, never when it is closed or removed. */
#include <stdint.h>
#include <stdio.h>
#include <tracer/tracer.h>

static int evaluated;

static int effect(void)
{
	return ++evaluated;
}

int main(void)
{
	/* used in points alone, which is a use also where they are removed */
	int only_here = 3;
	const char *text = "text";

	TRACER_TASK_BEGIN(effect(), only_here);
	TRACER_COUNTER(text, effect());
	TRACER_FUTURE_SET(effect());
	TRACER_TASK_END(effect());
	printf("%d\n", evaluated);
	return 0;
}
