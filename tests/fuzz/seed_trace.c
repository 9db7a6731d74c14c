// SPDX-License-Identifier: BSD-2-Clause
/* Writes a capture with some of everything: where fuzz_trace.c begins. */
#include <stdio.h>
#include <stdlib.h>
#include "synth.h"

#define T(us) (SYNTH_START + (us)*1000ULL)

static void add_streams(struct synth *synth)
{
	struct synth_ring a, b;
	uint64_t key;
	size_t cut;

	ring__init(&a, 0, 0);
	ring__window(&a, T(0), TRACER_CLOCK_CYCLES);
	key = ring__name(&a, "key");
	ring__event(&a, EV_task_created, T(1), 1ULL, key, 0ULL);
	ring__pad(&a, 24);
	ring__event(&a, EV_zone_begin, T(2), 4096ULL + 256, 257ULL, 0ULL);
	cut = a.size - 12;
	ring__event(&a, EV_counter + 1, T(3), key, 5ULL);
	ring__event(&a, EV_capture_off, T(4));
	ring__init(&b, (1ULL << 48) - 16, 65535);
	ring__window(&b, T(0), TRACER_CLOCK_MONOTONIC);
	ring__event(&b, EV_task_end, T(5), 1ULL);
	ring__raw(&b, 200, T(6), "12345678", 8);
	synth__chunk(synth, &a, cut, a.size,
		     (struct synth_chunk){
			     .stream = 1, .dso = 8192, .time = T(11), .flags = REC_CHUNK_LAST});
	synth__chunk(synth, &a, 0, cut,
		     (struct synth_chunk){
			     .stream = 1, .dso = 8192, .time = T(10), .flags = REC_CHUNK_FIRST});
	synth__chunk(synth, &b, 0, b.size,
		     (struct synth_chunk){.pid = 200,
					  .stream = 2,
					  .dso = 8192,
					  .time = T(11),
					  .flags = REC_CHUNK_FIRST | REC_CHUNK_LOST_FULL});
	ring__free(&a);
	ring__free(&b);
}

int main(int argc, char **argv)
{
	struct synth synth;
	FILE *out;

	synth__init(&synth);
	synth.zstd = argc > 2;
	synth.planes = argc > 3;
	synth__dso(&synth,
		   "{\"id\":1,\"image\":[[256,5]],\"schema\":\"200 new x always str:s\\n\"}",
		   "text", 5);
	synth__json(&synth, FILE_MAP,
		    "{\"pid\":100,\"time\":1,\"dso_id\":1,\"base\":4096,\"dso\":8192}");
	synth__json(&synth, FILE_PROCESS, "{\"pid\":100,\"time\":%llu,\"name\":\"p\"}", T(0));
	synth__task(&synth, REC_FORK, T(1), 200, 200, 100, 0);
	add_streams(&synth);
	synth__task(&synth, REC_EXEC, T(7), 200, 200, 0, 0);
	synth__switch(&synth, T(20), 0, REC_SWITCH_TO, 0, 0, 100, 0);
	synth__switch(&synth, T(21), 0, REC_SWITCH_FROM, 100, 0, 900, 2);
	synth__waking(&synth, T(22), 1, 100, 900, 0);
	synth__switch(&synth, T(23), 0, 0, 900, 1, 0, 0);
	synth__round(&synth, T(50));
	synth__task(&synth, REC_PROCESS_EXIT, T(80), 200, 200, 0, 0);
	synth__end(&synth);
	out = fopen(argv[1], "w");
	if (!out || fwrite(synth.data, synth.size, 1, out) != 1 || fclose(out))
		return 1;
	synth__free(&synth);
	return 0;
}
