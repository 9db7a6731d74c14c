// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a hit costs on this machine, and what to do when hits cost too much.
 *
 * Measured with the programs that will run, on instructions of the tracer itself, before the
 * targets are attached to: some thousand hits of each kind. While the capture runs the probes'
 * hits, times that cost, are compared with the targets' CPU time once a second; beyond
 * --max-overhead the least important probe is detached, and the trace says so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "../base/event_type.h"
#include "../base/say.h"
#include "bpf/spec.skel.h"
#include "specs.h"

#define ROUNDS 10
#define HITS 100

#if defined(__x86_64__)
#define EMULATED "push %rax\n	pop %rax\n	ret\n"
#define STEPPED "mov %rax, %rax\n	ret\n"
#define RETURNS "ret\n"
#else
#define EMULATED "ret\n"
#define STEPPED "mov x9, x9\n	ret\n"
#define RETURNS "ret\n"
#endif

/* functions of one kind of first instruction each */
__asm__(".text\n"
	".balign 16\n"
	"	.type spec_cost_emulated, %function\n"
	"spec_cost_emulated:\n	" EMULATED "	.size spec_cost_emulated, . - spec_cost_emulated\n"
	"	.type spec_cost_stepped, %function\n"
	"spec_cost_stepped:\n	" STEPPED "	.size spec_cost_stepped, . - spec_cost_stepped\n"
	"	.type spec_cost_return, %function\n"
	"spec_cost_return:\n	" RETURNS "	.size spec_cost_return, . - spec_cost_return\n");

extern void spec_cost_emulated(void) __attribute__((visibility("hidden")));
extern void spec_cost_stepped(void) __attribute__((visibility("hidden")));
extern void spec_cost_return(void) __attribute__((visibility("hidden")));

/* where in the tracer's own file a function is; false: not to be found */
static bool own__offset(void (*function)(void), uint64_t *offset)
{
	unsigned long start, end, at, address = (unsigned long)function;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &at) == 3 && address >= start &&
		    address < end) {
			*offset = at + (address - start);
			found = true;
		}
	}
	if (maps)
		fclose(maps);
	return found;
}

static double hit__measure(void (*function)(void))
{
	double best = 0, round;
	uint64_t begin;
	int i, k;

	for (i = 0; i < ROUNDS; i++) {
		begin = now__monotonic();
		for (k = 0; k < HITS; k++)
			function();
		round = (double)(now__monotonic() - begin) / HITS;
		/* what is more is others' work on this CPU */
		if (!i || round < best)
			best = round;
	}
	return best;
}

int specs__measure(struct session *session)
{
	void (*const functions[])(void) = {spec_cost_emulated, spec_cost_stepped, spec_cost_return};
	struct specs *specs = session->specs;
	const struct bpf_program *program = session->features.sleepable_uprobe
						    ? specs->bpf->progs.spec_probe
						    : specs->bpf->progs.spec_probe_atomic;
	double *const results[] = {&specs->costs.emulated_ns, &specs->costs.stepped_ns,
				   &specs->costs.return_ns};
	uint32_t self = (uint32_t)getpid(), unused = 0, end = (uint32_t)specs->code.count;
	struct spec_insn nothing = {.op = OP_END};
	int targets = bpf_map__fd(session->bpf->maps.targets), err, i;
	struct probe_site sites[3] = {{0, 0}};
	uint64_t cookies[3];
	struct probe *probe = NULL;
	struct spec_insn *more;

	if (specs->costs.known)
		return 0;
	more = reallocarray(specs->code.all, specs->code.count + 64, sizeof(*more));
	if (!more)
		return -ENOMEM;
	specs->code.all = more;
	specs->code.room = specs->code.count + 64;
	more[specs->code.count++] = nothing;
	for (i = 0; i < 3; i++) {
		cookies[i] = SPEC_COOKIE(SPEC_PROBES - 1, end);
		if (!own__offset(functions[i], &sites[i].offset))
			return -ENOENT;
	}
	err = specs__load_code(specs);
	if (!err)
		err = probe__attach_cookies(&probe, session, program, "/proc/self/exe", (pid_t)self,
					    sites, cookies, 3);
	if (err)
		return err;
	bpf_map_update_elem(targets, &self, &unused, BPF_ANY);
	specs__arm(specs, true);
	for (i = 0; i < 3; i++)
		*results[i] = hit__measure(functions[i]);
	specs__arm(specs, specs->told);
	bpf_map_delete_elem(targets, &self);
	/* detaching waits for every program that sleeps, a thread that waits for us among them */
	specs->measured = probe;
	specs->costs.known = true;
	return 0;
}

