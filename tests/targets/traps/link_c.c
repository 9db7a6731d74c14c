// SPDX-License-Identifier: BSD-2-Clause
/* The C half of a library, which shares its gates and rings with the C++ half. */
#include <tracer/tracer.h>

#ifndef LIBRARY
#define LIBRARY "c"
#endif

__attribute__((visibility("default"))) void library_c(void);
void library_c(void)
{
	for (uint64_t i = 0; i < 100; i++)
		TRACER_COUNTER("library " LIBRARY, i);
}
