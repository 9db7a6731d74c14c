// SPDX-License-Identifier: BSD-2-Clause
/*
 * Binaries that call stacks lead through.
 *
 * The capture has a file's unwind tables and symbols; given back to libelf as a file with holes
 * they serve as the whole would, so a capture is read alike where the program never was. The file
 * at the path of then, if its build id (else its size and last change) is that of then, and a debug
 * file of the same build id (else of the checksum that .gnu_debuglink tells) add what the capture
 * has not: names that were stripped, lines, inlined functions.
 */
#include "object.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "base/say.h"
#include "dso.h"

#define PARTS_MAX 4096
#define KEPT_SIZE_MAX (64ULL << 30) /* of a file with holes; they take no memory */

struct object *object__new(int64_t id, const char *path, const char *build_id, uint64_t size,
			   uint64_t changed)
{
	struct object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->id = id;
	object->size = size;
	object->changed = changed;
	object->kept.fd = object->file.fd = object->debug.fd = -1;
	object->path = strdup(path);
	object->build_id = strdup(build_id);
	if (object->path && object->build_id)
		return object;
	object__free(object);
	return NULL;
}

void object__keep(struct object *object, struct json_object *json, const uint8_t *bytes,
		  size_t size)
{
	struct json_object *ranges, *range;
	size_t count, at = 0;

	if (object->bytes || !json_object_object_get_ex(json, "ranges", &ranges) ||
	    !json_object_is_type(ranges, json_type_array))
		return;
	count = json_object_array_length(ranges);
	if (count > PARTS_MAX)
		return;
	object->bytes = malloc(size ? size : 1);
	object->parts = calloc(count + 1, sizeof(*object->parts));
	if (!object->bytes || !object->parts)
		return;
	memcpy(object->bytes, bytes, size);
	object->byte_count = size;
	for (size_t i = 0; i < count; i++) {
		struct object_load *part = &object->parts[object->part_count];

		range = json_object_array_get_idx(ranges, i);
		if (!json_object_is_type(range, json_type_array) ||
		    json_object_array_length(range) < 2)
			continue;
		part->offset = json_object_get_uint64(json_object_array_get_idx(range, 0));
		part->size = json_object_get_uint64(json_object_array_get_idx(range, 1));
		if (part->size > size - at || part->offset > KEPT_SIZE_MAX)
			break;
		at += part->size;
		object->part_count++;
	}
}

/* --- files --- */

static void object_elf__close(struct object_elf *file)
{
	if (file->elf)
		elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct object_elf){.fd = -1};
}

static bool object_elf__begin(struct object_elf *file)
{
	file->elf = file->fd >= 0 ? elf_begin(file->fd, ELF_C_READ_MMAP, NULL) : NULL;
	if (file->elf && elf_kind(file->elf) == ELF_K_ELF && gelf_getclass(file->elf) == ELFCLASS64)
		return true;
	object_elf__close(file);
	return false;
}

/* what the capture has, as a file with holes */
static void object__open_kept(struct object *object)
{
	size_t at = 0;

	if (!object->part_count || object->size > KEPT_SIZE_MAX)
		return;
	object->kept.fd = memfd_create("tracer-binary", MFD_CLOEXEC);
	if (object->kept.fd < 0 || ftruncate(object->kept.fd, (off_t)object->size))
		goto fail;
	for (size_t i = 0; i < object->part_count; i++) {
		const struct object_load *part = &object->parts[i];

		if (part->offset + part->size > object->size ||
		    pwrite(object->kept.fd, object->bytes + at, part->size, (off_t)part->offset) !=
			    (ssize_t)part->size)
			goto fail;
		at += part->size;
	}
	if (object_elf__begin(&object->kept))
		return;
fail:
	object_elf__close(&object->kept);
}

static bool elf__has_build_id(Elf *elf, const char *build_id)
{
	char hex[129];
	const void *id;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &id);

	if (size <= 0 || size > 64)
		return false;
	for (ssize_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", ((const unsigned char *)id)[i]);
	return !strcmp(hex, build_id);
}

