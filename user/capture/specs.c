// SPDX-License-Identifier: BSD-2-Clause
/*
 * The BPF side of probe specs, and their records on the way to the file.
 *
 * The programs write into the same per-CPU buffers as the ones that drain rings, and look at the
 * same set of targets: those two tables are taken over from the other object. A record leaves here
 * complete: numbers of texts and addresses of functions have become strings, so a reader needs
 * nothing else.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../base/say.h"
#include "../base/utf8.h"
#include "bpf/spec.skel.h"
#include "specs.h"

#define RECORD_MAX (sizeof(struct rec_foreign) + 4 * 1024)
#define NAME_MAX_BYTES 1000

const char *probe_status__word(enum probe_status status)
{
	static const char *const words[] = {"attached", "absent", "failed", "left out",
					    "not asked for"};

	return words[status];
}

/* --- loading ---------------------------------------------------------------------------------- */

static void specs__give_slots(struct specs *specs)
{
	uint32_t kept = 0, keyed = 0, index = 0;
	struct spec *spec;

	for (spec = specs->all; spec; spec = spec->next) {
		spec->index = index++ & 63;
		spec->kept_base = kept;
		spec->keyed_base = keyed;
		kept += spec->kept_count;
		keyed += spec->keyed_count;
	}
}

static int specs__slots_needed(const struct specs *specs)
{
	const struct spec *spec;
	uint32_t kept = 0;

	for (spec = specs->all; spec; spec = spec->next)
		kept += spec->kept_count;
	return (int)kept;
}

static int specs__load(struct session *session)
{
	struct specs *specs = session->specs;
	const struct features *features = &session->features;
	struct spec_bpf *bpf = specs->bpf = spec_bpf__open();
	struct bpf_program *probe;
	int err;

	if (!bpf)
		return -errno;
	probe = features->sleepable_uprobe ? bpf->progs.spec_probe : bpf->progs.spec_probe_atomic;
	features__use_uprobe(features, probe);
	bpf_program__set_autoload(bpf->progs.spec_tracepoint, true);
	bpf->rodata->wake_bytes = session->buffer_size / 8;
	bpf->rodata->sample_below = 1U << session->sample_level;
	err = bpf_map__reuse_fd(bpf->maps.targets, bpf_map__fd(session->bpf->maps.targets));
	if (!err)
		err = bpf_map__reuse_fd(bpf->maps.buffers, bpf_map__fd(session->bpf->maps.buffers));
	return err ? err : spec_bpf__load(bpf);
}

void specs__arm(struct specs *specs, bool on)
{
	if (specs->bpf && !specs->refused)
		__atomic_store_n(&specs->bpf->bss->armed, on && !specs->gave_way, __ATOMIC_RELEASE);
}

/* what no target needs is not loaded */
int specs__need_programs(struct session *session)
{
	int err;

	if (session->specs->bpf)
		return session->specs->refused;
	err = session->specs->refused = specs__load(session);
	if (!err)
		specs__arm(session->specs, session->specs->told);
	if (err)
		say__error("the kernel refuses the BPF programs of probe specs (%s); -vv shows its "
			   "words, and 'tracer doctor' what is missing",
			   strerror(-err));
	return err;
}

int session__load_specs(struct session *session)
{
	const struct capture_options *options = session->options;
	struct specs *specs;
	struct spec *spec;
	int err;

	if (!options->specs)
		return 0;
	specs = session->specs = calloc(1, sizeof(*specs));
	if (!specs)
		return -ENOMEM;
	specs->all = options->specs;
	specs->automatic = options->specs_automatic;
	specs__give_slots(specs);
	if (specs__slots_needed(specs) > SPEC_KEPT) {
		say__error("the specs keep more than %d values of a thread; name fewer of them "
			   "(--runtime, --spec)",
			   SPEC_KEPT);
		return -E2BIG;
	}
	if (specs->automatic)
		return 0;
	err = specs__need_programs(session);
	for (spec = specs->all; spec && !err; spec = spec->next) {
		spec->in_use = true;
		specs__bind_tracepoints(session, spec);
	}
	/* now: later it would keep processes waiting that the dynamic linker's probe holds */
	if (!err)
		specs__tell_cost(session);
	return err;
}

/* --- records ---------------------------------------------------------------------------------- */

static const char *specs__symbol(struct specs *specs, pid_t pid, uint64_t address)
{
	char *name = map__get(&specs->names, (uint64_t)pid, address);

	if (name)
		return name;
	name = specs__name(specs, pid, address);
	if (!name)
		name = sentence__new("0x%llx", (unsigned long long)address);
	if (name && map__put(&specs->names, (uint64_t)pid, address, name)) {
		free(name);
		return NULL;
	}
	return name;
}

static const char *specs__text_of(struct specs *specs, const struct rec_foreign *record, int i)
{
	if (record->kinds[i] == REC_FOREIGN_SYMBOL)
		return specs__symbol(specs, (pid_t)record->pid, record->args[i]);
	return record->args[i] < specs->text_count ? specs->texts[record->args[i]] : NULL;
}

