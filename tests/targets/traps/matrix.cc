// SPDX-License-Identifier: BSD-2-Clause
// Every macro in C++: templates, inline functions, lambdas, constructors, member functions.
#include "matrix.h"

namespace matrix
{
struct object {
	int member;
};
enum class kind : unsigned { one = 1 };

template <class T> inline void templated(T *pointer, const char *text)
{
	TRACER_ZONE("templated");
	EVERY_POINT(pointer, 12, 1U, text, 0.5);
}

inline void inlined(const object *pointer)
{
	TRACER_ZONE_FUNCTION();
	TRACER_TASK_CREATED(pointer, "text", 12LL);
	TRACER_COUNTER("text", 2.5f);
	TRACER_STEAL(1, 2, pointer, 3LL);
}

class runtime
{
      public:
	runtime()
	{
		TRACER_TASK_CREATED(this, nullptr, nullptr);
	}
	~runtime()
	{
		TRACER_TASK_DESTROYED(this);
	}
	void run() const
	{
		const auto call = [this](int n) {
			TRACER_ZONE("lambda");
			TRACER_TASK_BEGIN(this, n);
			TRACER_COUNTER("n", n);
			TRACER_TASK_END(this);
		};
		call(1);
	}
};

void all(const object *pointer, kind which);
void all(const object *pointer, kind which)
{
	runtime one;

	one.run();
	templated(pointer, "text");
	inlined(pointer);
	TRACER_TASK_BEGIN(which, which);
	TRACER_FUTURE_SET(static_cast<unsigned short>(3));
	[] { TRACER_FRAME("frame"); }();
}
} // namespace matrix
