/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracer list: the points and USDT probes of a binary, or of everything that a process has mapped.
 * Reads files only; nothing is attached, nothing stopped.
 */
#include <elf.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../base/say.h"
#include "../capture/binary.h"
#include "../capture/specs.h"
#include "cmd.h"
#include "list.h"
#include "specs.h"

enum list_key { KEY_JSON = 256, KEY_SPEC, KEY_SPECS, KEY_EVENTS };

static const struct argp_option options[] = {
	{"pid", 'p', "PID", 0, "Everything that this process has mapped", 0},
	{"spec", KEY_SPEC, "NAME|FILE", 0,
	 "Which lines of this probe spec apply to the binary or process, and why others do not; "
	 "without "
	 "either: the text of the spec that comes with the command",
	 0},
	{"specs", KEY_SPECS, NULL, 0, "The runtimes for which specs come with the command", 0},
	{"events", KEY_EVENTS, NULL, 0, "The events that specs can make", 0},
	{"json", KEY_JSON, NULL, 0, "For programs", 0},
	OPTIONS_SPEECH,
	{0},
};

static const char doc[] = "Lists the points and USDT probes of a binary or process."
			  "\v"
			  "Examples:\n"
			  "  tracer list ./solver\n"
			  "  sudo tracer list -p 4711\n"
			  "  sudo tracer list --spec go -p 4711\n"
			  "  tracer list --spec mine.probes ./solver\n"
			  "  tracer list --json ./solver | jq '.binaries[].usdt[].name'";

struct list_command {
	const char *file;
	uint64_t pid;
	bool json, specs, events;
	const char *spec;
	struct json_object *binaries; /* with json */
	unsigned int found;	      /* binaries with anything to list */
};

/* One probe name of a provider, with all its places. */
struct probe {
	const struct binary_usdt *first;
	size_t sites;
	size_t index; /* in file order, to keep it */
};

static int probe__by_name(const void *one, const void *other)
{
	const struct probe *a = one, *b = other;
	int order = strcmp(a->first->provider, b->first->provider);

	if (!order)
		order = strcmp(a->first->name, b->first->name);
	if (!order)
		order = a->index < b->index ? -1 : 1;
	return order;
}

/* probes__group() - one entry per provider and name, sorted; to be freed. *count: how many */
static struct probe *probes__group(const struct binary *binary, size_t *count)
{
	struct probe *probes = calloc(binary->usdt_count + 1, sizeof(*probes));
	size_t used = 0;

	*count = 0;
	if (!probes)
		return NULL;
	for (size_t i = 0; i < binary->usdt_count; i++)
		probes[i] = (struct probe){&binary->usdt[i], 1, i};
	qsort(probes, binary->usdt_count, sizeof(*probes), probe__by_name);
	for (size_t i = 0; i < binary->usdt_count; i++) {
		const struct binary_usdt *usdt = probes[i].first;

		if (used && !strcmp(probes[used - 1].first->provider, usdt->provider) &&
		    !strcmp(probes[used - 1].first->name, usdt->name))
			probes[used - 1].sites++;
		else
			probes[used++] = probes[i];
	}
	*count = used;
	return probes;
}

static const char *machine__name(uint16_t machine, char *to, size_t room)
{
	switch (machine) {
	case EM_X86_64:
		return "x86-64";
	case EM_AARCH64:
		return "AArch64";
	default:
		snprintf(to, room, "machine %u", machine);
		return to;
	}
}

static bool machine__is_this(uint16_t machine)
{
#if defined(__x86_64__)
	return machine == EM_X86_64;
#elif defined(__aarch64__)
	return machine == EM_AARCH64;
#else
	return false;
#endif
}

static void binary__print(const struct binary *binary, const struct probe *probes, size_t count)
{
	const char *provider = "";
	char name[32];

	printf("%s (%s%s)\n", binary->path, machine__name(binary->machine, name, sizeof(name)),
	       machine__is_this(binary->machine) ? "" : ", of another machine: cannot run here");
	if (binary->has_points)
		printf("  points of the tracer: yes, ring layout %u\n", binary->info.version);
	if (binary->other_version)
		printf("  points of the tracer: with ring layout %u, which this version (layout "
		       "%u) does not record; "
		       "rebuild it with this version's headers\n",
		       binary->other_version, TRACER_RING_VERSION);
	if (!binary->has_points && !binary->other_version)
		printf("  points of the tracer: none\n");
	for (size_t i = 0; i < count; i++) {
		const struct binary_usdt *usdt = probes[i].first;

		if (strcmp(provider, usdt->provider) != 0)
			printf("  usdt:%s\n", usdt->provider);
		provider = usdt->provider;
		printf("    %-28s %5zu site%s %s\n", usdt->name, probes[i].sites,
		       probes[i].sites == 1 ? " " : "s", usdt->args);
	}
}

static void json__add(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add(object, key, value);
}

