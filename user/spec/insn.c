// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lengths of x86-64 instructions, by the tables of the architecture's manual (volume 2, appendix
 * A), each opcode a letter: what follows it. AArch64's are all of 4 bytes.
 */
#include <elf.h>
#include <string.h>
#include "insn.h"

/*
 * . nothing follows    m ModRM            i ModRM and 8 bits     z ModRM and 32 bits (16 with 66)
 * b 8 bits             w 16 bits          d 32 bits (16 with 66) r 32 bits whatever comes before
 * q 32 bits, 64 with REX.W (16 with 66)   a an address           e 16 and 8 bits (enter)
 * 3 ModRM, and 8 bits if its reg is 0 or 1 (test)                t the same with 32 bits
 * p prefix             x no instruction   else: handled by itself
 */
static const char one_byte[] = "mmmmbdxxmmmmbdx0"  /* 00 */
			       "mmmmbdxxmmmmbdxx"  /* 10 */
			       "mmmmbdpxmmmmbdpx"  /* 20 */
			       "mmmmbdpxmmmmbdpx"  /* 30 */
			       "pppppppppppppppp"  /* 40 */
			       "................"  /* 50 */
			       "xxEmppppdzbi...."  /* 60 */
			       "bbbbbbbbbbbbbbbb"  /* 70 */
			       "izximmmmmmmmmmmm"  /* 80 */
			       "..........x....."  /* 90 */
			       "aaaa....bd......"  /* a0 */
			       "bbbbbbbbqqqqqqqq"  /* b0 */
			       "iiw.VVize.w..bx."  /* c0 */
			       "mmmmxxx.mmmmmmmm"  /* d0 */
			       "bbbbbbbbrrxb...."  /* e0 */
			       "p.pp..3t......mm"; /* f0 */

static const char two_bytes[] = "mmmmx.....x.xm.i"  /* 00 */
				"mmmmmmmmmmmmmmmm"  /* 10 */
				"mmmmxxxxmmmmmmmm"  /* 20 */
				"......x.8x3xxxxx"  /* 30 */
				"mmmmmmmmmmmmmmmm"  /* 40 */
				"mmmmmmmmmmmmmmmm"  /* 50 */
				"mmmmmmmmmmmmmmmm"  /* 60 */
				"iiiimmm.mmmmmmmm"  /* 70 */
				"rrrrrrrrrrrrrrrr"  /* 80 */
				"mmmmmmmmmmmmmmmm"  /* 90 */
				"...mimxx...mimmm"  /* a0 */
				"mmmmmmmmmmimmmmm"  /* b0 */
				"mmimiiim........"  /* c0 */
				"mmmmmmmmmmmmmmmm"  /* d0 */
				"mmmmmmmmmmmmmmmm"  /* e0 */
				"mmmmmmmmmmmmmmmm"; /* f0 */

struct decoder {
	const uint8_t *bytes;
	size_t size, at;
	bool operand_16, address_32, unfit;
	uint8_t rex, repeat;
	uint8_t opcode, map; /* 0 one byte, 1 0f, 2 0f 38, 3 0f 3a, and those that EVEX adds */
	bool vector;	     /* VEX or EVEX */
	uint8_t modrm, sib_base;
	bool has_modrm;
};

static bool take(struct decoder *decoder, size_t count)
{
	if (decoder->size - decoder->at < count)
		return false;
	decoder->at += count;
	return true;
}

static bool modrm__take(struct decoder *decoder)
{
	uint8_t mod, rm, base;

	if (!take(decoder, 1))
		return false;
	decoder->modrm = decoder->bytes[decoder->at - 1];
	decoder->has_modrm = true;
	mod = decoder->modrm >> 6;
	rm = decoder->modrm & 7;
	if (mod == 3)
		return true;
	if (rm == 4) {
		if (!take(decoder, 1))
			return false;
		base = decoder->sib_base = decoder->bytes[decoder->at - 1] & 7;
		if (mod == 0 && base == 5)
			return take(decoder, 4);
	}
	if (mod == 0 && rm == 5)
		return take(decoder, 4);
	return mod == 0 || take(decoder, mod == 1 ? 1 : 4);
}

