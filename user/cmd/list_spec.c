/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracer list --spec: which lines of a spec apply to a binary, and why the others do not. The same
 * code finds and compiles as in a capture; nothing is attached.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../base/say.h"
#include "../capture/specs.h"
#include "list.h"
#include "specs.h"

struct answer {
	enum probe_status status;
	size_t places;
	enum insn_cost cost;
	char *why; /* or NULL */
};

static uint32_t text__ignore(void *ctx, const char *const *texts, uint32_t count)
{
	(void)ctx;
	(void)texts;
	(void)count;
	return 0;
}

/* compiles for one place; false with answer->why if that fails */
static bool place__try(const struct spec *spec, const struct spec_probe *probe,
		       struct spec_file *file, struct place *place, bool nop5,
		       struct answer *answer)
{
	struct spec_code code = {0};
	struct site site = {
		.spec = spec,
		.probe = probe,
		.symbols = spec_file__symbols(file),
		.version = spec_file__version(file, spec),
		.address = place->address,
		.begin = place->begin,
		.args = place->args,
		.categories = UINT32_MAX,
		.saves_entry = place->saves_entry,
		.no_retval = place->no_retval,
		.text = text__ignore,
	};
	int err = compile__site(&code, &site);

	free(code.all);
	if (err && !place->no_retval) {
		answer->status = PROBE_FAILED;
		answer->why = site.why;
		return false;
	}
	free(site.why);
	if (probe->kind == PLACE_ENTRY && !probe->offset)
		place__move(place, site.symbols, site.reads, nop5);
	answer->places += !err;
	if (place->cost > answer->cost)
		answer->cost = place->cost;
	return true;
}

static struct answer probe__try(const struct spec *spec, const struct spec_probe *probe,
				struct spec_file *file, bool nop5)
{
	struct answer answer = {.status = PROBE_ATTACHED};
	struct places places;
	size_t i;

	if (places__find(&places, probe, spec_file__symbols(file), spec_file__binary(file), nop5))
		return answer;
	for (i = 0; i < places.count; i++) {
		if (!place__try(spec, probe, file, &places.all[i], nop5, &answer))
			break;
	}
	if (!answer.why) {
		answer.why = places.why;
		places.why = NULL;
	}
	if (!answer.places && answer.status == PROBE_ATTACHED)
		answer.status = places.functions ? PROBE_FAILED : PROBE_ABSENT;
	places__free(&places);
	return answer;
}

static const char *cost__word(enum insn_cost cost)
{
	return cost == INSN_EMULATED ? "cheap" : cost == INSN_STEPPED ? "single-stepped" : "";
}

static void answer__print(const struct spec_probe *probe, const struct answer *answer)
{
	char what[64];

	if (answer->status == PROBE_ATTACHED)
		snprintf(what, sizeof(what), "%zu place%s, %s", answer->places,
			 answer->places == 1 ? "" : "s", cost__word(answer->cost));
	else
		snprintf(what, sizeof(what), "%s",
			 answer->status == PROBE_ABSENT ? "not here" : "fails");
	printf("  %4u  %-60s  %s%s%s\n", probe->line, probe->text, what, answer->why ? ": " : "",
	       answer->why ? answer->why : "");
}

static struct json_object *answer__json(const struct spec *spec, const struct spec_probe *probe,
					const struct spec_file *file, const struct answer *answer)
{
	struct json_object *json = json_object_new_object();

	json_object_object_add(json, "runtime", json_object_new_string(spec->name));
	json_object_object_add(json, "line", json_object_new_int64(probe->line));
	json_object_object_add(json, "probe", json_object_new_string(probe->text));
	json_object_object_add(json, "binary", json_object_new_string(file->path));
	json_object_object_add(json, "applies",
			       json_object_new_boolean(answer->status == PROBE_ATTACHED));
	json_object_object_add(json, "places", json_object_new_int64((int64_t)answer->places));
	json_object_object_add(json, "why",
			       answer->why ? json_object_new_string(answer->why) : NULL);
	return json;
}

