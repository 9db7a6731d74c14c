/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Points for tracer: include this header, put macros where your runtime does something, and
 *
 *	sudo tracer -p PID
 *
 * shows every task on a row of its own, with what it waited for and what woke it.
 *
 *	#include <tracer/tracer.h>
 *
 *	TRACER_TASK_CREATED(task, "fetch", parent);
 *	TRACER_TASK_BEGIN(task, worker_number);
 *	TRACER_TASK_SUSPENDED(task, "future::wait", future);
 *	TRACER_TASK_RESUMED(task, "future::set", future);	(called by whoever wakes it)
 *	TRACER_TASK_BEGIN(task, worker_number);
 *	TRACER_TASK_COMPLETED(task);
 *	TRACER_TASK_DESTROYED(task);
 *
 * There is nothing to link and nothing to initialise. C99 and newer, C++11 and newer, gcc 9, clang 11;
 * x86-64 and AArch64, Linux. Executables and shared libraries, static or not, stripped or not, PIE or
 * not, with LTO and --gc-sections; any number of them in a process.
 *
 * What a point costs
 *	removed (-DTRACER_DISABLE, or -DTRACER_DISABLE_TASK and so on by category): nothing; the code is
 *	that without the macros. Arguments count as used but are not evaluated.
 *	closed (no tool attached): a load of a word that nobody writes, a compare and a branch that is
 *	never taken, well below a nanosecond. Arguments are not evaluated.
 *	recorded (tracer attached): about the cost of reading the cycle counter, and some bytes in a ring
 *	that belongs to the thread: 24 for TASK_BEGIN, 16 for TASK_COMPLETED. String literals cost
 *	nothing more; other strings are read and hashed, and copied once a window (TRACER_NAME_MAX
 *	bytes are kept). The thread's first point maps its ring: some microseconds.
 *	direct (bpftrace, perf or SystemTap on the USDT probe): what that tool costs, some microseconds.
 *
 * What a point may be used in: any function, signal handlers (also for the first point of a thread),
 * constructors and destructors, forked and vforked children, threads of any making. A point keeps errno,
 * takes no lock but when a thread's ring is made, never calls malloc, and returns nothing.
 *
 * Arguments
 *	identities	a pointer or an integer of up to 64 bits; 0 or NULL is "none". The same value
 *			names the same thing until it is destroyed.
 *	worker, thief, victim, channel	unsigned integers of 32 bits; TRACER_NO_WORKER is "none"
 *	strings		NUL-terminated, may be NULL
 *
 * How it works. Every category of points has a gate: a word in section .probes that the kernel raises
 * while somebody probes a nop that names it. An open point writes a record into its thread's ring; when
 * a window of the ring is full the thread runs through one nop, the probe there lets the kernel copy the
 * whole window. Layout and protocol are in ring.h, the records in events.def. All that a DSO needs is
 * in the section of this file that is assembler: it is emitted wherever the header is used and merged by
 * the linker, hidden, so that every DSO has its own.
 *
 * Trap: never use a nop of five bytes as a probe site. Linux 6.18 turns it into a call, which destroys
 * the red zone of leaf functions and kills forked children.
 */
#ifndef TRACER_TRACER_H
#define TRACER_TRACER_H

#include <stdint.h>

#define TRACER_NO_WORKER 0xffffffffU
#define TRACER_UNKNOWN 0xffffffffffffffffULL

