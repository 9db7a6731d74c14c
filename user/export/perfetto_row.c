// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows, and the slices open on them.
 *
 * Slices of one row must nest, in the file as in the viewer: an end closes whatever is innermost.
 * So every row has a stack of what is open on it, and a slice that ends while others are open
 * inside it cuts them: they are ended, and begun again right after, outside, as their next part.
 * What comes from the model nests but in odd cases, so this costs nothing and is never wrong.
 *
 * Who has which row (--tracks=lanes). The exporter streams, and sees only so far ahead how many
 * tasks there will be. Up to PERFETTO_TASK_ROWS lifetimes of a process each get a new row, named
 * after it. From then on a task that is born takes a row whose task has ended, one that had a task
 * of the same description if there is such a one, and keeps it until its own end. (The row keeps
 * its name: readers take the first they see.)
 *
 * If it is seen that there will be more (`crowded`), rows are named "<description> lane <n>" from
 * the beginning, and a new one is made only if none of that description is free: so there are as
 * many as tasks of it were alive at once, PERFETTO_LANE_ROWS at most.
 *
 * If as many tasks are alive as there are rows, a newborn has none; its instants stand on the
 * group's row. It gets one when it runs or waits: a free one, or else one whose task does not run
 * now, which then gets another when it runs again. So no run is missing, nothing overlaps, and what
 * is not drawn in full are waits, which are counted.
 */
#include <errno.h>
#include <stdio.h>
#include "perfetto.h"

#define ROW_HASH_BITS 35 /* the number of a row has at most 28 */

void row__name(struct perfetto *px, struct row *row, uint64_t uuid)
{
	uint8_t *end = row->key;

	row->uuid = uuid;
	*end++ = 11 << 3;
	end = proto__encode(end, uuid);
	row->key_size = (uint8_t)(end - row->key);
	row->list = LIST_NONE;
	row->all_prev = NULL;
	row->all_next = px->all_rows;
	if (px->all_rows)
		px->all_rows->all_prev = row;
	px->all_rows = row;
}

void row__forget(struct perfetto *px, struct row *row)
{
	if (row->all_prev)
		row->all_prev->all_next = row->all_next;
	else
		px->all_rows = row->all_next;
	if (row->all_next)
		row->all_next->all_prev = row->all_prev;
}

struct row *row__group(struct perfetto *px, struct drawn_process *process, enum row_kind kind)
{
	static const char *const names[] = {
		[ROW_WORKERS] = "Workers", [ROW_TASKS] = "Tasks",     [ROW_COUNTERS] = "Counters",
		[ROW_MARKERS] = "Markers", [ROW_CAPTURE] = "Capture",
	};
	struct row *rows[] = {
		[ROW_WORKERS] = &process->workers,   [ROW_TASKS] = &process->tasks,
		[ROW_COUNTERS] = &process->counters, [ROW_MARKERS] = &process->markers,
		[ROW_CAPTURE] = &process->capture,
	};
	static const char *const descriptions[] = {
		[ROW_WORKERS] = "What each worker does, and below it what the kernel lets it do.",
		[ROW_TASKS] =
			"A task keeps its row from its creation to its end. More than 2,000 share "
			"rows, by description; with --tracks=task each has its own.",
		[ROW_COUNTERS] = "Tasks by state, queues, and the program's own counters.",
		[ROW_MARKERS] = "The program's phases and frames.",
		[ROW_CAPTURE] = "What was lost, and what the capture cost.",
	};
	struct row *row = rows[kind];

	if (!row->declared) {
		struct descriptor d = {
			.parent = process->row.uuid,
			.name = names[kind],
			.description = descriptions[kind],
			.ordered = kind != ROW_CAPTURE,
			.no_merge = true,
			.rank = (int32_t)kind - ROW_WORKERS,
		};

		row__name(px, row, perfetto__hash(process->seed, kind, 0));
		d.uuid = row->uuid;
		row->declared = true;
		descriptor__write(px, &d);
	}
	return row;
}

struct row *row__thing(struct perfetto *px, struct drawn_process *process, enum row_kind kind,
		       uint64_t id)
{
	uint64_t key = (uint64_t)process->index << 8 | kind;
	struct row *row = map__get(&px->things, key, id);

	if (row)
		return row;
	if (px->things.count >= PERFETTO_THINGS_MAX) {
		px->tally.without_row++;
		return NULL;
	}
	row = pool__take(&px->rows);
	if (!row || map__put(&px->things, key, id, row)) {
		px->error = -ENOMEM;
		return NULL;
	}
	/* what is numbered by the order of appearance is this capture's own, so the
	 * session counts */
	row__name(px, row, perfetto__hash(process->seed, kind, px->session + px->things.count));
	return row;
}

