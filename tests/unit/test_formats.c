// SPDX-License-Identifier: BSD-2-Clause
/*
 * The exporters of tables, Chrome, Paraver, folded and text, with captures that make no sense:
 * events of all types in any order, any arguments, names of any bytes. Whatever comes, the output
 * has its format. (ASan and UBSan run the same.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <json-c/json.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "export/emit.h"
#include "export/export.h"
#include "export/paraver.h"
#include "export/tables.h"
#include "synth.h"

#define SEEDS 12
#define EVENTS 1500

static uint64_t seed;

static uint64_t random_below(uint64_t limit)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % limit;
}

static const uint16_t types[] = {
#define TRACER_EVENT0(number, ...) (number),
#define TRACER_EVENT1(number, ...) (number),
#define TRACER_EVENT2(number, ...) (number),
#define TRACER_EVENT3(number, ...) (number),
#define TRACER_EVENT4(number, ...) (number),
#include "../../usdt/tracer/events.def"
};

static const char *const strings[] = {
	"name",	    "",		  "\"",		 "a,b\nc", "\xff\xfe", "\xe2\x82",
	"\x01\x02", "semi;colon", "back\\slash", " ",	   "#",	       "0 9",
};

/* small identities, so that events meet; now and then the extremes */
static uint64_t random_arg(struct synth_ring *ring)
{
	static const uint64_t extremes[] = {0, UINT32_MAX, UINT64_MAX, INT64_MAX, 1ULL << 63};

	switch (random_below(12)) {
	case 0:
		return extremes[random_below(5)];
	case 1:
	case 2:
	case 3:
		return ring__name(ring,
				  strings[random_below(sizeof(strings) / sizeof(strings[0]))]);
	default:
		return random_below(6);
	}
}

static void random_ring(struct synth_ring *ring, uint64_t start)
{
	uint64_t time = start, args[4];
	uint16_t type;

	ring__init(ring, 0, 0);
	ring__window(ring, time, TRACER_CLOCK_CYCLES);
	for (int i = 0; i < EVENTS; i++) {
		/* some at the same time as the one before */
		time += random_below(3) * 700;
		type = types[random_below(sizeof(types) / sizeof(types[0]))];
		for (int arg = 0; arg < 4; arg++)
			args[arg] = random_arg(ring);
		ring__event(ring, type, time, args[0], args[1], args[2], args[3]);
	}
}

static void random_capture(struct synth *synth)
{
	struct synth_ring rings[3];

	synth__init(synth);
	for (uint32_t i = 0; i < 3; i++) {
		random_ring(&rings[i], SYNTH_START + 1000 + i * 50);
		synth__stream(synth, &rings[i], i + 1, 101 + i, SYNTH_START + 50 * MS);
		ring__free(&rings[i]);
	}
	if (random_below(2))
		synth__task(synth, REC_THREAD_EXIT, SYNTH_START + 60 * MS, 100, 102, 0, 0);
	if (random_below(2))
		synth__task(synth, REC_PROCESS_EXIT, SYNTH_START + 70 * MS, 100, 100, 0, 9);
}

static char *path_of(const char *name)
{
	static char path[256];
	const char *folder = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/formats-%d%s", folder ? folder : "/tmp", getpid(), name);
	return path;
}

static void export_to(struct synth *synth, const char *path,
		      int (*write)(struct trace *trace, const struct export_options *options,
				   char **err))
{
	struct trace *trace = synth__open(synth);
	struct export_options options = {.path = path, .tracks = random_below(3)};
	char *err = NULL;

	assert_int_equal(write(trace, &options, &err), 0);
	assert_null(err);
	trace__close(trace);
}

static char *content(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	char *text;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	text = calloc(1, *size + 1);
	assert_int_equal(fread(text, 1, *size, file), *size);
	fclose(file);
	unlink(path);
	return text;
}

static void check_chrome(struct synth *synth)
{
	struct json_object *root, *events;
	struct json_tokener *tokener = json_tokener_new();
	char *path = path_of(".json"), *text;
	size_t size;

	export_to(synth, path, export__chrome);
	text = content(path, &size);
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	root = json_tokener_parse_ex(tokener, text, (int)size + 1);
	assert_int_equal(json_tokener_get_error(tokener), json_tokener_success);
	assert_true(json_object_object_get_ex(root, "traceEvents", &events));
	assert_true(json_object_array_length(events) > 100);
	json_object_put(root);
	json_tokener_free(tokener);
	free(text);
}

/* fields of the row that begins at @at, by the rules of RFC 4180; moves on to the next */
static int csv_fields(const char **at)
{
	int fields = 1;
	const char *s = *at;

	while (*s && *s != '\n') {
		if (*s == '"') {
			for (s++; *s && (*s != '"' || s[1] == '"'); s++)
				s += *s == '"';
			assert_int_equal(*s, '"');
		}
		fields += *s++ == ',';
	}
	assert_int_equal(*s, '\n');
	*at = s + 1;
	return fields;
}

