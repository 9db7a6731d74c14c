// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of code addresses, found once and kept.
 *
 * Runtimes tell where a task was made as an address. Static functions, which most tasks are made
 * in, are in no dynamic symbol table, so dladdr() does not know them: the symbol table is read from
 * the file. That takes some 100 us a binary and some 10 us a place, once; programs have few places
 * that make tasks.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "code_name.h"

#define SLOTS 4096U /* a power of two */

struct entry {
	uintptr_t address;
	const char *kind;
	const char *name;
};

/* entries are published whole and never change */
static const struct entry *entries[SLOTS];
static uint32_t entry_count;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

struct module { /* the one that has the address */
	uintptr_t address, base;
	uintptr_t first, last;
	char path[512];
	bool found;
};

static void note_extent(struct module *module, const struct dl_phdr_info *info)
{
	module->base = info->dlpi_addr;
	module->first = UINTPTR_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || !segment->p_memsz)
			continue;
		if (start < module->first)
			module->first = start;
		if (start + segment->p_memsz - 1 > module->last)
			module->last = start + segment->p_memsz - 1;
	}
	module->found = true;
}

static int is_in_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct module *module = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD ||
		    module->address - (info->dlpi_addr + segment->p_vaddr) >= segment->p_memsz)
			continue;
		note_extent(module, info);
		/* the program's own name is empty there; its link resolves also in a chroot */
		snprintf(module->path, sizeof(module->path), "%s",
			 info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe");
		return 1;
	}
	return 0;
}

struct image { /* a file, mapped */
	const char *bytes;
	size_t size;
};

static bool image__has(const struct image *image, uint64_t offset, uint64_t size)
{
	return offset <= image->size && size <= image->size - offset;
}

static int image__open(struct image *image, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *bytes = MAP_FAILED;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_size > (off_t)sizeof(ElfW(Ehdr)))
		bytes = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return -1;
	image->bytes = bytes;
	image->size = st.st_size;
	return 0;
}

/* the symbol table of that type, or NULL */
static const ElfW(Shdr) * find_table(const struct image *image, uint32_t type)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)image->bytes;
	const ElfW(Shdr) *sections = (const ElfW(Shdr) *)(image->bytes + header->e_shoff);

	if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_shentsize != sizeof(*sections) ||
	    !image__has(image, header->e_shoff, (uint64_t)header->e_shnum * sizeof(*sections)))
		return NULL;
	for (int i = 0; i < header->e_shnum; i++) {
		if (sections[i].sh_type != type || sections[i].sh_link >= header->e_shnum)
			continue;
		if (image__has(image, sections[i].sh_offset, sections[i].sh_size) &&
		    image__has(image, sections[sections[i].sh_link].sh_offset,
			       sections[sections[i].sh_link].sh_size))
			return &sections[i];
	}
	return NULL;
}

/* the function around @offset in a table: its name and how far into it; false if there is none */
static bool find_function(const struct image *image, uint32_t type, uintptr_t offset,
			  const char **name, uintptr_t *distance)
{
	const ElfW(Shdr) *table = find_table(image, type), *sections, *strings;
	const ElfW(Sym) * symbol;

	if (!table)
		return false;
	sections = (const ElfW(Shdr) *)(image->bytes + ((const ElfW(Ehdr) *)image->bytes)->e_shoff);
	strings = &sections[table->sh_link];
	symbol = (const ElfW(Sym) *)(image->bytes + table->sh_offset);
	for (size_t i = 0; i < table->sh_size / sizeof(*symbol); i++, symbol++) {
		if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !symbol->st_shndx ||
		    offset - symbol->st_value >= symbol->st_size ||
		    symbol->st_name >= strings->sh_size)
			continue;
		*name = image->bytes + strings->sh_offset + symbol->st_name;
		if (!memchr(*name, 0, strings->sh_size - symbol->st_name) || !**name)
			continue;
		*distance = offset - symbol->st_value;
		return true;
	}
	return false;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "main" for "main.omp_outlined_debug__.3", but ".omp_outlined." as it is: what stands before the
 * mark */
