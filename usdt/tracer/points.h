/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The open half of a point, inlined where the point stands: a USDT stub for tools that attach directly,
 * and the fast way into the ring. Everything rare is out of line, in slow.h. Include tracer.h, not this.
 *
 * Why it looks as it does:
 *
 * - The inline functions are extern, not static: C99 forbids statics in inline functions with external
 *   linkage, and C++20 modules may not expose them. In C `gnu_inline` keeps any copy from being emitted.
 * - The thread's ring is found by an instruction in a volatile asm. A task may go on on another thread in
 *   the middle of a function, and a compiler that sees a thread-local keeps its old address. Initial-exec
 *   access: 8 bytes of static TLS for each DSO, of which glibc has room for about 200 in libraries that are
 *   loaded late.
 * - No array and no variable whose address is taken: -fstack-protector-strong would put a canary into
 *   every function with a point, also for closed ones.
 */
#ifndef TRACER_POINTS_H
#define TRACER_POINTS_H

#include "ring.h"

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "tracer: x86-64 and AArch64 only; build with -DTRACER_DISABLE elsewhere"
#endif
#if defined(__ILP32__) || (defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
#error "tracer: 64-bit little-endian targets only; build with -DTRACER_DISABLE elsewhere"
#endif

#ifdef __cplusplus
#define TRACER__CAST(type, value) static_cast<type>(value)
#define TRACER__POINTER(type, value) reinterpret_cast<type>(value)
#define TRACER__INLINE \
	inline __attribute__((always_inline, visibility("hidden"), unused, no_instrument_function))
/* one copy in a DSO, whoever emits it */
#define TRACER__ONCE inline __attribute__((noinline, visibility("hidden"), no_instrument_function))
#define TRACER__HELPER inline __attribute__((visibility("hidden"), unused, no_instrument_function))
#define TRACER__HIDDEN __attribute__((visibility("hidden")))
#else
#define TRACER__CAST(type, value) ((type)(value))
#define TRACER__POINTER(type, value) ((type)(value))
#define TRACER__INLINE                                                                                \
	extern __inline__ __attribute__((gnu_inline, always_inline, artificial, unused,               \
					 no_instrument_function))
#define TRACER__ONCE __attribute__((weak, noinline, visibility("hidden"), no_instrument_function))
#define TRACER__HELPER static __inline__ __attribute__((unused, no_instrument_function))
#define TRACER__HIDDEN __attribute__((visibility("hidden")))
#endif

/* -O2 counts the lines of an asm to decide about inlining the user's function: these emit nothing there */
#if defined(__clang__)
#define TRACER__ASM __asm__ __volatile__
#else
#define TRACER__ASM __asm__ __volatile__ __inline__
#endif

#if defined(__x86_64__)
#define TRACER__NOP "nop\n"
#define TRACER__CODE_SECTION(name) ".pushsection .text." name ",\"axG\",@progbits," name ",comdat\n"
#define TRACER__U8_1 "8@%%rdi"
#define TRACER__U8_2 "8@%%rsi"
#define TRACER__U8_3 "8@%%rdx"
#define TRACER__U8_4 "8@%%rcx"
#define TRACER__U4_1 "4@%%edi"
#define TRACER__U4_2 "4@%%esi"
#define TRACER__U4_3 "4@%%edx"
#define TRACER__U4_4 "4@%%ecx"
#define TRACER__UN_2 "-8@%%rsi 8@%%rdx"
#define TRACER__UN_3 "-8@%%rdx 8@%%rcx"
#define TRACER__STAMP() __builtin_ia32_rdtsc()
#else
#define TRACER__NOP "nop\n"
#define TRACER__CODE_SECTION(name) ".pushsection .text." name ",\"axG\",@progbits," name ",comdat\n"
#define TRACER__U8_1 "8@x0"
#define TRACER__U8_2 "8@x1"
#define TRACER__U8_3 "8@x2"
#define TRACER__U8_4 "8@x3"
#define TRACER__U4_1 "4@x0"
#define TRACER__U4_2 "4@x1"
#define TRACER__U4_3 "4@x2"
#define TRACER__U4_4 "4@x3"
#define TRACER__UN_2 "-8@x1 8@x2"
#define TRACER__UN_3 "-8@x2 8@x3"
#define TRACER__STAMP() tracer__stamp()
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* of this DSO; defined in assembler, see slow.h */
extern struct tracer_gates tracer_v1_gates TRACER__HIDDEN;
extern struct tracer_dso tracer_v1_dso TRACER__HIDDEN;
/* from the linker: the ELF header, first byte of the image */
extern const char __ehdr_start[] TRACER__HIDDEN;

