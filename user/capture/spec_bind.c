// SPDX-License-Identifier: BSD-2-Clause
/*
 * A spec meets a binary: is it for it, where do its probes go, what are they compiled to, attach.
 *
 * All probes of a binary hold for every process that maps it, as gates do (target.c), unless
 * children are not followed; the programs look at targets only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../base/say.h"
#include "bpf/spec.skel.h"
#include "specs.h"

#define TRACEPOINTS "/sys/kernel/tracing/events"

/* --- recognising ------------------------------------------------------------------------------ */

static const char *file__base(const struct spec_file *file)
{
	const char *slash = strrchr(file->path, '/');

	return slash ? slash + 1 : file->path;
}

static void count_match(void *ctx, const struct symbol *symbol)
{
	(void)symbol;
	++*(size_t *)ctx;
}

static bool symbol__is_there(struct spec_file *file, const char *pattern)
{
	struct symbols *symbols = spec_file__symbols(file);
	const struct symbol *symbol;
	size_t count = 0;

	if (!symbols)
		return false;
	if (!strpbrk(pattern, "*?:(")) {
		symbol = symbols__find(symbols, pattern);
		return symbol && symbol->is_function;
	}
	symbols__match(symbols, pattern, false, count_match, &count);
	return count > 0;
}

static bool usdt__is_there(struct spec_file *file, const char *provider)
{
	const struct binary *binary = spec_file__binary(file);

	for (size_t i = 0; binary && i < binary->usdt_count; i++) {
		if (pattern__matches(provider, binary->usdt[i].provider))
			return true;
	}
	return false;
}

static bool recogniser__fits(const struct recogniser *recogniser, struct spec_file *file)
{
	struct symbols *symbols;

	switch (recogniser->kind) {
	case RECOGNISE_FILE:
		return pattern__matches(recogniser->pattern, file__base(file));
	case RECOGNISE_SECTION:
		symbols = spec_file__symbols(file);
		return symbols && symbols__has_section(symbols, recogniser->pattern);
	case RECOGNISE_USDT:
		return usdt__is_there(file, recogniser->pattern);
	default:
		return symbol__is_there(file, recogniser->pattern);
	}
}

bool spec__recognises(const struct spec *spec, struct spec_file *file)
{
	const struct recogniser *recogniser;

	for (recogniser = spec->recognisers; recogniser; recogniser = recogniser->next) {
		if (recogniser__fits(recogniser, file))
			return true;
	}
	return false;
}

/* --- one probe in one binary ------------------------------------------------------------------ */

static uint32_t specs__text(void *ctx, const char *const *texts, uint32_t count)
{
	struct specs *specs = ctx;
	uint32_t first = specs->text_count, i;
	char **more;

	for (i = 0; count == 1 && i < specs->text_count; i++) {
		if (specs->texts[i] && !strcmp(specs->texts[i], texts[0]))
			return i;
	}
	if (specs->text_count + count > specs->text_room) {
		more = reallocarray(specs->texts, specs->text_count + count + 256, sizeof(*more));
		if (!more)
			return UINT32_MAX; /* shown as unnamed */
		specs->texts = more;
		specs->text_room = specs->text_count + count + 256;
	}
	for (i = 0; i < count; i++)
		specs->texts[specs->text_count++] = texts[i] ? strdup(texts[i]) : NULL;
	return first;
}

static void attachment__fail(struct spec_attachment *attachment, enum probe_status status,
			     char *why)
{
	attachment->status = status;
	if (attachment->why)
		free(why);
	else
		attachment->why = why;
}

static int attachment__priority(const struct spec_attachment *attachment)
{
	static const char *const order[] = {"frame", "counter", "zone",	  "marker", "flow",
					    "lock",  "steal",	"future", "worker", "task"};
	const struct action *action;
	const struct rule *rule;
	int best = 0, i;

	if (attachment->probe->priority >= 0)
		return attachment->probe->priority;
	for (rule = attachment->probe->rules; rule; rule = rule->next) {
		for (action = rule->actions; action; action = action->next) {
			if (action->kind != ACTION_EVENT) {
				best = 9; /* others depend on what it keeps */
				continue;
			}
			for (i = 0; i < 10; i++) {
				if (!strcmp(order[i], action->event->category) && i > best)
					best = i;
			}
		}
	}
	return best;
}

