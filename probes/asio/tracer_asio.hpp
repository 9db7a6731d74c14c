/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Boost.Asio and standalone Asio for tracer: each completion handler is a task. Compile every file of the
 * program that includes Asio with one of (both, if it uses both)
 *
 *	-DBOOST_ASIO_CUSTOM_HANDLER_TRACKING='<tracer_asio.hpp>'
 *	-DASIO_CUSTOM_HANDLER_TRACKING='<tracer_asio.hpp>'
 *
 * and -I to this file and to <tracer/tracer.h>. Nothing to link, nothing to call, no change of sources.
 * Boost 1.74 and newer, Asio 1.18 and newer; C++11 to C++20; gcc, clang; header-only, separately compiled
 * (BOOST_ASIO_SEPARATE_COMPILATION), any number of files and shared libraries. docs/runtimes/asio.md says
 * what is shown.
 *
 * What it costs, beside Asio's own: closed, a gate at each of a handler's three points and 8 bytes in each
 * operation. Recorded, three records a handler. With -DTRACER_DISABLE nothing, and no bytes.
 *
 * Options, the same in all files:
 *	TRACER_ASIO_CHAIN		'"my_tracking.hpp"': a custom tracking header of the program's own, in
 *					the form that Asio asks for, is served as well
 *	TRACER_ASIO_CHAIN_STATEMENTS	its HANDLER_COMPLETION is a statement, not the definition of a variable
 *	TRACER_ASIO_CHAIN_LOCATIONS	its HANDLER_LOCATION is the definition of a variable, not a statement
 *	TRACER_ASIO_NO_RUN		no slices for run(), poll() and so on, see "Runs" below
 */
#ifndef TRACER_ASIO_HPP
#define TRACER_ASIO_HPP

#if !defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING) && !defined(ASIO_CUSTOM_HANDLER_TRACKING)
#error "tracer_asio.hpp: compile with -DBOOST_ASIO_CUSTOM_HANDLER_TRACKING='<tracer_asio.hpp>' (or ASIO_...)"
#endif
#if defined(TRACER_ASIO_CHAIN) && defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING) && \
	defined(ASIO_CUSTOM_HANDLER_TRACKING)
#error "tracer_asio.hpp: TRACER_ASIO_CHAIN serves either Boost.Asio or standalone Asio, not both at once"
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility> /* coroutines of Asio 1.18 use it and count on the tracking header for it */
#include <tracer/tracer.h>

#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING)
#include <boost/asio/detail/call_stack.hpp>
#include <boost/asio/version.hpp>
#include <boost/system/error_code.hpp>
#endif
#if defined(ASIO_CUSTOM_HANDLER_TRACKING)
#include <asio/detail/call_stack.hpp>
#include <asio/error_code.hpp>
#include <asio/version.hpp>
#endif

#if defined(TRACER_ASIO_CHAIN)
#include TRACER_ASIO_CHAIN
#endif

#ifndef TRACER_DISABLE

/* Hidden: each shared library has its own, as it has the literals that its records refer to. */
#define TRACER_ASIO__INLINE inline __attribute__((always_inline, visibility("hidden")))
#define TRACER_ASIO__COLD inline __attribute__((noinline, cold, visibility("hidden")))
#define TRACER_ASIO__HIDDEN __attribute__((visibility("hidden")))

/* `statement`, with tracer__gate, if tasks are recorded or attached to */
#if !defined(TRACER_DISABLE) && !defined(TRACER_DISABLE_TASK)
#define TRACER_ASIO__IF_TASK(statement)                                                               \
	do {                                                                                          \
		const std::uint32_t tracer__gate = TRACER__GATE(tracer__in_task);                     \
		if (__builtin_expect(tracer__gate != 0, 0)) {                                         \
			statement;                                                                    \
		}                                                                                     \
	} while (0)
#else
#define TRACER_ASIO__IF_TASK(statement)                                                               \
	do {                                                                                          \
		const std::uint32_t tracer__gate = 0;                                                 \
		if (false) {                                                                          \
			statement;                                                                    \
		}                                                                                     \
	} while (0)
