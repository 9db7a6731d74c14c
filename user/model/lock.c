/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locks: who holds which, who waits for it, and whether a wait was one.
 *
 * A party is a task, wherever it goes on, or a thread outside tasks. A lock may have several
 * holders (readers), one may hold it several times, and who releases it need not be who acquired
 * it. What is known of a lock is forgotten when nobody holds it or waits for it.
 *
 * A wait was contended if another party held the lock at some time of it, or if the waiting task
 * stopped meanwhile. Held when the wait began is not enough: a lock that is handed over belongs to
 * the next waiter from its release on, which no event tells before that waiter says ACQUIRED.
 */
#include <errno.h>
#include <stdlib.h>
#include "private.h"

/* beyond, further locks are not followed */
#define LOCKS_MAX (1U << 20)

struct hold {
	struct hold *next;
	struct model_lock_party party;
	uint64_t who;
	uint64_t since;
	uint32_t depth;
};

struct lock {
	struct lock *next, *prev; /* of the process */
	uint64_t object;
	const char *name;
	struct hold *holds; /* newest first */
	struct wait *waits;
	uint32_t hold_count, wait_count;
	uint64_t acquired, released; /* how often */
	struct model_lock_party last_holder, releaser;
	uint64_t last_holder_who, release_time;
};

struct wait {
	struct wait *next, *prev; /* of the lock */
	uint64_t who, begin;
	uint64_t acquired, released; /* of the lock, when it began */
	uint32_t stays;		     /* of the task, likewise */
	bool held;		     /* by another then */
	struct model_lock_party holder;
};

/* serials of tasks and numbers of threads are told apart by bit 63 */
static uint64_t who_is(const struct task *task, const struct thread *thread)
{
	return task ? task->t.serial
		    : 1ULL << 63 | (uint64_t)thread->t.process->index << 32 | thread->t.tid;
}

static struct model_lock_party party_of(const struct task *task, const struct thread *thread)
{
	struct model_lock_party party = {.tid = thread->t.tid};

	if (task) {
		party.serial = task->t.serial;
		party.task = task->t.identity;
		party.name = task->t.name;
	}
	return party;
}

static struct lock *lock__get(struct model *m, struct process *process, uint64_t object)
{
	struct lock *lock = map__get(&m->locks, process->p.index, object);

	if (lock)
		return lock;
	if (m->locks.count >= LOCKS_MAX)
		return NULL;
	lock = calloc(1, sizeof(*lock));
	if (!lock || map__put(&m->locks, process->p.index, object, lock)) {
		free(lock);
		m->err = -ENOMEM;
		return NULL;
	}
	lock->object = object;
	lock->next = process->locks;
	if (lock->next)
		lock->next->prev = lock;
	process->locks = lock;
	return lock;
}

static void wait__free(struct model *m, struct lock *lock, struct wait *wait)
{
	map__remove(&m->lock_waits, wait->who, lock->object);
	if (wait->next)
		wait->next->prev = wait->prev;
	if (wait->prev)
		wait->prev->next = wait->next;
	else
		lock->waits = wait->next;
	lock->wait_count--;
	free(wait);
}

static void lock__free(struct model *m, struct process *process, struct lock *lock)
{
	while (lock->waits)
		wait__free(m, lock, lock->waits);
	while (lock->holds) {
		struct hold *hold = lock->holds;

		lock->holds = hold->next;
		free(hold);
	}
	if (lock->next)
		lock->next->prev = lock->prev;
	if (lock->prev)
		lock->prev->next = lock->next;
	else
		process->locks = lock->next;
	map__remove(&m->locks, process->p.index, lock->object);
	free(lock);
}

static const struct hold *held_by_other(const struct lock *lock, uint64_t who)
{
	const struct hold *hold = lock->holds;

	while (hold && hold->who == who)
		hold = hold->next;
	return hold;
}

static struct hold **hold_of(struct lock *lock, uint64_t who)
{
	struct hold **at = &lock->holds;

	while (*at && (*at)->who != who)
		at = &(*at)->next;
	return at;
}

static void on_wait(struct model *m, struct lock *lock, uint64_t who, const struct task *task,
		    struct model_lock_change *change)
{
	const struct hold *hold = held_by_other(lock, who);
	struct wait *wait = map__get(&m->lock_waits, who, lock->object);

