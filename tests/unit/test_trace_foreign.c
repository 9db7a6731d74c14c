// SPDX-License-Identifier: BSD-2-Clause
/* trace: records of probe specs, to the events that points make; losses; records that cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "synth.h"
#include "trace/event.h"

/* microseconds of the capture */
#define T(us) (SYNTH_START + (us)*1000ULL)

union room {
	struct rec_foreign record;
	char bytes[sizeof(struct rec_foreign) + 64];
};

static struct rec_foreign *record_of(union room *room, uint64_t time, unsigned int cpu,
				     uint16_t type)
{
	memset(room, 0, sizeof(*room));
	room->record.h =
		(struct rec_header){sizeof(room->record), REC_FOREIGN, (uint16_t)cpu, time};
	room->record.pid = 100;
	room->record.tid = 101;
	room->record.type = type;
	return &room->record;
}

static void string_add(union room *room, unsigned int arg, const char *text)
{
	size_t at = room->record.h.size - sizeof(room->record);

	memcpy(room->bytes + sizeof(room->record) + at, text, strlen(text));
	room->record.kinds[arg] = REC_FOREIGN_STRING;
	room->record.lens[arg] = (uint16_t)strlen(text);
	room->record.h.size += (uint32_t)strlen(text);
}

static void dump_is(struct synth *synth, const char *text, uint64_t records, uint64_t lost,
		    uint64_t damaged)
{
	struct trace *trace = synth__open(synth);
	char *dump = synth__dump(trace);

	assert_string_equal(dump, text);
	assert_int_equal(trace__totals(trace)->records, records);
	assert_int_equal(trace__totals(trace)->lost, lost);
	assert_int_equal(trace__totals(trace)->recorded, records + lost);
	assert_int_equal(trace__totals(trace)->damaged, damaged);
	free(dump);
	trace__close(trace);
}

static void events_are_those_of_points(void **state)
{
	struct synth synth;
	union room room;

	(void)state;
	synth__init(&synth);
	record_of(&room, T(10), 1, EV_task_created)->args[0] = 7;
	string_add(&room, 1, "a name");
	room.record.args[2] = 3;
	synth__record(&synth, &room, room.record.h.size);
	/* the other CPU's stand behind, and are older */
	record_of(&room, T(5), 0, EV_worker_start)->args[0] = 2;
	room.record.kinds[1] = REC_FOREIGN_NULL;
	synth__record(&synth, &room, room.record.h.size);
	/* a number where a string belongs: one that an enum does not name */
	record_of(&room, T(20), 0, EV_task_suspended)->args[0] = 7;
	room.record.args[1] = 37;
	synth__record(&synth, &room, room.record.h.size);
	synth__end(&synth);
	dump_is(&synth,
		"5 100 process pid 100 \n"
		"5 101 worker_start 2 NULL\n"
		"10 101 task_created 7 a name 3\n"
		"20 101 task_suspended 7 37 0\n"
		"60000000 0 end\n",
		3, 0, 0);
	synth__free(&synth);
}

static void losses_are_told_where_they_were(void **state)
{
	struct synth synth;
	union room room;

	(void)state;
	synth__init(&synth);
	record_of(&room, T(10), 0, EV_task_ready)->args[0] = 7;
	synth__record(&synth, &room, room.record.h.size);
	record_of(&room, T(30), 0, EV_task_end)->args[0] = 7;
	room.record.lost = 5;
	room.record.lost_since = T(12);
	synth__record(&synth, &room, room.record.h.size);
	/* two more that no record came after */
	synth__json(&synth, FILE_END, "{\"finished\": true, \"foreign_lost\": 7}");
	dump_is(&synth,
		"10 100 process pid 100 \n"
		"10 101 task_ready 7\n"
		"30 101 lost 5 0\n"
		"30 101 task_end 7\n"
		"60000000 0 end\n",
		2, 7, 0);
	synth__free(&synth);
}

static void records_that_cannot_be_are_counted(void **state)
{
	struct synth synth;
	union room room;

	(void)state;
	synth__init(&synth);
	/* an event that is none */
	record_of(&room, T(10), 0, 255);
	synth__record(&synth, &room, room.record.h.size);
	/* cut off */
	record_of(&room, T(11), 0, EV_task_end);
	room.record.h.size = sizeof(struct rec_header) + 8;
	synth__record(&synth, &room, room.record.h.size);
	/* strings longer than the record: what is there */
	record_of(&room, T(12), 0, EV_message)->args[0] = 0;
	string_add(&room, 0, "short");
	room.record.lens[0] = 60000;
	synth__record(&synth, &room, room.record.h.size);
	synth__end(&synth);
	dump_is(&synth,
		"12 100 process pid 100 \n"
		"12 101 message short\n"
		"60000000 0 end\n",
		1, 0, 2);
	synth__free(&synth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_those_of_points),
		cmocka_unit_test(losses_are_told_where_they_were),
		cmocka_unit_test(records_that_cannot_be_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