static size_t plain_length(const char *name)
{
	const char *mark = strstr(name, ".omp_outlined");

	if (!mark || mark == name)
		mark = strstr(name, "._omp_fn.");
	return mark && mark != name ? (size_t)(mark - name) : strlen(name);
}

static void describe(char *out, size_t size, const char *kind, uintptr_t address)
{
	char *(*demangle)(const char *, char *, size_t *, int *) =
		(char *(*)(const char *, char *, size_t *, int *))dlsym(RTLD_DEFAULT,
									"__cxa_demangle");
	struct module module = {.address = address};
	struct image image = {0};
	const char *space = *kind ? " " : "", *name;
	uintptr_t distance;
	char *readable = NULL, plain[CODE_NAME_MAX];

	dl_iterate_phdr(is_in_module, &module);
	if (!module.found) {
		snprintf(out, size, "%s%s%#lx", kind, space, (unsigned long)address);
		return;
	}
	if (!image__open(&image, module.path) &&
	    (find_function(&image, SHT_SYMTAB, address - module.base, &name, &distance) ||
	     find_function(&image, SHT_DYNSYM, address - module.base, &name, &distance))) {
		snprintf(plain, sizeof(plain), "%.*s", (int)plain_length(name), name);
		/* only in programs that have it, C++ ones */
		if (demangle)
			readable = demangle(plain, NULL, NULL, NULL);
		snprintf(out, size, "%s%s%.120s+%#lx", kind, space, readable ? readable : plain,
			 (unsigned long)distance);
		free(readable);
	} else {
		if (!strcmp(module.path, "/proc/self/exe")) {
			ssize_t length =
				readlink("/proc/self/exe", module.path, sizeof(module.path) - 1);

			module.path[length > 0 ? length : 0] = 0;
		}
		snprintf(out, size, "%s%s%.120s+%#lx", kind, space, base_name(module.path),
			 (unsigned long)(address - module.base));
	}
	if (image.bytes)
		munmap((void *)image.bytes, image.size);
}

bool code_extent(const void *address, uintptr_t *first, uintptr_t *last)
{
	struct module module = {.address = (uintptr_t)address};

	dl_iterate_phdr(is_in_module, &module);
	*first = module.first;
	*last = module.last;
	return module.found;
}

static uint32_t slot_of(uintptr_t address, const char *kind)
{
	uint64_t hash = ((uint64_t)address ^ (uintptr_t)kind << 20) * 0x9e3779b97f4a7c15ULL;

	return hash >> 32 & (SLOTS - 1);
}

/* the entry, or NULL and the free slot where it belongs */
static const struct entry *find(uintptr_t address, const char *kind, uint32_t *slot)
{
	const struct entry *entry;

	for (*slot = slot_of(address, kind);; *slot = (*slot + 1) & (SLOTS - 1)) {
		entry = __atomic_load_n(&entries[*slot], __ATOMIC_ACQUIRE);
		if (!entry || (entry->address == address && entry->kind == kind))
			return entry;
	}
}

const char *code_name(const char *kind, const void *pointer)
{
	uintptr_t address = (uintptr_t)pointer;
	const struct entry *entry;
	char text[CODE_NAME_MAX];
	struct entry *made;
	uint32_t slot;

	if (!address)
		return *kind ? kind : "task";
	entry = find(address, kind, &slot);
	if (entry)
		return entry->name;
	pthread_mutex_lock(&adding);
	entry = find(address, kind, &slot);
	if (!entry && entry_count < SLOTS / 2) {
		describe(text, sizeof(text), kind, address);
		made = malloc(sizeof(*made));
		if (made) {
			*made = (struct entry){address, kind, strdup(text)};
			if (made->name) {
				__atomic_store_n(&entries[slot], made, __ATOMIC_RELEASE);
				entry_count++;
				entry = made;
			} else {
				free(made);
			}
		}
	}
	pthread_mutex_unlock(&adding);
	return entry ? entry->name : *kind ? kind : "task";
}
