// SPDX-License-Identifier: BSD-2-Clause
/* trace: processes: forks, execs, exits, reused pids, CAPTURE_OFF. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "synth.h"

/* microseconds of the capture */
#define T(us) (SYNTH_START + (us)*1000ULL)

static struct trace *expect(struct synth *synth, const char *text)
{
	struct trace *trace = synth__open(synth);
	char *dump = synth__dump(trace);

	assert_string_equal(dump, text);
	free(dump);
	return trace;
}

#define BASE 0x400000ULL
#define DSO_AT (BASE + 0x4000)

static void add_dso(struct synth *synth, int id, const char *string)
{
	char json[128];

	snprintf(json, sizeof(json), "{\"id\":%d,\"image\":[[256,%zu]]}", id, strlen(string) + 1);
	synth__dso(synth, json, string, strlen(string) + 1);
}

static void add_map(struct synth *synth, uint32_t pid, uint64_t time, int id)
{
	synth__json(synth, FILE_MAP,
		    "{\"pid\":%u,\"time\":%llu,\"dso_id\":%d,\"base\":%llu,\"dso\":%llu}", pid,
		    (unsigned long long)time, id, BASE, DSO_AT);
}

/* a stream of one message, whose text is the DSO's string */
static void add_message(struct synth *synth, uint64_t stream, uint32_t pid, uint64_t time)
{
	struct synth_ring ring;

	ring__init(&ring, 0, 0);
	ring__window(&ring, time, TRACER_CLOCK_CYCLES);
	ring__event(&ring, EV_message, time, BASE + 256);
	synth__chunk(synth, &ring, 0, ring.size,
		     (struct synth_chunk){.pid = pid,
					  .tid = pid,
					  .stream = stream,
					  .dso = DSO_AT,
					  .time = time + 1000,
					  .flags = REC_CHUNK_FIRST | REC_CHUNK_LAST});
	ring__free(&ring);
}

static void process_block_describes(void **state)
{
	const struct trace_process *process;
	struct trace *trace;
	struct synth synth;

	(void)state;
	synth__init(&synth);
	synth__json(&synth, FILE_PROCESS,
		    "{\"pid\":100,\"time\":%llu,\"start_time\":%llu,\"name\":\"prog\","
		    "\"cmdline\":\"prog -x\"}",
		    T(0), T(0) - SEC);
	synth__json(&synth, FILE_PROCESS, "{\"pid\":300,\"time\":%llu,\"name\":\"idle\"}", T(5));
	add_message(&synth, 1, 100, T(10));
	trace = expect(&synth, "0 100 process prog prog -x\n"
			       "5 300 process idle \n"
			       "10 100 message <0x400100>\n"
			       "60000000 0 end\n");
	assert_int_equal(trace__process_count(trace), 2);
	process = trace__process(trace, 0);
	assert_int_equal(process->pid, 100);
	assert_int_equal(process->start_time, T(0) - SEC);
	assert_string_equal(process->name, "prog");
	assert_string_equal(process->host, "here");
	assert_null(trace__process(trace, 2));
	assert_string_equal(trace__boot_id(trace), "b007");
	trace__close(trace);
	synth__free(&synth);
}

static void child_inherits_maps_and_exec_drops_them(void **state)
{
	struct event event;
	struct trace *trace;
	struct synth synth;
	uint32_t child = 0;

	(void)state;
	synth__init(&synth);
	add_dso(&synth, 1, "old");
	add_dso(&synth, 2, "new");
	add_message(&synth, 1, 200, T(30)); /* before its FORK and its parent's MAP in the file */
	add_map(&synth, 100, T(0), 1);
	add_message(&synth, 2, 100, T(10));
	synth__task(&synth, REC_FORK, T(20), 200, 200, 100, 0);
	synth__task(&synth, REC_EXEC, T(40), 200, 200, 0, 0);
	add_message(&synth, 3, 200, T(50));
	add_map(&synth, 200, T(70), 2);
	add_message(&synth, 4, 200, T(60));
	add_message(&synth, 5, 100, T(80));
	synth__task(&synth, REC_EXEC, T(90), 100, 100, 0, 0);
	add_message(&synth, 6, 100, T(95));
	synth__task(&synth, REC_PROCESS_EXIT, T(99), 200, 200, 0, 256);
	trace = expect(&synth, "10 100 process pid 100 \n"
			       "10 100 message old\n"
			       "20 200 process pid 200 \n"
			       "20 200 fork 1\n"
			       "30 200 message old\n"
			       "40 200 exec\n"
			       "50 200 message new\n"
			       "60 200 message new\n"
			       "80 100 message old\n"
			       "90 100 exec\n"
			       "95 100 message <0x400100>\n"
			       "99 200 process_exit 256\n"
			       "60000000 0 end\n");
	trace__close(trace);
	trace = synth__open(&synth);
	while (trace__next(trace, &event) > 0) {
		if (event.type == EV_fork)
			child = event.process;
		else if (event.pid == 200 && event.type != EV_process)
			assert_int_equal(event.process, child);
	}
	assert_int_equal(trace__process_count(trace), 2);
	trace__close(trace);
	synth__free(&synth);
}

