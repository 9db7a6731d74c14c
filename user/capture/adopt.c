// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rings that are there before the capture begins.
 *
 * Threads of a target that was traced before have rings, and do not register them again. Each DSO
 * keeps a list of its rings (ring.h), which is read here from outside: the capture of such a ring
 * begins at its present head. A BPF task iterator then puts them where the drains find them, in the
 * threads' task storage; that needs no thread pidfd, so it works on every kernel that has task
 * storage.
 *
 * The rings of a forked child still name the parent's threads as owners until the child has flushed
 * once. One of them is the child's main thread's, nobody outside can tell which: all are adopted
 * for the main thread (RING_ORPHAN); the others never move.
 *
 * What the present window has told so far (names, clock) is read as well, for the records to come.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../base/say.h"
#include "session.h"
#include "proc.h"

#define RINGS_MAX 100000 /* of one DSO: a list that is longer is a loop, or hostile */

struct adoption {
	struct session *session;
	const struct process *process;
	uint64_t dso;
	pid_t namespace_pid;
	struct adopt_key *keys;
	size_t count;
};

/* thread of the process that calls itself @namespace_tid, or 0 */
static pid_t adoption__owner(const struct adoption *adoption, pid_t namespace_tid)
{
	pid_t pid = adoption->process->pid, tid = 0;
	pid_t *threads = proc__threads(pid);
	size_t i;

	for (i = 0; threads && threads[i] && !tid; i++) {
		/* only in a namespace of its own does a thread have two numbers */
		if ((adoption->namespace_pid == pid
			     ? threads[i]
			     : proc__namespace_tid(pid, threads[i])) == namespace_tid)
			tid = threads[i];
	}
	free(threads);
	return tid;
}

/* the present window up to the head: it teaches names and the clock, and counts for nothing */
static void adoption__tell_window(const struct adoption *adoption, const struct tracer_ring *ring,
				  uint64_t address, pid_t tid, uint64_t stream)
{
	uint64_t head = TRACER_HEAD_BYTES(ring->head), length, offset, part;
	struct rec_chunk *chunk;

	length = (uint32_t)((uint32_t)head - ring->window_start);
	if (length > TRACER_WINDOW_MAX || length > head)
		return;
	chunk = calloc(1, sizeof(*chunk) + length);
	if (!chunk)
		return;
	chunk->h = (struct rec_header){(uint32_t)(sizeof(*chunk) + length), REC_CHUNK, 0,
				       now__boottime()};
	chunk->pid = (uint32_t)adoption->process->pid;
	chunk->tid = (uint32_t)tid;
	chunk->stream = stream;
	chunk->ring = address;
	chunk->dso = adoption->dso;
	chunk->start = head - length;
	chunk->head = head;
	chunk->len = (uint32_t)length;
	chunk->cause = REC_CAUSE_NEW;
	chunk->flags = REC_CHUNK_NAMES;
	offset = chunk->start & (TRACER_RING_SIZE - 1);
	part = TRACER_RING_SIZE - offset < length ? TRACER_RING_SIZE - offset : length;
	if (proc__read_memory(adoption->process->pid, address + TRACER_RING_HEADER + offset,
			      chunk->data, part) == (ssize_t)part &&
	    (part == length ||
	     proc__read_memory(adoption->process->pid, address + TRACER_RING_HEADER,
			       chunk->data + part, length - part) == (ssize_t)(length - part)))
		file_writer__record(adoption->session->writer, chunk, chunk->h.size);
	free(chunk);
}

static int adoption__add(struct adoption *adoption, const struct tracer_ring *ring,
			 uint64_t address)
{
	bool orphan = ring->pid != (uint32_t)adoption->namespace_pid;
	pid_t tid = orphan ? adoption->process->pid : adoption__owner(adoption, (pid_t)ring->tid);
	int map = bpf_map__fd(adoption->session->bpf->maps.adopted), err;
	struct adopt_key key = {.tid = (uint32_t)tid}, *keys;
	struct adopted_ring value = {
		.ring = address,
		.dso = adoption->dso,
		.head = ring->head,
		.owner = ring->tid,
		.flags = orphan ? RING_ORPHAN : 0,
		.stream = ADOPTED_STREAMS + ++adoption->session->adopted,
	};

	if (!ring->tid || !tid)
		return 0;
	do {
		err = bpf_map_update_elem(map, &key, &value, BPF_NOEXIST);
	} while (err == -EEXIST && ++key.number < STATE_RINGS);
	if (err)
		return err == -EEXIST ? 0 : err;
	keys = reallocarray(adoption->keys, adoption->count + 1, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	adoption->keys = keys;
	keys[adoption->count++] = key;
	adoption__tell_window(adoption, ring, address, tid, value.stream);
	return 0;
}

int session__adopt_rings(struct session *session, const struct process *process, uint64_t address)
{
	struct adoption adoption = {
		.session = session,
		.process = process,
		.dso = address,
		.namespace_pid = proc__namespace_tid(process->pid, process->pid),
	};
	struct tracer_ring ring;
	struct tracer_dso dso;
	ssize_t got;
	uint64_t at;
	size_t i;
	int err = 0, count;

	got = proc__read_memory(process->pid, address, &dso, sizeof(dso));
	if (got == -EPERM || got == -EACCES || got == -ENOMEM)
		session__miss(session, process->pid,
			      "its memory can't be read: %s; what threads that were traced before "
			      "record at first may be missing",
			      strerror((int)-got));
	if (got != sizeof(dso))
		return 0; /* not there yet: just mapped, or the process is gone */
	for (at = dso.rings, count = 0; at && count < RINGS_MAX && !err; at = ring.next, count++) {
		if (proc__read_memory(process->pid, at, &ring,
				      offsetof(struct tracer_ring, names)) !=
			    (ssize_t)offsetof(struct tracer_ring, names) ||
		    ring.version != TRACER_RING_VERSION)
			break;
		err = adoption__add(&adoption, &ring, at);
	}
	if (adoption.count && !err)
		err = session__each_task(session, ITERATE_ADOPT, NULL);
	for (i = 0; i < adoption.count; i++)
		bpf_map_delete_elem(bpf_map__fd(session->bpf->maps.adopted), &adoption.keys[i]);
	if (adoption.count)
		say__verbose("process %d: %zu rings of an earlier capture adopted", process->pid,
			     adoption.count);
	free(adoption.keys);
	return err;
}

int session__each_task(struct session *session, enum iterator_mode mode,
		       void (*take)(struct session *session, const struct harvested_ring *ring))
{
	struct bpf_link *link = bpf_program__attach_iter(session->bpf->progs.each_task, NULL);
	struct harvested_ring rings[64];
	size_t filled = 0, i;
	ssize_t got;
	int iterator, err = 0;

	if (!link)
		return -errno;
	session->bpf->bss->iterator_mode = (int)mode;
	iterator = bpf_iter_create(bpf_link__fd(link));
	if (iterator < 0) {
		err = -errno;
		goto out;
	}
	for (;;) {
		got = read(iterator, (char *)rings + filled, sizeof(rings) - filled);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0)
			err = -errno;
		if (got <= 0)
			break;
		filled += (size_t)got;
		for (i = 0; take && i < filled / sizeof(*rings); i++)
			take(session, &rings[i]);
		memmove(rings, rings + filled / sizeof(*rings), filled % sizeof(*rings));
		filled %= sizeof(*rings);
	}
	close(iterator);
out:
	bpf_link__destroy(link);
	return err;
}
