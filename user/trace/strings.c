// SPDX-License-Identifier: BSD-2-Clause
/* Interned strings: bytes in an arena, found through a hash set. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "strings.h"

#define ARENA_SIZE (256U << 10)

struct arena {
	struct arena *next;
	char bytes[];
};

struct strings_slot {
	const char *string; /* NULL: free */
	uint32_t hash;
	uint32_t len;
};

struct strings {
	struct strings_slot *slots;
	uint32_t count;
	uint32_t mask;
	struct arena *arenas;
	size_t left; /* bytes free at the end of the newest arena */
	size_t used; /* bytes of all strings, and of their slots (a third full on average) */
	uint64_t seed;
};

struct strings *strings__new(void)
{
	struct strings *strings = calloc(1, sizeof(*strings));

	if (!strings)
		return NULL;
	/* a weak seed is no error: it only makes a hostile target's collisions easier */
	if (getrandom(&strings->seed, sizeof(strings->seed), GRND_NONBLOCK) < 0)
		strings->seed = (uintptr_t)strings;
	return strings;
}

uint64_t strings__seed(const struct strings *strings)
{
	return strings->seed;
}

static uint32_t strings__hash(uint64_t seed, const unsigned char *bytes, size_t len)
{
	uint64_t hash = seed ^ len;
	uint64_t word;

	for (; len >= 8; len -= 8, bytes += 8) {
		memcpy(&word, bytes, 8);
		hash = (hash ^ word) * 0x9fb21c651e98df25ULL;
		hash ^= hash >> 29;
	}
	word = 0;
	memcpy(&word, bytes, len);
	hash = (hash ^ word) * 0x9fb21c651e98df25ULL;
	hash ^= hash >> 32;
	hash *= 0x9e3779b97f4a7c15ULL;
	return hash >> 32;
}

static int strings__grow(struct strings *strings)
{
	uint32_t size = strings->slots ? (strings->mask + 1) * 2 : 1024;
	struct strings_slot *slots;
	uint32_t i, to;

	slots = size ? calloc(size, sizeof(*slots)) : NULL;
	if (!slots)
		return -1;
	for (i = 0; strings->slots && i <= strings->mask; i++) {
		if (!strings->slots[i].string)
			continue;
		to = strings->slots[i].hash & (size - 1);
		while (slots[to].string)
			to = (to + 1) & (size - 1);
		slots[to] = strings->slots[i];
	}
	free(strings->slots);
	strings->slots = slots;
	strings->mask = size - 1;
	return 0;
}

static char *strings__store(struct strings *strings, const char *bytes, size_t len)
{
	struct arena *arena = strings->arenas;
	size_t size = len + 1 > ARENA_SIZE ? len + 1 : ARENA_SIZE;
	char *string;

	if (strings->used + len + 1 + sizeof(struct strings_slot) * 3 > STRINGS_MAX)
		return NULL;
	if (!arena || strings->left < len + 1) {
		arena = malloc(sizeof(*arena) + size);
		if (!arena)
			return NULL;
		arena->next = strings->arenas;
		strings->arenas = arena;
		strings->left = size;
	}
	/* the newest arena fills from its end, so `left` alone says where */
	strings->left -= len + 1;
	string = arena->bytes + strings->left;
	memcpy(string, bytes, len);
	string[len] = '\0';
	strings->used += len + 1 + sizeof(struct strings_slot) * 3;
	return string;
}

const char *strings__add(struct strings *strings, const void *bytes, size_t len)
{
	struct strings_slot *slot;
	uint32_t hash, i;
	char *string;

	len = strnlen(bytes, len);
	if (len > UINT32_MAX / 2)
		return STRINGS_TOO_MANY;
	if (!strings->slots || strings->count >= strings->mask / 2) {
		if (strings__grow(strings) < 0)
			return STRINGS_TOO_MANY;
	}
	hash = strings__hash(strings->seed, bytes, len);
	for (i = hash & strings->mask; strings->slots[i].string; i = (i + 1) & strings->mask) {
		slot = &strings->slots[i];
		if (slot->hash == hash && slot->len == len && !memcmp(slot->string, bytes, len))
			return slot->string;
	}
	string = strings__store(strings, bytes, len);
	if (!string)
		return STRINGS_TOO_MANY;
	strings->slots[i] = (struct strings_slot){string, hash, len};
	strings->count++;
	return string;
}

const char *strings__format(struct strings *strings, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return strings__add(strings, text, strlen(text));
}

void strings__free(struct strings *strings)
{
	struct arena *arena, *next;

	if (!strings)
		return;
	for (arena = strings->arenas; arena; arena = next) {
		next = arena->next;
		free(arena);
	}
	free(strings->slots);
	free(strings);
}