static void reused_pid_is_another_process(void **state)
{
	struct event event;
	struct trace *trace;
	struct synth synth;
	uint32_t seen[3], n = 0;

	(void)state;
	synth__init(&synth);
	add_message(&synth, 1, 100, T(1));
	synth__task(&synth, REC_FORK, T(2), 200, 200, 100, 0);
	add_message(&synth, 2, 200, T(3));
	synth__task(&synth, REC_PROCESS_EXIT, T(5), 200, 200, 0, 0);
	synth__task(&synth, REC_FORK, T(6), 200, 200, 100, 0);
	add_message(&synth, 3, 200, T(7));
	synth__task(&synth, REC_PROCESS_EXIT, T(9), 200, 200, 0, 0);
	/* a third one, whose FORK nobody saw */
	add_message(&synth, 4, 200, T(5000000));
	trace = synth__open(&synth);
	while (trace__next(trace, &event) > 0) {
		if (event.type == EV_message && event.pid == 200)
			seen[n++] = event.process;
	}
	assert_int_equal(n, 3);
	assert_int_not_equal(seen[0], seen[1]);
	assert_int_not_equal(seen[1], seen[2]);
	assert_int_not_equal(seen[0], seen[2]);
	assert_int_equal(trace__process_count(trace), 4);
	trace__close(trace);
	synth__free(&synth);

	/* the same told by two PROCESS blocks */
	synth__init(&synth);
	synth__json(&synth, FILE_PROCESS, "{\"pid\":7,\"time\":%llu,\"start_time\":%llu}", T(1),
		    T(0));
	synth__json(&synth, FILE_PROCESS, "{\"pid\":7,\"time\":%llu,\"start_time\":%llu}", T(2),
		    T(0));
	synth__json(&synth, FILE_PROCESS, "{\"pid\":7,\"time\":%llu,\"start_time\":%llu}", T(90),
		    T(80));
	trace = synth__open(&synth);
	free(synth__dump(trace));
	assert_int_equal(trace__process_count(trace), 2);
	trace__close(trace);
	synth__free(&synth);
}

static void capture_off_mutes_the_process(void **state)
{
	struct synth_ring a, b;
	struct trace *trace;
	struct synth synth;

	(void)state;
	ring__init(&a, 0, 0);
	ring__window(&a, T(0), TRACER_CLOCK_CYCLES);
	ring__event(&a, EV_task_end, T(1), 1ULL);
	ring__event(&a, EV_capture_off, T(10));
	ring__event(&a, EV_capture_on, T(20));
	ring__event(&a, EV_task_end, T(25), 2ULL);
	ring__init(&b, 0, 0);
	ring__window(&b, T(0), TRACER_CLOCK_CYCLES);
	ring__event(&b, EV_task_end, T(5), 3ULL);
	ring__event(&b, EV_task_end, T(15), 4ULL);
	ring__event(&b, EV_task_end, T(22), 5ULL);
	synth__init(&synth);
	synth__stream(&synth, &a, 1, 101, T(100));
	synth__stream(&synth, &b, 2, 102, T(100));
	add_message(&synth, 3, 200, T(15)); /* of another process */
	trace = expect(&synth, "1 100 process pid 100 \n"
			       "1 101 task_end 1\n"
			       "5 102 task_end 3\n"
			       "10 101 capture_off\n"
			       "15 200 process pid 200 \n"
			       "15 200 message <0x400100>\n"
			       "20 101 capture_on\n"
			       "22 102 task_end 5\n"
			       "25 101 task_end 2\n"
			       "60000000 0 end\n");
	assert_int_equal(trace__totals(trace)->records, 8);
	trace__close(trace);
	ring__free(&a);
	ring__free(&b);
	synth__free(&synth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(process_block_describes),
		cmocka_unit_test(child_inherits_maps_and_exec_drops_them),
		cmocka_unit_test(reused_pid_is_another_process),
		cmocka_unit_test(capture_off_mutes_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