	/* one that is there was given up: a try, or a timeout */
	if (!wait) {
		wait = calloc(1, sizeof(*wait));
		if (!wait || map__put(&m->lock_waits, who, lock->object, wait)) {
			free(wait);
			m->err = -ENOMEM;
			return;
		}
		wait->next = lock->waits;
		if (wait->next)
			wait->next->prev = wait;
		lock->waits = wait;
		lock->wait_count++;
	}
	*wait = (struct wait){
		.next = wait->next,
		.prev = wait->prev,
		.who = who,
		.begin = m->now,
		.acquired = lock->acquired,
		.released = lock->released,
		.stays = task ? task->t.stays : 0,
		.held = hold != NULL,
	};
	if (hold)
		wait->holder = hold->party;
	change->contended = hold != NULL;
	change->holder = wait->holder;
}

/* what the wait that ends was like */
static void judge(const struct lock *lock, const struct wait *wait, uint64_t who,
		  const struct task *task, struct model_lock_change *change)
{
	bool others = lock->acquired != wait->acquired && lock->last_holder_who != who;

	change->wait_begin = wait->begin;
	change->contended = wait->held || others || lock->released != wait->released ||
			    (task && task->t.stays != wait->stays);
	change->holder = wait->holder;
	if (others && !wait->held)
		change->holder = lock->last_holder;
	if (change->contended && lock->released != wait->released) {
		change->releaser = lock->releaser;
		change->released = lock->release_time;
	}
}

static void on_acquired(struct model *m, struct lock *lock, uint64_t who, const struct task *task,
			const struct thread *thread, struct model_lock_change *change)
{
	struct wait *wait = map__get(&m->lock_waits, who, lock->object);
	struct hold *hold = *hold_of(lock, who);

	change->recursive = hold != NULL;
	if (wait) {
		judge(lock, wait, who, task, change);
		wait__free(m, lock, wait);
	}
	lock->acquired++;
	lock->last_holder = party_of(task, thread);
	lock->last_holder_who = who;
	if (hold) {
		hold->depth++;
		return;
	}
	hold = calloc(1, sizeof(*hold));
	if (!hold) {
		m->err = -ENOMEM;
		return;
	}
	*hold = (struct hold){lock->holds, lock->last_holder, who, m->now, 1};
	lock->holds = hold;
	lock->hold_count++;
}

static void on_released(struct model *m, struct lock *lock, uint64_t who, const struct task *task,
			const struct thread *thread, struct model_lock_change *change)
{
	struct hold **at = hold_of(lock, who), *hold;

	/* by another than who acquired it: the one that holds it longest */
	for (struct hold **last = &lock->holds; !*at && *last; last = &(*last)->next)
		if (!(*last)->next) {
			at = last;
			break;
		}
	hold = *at;
	if (!hold)
		return;
	change->held_since = hold->since;
	change->holder = hold->party;
	change->recursive = --hold->depth > 0;
	if (change->recursive)
		return;
	lock->released++;
	lock->releaser = party_of(task, thread);
	lock->release_time = m->now;
	*at = hold->next;
	free(hold);
	lock->hold_count--;
}

void lock__event(struct model *m, const struct event *event, struct thread *thread)
{
	struct process *process = (struct process *)thread->t.process;
	struct task *task = running_on(thread);
	uint64_t who = who_is(task, thread);
	struct model_lock_change change = {.kind = (enum event_type)event->type,
					   .object = event->args[0].u,
					   .stack = event->stack};
	struct lock *lock = lock__get(m, process, event->args[0].u);

	if (!lock)
		return;
	switch (event->type) {
	case EV_lock_wait:
		if (event->args[1].s)
			lock->name = event->args[1].s;
		on_wait(m, lock, who, task, &change);
		break;
	case EV_lock_acquired:
		on_acquired(m, lock, who, task, thread, &change);
		break;
	default:
		on_released(m, lock, who, task, thread, &change);
	}
	change.name = lock->name;
	change.holders = lock->hold_count;
	change.waiters = lock->wait_count;
	TELL(m, lock, &change, task ? &task->t : NULL, &thread->t, m->now);
	if (!lock->holds && !lock->wait_count)
		lock__free(m, process, lock);
}

bool model__lock_holder(const struct model *m, const struct model_process *process, uint64_t object,
			struct model_lock_party *holder)
{
	const struct lock *lock = object ? map__get(&m->locks, process->index, object) : NULL;

	if (!lock || !lock->holds)
		return false;
	*holder = lock->holds->party;
	return true;
}

void lock__process_end(struct model *m, struct process *process)
{
	while (process->locks)
		lock__free(m, process, process->locks);
}

void lock__forget_all(struct model *m)
{
	for (size_t i = 0; i < m->process_slots; i++)
		if (m->processes[i])
			lock__process_end(m, m->processes[i]);
	map__free(&m->lock_waits);
	map__free(&m->locks);
}
