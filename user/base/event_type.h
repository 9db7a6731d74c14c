/* SPDX-License-Identifier: BSD-2-Clause */
/* The points' numbers, from the one list: EV_task_begin and so on. */
#ifndef TRACER_BASE_EVENT_TYPE_H
#define TRACER_BASE_EVENT_TYPE_H

enum event_type {
#define EVENT_ROW(number, name) EV_##name = (number),
#define TRACER_EVENT0(number, name, ...) EVENT_ROW(number, name)
#define TRACER_EVENT1(number, name, ...) EVENT_ROW(number, name)
#define TRACER_EVENT2(number, name, ...) EVENT_ROW(number, name)
#define TRACER_EVENT3(number, name, ...) EVENT_ROW(number, name)
#define TRACER_EVENT4(number, name, ...) EVENT_ROW(number, name)
#include "../../usdt/tracer/events.def"
#undef EVENT_ROW
};

#endif /* TRACER_BASE_EVENT_TYPE_H */
