// SPDX-License-Identifier: BSD-2-Clause
/* The collector's part for marks in time: markers, events, frames, counters. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracer/tracer.h>
#include "functions.h"
#include "itt_abi.h"
#include "self.h"

/* --- markers, events, frames --- */

static void marker(const struct itt_domain *domain, struct itt_id id, struct itt_string *name,
		   int scope)
{
	(void)domain;
	(void)id;
	(void)scope;
	TRACER_MESSAGE(text_of(name));
}

static void marker_ex(const struct itt_domain *domain, void *clock, unsigned long long time,
		      struct itt_id id, struct itt_string *name, int scope)
{
	(void)clock;
	(void)time;
	marker(domain, id, name, scope);
}

/* channels of markers: one for each event and each domain with frames, as they come */
static uint32_t new_channel(void)
{
	static uint32_t channels = 0x17700000; /* apart from a program's own small ones */

	return __atomic_fetch_add(&channels, 1, __ATOMIC_RELAXED);
}

#define EVENTS 4096
static const char *event_names[EVENTS];
static uint32_t event_channels[EVENTS];

/* a number for the event, the same for the same name; 0: too many */
static int event_create(const char *name, int length)
{
	static int count;
	int event;

	if (length < 0 || !name)
		return 0;
	pthread_mutex_lock(&lists);
	for (event = 1; event <= count; event++)
		if (!strncmp(event_names[event], name, length) && !event_names[event][length])
			break;
	if (event > count) {
		event = count + 1 < EVENTS ? count + 1 : 0;
		if (event) {
			event_names[event] = strndup(name, length);
			event_channels[event] = new_channel();
			if (event_names[event])
				count = event;
			else
				event = 0;
		}
	}
	pthread_mutex_unlock(&lists);
	return event;
}

static int event_start(int event)
{
	if (event <= 0 || event >= EVENTS || !event_names[event])
		return 1;
	TRACER_CHANNEL_NAME(event_channels[event], event_names[event]);
	TRACER_MARKER_SET(event_channels[event], event_names[event], 0);
	return 0;
}

static int event_end(int event)
{
	if (event <= 0 || event >= EVENTS || !event_names[event])
		return 1;
	TRACER_MARKER_RESET(event_channels[event]);
	return 0;
}

static int mark(int type, const char *parameter)
{
	if (type <= 0 || type >= EVENTS || !event_names[type])
		return 1;
	TRACER_MESSAGE(parameter && *parameter ? parameter : event_names[type]);
	return 0;
}

static int mark_create(const char *name)
{
	return event_create(name, name ? (int)strlen(name) : -1);
}

/* of the domain's frames; its extra2 */
static uint32_t frame_channel(struct itt_domain *domain)
{
	uintptr_t channel = __atomic_load_n((uintptr_t *)&domain->extra2, __ATOMIC_ACQUIRE);

	if (!channel) {
		pthread_mutex_lock(&lists);
		channel = (uintptr_t)domain->extra2;
		if (!channel) {
			channel = new_channel();
			__atomic_store_n((uintptr_t *)&domain->extra2, channel, __ATOMIC_RELEASE);
		}
		pthread_mutex_unlock(&lists);
	}
	return channel;
}

/* a frame has an extent, which a FRAME mark has not: a marker shows that */
static void frame_begin_v3(struct itt_domain *domain, struct itt_id *id)
{
	if (!domain)
		return;
	TRACER_CHANNEL_NAME(frame_channel(domain), domain->name);
	TRACER_MARKER_SET(frame_channel(domain), domain->name, id ? identity(*id) : 0);
}

static void frame_end_v3(struct itt_domain *domain, struct itt_id *id)
{
	(void)id;
	if (!domain)
		return;
	TRACER_MARKER_RESET(frame_channel(domain));
	TRACER_FRAME(domain->name);
}

static void frame_submit_v3(struct itt_domain *domain, struct itt_id *id, unsigned long long begin,
			    unsigned long long end)
{
	(void)id;
	(void)begin;
	(void)end;
	if (domain)
		TRACER_FRAME(domain->name);
}

static struct itt_domain *frame_create(const char *name)
{
	return domain_create(name ? name : "frame");
}

static void frame_begin(struct itt_domain *domain)
{
	frame_begin_v3(domain, NULL);
}

static void frame_end(struct itt_domain *domain)
{
	frame_end_v3(domain, NULL);
}

/* --- counters --- */

/* "name", or "domain: name" if another domain has one of that name already */
static struct itt_counter *counter_create_typed(const char *name, const char *domain, int type)
{
	static struct itt_counter *first;
	struct itt_counter *counter;
	bool taken = false;
	char full[512];

