// SPDX-License-Identifier: BSD-2-Clause
// The header in the global module fragment, points in the module's exported inline functions.
module;
#include <tracer/tracer.h>
export module traced;

export inline void traced_run(void *task)
{
	TRACER_ZONE("run");
	TRACER_TASK_BEGIN(task, 1);
	TRACER_COUNTER("n", 1.5);
	TRACER_TASK_END(task);
}
// clang 14 drops what only an importer's instantiation needs
#ifndef __clang__
export template <class T> void traced_each(T count)
{
	for (T i = 0; i < count; i++)
		TRACER_TASK_READY(i + 1);
}
#endif
