// SPDX-License-Identifier: BSD-2-Clause
/*
 * Go's table of functions (.gopclntab), which strip and -ldflags -s leave in place, as its own
 * tracebacks need it. Formats since Go 1.2 by their magic; the layouts of 1.16, 1.18 and 1.20 are
 * read (1.17 has that of 1.16). Everything in it is a claim until it was checked against the
 * section's size.
 */
#include <errno.h>
#include <string.h>
#include "symbols.h"

#define MAGIC_1_16 0xfffffffaU
#define MAGIC_1_18 0xfffffff0U
#define MAGIC_1_20 0xfffffff1U
#define FUNCTIONS_MAX (1U << 22)

struct gotab {
	const uint8_t *table;
	size_t size;
	uint32_t word;	  /* bytes of a pointer, in the header */
	uint64_t text;	  /* addresses are relative to it since 1.18 */
	uint64_t count;	  /* functions */
	uint64_t names;	  /* where in the table */
	uint64_t entries; /* pairs: address, offset of the function's record */
	uint32_t entry;	  /* bytes of half a pair */
};

static bool word__read(const struct gotab *tab, uint64_t at, uint32_t size, uint64_t *value)
{
	if (at > tab->size || size > tab->size - at)
		return false;
	*value = 0;
	memcpy(value, tab->table + at, size);
	return true;
}

static int header__read(struct gotab *tab)
{
	uint64_t magic, words[8];
	bool old;
	int i;

	if (!word__read(tab, 0, 4, &magic) || tab->size < 8)
		return -EINVAL;
	old = magic == MAGIC_1_16;
	if ((!old && magic != MAGIC_1_18 && magic != MAGIC_1_20) || tab->table[7] != 8)
		return -ENOTSUP;
	tab->word = tab->table[7];
	/* functions, files, [text start,] names, compilation units, files, pc tables, functions */
	for (i = 0; i < (old ? 7 : 8); i++) {
		if (!word__read(tab, 8 + (uint64_t)i * tab->word, tab->word, &words[i]))
			return -EINVAL;
	}
	tab->count = words[0];
	tab->names = words[old ? 2 : 3];
	tab->entries = words[old ? 6 : 7];
	tab->entry = old ? tab->word : 4;
	/* since Go 1.26 the header has no address: it would be a relocation */
	if (!old && words[2])
		tab->text = words[2];
	if (old)
		tab->text = 0;
	return tab->count > FUNCTIONS_MAX ? -EINVAL : 0;
}

int gotab__read(const uint8_t *table, size_t size, uint64_t text,
		int (*take)(void *ctx, const char *name, uint64_t address, uint64_t size),
		void *ctx)
{
	struct gotab tab = {.table = table, .size = size, .text = text};
	uint64_t i, address, next, record, name;
	uint32_t entry;
	int err = header__read(&tab);

	for (i = 0; !err && i < tab.count; i++) {
		uint64_t at = tab.entries + i * 2 * tab.entry;

		entry = tab.entry;
		if (!word__read(&tab, at, entry, &address) ||
		    !word__read(&tab, at + entry, entry, &record) ||
		    !word__read(&tab, at + 2 * entry, entry, &next))
			return -EINVAL;
		/* the record: its address again, then where its name is */
		if (!word__read(&tab, tab.entries + record + entry, 4, &name))
			return -EINVAL;
		name += tab.names;
		if (name >= size || !memchr(table + name, '\0', size - name) || next < address)
			return -EINVAL;
		err = take(ctx, (const char *)table + name, tab.text + address, next - address);
	}
	return err;
}