/* Lists of task rows */

static void label__take(struct row *row)
{
	if (row->label_prev)
		row->label_prev->label_next = row->label_next;
	else
		row->label->free = row->label_next;
	if (row->label_next)
		row->label_next->label_prev = row->label_prev;
}

static void label__give(struct row *row)
{
	row->label_prev = NULL;
	row->label_next = row->label->free;
	if (row->label->free)
		row->label->free->label_prev = row;
	row->label->free = row;
}

void row__move(struct drawn_process *process, struct row *row, enum row_list list)
{
	if (row->list == list)
		return;
	if (row->list != LIST_NONE) {
		if (row->prev)
			row->prev->next = row->next;
		else
			process->lists[row->list].first = row->next;
		if (row->next)
			row->next->prev = row->prev;
		else
			process->lists[row->list].last = row->prev;
		if (row->list == LIST_FREE)
			label__take(row);
	}
	row->list = (uint8_t)list;
	if (list == LIST_NONE)
		return;
	row->next = NULL;
	row->prev = process->lists[list].last;
	if (row->prev)
		row->prev->next = row;
	else
		process->lists[list].first = row;
	process->lists[list].last = row;
	if (list == LIST_FREE)
		label__give(row);
}

static struct label *label__get(struct perfetto *px, struct drawn_process *process,
				const char *name)
{
	struct label *label = map__get(&process->labels, (uintptr_t)name, 0);

	if (label)
		return label;
	label = pool__take(&px->labels);
	if (!label || map__put(&process->labels, (uintptr_t)name, 0, label)) {
		px->error = -ENOMEM;
		return NULL;
	}
	label->index = process->label_count++;
	return label;
}

/*
 * 35 bits of hash, the same in all rows of a capture's process, and above them the row's number: it
 * is written last, behind what is the same in all of them, where a compressor finds them and hashes
 * would be noise. Seven bytes as a varint, as a thread's row has.
 */
static uint64_t row__task_uuid(const struct perfetto *px, const struct drawn_process *process)
{
	uint64_t hash = perfetto__hash(process->seed, ROW_TASK, px->session);
	/* from here on the number has two bytes, up to 16,383 */
	uint64_t number = process->row_count + 128ULL;

	if (number >> (64 - ROW_HASH_BITS - 1))
		return perfetto__hash(process->seed, ROW_TASK, px->session + number);
	return (hash & ((1ULL << ROW_HASH_BITS) - 1)) | number << ROW_HASH_BITS;
}

static struct row *row__new_for_task(struct perfetto *px, struct drawn_task *task)
{
	struct drawn_process *process = task->process;
	struct descriptor d = {.name = *task->name ? task->name : "task", .no_merge = true};
	struct row *row = pool__take(&px->rows);
	char address[24];

	if (!row) {
		px->error = -ENOMEM;
		return NULL;
	}
	d.parent = row__group(px, process, ROW_TASKS)->uuid;
	if (px->info.tracks == EXPORT_LANES) {
		row->label = label__get(px, process, task->name);
		if (!row->label)
			return NULL;
		/* the rows of a description stand together, in the order in which they were made */
		d.rank = (int32_t)(row->label->index * PERFETTO_TASK_ROWS + row->label->rows++);
	} else {
		d.rank = (int32_t)(process->row_count & INT32_MAX);
	}
	row__name(px, row, row__task_uuid(px, process));
	process->row_count++;
	if (row->label && process->crowded)
		snprintf(address, sizeof(address), "lane %u", row->label->rows);
	else
		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)task->identity);
	d.uuid = row->uuid;
	d.address = address;
	row->declared = true;
	descriptor__write(px, &d);
	return row;
}

static void row__evict(struct perfetto *px, struct row *row, uint64_t time)
{
	struct drawn_task *task = row->holder;

	if (task->gap) {
		struct slice *gap = task->gap;

		gap->cut = true;
		task->gap = NULL;
		row__remove(px, gap, NULL, NULL, NULL, time);
		px->tally.evicted++;
	}
	task->row = NULL;
	row->holder = NULL;
}

