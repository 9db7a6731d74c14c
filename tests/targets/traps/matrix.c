/* SPDX-License-Identifier: BSD-2-Clause */
/* Every macro in C: in functions, static inline ones, and C99 inline ones with external linkage. */
#include "matrix.h"

struct matrix_object {
	int member;
};

void matrix_plain(const struct matrix_object *object, uint64_t number, unsigned small, const char *text, double real);
void matrix_scopes(const char *text);
inline void matrix_external(void *object, const char *text);
void matrix_caller(void *object);

void matrix_plain(const struct matrix_object *object, uint64_t number, unsigned small, const char *text, double real)
{
	EVERY_POINT(object, number, small, text, real);
}

static __inline__ void matrix_static(void *object, const char *text)
{
	TRACER_TASK_CREATED(object, text, 12);
	TRACER_ZONE_VALUE(text, 0.5);
	TRACER_ZONE_BEGIN(text);
	TRACER_ZONE_END();
}

/* no static may be used or defined in here */
inline void matrix_external(void *object, const char *text)
{
	TRACER_ZONE("external");
	TRACER_TASK_CREATED(object, text, 12);
	TRACER_STEAL(1, 2U, object, TRACER_UNKNOWN);
	TRACER_COUNTER(text, 0.5);
	TRACER_CAPTURE_OFF();
	TRACER_CAPTURE_ON();
}
extern inline void matrix_external(void *object, const char *text);

void matrix_scopes(const char *text)
{
	int i;

	TRACER_ZONE_FUNCTION();
	TRACER_ZONE(text);
	for (i = 0; i < 3; i++) {
		TRACER_ZONE("inner");
		if (text)
			TRACER_MESSAGE(text);
		else
			TRACER_MESSAGE("none");
	}
}

void matrix_caller(void *object)
{
	matrix_static(object, "text");
	matrix_external(object, "text");
}
