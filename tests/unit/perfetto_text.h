/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Perfetto trace as text, for tests: a line an event. Knows the wire format and the fields that
 * the exporter uses, and shares no code with it.
 *
 *	TIME ROW begin|end|instant|count CATEGORY NAME key=value... >FLOW <FLOW
 *
 * TIME in microseconds; ROW is the track's name with those of its ancestors, "/" between; flows are
 * numbered by first sight, ">" a point of one, "<" its end. With `rows`, descriptors are lines too.
 */
#ifndef TRACER_TESTS_PERFETTO_TEXT_H
#define TRACER_TESTS_PERFETTO_TEXT_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wire {
	const uint8_t *at, *end;
	uint32_t field;
	uint64_t number; /* of a varint or fixed64 */
	struct {
		const uint8_t *at, *end;
	} bytes;
};

struct text_track {
	uint64_t uuid;
	char path[200];
	bool differences; /* of a counter */
	int64_t value;
};

struct perfetto_text {
	FILE *out;
	bool rows;
	uint64_t time;	     /* of the incremental clock */
	char *names[4][400]; /* categories, names, annotations, strings */
	struct text_track tracks[4200];
	size_t track_count;
	uint64_t flows[4000];
	size_t flow_count;
	struct text_track *counters[8]; /* by default of values that stand in other events */
	size_t counter_count;
};

static uint64_t wire__varint(struct wire *w)
{
	uint64_t value = 0;
	int shift = 0;

	do {
		assert_true(w->at < w->end && shift < 64);
		value |= (uint64_t)(*w->at & 127) << shift;
		shift += 7;
	} while (*w->at++ & 128);
	return value;
}

static bool wire__next(struct wire *w)
{
	uint64_t key, size;

	if (w->at >= w->end)
		return false;
	key = wire__varint(w);
	w->field = (uint32_t)(key >> 3);
	switch (key & 7) {
	case 0:
		w->number = wire__varint(w);
		break;
	case 1:
		assert_true(w->end - w->at >= 8);
		memcpy(&w->number, w->at, 8);
		w->at += 8;
		break;
	case 2:
		size = wire__varint(w);
		assert_true(size <= (uint64_t)(w->end - w->at));
		w->bytes.at = w->at;
		w->at += size;
		w->bytes.end = w->at;
		break;
	default:
		fail_msg("wire type %d", (int)(key & 7));
	}
	return true;
}

static struct wire wire__inside(const struct wire *w)
{
	return (struct wire){.at = w->bytes.at, .end = w->bytes.end};
}

static char *wire__string(const struct wire *w)
{
	return strndup((const char *)w->bytes.at, (size_t)(w->bytes.end - w->bytes.at));
}

static struct text_track *text__track(struct perfetto_text *t, uint64_t uuid)
{
	for (size_t i = 0; i < t->track_count; i++)
		if (t->tracks[i].uuid == uuid)
			return &t->tracks[i];
	fail_msg("no track %" PRIu64, uuid);
	return NULL;
}

static void text__descriptor(struct perfetto_text *t, struct wire w)
{
	struct text_track *track = &t->tracks[t->track_count];
	char *name = NULL, *thread = NULL;
	uint64_t parent = 0;
	bool counter = false;
	struct wire in;

	while (wire__next(&w)) {
		if (w.field == 1)
			track->uuid = w.number;
		else if (w.field == 5)
			parent = w.number;
		else if (w.field == 2)
			name = wire__string(&w);
		else if (w.field == 8) {
			counter = true;
			in = wire__inside(&w);
			while (wire__next(&in))
				track->differences |= in.field == 5;
		} else if (w.field == 4) {
			in = wire__inside(&w);
			while (wire__next(&in))
				if (in.field == 5)
					thread = wire__string(&in);
		}
	}
	if (!name)
		name = thread ? thread : strdup("thread");
	if (name != thread)
		free(thread);
	assert_true((parent ? strlen(text__track(t, parent)->path) : 0) + strlen(name) + 1 <
		    sizeof(track->path));
	*track->path = '\0';
	if (parent)
		stpcpy(stpcpy(track->path, text__track(t, parent)->path), "/");
	strcat(track->path, name);
	if (t->rows)
		fprintf(t->out, "row %s%s\n", track->path, counter ? " counter" : "");
	assert_true(++t->track_count < sizeof(t->tracks) / sizeof(*t->tracks));
	free(name);
}

