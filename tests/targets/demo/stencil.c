/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring of cells in blocks. One task per block lives through all steps and suspends where it needs
 * what its neighbours have not yet made: each block's two edges at each step are behind a future.
 * All numbers are unsigned and wrap, so the result is exact and independent of order.
 */
#include <stdlib.h>
#include "demo.h"

#define BLOCKS 16U
#define CELLS 64U /* per block */
#define CHANNEL_PHASE 1

struct edges {
	uint32_t left, right;
};

struct stencil {
	const struct demo_options *options;
	uint32_t steps;
	uint32_t *cells;	 /* BLOCKS * CELLS */
	struct edges *edges;	 /* steps * BLOCKS */
	struct future **futures; /* likewise; who is in there holds it three times: two consumers */
};

struct block {
	struct stencil *stencil;
	uint32_t index;
};

static uint32_t initial(uint32_t cell)
{
	return cell * 2654435761U;
}

static uint32_t next_value(uint32_t left, uint32_t here, uint32_t right)
{
	return left + 2 * here + right;
}

static void publish(struct stencil *stencil, uint32_t step, uint32_t block)
{
	uint32_t *cells = &stencil->cells[block * CELLS];
	struct edges *edges = &stencil->edges[step * BLOCKS + block];

	edges->left = cells[0];
	edges->right = cells[CELLS - 1];
	future__set(stencil->futures[step * BLOCKS + block], step);
}

static const struct edges *await(struct stencil *stencil, uint32_t step, uint32_t block)
{
	struct future *future = stencil->futures[step * BLOCKS + block];

	future__wait(future, NULL);
	future__release(future);
	return &stencil->edges[step * BLOCKS + block];
}

static void advance(struct stencil *stencil, uint32_t step, uint32_t index)
{
	uint32_t *cells = &stencil->cells[index * CELLS];
	uint32_t left, right;

	/* open across the suspensions on purpose */
	POINT_ZONE("step");
	left = await(stencil, step, (index + BLOCKS - 1) % BLOCKS)->right;
	right = await(stencil, step, (index + 1) % BLOCKS)->left;
	POINT_ZONE_BEGIN("compute");
	POINT2(ZONE_VALUE, zone_value, "step", (int64_t)step);
	for (uint32_t i = 0; i < CELLS; i++) {
		uint32_t here = cells[i];

		cells[i] = next_value(left, here, i + 1 < CELLS ? cells[i + 1] : right);
		left = here;
	}
	runtime__work(stencil->options->work_ns);
	POINT_ZONE_END();
}

static int block_main(void *arg, int64_t *value)
{
	struct block *block = arg;
	struct stencil *stencil = block->stencil;

	publish(stencil, 0, block->index);
	for (uint32_t step = 0; step < stencil->steps; step++) {
		advance(stencil, step, block->index);
		if (step + 1 < stencil->steps)
			publish(stencil, step + 1, block->index);
		if (block->index)
			continue;
		POINT1(FRAME, frame, "step");
		DEMO_COUNTER("step", (int64_t)step);
		POINT3(MARKER_SET, marker_set, CHANNEL_PHASE, step % 2 ? "odd" : "even", step);
	}
	*value = stencil->cells[block->index * CELLS];
	return 0;
}

static void fill(void *arg, uint32_t block)
{
	struct stencil *stencil = arg;

	for (uint32_t i = 0; i < CELLS; i++)
		stencil->cells[block * CELLS + i] = initial(block * CELLS + i);
}

static int root(void *arg, int64_t *value)
{
	struct stencil *stencil = arg;
	struct future *futures[BLOCKS];
	struct block blocks[BLOCKS];

	for (uint32_t i = 0; i < stencil->steps * BLOCKS; i++) {
		stencil->futures[i] = future__new(NULL);
		future__acquire(stencil->futures[i]);
	}
	for (uint32_t i = 0; i < BLOCKS; i++) {
		blocks[i] = (struct block){stencil, i};
		futures[i] = task__spawn(NULL, "block", block_main, &blocks[i]);
	}
	for (uint32_t i = 0; i < BLOCKS; i++) {
		future__wait(futures[i], NULL);
		future__release(futures[i]);
	}
	POINT1(MARKER_RESET, marker_reset, CHANNEL_PHASE);
	*value = 0;
	return 0;
}

static int compare(const struct stencil *stencil)
{
	const uint32_t n = BLOCKS * CELLS;
	uint32_t *now = malloc(n * sizeof(*now)), *next = malloc(n * sizeof(*next)), *swap;
	int wrong = !now || !next;

	for (uint32_t i = 0; !wrong && i < n; i++)
		now[i] = initial(i);
	for (uint32_t step = 0; !wrong && step < stencil->steps; step++) {
		for (uint32_t i = 0; i < n; i++)
			next[i] = next_value(now[(i + n - 1) % n], now[i], now[(i + 1) % n]);
		swap = now;
		now = next;
		next = swap;
	}
	for (uint32_t i = 0; !wrong && i < n; i++)
		wrong = demo__check("stencil: a cell", stencil->cells[i], now[i]);
	free(now);
	free(next);
	return wrong;
}

static int run(struct runtime *runtime, const struct demo_options *options)
{
	struct stencil stencil = {.options = options, .steps = (uint32_t)options->size};
	size_t count = (size_t)stencil.steps * BLOCKS;
	struct future *future;
	int wrong = 1;

	stencil.cells = calloc(BLOCKS * CELLS, sizeof(*stencil.cells));
	stencil.edges = calloc(count, sizeof(*stencil.edges));
	stencil.futures = calloc(count, sizeof(struct future *));
	if (!stencil.cells || !stencil.edges || !stencil.futures)
		goto out;
	POINT2(CHANNEL_NAME, channel_name, CHANNEL_PHASE, "stencil phase");
	POINT2(MARKER_COLOR, marker_color, "odd", 0x4080c0);
	runtime__bulk(runtime, "fill", fill, &stencil, BLOCKS);
	future = task__spawn(runtime, "stencil root", root, &stencil);
	future__wait(future, NULL);
	future__release(future);
	wrong = compare(&stencil);
out:
	free(stencil.cells);
	free(stencil.edges);
	free(stencil.futures);
	return wrong;
}

const struct demo demo_stencil = {
	.name = "stencil",
	.doc = "blocks that wait for their neighbours' edges; size: steps",
	.default_size = 100,
	.run = run,
};
