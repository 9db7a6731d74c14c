/* SPDX-License-Identifier: BSD-2-Clause */
/* What the collector's parts give one another. */
#ifndef TRACER_ITT_FUNCTIONS_H
#define TRACER_ITT_FUNCTIONS_H

#include <pthread.h>
#include "itt_abi.h"

struct itt_function {
	const char *name; /* without its __itt_; NULL in the last */
	void *function;
};

#define FUNCTION(name)              \
	{                           \
#name, (void *)name \
	}

extern const struct itt_function task_functions[], mark_functions[];

/* names that programs give are compared and kept, for good, under this lock */
extern pthread_mutex_t lists;

struct itt_domain *domain_create(const char *name);
struct itt_string *string_create(const char *text);
const char *text_of(const struct itt_string *string);
/* the program's three words as one; 0 is none */
uint64_t identity(struct itt_id id);

#endif /* TRACER_ITT_FUNCTIONS_H */
