// SPDX-License-Identifier: BSD-2-Clause
/* The clocks of a capture: the cycle counter that points stamp with, and the kernel's. */
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif
#include "clock.h"

#define ATTEMPTS 20

static uint64_t read_ns(clockid_t id)
{
	struct timespec time = {0};

	clock_gettime(id, &time);
	return (uint64_t)time.tv_sec * 1000000000ULL + (uint64_t)time.tv_nsec;
}

uint64_t now__boottime(void)
{
	return read_ns(CLOCK_BOOTTIME);
}

uint64_t now__monotonic(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

static uint64_t read_counter(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	uint64_t value;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#endif
}

bool counter__is_steady(void)
{
#if defined(__x86_64__)
	unsigned int a, b, c, d;

	/* "invariant TSC", AMD64 manual volume 3, function 8000_0007h, and Intel's
	 * volume 2, CPUID */
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1U << 8;
#else
	return true; /* architected */
#endif
}

void clocks__read(struct file_clock *clock)
{
	struct file_clock attempt;
	uint64_t after;
	int i;

	for (i = 0; i < ATTEMPTS; i++) {
		attempt.cycles = read_counter();
		attempt.monotonic = now__monotonic();
		after = read_counter();
		attempt.spread = after - attempt.cycles;
		attempt.cycles += attempt.spread / 2;
		if (!i || attempt.spread < clock->spread)
			*clock = attempt;
	}
	/* the other two run at the same rate: only their distance counts, and it hardly moves */
	attempt.monotonic = now__monotonic();
	clock->boottime = clock->monotonic + (now__boottime() - attempt.monotonic);
	clock->realtime = clock->monotonic + (read_ns(CLOCK_REALTIME) - attempt.monotonic);
}