/* Which categories are compiled in. */
#if defined(TRACER_DISABLE) || defined(TRACER_DISABLE_TASK)
#define TRACER__ON_tracer__in_task 0
#else
#define TRACER__ON_tracer__in_task 1
#endif
#if defined(TRACER_DISABLE) || defined(TRACER_DISABLE_WORKER)
#define TRACER__ON_tracer__in_worker 0
#else
#define TRACER__ON_tracer__in_worker 1
#endif
#if defined(TRACER_DISABLE) || defined(TRACER_DISABLE_STEAL)
#define TRACER__ON_tracer__in_steal 0
#else
#define TRACER__ON_tracer__in_steal 1
#endif
#if defined(TRACER_DISABLE) || defined(TRACER_DISABLE_FUTURE)
#define TRACER__ON_tracer__in_future 0
#else
#define TRACER__ON_tracer__in_future 1
#endif
#if defined(TRACER_DISABLE) || defined(TRACER_DISABLE_LOCK)
#define TRACER__ON_tracer__in_lock 0
#else
#define TRACER__ON_tracer__in_lock 1
#endif
#if defined(TRACER_DISABLE) || defined(TRACER_DISABLE_ZONE)
#define TRACER__ON_tracer__in_zone 0
#else
#define TRACER__ON_tracer__in_zone 1
#endif
#if defined(TRACER_DISABLE) || defined(TRACER_DISABLE_MARKER)
#define TRACER__ON_tracer__in_marker 0
#else
#define TRACER__ON_tracer__in_marker 1
#endif
#if defined(TRACER_DISABLE) || defined(TRACER_DISABLE_FLOW)
#define TRACER__ON_tracer__in_flow 0
#else
#define TRACER__ON_tracer__in_flow 1
#endif
#if defined(TRACER_DISABLE) || defined(TRACER_DISABLE_COUNTER)
#define TRACER__ON_tracer__in_counter 0
#else
#define TRACER__ON_tracer__in_counter 1
#endif
#if defined(TRACER_DISABLE) || defined(TRACER_DISABLE_MESSAGE)
#define TRACER__ON_tracer__in_message 0
#else
#define TRACER__ON_tracer__in_message 1
#endif
#if defined(TRACER_DISABLE) || defined(TRACER_DISABLE_FRAME)
#define TRACER__ON_tracer__in_frame 0
#else
#define TRACER__ON_tracer__in_frame 1
#endif
#if defined(TRACER_DISABLE) || defined(TRACER_DISABLE_CAPTURE)
#define TRACER__ON_tracer__in_capture 0
#else
#define TRACER__ON_tracer__in_capture 1
#endif

#define TRACER__PASTE_(a, b) a##b
#define TRACER__PASTE(a, b) TRACER__PASTE_(a, b)
#define TRACER__STR_(x) #x
#define TRACER__STR(x) TRACER__STR_(x)

#ifndef TRACER_DISABLE
#include "points.h"
#endif

/*
 * TRACER_ENABLED() - is a category recorded or attached to at this moment?
 * @category: task, worker, steal, future, lock, zone, marker, flow, counter, message, frame
 *
 * For preparing what only a point needs: if (TRACER_ENABLED(task)) name = describe(task); Costs as much as
 * a closed point.
 */
