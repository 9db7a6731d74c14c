// SPDX-License-Identifier: BSD-2-Clause
/* The Paraver export as a whole, and its second pass: from the spool to text. See paraver.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/say.h"
#include "emit.h"
#include "paraver.h"

#define WINDOW 32768U /* records of the spool that are looked at together: all of one time */
#define PIECE 4096U   /* that are read at once: they are still in the cache when they are written */

/* Numbers of objects */

/* workers by number, then other threads, then channels */
static int row__order(const void *a, const void *b)
{
	const struct prv_row *x = *(struct prv_row *const *)a, *y = *(struct prv_row *const *)b;
	uint32_t mine = x->is_channel ? x->channel : x->tid;
	uint32_t other = y->is_channel ? y->channel : y->tid;

	if (x->is_channel != y->is_channel)
		return x->is_channel - y->is_channel;
	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	if (mine != other)
		return mine < other ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static int process__number(struct prv_process *process)
{
	uint32_t count = 0;

	process->sorted = calloc(process->row_count, sizeof(*process->sorted));
	if (!process->sorted)
		return -ENOMEM;
	for (struct prv_row *row = process->rows; row; row = row->next)
		process->sorted[count++] = row;
	qsort(process->sorted, count, sizeof(*process->sorted), row__order);
	for (uint32_t i = 0; i < count; i++)
		process->sorted[i]->thread = i + 1;
	return 0;
}

/* processes in which nothing happened are no tasks; hosts are nodes */
static int paraver__number(struct paraver *prv)
{
	struct prv_process *process, *before;
	uint32_t tasks = 0, nodes = 0;
	int err;

	for (process = prv->processes; process; process = process->next) {
		if (!process->row_count)
			continue;
		err = process__number(process);
		if (err)
			return err;
		process->task = ++tasks;
		for (before = prv->processes; before != process; before = before->next)
			if (before->task && !strcmp(before->host, process->host))
				process->node = before->node;
		if (!process->node)
			process->node = ++nodes;
	}
	prv->nodes = nodes;
	return 0;
}

/* CPUs of a node: as many as were seen, but one at least */
static uint32_t node__cpus(const struct paraver *prv, uint32_t node)
{
	uint32_t cpus = 1;

	for (const struct prv_process *process = prv->processes; process; process = process->next)
		if (process->node == node && process->cpus > cpus)
			cpus = process->cpus;
	return cpus;
}

/* .prv */

struct prv_text {	 /* what a row's records begin with, and what they need beside it */
	char object[48]; /* ":1:task:thread:" */
	uint8_t size;
	uint32_t cpu_base; /* of its node */
};

struct writer {
	struct emit out;
	struct paraver *prv;
	const struct export_options *options;
	struct prv_text *rows;
	uint64_t origin, end;
	struct emit_time last;
	sig_atomic_t stops; /* as many came before the second pass */
};

static int rows__text(struct writer *writer)
{
	struct paraver *prv = writer->prv;

	writer->rows = calloc(prv->row_count ? prv->row_count : 1, sizeof(*writer->rows));
	if (!writer->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < prv->row_count; i++) {
		const struct prv_row *row = prv->rows[i];
		struct prv_text *text = &writer->rows[i];

		text->size = (uint8_t)snprintf(text->object, sizeof(text->object),
					       ":1:%u:%u:", row->process->task, row->thread);
		for (uint32_t node = 1; node < row->process->node; node++)
			text->cpu_base += node__cpus(prv, node);
	}
	return 0;
}

static void put_header(struct writer *writer)
{
	const struct paraver *prv = writer->prv;
	struct emit *out = &writer->out;
	time_t seconds =
		(time_t)((int64_t)writer->origin + trace__realtime_offset(prv->trace)) / 1000000000;
	uint32_t tasks = 0;
	struct tm date;
	char text[64];

	gmtime_r(&seconds, &date);
	strftime(text, sizeof(text), "#Paraver (%d/%m/%Y at %H:%M):", &date);
	emit__text(out, text);
	emit__u64(out, writer->end - writer->origin);
	emit__lit(out, "_ns:");
	emit__u64(out, prv->nodes ? prv->nodes : 1);
	for (uint32_t node = 1; node <= (prv->nodes ? prv->nodes : 1); node++) {
		emit__room(out, 64);
		emit__char(out, node == 1 ? '(' : ',');
		emit__u64(out, node__cpus(prv, node));
	}
	for (struct prv_process *process = prv->processes; process; process = process->next)
		tasks += process->task != 0;
	/* a capture without an event is a thread that does nothing */
	if (!tasks) {
		emit__lit(out, "):1:1(1:1)\n");
		return;
	}
	emit__lit(out, "):1:");
	emit__u64(out, tasks);
	for (struct prv_process *process = prv->processes; process; process = process->next) {
		if (!process->task)
			continue;
		emit__room(out, 64);
		emit__char(out, process->task == 1 ? '(' : ',');
		emit__u64(out, process->row_count);
		emit__char(out, ':');
		emit__u64(out, process->node);
	}
	emit__lit(out, ")\n");
}

static void put_object(const struct writer *writer, struct emit *out,
		       const struct prv_record *record)
{
	const struct prv_text *text = &writer->rows[record->row];

	if (record->cpu)
		emit__u64(out, text->cpu_base + record->cpu);
	else
		emit__char(out, '0');
	/* all of it, which needs no look at how much of it there is */
	memcpy(out->at, text->object, sizeof(text->object));
	out->at += text->size;
}

static void put_time(struct writer *writer, struct emit *out, uint64_t time)
{
	emit__ns(out, &writer->last, time - writer->origin);
}

static void put_type(struct emit *out, uint64_t type)
{
	/* 9000nnn: most */
	if (type - 9000000 < 1000) {
		emit__lit(out, ":9000");
		emit__three(out->at, (unsigned int)(type - 9000000));
		out->at += 3;
	} else {
		emit__char(out, ':');
		emit__u64(out, type);
	}
}

/*
 * A line goes on at a place of its own, in a register while all is inlined. The writer's would be
 * stored and loaded for every character, which might be a part of it.
 */
#define INLINED __attribute__((flatten))

static INLINED void put_state(struct writer *writer, const struct prv_record *record)
{
	struct emit line;
	uint64_t end = record->a == PRV_NEVER ? writer->end : record->a;

	if (end <= record->time)
		return;
	line.at = writer->out.at;
	emit__lit(&line, "1:");
	put_object(writer, &line, record);
	put_time(writer, &line, record->time);
	emit__char(&line, ':');
	put_time(writer, &line, end);
	emit__char(&line, ':');
	emit__u64(&line, record->b);
	emit__char(&line, '\n');
	writer->out.at = line.at;
}

/* one record for all events that follow each other in a row; how many there are */
static INLINED size_t put_events(struct writer *writer, const struct prv_record *records,
				 size_t count)
{
	struct emit *out = &writer->out;
	struct emit line;
	size_t i;

	line.at = out->at;
	emit__lit(&line, "2:");
	put_object(writer, &line, records);
	put_time(writer, &line, records->time);
	for (i = 0; i < count && records[i].kind == PRV_EVENT && records[i].row == records->row;
	     i++) {
		if (out->end - line.at < 128) {
			out->at = line.at;
			emit__flush(out);
			line.at = out->at;
		}
		put_type(&line, records[i].a);
		emit__char(&line, ':');
		emit__i64(&line, (int64_t)records[i].b);
	}
	emit__char(&line, '\n');
	out->at = line.at;
	return i;
}

static void put_message(struct writer *writer, const struct prv_record *sent)
{
	const struct prv_record *received = sent + 1;
	struct emit *out = &writer->out;

	if (received->a == PRV_NEVER)
		return;
	emit__lit(out, "3:");
	put_object(writer, out, sent);
	put_time(writer, out, sent->time);
	emit__char(out, ':');
	put_time(writer, out, sent->time);
	emit__char(out, ':');
	put_object(writer, out, received);
	put_time(writer, out, received->time);
	emit__char(out, ':');
	put_time(writer, out, received->time);
	emit__char(out, ':');
	emit__u64(out, sent->b);
	emit__char(out, ':');
	emit__u64(out, sent->a);
	emit__char(out, '\n');
}

/* records of one time: states, then events, then messages */
static void put_moment(struct writer *writer, const struct prv_record *records, size_t count)
{
	bool others = false;
	size_t i;

	for (i = 0; i < count; i++) {
		others |= records[i].kind != PRV_EVENT;
		if (records[i].kind != PRV_STATE)
			continue;
		emit__room(&writer->out, 256);
		put_state(writer, &records[i]);
	}
	for (i = 0; i < count;) {
		emit__room(&writer->out, 256);
		i += records[i].kind == PRV_EVENT ? put_events(writer, records + i, count - i) : 1;
	}
	for (i = 0; others && i + 1 < count; i++) {
		emit__room(&writer->out, 256);
		if (records[i].kind == PRV_SEND)
			put_message(writer, &records[i]);
	}
}

static bool writer__stopped(const struct writer *writer, uint64_t done)
{
	const struct export_options *options = writer->options;

	if (options->progress && writer->prv->spool.records)
		say__progress("writing: %3.0f %%",
			      100.0 * (double)done / (double)writer->prv->spool.records);
	return options->stop && *options->stop > writer->stops;
}

/* how many of the records are of the time of the first; a RECEIVE belongs to the SEND before it */
static size_t moment__size(const struct prv_record *records, size_t count)
{
	size_t size = 1;

	while (size < count &&
	       (records[size].time == records->time || records[size].kind == PRV_RECEIVE))
		size++;
	return size;
}

static int put_records(struct writer *writer)
{
	struct prv_record *window = malloc(WINDOW * sizeof(*window));
	size_t have = 0, at, size;
	uint64_t done = 0;
	int got = window ? 1 : -ENOMEM;

	while (got > 0 && !writer__stopped(writer, done)) {
		size = WINDOW - have < PIECE ? WINDOW - have : PIECE;
		got = spool__read(&writer->prv->spool, window + have, size);
		if (got < 0)
			break;
		have += (size_t)got;
		for (at = 0; at < have; at += size) {
			size = moment__size(window + at, have - at);
			/* what else is of that time comes with the next, if there is room for it */
			if (got && at + size == have && (at || have < WINDOW))
				break;
			if (size > 1 && window[at + size - 1].kind == PRV_SEND)
				size--;
			put_moment(writer, window + at, size);
		}
		done += at;
		have -= at;
		memmove(window, window + at, have * sizeof(*window));
	}
	free(window);
	return got < 0 ? got : emit__flush(&writer->out);
}

/* the time of the first record is 0 */
static int spool__origin(struct spool *spool, uint64_t *origin)
{
	struct prv_record first;
	int got, err = spool__rewind(spool);

	if (err)
		return err;
	got = spool__read(spool, &first, 1);
	if (got > 0)
		*origin = first.time;
	return got < 0 ? got : spool__rewind(spool);
}

static int paraver__write(struct paraver *prv, const struct export_options *options, char **which)
{
	struct writer writer = {
		.prv = prv,
		.options = options,
		.end = prv->last,
		.origin = prv->last,
		.stops = options->stop ? *options->stop : 0,
	};
	int err = spool__origin(&prv->spool, &writer.origin), closed;

	/* a trace of no length is none to some readers */
	if (writer.end == writer.origin)
		writer.end++;
	if (!err)
		err = paraver__number(prv);
	if (!err)
		err = rows__text(&writer);
	if (!err)
		err = emit__open(&writer.out, options->path, options->compression);
	if (!err) {
		put_header(&writer);
		err = put_records(&writer);
		closed = emit__close(&writer.out);
		if (!err)
			err = closed;
	}
	free(writer.rows);
	return err ? err : paraver__write_labels(prv, options->path, which);
}

static void op__end(void *ctx, uint64_t time)
{
	struct paraver *prv = ctx;

	for (uint32_t i = 0; i < prv->row_count; i++)
		prv_row__end(prv, prv->rows[i], time);
	if (time > prv->last)
		prv->last = time;
}

static int paraver__read(struct paraver *prv, struct feed *feed)
{
	struct model_ops ops = {.end = op__end};
	int err;

	paraver__add_task_ops(&ops);
	paraver__add_event_ops(&ops);
	feed->model = model__new();
	prv->slot = feed->model ? model__add_sink(feed->model, &ops, prv) : -ENOMEM;
	err = prv->slot < 0 ? prv->slot : feed__run(feed);
	return err;
}

static void paraver__free(struct paraver *prv)
{
	while (prv->processes) {
		struct prv_process *process = prv->processes;

		prv->processes = process->next;
		map__free(&process->workers);
		map__free(&process->channels);
		free(process->sorted);
		free(process);
	}
	labels__free(prv);
	map__free(&prv->flows);
	pool__free(&prv->row_pool);
	pool__free(&prv->task_pool);
	free(prv->rows);
	spool__close(&prv->spool);
}

int export__paraver(struct trace *trace, const struct export_options *options, char **err)
{
	struct paraver prv = {
		.trace = trace,
		.row_pool.size = sizeof(struct prv_row),
		.task_pool.size = sizeof(struct prv_task),
	};
	struct feed feed = {.trace = trace, .options = options, .err = &prv.err};
	char *which = NULL;
	int result;

	prv.processes_end = &prv.processes;
	result = spool__open(&prv.spool, options->path);
	if (!result)
		result = paraver__read(&prv, &feed);
	if (!result)
		result = paraver__write(&prv, options, &which);
	if (result && err)
		*err = feed__error(&feed, which ? which : options->path, result);
	free(which);
	/* processes of the model are needed up to here, for their names */
	model__free(feed.model);
	paraver__free(&prv);
	return result;
}
