// SPDX-License-Identifier: BSD-2-Clause
/*
 * Packets. All are on one sequence; time stamps are differences to the packet before (a clock of
 * the sequence's own, number 64, that a snapshot ties to BOOTTIME); names, categories and names of
 * annotations are numbers that a packet before has told the meaning of.
 *
 * Field numbers are those of Perfetto's public definitions; tests/e2e/perfetto.proto names them.
 */
#include <errno.h>
#include <stdio.h>
#include <tracer/ring.h>
#include "perfetto.h"

#define PACKET_ROOM \
	(224U << 10) /* more than any packet takes: 16 notes of two strings, and the rest */
#define FLOW_STEP_LOG 24
#define CLOCK_REALTIME_ID 1
#define CLOCK_MONOTONIC_ID 3
#define CLOCK_BOOTTIME_ID 6
#define CLOCK_OURS 64
#define SEQUENCE_CLEARED 1
#define SEQUENCE_NEEDS 2
#define SEQUENCE_FIRST (1U << 13)
/* ids of texts that events give all have two bytes then, up to 16,383 */
#define STRING_FIRST 128

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= TRACER_HASH_1;
	x ^= x >> 33;
	x *= TRACER_HASH_2;
	return x ^ (x >> 33);
}

/* never 0, which means "none" for uuids and flows */
uint64_t perfetto__hash(uint64_t seed, uint64_t kind, uint64_t id)
{
	uint64_t hash = mix(mix(mix(seed + kind) ^ id) + kind);

	return hash ? hash : 1;
}

static void packet__close(struct perfetto *px)
{
	proto__end(&px->proto, px->packet);
}

static void hexes__tell(struct perfetto *px);
static void hex__annotate(struct perfetto *px, uint32_t iid, uint32_t text_iid, uint64_t value);

/*
 * Two bytes at least, as Perfetto's own writer does with lengths: a packet's length stands at its
 * beginning, and if that changed with the time, nothing of what follows would be found in one piece.
 */
static void event__time(struct proto *proto, uint64_t time)
{
	if (time >= 0x80) {
		proto__uint(proto, 8, time);
		return;
	}
	proto__key(proto, 8, 0);
	*proto->pos++ = (uint8_t)(time | 0x80);
	*proto->pos++ = 0;
}

static void event__finish(struct perfetto *px)
{
	if (!px->pending)
		return;
	px->pending = false;
	if (px->tail.flow)
		proto__fixed64(&px->proto, px->tail.flow_ends ? 48 : 47, px->tail.flow);
	if (px->tail.task)
		hex__annotate(px, ANNOTATION_TASK, px->tail.task_iid, px->tail.task);
	proto__raw(&px->proto, px->tail.row, px->tail.row_size);
	proto__end(&px->proto, px->event);
	if (px->tail.absolute)
		proto__uint(&px->proto, 58, CLOCK_BOOTTIME_ID);
	event__time(&px->proto, px->tail.time);
	if (px->new_hex_count)
		hexes__tell(px);
	packet__close(px);
}

void perfetto__flush(struct perfetto *px)
{
	int err;

	event__finish(px);
	err = outfile__write(px->output, px->proto.base, proto__used(&px->proto));
	if (err && !px->error)
		px->error = err;
	px->proto.pos = px->proto.base;
}

static void packet__open(struct perfetto *px)
{
	event__finish(px);
	if (proto__room(&px->proto) < PACKET_ROOM)
		perfetto__flush(px);
	px->packet = proto__begin(&px->proto, 1);
}

static void packet__open_with_prefix(struct perfetto *px)
{
	packet__open(px);
	proto__raw(&px->proto, px->prefix, px->prefix_size);
}

static void clock__write(struct proto *p, uint32_t id, uint64_t time, bool incremental)
{
	uint8_t *mark = proto__begin(p, 1);

	proto__uint(p, 1, id);
	proto__uint(p, 2, time);
	if (incremental)
		proto__uint(p, 3, 1);
	proto__end(p, mark);
}

