// SPDX-License-Identifier: BSD-2-Clause
/* The row "Capture": losses, and what is known of the capture itself; and steals per second. */
#include "perfetto.h"

/*
 * Losses are known after the fact and those of two threads may overlap; on their row each begins
 * where the one before has ended, at the earliest, and tells its true span in its annotations.
 */
void op__lost(void *ctx, struct model_process *model, const struct model_loss *loss, uint64_t time)
{
	static const char *const causes[LOSS_KINDS] = {
		[LOSS_RING_FULL] = "ring_full",
		[LOSS_TARGET_OVERRUN] = "target_ring_overrun",
		[LOSS_READ_FAULT] = "read_fault",
	};
	struct perfetto *px = ctx;
	struct drawn_process *process = model ? drawn_process__get(px, model) : px->processes;
	uint64_t to = loss->to ? loss->to : time;
	uint64_t from = loss->from && loss->from < to ? loss->from : to;
	struct row *row;

	if (!process)
		return;
	row = row__group(px, process, ROW_CAPTURE);
	if (from < row->last)
		from = row->last;
	if (to < from)
		to = from;
	row->last = to;
	event__open_at(px, row, EVENT_BEGIN, from);
	event__title(px, CATEGORY_LOST, CATEGORY_LOST + 1, FORM_PLAIN, NULL);
	annotate__uint(px, ANNOTATION_RECORDS, loss->records);
	annotate__uint(px, ANNOTATION_TID, loss->tid);
	if ((unsigned int)loss->cause < LOSS_KINDS)
		annotate__text(px, ANNOTATION_CAUSE, 0, causes[loss->cause]);
	annotate__uint(px, ANNOTATION_FROM, loss->from);
	annotate__uint(px, ANNOTATION_TO, loss->to);
	event__close(px);
	event__open_at(px, row, EVENT_END, to);
	event__close(px);
	px->tally.begins[CATEGORY_LOST]++;
	px->tally.ends++;
}

/* known when all has been read, so it stands at the end */
void capture__draw(struct perfetto *px, const struct trace_totals *totals)
{
	for (struct drawn_process *process = px->processes; process; process = process->next) {
		struct row *row = row__group(px, process, ROW_CAPTURE);

		instant__open(px, row, CATEGORY_CAPTURE, px->time);
		annotate__uint(px, ANNOTATION_RECORDS, totals->records);
		annotate__uint(px, ANNOTATION_LOST_RECORDS, totals->lost);
		annotate__text(px, ANNOTATION_CLOCK, 0, totals->clock ? totals->clock : "unknown");
		annotate__uint(px, ANNOTATION_CLOCK_ERROR, totals->clock_error_ns);
		if (totals->finished) {
			annotate__uint(px, ANNOTATION_TRACER_CPU, totals->cpu_ns);
			annotate__uint(px, ANNOTATION_FLUSHES, totals->flushes);
			annotate__uint(px, ANNOTATION_CHUNKS, totals->chunks);
			annotate__uint(px, ANNOTATION_CHUNK_BYTES, totals->chunk_bytes);
		}
		event__close(px);
	}
}

/* Steals per second */

/*
 * A stretch begins with a steal and is told when it is over, so its sample is written in the past;
 * the row's own order stays that of time. Between stretches the counter is 0.
 */
void steals__tell(struct perfetto *px, struct drawn_process *process, uint64_t time)
{
	uint64_t end = process->steals_since + PERFETTO_STEALS_NS;

	if (!process->steals || time < end)
		return;
	process__count(px, process, COUNT_STEALS,
		       (int64_t)(process->steals * (1000000000U / PERFETTO_STEALS_NS)),
		       process->steals_since);
	process->steals = 0;
	if (time > end)
		process__count(px, process, COUNT_STEALS, 0, end < px->time ? end : px->time);
}

void steals__count(struct perfetto *px, struct drawn_process *process, uint64_t time)
{
	steals__tell(px, process, time);
	if (!process->steals++)
		process->steals_since = time;
}