#endif

#if defined(TRACER_ASIO_CHAIN)
#include "tracer_asio_chain.hpp"
#endif

/* What Asio derives its operations from; not hidden, as these are not. */
namespace tracer_asio_public
{
class tracked_handler
#if defined(TRACER_ASIO_CHAIN)
	: public chained_handler
#endif
{
      public:
	std::uint64_t tracer_id_; /* 0: nobody recorded when it was created */

      protected:
	tracked_handler() : tracer_id_(0)
	{
	}

	~tracked_handler()
	{
	}
};
} // namespace tracer_asio_public

namespace tracer_asio
{
using tracer_asio_public::tracked_handler;

enum text_role { object_type, operation_name, error_category, argument };

/*
 * Identities of handlers. A handler's memory is used again before it is invoked, so addresses will not do.
 * Each thread counts on in a block of its own; which blocks a shared library hands out depends on where
 * it lies, so that no two agree.
 */
template <class T> struct identities {
	static __thread std::uint64_t next __attribute__((tls_model("initial-exec"), visibility("hidden")));
	static std::uint64_t blocks __attribute__((visibility("hidden")));
};
template <class T> __thread std::uint64_t identities<T>::next = 0;
template <class T> std::uint64_t identities<T>::blocks = 0;

enum { block_bits = 28, library_bits = 16 };

TRACER_ASIO__COLD std::uint64_t new_block()
{
	std::uint64_t n = __atomic_add_fetch(&identities<void>::blocks, 1, __ATOMIC_RELAXED);
	std::uint64_t library = reinterpret_cast<std::uintptr_t>(&identities<void>::blocks) * TRACER_HASH_1;

	library = library >> (64 - library_bits) | 1;
	return library << (64 - library_bits) | n << (block_bits + library_bits) >> library_bits;
}

/*
 * Not inlined: a coroutine may have gone on on another thread since the caller's last look at anything
 * that is a thread's own.
 */
inline __attribute__((noinline, visibility("hidden"))) std::uint64_t new_identity()
{
	std::uint64_t id = identities<void>::next;

	if (__builtin_expect((id & ((1ULL << block_bits) - 1)) == 0, 0))
		id = new_block();
	identities<void>::next = id + 1;
	return id + 1;
}

/* what is to stand in the event's own place: tools that are attached directly get the text there */
TRACER_ASIO__COLD const char *tell_text(std::uint32_t gate, std::uint32_t role, const char *text)
{
	if (!(gate & TRACER_GATE_RECORDED))
		return text;
	TRACER__POINT2(tracer__in_task, tracer__asio_text, TRACER__U32, role, TRACER__NAME, text);
	return "";
}

/* a text as records can refer to it: Asio's are literals of this library, a program's need not be */
TRACER_ASIO__INLINE const char *literal(std::uint32_t gate, std::uint32_t role, const char *text)
{
	if (__builtin_expect(tracer__plain_string(reinterpret_cast<std::uintptr_t>(text)) && text, 1))
		return text;
	return tell_text(gate, role, text);
}

#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING)
TRACER_ASIO__INLINE bool is_system(const boost::system::error_code &ec)
{
	return ec.category() == boost::system::system_category();
}

TRACER_ASIO__INLINE bool is_own_system(const boost::system::error_code &)
{
	return false;
}
#endif
#if defined(ASIO_CUSTOM_HANDLER_TRACKING)
/* standalone Asio has two: the library's, of an error_code that nobody set, and Asio's, of its errors */
TRACER_ASIO__INLINE bool is_system(const asio::error_code &ec)
{
	return ec.category() == std::system_category();
}

TRACER_ASIO__INLINE bool is_own_system(const asio::error_code &ec)
{
	return ec.category() == asio::system_category();
}
#endif

/* nearly all errors are of these categories; the names of others are not literals of this library */
template <class Error> TRACER_ASIO__INLINE const char *category(std::uint32_t gate, const Error &ec)
{
	if (__builtin_expect(is_system(ec), 1))
		return "system";
	if (is_own_system(ec))
		return "asio.system";
	return tell_text(gate, error_category, ec.category().name());
}

template <class Error> struct is_error {
	static const bool value = false;
};
#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING)
template <> struct is_error<boost::system::error_code> {
	static const bool value = true;
};
#endif
#if defined(ASIO_CUSTOM_HANDLER_TRACKING)
template <> struct is_error<asio::error_code> {
	static const bool value = true;
};
#endif

/* CREATION */
TRACER_ASIO__INLINE void created(tracked_handler &handler, const char *type, const void *object,
				 std::uintmax_t native, const char *operation)
{
	std::uint64_t id = 0;

	TRACER_ASIO__IF_TASK(
		id = new_identity();
		if (native)
			tracer__asio_native(tracer__gate, id, native);
		type = literal(tracer__gate, object_type, type); operation = literal(tracer__gate, operation_name, operation);
		tracer__asio_created(tracer__gate, id, TRACER__ID(object), type, operation));
	handler.tracer_id_ = id;
}

/* OPERATION */
TRACER_ASIO__INLINE void operated(const char *type, const void *object, std::uintmax_t native,
				  const char *operation)
{
	TRACER_ASIO__IF_TASK(
		type = literal(tracer__gate, object_type, type); operation = literal(tracer__gate, operation_name, operation);
		tracer__asio_operation(tracer__gate, TRACER__ID(object), native, type, operation));
}

/* REACTOR_OPERATION */
template <class Error>
TRACER_ASIO__INLINE void performed(const tracked_handler &handler, const char *operation, const Error &ec,
				   std::uint64_t bytes)
{
	TRACER_ASIO__IF_TASK(
		if (handler.tracer_id_) {
			operation = literal(tracer__gate, operation_name, operation);
			if (!is_system(ec)) /* the event has no place for it */
				tell_text(tracer__gate, error_category, ec.category().name());
			tracer__asio_syscall(tracer__gate, handler.tracer_id_, bytes, operation,
					     static_cast<std::uint32_t>(ec.value()));
		});
}

#if defined(TRACER_ASIO_CHAIN)
#define TRACER_ASIO__CHAINED(call) call
#else
#define TRACER_ASIO__CHAINED(call)
#endif

TRACER_ASIO__INLINE void init()
{
	TRACER_ASIO__CHAINED(chain_init();)
}

/* with the execution context, and, as documented for versions to come, without */
template <class Context>
TRACER_ASIO__INLINE void creation(Context &context, tracked_handler &handler, const char *type, void *object,
				  std::uintmax_t native, const char *operation)
{
	(void)context;
	created(handler, type, object, native, operation);
	TRACER_ASIO__CHAINED(chain_creation(context, handler, type, object, native, operation);)
}

template <class Object>
TRACER_ASIO__INLINE void creation(tracked_handler &handler, const char *type, Object *object,
				  std::uintmax_t native, const char *operation)
{
	created(handler, type, object, native, operation);
	TRACER_ASIO__CHAINED(chain_creation(handler, type, object, native, operation);)
}

template <class Context>
TRACER_ASIO__INLINE void operation(Context &context, const char *type, void *object, std::uintmax_t native,
				   const char *name)
{
	(void)context;
	operated(type, object, native, name);
	TRACER_ASIO__CHAINED(chain_operation(context, type, object, native, name);)
}

template <class Object>
TRACER_ASIO__INLINE void operation(const char *type, Object *object, std::uintmax_t native, const char *name)
{
	operated(type, object, native, name);
	TRACER_ASIO__CHAINED(chain_operation(type, object, native, name);)
}

template <class Context>
TRACER_ASIO__INLINE void reactor_registration(Context &context, std::uintmax_t native,
					      std::uintmax_t registration)
{
	(void)context;
	TRACER__POINT2(tracer__in_task, tracer__asio_registered, TRACER__U64, native, TRACER__ID, registration);
	TRACER_ASIO__CHAINED(chain_registration(context, native, registration);)
}

template <class Context>
TRACER_ASIO__INLINE void reactor_deregistration(Context &context, std::uintmax_t native,
						std::uintmax_t registration)
{
	(void)context;
	TRACER__POINT2(tracer__in_task, tracer__asio_deregistered, TRACER__U64, native, TRACER__ID,
		       registration);
	TRACER_ASIO__CHAINED(chain_deregistration(context, native, registration);)
}

template <class Context>
TRACER_ASIO__INLINE void reactor_events(Context &context, std::uintmax_t registration, unsigned events)
{
	(void)context;
	TRACER__POINT2(tracer__in_task, tracer__asio_ready, TRACER__ID, registration, TRACER__U32, events);
	TRACER_ASIO__CHAINED(chain_events(context, registration, chain_bits(events));)
}

template <class Error>
TRACER_ASIO__INLINE void reactor_operation(const tracked_handler &handler, const char *name, const Error &ec)
{
	performed(handler, name, ec, TRACER_UNKNOWN);
	TRACER_ASIO__CHAINED(chain_performed(handler, name, ec);)
}

template <class Error>
TRACER_ASIO__INLINE void reactor_operation(const tracked_handler &handler, const char *name, const Error &ec,
					   std::size_t bytes)
{
	performed(handler, name, ec, bytes);
	TRACER_ASIO__CHAINED(chain_performed(handler, name, ec, bytes);)
}

#if defined(TRACER_ASIO_CHAIN)
#define TRACER_ASIO__CHAINED_MEMBER(handler) , chained_(handler)
#else
#define TRACER_ASIO__CHAINED_MEMBER(handler)
#endif

/* From the moment a handler is taken out of its operation until it has been invoked, or has not. */
class TRACER_ASIO__HIDDEN completion
{
      public:
	TRACER_ASIO__INLINE explicit completion(const tracked_handler &handler)
		: id_(handler.tracer_id_), state_(taken) TRACER_ASIO__CHAINED_MEMBER(handler)
	{
	}

