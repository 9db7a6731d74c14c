// SPDX-License-Identifier: BSD-2-Clause
/* 40 StarPU tasks on four vectors; every other one has a name of its own. */
#include <starpu.h>
#include <stdio.h>

static void scale(void *buffers[], void *argument)
{
	float *vector = (float *)STARPU_VECTOR_GET_PTR(buffers[0]);
	unsigned int count = STARPU_VECTOR_GET_NX(buffers[0]), i;

	(void)argument;
	for (i = 0; i < count; i++)
		vector[i] *= 1.5F;
}

static struct starpu_codelet codelet = {
	.cpu_funcs = {scale},
	.nbuffers = 1,
	.modes = {STARPU_RW},
	.name = "scale",
};

int main(void)
{
	static float vectors[4][64];
	starpu_data_handle_t handles[4];
	struct starpu_task *task;
	int i;

	if (starpu_init(NULL))
		return 77;
	for (i = 0; i < 4; i++)
		starpu_vector_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)vectors[i], 64,
					    sizeof(float));
	for (i = 0; i < 40; i++) {
		task = starpu_task_create();
		task->cl = &codelet;
		task->handles[0] = handles[i % 4];
		if (i % 2)
			task->name = "odd scale";
		if (starpu_task_submit(task))
			return 1;
	}
	starpu_task_wait_for_all();
	for (i = 0; i < 4; i++)
		starpu_data_unregister(handles[i]);
	starpu_shutdown();
	puts("done");
	return 0;
}