void session__take_foreign(struct session *session, const void *from, size_t size)
{
	union {
		struct rec_foreign record;
		char bytes[RECORD_MAX];
	} out;
	struct specs *specs = session->specs;
	const struct rec_foreign *in = from;
	size_t at = 0, to = 0, room = size - sizeof(*in);
	int i;

	if (!specs || size < sizeof(*in))
		return;
	out.record = *in;
	for (i = 0; i < 4; i++) {
		const char *text = (const char *)in->data + at;
		size_t len = in->lens[i];

		if (in->kinds[i] == REC_FOREIGN_SYMBOL || in->kinds[i] == REC_FOREIGN_TEXT) {
			text = specs__text_of(specs, in, i);
			len = text ? strnlen(text, NAME_MAX_BYTES) : 0;
			out.record.kinds[i] = text ? REC_FOREIGN_STRING : REC_FOREIGN_NULL;
		} else {
			if (len > room - at)
				len = room - at;
			at += len;
		}
		if (text && len)
			memcpy((char *)out.record.data + to, text, len);
		/* a runtime's strings may be of any coding; a cut one may end in half a letter */
		utf8__clean((char *)out.record.data + to, len);
		out.record.lens[i] = (uint16_t)len;
		to += len;
	}
	out.record.h.size = (uint32_t)(sizeof(out.record) + to);
	file_writer__record(session->writer, &out, out.record.h.size);
	specs->records++;
}

uint64_t session__foreign_records(const struct session *session)
{
	return session->specs ? session->specs->records : 0;
}

/* --- end -------------------------------------------------------------------------------------- */

static uint64_t specs__counter(const struct session *session, const struct bpf_map *map,
			       uint32_t key)
{
	uint64_t *values = calloc((size_t)session->cpus, sizeof(*values)), sum = 0;
	int cpu;

	if (values && !bpf_map_lookup_elem(bpf_map__fd(map), &key, values)) {
		for (cpu = 0; cpu < session->cpus; cpu++)
			sum += values[cpu];
	}
	free(values);
	return sum;
}

void specs__read_hits(struct session *session)
{
	struct spec_attachment *attachment;

	for (attachment = session->specs->attachments; attachment; attachment = attachment->next)
		attachment->hits =
			specs__counter(session, session->specs->bpf->maps.hits, attachment->number);
}

/* hits on which the kernel did not run the program: each may have been an event */
static uint64_t program__missed(const struct bpf_program *program)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);
	int fd = bpf_program__fd(program);

	return fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) ? info.recursion_misses : 0;
}

static uint64_t specs__lost(const struct session *session)
{
	const struct spec_bpf *bpf = session->specs->bpf;

	return specs__counter(session, bpf->maps.spec_counters, SPEC_LOST) +
	       program__missed(bpf->progs.spec_probe) +
	       program__missed(bpf->progs.spec_probe_atomic) +
	       program__missed(bpf->progs.spec_tracepoint);
}

static void specs__wait_for_leaving(struct specs *specs)
{
	if (specs->is_leaving)
		pthread_join(specs->thread, NULL);
	specs->is_leaving = false;
}

static void *specs__detach_leaving(void *ctx)
{
	struct specs *specs = ctx;

	probe__detach_all(specs->leaving, specs->leaving_count);
	free(specs->leaving);
	return NULL;
}

void specs__detach_aside(struct specs *specs, struct probe **probes, size_t count)
{
	specs__wait_for_leaving(specs);
	specs->leaving = probes;
	specs->leaving_count = count;
	specs->is_leaving = !pthread_create(&specs->thread, NULL, specs__detach_leaving, specs);
	if (!specs->is_leaving)
		specs__detach_leaving(specs);
}

/* the probes that are attached, which make no events any more; NULL: none, or no memory */
static struct probe **specs__let_go(struct specs *specs, size_t *count)
{
	struct probe **probes = calloc(specs->attachment_count + 1, sizeof(*probes));
	struct spec_attachment *attachment;
	uint32_t i;

	specs__arm(specs, false);
	*count = 0;
	for (attachment = specs->attachments; attachment; attachment = attachment->next) {
		for (i = 0; i < attachment->tracepoint_count; i++)
			bpf_link__destroy(attachment->tracepoints[i]);
		attachment->tracepoint_count = 0;
		if (probes && attachment->link)
			probes[(*count)++] = attachment->link;
		else
			probe__detach(attachment->link);
		attachment->link = NULL;
	}
	if (probes && specs->measured)
		probes[(*count)++] = specs->measured;
	else
		probe__detach(specs->measured);
	specs->measured = NULL;
	return probes;
}

void session__detach_specs(struct session *session)
{
	struct specs *specs = session->specs;
	struct probe **probes;
	size_t count;

	if (!specs)
		return;
	specs__wait_for_leaving(specs);
	probes = specs__let_go(specs, &count);
	if (probes)
		probe__detach_all(probes, count);
	free(probes);
}