static void text__intern(struct perfetto_text *t, struct wire w)
{
	while (wire__next(&w)) {
		struct wire in = wire__inside(&w);
		char **slot = NULL;

		while (wire__next(&in)) {
			if (in.field == 1) {
				assert_in_range(in.number, 1, 399);
				slot = &t->names[w.field == 29 ? 3 : w.field - 1][in.number];
			} else {
				assert_non_null(slot);
				assert_null(*slot);
				*slot = wire__string(&in);
			}
		}
	}
}

static void text__annotation(struct perfetto_text *t, struct wire w, char **to)
{
	double real;
	char *text;

	while (wire__next(&w)) {
		if (w.field == 1 || w.field == 10) {
			text = w.field == 1 ? strdup(t->names[2][w.number]) : wire__string(&w);
			*to += sprintf(*to, " %s=", text);
			free(text);
		} else if (w.field == 17) {
			*to += sprintf(*to, "%s", t->names[3][w.number]);
		} else if (w.field == 6) {
			text = wire__string(&w);
			*to += sprintf(*to, "%s", text);
			free(text);
		} else if (w.field == 12) {
			*to += sprintf(*to, "+");
			text__annotation(t, wire__inside(&w), to);
		} else if (w.field == 5) {
			memcpy(&real, &w.number, 8);
			*to += sprintf(*to, "%g", real);
		} else {
			*to += sprintf(*to, "%" PRId64, (int64_t)w.number);
		}
	}
}

static size_t text__flow(struct perfetto_text *t, uint64_t id)
{
	size_t i = 0;

	while (i < t->flow_count && t->flows[i] != id)
		i++;
	if (i == t->flow_count) {
		assert_true(i < sizeof(t->flows) / sizeof(*t->flows));
		t->flows[t->flow_count++] = id;
	}
	return i + 1;
}

/* of a counter of differences, the value */
static int64_t text__value(struct text_track *track, int64_t said)
{
	track->value = track->differences ? track->value + said : said;
	return track->value;
}

/* values of counters that stand in another event, by the names of their rows */
static void text__extra(struct perfetto_text *t, struct wire w)
{
	struct text_track *counters[8];
	size_t count = 0, i = 0;
	struct wire again = w;

	while (wire__next(&w))
		if (w.field == 31)
			counters[count++] = text__track(t, w.number);
	if (!count) {
		memcpy(counters, t->counters, sizeof(counters));
		count = t->counter_count;
	}
	while (wire__next(&again)) {
		if (again.field != 12)
			continue;
		assert_true(i < count);
		fprintf(t->out, " {%s %" PRId64 "}", strrchr(counters[i]->path, '/') + 1,
			text__value(counters[i], (int64_t)again.number));
		i++;
	}
}

struct text_notes { /* of an event: its task first, arrows last, whatever the order in the file */
	char task[100], rest[4096], *to;
	size_t flows[64], flow_count;
	bool ends[64];
};

static void notes__field(struct perfetto_text *t, struct text_notes *notes, struct wire *w)
{
	char *from = notes->to, **to = &notes->to;
	size_t flow, i;

	if (w->field == 4) {
		text__annotation(t, wire__inside(w), to);
		if (strncmp(from, " task=", 6) == 0) {
			snprintf(notes->task, sizeof(notes->task), "%s", from);
			*to = from;
			*from = '\0';
		}
		return;
	}
	flow = text__flow(t, w->number);
	assert_true(notes->flow_count < 64);
	for (i = notes->flow_count++; i && notes->flows[i - 1] > flow; i--) {
		notes->flows[i] = notes->flows[i - 1];
		notes->ends[i] = notes->ends[i - 1];
	}
	notes->flows[i] = flow;
	notes->ends[i] = w->field == 48;
}

