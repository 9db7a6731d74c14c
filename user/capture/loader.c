// SPDX-License-Identifier: BSD-2-Clause
/* The BPF side of a capture: which programs this kernel and this capture need, buffers, counters.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "../base/say.h"
#include "session.h"

#define TICK_HZ 50
/* a CPU that has not ticked for so long is not waited for */
#define TICK_MISSED_NS 1000000000ULL
#define FLIGHT_BUFFER_MAX (16ULL << 20) /* half a second of a million records a second */
#define BUFFER_MIN (256ULL << 10)

static uint64_t round_up_to_power(uint64_t size)
{
	uint64_t power = BUFFER_MIN; /* the longest chunk, some times */

	while (power < size)
		power *= 2;
	return power;
}

/* One call may hold the verifier's log: hundreds of lines. */
static int libbpf_says(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text, *rest, *line;

	if (say__level() < SAY_DEBUG || level == LIBBPF_DEBUG)
		return 0;
	if (vasprintf(&text, format, args) < 0)
		return 0;
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		if (*line)
			say__debug("libbpf: %s", line);
	}
	free(text);
	return 0;
}

static void session__choose_programs(struct session *session)
{
	const struct features *features = &session->features;
	struct tracer_bpf *bpf = session->bpf;
	struct bpf_program *uprobes[] = {
		features->sleepable_uprobe ? bpf->progs.flush : bpf->progs.flush_atomic,
		bpf->progs.gate,
		features->sleepable_uprobe ? bpf->progs.loaded : NULL,
		features->sleepable_uprobe ? bpf->progs.will_run : NULL,
	};
	const struct {
		struct bpf_program *program;
		bool use;
	} others[] = {
		{bpf->progs.leave_cpu, true},
		{bpf->progs.tick, features->tick},
		{bpf->progs.forked, true},
		{bpf->progs.prepare_exec, features->prepare_exec},
		{bpf->progs.enter_execve, !features->prepare_exec},
		{bpf->progs.enter_execveat, !features->prepare_exec},
		{bpf->progs.execed, true},
		{bpf->progs.exited, true},
		{bpf->progs.signalled, !features->exit_with_mm},
		{bpf->progs.enter_exit, !features->exit_with_mm},
		{bpf->progs.enter_exit_group, !features->exit_with_mm},
		{bpf->progs.each_task, true},
		{bpf->progs.switched, session->options->sched},
		{bpf->progs.waking, session->options->sched},
	};
	size_t i;

	for (i = 0; i < sizeof(uprobes) / sizeof(*uprobes); i++) {
		if (uprobes[i])
			features__use_uprobe(features, uprobes[i]);
	}
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		bpf_program__set_autoload(others[i].program, others[i].use);
}

static int session__make_buffers(struct session *session)
{
	int cpu, err;

	for (cpu = 0; cpu < session->cpus; cpu++) {
		err = buffer__open(&session->buffers[cpu], session->buffer_size);
		if (!err)
			err = bpf_map_update_elem(bpf_map__fd(session->bpf->maps.buffers), &cpu,
						  &session->buffers[cpu].fd, BPF_ANY);
		if (err)
			return err;
	}
	return 0;
}

