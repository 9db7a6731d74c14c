// SPDX-License-Identifier: BSD-2-Clause
//
// Boost.Fiber: points around any scheduling algorithm.
//
//	#include <tracer/tracer_fiber.hpp>
//
//	boost::fibers::use_scheduling_algorithm<tracer::traced<boost::fibers::algo::work_stealing>>(4);
//
// in place of use_scheduling_algorithm<boost::fibers::algo::work_stealing>(4), in each thread. Nothing else changes: traced<> is
// the algorithm itself, with its constructors and properties, and tells what it is asked to do.
//
// Each fiber becomes a task, each thread a worker. Names: that of the function object; or
//
//	tracer::fiber_name("parser");				of the fiber that runs
//	fiber.properties<tracer::named_properties>().name("parser");	of any, by its properties
//
// traced<> gives tracer::named_properties to fibers whose algorithm has no properties of its own; those with properties
// may derive them from tracer::named_properties instead of boost::fibers::fiber_properties.
//
// Reasons. Boost.Fiber does not tell its algorithm why a fiber stops. The names of the library's functions on the stack do
// (mutex::lock, fiber::join, barrier::wait, ...): some frames are looked at, only while somebody records, x86-64 only. With
// TRACER_FIBER_NO_REASONS they are not, and fibers just "wait". Statically linked Boost.Fiber has no names: fibers stop
// without a reason then.
//
// C++11 and newer, Boost 1.74 and newer.
#ifndef TRACER_FIBER_HPP
#define TRACER_FIBER_HPP

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <boost/fiber/algo/algorithm.hpp>
#include <boost/fiber/context.hpp>
#include <boost/fiber/detail/fss.hpp>
#include <boost/fiber/properties.hpp>
#include <boost/fiber/scheduler.hpp>
#include <cxxabi.h>
#include <dlfcn.h>
#include <unwind.h>
#ifdef __has_include
#if __has_include(<tracer/tracer.h>)
#include <tracer/tracer.h>
#else
#include "tracer.h"
#endif
#else
#include <tracer/tracer.h>
#endif

