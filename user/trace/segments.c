// SPDX-License-Identifier: BSD-2-Clause
/*
 * The files of one capture, in their order. Each begins with a META block that says which capture
 * it is of and which number it has.
 */
#include "segments.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/say.h"
#include "dso.h"
#include "reader.h"

struct named {
	const char *path;
	char *capture; /* "": of an older tracer */
	uint64_t number, bytes;
};

static int named__read(struct named *named, char **err)
{
	struct reader_block block;
	struct json_object *json = NULL;
	struct reader reader;
	int ret = reader__open(&reader, named->path, err);

	if (ret < 0)
		return ret;
	named->bytes = reader.size;
	ret = reader__next(&reader, FILE_META, &block);
	if (ret > 0) {
		struct json_tokener *tokener = json_tokener_new();

		json = tokener ? json_tokener_parse_ex(tokener, (const char *)block.data,
						       (int)block.size)
			       : NULL;
		if (tokener)
			json_tokener_free(tokener);
	}
	if (json) {
		named->capture = strdup(json__string(json, "capture", ""));
		named->number = (uint64_t)json__integer(json, "segment", 0);
		json_object_put(json);
	}
	reader__close(&reader);
	if (ret < 0 || named->capture)
		return ret < 0 ? ret : 0;
	*err = sentence__new("%s does not say what it is a capture of: it ends before that",
			     named->path);
	return -EINVAL;
}

bool segment__holds_nothing(const char *path)
{
	struct reader_block block;
	struct reader reader;
	struct stat status;
	bool nothing;
	char *err = NULL;

	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return false;
	nothing = !status.st_size;
	if (!nothing && !reader__open(&reader, path, &err)) {
		nothing = !reader__next(&reader, FILE_META, &block);
		reader__close(&reader);
	}
	free(err);
	if (nothing)
		say__info("%s: left out, there is nothing in it: who recorded ended before that",
			  path);
	return nothing;
}

static int named__compare(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int named__check(const struct named *all, size_t count, char **err)
{
	size_t i;

	for (i = 1; i < count; i++) {
		if (strcmp(all[i].capture, all[0].capture) != 0 || !*all[0].capture) {
			*err = sentence__new("%s and %s are of different captures, and are no "
					     "segments of one; read one at a time",
					     all[0].path, all[i].path);
			return -EINVAL;
		}
		if (all[i].number == all[i - 1].number) {
			*err = sentence__new("%s and %s are the same segment, or windows of one "
					     "flight recorder, which overlap; name one of them",
					     all[i - 1].path, all[i].path);
			return -EINVAL;
		}
		if (all[i].number != all[i - 1].number + 1) {
			*err = sentence__new(
				"between %s and %s segments are missing (%llu to "
				"%llu); name them too, or read the two parts one by one",
				all[i - 1].path, all[i].path,
				(unsigned long long)all[i - 1].number + 1,
				(unsigned long long)all[i].number - 1);
			return -EINVAL;
		}
	}
	return 0;
}

int segments__open(struct segments *segments, const char *const *paths, size_t count, char **err)
{
	struct named *all = calloc(count, sizeof(*all));
	int ret = all ? 0 : -ENOMEM;
	size_t i, used = 0;

	*segments = (struct segments){.paths = calloc(count, sizeof(*segments->paths))};
	if (!segments->paths)
		ret = -ENOMEM;
	for (i = 0; i < count && !ret; i++) {
		if (count > 1 && segment__holds_nothing(paths[i])) {
			segments->cut = true;
			continue;
		}
		all[used].path = paths[i];
		/* one alone need not say which it is */
		if (count > 1)
			ret = named__read(&all[used], err);
		used++;
	}
	if (!ret && !used) {
		*err = sentence__new("%s and what follows it: there is nothing in them", paths[0]);
		ret = -EINVAL;
	}
	count = used;
	if (!ret && count > 1) {
		qsort(all, count, sizeof(*all), named__compare);
		ret = named__check(all, count, err);
	}
	for (i = 0; i < count && !ret; i++) {
		segments->paths[i] = strdup(all[i].path);
		segments->count++;
		segments->bytes += all[i].bytes;
		if (!segments->paths[i])
			ret = -ENOMEM;
	}
	for (i = 0; all && i < count; i++)
		free(all[i].capture);
	free(all);
	return ret;
}

void segments__close(struct segments *segments)
{
	while (segments->count)
		free(segments->paths[--segments->count]);
	free(segments->paths);
	segments->paths = NULL;
}