static uint64_t check_csv(struct synth *synth)
{
	char folder[256], file[512], *text;
	const char *at;
	uint64_t rows = 0;
	size_t size;

	strcpy(folder, path_of(".csv"));
	assert_int_equal(mkdir(folder, 0700), 0);
	export_to(synth, folder, export__csv);
	for (int table = 0; table < TABLES; table++) {
		snprintf(file, sizeof(file), "%s/%s.csv", folder, table_infos[table].name);
		text = content(file, &size);
		for (at = text; *at; rows++)
			assert_int_equal(csv_fields(&at), table_infos[table].columns);
		free(text);
	}
	assert_int_equal(rmdir(folder), 0);
	return rows - TABLES;
}

static int count_rows(void *rows, int columns, char **values, char **names)
{
	(void)columns;
	(void)names;
	*(uint64_t *)rows += strtoull(values[0], NULL, 10);
	return 0;
}

static uint64_t check_sqlite(struct synth *synth)
{
	char *path = path_of(".sqlite"), sql[128];
	uint64_t rows = 0;
	sqlite3 *db;

	export_to(synth, path, export__sqlite);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	for (int table = 0; table < TABLES; table++) {
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", table_infos[table].name);
		assert_int_equal(sqlite3_exec(db, sql, count_rows, &rows, NULL), SQLITE_OK);
	}
	sqlite3_close(db);
	unlink(path);
	return rows;
}

/* time of the record, by its kind and place */
static uint64_t prv_time(const char *line)
{
	for (int colon = 0; colon < 5; colon++)
		line = strchr(line, ':') + 1;
	return strtoull(line, NULL, 10);
}

static void check_paraver(struct synth *synth)
{
	char *path = path_of(".prv"), *text, *line, *rest = NULL;
	uint64_t time, last = 0, lines = 0;
	size_t size;

	export_to(synth, path, export__paraver);
	text = content(path, &size);
	line = strtok_r(text, "\n", &rest);
	assert_memory_equal(line, "#Paraver (", 10);
	while ((line = strtok_r(NULL, "\n", &rest))) {
		assert_true(line[0] >= '1' && line[0] <= '3');
		assert_int_equal(strspn(line, "0123456789:-"), strlen(line));
		time = prv_time(line);
		assert_true(time >= last);
		last = time;
		lines++;
	}
	assert_true(lines > 100);
	free(text);
	unlink(path_of(".pcf"));
	unlink(path_of(".row"));
}

static void check_lines(struct synth *synth)
{
	char *path, *text, *line, *rest = NULL;
	size_t size;

	path = path_of(".folded");
	export_to(synth, path, export__folded);
	text = content(path, &size);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		assert_non_null(strrchr(line, ' '));
		assert_true(strtoull(strrchr(line, ' '), NULL, 10) > 0);
	}
	free(text);
	path = path_of(".txt");
	export_to(synth, path, export__text);
	text = content(path, &size);
	for (size_t i = 0; i < size; i++)
		assert_true((unsigned char)text[i] >= ' ' || text[i] == '\n');
	free(text);
}

static void whatever_comes_has_its_format(void **state)
{
	struct synth synth;

	(void)state;
	for (uint64_t i = 0; i < SEEDS; i++) {
		seed = i;
		random_capture(&synth);
		check_chrome(&synth);
		assert_int_equal(check_csv(&synth), check_sqlite(&synth));
		check_paraver(&synth);
		check_lines(&synth);
		synth__free(&synth);
	}
}

static void nothing_is_a_trace_too(void **state)
{
	struct synth synth;
	char *path, *text;
	size_t size;

	(void)state;
	synth__init(&synth);
	path = path_of(".prv");
	export_to(&synth, path, export__paraver);
	text = content(path, &size);
	assert_non_null(strstr(text, "_ns:1(1):1:1(1:1)\n"));
	free(text);
	path = path_of(".json");
	export_to(&synth, path, export__chrome);
	text = content(path, &size);
	assert_memory_equal(text, "{\"traceEvents\":[\n", 17);
	assert_non_null(strstr(text, "\n],\n\"displayTimeUnit\":\"ns\""));
	free(text);
	synth__free(&synth);
	unlink(path_of(".pcf"));
	unlink(path_of(".row"));
}

#define SPOOLED 1500000U
#define SPOOL_OPEN 300000U /* ends come so many records later at most: beyond what is in memory */

struct spooled {
	struct prv_record record;
	uint64_t place;
};

