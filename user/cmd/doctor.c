/* SPDX-License-Identifier: BSD-2-Clause */
/* tracer doctor: what this kernel and user can do, what is done without, how to get it. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "../base/say.h"
#include "../capture/features.h"
#include "../capture/nop5.h"
#include "cmd.h"

enum doctor_key { KEY_JSON = 256 };

static const struct argp_option options[] = {
	{"json", KEY_JSON, NULL, 0, "For programs", 0},
	OPTIONS_SPEECH,
	{0},
};

static const char doc[] =
	"Says what this kernel and user can do, and how to get what is missing."
	"\v"
	"Examples:\n"
	"  sudo tracer doctor\n"
	"  tracer doctor --json | jq '.features[] | select(.works | not)'\n\n"
	"Exit status: 0 if tracing will work, 1 if something that it needs is missing.";

/* One row of the table of features.h, with its answer. */
struct row {
	const char *id, *title, *since, *without, *remedy;
	enum feature feature;
	bool required, works;
};

struct host {
	struct utsname kernel;
	long cpus;
	uint64_t memory;      /* bytes */
	uint64_t buffer_size; /* per CPU, by default */
	char clocksource[32];
	struct nop5_trial nop5;
	bool tsc_invariant; /* or an architecture whose counter always is */
};

/* host__line() - first line of a file without its newline, "" if it cannot be read */
static void host__line(const char *path, char *to, size_t room)
{
	FILE *file = fopen(path, "re");

	to[0] = '\0';
	if (!file)
		return;
	if (!fgets(to, (int)room, file))
		to[0] = '\0';
	to[strcspn(to, "\n")] = '\0';
	fclose(file);
}

static bool host__counter_is_invariant(void)
{
#if defined(__x86_64__)
	unsigned int a = 0x80000000U, b, c, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	if (a < 0x80000007U)
		return false;
	a = 0x80000007U;
	__asm__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	return d >> 8 & 1;
#else
	return true;
#endif
}

static void host__look(struct host *host)
{
	memset(host, 0, sizeof(*host));
	uname(&host->kernel);
	host->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	host->memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	host->buffer_size = buffer_size__default(libbpf_num_possible_cpus());
	host__line("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		   host->clocksource, sizeof(host->clocksource));
	host->tsc_invariant = host__counter_is_invariant();
}

static const char *row__answer(const struct row *row, const struct features *features)
{
	if (features->untested >> row->feature & 1)
		return "not tested";
	return row->works ? "yes" : "no";
}

static void doctor__print(const struct host *host, const struct features *features,
			  const struct row *rows, size_t count)
{
	printf("kernel      %s %s %s\n", host->kernel.sysname, host->kernel.release,
	       host->kernel.machine);
	printf("cpus        %ld\n", host->cpus);
	printf("memory      %llu MiB\n", (unsigned long long)(host->memory >> 20));
	printf("clock       %s; the CPUs' counter is %sinvariant\n", host->clocksource,
	       host->tsc_invariant ? "" : "not ");
	printf("buffers     %llu KiB per CPU by default (--buffer-size)\n\n",
	       (unsigned long long)(host->buffer_size >> 10));
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];

		if (row->since[0] == '-')
			printf("%-11s %s\n", row__answer(row, features), row->title);
		else
			printf("%-11s %-50s Linux %s\n", row__answer(row, features), row->title,
			       row->since);
		if (row->works)
			continue;
		if (row->without[0])
			printf("            without: %s\n", row->without);
		if (row->remedy[0])
			printf("            remedy:  %s\n", row->remedy);
	}
	printf("%-11s %s\n", features->nop5_is_optimised ? "yes" : "no",
	       "probes on 5-byte nops become calls (no probe is placed on any)");
	if (host->nop5.tried)
		printf("            tried on a scratch process: %s, a leaf function's data %s, a "
		       "child "
		       "that forks after a hit %s\n",
		       host->nop5.becomes_call ? "it becomes a call" : "it stays a trap",
		       host->nop5.red_zone_damaged ? "is damaged" : "is kept",
		       host->nop5.fork_dies ? "dies" : "lives");
}

