/* SPDX-License-Identifier: BSD-2-Clause */
/* The programs of the bundled target: each checks its own result. */
#ifndef DEMO_H
#define DEMO_H

#include <stdbool.h>
#include <stdint.h>
#include "../runtime/points.h"
#include "../runtime/runtime.h"

struct demo_options {
	uint32_t workers;
	uint64_t size;
	uint64_t work_ns;
	bool fork; /* pipeline: its sink is a process of its own */
	bool quiet;
};

struct demo {
	const char *name;
	const char *doc;
	uint64_t default_size;
	/* before the runtime starts, while there is one thread; may be NULL */
	int (*before)(const struct demo_options *options);
	/* 0 if the result is right; may be called several times */
	int (*run)(struct runtime *runtime, const struct demo_options *options);
	/* after the runtime has stopped; may be NULL */
	int (*after)(const struct demo_options *options);
};

extern const struct demo demo_fib, demo_stencil, demo_pipeline, demo_churn;

/* says so if a result is not as expected; 0 or 1 */
int demo__check(const char *what, int64_t result, int64_t expected);
/* TRACER_MESSAGE and the like for demos go through these so that the journal has them */
#define DEMO_COUNTER(name, value) POINT2(COUNTER, counter, name, value)

#endif /* DEMO_H */