static struct prv_record random_record(uint64_t n, uint64_t *time)
{
	static const uint64_t values[] = {0, 1, 127, 128, 300, UINT32_MAX, UINT64_MAX};

	*time += random_below(3) ? 0 : random_below(2000);
	return (struct prv_record){
		.time = *time,
		.a = n % 4 == PRV_STATE || n % 4 == PRV_RECEIVE ? PRV_NEVER
								: PRV_COUNTERS + random_below(300),
		.b = n % 4 == PRV_RECEIVE ? 0 : values[random_below(7)],
		.row = (uint32_t)random_below(2) * 70000,
		.cpu = (uint16_t)random_below(3),
		.kind = (uint8_t)(n % 4),
	};
}

/* what was not known when a record was added, filled in whether it is in memory or in the file */
static void fill_in(struct spool *spool, struct spooled *of, uint64_t time)
{
	if (of->record.kind == PRV_STATE) {
		of->record.a = time;
		spool__set_end(spool, of->place, time);
	} else if (of->record.kind == PRV_RECEIVE) {
		of->record.time = time;
		of->record.a = 0;
		of->record.row = 5;
		of->record.cpu = 9;
		spool__set_arrival(spool, of->place, &of->record);
	}
}

static void paraver_fills_in_what_comes_late(void **state)
{
	struct spooled *all = calloc(SPOOLED, sizeof(*all));
	struct prv_record read;
	char *path = path_of(".spool");
	uint64_t time = 0, written;
	struct spool spool;

	(void)state;
	assert_non_null(all);
	assert_int_equal(spool__open(&spool, path), 0);
	for (uint64_t n = 0; n < SPOOLED; n++) {
		all[n].record = random_record(n, &time);
		all[n].place = spool__add(&spool, &all[n].record);
		if (n >= SPOOL_OPEN && n % 3)
			fill_in(&spool, &all[n - random_below(SPOOL_OPEN)], time);
	}
	assert_int_equal(spool__rewind(&spool), 0);
	written = spool.written;
	assert_true(written > 16U << 20);
	/* twice: it can be rewound while it is read */
	assert_int_equal(spool__read(&spool, &read, 1), 1);
	assert_int_equal(spool__rewind(&spool), 0);
	assert_int_equal(spool.written, written);
	for (uint64_t n = 0; n < SPOOLED; n++) {
		assert_int_equal(spool__read(&spool, &read, 1), 1);
		if (memcmp(&read, &all[n].record, sizeof(read)))
			fail_msg("record %u of kind %u is another", (unsigned)n, read.kind);
	}
	assert_int_equal(spool__read(&spool, &read, 1), 0);
	spool__close(&spool);
	free(all);
}

/* numbers and strings are put as printf and JSON would */
static void numbers_are_exact(void **state)
{
	const uint64_t values[] = {0, 1, 9, 10, 99, 100, 101, 999, 1000, 12345, 4294967295,
				   4294967296, 9999999999, 10000000000, 999999999999999999,
				   /* of one millisecond and of the next */
				   1234000000, 1234000001, 1234999999, 1235000000, 1235001000,
				   999999, 1000000, UINT64_MAX, UINT64_MAX};
	struct emit_time last = {0};
	struct emit emit;
	char expected[128], *path = path_of(".emit"), *text;
	size_t size;

	(void)state;
	assert_int_equal(emit__open(&emit, path, EXPORT_PLAIN), 0);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char *at = emit.at;

		emit__u64(&emit, values[i]);
		emit__char(&emit, ' ');
		emit__hex(&emit, values[i]);
		emit__char(&emit, ' ');
		emit__us(&emit, &last, values[i]);
		emit__char(&emit, ' ');
		emit__i64(&emit, -(int64_t)(values[i] / 2));
		*emit.at = 0;
		snprintf(expected, sizeof(expected), "%llu 0x%llx %llu.%03llu %lld",
			 (unsigned long long)values[i], (unsigned long long)values[i],
			 (unsigned long long)values[i] / 1000, (unsigned long long)values[i] % 1000,
			 -(long long)(values[i] / 2));
		assert_string_equal(at, expected);
	}
	emit.at = emit.base;
	emit__json(&emit, "a\"\\\b\f\n\r\t\x01\x7f\xff\xc3\xa9");
	emit__double(&emit, 0.1);
	emit__double(&emit, 2);
	emit__double(&emit, 1.0 / 0.0);
	assert_int_equal(emit__close(&emit), 0);
	text = content(path, &size);
	assert_string_equal(text, "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u007f\xef\xbf\xbd\xc3\xa9\""
				  "0.12.0null");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paraver_fills_in_what_comes_late),
		cmocka_unit_test(numbers_are_exact),
		cmocka_unit_test(nothing_is_a_trace_too),
		cmocka_unit_test(whatever_comes_has_its_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
