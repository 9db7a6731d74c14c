/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture/binary: what is read of an ELF file. This program has points itself, so the linker's own
 * addresses say what is right; damaged and unusual files are made from it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tracer/tracer.h>
#include "capture/binary.h"

/* what every test starts from: this program's file */
static unsigned char *self;
static size_t self_size;

static int self__read(void **state)
{
	struct stat status;
	FILE *file = fopen("/proc/self/exe", "r");
	int task;

	(void)state;
	/* a point, so that the program has any */
	TRACER_TASK_BEGIN(&task, 0);
	if (!file || fstat(fileno(file), &status))
		return -1;
	self_size = (size_t)status.st_size;
	self = malloc(self_size);
	if (!self || fread(self, 1, self_size, file) != self_size)
		return -1;
	return fclose(file);
}

static int self__free(void **state)
{
	(void)state;
	free(self);
	return 0;
}

/* file__make() - a nameless file of those bytes; its path, good until the next call */
static const char *file__make(const void *bytes, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd >= 0)
		close(fd);
	fd = memfd_create("binary", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static int module__base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1; /* the first is the program itself */
}

/* offset__of() - where in the file is what is at @address in this process, by its own headers */
static uint64_t offset__of(const void *address)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)self;
	const Elf64_Phdr *segments = (const Elf64_Phdr *)(self + header->e_phoff);
	uint64_t base = 0, at;

	dl_iterate_phdr(module__base, &base);
	at = (uint64_t)(uintptr_t)address - base;
	for (int i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && at >= segments[i].p_vaddr &&
		    at < segments[i].p_vaddr + segments[i].p_filesz)
			return segments[i].p_offset + (at - segments[i].p_vaddr);
	return UINT64_MAX;
}

extern char tracer_v1_sites[] __attribute__((visibility("hidden")));

static void assert_is_self(const struct binary *binary)
{
	uint64_t base = 0;

	dl_iterate_phdr(module__base, &base);
	assert_true(binary->has_points);
	assert_int_equal(binary->other_version, 0);
	assert_int_equal(binary->info.version, TRACER_RING_VERSION);
	assert_int_equal(base + binary->gates_address, (uintptr_t)&tracer_v1_gates);
	assert_int_equal(base + binary->dso_address, (uintptr_t)&tracer_v1_dso);
	assert_int_equal(binary->gates_offset, offset__of(&tracer_v1_gates));
	assert_int_equal(binary->sites_offset, offset__of(tracer_v1_sites));
	assert_int_equal(binary->flush_offset, offset__of((void *)(uintptr_t)tracer_v1_flush));
	assert_non_null(binary->schema);
	assert_non_null(strstr(binary->schema, "19 task_begin task arg1 id:task u32:worker"));
}

static void reads_the_points_of_this_program(void **state)
{
	struct binary *binary = binary__open("/proc/self/exe", NULL);

	(void)state;
	assert_non_null(binary);
	assert_is_self(binary);
	assert_string_equal(binary->path, "/proc/self/exe");
	assert_int_equal(binary->machine, binary->info.machine);
	binary__free(binary);
}

static void finds_the_usdt_probe_behind_a_point(void **state)
{
	struct binary *binary = binary__open("/proc/self/exe", NULL);
	bool found = false;

	(void)state;
	assert_non_null(binary);
	for (size_t i = 0; i < binary->usdt_count; i++) {
		const struct binary_usdt *usdt = &binary->usdt[i];

		if (strcmp(usdt->provider, "tracer") != 0 || strcmp(usdt->name, "task_begin") != 0)
			continue;
		found = true;
		assert_int_equal(usdt->semaphore,
				 binary->gates_offset + 2 + offsetof(struct tracer_gates, gate));
		assert_true(usdt->offset > 0 && usdt->offset < self_size);
		/* a one-byte nop, or the kernel would make a call of it */
		assert_int_equal(self[usdt->offset], 0x90);
	}
	assert_true(found);
	binary__free(binary);
}

static void image_holds_literals_and_no_code(void **state)
{
	static const char literal[] = "a literal that the image must hold";
	struct binary *binary = binary__open("/proc/self/exe", NULL);
	uint64_t in_file = offset__of(literal), code = offset__of((void *)(uintptr_t)file__make);
	unsigned char *image, *at;
	bool found = false;

	(void)state;
	assert_non_null(binary);
	image = malloc(binary->image_size);
	assert_non_null(image);
	assert_int_equal(binary__image(binary, image), 0);
	at = image;
	for (size_t i = 0; i < binary->image_count; i++) {
		const struct binary_range *range = &binary->image[i];

		assert_false(code >= range->offset && code - range->offset < range->size);
		if (in_file >= range->offset && in_file - range->offset < range->size) {
			assert_string_equal(at + (in_file - range->offset), literal);
			found = true;
		}
		at += range->size;
	}
	assert_int_equal(at - image, binary->image_size);
	assert_true(found);
	free(image);
	binary__free(binary);
}

static void works_without_section_headers(void **state)
{
	unsigned char *bytes = malloc(self_size);
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;
	struct binary *binary;

	(void)state;
	assert_non_null(bytes);
	memcpy(bytes, self, self_size);
	header->e_shoff = 0;
	header->e_shnum = 0;
	header->e_shentsize = 0;
	header->e_shstrndx = 0;
	binary = binary__open(file__make(bytes, self_size), NULL);
	assert_non_null(binary);
	assert_is_self(binary);
	assert_true(binary->image_size > 0);
	binary__free(binary);
	free(bytes);
}