/* the file at the path of then, if it is the one of then */
static void object__open_file(struct object *object)
{
	struct stat status;
	uint64_t changed;

	object->file.fd = open(object->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (object->file.fd < 0)
		return;
	if (fstat(object->file.fd, &status) || !S_ISREG(status.st_mode) ||
	    !object_elf__begin(&object->file)) {
		object->replaced = true;
		object_elf__close(&object->file);
		return;
	}
	changed =
		(uint64_t)status.st_mtim.tv_sec * 1000000000ULL + (uint64_t)status.st_mtim.tv_nsec;
	if (object->build_id[0]
		    ? elf__has_build_id(object->file.elf, object->build_id)
		    : (uint64_t)status.st_size == object->size && changed == object->changed)
		return;
	object->replaced = true;
	object_elf__close(&object->file);
}

/* --- debug files --- */

static bool file__has_checksum(int fd, uint32_t wanted)
{
	unsigned char bytes[65536];
	uLong checksum = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		checksum = crc32(checksum, bytes, (uInt)n);
		at += n;
	}
	return !n && checksum == wanted;
}

/* takes the file at @path if it is the debug file of the object; @checksum: NULL, or its checksum
 */
static bool object__try_debug(struct object *object, const char *path, const uint32_t *checksum)
{
	struct object_elf *debug = &object->debug;

	debug->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (debug->fd < 0 || !object_elf__begin(debug))
		return false;
	if (object->build_id[0] ? elf__has_build_id(debug->elf, object->build_id)
				: checksum && file__has_checksum(debug->fd, *checksum)) {
		say__verbose("%s: names and lines from %s", object->path, path);
		return true;
	}
	object_elf__close(debug);
	return false;
}

static bool object__try_build_id(struct object *object, const char *dir)
{
	char path[4096];

	if (strlen(object->build_id) < 3)
		return false;
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", dir, object->build_id,
		 object->build_id + 2);
	return object__try_debug(object, path, NULL);
}

static bool object__try_link(struct object *object, const char *dir, const char *folder,
			     const char *name, const uint32_t *checksum)
{
	char path[8192];

	snprintf(path, sizeof(path), "%s%s/%s", dir, folder, name);
	if (object__try_debug(object, path, checksum))
		return true;
	snprintf(path, sizeof(path), "%s%s/.debug/%s", dir, folder, name);
	if (object__try_debug(object, path, checksum))
		return true;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return *dir && object__try_debug(object, path, checksum);
}

/* by build id in each folder, then by the name that the binary tells, or that people would give */
static void object__open_debug(struct object *object, const struct debug_dirs *dirs)
{
	Elf *elf = object->kept.elf ? object->kept.elf : object->file.elf;
	char *copy = strdup(object->path), *folder, *base, own[4096];
	GElf_Word checksum = 0;
	const char *link = elf ? dwelf_elf_gnu_debuglink(elf, &checksum) : NULL;
	bool found = false;

	if (!copy)
		return;
	base = strrchr(object->path, '/');
	base = base ? base + 1 : object->path;
	folder = dirname(copy);
	snprintf(own, sizeof(own), "%s.debug", base);
	for (size_t i = 0; i <= dirs->count && !found; i++) {
		const char *dir = i < dirs->count ? dirs->dirs[i] : "/usr/lib/debug";

		found = object__try_build_id(object, dir) ||
			(link && object__try_link(object, dir, folder, link, &checksum));
		if (!found && i < dirs->count)
			found = object__try_link(object, dir, folder, own, NULL) ||
				object__try_link(object, dir, folder, base, NULL);
	}
	if (!found && link)
		object__try_link(object, "", folder, link, &checksum);
	free(copy);
}

/* --- what they hold --- */

static void object__read_loads(struct object *object, Elf *elf)
{
	size_t count = 0;

	if (elf_getphdrnum(elf, &count) || count > PARTS_MAX)
		return;
	object->loads = calloc(count + 1, sizeof(*object->loads));
	for (size_t i = 0; object->loads && i < count; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD)
			object->loads[object->load_count++] = (struct object_load){
				segment.p_vaddr, segment.p_offset, segment.p_filesz};
	}
}

bool object__address(const struct object *object, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < object->load_count; i++) {
		const struct object_load *load = &object->loads[i];

		if (offset >= load->offset && offset - load->offset < load->size) {
			*address = load->address + (offset - load->offset);
			return true;
		}
	}
	return false;
}