	TRACER_ASIO__INLINE ~completion()
	{
		if (__builtin_expect(state_ != left, 0))
			unfinished();
	}

	template <class... Args> TRACER_ASIO__INLINE void invocation_begin(const Args &...args)
	{
		TRACER_ASIO__CHAINED(chained_.begin(args...);)
		state_ = inside;
		TRACER_ASIO__IF_TASK(
			if (__builtin_expect(id_ == 0, 0))
				found();
			tell(tracer__gate, args...));
	}

	TRACER_ASIO__INLINE void invocation_end()
	{
		state_ = left;
		TRACER_ASIO__IF_TASK(
			if (__builtin_expect(id_ != 0, 1))
				tracer__asio_left(tracer__gate, id_));
		TRACER_ASIO__CHAINED(chained_.end();)
	}

	completion(const completion &) = delete;
	completion &operator=(const completion &) = delete;

      private:
	enum state { taken, inside, left };

	/* the arguments that the handler is invoked with, as far as they are an error, bytes, a signal */
	template <class... Args> TRACER_ASIO__INLINE void tell(std::uint32_t gate, const Args &...)
	{
		tracer__asio_invoked(gate, id_);
	}

	template <class Error>
	TRACER_ASIO__INLINE typename std::enable_if<is_error<Error>::value>::type tell(std::uint32_t gate,
										       const Error &ec)
	{
		const char *name = category(gate, ec);

		tracer__asio_invoked_error(gate, id_, name, static_cast<std::uint32_t>(ec.value()));
	}

