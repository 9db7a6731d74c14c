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

	if (lock || px->locks.count >= PERFETTO_THINGS_MAX)
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
			uint64_t object, bool held, struct drawn_task *owner, struct row *row,
			uint32_t stack, uint64_t time)
{
	const char *name = lock && lock->name && *lock->name ? lock->name : NULL;
	struct slice *slice =
		slice__new(px, SLICE_LOCK, CATEGORY_LOCK, held ? FORM_HELD : FORM_WAIT, name,
			   name	  ? 0
			   : held ? NAME_HELD
				  : NAME_WAIT);

	if (!slice)
		return;
	slice->owner = owner;
	slice->object = object;
	slice->held = held;
	slice->stack = stack;
	slice->key = process->seed;
	if (held && lock)
		lock->held = slice;
	row__push(px, row, slice, time, NULL);
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

void lock__draw(struct perfetto *px, const struct event *event, struct drawn_process *process,
		struct model_task *task, struct row *row, uint64_t time)
{
	struct drawn_task *owner = task ? task->priv[px->slot] : NULL;
	uint64_t object = event->args[0].u;
	struct drawn_lock *lock = lock__get(px, process, object);
	struct slice *held;

	switch (event->type) {
	case EV_lock_wait:
		if (lock && event->args[1].s)
			lock->name = event->args[1].s;
		lock__begin(px, process, lock, object, false, owner, row, event->stack, time);
		break;
	case EV_lock_acquired:
		lock__end(px, lock__find(row->top, object, false), time);
		lock__begin(px, process, lock, object, true, owner, row, event->stack, time);
		break;
	default:
		/* released by another than who acquired it: a semaphore */
		held = lock__find(row->top, object, true);
		if (lock__end(px, held ? held : lock ? lock->held : NULL, time))
			break;
		instant__open(px, row, CATEGORY_LOCK_RELEASED, time);
		annotate__hex(px, ANNOTATION_OBJECT, object);
		event__close(px);
	}
}

/* the slice is gone */
void lock__forget(struct perfetto *px, struct slice *slice)
{
	struct drawn_lock *lock = map__get(&px->locks, slice->key, slice->object);

	if (lock && lock->held == slice)
		lock->held = NULL;
}
