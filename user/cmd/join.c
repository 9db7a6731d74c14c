// SPDX-License-Identifier: BSD-2-Clause
/*
 * Several captures of one machine, or segments of them, written as one.
 *
 * Files of one capture follow one another; together they are a source. Each source has numbers of
 * its own (streams, binaries, stacks), which get the source's number as their upper bits. Sources
 * are taken in turn, a ROUND each, the one that is furthest behind first: so what a ROUND promises
 * of all of them is the least of what they promise, and readers need hold no more than for one.
 *
 * Between two sources nobody recorded. A PAUSE says so, or tasks would seem to stop by themselves.
 */
#include "join.h"

#include <errno.h>
#include <json-c/json.h>
#include <records.h>
#include <stack_record.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../base/say.h"
#include "../capture/file.h"
#include "../trace/dso.h"
#include "../trace/reader.h"
#include "../trace/segments.h"

#define SOURCES_MAX 256

struct input {
	const char *path;
	struct json_object *meta, *end; /* END: NULL if the capture ended early */
	uint64_t number, from, to;
	bool starts_paused, pauses;
};

struct source {
	struct input *inputs; /* files, in their order */
	size_t count, at;
	uint64_t number, from, to;
	uint64_t round; /* what its last ROUND promised; UINT64_MAX: all was read */
	struct reader reader;
	bool open;
};

struct join {
	struct input *inputs;
	struct source *sources;
	size_t count, source_count;
	struct file_writer *writer;
	uint64_t round;
	bool cut; /* a last segment was begun, and has nothing in it */
	char *why;
};

static struct json_object *json__parse(const uint8_t *bytes, size_t size)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *json = NULL;

	if (tokener && size && size <= FILE_BLOCK_MAX)
		json = json_tokener_parse_ex(tokener, (const char *)bytes, (int)size);
	json_tokener_free(tokener);
	if (json && !json_object_is_type(json, json_type_object)) {
		json_object_put(json);
		json = NULL;
	}
	return json;
}

static bool json__true(struct json_object *json, const char *name)
{
	struct json_object *member;

	return json && json_object_object_get_ex(json, name, &member) &&
	       json_object_get_boolean(member);
}

static void json__set(struct json_object *json, const char *name, int64_t value)
{
	json_object_object_add(json, name, json_object_new_int64(value));
}

/* --- what the files are ----------------------------------------------------------------------- */

static void input__clock(struct input *input, const struct reader_block *block)
{
	struct file_clock clock;

	if (block->size < sizeof(clock))
		return;
	memcpy(&clock, block->data, sizeof(clock));
	if (!input->from)
		input->from = clock.boottime;
	if (clock.boottime > input->to)
		input->to = clock.boottime;
}

static int input__scan(struct input *input, char **err)
{
	struct reader_block block;
	struct reader reader;
	int ret = reader__open(&reader, input->path, err);

	if (ret < 0)
		return ret;
	ret = reader__next(&reader, FILE_META, &block);
	input->meta = ret > 0 ? json__parse(block.data, block.size) : NULL;
	while (ret > 0 && (ret = reader__next(&reader, FILE_CLOCK, &block)) > 0)
		input__clock(input, &block);
	reader__rewind(&reader);
	if (ret == 0 && (ret = reader__next(&reader, FILE_END, &block)) > 0)
		input->end = json__parse(block.data, block.size);
	reader__close(&reader);
	if (ret < 0)
		return ret;
	if (!input->meta || !input->from) {
		*err = sentence__new("%s does not say what it is a capture of: it ends before that",
				     input->path);
		return -EINVAL;
	}
	input->number = (uint64_t)json__integer(input->meta, "segment", 0);
	input->starts_paused = json__true(input->meta, "paused");
	input->from = (uint64_t)json__integer(input->meta, "start", (int64_t)input->from);
	if (input->end)
		input->to = (uint64_t)json__integer(input->end, "end", (int64_t)input->to);
	return 0;
}

static const char *input__capture(const struct input *input)
{
	return json__string(input->meta, "capture", "");
}