static void start__clocks(struct perfetto *px, uint32_t sequence, uint64_t time)
{
	struct proto *p = &px->proto;
	uint8_t *mark;

	packet__open(px);
	proto__uint(p, 10, sequence);
	proto__uint(p, 13, SEQUENCE_CLEARED);
	proto__uint(p, 87, 1); /* first packet on the sequence */
	mark = proto__begin(p, 6);
	clock__write(p, CLOCK_BOOTTIME_ID, time, false);
	clock__write(p, CLOCK_MONOTONIC_ID, time + (uint64_t)px->info.monotonic_offset, false);
	clock__write(p, CLOCK_REALTIME_ID, time + (uint64_t)px->info.realtime_offset, false);
	proto__uint(p, 2, CLOCK_BOOTTIME_ID);
	proto__end(p, mark);
	mark = proto__begin(p, 59); /* defaults */
	proto__uint(p, 58, CLOCK_OURS);
	proto__end(p, mark);
	packet__close(px);

	packet__open_with_prefix(px);
	mark = proto__begin(p, 6);
	clock__write(p, CLOCK_OURS, 0, true);
	clock__write(p, CLOCK_BOOTTIME_ID, time, false);
	proto__end(p, mark);
	packet__close(px);
	px->time = time;
}

static void interned__write(struct proto *p, uint32_t field, uint32_t iid, const char *text)
{
	uint8_t *mark = proto__begin(p, field);

	proto__uint(p, 1, iid);
	proto__string(p, 2, text);
	proto__end(p, mark);
}

enum {
	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	INTERNED_ANNOTATIONS = 3,
	INTERNED_STRINGS = 29
};

static void start__names(struct perfetto *px)
{
	static const char *const categories[] = {
#define X(id, name) name,
		PERFETTO_CATEGORIES(X)};
	static const char *const names[] = {PERFETTO_NAMES(X)};
	static const char *const annotations[] = {PERFETTO_ANNOTATIONS(X)};
#undef X
	struct proto *p = &px->proto;
	uint8_t *mark;

	packet__open_with_prefix(px);
	mark = proto__begin(p, 12);
	for (uint32_t i = 0; i < CATEGORIES; i++) {
		interned__write(p, INTERNED_CATEGORIES, i + 1, categories[i]);
		interned__write(p, INTERNED_NAMES, i + 1, categories[i]);
	}
	for (uint32_t i = NAME_FIRST + 1; i < NAMES; i++)
		interned__write(p, INTERNED_NAMES, i, names[i - NAME_FIRST - 1]);
	for (uint32_t i = 1; i < ANNOTATIONS; i++)
		interned__write(p, INTERNED_ANNOTATIONS, i, annotations[i - 1]);
	proto__end(p, mark);
	packet__close(px);
	px->next_iid[TABLE_NAMES] = NAMES;
	px->next_iid[TABLE_ANNOTATIONS] = ANNOTATIONS;
	px->next_iid[TABLE_STRINGS] = STRING_FIRST;
}

void perfetto__start(struct perfetto *px, uint64_t time)
{
	uint32_t sequence;
	uint8_t *end = px->prefix;

	px->boot_seed = 0;
	for (const char *s = px->info.boot_id ? px->info.boot_id : ""; *s; s++)
		px->boot_seed = mix(px->boot_seed ^ (unsigned char)*s);
	px->session = perfetto__hash(px->boot_seed, 0, time);
	px->flow_base = perfetto__hash(px->session, FLOW_BASE, 0);
	/*
	 * Two bytes as a varint, since each packet has it. A file's first packet clears what was
	 * said under the number before, so that of a file in front of it does no harm; and who
	 * counts from 1, as Perfetto's own producers do, does not come that far.
	 */
	sequence = SEQUENCE_FIRST + (uint32_t)(px->session >> 32) % SEQUENCE_FIRST;
	*end++ = 10 << 3;
	end = proto__encode(end, sequence);
	*end++ = 13 << 3;
	*end++ = SEQUENCE_NEEDS;
	px->prefix_size = (uint8_t)(end - px->prefix);
	start__clocks(px, sequence, time);
	start__names(px);
	px->started = true;
}

