/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A custom tracking header of the program's own beside tracer's: included by tracer_asio.hpp, if
 * TRACER_ASIO_CHAIN names one. Its macros are expanded here, once, into functions and members of the same
 * effect; then tracer_asio.hpp undefines them, and its own call these.
 */
#ifndef TRACER_ASIO_CHAIN_HPP
#define TRACER_ASIO_CHAIN_HPP

#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING)
#define TRACER_ASIO__CHAIN(name) BOOST_ASIO_##name
#else
#define TRACER_ASIO__CHAIN(name) ASIO_##name
#endif

namespace tracer_asio_public
{
struct chained_handler TRACER_ASIO__CHAIN(INHERIT_TRACKED_HANDLER) {
};
} // namespace tracer_asio_public

namespace tracer_asio
{
TRACER_ASIO__INLINE void chain_init()
{
	TRACER_ASIO__CHAIN(HANDLER_TRACKING_INIT);
}

template <class... Args> TRACER_ASIO__INLINE void chain_creation(Args &&...args)
{
	TRACER_ASIO__CHAIN(HANDLER_CREATION)((std::forward<Args>(args)...));
}

template <class... Args> TRACER_ASIO__INLINE void chain_operation(Args &&...args)
{
	TRACER_ASIO__CHAIN(HANDLER_OPERATION)((std::forward<Args>(args)...));
}

template <class... Args> TRACER_ASIO__INLINE void chain_registration(Args &&...args)
{
	TRACER_ASIO__CHAIN(HANDLER_REACTOR_REGISTRATION)((std::forward<Args>(args)...));
}

template <class... Args> TRACER_ASIO__INLINE void chain_deregistration(Args &&...args)
{
	TRACER_ASIO__CHAIN(HANDLER_REACTOR_DEREGISTRATION)((std::forward<Args>(args)...));
}

template <class... Args> TRACER_ASIO__INLINE void chain_events(Args &&...args)
{
	TRACER_ASIO__CHAIN(HANDLER_REACTOR_EVENTS)((std::forward<Args>(args)...));
}

template <class... Args> TRACER_ASIO__INLINE void chain_performed(Args &&...args)
{
	TRACER_ASIO__CHAIN(HANDLER_REACTOR_OPERATION)((std::forward<Args>(args)...));
}

/* its bits for readiness, of ours */
TRACER_ASIO__INLINE unsigned chain_bits(unsigned events)
{
	return (events & 1 ? +TRACER_ASIO__CHAIN(HANDLER_REACTOR_READ_EVENT) : 0) |
	       (events & 2 ? +TRACER_ASIO__CHAIN(HANDLER_REACTOR_WRITE_EVENT) : 0) |
	       (events & 4 ? +TRACER_ASIO__CHAIN(HANDLER_REACTOR_ERROR_EVENT) : 0);
}

class TRACER_ASIO__HIDDEN chained_completion
{
      public:
#if defined(TRACER_ASIO_CHAIN_STATEMENTS)
	TRACER_ASIO__INLINE explicit chained_completion(const tracer_asio_public::chained_handler &handler)
	{
		TRACER_ASIO__CHAIN(HANDLER_COMPLETION)((handler));
	}
#else
	TRACER_ASIO__INLINE explicit chained_completion(const tracer_asio_public::chained_handler &handler)
		: handler_(handler)
	{
	}
#endif
	template <class... Args> TRACER_ASIO__INLINE void begin(const Args &...args)
	{
		TRACER_ASIO__CHAIN(HANDLER_INVOCATION_BEGIN)((args...));
	}

	TRACER_ASIO__INLINE void end()
	{
		TRACER_ASIO__CHAIN(HANDLER_INVOCATION_END);
	}

      private:
#if !defined(TRACER_ASIO_CHAIN_STATEMENTS)
	const tracer_asio_public::chained_handler &handler_;
	/* the variable that the macro defines becomes a member, under the name that the others know */
	TRACER_ASIO__CHAIN(HANDLER_COMPLETION)({handler_});
#endif
};

#if defined(TRACER_ASIO_CHAIN_LOCATIONS)
#define TRACER_ASIO__PLACE {file, line, function} /* one argument, commas and all */
struct TRACER_ASIO__HIDDEN chained_location {
	const char *file;
	int line;
	const char *function;

	TRACER_ASIO__INLINE chained_location(const char *in_file, int in_line, const char *in_function)
		: file(in_file), line(in_line), function(in_function)
	{
	}

	/* last: it is initialised from those above */
	TRACER_ASIO__CHAIN(HANDLER_LOCATION)(TRACER_ASIO__PLACE);
};
#endif
} // namespace tracer_asio

#endif /* TRACER_ASIO_CHAIN_HPP */
