// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tables of a binary. libdwfl finds and merges what there is: the program's own tables, the
 * xz-compressed one of .gnu_debugdata, a separate debug file. It would also ask debuginfo servers
 * on the network: not with the one callback that is given here, as nobody may wait for that.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../base/say.h"
#include "spec.h"
#include "symbols.h"

#define PAGE 4096ULL
#define GO_TABLE_MAX (1ULL << 30)

struct symbols {
	Dwfl *dwfl;
	Dwfl_Module *module;
	Elf *elf; /* the program itself */
	int fd;
	Dwfl_Callbacks callbacks;
	char *debug_path;
	GElf_Phdr *segments;
	size_t segment_count;
	uint64_t first_load;
	uint16_t machine;
	bool has_symtab;
	struct symbol *by_address;
	struct symbol **by_name;
	size_t count, room;
	uint8_t *go_table; /* names point into it */
};

/* --- the file --------------------------------------------------------------------------------- */

bool symbols__offset(const struct symbols *symbols, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < symbols->segment_count; i++) {
		const GElf_Phdr *segment = &symbols->segments[i];

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    address - segment->p_vaddr >= segment->p_filesz)
			continue;
		*offset = segment->p_offset + (address - segment->p_vaddr);
		return true;
	}
	return false;
}

bool symbols__address(const struct symbols *symbols, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < symbols->segment_count; i++) {
		const GElf_Phdr *segment = &symbols->segments[i];

		if (segment->p_type != PT_LOAD || offset < segment->p_offset ||
		    offset - segment->p_offset >= segment->p_filesz)
			continue;
		*address = segment->p_vaddr + (offset - segment->p_offset);
		return true;
	}
	return false;
}

size_t symbols__read(const struct symbols *symbols, uint64_t address, void *to, size_t size)
{
	uint64_t offset;
	ssize_t got;

	if (!symbols__offset(symbols, address, &offset))
		return 0;
	got = pread(symbols->fd, to, size, (off_t)offset);
	return got < 0 ? 0 : (size_t)got;
}

static Elf_Scn *section__find(const struct symbols *symbols, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	const char *its;
	size_t names;

	if (elf_getshdrstrndx(symbols->elf, &names))
		return NULL;
	while ((section = elf_nextscn(symbols->elf, section))) {
		its = gelf_getshdr(section, header)
			      ? elf_strptr(symbols->elf, names, header->sh_name)
			      : NULL;
		if (its && pattern__matches(name, its))
			return section;
	}
	return NULL;
}

bool symbols__has_section(struct symbols *symbols, const char *name)
{
	GElf_Shdr header;

	return section__find(symbols, name, &header) != NULL;
}

bool symbols__is_stub(struct symbols *symbols, uint64_t address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;
	size_t names;

	if (elf_getshdrstrndx(symbols->elf, &names))
		return false;
	while ((section = elf_nextscn(symbols->elf, section))) {
		if (!gelf_getshdr(section, &header) || address < header.sh_addr ||
		    address - header.sh_addr >= header.sh_size)
			continue;
		name = elf_strptr(symbols->elf, names, header.sh_name);
		if (name && !strncmp(name, ".plt", 4))
			return true;
	}
	return false;
}

bool symbols__section(const struct symbols *symbols, const char *name, uint64_t *address,
		      uint64_t *size)
{
	GElf_Shdr header;

	if (!section__find(symbols, name, &header))
		return false;
	*address = header.sh_addr;
	*size = header.sh_size;
	return true;
}

static int segments__read(struct symbols *symbols)
{
	uint64_t lowest = UINT64_MAX;
	size_t count;

	if (elf_getphdrnum(symbols->elf, &count) || !count)
		return -ENOEXEC;
	symbols->segments = calloc(count, sizeof(*symbols->segments));
	if (!symbols->segments)
		return -ENOMEM;
	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		GElf_Phdr *segment = &symbols->segments[symbols->segment_count];

		if (!gelf_getphdr(symbols->elf, (int)i, segment))
			continue;
		symbols->segment_count++;
		if (segment->p_type == PT_LOAD && segment->p_vaddr < lowest)
			lowest = segment->p_vaddr;
	}
	symbols->first_load = lowest & ~(PAGE - 1);
	return lowest == UINT64_MAX ? -ENOEXEC : 0;
}

