/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A custom tracking header that only counts, in the form that Asio asks for: a program's own header for
 * the test of TRACER_ASIO_CHAIN, and what ours is measured against (tests/bench/asio.py). COUNT_QUIETLY: it
 * does not print what it counted. COUNT_STAMPS: it keeps the time of a handler's three last moments instead,
 * the least that anything can do that is to tell when they were.
 */
#ifndef COUNT_TRACKING_HPP
#define COUNT_TRACKING_HPP

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace boost
{
namespace asio
{
class execution_context;
}
} // namespace boost

namespace count_tracking
{
#if defined(COUNT_STAMPS)
typedef unsigned long count;
#define COUNT_ADD(name) (counts().name = __builtin_ia32_rdtsc())
#elif defined(COUNT_PLAIN)
typedef unsigned long count; /* of one thread alone */
#define COUNT_ADD(name) ++counts().name
#else
typedef std::atomic<unsigned long> count;
#define COUNT_ADD(name) counts().name.fetch_add(1, std::memory_order_relaxed)
#endif

struct all {
	count created, completed, begun, ended, operations, reactor, places;

#ifndef COUNT_QUIETLY
	~all()
	{
		std::printf("created %lu completed %lu begun %lu ended %lu\n", +created, +completed, +begun, +ended);
	}
#endif
};

inline all &counts()
{
	static all the;

	return the;
}

struct handler {
};

template <class... Args> inline void creation(Args &&...)
{
	COUNT_ADD(created);
}

template <class... Args> inline void operation(Args &&...)
{
	COUNT_ADD(operations);
}

template <class... Args> inline void reactor(Args &&...)
{
	COUNT_ADD(reactor);
}

struct location {
	location(const char *, int, const char *)
	{
		COUNT_ADD(places);
	}
};

struct completion {
	explicit completion(const handler &)
	{
#ifndef COUNT_STAMPS
		COUNT_ADD(completed);
#endif
	}

	template <class... Args> void begin(Args &&...)
	{
		COUNT_ADD(begun);
	}

	void end()
	{
		COUNT_ADD(ended);
	}
};
} // namespace count_tracking

#define BOOST_ASIO_INHERIT_TRACKED_HANDLER : public ::count_tracking::handler
#define BOOST_ASIO_ALSO_INHERIT_TRACKED_HANDLER , public ::count_tracking::handler
#define BOOST_ASIO_HANDLER_TRACKING_INIT (void)0
#define BOOST_ASIO_HANDLER_LOCATION(args) ::count_tracking::location counted_location args
#define BOOST_ASIO_HANDLER_CREATION(args) ::count_tracking::creation args
#define BOOST_ASIO_HANDLER_COMPLETION(args) ::count_tracking::completion counted_completion args
#define BOOST_ASIO_HANDLER_INVOCATION_BEGIN(args) counted_completion.begin args
#define BOOST_ASIO_HANDLER_INVOCATION_END counted_completion.end()
#define BOOST_ASIO_HANDLER_OPERATION(args) ::count_tracking::operation args
#define BOOST_ASIO_HANDLER_REACTOR_REGISTRATION(args) ::count_tracking::reactor args
#define BOOST_ASIO_HANDLER_REACTOR_DEREGISTRATION(args) ::count_tracking::reactor args
#define BOOST_ASIO_HANDLER_REACTOR_READ_EVENT 16
#define BOOST_ASIO_HANDLER_REACTOR_WRITE_EVENT 32
#define BOOST_ASIO_HANDLER_REACTOR_ERROR_EVENT 64
#define BOOST_ASIO_HANDLER_REACTOR_EVENTS(args) ::count_tracking::reactor args
#define BOOST_ASIO_HANDLER_REACTOR_OPERATION(args) ::count_tracking::reactor args

#endif /* COUNT_TRACKING_HPP */
