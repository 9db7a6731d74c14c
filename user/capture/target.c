// SPDX-License-Identifier: BSD-2-Clause
/*
 * The processes of a capture and the binaries mapped in them.
 *
 * A binary is attached to once, by inode, in whatever process and mount namespace it was found
 * (/proc/PID/map_files leads to it also when it was deleted or replaced): flush probe first, then
 * the rings that threads have from earlier captures are adopted, then the gates open. When children
 * are followed the probes hold for every process that maps the file, and BPF leaves out those that
 * are no targets; with --no-follow they hold for one process.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <json-c/json.h>
#include "../base/say.h"
#include "bpf/return.skel.h"
#include "session.h"
#include "specs.h"
#include "proc.h"
#include "stacks.h"

#define SITES_MAX 40

/* --- binaries --------------------------------------------------------------------------------- */

static struct dso *session__find_dso(const struct session *session, uint64_t device, uint64_t inode,
				     pid_t pid)
{
	struct dso *dso;

	for (dso = session->dsos; dso; dso = dso->next) {
		if (dso->device == device && dso->inode == inode && dso->pid == pid)
			return dso;
	}
	return NULL;
}

static void session__tell_dso(struct session *session, struct dso *dso)
{
	const struct binary *binary = dso->binary;
	struct json_object *json = json_object_new_object(), *image = json_object_new_array(),
			   *range;
	unsigned char *bytes = malloc(binary->image_size ? binary->image_size : 1);
	uint64_t size = binary->image_size;
	size_t i;

	if (!bytes || binary__image(binary, bytes))
		size = 0; /* names are shown as addresses then */
	json_object_object_add(json, "id", json_object_new_int64(dso->id));
	json_object_object_add(json, "path", json_object_new_string(binary->path));
	if (binary->build_id)
		json_object_object_add(json, "build_id", json_object_new_string(binary->build_id));
	json_object_object_add(json, "schema",
			       json_object_new_string(binary->schema ? binary->schema : ""));
	json_object_object_add(
		json, "dso_offset",
		json_object_new_int64((int64_t)(binary->dso_address - binary->first_load)));
	json_object_object_add(json, "image_size", json_object_new_int64((int64_t)size));
	for (i = 0; i < binary->image_count && size; i++) {
		range = json_object_new_array();
		json_object_array_add(range,
				      json_object_new_int64((int64_t)(binary->image[i].address -
								      binary->first_load)));
		json_object_array_add(range, json_object_new_int64((int64_t)binary->image[i].size));
		json_object_array_add(image, range);
	}
	json_object_object_add(json, "image", image);
	file_writer__dso(session->writer, json, bytes, size);
	free(bytes);
	dso->told = true;
}

/* at the start that is the end of it; later the others' events are there all the same */
static void session__say_unopened(struct session *session, const struct process *process,
				  const struct dso *dso, const char *what, int err)
{
	if (session->started && process)
		session__miss(session, process->pid, "%s: %s: %s; its events are missing",
			      dso->binary->path, what, strerror(-err));
	else
		say__error("%s: %s: %s", dso->binary->path, what, strerror(-err));
}

static int dso__attach_flush(struct session *session, const struct process *process,
			     struct dso *dso, const char *path)
{
	struct bpf_program *program = session->features.sleepable_uprobe
					      ? session->bpf->progs.flush
					      : session->bpf->progs.flush_atomic;
	struct probe_site site = {dso->binary->flush_offset, 0};
	int err = probe__attach(&dso->flush, session, program, path, dso->pid, &site, 1);

	if (err)
		session__say_unopened(session, process, dso,
				      err == -EIO
					      ? "no probe can be placed (is its file system one "
						"that can be mapped?)"
					      : "no probe can be placed",
				      err);
	return err;
}

/* what says how to record: it is there before the gates that say to record open, and until they
 * have closed */
static size_t dso__how_sites(const struct session *session, const struct binary *binary,
			     struct probe_site *sites)
{
	uint64_t stride = binary->info.site_stride, gates = binary->gates_offset;
	size_t count = 0;
	int level;