static void text__event(struct perfetto_text *t, uint64_t time, struct wire w)
{
	static const char *const types[] = {"", "begin", "end", "instant", "count"};
	struct text_notes notes = {.to = notes.rest};
	struct text_track *track = NULL;
	const char *type = "", *category = "";
	char *name = NULL, number[40] = "";
	struct wire all = w;
	double real;

	while (wire__next(&w)) {
		if (w.field == 9)
			type = types[w.number];
		else if (w.field == 11)
			track = text__track(t, w.number);
		else if (w.field == 3)
			category = t->names[0][w.number];
		else if (w.field == 10)
			name = strdup(t->names[1][w.number]);
		else if (w.field == 23)
			name = wire__string(&w);
		else if (w.field == 30)
			sprintf(number, "%" PRId64, (int64_t)w.number);
		else if (w.field == 44) {
			memcpy(&real, &w.number, 8);
			sprintf(number, " %g", real);
		} else if (w.field == 4 || w.field == 47 || w.field == 48)
			notes__field(t, &notes, &w);
		else if (w.field != 12 && w.field != 31)
			fail_msg("event field %u", w.field);
	}
	assert_non_null(track);
	fprintf(t->out, "%g %s %s", (double)time / 1000, track->path, type);
	if (*category)
		fprintf(t->out, " %s", category);
	if (name && strcmp(name, category) != 0)
		fprintf(t->out, " '%s'", name);
	if (*number == ' ')
		fprintf(t->out, "%s", number);
	else if (*number)
		fprintf(t->out, " %" PRId64, text__value(track, strtoll(number, NULL, 10)));
	fprintf(t->out, "%s%s", notes.task, notes.rest);
	for (size_t i = 0; i < notes.flow_count; i++)
		fprintf(t->out, " %c%zu", notes.ends[i] ? '<' : '>', notes.flows[i]);
	text__extra(t, all);
	fprintf(t->out, "\n");
	free(name);
}

static void text__defaults(struct perfetto_text *t, struct wire w)
{
	struct wire in;

	t->counter_count = 0;
	while (wire__next(&w)) {
		if (w.field != 11)
			continue;
		in = wire__inside(&w);
		while (wire__next(&in))
			if (in.field == 31)
				t->counters[t->counter_count++] = text__track(t, in.number);
	}
}

/* TIME thread TID STATE on CPU COMM */
static void text__thread_state(struct perfetto_text *t, uint64_t time, struct wire w)
{
	static const char *const states[] = {"unknown", "created", "runnable",
					     "running", "sleeps",  "sleeps deeply",
					     "stopped", "dead",	   "destroyed"};
	uint64_t cpu = 0, tid = 0, state = 0;
	char *comm = NULL;

	while (wire__next(&w)) {
		if (w.field == 1)
			cpu = w.number;
		else if (w.field == 2)
			comm = wire__string(&w);
		else if (w.field == 3)
			tid = w.number;
		else if (w.field == 4)
			state = w.number;
	}
	assert_in_range(state, 0, 8);
	fprintf(t->out, "%g thread %" PRIu64 " %s on %" PRIu64 " %s\n", (double)time / 1000, tid,
		states[state], cpu, comm ? comm : "-");
	free(comm);
}

static void text__packet(struct perfetto_text *t, struct wire w)
{
	struct wire event = {0}, state = {0}, in, clock;
	bool absolute = false, has_event = false, has_state = false;
	uint64_t stamp = 0, id;

	while (wire__next(&w)) {
		if (w.field == 8)
			stamp = w.number;
		else if (w.field == 58)
			absolute = w.number == 6;
		else if (w.field == 60)
			text__descriptor(t, wire__inside(&w));
		else if (w.field == 59)
			text__defaults(t, wire__inside(&w));
		else if (w.field == 12)
			text__intern(t, wire__inside(&w));
		else if (w.field == 11) {
			event = wire__inside(&w);
			has_event = true;
		} else if (w.field == 117) {
			state = wire__inside(&w);
			has_state = true;
		} else if (w.field == 6) {
			in = wire__inside(&w);
			while (wire__next(&in)) {
				if (in.field != 1)
					continue;
				clock = wire__inside(&in);
				id = 0;
				while (wire__next(&clock)) {
					if (clock.field == 1)
						id = clock.number;
					else if (clock.field == 2 && id == 6)
						t->time = clock.number;
				}
			}
		}
	}
	if (!absolute)
		t->time += stamp;
	if (has_state)
		text__thread_state(t, absolute ? stamp : t->time, state);
	if (has_event)
		text__event(t, absolute ? stamp : t->time, event);
}

/* the trace in @data as text, to be freed */
static char *perfetto_text__new(const void *data, size_t size, bool rows)
{
	struct perfetto_text *t = calloc(1, sizeof(*t));
	struct wire w = {.at = data, .end = (const uint8_t *)data + size};
	char *text = NULL;
	size_t text_size;

	t->rows = rows;
	t->out = open_memstream(&text, &text_size);
	while (wire__next(&w)) {
		assert_int_equal(w.field, 1);
		text__packet(t, wire__inside(&w));
	}
	fclose(t->out);
	for (int k = 0; k < 4; k++)
		for (int i = 0; i < 400; i++)
			free(t->names[k][i]);
	free(t);
	return text;
}

#endif /* TRACER_TESTS_PERFETTO_TEXT_H */