double spec_attachment__cost(const struct specs *specs, const struct spec_attachment *attachment)
{
	if (attachment->probe->kind == PLACE_TRACEPOINT)
		return 300;
	return attachment->cost == INSN_EMULATED ? specs->costs.emulated_ns
						 : specs->costs.stepped_ns;
}

/* --- leaving probes out ----------------------------------------------------------------------- */

/* ns that its children have used which are gone; told in ticks */
static uint64_t children__cpu_time(pid_t pid)
{
	long user = 0, system = 0;
	char path[64], line[1024], *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	/* behind the name, which may have anything in it */
	end = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	if (!end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %ld %ld",
			   &user, &system) != 2)
		return 0;
	return (uint64_t)(user + system) * (1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* ns of CPU time of all targets, those that came and went among them if one that lives waited for them */
static uint64_t session__cpu_time(const struct session *session)
{
	const struct process *process;
	struct timespec own;
	uint64_t time = 0;
	clockid_t clock;

	for (process = session->processes; process; process = process->next) {
		if (clock_getcpuclockid(process->pid, &clock) || clock_gettime(clock, &own))
			continue;
		time += (uint64_t)own.tv_sec * 1000000000ULL + (uint64_t)own.tv_nsec;
		time += children__cpu_time(process->pid);
	}
	return time;
}

void session__tell_message(struct session *session, uint32_t pid, uint32_t tid, const char *text)
{
	struct rec_foreign *record;
	size_t len = strlen(text);

	record = calloc(1, sizeof(*record) + len);
	if (!record)
		return;
	record->h.size = (uint32_t)(sizeof(*record) + len);
	record->h.kind = REC_FOREIGN;
	record->h.time = now__boottime();
	record->pid = pid;
	record->tid = tid;
	record->type = EV_message;
	record->nargs = 1;
	record->kinds[0] = REC_FOREIGN_STRING;
	record->lens[0] = (uint16_t)len;
	memcpy(record->data, text, len);
	file_writer__record(session->writer, record, record->h.size);
	free(record);
}

static void attachment__leave_out(struct session *session, struct spec_attachment *attachment,
				  double percent)
{
	struct probe **leaving = malloc(sizeof(*leaving));
	char *text;

	if (leaving) {
		*leaving = attachment->link;
		specs__detach_aside(session->specs, leaving, 1);
	} else {
		probe__detach(attachment->link);
	}
	attachment->link = NULL;
	while (attachment->tracepoint_count)
		bpf_link__destroy(attachment->tracepoints[--attachment->tracepoint_count]);
	attachment->status = PROBE_LEFT_OUT;
	text = sentence__new(
		"probes cost %.1f %% of the target's time, more than %.4g %%: %s: %s is "
		"left out from here on",
		percent, session->options->max_overhead, attachment->spec->name,
		attachment->probe->text);
	if (!text)
		return;
	say__info("%s", text);
	session__tell_message(session, (uint32_t)session->first_pid, (uint32_t)session->first_pid,
			      text);
	free(text);
}

void session__watch_specs(struct session *session)
{
	struct spec_attachment *attachment, *worst = NULL;
	struct specs *specs = session->specs;
	double cost = 0, most = 0, own, percent;
	uint64_t cpu;

	if (specs) {
		specs__sweep(session);
		session__say_specs(session, true);
	}
	if (!specs || !specs->bpf || session->options->max_overhead <= 0 || !specs->costs.known)
		return;
	cpu = session__cpu_time(session);
	specs__read_hits(session);
	for (attachment = specs->attachments; attachment; attachment = attachment->next) {
		own = (double)(attachment->hits - attachment->hits_before) *
		      spec_attachment__cost(specs, attachment);
		attachment->hits_before = attachment->hits;
		cost += own;
		if (attachment->status != PROBE_ATTACHED || !own)
			continue;
		if (!worst || attachment->priority < worst->priority ||
		    (attachment->priority == worst->priority && own > most)) {
			worst = attachment;
			most = own;
		}
	}
	percent = cpu > specs->cpu_time ? cost * 100 / (double)(cpu - specs->cpu_time) : 0;
	specs->cpu_time = cpu;
	if (specs->watched && worst && percent > session->options->max_overhead)
		attachment__leave_out(session, worst, percent);
	specs->watched = now__monotonic();
}