void specs__give_way(struct specs *specs)
{
	const struct spec_attachment *attachment = specs->attachments;
	struct probe **probes;
	size_t count;

	/* the recorder may not have begun yet; when it does it arms what is there */
	specs->gave_way = true;
	while (attachment && !attachment->link)
		attachment = attachment->next;
	if (!attachment)
		return;
	probes = specs__let_go(specs, &count);
	if (probes)
		specs__detach_aside(specs, probes, count);
}

static struct json_object *attachment__json(const struct spec_attachment *attachment)
{
	struct json_object *json = json_object_new_object();

	json_object_object_add(json, "runtime", json_object_new_string(attachment->spec->name));
	json_object_object_add(json, "probe", json_object_new_string(attachment->probe->text));
	if (attachment->file)
		json_object_object_add(json, "binary",
				       json_object_new_string(attachment->file->path));
	json_object_object_add(json, "status",
			       json_object_new_string(probe_status__word(attachment->status)));
	if (attachment->why)
		json_object_object_add(json, "why", json_object_new_string(attachment->why));
	json_object_object_add(json, "sites", json_object_new_int64(attachment->sites));
	json_object_object_add(json, "hits", json_object_new_int64((int64_t)attachment->hits));
	return json;
}

void session__tell_specs(struct session *session, struct json_object *end)
{
	const struct spec_attachment *attachment;
	struct specs *specs = session->specs;
	struct json_object *probes;

	if (!specs || !specs->bpf)
		return;
	specs__read_hits(session);
	probes = json_object_new_array();
	for (attachment = specs->attachments; attachment; attachment = attachment->next) {
		if (!attachment->hidden)
			json_object_array_add(probes, attachment__json(attachment));
	}
	json_object_object_add(end, "probes", probes);
	json_object_object_add(end, "foreign_lost",
			       json_object_new_int64((int64_t)specs__lost(session)));
	json_object_object_add(end, "foreign_faults",
			       json_object_new_int64((int64_t)specs__counter(
				       session, specs->bpf->maps.spec_counters, SPEC_FAULTS)));
}

void session__unload_specs(struct session *session)
{
	struct specs *specs = session->specs;
	struct spec_attachment *attachment;
	struct map_entry *entry = NULL;
	uint32_t i;

	if (!specs)
		return;
	session__detach_specs(session);
	while ((attachment = specs->attachments)) {
		specs->attachments = attachment->next;
		free(attachment->tracepoints);
		free(attachment->why);
		free(attachment);
	}
	while ((entry = map__next(&specs->names, entry)))
		free(entry->value);
	map__free(&specs->names);
	for (i = 0; i < specs->text_count; i++)
		free(specs->texts[i]);
	free(specs->texts);
	free(specs->code.all);
	specs__free_files(specs);
	spec_bpf__destroy(specs->bpf);
	free(specs);
	session->specs = NULL;
}

/* --- what came of it -------------------------------------------------------------------------- */

bool session__specs_attached(const struct session *session)
{
	const struct spec_attachment *attachment;

	for (attachment = session->specs ? session->specs->attachments : NULL; attachment;
	     attachment = attachment->next) {
		if (attachment->status == PROBE_ATTACHED && attachment->sites)
			return true;
	}
	return false;
}

static void attachment__say(const struct spec_attachment *attachment)
{
	say__verbose("%s:%u: %s: %s%s%s%s%s", attachment->spec->source, attachment->probe->line,
		     attachment->probe->text, probe_status__word(attachment->status),
		     attachment->file ? " in " : "", attachment->file ? attachment->file->path : "",
		     attachment->why ? ": " : "", attachment->why ? attachment->why : "");
}

static void spec__say(const struct session *session, const struct spec *spec)
{
	const struct specs *specs = session->specs;
	const struct spec_attachment *attachment;
	unsigned int counts[5] = {0}, sites = 0;

	for (attachment = specs->attachments; attachment; attachment = attachment->next) {
		if (attachment->spec != spec || attachment->hidden)
			continue;
		counts[attachment->status]++;
		sites += attachment->sites;
		attachment__say(attachment);
		if (attachment->status == PROBE_FAILED)
			say__info("%s: %s: %s", spec->name, attachment->probe->text,
				  attachment->why ? attachment->why : "failed");
	}
	if (!counts[PROBE_ATTACHED] && !counts[PROBE_ABSENT] && !counts[PROBE_FAILED]) {
		if (!specs->automatic)
			say__info("%s: nothing in the target for it (yet)", spec->name);
		return;
	}
	say__info("%s%s: %u probes attached (%u places), %u absent, %u failed%s", spec->name,
		  specs->automatic ? " (recognised)" : "", counts[PROBE_ATTACHED], sites,
		  counts[PROBE_ABSENT], counts[PROBE_FAILED],
		  counts[PROBE_ABSENT] + counts[PROBE_FAILED] ? "; -v says which, and why" : "");
}

void session__say_specs(struct session *session, bool again)
{
	struct specs *specs = session->specs;
	struct spec *spec;

	if (!specs)
		return;
	specs->told = true;
	specs__arm(specs, true);
	if (specs->gave_way)
		return;
	for (spec = specs->all; spec; spec = spec->next) {
		if (spec->has_news || (!specs->automatic && !again))
			spec__say(session, spec);
		spec->has_news = false;
	}
}