uint16_t symbols__machine(const struct symbols *symbols)
{
	return symbols->machine;
}

uint64_t symbols__first_load(const struct symbols *symbols)
{
	return symbols->first_load;
}

bool symbols__is_stripped(const struct symbols *symbols)
{
	return !symbols->has_symtab;
}

int64_t symbols__tls_offset(const struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->segment_count; i++) {
		const GElf_Phdr *segment = &symbols->segments[i];
		uint64_t align = segment->p_align ? segment->p_align : 1;

		if (segment->p_type != PT_TLS)
			continue;
		/* below the thread pointer on x86, behind a header of 16 bytes on arm64 */
		if (symbols->machine == EM_AARCH64)
			return (int64_t)((16 + align - 1) / align * align);
		return -(int64_t)((segment->p_memsz + align - 1) / align * align);
	}
	return 0;
}

/* --- tables of functions ---------------------------------------------------------------------- */

static int symbols__add(struct symbols *symbols, const struct symbol *symbol)
{
	struct symbol *more;

	if (symbols->count == symbols->room) {
		symbols->room = symbols->room ? symbols->room * 2 : 1024;
		more = reallocarray(symbols->by_address, symbols->room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		symbols->by_address = more;
	}
	symbols->by_address[symbols->count++] = *symbol;
	return 0;
}

static int table__read(struct symbols *symbols)
{
	int count = dwfl_module_getsymtab(symbols->module), i, err = 0;

	for (i = 1; i < count && !err; i++) {
		GElf_Addr address;
		GElf_Word section;
		GElf_Sym symbol;
		const char *name = dwfl_module_getsym_info(symbols->module, i, &symbol, &address,
							   &section, NULL, NULL);
		int type = GELF_ST_TYPE(symbol.st_info);

		if (!name || !*name || section == SHN_UNDEF ||
		    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_OBJECT &&
		     type != STT_NOTYPE && type != STT_TLS))
			continue;
		err = symbols__add(symbols,
				   &(struct symbol){
					   .name = name,
					   .address = type == STT_TLS ? symbol.st_value : address,
					   .size = symbol.st_size,
					   .is_function = type != STT_OBJECT && type != STT_TLS,
					   .is_tls = type == STT_TLS,
				   });
	}
	return err;
}

static int go__take(void *ctx, const char *name, uint64_t address, uint64_t size)
{
	return symbols__add(ctx, &(struct symbol){
					 .name = name,
					 .address = address,
					 .size = size,
					 .is_function = true,
				 });
}

static void go_table__read(struct symbols *symbols)
{
	GElf_Shdr header, text = {0};
	Elf_Scn *section = section__find(symbols, "*.gopclntab", &header);
	size_t i, before = symbols->count;

	if (!section || !header.sh_size || header.sh_size > GO_TABLE_MAX)
		return;
	for (i = 0; i < symbols->count; i++) {
		if (!strcmp(symbols->by_address[i].name, "runtime.main"))
			return; /* the ordinary table has them */
	}
	symbols->go_table = malloc(header.sh_size);
	if (!symbols->go_table || symbols__read(symbols, header.sh_addr, symbols->go_table,
						header.sh_size) != header.sh_size)
		return;
	section__find(symbols, ".text", &text);
	if (gotab__read(symbols->go_table, header.sh_size, text.sh_addr, go__take, symbols))
		symbols->count = before; /* damaged: none rather than wrong ones */
}

