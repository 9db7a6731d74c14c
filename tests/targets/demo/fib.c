/* SPDX-License-Identifier: BSD-2-Clause */
/* Recursive Fibonacci: a task per call, a future per result. */
#include "demo.h"

static const struct demo_options *demo_options;

static int fib(void *arg, int64_t *value)
{
	intptr_t n = (intptr_t)arg;
	struct future *future;
	int64_t left = 0, right = 0;
	int err;

	runtime__work(demo_options->work_ns);
	if (n < 2) {
		*value = n;
		return 0;
	}
	POINT_ZONE_BEGIN("fork");
	future = task__spawn(NULL, "fib", fib, (void *)(n - 1));
	err = fib((void *)(n - 2), &left);
	POINT_ZONE_END();
	if (!err)
		err = future__wait(future, &right);
	future__release(future);
	*value = left + right;
	return err;
}

static int root(void *arg, int64_t *value)
{
	POINT1(MESSAGE, message, "fib starts");
	return fib(arg, value);
}

static int run(struct runtime *runtime, const struct demo_options *options)
{
	int64_t a = 0, b = 1, result = -1;
	struct future *future;

	demo_options = options;
	for (uint64_t i = 0; i < options->size; i++) {
		int64_t next = a + b;

		a = b;
		b = next;
	}
	future = task__spawn(runtime, "fib root", root, (void *)(intptr_t)options->size);
	if (future__wait(future, &result))
		result = -1;
	future__release(future);
	return demo__check("fib", result, a);
}

const struct demo demo_fib = {
	.name = "fib",
	.doc = "recursive Fibonacci, a task and a future per call; size: n",
	.default_size = 20,
	.run = run,
};