static bool expr__looks_back(const struct expr *expr)
{
	return expr &&
	       (expr->kind == EXPR_KEPT || expr->kind == EXPR_KEYED || expr__looks_back(expr->a) ||
		expr__looks_back(expr->b) || expr__looks_back(expr->c));
}

/*
 * A return that wants what a thread kept at the entry means: before the rules of the entry changed
 * it. Of several probes on one instruction the kernel runs the newest first, and returns stand
 * behind entries in a spec; but it must not be moved behind an entry's own place.
 */
static bool probe__looks_back(const struct spec_probe *probe)
{
	uint32_t i;

	for (i = 0; i < probe->entry_count; i++) {
		if (expr__looks_back(probe->entries[i]))
			return true;
	}
	return false;
}

static bool sites__add(struct specs_sites *sites, struct probe_site site, uint64_t cookie)
{
	struct probe_site *more = reallocarray(sites->all, sites->count + 1, sizeof(*more));
	uint64_t *cookies;

	if (!more)
		return false;
	sites->all = more;
	cookies = reallocarray(sites->cookies, sites->count + 1, sizeof(*cookies));
	if (!cookies)
		return false;
	sites->cookies = cookies;
	more[sites->count] = site;
	cookies[sites->count++] = cookie;
	return true;
}

static void sites__free(struct specs_sites *sites)
{
	free(sites->all);
	free(sites->cookies);
	*sites = (struct specs_sites){0};
}

/* A function that is nothing but a ret: its begin stands there too, and shall run first. */
static bool place__is_whole_function(const struct place *place, const struct spec_probe *probe)
{
	return probe->kind == PLACE_RETURN && !place->saves_entry && !place->no_retval &&
	       place->address == place->begin;
}

/* a function whose begin can't be probed has no probed returns either: they would end nothing */
static void attachment__leave_out(struct spec_attachment *attachment, const struct place *place,
				  struct symbols *symbols)
{
	const struct symbol *symbol = symbols__at(symbols, place->begin);

	attachment->left_out = place->function + 1;
	if (!attachment->why)
		attachment->why = sentence__new("%s begins with a prefix that the kernel takes no "
						"probe on",
						symbol ? symbol->name : "it");
}

/* compiles one place and adds its site; false: it has failed, or is not needed */
static bool attachment__add_place(struct session *session, struct spec_attachment *attachment,
				  struct place *place)
{
	struct specs *specs = session->specs;
	bool nop5 = session->features.nop5_is_optimised;
	struct site site = {
		.spec = attachment->spec,
		.probe = attachment->probe,
		.symbols = spec_file__symbols(attachment->file),
		.version = attachment->file->version,
		.address = place->address,
		.begin = place->begin,
		.args = place->args,
		.categories = session->options->categories,
		.function = specs->functions + place->function,
		.saves_entry = place->saves_entry,
		.no_retval = place->no_retval,
		.text = specs__text,
		.ctx = specs,
	};
	size_t begin = specs->code.count;