	for (level = 0; level < session->sample_level; level++)
		sites[count++] = (struct probe_site){
			binary->sites_offset + TRACER_SITE_SAMPLE((uint64_t)level) * stride,
			gates + TRACER_GATES_SAMPLE};
	if (session->use_monotonic)
		sites[count++] =
			(struct probe_site){binary->sites_offset + TRACER_SITE_CLOCK * stride,
					    gates + TRACER_GATES_CLOCK};
	return count;
}

static size_t dso__gate_sites(const struct session *session, const struct binary *binary,
			      struct probe_site *sites)
{
	const uint32_t always = 1U << 11; /* category capture */
	uint32_t categories = session->options->categories | always, category;
	uint64_t stride = binary->info.site_stride, gates = binary->gates_offset;
	size_t count = 0;

	for (category = 0; category < 14; category++) {
		if (categories & 1U << category)
			sites[count++] = (struct probe_site){
				binary->sites_offset + TRACER_SITE_GATE(category) * stride,
				gates + TRACER_GATES_RECORDED(category)};
	}
	return count;
}

static int dso__open_gates(struct session *session, const struct process *process, struct dso *dso,
			   const char *path)
{
	const struct bpf_program *program = session->bpf->progs.gate;
	struct probe_site sites[SITES_MAX];
	size_t count = dso__how_sites(session, dso->binary, sites);
	int err = 0;

	if (count)
		err = probe__attach(&dso->how, session, program, path, dso->pid, sites, count);
	/* before there is any record that a stack would belong to */
	if (!err)
		err = stacks__attach(session, dso, path);
	if (!err) {
		count = dso__gate_sites(session, dso->binary, sites);
		err = probe__attach(&dso->gates, session, program, path, dso->pid, sites, count);
	}
	if (err)
		session__say_unopened(session, process, dso, "its gates can't be opened", err);
	return err;
}

/* the path by which a process's mapping of the file can be reached now */
static int session__path_of(const struct session *session, const struct dso *dso, char *path,
			    size_t size)
{
	const struct process *process;
	struct mapping mapping;

	if (dso->pid && !proc__find_file(dso->pid, dso->device, dso->inode, path, size))
		return 0;
	for (process = session->processes; process; process = process->next) {
		if (!proc__find_file(process->pid, dso->device, dso->inode, path, size))
			return 0;
	}
	/* mapped by nobody any more, or not yet: COMMAND's own file */
	if (!proc__file_identity(dso->binary->path, &mapping) && mapping.inode == dso->inode) {
		snprintf(path, size, "%s", dso->binary->path);
		return 0;
	}
	return -ENOENT;
}

static struct dso *session__add_dso(struct session *session, const struct mapping *mapping,
				    const char *path, pid_t pid)
{
	struct binary *binary;
	struct dso *dso;

	errno = 0;
	binary = binary__open(path, NULL);
	/* it may have points all the same: another time */
	if (!binary && (errno == ENOMEM || errno == EMFILE || errno == ENFILE))
		return NULL;
	dso = calloc(1, sizeof(*dso));
	if (!dso) {
		binary__free(binary);
		return NULL;
	}
	dso->id = ++session->dso_count;
	dso->device = mapping->device;
	dso->inode = mapping->inode;
	dso->pid = pid;
	dso->next = session->dsos;
	session->dsos = dso;
	dso->binary = binary;
	if (!dso->binary)
		return dso;
	if (dso->binary->other_version && !session->refusal)
		session->refusal = sentence__new("%s has points of layout version %u, this tracer "
						 "reads version %d: rebuild it "
						 "with this tracer's header",
						 mapping->path, dso->binary->other_version,
						 TRACER_RING_VERSION);
	if (!dso->binary->has_points && !dso->binary->debug_state_offset &&
	    !dso->binary->execve_offset) {
		binary__free(dso->binary);
		dso->binary = NULL;
		return dso;
	}
	/* the name people know, not the way by which it was reached */
	free(dso->binary->path);
	dso->binary->path = strdup(mapping->path);
	return dso;
}