static int input__compare(const void *a, const void *b)
{
	const struct input *x = a, *y = b;
	int capture = strcmp(input__capture(x), input__capture(y));

	if (capture)
		return capture;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int source__compare(const void *a, const void *b)
{
	const struct source *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* do the two follow one another? */
static bool input__continues(const struct input *input, const struct input *before)
{
	return *input__capture(input) && !strcmp(input__capture(input), input__capture(before));
}

static int join__find_sources(struct join *join)
{
	struct source *source = NULL;
	size_t i;

	qsort(join->inputs, join->count, sizeof(*join->inputs), input__compare);
	for (i = 0; i < join->count; i++) {
		struct input *input = &join->inputs[i];

		if (!i || !input__continues(input, input - 1)) {
			source = &join->sources[join->source_count++];
			*source = (struct source){.inputs = input, .from = input->from};
		} else if (input->number == input[-1].number) {
			join->why = sentence__new("%s and %s are the same part of a capture, or "
						  "overlap; name one of them",
						  input[-1].path, input->path);
			return -EINVAL;
		} else if (input->number != input[-1].number + 1) {
			join->why = sentence__new("between %s and %s segments are missing (%llu to "
						  "%llu); name them too",
						  input[-1].path, input->path,
						  (unsigned long long)input[-1].number + 1,
						  (unsigned long long)input->number - 1);
			return -EINVAL;
		}
		source->count++;
		source->to = input->to;
	}
	qsort(join->sources, join->source_count, sizeof(*join->sources), source__compare);
	for (i = 0; i < join->source_count; i++)
		join->sources[i].number = i;
	return 0;
}

static bool source__pauses(const struct source *source)
{
	size_t i;

	for (i = 0; i < source->count; i++) {
		if (source->inputs[i].starts_paused || source->inputs[i].pauses)
			return true;
	}
	return false;
}

/* processes that a source has, as pid and start time: members of a JSON object */
static int source__processes(const struct source *source, struct json_object *to, bool pauses)
{
	struct reader_block block;
	struct json_object *json;
	struct reader reader;
	char *ignored = NULL;
	char key[64];
	size_t i;
	int ret = 0;

	for (i = 0; i < source->count && ret >= 0; i++) {
		ret = reader__open(&reader, source->inputs[i].path, &ignored);
		free(ignored);
		if (ret < 0)
			return ret;
		while ((ret = reader__next(&reader, FILE_PROCESS, &block)) > 0) {
			json = json__parse(block.data, block.size);
			if (!json)
				continue;
			snprintf(key, sizeof(key), "%lld %lld",
				 (long long)json__integer(json, "pid", 0),
				 (long long)json__integer(json, "start_time", 0));
			json_object_object_add(to, key, json_object_new_boolean(true));
			json_object_put(json);
		}
		reader__rewind(&reader);
		while (pauses && ret >= 0 &&
		       (ret = reader__next(&reader, FILE_RECORDS, &block)) > 0) {
			const struct rec_header *header;
			size_t at = 0;

			while (block.size - at >= sizeof(*header)) {
				header = (const void *)(block.data + at);
				if (header->size < sizeof(*header) ||
				    header->size > block.size - at)
					break;
				if (header->kind == REC_PAUSE &&
				    header->size >= sizeof(struct rec_pause) &&
				    ((const struct rec_pause *)header)->paused != REC_ENDED)
					source->inputs[i].pauses = true;
				at += (header->size + 7ULL) & ~7ULL;
				if (at > block.size)
					break;
			}
		}
		reader__close(&reader);
	}
	return ret;
}

/* two sources that recorded at the same time */
static int join__check_overlap(struct join *join, const struct source *a, const struct source *b)
{
	struct json_object *of_a = json_object_new_object(), *of_b = json_object_new_object();
	int ret = source__processes(a, of_a, true);

	if (ret >= 0)
		ret = source__processes(b, of_b, true);
	if (ret < 0)
		goto out;
	json_object_object_foreach(of_a, key, unused)
	{
		(void)unused;
		if (!ret && json_object_object_get_ex(of_b, key, NULL)) {
			join->why = sentence__new(
				"%s and %s both have process %.*s at the same "
				"time; merge captures of different processes, or of "
				"different times",
				a->inputs->path, b->inputs->path, (int)strcspn(key, " "), key);
			ret = -EINVAL;
		}
	}
	if (!ret && (source__pauses(a) || source__pauses(b) ||
		     json__integer(a->inputs->meta, "sample", 1) !=
			     json__integer(b->inputs->meta, "sample", 1))) {
		join->why = sentence__new("%s and %s were recorded at the same time, but not the "
					  "same share of tasks all the time (--sample, ctl stop, "
					  "ctl sample); read them one by one",
					  a->inputs->path, b->inputs->path);
		ret = -EINVAL;
	}
out:
	json_object_put(of_a);
	json_object_put(of_b);
	return ret;
}

static int join__check_sources(struct join *join)
{
	const struct source *a, *b;
	size_t i, k;
	int err;

	for (i = 0; i < join->source_count; i++) {
		a = &join->sources[i];
		for (k = i + 1; k < join->source_count; k++) {
			b = &join->sources[k];
			if (strcmp(json__string(a->inputs->meta, "boot_id", ""),
				   json__string(b->inputs->meta, "boot_id", "")) != 0) {
				join->why = sentence__new("%s and %s are of different machines, or "
							  "it was started anew in between: their "
							  "clocks cannot be compared",
							  a->inputs->path, b->inputs->path);
				return -EINVAL;
			}
			err = b->from < a->to ? join__check_overlap(join, a, b) : 0;
			if (err)
				return err;
		}
	}
	return 0;
}

static int join__open(struct join *join, const char *const *paths, size_t count)
{
	size_t i;
	int err;

	*join = (struct join){
		.inputs = calloc(count, sizeof(*join->inputs)),
		.sources = calloc(count, sizeof(*join->sources)),
	};
	if (!join->inputs || !join->sources)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		if (count > 1 && segment__holds_nothing(paths[i])) {
			join->cut = true;
			continue;
		}
		join->inputs[join->count].path = paths[i];
		err = input__scan(&join->inputs[join->count++], &join->why);
		if (err) {
			if (!join->why)
				join->why = sentence__new("%s: %s", paths[i], strerror(-err));
			return err;
		}
	}
	if (!join->count) {
		join->why = sentence__new("%s: there is nothing in it", paths[0]);
		return -EINVAL;
	}
	err = join__find_sources(join);
	if (!err && join->source_count > SOURCES_MAX) {
		join->why = sentence__new("%zu captures are too many; merge %d at a time",
					  join->source_count, SOURCES_MAX);
		err = -EINVAL;
	}
	return err ? err : join__check_sources(join);
}

static void join__close(struct join *join)
{
	size_t i;

	for (i = 0; i < join->source_count; i++) {
		if (join->sources[i].open)
			reader__close(&join->sources[i].reader);
	}
	for (i = 0; i < join->count; i++) {
		json_object_put(join->inputs[i].meta);
		json_object_put(join->inputs[i].end);
	}
	free(join->inputs);
	free(join->sources);
	free(join->why);
}

/* --- first and last words --------------------------------------------------------------------- */

static void join__put_meta(struct join *join)
{
	struct json_object *meta = NULL, *other;
	int64_t categories = 0;
	bool sched = false, stacks = false;
	size_t i;

	for (i = 0; i < join->source_count; i++) {
		other = join->sources[i].inputs->meta;
		categories |= json__integer(other, "categories", 0);
		sched |= json__true(other, "sched");
		stacks |= json__true(other, "stacks");
	}
	if (json_object_deep_copy(join->sources->inputs->meta, &meta, NULL)) {
		file_writer__fail(join->writer, -ENOMEM);
		return;
	}
	json__set(meta, "categories", categories);
	json_object_object_add(meta, "sched", json_object_new_boolean(sched));
	json_object_object_add(meta, "stacks", json_object_new_boolean(stacks));
	if (join->source_count > 1)
		json_object_object_del(meta, "capture");
	file_writer__json(join->writer, FILE_META, meta);
}

static void join__put_pause(struct join *join, uint64_t time, bool paused, uint32_t sample)
{
	struct rec_pause pause = {
		.h = {sizeof(pause), REC_PAUSE, 0, time},
		.paused = paused,
		.sample = sample,
	};

	file_writer__record(join->writer, &pause, sizeof(pause));
}

/* where nobody recorded */
static void join__put_pauses(struct join *join)
{
	const struct source *source = join->sources;
	uint64_t until = source->to;
	uint32_t sample = (uint32_t)json__integer(source->inputs->meta, "sample", 1), next;

	for (source++; source < join->sources + join->source_count; source++) {
		next = (uint32_t)json__integer(source->inputs->meta, "sample", 1);
		if (source->from >= until) {
			join__put_pause(join, until, true, sample);
			join__put_pause(join, source->from, source->inputs->starts_paused, next);
		}
		sample = next;
		if (source->to > until)
			until = source->to;
	}
}

static void json__sum(struct json_object *sum, struct json_object *from)
{
	struct json_object *before;

	json_object_object_foreach(from, name, value)
	{
		if (json_object_is_type(value, json_type_object)) {
			if (!json_object_object_get_ex(sum, name, &before)) {
				before = json_object_new_object();
				json_object_object_add(sum, name, before);
			}
			json__sum(before, value);
		} else if (json_object_is_type(value, json_type_int) &&
			   strcmp(name, "target_exit") != 0 && strcmp(name, "end") != 0) {
			json__set(sum, name,
				  json__integer(sum, name, 0) + json_object_get_int64(value));
		}
	}
}

/* of a capture's segments: counts are those up to its end, the last one has them all */
static void source__sum(const struct source *source, struct json_object *sum)
{
	int64_t duration = 0;
	size_t i;

	for (i = 0; i + 1 < source->count; i++) {
		if (source->inputs[i].end)
			duration += json__integer(source->inputs[i].end, "duration_ns", 0);
	}
	if (source->inputs[i].end)
		json__sum(sum, source->inputs[i].end);
	json__set(sum, "duration_ns", json__integer(sum, "duration_ns", 0) + duration);
}

static void join__put_end(struct join *join)
{
	struct json_object *end = json_object_new_object(), *exit = NULL, *member;
	const struct input *last = &join->sources->inputs[join->sources->count - 1];
	bool finished = !join->cut;
	size_t i;

	for (i = 0; i < join->source_count; i++)
		source__sum(&join->sources[i], end);
	for (i = 0; i < join->count; i++) {
		struct json_object *one = join->inputs[i].end;

		finished &= json__true(one, "finished");
		if (!exit && one && json_object_object_get_ex(one, "target_exit", &member) &&
		    member)
			exit = json_object_get(member);
	}
	json_object_object_add(end, "finished", json_object_new_boolean(finished));
	json_object_object_add(end, "target_exit", exit);
	if (join->source_count > 1)
		json_object_object_del(end, "duration_ns");
	else if (last->end && json_object_object_get_ex(last->end, "end", &member))
		json_object_object_add(end, "end", json_object_get(member));
	if (join->source_count == 1 && json__true(last->end, "continues"))
		json_object_object_add(end, "continues", json_object_new_boolean(true));
	/* one that ended early says nothing of it */
	if (finished)
		file_writer__json(join->writer, FILE_END, end);
	else
		json_object_put(end);
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* a source's own number, as one of all */
static int64_t source__id(const struct source *source, int64_t id)
{
	return id + ((int64_t)source->number << 22);
}

static uint64_t source__stream(const struct source *source, uint64_t stream)
{
	return stream ? stream + (source->number << 48) : 0;
}

static void source__put_records(const struct source *source, const struct reader_block *block,
				struct file_writer *writer)
{
	uint8_t *bytes = (uint8_t *)(uintptr_t)block->data;
	size_t at = 0;

	while (block->size - at >= sizeof(struct rec_header)) {
		struct rec_header *header = (void *)(bytes + at);
		struct rec_chunk *chunk = (void *)header;
		struct rec_stack *stack = (void *)header;

		if (header->size < sizeof(*header) || header->size > block->size - at)
			break;
		if (header->kind == REC_CHUNK && header->size >= sizeof(*chunk)) {
			chunk->stream = source__stream(source, chunk->stream);
		} else if (header->kind == REC_STACK && header->size >= sizeof(*stack)) {
			stack->stream = source__stream(source, stack->stream);
			stack->id = source__stream(source, stack->id);
			stack->code = (uint32_t)source__id(source, stack->code);
		}
		file_writer__record(writer, header, header->size);
		at += (header->size + 7ULL) & ~7ULL;
		if (at > block->size)
			break;
	}
}

static void source__put_streams(const struct source *source, const struct reader_block *block,
				struct file_writer *writer)
{
	uint8_t *bytes = (uint8_t *)(uintptr_t)block->data;
	struct file_stream *entry;
	size_t at = 0;

	while (block->size - at >= sizeof(*entry)) {
		entry = (void *)(bytes + at);
		if (entry->size % 8 || entry->size < sizeof(*entry) ||
		    entry->size > block->size - at)
			break;
		entry->stream = source__stream(source, entry->stream);
		at += entry->size;
	}
	file_writer__packed(writer, FILE_STREAMS, bytes, at);
}

static void source__renumber(const struct source *source, struct json_object *json,
			     const char *name)
{
	if (json_object_object_get_ex(json, name, NULL))
		json__set(json, name, source__id(source, json__integer(json, name, 0)));
}

static void source__renumber_code(const struct source *source, struct json_object *json)
{
	struct json_object *list, *item;
	size_t i;

	for (i = 0;
	     json_object_object_get_ex(json, "files", &list) &&
	     json_object_is_type(list, json_type_array) && i < json_object_array_length(list);
	     i++)
		source__renumber(source, json_object_array_get_idx(list, i), "id");
	for (i = 0;
	     json_object_object_get_ex(json, "maps", &list) &&
	     json_object_is_type(list, json_type_array) && i < json_object_array_length(list);
	     i++) {
		item = json_object_array_get_idx(list, i);
		if (!json_object_is_type(item, json_type_array) ||
		    json_object_array_length(item) < 4)
			continue;
		json_object_array_put_idx(
			item, 3,
			json_object_new_int64(source__id(
				source,
				json_object_get_int64(json_object_array_get_idx(item, 3)))));
	}
}

static void source__put_json(const struct source *source, const struct reader_block *block,
			     struct file_writer *writer)
{
	size_t text = strnlen((const char *)block->data, block->size), rest = text + 1;
	struct json_object *json = json__parse(block->data, text);

	if (!json)
		return;
	if (rest > block->size)
		rest = block->size;
	source__renumber(source, json, block->type == FILE_MAP ? "dso_id" : "id");
	if (block->type == FILE_CODE)
		source__renumber_code(source, json);
	if (block->type == FILE_DSO)
		file_writer__dso(writer, json, block->data + rest, block->size - rest);
	else if (block->type == FILE_BINARY)
		file_writer__binary(writer, json, block->data + rest, block->size - rest);
	else
		file_writer__json(writer, (enum file_block_type)block->type, json);
}

static void source__put(struct source *source, const struct reader_block *block,
			struct file_writer *writer)
{
	struct file_round round;

	switch (block->type) {
	case FILE_META:
	case FILE_END:
		return; /* one of all */
	case FILE_ROUND:
		if (block->size < sizeof(round.time))
			return;
		memcpy(&round.time, block->data, sizeof(round.time));
		if (round.time > source->round)
			source->round = round.time;
		return;
	case FILE_RECORDS:
		source__put_records(source, block, writer);
		return;
	case FILE_STREAMS:
		if (!source->at)
			source__put_streams(source, block, writer);
		return;
	case FILE_DSO:
	case FILE_MAP:
	case FILE_CODE:
	case FILE_BINARY:
		source__put_json(source, block, writer);
		return;
	default:
		file_writer__block(writer, (enum file_block_type)block->type, block->data,
				   block->size);
	}
}

/* up to its next ROUND, or its end */
static int source__copy(struct source *source, struct file_writer *writer, char **err)
{
	uint64_t round = source->round;
	struct reader_block block;
	int ret;

	while (source->round == round) {
		if (!source->open) {
			ret = reader__open(&source->reader, source->inputs[source->at].path, err);
			if (ret < 0)
				return ret;
			source->open = true;
		}
		ret = reader__next(&source->reader, 0, &block);
		if (ret < 0)
			return ret;
		if (ret) {
			source__put(source, &block, writer);
			if (file_writer__error(writer))
				return file_writer__error(writer);
			continue;
		}
		reader__close(&source->reader);
		source->open = false;
		if (++source->at == source->count)
			source->round = UINT64_MAX;
	}
	return 0;
}

static int join__copy(struct join *join)
{
	struct source *source, *behind;
	struct file_round round = {0};
	int err;

	for (;;) {
		behind = join->sources;
		for (source = behind; source < join->sources + join->source_count; source++) {
			if (source->round < behind->round)
				behind = source;
		}
		if (behind->round == UINT64_MAX)
			return 0;
		if (behind->round > join->round) {
			join->round = round.time = behind->round;
			file_writer__block(join->writer, FILE_ROUND, &round, sizeof(round));
		}
		err = source__copy(behind, join->writer, &join->why);
		if (err)
			return err;
	}
}

int join__check(const char *const *paths, size_t count, char **err)
{
	struct join join;
	int ret = join__open(&join, paths, count);

	*err = join.why;
	join.why = NULL;
	join__close(&join);
	return ret;
}

int join__write(const char *const *paths, size_t count, const char *output, char **err)
{
	struct join join;
	int ret = join__open(&join, paths, count), closed;

	if (!ret)
		ret = file_writer__create(&join.writer, output, true);
	if (!ret) {
		join__put_meta(&join);
		join__put_pauses(&join);
		ret = join__copy(&join);
		join__put_end(&join);
		closed = file_writer__close(join.writer);
		ret = ret ? ret : closed;
	}
	*err = join.why;
	join.why = NULL;
	join__close(&join);
	return ret;
}