void row__assign(struct perfetto *px, struct drawn_task *task, bool evict, uint64_t time)
{
	struct drawn_process *process = task->process;
	uint32_t most = process->crowded ? PERFETTO_LANE_ROWS : PERFETTO_TASK_ROWS;
	struct label *label;
	struct row *row = NULL;

	if (px->info.tracks == EXPORT_WORKERS)
		return;
	label = map__get(&process->labels, (uintptr_t)task->name, 0);
	if (process->crowded && label)
		row = label->free;
	if (!row && (px->info.tracks == EXPORT_TASK || process->row_count < most)) {
		row = row__new_for_task(px, task);
	} else if (!row) {
		row = label ? label->free : NULL;
		if (!row)
			row = process->lists[LIST_FREE].first;
		if (!row && evict) {
			row = process->lists[LIST_READY].first;
			if (!row)
				row = process->lists[LIST_SUSPENDED].first;
			if (row)
				row__evict(px, row, time);
		}
	}
	if (!row)
		return;
	if (px->info.tracks == EXPORT_LANES)
		row__move(process, row, LIST_READY);
	row->holder = task;
	task->row = row;
	task->row_since = time;
}

void row__release(struct perfetto *px, struct row *row)
{
	struct drawn_process *process = row->holder->process;

	row->holder = NULL;
	if (px->info.tracks == EXPORT_LANES) {
		row__move(process, row, LIST_FREE);
	} else {
		row__forget(px, row);
		pool__give(&px->rows, row);
	}
}

/* Slices */

struct slice *slice__new(struct perfetto *px, enum slice_kind kind, enum perfetto_category category,
			 enum perfetto_form form, const char *name, uint32_t name_iid)
{
	struct slice *slice = pool__take(&px->slices);

	if (!slice) {
		px->error = -ENOMEM;
		return NULL;
	}
	slice->kind = (uint8_t)kind;
	slice->category = (uint8_t)category;
	slice->form = (uint8_t)form;
	slice->name = name;
	slice->name_iid = name_iid ? name_iid : intern__text(px, TABLE_NAMES, form, name);
	slice->notes_end = &slice->notes;
	return slice;
}

static void slice__free_notes(struct perfetto *px, struct slice *slice)
{
	while (slice->notes) {
		struct note *note = slice->notes;

		slice->notes = note->next;
		pool__give(&px->notes, note);
	}
	slice->notes_end = &slice->notes;
	slice->note_count = 0;
}

void slice__free(struct perfetto *px, struct slice *slice)
{
	if (slice->kind == SLICE_LOCK)
		lock__forget(px, slice);
	slice__free_notes(px, slice);
	pool__give(&px->slices, slice);
}

/* a later value or colour replaces the former: an annotation's name stands once in an event */
static struct note *note__same(const struct slice *slice, const struct note *note)
{
	struct note *other = slice->notes;

	if (note->kind == NOTE_TEXT)
		return NULL;
	while (other && (other->annotation != note->annotation || other->name != note->name))
		other = other->next;
	return other;
}

void slice__note(struct perfetto *px, struct slice *slice, const struct note *note)
{
	struct note *copy = note__same(slice, note);

	if (copy) {
		copy->kind = note->kind;
		copy->value = note->value;
		return;
	}
	if (slice->note_count >= PERFETTO_NOTES_MAX)
		return;
	copy = pool__take(&px->notes);
	if (!copy) {
		px->error = -ENOMEM;
		return;
	}
	*copy = *note;
	copy->next = NULL;
	*slice->notes_end = copy;
	slice->notes_end = &copy->next;
	slice->note_count++;
}

static void slice__annotate_zone(struct perfetto *px, const struct slice *slice)
{
	annotate__uint(px, ANNOTATION_ZONE_ID, slice->key);
	annotate__text(px, ANNOTATION_FUNCTION, slice->function_iid, slice->function);
	annotate__text(px, ANNOTATION_FILE, slice->file_iid, slice->file);
	if (slice->file)
		annotate__uint(px, ANNOTATION_LINE, slice->line);
}