void perfetto__attributes(struct perfetto *px, const char *const *keys, const char *const *values,
			  size_t count)
{
	struct proto *p = &px->proto;
	uint8_t *mark;

	packet__open_with_prefix(px);
	mark = proto__begin(p, 126);
	for (size_t i = 0; i < count; i++) {
		uint8_t *attribute = proto__begin(p, 1);

		proto__string(p, 1, keys[i]);
		proto__string(p, 3, values[i]);
		proto__end(p, attribute);
	}
	proto__end(p, mark);
	packet__close(px);
}

static void descriptor__process(struct proto *p, const struct descriptor *d)
{
	uint8_t *mark = proto__begin(p, 3);

	proto__uint(p, 1, d->pid);
	if (d->cmdline && *d->cmdline)
		proto__string(p, 2, d->cmdline);
	if (d->name)
		proto__string(p, 6, d->name);
	if (d->start_time)
		proto__uint(p, 7, d->start_time);
	proto__end(p, mark);
}

static void descriptor__thread(struct proto *p, const struct descriptor *d)
{
	uint8_t *mark = proto__begin(p, 4);

	proto__uint(p, 1, d->pid);
	proto__uint(p, 2, d->tid);
	if (d->name)
		proto__string(p, 5, d->name);
	proto__end(p, mark);
}

static void descriptor__counter(struct proto *p, const struct descriptor *d)
{
	uint8_t *mark = proto__begin(p, 8);

	if (d->incremental)
		proto__uint(p, 5, 1);
	proto__end(p, mark);
}

void descriptor__write(struct perfetto *px, const struct descriptor *d)
{
	struct proto *p = &px->proto;
	char text[1100];
	uint8_t *mark;

	packet__open_with_prefix(px);
	mark = proto__begin(p, 60);
	proto__uint(p, 1, d->uuid);
	if (d->parent)
		proto__uint(p, 5, d->parent);
	if (d->name && d->address) {
		snprintf(text, sizeof(text), "%.1040s %s", d->name, d->address);
		proto__string(p, 2, text);
	} else if (d->name) {
		proto__string(p, 2, d->name);
	}
	if (d->kind == TRACK_THREAD)
		descriptor__thread(p, d);
	else if (d->kind == TRACK_PROCESS)
		descriptor__process(p, d);
	else if (d->kind == TRACK_COUNTER)
		descriptor__counter(p, d);
	if (d->ordered)
		proto__uint(p, 11, 3); /* explicit */
	if (d->rank >= 0)
		proto__int(p, 12, d->rank);
	if (d->description)
		proto__string(p, 14, d->description);
	if (d->no_merge)
		proto__uint(p, 15, 2); /* none */
	proto__end(p, mark);
	packet__close(px);
	px->tally.descriptors++;
}

/* the text of a form, in @buffer unless it is the string itself */
static const char *form__text(enum perfetto_form form, const char *text, char *buffer, size_t size)
{
	const char *end;

	switch (form) {
	case FORM_PLAIN:
		return text;
	case FORM_SUSPENDED:
		snprintf(buffer, size, "suspended: %s", text);
		return buffer;
	case FORM_SLEEP:
		snprintf(buffer, size, "sleep: %s", text);
		return buffer;
	case FORM_WAIT:
		snprintf(buffer, size, "wait: %s", text);
		return buffer;
	case FORM_HELD:
		snprintf(buffer, size, "held: %s", text);
		return buffer;
	case FORM_FILE:
		end = strrchr(text, ':');
		snprintf(buffer, size, "%.*s", (int)(end ? end - text : (long)strlen(text)), text);
		return buffer;
	}
	return text;
}

uint8_t *interned__open(struct perfetto *px)
{
	packet__open_with_prefix(px);
	return proto__begin(&px->proto, 12);
}

void interned__close(struct perfetto *px, uint8_t *mark)
{
	proto__end(&px->proto, mark);
	packet__close(px);
}

