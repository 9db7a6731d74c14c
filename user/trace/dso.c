// SPDX-License-Identifier: BSD-2-Clause
/* A binary with points, as the capture's DSO block gives it: its schema and its string literals. */
#include <stdlib.h>
#include <string.h>
#include <tracer/ring.h>
#include "dso.h"

#define RANGES_MAX 4096
#define LITERALS_MAX (1U << 20)

int64_t json__integer(struct json_object *json, const char *name, int64_t otherwise)
{
	struct json_object *member;

	if (!json_object_object_get_ex(json, name, &member) ||
	    !json_object_is_type(member, json_type_int))
		return otherwise;
	return json_object_get_int64(member);
}

const char *json__string(struct json_object *json, const char *name, const char *otherwise)
{
	struct json_object *member;

	if (!json_object_object_get_ex(json, name, &member) ||
	    !json_object_is_type(member, json_type_string))
		return otherwise;
	return json_object_get_string(member);
}

uint64_t json__address(struct json_object *json, const char *name)
{
	const char *text = json__string(json, name, NULL);

	return text ? strtoull(text, NULL, 0) : (uint64_t)json__integer(json, name, 0);
}

static bool range__parse(struct json_object *pair, struct dso_range *range)
{
	struct json_object *offset, *size;

	if (!json_object_is_type(pair, json_type_array) || json_object_array_length(pair) < 2)
		return false;
	offset = json_object_array_get_idx(pair, 0);
	size = json_object_array_get_idx(pair, 1);
	if (!json_object_is_type(offset, json_type_int) ||
	    !json_object_is_type(size, json_type_int))
		return false;
	range->offset = json_object_get_int64(offset);
	range->size = json_object_get_int64(size);
	return range->offset >> 62 == 0 && range->size >> 62 == 0;
}

static bool dso__take_ranges(struct dso *dso, struct json_object *json)
{
	struct json_object *array;
	struct dso_range *range;
	uint64_t at = 0;
	size_t i, n;

	if (!json_object_object_get_ex(json, "image", &array) ||
	    !json_object_is_type(array, json_type_array))
		return true;
	n = json_object_array_length(array);
	if (n > RANGES_MAX)
		n = RANGES_MAX;
	dso->ranges = calloc(n + 1, sizeof(*dso->ranges));
	if (!dso->ranges)
		return false;
	for (i = 0; i < n; i++) {
		range = &dso->ranges[dso->range_count];
		if (!range__parse(json_object_array_get_idx(array, i), range))
			break; /* where the ranges behind it lie is not known either */
		if (at >= dso->image_size)
			break;
		range->at = at;
		if (range->size > dso->image_size - at)
			range->size = dso->image_size - at;
		at += range->size;
		dso->range_count++;
	}
	return true;
}

struct dso *dso__new(struct json_object *json, const uint8_t *image, size_t size, uint64_t *budget,
		     struct schema *schema, struct strings *strings)
{
	const char *text;
	struct dso *dso;

	if (sizeof(*dso) > *budget)
		return NULL;
	dso = calloc(1, sizeof(*dso));
	if (!dso)
		return NULL;
	*budget -= sizeof(*dso);
	dso->id = json__integer(json, "id", -1);
	dso->dso_offset = json__integer(json, "dso_offset", 0);
	text = json__string(json, "schema", "");
	dso->path = json__string(json, "path", "");
	dso->path = strings__add(strings, dso->path, strlen(dso->path));
	table__init(&dso->literals, strings__seed(strings));
	schema__learn(schema, strings, text, strlen(text), dso->sizes);
	if (size && size <= *budget) {
		dso->image = malloc(size);
		if (!dso->image)
			goto fail;
		memcpy(dso->image, image, size);
		dso->image_size = size;
		*budget -= size;
	}
	if (!dso__take_ranges(dso, json))
		goto fail;
	return dso;
fail:
	dso__free(dso);
	return NULL;
}

const char *dso__string(struct dso *dso, uint64_t offset, struct strings *strings)
{
	const char *string = table__get(&dso->literals, offset + 1);
	const struct dso_range *range;
	uint64_t left;
	size_t i;

	if (string)
		return string;
	for (i = 0; i < dso->range_count; i++) {
		range = &dso->ranges[i];
		if (offset < range->offset || offset - range->offset >= range->size)
			continue;
		left = range->size - (offset - range->offset);
		if (left > TRACER_NAME_MAX)
			left = TRACER_NAME_MAX;
		string = strings__add(strings, dso->image + range->at + (offset - range->offset),
				      left);
		/* a hostile target may name every byte of the image; forgetting costs only time */
		if (dso->literals.count == LITERALS_MAX)
			table__free(&dso->literals);
		table__set(&dso->literals, offset + 1, (void *)string);
		return string;
	}
	return NULL;
}

void dso__free(struct dso *dso)
{
	if (!dso)
		return;
	table__free(&dso->literals);
	free(dso->ranges);
	free(dso->image);
	free(dso);
}
