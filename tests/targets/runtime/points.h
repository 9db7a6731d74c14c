/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runtime's points: each is the tracer's macro, and then the same in the journal. Arguments are
 * evaluated twice and must have no side effects.
 */
#ifndef RUNTIME_POINTS_H
#define RUNTIME_POINTS_H

#include <tracer/tracer.h>
#include "journal.h"

#define POINT_JOURNAL(event, a, b, c, d)                                              \
	do {                                                                          \
		if (__builtin_expect(journal__on, 0))                                 \
			journal__event(JOURNAL_##event, (uint64_t)(a), (uint64_t)(b), \
				       (uint64_t)(c), (uint64_t)(d));                 \
	} while (0)

/* POINTn(macro without its prefix, event's name in events.def, n arguments) */
#define POINT0(macro, event)                      \
	do {                                      \
		TRACER_##macro();                 \
		POINT_JOURNAL(event, 0, 0, 0, 0); \
	} while (0)
#define POINT1(macro, event, a)                   \
	do {                                      \
		TRACER_##macro(a);                \
		POINT_JOURNAL(event, a, 0, 0, 0); \
	} while (0)
#define POINT2(macro, event, a, b)                \
	do {                                      \
		TRACER_##macro(a, b);             \
		POINT_JOURNAL(event, a, b, 0, 0); \
	} while (0)
#define POINT3(macro, event, a, b, c)             \
	do {                                      \
		TRACER_##macro(a, b, c);          \
		POINT_JOURNAL(event, a, b, c, 0); \
	} while (0)
#define POINT4(macro, event, a, b, c, d)          \
	do {                                      \
		TRACER_##macro(a, b, c, d);       \
		POINT_JOURNAL(event, a, b, c, d); \
	} while (0)

#define POINT_TEXT_(x) #x
#define POINT_TEXT(x) POINT_TEXT_(x)
#define POINT_WHERE __FILE__ ":" POINT_TEXT(__LINE__)
#define POINT_CONCAT_(a, b) a##b
#define POINT_CONCAT(a, b) POINT_CONCAT_(a, b)

static inline void point__zone_begun(_Atomic uint32_t *id, const char *name, const char *function,
				     const char *where)
{
	if (__builtin_expect(journal__on, 0)) {
		journal__event(JOURNAL_zone_begin, (uintptr_t)name, (uintptr_t)function,
			       (uintptr_t)where, 0);
		journal__zone(id, name, function, where);
	}
}

static inline void point__zone_ended(char *unused)
{
	(void)unused;
	POINT_JOURNAL(zone_end, 0, 0, 0, 0);
}

#define POINT_ZONE_BEGIN(name)                                                  \
	do {                                                                    \
		static _Atomic uint32_t point_zone_id;                          \
		TRACER_ZONE_BEGIN(name);                                        \
		point__zone_begun(&point_zone_id, name, __func__, POINT_WHERE); \
	} while (0)

#define POINT_ZONE_END() POINT0(ZONE_END, zone_end)

/* To the end of the scope. What is declared first is cleaned up last: after the point of the end.
 */
#define POINT_ZONE(name)                                                                     \
	static _Atomic uint32_t POINT_CONCAT(point_zone_id_, __LINE__);                      \
	__attribute__((cleanup(point__zone_ended), unused)) char POINT_CONCAT(point_zone_,   \
									      __LINE__) = 0; \
	TRACER_ZONE(name);                                                                   \
	point__zone_begun(&POINT_CONCAT(point_zone_id_, __LINE__), name, __func__, POINT_WHERE)

#endif /* RUNTIME_POINTS_H */
