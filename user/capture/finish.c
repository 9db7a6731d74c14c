// SPDX-License-Identifier: BSD-2-Clause
/*
 * The end of a capture whose targets go on: what their rings still hold is read from outside.
 *
 * Gates are closed and the flush probes gone, so nothing is drained there any more. The task
 * iterator marks each ring as ours (from then on the scheduler and exit hooks leave it alone) and
 * tells its tail; the rest, up to the head, is copied out of the process. A drain that is under way
 * just then says so (busy), and the iterator is asked again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../base/say.h"
#include "session.h"
#include "proc.h"

#define ATTEMPTS 200
#define PAUSE_US 500

struct harvest {
	struct harvested_ring *rings;
	size_t count;
	bool busy, failed;
};

/* the iterator's callback has the session only */
static void session__take_ring(struct session *session, const struct harvested_ring *ring)
{
	struct harvest *harvest = session->harvest;
	struct harvested_ring *rings;

	if (ring->busy) {
		harvest->busy = true;
		return;
	}
	rings = reallocarray(harvest->rings, harvest->count + 1, sizeof(*rings));
	if (!rings) {
		harvest->failed = true;
		return;
	}
	harvest->rings = rings;
	rings[harvest->count++] = *ring;
}

static void chunk__describe(struct rec_chunk *chunk, const struct harvested_ring *ring,
			    uint64_t len)
{
	const struct ring_state *state = &ring->state;

	chunk->h = (struct rec_header){(uint32_t)(sizeof(*chunk) + len), REC_CHUNK, 0,
				       now__boottime()};
	chunk->pid = ring->pid;
	chunk->tid = ring->tid;
	chunk->stream = state->stream;
	chunk->ring = state->ring;
	chunk->dso = state->dso;
	chunk->start = state->tail;
	chunk->start_records = state->tail_records;
	chunk->head = state->seen;
	chunk->head_records = state->seen_records;
	chunk->len = (uint32_t)len;
	chunk->cause = REC_CAUSE_END;
	chunk->flags = REC_CHUNK_LAST | (state->flags & RING_LOST) |
		       (state->flags & RING_FRESH ? REC_CHUNK_FIRST : 0);
}

static bool ring__copy(const struct harvested_ring *ring, unsigned char *to, uint64_t len)
{
	uint64_t offset = ring->state.tail & (TRACER_RING_SIZE - 1),
		 part = TRACER_RING_SIZE - offset;
	uint64_t data = ring->state.ring + TRACER_RING_HEADER;

	if (part > len)
		part = len;
	return proc__read_memory((pid_t)ring->pid, data + offset, to, part) == (ssize_t)part &&
	       (part == len || proc__read_memory((pid_t)ring->pid, data, to + part, len - part) ==
				       (ssize_t)(len - part));
}

static void session__finish_ring(struct session *session, struct harvested_ring *ring,
				 struct rec_chunk *chunk)
{
	struct ring_state *state = &ring->state;
	uint64_t head, len;

	if (proc__read_memory((pid_t)ring->pid, state->ring, &head, sizeof(head)) == sizeof(head))
		ring_state__look(state, head);
	ring_state__skip_overrun(state, TRACER_RECORD_MAX);
	len = state->seen - state->tail;
	if (len && !ring__copy(ring, chunk->data, len)) {
		ring_state__lose(state, RING_LOST_FAULT, state->seen, state->seen_records);
		len = 0;
	}
	chunk__describe(chunk, ring, len);
	file_writer__record(session->writer, chunk, chunk->h.size);
	session->chunks++;
	session->chunk_bytes += len;
}

/* streams that ended when a buffer was full: their counts were kept for us */
static void session__write_ends(struct session *session)
{
	int map = bpf_map__fd(session->bpf->maps.ends);
	struct rec_chunk last;
	uint64_t key, next;
	int err = bpf_map_get_next_key(map, NULL, &next);

	while (!err) {
		key = next;
		if (!bpf_map_lookup_elem(map, &key, &last))
			file_writer__record(session->writer, &last, sizeof(last));
		err = bpf_map_get_next_key(map, &key, &next);
	}
}

void session__harvest(struct session *session)
{
	struct harvest harvest = {0};
	struct rec_chunk *chunk = malloc(sizeof(*chunk) + TRACER_RING_SIZE);
	int attempt, err = 0;
	size_t i;

	session->harvest = &harvest;
	for (attempt = 0; attempt < ATTEMPTS && !err && chunk; attempt++) {
		harvest.busy = false;
		err = session__each_task(session, ITERATE_HARVEST, session__take_ring);
		if (!harvest.busy)
			break;
		usleep(PAUSE_US);
	}
	session__consume(session);
	for (i = 0; chunk && i < harvest.count; i++)
		session__finish_ring(session, &harvest.rings[i], chunk);
	session__write_ends(session);
	if (err || harvest.failed || !chunk)
		say__error(
			"what was left in the targets' rings could not be read (%s): it counts as "
			"lost",
			strerror(err ? -err : ENOMEM));
	free(harvest.rings);
	free(chunk);
	session->harvest = NULL;
}
