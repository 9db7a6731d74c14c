// SPDX-License-Identifier: BSD-2-Clause
/*
 * Locks: a slice for the wait, from LOCK_WAIT to LOCK_ACQUIRED, and one for the time it is held, on
 * the row of the task, or thread, that says so. Both go on in parts across suspensions, as zones
 * do.
 */
#include <errno.h>
#include "perfetto.h"

static struct drawn_lock *lock__get(struct perfetto *px, const struct drawn_process *process,
				    uint64_t object)
{
	struct drawn_lock *lock = map__get(&px->locks, process->seed, object);

	if (lock || px->locks.count >= PERFETTO_LOCKS_MAX)
		return lock;
	lock = pool__take(&px->lock_pool);
	if (!lock || map__put(&px->locks, process->seed, object, lock)) {
		px->error = -ENOMEM;
		return NULL;
	}
	return lock;
}

static struct slice *lock__find(struct slice *from, uint64_t object, bool held)
{
	while (from && (from->kind != SLICE_LOCK || from->object != object || from->held != held))
		from = from->below;
	return from;
}

static void lock__begin(struct perfetto *px, struct drawn_process *process, struct drawn_lock *lock,
			const struct model_lock_change *change, bool held, struct drawn_task *owner,
			struct row *row, uint64_t time)
{
	const char *name = lock && lock->name && *lock->name ? lock->name : NULL;
	uint64_t arrows[2] = {0, 0};
	struct slice *slice =
		slice__new(px, SLICE_LOCK, CATEGORY_LOCK, held ? FORM_HELD : FORM_WAIT, name,
			   name	  ? 0
			   : held ? NAME_HELD
				  : NAME_WAIT);

	if (!slice)
		return;
	slice->owner = owner;
	slice->object = change->object;
	slice->held = held;
	slice->stack = change->stack;
	slice->key = process->seed;
	if (held && lock)
		lock->held = slice;
	/* one that waited when it was released has its arrow from there */
	if (held && lock && change->released)
		arrows[0] = lock->release_flow;
	row__push(px, row, slice, time, arrows);
}

/* ends a slice, also one whose task does not run; false if there is none */
static bool lock__end(struct perfetto *px, struct slice *slice, uint64_t time)
{
	if (!slice)
		return false;
	if (slice->row) {
		row__remove(px, slice, NULL, NULL, NULL, time);
	} else {
		row__unlink_parked(slice);
		slice__free(px, slice);
	}
	return true;
}

static void lock__note(struct perfetto *px, struct slice *slice, uint8_t annotation, int kind,
		       union event_arg value)
{
	struct note note = {.annotation = annotation, .value = value};

	note.kind = kind;
	slice__note(px, slice, &note);
}

/* for whom a wait is, on its slice: told at its end, or where its task leaves the worker */
static void lock__note_holder(struct perfetto *px, struct slice *slice,
			      const struct model_lock_change *change)
{
	const struct model_lock_party *holder = &change->holder;

	lock__note(px, slice, ANNOTATION_CONTENDED, NOTE_BOOL,
		   (union event_arg){.u = change->contended});
	if (!holder->tid)
		return;
	if (holder->task)
		lock__note(px, slice, ANNOTATION_HOLDER, NOTE_HEX,
			   (union event_arg){.u = holder->task});
	if (holder->name)
		lock__note(px, slice, ANNOTATION_HOLDER_NAME, NOTE_STRING,
			   (union event_arg){.s = holder->name});
	lock__note(px, slice, ANNOTATION_HOLDER_TID, NOTE_INT, (union event_arg){.i = holder->tid});
}

static void lock__acquired(struct perfetto *px, const struct model_lock_change *change,
			   struct drawn_process *process, struct drawn_lock *lock,
			   struct drawn_task *owner, struct row *row, uint64_t time)
{
	struct slice *wait = lock__find(row->top, change->object, false);

	if (wait && change->wait_begin)
		lock__note_holder(px, wait, change);
	lock__end(px, wait, time);
	lock__begin(px, process, lock, change, true, owner, row, time);
	if (lock)
		lock->release_flow = 0;
}

/*
 * The arrow to who gets the lock next leaves the end of the slice `held`, so it points from the
 * release to where the waiter goes on.
 */
static void lock__released(struct perfetto *px, const struct model_lock_change *change,
			   struct drawn_lock *lock, struct row *row, uint64_t time)
{
	struct slice *held = lock__find(row->top, change->object, true);

	/* released by another than who acquired it: a semaphore */
	if (!held && lock)
		held = lock->held;
	if (held && lock && change->waiters && held->row && !held->hidden) {
		lock->release_flow = flow__new(px);
		held->end_flow = lock->release_flow;
	}
	if (lock__end(px, held, time))
		return;
	instant__open(px, row, CATEGORY_LOCK_RELEASED, time);
	annotate__hex(px, ANNOTATION_OBJECT, change->object);
	event__close(px);
}

void op__lock(void *ctx, const struct model_lock_change *change, struct model_task *task,
	      struct model_thread *thread, uint64_t time)
{
	struct perfetto *px = ctx;
	struct drawn_process *process = drawn_process__get(px, thread->process);
	struct row *row = thread__host(px, thread, task);
	struct drawn_task *owner = task ? task->priv[px->slot] : NULL;
	struct drawn_lock *lock = process ? lock__get(px, process, change->object) : NULL;
	struct slice *wait;

	if (!process || !row)
		return;
	switch (change->kind) {
	case EV_lock_wait:
		if (lock && change->name)
			lock->name = change->name;
		lock__begin(px, process, lock, change, false, owner, row, time);
		wait = lock__find(row->top, change->object, false);
		if (wait && change->contended)
			lock__note_holder(px, wait, change);
		break;
	case EV_lock_acquired:
		lock__acquired(px, change, process, lock, owner, row, time);
		break;
	default:
		lock__released(px, change, lock, row, time);
	}
}

/* the slice is gone */
void lock__forget(struct perfetto *px, struct slice *slice)
{
	struct drawn_lock *lock = map__get(&px->locks, slice->key, slice->object);

	if (lock && lock->held == slice)
		lock->held = NULL;
}
