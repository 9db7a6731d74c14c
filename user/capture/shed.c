// SPDX-License-Identifier: BSD-2-Clause
/*
 * What processes that came and went leave behind: probes, and binaries that nobody maps any more. A
 * capture of hours shall not grow with them.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "session.h"

/* So many are not worth the trouble; and what was just used may be used again. */
#define PROBES_KEPT 16
#define DSOS_KEPT 64
#define DSO_IDLE_NS 60000000000ULL

/* the kernel takes tens of milliseconds for each: not in the thread that empties the buffers */
struct shedder {
	pthread_t thread;
	struct probe **probes;
	size_t count;
	bool done;
};

static void *shedder__run(void *ctx)
{
	struct shedder *shedder = ctx;

	probe__detach_all(shedder->probes, shedder->count);
	__atomic_store_n(&shedder->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void session__end_shedder(struct session *session)
{
	if (!session->shedder)
		return;
	pthread_join(session->shedder->thread, NULL);
	free(session->shedder->probes);
	free(session->shedder);
	session->shedder = NULL;
}

static void session__shed_probes(struct session *session)
{
	struct shedder *shedder;

	if (session->shedder && !__atomic_load_n(&session->shedder->done, __ATOMIC_ACQUIRE))
		return;
	session__end_shedder(session);
	if (session->retired_count < PROBES_KEPT)
		return;
	shedder = calloc(1, sizeof(*shedder));
	if (!shedder)
		return;
	shedder->probes = session->retired;
	shedder->count = session->retired_count;
	if (pthread_create(&shedder->thread, NULL, shedder__run, shedder)) {
		free(shedder);
		return;
	}
	session->retired = NULL;
	session->retired_count = 0;
	session->shedder = shedder;
}

static bool session__uses(const struct session *session, const struct dso *dso)
{
	const struct process *process;
	size_t i;

	for (process = session->processes; process; process = process->next) {
		if (dso->pid == process->pid)
			return true;
		for (i = 0; i < process->map_count; i++)
			if (process->maps[i] == dso->id)
				return true;
		for (i = 0; i < process->linker_count; i++)
			if (process->linkers[i] == dso->id)
				return true;
	}
	return false;
}

static void session__retire(struct session *session, struct probe *probe)
{
	struct probe **retired;

	if (!probe)
		return;
	retired = reallocarray(session->retired, session->retired_count + 1, sizeof(*retired));
	if (!retired) {
		probe__detach(probe);
		return;
	}
	retired[session->retired_count++] = probe;
	session->retired = retired;
}

static void session__shed_dsos(struct session *session)
{
	struct dso **at = &session->dsos, *dso;
	uint64_t now = now__boottime();
	size_t count = 0;

	for (dso = session->dsos; dso; dso = dso->next)
		count++;
	while ((dso = *at)) {
		if (!dso->used || session__uses(session, dso))
			dso->used = now;
		if (count <= DSOS_KEPT || now - dso->used < DSO_IDLE_NS) {
			at = &dso->next;
			continue;
		}
		*at = dso->next;
		count--;
		session__retire(session, dso->gates);
		session__retire(session, dso->how);
		session__retire(session, dso->flush);
		session__retire(session, dso->loaded);
		session__retire(session, dso->stacks);
		if (dso->binary)
			binary__free(dso->binary);
		free(dso);
	}
}

void session__shed(struct session *session)
{
	session__shed_dsos(session);
	session__shed_probes(session);
}

void session__end_shedding(struct session *session)
{
	session__end_shedder(session);
}