	if (!name)
		return NULL;
	pthread_mutex_lock(&lists);
	snprintf(full, sizeof(full), "%s: %s", domain ? domain : "", name);
	for (counter = first; counter; counter = counter->next) {
		bool same_domain = !strcmp(counter->domain, domain ? domain : "");

		if (same_domain && (!strcmp(counter->name, name) || !strcmp(counter->name, full)))
			break;
		taken |= !strcmp(counter->name, name);
	}
	if (!counter) {
		counter = calloc(1, sizeof(*counter));
		if (counter) {
			counter->name = strdup(taken ? full : name);
			counter->domain = strdup(domain ? domain : "");
			counter->type = type;
			if (counter->name && counter->domain) {
				counter->next = first;
				first = counter;
			} else {
				free((char *)counter->name);
				free((char *)counter->domain);
				free(counter);
				counter = NULL;
			}
		}
	}
	pthread_mutex_unlock(&lists);
	return counter;
}

static struct itt_counter *counter_create(const char *name, const char *domain)
{
	return counter_create_typed(name, domain, ITT_METADATA_U64);
}

static struct itt_counter *counter_create_v3(const struct itt_domain *domain, const char *name,
					     int type)
{
	return counter_create_typed(name, domain ? domain->name : NULL, type);
}

static void counter_add(struct itt_counter *counter, int64_t delta)
{
	long value;

	if (!counter)
		return;
	value = __atomic_add_fetch(&counter->index, delta, __ATOMIC_RELAXED);
	TRACER_COUNTER(counter->name, value);
}

static void counter_inc(struct itt_counter *counter)
{
	counter_add(counter, 1);
}

static void counter_dec(struct itt_counter *counter)
{
	counter_add(counter, -1);
}

static void counter_inc_delta(struct itt_counter *counter, unsigned long long delta)
{
	counter_add(counter, delta);
}

static void counter_dec_delta(struct itt_counter *counter, unsigned long long delta)
{
	counter_add(counter, -(int64_t)delta);
}

static void counter_add_v3(const struct itt_domain *domain, const struct itt_string *name,
			   int64_t delta)
{
	counter_add(counter_create(text_of(name), domain ? domain->name : NULL), delta);
}

static void counter_inc_v3(const struct itt_domain *domain, struct itt_string *name)
{
	counter_add_v3(domain, name, 1);
}

static void counter_dec_v3(const struct itt_domain *domain, struct itt_string *name)
{
	counter_add_v3(domain, name, -1);
}

static void counter_inc_delta_v3(const struct itt_domain *domain, struct itt_string *name,
				 unsigned long long delta)
{
	counter_add_v3(domain, name, delta);
}

static void counter_dec_delta_v3(const struct itt_domain *domain, struct itt_string *name,
				 unsigned long long delta)
{
	counter_add_v3(domain, name, -(int64_t)delta);
}

static void counter_set_value(struct itt_counter *counter, const void *data)
{
	double number;
	float real;
	int64_t value = 0;

	if (!counter || !data)
		return;
	switch (counter->type) {
	case ITT_METADATA_FLOAT:
		memcpy(&real, data, sizeof(real));
		TRACER_COUNTER(counter->name, (double)real);
		return;
	case ITT_METADATA_DOUBLE:
		memcpy(&number, data, sizeof(number));
		TRACER_COUNTER(counter->name, number);
		return;
	case ITT_METADATA_U32:
		value = *(const uint32_t *)data;
		break;
	case ITT_METADATA_S32:
		value = *(const int32_t *)data;
		break;
	case ITT_METADATA_U16:
		value = *(const uint16_t *)data;
		break;
	case ITT_METADATA_S16:
		value = *(const int16_t *)data;
		break;
	default:
		memcpy(&value, data, sizeof(value));
	}
	__atomic_store_n(&counter->index, value, __ATOMIC_RELAXED);
	TRACER_COUNTER(counter->name, value);
}

static void counter_set_value_ex(struct itt_counter *counter, void *clock, unsigned long long time,
				 void *data)
{
	(void)clock;
	(void)time;
	counter_set_value(counter, data);
}

static void counter_destroy(struct itt_counter *counter)
{
	(void)counter; /* its name may come again, and goes on */
}

const struct itt_function mark_functions[] = {
	FUNCTION(marker),
	FUNCTION(marker_ex),
	FUNCTION(event_create),
	FUNCTION(event_start),
	FUNCTION(event_end),
	FUNCTION(mark_create),
	FUNCTION(mark),
	{"mark_global", (void *)mark},
	FUNCTION(frame_begin_v3),
	FUNCTION(frame_end_v3),
	FUNCTION(frame_submit_v3),
	FUNCTION(frame_create),
	FUNCTION(frame_begin),
	FUNCTION(frame_end),
	FUNCTION(counter_create),
	FUNCTION(counter_create_typed),
	FUNCTION(counter_create_v3),
	FUNCTION(counter_inc),
	FUNCTION(counter_dec),
	FUNCTION(counter_inc_delta),
	FUNCTION(counter_dec_delta),
	FUNCTION(counter_inc_v3),
	FUNCTION(counter_dec_v3),
	FUNCTION(counter_inc_delta_v3),
	FUNCTION(counter_dec_delta_v3),
	FUNCTION(counter_set_value),
	FUNCTION(counter_set_value_ex),
	{"counter_set_value_v3", (void *)counter_set_value},
	FUNCTION(counter_destroy),
	{0},
};