int session__load(struct session *session)
{
	const struct rlimit no_limit = {RLIM_INFINITY, RLIM_INFINITY};
	const struct capture_options *options = session->options;
	struct tracer_bpf *bpf;
	int err, cpu;

	libbpf_set_print(libbpf_says);
	if (!session->features.root) {
		say__error("no permission to trace (BPF programs); %s",
			   geteuid() ? "run as root: sudo tracer ..., or with CAP_BPF, "
				       "CAP_PERFMON and CAP_SYS_ADMIN"
				     : "this root has not CAP_SYS_ADMIN, or the kernel is locked "
				       "down: run outside the container");
		return -EPERM;
	}
	setrlimit(RLIMIT_MEMLOCK, &no_limit); /* before Linux 5.11 maps count; may fail */
	session->cpus = libbpf_num_possible_cpus();
	session->buffer_size = options->buffer_size ? round_up_to_power(options->buffer_size)
						    : buffer_size__default(session->cpus);
	/* who asks for so much memory and no more does not mean many times that in buffers */
	if (!options->buffer_size && options->flight_size &&
	    session->buffer_size > FLIGHT_BUFFER_MAX)
		session->buffer_size = FLIGHT_BUFFER_MAX;
	session->buffers = calloc((size_t)session->cpus, sizeof(*session->buffers));
	for (cpu = 0; session->buffers && cpu < session->cpus; cpu++)
		session->buffers[cpu].fd = -1;
	bpf = session->bpf = tracer_bpf__open();
	if (!session->buffers || !bpf) {
		say__error("the BPF programs can't be opened: %s", strerror(errno));
		return -ENOMEM;
	}
	session__choose_programs(session);
	if (!session->features.lazy_maps) {
		bpf_map__set_map_flags(bpf->maps.targets, 0);
		bpf_map__set_map_flags(bpf->maps.ends, 0);
		bpf_map__set_max_entries(bpf->maps.ends, 1U << 15);
	}
	bpf->rodata->follow = options->follow;
	bpf->rodata->wake_bytes = session->buffer_size / 8;
	bpf->rodata->sched_tells_state = session->features.switch_state;
	bpf_map__set_max_entries(bpf->maps.buffers, (uint32_t)session->cpus);
	bpf_map__set_max_entries(bpf->maps.cpu_runs, (uint32_t)session->cpus);
	bpf_map__set_max_entries(bpf->maps.complete_to, (uint32_t)session->cpus);
	err = tracer_bpf__load(bpf);
	if (err) {
		say__error("the kernel refuses the BPF programs (%s); -vv shows its words, and "
			   "'tracer doctor' what is missing",
			   strerror(-err));
		return err;
	}
	err = session__load_holding(session);
	if (!err)
		err = session__make_buffers(session);
	if (err)
		say__error(
			"no memory for buffers of %llu KiB on each of %d CPUs (%s); try a smaller "
			"--buffer-size",
			(unsigned long long)session->buffer_size >> 10, session->cpus,
			strerror(-err));
	return err;
}

int session__add_link(struct session *session, const struct bpf_program *program)
{
	struct bpf_link **links, *link;

	if (!bpf_program__autoload(program))
		return 0;
	links = reallocarray(session->links, session->link_count + 1, sizeof(*links));
	if (!links)
		return -ENOMEM;
	session->links = links;
	link = bpf_program__attach(program);
	if (!link) {
		say__error("%s can't be attached: %s; 'tracer doctor' shows what is missing",
			   bpf_program__name(program), strerror(errno));
		return -errno;
	}
	links[session->link_count++] = link;
	return 0;
}

static size_t session__complete_size(const struct session *session)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return ((size_t)session->cpus * sizeof(*session->complete_to) + page - 1) / page * page;
}

/* without it readers have to guess: no reason to fail */
static void session__map_complete(struct session *session)
{
	const struct bpf_map *map = session->bpf->maps.complete_to;
	void *values = mmap(NULL, session__complete_size(session), PROT_READ, MAP_SHARED,
			    bpf_map__fd(map), 0);

	if (values != MAP_FAILED)
		session->complete_to = values;
	else
		say__verbose("no words of the ticks: %s", strerror(errno));
}

