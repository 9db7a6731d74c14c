// SPDX-License-Identifier: BSD-2-Clause
/*
 * Operands as gcc and clang write them into USDT notes. Each is SIZE@PLACE, SIZE negative if the
 * value is signed, f behind it for floating point; places have blanks in them on AArch64 ("[sp,
 * 12]"), so an operand ends where the next SIZE@ begins.
 */
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "operand.h"

/* each row: the names of a register's 8, 4, 2 and 1 bytes, at its word of pt_regs */
static const struct {
	const char *names[5];
	uint8_t word;
} x86_registers[] = {
	{{"rax", "eax", "ax", "al", "ah"}, 10},
	{{"rbx", "ebx", "bx", "bl", "bh"}, 5},
	{{"rcx", "ecx", "cx", "cl", "ch"}, 11},
	{{"rdx", "edx", "dx", "dl", "dh"}, 12},
	{{"rsi", "esi", "si", "sil", ""}, 13},
	{{"rdi", "edi", "di", "dil", ""}, 14},
	{{"rbp", "ebp", "bp", "bpl", ""}, 4},
	{{"rsp", "esp", "sp", "spl", ""}, 19},
	{{"r8", "r8d", "r8w", "r8b", ""}, 9},
	{{"r9", "r9d", "r9w", "r9b", ""}, 8},
	{{"r10", "r10d", "r10w", "r10b", ""}, 7},
	{{"r11", "r11d", "r11w", "r11b", ""}, 6},
	{{"r12", "r12d", "r12w", "r12b", ""}, 3},
	{{"r13", "r13d", "r13w", "r13b", ""}, 2},
	{{"r14", "r14d", "r14w", "r14b", ""}, 1},
	{{"r15", "r15d", "r15w", "r15b", ""}, 0},
	{{"rip", "", "", "", ""}, 16},
};

static bool x86__register(const char *name, size_t len, uint8_t *word, uint8_t *shift)
{
	for (size_t i = 0; i < sizeof(x86_registers) / sizeof(*x86_registers); i++) {
		for (int k = 0; k < 5; k++) {
			const char *its = x86_registers[i].names[k];

			if (!*its || strlen(its) != len || memcmp(its, name, len) != 0)
				continue;
			*word = x86_registers[i].word;
			*shift = k == 4 ? 8 : 0;
			return true;
		}
	}
	return false;
}