static const char *file__base(const struct spec_file *file)
{
	const char *slash = strrchr(file->path, '/');

	return slash ? slash + 1 : file->path;
}

/* in the one file that was named, or in any of a process: there an absence is told for recognised
 * ones */
static void spec__list_in(const struct list_specs *list, struct spec *spec, struct spec_file *file)
{
	bool recognised = !spec->recognisers || spec__recognises(spec, file), titled = false;
	const struct spec_probe *probe;
	struct answer answer;

	if (!spec_file__symbols(file))
		return;
	for (probe = spec->probes; probe; probe = probe->next) {
		if (probe->kind == PLACE_TRACEPOINT)
			continue;
		if (probe->file ? !pattern__matches(probe->file, file__base(file))
				: !recognised && list->is_process)
			continue;
		answer = probe__try(spec, probe, file, list->nop5_is_call);
		if (answer.status != PROBE_ABSENT || !list->is_process ||
		    (recognised && spec->recognisers && !probe->file)) {
			if (!titled && !list->json)
				printf("%s in %s%s\n", spec->name, file->path,
				       recognised ? "" : " (not recognised as this runtime)");
			titled = true;
			if (list->json)
				json_object_array_add(list->json,
						      answer__json(spec, probe, file, &answer));
			else
				answer__print(probe, &answer);
		}
		free(answer.why);
	}
}

void list_specs__print(const struct list_specs *list, struct spec_file *files)
{
	struct spec_file *file;
	struct spec *spec;

	for (spec = list->specs; spec; spec = spec->next) {
		for (file = files; file; file = file->next) {
			if (file->fd >= 0)
				spec__list_in(list, spec, file);
		}
	}
}

/* the runtimes that a binary shows, for the ordinary list */
static void runtimes__each(const char *path, const char *name,
			   void (*take)(void *ctx, const struct spec *spec), void *ctx)
{
	struct spec *all = NULL, *spec;
	struct specs specs = {0};
	struct spec_file *file = specs__file(&specs, 0, 1, path, name, 0);

	if (file && file->fd >= 0 && !specs__add_all(&all)) {
		for (spec = all; spec; spec = spec->next) {
			if (spec__recognises(spec, file))
				take(ctx, spec);
		}
	}
	specs__free(all);
	specs__free_files(&specs);
}

struct shown {
	const char *title; /* or NULL */
	unsigned int count;
};

static void runtime__print(void *ctx, const struct spec *spec)
{
	struct shown *shown = ctx;

	if (shown->title && !shown->count)
		printf("%s\n", shown->title);
	shown->count++;
	printf("  runtime: %s (%s), traced without points; lines: tracer list --spec %s\n",
	       spec->name, spec->doc, spec->name);
}

unsigned int list_specs__recognise(const char *path, const char *name, bool titled)
{
	struct shown shown = {titled ? name : NULL, 0};

	runtimes__each(path, name, runtime__print, &shown);
	return shown.count;
}

static void runtime__json(void *ctx, const struct spec *spec)
{
	json_object_array_add(ctx, json_object_new_string(spec->name));
}

struct json_object *list_specs__json(const char *path, const char *name)
{
	struct json_object *runtimes = json_object_new_array();

	runtimes__each(path, name, runtime__json, runtimes);
	return runtimes;
}

void list_specs__names(void)
{
	struct spec *all = NULL, *spec;

	if (specs__add_all(&all))
		return;
	for (spec = all; spec; spec = spec->next)
		printf("%-16s %s\n", spec->name, spec->doc);
	specs__free(all);
}

void list_specs__events(void)
{
	const struct spec_event_row *row;
	size_t i;
	int k;

	for (i = 0; (row = spec_event__at(i)); i++) {
		printf("%s(", row->name);
		for (k = 0; k < row->nargs; k++)
			printf("%s%s", k ? ", " : "", row->args[k]);
		printf(")\n");
	}
}

int list_specs__text(const char *name)
{
	const struct spec_builtin *builtin = spec_builtin__find(name);

	if (!builtin)
		return -1;
	fputs(builtin->text, stdout);
	return 0;
}
