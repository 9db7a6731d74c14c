/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fibers. The switch is a function call that returns on another stack: it saves what the ABI lets
 * the callee keep, and the control words of the floating-point unit, nothing else. No system call,
 * unlike swapcontext(), which sets the signal mask each time.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fiber.h"

#ifdef RUNTIME_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#ifdef RUNTIME_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* Instrumented frames are several times as large. */
#if defined(RUNTIME_TSAN) || defined(RUNTIME_ASAN)
#define STACK_FACTOR 4
#else
#define STACK_FACTOR 1
#endif

void runtime_switch(void **save_sp, void *load_sp);
void runtime_trampoline(void);
__attribute__((noreturn, used)) void runtime_fiber_main(struct fiber *fiber);

#if defined(__x86_64__)

/* Words of a saved context, lowest address first. */
enum {
	SAVED_CONTROL,
	SAVED_R15,
	SAVED_R14,
	SAVED_R13,
	SAVED_R12,
	SAVED_RBX,
	SAVED_RBP,
	SAVED_RIP,
	SAVED_WORDS
};

__asm__(".text\n"
	".globl runtime_switch\n"
	".hidden runtime_switch\n"
	".type runtime_switch, @function\n"
	".p2align 4\n"
	"runtime_switch:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	subq $8, %rsp\n"
	"	stmxcsr (%rsp)\n"
	"	fnstcw 4(%rsp)\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	ldmxcsr (%rsp)\n"
	"	fldcw 4(%rsp)\n"
	"	addq $8, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size runtime_switch, . - runtime_switch\n"
	".globl runtime_trampoline\n"
	".hidden runtime_trampoline\n"
	".type runtime_trampoline, @function\n"
	".p2align 4\n"
	"runtime_trampoline:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n" /* here a debugger's walk up the stack ends */
	"	movq %r12, %rdi\n"
	"	call runtime_fiber_main\n"
	"	ud2\n"
	"	.cfi_endproc\n"
	".size runtime_trampoline, . - runtime_trampoline\n");

static void *first_context(struct fiber *fiber)
{
	/* 16 bytes stay above: the trampoline finds the stack aligned as before a call */
	uint64_t *sp = (uint64_t *)((char *)fiber->bottom + fiber->size - 16) - SAVED_WORDS;
	uint32_t mxcsr;
	uint16_t control;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(control));
	for (int i = 0; i < SAVED_WORDS; i++)
		sp[i] = 0;
	sp[SAVED_CONTROL] = mxcsr | (uint64_t)control << 32;
	sp[SAVED_R12] = (uintptr_t)fiber;
	sp[SAVED_RIP] = (uintptr_t)runtime_trampoline;
	return sp;
}

#elif defined(__aarch64__)

/* x19 to x28, x29, x30, d8 to d15: 20 words; FPCR: 1; one to keep 16-byte alignment */
enum { SAVED_X19 = 0, SAVED_X30 = 11, SAVED_FPCR = 20, SAVED_WORDS = 22 };

__asm__(".text\n"
	".globl runtime_switch\n"
	".hidden runtime_switch\n"
	".type runtime_switch, %function\n"
	".p2align 4\n"
	"runtime_switch:\n"
	"	sub sp, sp, #176\n"
	"	stp x19, x20, [sp, #0]\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mrs x9, fpcr\n"
	"	str x9, [sp, #160]\n"
	"	mov x9, sp\n"
	"	str x9, [x0]\n"
	"	mov sp, x1\n"
	"	ldr x9, [sp, #160]\n"
	"	msr fpcr, x9\n"
	"	ldp x19, x20, [sp, #0]\n"
	"	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n"
	"	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #176\n"
	"	ret\n"
	".size runtime_switch, . - runtime_switch\n"
	".globl runtime_trampoline\n"
	".hidden runtime_trampoline\n"
	".type runtime_trampoline, %function\n"
	".p2align 4\n"
	"runtime_trampoline:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined x30\n"
	"	mov x0, x19\n"
	"	bl runtime_fiber_main\n"
	"	brk #1\n"
	"	.cfi_endproc\n"
	".size runtime_trampoline, . - runtime_trampoline\n");

static void *first_context(struct fiber *fiber)
{
	uint64_t *sp = (uint64_t *)((char *)fiber->bottom + fiber->size - 16) - SAVED_WORDS;
	uint64_t control;

	__asm__ volatile("mrs %0, fpcr" : "=r"(control));
	for (int i = 0; i < SAVED_WORDS; i++)
		sp[i] = 0;
	sp[SAVED_X19] = (uintptr_t)fiber;
	sp[SAVED_X30] = (uintptr_t)runtime_trampoline;
	sp[SAVED_FPCR] = control;
	return sp;
}

#else
#error "the runtime has a context switch for x86-64 and AArch64 only"
#endif

void runtime_fiber_main(struct fiber *fiber)
{
#ifdef RUNTIME_ASAN
	__sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
	fiber->entry(fiber->arg);
	abort(); /* there is nothing to return to */
}

int fiber__init(struct fiber *fiber, size_t stack_size, void (*entry)(void *arg), void *arg)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	fiber->size = (stack_size * STACK_FACTOR + page - 1) & ~(page - 1);
	fiber->mapping = mmap(NULL, fiber->size + page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (fiber->mapping == MAP_FAILED) {
		fiber->mapping = NULL;
		return -errno;
	}
	if (mprotect(fiber->mapping, page, PROT_NONE)) {
		int err = -errno;

		munmap(fiber->mapping, fiber->size + page);
		fiber->mapping = NULL;
		return err;
	}
	fiber->bottom = (char *)fiber->mapping + page;
	fiber->entry = entry;
	fiber->arg = arg;
	fiber->shadow = NULL;
#ifdef RUNTIME_TSAN
	fiber->shadow = __tsan_create_fiber(0);
#endif
	fiber->sp = first_context(fiber);
	return 0;
}

int fiber__adopt(struct fiber *fiber)
{
	pthread_attr_t attr;
	int err = pthread_getattr_np(pthread_self(), &attr);

	if (err)
		return -err;
	pthread_attr_getstack(&attr, &fiber->bottom, &fiber->size);
	pthread_attr_destroy(&attr);
	fiber->mapping = NULL;
	fiber->shadow = NULL;
#ifdef RUNTIME_TSAN
	fiber->shadow = __tsan_get_current_fiber();
#endif
	return 0;
}

__attribute__((noinline)) void fiber__switch(struct fiber *from, struct fiber *to)
{
#ifdef RUNTIME_TSAN
	__tsan_switch_to_fiber(to->shadow, 0);
#endif
#ifdef RUNTIME_ASAN
	__sanitizer_start_switch_fiber(&from->shadow, to->bottom, to->size);
#endif
	runtime_switch(&from->sp, to->sp);
#ifdef RUNTIME_ASAN
	__sanitizer_finish_switch_fiber(from->shadow, NULL, NULL);
#endif
}

void fiber__free(struct fiber *fiber)
{
	if (!fiber->mapping)
		return;
#ifdef RUNTIME_TSAN
	__tsan_destroy_fiber(fiber->shadow);
#endif
#ifdef RUNTIME_ASAN
	/* its frames never returned; who gets these addresses next must not inherit red zones */
	__asan_unpoison_memory_region(fiber->bottom, fiber->size);
#endif
	munmap(fiber->mapping,
	       fiber->size + (size_t)((char *)fiber->bottom - (char *)fiber->mapping));
	fiber->mapping = NULL;
}