uint32_t intern__new(struct perfetto *px, enum perfetto_table table, const char *text)
{
	static const uint32_t fields[TABLES] = {
		[TABLE_NAMES] = INTERNED_NAMES,
		[TABLE_ANNOTATIONS] = INTERNED_ANNOTATIONS,
		[TABLE_STRINGS] = INTERNED_STRINGS,
	};
	uint32_t iid = px->next_iid[table]++;
	uint8_t *mark;

	packet__open_with_prefix(px);
	mark = proto__begin(&px->proto, 12);
	interned__write(&px->proto, fields[table], iid, text);
	proto__end(&px->proto, mark);
	packet__close(px);
	return iid;
}

uint32_t intern__text(struct perfetto *px, enum perfetto_table table, enum perfetto_form form,
		      const char *text)
{
	struct map *map = &px->interned[table];
	char buffer[PROTO_STRING_MAX];
	uint32_t iid = px->next_iid[table];
	void *known;

	if (!text)
		return 0;
	/* equal strings of a trace have equal addresses, and live as long as it does */
	known = map__get(map, (uintptr_t)text, form);
	if (known)
		return (uint32_t)(uintptr_t)known;
	if (map->count >= PERFETTO_INTERNED_MAX)
		return 0;
	if (map__put(map, (uintptr_t)text, form, (void *)(uintptr_t)iid))
		return 0;
	return intern__new(px, table, form__text(form, text, buffer, sizeof(buffer)));
}

static void event__start(struct perfetto *px, const struct row *row, int type, uint64_t time,
			 bool absolute)
{
	packet__open_with_prefix(px);
	memcpy(px->tail.row, row->key, sizeof(row->key));
	px->tail.row_size = row->key_size;
	px->tail.flow = 0;
	px->tail.task = 0;
	px->tail.absolute = absolute;
	px->tail.time = time;
	px->takes_gauges = !absolute;
	px->event = proto__begin(&px->proto, 11);
	proto__uint(&px->proto, 9, (uint64_t)type);
}

void event__open(struct perfetto *px, const struct row *row, int type, uint64_t time)
{
	if (time < px->time)
		time = px->time;
	event__start(px, row, type, time - px->time, false);
	px->time = time;
}

void event__open_at(struct perfetto *px, const struct row *row, int type, uint64_t time)
{
	event__start(px, row, type, time, true);
}

void task_state__write(struct perfetto *px, uint32_t cpu, const char *comm, uint32_t tid, int state,
		       int prio, uint64_t time)
{
	struct proto *p = &px->proto;
	uint8_t *mark;

	packet__open_with_prefix(px);
	if (time >= px->time) {
		proto__uint(p, 8, time - px->time);
		px->time = time;
	} else {
		proto__uint(p, 8, time);
		proto__uint(p, 58, CLOCK_BOOTTIME_ID);
	}
	mark = proto__begin(p, 117);
	proto__uint(p, 1, cpu);
	if (comm)
		proto__string(p, 2, comm);
	proto__uint(p, 3, tid);
	proto__uint(p, 4, (uint64_t)state);
	if (prio)
		proto__int(p, 5, prio);
	proto__end(p, mark);
	packet__close(px);
	px->tally.task_states++;
}

static uint8_t *hex__write(uint8_t *to, uint64_t value)
{
	int digits = value ? (67 - __builtin_clzll(value)) / 4 : 1;

	*to++ = '0';
	*to++ = 'x';
	for (int i = digits - 1; i >= 0; i--)
		*to++ = (uint8_t) "0123456789abcdef"[value >> (4 * i) & 15];
	return to;
}

/* texts that the event refers to: readers take a packet's interned data before its event */
static void hexes__tell(struct perfetto *px)
{
	uint8_t *mark = proto__begin(&px->proto, 12);

	for (uint32_t i = 0; i < px->new_hex_count; i++) {
		uint8_t *entry = proto__begin(&px->proto, INTERNED_STRINGS), *text;

		proto__uint(&px->proto, 1, px->new_hexes[i].iid);
		text = proto__begin(&px->proto, 2);
		px->proto.pos = hex__write(px->proto.pos, px->new_hexes[i].value);
		proto__end(&px->proto, text);
		proto__end(&px->proto, entry);
	}
	proto__end(&px->proto, mark);
	px->new_hex_count = 0;
}

void event__close(struct perfetto *px)
{
	px->pending = true;
}