#define TRACER_ENABLED(category) \
	TRACER__PASTE(TRACER__ENABLED_, TRACER__ON_tracer__in_##category)(tracer__in_##category)
#define TRACER__ENABLED_0(category) 0
#define TRACER__ENABLED_1(category) (TRACER__GATE(category) != 0)

/*
 * TRACER__POINTn(category, point, conversion, argument, ...), with _1 for compiled in and _0 for removed,
 * so that the list of public macros below is written once. Categories and events are passed as words
 * with a prefix of ours: the program may have a macro named task.
 */
#define TRACER__POINT0(category, point) \
	TRACER__PASTE(TRACER__POINT0_, TRACER__ON_##category)(category, point)
#define TRACER__POINT1(category, point, c1, a1) \
	TRACER__PASTE(TRACER__POINT1_, TRACER__ON_##category)(category, point, c1, a1)
#define TRACER__POINT2(category, point, c1, a1, c2, a2) \
	TRACER__PASTE(TRACER__POINT2_, TRACER__ON_##category)(category, point, c1, a1, c2, a2)
#define TRACER__POINT3(category, point, c1, a1, c2, a2, c3, a3)                                       \
	TRACER__PASTE(TRACER__POINT3_, TRACER__ON_##category)                                         \
	(category, point, c1, a1, c2, a2, c3, a3)
#define TRACER__POINT4(category, point, c1, a1, c2, a2, c3, a3, c4, a4)                               \
	TRACER__PASTE(TRACER__POINT4_, TRACER__ON_##category)                                         \
	(category, point, c1, a1, c2, a2, c3, a3, c4, a4)

#define TRACER__OPEN(category, call)                                                                  \
	do {                                                                                          \
		uint32_t tracer__gate = TRACER__GATE(category);                                       \
		if (__builtin_expect(tracer__gate != 0, 0))                                           \
			call;                                                                         \
	} while (0)
#define TRACER__POINT0_1(category, point) TRACER__OPEN(category, point(tracer__gate))
#define TRACER__POINT1_1(category, point, c1, a1) \
	TRACER__OPEN(category, point(tracer__gate, c1(a1)))
#define TRACER__POINT2_1(category, point, c1, a1, c2, a2) \
	TRACER__OPEN(category, point(tracer__gate, c1(a1), c2(a2)))
#define TRACER__POINT3_1(category, point, c1, a1, c2, a2, c3, a3) \
	TRACER__OPEN(category, point(tracer__gate, c1(a1), c2(a2), c3(a3)))
#define TRACER__POINT4_1(category, point, c1, a1, c2, a2, c3, a3, c4, a4) \
	TRACER__OPEN(category, point(tracer__gate, c1(a1), c2(a2), c3(a3), c4(a4)))

/* an expression, not a statement: a loop that is none leaves a jump where nothing is optimised */
#define TRACER__USE(x) (void)(x)
#define TRACER__REMOVED(uses) ((void)(0 && (uses, 0)))
#define TRACER__POINT0_0(category, point) ((void)0)
#define TRACER__POINT1_0(category, point, c1, a1) TRACER__REMOVED((TRACER__USE(a1)))
#define TRACER__POINT2_0(category, point, c1, a1, c2, a2) \
	TRACER__REMOVED((TRACER__USE(a1), TRACER__USE(a2)))
#define TRACER__POINT3_0(category, point, c1, a1, c2, a2, c3, a3) \
	TRACER__REMOVED((TRACER__USE(a1), TRACER__USE(a2), TRACER__USE(a3)))
#define TRACER__POINT4_0(category, point, c1, a1, c2, a2, c3, a3, c4, a4) \
	TRACER__REMOVED((TRACER__USE(a1), TRACER__USE(a2), TRACER__USE(a3), TRACER__USE(a4)))

/* a name and a number of any type, which is evaluated once */
#define TRACER__POINTN(category, point, a1, a2) \
	TRACER__PASTE(TRACER__POINTN_, TRACER__ON_##category)(category, point, a1, a2)
#define TRACER__POINTN_1(category, point, a1, a2)                                                     \
	do {                                                                                          \
		uint32_t tracer__gate = TRACER__GATE(category);                                       \
		if (__builtin_expect(tracer__gate != 0, 0)) {                                         \
			TRACER__VALUE(tracer__value, a2);                                             \
			point(tracer__gate, TRACER__NAME(a1), TRACER__NUM(tracer__value));            \
		}                                                                                     \
	} while (0)
/* the same about something with an identity */
#define TRACER__POINTI(category, point, a1, a2, a3) \
	TRACER__PASTE(TRACER__POINTI_, TRACER__ON_##category)(category, point, a1, a2, a3)
#define TRACER__POINTI_1(category, point, a1, a2, a3)                                                 \
	do {                                                                                          \
		uint32_t tracer__gate = TRACER__GATE(category);                                       \
		if (__builtin_expect(tracer__gate != 0, 0)) {                                         \
			TRACER__VALUE(tracer__value, a3);                                             \
			point(tracer__gate, TRACER__ID(a1), TRACER__NAME(a2), TRACER__NUM(tracer__value)); \
		}                                                                                     \
	} while (0)
#define TRACER__POINTI_0(category, point, a1, a2, a3) \
	TRACER__REMOVED((TRACER__USE(a1), TRACER__USE(a2), TRACER__USE(a3)))
#define TRACER__POINTN_0(category, point, a1, a2) TRACER__REMOVED((TRACER__USE(a1), TRACER__USE(a2)))

/* Tasks. STAGED is described but cannot run yet; CREATED begins a lifetime. */
#define TRACER_TASK_STAGED(task, name, parent) \
	TRACER__POINT3(tracer__in_task, tracer__task_staged, TRACER__ID, task, TRACER__NAME, name, TRACER__ID, parent)
#define TRACER_TASK_CREATED(task, name, parent) \
	TRACER__POINT3(tracer__in_task, tracer__task_created, TRACER__ID, task, TRACER__NAME, name, TRACER__ID, parent)
/* put into a run queue */
#define TRACER_TASK_READY(task) TRACER__POINT1(tracer__in_task, tracer__task_ready, TRACER__ID, task)
/* starts or goes on running, on this thread, which is that worker */
#define TRACER_TASK_BEGIN(task, worker) \
	TRACER__POINT2(tracer__in_task, tracer__task_begin, TRACER__ID, task, TRACER__U32, worker)
/* stops running; the other three say why, use one of them if you know */
#define TRACER_TASK_END(task) TRACER__POINT1(tracer__in_task, tracer__task_end, TRACER__ID, task)
#define TRACER_TASK_YIELDED(task) TRACER__POINT1(tracer__in_task, tracer__task_yielded, TRACER__ID, task)
/* reason: a string such as "future::wait"; object: what it waits for */
#define TRACER_TASK_SUSPENDED(task, reason, object) \
	TRACER__POINT3(tracer__in_task, tracer__task_suspended, TRACER__ID, task, TRACER__NAME, reason, TRACER__ID, object)
#define TRACER_TASK_COMPLETED(task) TRACER__POINT1(tracer__in_task, tracer__task_completed, TRACER__ID, task)
/* a suspended task was made ready; called by the waker */
#define TRACER_TASK_RESUMED(task, cause, object) \
	TRACER__POINT3(tracer__in_task, tracer__task_resumed, TRACER__ID, task, TRACER__NAME, cause, TRACER__ID, object)
/* the identity may be used again */
#define TRACER_TASK_DESTROYED(task) TRACER__POINT1(tracer__in_task, tracer__task_destroyed, TRACER__ID, task)
#define TRACER_TASK_RENAMED(task, name) \
	TRACER__POINT2(tracer__in_task, tracer__task_renamed, TRACER__ID, task, TRACER__NAME, name)

/* declared to use an object, for which the runtime orders it among others; kind: "in", "out", "inout" */
#define TRACER_TASK_DEPENDS(task, object, kind) \
	TRACER__POINT3(tracer__in_task, tracer__task_depends, TRACER__ID, task, TRACER__ID, object, TRACER__NAME, kind)
/* what is known of a task: a text, or a 64-bit integer or double */
#define TRACER_TASK_TEXT(task, key, text) \
	TRACER__POINT3(tracer__in_task, tracer__task_text, TRACER__ID, task, TRACER__NAME, key, TRACER__NAME, text)
#define TRACER_TASK_VALUE(task, key, value) \
	TRACER__POINTI(tracer__in_task, tracer__task_value, task, key, value)

/* Workers. The sleep pair stands around the blocking call itself. */
#define TRACER_WORKER_START(worker, name) \
	TRACER__POINT2(tracer__in_worker, tracer__worker_start, TRACER__U32, worker, TRACER__NAME, name)
#define TRACER_WORKER_STOP(worker) TRACER__POINT1(tracer__in_worker, tracer__worker_stop, TRACER__U32, worker)
#define TRACER_WORKER_SLEEP_BEGIN(worker, reason) \
	TRACER__POINT2(tracer__in_worker, tracer__worker_sleep_begin, TRACER__U32, worker, TRACER__NAME, reason)
#define TRACER_WORKER_SLEEP_END(worker, cause) \
	TRACER__POINT2(tracer__in_worker, tracer__worker_sleep_end, TRACER__U32, worker, TRACER__NAME, cause)
#define TRACER_WORKER_BACKGROUND_BEGIN(worker, name) \
	TRACER__POINT2(tracer__in_worker, tracer__worker_background_begin, TRACER__U32, worker, TRACER__NAME, name)
#define TRACER_WORKER_BACKGROUND_END(worker) \
	TRACER__POINT1(tracer__in_worker, tracer__worker_background_end, TRACER__U32, worker)
#define TRACER_WORKER_BULK_BEGIN(worker, name) \
	TRACER__POINT2(tracer__in_worker, tracer__worker_bulk_begin, TRACER__U32, worker, TRACER__NAME, name)
#define TRACER_WORKER_BULK_END(worker) TRACER__POINT1(tracer__in_worker, tracer__worker_bulk_end, TRACER__U32, worker)
#define TRACER_QUEUE_DEPTH(worker, depth) \
	TRACER__POINT2(tracer__in_worker, tracer__queue_depth, TRACER__U32, worker, TRACER__U64, depth)

/* Stealing. victim_depth: tasks left in the victim's queue, or TRACER_UNKNOWN. */
#define TRACER_STEAL(thief, victim, task, victim_depth)                                               \
	TRACER__POINT4(tracer__in_steal, tracer__steal, TRACER__U32, thief, TRACER__U32, victim, TRACER__ID, task,       \
		       TRACER__U64, victim_depth)
#define TRACER_STEAL_FAILED(thief, victim) \
	TRACER__POINT2(tracer__in_steal, tracer__steal_failed, TRACER__U32, thief, TRACER__U32, victim)

/* Futures and continuations. SET and EXCEPTION: by the task that runs on this thread. */
#define TRACER_FUTURE_CREATED(future) TRACER__POINT1(tracer__in_future, tracer__future_created, TRACER__ID, future)
#define TRACER_FUTURE_WAIT(future, task) \
	TRACER__POINT2(tracer__in_future, tracer__future_wait, TRACER__ID, future, TRACER__ID, task)
#define TRACER_FUTURE_SET(future) TRACER__POINT1(tracer__in_future, tracer__future_set, TRACER__ID, future)
#define TRACER_FUTURE_EXCEPTION(future) TRACER__POINT1(tracer__in_future, tracer__future_exception, TRACER__ID, future)
#define TRACER_FUTURE_CALLBACK(future) TRACER__POINT1(tracer__in_future, tracer__future_callback, TRACER__ID, future)
#define TRACER_CONTINUATION_ATTACHED(future, continuation)                                            \
	TRACER__POINT2(tracer__in_future, tracer__continuation_attached, TRACER__ID, future, TRACER__ID, continuation)
#define TRACER_CONTINUATION_BEGIN(future, continuation) \
	TRACER__POINT2(tracer__in_future, tracer__continuation_begin, TRACER__ID, future, TRACER__ID, continuation)
#define TRACER_CONTINUATION_END(future, continuation) \
	TRACER__POINT2(tracer__in_future, tracer__continuation_end, TRACER__ID, future, TRACER__ID, continuation)

/* Locks. WAIT may be left out if the lock was free. */
#define TRACER_LOCK_WAIT(lock, name) \
	TRACER__POINT2(tracer__in_lock, tracer__lock_wait, TRACER__ID, lock, TRACER__NAME, name)
#define TRACER_LOCK_ACQUIRED(lock) TRACER__POINT1(tracer__in_lock, tracer__lock_acquired, TRACER__ID, lock)
#define TRACER_LOCK_RELEASED(lock) TRACER__POINT1(tracer__in_lock, tracer__lock_released, TRACER__ID, lock)

/* Zones nest, on the running task if there is one, else on the thread. */
#define TRACER_ZONE_BEGIN(name)                                                                       \
	TRACER__POINT3(tracer__in_zone, tracer__zone_begin, TRACER__NAME, name, TRACER__NAME, __func__, TRACER__NAME,    \
		       __FILE__ ":" TRACER__STR(__LINE__))
/* the same for bindings of other languages: the call site as strings, where is "file:line" */
#define TRACER_ZONE_BEGIN_AT(name, function, where)                                                   \
	TRACER__POINT3(tracer__in_zone, tracer__zone_begin_at, TRACER__NAME, name, TRACER__NAME, function, TRACER__NAME, \
		       where)
#define TRACER_ZONE_END() TRACER__POINT0(tracer__in_zone, tracer__zone_end)
/* declares a zone that lasts to the end of the enclosing scope, however it is left */
#define TRACER_ZONE(name) TRACER__PASTE(TRACER__SCOPE_, TRACER__ON_tracer__in_zone)(name)
#define TRACER_ZONE_FUNCTION() TRACER_ZONE(__func__)
#define TRACER__SCOPE_0(name) TRACER__REMOVED((TRACER__USE(name)))
/* annotate the innermost open zone; rgb: 0xrrggbb; value: a 64-bit integer or a double */
#define TRACER_ZONE_TEXT(text) TRACER__POINT1(tracer__in_zone, tracer__zone_text, TRACER__NAME, text)
#define TRACER_ZONE_VALUE(name, value) \
	TRACER__POINTN(tracer__in_zone, tracer__zone_value, name, value)
#define TRACER_ZONE_COLOR(rgb) TRACER__POINT1(tracer__in_zone, tracer__zone_color, TRACER__U32, rgb)
/* an instant */
#define TRACER_MESSAGE(text) TRACER__POINT1(tracer__in_zone, tracer__message, TRACER__NAME, text)
#define TRACER_MESSAGE_COLOR(text, rgb) \
	TRACER__POINT2(tracer__in_zone, tracer__message_color, TRACER__NAME, text, TRACER__U32, rgb)

/* Markers: one open marker a channel, a set ends the one before. extra: any 64-bit value. */
#define TRACER_MARKER_SET(channel, name, extra)                                                       \
	TRACER__POINT3(tracer__in_marker, tracer__marker_set, TRACER__U32, channel, TRACER__NAME, name, TRACER__ID, extra)
#define TRACER_MARKER_RESET(channel) TRACER__POINT1(tracer__in_marker, tracer__marker_reset, TRACER__U32, channel)
#define TRACER_CHANNEL_NAME(channel, name) \
	TRACER__POINT2(tracer__in_marker, tracer__channel_name, TRACER__U32, channel, TRACER__NAME, name)
#define TRACER_MARKER_COLOR(name, rgb) \
	TRACER__POINT2(tracer__in_marker, tracer__marker_color, TRACER__NAME, name, TRACER__U32, rgb)

/* Flows: arrows between what is open at the points. SHARED and MARKER ids hold across processes. */
#define TRACER_FLOW_START(id) TRACER__POINT1(tracer__in_flow, tracer__flow_start, TRACER__ID, id)
#define TRACER_FLOW_STEP(id) TRACER__POINT1(tracer__in_flow, tracer__flow_step, TRACER__ID, id)
#define TRACER_FLOW_END(id) TRACER__POINT1(tracer__in_flow, tracer__flow_end, TRACER__ID, id)
#define TRACER_FLOW_SHARED_START(id) TRACER__POINT1(tracer__in_flow, tracer__flow_shared_start, TRACER__ID, id)
#define TRACER_FLOW_SHARED_END(id) TRACER__POINT1(tracer__in_flow, tracer__flow_shared_end, TRACER__ID, id)
#define TRACER_MARKER_FLOW_START(channel, id) \
	TRACER__POINT2(tracer__in_flow, tracer__marker_flow_start, TRACER__U32, channel, TRACER__ID, id)
#define TRACER_MARKER_FLOW_END(channel, id) \
	TRACER__POINT2(tracer__in_flow, tracer__marker_flow_end, TRACER__U32, channel, TRACER__ID, id)

/* value: a 64-bit integer or a double */
#define TRACER_COUNTER(name, value) \
	TRACER__POINTN(tracer__in_counter, tracer__counter, name, value)

/* Messages to other processes or machines; id is the same, and unique, at both ends. */
#define TRACER_SENT(id, destination, bytes)                                                           \
	TRACER__POINT3(tracer__in_message, tracer__sent, TRACER__ID, id, TRACER__ID, destination, TRACER__U64, bytes)
#define TRACER_RECEIVED(id, source, bytes)                                                            \
	TRACER__POINT3(tracer__in_message, tracer__received, TRACER__ID, id, TRACER__ID, source, TRACER__U64, bytes)

#define TRACER_FRAME(name) TRACER__POINT1(tracer__in_frame, tracer__frame, TRACER__NAME, name)

/*
 * This process shows nothing from OFF to ON: the points of this DSO are not recorded (direct probes
 * still fire), those of other DSOs are left out when the capture is read. Not counted; ON ends any
 * number of OFFs. Holds for tracers that attach later, too.
 */
#define TRACER_CAPTURE_OFF() TRACER__PASTE(TRACER__OFF_, TRACER__ON_tracer__in_capture)()
#define TRACER_CAPTURE_ON() TRACER__PASTE(TRACER__RESUME_, TRACER__ON_tracer__in_capture)()
#define TRACER__OFF_0() TRACER__POINT0_0(0, 0)
#define TRACER__RESUME_0() TRACER__POINT0_0(0, 0)
#define TRACER__OFF_1()                                                                               \
	do {                                                                                          \
		TRACER__POINT0(tracer__in_capture, tracer__capture_off);                                                 \
		tracer__set_off(1);                                                                   \
	} while (0)
#define TRACER__RESUME_1()                                                                            \
	do {                                                                                          \
		tracer__set_off(0);                                                                   \
		TRACER__POINT0(tracer__in_capture, tracer__capture_on);                                                  \
	} while (0)

#endif /* TRACER_TRACER_H */
