// SPDX-License-Identifier: BSD-2-Clause
/*
 * OpenMP's corners for hooks_openmp.py: a region whose call is the last thing that another region's
 * function does, teams, regions of one thread, and a forked child that uses OpenMP as its parent
 * did.
 */
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define INNER 3
#define TASKS 20

static atomic_int members, tasks, sum;

static void nested(void)
{
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
	{
		members++;
#pragma omp parallel num_threads(INNER)
		members++;
	}
}

static void teams(void)
{
#pragma omp teams num_teams(2)
#pragma omp distribute parallel for
	for (int i = 0; i < 16; i++)
		sum++;
}

static void alone(void)
{
#pragma omp parallel if (0)
	{
		members++;
#pragma omp barrier
	}
#pragma omp parallel num_threads(1)
	members++;
}

static void work(void)
{
#pragma omp parallel num_threads(2)
	{
		members++;
#pragma omp single
		for (int i = 0; i < TASKS; i++) {
#pragma omp task
			tasks++;
		}
	}
}

int main(void)
{
	int status = 1;
	pid_t child;

	nested();
	teams();
	alone();
	work();
	fflush(NULL);
	child = fork();
	if (!child) {
		members = tasks = 0;
		work();
		return tasks != TASKS || members != 2;
	}
	waitpid(child, &status, 0);
	printf("{\"members\": %d, \"tasks\": %d, \"inner\": %d, \"child\": %d, \"status\": %d}\n",
	       members, tasks, 2 * INNER, child, status);
	return 0;
}
