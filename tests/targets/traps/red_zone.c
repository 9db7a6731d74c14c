// SPDX-License-Identifier: BSD-2-Clause
/* Small functions keep what they hold across points that are recorded, and handed over now and then. */
#include <stdint.h>
#include <stdio.h>
#include <tracer/tracer.h>

__attribute__((noinline)) static uint64_t leaf(uint64_t a, uint64_t b, uint64_t c)
{
	volatile uint64_t kept[8] = {a, b, c, a ^ b, b ^ c, a + c, ~a, ~b};
	uint64_t sum = 0;

	TRACER_TASK_BEGIN(a, 1);
	for (int i = 0; i < 8; i++)
		sum += kept[i] * (uint64_t)(i + 1);
	TRACER_TASK_END(a);
	for (int i = 0; i < 8; i++)
		sum ^= kept[i];
	return sum;
}

static uint64_t expected(uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t kept[8] = {a, b, c, a ^ b, b ^ c, a + c, ~a, ~b};
	uint64_t sum = 0;

	for (int i = 0; i < 8; i++)
		sum += kept[i] * (uint64_t)(i + 1);
	for (int i = 0; i < 8; i++)
		sum ^= kept[i];
	return sum;
}

int main(void)
{
	int wrong = 0;

	for (uint64_t i = 1; i <= 10000; i++)
		wrong += leaf(i, i * 3, i * 7) != expected(i, i * 3, i * 7);
	printf("%d wrong\n", wrong);
	return wrong != 0;
}