namespace tracer
{

class named_properties : public boost::fibers::fiber_properties
{
public:
	explicit named_properties(boost::fibers::context *context) noexcept : fiber_properties(context) {}
	void name(const char *text) noexcept { TRACER_TASK_RENAMED(ctx_, text); }
};

inline void fiber_name(const char *text)
{
	TRACER_TASK_RENAMED(boost::fibers::context::active(), text);
}

// DSOs with hidden symbols, too, number their workers together, and know each other's fibers
#define TRACER__FIBER_SHARED __attribute__((visibility("default")))

// the stack pointer of the caller: above the return address
#define TRACER__FIBER_STACK() static_cast<const char *>(static_cast<const void *>(__builtin_dwarf_cfa()))

#ifdef TRACER_DISABLE

namespace detail
{
using boost::fibers::context;
inline void fiber_awakened(context *, const void *, const char *) noexcept {}
} // namespace detail

#else

namespace detail
{

using boost::fibers::context;

enum class fiber_state { created, ready, running, suspended };

// of a fiber, kept in its own storage: gone when it ends
struct fiber_record {
	context *fiber;
	fiber_state state;
	std::uint32_t queue; // number + 1 of the worker whose algorithm has it, or had it last
};

// No destructor: that would run before the library's own, which still runs the fibers that are ready.
struct fiber_thread {
	fiber_record *running; // as told
	context *ended;	       // completed, and about to leave the thread for good
	const void *algorithm; // the one in use; an older one is asked for its fibers when it is replaced
	std::uint32_t worker;  // number + 1
	bool idle;
	bool gone;
};

// Not inlined, not foreseeable: fibers change threads in the middle of functions, and compilers keep addresses of
// thread-locals.
TRACER__FIBER_SHARED __attribute__((noinline)) inline fiber_thread &fiber_thread_now() noexcept
{
	static thread_local fiber_thread thread = {nullptr, nullptr, nullptr, 0, false, false};
	fiber_thread *now = &thread;

	__asm__ volatile("" : "+r"(now)::"memory");
	return *now;
}

TRACER__FIBER_SHARED inline std::uint32_t fiber_worker(fiber_thread &thread) noexcept
{
	static std::atomic<std::uint32_t> workers{0};

	if (!thread.worker) {
		thread.worker = ++workers;
		TRACER_WORKER_START(thread.worker - 1, "fibers");
	}
	return thread.worker - 1;
}

// --- which of the library's functions an address is in ---

enum class fiber_place {
	unknown, // of the program, or without a name
	internal,
	yield,
	suspend,
	wait_until,
	dispatch,
	replace,
	thread_end,
	remote,
	timer,
	join,
	terminate,
	mutex_lock,
	mutex_unlock,
	barrier,
};

inline fiber_place look_at(const void *address)
{
	static const struct {
		const char *part;
		fiber_place place;
	} places[] = {
		{"9scheduler5yield", fiber_place::yield},
		{"9scheduler7suspend", fiber_place::suspend},
		{"9scheduler10wait_until", fiber_place::wait_until},
		{"9scheduler8dispatch", fiber_place::dispatch},
		{"9scheduler8set_algo", fiber_place::replace},
		{"9schedulerD", fiber_place::thread_end},
		{"remote_ready2ready_", fiber_place::remote},
		{"sleep2ready_", fiber_place::timer},
		{"7context4join", fiber_place::join},
		{"7context9terminate", fiber_place::terminate},
		{"mutex4lock", fiber_place::mutex_lock},
		{"mutex15try_lock_until_", fiber_place::mutex_lock},
		{"mutex6unlock", fiber_place::mutex_unlock},
		{"7barrier4wait", fiber_place::barrier},
		{"6fibers9scheduler", fiber_place::internal},
		{"6fibers7context", fiber_place::internal},
		{"6fibers10wait_queue", fiber_place::internal},
		{"6fibers22condition_variable_any", fiber_place::internal},
		{"6fibers5waker", fiber_place::internal},
	};
	Dl_info info;

	if (!dladdr(address, &info) || !info.dli_sname || !std::strstr(info.dli_sname, "5boost6fibers"))
		return fiber_place::unknown;
	for (auto &row : places)
		if (std::strstr(info.dli_sname, row.part))
			return row.place;
	return fiber_place::unknown;
}

// a return address: where it is in, and how far up the stack the next one stands
struct fiber_call {
	const void *address;
	fiber_place place;
	std::atomic<std::ptrdiff_t> size; // of the frame; 0 not known, -1 it can't be told
	fiber_call(const void *a, fiber_place p) : address(a), place(p), size(0) {}
};

TRACER__FIBER_SHARED inline fiber_call *call_at(const void *address)
{
	static std::atomic<fiber_call *> known[512];
	std::size_t slot = (reinterpret_cast<std::uintptr_t>(address) * 0x9e3779b97f4a7c15ULL) >> 55;

	for (int tried = 0; tried < 512; tried++, slot = (slot + 1) % 512) {
		fiber_call *found = known[slot].load(std::memory_order_acquire);

		if (!found) {
			fiber_call *made = new fiber_call(address, look_at(address));

			if (known[slot].compare_exchange_strong(found, made, std::memory_order_acq_rel))
				return made;
			delete made;
		}
		if (found->address == address)
			return found;
	}
	return nullptr; // programs have a few dozen
}

inline fiber_place place_of(const void *address)
{
	fiber_call *call = call_at(address);

	return call ? call->place : fiber_place::unknown;
}

#if !defined(TRACER_FIBER_NO_REASONS) && defined(__x86_64__)
// Unwinding takes 2 us, more than all else here. But the frame of a function of the library has, at one return address,
// always the same size; so it is unwound once for each, to learn that, and walked ever after.
struct fiber_walk {
	struct {
		const void *address;
		const char *stack; // above the return address that led there
	} frames[16];
	int count;
};

inline _Unwind_Reason_Code walk_one(_Unwind_Context *frame, void *data)
{
	fiber_walk *walk = static_cast<fiber_walk *>(data);

	walk->frames[walk->count].address = reinterpret_cast<const void *>(_Unwind_GetIP(frame));
	walk->frames[walk->count].stack = reinterpret_cast<const char *>(_Unwind_GetCFA(frame));
	return ++walk->count < 16 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

inline const void *return_address(const char *stack)
{
	const void *address;

	std::memcpy(&address, stack - sizeof(address), sizeof(address));
	return address;
}

__attribute__((noinline)) inline void learn_frames()
{
	fiber_walk walk = {};

	_Unwind_Backtrace(walk_one, &walk);
	for (int i = 0; i + 1 < walk.count; i++) {
		fiber_call *call = call_at(walk.frames[i].address);

		if (!call)
			return;
		std::ptrdiff_t size = walk.frames[i + 1].stack - walk.frames[i].stack;
		bool sound = size > 0 && return_address(walk.frames[i + 1].stack) == walk.frames[i + 1].address;
		call->size.store(sound ? size : -1, std::memory_order_release);
		if (call->place == fiber_place::unknown && i > 4)
			return; // the program's own
	}
}

// what made the library call @caller; @stack: above the return address to it
inline fiber_place why(const void *caller, const char *stack)
{
	fiber_place found = fiber_place::unknown;

	for (int depth = 0; depth < 8; depth++) {
		fiber_call *call = call_at(caller);

		if (!call || call->place == fiber_place::unknown)
			return found;
		switch (call->place) {
		case fiber_place::terminate:
		case fiber_place::barrier:
		case fiber_place::thread_end:
		case fiber_place::remote:
		case fiber_place::timer:
		case fiber_place::dispatch:
			return call->place;
		default:
			break;
		}
		if (call->place == fiber_place::mutex_lock || call->place == fiber_place::mutex_unlock ||
		    call->place == fiber_place::join)
			found = call->place; // a barrier may be around, or the end of the thread
		if (!call->size.load(std::memory_order_acquire))
			learn_frames();
		std::ptrdiff_t size = call->size.load(std::memory_order_acquire);
		if (size <= 0)
			return found;
		stack += size;
		caller = return_address(stack);
	}
	return found;
}
#else
inline fiber_place why(const void *, const char *)
{
	return fiber_place::unknown;
}
#endif

// --- names ---

// "main::{lambda()#1}" for "boost::fibers::worker_context<main::{lambda()#1}, int>"
inline std::string fiber_type_name(const std::type_info &type)
{
	int status = 0, depth = 0;
	char *readable = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
	std::string name = readable ? readable : type.name();

	std::free(readable);
	std::size_t from = name.find("worker_context<");
	if (from == std::string::npos)
		return "fiber";
	name.erase(0, from + std::strlen("worker_context<"));
	for (std::size_t i = 0; i < name.size(); i++) {
		char c = name[i];

		if (!depth && (c == ',' || c == '>')) {
			name.erase(i);
			break;
		}
		depth += (c == '<' || c == '(' || c == '{') - (c == '>' || c == ')' || c == '}');
	}
	// what async() makes: the function itself is inside, without a type
	if (!name.compare(0, 15, "boost::fibers::"))
		name.erase(0, 15);
	return name;
}

TRACER__FIBER_SHARED inline const char *fiber_function_name(const std::type_info &type)
{
	struct entry {
		const char *type;
		std::string name;
	};
	static std::atomic<const entry *> known[256];
	std::size_t slot = (reinterpret_cast<std::uintptr_t>(type.name()) * 0x9e3779b97f4a7c15ULL) >> 56;

	for (int tried = 0; tried < 256; tried++, slot = (slot + 1) % 256) {
		const entry *found = known[slot].load(std::memory_order_acquire);

		if (!found) {
			const entry *made = new entry{type.name(), fiber_type_name(type)};

			if (known[slot].compare_exchange_strong(found, made, std::memory_order_acq_rel))
				return made->name.c_str();
			delete made;
		}
		if (found->type == type.name())
			return found->name.c_str();
	}
	return "fiber";
}

// --- fibers ---

// called in the fiber, when it has run and its waiters are awake
class fiber_ends : public boost::fibers::detail::fss_cleanup_function
{
public:
	void operator()(void *data) override
	{
		fiber_record *record = static_cast<fiber_record *>(data);
		fiber_thread &thread = fiber_thread_now();

		if (thread.running == record) {
			thread.running = nullptr;
			thread.ended = record->fiber;
		}
		TRACER_TASK_COMPLETED(record->fiber);
		TRACER_TASK_DESTROYED(record->fiber);
		delete record;
	}
};

// A thread's own stack does not end as a fiber does, and its storage is not cleaned up. It goes, and with it this, when the
// library has taken itself apart on the thread: all fibers have run.
class thread_ends : public boost::fibers::detail::fss_cleanup_function
{
public:
	explicit thread_ends(fiber_record *r) noexcept : record(r) {}
	thread_ends(const thread_ends &) = delete;
	thread_ends &operator=(const thread_ends &) = delete;
	void operator()(void *) override {}
	~thread_ends() override
	{
		fiber_thread &thread = fiber_thread_now();

		if (record->state == fiber_state::suspended) {
			// resumed by the library, past the algorithm
			TRACER_TASK_RESUMED(record->fiber, "no fiber left", 0);
			TRACER_TASK_BEGIN(record->fiber, fiber_worker(thread));
		}
		TRACER_TASK_COMPLETED(record->fiber);
		TRACER_TASK_DESTROYED(record->fiber);
		if (thread.idle)
			TRACER_WORKER_SLEEP_END(thread.worker - 1, "thread ends");
		if (thread.worker)
			TRACER_WORKER_STOP(thread.worker - 1);
		thread = fiber_thread{nullptr, nullptr, nullptr, 0, false, true};
		delete record;
	}

private:
	fiber_record *record;
};

TRACER__FIBER_SHARED inline fiber_record *record_of(context *fiber, context *creator)
{
	static const char key = 0;
	// for good: threads may outlive main()
	static const auto &ends = *new boost::fibers::detail::fss_cleanup_function::ptr_t(new fiber_ends());

	if (fiber->is_context(boost::fibers::type::dispatcher_context))
		return nullptr;
	fiber_record *record = static_cast<fiber_record *>(fiber->get_fss_data(&key));
	if (record)
		return record;
	bool is_main = fiber->is_context(boost::fibers::type::main_context);
	record = new fiber_record{fiber, fiber_state::created, 0};
	fiber->set_fss_data(&key, is_main ? boost::fibers::detail::fss_cleanup_function::ptr_t(new thread_ends(record)) : ends,
			    record, false);
	if (creator && creator->is_context(boost::fibers::type::dispatcher_context))
		creator = nullptr;
	if (TRACER_ENABLED(task))
		TRACER_TASK_CREATED(fiber, is_main ? "main fiber" : fiber_function_name(typeid(*fiber)),
				    is_main ? nullptr : creator);
	return record;
}

inline void fiber_begins(fiber_thread &thread, fiber_record *record)
{
	thread.running = record;
	if (!record)
		return;
	record->state = fiber_state::running;
	TRACER_TASK_BEGIN(record->fiber, fiber_worker(thread));
}

// what runs here was started without asking the algorithm (launch::dispatch): the one before is ready
inline void fiber_sync(fiber_thread &thread, context *active)
{
	if (active == thread.ended || (thread.running ? thread.running->fiber : nullptr) == active)
		return;
	context *before = thread.running ? thread.running->fiber : nullptr;
	fiber_record *record = record_of(active, before);
	if (!record && !thread.running)
		return;
	if (thread.running) {
		TRACER_TASK_YIELDED(before);
		thread.running->state = fiber_state::ready;
	}
	fiber_begins(thread, record);
}

inline void fiber_awakened(context *fiber, const void *caller, const char *stack)
{
	fiber_thread &thread = fiber_thread_now();
	context *active = context::active();

	if (thread.gone)
		return;
	fiber_sync(thread, active);
	fiber_record *record = record_of(fiber, active);
	if (!record)
		return;
	if (record->state == fiber_state::suspended && TRACER_ENABLED(task)) {
		const char *cause = "notified";
		fiber_place place = why(caller, stack);

		switch (place == fiber_place::unknown ? place_of(caller) : place) {
		case fiber_place::remote:
			cause = "by another thread";
			break;
		case fiber_place::timer:
			cause = "timer";
			break;
		case fiber_place::dispatch:
			cause = "by another thread or timer";
			break;
		case fiber_place::terminate:
			cause = "fiber ended";
			break;
		case fiber_place::mutex_unlock:
			cause = "mutex::unlock";
			break;
		case fiber_place::barrier:
			cause = "barrier complete";
			break;
		default:
			break;
		}
		TRACER_TASK_RESUMED(fiber, cause, 0);
	}
	record->queue = fiber_worker(thread) + 1;
	if (record->state != fiber_state::running)
		record->state = fiber_state::ready;
}

inline void fiber_stops(fiber_record *record, const void *caller, const char *stack)
{
	fiber_place place = place_of(caller);
	const char *reason = place == fiber_place::wait_until ? "timed wait" : "wait";

	if (place == fiber_place::yield) {
		record->state = fiber_state::ready;
		TRACER_TASK_YIELDED(record->fiber);
		return;
	}
	record->state = fiber_state::suspended;
	if (place != fiber_place::suspend && place != fiber_place::wait_until) {
		TRACER_TASK_END(record->fiber);
		return;
	}
	if (TRACER_ENABLED(task)) {
		switch (why(caller, stack)) {
		case fiber_place::join:
			reason = "fiber::join";
			break;
		case fiber_place::mutex_lock:
			reason = "mutex::lock";
			break;
		case fiber_place::barrier:
			reason = "barrier::wait";
			break;
		case fiber_place::thread_end:
			reason = "thread ends";
			break;
		default:
			break;
		}
	}
	TRACER_TASK_SUSPENDED(record->fiber, reason, 0);
}

// @algorithm said @next, to @caller; the switch comes right after
inline void fiber_picked(const void *algorithm, bool unseen_steals, context *next, const void *caller, const char *stack)
{
	fiber_thread &thread = fiber_thread_now();
	context *active = context::active();

	if (thread.gone || algorithm != thread.algorithm || place_of(caller) == fiber_place::replace)
		return;
	if (!next) {
		if (!thread.idle) {
			// until there is a fiber, however the algorithm passes the time
			thread.idle = true;
			TRACER_WORKER_SLEEP_BEGIN(fiber_worker(thread), "no fiber");
		}
		return;
	}
	if (thread.idle) {
		thread.idle = false;
		TRACER_WORKER_SLEEP_END(fiber_worker(thread), "fiber");
	}
	fiber_sync(thread, active);
	if (next == active)
		return;
	if (thread.running)
		fiber_stops(thread.running, caller, stack);
	thread.ended = nullptr;
	fiber_record *record = record_of(next, nullptr);
	if (unseen_steals && record && record->queue && record->queue != fiber_worker(thread) + 1)
		TRACER_STEAL(fiber_worker(thread), record->queue - 1, next, TRACER_UNKNOWN);
	fiber_begins(thread, record);
}

// @algorithm is this thread's from here on. No look at what runs: newer Boost makes the thread's context only after that.
inline std::uint32_t fiber_starts(const void *algorithm)
{
	fiber_thread &thread = fiber_thread_now();

	thread.algorithm = algorithm;
	return fiber_worker(thread);
}

} // namespace detail

#endif // TRACER_DISABLE

namespace detail
{

// --- the algorithm around the algorithm ---

template <class Properties>
Properties properties_of(const boost::fibers::algo::algorithm_with_properties<Properties> *);
void properties_of(const void *);

template <class Algorithm>
using properties_of_t = decltype(properties_of(static_cast<const Algorithm *>(nullptr)));

// awakened() is final in algorithms with properties; they have one with a second argument
template <class Algorithm, class Properties> class traced_awakened : public Algorithm
{
public:
	using Algorithm::Algorithm;
	void awakened(context *fiber, Properties &properties) noexcept override
	{
		fiber_awakened(fiber, __builtin_return_address(0), TRACER__FIBER_STACK());
		Algorithm::awakened(fiber, properties);
	}
};

template <class Algorithm> class traced_awakened<Algorithm, void> : public Algorithm
{
public:
	using Algorithm::Algorithm;
	void awakened(context *fiber) noexcept override
	{
		if (!fiber->get_properties() && !fiber->is_context(boost::fibers::type::dispatcher_context))
			fiber->set_properties(new named_properties(fiber));
		fiber_awakened(fiber, __builtin_return_address(0), TRACER__FIBER_STACK());
		Algorithm::awakened(fiber);
	}
};

template <class Algorithm> using awakened_t = traced_awakened<Algorithm, properties_of_t<Algorithm>>;

} // namespace detail

#ifdef TRACER_DISABLE

template <class Algorithm> class traced : public detail::awakened_t<Algorithm>
{
public:
	using detail::awakened_t<Algorithm>::awakened_t;
};

#else

namespace detail
{

// an algorithm whose instances take fibers from one another has a steal(), that the thief calls. If that is virtual, it is
// seen; if it is something else of that name, then a fiber that was another's and is picked was stolen.
struct steal_name {
	void steal();
};
template <class Algorithm> struct steal_names : Algorithm, steal_name {
};
template <class Algorithm, class = void> struct steals : std::true_type {
};
template <class Algorithm>
struct steals<Algorithm, decltype(void(&steal_names<Algorithm>::steal))> : std::false_type { // not ambiguous
};

// virtual or not is in a bit of a pointer to it: that of its address or, on Arm, of the adjustment
template <class Function> bool is_virtual(Function function)
{
	std::uintptr_t words[2];

	static_assert(sizeof(function) == sizeof(words), "the C++ ABI of Itanium");
	std::memcpy(words, &function, sizeof(words));
#if defined(__aarch64__) || defined(__arm__)
	return words[1] & 1;
#else
	return words[0] & 1;
#endif
}

template <class Algorithm, class = void> class traced_steal : public awakened_t<Algorithm>
{
public:
	using awakened_t<Algorithm>::awakened_t;

protected:
	static bool unseen_steals() noexcept { return steals<Algorithm>::value; }
	std::uint32_t worker = fiber_starts(this);
};

template <class Algorithm>
class traced_steal<Algorithm, typename std::enable_if<
				      std::is_same<context *, decltype(std::declval<Algorithm &>().steal())>::value &&
				      std::is_member_function_pointer<decltype(&Algorithm::steal)>::value>::type>
	: public awakened_t<Algorithm>
{
public:
	using awakened_t<Algorithm>::awakened_t;
#pragma GCC diagnostic push
#if !defined(__clang__) || __clang_major__ >= 11
#pragma GCC diagnostic ignored "-Wsuggest-override"
#endif
	context *steal() noexcept // overrides, if there is what can be
	{
		context *fiber = Algorithm::steal();
		fiber_thread &thread = fiber_thread_now();

		if (thread.gone || unseen_steals())
			return fiber;
		// while there is no work it tries all the time: the first attempt of a stretch stands for all
		if (fiber)
			TRACER_STEAL(fiber_worker(thread), worker, fiber, TRACER_UNKNOWN);
		else if (!thread.idle)
			TRACER_STEAL_FAILED(fiber_worker(thread), worker);
		return fiber;
	}
#pragma GCC diagnostic pop

protected:
	static bool unseen_steals() noexcept { return !is_virtual(&Algorithm::steal); }
	std::uint32_t worker = fiber_starts(this);
};

} // namespace detail

template <class Algorithm> class traced : public detail::traced_steal<Algorithm>
{
public:
	using detail::traced_steal<Algorithm>::traced_steal;
	boost::fibers::context *pick_next() noexcept override
	{
		boost::fibers::context *next = Algorithm::pick_next();

		detail::fiber_picked(static_cast<const detail::traced_steal<Algorithm> *>(this), this->unseen_steals(), next,
				     __builtin_return_address(0), TRACER__FIBER_STACK());
		return next;
	}
};

#endif // TRACER_DISABLE

} // namespace tracer

#endif // TRACER_FIBER_HPP