	template <class Error, class Second>
	TRACER_ASIO__INLINE typename std::enable_if<is_error<Error>::value>::type
	tell(std::uint32_t gate, const Error &ec, const Second &)
	{
		tell(gate, ec);
	}

	/* what Asio says of an argument that it cannot show, a socket or a list of endpoints: "..." */
	template <class Error, std::size_t Size>
	TRACER_ASIO__INLINE typename std::enable_if<is_error<Error>::value>::type
	tell(std::uint32_t gate, const Error &ec, const char (&text)[Size])
	{
		tell_text(gate, argument, text);
		tell(gate, ec);
	}

	template <class Error>
	TRACER_ASIO__INLINE typename std::enable_if<is_error<Error>::value>::type
	tell(std::uint32_t gate, const Error &ec, const std::size_t &bytes)
	{
		const char *name = category(gate, ec);

		tracer__asio_invoked_bytes(gate, id_, bytes, name, static_cast<std::uint32_t>(ec.value()));
	}

	template <class Error>
	TRACER_ASIO__INLINE typename std::enable_if<is_error<Error>::value>::type
	tell(std::uint32_t gate, const Error &ec, const int &signal)
	{
		const char *name = category(gate, ec);

		tracer__asio_invoked_signal(gate, id_, static_cast<std::uint32_t>(signal), name,
					    static_cast<std::uint32_t>(ec.value()));
	}

