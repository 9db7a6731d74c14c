/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a tracer wants to know of an ELF file.
 *
 * The file may be damaged or made to mislead: sizes and offsets are taken as claims. Everything
 * that is read goes through libelf, which checks against the file's size, or through bytes__at(),
 * which checks against the program headers and reads with pread(); nothing is mapped, so a file
 * that shrinks meanwhile gives a short read instead of a SIGBUS.
 *
 * Our own note is looked for in PT_NOTE first: that is there without section headers too. The notes
 * of other people's USDT probes are in no segment, so those need section headers (strip keeps
 * them).
 */
#include "binary.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../base/say.h"
#include "file.h"

#define PAGE 4096ULL
#define SCHEMA_MAX (1U << 20)
#define NOTE_SEGMENT_MAX (16U << 20)
#define USDT_MAX (1U << 20)

struct reader {
	struct binary binary; /* first: what the caller holds is this struct */
	int fd;
	uint64_t size; /* of the file */
	Elf *elf;
	GElf_Phdr *segments;
	size_t segment_count;
	size_t names;	    /* section with the sections' names, 0 none */
	uint64_t usdt_base; /* address of .stapsdt.base, 0 none */
	size_t usdt_room;
};

/* What a note may say: its kind is in the name and type, its contents in desc, which is at
 * `address`. */
struct note {
	const char *name;
	size_t name_size;
	uint32_t type;
	const unsigned char *desc;
	size_t size;
	uint64_t address; /* link-time, of desc; 0 if the note is in no segment */
};

static struct reader *reader__of(const struct binary *binary)
{
	return (struct reader *)binary;
}

/* address__offset() - where in the file the byte at link-time @address is; false: nowhere */
static bool address__offset(const struct reader *reader, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < reader->segment_count; i++) {
		const GElf_Phdr *segment = &reader->segments[i];

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    address - segment->p_vaddr >= segment->p_filesz)
			continue;
		*offset = segment->p_offset + (address - segment->p_vaddr);
		return *offset >= segment->p_offset && *offset < reader->size;
	}
	return false;
}

