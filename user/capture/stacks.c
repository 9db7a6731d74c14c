// SPDX-License-Identifier: BSD-2-Clause
/*
 * Call stacks on their way to the file.
 *
 * What BPF hands over are registers and up to 32 KiB of a stack's bytes. Most stacks of a program
 * are the same few again and again, but for values that unwinding never looks at. It looks at code
 * addresses and at addresses in the stack itself; so two stacks that have the same of these in the
 * same places unwind alike, whatever else they hold. They get one id, and the bytes are written
 * once.
 *
 * A word is a code address if it lies in something mapped executable (code.c knows what is). Behind
 * the last one there is no frame, so what is behind it is not written either.
 */
#include "stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../base/map.h"
#include "../base/say.h"
#include "bpf/stacks.skel.h"
#include "code.h"
#include "session.h"
#include "stack_record.h"

#define STACKS_BUFFER (16U << 20)
#define SEEN_MAX (1U << 18)
/* bytes of stack for a frame that is wanted: four hundred is a large frame in C */
#define BYTES_A_FRAME 256U
#define BYTES_MIN 8192U

struct stacks {
	struct stacks_bpf *bpf;
	struct buffer buffer;
	struct code code;
	struct map seen; /* number of the mappings, content's hash -> id */
	uint64_t ids;
	uint64_t unknown; /* stacks of processes whose mappings could not be read */
};

static const char *const event_names[256] = {
#define NAME(number, name) [number] = #name,
#define TRACER_EVENT0(number, name, ...) NAME(number, name)
#define TRACER_EVENT1(number, name, ...) NAME(number, name)
#define TRACER_EVENT2(number, name, ...) NAME(number, name)
#define TRACER_EVENT3(number, name, ...) NAME(number, name)
#define TRACER_EVENT4(number, name, ...) NAME(number, name)
#include <tracer/events.def>
#undef NAME
};

/* --- programs and probes --- */

static uint32_t stack_bytes(const struct capture_stacks *wanted)
{
	uint32_t bytes = BYTES_MIN;

	for (int i = 0; i < 256; i++)
		while (bytes < wanted->depth[i] * BYTES_A_FRAME && bytes < STACK_BYTES_MAX)
			bytes *= 2;
	return bytes;
}

static int stacks__load_programs(struct session *session)
{
	struct stacks *stacks = session->stacks;
	struct bpf_program *program;
	struct stacks_bpf *bpf;
	int err;

	bpf = stacks->bpf = stacks_bpf__open();
	if (!bpf)
		return -errno;
	program = session->features.sleepable_uprobe ? bpf->progs.stack : bpf->progs.stack_atomic;
	features__use_uprobe(&session->features, program);
	bpf->rodata->stack_bytes = stack_bytes(session->options->stacks);
	err = buffer__open(&stacks->buffer, STACKS_BUFFER);
	if (!err)
		err = bpf_map__reuse_fd(bpf->maps.stacks, stacks->buffer.fd);
	if (!err)
		err = bpf_map__reuse_fd(bpf->maps.threads, bpf_map__fd(session->bpf->maps.threads));
	if (!err)
		err = bpf_map__reuse_fd(bpf->maps.targets, bpf_map__fd(session->bpf->maps.targets));
	return err ? err : stacks_bpf__load(bpf);
}

int stacks__load(struct session *session)
{
	int err;

	if (!session->options->stacks || !session->options->stacks->any)
		return 0;
	session->stacks = calloc(1, sizeof(*session->stacks));
	if (!session->stacks)
		return -ENOMEM;
	session->stacks->buffer.fd = -1;
	err = stacks__load_programs(session);
	if (err)
		say__error("--stacks: the kernel refuses its program (%s); -vv shows its words, "
			   "without --stacks the rest works",
			   strerror(-err));
	return err;
}

int stacks__attach(struct session *session, struct dso *dso, const char *path)
{
	const struct binary *binary = dso->binary;
	struct probe_site *sites;
	uint64_t *cookies;
	size_t count = 0;
	int err = 0;

	if (!session->stacks || dso->stacks)
		return 0;
	sites = calloc(binary->usdt_count + 1, sizeof(*sites));
	cookies = calloc(binary->usdt_count + 1, sizeof(*cookies));
	for (size_t i = 0; sites && cookies && i < binary->usdt_count; i++) {
		const struct binary_usdt *usdt = &binary->usdt[i];

		if (strcmp(usdt->provider, "tracer") != 0)
			continue;
		for (unsigned int type = 0; type < 256; type++) {
			uint8_t depth = session->options->stacks->depth[type];

			if (!depth || !event_names[type] || strcmp(usdt->name, event_names[type]))
				continue;
			sites[count] = (struct probe_site){usdt->offset, usdt->semaphore};
			cookies[count++] =
				STACK_COOKIE(type, depth, binary->dso_address - usdt->address);
		}
	}
	if (count)
		err = probe__attach_cookies(&dso->stacks, session,
					    session->features.sleepable_uprobe
						    ? session->stacks->bpf->progs.stack
						    : session->stacks->bpf->progs.stack_atomic,
					    path, dso->pid, sites, cookies, count);
	else
		say__verbose("%s: has none of the points whose stacks are wanted", binary->path);
	if (err)
		say__error("%s: no probes for --stacks: %s", binary->path, strerror(-err));
	free(cookies);
	free(sites);
	return err;
}