static bool prefixes__take(struct decoder *decoder)
{
	for (; decoder->at < decoder->size && decoder->at < 15; decoder->at++) {
		uint8_t byte = decoder->bytes[decoder->at];

		if (one_byte[byte] != 'p')
			return true;
		/* a REX counts only right before the opcode */
		decoder->rex = (byte & 0xf0) == 0x40 ? byte : 0;
		if (byte == 0x66)
			decoder->operand_16 = true;
		else if (byte == 0x67)
			decoder->address_32 = true;
		else if (byte == 0xf2 || byte == 0xf3)
			decoder->repeat = byte;
		else if (byte == 0xf0 || byte == 0x26 || byte == 0x2e || byte == 0x36 ||
			 byte == 0x3e)
			decoder->unfit = true;
	}
	return false;
}

/* VEX and EVEX: their prefix has the map; then opcode, ModRM, and 8 bits with some */
static bool vector__take(struct decoder *decoder, uint8_t first)
{
	const uint8_t *prefix = decoder->bytes + decoder->at;
	char follows = 'm';

	decoder->vector = true;
	if (first == 0xc5) {
		if (!take(decoder, 1))
			return false;
		decoder->map = 1;
	} else {
		if (!take(decoder, first == 0xc4 ? 2 : 3))
			return false;
		decoder->map = prefix[0] & (first == 0xc4 ? 31 : 7);
	}
	if (!take(decoder, 1))
		return false;
	decoder->opcode = decoder->bytes[decoder->at - 1];
	if (!decoder->map || decoder->map > 7)
		return false;
	if (decoder->map == 1)
		follows = two_bytes[decoder->opcode];
	if (follows == '.')
		return true; /* vzeroupper */
	if (!modrm__take(decoder))
		return false;
	return decoder->map == 3 || follows == 'i' ? take(decoder, 1) : true;
}

static bool operands__take(struct decoder *decoder, char follows)
{
	size_t word = decoder->operand_16 && !(decoder->rex & 8) ? 2 : 4;

	switch (follows) {
	case '.':
		return true;
	case 'm':
		return modrm__take(decoder);
	case 'i':
		return modrm__take(decoder) && take(decoder, 1);
	case 'z':
		return modrm__take(decoder) && take(decoder, word);
	case 'b':
		return take(decoder, 1);
	case 'w':
		return take(decoder, 2);
	case 'd':
		return take(decoder, word);
	case 'r':
		return take(decoder, 4);
	case 'q':
		return take(decoder, decoder->rex & 8 ? 8 : word);
	case 'a':
		return take(decoder, decoder->address_32 ? 4 : 8);
	case 'e':
		return take(decoder, 3);
	case '3':
	case 't':
		if (!modrm__take(decoder))
			return false;
		return (decoder->modrm >> 3 & 7) > 1 || take(decoder, follows == '3' ? 1 : word);
	default:
		return false;
	}
}

static bool opcode__take(struct decoder *decoder)
{
	char follows;
	uint8_t byte;

	if (!take(decoder, 1))
		return false;
	byte = decoder->opcode = decoder->bytes[decoder->at - 1];
	follows = one_byte[byte];
	if (follows == 'V' || follows == 'E')
		return vector__take(decoder, byte);
	if (follows != '0')
		return operands__take(decoder, follows);
	if (!take(decoder, 1))
		return false;
	decoder->map = 1;
	byte = decoder->opcode = decoder->bytes[decoder->at - 1];
	follows = two_bytes[byte];
	if (byte != 0x38 && byte != 0x3a)
		return operands__take(decoder, follows);
	decoder->map = byte == 0x38 ? 2 : 3;
	if (!take(decoder, 1))
		return false;
	decoder->opcode = decoder->bytes[decoder->at - 1];
	return operands__take(decoder, byte == 0x38 ? 'm' : 'i');
}

static int64_t immediate(const struct decoder *decoder, size_t size)
{
	int32_t four;

	if (size == 1)
		return (int8_t)decoder->bytes[decoder->at - 1];
	memcpy(&four, decoder->bytes + decoder->at - 4, 4);
	return four;
}

/* general register 0 to 15 (rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, ...) as a bit of pt_regs */
static uint64_t register__bit(unsigned int number)
{
	static const uint8_t words[16] = {10, 11, 12, 5, 19, 4, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0};

	return 1ULL << words[number & 15];
}