static int session__start_ticks(struct session *session)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.freq = 1,
		.sample_freq = TICK_HZ,
	};
	struct bpf_link **links, *link;
	bool all = true;
	int cpu, event;

	if (!session->features.tick)
		return 0;
	session->ticks = calloc((size_t)session->cpus, sizeof(*session->ticks));
	if (!session->ticks)
		return -ENOMEM;
	links = reallocarray(session->links, session->link_count + (size_t)session->cpus,
			     sizeof(*links));
	if (!links)
		return -ENOMEM;
	session->links = links;
	for (cpu = 0; cpu < session->cpus; cpu++) {
		event = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (event < 0) {
			/* a CPU that is possible but not online has none */
			all &= errno == ENODEV;
			continue;
		}
		link = bpf_program__attach_perf_event(session->bpf->progs.tick, event);
		if (!link) {
			say__verbose("no tick on CPU %d: %s", cpu, strerror(errno));
			close(event);
			all = false;
			continue;
		}
		links[session->link_count++] = link;
		session->ticks[cpu] = true;
	}
	if (all)
		session__map_complete(session);
	return 0;
}

uint64_t session__complete(const struct session *session, uint64_t now)
{
	uint64_t least = now, at;
	int cpu;

	for (cpu = 0; session->complete_to && cpu < session->cpus; cpu++) {
		if (!session->ticks[cpu])
			continue;
		at = __atomic_load_n(&session->complete_to[cpu], __ATOMIC_ACQUIRE);
		if (at < least)
			least = at;
	}
	if (!session->complete_to || !least)
		return 0;
	/* a CPU that went offline ticks no more */
	return now - least > TICK_MISSED_NS ? now - TICK_MISSED_NS : least;
}

int session__attach_kernel(struct session *session)
{
	struct tracer_bpf *bpf = session->bpf;
	const struct bpf_program *programs[] = {
		bpf->progs.exited,	 bpf->progs.signalled,	      bpf->progs.enter_exit,
		bpf->progs.execed,	 bpf->progs.enter_exit_group, bpf->progs.prepare_exec,
		bpf->progs.enter_execve, bpf->progs.enter_execveat,   bpf->progs.forked,
		bpf->progs.leave_cpu,
	};
	size_t i;
	int err;

	for (i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		err = session__add_link(session, programs[i]);
		if (err)
			return err;
	}
	err = session__attach_holding(session);
	return err ? err : session__start_ticks(session);
}

int session__attach_sched(struct session *session)
{
	int err;

	session->sched_links = session->link_count + 1;
	err = session__add_link(session, session->bpf->progs.switched);
	return err ? err : session__add_link(session, session->bpf->progs.waking);
}

void session__detach_sched(struct session *session)
{
	if (!session->sched_links)
		return;
	while (session->link_count >= session->sched_links)
		bpf_link__destroy(session->links[--session->link_count]);
	session->sched_links = 0;
}

void session__detach_kernel(struct session *session)
{
	while (session->link_count)
		bpf_link__destroy(session->links[--session->link_count]);
	free(session->links);
	session->links = NULL;
}

uint64_t session__counter(const struct session *session, enum counter which)
{
	uint64_t *values = calloc((size_t)session->cpus, sizeof(*values)), sum = 0;
	uint32_t key = which;
	int cpu;

	if (values &&
	    !bpf_map_lookup_elem(bpf_map__fd(session->bpf->maps.counters), &key, values)) {
		for (cpu = 0; cpu < session->cpus; cpu++)
			sum += values[cpu];
	}
	free(values);
	return sum;
}

/* times that the kernel did not run a program because it interrupted itself */
static uint64_t program__missed(const struct bpf_program *program)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);
	int fd = bpf_program__fd(program);

	return fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) ? info.recursion_misses : 0;
}

uint64_t session__sched_lost(const struct session *session)
{
	return session__counter(session, COUNT_SCHED_LOST) +
	       program__missed(session->bpf->progs.switched) +
	       program__missed(session->bpf->progs.waking);
}

void session__unload(struct session *session)
{
	int cpu;

	session__detach_kernel(session);
	for (cpu = 0; cpu < session->cpus && session->buffers; cpu++)
		buffer__close(&session->buffers[cpu]);
	free(session->buffers);
	free(session->ticks);
	if (session->complete_to)
		munmap((void *)(uintptr_t)session->complete_to, session__complete_size(session));
	session__unload_holding(session);
	tracer_bpf__destroy(session->bpf);
}
