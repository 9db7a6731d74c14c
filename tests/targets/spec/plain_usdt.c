// SPDX-License-Identifier: BSD-2-Clause
/*
 * Points as somebody else would build them: notes and nops, no ring, and one of another provider with
 * fourteen arguments in every kind of place. No header is needed for that.
 */
#include <stdint.h>
#include <stdio.h>

#define NOTE(provider, name, args)                                                           \
	"990:	nop\n"                                                                          \
	"	.pushsection .note.stapsdt,\"\",\"note\"\n"                                         \
	"	.balign 4\n	.4byte 992f-991f, 994f-993f, 3\n"                                    \
	"991:	.asciz \"stapsdt\"\n992:	.balign 4\n"                                         \
	"993:	.8byte 990b, _.stapsdt.base, 0\n"                                               \
	"	.asciz \"" provider "\"\n	.asciz \"" name "\"\n	.asciz \"" args "\"\n"               \
	"994:	.balign 4\n	.popsection\n"                                                  \
	"	.ifndef _.stapsdt.base\n"                                                       \
	"	.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"              \
	"	.weak _.stapsdt.base\n	.hidden _.stapsdt.base\n"                                \
	"_.stapsdt.base: .space 1\n	.size _.stapsdt.base, 1\n	.popsection\n	.endif\n"

static void task_created(uint64_t task, const char *name, uint64_t parent)
{
	__asm__ volatile(NOTE("tracer", "task_created", "8@%0 8@%1 8@%2") : : "r"(task), "r"(name),
			 "r"(parent));
}

static void task_begin(uint64_t task, uint32_t worker)
{
	__asm__ volatile(NOTE("tracer", "task_begin", "8@%0 4@%k1") : : "m"(task), "r"(worker));
}

static void task_completed(uint64_t task)
{
	__asm__ volatile(NOTE("tracer", "task_completed", "8@%0") : : "r"(task));
}

int global = 1300;
int64_t table[4] = {0, 0, 1400, 0};

__attribute__((noinline)) static void many(uint64_t first)
{
	volatile int32_t local = -500;
	volatile uint64_t array[3] = {1, 2, 600};

	__asm__ volatile(
		"mov $0x0000ffff00000320, %%r8\n	mov $-900, %%r9\n	mov $0x4b00, %%ebx\n"
		"mov $2, %%rcx\n"
		NOTE("many", "places",
		     "8@%0 -4@$-200 8@$300 -2@%%r9w -4@%1 8@16(%2) 8@(%2,%%rcx,8) 4@%%r8d 1@%%bh "
		     "-8@%%r9 8@%%rcx -1@$-1 4@global(%%rip) -8@table+16(%%rip)")
		:
		: "r"(first), "m"(local), "r"(array)
		: "r8", "r9", "rbx", "rcx");
}

int main(void)
{
	uint64_t i;

	for (i = 1; i <= 20; i++) {
		task_created(i, i % 2 ? "odd" : "even", i - 1);
		task_begin(i, 3);
		task_completed(i);
	}
	many(100);
	printf("%d\n", global);
	return 0;
}