static uint64_t modrm__register(const struct decoder *decoder)
{
	return register__bit((decoder->modrm >> 3 & 7) | (decoder->rex & 4) << 1);
}

static uint64_t modrm__operand(const struct decoder *decoder)
{
	if (decoder->modrm >> 6 != 3) {
		/* memory: on the function's own stack it concerns only who looks at that */
		if ((decoder->modrm & 7) == 4 && !(decoder->rex & 3) && decoder->sib_base == 4)
			return register__bit(4);
		return UINT64_MAX;
	}
	return register__bit((decoder->modrm & 7) | (decoder->rex & 1) << 3);
}

/* registers that an instruction changes, for the few kinds that functions begin with */
static uint64_t insn__writes(const struct decoder *decoder)
{
	uint8_t opcode = decoder->opcode;

	if (decoder->vector)
		return UINT64_MAX;
	if (decoder->map == 1) {
		if (opcode == 0x1e || opcode == 0x1f)
			return 0; /* endbr64, nop */
		if ((opcode & 0xf6) == 0xb6)
			return modrm__register(decoder); /* movzx, movsx */
		if (opcode == 0xa3 || (opcode == 0xba && (decoder->modrm >> 3 & 7) == 4))
			return 0; /* bt */
		if (opcode == 0x11 || opcode == 0x29)
			return modrm__operand(decoder) & register__bit(4)
				       ? modrm__operand(decoder)
				       : UINT64_MAX; /* movups, movaps to the stack */
		return UINT64_MAX;
	}
	if (decoder->map)
		return UINT64_MAX;
	if (opcode == 0x84 || opcode == 0x85 || (opcode >= 0x38 && opcode <= 0x3d) ||
	    opcode == 0x90)
		return 0; /* test, cmp, nop */
	if ((opcode == 0x80 || opcode == 0x81 || opcode == 0x83) && (decoder->modrm >> 3 & 7) == 7)
		return 0; /* cmp */
	if ((opcode == 0x81 || opcode == 0x83) && decoder->modrm == 0xec)
		return register__bit(4); /* sub $, %rsp */
	if ((opcode == 0xf6 || opcode == 0xf7) && (decoder->modrm >> 3 & 7) < 2)
		return 0; /* test */
	if (opcode == 0x8a || opcode == 0x8b || opcode == 0x8d || opcode == 0x63)
		return modrm__register(decoder); /* mov, lea, movsxd */
	if (opcode == 0x88 || opcode == 0x89 || opcode == 0x31 || opcode == 0xc7)
		return modrm__operand(decoder); /* mov, xor */
	if (opcode >= 0xb8 && opcode <= 0xbf)
		return register__bit((opcode & 7) | (decoder->rex & 1) << 3);
	return UINT64_MAX;
}

/* "0f 1f 44 00 00", and with prefixes: what the kernel (6.18) makes a call of */
static bool is_nop5(const struct decoder *decoder)
{
	static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

	return decoder->at == 5 && !memcmp(decoder->bytes, nop5, 5);
}

/* what arch/x86/kernel/uprobes.c emulates instead of stepping over it */
static enum insn_cost insn__cost(const struct decoder *decoder)
{
	uint8_t opcode = decoder->opcode;

	if (decoder->unfit)
		return INSN_UNFIT;
	if (is_nop5(decoder))
		return INSN_REFUSED;
	if (decoder->map == 1 && opcode >= 0x80 && opcode <= 0x8f && !decoder->vector)
		return INSN_EMULATED;
	if (decoder->map || decoder->vector)
		return INSN_STEPPED;
	if (opcode == 0xcc || opcode == 0xcd || opcode == 0xce || opcode == 0xf1 || opcode == 0xf4)
		return INSN_REFUSED;
	if (opcode == 0x90 && !decoder->repeat)
		return INSN_EMULATED;
	if ((opcode & 0xf8) == 0x50 || opcode == 0xe8 || opcode == 0xe9 || opcode == 0xeb ||
	    (opcode & 0xf0) == 0x70)
		return decoder->operand_16 || decoder->repeat ? INSN_STEPPED : INSN_EMULATED;
	return INSN_STEPPED;
}

