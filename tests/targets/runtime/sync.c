/* SPDX-License-Identifier: BSD-2-Clause */
/* What tasks wait at beside futures: a mutex that is handed over, and bounded channels. */
#include <stdlib.h>
#include "internal.h"

struct fiber_mutex {
	struct spin lock;
	bool held;
	const char *name;
	struct context *first, *last; /* waiters, in the order they came */
};

struct fiber_mutex *fiber_mutex__new(const char *name)
{
	struct fiber_mutex *mutex = calloc(1, sizeof(*mutex));

	if (!mutex)
		runtime__fatal("no memory for a mutex", 0);
	mutex->name = name;
	return mutex;
}

static bool fiber_mutex__try(struct fiber_mutex *mutex)
{
	bool taken;

	spin__lock(&mutex->lock);
	taken = !mutex->held;
	mutex->held = true;
	spin__unlock(&mutex->lock);
	return taken;
}

static bool fiber_mutex__park(struct parking *parking, struct context *context)
{
	struct fiber_mutex *mutex = parking->arg;
	bool parked = false;

	spin__lock(&mutex->lock);
	if (mutex->held) {
		context->next = NULL;
		if (mutex->last)
			mutex->last->next = context;
		else
			mutex->first = context;
		mutex->last = context;
		parked = true;
	}
	mutex->held = true;
	spin__unlock(&mutex->lock);
	return parked;
}

void fiber_mutex__lock(struct fiber_mutex *mutex)
{
	struct parking parking = {
		.reason = "mutex::lock",
		.object = mutex,
		.cause = "mutex::unlock",
		.park = fiber_mutex__park,
		.arg = mutex,
	};

	POINT2(LOCK_WAIT, lock_wait, mutex, mutex->name);
	if (!fiber_mutex__try(mutex)) {
		task__park(&parking);
		journal__lock_contended(mutex);
	}
	POINT1(LOCK_ACQUIRED, lock_acquired, mutex);
}

void fiber_mutex__unlock(struct fiber_mutex *mutex)
{
	struct context *next;

	POINT1(LOCK_RELEASED, lock_released, mutex);
	spin__lock(&mutex->lock);
	next = mutex->first;
	if (next) {
		mutex->first = next->next;
		if (!mutex->first)
			mutex->last = NULL;
	} else {
		mutex->held = false;
	}
	spin__unlock(&mutex->lock);
	if (next)
		context__resume(next, "mutex::unlock", mutex);
}

void fiber_mutex__free(struct fiber_mutex *mutex)
{
	free(mutex);
}

/* One that waits at a channel; lies on its own stack. */
struct channel_waiter {
	struct channel_waiter *next;
	struct context *context;
	struct channel *channel;
	int64_t value;
	bool got; /* receiver: `value` was handed to it, the channel is not merely closed */
};

struct channel_queue {
	struct channel_waiter *first, *last;
};

struct channel {
	struct spin lock;
	const char *name;
	uint32_t capacity, count, head;
	uint32_t senders;
	struct channel_queue sending, receiving;
	int64_t items[];
};

static void channel_queue__add(struct channel_queue *queue, struct channel_waiter *waiter)
{
	waiter->next = NULL;
	if (queue->last)
		queue->last->next = waiter;
	else
		queue->first = waiter;
	queue->last = waiter;
}

static struct channel_waiter *channel_queue__take(struct channel_queue *queue)
{
	struct channel_waiter *waiter = queue->first;

	if (waiter) {
		queue->first = waiter->next;
		if (!queue->first)
			queue->last = NULL;
	}
	return waiter;
}

struct channel *channel__new(const char *name, uint32_t capacity, uint32_t senders)
{
	struct channel *channel = calloc(1, sizeof(*channel) + capacity * sizeof(int64_t));

	if (!channel)
		runtime__fatal("no memory for a channel", 0);
	channel->name = name;
	channel->capacity = capacity;
	channel->senders = senders;
	return channel;
}