/* --- waiting for libraries -------------------------------------------------------------------- */

static const struct bpf_program *session__loaded_program(const struct session *session)
{
	return session->returns ? session->returns->progs.hold_library : session->bpf->progs.loaded;
}

/* for whichever process: see below; there it also waits before it runs another program (hold.bpf.h) */
static void dso__attach_loaded(struct session *session, struct dso *dso, const char *path,
			       const struct probe_site *sites, size_t count)
{
	const struct probe_site run = {dso->binary->execve_offset, 0};
	struct probe *probe = NULL;

	if (count)
		probe__attach(&dso->loaded, session, session__loaded_program(session), path, 0,
			      sites, count);
	/* else it is held when it runs */
	if (run.offset && !session->returns)
		probe__attach(&probe, session, session->bpf->progs.will_run, path, 0, &run, 1);
	dso->loaded = probe__join(probe, dso->loaded);
}

/*
 * Where a process waits for us when it has mapped something: in the dynamic linker, or at a static
 * program's start. The probe is for this process alone: every process of the machine maps the
 * dynamic linker, and one that reads its own code, as valgrind does, would not survive our int3. A
 * probe for one process is too slow to be placed between fork and exec, though. So a COMMAND
 * without points of its own, a script mostly, which is traced for what it will run, takes the risk
 * for all (session->everywhere).
 */
static void process__attach_loaded(struct session *session, struct process *process,
				   struct dso *dso, const char *path)
{
	const uint64_t offsets[] = {dso->binary->debug_state_offset, dso->binary->entry_offset};
	struct probe_site sites[2];
	struct probe **probes;
	uint32_t *linkers;
	size_t count = 0, i;
	int err;

	for (i = 0; i < 2; i++) {
		if (offsets[i])
			sites[count++] = (struct probe_site){offsets[i], 0};
	}
	for (i = 0; i < process->linker_count; i++) {
		if (process->linkers[i] == dso->id)
			return;
	}
	if (dso->loaded || !session->features.sleepable_uprobe)
		return;
	if (session->everywhere) {
		dso__attach_loaded(session, dso, path, sites, count);
		return;
	}
	if (!count)
		return;
	linkers = reallocarray(process->linkers, process->linker_count + 1, sizeof(*linkers));
	if (!linkers)
		return;
	process->linkers = linkers;
	probes = reallocarray(process->loaded, process->linker_count + 1, sizeof(*probes));
	if (!probes)
		return;
	process->loaded = probes;
	err = probe__attach(&probes[process->linker_count], session,
			    session__loaded_program(session), path, process->pid, sites, count);
	if (!err)
		linkers[process->linker_count++] = dso->id;
	else /* libraries loaded later miss their first events; the rest works */
		say__verbose("%s: no probe where process %d maps libraries: %s", dso->binary->path,
			     process->pid, strerror(-err));
}

void session__await_libraries(struct session *session, struct process *process)
{
	struct dso *dso;
	char path[4096];

	for (dso = session->dsos; dso; dso = dso->next) {
		if (dso->binary && (dso->binary->debug_state_offset || dso->binary->entry_offset) &&
		    !session__path_of(session, dso, path, sizeof(path)))
			process__attach_loaded(session, process, dso, path);
	}
}

/* detaching takes long: at the end, all together */
static void session__retire_probes(struct session *session, struct process *process)
{
	struct probe **retired;

	retired = reallocarray(session->retired, session->retired_count + process->linker_count,
			       sizeof(*retired));
	if (!retired) {
		probe__detach_all(process->loaded, process->linker_count);
		return;
	}
	memcpy(retired + session->retired_count, process->loaded,
	       process->linker_count * sizeof(*retired));
	session->retired = retired;
	session->retired_count += process->linker_count;
}

/* --- processes -------------------------------------------------------------------------------- */