	if (attachment->left_out == place->function + 1)
		return true;
	if (compile__site(&specs->code, &site)) {
		/* a return through a jump has no result: the others have */
		if (!place->no_retval)
			attachment__fail(attachment, PROBE_FAILED, site.why);
		else
			free(site.why);
		return place->no_retval;
	}
	if (!site.events && !site.actions) {
		specs->code.count = begin;
		attachment__fail(attachment, PROBE_NOT_ASKED, NULL);
		return false;
	}
	if ((attachment->probe->kind == PLACE_ENTRY && !attachment->probe->offset) ||
	    place->saves_entry) {
		if (!place->saves_entry || !probe__looks_back(attachment->probe))
			place__move(place, site.symbols, site.reads, nop5);
		/* what it computes from its own address, or the stack's, is another now */
		if ((site.is_fixed && place->address != site.address) ||
		    (site.reads & READS_CALLER && place->shift)) {
			site.address = place->address;
			site.shift = place->shift;
			specs->code.count = begin;
			if (compile__site(&specs->code, &site)) {
				attachment__fail(attachment, PROBE_FAILED, site.why);
				return false;
			}
		}
		/* of many functions that fit one or two may be such: the others count */
		if (place->cost == INSN_UNFIT) {
			specs->code.count = begin;
			attachment__leave_out(attachment, place, site.symbols);
			return true;
		}
		if (place->cost == INSN_REFUSED && nop5) {
			attachment__fail(attachment, PROBE_FAILED,
					 sentence__new("it begins with a 5-byte nop, on which this "
						       "kernel's probes damage the program"));
			specs->code.count = begin;
			return false;
		}
	}
	if (!sites__add(place__is_whole_function(place, attachment->probe) ? &attachment->first
									   : &attachment->rest,
			(struct probe_site){place->offset, place->count},
			SPEC_COOKIE(attachment->number, begin)))
		return false;
	if (place->cost > attachment->cost)
		attachment->cost = place->cost;
	return true;
}

int specs__load_code(struct specs *specs)
{
	int fd = bpf_map__fd(specs->bpf->maps.code), err;
	uint32_t key;

	if (specs->code.count > SPEC_CODE)
		return -E2BIG;
	for (; specs->code_loaded < specs->code.count; specs->code_loaded++) {
		key = (uint32_t)specs->code_loaded;
		err = bpf_map_update_elem(fd, &key, &specs->code.all[key], BPF_ANY);
		if (err)
			return err;
	}
	return 0;
}

/* semaphores and ordinary sites cannot be mixed in one link */
static void attachment__link(struct session *session, struct spec_attachment *attachment,
			     const struct specs_sites *sites)
{
	struct spec_bpf *bpf = session->specs->bpf;
	const struct bpf_program *program = session->features.sleepable_uprobe
						    ? bpf->progs.spec_probe
						    : bpf->progs.spec_probe_atomic;
	bool one = !session->options->follow && session->options->pid_count == 1;
	pid_t pid = one ? attachment->file->pid : 0;
	char path[64];
	struct probe *link;
	int err;

	if (attachment->status != PROBE_ATTACHED || !sites->count)
		return;
	spec_file__way(attachment->file, path, sizeof(path));
	err = probe__attach_cookies(&link, session, program, path, pid, sites->all, sites->cookies,
				    sites->count);
	if (err)
		attachment__fail(attachment, PROBE_FAILED, sentence__new("%s", strerror(-err)));
	else
		attachment->link = probe__join(link, attachment->link);
}

static void attachment__compile(struct session *session, struct spec_attachment *attachment)
{
	struct places places;
	size_t i;
	int err;

	err = places__find(
		&places, attachment->probe, spec_file__symbols(attachment->file),
		attachment->probe->kind == PLACE_USDT ? spec_file__binary(attachment->file) : NULL,
		session->features.nop5_is_optimised);
	for (i = 0; !err && i < places.count && attachment->status == PROBE_ATTACHED; i++) {
		if (!attachment__add_place(session, attachment, &places.all[i]))
			break;
	}
	session->specs->functions += places.functions;
	if (attachment->status == PROBE_ATTACHED && !attachment->why) {
		attachment->why = places.why;
		places.why = NULL;
	}
	if (attachment->status == PROBE_ATTACHED && attachment->why) {
		if (!attachment->first.count && !attachment->rest.count)
			attachment->status = places.functions ? PROBE_FAILED : PROBE_ABSENT;
	}
	if (!err && attachment->status == PROBE_ATTACHED)
		err = specs__load_code(session->specs);
	if (err)
		attachment__fail(attachment, PROBE_FAILED, sentence__new("%s", strerror(-err)));
	places__free(&places);
}

static void attachment__finish(struct spec_attachment *attachment)
{
	if (attachment->status == PROBE_ATTACHED) {
		attachment->sites = (uint32_t)(attachment->first.count + attachment->rest.count);
	} else {
		probe__detach(attachment->link);
		attachment->link = NULL;
	}
	sites__free(&attachment->first);
	sites__free(&attachment->rest);
}