static void slice__annotate(struct perfetto *px, const struct slice *slice)
{
	switch ((enum slice_kind)slice->kind) {
	case SLICE_RUN:
	case SLICE_STAY:
		annotate__task(px, slice->owner);
		if (slice->worker != MODEL_NO_WORKER)
			annotate__uint(px, ANNOTATION_WORKER, slice->worker);
		break;
	case SLICE_GAP:
		/* a row of its own is named after its task */
		if (px->info.tracks == EXPORT_LANES)
			annotate__task(px, slice->owner);
		if (slice->object)
			annotate__hex(px, ANNOTATION_OBJECT, slice->object);
		break;
	case SLICE_SPAN:
		if (slice->span == SPAN_SLEEP)
			annotate__text(px, ANNOTATION_REASON, slice->function_iid, slice->function);
		break;
	case SLICE_ZONE:
		slice__annotate_zone(px, slice);
		break;
	case SLICE_CONTINUATION:
		annotate__hex(px, ANNOTATION_OBJECT, slice->object);
		annotate__hex(px, ANNOTATION_CONTINUATION, slice->key);
		annotate__bool(px, ANNOTATION_INLINE, slice->is_inline);
		break;
	case SLICE_LOCK:
		annotate__hex(px, ANNOTATION_OBJECT, slice->object);
		break;
	case SLICE_PLAIN:
		/* all ones: there is none (TRACER_UNKNOWN) */
		if (slice->category == CATEGORY_MARKER && slice->object != UINT64_MAX)
			annotate__uint(px, ANNOTATION_EXTRA, slice->object);
		break;
	}
	/* a zone tells its part always: whether there will be another is not known at its begin */
	if (slice->part || slice->kind == SLICE_ZONE)
		annotate__uint(px, ANNOTATION_PART, slice->part);
	if (slice->has_color)
		annotate__color(px, slice->color);
}

void row__push(struct perfetto *px, struct row *row, struct slice *slice, uint64_t time,
	       const uint64_t flow_ends[2])
{
	slice->row = row;
	slice->below = row->top;
	row->top = slice;
	row->depth++;
	slice->hidden = row->depth > PERFETTO_DEPTH_MAX;
	if (slice->hidden) {
		px->tally.too_deep++;
		return;
	}
	if (slice->stack && !slice->part)
		stack__next(px, slice->stack);
	event__open(px, row, EVENT_BEGIN, time);
	event__title(px, slice->category, slice->name_iid, slice->form, slice->name);
	slice__annotate(px, slice);
	for (int i = 0; flow_ends && i < 2; i++) {
		if (flow_ends[i])
			event__flow_end(px, flow_ends[i]);
	}
	event__close(px);
	px->tally.begins[slice->category]++;
	if (slice->part)
		px->tally.parts++;
}

/* the identity of the task whose RESUMED ended the gap, if it still runs where it did that */
static uint64_t waker__identity(struct perfetto *px, const struct drawn_task *task,
				const struct model_gap *gap)
{
	struct drawn_thread *thread = map__get(&px->tids, task->process->index, gap->waker_tid);

	for (struct slice *s = thread ? thread->row.top : NULL; s; s = s->below) {
		if (s->kind == SLICE_STAY && s->key == gap->waker_serial)
			return s->object;
	}
	return 0;
}

/* a thread that woke while no task ran on it, as its row is called */
static uint32_t waker__label(struct perfetto *px, const struct slice *slice,
			     const struct model_gap *gap)
{
	struct drawn_thread *thread;
	char text[32];

	if (!slice->owner || !gap || !gap->resumed || gap->kind == GAP_READY || !gap->waker_tid ||
	    gap->waker_serial)
		return 0;
	thread = map__get(&px->tids, slice->owner->process->index, gap->waker_tid);
	if (!thread || thread->label_iid)
		return thread ? thread->label_iid : 0;
	if (thread->named_worker != MODEL_NO_WORKER)
		snprintf(text, sizeof(text), "worker %u", thread->named_worker);
	else
		snprintf(text, sizeof(text), "thread %u", thread->tid);
	thread->label_iid = intern__new(px, TABLE_STRINGS, thread->named ? thread->named : text);
	return thread->label_iid;
}

static void gap__annotate(struct perfetto *px, const struct slice *slice,
			  const struct model_gap *gap, uint32_t cause_iid, uint32_t waker_iid)
{
	uint64_t waker = 0;

	if (gap->cut)
		annotate__bool(px, ANNOTATION_CUT, true);
	/* the ready gap after a RESUMED knows it too, but it is the suspension that it ended */
	if (!gap->resumed || gap->kind == GAP_READY)
		return;
	annotate__text(px, ANNOTATION_CAUSE, cause_iid, gap->cause);
	/* the waker may name what the suspended task did not */
	if (!slice->object && gap->cause_object)
		annotate__hex(px, ANNOTATION_OBJECT, gap->cause_object);
	if (slice->owner && gap->waker_serial)
		waker = waker__identity(px, slice->owner, gap);
	if (waker)
		annotate__hex(px, ANNOTATION_WAKER, waker);
	else if (waker_iid)
		annotate__text(px, ANNOTATION_WAKER, waker_iid, "");
	if (!waker && gap->waker_tid)
		annotate__uint(px, ANNOTATION_TID, gap->waker_tid);
}