/* --- what is mapped --- */

void stacks__scan(struct session *session, pid_t pid)
{
	if (session->stacks)
		code__scan(&session->stacks->code, pid);
}

void stacks__forked(struct session *session, pid_t pid, pid_t parent)
{
	if (session->stacks)
		code__fork(&session->stacks->code, pid, parent);
}

/* --- stacks --- */

struct normal { /* a stack as far as unwinding looks at it */
	const struct code_set *set;
	uint64_t from, to; /* addresses of the stack */
	uint64_t hash;
	uint32_t used; /* bytes up to and with the last code address */
};

static void normal__mix(struct normal *normal, uint64_t word)
{
	normal->hash = (normal->hash ^ word) * 0x9fb21c651e98df25ULL;
	normal->hash ^= normal->hash >> 29;
}

/* true: it is a code address */
static bool normal__word(struct normal *normal, uint64_t word)
{
	struct code_range *range;

	if (word - normal->from < normal->to - normal->from) {
		normal__mix(normal, word - normal->from + 1);
		return false;
	}
	range = code_set__find(normal->set, word);
	normal__mix(normal, range ? word : 0);
	if (range && range->file)
		range->file->used = true;
	return range != NULL;
}

static void normal__take(struct normal *normal, const struct rec_stack *stack)
{
	const __u64 *words = stack->registers + STACK_REGISTERS;

	for (int i = 0; i < STACK_REGISTERS; i++)
		normal__word(normal, stack->registers[i]);
	for (uint32_t i = 0; i < stack->len / 8; i++)
		if (normal__word(normal, words[i]))
			normal->used = 8 * (i + 1);
	/* zeros behind the last code address are no part of it */
	normal__mix(normal, (uint64_t)stack->depth << 32 | normal->used);
}

static uint64_t stack_pointer(const struct rec_stack *stack)
{
#if defined(__x86_64__)
	return stack->registers[7];
#else
	return stack->registers[31];
#endif
}

/* @stack is ours to change: a copy in memory of its own */
static void stacks__take(struct session *session, struct rec_stack *stack)
{
	struct stacks *stacks = session->stacks;
	struct code_set *set = code__of(&stacks->code, (pid_t)stack->pid);
	struct normal normal = {.set = set, .from = stack_pointer(stack)};
	void *known;

	if (!set) {
		stacks->unknown++;
		return;
	}
	code_set__tell(&stacks->code, set, session->writer);
	stack->code = set->id;
	normal.to = normal.from + stack->len;
	normal__take(&normal, stack);
	known = map__get(&stacks->seen, set->id, normal.hash);
	if (!known && stacks->seen.count >= SEEN_MAX)
		map__free(&stacks->seen);
	stack->id = known ? (uintptr_t)known : ++stacks->ids;
	if (!known)
		map__put(&stacks->seen, set->id, normal.hash, (void *)(uintptr_t)stack->id);
	if (known && !session->keep) {
		stack->len = 0;
		stack->h.size = sizeof(*stack);
	} else {
		/* an end of memory that is behind the last code address ends nothing */
		stack->len = normal.used;
		stack->h.size = (uint32_t)STACK_FULL_SIZE(stack->len);
	}
	/* each part begins with what was told once; which part this stack will be in, and whether
	 * its bytes are there already, keep.c knows when it is time */
	if (session->keep)
		code__tell_files(&stacks->code, session->writer);
	file_writer__record(session->writer, stack, stack->h.size);
}

void stacks__consume(struct session *session)
{
	static const size_t most = STACK_FULL_SIZE(STACK_BYTES_MAX + STACK_PIECE);
	struct stacks *stacks = session->stacks;
	const struct rec_stack *from;
	struct rec_stack *stack;
	unsigned long until;

	if (!stacks)
		return;
	until = stacks->buffer.position + buffer__waiting(&stacks->buffer);
	stack = stacks->buffer.position < until ? malloc(most) : NULL;
	while (stack && stacks->buffer.position < until && buffer__peek(&stacks->buffer)) {
		from = stacks->buffer.record;
		if (from->h.size <= most && from->h.size <= stacks->buffer.record_size) {
			memcpy(stack, from, from->h.size);
			stacks__take(session, stack);
		}
		buffer__advance(&stacks->buffer);
	}
	free(stack);
}

int stacks__descriptor(const struct session *session)
{
	return session->stacks ? session->stacks->buffer.fd : -1;
}

void stacks__end_file(struct session *session)
{
	if (session->stacks)
		code__tell_files(&session->stacks->code, session->writer);
}

uint64_t stacks__taken(const struct session *session)
{
	return session->stacks ? session->stacks->bpf->bss->stacks_taken : 0;
}

uint64_t stacks__unlike(const struct session *session)
{
	return session->stacks ? session->stacks->ids : 0;
}

uint64_t stacks__lost(const struct session *session)
{
	const struct stacks *stacks = session->stacks;

	return stacks ? stacks->bpf->bss->stacks_lost + stacks->unknown : 0;
}

void stacks__free(struct session *session)
{
	struct stacks *stacks = session->stacks;

	if (!stacks)
		return;
	stacks_bpf__destroy(stacks->bpf);
	buffer__close(&stacks->buffer);
	code__free(&stacks->code);
	map__free(&stacks->seen);
	free(stacks);
	session->stacks = NULL;
}
