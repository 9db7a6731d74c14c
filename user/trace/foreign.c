// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records of probe specs, to the same events that points make. Each is complete: its time is the
 * kernel's, its strings are in it. They come in the order of time on each CPU, so they stand in the
 * queues that the kernel's scheduling has.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "foreign.h"

/* what stands for an address or a number that nothing names */
static const char *number__name(struct merge *merge, uint64_t number, const char *format)
{
	char text[32];
	int len = snprintf(text, sizeof(text), format, number);

	return strings__add(merge->context.strings, text, (size_t)len);
}

/* the string of argument @i; @at moves on in the record's data */
static const char *foreign__string(struct merge *merge, const struct rec_foreign *record, size_t i,
				   const char *data, size_t size, size_t *at)
{
	size_t len = record->lens[i];

	switch (record->kinds[i]) {
	case REC_FOREIGN_STRING:
		if (len > size - *at)
			len = size - *at;
		*at += len;
		return strings__add(merge->context.strings, data + *at - len, len);
	case REC_FOREIGN_SYMBOL:
		return number__name(merge, record->args[i], "0x%" PRIx64);
	case REC_FOREIGN_NUMBER:
		return number__name(merge, record->args[i], "%" PRIu64);
	default:
		return NULL;
	}
}

static int foreign__tell_lost(struct merge *merge, const struct rec_foreign *record,
			      const struct event *of)
{
	struct event event = *of;

	if (!record->lost)
		return 0;
	merge->context.totals->lost_by[LOSS_RING_FULL] += record->lost;
	merge->foreign_lost += record->lost;
	event.type = EV_lost;
	event.nargs = 4;
	event.args[0].u = record->lost;
	event.args[1].u = record->lost_since < event.time ? record->lost_since : event.time;
	event.args[2].u = event.time;
	event.args[3].u = LOSS_RING_FULL;
	return merge__add_sched(merge, record->h.cpu, &event);
}

static void foreign__fill(struct merge *merge, const struct rec_foreign *record,
			  const struct event_schema *schema, const char *data, size_t size,
			  struct event *event)
{
	size_t i, at = 0;

	event->nargs = schema->nargs;
	for (i = 0; i < schema->nargs; i++) {
		const char *text;

		/* in the order of the data, also those that are not shown */
		text = i < 4 && record->kinds[i] != REC_FOREIGN_NUMBER
			       ? foreign__string(merge, record, i, data, size, &at)
			       : NULL;
		if (schema->arg_types[i] == 's' || schema->arg_types[i] == 'l') {
			if (record->kinds[i] == REC_FOREIGN_NUMBER && record->args[i])
				text = foreign__string(merge, record, i, data, size, &at);
			event->args[i].s = text;
		} else if (schema->arg_types[i] == 'u') {
			event->args[i].u = (uint32_t)record->args[i];
		} else {
			event->args[i].u = record->args[i];
		}
	}
}

int foreign__record(struct merge *merge, const struct rec_header *header)
{
	const struct rec_foreign *record = (const void *)header;
	struct stream_context *context = &merge->context;
	struct event event = {.time = header->time};
	const struct schema_row *row;
	struct process *process;
	int err;

	if (header->size < sizeof(*record) || record->type >= SCHEMA_TYPES ||
	    !context->schema.rows[record->type].event.name) {
		context->totals->damaged++;
		return 0;
	}
	row = &context->schema.rows[record->type];
	process = processes__at(&context->processes, record->pid, header->time);
	if (!process)
		return -ENOMEM;
	event.process = process->shown.index;
	event.pid = record->pid;
	event.tid = record->tid;
	err = foreign__tell_lost(merge, record, &event);
	if (err)
		return err;
	event.type = record->type;
	foreign__fill(merge, record, &row->event, (const char *)record->data,
		      header->size - sizeof(*record), &event);
	if (!row->unasked)
		context->totals->records++;
	return merge__add_sched(merge, header->cpu, &event);
}

void foreign__end(struct merge *merge, struct json_object *json)
{
	struct json_object *member;
	int64_t lost = 0;

	if (json_object_object_get_ex(json, "foreign_lost", &member))
		lost = json_object_get_int64(member);
	if (lost > 0 && (uint64_t)lost > merge->foreign_lost)
		merge->context.totals->lost_by[LOSS_RING_FULL] +=
			(uint64_t)lost - merge->foreign_lost;
}