struct process *session__find_process(const struct session *session, pid_t pid)
{
	struct process *process;

	for (process = session->processes; process; process = process->next) {
		if (process->pid == pid)
			return process;
	}
	return NULL;
}

struct process *session__add_process(struct session *session, pid_t pid, bool given)
{
	struct process *process = session__find_process(session, pid);
	uint32_t key = (uint32_t)pid, unused = 0;

	if (process) {
		process->given |= given;
		return process;
	}
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->given = given;
	process->next = session->processes;
	session->processes = process;
	if (given) {
		/* the first test of bpf/sched.bpf.h */
		__atomic_fetch_or(
			&session->bpf->bss->maybe_targets[key / 64 % (MAYBE_TARGETS / 64)],
			1ULL << key % 64, __ATOMIC_RELAXED);
		bpf_map_update_elem(bpf_map__fd(session->bpf->maps.targets), &key, &unused,
				    BPF_ANY);
	}
	return process;
}

void session__remove_process(struct session *session, pid_t pid)
{
	struct process **at = &session->processes, *process;

	for (; (process = *at); at = &process->next) {
		if (process->pid != pid)
			continue;
		*at = process->next;
		if (process->linker_count)
			session__retire_probes(session, process);
		free(process->linkers);
		free(process->loaded);
		free(process->maps);
		free(process->bases);
		free(process);
		return;
	}
}

void session__forget_maps(struct process *process)
{
	process->map_count = 0;
}

void session__tell_process(struct session *session, pid_t pid, pid_t parent)
{
	struct proc_info info;
	struct json_object *json;

	if (proc__read(pid, &info))
		return;
	json = json_object_new_object();
	json_object_object_add(json, "pid", json_object_new_int(pid));
	json_object_object_add(json, "time", json_object_new_int64((int64_t)now__boottime()));
	json_object_object_add(json, "start_time", json_object_new_int64((int64_t)info.start_time));
	json_object_object_add(json, "name", json_object_new_string(info.name));
	json_object_object_add(json, "cmdline", json_object_new_string(info.cmdline));
	json_object_object_add(json, "parent", json_object_new_int(parent ? parent : info.parent));
	file_writer__json(session->writer, FILE_PROCESS, json);
}

static bool process__was_told(const struct process *process, uint32_t id, uint64_t base)
{
	size_t i;

	for (i = 0; i < process->map_count; i++) {
		if (process->maps[i] == id && process->bases[i] == base)
			return true;
	}
	return false;
}

/*
 * What is mapped no more is told again when it comes back: in between another library may have been
 * at the same address.
 */
static void process__forget_unmapped(const struct session *session, struct process *process,
				     const struct mappings *mappings)
{
	pid_t pid = session->options->follow ? 0 : process->pid;
	const struct dso *dso;
	size_t i, k, kept = 0;

	for (i = 0; i < process->map_count; i++) {
		for (k = 0; k < mappings->count; k++) {
			const struct mapping *mapping = &mappings->all[k];

			dso = mapping->start == process->bases[i]
				      ? session__find_dso(session, mapping->device, mapping->inode,
							  pid)
				      : NULL;
			if (dso && dso->id == process->maps[i])
				break;
		}
		if (k == mappings->count)
			continue;
		process->maps[kept] = process->maps[i];
		process->bases[kept++] = process->bases[i];
	}
	process->map_count = kept;
}

static int process__remember(struct process *process, uint32_t id, uint64_t base)
{
	uint32_t *maps = reallocarray(process->maps, process->map_count + 1, sizeof(*maps));
	uint64_t *bases;

	if (!maps)
		return -ENOMEM;
	process->maps = maps;
	bases = reallocarray(process->bases, process->map_count + 1, sizeof(*bases));
	if (!bases)
		return -ENOMEM;
	process->bases = bases;
	maps[process->map_count] = id;
	bases[process->map_count++] = base;
	return 0;
}

static uint64_t dso__run_time_address(const struct dso *dso, uint64_t base)
{
	return base + (dso->binary->dso_address - dso->binary->first_load);
}