/* ids of the notes' names; interning writes packets of its own, so before an event is opened */
static void notes__intern(struct perfetto *px, const struct slice *slice, uint32_t *iids)
{
	for (const struct note *note = slice->notes; note; note = note->next)
		*iids++ = note->name ? intern__text(px, TABLE_ANNOTATIONS, FORM_PLAIN, note->name)
				     : note->annotation;
}

static void notes__write(struct perfetto *px, const struct slice *slice, const uint32_t *iids)
{
	const char *texts[PERFETTO_NOTES_MAX];
	uint32_t count = 0;

	for (const struct note *note = slice->notes; note; note = note->next, iids++) {
		if (note->kind == NOTE_TEXT)
			texts[count++] = note->value.s ? note->value.s : "";
		else
			annotate__note(px, note, *iids);
	}
	if (count)
		annotate__texts(px, ANNOTATION_TEXT, texts, count);
}

/* takes the top slice off its row and ends it in the file */
static void row__pop(struct perfetto *px, struct row *row, const struct model_gap *gap,
		     const char *cause, uint64_t time)
{
	struct slice *slice = row->top;
	uint32_t iids[PERFETTO_NOTES_MAX];
	uint32_t cause_iid, waker_iid;

	row->top = slice->below;
	row->depth--;
	slice->row = NULL;
	slice->below = NULL;
	if (slice->hidden)
		return;
	cause_iid = intern__text(px, TABLE_STRINGS, FORM_PLAIN, gap ? gap->cause : cause);
	waker_iid = waker__label(px, slice, gap);
	notes__intern(px, slice, iids);
	event__open(px, row, EVENT_END, time);
	notes__write(px, slice, iids);
	if (slice->end_flow)
		event__flow(px, slice->end_flow);
	if (slice->cut)
		annotate__bool(px, ANNOTATION_CUT, true);
	if (gap)
		gap__annotate(px, slice, gap, cause_iid, waker_iid);
	else
		annotate__text(px, ANNOTATION_CAUSE, cause_iid, cause);
	event__close(px);
	px->tally.ends++;
	slice__free_notes(px, slice);
}

static bool slice__parks(const struct slice *slice, const struct drawn_task *park)
{
	return park && slice->owner == park &&
	       (slice->kind == SLICE_ZONE || slice->kind == SLICE_CONTINUATION ||
		slice->kind == SLICE_LOCK);
}

void row__remove(struct perfetto *px, struct slice *slice, struct drawn_task *park,
		 const struct model_gap *gap, const char *cause, uint64_t time)
{
	struct row *row = slice->row;
	struct slice *again = NULL;

	while (row->top != slice) {
		struct slice *inner = row->top;
		struct slice **to = slice__parks(inner, park) ? &park->parked : &again;

		row__pop(px, row, NULL, NULL, time);
		/* innermost come first, so the list is outermost first in the end */
		inner->below = *to;
		*to = inner;
	}
	row__pop(px, row, gap, cause, time);
	while (again) {
		struct slice *inner = again;

		again = inner->below;
		inner->part++;
		row__push(px, row, inner, time, NULL);
	}
	slice__free(px, slice);
}

void row__unpark(struct perfetto *px, struct drawn_task *task, uint64_t time)
{
	while (task->parked) {
		struct slice *slice = task->parked;

		task->parked = slice->below;
		slice->part++;
		row__push(px, task->host, slice, time, NULL);
	}
}

void row__unlink_parked(struct slice *slice)
{
	struct slice **at = slice->owner ? &slice->owner->parked : NULL;

	while (at && *at) {
		if (*at == slice) {
			*at = slice->below;
			return;
		}
		at = &(*at)->below;
	}
}

static void slice__detach(struct perfetto *px, struct slice *slice)
{
	switch ((enum slice_kind)slice->kind) {
	case SLICE_RUN:
		slice->owner->run = NULL;
		break;
	case SLICE_STAY:
		slice->owner->stay = NULL;
		break;
	case SLICE_GAP:
		slice->owner->gap = NULL;
		break;
	case SLICE_SPAN:
		slice->thread->spans[slice->span] = NULL;
		break;
	case SLICE_ZONE: /* the model's zone still points to it */
		slice->owner = NULL;
		return;
	case SLICE_CONTINUATION:
	case SLICE_LOCK:
	case SLICE_PLAIN:
		break;
	}
	slice__free(px, slice);
}

void row__close(struct perfetto *px, struct row *row, uint64_t time)
{
	while (row->top) {
		struct slice *slice = row->top;

		slice->cut = true;
		row__pop(px, row, NULL, NULL, time);
		slice__detach(px, slice);
	}
}