static struct json_object *json__string(const char *string)
{
	return string ? json_object_new_string(string) : NULL;
}

static struct json_object *binary__json(const struct binary *binary, const struct probe *probes,
					size_t count)
{
	struct json_object *object = json_object_new_object();
	struct json_object *usdt = json_object_new_array();
	uint32_t layout = binary->has_points ? binary->info.version : binary->other_version;
	char name[32];

	json__add(object, "path", json__string(binary->path));
	json__add(object, "machine",
		  json__string(machine__name(binary->machine, name, sizeof(name))));
	json__add(object, "build_id", json__string(binary->build_id));
	json__add(object, "points", json_object_new_boolean(binary->has_points));
	json__add(object, "layout", layout ? json_object_new_int64(layout) : NULL);
	for (size_t i = 0; i < count; i++) {
		const struct binary_usdt *first = probes[i].first;
		struct json_object *probe = json_object_new_object();

		json__add(probe, "provider", json__string(first->provider));
		json__add(probe, "name", json__string(first->name));
		json__add(probe, "sites", json_object_new_int64((int64_t)probes[i].sites));
		json__add(probe, "arguments", json__string(first->args));
		json__add(probe, "semaphore", json_object_new_boolean(first->semaphore != 0));
		json_object_array_add(usdt, probe);
	}
	json__add(object, "usdt", usdt);
	return object;
}

/* list__binary() - show it, if it has anything or was asked for by name */
static void list__binary(struct list_command *command, struct binary *binary, const char *through)
{
	struct probe *probes;
	size_t count;

	if (!command->file && !binary->has_points && !binary->other_version &&
	    !binary->usdt_count) {
		if (!command->json)
			command->found += list_specs__recognise(through, binary->path, true);
		return;
	}
	probes = probes__group(binary, &count);
	if (command->json) {
		struct json_object *object = binary__json(binary, probes, count);

		json__add(object, "runtimes", list_specs__json(through, binary->path));
		json_object_array_add(command->binaries, object);
	}
	if (!command->json)
		binary__print(binary, probes, count);
	if (!command->json && !binary->has_points)
		list_specs__recognise(through, binary->path, false);
	command->found++;
	free(probes);
}

static int list__file(struct list_command *command)
{
	char *err = NULL;
	struct binary *binary = binary__open(command->file, &err);

	if (!binary) {
		say__error("%s", err ? err : command->file);
		free(err);
		return STATUS_REFUSED;
	}
	list__binary(command, binary, command->file);
	binary__free(binary);
	return STATUS_OK;
}

/*
 * list__mapping() - one mapped file of the process
 *
 * Opened through the process's root: its path may mean something else here. A file that was
 * replaced since is a deleted one to the kernel; then map_files leads to what is really mapped.
 */
static void list__mapping(struct list_command *command, const char *range, char *path)
{
	char through[4096 + 64], *err = NULL;
	char *deleted = strstr(path, " (deleted)");
	struct binary *binary;

	if (deleted)
		snprintf(through, sizeof(through), "/proc/%llu/map_files/%s",
			 (unsigned long long)command->pid, range);
	else
		snprintf(through, sizeof(through), "/proc/%llu/root%s",
			 (unsigned long long)command->pid, path);
	binary = binary__open(through, &err);
	if (!binary) {
		say__verbose("%s", err ? err : through);
		free(err);
		return;
	}
	free(binary->path);
	binary->path = strdup(path);
	list__binary(command, binary, through);
	binary__free(binary);
}

static int list__process(struct list_command *command)
{
	char maps[64], line[4096 + 128], range[64], protection[8], device[16], seen[4096] = "";
	unsigned long long inode;
	FILE *file;
	int at;

	snprintf(maps, sizeof(maps), "/proc/%llu/maps", (unsigned long long)command->pid);
	file = fopen(maps, "re");
	if (!file && errno == ENOENT) {
		say__error("process %llu: there is none such; pgrep finds the number",
			   (unsigned long long)command->pid);
		return STATUS_REFUSED;
	}
	/* maps of others' processes can be opened, and then read as empty or refuse */
	while (file && fgets(line, sizeof(line), file)) {
		char *path;

		at = 0;
		if (sscanf(line, "%63s %7s %*s %15s %llu %n", range, protection, device, &inode,
			   &at) < 4 ||
		    !at || !inode)
			continue;
		path = line + at;
		path[strcspn(path, "\n")] = '\0';
		/* one line per mapping of a file, next to each other; the executable one counts */
		if (path[0] != '/' || protection[2] != 'x' || !strcmp(path, seen))
			continue;
		stpncpy(seen, path, sizeof(seen) - 1);
		list__mapping(command, range, path);
	}
	if (!file || (ferror(file) && !seen[0])) {
		say__error("process %llu: %s%s", (unsigned long long)command->pid, strerror(errno),
			   geteuid() ? "; run as root: sudo tracer list -p PID"
				     : "; name its binary instead: tracer list FILE");
		if (file)
			fclose(file);
		return STATUS_REFUSED;
	}
	fclose(file);
	if (!command->found && !command->json)
		printf("process %llu: no points, no USDT probes\n",
		       (unsigned long long)command->pid);
	return STATUS_OK;
}

