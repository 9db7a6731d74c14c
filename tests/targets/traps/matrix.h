/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every macro of interface.md, section 1, as statements; included in C and in C++. The program has macros and
 * variables of the names that are most likely.
 */
#ifndef TRAPS_MATRIX_H
#define TRAPS_MATRIX_H

#define task trap_macro_task
#define worker trap_macro_worker
#define steal trap_macro_steal
#define future trap_macro_future
#define lock trap_macro_lock
#define zone trap_macro_zone
#define marker trap_macro_marker
#define flow trap_macro_flow
#define counter trap_macro_counter
#define message trap_macro_message
#define frame trap_macro_frame
#define capture trap_macro_capture
#define name trap_macro_name
#define id trap_macro_id
#define str trap_macro_str
#define num trap_macro_num
#define lit trap_macro_lit
#define always trap_macro_always
#define running trap_macro_running
#define parent trap_macro_parent
#define value trap_macro_value
#define gate trap_macro_gate
#define ring trap_macro_ring
#define head trap_macro_head
#define size trap_macro_size
#define type trap_macro_type
#define record trap_macro_record
#define bits trap_macro_bits
#define u32 trap_macro_u32
#define u64 trap_macro_u64
#define detail trap_macro_detail
#define PAGE_SIZE 4096
#define STR(x) x
#define likely(x) x

#include <tracer/tracer.h>

#define EVERY_POINT(object, number, small, text, real)                                                \
	do {                                                                                          \
		TRACER_TASK_STAGED(object, text, number);                                             \
		TRACER_TASK_CREATED(object, "literal", object);                                       \
		TRACER_TASK_READY(object);                                                            \
		TRACER_TASK_BEGIN(number, small);                                                     \
		TRACER_TASK_END(number);                                                              \
		TRACER_TASK_YIELDED(object);                                                          \
		TRACER_TASK_SUSPENDED(object, "future::wait", object);                                \
		TRACER_TASK_COMPLETED(object);                                                        \
		TRACER_TASK_RESUMED(object, text, 0);                                                 \
		TRACER_TASK_DESTROYED(object);                                                        \
		TRACER_TASK_RENAMED(object, text);                                                    \
		TRACER_TASK_DEPENDS(object, object, "in");                                            \
		TRACER_TASK_TEXT(object, "key", text);                                                \
		TRACER_TASK_VALUE(object, "key", number);                                             \
		TRACER_TASK_VALUE(object, "key", real);                                               \
		TRACER_WORKER_START(small, "worker");                                                 \
		TRACER_WORKER_STOP(small);                                                            \
		TRACER_WORKER_SLEEP_BEGIN(small, "idle");                                             \
		TRACER_WORKER_SLEEP_END(small, text);                                                 \
		TRACER_WORKER_BACKGROUND_BEGIN(TRACER_NO_WORKER, "poll");                             \
		TRACER_WORKER_BACKGROUND_END(TRACER_NO_WORKER);                                       \
		TRACER_WORKER_BULK_BEGIN(small, text);                                                \
		TRACER_WORKER_BULK_END(small);                                                        \
		TRACER_QUEUE_DEPTH(small, small);                                                     \
		TRACER_STEAL(small, small, object, TRACER_UNKNOWN);                                   \
		TRACER_STEAL_FAILED(small, 1);                                                        \
		TRACER_FUTURE_CREATED(object);                                                        \
		TRACER_FUTURE_WAIT(object, number);                                                   \
		TRACER_FUTURE_SET(object);                                                            \
		TRACER_FUTURE_EXCEPTION(object);                                                      \
		TRACER_FUTURE_CALLBACK(object);                                                       \
		TRACER_CONTINUATION_ATTACHED(object, number);                                         \
		TRACER_CONTINUATION_BEGIN(object, number);                                            \
		TRACER_CONTINUATION_END(object, number);                                              \
		TRACER_LOCK_WAIT(object, "mutex");                                                    \
		TRACER_LOCK_ACQUIRED(object);                                                         \
		TRACER_LOCK_RELEASED(object);                                                         \
		TRACER_ZONE_BEGIN("zone");                                                            \
		TRACER_ZONE_TEXT(text);                                                               \
		TRACER_ZONE_VALUE("value", number);                                                   \
		TRACER_ZONE_VALUE("value", real);                                                     \
		TRACER_ZONE_VALUE("value", -1);                                                       \
		TRACER_ZONE_COLOR(0xff8800);                                                          \
		TRACER_ZONE_END();                                                                    \
		TRACER_ZONE_BEGIN_AT(text, "function", "file:1");                                     \
		TRACER_ZONE_END();                                                                    \
		TRACER_MESSAGE(text);                                                                 \
		TRACER_MESSAGE_COLOR("message", 0x00ff00);                                            \
		TRACER_MARKER_SET(small, text, 7);                                                    \
		TRACER_MARKER_RESET(small);                                                           \
		TRACER_CHANNEL_NAME(small, "channel");                                                \
		TRACER_MARKER_COLOR(text, 0xff);                                                      \
		TRACER_FLOW_START(object);                                                            \
		TRACER_FLOW_STEP(number);                                                             \
		TRACER_FLOW_END(number);                                                              \
		TRACER_FLOW_SHARED_START(number);                                                     \
		TRACER_FLOW_SHARED_END(number);                                                       \
		TRACER_MARKER_FLOW_START(small, number);                                              \
		TRACER_MARKER_FLOW_END(small, number);                                                \
		TRACER_COUNTER("counter", real);                                                      \
		TRACER_COUNTER(text, number);                                                         \
		TRACER_COUNTER("counter", 1.5f);                                                      \
		TRACER_SENT(number, 1, 100);                                                          \
		TRACER_RECEIVED(number, 0, number);                                                   \
		TRACER_FRAME("frame");                                                                \
		TRACER_CAPTURE_OFF();                                                                 \
		TRACER_CAPTURE_ON();                                                                  \
		if (TRACER_ENABLED(task) && TRACER_ENABLED(worker) && TRACER_ENABLED(steal) &&        \
		    TRACER_ENABLED(future) && TRACER_ENABLED(lock) && TRACER_ENABLED(zone) &&         \
		    TRACER_ENABLED(marker) && TRACER_ENABLED(flow) && TRACER_ENABLED(counter) &&      \
		    TRACER_ENABLED(message) && TRACER_ENABLED(frame))                                 \
			TRACER_MESSAGE("all");                                                        \
		else                                                                                  \
			TRACER_FRAME("else");                                                         \
	} while (0)

#endif /* TRAPS_MATRIX_H */
