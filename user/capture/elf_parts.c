// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which ranges of an ELF file are needed to unwind through its code and to name its functions:
 * headers, section names, unwind tables, symbols, the build id and the link to a debug file. A file
 * with holes that has only these is one that libdw and libelf read like the whole.
 */
#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stacks.h"

#define PARTS_MAX 64

/* in the order in which they are given up last */
static const char *const wanted[] = {
	".note.gnu.build-id",
	".gnu_debuglink",
	".eh_frame_hdr",
	".eh_frame",
	".debug_frame",
	".dynsym",
	".dynstr",
	".symtab",
	".strtab",
	NULL,
};

static int parts__add(struct elf_parts *parts, uint64_t offset, uint64_t size)
{
	if (!size || parts->count == PARTS_MAX)
		return 0;
	if (!parts->parts) {
		parts->parts = calloc(PARTS_MAX, sizeof(*parts->parts));
		if (!parts->parts)
			return -ENOMEM;
	}
	parts->parts[parts->count++] = (struct elf_part){offset, size};
	parts->size += size;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct elf_part *a = left, *b = right;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* in order, and none twice */
static void parts__join(struct elf_parts *parts)
{
	size_t kept = 0;

	qsort(parts->parts, parts->count, sizeof(*parts->parts), compare);
	for (size_t i = 1; i < parts->count; i++) {
		struct elf_part *last = &parts->parts[kept], *next = &parts->parts[i];
		uint64_t end = last->offset + last->size;

		if (next->offset > end)
			parts->parts[++kept] = *next;
		else if (next->offset + next->size > end)
			last->size = next->offset + next->size - last->offset;
	}
	parts->count = parts->count ? kept + 1 : 0;
	parts->size = 0;
	for (size_t i = 0; i < parts->count; i++)
		parts->size += parts->parts[i].size;
}

static void read_build_id(struct elf_parts *parts, Elf_Data *data)
{
	size_t at = 0, next, name_at, desc_at;
	GElf_Nhdr header;

	while (data && data->d_buf &&
	       (next = gelf_getnote(data, at, &header, &name_at, &desc_at)) > 0) {
		const unsigned char *bytes = data->d_buf;

		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
		    !memcmp(bytes + name_at, "GNU", 4) && header.n_descsz <= 64) {
			for (size_t i = 0; i < header.n_descsz; i++)
				snprintf(parts->build_id + 2 * i, 3, "%02x", bytes[desc_at + i]);
			return;
		}
		at = next;
	}
}

static int add_sections(struct elf_parts *parts, Elf *elf, uint64_t most)
{
	size_t names = 0;
	int err = 0;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	for (int i = 0; wanted[i] && !err; i++) {
		Elf_Scn *section = NULL;
		GElf_Shdr header;
		const char *name;

		while ((section = elf_nextscn(elf, section))) {
			if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
				continue;
			name = elf_strptr(elf, names, header.sh_name);
			if (!name || strcmp(name, wanted[i]) != 0)
				continue;
			if (header.sh_type == SHT_NOTE)
				read_build_id(parts, elf_getdata(section, NULL));
			if (header.sh_size <= most - parts->size)
				err = parts__add(parts, header.sh_offset, header.sh_size);
		}
	}
	return err;
}

/* without section headers: the table that leads to the unwind tables, which mostly come after it */
static int add_unwind_segment(struct elf_parts *parts, Elf *elf, size_t count,
			      const GElf_Phdr *table, uint64_t most)
{
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;
		uint64_t size;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    table->p_offset < segment.p_offset ||
		    table->p_offset - segment.p_offset >= segment.p_filesz)
			continue;
		size = segment.p_filesz - (table->p_offset - segment.p_offset);
		return size <= most - parts->size ? parts__add(parts, table->p_offset, size) : 0;
	}
	return 0;
}

/* what can be found without section headers too */
static int add_segments(struct elf_parts *parts, Elf *elf, uint64_t most)
{
	size_t count = 0, sections = 0;
	int err = 0;

	if (elf_getphdrnum(elf, &count) || elf_getshdrnum(elf, &sections))
		return 0;
	for (size_t i = 0; i < count && !err; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment))
			continue;
		if (segment.p_type == PT_NOTE && !parts->build_id[0])
			read_build_id(parts,
				      elf_getdata_rawchunk(
					      elf, (int64_t)segment.p_offset, segment.p_filesz,
					      segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR));
		if (segment.p_type == PT_NOTE && segment.p_filesz <= most - parts->size)
			err = parts__add(parts, segment.p_offset, segment.p_filesz);
		if (!err && segment.p_type == PT_GNU_EH_FRAME && !sections)
			err = add_unwind_segment(parts, elf, count, &segment, most);
	}
	return err;
}

static int add_headers(struct elf_parts *parts, Elf *elf)
{
	size_t names = 0;
	GElf_Ehdr header;
	GElf_Shdr section;
	Elf_Scn *scn;
	int err;

	if (!gelf_getehdr(elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOEXEC;
	err = parts__add(parts, 0, header.e_ehsize);
	if (!err)
		err = parts__add(parts, header.e_phoff,
				 (uint64_t)header.e_phentsize * header.e_phnum);
	if (!err)
		err = parts__add(parts, header.e_shoff,
				 (uint64_t)header.e_shentsize * header.e_shnum);
	if (err || elf_getshdrstrndx(elf, &names) || !names)
		return err;
	scn = elf_getscn(elf, names);
	if (!scn || !gelf_getshdr(scn, &section))
		return 0;
	return parts__add(parts, section.sh_offset, section.sh_size);
}

int elf_parts__find(struct elf_parts *parts, int fd, uint64_t most)
{
	Elf *elf;
	int err;

	*parts = (struct elf_parts){0};
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOEXEC;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return -ENOEXEC;
	}
	err = add_headers(parts, elf);
	if (!err && parts->size > most)
		err = -EFBIG;
	if (!err)
		err = add_sections(parts, elf, most);
	if (!err)
		err = add_segments(parts, elf, most);
	elf_end(elf);
	if (err) {
		elf_parts__free(parts);
		return err;
	}
	parts__join(parts);
	return 0;
}

void elf_parts__free(struct elf_parts *parts)
{
	free(parts->parts);
	parts->parts = NULL;
	parts->count = 0;
}