static int by_address(const void *one, const void *other)
{
	const struct symbol *a = one, *b = other;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int by_name(const void *one, const void *other)
{
	const struct symbol *a = *(struct symbol *const *)one, *b = *(struct symbol *const *)other;
	int order = strcmp(a->name, b->name);

	if (order || a->address == b->address)
		return order;
	return a->address < b->address ? -1 : 1;
}

/* symbols of assembler code often have no size: up to the next one */
static void sizes__fill(struct symbols *symbols)
{
	uint64_t next = 0;
	size_t i;

	for (i = symbols->count; i-- > 0;) {
		struct symbol *symbol = &symbols->by_address[i];

		if (!symbol->is_function)
			continue;
		if (!symbol->size && next > symbol->address)
			symbol->size = next - symbol->address;
		if (i && symbols->by_address[i - 1].address != symbol->address)
			next = symbol->address;
	}
}

static int symbols__index(struct symbols *symbols)
{
	size_t i;

	if (!symbols->count)
		return 0;
	qsort(symbols->by_address, symbols->count, sizeof(*symbols->by_address), by_address);
	sizes__fill(symbols);
	symbols->by_name = calloc(symbols->count, sizeof(*symbols->by_name));
	if (!symbols->by_name)
		return -ENOMEM;
	for (i = 0; i < symbols->count; i++)
		symbols->by_name[i] = &symbols->by_address[i];
	qsort(symbols->by_name, symbols->count, sizeof(*symbols->by_name), by_name);
	return 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int symbols__open_module(struct symbols *symbols, const char *path, const char *root)
{
	GElf_Ehdr header;
	GElf_Addr bias;
	int fd;

	symbols->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (symbols->fd < 0 || fd < 0)
		goto fail;
	symbols->debug_path = sentence__new("%s/usr/lib/debug:/usr/lib/debug", root);
	symbols->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_build_id_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &symbols->debug_path,
	};
	symbols->dwfl = dwfl_begin(&symbols->callbacks);
	if (!symbols->dwfl)
		goto fail;
	symbols->module = dwfl_report_elf(symbols->dwfl, "target", path, fd, 0, true);
	if (!symbols->module)
		goto fail;
	fd = -1; /* libdwfl's */
	dwfl_report_end(symbols->dwfl, NULL, NULL);
	symbols->elf = dwfl_module_getelf(symbols->module, &bias);
	if (!symbols->elf || !gelf_getehdr(symbols->elf, &header) ||
	    header.e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOEXEC;
	symbols->machine = header.e_machine;
	return 0;
fail:
	if (fd >= 0)
		close(fd);
	return symbols->fd < 0 ? -errno : -ENOEXEC;
}

struct symbols *symbols__open(const char *path, const char *root, char **err)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	int rc = -ENOMEM;
	GElf_Shdr header;

	if (!symbols)
		goto fail;
	symbols->fd = -1;
	elf_version(EV_CURRENT);
	rc = symbols__open_module(symbols, path, root);
	if (!rc)
		rc = segments__read(symbols);
	if (!rc)
		rc = table__read(symbols);
	if (rc)
		goto fail;
	go_table__read(symbols);
	symbols->has_symtab = section__find(symbols, ".symtab", &header) || symbols->go_table;
	rc = symbols__index(symbols);
	if (rc)
		goto fail;
	return symbols;
fail:
	if (err)
		*err = sentence__new("%s: %s", path,
				     rc == -ENOEXEC ? "not an ELF program or library of 64 bits"
						    : strerror(-rc));
	symbols__close(symbols);
	return NULL;
}

void symbols__close(struct symbols *symbols)
{
	if (!symbols)
		return;
	if (symbols->dwfl)
		dwfl_end(symbols->dwfl);
	if (symbols->fd >= 0)
		close(symbols->fd);
	free(symbols->debug_path);
	free(symbols->segments);
	free(symbols->by_address);
	free(symbols->by_name);
	free(symbols->go_table);
	free(symbols);
}

/* --- looking up ------------------------------------------------------------------------------- */

const struct symbol *symbols__find(struct symbols *symbols, const char *name)
{
	size_t low = 0, high = symbols->count, middle;
	int order;

	while (low < high) {
		middle = low + (high - low) / 2;
		order = strcmp(symbols->by_name[middle]->name, name);
		if (!order)
			return symbols->by_name[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct symbol *symbols__at(struct symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->count, middle;
	const struct symbol *symbol;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (symbols->by_address[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > 0) {
		symbol = &symbols->by_address[low];
		if (symbol->is_function &&
		    address - symbol->address < (symbol->size ? symbol->size : 1))
			return symbol;
		if (address - symbol->address > 1 << 16)
			break;
	}
	return NULL;
}

/* "name@VERSION": which address the dynamic table has under it; false: none */
static bool versioned__find(struct symbols *symbols, const char *name, size_t len,
			    const char *version, uint64_t *address)
{
	Elf_Scn *section = NULL;
	Elf_Data *table = NULL, *indices = NULL, *definitions = NULL;
	GElf_Shdr header, table_header = {0}, definition_header = {0};
	size_t i, at;

	while ((section = elf_nextscn(symbols->elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_DYNSYM) {
			table = elf_getdata(section, NULL);
			table_header = header;
		} else if (header.sh_type == SHT_GNU_versym) {
			indices = elf_getdata(section, NULL);
		} else if (header.sh_type == SHT_GNU_verdef) {
			definitions = elf_getdata(section, NULL);
			definition_header = header;
		}
	}
	for (i = 1; table && indices && definitions && table_header.sh_entsize &&
		    i < table->d_size / table_header.sh_entsize;
	     i++) {
		GElf_Versym index;
		GElf_Verdef definition;
		GElf_Verdaux auxiliary;
		const char *its;
		GElf_Sym symbol;

		if (!gelf_getsym(table, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		    !gelf_getversym(indices, (int)i, &index))
			continue;
		its = elf_strptr(symbols->elf, table_header.sh_link, symbol.st_name);
		if (!its || strlen(its) != len || memcmp(its, name, len) != 0)
			continue;
		for (at = 0; gelf_getverdef(definitions, (int)at, &definition);
		     at += definition.vd_next) {
			if (definition.vd_ndx == (index & 0x7fff) &&
			    gelf_getverdaux(definitions, (int)(at + definition.vd_aux),
					    &auxiliary)) {
				its = elf_strptr(symbols->elf, definition_header.sh_link,
						 auxiliary.vda_name);
				if (its && pattern__matches(version, its)) {
					*address = symbol.st_value;
					return true;
				}
			}
			if (!definition.vd_next)
				break;
		}
	}
	return false;
}

/* the longest piece of a pattern that a mangled name must have too */
static void needle__find(const char *pattern, char *needle, size_t room)
{
	size_t best = 0, len;

	needle[0] = '\0';
	while (*pattern) {
		len = strspn(pattern,
			     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
		if (len > best && len < room) {
			best = len;
			memcpy(needle, pattern, len);
			needle[len] = '\0';
		}
		pattern += len ? len : 1;
	}
}

struct matcher {
	const char *pattern;
	bool is_regex, is_demangled;
	regex_t regex;
	char needle[128];
};

static bool matcher__fits(const struct matcher *matcher, const char *name)
{
	char *shown;
	bool fits;

	if (!matcher->is_demangled)
		return matcher->is_regex ? !regexec(&matcher->regex, name, 0, NULL, 0)
					 : pattern__matches(matcher->pattern, name);
	if (name[0] != '_' || (!matcher->is_regex && !strstr(name, matcher->needle)))
		return false;
	shown = symbol__shown(name);
	if (!shown)
		return false;
	fits = matcher->is_regex ? !regexec(&matcher->regex, shown, 0, NULL, 0)
				 : pattern__matches(matcher->pattern, shown);
	free(shown);
	return fits;
}

size_t symbols__match(struct symbols *symbols, const char *pattern, bool is_regex,
		      void (*take)(void *ctx, const struct symbol *symbol), void *ctx)
{
	struct matcher matcher = {
		.pattern = pattern,
		.is_regex = is_regex,
		.is_demangled = strstr(pattern, "::") || (!is_regex && strchr(pattern, '(')),
	};
	const char *at = strchr(pattern, '@');
	uint64_t last = UINT64_MAX, versioned = 0;
	size_t i, count = 0;

	if (at && !is_regex && at != pattern) {
		if (!versioned__find(symbols, pattern, (size_t)(at - pattern),
				     at + 1 + (at[1] == '@'), &versioned))
			return 0;
		take(ctx, &(struct symbol){pattern, versioned, 0, true, false});
		return 1;
	}
	if (is_regex && regcomp(&matcher.regex, pattern, REG_EXTENDED | REG_NOSUB))
		return 0;
	needle__find(pattern, matcher.needle, sizeof(matcher.needle));
	for (i = 0; i < symbols->count; i++) {
		const struct symbol *symbol = &symbols->by_address[i];

		if (!symbol->is_function || symbol->address == last ||
		    !matcher__fits(&matcher, symbol->name))
			continue;
		last = symbol->address;
		take(ctx, symbol);
		count++;
	}
	if (is_regex)
		regfree(&matcher.regex);
	return count;
}

/* --- types ------------------------------------------------------------------------------------ */

static Dwarf_Die *type__strip(Dwarf_Die *die, Dwarf_Die *room)
{
	Dwarf_Attribute attribute;
	int tag, i;

	for (i = 0; i < 16; i++) {
		tag = dwarf_tag(die);
		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
		    tag != DW_TAG_volatile_type)
			break;
		if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) ||
		    !dwarf_formref_die(&attribute, room))
			return NULL;
		die = room;
	}
	return die;
}

static int member__find(Dwarf_Die *type, const char *member, int64_t *offset)
{
	size_t len = strcspn(member, ".");
	Dwarf_Die room, child, its, *found = type__strip(type, &room);
	Dwarf_Attribute attribute;
	Dwarf_Word at = 0;
	const char *name;

	if (!found || dwarf_child(found, &child))
		return -ENOENT;
	do {
		if (dwarf_tag(&child) != DW_TAG_member)
			continue;
		at = 0;
		if (dwarf_attr(&child, DW_AT_data_member_location, &attribute) &&
		    dwarf_formudata(&attribute, &at))
			continue;
		name = dwarf_diename(&child);
		if (!dwarf_attr(&child, DW_AT_type, &attribute) ||
		    !dwarf_formref_die(&attribute, &its))
			continue;
		/* a member of an anonymous union is one of its surroundings */
		if (!name && !member__find(&its, member, offset)) {
			*offset += (int64_t)at;
			return 0;
		}
		if (!name || strlen(name) != len || memcmp(name, member, len) != 0)
			continue;
		*offset += (int64_t)at;
		return member[len] ? member__find(&its, member + len + 1, offset) : 0;
	} while (!dwarf_siblingof(&child, &child));
	return -ENOENT;
}

int symbols__member(struct symbols *symbols, const char *type, const char *member, int64_t *offset)
{
	Dwarf_Die *unit = NULL, child;
	Dwarf_Addr bias;
	const char *name;

	while ((unit = dwfl_module_nextcu(symbols->module, unit, &bias))) {
		if (dwarf_child(unit, &child))
			continue;
		do {
			int tag = dwarf_tag(&child);

			if (tag != DW_TAG_structure_type && tag != DW_TAG_typedef &&
			    tag != DW_TAG_class_type && tag != DW_TAG_union_type)
				continue;
			name = dwarf_diename(&child);
			*offset = 0;
			if (name && !strcmp(name, type) && !member__find(&child, member, offset))
				return 0;
		} while (!dwarf_siblingof(&child, &child));
	}
	return -ENOENT;
}

/* --- Go --------------------------------------------------------------------------------------- */

/*
 * .go.buildinfo: 14 bytes of magic, the size of a pointer, flags, and with flag 2 (since 1.18) at
 * byte 32 the version, its length before it. Without the flag two pointers, the first to a string
 * header.
 */
uint64_t symbols__go_version(struct symbols *symbols)
{
	GElf_Shdr header;
	uint64_t string[2];
	uint8_t bytes[128] = {0};
	const char *text = (const char *)bytes + 33;
	char away[64] = {0};
	size_t len;

	if (!section__find(symbols, ".go.buildinfo", &header) ||
	    symbols__read(symbols, header.sh_addr, bytes, sizeof(bytes) - 1) < 34 ||
	    memcmp(bytes, "\xff Go buildinf:", 14) != 0)
		return 0;
	len = bytes[32];
	if (!(bytes[15] & 2)) {
		memcpy(string, bytes + 16, 8);
		if (symbols__read(symbols, string[0], string, 16) != 16)
			return 0;
		len = string[1] < sizeof(away) - 1 ? string[1] : sizeof(away) - 1;
		if (symbols__read(symbols, string[0], away, len) != len)
			return 0;
		text = away;
	}
	return strncmp(text, "go", 2) != 0 ? 0 : version__parse(text + 2, len > 2 ? len - 2 : 0);
}