static struct spec_attachment *specs__attachment(struct specs *specs, const struct spec *spec,
						 const struct spec_probe *probe,
						 struct spec_file *file)
{
	struct spec_attachment *attachment = calloc(1, sizeof(*attachment)), **last;

	if (!attachment)
		return NULL;
	attachment->spec = spec;
	attachment->probe = probe;
	attachment->file = file;
	attachment->number = specs->attachment_count++ & (SPEC_PROBES - 1);
	attachment->priority = attachment__priority(attachment);
	for (last = &specs->attachments; *last; last = &(*last)->next)
		;
	return *last = attachment;
}

/* --- binaries --------------------------------------------------------------------------------- */

/* probes that are for files with certain names go to those, once the runtime is known to be there
 */
static bool probe__is_for(const struct spec_probe *probe, const struct spec_file *file,
			  bool recognised)
{
	if (probe->kind == PLACE_TRACEPOINT)
		return false;
	if (probe->file)
		return pattern__matches(probe->file, file__base(file));
	return recognised;
}

void specs__tell_cost(struct session *session)
{
	struct specs *specs = session->specs;
	int err;

	if (specs->costs.known || specs->costs.tried)
		return;
	specs->costs.tried = true;
	err = specs__measure(session);
	if (err) {
		say__verbose("what a hit costs can't be measured: %s", strerror(-err));
		return;
	}
	say__info("a hit costs here %.1f us on a nop or push, %.1f us on a ret, %.1f us on another "
		  "instruction",
		  specs->costs.emulated_ns / 1000, specs->costs.return_ns / 1000,
		  specs->costs.stepped_ns / 1000);
}

/*
 * Of several probes on one instruction the kernel runs the newest first. What keeps a thread's
 * values at the entry has to run before the rules that change them, so it comes last; the return of
 * a function that is a single ret after the rules of its begin, so it comes first.
 */
static void specs__bind(struct session *session, struct spec *spec, struct spec_file *file)
{
	struct spec_attachment *attachment, *ours = NULL;
	const struct spec_probe *probe;
	bool recognised = !spec->recognisers || spec__recognises(spec, file);

	for (probe = spec->probes; probe; probe = probe->next) {
		if (!probe__is_for(probe, file, recognised) || !spec_file__symbols(file))
			continue;
		specs__tell_cost(session);
		file->version = spec_file__version(file, spec);
		attachment = specs__attachment(session->specs, spec, probe, file);
		if (!attachment)
			break;
		if (!ours)
			ours = attachment;
		attachment__compile(session, attachment);
	}
	for (attachment = ours; attachment; attachment = attachment->next)
		attachment__link(session, attachment, &attachment->first);
	for (attachment = ours; attachment; attachment = attachment->next) {
		attachment__link(session, attachment, &attachment->rest);
		attachment__finish(attachment);
		/* a probe for any binary says of each that it is not the one: nobody
		 * wants to know */
		attachment->hidden = attachment->status == PROBE_ABSENT &&
				     (!spec->recognisers || attachment->probe->file);
		spec->has_news |= !attachment->hidden;
	}
}

/* specs that this binary shows to be at work in the process */
static void session__recognise(struct session *session, struct spec_file *file)
{
	struct spec *spec;

	if (file->looked_at || file->fd < 0)
		return;
	file->looked_at = true;
	for (spec = session->specs->all; spec; spec = spec->next) {
		if (!spec->in_use && spec__recognises(spec, file)) {
			if (specs__need_programs(session))
				return;
			spec->in_use = true;
			specs__bind_tracepoints(session, spec);
		}
	}
}

static void session__bind(struct session *session, struct spec_file *file)
{
	struct spec *spec;

	if (file->fd < 0)
		return;
	for (spec = session->specs->all; spec; spec = spec->next) {
		if (!spec->in_use || file->bound & 1ULL << spec->index)
			continue;
		file->bound |= 1ULL << spec->index;
		specs__bind(session, spec, file);
	}
}

