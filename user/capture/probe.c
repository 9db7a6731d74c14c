// SPDX-License-Identifier: BSD-2-Clause
/*
 * Uprobes on sites of a file. Where the kernel has multi-uprobe links (6.6), all sites of a binary
 * are one system call; before, each is a perf event. Either goes with the descriptor, also when the
 * tracer is killed, and takes the counts it raised along.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "session.h"

#define BPF_TRACE_UPROBE_MULTI_TYPE 48 /* include/uapi/linux/bpf.h, since 6.6 */

/* BPF_LINK_CREATE as of Linux 6.6; libbpf 1.1 and Debian 12's headers are older */
struct link_create {
	uint32_t program, target, attach_type, flags;
	uint64_t path, offsets, counts, cookies;
	uint32_t site_count, multi_flags, pid, padding;
};

struct probe {
	struct probe *joined;
	int link;
	struct bpf_link **events;
	size_t event_count;
};

static int probe__attach_multi(struct probe *probe, const struct bpf_program *program,
			       const char *path, pid_t pid, const struct probe_site *sites,
			       const uint64_t *cookies, size_t count)
{
	uint64_t *offsets = calloc(2 * count, sizeof(*offsets));
	struct link_create create = {
		.program = (uint32_t)bpf_program__fd(program),
		.attach_type = BPF_TRACE_UPROBE_MULTI_TYPE,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.counts = (uintptr_t)(offsets + count),
		.cookies = (uintptr_t)cookies,
		.site_count = (uint32_t)count,
		.pid = (uint32_t)pid,
	};
	bool has_counts = false;
	size_t i;

	if (!offsets)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		offsets[i] = sites[i].offset;
		offsets[count + i] = sites[i].count;
		has_counts |= sites[i].count != 0;
	}
	if (!has_counts)
		create.counts = 0;
	probe->link = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &create, sizeof(create));
	free(offsets);
	return probe->link < 0 ? -errno : 0;
}

static int probe__attach_events(struct probe *probe, const struct bpf_program *program,
				const char *path, pid_t pid, const struct probe_site *sites,
				const uint64_t *cookies, size_t count)
{
	size_t i;

	probe->events = calloc(count, sizeof(*probe->events));
	if (!probe->events)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = sites[i].count,
			    .bpf_cookie = cookies ? cookies[i] : 0);

		probe->events[i] = bpf_program__attach_uprobe_opts(program, pid ? pid : -1, path,
								   sites[i].offset, &options);
		if (!probe->events[i])
			return -errno;
		probe->event_count++;
	}
	return 0;
}

int probe__attach_cookies(struct probe **result, const struct session *session,
			  const struct bpf_program *program, const char *path, pid_t pid,
			  const struct probe_site *sites, const uint64_t *cookies, size_t count)
{
	struct probe *probe = calloc(1, sizeof(*probe));
	int err;

	if (!probe)
		return -ENOMEM;
	probe->link = -1;
	if (session->features.uprobe_multi)
		err = probe__attach_multi(probe, program, path, pid, sites, cookies, count);
	else
		err = probe__attach_events(probe, program, path, pid, sites, cookies, count);
	if (err) {
		probe__detach(probe);
		return err;
	}
	*result = probe;
	return 0;
}

int probe__attach(struct probe **result, const struct session *session,
		  const struct bpf_program *program, const char *path, pid_t pid,
		  const struct probe_site *sites, size_t count)
{
	return probe__attach_cookies(result, session, program, path, pid, sites, NULL, count);
}

struct probe *probe__join(struct probe *probe, struct probe *other)
{
	if (!probe)
		return other;
	probe->joined = other;
	return probe;
}

void probe__detach(struct probe *probe)
{
	size_t i;

	if (!probe)
		return;
	probe__detach(probe->joined);
	if (probe->link >= 0)
		close(probe->link);
	for (i = 0; i < probe->event_count; i++)
		bpf_link__destroy(probe->events[i]);
	free(probe->events);
	free(probe);
}

#define DETACHERS 32

struct detaching {
	struct probe **probes;
	size_t count, next;
};

static void *detach_some(void *ctx)
{
	struct detaching *detaching = ctx;
	size_t i;

	while ((i = __atomic_fetch_add(&detaching->next, 1, __ATOMIC_RELAXED)) < detaching->count)
		probe__detach(detaching->probes[i]);
	return NULL;
}

/*
 * The kernel waits for a grace period, some tens of milliseconds, for each; those that wait at the
 * same time share it.
 */
void probe__detach_all(struct probe **probes, size_t count)
{
	struct detaching detaching = {probes, count, 0};
	pthread_t threads[DETACHERS];
	size_t started = 0, i;

	while (started < DETACHERS && started + 1 < count &&
	       !pthread_create(&threads[started], NULL, detach_some, &detaching))
		started++;
	detach_some(&detaching);
	for (i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}
