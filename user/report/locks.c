/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Figures of locks: how often acquired, waited for, held; and of contended waits who waited, for
 * whom, and the longest.
 *
 * Held is from the first holder's ACQUIRED to the last one's RELEASED, so shared holders count
 * once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "figures.h"

static struct lock_figures *new_lock(struct report *report)
{
	struct lock_figures *lock = calloc(1, sizeof(*lock));

	if (!lock)
		report->err = -ENOMEM;
	return lock;
}

static struct lock_figures *lock_of(struct report *report, uint32_t process, uint64_t object)
{
	struct lock_figures *lock = map__get(&report->locks, process, object);

	if (lock)
		return lock;
	if (report->locks.count >= FIGURES_LOCKS_MAX) {
		if (!report->other_locks) {
			report->other_locks = new_lock(report);
			if (report->other_locks)
				report->other_locks->name = report__copy(report, FIGURES_OTHERS);
		}
		return report->other_locks;
	}
	lock = new_lock(report);
	if (!lock || map__put(&report->locks, process, object, lock)) {
		free(lock);
		report->err = -ENOMEM;
		return NULL;
	}
	lock->object = object;
	return lock;
}

static struct lock_party party_of(struct report *report, const struct model_lock_party *from)
{
	struct lock_party party = {.task = from->task, .tid = from->tid};
	char text[32];

	snprintf(text, sizeof(text), "thread %u", from->tid);
	party.name = report__copy(report, from->name ? from->name : text);
	return party;
}

/* parties of one name together; what finds no room is among the others */
static void parties__add(struct report *report, struct lock_parties *parties,
			 const struct model_lock_party *who, uint64_t wait)
{
	struct lock_party *party = NULL;

	if (!who->tid)
		return;
	for (uint32_t i = 0; i < parties->count && !party; i++)
		if (who->name ? parties->key[i] == (uintptr_t)who->name
			      : parties->key[i] == who->tid)
			party = &parties->all[i];
	if (!party && parties->count == FIGURES_PARTIES_MAX) {
		parties->other_count++;
		parties->other_wait_ns += wait;
		return;
	}
	if (!party) {
		parties->key[parties->count] = who->name ? (uintptr_t)who->name : who->tid;
		party = &parties->all[parties->count++];
		*party = party_of(report, who);
	}
	party->count++;
	party->wait_ns += wait;
}

static void on_contended(struct report *report, struct lock_figures *lock,
			 const struct model_lock_change *change,
			 const struct model_lock_party *waiter, uint64_t wait)
{
	lock->contended++;
	lock->contended_ns += wait;
	parties__add(report, &lock->waiters, waiter, wait);
	parties__add(report, &lock->holding, &change->holder, wait);
	if (lock->longest.waiter.name && wait <= lock->longest.wait_ns)
		return;
	free(lock->longest.waiter.name);
	free(lock->longest.holder.name);
	lock->longest.wait_ns = wait;
	lock->longest.waiter = party_of(report, waiter);
	lock->longest.holder = (struct lock_party){0};
	if (change->holder.tid)
		lock->longest.holder = party_of(report, &change->holder);
}

static void on_acquired(struct report *report, struct lock_figures *lock,
			const struct model_lock_change *change, const struct model_task *task,
			const struct model_thread *thread, uint64_t time)
{
	struct model_lock_party waiter = {.tid = thread->tid};
	uint64_t wait = change->wait_begin ? time - change->wait_begin : 0;

	lock->acquisitions++;
	if (change->holders == 1 && !change->recursive)
		lock->held_since = time;
	if (!change->wait_begin)
		return;
	if (task) {
		waiter.serial = task->serial;
		waiter.task = task->identity;
		waiter.name = task->name;
	}
	lock->wait_ns += wait;
	if (hist__add(&lock->wait, wait))
		report->err = -ENOMEM;
	if (change->contended)
		on_contended(report, lock, change, &waiter, wait);
}

void report__lock(void *ctx, const struct model_lock_change *change, struct model_task *task,
		  struct model_thread *thread, uint64_t time)
{
	struct report *report = ctx;
	struct lock_figures *lock = lock_of(report, thread->process->index, change->object);

	if (!lock)
		return;
	if (!lock->name)
		lock->name = report__copy(report, change->name);
	if (change->waiters > lock->max_waiters)
		lock->max_waiters = change->waiters;
	if (change->kind == EV_lock_acquired)
		on_acquired(report, lock, change, task, thread, time);
	else if (change->kind == EV_lock_released && change->held_since && !change->holders)
		lock->held_ns += time - lock->held_since;
}

static void parties__free(struct lock_parties *parties)
{
	for (uint32_t i = 0; i < parties->count; i++)
		free(parties->all[i].name);
}

void lock_figures__free(struct lock_figures *lock)
{
	if (!lock)
		return;
	hist__free(&lock->wait);
	parties__free(&lock->waiters);
	parties__free(&lock->holding);
	free(lock->longest.waiter.name);
	free(lock->longest.holder.name);
	free(lock->name);
	free(lock);
}