static int list__set(void *ctx, int key, const char *value, const struct option_origin *origin)
{
	struct list_command *command = ctx;

	switch (key) {
	case 'p':
		return option__number(value, origin, 1, INT32_MAX, &command->pid);
	case KEY_SPEC:
		command->spec = value;
		return 0;
	case KEY_SPECS:
		command->specs = true;
		return 0;
	case KEY_EVENTS:
		command->events = true;
		return 0;
	case KEY_JSON:
		command->json = true;
		return 0;
	default:
		return option__speech(key);
	}
}

static int list__operand(void *ctx, const char *operand)
{
	struct list_command *command = ctx;

	if (command->file) {
		say__error("'%s': one file at a time", operand);
		return -EINVAL;
	}
	command->file = operand;
	return 0;
}

/* the files of a process, or the one that was named */
static int list__open_files(const struct list_command *command, struct specs *specs)
{
	struct mappings mappings;
	struct mapping mapping = {0};
	char path[128];
	size_t i;
	int err;

	if (command->file) {
		err = proc__file_identity(command->file, &mapping);
		if (!err && !specs__file(specs, mapping.device, mapping.inode, command->file,
					 command->file, 0))
			err = -ENOMEM;
		return err;
	}
	err = proc__mappings((pid_t)command->pid, &mappings);
	if (err)
		return err;
	for (i = 0; i < mappings.count; i++) {
		proc__map_file((pid_t)command->pid, &mappings.all[i], path, sizeof(path));
		specs__file(specs, mappings.all[i].device, mappings.all[i].inode, path,
			    mappings.all[i].path, (pid_t)command->pid);
	}
	proc__free_mappings(&mappings);
	return 0;
}

static int list__spec(const struct list_command *command)
{
	const struct option_origin origin = {"--spec", false};
	struct list_specs list = {.is_process = command->pid != 0};
	struct specs specs = {0};
	struct features features;
	int err;

	if (!command->file && !command->pid && !list_specs__text(command->spec))
		return STATUS_OK;
	if (spec_builtin__find(command->spec))
		err = specs__add_runtimes(&list.specs, command->spec, &origin);
	else
		err = specs__add_file(&list.specs, command->spec);
	if (err)
		return STATUS_REFUSED;
	if (!command->file && !command->pid) {
		printf("%s: %u probes, no mistakes\n", command->spec, list.specs->probe_count);
		specs__free(list.specs);
		return STATUS_OK;
	}
	features__detect(&features);
	list.nop5_is_call = features.nop5_is_optimised;
	list.json = command->json ? json_object_new_array() : NULL;
	err = list__open_files(command, &specs);
	if (!err && command->file && !spec_file__symbols(specs.files))
		err = -ENOEXEC;
	if (err && command->file)
		say__error("%s: %s", command->file,
			   err == -ENOEXEC ? "not an ELF program or library" : strerror(-err));
	else if (err)
		say__error("process %llu: %s%s", (unsigned long long)command->pid, strerror(-err),
			   geteuid() ? "; run as root: sudo tracer list --spec NAME -p PID" : "");
	else
		list_specs__print(&list, specs.files);
	if (list.json && !err)
		puts(json_object_to_json_string_ext(
			list.json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(list.json);
	specs__free_files(&specs);
	specs__free(list.specs);
	return err ? STATUS_REFUSED : STATUS_OK;
}

int list__main(int argc, char **argv)
{
	struct list_command command = {0};
	struct cmd_parser parser = {
		.options = options,
		.operands = "-p PID\nFILE",
		.doc = doc,
		.usage_status = STATUS_USAGE,
		.ctx = &command,
		.set = list__set,
		.operand = list__operand,
	};
	int status = cmd__parse(&parser, argc, argv);

	if (status)
		return status;
	if (command.specs || command.events) {
		if (command.specs)
			list_specs__names();
		else
			list_specs__events();
		return STATUS_OK;
	}
	if (command.spec && !(command.file && command.pid))
		return list__spec(&command);
	if (!command.file == !command.pid) {
		say__error("name a process or a file: tracer list -p PID, or: tracer list FILE");
		return STATUS_USAGE;
	}
	if (command.json)
		command.binaries = json_object_new_array();
	status = command.file ? list__file(&command) : list__process(&command);
	if (command.json && status == STATUS_OK) {
		struct json_object *object = json_object_new_object();

		json__add(object, "binaries", command.binaries);
		puts(json_object_to_json_string_ext(
			object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
		json_object_put(object);
	} else {
		json_object_put(command.binaries);
	}
	return status;
}