	TRACER_ASIO__COLD void found()
	{
		id_ = new_identity();
		TRACER__POINT1(tracer__in_task, tracer__asio_found, TRACER__ID, id_);
	}

	TRACER_ASIO__COLD void unfinished()
	{
		if (!id_)
			return;
		if (state_ == inside)
			TRACER__POINT1(tracer__in_task, tracer__asio_thrown, TRACER__ID, id_);
		else
			TRACER__POINT1(tracer__in_task, tracer__asio_abandoned, TRACER__ID, id_);
	}

	std::uint64_t id_;
	state state_;
#if defined(TRACER_ASIO_CHAIN)
	chained_completion chained_;
#endif
};

class TRACER_ASIO__HIDDEN location
{
      public:
	/* use_awaitable without a place has no file */
	TRACER_ASIO__INLINE location(const char *file, std::uint32_t line, const char *function)
		: told_(file && __builtin_expect(TRACER_ENABLED(zone) != 0, 0))
#if defined(TRACER_ASIO_CHAIN_LOCATIONS)
		, chained_(file, static_cast<int>(line), function)
#endif
	{
		if (told_)
			TRACER__POINT3(tracer__in_zone, tracer__asio_location_begin, TRACER__NAME, function,
				       TRACER__NAME, file, TRACER__U32, line);
#if defined(TRACER_ASIO_CHAIN) && !defined(TRACER_ASIO_CHAIN_LOCATIONS)
		TRACER_ASIO__CHAIN(HANDLER_LOCATION)((file, static_cast<int>(line), function));
#endif
	}

	TRACER_ASIO__INLINE ~location()
	{
		if (told_)
			TRACER__POINT0(tracer__in_zone, tracer__asio_location_end);
	}

	location(const location &) = delete;
	location &operator=(const location &) = delete;

      private:
	bool told_;
#if defined(TRACER_ASIO_CHAIN_LOCATIONS)
	chained_location chained_;
#endif
};

TRACER_ASIO__INLINE void run_begin(const void *context, const char *function)
{
	TRACER__POINT2(tracer__in_worker, tracer__asio_run_begin, TRACER__ID, context, TRACER__NAME, function);
}

TRACER_ASIO__INLINE void run_end(const void *context)
{
	TRACER__POINT1(tracer__in_worker, tracer__asio_run_end, TRACER__ID, context);
}

/*
 * HANDLER_SCHEDULER_RUN of versions to come: a variable in run(), poll() and so on. What its arguments are,
 * and in which order, is not documented well: the first text is taken as the function's name.
 */
class TRACER_ASIO__HIDDEN scheduler_run
{
      public:
	template <class... Args> TRACER_ASIO__INLINE explicit scheduler_run(const Args &...args)
	{
		run_begin(this, text(args...));
	}

	TRACER_ASIO__INLINE ~scheduler_run()
	{
		run_end(this);
	}

	scheduler_run(const scheduler_run &) = delete;
	scheduler_run &operator=(const scheduler_run &) = delete;

      private:
	static TRACER_ASIO__INLINE const char *text()
	{
		return "run";
	}

	template <class... Rest> static TRACER_ASIO__INLINE const char *text(const char *first, const Rest &...)
	{
		return first;
	}

	template <class First, class... Rest>
	static TRACER_ASIO__INLINE typename std::enable_if<!std::is_convertible<First, const char *>::value,
							   const char *>::type
	text(const First &, const Rest &...rest)
	{
		return text(rest...);
	}
};
} // namespace tracer_asio

