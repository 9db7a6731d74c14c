// SPDX-License-Identifier: BSD-2-Clause
/*
 * For hooks_openmp.py, on gcc's runtime: a region whose function begins with an instruction that the
 * kernel takes no probe on (lock), and one whose function does not.
 */
#include <stdatomic.h>
#include <stdio.h>

#define ROUNDS 10
#define TEAM 3

static atomic_int locked, others;

static __attribute__((noinline)) void locks(void)
{
#pragma omp parallel num_threads(TEAM)
	locked++;
}

static __attribute__((noinline)) void turns(void)
{
#pragma omp parallel num_threads(TEAM)
	{
		for (volatile int i = 0; i < 100; i++)
			;
		others++;
	}
}

int main(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		locks();
		turns();
	}
	printf("%d\n", locked + others);
	return 0;
}
