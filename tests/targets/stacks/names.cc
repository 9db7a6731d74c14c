// SPDX-License-Identifier: BSD-2-Clause
// A message from a C++ function that is a member of a template in a namespace.
#include <tracer/tracer.h>

namespace shapes
{
template <class T> struct box {
	__attribute__((noinline)) void speak(T value)
	{
		TRACER_MESSAGE("from a member");
		keep = value;
		__asm__ volatile("" ::: "memory");
	}
	T keep;
};
} // namespace shapes

int main()
{
	shapes::box<int> box;

	box.speak(1);
	return box.keep - 1;
}