static void session__tell_map(struct session *session, const struct process *process,
			      const struct dso *dso, uint64_t base)
{
	struct json_object *json = json_object_new_object();

	json_object_object_add(json, "pid", json_object_new_int(process->pid));
	json_object_object_add(json, "time", json_object_new_int64((int64_t)now__boottime()));
	json_object_object_add(json, "dso_id", json_object_new_int64(dso->id));
	json_object_object_add(json, "base", json_object_new_int64((int64_t)base));
	json_object_object_add(json, "dso",
			       json_object_new_int64((int64_t)dso__run_time_address(dso, base)));
	file_writer__json(session->writer, FILE_MAP, json);
}

/* does memory hold what the file says? It does not if the file was written over in place. */
static bool process__matches(const struct process *process, const struct dso *dso, uint64_t base)
{
	const struct binary *binary = dso->binary;
	uint64_t info_at = binary->dso_address - (uint64_t)(int64_t)binary->info.dso -
			   offsetof(struct tracer_info, dso);
	struct tracer_info info;

	if (proc__read_memory(process->pid, base + (info_at - binary->first_load), &info,
			      sizeof(info)) != sizeof(info))
		return true; /* gone, or not ours to read: nothing to say */
	return !memcmp(&info, &binary->info, sizeof(info));
}

/* one file of a process: known or new */
static int session__take_mapping(struct session *session, struct process *process,
				 const struct mapping *mapping)
{
	pid_t pid = session->options->follow ? 0 : process->pid;
	struct dso *dso = session__find_dso(session, mapping->device, mapping->inode, pid);
	char path[128];
	int err;

	proc__map_file(process->pid, mapping, path, sizeof(path));
	if (!dso)
		dso = session__add_dso(session, mapping, path, pid);
	if (!dso) {
		err = errno ? -errno : -ENOMEM;
		session__miss(session, process->pid, "%s can't be read: %s", mapping->path,
			      strerror(-err));
		return err;
	}
	if (!dso->binary)
		return 0;
	process__attach_loaded(session, process, dso, path);
	if (!dso->binary->has_points || process__was_told(process, dso->id, mapping->start))
		return 0;
	if (!process__matches(process, dso, mapping->start)) {
		if (!session->refusal)
			session->refusal = sentence__new(
				"%s was changed since process %d started (its points are elsewhere "
				"in memory): restart the process",
				dso->binary->path, process->pid);
		return 0;
	}
	session->points_found = true;
	if (!dso->told)
		session__tell_dso(session, dso);
	session__tell_map(session, process, dso, mapping->start);
	err = process__remember(process, dso->id, mapping->start);
	if (!err && !dso->flush)
		err = dso__attach_flush(session, process, dso, path);
	if (!err)
		err = session__adopt_rings(session, process,
					   dso__run_time_address(dso, mapping->start));
	if (!err && session->gates_open && !dso->gates) {
		err = dso__open_gates(session, process, dso, path);
		if (!err)
			session__miss_first(session, process, dso);
	}
	return err;
}

int session__scan(struct session *session, struct process *process)
{
	struct mappings mappings;
	size_t i;
	int err = proc__mappings(process->pid, &mappings);

	process->unread = err || !mappings.count;
	if (err)
		return err == -ENOENT || err == -ESRCH ? 0 : err;
	process__forget_unmapped(session, process, &mappings);
	for (i = 0; i < mappings.count && (!err || session->started); i++)
		err = session__take_mapping(session, process, &mappings.all[i]);
	session__bind_process(session, process->pid, &mappings);
	proc__free_mappings(&mappings);
	stacks__scan(session, process->pid);
	return err;
}