static bool bytes__read(const struct reader *reader, uint64_t offset, void *to, size_t size)
{
	unsigned char *next = to;

	if (offset > reader->size || size > reader->size - offset)
		return false;
	while (size) {
		ssize_t n = pread(reader->fd, next, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		next += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return true;
}

static bool bytes__at(const struct reader *reader, uint64_t address, void *to, size_t size)
{
	uint64_t first, last;

	if (!size || address + (size - 1) < address)
		return false;
	/* both ends in one segment, or the bytes between are not what the program sees */
	if (!address__offset(reader, address, &first) ||
	    !address__offset(reader, address + (size - 1), &last) || last - first != size - 1)
		return false;
	return bytes__read(reader, first, to, size);
}

static bool note__is(const struct note *note, const char *name, uint32_t type)
{
	return note->type == type && note->name_size == strlen(name) + 1 &&
	       !memcmp(note->name, name, note->name_size);
}

static void points__read_schema(struct reader *reader, uint64_t address)
{
	struct binary *binary = &reader->binary;
	uint32_t size = binary->info.schema_size;

	if (!size || size > SCHEMA_MAX)
		return;
	binary->schema = malloc((size_t)size + 1);
	if (!binary->schema)
		return;
	if (!bytes__at(reader, address, binary->schema, size)) {
		free(binary->schema);
		binary->schema = NULL;
		return;
	}
	binary->schema[size] = '\0';
}

/* points__read() - follow our note to the info, and from there to gates, sites and the rest */
static void points__read(struct reader *reader, const struct note *note)
{
	struct binary *binary = &reader->binary;
	uint64_t at, gates, sites, flush, dso, last_site;
	struct tracer_note content;
	struct tracer_info info;

	if (binary->has_points || note->size < sizeof(content) || !note->address)
		return;
	memcpy(&content, note->desc, sizeof(content));
	if (content.version != TRACER_RING_VERSION) {
		binary->other_version = content.version;
		return;
	}
	at = note->address + offsetof(struct tracer_note, info) + (uint64_t)(int64_t)content.info;
	if (!bytes__at(reader, at, &info, sizeof(info)) || info.size < sizeof(info) ||
	    info.version != TRACER_RING_VERSION || !info.site_stride || info.site_stride > PAGE)
		return;
#define NAMED(member) (at + offsetof(struct tracer_info, member) + (uint64_t)(int64_t)info.member)
	gates = NAMED(gates);
	sites = NAMED(sites);
	flush = NAMED(flush);
	dso = NAMED(dso);
	if (!address__offset(reader, gates, &binary->gates_offset) ||
	    !address__offset(reader, sites, &binary->sites_offset) ||
	    !address__offset(reader, sites + (TRACER_SITES - 1) * info.site_stride, &last_site) ||
	    !address__offset(reader, flush, &binary->flush_offset))
		return;
	binary->info = info;
	binary->gates_address = gates;
	binary->dso_address = dso;
	binary->has_points = true;
	points__read_schema(reader, NAMED(schema));
#undef NAMED
}

static void build_id__read(struct binary *binary, const struct note *note)
{
	static const char digits[] = "0123456789abcdef";

	if (binary->build_id || !note->size || note->size > 64)
		return;
	binary->build_id = calloc(note->size * 2 + 1, 1);
	if (!binary->build_id)
		return;
	for (size_t i = 0; i < note->size; i++) {
		binary->build_id[2 * i] = digits[note->desc[i] >> 4];
		binary->build_id[2 * i + 1] = digits[note->desc[i] & 15];
	}
}

/* string__next() - the NUL-terminated string at *at, which moves behind it; NULL: no end before
 * @end */
static char *string__next(const unsigned char **at, const unsigned char *end)
{
	size_t room = (size_t)(end - *at), size = strnlen((const char *)*at, room);
	char *string;

	if (size == room)
		return NULL;
	string = strndup((const char *)*at, size);
	*at += size + 1;
	return string;
}

/* usdt__read() - a note of SystemTap's format, version 3: three addresses, then three strings */
static void usdt__read(struct reader *reader, const struct note *note)
{
	struct binary *binary = &reader->binary;
	const unsigned char *at = note->desc, *end = at + note->size;
	uint64_t words[3], moved; /* probe, base when linked, semaphore */
	struct binary_usdt usdt = {0};

	if (note->size < sizeof(words) || binary->usdt_count >= USDT_MAX)
		return;
	memcpy(words, at, sizeof(words));
	at += sizeof(words);
	/* prelink moves addresses, but not those in notes; the base tells by how much */
	moved = reader->usdt_base ? reader->usdt_base - words[1] : 0;
	usdt.address = words[0] + moved;
	if (!address__offset(reader, usdt.address, &usdt.offset))
		return;
	if (words[2] && !address__offset(reader, words[2] + moved, &usdt.semaphore))
		return;
	usdt.provider = string__next(&at, end);
	usdt.name = usdt.provider ? string__next(&at, end) : NULL;
	usdt.args = usdt.name ? string__next(&at, end) : NULL;
	if (!usdt.args)
		goto refuse;
	if (binary->usdt_count == reader->usdt_room) {
		size_t room = reader->usdt_room ? 2 * reader->usdt_room : 64;
		struct binary_usdt *more = reallocarray(binary->usdt, room, sizeof(*more));

		if (!more)
			goto refuse;
		binary->usdt = more;
		reader->usdt_room = room;
	}
	binary->usdt[binary->usdt_count++] = usdt;
	return;
refuse:
	free(usdt.provider);
	free(usdt.name);
	free(usdt.args);
}

/* notes__read() - @data holds notes, the first byte of it is at link-time @address or nowhere (0)
 */
static void notes__read(struct reader *reader, Elf_Data *data, uint64_t address)
{
	size_t at = 0, next, name_at, desc_at;
	GElf_Nhdr header;

	while (data && data->d_buf &&
	       (next = gelf_getnote(data, at, &header, &name_at, &desc_at)) > 0) {
		const char *bytes = data->d_buf;
		struct note note = {
			.name = header.n_namesz ? bytes + name_at : "",
			.name_size = header.n_namesz,
			.type = header.n_type,
			.desc = (const unsigned char *)bytes + desc_at,
			.size = header.n_descsz,
			.address = address ? address + desc_at : 0,
		};

		if (note__is(&note, TRACER_NOTE_NAME, TRACER_NOTE_TYPE))
			points__read(reader, &note);
		else if (note__is(&note, "GNU", NT_GNU_BUILD_ID))
			build_id__read(&reader->binary, &note);
		else if (note__is(&note, "stapsdt", 3) && !address)
			usdt__read(reader, &note);
		at = next;
	}
}

static void segments__read_notes(struct reader *reader)
{
	for (size_t i = 0; i < reader->segment_count; i++) {
		const GElf_Phdr *segment = &reader->segments[i];

		if (segment->p_type != PT_NOTE || !segment->p_filesz ||
		    segment->p_filesz > NOTE_SEGMENT_MAX || segment->p_offset > reader->size ||
		    segment->p_filesz > reader->size - segment->p_offset)
			continue;
		notes__read(reader,
			    elf_getdata_rawchunk(reader->elf, (int64_t)segment->p_offset,
						 segment->p_filesz,
						 segment->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
			    segment->p_vaddr);
	}
}

static void interpreter__read(struct reader *reader)
{
	for (size_t i = 0; i < reader->segment_count; i++) {
		const GElf_Phdr *segment = &reader->segments[i];
		char path[4096];

		if (segment->p_type != PT_INTERP || segment->p_filesz < 2 ||
		    segment->p_filesz > sizeof(path))
			continue;
		if (!bytes__read(reader, segment->p_offset, path, segment->p_filesz))
			return;
		path[segment->p_filesz - 1] = '\0';
		reader->binary.interpreter = strdup(path);
		return;
	}
}

/* image__add() - @size bytes at @address may hold literals; joined to the range before if they
 * touch */
static int image__add(struct reader *reader, uint64_t address, uint64_t offset, uint64_t size)
{
	struct binary *binary = &reader->binary;
	struct binary_range *last, *more;

	if (size > FILE_IMAGE_MAX - binary->image_size)
		size = FILE_IMAGE_MAX - binary->image_size;
	if (!size || offset > reader->size || size > reader->size - offset ||
	    address < binary->first_load)
		return 0;
	last = binary->image_count ? &binary->image[binary->image_count - 1] : NULL;
	if (last && last->address + last->size == address && last->offset + last->size == offset) {
		last->size += size;
	} else {
		more = reallocarray(binary->image, binary->image_count + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		binary->image = more;
		binary->image[binary->image_count++] = (struct binary_range){address, offset, size};
	}
	binary->image_size += size;
	return 0;
}

static bool section__is_data(const GElf_Shdr *section, const char *name)
{
	static const char *const others[] = {".eh_frame", ".gcc_except_table", ".interp", ".plt"};

	if (section->sh_type != SHT_PROGBITS || !(section->sh_flags & SHF_ALLOC) ||
	    section->sh_flags & (SHF_WRITE | SHF_EXECINSTR))
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (name && !strncmp(name, others[i], strlen(others[i])))
			return false;
	return true;
}

/*
 * Without section headers: read-only segments. Those with code only if there are no others, since
 * some linkers put everything that is not written into one.
 */
static int segments__read_image(struct reader *reader)
{
	for (uint32_t code = 0; code <= PF_X && !reader->binary.image_count; code += PF_X) {
		for (size_t i = 0; i < reader->segment_count; i++) {
			const GElf_Phdr *segment = &reader->segments[i];
			int rc;

			if (segment->p_type != PT_LOAD || segment->p_flags & PF_W ||
			    (segment->p_flags & PF_X) != code)
				continue;
			rc = image__add(reader, segment->p_vaddr, segment->p_offset,
					segment->p_filesz);
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* symbols__read() - look for the function that the dynamic linker calls when libraries have come */
static void symbols__read(struct reader *reader, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
		const char *name;
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		name = elf_strptr(reader->elf, header->sh_link, symbol.st_name);
		if (name && !strcmp(name, "_dl_debug_state"))
			address__offset(reader, symbol.st_value,
					&reader->binary.debug_state_offset);
		else if (name && !strcmp(name, "execve"))
			address__offset(reader, symbol.st_value, &reader->binary.execve_offset);
	}
}

static const char *section__name(const struct reader *reader, const GElf_Shdr *header)
{
	return reader->names ? elf_strptr(reader->elf, reader->names, header->sh_name) : NULL;
}

static int sections__read(struct reader *reader)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;
	int rc;

	while ((section = elf_nextscn(reader->elf, section)))
		if (gelf_getshdr(section, &header) && (name = section__name(reader, &header)) &&
		    !strcmp(name, ".stapsdt.base"))
			reader->usdt_base = header.sh_addr;
	while ((section = elf_nextscn(reader->elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		name = section__name(reader, &header);
		if (header.sh_type == SHT_NOTE)
			notes__read(reader, elf_getdata(section, NULL), header.sh_addr);
		else if ((header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB) &&
			 !reader->binary.debug_state_offset)
			symbols__read(reader, section, &header);
		else if (section__is_data(&header, name)) {
			rc = image__add(reader, header.sh_addr, header.sh_offset, header.sh_size);
			if (rc)
				return rc;
		}
	}
	return 0;
}

static int segments__read(struct reader *reader)
{
	uint64_t lowest = UINT64_MAX;
	size_t count;

	if (elf_getphdrnum(reader->elf, &count) || !count)
		return -ENOEXEC;
	reader->segments = calloc(count, sizeof(*reader->segments));
	if (!reader->segments)
		return -ENOMEM;
	for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
		GElf_Phdr *segment = &reader->segments[reader->segment_count];

		if (!gelf_getphdr(reader->elf, (int)i, segment))
			continue;
		reader->segment_count++;
		if (segment->p_type == PT_LOAD && segment->p_vaddr < lowest)
			lowest = segment->p_vaddr;
	}
	if (lowest == UINT64_MAX)
		return -ENOEXEC;
	reader->binary.first_load = lowest & ~(PAGE - 1);
	return 0;
}

/* reader__read() - everything; 0, -ENOMEM, -ENOEXEC (nothing that runs), -ENOTSUP (other format) */
static int reader__read(struct reader *reader)
{
	GElf_Ehdr header;
	int rc;

	if (elf_kind(reader->elf) != ELF_K_ELF || !gelf_getehdr(reader->elf, &header))
		return -ENOEXEC;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return -ENOEXEC;
	reader->binary.machine = header.e_machine;
	if (elf_getshdrstrndx(reader->elf, &reader->names))
		reader->names = 0;
	rc = segments__read(reader);
	if (rc)
		return rc;
	interpreter__read(reader);
	segments__read_notes(reader);
	rc = sections__read(reader);
	if (!rc && !reader->binary.image_count)
		rc = segments__read_image(reader);
	if (reader->binary.has_points && !reader->binary.interpreter && header.e_entry)
		address__offset(reader, header.e_entry, &reader->binary.entry_offset);
	return rc;
}

static char *open__sentence(const char *path, int error)
{
	switch (error) {
	case -ENOEXEC:
		return sentence__new("%s: not an ELF executable or shared library", path);
	case -ENOTSUP:
		return sentence__new(
			"%s: made for another kind of machine than 64-bit little-endian", path);
	default:
		return sentence__new("%s: %s", path, strerror(-error));
	}
}

struct binary *binary__open(const char *path, char **err)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	struct stat status;
	int rc = -ENOMEM;

	if (!reader)
		goto fail;
	reader->fd = -1;
	reader->binary.path = strdup(path);
	if (!reader->binary.path)
		goto fail;
	/* a FIFO or a terminal would block or answer: only what can be read again and again */
	reader->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (reader->fd < 0 || fstat(reader->fd, &status)) {
		rc = -errno;
		goto fail;
	}
	rc = -ENOEXEC;
	if (!S_ISREG(status.st_mode) || elf_version(EV_CURRENT) == EV_NONE)
		goto fail;
	reader->size = (uint64_t)status.st_size;
	reader->elf = elf_begin(reader->fd, ELF_C_READ, NULL);
	if (!reader->elf)
		goto fail;
	rc = reader__read(reader);
	if (rc)
		goto fail;
	elf_end(reader->elf);
	reader->elf = NULL;
	return &reader->binary;
fail:
	if (err)
		*err = open__sentence(path, rc);
	if (reader)
		binary__free(&reader->binary);
	errno = -rc;
	return NULL;
}

int binary__image(const struct binary *binary, unsigned char *to)
{
	for (size_t i = 0; i < binary->image_count; i++) {
		const struct binary_range *range = &binary->image[i];

		if (!bytes__read(reader__of(binary), range->offset, to, range->size))
			return -EIO;
		to += range->size;
	}
	return 0;
}

void binary__free(struct binary *binary)
{
	struct reader *reader = reader__of(binary);

	if (!binary)
		return;
	for (size_t i = 0; i < binary->usdt_count; i++) {
		free(binary->usdt[i].provider);
		free(binary->usdt[i].name);
		free(binary->usdt[i].args);
	}
	free(binary->usdt);
	free(binary->image);
	free(binary->schema);
	free(binary->build_id);
	free(binary->interpreter);
	free(binary->path);
	free(reader->segments);
	if (reader->elf)
		elf_end(reader->elf);
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader);
}
