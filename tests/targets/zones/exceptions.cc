// SPDX-License-Identifier: BSD-2-Clause
/* Zones that exceptions leave, in C++: 50 times through three of them, to one that catches. */
#include <stdexcept>
#include <tracer/tracer.h>

static int thrown;

static void inner()
{
	TRACER_ZONE_FUNCTION();

	throw std::runtime_error("on purpose");
}

template <class T> static void middle(T value)
{
	TRACER_ZONE("middle");

	if (value)
		inner();
}

int main()
{
	TRACER_ZONE("all");

	for (int i = 0; i < 50; i++) {
		TRACER_ZONE("catcher");

		try {
			TRACER_ZONE("tried");
			middle(1L);
		} catch (const std::runtime_error &) {
			TRACER_ZONE("handler");
			thrown++;
		}
	}
	return thrown != 50;
}