static void channel__put(struct channel *channel, int64_t value)
{
	channel->items[(channel->head + channel->count++) % channel->capacity] = value;
}

/*
 * The two attempts, under the lock. `done` tells whether the caller is through; `wake` is one whose
 * wait this ended: it owns its stack again as soon as it is resumed, so its context is taken along.
 */
static bool try_send(struct channel *channel, int64_t value, struct context **wake)
{
	struct channel_waiter *receiver = channel_queue__take(&channel->receiving);

	if (receiver) {
		receiver->value = value;
		receiver->got = true;
		*wake = receiver->context;
		return true;
	}
	if (channel->count == channel->capacity)
		return false;
	channel__put(channel, value);
	return true;
}

static bool try_receive(struct channel *channel, struct channel_waiter *receiver,
			struct context **wake)
{
	struct channel_waiter *sender;

	if (!channel->count)
		return !channel->senders;
	receiver->value = channel->items[channel->head];
	receiver->got = true;
	channel->head = (channel->head + 1) % channel->capacity;
	channel->count--;
	sender = channel_queue__take(&channel->sending);
	if (sender) {
		channel__put(channel, sender->value);
		*wake = sender->context;
	}
	return true;
}

static bool park_sender(struct parking *parking, struct context *context)
{
	struct channel_waiter *sender = parking->arg;
	struct channel *channel = sender->channel;
	struct context *wake = NULL;
	bool done;

	spin__lock(&channel->lock);
	done = try_send(channel, sender->value, &wake);
	if (!done) {
		sender->context = context;
		channel_queue__add(&channel->sending, sender);
	}
	spin__unlock(&channel->lock);
	if (wake)
		context__resume(wake, "channel::send", channel);
	return !done;
}

static bool park_receiver(struct parking *parking, struct context *context)
{
	struct channel_waiter *receiver = parking->arg;
	struct channel *channel = receiver->channel;
	struct context *wake = NULL;
	bool done;

	spin__lock(&channel->lock);
	done = try_receive(channel, receiver, &wake);
	if (!done) {
		receiver->context = context;
		channel_queue__add(&channel->receiving, receiver);
	}
	spin__unlock(&channel->lock);
	if (wake)
		context__resume(wake, "channel::receive", channel);
	return !done;
}

void channel__send(struct channel *channel, int64_t value)
{
	struct channel_waiter sender = {.channel = channel, .value = value};
	struct parking parking = {
		.reason = "channel::full",
		.object = channel,
		.cause = "channel::receive",
		.park = park_sender,
		.arg = &sender,
	};
	struct context *wake = NULL;
	bool done;

	spin__lock(&channel->lock);
	done = try_send(channel, value, &wake);
	spin__unlock(&channel->lock);
	if (wake)
		context__resume(wake, "channel::send", channel);
	if (!done)
		task__park(&parking);
}

bool channel__receive(struct channel *channel, int64_t *value)
{
	struct channel_waiter receiver = {.channel = channel};
	struct parking parking = {
		.reason = "channel::empty",
		.object = channel,
		.cause = "channel::send",
		.park = park_receiver,
		.arg = &receiver,
	};
	struct context *wake = NULL;
	bool done;

	spin__lock(&channel->lock);
	done = try_receive(channel, &receiver, &wake);
	spin__unlock(&channel->lock);
	if (wake)
		context__resume(wake, "channel::receive", channel);
	if (!done)
		task__park(&parking);
	*value = receiver.value;
	return receiver.got;
}

void channel__sender_done(struct channel *channel)
{
	struct channel_waiter *receivers = NULL;

	spin__lock(&channel->lock);
	if (!--channel->senders) {
		receivers = channel->receiving.first;
		channel->receiving.first = channel->receiving.last = NULL;
	}
	spin__unlock(&channel->lock);
	while (receivers) {
		struct channel_waiter *next = receivers->next;

		context__resume(receivers->context, "channel::close", channel);
		receivers = next;
	}
}

void channel__free(struct channel *channel)
{
	free(channel);
}