static void json__add(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add(object, key, value);
}

static struct json_object *json__string(const char *string)
{
	return string[0] ? json_object_new_string(string) : NULL;
}

static struct json_object *row__json(const struct row *row, const struct features *features)
{
	struct json_object *object = json_object_new_object();
	bool untested = features->untested >> row->feature & 1;

	json__add(object, "id", json__string(row->id));
	json__add(object, "title", json__string(row->title));
	json__add(object, "since", json__string(row->since[0] == '-' ? "" : row->since));
	json__add(object, "required", json_object_new_boolean(row->required));
	json__add(object, "works", untested ? NULL : json_object_new_boolean(row->works));
	json__add(object, "without", json__string(row->without));
	json__add(object, "remedy", json__string(row->remedy));
	return object;
}

static void doctor__print_json(const struct host *host, const struct features *features,
			       const struct row *rows, size_t count, bool works)
{
	struct json_object *object = json_object_new_object();
	struct json_object *machine = json_object_new_object();
	struct json_object *list = json_object_new_array();

	json__add(machine, "kernel", json__string(host->kernel.release));
	json__add(machine, "machine", json__string(host->kernel.machine));
	json__add(machine, "cpus", json_object_new_int64(host->cpus));
	json__add(machine, "memory_bytes", json_object_new_int64((int64_t)host->memory));
	json__add(machine, "clocksource", json__string(host->clocksource));
	json__add(machine, "counter_invariant", json_object_new_boolean(host->tsc_invariant));
	json__add(machine, "buffer_size_bytes", json_object_new_int64((int64_t)host->buffer_size));
	json__add(machine, "nop5_is_optimised",
		  json_object_new_boolean(features->nop5_is_optimised));
	if (host->nop5.tried) {
		struct json_object *trial = json_object_new_object();

		json__add(trial, "becomes_call", json_object_new_boolean(host->nop5.becomes_call));
		json__add(trial, "red_zone_damaged",
			  json_object_new_boolean(host->nop5.red_zone_damaged));
		json__add(trial, "fork_dies", json_object_new_boolean(host->nop5.fork_dies));
		json__add(machine, "nop5_trial", trial);
	}
	for (size_t i = 0; i < count; i++)
		json_object_array_add(list, row__json(&rows[i], features));
	json__add(object, "works", json_object_new_boolean(works));
	json__add(object, "host", machine);
	json__add(object, "features", list);
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
							    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

static int doctor__set(void *ctx, int key, const char *value, const struct option_origin *origin)
{
	bool *json = ctx;

	(void)value;
	(void)origin;
	if (key != KEY_JSON)
		return option__speech(key);
	*json = true;
	return 0;
}

int doctor__main(int argc, char **argv)
{
	bool json = false, works = true;
	struct cmd_parser parser = {
		.options = options,
		.doc = doc,
		.usage_status = STATUS_USAGE,
		.ctx = &json,
		.set = doctor__set,
	};
	struct features features;
	struct host host;
	int status = cmd__parse(&parser, argc, argv);

	if (status)
		return status;
	features__detect(&features);
	host__look(&host);
	if (features.root && nop5__try(&host.nop5))
		say__verbose("what a probe on a 5-byte nop does could not be tried");
	{
		const struct row rows[] = {
#define X(id, title, since, required, without, remedy) \
	{#id, title, since, without, remedy, FEATURE_##id, required, features.id},
			FEATURES(X)
#undef X
		};
		const size_t count = sizeof(rows) / sizeof(rows[0]);

		for (size_t i = 0; i < count; i++)
			if (rows[i].required && !rows[i].works)
				works = false;
		if (json)
			doctor__print_json(&host, &features, rows, count, works);
		else
			doctor__print(&host, &features, rows, count);
	}
	if (!json)
		printf("\n%s\n", works ? "Tracing will work."
				       : "Tracing will not work: something that it needs is "
					 "missing, see above.");
	return works ? STATUS_OK : STATUS_REFUSED;
}
