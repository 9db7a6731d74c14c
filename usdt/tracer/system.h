/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the rare half of a point asks of the kernel and of the machine, without libc: system calls
 * that leave errno alone, and the thread's pointer to its ring. Include tracer.h, not this.
 */
#ifndef TRACER_SYSTEM_H
#define TRACER_SYSTEM_H

#ifdef __cplusplus
extern "C" {
#endif

struct tracer__timespec {
	int64_t seconds;
	int64_t nanoseconds;
};
/* weak: a static or freestanding program may come without */
extern int tracer__clock_gettime(int clock, struct tracer__timespec *time) __asm__("clock_gettime")
	__attribute__((weak));

#if defined(__x86_64__)
#define TRACER__SYS_mmap 9
#define TRACER__SYS_munmap 11
#define TRACER__SYS_rt_sigprocmask 14
#define TRACER__SYS_madvise 28
#define TRACER__SYS_getpid 39
#define TRACER__SYS_gettid 186
#define TRACER__SYS_futex 202
#define TRACER__SYS_clock_gettime 228
#define TRACER__SYS_tgkill 234
#define TRACER__MACHINE 62
#define TRACER__SITE_STRIDE "1"
#else
#define TRACER__SYS_futex 98
#define TRACER__SYS_clock_gettime 113
#define TRACER__SYS_tgkill 131
#define TRACER__SYS_rt_sigprocmask 135
#define TRACER__SYS_getpid 172
#define TRACER__SYS_gettid 178
#define TRACER__SYS_munmap 215
#define TRACER__SYS_mmap 222
#define TRACER__SYS_madvise 233
#define TRACER__MACHINE 183
#define TRACER__SITE_STRIDE "4"
#endif

/* returns what the kernel returns: a negative errno for an error */
TRACER__HELPER uint64_t tracer__syscall(uint64_t number, uint64_t a, uint64_t b, uint64_t c,
					uint64_t d, uint64_t e)
{
#if defined(__x86_64__)
	uint64_t result;
	register uint64_t r10 __asm__("r10") = d;
	register uint64_t r8 __asm__("r8") = e;
	register uint64_t r9 __asm__("r9") = 0;

	__asm__ __volatile__("syscall"
			     : "=a"(result)
			     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			     : "rcx", "r11", "memory");
	return result;
#else
	register uint64_t x8 __asm__("x8") = number;
	register uint64_t x0 __asm__("x0") = a;
	register uint64_t x1 __asm__("x1") = b;
	register uint64_t x2 __asm__("x2") = c;
	register uint64_t x3 __asm__("x3") = d;
	register uint64_t x4 __asm__("x4") = e;
	register uint64_t x5 __asm__("x5") = 0;

	__asm__ __volatile__("svc 0"
			     : "+r"(x0)
			     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			     : "memory");
	return x0;
#endif
}

TRACER__HELPER struct tracer_ring *tracer__ring_at(uint64_t address)
{
	return TRACER__POINTER(struct tracer_ring *, address);
}

TRACER__HELPER void tracer__set_ring(struct tracer_ring *ring)
{
#if defined(__x86_64__)
	uint64_t offset;

	__asm__ __volatile__("movq tracer_v1_ring@gottpoff(%%rip), %0\n\t"
			     "movq %1, %%fs:(%0)"
			     : "=&r"(offset)
			     : "r"(ring)
			     : "memory");
#else
	uint64_t offset, thread;

	__asm__ __volatile__("adrp %0, :gottprel:tracer_v1_ring\n\t"
			     "ldr %0, [%0, #:gottprel_lo12:tracer_v1_ring]\n\t"
			     "mrs %1, tpidr_el0\n\t"
			     "str %2, [%1, %0]"
			     : "=&r"(offset), "=&r"(thread)
			     : "r"(ring)
			     : "memory");
#endif
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TRACER_SYSTEM_H */