int session__scan_file(struct session *session, pid_t runner, const char *path)
{
	pid_t pid = session->options->follow ? 0 : runner;
	struct mapping mapping;
	struct dso *dso;

	if (proc__file_identity(path, &mapping))
		return 0; /* running it will tell why not */
	dso = session__find_dso(session, mapping.device, mapping.inode, pid);
	if (!dso)
		dso = session__add_dso(session, &mapping, path, pid);
	if (!dso)
		return -ENOMEM;
	if (!dso->binary || !dso->binary->has_points)
		session__bind_file(session, path);
	if (!dso->binary)
		return 0;
	process__attach_loaded(session, session__find_process(session, runner), dso, path);
	if (!dso->binary->has_points)
		return 0;
	session->points_found = true;
	if (!dso->told)
		session__tell_dso(session, dso);
	return dso->flush ? 0
			  : dso__attach_flush(session, session__find_process(session, runner), dso,
					      path);
}

/* --- gates ------------------------------------------------------------------------------------ */

int session__open_gates(struct session *session)
{
	struct dso *dso;
	char path[4096];
	int err;

	session->gates_open = true;
	for (dso = session->dsos; dso; dso = dso->next) {
		if (!dso->flush || dso->gates || session__path_of(session, dso, path, sizeof(path)))
			continue;
		err = dso__open_gates(session, NULL, dso, path);
		if (err)
			return err;
	}
	return 0;
}

int session__change_how(struct session *session)
{
	struct probe_site sites[SITES_MAX];
	struct probe *before;
	struct dso *dso;
	char path[4096];
	size_t count;
	int err = 0;

	for (dso = session->dsos; dso && !err; dso = dso->next) {
		if (!dso->gates || session__path_of(session, dso, path, sizeof(path)))
			continue;
		before = dso->how;
		dso->how = NULL;
		count = dso__how_sites(session, dso->binary, sites);
		/* the new ones first: the count must not be 0 in between, which is one in 65,536 */
		if (count)
			err = probe__attach(&dso->how, session, session->bpf->progs.gate, path,
					    dso->pid, sites, count);
		if (err)
			dso->how = before;
		else
			probe__detach(before);
	}
	if (err)
		say__error("the sampling rate can't be changed: %s", strerror(-err));
	return err;
}

/* takes one probe of each DSO, given by its place in the struct, and detaches them together */
static void session__detach_from_dsos(struct session *session, size_t place, struct probe **others,
				      size_t count)
{
	struct probe **all = calloc(session->dso_count + count + 1, sizeof(*all)), **one;
	struct dso *dso;
	size_t used = 0;

	for (dso = session->dsos; dso; dso = dso->next) {
		one = (struct probe **)((char *)dso + place);
		if (all)
			all[used++] = *one;
		else
			probe__detach(*one);
		*one = NULL;
	}
	if (all && count)
		memcpy(all + used, others, count * sizeof(*others));
	if (all)
		probe__detach_all(all, used + count);
	else
		probe__detach_all(others, count);
	free(all);
}

void session__close_gates(struct session *session)
{
	session->gates_open = false;
	session__detach_from_dsos(session, offsetof(struct dso, gates), NULL, 0);
	/* after the last record that a stack belongs to */
	session__detach_from_dsos(session, offsetof(struct dso, stacks), NULL, 0);
	session__detach_from_dsos(session, offsetof(struct dso, how), NULL, 0);
}

void session__detach_flush(struct session *session)
{
	struct process *process;

	session__end_shedding(session);
	for (process = session->processes; process; process = process->next) {
		if (process->linker_count)
			session__retire_probes(session, process);
		process->linker_count = 0;
	}
	session__detach_from_dsos(session, offsetof(struct dso, loaded), NULL, 0);
	session__detach_from_dsos(session, offsetof(struct dso, flush), session->retired,
				  session->retired_count);
	free(session->retired);
	session->retired = NULL;
	session->retired_count = 0;
}

void session__forget_targets(struct session *session)
{
	struct dso *dso;

	while (session->processes)
		session__remove_process(session, session->processes->pid);
	while ((dso = session->dsos)) {
		session->dsos = dso->next;
		if (dso->binary)
			binary__free(dso->binary);
		free(dso);
	}
}