void session__bind_process(struct session *session, pid_t pid, const struct mappings *mappings)
{
	struct specs *specs = session->specs;
	struct spec_file *file;
	char path[128];
	size_t i;

	if (!specs || session->finishing)
		return;
	if (specs->automatic && session->points_found) {
		specs__give_way(specs);
		return;
	}
	specs__unmap(specs, pid);
	for (i = 0; i < mappings->count; i++) {
		const struct mapping *mapping = &mappings->all[i];

		proc__map_file(pid, mapping, path, sizeof(path));
		file = specs__file(specs, mapping->device, mapping->inode, path, mapping->path,
				   pid);
		if (!file)
			continue;
		specs__map(specs, pid, mapping->start, file);
		session__recognise(session, file);
	}
	for (i = 0; i < mappings->count; i++) {
		file = specs__file(specs, mappings->all[i].device, mappings->all[i].inode, "", "",
				   pid);
		if (file)
			session__bind(session, file);
	}
	if (specs->told)
		session__say_specs(session, true);
}

void session__bind_file(struct session *session, const char *path)
{
	struct mapping mapping;
	struct spec_file *file;
	char *real;

	/* the tracer's own file is only looked at for its dynamic linker */
	if (!session->specs || (session->specs->automatic && session->points_found) ||
	    !strcmp(path, "/proc/self/exe") || proc__file_identity(path, &mapping))
		return;
	real = realpath(path, NULL);
	file = specs__file(session->specs, mapping.device, mapping.inode, path, real ? real : path,
			   0);
	free(real);
	if (!file)
		return;
	session__recognise(session, file);
	session__bind(session, file);
}

/* --- tracepoints ------------------------------------------------------------------------------ */

static char *format__read(const char *category, const char *name)
{
	char path[256], *text = calloc(1, 1 << 14);
	FILE *file;

	snprintf(path, sizeof(path), TRACEPOINTS "/%s/%s/format", category, name);
	file = fopen(path, "re");
	if (!file) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/tracing/events/%s/%s/format",
			 category, name);
		file = fopen(path, "re");
	}
	if (file && text && !fread(text, 1, (1 << 14) - 1, file))
		text[0] = '\0';
	if (file)
		fclose(file);
	if (text && !text[0]) {
		free(text);
		return NULL;
	}
	return text;
}

static void tracepoint__attach(struct session *session, struct spec_attachment *attachment)
{
	const struct spec_probe *probe = attachment->probe;
	struct specs *specs = session->specs;
	size_t begin = specs->code.count;
	char *format = format__read(probe->provider, probe->pattern);
	struct site site = {
		.spec = attachment->spec,
		.probe = probe,
		.format = format,
		.categories = session->options->categories,
		.text = specs__text,
		.ctx = specs,
	};
	LIBBPF_OPTS(bpf_tracepoint_opts, options, );
	int err;

	if (!format) {
		attachment__fail(attachment, PROBE_ABSENT,
				 sentence__new("this kernel has no such tracepoint"));
		return;
	}
	if (compile__site(&specs->code, &site)) {
		attachment__fail(attachment, PROBE_FAILED, site.why);
		goto out;
	}
	err = specs__load_code(specs);
	options.bpf_cookie = SPEC_COOKIE(attachment->number, begin);
	attachment->tracepoints = calloc(1, sizeof(*attachment->tracepoints));
	if (!err && attachment->tracepoints)
		attachment->tracepoints[0] = bpf_program__attach_tracepoint_opts(
			specs->bpf->progs.spec_tracepoint, probe->provider, probe->pattern,
			&options);
	if (err || !attachment->tracepoints || !attachment->tracepoints[0])
		attachment__fail(attachment, PROBE_FAILED,
				 sentence__new("%s", strerror(err ? -err : errno)));
	else
		attachment->sites = (uint32_t)(attachment->tracepoint_count = 1);
out:
	free(format);
}

void specs__bind_tracepoints(struct session *session, struct spec *spec)
{
	struct spec_attachment *attachment;
	const struct spec_probe *probe;

	for (probe = spec->probes; probe; probe = probe->next) {
		if (probe->kind != PLACE_TRACEPOINT)
			continue;
		attachment = specs__attachment(session->specs, spec, probe, NULL);
		if (attachment)
			tracepoint__attach(session, attachment);
		spec->has_news = true;
	}
}