void event__title(struct perfetto *px, enum perfetto_category category, uint32_t name_iid,
		  enum perfetto_form form, const char *name)
{
	char buffer[PROTO_STRING_MAX];

	proto__uint(&px->proto, 3, (uint64_t)category + 1);
	if (name_iid)
		proto__uint(&px->proto, 10, name_iid);
	else if (name)
		proto__string(&px->proto, 23, form__text(form, name, buffer, sizeof(buffer)));
	if (px->stacks.next)
		proto__uint(&px->proto, 56, px->stacks.next);
	px->stacks.next = 0;
}

uint64_t flow__new(struct perfetto *px)
{
	/*
	 * Numbers in a row from a random one: as unlikely to meet another file's, and they
	 * compress, best if what changes lies in the middle.
	 */
	return px->flow_base + (++px->flows_made << FLOW_STEP_LOG);
}

uint64_t flow__next(uint64_t id)
{
	return id + (1ULL << FLOW_STEP_LOG);
}

/* the first arrow of an event waits for its place beside what else differs */
static void arrow__write(struct perfetto *px, uint64_t id, bool ends)
{
	if (px->tail.flow) {
		proto__fixed64(&px->proto, ends ? 48 : 47, id);
		return;
	}
	px->tail.flow = id;
	px->tail.flow_ends = ends;
}

void event__flow(struct perfetto *px, uint64_t id)
{
	arrow__write(px, id, false);
	px->tally.flow_ids++;
}

void event__flow_end(struct perfetto *px, uint64_t id)
{
	arrow__write(px, id, true);
	px->tally.flow_ends++;
}

static uint8_t *annotate__begin(struct perfetto *px, uint32_t iid)
{
	uint8_t *mark = proto__begin(&px->proto, 4);

	proto__uint(&px->proto, 1, iid);
	return mark;
}

void annotate__uint(struct perfetto *px, uint32_t iid, uint64_t value)
{
	uint8_t *mark = annotate__begin(px, iid);

	proto__uint(&px->proto, 3, value);
	proto__end(&px->proto, mark);
}

void annotate__bool(struct perfetto *px, uint32_t iid, bool value)
{
	uint8_t *mark = annotate__begin(px, iid);

	proto__uint(&px->proto, 2, value);
	proto__end(&px->proto, mark);
}

/* interned id of an identity's text, 0: write it out */
static uint32_t hex__iid(struct perfetto *px, uint64_t value)
{
	void *known = map__get(&px->hexes, value, 0);
	uint32_t iid;

	if (known)
		return (uint32_t)(uintptr_t)known;
	if (px->hexes.count >= PERFETTO_HEXES_MAX || px->new_hex_count >= PERFETTO_HEXES_NEW)
		return 0;
	iid = px->next_iid[TABLE_STRINGS];
	if (map__put(&px->hexes, value, 0, (void *)(uintptr_t)iid))
		return 0;
	px->next_iid[TABLE_STRINGS]++;
	px->new_hexes[px->new_hex_count].value = value;
	px->new_hexes[px->new_hex_count++].iid = iid;
	return iid;
}

static void hex__annotate(struct perfetto *px, uint32_t iid, uint32_t text_iid, uint64_t value)
{
	uint8_t *mark = annotate__begin(px, iid), *text;

	if (text_iid) {
		proto__uint(&px->proto, 17, text_iid);
	} else {
		text = proto__begin(&px->proto, 6);
		px->proto.pos = hex__write(px->proto.pos, value);
		proto__end(&px->proto, text);
	}
	proto__end(&px->proto, mark);
}

/*
 * "0x..." as a string: a reader that searches for an address finds it by its text. An identity
 * stands in a dozen events of its life, and comes again with the next, so its text is told once.
 */
void annotate__hex(struct perfetto *px, uint32_t iid, uint64_t value)
{
	hex__annotate(px, iid, hex__iid(px, value), value);
}

void annotate__task(struct perfetto *px, struct drawn_task *task)
{
	if (!task->identity_iid)
		task->identity_iid = hex__iid(px, task->identity);
	px->tail.task = task->identity;
	px->tail.task_iid = task->identity_iid;
}

