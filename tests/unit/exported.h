/* SPDX-License-Identifier: BSD-2-Clause */
/* A Perfetto export of a test's events, and what the trace must have. */
#ifndef TRACER_TESTS_EXPORTED_H
#define TRACER_TESTS_EXPORTED_H

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>
#include "export/perfetto.h"
#include "perfetto_text.h"

struct exported {
	struct perfetto px;
	struct model *model;
	struct outfile *file;
	char path[256];
	char *data;
	size_t size;
	bool started;
	uint64_t last;
};

static void exported__open(struct exported *e, enum export_tracks tracks)
{
	struct perfetto_info info = {.boot_id = "boot", .tracks = tracks, .realtime_offset = 1000};
	int fd;

	memset(e, 0, sizeof(*e));
	snprintf(e->path, sizeof(e->path), "%s/tracer-test-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	fd = mkstemp(e->path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(outfile__open(&e->file, e->path, EXPORT_PLAIN), 0);
	assert_int_equal(perfetto__init(&e->px, e->file, &info), 0);
	e->model = model__new();
	e->px.slot = model__add_sink(e->model, &perfetto_ops, &e->px);
}

static void exported__feed(void *ctx, const struct event *event)
{
	struct exported *e = ctx;

	if (!e->started)
		perfetto__start(&e->px, event->time);
	e->started = true;
	e->last = event->time;
	if (event->type != EV_end)
		assert_int_equal(model__event(e->model, event), 0);
}

/* closes, reads the file into e->data, and has the independent checker look at it */
static void exported__finish(struct exported *e)
{
	char command[512];
	FILE *file;

	assert_int_equal(model__end(e->model, e->last), 0);
	perfetto__flush(&e->px);
	assert_int_equal(e->px.error, 0);
	assert_int_equal(outfile__close(e->file), 0);
	snprintf(command, sizeof(command),
		 "/usr/bin/python3 tests/e2e/perfetto_check.py --rows-max %u %s >/dev/null",
		 e->px.info.tracks == EXPORT_TASK ? 1000000 : PERFETTO_TASK_ROWS, e->path);
	assert_int_equal(system(command), 0);
	file = fopen(e->path, "r");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	e->size = (size_t)ftell(file);
	rewind(file);
	e->data = malloc(e->size);
	assert_int_equal(fread(e->data, 1, e->size, file), e->size);
	fclose(file);
	unlink(e->path);
}

static void exported__free(struct exported *e)
{
	free(e->data);
	model__free(e->model);
	perfetto__free(&e->px);
}

/* every line of @expected is in @text, in that order */
static void text__contains(const char *text, const char *expected)
{
	const char *from = text;

	while (*expected) {
		size_t length = strcspn(expected, "\n"), got = strcspn(from, "\n");

		while (*from && (got != length || memcmp(from, expected, length) != 0)) {
			from += got + (from[got] == '\n');
			got = strcspn(from, "\n");
		}
		if (!*from) {
			fprintf(stderr, "--- trace:\n%s--- lacks:\n%.*s\n", text, (int)length,
				expected);
			fail();
		}
		from += got + (from[got] == '\n');
		expected += length + (expected[length] == '\n');
	}
}

#endif /* TRACER_TESTS_EXPORTED_H */