enum tracer__category {
#define TRACER_CATEGORY(number, name, doc) tracer__in_##name = number,
#include "events.def"
	TRACER__CATEGORIES
};

#define TRACER__GATE(category) __atomic_load_n(&tracer_v1_gates.gate[category], __ATOMIC_RELAXED)

#if defined(__aarch64__)
TRACER__INLINE uint64_t tracer__stamp(void)
{
	uint64_t stamp;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(stamp));
	return stamp;
}
#endif

/* the calling thread's ring in this DSO, or NULL before its first record */
TRACER__INLINE struct tracer_ring *tracer__ring(void)
{
	struct tracer_ring *ring;

#if defined(__x86_64__)
	__asm__ __volatile__("movq tracer_v1_ring@gottpoff(%%rip), %0\n\t"
			     "movq %%fs:(%0), %0"
			     : "=r"(ring));
#else
	uint64_t offset;

	__asm__ __volatile__("adrp %1, :gottprel:tracer_v1_ring\n\t"
			     "ldr %1, [%1, #:gottprel_lo12:tracer_v1_ring]\n\t"
			     "mrs %0, tpidr_el0\n\t"
			     "ldr %0, [%0, %1]"
			     : "=&r"(ring), "=&r"(offset));
#endif
	return ring;
}

/*
 * tracer_v1_record() - write a record, whatever it takes: ring, window, names, sampling
 * @meta: TRACER__META
 * @w1, @w2, @w3: arguments as they lie in the record; strings as addresses
 */
void tracer_v1_record(uint64_t meta, uint64_t w1, uint64_t w2, uint64_t w3) TRACER__HIDDEN;

/* type; size in bytes; words that are strings, a bit each; who decides under --sample */
#define TRACER__META(type, size, strings, sampled_by)                                                 \
	(TRACER__CAST(uint64_t, type) | TRACER__CAST(uint64_t, size) << 8 |                           \
	 TRACER__CAST(uint64_t, strings) << 16 | TRACER__CAST(uint64_t, sampled_by) << 24)
#define TRACER__META_TYPE(meta) ((meta) & 0xff)
#define TRACER__META_SIZE(meta) TRACER__CAST(uint32_t, ((meta) >> 8) & 0xff)
#define TRACER__META_STRINGS(meta) TRACER__CAST(uint32_t, ((meta) >> 16) & 0xff)
#define TRACER__META_SAMPLED_BY(meta) TRACER__CAST(uint32_t, ((meta) >> 24) & 0xff)

/* NULL, or in the read-only image: such strings are recorded by address */
TRACER__INLINE int tracer__plain_string(uint64_t string)
{
	/* atomic, as several threads may find out about the image at once */
	uint64_t start = __atomic_load_n(&tracer_v1_dso.image_start, __ATOMIC_RELAXED);

	return string == 0 ||
	       string - start < __atomic_load_n(&tracer_v1_dso.image_end, __ATOMIC_RELAXED) - start;
}

/* tools read strings where a page that is not resident can't be brought in: a literal nobody has read yet */
TRACER__INLINE const char *tracer__touched(const char *string)
{
	if (string)
		(void)*TRACER__CAST(const volatile char *, string);
	return string;
}

/*
 * A string whose key the caller knows, from tracer_name_key(), is recorded as fast as a literal, once its
 * name is in the window. @k1, @k2, @k3: keys of the words that are strings; 0: not known.
 */