void annotate__color(struct perfetto *px, uint32_t rgb)
{
	uint8_t *mark = annotate__begin(px, ANNOTATION_COLOR);
	char text[16];

	snprintf(text, sizeof(text), "#%06x", rgb & 0xffffff);
	proto__string(&px->proto, 6, text);
	proto__end(&px->proto, mark);
}

void annotate__text(struct perfetto *px, uint32_t iid, uint32_t text_iid, const char *text)
{
	uint8_t *mark;

	if (!text)
		return;
	mark = annotate__begin(px, iid);
	if (text_iid)
		proto__uint(&px->proto, 17, text_iid);
	else
		proto__string(&px->proto, 6, text);
	proto__end(&px->proto, mark);
}

void annotate__texts(struct perfetto *px, uint32_t iid, const char *const *texts, uint32_t count)
{
	struct proto *p = &px->proto;
	uint8_t *mark;

	if (count == 1) {
		annotate__text(px, iid, 0, texts[0]);
		return;
	}
	mark = annotate__begin(px, iid);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *item = proto__begin(p, 12);

		proto__string(p, 6, texts[i]);
		proto__end(p, item);
	}
	proto__end(p, mark);
}

void annotate__note(struct perfetto *px, const struct note *note, uint32_t name_iid)
{
	struct proto *p = &px->proto;
	uint8_t *mark;

	if (note->kind == NOTE_COLOR) {
		annotate__color(px, (uint32_t)note->value.u);
		return;
	}
	if (note->kind == NOTE_STRING) {
		annotate__text(px, note->annotation, 0, note->value.s);
		return;
	}
	if (note->kind == NOTE_HEX) {
		annotate__hex(px, note->annotation, note->value.u);
		return;
	}
	if (note->kind == NOTE_BOOL) {
		annotate__bool(px, note->annotation, note->value.u != 0);
		return;
	}
	mark = proto__begin(p, 4);
	if (name_iid)
		proto__uint(p, 1, name_iid);
	else
		proto__string(p, 10, note->name);
	if (note->kind == NOTE_DOUBLE)
		proto__double(p, 5, note->value.d);
	else
		proto__int(p, 4, note->value.i);
	proto__end(p, mark);
}

static void counter__close(struct perfetto *px)
{
	px->takes_gauges = false;
	event__close(px);
	px->tally.counters++;
}

void counter__write(struct perfetto *px, const struct row *row, uint64_t time, int64_t value)
{
	event__open(px, row, EVENT_COUNTER, time);
	proto__int(&px->proto, 30, value);
	counter__close(px);
}

void counter__write_at(struct perfetto *px, const struct row *row, uint64_t time, int64_t value)
{
	event__open_at(px, row, EVENT_COUNTER, time);
	proto__int(&px->proto, 30, value);
	counter__close(px);
}

void counter__write_double(struct perfetto *px, const struct row *row, uint64_t time, double value)
{
	event__open(px, row, EVENT_COUNTER, time);
	proto__double(&px->proto, 44, value);
	counter__close(px);
}

bool event__takes_gauges(const struct perfetto *px, uint64_t time)
{
	return px->pending && px->takes_gauges && time <= px->time;
}

void event__gauges(struct perfetto *px, const uint64_t *uuids, const int64_t *values,
		   uint32_t count)
{
	for (uint32_t i = 0; uuids && i < count; i++)
		proto__uint(&px->proto, 31, uuids[i]);
	for (uint32_t i = 0; i < count; i++)
		proto__int(&px->proto, 12, values[i]);
	px->takes_gauges = false;
	px->tally.extra_counters += count;
}

void perfetto__default_gauges(struct perfetto *px, const uint64_t *uuids, uint32_t count)
{
	struct proto *p = &px->proto;
	uint8_t *mark, *defaults;

	packet__open_with_prefix(px);
	mark = proto__begin(p, 59);
	proto__uint(p, 58, CLOCK_OURS);
	defaults = proto__begin(p, 11);
	for (uint32_t i = 0; i < count; i++)
		proto__uint(p, 31, uuids[i]);
	proto__end(p, defaults);
	proto__end(p, mark);
	packet__close(px);
}
