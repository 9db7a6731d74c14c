// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a Go wrapper wraps. `go f(x)` starts a function of the compiler's, main.main.func1, that
 * calls f; runtime/trace, tracebacks and people call the goroutine main.f. Since 1.18 a wrapper's
 * record in .gopclntab leads to what it wraps: function data 7 is where, in go:func.*, the wrapped
 * function's distance from the begin of the text stands. Stripped programs have no symbol
 * go:func.*; moduledata, which begins with the address of .gopclntab, knows it too. All of it is a
 * claim: a result that is no function's begin is not taken.
 */
#include <stdlib.h>
#include <string.h>
#include "symbols.h"

#define MAGIC_1_18 0xfffffff0U
#define MAGIC_1_20 0xfffffff1U
#define WRAP_INFO 7
#define NO_DATA 0xffffffffU
#define MODULE_TEXT 176 /* in moduledata */
#define MODULE_GOFUNC_1_18 304
#define MODULE_GOFUNC_1_20 320
#define SCAN_MAX (64UL << 20)

struct go_table {
	uint64_t at, size, text;
	uint64_t count, entries; /* where the pairs of address and record are */
	uint64_t gofunc;
	uint32_t fixed; /* bytes of a function's record before its lists */
};

static uint64_t word__at(const struct symbols *symbols, uint64_t address, uint32_t size)
{
	uint64_t value = 0;

	return symbols__read(symbols, address, &value, size) == size ? value : 0;
}

/* moduledata: somewhere in the data, on a multiple of 8 */
static uint64_t module__gofunc(const struct symbols *symbols, const struct go_table *table,
			       uint32_t member)
{
	static const char *const sections[] = {".noptrdata", ".data", ".go.module"};
	uint64_t address, size, i, gofunc = 0;
	uint64_t *words;

	for (size_t s = 0; s < sizeof(sections) / sizeof(*sections) && !gofunc; s++) {
		if (!symbols__section(symbols, sections[s], &address, &size) || size > SCAN_MAX ||
		    size <= member)
			continue;
		words = malloc(size);
		if (!words)
			return 0;
		size = symbols__read(symbols, address, words, size) / 8;
		for (i = 0; i + member / 8 < size && !gofunc; i++) {
			if (words[i] == table->at && words[i + MODULE_TEXT / 8] == table->text)
				gofunc = words[i + member / 8];
		}
		free(words);
	}
	return gofunc;
}

static bool go_table__open(struct symbols *symbols, struct go_table *table)
{
	const struct symbol *gofunc;
	uint64_t magic, size;

	if (!symbols__section(symbols, "*.gopclntab", &table->at, &table->size) ||
	    !symbols__section(symbols, ".text", &table->text, &size))
		return false;
	magic = word__at(symbols, table->at, 4);
	if (magic != MAGIC_1_18 && magic != MAGIC_1_20)
		return false;
	table->count = word__at(symbols, table->at + 8, 8);
	table->entries = word__at(symbols, table->at + 8 + 7 * 8, 8);
	if (table->entries > table->size || table->count > table->size / 8)
		return false;
	table->entries += table->at;
	table->fixed = magic == MAGIC_1_18 ? 40 : 44;
	table->gofunc = module__gofunc(
		symbols, table, magic == MAGIC_1_18 ? MODULE_GOFUNC_1_18 : MODULE_GOFUNC_1_20);
	if (!table->gofunc) {
		gofunc = symbols__find(symbols, "go:func.*");
		if (!gofunc)
			gofunc = symbols__find(symbols, "go.func.*");
		table->gofunc = gofunc ? gofunc->address : 0;
	}
	return table->gofunc;
}

/* the record of the function that begins there; 0: none does */
static uint64_t go_table__record(const struct symbols *symbols, const struct go_table *table,
				 uint64_t address)
{
	uint64_t low = 0, high = table->count, middle, entry;

	while (low < high) {
		middle = low + (high - low) / 2;
		entry = table->text + word__at(symbols, table->entries + middle * 8, 4);
		if (entry == address)
			return table->entries +
			       word__at(symbols, table->entries + middle * 8 + 4, 4);
		if (entry < address)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

uint64_t symbols__go_wrapped(struct symbols *symbols, uint64_t address)
{
	struct go_table table = {0};
	uint64_t record, lists, data, wrapped;

	if (!go_table__open(symbols, &table))
		return address;
	record = go_table__record(symbols, &table, address);
	if (!record || word__at(symbols, record + table.fixed - 1, 1) <= WRAP_INFO)
		return address;
	/* behind the fixed part: offsets of tables by pc, then of function data */
	lists = record + table.fixed + 4 * word__at(symbols, record + 28, 4);
	data = NO_DATA;
	if (symbols__read(symbols, lists + WRAP_INFO * 4, &data, 4) != 4 ||
	    (uint32_t)data == NO_DATA)
		return address;
	wrapped = table.text + word__at(symbols, table.gofunc + (uint32_t)data, 4);
	return go_table__record(symbols, &table, wrapped) ? wrapped : address;
}