/*
 * Runs. No version seen so far says when a thread enters and leaves run(), poll() and so on. But all of
 * them put one object on the thread's stack, a call_stack<thread_context, thread_info_base>::context, by
 * which Asio itself knows that it is inside; this is that class, unchanged from 1.18 to 1.38, with our points
 * added, and the name of the function that makes it. The members that others see come first, so a file
 * that never heard of it gets along with those that did.
 */
#define TRACER_ASIO__CALL_STACK                                                                       \
	class thread_context;                                                                         \
	class thread_info_base;                                                                       \
	template <> class call_stack<thread_context, thread_info_base>::context                       \
	{                                                                                             \
	      public:                                                                                 \
		TRACER_ASIO__INLINE context(thread_context *key, thread_info_base &value,             \
					    const char *function = __builtin_FUNCTION())              \
			: key_(key), value_(&value), next_(call_stack::top_)                          \
		{                                                                                     \
			call_stack::top_ = this;                                                      \
			::tracer_asio::run_begin(this, function);                                     \
		}                                                                                     \
		TRACER_ASIO__INLINE ~context()                                                        \
		{                                                                                     \
			::tracer_asio::run_end(this);                                                 \
			call_stack::top_ = next_;                                                     \
		}                                                                                     \
		context(const context &) = delete;                                                    \
		context &operator=(const context &) = delete;                                         \
		/* what the thread runs further out for the same scheduler */                         \
		thread_info_base *next_by_key() const                                                 \
		{                                                                                     \
			context *outer = next_;                                                       \
			while (outer && outer->key_ != key_)                                          \
				outer = outer->next_;                                                 \
			return outer ? outer->value_ : nullptr;                                       \
		}                                                                                     \
                                                                                                      \
	      private:                                                                                \
		friend class call_stack<thread_context, thread_info_base>;                            \
		thread_context *key_;                                                                 \
		thread_info_base *value_;                                                             \
		context *next_;                                                                       \
	};

#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING) && !defined(TRACER_ASIO_NO_RUN) && \
	BOOST_ASIO_VERSION >= 101800 && BOOST_ASIO_VERSION < 103900
namespace boost
{
namespace asio
{
namespace detail
{
TRACER_ASIO__CALL_STACK
} // namespace detail
} // namespace asio
} // namespace boost
#endif

#if defined(ASIO_CUSTOM_HANDLER_TRACKING) && !defined(TRACER_ASIO_NO_RUN) && ASIO_VERSION >= 101800 && \
	ASIO_VERSION < 103900
namespace asio
{
#if defined(ASIO_INLINE_NAMESPACE_BEGIN)
ASIO_INLINE_NAMESPACE_BEGIN
#endif
namespace detail
{
TRACER_ASIO__CALL_STACK
} // namespace detail
#if defined(ASIO_INLINE_NAMESPACE_END)
ASIO_INLINE_NAMESPACE_END
#endif
} // namespace asio
#endif

/* The macros that Asio asks for: the same for both, under two prefixes. */

