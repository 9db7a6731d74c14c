// SPDX-License-Identifier: BSD-2-Clause
/*
 * What holds on in a capture: binaries, where they are mapped, processes. Each later part of a
 * capture begins with it. What belongs to a process goes with it, so this does not grow with those
 * that came and went.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <records.h>
#include "keep.h"

struct lasting {
	struct lasting *next;
	enum file_block_type type;
	uint32_t pid;  /* 0: of all */
	uint64_t time; /* of the process that it is about, if known, else when it was told */
	uint64_t gone; /* 0: it holds */
	size_t size;
	unsigned char block[];
};

struct catalog {
	struct lasting *first, **end;
};

struct catalog *catalog__new(void)
{
	struct catalog *catalog = calloc(1, sizeof(*catalog));

	if (catalog)
		catalog->end = &catalog->first;
	return catalog;
}

void catalog__free(struct catalog *catalog)
{
	struct lasting *one;

	while (catalog && (one = catalog->first)) {
		catalog->first = one->next;
		free(one);
	}
	free(catalog);
}

static struct json_object *block__json(const struct lasting *lasting)
{
	const struct file_block *head = (const void *)lasting->block;
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *json = NULL;

	if (tokener && !head->flags)
		json = json_tokener_parse_ex(tokener, (const char *)(head + 1), (int)head->stored);
	if (tokener)
		json_tokener_free(tokener);
	return json;
}

static int64_t json__number(struct json_object *json, const char *name)
{
	struct json_object *member;

	return json && json_object_object_get_ex(json, name, &member)
		       ? json_object_get_int64(member)
		       : 0;
}

static void catalog__end(struct catalog *catalog, enum file_block_type type, uint32_t pid,
			 uint64_t time)
{
	struct lasting *one;

	for (one = catalog->first; one; one = one->next) {
		if (one->pid == pid && one->type == type && !one->gone && one->time <= time)
			one->gone = time;
	}
}

void catalog__add(struct catalog *catalog, enum file_block_type type, const void *block,
		  size_t size, uint64_t time)
{
	struct lasting *one = malloc(sizeof(*one) + size);
	struct json_object *json;

	if (!one)
		return;
	*one = (struct lasting){.type = type, .time = time, .size = size};
	memcpy(one->block, block, size);
	if (type == FILE_MAP || type == FILE_PROCESS) {
		json = block__json(one);
		one->pid = (uint32_t)json__number(json, "pid");
		json_object_put(json);
		/* the newest word on a process counts */
		if (type == FILE_PROCESS)
			catalog__end(catalog, type, one->pid, time);
	}
	*catalog->end = one;
	catalog->end = &one->next;
}

/* a child has its parent's mappings until it runs another program */
static void catalog__fork(struct catalog *catalog, uint32_t parent, uint32_t child, uint64_t time)
{
	struct lasting *one, *last = catalog->first;
	struct json_object *json;
	struct file_block head;
	const char *text;
	unsigned char *block;
	size_t length;

	while (last && last->next)
		last = last->next;
	for (one = catalog->first; one; one = one->next) {
		if (one->type == FILE_MAP && one->pid == parent && !one->gone) {
			json = block__json(one);
			json_object_object_add(json, "pid", json_object_new_int64(child));
			json_object_object_add(json, "time", json_object_new_int64((int64_t)time));
			text = json_object_to_json_string_length(json, JSON_C_TO_STRING_PLAIN,
								 &length);
			head = *(const struct file_block *)(const void *)one->block;
			head.stored = head.raw = (uint32_t)length;
			block = calloc(1, sizeof(head) + length + 8);
			if (block) {
				memcpy(block, &head, sizeof(head));
				memcpy(block + sizeof(head), text, length);
				catalog__add(catalog, FILE_MAP, block,
					     sizeof(head) + ((length + 7) & ~(size_t)7), time);
			}
			free(block);
			json_object_put(json);
		}
		if (one == last)
			break;
	}
}

void catalog__record(struct catalog *catalog, const struct rec_header *header)
{
	const struct rec_task *task = (const void *)header;

	switch (header->kind) {
	case REC_FORK:
		catalog__fork(catalog, task->parent, task->pid, header->time);
		break;
	case REC_EXEC:
		catalog__end(catalog, FILE_MAP, task->pid, header->time);
		break;
	case REC_PROCESS_EXIT:
		catalog__end(catalog, FILE_MAP, task->pid, header->time);
		catalog__end(catalog, FILE_PROCESS, task->pid, header->time);
		break;
	}
}

void catalog__prune(struct catalog *catalog, uint64_t time)
{
	struct lasting **at = &catalog->first, *one;

	while ((one = *at)) {
		if (!one->gone || one->gone >= time) {
			at = &one->next;
			continue;
		}
		*at = one->next;
		free(one);
	}
	catalog->end = at;
}

void catalog__write(const struct catalog *catalog, struct file_writer *writer)
{
	const struct lasting *one;

	for (one = catalog->first; one; one = one->next)
		file_writer__image(writer, one->block, one->size);
}