/* "%rax" at *text; moves behind it */
static bool x86__take_register(const char **text, uint8_t *word, uint8_t *shift)
{
	size_t len;

	if (**text != '%')
		return false;
	len = strspn(*text + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
	if (!x86__register(*text + 1, len, word, shift))
		return false;
	*text += 1 + len;
	return true;
}

/* "(%rbp)", "(%rbp,%rax,4)", "(,%rax,8)" */
static int x86__address(const char *text, struct operand *operand)
{
	uint8_t shift;
	char *end;

	operand->kind = OPERAND_MEMORY;
	operand->scale = 1;
	if (!*text)
		return 0; /* symbol alone, or an absolute address */
	if (*text++ != '(')
		return -ENOTSUP;
	if (*text == '%' && !x86__take_register(&text, &operand->base, &shift))
		return -ENOTSUP;
	if (operand->base == 16) {
		operand->rip = true;
		operand->base = OPERAND_NONE;
	}
	if (*text == ',') {
		text++;
		if (!x86__take_register(&text, &operand->index, &shift))
			return -ENOTSUP;
		if (*text == ',') {
			operand->scale = (uint8_t)strtoul(text + 1, &end, 10);
			text = end;
		}
	}
	return strcmp(text, ")") ? -ENOTSUP : 0;
}

/* "sym", "sym+8", "8+sym", "-20": what stands before the parenthesis */
static int x86__displacement(const char **text, struct operand *operand)
{
	const char *at = *text;
	size_t len;
	char *end;

	while (*at && *at != '(') {
		int sign = *at == '-' ? -1 : 1;

		at += *at == '-' || *at == '+';
		if (isdigit((unsigned char)*at)) {
			operand->number += sign * (int64_t)strtoull(at, &end, 0);
			at = end;
			continue;
		}
		len = strcspn(at, "+-(@ ");
		if (!len || sign < 0 || operand->symbol[0] || len >= sizeof(operand->symbol) ||
		    at[len] == '@' || strchr("%$", *at))
			return -ENOTSUP; /* sym@tpoff among them */
		memcpy(operand->symbol, at, len);
		operand->symbol[len] = '\0';
		at += len;
	}
	*text = at;
	return 0;
}

static int x86__place(const char *text, struct operand *operand)
{
	char *end;
	int err;

	if (*text == '$') {
		operand->kind = OPERAND_CONSTANT;
		errno = 0;
		operand->number = text[1] == '-' ? strtoll(text + 1, &end, 0)
						 : (int64_t)strtoull(text + 1, &end, 0);
		return end == text + 1 || *end || errno ? -ENOTSUP : 0;
	}
	if (*text == '%') {
		operand->kind = OPERAND_REGISTER;
		if (!x86__take_register(&text, &operand->base, &operand->shift) || *text)
			return -ENOTSUP;
		return 0;
	}
	err = x86__displacement(&text, operand);
	return err ? err : x86__address(text, operand);
}

static bool arm__register(const char *text, char **end, uint8_t *word)
{
	unsigned long number;

	if (!strncmp(text, "sp", 2)) {
		*word = 31;
		*end = (char *)text + 2;
		return true;
	}
	if ((*text != 'x' && *text != 'w') || !isdigit((unsigned char)text[1]))
		return false;
	number = strtoul(text + 1, end, 10);
	*word = (uint8_t)number;
	return number < 31;
}

/* "5", "x0", "[x29]", "[sp, 12]", "[x0, x1]", "[x0, x1, lsl 3]" */
static int arm__place(const char *text, struct operand *operand)
{
	char *end;

	if (isdigit((unsigned char)*text) || *text == '-') {
		operand->kind = OPERAND_CONSTANT;
		operand->number = strtoll(text, &end, 0);
		return *end ? -ENOTSUP : 0;
	}
	if (*text != '[') {
		operand->kind = OPERAND_REGISTER;
		return arm__register(text, &end, &operand->base) && !*end ? 0 : -ENOTSUP;
	}
	operand->kind = OPERAND_MEMORY;
	operand->scale = 1;
	if (!arm__register(text + 1, &end, &operand->base))
		return -ENOTSUP;
	if (*end == ',') {
		text = end + 1 + strspn(end + 1, " #");
		if (arm__register(text, &end, &operand->index)) {
			if (!strncmp(end, ", lsl ", 6)) {
				text = end + 6 + (end[6] == '#');
				operand->scale = (uint8_t)(1U << (strtoul(text, &end, 10) & 7));
			}
		} else {
			operand->number = strtoll(text, &end, 0);
		}
	}
	return strcmp(end, "]") ? -ENOTSUP : 0;
}

/* SIZE@ at @text? */
static const char *size__at(const char *text)
{
	text += *text == '-';
	if (!isdigit((unsigned char)*text))
		return NULL;
	text += strspn(text, "0123456789");
	text += *text == 'f';
	return *text == '@' ? text + 1 : NULL;
}

/* begin of the argument behind that at @text, or the end */
static const char *next__find(const char *text)
{
	while ((text = strchr(text, ' '))) {
		while (*text == ' ')
			text++;
		if (size__at(text))
			return text;
	}
	return NULL;
}

unsigned int operand__count(const char *args)
{
	const char *at = args + strspn(args, " ");
	unsigned int count = 0;

	for (at = *at ? at : NULL; at; at = next__find(at))
		count++;
	return count;
}

int operand__parse(uint16_t machine, const char *args, unsigned int which, struct operand *operand)
{
	const char *at = args + strspn(args, " "), *end, *place;
	char text[256];
	long size;
	size_t len;

	for (at = *at ? at : NULL; at && which; which--)
		at = next__find(at);
	if (!at)
		return -ENOENT;
	*operand = (struct operand){.base = OPERAND_NONE, .index = OPERAND_NONE};
	end = next__find(at);
	len = end ? (size_t)(end - at) : strlen(at);
	while (len && at[len - 1] == ' ')
		len--;
	place = size__at(at);
	/* without a size: 8 bytes, as SystemTap's oldest notes have it */
	size = place ? strtol(at, NULL, 10) : 8;
	if (place && place[-2] == 'f')
		return -ENOTSUP;
	len -= place ? (size_t)(place - at) : 0;
	place = place ? place : at;
	operand->is_signed = size < 0;
	size = labs(size);
	if ((size != 1 && size != 2 && size != 4 && size != 8) || len >= sizeof(text))
		return -ENOTSUP;
	operand->size = (uint8_t)size;
	memcpy(text, place, len);
	text[len] = '\0';
	return machine == EM_AARCH64 ? arm__place(text, operand) : x86__place(text, operand);
}