static int insn__stack(const struct decoder *decoder)
{
	uint8_t opcode = decoder->opcode;

	if (decoder->map || decoder->vector)
		return 0;
	if ((opcode & 0xf8) == 0x50 ||
	    ((opcode == 0x81 || opcode == 0x83) && decoder->modrm == 0xec))
		return 1;
	if ((opcode & 0xf8) == 0x58 || opcode == 0xc9 ||
	    ((opcode == 0x81 || opcode == 0x83) && decoder->modrm == 0xc4))
		return -1;
	return 0;
}

static void insn__classify(const struct decoder *decoder, uint64_t next, struct insn *insn)
{
	uint8_t opcode = decoder->opcode;

	if (decoder->vector)
		return;
	if (decoder->map == 1 && (opcode & 0xf0) == 0x80) {
		insn->kind = INSN_BRANCH;
		insn->target = next + (uint64_t)immediate(decoder, 4);
	}
	if (decoder->map)
		return;
	if (opcode == 0xc3 || opcode == 0xc2) {
		insn->kind = INSN_RETURN;
	} else if (opcode == 0xe9 || opcode == 0xeb) {
		insn->kind = INSN_JUMP;
		insn->target = next + (uint64_t)immediate(decoder, opcode == 0xeb ? 1 : 4);
	} else if ((opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0) {
		insn->kind = INSN_BRANCH;
		insn->target = next + (uint64_t)immediate(decoder, 1);
	} else if (opcode == 0xe8) {
		insn->kind = INSN_CALL;
		insn->target = next + (uint64_t)immediate(decoder, 4);
	} else if (opcode == 0xff && (decoder->modrm >> 3 & 6) == 2) {
		insn->kind = INSN_CALL;
	} else if (opcode == 0xff && (decoder->modrm >> 3 & 6) == 4) {
		insn->kind = INSN_JUMP_AWAY;
	} else if (opcode == 0xcc) {
		insn->kind = INSN_TRAP;
	}
}

static bool x86__decode(const uint8_t *bytes, size_t size, uint64_t address, struct insn *insn)
{
	struct decoder decoder = {.bytes = bytes, .size = size < 15 ? size : 15};

	if (!prefixes__take(&decoder) || !opcode__take(&decoder))
		return false;
	insn->len = (uint32_t)decoder.at;
	insn__classify(&decoder, address + decoder.at, insn);
	insn->cost = insn__cost(&decoder);
	insn->stack = insn__stack(&decoder);
	insn->writes = insn__writes(&decoder);
	if (insn->writes == register__bit(4) && insn->stack > 0 && decoder.rex & 8)
		insn->frame = (uint32_t)immediate(&decoder, decoder.opcode == 0x83 ? 1 : 4);
	return true;
}

static bool arm__decode(const uint8_t *bytes, size_t size, uint64_t address, struct insn *insn)
{
	uint32_t word;

	if (size < 4)
		return false;
	memcpy(&word, bytes, 4);
	insn->len = 4;
	insn->cost = INSN_STEPPED;
	insn->writes = UINT64_MAX;
	if (word == 0xd65f03c0 || word == 0xd65f0bff || word == 0xd65f0fff) {
		insn->kind = INSN_RETURN; /* also retaa, retab */
		insn->cost = INSN_EMULATED;
	} else if ((word & 0xfc000000) == 0x14000000) {
		insn->kind = INSN_JUMP;
		insn->target = address + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4);
		insn->cost = INSN_EMULATED;
	} else if ((word & 0xfc000000) == 0x94000000) {
		insn->kind = INSN_CALL;
	} else if ((word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000) {
		insn->kind = INSN_BRANCH;
		insn->target = address + (uint64_t)((int64_t)(int32_t)(word << 8) >> 13 << 2);
	} else if ((word & 0xfffffc1f) == 0xd61f0000) {
		insn->kind = INSN_JUMP_AWAY;
	} else if ((word & 0xffe0001f) == 0xd4200000) {
		insn->kind = INSN_TRAP;
		insn->cost = INSN_REFUSED;
	}
	return true;
}

bool insn__decode(uint16_t machine, const uint8_t *bytes, size_t size, uint64_t address,
		  struct insn *insn)
{
	memset(insn, 0, sizeof(*insn));
	if (machine == EM_AARCH64)
		return arm__decode(bytes, size, address, insn);
	return machine == EM_X86_64 && x86__decode(bytes, size, address, insn);
}
