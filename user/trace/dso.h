/* SPDX-License-Identifier: BSD-2-Clause */
/* A binary with points, as the capture's DSO block gives it: its schema and its string literals. */
#ifndef TRACER_TRACE_DSO_H
#define TRACER_TRACE_DSO_H

#include <json-c/json.h>
#include "schema.h"
#include "strings.h"
#include "table.h"

/* Bytes of images that a trace keeps; strings of what comes after do not resolve. */
#define DSO_IMAGES_MAX (512ULL << 20)

struct dso_range {
	uint64_t offset; /* from the ELF header, in memory */
	uint64_t size;
	uint64_t at; /* in image[] */
};

struct dso {
	int64_t id;
	uint64_t dso_offset; /* of its struct tracer_dso from the ELF header; 0: not told */
	const char *path;
	struct dso_range *ranges;
	size_t range_count;
	uint8_t *image;
	size_t image_size;
	struct table literals;	      /* offset + 1 -> interned string */
	uint16_t sizes[SCHEMA_TYPES]; /* of its records */
};

/*
 * dso__new() - take a DSO block
 * @json: its JSON part
 * @image, @size: the bytes behind it; fewer than announced are as good as they go
 * @budget: bytes of images still allowed; what is taken is taken off
 * Returns the DSO, or NULL if the block says nothing usable or there is no memory.
 */
struct dso *dso__new(struct json_object *json, const uint8_t *image, size_t size, uint64_t *budget,
		     struct schema *schema, struct strings *strings);
/* the interned string at @offset from the ELF header, or NULL: not in the image */
const char *dso__string(struct dso *dso, uint64_t offset, struct strings *strings);
void dso__free(struct dso *dso);

/* members of a JSON object, with a default for what is not there or of another type */
int64_t json__integer(struct json_object *json, const char *name, int64_t otherwise);
/* addresses may be numbers or strings such as "0x7f.." */
uint64_t json__address(struct json_object *json, const char *name);
const char *json__string(struct json_object *json, const char *name, const char *otherwise);

#endif /* TRACER_TRACE_DSO_H */
