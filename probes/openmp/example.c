// SPDX-License-Identifier: BSD-2-Clause
/*
 * A blocked matrix factorisation as OpenMP tasks with dependences: the shape of many solvers. In
 * the trace, the tasks of a block run one after the other on changing threads, and what waits for
 * whom is visible.
 *
 *	clang -O2 -fopenmp example.c -o example
 *	build/tracer -o example.pftrace -- env OMP_TOOL_LIBRARIES=build/libtracer_ompt.so ./example
 */
#include <stdio.h>
#include <stdlib.h>

#define BLOCKS 8
#define SIZE 48

typedef double block[SIZE][SIZE];
static block matrix[BLOCKS][BLOCKS];

static void fill(block b, unsigned int seed)
{
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++)
			b[i][j] = (i == j) * 100.0 + (seed = seed * 1103515245 + 12345) % 7;
}

static void factor(block diagonal)
{
	for (int k = 0; k < SIZE; k++)
		for (int i = k + 1; i < SIZE; i++) {
			diagonal[i][k] /= diagonal[k][k];
			for (int j = k + 1; j < SIZE; j++)
				diagonal[i][j] -= diagonal[i][k] * diagonal[k][j];
		}
}

static void solve(block diagonal, block panel)
{
	for (int k = 0; k < SIZE; k++)
		for (int i = 0; i < k; i++)
			for (int j = 0; j < SIZE; j++)
				panel[k][j] -= diagonal[k][i] * panel[i][j];
}

static void update(block left, block top, block inner)
{
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++)
			for (int k = 0; k < SIZE; k++)
				inner[i][j] -= left[i][k] * top[k][j] / 100.0;
}

int main(void)
{
	double trace = 0;

#pragma omp parallel
	{
#pragma omp for
		for (int n = 0; n < BLOCKS * BLOCKS; n++)
			fill(matrix[n / BLOCKS][n % BLOCKS], n);
#pragma omp single
		for (int k = 0; k < BLOCKS; k++) {
#pragma omp task depend(inout : matrix[k][k])
			factor(matrix[k][k]);
			for (int n = k + 1; n < BLOCKS; n++) {
#pragma omp task depend(in : matrix[k][k]) depend(inout : matrix[k][n])
				solve(matrix[k][k], matrix[k][n]);
#pragma omp task depend(in : matrix[k][k]) depend(inout : matrix[n][k])
				solve(matrix[k][k], matrix[n][k]);
			}
			for (int i = k + 1; i < BLOCKS; i++)
				for (int j = k + 1; j < BLOCKS; j++) {
#pragma omp task depend(in : matrix[i][k], matrix[k][j]) depend(inout : matrix[i][j])
					update(matrix[i][k], matrix[k][j], matrix[i][j]);
				}
		}
	}
	for (int k = 0; k < BLOCKS; k++)
		for (int i = 0; i < SIZE; i++)
			trace += matrix[k][k][i][i];
	printf("trace %g\n", trace);
	return 0;
}
