// SPDX-License-Identifier: BSD-2-Clause
/* OpenMP tasks that wait for their children, a parallel loop, and tasks whose function is a single
 * ret. */
#include <stdio.h>

static int fib(int n)
{
	int a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a)
	a = fib(n - 1);
#pragma omp task shared(b)
	b = fib(n - 2);
#pragma omp taskwait
	return a + b;
}

int main(void)
{
	double sum = 0;
	int result = 0, i;

#pragma omp parallel num_threads(3)
#pragma omp single
	result = fib(10);
#pragma omp parallel for reduction(+ : sum) num_threads(3)
	for (i = 0; i < 1000; i++)
		sum += i;
#pragma omp parallel num_threads(2)
#pragma omp critical
	sum += 1;
#pragma omp parallel num_threads(2)
#pragma omp single
	for (i = 0; i < 8; i++) {
#pragma omp task
		__asm__ volatile("");
	}
	printf("%d %g\n", result, sum);
	return 0;
}
