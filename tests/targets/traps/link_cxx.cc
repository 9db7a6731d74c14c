// SPDX-License-Identifier: BSD-2-Clause
// The C++ half of a library: templates and lambdas, two files' worth of the same header.
#include <tracer/tracer.h>

template <class Call> static void each(Call call)
{
	for (uint64_t i = 0; i < 100; i++)
		call(i);
}

extern "C" __attribute__((visibility("default"))) void library_cxx();
extern "C" void library_cxx()
{
	each([](uint64_t i) { TRACER_COUNTER("library c++", i); });
}