static uint8_t symbol__rank(const GElf_Sym *symbol, const char *name)
{
	uint8_t rank = symbol->st_size ? 8 : 0;

	if (GELF_ST_BIND(symbol->st_info) == STB_GLOBAL)
		rank += 4;
	else if (GELF_ST_BIND(symbol->st_info) == STB_WEAK)
		rank += 2;
	return name[0] != '_' ? rank + 1 : rank;
}

static void object__add_symbols(struct object *object, Elf *elf, Elf_Scn *section,
				const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
	struct object_symbol *symbols;

	if (!count || count > INT32_MAX / 2)
		return;
	symbols = reallocarray(object->symbols, object->symbol_count + count, sizeof(*symbols));
	if (!symbols)
		return;
	object->symbols = symbols;
	for (size_t i = 0; i < count; i++) {
		GElf_Sym symbol;
		const char *name;
		unsigned int type;

		if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF)
			continue;
		type = GELF_ST_TYPE(symbol.st_info);
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		/* labels of assembler code have no type */
		if (!name || !*name ||
		    (type != STT_FUNC && type != STT_GNU_IFUNC &&
		     (type != STT_NOTYPE || name[0] == '$')))
			continue;
		object->symbols[object->symbol_count++] = (struct object_symbol){
			symbol.st_value, symbol.st_size, name, symbol__rank(&symbol, name)};
	}
}

static void object__read_symbols(struct object *object, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (elf && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			object__add_symbols(object, elf, section, &header);
}

static int compare_symbols(const void *left, const void *right)
{
	const struct object_symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp(b->name, a->name);
}

const struct object_symbol *object__symbol(const struct object *object, uint64_t address)
{
	size_t low = 0, high = object->symbol_count, middle;

	/* the last that begins at or before the address; of several there the best */
	while (low < high) {
		middle = (low + high) / 2;
		if (object->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low, looked = 0; i && looked < 16; i--, looked++) {
		const struct object_symbol *symbol = &object->symbols[i - 1];

		if (symbol->size ? address - symbol->address < symbol->size : looked == 0)
			return symbol;
	}
	return NULL;
}

static Dwarf *elf__dwarf(Elf *elf)
{
	Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	Dwarf_CU *unit = NULL;

	/* one that only has .debug_frame does not help with names */
	if (dwarf && (dwarf_get_units(dwarf, NULL, &unit, NULL, NULL, NULL, NULL) != 0)) {
		dwarf_end(dwarf);
		dwarf = NULL;
	}
	return dwarf;
}

void object__open(struct object *object, const struct debug_dirs *dirs)
{
	Elf *elf;

	if (object->opened)
		return;
	object->opened = true;
	elf_version(EV_CURRENT);
	object__open_kept(object);
	object__open_file(object);
	elf = object->kept.elf ? object->kept.elf : object->file.elf;
	if (object->replaced)
		say__verbose("%s: is not the file that was traced any more%s", object->path,
			     elf ? "; the capture has its functions" : "");
	object__open_debug(object, dirs);
	if (!elf)
		return;
	object__read_loads(object, elf);
	object__read_symbols(object, elf);
	if (object->kept.elf && object->file.elf && !object->symbol_count)
		object__read_symbols(object, object->file.elf);
	object__read_symbols(object, object->debug.elf);
	if (object->symbol_count)
		qsort(object->symbols, object->symbol_count, sizeof(*object->symbols),
		      compare_symbols);
	object->unwind = dwarf_getcfi_elf(elf);
	if (!object->unwind && object->file.elf)
		object->unwind = dwarf_getcfi_elf(object->file.elf);
	object->dwarf = elf__dwarf(object->debug.elf);
	if (!object->dwarf)
		object->dwarf = elf__dwarf(object->file.elf);
	if (object->dwarf)
		object->unwind_debug = dwarf_getcfi(object->dwarf);
}

void object__free(struct object *object)
{
	if (!object)
		return;
	dwarf_cfi_end(object->unwind);
	dwarf_end(object->dwarf); /* and with it unwind_debug */
	object_elf__close(&object->debug);
	object_elf__close(&object->file);
	object_elf__close(&object->kept);
	free(object->symbols);
	free(object->loads);
	free(object->parts);
	free(object->bytes);
	free(object->path);
	free(object->build_id);
	free(object);
}