/* note__find() - our note's contents in @bytes */
static struct tracer_note *note__find(unsigned char *bytes)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(bytes + header->e_shoff);
	const char *names = (const char *)bytes + sections[header->e_shstrndx].sh_offset;

	for (int i = 0; i < header->e_shnum; i++)
		if (!strcmp(names + sections[i].sh_name, ".note.tracer"))
			return (struct tracer_note *)(bytes + sections[i].sh_offset +
						      sizeof(Elf64_Nhdr) + 8);
	return NULL;
}

static void tells_another_ring_layout(void **state)
{
	unsigned char *bytes = malloc(self_size);
	struct tracer_note *note;
	struct binary *binary;

	(void)state;
	assert_non_null(bytes);
	memcpy(bytes, self, self_size);
	note = note__find(bytes);
	assert_non_null(note);
	note->version = 77;
	binary = binary__open(file__make(bytes, self_size), NULL);
	assert_non_null(binary);
	assert_false(binary->has_points);
	assert_int_equal(binary->other_version, 77);
	binary__free(binary);
	free(bytes);
}

static void does_not_follow_a_note_that_leads_nowhere(void **state)
{
	unsigned char *bytes = malloc(self_size);
	static const int32_t wrong[] = {INT32_MAX, INT32_MIN, 0, -4, 1};
	struct binary *binary;

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memcpy(bytes, self, self_size);
		note__find(bytes)->info = wrong[i];
		binary = binary__open(file__make(bytes, self_size), NULL);
		assert_non_null(binary);
		assert_false(binary->has_points);
		binary__free(binary);
	}
	free(bytes);
}

static void reads_another_machines_binary(void **state)
{
	unsigned char *bytes = malloc(self_size);
	struct binary *binary;

	(void)state;
	assert_non_null(bytes);
	memcpy(bytes, self, self_size);
	((Elf64_Ehdr *)bytes)->e_machine = EM_AARCH64;
	binary = binary__open(file__make(bytes, self_size), NULL);
	assert_non_null(binary);
	assert_int_equal(binary->machine, EM_AARCH64);
	binary__free(binary);
	free(bytes);
}

static void assert_refused(const char *path, const char *reason)
{
	char *err = NULL;

	assert_null(binary__open(path, &err));
	assert_non_null(err);
	assert_non_null(strstr(err, reason));
	free(err);
	assert_null(binary__open(path, NULL));
}

static void refuses_what_does_not_run(void **state)
{
	unsigned char *bytes = malloc(self_size);
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;

	(void)state;
	assert_non_null(bytes);
	assert_refused("/nonexistent", "No such file");
	assert_refused("/", "not an ELF");
	assert_refused("/dev/null", "not an ELF");
	assert_refused(file__make("", 0), "not an ELF");
	assert_refused(file__make("#!/bin/sh\n", 10), "not an ELF");
	memcpy(bytes, self, self_size);
	header->e_type = ET_REL;
	assert_refused(file__make(bytes, self_size), "not an ELF");
	header->e_type = ET_DYN;
	header->e_ident[EI_DATA] = ELFDATA2MSB;
	assert_refused(file__make(bytes, self_size), "64-bit little-endian");
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_ident[EI_CLASS] = ELFCLASS32;
	assert_refused(file__make(bytes, self_size), "64-bit little-endian");
	free(bytes);
}

/* cut at every length up to the headers' end, then in steps: never a crash, never points by half */
static void survives_truncation(void **state)
{
	(void)state;
	for (size_t size = 0; size < self_size; size += size < 2048 ? 1 : 997) {
		struct binary *binary = binary__open(file__make(self, size), NULL);

		if (binary && binary->has_points)
			assert_true(binary->sites_offset < size && binary->gates_offset < size);
		binary__free(binary);
	}
}

/* one word changed at a time, in headers, notes and info */
static void survives_damage(void **state)
{
	unsigned char *bytes = malloc(self_size);
	uint32_t random = 1;

	(void)state;
	assert_non_null(bytes);
	for (int i = 0; i < 3000; i++) {
		struct binary *binary;
		size_t at;

		memcpy(bytes, self, self_size);
		for (int k = 0; k < 3; k++) {
			random = random * 1664525 + 1013904223;
			at = (random >> 8) % (k ? 1024 : self_size - 8);
			memset(bytes + at, (int)(random >> 3), 1 + random % 8);
		}
		binary = binary__open(file__make(bytes, self_size), NULL);
		if (binary) {
			unsigned char *image = malloc(binary->image_size + 1);

			assert_non_null(image);
			binary__image(binary, image);
			free(image);
		}
		binary__free(binary);
	}
	free(bytes);
}

static void knows_where_the_dynamic_linker_tells_of_libraries(void **state)
{
	struct binary *program = binary__open("/proc/self/exe", NULL), *linker;

	(void)state;
	assert_non_null(program);
	if (!program->interpreter) { /* a static build of the tests */
		binary__free(program);
		skip();
	}
	linker = binary__open(program->interpreter, NULL);
	assert_non_null(linker);
	assert_true(linker->debug_state_offset > 0);
	binary__free(linker);
	binary__free(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_points_of_this_program),
		cmocka_unit_test(finds_the_usdt_probe_behind_a_point),
		cmocka_unit_test(image_holds_literals_and_no_code),
		cmocka_unit_test(works_without_section_headers),
		cmocka_unit_test(tells_another_ring_layout),
		cmocka_unit_test(does_not_follow_a_note_that_leads_nowhere),
		cmocka_unit_test(reads_another_machines_binary),
		cmocka_unit_test(refuses_what_does_not_run),
		cmocka_unit_test(survives_truncation),
		cmocka_unit_test(survives_damage),
		cmocka_unit_test(knows_where_the_dynamic_linker_tells_of_libraries),
	};

	return cmocka_run_group_tests_name("binary", tests, self__read, self__free);
}