#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING)
#if defined(TRACER_ASIO_CHAIN)
#undef BOOST_ASIO_INHERIT_TRACKED_HANDLER
#undef BOOST_ASIO_ALSO_INHERIT_TRACKED_HANDLER
#undef BOOST_ASIO_HANDLER_TRACKING_INIT
#undef BOOST_ASIO_HANDLER_LOCATION
#undef BOOST_ASIO_HANDLER_CREATION
#undef BOOST_ASIO_HANDLER_COMPLETION
#undef BOOST_ASIO_HANDLER_INVOCATION_BEGIN
#undef BOOST_ASIO_HANDLER_INVOCATION_END
#undef BOOST_ASIO_HANDLER_OPERATION
#undef BOOST_ASIO_HANDLER_REACTOR_REGISTRATION
#undef BOOST_ASIO_HANDLER_REACTOR_DEREGISTRATION
#undef BOOST_ASIO_HANDLER_REACTOR_READ_EVENT
#undef BOOST_ASIO_HANDLER_REACTOR_WRITE_EVENT
#undef BOOST_ASIO_HANDLER_REACTOR_ERROR_EVENT
#undef BOOST_ASIO_HANDLER_REACTOR_EVENTS
#undef BOOST_ASIO_HANDLER_REACTOR_OPERATION
#undef BOOST_ASIO_HANDLER_SCHEDULER_RUN
#endif
#define BOOST_ASIO_INHERIT_TRACKED_HANDLER : public ::tracer_asio_public::tracked_handler
#define BOOST_ASIO_ALSO_INHERIT_TRACKED_HANDLER , public ::tracer_asio_public::tracked_handler
#define BOOST_ASIO_HANDLER_TRACKING_INIT ::tracer_asio::init()
#define BOOST_ASIO_HANDLER_LOCATION(args) ::tracer_asio::location tracer_asio_location args
#define BOOST_ASIO_HANDLER_CREATION(args) ::tracer_asio::creation args
#define BOOST_ASIO_HANDLER_COMPLETION(args) ::tracer_asio::completion tracer_asio_completion args
#define BOOST_ASIO_HANDLER_INVOCATION_BEGIN(args) tracer_asio_completion.invocation_begin args
#define BOOST_ASIO_HANDLER_INVOCATION_END tracer_asio_completion.invocation_end()
#define BOOST_ASIO_HANDLER_OPERATION(args) ::tracer_asio::operation args
#define BOOST_ASIO_HANDLER_REACTOR_REGISTRATION(args) ::tracer_asio::reactor_registration args
#define BOOST_ASIO_HANDLER_REACTOR_DEREGISTRATION(args) ::tracer_asio::reactor_deregistration args
#define BOOST_ASIO_HANDLER_REACTOR_READ_EVENT 1
#define BOOST_ASIO_HANDLER_REACTOR_WRITE_EVENT 2
#define BOOST_ASIO_HANDLER_REACTOR_ERROR_EVENT 4
#define BOOST_ASIO_HANDLER_REACTOR_EVENTS(args) ::tracer_asio::reactor_events args
#define BOOST_ASIO_HANDLER_REACTOR_OPERATION(args) ::tracer_asio::reactor_operation args
#define BOOST_ASIO_HANDLER_SCHEDULER_RUN(args) ::tracer_asio::scheduler_run tracer_asio_run args
#endif

#if defined(ASIO_CUSTOM_HANDLER_TRACKING)
#if defined(TRACER_ASIO_CHAIN)
#undef ASIO_INHERIT_TRACKED_HANDLER
#undef ASIO_ALSO_INHERIT_TRACKED_HANDLER
#undef ASIO_HANDLER_TRACKING_INIT
#undef ASIO_HANDLER_LOCATION
#undef ASIO_HANDLER_CREATION
#undef ASIO_HANDLER_COMPLETION
#undef ASIO_HANDLER_INVOCATION_BEGIN
#undef ASIO_HANDLER_INVOCATION_END
#undef ASIO_HANDLER_OPERATION
#undef ASIO_HANDLER_REACTOR_REGISTRATION
#undef ASIO_HANDLER_REACTOR_DEREGISTRATION
#undef ASIO_HANDLER_REACTOR_READ_EVENT
#undef ASIO_HANDLER_REACTOR_WRITE_EVENT
#undef ASIO_HANDLER_REACTOR_ERROR_EVENT
#undef ASIO_HANDLER_REACTOR_EVENTS
#undef ASIO_HANDLER_REACTOR_OPERATION
#undef ASIO_HANDLER_SCHEDULER_RUN
#endif
#define ASIO_INHERIT_TRACKED_HANDLER : public ::tracer_asio_public::tracked_handler
#define ASIO_ALSO_INHERIT_TRACKED_HANDLER , public ::tracer_asio_public::tracked_handler
#define ASIO_HANDLER_TRACKING_INIT ::tracer_asio::init()
#define ASIO_HANDLER_LOCATION(args) ::tracer_asio::location tracer_asio_location args
#define ASIO_HANDLER_CREATION(args) ::tracer_asio::creation args
#define ASIO_HANDLER_COMPLETION(args) ::tracer_asio::completion tracer_asio_completion args
#define ASIO_HANDLER_INVOCATION_BEGIN(args) tracer_asio_completion.invocation_begin args
#define ASIO_HANDLER_INVOCATION_END tracer_asio_completion.invocation_end()
#define ASIO_HANDLER_OPERATION(args) ::tracer_asio::operation args
#define ASIO_HANDLER_REACTOR_REGISTRATION(args) ::tracer_asio::reactor_registration args
#define ASIO_HANDLER_REACTOR_DEREGISTRATION(args) ::tracer_asio::reactor_deregistration args
#define ASIO_HANDLER_REACTOR_READ_EVENT 1
#define ASIO_HANDLER_REACTOR_WRITE_EVENT 2
#define ASIO_HANDLER_REACTOR_ERROR_EVENT 4
#define ASIO_HANDLER_REACTOR_EVENTS(args) ::tracer_asio::reactor_events args
#define ASIO_HANDLER_REACTOR_OPERATION(args) ::tracer_asio::reactor_operation args
#define ASIO_HANDLER_SCHEDULER_RUN(args) ::tracer_asio::scheduler_run tracer_asio_run args
#endif