TRACER__INLINE void tracer__record_keyed(uint32_t type, uint32_t size, uint32_t strings,
					 uint32_t sampled_by, uint64_t w1, uint64_t w2, uint64_t w3,
					 uint64_t k1, uint64_t k2, uint64_t k3)
{
	struct tracer_ring *ring = tracer__ring();
	uint64_t head, *record, r1 = w1, r2 = w2, r3 = w3;
	uint32_t limit;

	if (__builtin_expect(!ring, 0) ||
	    __builtin_expect(__atomic_load_n(&tracer_v1_gates.control, __ATOMIC_RELAXED) !=
				     TRACER_CONTROL_PLAIN,
			     0))
		goto slow;
	/* before the names are looked at: a handler that begins another window moves it */
	head = ring->head;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (strings & 1 && !tracer__plain_string(w1)) {
		if (!k1 || ring->names[k1 % TRACER_NAME_SLOTS] != k1)
			goto slow;
		r1 = k1;
	}
	if (strings & 2 && !tracer__plain_string(w2)) {
		if (!k2 || ring->names[k2 % TRACER_NAME_SLOTS] != k2)
			goto slow;
		r2 = k2;
	}
	if (strings & 4 && !tracer__plain_string(w3)) {
		if (!k3 || ring->names[k3 % TRACER_NAME_SLOTS] != k3)
			goto slow;
		r3 = k3;
	}
	limit = ring->limit;
	/*
	 * No room: window full, or this is a signal handler that interrupted a point. Signed: that point
	 * may have moved head already, and then limit is behind it.
	 */
	if (__builtin_expect(TRACER__CAST(int32_t, limit - TRACER__CAST(uint32_t, head)) <
				     TRACER__CAST(int32_t, size),
			     0))
		goto slow;
	ring->limit = TRACER__CAST(uint32_t, head);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* a handler that came in between head and limit has written where we would */
	if (__builtin_expect(ring->head != head, 0)) {
		ring->limit = ring->window_end;
		goto slow;
	}
	record = TRACER__POINTER(uint64_t *, TRACER__POINTER(char *, ring) + TRACER_RING_HEADER +
						     (head & (TRACER_RING_SIZE - 1)));
	record[0] = TRACER__STAMP() << 8 | type;
	if (size > 8)
		record[1] = r1;
	if (size > 16)
		record[2] = r2;
	if (size > 24)
		record[3] = r3;
	__atomic_store_n(&ring->head, head + (1ULL << 48) + size, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ring->limit = limit;
	return;
slow:
	tracer_v1_record(TRACER__META(type, size, strings, sampled_by), w1, w2, w3);
}

TRACER__INLINE void tracer__record(uint32_t type, uint32_t size, uint32_t strings,
				   uint32_t sampled_by, uint64_t w1, uint64_t w2, uint64_t w3)
{
	tracer__record_keyed(type, size, strings, sampled_by, w1, w2, w3, 0, 0, 0);
}

/*
 * The stub of an event: the one place in the DSO where its USDT probe is. A function of its own, so that
 * the arguments are in registers that every consumer can parse, and the point's own code stays small.
 * Emitted where the event is used, so that a binary lists the probes it has and no others.
 */
#define TRACER__STUB(name, category, operands)                                                        \
	TRACER__ASM(".ifndef tracer_v1_usdt_" name "\n"                                               \
		    TRACER__CODE_SECTION("tracer_v1_usdt_" name)                                      \
		    ".weak tracer_v1_usdt_" name "\n"                                                 \
		    ".hidden tracer_v1_usdt_" name "\n"                                               \
		    ".type tracer_v1_usdt_" name ", @function\n"                                      \
		    "tracer_v1_usdt_" name ":\n"                                                      \
		    "nop\n"                                                                           \
		    "ret\n"                                                                           \
		    ".size tracer_v1_usdt_" name ", .-tracer_v1_usdt_" name "\n"                      \
		    ".popsection\n"                                                                   \
		    TRACER__STAPSDT(name, operands)                                                   \
		    ".endif\n" ::"i"(TRACER_GATES_DIRECT(category)))
/* https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation */
#define TRACER__STAPSDT(name, operands)                                                               \
	".pushsection .note.stapsdt,\"G\",@note,tracer_v1_usdt_" name ",comdat\n"                     \
	".balign 4\n"                                                                                 \
	".4byte 992f-991f, 994f-993f, 3\n"                                                            \
	"991: .asciz \"stapsdt\"\n"                                                                   \
	"992: .balign 4\n"                                                                            \
	"993: .8byte tracer_v1_usdt_" name "\n"                                                       \
	".8byte _.stapsdt.base\n"                                                                     \
	".8byte tracer_v1_gates + %c0\n"                                                              \
	".asciz \"tracer\"\n"                                                                         \
	".asciz \"" name "\"\n"                                                                       \
	".asciz \"" operands "\"\n"                                                                   \
	"994: .balign 4\n"                                                                            \
	".popsection\n"                                                                               \
	".ifndef _.stapsdt.base\n"                                                                    \
	".pushsection .stapsdt.base,\"aG\",@progbits,.stapsdt.base,comdat\n"                          \
	".weak _.stapsdt.base\n"                                                                      \
	".hidden _.stapsdt.base\n"                                                                    \
	"_.stapsdt.base: .space 1\n"                                                                  \
	".size _.stapsdt.base, 1\n"                                                                   \
	".popsection\n"                                                                               \
	".endif\n"

/*
 * From a row of events.def to tracer__NAME(gate, arguments...). The rows' words are only pasted or
 * quoted, never handed to another macro, which would expand them: the program may have macros of the
 * same names.
 */
#define TRACER__PARAM_id(n) uint64_t tracer__a##n
#define TRACER__PARAM_u64(n) uint64_t tracer__a##n
#define TRACER__PARAM_u32(n) uint32_t tracer__a##n
#define TRACER__PARAM_str(n) const char *tracer__a##n
#define TRACER__PARAM_lit(n) const char *tracer__a##n
/* TRACER__NUM gives three: the value's bits, whether it is a double, and the value as an integer */
#define TRACER__PARAM_num(n) uint64_t tracer__a##n, uint32_t tracer__real, int64_t tracer__rounded

/* USDT operand; its type and value in the call of the stub */
#define TRACER__OPERAND_id(n) TRACER__U8_##n
#define TRACER__OPERAND_u64(n) TRACER__U8_##n
#define TRACER__OPERAND_u32(n) TRACER__U4_##n
#define TRACER__OPERAND_str(n) TRACER__U8_##n
#define TRACER__OPERAND_lit(n) TRACER__U8_##n
#define TRACER__OPERAND_num(n) TRACER__UN_##n
#define TRACER__DIRECT_id uint64_t
#define TRACER__DIRECT_u64 uint64_t
#define TRACER__DIRECT_u32 uint32_t
#define TRACER__DIRECT_str const char *
#define TRACER__DIRECT_lit const char *
#define TRACER__DIRECT_num int64_t, uint64_t
#define TRACER__PASS_id(n) tracer__a##n
#define TRACER__PASS_u64(n) tracer__a##n
#define TRACER__PASS_u32(n) tracer__a##n
#define TRACER__PASS_str(n) tracer__touched(tracer__a##n)
#define TRACER__PASS_lit(n) tracer__touched(tracer__a##n)
#define TRACER__PASS_num(n) tracer__rounded, tracer__a##n

/* size and bits in the record */
#define TRACER__SIZE_id 8U
#define TRACER__SIZE_u64 8U
#define TRACER__SIZE_u32 4U
#define TRACER__SIZE_str 8U
#define TRACER__SIZE_lit 4U
#define TRACER__SIZE_num 8U
#define TRACER__BITS_id(n) tracer__a##n
#define TRACER__BITS_u64(n) tracer__a##n
#define TRACER__BITS_u32(n) tracer__a##n
#define TRACER__BITS_str(n) TRACER__POINTER(uintptr_t, tracer__a##n)
#define TRACER__BITS_lit(n)                                                                           \
	TRACER__CAST(uint32_t, TRACER__POINTER(uintptr_t, tracer__a##n) -                             \
				       TRACER__POINTER(uintptr_t, &__ehdr_start[0]))
#define TRACER__BITS_num(n) tracer__a##n
#define TRACER__IS_STRING_id 0U
#define TRACER__IS_STRING_u64 0U
#define TRACER__IS_STRING_u32 0U
#define TRACER__IS_STRING_str 1U
#define TRACER__IS_STRING_lit 0U
#define TRACER__IS_STRING_num 0U
/* added to the type */
#define TRACER__REAL_id 0U
#define TRACER__REAL_u64 0U
#define TRACER__REAL_u32 0U
#define TRACER__REAL_str 0U
#define TRACER__REAL_lit 0U
#define TRACER__REAL_num tracer__real

/* byte of the record where an argument of that size lies when the one before ends at `end` */
#define TRACER__PLACE(end, its_size) (((end) + (its_size) - 1U) & ~((its_size) - 1U))
/* what it adds to word k of the record */
#define TRACER__SHARE(k, place, bits)                                                                 \
	((place) / 8U == (k) ? TRACER__CAST(uint64_t, bits) << ((place) % 8U * 8U)                    \
			     : TRACER__CAST(uint64_t, 0))
/* bit k - 1 if it is a string; strings are whole words */
#define TRACER__STRING(is_string, place) ((is_string) << ((place) / 8U - 1U))

/* who decides under --sample, in TRACER__META: 0 nobody, 1 to 3 the word, 8 the running task, 9 a count */
#define TRACER__SAMPLED_BY_always(p1, p2, p3) 0U
#define TRACER__BY_RUNNING 8U
#define TRACER__SAMPLED_BY_running(p1, p2, p3) TRACER__BY_RUNNING
#define TRACER__BY_COUNT 9U
#define TRACER__SAMPLED_BY_gauge(p1, p2, p3) TRACER__BY_COUNT
#define TRACER__SAMPLED_BY_arg1(p1, p2, p3) ((p1) / 8U)
#define TRACER__SAMPLED_BY_arg2(p1, p2, p3) ((p2) / 8U)
#define TRACER__SAMPLED_BY_arg3(p1, p2, p3) ((p3) / 8U)

#define TRACER__DIRECT(stub, arguments)                                                               \
	if (__builtin_expect((tracer__gate & TRACER_GATE_DIRECT) != 0, 0))                            \
	stub arguments

#define TRACER_EVENT0(number, name, category, by, doc)                                                \
	void tracer_v1_usdt_##name(void) TRACER__HIDDEN;                                              \
	TRACER__INLINE void tracer__##name(uint32_t tracer__gate)                               \
	{                                                                                             \
		TRACER__STUB(#name, tracer__in_##category, "");                                 \
		TRACER__DIRECT(tracer_v1_usdt_##name, ());                                                   \
		if (tracer__gate & TRACER_GATE_RECORDED)                                              \
			tracer__record(number, 8, 0, TRACER__SAMPLED_BY_##by(0, 0, 0), 0, 0, 0);      \
	}

#define TRACER_EVENT1(number, name, category, by, t1, n1, doc)                                        \
	void tracer_v1_usdt_##name(TRACER__DIRECT_##t1) TRACER__HIDDEN;                               \
	TRACER__INLINE void tracer__##name(uint32_t tracer__gate, TRACER__PARAM_##t1(1))        \
	{                                                                                             \
		const uint32_t p1 = 8;                                                                \
		TRACER__STUB(#name, tracer__in_##category, TRACER__OPERAND_##t1(1));            \
		TRACER__DIRECT(tracer_v1_usdt_##name, (TRACER__PASS_##t1(1)));                               \
		if (tracer__gate & TRACER_GATE_RECORDED)                                              \
			tracer__record(number + TRACER__REAL_##t1, 16, TRACER__STRING(TRACER__IS_STRING_##t1, p1),        \
				       TRACER__SAMPLED_BY_##by(p1, 0, 0), TRACER__BITS_##t1(1), 0, 0); \
	}

#define TRACER_EVENT2(number, name, category, by, t1, n1, t2, n2, doc)                                \
	void tracer_v1_usdt_##name(TRACER__DIRECT_##t1, TRACER__DIRECT_##t2) TRACER__HIDDEN;          \
	TRACER__INLINE void tracer__##name(uint32_t tracer__gate, TRACER__PARAM_##t1(1),        \
						 TRACER__PARAM_##t2(2))                               \
	{                                                                                             \
		const uint32_t p1 = 8, p2 = TRACER__PLACE(p1 + TRACER__SIZE_##t1, TRACER__SIZE_##t2);                \
		const uint32_t size = (p2 + TRACER__SIZE_##t2 + 7U) & ~7U;                            \
		TRACER__STUB(#name, tracer__in_##category,                                      \
			     TRACER__OPERAND_##t1(1) " " TRACER__OPERAND_##t2(2));                    \
		TRACER__DIRECT(tracer_v1_usdt_##name, (TRACER__PASS_##t1(1), TRACER__PASS_##t2(2)));         \
		if (tracer__gate & TRACER_GATE_RECORDED)                                              \
			tracer__record(number + TRACER__REAL_##t2, size,                              \
				       TRACER__STRING(TRACER__IS_STRING_##t1, p1) | TRACER__STRING(TRACER__IS_STRING_##t2, p2),               \
				       TRACER__SAMPLED_BY_##by(p1, p2, 0),                            \
				       TRACER__SHARE(1, p1, TRACER__BITS_##t1(1)) |                   \
					       TRACER__SHARE(1, p2, TRACER__BITS_##t2(2)),            \
				       TRACER__SHARE(2, p2, TRACER__BITS_##t2(2)), 0);                \
	}

#define TRACER_EVENT3(number, name, category, by, t1, n1, t2, n2, t3, n3, doc)                        \
	void tracer_v1_usdt_##name(TRACER__DIRECT_##t1, TRACER__DIRECT_##t2, TRACER__DIRECT_##t3)     \
		TRACER__HIDDEN;                                                                       \
	TRACER__INLINE void tracer__##name(uint32_t tracer__gate, TRACER__PARAM_##t1(1),        \
						 TRACER__PARAM_##t2(2), TRACER__PARAM_##t3(3))        \
	{                                                                                             \
		const uint32_t p1 = 8, p2 = TRACER__PLACE(p1 + TRACER__SIZE_##t1, TRACER__SIZE_##t2);                \
		const uint32_t p3 = TRACER__PLACE(p2 + TRACER__SIZE_##t2, TRACER__SIZE_##t3);                        \
		const uint32_t size = (p3 + TRACER__SIZE_##t3 + 7U) & ~7U;                            \
		TRACER__STUB(#name, tracer__in_##category,                                      \
			     TRACER__OPERAND_##t1(1) " " TRACER__OPERAND_##t2(                        \
				     2) " " TRACER__OPERAND_##t3(3));                                 \
		TRACER__DIRECT(tracer_v1_usdt_##name,                                                        \
			       (TRACER__PASS_##t1(1), TRACER__PASS_##t2(2), TRACER__PASS_##t3(3)));   \
		if (tracer__gate & TRACER_GATE_RECORDED)                                              \
			tracer__record(number + TRACER__REAL_##t3, size,                                                  \
				       TRACER__STRING(TRACER__IS_STRING_##t1, p1) | TRACER__STRING(TRACER__IS_STRING_##t2, p2) |              \
					       TRACER__STRING(TRACER__IS_STRING_##t3, p3),                                \
				       TRACER__SAMPLED_BY_##by(p1, p2, p3),                           \
				       TRACER__SHARE(1, p1, TRACER__BITS_##t1(1)) |                   \
					       TRACER__SHARE(1, p2, TRACER__BITS_##t2(2)),            \
				       TRACER__SHARE(2, p2, TRACER__BITS_##t2(2)) |                   \
					       TRACER__SHARE(2, p3, TRACER__BITS_##t3(3)),            \
				       TRACER__SHARE(3, p3, TRACER__BITS_##t3(3)));                   \
	}

#define TRACER_EVENT4(number, name, category, by, t1, n1, t2, n2, t3, n3, t4, n4, doc)                \
	void tracer_v1_usdt_##name(TRACER__DIRECT_##t1, TRACER__DIRECT_##t2, TRACER__DIRECT_##t3,     \
				   TRACER__DIRECT_##t4) TRACER__HIDDEN;                               \
	TRACER__INLINE void tracer__##name(uint32_t tracer__gate, TRACER__PARAM_##t1(1),        \
						 TRACER__PARAM_##t2(2), TRACER__PARAM_##t3(3),        \
						 TRACER__PARAM_##t4(4))                               \
	{                                                                                             \
		const uint32_t p1 = 8, p2 = TRACER__PLACE(p1 + TRACER__SIZE_##t1, TRACER__SIZE_##t2);                \
		const uint32_t p3 = TRACER__PLACE(p2 + TRACER__SIZE_##t2, TRACER__SIZE_##t3);                        \
		const uint32_t p4 = TRACER__PLACE(p3 + TRACER__SIZE_##t3, TRACER__SIZE_##t4);                        \
		const uint32_t size = (p4 + TRACER__SIZE_##t4 + 7U) & ~7U;                            \
		TRACER__STUB(#name, tracer__in_##category,                                      \
			     TRACER__OPERAND_##t1(1) " " TRACER__OPERAND_##t2(                        \
				     2) " " TRACER__OPERAND_##t3(3) " " TRACER__OPERAND_##t4(4));     \
		TRACER__DIRECT(tracer_v1_usdt_##name,                                                        \
			       (TRACER__PASS_##t1(1), TRACER__PASS_##t2(2), TRACER__PASS_##t3(3),     \
				TRACER__PASS_##t4(4)));                                               \
		if (tracer__gate & TRACER_GATE_RECORDED)                                              \
			tracer__record(number, size,                                                  \
				       TRACER__STRING(TRACER__IS_STRING_##t1, p1) | TRACER__STRING(TRACER__IS_STRING_##t2, p2) |              \
					       TRACER__STRING(TRACER__IS_STRING_##t3, p3) | TRACER__STRING(TRACER__IS_STRING_##t4, p4),       \
				       TRACER__SAMPLED_BY_##by(p1, p2, p3),                           \
				       TRACER__SHARE(1, p1, TRACER__BITS_##t1(1)) |                   \
					       TRACER__SHARE(1, p2, TRACER__BITS_##t2(2)),            \
				       TRACER__SHARE(2, p2, TRACER__BITS_##t2(2)) |                   \
					       TRACER__SHARE(2, p3, TRACER__BITS_##t3(3)) |           \
					       TRACER__SHARE(2, p4, TRACER__BITS_##t4(4)),            \
				       TRACER__SHARE(3, p3, TRACER__BITS_##t3(3)) |                   \
					       TRACER__SHARE(3, p4, TRACER__BITS_##t4(4)));           \
	}

#include "events.def"

/* Conversions of what the program passes; see "Arguments" in tracer.h. */
#define TRACER__NAME(x) (x)
#ifndef __cplusplus
#define TRACER__ID(x) ((uint64_t)(uintptr_t)(x))
#define TRACER__U32(x) ((uint32_t)(x))
#define TRACER__U64(x) ((uint64_t)(x))
#define TRACER__VALUE(variable, x) const __typeof__((x) + 0) variable = (x)
/* only of a double is one half not 0 */
#define TRACER__IS_REAL(x) ((__typeof__((x) + 0))1 / 2 > 0)
#define TRACER__NUM(x)                                                                                \
	(TRACER__IS_REAL(x) ? tracer__bits((double)(x)) : (uint64_t)(x)), TRACER__IS_REAL(x),         \
		(int64_t)(x)
#endif

TRACER__INLINE uint64_t tracer__bits(double value)
{
	uint64_t bits;

	__builtin_memcpy(&bits, &value, sizeof(bits));
	return bits;
}

typedef uint16_t tracer__count __attribute__((may_alias));

TRACER__INLINE void tracer__set_off(uint16_t off)
{
	__atomic_store_n(TRACER__POINTER(tracer__count *, &tracer_v1_gates.control) +
				 TRACER_GATES_OFF / 2,
			 off, __ATOMIC_RELAXED);
}

/* returns the call site as the record of its end holds it; never 0 */
TRACER__INLINE uint32_t tracer__zone_enter(const char *name, const char *function, const char *where)
{
	tracer__zone_begin(TRACER__GATE(tracer__in_zone), name, function, where);
	return TRACER__CAST(uint32_t, TRACER__POINTER(uintptr_t, where) -
					      TRACER__POINTER(uintptr_t, &__ehdr_start[0]));
}

/*
 * A zone that was entered closed is not left open, and the other way round. The end says which scope's
 * it is: longjmp() and exceptions in C leave zones behind, which it then closes, too. For direct
 * probes it is a zone_end as any other.
 */
TRACER__INLINE void tracer__zone_leave(const uint32_t *entered)
{
	uint32_t gate = *entered ? TRACER__GATE(tracer__in_zone) : 0;

	if (__builtin_expect(gate != 0, 0)) {
		if (gate & TRACER_GATE_DIRECT)
			tracer__zone_end(gate & TRACER_GATE_DIRECT);
		if (gate & TRACER_GATE_RECORDED)
			tracer__record(161, 16, 0, TRACER__BY_RUNNING, *entered, 0, 0);
	}
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#define TRACER__ENTER(name)                                                                           \
	(__builtin_expect(TRACER__GATE(tracer__in_zone) != 0, 0)                                \
		 ? tracer__zone_enter(name, __func__, __FILE__ ":" TRACER__STR(__LINE__))             \
		 : 0U)

#ifdef __cplusplus
namespace tracer_detail
{
template <class T> TRACER__INLINE uint64_t id(T *pointer)
{
	return reinterpret_cast<uintptr_t>(pointer);
}
template <class T> TRACER__INLINE uint64_t id(T integer)
{
	return static_cast<uint64_t>(integer);
}
TRACER__INLINE uint64_t id(decltype(nullptr))
{
	return 0;
}
template <class T> struct number {
	static constexpr bool is_real = static_cast<T>(1) / 2 > 0;
};
template <class T> TRACER__INLINE uint64_t bits(T value)
{
	return number<T>::is_real ? tracer__bits(static_cast<double>(value))
				  : static_cast<uint64_t>(value);
}
template <class T> TRACER__INLINE uint32_t is_real(T)
{
	return number<T>::is_real;
}

class zone
{
      public:
	explicit TRACER__INLINE zone(uint32_t entered) : entered_(entered)
	{
	}
	TRACER__INLINE ~zone()
	{
		tracer__zone_leave(&entered_);
	}
	zone(const zone &) = delete;
	zone &operator=(const zone &) = delete;

      private:
	uint32_t entered_;
};
} // namespace tracer_detail

#define TRACER__ID(x) (::tracer_detail::id(x))
#define TRACER__U32(x) (static_cast<uint32_t>(x))
#define TRACER__U64(x) (static_cast<uint64_t>(x))
#define TRACER__VALUE(variable, x) const auto variable = (x)
#define TRACER__NUM(x) \
	::tracer_detail::bits(x), ::tracer_detail::is_real(x), static_cast<int64_t>(x)
#define TRACER__SCOPE_1(name) \
	const ::tracer_detail::zone TRACER__PASTE(tracer__zone_, __COUNTER__)(TRACER__ENTER(name))
#else
#define TRACER__SCOPE_1(name)                                                                         \
	const uint32_t TRACER__PASTE(tracer__zone_, __COUNTER__)                                         \
		__attribute__((cleanup(tracer__zone_leave), unused)) = TRACER__ENTER(name)
#endif

#include "slow.h"

#endif /* TRACER_POINTS_H */