#elif !defined(TRACER_ASIO_CHAIN) /* TRACER_DISABLE */

#define BOOST_ASIO_INHERIT_TRACKED_HANDLER
#define BOOST_ASIO_ALSO_INHERIT_TRACKED_HANDLER
#define BOOST_ASIO_HANDLER_TRACKING_INIT (void)0
#define BOOST_ASIO_HANDLER_LOCATION(args) (void)0
#define BOOST_ASIO_HANDLER_CREATION(args) (void)0
#define BOOST_ASIO_HANDLER_COMPLETION(args) (void)0
#define BOOST_ASIO_HANDLER_INVOCATION_BEGIN(args) (void)0
#define BOOST_ASIO_HANDLER_INVOCATION_END (void)0
#define BOOST_ASIO_HANDLER_OPERATION(args) (void)0
#define BOOST_ASIO_HANDLER_REACTOR_REGISTRATION(args) (void)0
#define BOOST_ASIO_HANDLER_REACTOR_DEREGISTRATION(args) (void)0
#define BOOST_ASIO_HANDLER_REACTOR_READ_EVENT 0
#define BOOST_ASIO_HANDLER_REACTOR_WRITE_EVENT 0
#define BOOST_ASIO_HANDLER_REACTOR_ERROR_EVENT 0
#define BOOST_ASIO_HANDLER_REACTOR_EVENTS(args) (void)0
#define BOOST_ASIO_HANDLER_REACTOR_OPERATION(args) (void)0
#define BOOST_ASIO_HANDLER_SCHEDULER_RUN(args) (void)0
#define ASIO_INHERIT_TRACKED_HANDLER
#define ASIO_ALSO_INHERIT_TRACKED_HANDLER
#define ASIO_HANDLER_TRACKING_INIT (void)0
#define ASIO_HANDLER_LOCATION(args) (void)0
#define ASIO_HANDLER_CREATION(args) (void)0
#define ASIO_HANDLER_COMPLETION(args) (void)0
#define ASIO_HANDLER_INVOCATION_BEGIN(args) (void)0
#define ASIO_HANDLER_INVOCATION_END (void)0
#define ASIO_HANDLER_OPERATION(args) (void)0
#define ASIO_HANDLER_REACTOR_REGISTRATION(args) (void)0
#define ASIO_HANDLER_REACTOR_DEREGISTRATION(args) (void)0
#define ASIO_HANDLER_REACTOR_READ_EVENT 0
#define ASIO_HANDLER_REACTOR_WRITE_EVENT 0
#define ASIO_HANDLER_REACTOR_ERROR_EVENT 0
#define ASIO_HANDLER_REACTOR_EVENTS(args) (void)0
#define ASIO_HANDLER_REACTOR_OPERATION(args) (void)0
#define ASIO_HANDLER_SCHEDULER_RUN(args) (void)0

#endif /* TRACER_DISABLE */

#endif /* TRACER_ASIO_HPP */
